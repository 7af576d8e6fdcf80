#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Ranks of mpirun are killed at random moments, rank 0 too: the others end, no file is damaged, and --resume gives the bits of a run
# that nobody killed. A sample of the 200 kills of the long layer.
. "$(dirname "$0")/lib.bash"
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE MV2_COMM_WORLD_RANK MV2_COMM_WORLD_SIZE SLURM_PROCID SLURM_STEP_NUM_TASKS
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
launch=("$(command -v mpirun.openmpi || command -v mpirun)" --oversubscribe --mca mpi_yield_when_idle 0)
if [ ! -e "$(dirname "$SPHERELU")/spherelu-openmpi.so" ] || [ -z "${launch[0]}" ]; then
    echo "SKIPPED: Open MPI is not installed"
    exit 77
fi
kills=6
in_layer long && kills=200
RANDOM=${SEED:-7}

# gone OUT: no process works on it any more, at most 20 seconds later
gone() {
    local tries
    for ((tries = 0; tries < 400; tries++)); do
        pgrep -f -- "--out $1( |\$)" >/dev/null || return 0
        sleep 0.05
    done
    return 1
}

# rank_of OUT RANK: its process
rank_of() {
    local pid
    for pid in $(pgrep -f -- "^$SPHERELU train .*--out $1( |\$)"); do
        tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2" && echo "$pid"
    done
}

# strike OUT RANKS LAUNCHER: kills a rank, or mpirun, when a number of epochs is over; false if the training was faster
strike() {
    local victim=$((RANDOM % ($2 + 1) - 1)) epoch=$((RANDOM % epochs)) pid=$3
    await "[ $(((RANDOM % 4) > 0)) -eq 0 ] || [ \$(lines $1/metrics.jsonl) -ge $epoch ] || ! kill -0 $3"
    sleep "0.$((RANDOM % 300 + 100))"
    [ $victim -lt 0 ] || pid=$(rank_of "$1" $victim)
    [ -n "$pid" ] && kill -KILL $pid 2>/dev/null
}

# trained OUT KILLS RANKS: until it has its result and was killed so often
trained() {
    local out=$1 times=$2 size=$3 killed=0 launcher more=()
    for (( ; ; )); do
        "${launch[@]}" -n "$size" "$SPHERELU" train "${options[@]}" "${more[@]}" --out "$out" >out 2>err &
        launcher=$!
        [ $killed -ge "$times" ] || ! strike "$out" "$size" $launcher || killed=$((killed + 1))
        wait $launcher 2>/dev/null
        checks=$((checks + 1))
        gone "$out" || wrong "processes are left: $(pgrep -af -- "--out $out")"
        if [ -e "$out/result.json" ]; then
            same "$out"
            [ $killed -lt "$times" ] || return
            rm -rf "$out" # it was faster: once more from the beginning
        fi
        more=()
        [ ! -e "$out/config.yaml" ] || more=(--resume)
    done
}

# same OUT: the bits of `whole`
same() {
    check "another model" cmp -s whole/model.safetensors "$1/model.safetensors"
    check "other epochs" cmp -s <(sed 's/"seconds.*//' whole/metrics.jsonl) <(sed 's/"seconds.*//' "$1/metrics.jsonl")
    check "leftovers: $(ls -A "$1")" [ -z "$(find "$1" -name '*.tmp*' -o -name '.*.??????')" ]
}

epochs=40
options=(--data crescents --hidden 300,300 --norm bn --batch full --schedule none --patience 0 --epochs $epochs --checkpoint-seconds 0.05 --quiet --no-report)
"${launch[@]}" -n 2 "$SPHERELU" train "${options[@]}" --out whole >out 2>err
check "the run without kills: exit $?" [ -s whole/result.json ]
for ((round = 0; round < kills; round += 3)); do
    trained killed 3 2
    rm -rf killed
done
finish
