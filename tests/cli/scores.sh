#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Scores and losses through the tool: eval against what predict writes, the monitor, undefined scores, counts.
. "$(dirname "$0")/lib.bash"

# number KEY: of eval --json's one line
number() {
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" out
}

# near TEXT A B BAR: two numbers that are there and close
near() {
    check "$1: $2 and $3" awk -v a="$2" -v b="$3" -v bar="$4" \
        'BEGIN { exit !(a != "" && b != "" && (a > b ? a - b : b - a) <= bar) }'
}

# ---- real targets: eval's numbers are those of predict's file
awk 'BEGIN { srand(3); print "a,b,y"
    for (i = 0; i < 200; i++) { a = rand(); b = rand(); printf "%.6f,%.6f,%d\n", a, b, 6 * a * a + 4 * b } }' >t.csv
for loss in mae mse huber poisson; do
    run 0 train --data t.csv --target y --task regression --loss $loss --epochs 200 --out $loss --monitor val_r2 --quiet
    check "$loss: the monitored value is not in metrics.jsonl" grep -q '"val_r2":' $loss/metrics.jsonl
    shows ", r2 "
    run 0 predict $loss --data t.csv --out $loss.csv
    run 0 eval $loss --data t.csv --json
    paste -d, t.csv $loss.csv | awk -F, 'NR > 1 { n++; e = $4 - $3; s += e * e; a += e < 0 ? -e : e; t += $3; q += $3 * $3 }
        END { printf "%.9g %.9g %.9g\n", s / n, a / n, 1 - s / (q - t * t / n) }' >by_hand
    read -r mse mae r2 <by_hand
    near "$loss: mse" "$(number mse)" "$mse" 1e-5
    near "$loss: mae" "$(number mae)" "$mae" 1e-5
    near "$loss: r2" "$(number r2)" "$r2" 1e-5
    check "$loss learned nothing: r2 $r2" awk -v r2="$r2" 'BEGIN { exit !(r2 > 0.8) }'
done
check "a mean of counts below 0" awk -F, 'NR > 1 && $1 <= 0 { bad = 1 } END { exit bad }' poisson.csv
check "targets of counts were standardised" grep -q 'standardize: features' poisson/config.yaml
run 0 train --data t.csv --target y --task regression --loss huber --huber-delta 0.3 --epochs 5 --out narrow
check "huber_delta is not kept" grep -q 'huber_delta: 0.3' narrow/config.yaml
run 2 train --data t.csv --target y --task regression --huber-delta 0.3 --out no
fails argument key=huber-delta
run 2 train --data t.csv --target y --task regression --loss poisson --standardize both --out no
fails argument key=standardize
run 2 train --data t.csv --target y --task regression --monitor val_auc --out no
fails argument key=monitor
absent no

# ---- classes: undefined is null, blank, and no failure
awk 'BEGIN { srand(4); print "a,b,y"
    for (i = 0; i < 60; i++) { yes = i % 12 == 0; printf "%.6f,%.6f,%s\n", rand(), rand() + yes, yes ? "yes" : "no" } }' >c.csv
{ head -1 c.csv && grep no c.csv; } >one.csv
run 0 train --data c.csv --epochs 20 --split stratified --out classes
run 0 eval classes --data one.csv --json
shows '"auc": null' '"f1":'
run 0 eval classes --data one.csv
shows "auc               undefined"
run 0 eval classes --data c.csv --quiet
shows "balanced_accuracy " "log_loss " "auc               0."
cat >e.yaml <<YAML
name: few
data: {name: c.csv, test: 0.1, val: 0.2}
train: {epochs: 5}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
grid: {lr: [0.01, 0.1]}
seeds: 6
metric: auc
YAML
run 0 run e.yaml --quiet --out few
check "an undefined score is not null" grep -q '"auc": null' few/results.json
check "no split was left out" grep -qE '^SP .* [1-5]/6 ' few/table.txt
check "an undefined score is called a failure" [ -z "$(grep failed few/table.txt)" ]
check "larger is not better" grep -q 'auc (larger' few/table.txt
run 2 train --data c.csv --split random --val 0.02 --epochs 5 --monitor val_auc --out no
fails argument key=monitor
absent no

# ---- scores of the training part by epoch: those of result.json at the best one; never the monitor; absent unless asked for
run 0 train --data spirals --rows 400 --epochs 6 --hidden 16 --batch 64 --train-scores --out trained --quiet
best=$(sed -n 's/.*"best_epoch": \([0-9]*\).*/\1/p' trained/result.json)
for name in accuracy top5; do
    by_epoch=$(sed -n "${best}s/.*\"train_$name\":\([^,}]*\).*/\1/p" trained/metrics.jsonl)
    at_end=$(sed -n '/"train"/,/}/s/.*"'$name'": \([^,]*\).*/\1/p' trained/result.json)
    near "train_$name" "$by_epoch" "$at_end" 1e-12
done
check "six epochs" [ "$(grep -c '"train_top5":' trained/metrics.jsonl)" -eq 6 ]
run 2 train --data spirals --rows 400 --epochs 2 --train-scores --monitor train_top5 --out never
fails argument key=monitor
run 0 train --data spirals --rows 400 --epochs 6 --hidden 16 --batch 64 --out plain --quiet
check "scores that nobody asked for" sh -c '! grep -q train_accuracy plain/metrics.jsonl'
check "another training" cmp -s plain/model.safetensors trained/model.safetensors
run 0 figures trained convergence
check "the training part's score" grep -q "^name_0 = 'training accuracy'" trained/figures/convergence.gp

finish
