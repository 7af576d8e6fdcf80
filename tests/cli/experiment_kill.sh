#!/bin/bash
# SPDX-License-Identifier: MIT
#
# An experiment of 40 jobs that is killed at 10 random moments (KILLS; 100 in the long layer) and resumed each time ends with the same tables
# and models as one never killed, and repeats nothing that had finished.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"

seed=${KILL_SEED:-$$}
kills_wanted=${KILLS:-$(in_layer long && echo 100 || echo 10)}
RANDOM=$seed
echo "moments drawn with KILL_SEED=$seed"

forty $((40 * kills_wanted))
began=${EPOCHREALTIME/[.,]/}
run 0 run 40.yaml --quiet --out whole
no_temporaries whole
spent=$(((${EPOCHREALTIME/[.,]/} - began) / 1000)) # ms
window=$((2 * spent / kills_wanted + 50))          # so that the kills share one experiment, or nearly so

kills=0 late=0 round=0 inside=0 limit=$((SECONDS + 20 + 10 * kills_wanted))
while [ $kills -lt "$kills_wanted" ] && [ $SECONDS -lt $limit ]; do
    round=$((round + 1))
    while [ $kills -lt "$kills_wanted" ] && [ $SECONDS -lt $limit ]; do
        done_before=$(find "killed$round" -name result.json -printf '%p %i\n' 2>/dev/null | sort)
        "$SPHERELU" run 40.yaml --quiet --resume --jobs $((RANDOM % 3 + 1)) --out "killed$round" >out 2>err &
        child=$!
        moment=$((RANDOM % window))
        sleep $((moment / 1000)).$(printf %03d $((moment % 1000)))
        kill -KILL $child 2>/dev/null
        wait $child 2>/dev/null
        code=$?
        if [ $code -eq 137 ]; then
            kills=$((kills + 1))
            find "killed$round" -name checkpoint.safetensors 2>/dev/null | grep -q . && inside=$((inside + 1))
            # what had a result has the same file still
            done_after=$(find "killed$round" -name result.json -printf '%p %i\n' 2>/dev/null | sort)
            check "a finished job was touched" [ -z "$(comm -23 <(echo -n "$done_before") <(echo -n "$done_after"))" ]
        elif [ $code -eq 0 ]; then
            late=$((late + 1))
            break
        else
            wrong "a resumed experiment ended with $code"
            finish
        fi
    done
    run 0 run 40.yaml --quiet --resume --out "killed$round"
    same_experiment whole "killed$round"
    no_temporaries "killed$round"
    rm -rf "killed$round"
done
echo "$kills kills ($inside with checkpoints about) in $round experiments, $late were done before their kill"
check "$kills_wanted kills" [ $kills -ge "$kills_wanted" ]
check "jobs were met at work" [ $inside -ge $((kills_wanted / 2)) ]
finish
