#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a second newcomer missed: notes of experiments on columns, resumed runs and folders, the line of the baseline, choices at the
# edge of a grid, verdicts before small print, a file without a header, scores of the second class, and a page that explains them.
. "$(dirname "$0")/lib.bash"

# before FILE A B: A comes before B
before() {
    check "'$2' does not come before '$3' in $1" \
        awk -v a="$2" -v b="$3" 'index($0, a) && !first { first = NR } index($0, b) && !second { second = NR } END { exit !(first && second && first <= second) }' "$1"
}

# ---------------------------------------------------------------- experiments: columns, baseline, edges
awk 'BEGIN { srand(3); print "id,region,a,b,y"
    for (i = 0; i < 120; i++) { a = rand(); b = rand(); printf "%d,north,%.6f,%.6f,%.6f\n", i + 1, a, b, 3 * a - b + 0.1 * rand() } }' >t.csv
cat >e.yaml <<'Y'
name: e
data: {file: t.csv, target: y}
net: {hidden: [6]}
train: {epochs: 3}
methods: [{name: SP, param: sp}, {name: Sphere, param: sphere}]
grid: {lr: [0.0001, 0.0002, 0.1]}
seeds: 2
Y
run 0 run e.yaml --out e --resume
notes key=drop
check "the note on columns" grep -q "'id', 'region'.*data.drop=auto" err
notes key=resume
check "the note on --resume" grep -q "nothing to resume" err
check "no line on the baseline" grep -q "^Baseline, which predicts the training mean or the class frequencies: rmse [0-9.]*\.$" e/table.txt
check "the baseline is not in the page" grep -q "Baseline, which predicts the training mean" e/report.html
check "no choice at the edge" grep -q "^Chosen at the edge of the grid: SP: lr 0.1, the largest, on all 2 splits" e/table.txt
check "the page does not name the columns" grep -q "IDs, row numbers and constant columns" e/report.html
run 0 figures e convergence --quiet
check "figures removes the note on the columns" grep -q "IDs, row numbers and constant columns &#39;id&#39;, &#39;region&#39; are features" e/report.html
before e/report.html "significant difference" "is the standard error of the mean"
run 0 run e.yaml --out e --resume
notes key=resume
check "a finished experiment" grep -q "had finished" err
run 0 run e.yaml --out auto --set data.drop=auto
check "a note on columns that are left out" eval "! grep -q drop=auto err"
run 0 run e.yaml --out two --set "grid.lr=[0.0001,0.1]" --quiet
check "an edge of a grid with two values" eval "! grep -q 'lr 0.1, the largest' two/table.txt"
check "--quiet" [ ! -s err ]
run 0 run e.yaml --out poor-rates --set "grid.lr=[0.0001,0.0002,0.0003]" --quiet
check "no method is no better: $(grep Baseline poor-rates/table.txt)" grep -q "^Baseline, .*; not better than it: SP, Sphere\.$" poor-rates/table.txt
cd e || exit 1
run 2 run experiment.yaml
fails argument key=out
check "a new folder is not proposed" grep -q -e "--out again" err
absent runs
cd .. || exit 1
run 2 run e/experiment.yaml --resume
fails argument key=out
check "the folder to continue is not named" grep -q -e "--out e to continue" err
absent runs
cp e.yaml e/my-experiment.yaml
cp t.csv e/
run 0 run e/my-experiment.yaml --set seeds=1 --quiet
cd e || exit 1
run 0 run experiment.yaml --out again --quiet
cd ..
awk 'BEGIN { print "v,x,y"; for (i = 0; i < 200; i++) printf "%s,%d.5,%d\n", i % 25 == 3 ? "unknown" : 20 + i % 41, i % 7, i }' >v.csv
refuses "format key=v path=e.yaml" run e.yaml --out bad --set data.name=v.csv
check "the advice is not about a file" grep -q "missing_words, text or drop under data" err
run 0 run e.yaml --out words --set data.name=v.csv --set data.missing_words=unknown --quiet

# ---------------------------------------------------------------- a file without a header
run 0 train --data t.csv --target y --out run --epochs 60 --hidden 6 --quiet
tail -n +2 t.csv >bare.csv
run 0 predict run --data bare.csv
check "a file without a header" grep -q "no header" err
run 0 train --data t.csv --target y --out poor --epochs 1 --lr 1e-6 --hidden 6
check "the result has no no_better_than_baseline" grep -q '"no_better_than_baseline": true' poor/result.json
check "a good network is no better" eval "! grep -q no_better_than_baseline run/result.json"
run 0 train --data t.csv --target y --out same --epochs 1 --hidden 6
check "a constant text column is a number" grep -qE "^region +text " out

