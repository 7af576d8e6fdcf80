#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What eval and predict write, and that it is what the run folder says.
. "$(dirname "$0")/lib.bash"

table 2500 >t.csv
classes 300 yes no >two.csv
classes 300 one 'two,2' thr\"ee >bare.csv
sed 's/two,2/"two,2"/; s/thr"ee/"thr""ee"/' bare.csv >three.csv
awk 'BEGIN { srand(3); print "a,b,north,south wind"
    for (i = 0; i < 200; i++) { a = rand(); b = rand(); printf "%.4f,%.4f,%.4f,%.4f\n", a, b, a + b, a * b } }' >many.csv
run 0 train --data t.csv --target y --epochs 30 --out one
run 0 train --data many.csv --target north,"south wind" --epochs 30 --out many
run 0 train --data two.csv --epochs 60 --out two
run 0 train --data three.csv --epochs 60 --norm bn --batch 32 --out three
run 0 train --data crescents --epochs 60 --dtype f64 --out named

# part FILE RUN PART: the rows of a part, in its order, under the header
part() {
    head -1 "$1"
    tr -d ' \n' <"$2/split.json" | sed -E "s/.*\"$3\":\[([^]]*)\].*/\1/" | tr , '\n' >rows
    awk 'NR == FNR { if (FNR > 1) line[FNR - 2] = $0; next } { print line[$1] }' "$1" rows
}

# near A B: equal but for the order of a sum in single precision
near() {
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(d * d <= 1e-14 * (a * a + b * b)) }'
}

# ---- eval on a part repeats the scores of result.json
for pair in "one t.csv rmse mae loss" "many many.csv rmse mae loss" "two two.csv accuracy loss" "three three.csv accuracy loss"; do
    # shellcheck disable=SC2086 # words
    set -- $pair
    name=$1 file=$2
    shift 2
    for part in train val test; do
        part "$file" "$name" $part >part.csv
        run 0 eval "$name" --data part.csv --json
        check "$name: rows of $part" [ "$(json out rows)" -eq "$(grep -c . rows)" ]
        for score; do
            check "$name: $part $score is $(json out "$score"), result.json: $(json "$name/result.json" $part "$score")" \
                near "$(json out "$score")" "$(json "$name/result.json" $part "$score")"
        done
    done
done
keys() {
    tr -d ' {}\n' <out | tr , '\n' | cut -d: -f1 | tr '\n' ' '
}
run 0 eval one --data t.csv --json
begins() { [ "${2#"$1"}" != "$2" ]; } # which metrics follow is the table's business
check "keys of regression: $(keys)" begins '"rows" "loss" "rmse" "mae" ' "$(keys)"
run 0 eval two --data two.csv --json
check "keys of two classes: $(keys)" begins '"rows" "loss" "accuracy" ' "$(keys)"
run 0 eval two --data two.csv
notes "trained on these data"
check "no table of scores" grep -q "^rows  *300$" out
run 0 eval named --data crescents --json
check "no accuracy" grep -q '"accuracy"' out

# ---- predictions: their header, one line per row
lines() {
    check "$1: $(wc -l <"$1") lines, expected $2" [ "$(wc -l <"$1")" -eq "$2" ]
}
run 0 predict one --data t.csv --out one.csv
check "header: $(head -1 one.csv)" [ "$(head -1 one.csv)" = "prediction" ]
lines one.csv 2501
run 0 predict many --data many.csv --out many-p.csv
check "header: $(head -1 many-p.csv)" [ "$(head -1 many-p.csv)" = "prediction_north,prediction_south wind" ]
lines many-p.csv 201
run 0 predict two --data two.csv --out two-p.csv
check "header: $(head -1 two-p.csv)" [ "$(head -1 two-p.csv)" = "class,probability" ]
lines two-p.csv 301
run 0 predict three --data three.csv --out three-p.csv
check "header: $(head -1 three-p.csv)" [ "$(head -1 three-p.csv)" = 'class,p_one,"p_thr""ee","p_two,2"' ]
lines three-p.csv 301
run 0 predict named --data crescents --json --out named.csv
shows '"out": "named.csv"'
run 0 predict one --data t.csv
check "stdout and --out differ" cmp -s out one.csv
check "more on stderr than what was filled: $(cat err)" [ "$(wc -l <err)" -le 1 ]

