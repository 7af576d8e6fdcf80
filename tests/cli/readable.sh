#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Output for people: a table of boundaries on a terminal and CSV in a pipe, a summary of a planned experiment, the files that regions writes.
. "$(dirname "$0")/lib.bash"

run 0 train --data crescents --hidden 6 --epochs 5 --quiet --no-report --out run
run 0 boundaries run
check "no CSV in a pipe" grep -q '^layer,unit,norm,' out
cp out piped
if command -v script >/dev/null; then
    script -qec "\"$SPHERELU\" boundaries run" /dev/null | tr -d '\r' >table
    check "no table on a terminal" grep -qE '^layer +unit +norm +offset' table
    check "a line of the table is longer than 80 characters" awk 'length > 80 { exit 1 }' table
    check "the table has not a line for each unit" [ "$(lines table)" -eq "$(lines piped)" ]
    script -qec "\"$SPHERELU\" boundaries run --csv" /dev/null | tr -d '\r' >csv
    check "--csv on a terminal is another CSV" cmp -s csv piped
else
    skipped "script is not installed"
fi

printf 'name: plan\ndata: {name: crescents}\nnet: {kind: mlp, hidden: [4]}\ntrain: {epochs: 2}\nmethods: [{name: SP, param: sp}, {name: GmP, param: gmp}]\nseeds: 25\n' >plan.yaml
run 0 run plan.yaml --dry-run
check "50 jobs are listed one by one" [ "$(lines out)" -lt 6 ]
check "the jobs of a method are not counted" grep -qE '^GmP +25 jobs' out
run 0 run plan.yaml --dry-run --verbose
check "--verbose does not list every job" [ "$(lines out)" -gt 50 ]
run 0 run plan.yaml --dry-run --json
check "JSON lists not every job" [ "$(grep -o '"folder"' out | wc -l)" -eq 50 ]

run 0 regions run --out pictures
check "regions does not name what it wrote" grep -q 'pictures/regions.json' err
check "regions.json" [ -s pictures/regions.json ]
finish
