#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# spherelu train by several processes of mpirun: the losses of one process, an ensemble's bits, stops and mistakes. Open MPI, and MPICH in
# the long layer.
. "$(dirname "$0")/lib.bash"
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE MV2_COMM_WORLD_RANK MV2_COMM_WORLD_SIZE SLURM_PROCID SLURM_STEP_NUM_TASKS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
modules=$(dirname "$SPHERELU")

# ---- no module, or a launcher that is not there
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SPHERELU_MPI=none refuses "file key=mpi" train --data crescents --out a
absent a
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 SPHERELU_MPI="$PWD/none.so" refuses "file key=mpi" train --data crescents --out a
absent a

choose() { # choose FAMILY: how its mpirun is called, as `launch`; false if it cannot be tried
    launch=()
    [ -e "$modules/spherelu-$1.so" ] || return
    case $1 in
    openmpi) launch=("$(command -v mpirun.openmpi || command -v mpirun)" --oversubscribe --mca mpi_yield_when_idle 0) ;;
    mpich) launch=("$(command -v mpirun.mpich || command -v mpirun)") ;;
    esac
    [ -n "${launch[0]}" ]
}

# ranks N CODE ARGS...: the tool by N processes; stderr without the launcher's own lines
ranks() {
    local size=$1 expected=$2 code
    shift 2
    timeout 300 "${launch[@]}" -n "$size" "$SPHERELU" "$@" >out 2>err.all
    code=$?
    grep '^{"' err.all >err
    checks=$((checks + 1))
    [ $code -eq "$expected" ] || wrong "mpirun -n $size spherelu $*: exit $code, expected $expected: $(head -c 400 err.all)"
}

# near_runs A B BAR: the losses of all epochs
near_runs() {
    check "the losses of $1 and $2" python3 - "$@" <<'PY'
import json, sys
a, b = ([json.loads(line) for line in open(run + "/metrics.jsonl")] for run in sys.argv[1:3])
bar = float(sys.argv[3])
assert a and len(a) == len(b), (len(a), len(b))
for x, y in zip(a, b):
    for key in x:
        if key != "seconds" and not abs(x[key] - y[key]) <= bar * max(1, abs(x[key])):
            sys.exit("epoch %d: %s %r, %r" % (x["epoch"], key, x[key], y[key]))
PY
}

no_orphan() {
    check "a process is left" eval 'for ((i = 0; i < 200; i++)); do pgrep -f -- "$1" >/dev/null || break; sleep 0.05; done; ! pgrep -f -- "$1" >/dev/null'
}

noise() { # images of noise, twenty of each of three classes
    python3 - <<'PY'
import random, struct
random.seed(1)
def idx(path, dims, data):
    open(path, "wb").write(struct.pack(">BBBB", 0, 0, 8, len(dims)) + b"".join(struct.pack(">I", d) for d in dims) + data)
import os
os.makedirs("noise", exist_ok=True)
for part, rows in (("train", 90), ("t10k", 30)):
    labels = bytes(i % 3 for i in range(rows))
    idx("noise/%s-images-idx3-ubyte" % part, (rows, 8, 8), bytes(min(255, 40 * l + random.randrange(120)) for l in labels for _ in range(64)))
    idx("noise/%s-labels-idx1-ubyte" % part, (rows,), labels)
PY
}