# ---------------------------------------------------------------- two classes, one of them rare
awk 'BEGIN { srand(4); print "a,b,churn"
    for (i = 0; i < 600; i++) { a = rand(); printf "%.6f,%.6f,%s\n", a, rand(), rand() < 0.4 * (a > 0.7) + 0.02 ? "Yes" : "No" } }' >c.csv
run 0 train --data c.csv --out c --quiet
run 0 predict c --data c.csv --quiet --out c.txt
run 0 eval c --data c.csv --quiet
expected=$(paste -d, <(cut -d, -f3 c.csv) <(cut -d, -f1 c.txt) | awk -F, 'NR > 1 { yes += $1 == "Yes"; given += $2 == "Yes"; both += $1 == "Yes" && $2 == "Yes" }
    END { printf "%.6g %.6g", given ? both / given : 0, both / yes }')
check "precision and recall of Yes are $expected: $(cat out)" \
    [ "$(awk '$1 == "precision" || $1 == "recall" { printf "%s%s", n++ ? " " : "", $2 }' out)" = "$expected" ]
check "whose precision it is" grep -q "^recall .* (of class 'Yes')" out
check "whose mean f1 is" grep -q "^f1 .*macro" out
check "the page does not explain f1" grep -q "f1 is the macro F1, the mean over classes; precision and recall are those of class &#39;Yes&#39;" c/report.html
for seed in 1 2 3; do
    awk -v seed=$seed 'BEGIN { srand(seed); print "a,b,c"
        for (i = 0; i < 200; i++) { a = rand(); printf "%.6f,%.6f,%s\n", a, rand(), rand() < 0.15 * seed + 0.3 * a ? "yes" : "no" } }' >even.csv
    run 0 train --data even.csv --out even$seed --seed $seed --epochs 5 --quiet
    run 0 predict even$seed --data even.csv --quiet --out even.txt
    run 0 eval even$seed --data even.csv --quiet
    expected=$(paste -d, <(cut -d, -f3 even.csv) <(cut -d, -f1 even.txt) | awk -F, 'NR > 1 { yes += $1 == "yes"; both += $1 == "yes" && $2 == "yes" }
        END { printf "%.6g %d", both / yes, (2 * yes > NR - 1) }')
    more="$more${expected#* }"
    check "recall of yes, seed $seed, is $expected: $(cat out)" [ "$(awk '$1 == "recall" { print $2 }' out)" = "${expected% *}" ]
done
check "all three tables have the same rarer class: $more" eval "grep -q 0 <<<$more && grep -q 1 <<<$more"
check "the page has no standard error" grep -q "standard error of 0.0" c/report.html
check "the page does not count classes" grep -q "<th[^>]*>validation</th>" c/report.html
check "ten groups of calibration" grep -q "into 10 groups of about 12 rows" c/report.html
awk 'BEGIN { srand(6); print "x,y"
    for (i = 0; i < 2000; i++) { x = rand() < 0.5; print x "," (rand() < 0.3 + 0.3 * x ? "b" : "a") } }' >ties.csv
run 0 train --data ties.csv --epochs 20 --out ties --quiet
grep -A12 "observed frequency</th>" ties/report.html | grep '^<tr><th scope="row"' | sort -u >pairs
check "rows with the same probability are divided by their class: $(cat pairs)" [ "$(wc -l <pairs)" -le 3 ]
check "ten groups of two probabilities" grep -q "into 10 groups of about 40 rows" ties/report.html
run 0 train --data levy --test 0 --val 0 --ensemble 1 --epochs 2 --out all --quiet
check "the page has sets without rows" eval "! grep -q 'The test set is that\|The validation set, which' all/report.html"
run 0 train --data levy --val 0.2 --ensemble 1 --epochs 2 --out levy --quiet
check "the page does not say what the test set is" grep -q "The test set is that of the dataset\." levy/report.html
check "the page does not say what the validation set is" grep -q "is a part of the training set of the dataset\." levy/report.html
run 0 train --data c.csv --lr 1000 --epochs 5 --out steep --no-report
check "no advice on --lr: $(cat out)" grep -q "^warning .*smaller --lr" out
finish
