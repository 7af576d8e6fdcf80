#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu run by several processes in one folder: --shard I/N, and the ranks of a launcher. The last run gives what one process
# gives, bit for bit.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"
stand_in=$PWD/path
mkdir "$stand_in" # no gnuplot: figures are data and scripts
for tool in bash cat sed; do ln -s "$(command -v $tool)" "$stand_in"; done
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE MV2_COMM_WORLD_RANK MV2_COMM_WORLD_SIZE SLURM_PROCID SLURM_STEP_NUM_TASKS

# experiment NAME [LINE]...: a file of four methods, with more lines
experiment() {
    cat >"$1.yaml" <<YAML
name: $1
data: {name: crescents, rows: 120, noise: 0.3}
net: {hidden: [8]}
train: {epochs: 30, batch: 16, patience: 0}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: long, param: sp, lr: 0.01, hidden: [64], epochs: 60}
  - {name: GmP, param: gmp, lr: 0.1}
  - {name: BN, param: sp, norm: bn, lr: 0.01}
seeds: 3
YAML
    printf '%s\n' "${@:2}" >>"$1.yaml"
}

# whole NAME ARGS...: by one process, into NAME.whole
whole() {
    run 0 run "$1.yaml" --quiet --out "$1.whole" "${@:2}"
}

# shards N NAME ARGS...: so many side by side, into NAME.shared; what they print is in NAME.1, ...
shards() {
    local count=$1 name=$2 i children=()
    shift 2
    for ((i = 1; i <= count; i++)); do
        "$SPHERELU" run "$name.yaml" --out "$name.shared" --shard $i/$count "$@" >"$name.$i" 2>"$name.$i.err" &
        children+=($!)
    done
    for i in "${!children[@]}"; do
        checks=$((checks + 1))
        wait "${children[i]}" || wrong "$name: shard $((i + 1)) of $count: exit $?: $(<"$name.$((i + 1)).err")"
    done
}

# collected NAME ARGS...: the last run, which has nothing left to train, and gives what one process gives
collected() {
    local before=$1.before
    absent "$1.shared/.claims" "$1.shared/table.csv"
    (cd "$1.shared" && find jobs -name result.json -printf '%p %i\n' | sort) >"$before"
    run 0 run "$1.yaml" --quiet --resume --out "$1.shared" "${@:2}"
    check "$1: jobs were left to the last run, or ran again" cmp -s "$before" <(cd "$1.shared" && find jobs -name result.json -printf '%p %i\n' | sort)
    same_experiment "$1.whole" "$1.shared"
}

# ---- methods and seeds; a grid that chooses; one whose points all are reported; folds and refits; what is recorded and drawn
experiment plain
experiment grid 'grid: {lr: [0.01, 0.1], batch: [16, 32]}'
experiment points 'grid: {lr: [0.01, 0.1, 1]}' 'table: all'
experiment cv 'grid: {lr: [0.01, 0.1]}' 'protocol: cv' 'folds: 3'
experiment folds 'grid: {hidden: [[4], [8]]}' 'protocol: cv' 'folds: 2' 'table: all'
experiment drawn 'record: {boundaries: epoch}' 'figures: [convergence, turns]'
experiment diverging 'grid: {lr: [0.01, 1e30]}' 'table: all'
classes 120 0 1 >one.csv
classes 90 no yes >two.csv
sed -i 's/^data: .*/data: [{name: one.csv, target: kind}, {name: two.csv, target: kind}]/' points.yaml
count=1
for name in plain grid points cv folds drawn diverging; do
    count=$((count % 4 + 1))
    whole $name
    shards $count $name --quiet
    collected $name
done

# ---- with options of their own, in each shard and in the last run
experiment options
whole options --set seeds=2 --set train.epochs=20 --dtype f64 --threads 2
shards 2 options --set seeds=2 --set train.epochs=20 --dtype f64 --threads 2 --jobs 2 --resume
collected options --set seeds=2 --set train.epochs=20 --dtype f64 --threads 2
ran=$(sed -n 's/^shard . of 2: ran \([0-9]*\) jobs*.*/\1/p' options.1 options.2 | awk '{ sum += $1 } END { print sum }')
check "the shards ran $ran jobs of 8" [ "$ran" = 8 ]

# ---- one shard alone; a second one finds nothing to do
run 0 run cv.yaml --shard 3/5 --json --out alone
check "--json is not one line" [ "$(wc -l <out)" -eq 1 ]
for pair in shard=3 shards=5 jobs=84 run=84 left=0 failed=0 diverged=0; do
    check "--json of a shard: $pair: $(<out)" [ "$(json out "${pair%=*}")" = "${pair#*=}" ]
done
run 0 run cv.yaml --shard 4/5 --json --out alone
check "a job ran again" [ "$(json out run)" = 0 ]
run 0 run cv.yaml --resume --quiet --out alone
same_experiment cv.whole alone
run 0 run cv.yaml --shard 5/5 --quiet --out alone # after the tables
same_experiment cv.whole alone