# ---- they are what eval scores: in the target's own units
rmse=$(paste -d, t.csv one.csv | awk -F, 'NR > 1 { d = $(NF - 1) - $NF; s += d * d } END { printf "%.8f", sqrt(s / (NR - 1)) }')
run 0 eval one --data t.csv --json
check "rmse $rmse, eval says $(json out rmse)" awk -v a="$rmse" -v b="$(json out rmse)" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
hits=$(paste -d, two.csv two-p.csv | awk -F, 'NR > 1 && $3 == $4 { n++ } END { printf "%.12f", n / (NR - 1) }')
run 0 eval two --data two.csv --json
check "accuracy $hits, eval says $(json out accuracy)" near "$hits" "$(json out accuracy)"
check "two classes learned nothing" awk -v a="$hits" 'BEGIN { exit !(a > 0.8) }'
check "probability is not that of the second class" awk -F, \
    'NR > 1 && (($1 == "yes") != ($2 > 0.5) || $2 < 0 || $2 > 1) { bad = 1 } END { exit bad }' two-p.csv
check "probabilities do not add up to 1" awk -F, \
    'NR > 1 { s = $(NF) + $(NF - 1) + $(NF - 2); if (s < 0.999999 || s > 1.000001) bad = 1 } END { exit bad }' three-p.csv

# ---- a row's prediction does not depend on its company, but for the rounding of f32
for count in 1 2 7 63 1025; do
    { head -1 t.csv; tail -$count t.csv; } >few.csv
    run 0 predict one --data few.csv
    check "the last $count rows are predicted otherwise than among all" awk '
        { d = $1 - $2; if (d < 0) d = -d; if (d > 1e-5 * (1 + ($2 < 0 ? -$2 : $2))) bad = 1; n++ }
        END { exit bad || n != '"$count"' }' <(paste <(tail -n +2 out) <(tail -$count one.csv))
done
# nor on the order and presence of columns that do not matter
awk -F, '{ print (NR == 1 ? "extra" : "x" NR) "," $2 "," $1 }' two.csv >turned.csv
run 0 predict two --data turned.csv
check "turned columns are predicted otherwise" cmp -s out two-p.csv

# ---- the files of a run are not written over, wherever it is called from; others may lie beside them
cp -r one kept
for file in config.yaml model.safetensors checkpoint.safetensors metrics.jsonl result.json split.json; do
    run 2 predict one --data t.csv --out "./one/../one/$file"
    fails argument key=out
done
cd one || exit 1
"$SPHERELU" predict . --data ../t.csv --out model.safetensors >../out 2>../err
code=$?
cd .. || exit 1
check "predict . --out model.safetensors: exit $code, expected 2" [ $code -eq 2 ]
fails argument key=out
check "a refused prediction changed the run" diff -r one kept
run 0 predict one --data t.csv --out one/p.csv
check "predictions beside the run differ" cmp -s one/p.csv one.csv
run 0 predict one --data t.csv --out result.json
rm one/p.csv result.json

# ---- a converted model is the same function in other numbers, and still knows its columns
run 0 convert one/model.safetensors plain.safetensors --to sp
run 0 convert one of-run.safetensors --to sp
check "a run folder and its model convert differently" cmp -s plain.safetensors of-run.safetensors
cp -r one plain
mv plain.safetensors plain/model.safetensors
run 0 predict plain --data t.csv
check "the converted model predicts otherwise" awk '
    NR == FNR { a[FNR] = $1; next } FNR > 1 { d = a[FNR] - $1; if (d * d > 1e-8) bad = 1 } END { exit bad }' out one.csv
finish
