#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A full disk or an unwritable folder: one line, exit 1, and what was there before still works.
. "$(dirname "$0")/lib.bash"

case "${SPH_SAN:-}" in
*thread*)
    skipped "the thread sanitizer does not live under a file size limit"
    exit 77
    ;;
esac

table 400 >t.csv
training=(--data t.csv --target y --hidden 10,10 --batch 64 --epochs 140 --patience 0 --norm bn --checkpoint-seconds 0)
run 0 train "${training[@]}" --out whole

# limited BLOCKS CODE ARGS...: as run, where no file may grow beyond so many KiB
limited() {
    local blocks=$1 expected=$2 code
    shift 2
    (
        ulimit -f "$blocks"
        exec "$SPHERELU" "$@" >out 2>err
    )
    code=$?
    checks=$((checks + 1))
    [ $code -eq "$expected" ] || wrong "spherelu $*: exit $code with $blocks KiB, expected $expected"
}

# ---- full from the beginning: split.json fits, a checkpoint does not
limited 16 1 train --data t.csv --target y --hidden 100,100 --epochs 2 --out small
fails file path=small/checkpoint.safetensors
absent small/model.safetensors small/result.json small/checkpoint.safetensors
no_temporaries small
limited 1 1 train --data t.csv --target y --hidden 100,100 --epochs 2 --out smaller
fails file path=smaller/split.json
no_temporaries smaller
run 0 train --resume --out smaller
run 0 train --resume --out small
same_run small smaller

# ---- full when the log has grown: the last checkpoint stays, and the run goes on from it when there is room
check "the log of this test is too short" [ "$(stat -c %s whole/metrics.jsonl)" -gt 20000 ]
check "the checkpoint of this test is too long" [ "$(stat -c %s whole/checkpoint.safetensors)" -lt 15000 ]
for attempt in 1 2; do
    limited 16 1 train --quiet --resume "${training[@]}" --out grown
    fails file path=grown/metrics.jsonl
    absent grown/model.safetensors grown/result.json
    check "attempt $attempt: the last checkpoint is gone" [ -s grown/checkpoint.safetensors ]
    no_temporaries grown
done
run 0 train --resume --out grown
same_run whole grown

# ---- full at the very end: the model of a finished run is the old one or the new one
cp -r whole full
cp full/model.safetensors kept
rm full/result.json
limited 2 1 train --resume --out full
fails file path=full/checkpoint.safetensors
check "the old model was harmed" cmp -s kept full/model.safetensors
no_temporaries full
run 0 train --resume --out full
same_run whole full

# ---- predictions and conversions
limited 2 1 predict whole --data t.csv --out p.csv
fails file path=p.csv
check "a failed prediction left a file" eval '[ -z "$(find . -name "p.csv*")" ]'
echo old >p.csv
limited 2 1 predict whole --data t.csv --out p.csv
check "a failed prediction harmed the old file" [ "$(cat p.csv)" = old ]
limited 2 1 convert whole/model.safetensors c.safetensors --to sp
fails file path=c.safetensors
check "a failed conversion left a file" eval '[ -z "$(find . -name "c.safetensors*")" ]'
if [ -e /dev/full ]; then
    run 1 predict whole --data t.csv --out /dev/full
    fails file path=/dev/full
    for command in "predict whole --data t.csv" "eval whole --data t.csv" "eval whole --data t.csv --json" \
        "train --quiet --resume --out whole" "train --quiet --resume --out whole --json"; do
        checks=$((checks + 1))
        # shellcheck disable=SC2086 # words
        "$SPHERELU" $command >/dev/full 2>err
        [ $? -eq 1 ] || wrong "$command into a full disk does not fail"
        : >out
        fails file path=stdout
    done
fi

# ---- folders that cannot be made
echo text >file
run 1 train "${training[@]}" --out file
fails file path=file
run 1 train "${training[@]}" --out file/below
fails file path=file
check "a file was taken for a folder" [ "$(cat file)" = text ]
run 1 train "${training[@]}" --out /proc/nothing
fails file path=/proc/nothing
run 1 predict whole --data t.csv --out file/p.csv
fails file path=file/p.csv
run 1 predict whole --data t.csv --out .
fails file path=.
run 1 convert whole/model.safetensors nowhere/c.safetensors --to sp
fails file path=nowhere/c.safetensors
absent nowhere

# ---- a file that may not be written (root may write any: a folder stands in its place)
cp -r whole blocked
rm blocked/model.safetensors
mkdir blocked/model.safetensors
run 1 train --resume --out blocked
fails file path=blocked/model.safetensors
no_temporaries blocked
rmdir blocked/model.safetensors
run 0 train --resume --out blocked
same_run whole blocked
if [ "$(id -u)" -ne 0 ]; then
    mkdir readonly
    chmod a-w readonly
    run 1 train "${training[@]}" --out readonly/run
    fails file path=readonly/run
fi
finish