# ---- the longest jobs first
run 0 run plain.yaml --shard 1/1 --jobs 1 --out first
order=$(cd first/jobs && find . -name result.json -printf '%T@ %p\n' | sort -n | cut -d/ -f2 | uniq | head -n 1)
check "$order came first" [ "$order" = long ]

# ---- a job that fails: the other shards leave it, the last run tries it again
mkdir -p failing/jobs/GmP
echo text >failing/jobs/GmP/seed-1
cp plain.whole/experiment.yaml failing
run 1 run plain.yaml --shard 1/2 --out failing
has_error failed "1 job" GmP/seed-1
check "left" grep -q ", 1 left" out
run 1 run plain.yaml --resume --quiet --out failing
rm failing/jobs/GmP/seed-1
run 0 run plain.yaml --resume --quiet --out failing
same_experiment plain.whole failing

# ---- what is refused
for bad in 0/2 3/2 2 2/ /2 x 1/2/3 -1/2 1/0 99999999999999999999/99999999999999999999; do
    refuses "argument key=shard" run plain.yaml --out no --shard $bad
done
refuses "argument key=shard" run plain.yaml --shard 1/2
refuses "argument key=shard" run plain.yaml --shard 1/2 --out no --dry-run
absent no
refuses "argument key=out path=plain.whole" run grid.yaml --shard 1/2 --out plain.whole
refuses "argument key=out path=plain.whole" run plain.yaml --set seeds=2 --shard 1/2 --out plain.whole
sed 's/^version: .*/version: 0.0.1/' plain.whole/experiment.yaml >other.yaml
mkdir other
cp other.yaml other/experiment.yaml
refuses "argument key=out path=other" run plain.yaml --shard 1/2 --out other
absent plain.whole/.claims other/.claims
run 0 train --data crescents --epochs 1 --quiet --out trained
refuses "argument key=out path=trained" run plain.yaml --shard 1/2 --out trained

# ---- beside a run that is no shard, and the other way round
forty 1000000
start run 40.yaml --quiet --out busy
await '[ -e busy/experiment.yaml ]'
refuses "file path=busy" run 40.yaml --shard 1/2 --out busy
refuses "file path=busy" run 40.yaml --resume --out busy
kill -KILL $child
wait $child 2>/dev/null
# Another folder: the jobs of the killed run may hold theirs for a moment longer.
start run 40.yaml --quiet --shard 1/2 --out shared
await '[ -e shared/jobs/SP/seed-0/config.yaml ]'
refuses "file path=shared" run 40.yaml --resume --out shared
kill -TERM $child
wait $child
check "a shard that was stopped: exit $?" [ $? -eq 143 ]
grep -q -e '--shard 1/2' err || wrong "no advice how to go on"
absent shared/.claims

# ---- what trains nothing: the last run does it
printf 'name: turned\nperturb: {eps: [0.1]}\n' >turned.yaml
run 0 run turned.yaml --shard 1/2 --out turned
absent turned

# ---- ranks: variables of a launcher. Rank 0 prints and makes the tables; the others are silent
# ranks SIZE NAME PREFIX SUFFIX: all of them, rank 0 last
ranks() {
    local size=$1 name=$2 rank
    for ((rank = size - 1; rank > 0; rank--)); do
        env "$3=$rank" "$4=$size" "$SPHERELU" run "$name.yaml" --out "$name.ranks" >"$name.$rank" 2>&1 &
    done
    env "$3=0" "$4=$size" "$SPHERELU" run "$name.yaml" --out "$name.ranks" >out 2>err
    check "rank 0: exit $?" [ $? -eq 0 ]
    for ((rank = 1; rank < size; rank++)); do
        wait -n
        check "a rank: exit $?" [ $? -eq 0 ]
        check "rank $rank is not silent: $(<"$name.$rank")" [ ! -s "$name.$rank" ]
    done
    shows "report    $name.ranks/report.html"
    same_experiment "$name.whole" "$name.ranks"
}
ranks 2 cv OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
ranks 3 grid PMI_RANK PMI_SIZE
ranks 4 plain SLURM_PROCID SLURM_STEP_NUM_TASKS
SLURM_PROCID=0 SLURM_NTASKS=4 run 0 run plain.yaml --out batch # a batch script's own process is alone
same_experiment plain.whole batch
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run 0 run plain.yaml --shard 1/3 --out given # what is given counts
check "a shard" grep -q "^shard 1 of 3" out
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 run 0 run turned.yaml --out turned # rank 0 does it
absent turned
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 run 0 run turned.yaml --out turned
check "rank 0 perturbs" [ -s turned/perturb.txt ]

# ---- the real one
if ! command -v mpirun >/dev/null; then
    skipped "mpirun is not installed"
else
    options=()
    mpirun --version 2>/dev/null | grep -q "Open MPI" && options=(--allow-run-as-root --oversubscribe)
    for size in 2 4; do
        rm -rf mpi
        mpirun "${options[@]}" -n $size "$SPHERELU" run cv.yaml --out mpi >out 2>err
        check "mpirun -n $size: exit $?" [ $? -eq 0 ]
        check "another table than one" [ "$(grep -c '^report ' out)" -eq 1 ]
        same_experiment cv.whole mpi
    done
fi
finish
