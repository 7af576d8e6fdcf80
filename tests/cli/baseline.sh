#!/bin/bash
# SPDX-License-Identifier: MIT
#
# train leaves out columns that say nothing, and prints each test score beside that of a prediction without features, with a
# warning where the network is not better. The baseline is computed here a second time, from the rows of split.json.
. "$(dirname "$0")/lib.bash"

awk 'BEGIN {
    srand(3); print "customer_id,age,plan,unit,churn"
    for (i = 0; i < 2000; i++) printf "%d,%d,%s,1,%s\n", 100000 + 7 * i, 18 + 60 * rand(), substr("abc", 1 + int(3 * rand()), 1), rand() < 0.07 ? "Yes" : "No"
}' >churn.csv
awk 'BEGIN {
    srand(4); print "id,size,rooms,price"
    for (i = 1; i <= 300; i++) { s = 20 + 180 * rand(); r = 1 + int(6 * rand()); printf "%d,%.1f,%d,%d\n", i, s, r, 3000 * s + 10000 * r + 20000 * rand() }
}' >price.csv

# ---------------------------------------------------------------- equally frequent classes
awk 'BEGIN { srand(5); print "x,kind"; for (i = 0; i < 300; i++) printf "%f,%s\n", rand(), substr("abc", 1 + i % 3, 1) }' >even.csv
run 0 train --data even.csv --split stratified --epochs 1 --out even --quiet --no-report
check "the baseline of three equal classes: $(json even/result.json baseline accuracy)" \
    awk -v a="$(json even/result.json baseline accuracy)" 'BEGIN { exit !(a > 0.3 && a < 0.4) }'

# ---------------------------------------------------------------- columns
run 0 train --data price.csv --out price --no-report
notes "'id'"
check "a column that counts the rows is a feature" grep -q "300 rows, 2 features" out
check "config.yaml does not say what was left out" grep -q "drop: auto" price/config.yaml
run 0 train --data price.csv --out kept --no-report --keep id --epochs 2
check "--keep" grep -q "300 rows, 3 features" out
run 0 train --data price.csv --out none --no-report --drop none --epochs 2
check "--drop none" grep -q "300 rows, 3 features" out
run 0 train --data price.csv --out one --no-report --drop rooms --epochs 2
check "--drop COL" grep -q "300 rows, 2 features" out
refuses "argument key=keep path=price.csv" train --data price.csv --out bad --keep nothing
refuses "argument key=keep path=price.csv" train --data price.csv --out bad --keep id --drop id
printf 'index,y\n1,2\n2,3\n3,4\n4,5\n5,6\n6,7\n7,9\n' >only.csv
refuses "format path=only.csv" train --data only.csv --out bad
check "the message has no remedy" grep -q -e "--drop none" err
sed 's/^index,/,/' only.csv | awk -F, -v OFS=, '{ print $0, NR == 1 ? "x" : NR * NR }' >pandas.csv # what to_csv writes
run 0 train --data pandas.csv --target y --out pandas --no-report --epochs 2
check "an index without a name is a feature" grep -q "7 rows, 1 features\?" out
awk -F, -v OFS=, 'NR == 1 { print 0, 1, "y"; next } { print $1, $3, $2 }' pandas.csv >numbered.csv
run 0 train --data numbered.csv --target y --out numbered --no-report --epochs 2
check "a column called 0 beside 1 is left out" grep -q "7 rows, 2 features" out
run 0 train --data price.csv --protocol reference --epochs 2 --out reference --no-report
check "protocol reference left out a column" grep -q "300 rows, 3 features" out
run 0 eval reference --quiet
run 0 eval price --quiet
run 0 train --resume --out price --quiet --no-report
cat >all.yaml <<'Y'
name: all
data: {name: price.csv}
net: {kind: mlp, hidden: [5]}
methods: [{name: SP, param: sp}]
train: {epochs: 2}
seeds: 1
Y
run 0 run all.yaml --out all --quiet
check "an experiment left out a column" grep -q '"features": *3\|inputs 3' <("$SPHERELU" show all/jobs/SP/seed-0)

# ---------------------------------------------------------------- the baseline
# rows_of RUN FILE COLUMN: target of each row, "test" or "fit" before it
rows_of() {
    tr -d ' \n' <"$1/split.json" | sed 's/"content":"[^"]*",//; s/"\(train\|val\|test\)":/\n\1 /g; s/[^a-z0-9,\n ]//g' | tr , ' ' >parts
    awk -F '[ ,]' -v column="$3" 'FILENAME == "parts" { for (i = 2; i <= NF; i++) part[$i] = $1; next } FNR > 1 { print part[FNR - 2], $column }' parts "$2"
}
expected=$(rows_of price price.csv 4 | awk '$1 == "train" { sum += $2; n++ } $1 == "test" { t[++m] = $2 } END { for (i = 1; i <= m; i++) s += (t[i] - sum / n) ^ 2; printf "%.3f", sqrt(s / m) }')
check "rmse of the mean is $expected, found $(json price/result.json baseline rmse)" awk "BEGIN { exit !(($(json price/result.json baseline rmse) / $expected - 1) ^ 2 < 1e-10) }"
check "a good network gets a warning" eval "! grep -q warning price/result.json"
run 0 train --data price.csv --out price2 --no-report --lr 1000
check "a training that went wrong gets no warning" grep -q "^warning .*--lr" out

run 0 train --data churn.csv --out churn --no-report
notes "'customer_id'"
notes "'unit'"
expected=$(rows_of churn churn.csv 5 | awk '$1 == "test" { n++; no += $2 == "No" } END { printf "%.6f", no / n }')
check "accuracy of always No is $expected, found $(json churn/result.json baseline accuracy)" awk "BEGIN { exit !(($(json churn/result.json baseline accuracy) - $expected) ^ 2 < 1e-10) }"
check "auc of always No" [ "$(json churn/result.json baseline auc)" = 0.5 ]
check "a network that is no better gets no warning" grep -q "^warning .*accuracy" out
run 0 train --data churn.csv --class-weight balanced --out weighted --no-report --epochs 10
check "class weights are taken for a failed training" eval '! grep "^warning" out | grep -q -e "--lr"'
check "an accuracy far below the baseline is not called so" grep -q "^warning .* is below " out
check "auc does not lead where a class is rare" grep -q "^test  *[0-9]* rows, auc" out
run 0 importance churn --repeats 2 --json
check "importance by accuracy where a class is rare" grep -q '"metric": *"auc"' out
run 0 show churn
check "show has no warning" grep -q "^warning" out
finish
