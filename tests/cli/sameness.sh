#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The same seed gives the same bits; another seed, other ones.
. "$(dirname "$0")/lib.bash"

table 600 >t.csv
classes 300 one two three >c.csv

# twice NAME OPTIONS...: two runs, NAME and NAME-again, are the same
twice() {
    local name=$1
    shift
    run 0 train --quiet "$@" --out "$name"
    run 0 train --quiet "$@" --out "$name-again"
    same_run "$name" "$name-again"
}

differ() {
    check "$1 and $2 have the same model" eval '! cmp -s "$1/model.safetensors" "$2/model.safetensors"'
}

short="--data t.csv --target y --hidden 20 --epochs 12"
# shellcheck disable=SC2086 # options
{
    twice gmp $short
    twice mini $short --hidden 30,20 --batch 50 --norm bn --schedule plateau:2:0.5:0.01 --patience 3
    twice double $short --dtype f64 --param sphere --batch 64
    twice threads $short --threads 2 --batch 128
    twice threads64 $short --threads 2 --dtype f64 --norm ln --param wn
    twice stratified --data c.csv --target kind --split stratified --epochs 20 --batch 32 --norm mbn
    twice seed1 $short --seed 1
    differ gmp double
    differ gmp seed1
    check "seeds 0 and 1 split alike" eval '! cmp -s gmp/split.json seed1/split.json'

    # the seed of the rows and that of the training are the two halves of --seed, and each moves its own half
    twice halves $short --batch 64 --seed 7 --seed-split 1 --seed-init 1
    run 0 train --quiet $short --batch 64 --seed 1 --out whole
    check "seed 1 is not its two halves" cmp -s halves/model.safetensors whole/model.safetensors
    check "--seed-split is not the split" cmp -s halves/split.json seed1/split.json
    run 0 train --quiet $short --seed-init 1 --out other-start
    check "--seed-init moved rows" cmp -s other-start/split.json gmp/split.json
    differ other-start gmp
    run 0 train --quiet $short --seed-split 1 --epochs 1 --lr 1e-30 --out other-rows
    run 0 train --quiet $short --epochs 1 --lr 1e-30 --out first-rows
    check "--seed-split moved no rows" eval '! cmp -s other-rows/split.json first-rows/split.json'

    # --jobs side by side do not see each other
    "$SPHERELU" train --quiet $short --out side1 >/dev/null 2>&1 &
    first=$!
    run 0 train --quiet $short --out side2
    wait $first
    same_run side1 gmp
    same_run side2 gmp

    # neither the place of the folder, nor notes, nor the way of printing, nor how often checkpoints are written
    run 0 train --verbose --json $short --checkpoint-seconds 0.001 --out deep/er/folder
    same_run deep/er/folder gmp
}
# ... also while the clock of the day is set two days ahead and back all the time
if [ -n "${FAULTS_LIBRARY:-}" ] && [ -z "${SPH_SAN:-}" ]; then
    # shellcheck disable=SC2086 # options
    FAULT_CLOCK=jumps LD_PRELOAD=$FAULTS_LIBRARY run 0 train --quiet $short --out jumps
    same_run gmp jumps
    check "it took $(json jumps/result.json seconds) seconds" awk -v s="$(json jumps/result.json seconds)" 'BEGIN { exit !(s > 0 && s < 3600) }'
else
    skipped "a clock that jumps: no library to preload"
fi
# a run repeats from what its config.yaml says
check "config.yaml lacks the rate" grep -q "^  lr: 0" gmp/config.yaml
finish
