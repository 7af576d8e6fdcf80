#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every file of tests/bad, under limits of time and memory: exit code 1 or 2 and one line (tests/bad_corpus.py).
. "$(dirname "$0")/lib.bash"

awk 'BEGIN { print "a,b,price"; for (i = 1; i <= 40; i++) print i "," i * i "," i * 3 }' >ok.csv
printf 'name: small\ndata: {name: ok.csv}\ntrain: {epochs: 1}\nmethods: [{name: SP, param: sp}, {name: GmP}]\n' >small.yaml
run 0 train --data ok.csv --hidden 4 --epochs 2 --record boundaries:epoch --checkpoint-seconds 0 --out good
check "a file of tests/bad" env -u SPHERELU_MESSAGES python3 "$SOURCE_DIR/tests/bad_corpus.py" "$SPHERELU" "$SOURCE_DIR/tests/bad"
finish
