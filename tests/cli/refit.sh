#!/bin/bash
# SPDX-License-Identifier: MIT
#
# --refit: the second training is what the chosen number of epochs on both parts would give by itself, of one net and of an
# ensemble; what is refused.
. "$(dirname "$0")/lib.bash"

table 400 >t.csv
net=(--quiet --data t.csv --target y --hidden 16 --batch 64)
run 0 train "${net[@]}" --epochs 60 --patience 8 --out first
run 0 train "${net[@]}" --epochs 60 --patience 8 --refit --out both
best=$(json first/result.json best_epoch)
check "other metrics than without --refit" cmp -s <(timeless first/metrics.jsonl) <(timeless both/metrics.jsonl)
check "not the epochs that were chosen" [ "$(wc -l <both/refit.jsonl)" -eq "$best" ]
check "another best epoch" [ "$(json both/result.json best_epoch)" = "$best" ]
check "other validation scores" [ "$(json both/result.json val rmse)" = "$(json first/result.json val rmse)" ]
check "the same test scores" [ "$(json both/result.json test rmse)" != "$(json first/result.json test rmse)" ]
check "rows of both parts" [ "$(json both/result.json rows)" = 320 ]

# the same by hand: without a validation part, for as many epochs, on the same rows in the same order
run 0 train "${net[@]}" --val 0 --epochs "$best" --patience 0 --out hand
hand=$(json hand/result.json test rmse) both=$(json both/result.json test rmse)
check "far from the same by hand: $both, $hand" awk -v a="$both" -v b="$hand" 'BEGIN { exit !(a < 1.5 * b && b < 1.5 * a) }'
run 0 eval both --json
check "eval is not of the net that is kept" [ "$(json out rmse)" = "$both" ]

# an ensemble: each member for its own epochs; a schedule goes on as in the first training
run 0 train "${net[@]}" --epochs 60 --patience 8 --schedule cosine --ensemble 3 --refit --out three
run 0 train "${net[@]}" --epochs 60 --patience 8 --schedule cosine --ensemble 3 --refit --threads 3 --out three-threads
same_run three three-threads
check "the rates are another schedule's" awk -F'[:,]' '{ lr[FILENAME, FNR] = $6 } END { for (e = 1; e <= 3; e++) {
    d = lr["three/metrics.jsonl", e] / lr["three/refit.jsonl", e] - 1; if (d * d > 1e-4 || lr["three/refit.jsonl", 3] == 0.01) exit 1 } }' three/metrics.jsonl three/refit.jsonl
check "no epochs of each member" [ "$(tr -d ' \n' <three/result.json | grep -o '"refit":{"epochs":\[[0-9]*,[0-9]*,[0-9]*\]' | wc -l)" -eq 1 ]

# refused
run 2 train "${net[@]}" --refit --val 0 --out bad; fails argument key=refit
run 2 train "${net[@]}" --refit --protocol reference --out bad; fails argument key=refit
run 2 train "${net[@]}" --refit --schedule plateau:5:0.1:0 --out bad; fails argument key=refit
run 2 train "${net[@]}" --refit --record boundaries --out bad; fails argument key=record
run 2 train --resume --refit --out first; fails argument key=refit
absent bad
finish
