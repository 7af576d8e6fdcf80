#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A run that is killed at 20 random moments and resumed each time ends with the same bits as one never killed: its model,
# its metrics and what it recorded of its boundaries.
. "$(dirname "$0")/lib.bash"

seed=${KILL_SEED:-$$}
RANDOM=$seed
echo "moments drawn with KILL_SEED=$seed"

table 3000 >t.csv
training=(--data t.csv --target y --hidden 48,48 --norm bn --batch 16 --epochs 1000 --patience 600 --warmup 2
    --schedule plateau:3:0.7:0.001 --optimizer adam --seed 5 --quiet --checkpoint-seconds 0.03
    --record boundaries+patterns:0,300,1000,5000)

began=${EPOCHREALTIME/[.,]/}
run 0 train "${training[@]}" --out whole
no_temporaries whole
window=$(((${EPOCHREALTIME/[.,]/} - began) / 10000)) # ms: twenty waits of half of it on average are one run
[ $window -gt 50 ] || window=50

kills=0 late=0 saved=0 round=0 limit=$((SECONDS + 600)) # a busy machine, a sanitizer
while [ $kills -lt 20 ] && [ $SECONDS -lt $limit ]; do
    round=$((round + 1))
    while [ $kills -lt 20 ] && [ $SECONDS -lt $limit ]; do
        "$SPHERELU" train --resume "${training[@]}" --out "killed$round" >out 2>err &
        child=$!
        moment=$((RANDOM % window))
        sleep $((moment / 1000)).$(printf %03d $((moment % 1000)))
        kill -KILL $child 2>/dev/null
        wait $child 2>/dev/null
        code=$?
        if [ $code -eq 137 ]; then
            kills=$((kills + 1))
            [ -e "killed$round/checkpoint.safetensors" ] && saved=$((saved + 1))
        elif [ $code -eq 0 ]; then
            late=$((late + 1))
            break
        else
            wrong "a resumed run ended with $code"
            finish
        fi
    done
    run 0 train --resume "${training[@]}" --out "killed$round"
    same_run whole "killed$round"
    no_temporaries "killed$round"
done
echo "$kills kills ($saved of them after a checkpoint) in $round runs, $late runs were done before their kill"
check "20 kills" [ $kills -ge 20 ]
check "checkpoints were met" [ $saved -ge 5 ]
finish