# ---- one family after the other
# try FAMILY SIZES...
try() {
    local family=$1 size
    shift
    if ! choose "$family"; then
        skipped "$family: its module or mpirun is not there"
        return
    fi
    local table="--data crescents --hidden 12 --norm bn --lr 0.01 --schedule none --patience 0 --epochs 10 --dtype f64"
    local images="--data noise --net resnet18 --width 0.1 --param gmp --norm bn --lr 0.001 --batch 20 --epochs 3 --dtype f64 --augment flip"
    local members="--data crescents --ensemble 3 --refit --epochs 30"
    for size in "$@"; do
        ranks $size 0 train $table --out $family.table.$size
        check "one report" [ "$(grep -c "^report    $family.table.$size/report.html" out)" -eq 1 ]
        near_runs one.table $family.table.$size 1e-10
        ranks $size 0 train $table --out $family.again.$size
        check "other bits the second time" cmp -s $family.table.$size/model.safetensors $family.again.$size/model.safetensors
        ranks $size 0 train $images --out $family.images.$size
        near_runs one.images $family.images.$size 1e-10
        ranks $size 0 train $members --out $family.members.$size
        check "another ensemble" cmp -s one.members/model.safetensors $family.members.$size/model.safetensors
        near_runs one.members $family.members.$size 0
    done
    # a checkpoint goes on with another number: epochs can be more
    ranks 2 0 train $table --epochs 6 --out $family.on
    ranks 4 0 train --resume --epochs 10 --out $family.on
    near_runs one.table $family.on 1e-10
    ranks 2 0 train $table --sync-norm off --out $family.local
    check "local statistics are the same" [ "$(cut -d, -f4 one.table/metrics.jsonl)" != "$(cut -d, -f4 $family.local/metrics.jsonl)" ]
    ranks 2 0 train --data crescents --tune 2 --hidden 8 --epochs 12 --out $family.tuned
    near_runs one.tuned $family.tuned 1e-4
    ranks 2 0 train $table --dry-run
    check "a dry run by rank 0 alone" [ "$(grep -c '^network' out)" -eq 1 ]

    # ---- mistakes: one line, of the rank that found it
    ranks 2 2 train $table --out $family.table.2
    fails argument path=$family.table.2
    ranks 2 1 train --data nowhere.csv --out $family.new
    fails file path=nowhere.csv
    ranks 2 2 train --data crescents --wrong
    fails argument key=wrong
    ranks 4 2 train $table --batch 3 --out $family.new
    fails argument key=batch
    absent $family.new
    ranks 2 1 train $table --lr 1e200 --param sp --norm none --out $family.wild
    fails diverged key=layers.1
    printf 'x,y\n' >mine.csv
    for ((i = 0; i < 40; i++)); do echo "$i,$((i * 3 % 7))" >>mine.csv; done
    sed 's/^5,.*/5,9/' mine.csv >other.csv
    cat >different <<'SH'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
[ "$rank" = 0 ] || cd "$1" || exit
shift
exec "$@"
SH
    chmod +x different
    mkdir -p elsewhere
    cp other.csv elsewhere/mine.csv
    tell() { # tell CODE ARGS...: rank 1 in another folder
        timeout 300 "${launch[@]}" -n 2 ./different elsewhere "$SPHERELU" "$@" >out 2>err.all
        code=$?
        grep '^{"' err.all >err
    }
    tell train --data mine.csv --target y --hidden 4 --epochs 3 --out $family.data
    fails argument key=data
    ranks 2 0 train --data "$PWD/mine.csv" --target y --hidden 4 --schedule none --epochs 3 --out $family.shared
    tell train --resume --epochs 5 --out $family.shared
    fails argument key=out
    "${launch[@]}" -n 2 "$SPHERELU" train --data crescents --hidden 8 --epochs 2000000000 --patience 0 --out $family.busy >/dev/null 2>&1 &
    busy=$!
    await "[ -e $family.busy/checkpoint.safetensors ]"
    ranks 2 1 train --resume --out $family.busy
    fails file path=$family.busy
    kill -TERM $busy
    wait $busy
    no_orphan "--out $family.busy"

    # ---- a rank that dies ends all of them at once; what was trained stays
    for victim in 0 1; do
        "${launch[@]}" -n 2 "$SPHERELU" train $table --epochs 2000000000 --patience 0 --checkpoint-seconds 0 --out $family.killed.$victim >/dev/null 2>killed &
        busy=$!
        await "[ -s $family.killed.$victim/metrics.jsonl ]"
        sleep 0.2
        pids=$(pgrep -x -f "$SPHERELU train .*--out $family.killed.$victim")
        for pid in $pids; do
            tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=$victim" && kill -KILL "$pid"
        done
        SECONDS=0
        wait $busy
        check "mpirun succeeds though a rank died" [ $? -ne 0 ]
        check "the others lived on for $SECONDS seconds" [ $SECONDS -lt 120 ]
        check "nobody says that a rank died" grep -qiE "signal 9|KILLED BY SIGNAL|exit code" killed
        no_orphan "--out $family.killed.$victim"
    done

    # ---- the wrong family: each process would be alone
    local other=mpich
    [ "$family" = openmpi ] || other=openmpi
    if [ -e "$modules/spherelu-$other.so" ]; then
        SPHERELU_MPI=$other ranks 2 2 train $table --out $family.new
        has_error argument key=mpi
        absent $family.new
    fi
}

noise
run 0 train --data crescents --hidden 12 --norm bn --lr 0.01 --schedule none --patience 0 --epochs 10 --dtype f64 --out one.table
run 0 train --data noise --net resnet18 --width 0.1 --param gmp --norm bn --lr 0.001 --batch 20 --epochs 3 --dtype f64 --augment flip --out one.images
run 0 train --data crescents --ensemble 3 --refit --epochs 30 --out one.members
run 0 train --data crescents --tune 2 --hidden 8 --epochs 12 --out one.tuned
try openmpi 2 4
if in_layer long; then
    try mpich 2 4
fi
finish
