#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Ensembles: the same bits whatever the number of threads, members that are the nets they would be alone, their mean to the
# last bit; eval, predict, convert, export, show; what is refused.
. "$(dirname "$0")/lib.bash"

table 400 >t.csv
classes 300 no yes >two.csv
classes 300 one two three >three.csv

short=(--quiet --data t.csv --target y --hidden 16 --epochs 40 --batch 64 --patience 10)
run 0 train "${short[@]}" --ensemble 3 --out e
for threads in 2 3 8; do
    run 0 train "${short[@]}" --ensemble 3 --threads $threads --out e$threads
    same_run e e$threads
done
run 0 train "${short[@]}" --out alone
run 0 train "${short[@]}" --ensemble 1 --out e1
check "an ensemble of one is one net" cmp -s alone/model.safetensors e1/model.safetensors
run 0 eval e --member 0 --json
cp out member0
run 0 eval alone --json
check "the first member is the net that is trained alone" cmp -s out member0
run 0 eval e --json
check "the mean is no better than its first member" awk -F'[:,]' 'FNR == 1 { rmse[++n] = $6 } END { exit !(rmse[1] < rmse[2]) }' out member0
check "result.json has other scores than eval" grep -q "\"rmse\": $(json out rmse)" e/result.json
whole=$(json out rmse)
run 0 importance e --repeats 1 --json
check "importance is of another net than eval: $(json out score), $whole" awk -v a="$(json out score)" -v b="$whole" 'BEGIN { exit !((a / b - 1) ^ 2 < 1e-20) }' # rows in another order
run 0 compare e alone --json
check "compare takes the first member for the mean" awk '/"ahead_behind": "[0-9]+ : [0-9]+"/ { n = $0; sub(/.*"ahead_behind": "/, "", n); split(n, v, /[ :"]+/); exit !(v[1] + v[2] > 0) }' out
check "metrics.jsonl says of how many nets" grep -q '"members":3' e/metrics.jsonl
check "an epoch stands twice, or none does" [ "$(sed 's/,.*//' e/metrics.jsonl | uniq -d | wc -l)" -eq 0 ]

# means_of FOLDER DATA COLUMNS: columns of the mean are the members', added in order and divided
means_of() {
    local k columns=$3
    run 0 predict "$1" --data "$2" --out mean.csv
    for k in 0 1 2; do
        run 0 predict "$1" --data "$2" --member $k --out m$k.csv
    done
    check "$1: not the mean of its members" awk -F, -v columns="$columns" '
        FNR > 1 { n = split(columns, c, " "); for (i = 1; i <= n; i++) v[FILENAME, FNR, i] = $(c[i]); rows = FNR }
        END { for (r = 2; r <= rows; r++) for (i = 1; i <= n; i++)
            if ((v["m0.csv", r, i] + v["m1.csv", r, i] + v["m2.csv", r, i]) / 3 != v["mean.csv", r, i] + 0) exit 1
            exit rows < 100 }' m0.csv m1.csv m2.csv mean.csv
}
# a map of the mean, and the units of both nets
run 0 train --quiet --data crescents --hidden 6 --epochs 5 --ensemble 2 --out plane
run 0 figures plane decision
check "decision has no map of an ensemble" [ "$(grep -c '^[-0-9]' plane/figures/decision.p0map.dat)" -eq 14641 ]
check "decision has not the units of both nets" [ "$(grep -c '^[-0-9]' plane/figures/decision.p0stars.dat)" -eq 12 ]
means_of e t.csv 1
check "the header lacks spread" [ "$(head -1 mean.csv)" = prediction,spread ]
check "one net has no spread" [ "$(head -1 m0.csv)" = prediction ]
check "spread is not the standard deviation" awk -F, 'FNR > 1 { v[FILENAME, FNR] = $1; s[FILENAME, FNR] = $2 }
    END { for (r = 2; r <= FNR; r++) { q = 0
        for (k = 0; k < 3; k++) q += (v["m" k ".csv", r] - v["mean.csv", r]) ^ 2
        d = sqrt(q / 2) - s["mean.csv", r]; if (d * d > 1e-20 || s["mean.csv", r] <= 0) exit 1 } }' m0.csv m1.csv m2.csv mean.csv
run 0 train --quiet --data two.csv --target kind --hidden 10 --epochs 15 --ensemble 3 --out two
means_of two two.csv 2
check "the header of two classes" [ "$(head -1 mean.csv)" = class,probability,spread ]
run 0 train --quiet --data three.csv --target kind --hidden 10 --epochs 15 --ensemble 3 --out three
means_of three three.csv "2 3 4"
check "the header of three classes" [ "$(head -1 mean.csv)" = class,p_one,p_three,p_two,spread ]
run 0 eval three --data three.csv --json
hits=$(paste -d, three.csv <(cut -d, -f1 mean.csv) | awk -F, 'NR > 1 { hits += $3 == $4 } END { print hits / (NR - 1) }')
check "accuracy is not that of the mean: $hits" awk -v a="$(json out accuracy)" -v b="$hits" 'BEGIN { exit !((a - b) ^ 2 < 1e-8) }'

