#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Frequent mistakes of new users: the message is about the real problem and names a remedy.
. "$(dirname "$0")/lib.bash"

# says WORD...: the message read last names each WORD
says() {
    local word
    for word; do
        checks=$((checks + 1))
        [[ ${message[text]} == *"$word"* ]] || wrong "the message lacks '$word': ${message[text]}"
    done
}

table 40 >prices.csv
for name in t.xlsx t.xls t.ods t.parquet t.feather; do
    head -c 100 /dev/zero >$name
    refuses "format path=$name" train --data $name --out bad
    says CSV
done
refuses "file path=price.csv" train --data price.csv --out bad
says prices.csv
refuses "file path=$PWD/price.csv" train --data "$PWD/price.csv" --out bad
says "$PWD/prices.csv"
refuses "file path=bostn" train --data bostn --out bad
says boston
printf 'a,b\n1,2\n' >one.csv
refuses "format path=one.csv" train --data one.csv --out bad
says row
touch d.jpg
refuses "argument path=d.jpg" train --data d.jpg --out bad
says folder
refuses "file path=nothing" train --resume --out nothing
says resume
refuses "argument key=net" train --data prices.csv --net resnet18 --out bad
says table
awk 'BEGIN { print "id,x,y"; for (i = 0; i < 90; i++) print "name" i "," i % 7 "," i % 5 }' >names.csv
printf 'name: named\ndata: {name: names.csv}\nnet: {kind: mlp, hidden: [4]}\ntrain: {epochs: 2}\nmethods: [{name: SP, param: sp}]\nseeds: 2\n' >named.yaml
refuses "format key=id path=named.yaml line=2" run named.yaml --out bad
says "--set data.drop=auto"
run 0 run named.yaml --set data.drop=auto --out named --quiet # the advice works
awk 'BEGIN { print "x,y,z"; for (i = 0; i < 100; i++) print (i == 50 ? "unknown" : i * 1.5) "," i % 7 "," i }' >word.csv
refuses "format key=x path=word.csv line=52" train --data word.csv --out bad
says "--missing-words"
run 0 train --data word.csv --missing-words none,Unknown --out word --no-report
check "the word is not counted as missing: $(cat out)" grep -q "1 missing cell filled: x 1" out
printf 'x,y,z\nUNKNOWN,3,1\n' >new.csv
run 0 predict word --data new.csv --quiet
check "the network does not know the word" [ "$(lines out)" -eq 2 ]
run 0 train --resume --out word
absent bad nothing
finish
