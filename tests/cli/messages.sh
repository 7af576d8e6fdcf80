#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The wording of messages.txt, the only place that pins it. After a change of wording, RECORD=1 writes the list anew: read the
# difference before you commit it.
#
#   SPHERELU=build/spherelu RECORD=1 tests/cli/messages.sh
list=$(cd "$(dirname "$0")/.." && pwd)/messages.txt
. "$(dirname "$0")/lib.bash"
unset SPHERELU_MESSAGES SPHERELU_DATA
export SPHERELU_CACHE=$work/cache

# What the commands of the list find: a table that is fine, tables that are not, a run, and what is no run.
{
    echo "a,b,price"
    for i in $(seq 40); do echo "$i,$((i * i)),$((i * 3))"; done
} >ok.csv
: >empty.csv
head -1 ok.csv >header.csv
sed '7s/,.*//' ok.csv >few.csv
sed '7s/^[0-9]*/six/' ok.csv >text.csv
sed '7s/^[0-9]*/inf/' ok.csv >infinite.csv
sed '7s/[0-9]*$/six/' ok.csv >target.csv
sed '2,$s/[0-9]*$/5/' ok.csv >constant.csv
cut -d, -f1,3 ok.csv >narrow.csv
cut -d, -f1,2 ok.csv >features.csv
awk 'BEGIN { print "id,x,y"; for (i = 0; i < 90; i++) print "name" i "," i % 7 "," i % 5 }' >names.csv
printf 'name: e\ndata: {name: ok.csv}\ntrain: {epoch: 3}\nmethods: [{name: A}]\n' >key.yaml
printf 'name: e\ndata: {name: ok.csv}\nmethods: [{name: A, param: gpm}]\n' >word.yaml
run 0 train --data ok.csv --epochs 3 --hidden 4 --quiet --no-report --out fine
: >empty.safetensors
mkdir empty

cp "$list" expected
: >found
while IFS= read -r line; do
    case $line in '#'* | '')
        echo "$line" >>found
        continue
        ;;
    esac
    eval "\"\$SPHERELU\" ${line%% => *}" >out 2>err </dev/null
    checks=$((checks + 1))
    said=$(<err)
    echo "${line%% => *} => ${said//"$work/"/}" >>found
    [ "$(tail -1 found)" = "$line" ] || [ -n "${RECORD:-}" ] || wrong "${line%% => *}: expected ${line#* => }"
    rm -rf r
done <expected
[ -z "${RECORD:-}" ] || cp found "$list"
check "$(grep -c ' => ' found) messages, expected about 40" [ "$(grep -c ' => ' found)" -ge 35 ]
finish
