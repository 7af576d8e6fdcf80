#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Ctrl-C ends every command within a second, at 50 moments drawn at random: while data are read, trained on, scored, drawn.
# Times are of the clock, and a machine that is busy with other work is allowed what it takes to start the tool.
. "$(dirname "$0")/lib.bash"

TRIES=${TRIES:-50}
LIMIT_MS=${LIMIT_MS:-1000}
RANDOM=${SEED:-7}
awk 'BEGIN { srand(1); print "a,b,c,d,e,f,y"; for (i = 0; i < 200000; i++)
    printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", rand(), rand(), rand(), rand(), rand(), rand(), rand() }' >large.csv
head -20001 large.csv >small.csv
run 0 train --data small.csv --hidden 256,256 --epochs 2 --quiet --out done
cat >many.yaml <<'Y'
name: many
data: {name: crescents}
train: {epochs: 100000, patience: 0}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
seeds: 4
Y
for class in one two; do
    mkdir -p photos/$class
    for i in $(seq 40); do cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" photos/$class/$i.jpg; done
done
commands=(
    "train --data large.csv --hidden 512,512 --batch 16 --epochs 1000 --out t"
    "train --data large.csv --hidden 2048,2048,2048 --batch full --epochs 1000 --out t"
    "train --data photos --net resnet18 --norm bn --param sp --size 128 --epochs 50 --out t"
    "run many.yaml --out t"
    "eval done --data large.csv"
    "predict done --data large.csv --out p.csv"
    "importance done --data large.csv"
    "figures done"
    "convert done/model.safetensors t.safetensors --to sp"
)
# A background child of a script ignores SIGINT unless job control is on, and what was ignored at the start stays so.
set -m
most=0 late=0 finished=0
for ((try = 0; try < TRIES; try++)); do
    command=${commands[try % ${#commands[@]}]}
    rm -rf t t.safetensors p.csv
    # shellcheck disable=SC2086 # words
    env --default-signal=INT "$SPHERELU" $command >out 2>err &
    child=$!
    sleep "$(awk -v r=$RANDOM 'BEGIN { printf "%.3f", 0.02 + 3 * r / 32768 }')"
    begin=$(date +%s%N)
    if ! kill -INT $child 2>/dev/null; then
        wait $child || wrong "$command: exit $?, before it was interrupted"
        finished=$((finished + 1))
        continue
    fi
    wait $child
    code=$?
    took=$((($(date +%s%N) - begin) / 1000000))
    [ $took -gt $most ] && most=$took
    checks=$((checks + 1))
    if [ $took -gt "$LIMIT_MS" ]; then
        late=$((late + 1))
        wrong "$command: $took ms"
    fi
    [ $code -eq 130 ] || [ $code -eq 0 ] || wrong "$command: exit $code"
    [ -d t ] && no_temporaries t
done
set +m
echo "$TRIES tries, $finished ended by themselves, the longest took $most ms"
check "hardly any try was interrupted" [ $((TRIES - finished)) -ge $((TRIES / 2)) ]

# ---- what was stopped goes on
signalled INT '[ -e slow/checkpoint.safetensors ]' train --data large.csv --hidden 2048,2048,2048 --batch full --epochs 2 --out slow
check "a long step is not left" [ $code -eq 130 ]
has_error stopped
finish
