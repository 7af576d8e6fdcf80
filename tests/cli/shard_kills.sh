#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Promise: shards that are killed at any moment block nothing, and no job that had finished runs again. Three shards work in one
# folder and end at random moments, four of five by SIGKILL and the others by SIGTERM; others take their places. A last run
# then gives the bits of one process. KILLS is their number: 12 in make test, 500 in make test-long.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"

seed=${KILL_SEED:-$$}
wanted=${KILLS:-$(in_layer long && echo 500 || echo 12)}
RANDOM=$seed
echo "moments drawn with KILL_SEED=$seed"

cat >x.yaml <<'YAML'
name: x
data: {name: crescents, rows: 200, noise: 0.3}
net: {hidden: [10]}
train: {epochs: 60, batch: 16, patience: 0, checkpoint_seconds: 0.01}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: GmP, param: gmp, lr: 0.1}
protocol: cv
folds: 2
grid: {lr: [0.01, 0.1]}
seeds: 2
record: {boundaries: epoch}
YAML
began=${EPOCHREALTIME/[.,]/}
run 0 run x.yaml --quiet --jobs 1 --out whole
takes=$(((${EPOCHREALTIME/[.,]/} - began) / 1000)) # ms

exec {never}<> <(:)
pause() {
    read -rt "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))" -u $never
}

# finished_jobs: the files of those that have a result, by number: a job that ran again has another
finished_jobs() {
    find killed -name result.json -printf '%p %i\n' 2>/dev/null | sort
}

# begin I: shard I in the background
declare -a shard
begin() {
    start run x.yaml --quiet --resume --shard "$1/3" --jobs $((1 + RANDOM % 2)) --out killed
    shard[$1]=$child
}

kills=0 terms=0 late=0 rounds=0 limit=$((SECONDS + 300 + 20 * wanted))
while [ $((kills + terms)) -lt "$wanted" ] && [ $SECONDS -lt $limit ]; do
    rm -rf killed
    rounds=$((rounds + 1))
    for i in 1 2 3; do begin $i; done
    for ((again = 2 + RANDOM % 5; again > 0; again--)); do
        pause $((RANDOM % (takes / 4 + 10)))
        i=$((1 + RANDOM % 3)) signal=KILL
        [ $((RANDOM % 5)) -eq 0 ] && signal=TERM
        finished_jobs >finished
        [ -n "${shard[i]}" ] || { begin $i && continue; }
        kill -$signal "${shard[i]}" 2>/dev/null
        wait "${shard[i]}" 2>/dev/null
        case $signal:$? in
        KILL:137) kills=$((kills + 1)) ;;
        TERM:143) terms=$((terms + 1)) ;;
        *:0) late=$((late + 1)) ;;
        *) wrong "a shard after SIG$signal: exit $?" ;;
        esac
        check "a finished job ran again" [ -z "$(comm -23 finished <(finished_jobs))" ]
        shard[i]=
        [ $((RANDOM % 3)) -eq 0 ] || begin $i
    done
    end=$((RANDOM % 2)) # they come to their end, whatever was killed; or none does
    for i in 1 2 3; do
        [ -z "${shard[i]}" ] || [ $end -eq 0 ] || { kill -KILL "${shard[i]}" 2>/dev/null && kills=$((kills + 1)); }
        [ -z "${shard[i]}" ] || wait "${shard[i]}" 2>/dev/null
    done
    finished_jobs >finished
    run 0 run x.yaml --quiet --resume --jobs 2 --out killed
    check "a finished job ran again" [ -z "$(comm -23 finished <(finished_jobs))" ]
    same_experiment whole killed
    no_temporaries killed
    [ $failed -lt 10 ] || finish
done
echo "$((kills + terms)) shards ended ($kills by SIGKILL, $terms by SIGTERM) in $rounds rounds, $late were done before"
check "$wanted kills" [ $((kills + terms)) -ge "$wanted" ]
finish