# converted, shown, looked into
run 0 convert e sp.safetensors --to sp
shows "16"
run 0 show sp.safetensors; shows "members     3" "sp"
run 0 show e; shows "members     3" "--ensemble 3"
run 0 show e --json; shows '"members": 3'
cp -r e converted && cp sp.safetensors converted/model.safetensors
run 0 predict e --data t.csv --out before.csv
run 0 predict converted --data t.csv --out after.csv
check "converted, it predicts something else" awk -F, 'FNR > 1 { v[FILENAME, FNR] = $1 }
    END { for (r = 2; r <= FNR; r++) if ((v["before.csv", r] - v["after.csv", r]) ^ 2 > 1e-8) exit 1 }' before.csv after.csv
run 0 boundaries e
notes key=member 3
run 0 boundaries e --member 2
run 0 regions two
notes key=member 3
run 0 regions two --member 1; shows "regions"
run 2 eval e --member 3; fails argument key=member
run 2 eval e --member x; fails argument key=member
if [ -n "${ONNX_NETS:-}" ]; then
    run 0 export three three.onnx; shows "onnx"
    run 2 export three raw.onnx --raw; fails argument key=raw
    absent raw.onnx
    run 0 export three one.onnx --member 0 --raw
fi

# Folds: of two, the first member validates on the validation part and the second on the training part; the validation score is of
# each row by the member that did not train on it. Each member's own score is of its fold.
run 0 train "${short[@]}" --val 0.5 --test 0 --ensemble 2 --out folds
check "folds are not what is taken" grep -qx "  ensemble_val: folds" folds/config.yaml
run 0 predict folds --data t.csv --member 0 --out m0.csv
run 0 predict folds --data t.csv --member 1 --out m1.csv
tr -d ' \n' <folds/split.json | sed 's/.*"val":\[\([0-9,]*\)\].*/\1/' | tr , '\n' >val.rows
rmse=$(paste -d, t.csv m0.csv m1.csv | awk -F, '
    NR == FNR { val[$1] = 1; next }
    FNR > 1 { p = (FNR - 2) in val ? $(NF - 1) : $NF; sum += (p - $(NF - 2)) ^ 2; n++ }
    END { printf "%.9g", sqrt(sum / n) }' val.rows -)
check "validation is not by those who did not train: $rmse" awk -v a="$rmse" -v b="$(json folds/result.json val rmse)" \
    'BEGIN { exit !((a - b) ^ 2 < 1e-8 * a * a) }'
run 0 train "${short[@]}" --ensemble 3 --ensemble-val one --out shared
check "one part for all and folds are the same" [ "$(json shared/result.json val rmse)" != "$(json e/result.json val rmse)" ]
run 0 train "${short[@]}" --ensemble 2 --refit --out refit
awk 'BEGIN { FS = OFS = "," } { print $0, NR == 1 ? "house" : NR % 20 }' t.csv >groups.csv
grouped=(--quiet --data groups.csv --target y --group house --hidden 8 --epochs 3 --ensemble 2)
run 0 train "${grouped[@]}" --out grouped
check "groups are parted" grep -qx "  ensemble_val: one" grouped/config.yaml
run 2 train "${grouped[@]}" --ensemble-val folds --out bad; fails argument key=ensemble-val
run 2 train "${short[@]}" --ensemble 2 --ensemble-val folds --val 0 --out bad; fails argument key=ensemble-val
run 2 train "${short[@]}" --ensemble-val folds --out bad; fails argument key=ensemble-val

# A table with fewer rows than folds has fewer folds.
printf 'a,y\n1,2.5\n2,3.1\n3,4.9\n4,5.2\n5,6.7\n' >tiny.csv
run 0 train --quiet --data tiny.csv --target y --out tiny; shows " 5 networks"
run 0 train --resume --quiet --out tiny

# Where nothing is said about the net and its training, five of them; else one.
run 0 train --quiet --data t.csv --target y --out nothing-said; shows " 5 networks"
run 0 train --quiet --data t.csv --target y --seed 1 --threads 1 --class-weight none --out seed-said; shows " 5 networks"
run 0 train --quiet --data t.csv --target y --epochs 9 --out epochs-said
check "a net that was named is five" [ -z "$(grep ensemble out)" ]

# refused
run 2 train "${short[@]}" --ensemble 0 --out bad; fails argument key=ensemble
run 2 train "${short[@]}" --ensemble 2 --record boundaries --out bad; fails argument key=record
run 2 train "${short[@]}" --ensemble 2 --init sp.safetensors --param sp --out bad; fails argument key=ensemble
run 2 train --resume --ensemble 4 --out e; fails argument key=ensemble
run 2 train --resume --ensemble 4 --out alone; fails argument key=ensemble
run 1 train "${short[@]}" --init e/model.safetensors --out bad; fails format path=e/model.safetensors
absent bad

# in an experiment: a key of a method; a diverged member is told by its number
cat >x.yaml <<'EOF'
name: x
data: {file: t.csv, target: y}
net: {hidden: [8]}
train: {epochs: 20}
seed_split: 4
seeds: 2
methods:
  - {name: one, param: sp}
  - {name: five, param: sp, ensemble: 5}
EOF
run 0 run x.yaml --out x --quiet
check "the seeds split differently" cmp -s x/jobs/five/seed-0/split.json x/jobs/five/seed-1/split.json
check "the experiment has no ensemble" grep -q "ensemble: 5" x/jobs/five/seed-0/config.yaml
run 1 train "${short[@]}" --ensemble 2 --optimizer sgd --lr 1e30 --out wild; fails diverged key=layers.0
finish
