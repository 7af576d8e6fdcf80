#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A table of ten million rows: train, eval and predict take time and memory in proportion to a table of one million.
. "$(dirname "$0")/lib.bash"

# rows COUNT: a table of two numbers, a word and a target, by the last digits of whole numbers
rows() {
    awk -v rows="$1" 'BEGIN {
        print "a,b,colour,y"
        for (i = 0; i < rows; i++) {
            a = i * 7919 % 10007; b = i * 104729 % 10009; c = i % 3
            print a "," b "," (c == 0 ? "red" : c == 1 ? "green" : "blue") "," a / 100 + b * c
        }
    }'
}

# cost FILE COMMAND...: processor seconds and peak kB of the command, as two numbers in FILE
cost() {
    python3 - "$@" <<'PYTHON'
import os, subprocess, sys
child = subprocess.Popen([os.environ["SPHERELU"], *sys.argv[2:]], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
open(sys.argv[1], "w").write(f"{used.ru_utime + used.ru_stime} {used.ru_maxrss}\n")
sys.exit(os.waitstatus_to_exitcode(status))
PYTHON
}

export SPHERELU
for million in 1 10; do
    rows ${million}000000 >table.csv
    check "train on $million million rows" cost train.$million train --data table.csv --hidden 8 --batch 4096 --epochs 1 --ensemble 1 --out run.$million
    check "eval of $million million rows" cost eval.$million eval run.$million --data table.csv
    check "predict of $million million rows" cost predict.$million predict run.$million --data table.csv --out p.csv
    check "$(wc -l <p.csv) lines of predictions" [ "$(wc -l <p.csv)" -eq ${million}000001 ]
done
for command in train eval predict; do
    echo "$command: $(cat $command.1) and $(cat $command.10) (seconds of the processor, kB)"
    check "$command: ten times the rows take $(cat $command.1) and $(cat $command.10)" awk '
        NR == 1 { seconds = $1; memory = $2 } NR == 2 { exit !($1 < 30 * seconds && $2 < 12 * memory) }' $command.1 $command.10
done
finish
