#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu run over several sets of data: one table with a column a set, folders, --set, resuming, figures, what is
# refused; and the rows and columns of a set in another order.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"

table 90 >first.csv
table 120 | sed 's/y$/price2/' >second.csv
awk 'BEGIN { srand(3); print "u,v,z"; for (i = 0; i < 80; i++) { u = rand(); v = rand(); print u "," v "," (u > v ? "on" : "off") } }' >classes.csv

cat >sets.yaml <<'YAML'
name: sets
data:
  - {file: first.csv, target: y}
  - {name: other one, file: second.csv, drop: colour}
net: {hidden: [6]}
train: {epochs: 12, batch: 1024}
methods:
  - {name: SP, param: sp}
  - {name: GmP, param: gmp}
  - {name: GmP turned, param: gmp, columns: reversed}
seeds: 3
grid: {lr: [0.01, 0.1]}
figures: [convergence, sensitivity, ranks]
YAML

# ---- one table, a column a set; the folders; each set by itself is what an experiment of its own gives
run 0 run sets.yaml
shows "sets: rmse " "protocol holdout" "3 splits of 2 sets" "first" "other one" "GmP turned"
for file in table.txt table.md table.tex table.csv table.json sets.csv results.json report.html experiment.yaml \
    jobs/first/GmP_turned/lr-0.01/seed-2/model.safetensors jobs/other_one/SP/lr-0.1/seed-0/model.safetensors; do
    check "$file is missing" [ -s "runs/sets/$file" ]
done
check "columns of table.csv" grep -qx 'method,first_mean,first_standard_error,first_n,other one_mean,other one_standard_error,other one_n,rank' runs/sets/table.csv
check "rows of sets.csv" [ "$(wc -l <runs/sets/sets.csv)" -eq 7 ]
check "sets.csv names its sets" [ "$(grep -c ',other one,' runs/sets/sets.csv)" -eq 3 ]
check "the text has no star" grep -q '+- [0-9.]*\*' runs/sets/table.txt
check "Markdown has no star" grep -qF '\*' runs/sets/table.md
check "LaTeX has nothing bold" grep -qF '\mathbf{' runs/sets/table.tex
check "the page names the sets" grep -q '>other one<' runs/sets/report.html
check "results.json names the sets" grep -q '"set": "other one"' runs/sets/results.json
run 0 run sets.yaml --set 'data=[{file: first.csv, target: y}]' --set figures=[] --out alone
check "a set beside others is another" [ "$(sed -n 's/^SP,sets,first,\([^,]*,\)\{3\}//p' runs/sets/sets.csv | cut -d, -f1-5)" = "$(sed -n 's/^SP,sets,first,\([^,]*,\)\{3\}//p' alone/sets.csv | cut -d, -f1-5)" ]
run 0 run sets.yaml --set data.name=first --set figures=[] --out single
check "one set has the folders of one" [ -s single/jobs/GmP/lr-0.1/seed-1/result.json ]
same_run single/jobs/GmP/lr-0.1/seed-1 runs/sets/jobs/first/GmP/lr-0.1/seed-1

# ---- the same bits whatever the workers; resumed; read back; repeated from the resolved file
run 0 run sets.yaml --jobs 1 --out one
rm -r one/jobs/first/SP/lr-0.1/seed-1/result.json one/results.json one/table.txt
run 0 run sets.yaml --resume --out one
same_experiment one runs/sets
check "sets.csv of a resumed run" cmp -s one/sets.csv runs/sets/sets.csv
run 0 run one/experiment.yaml --out repeated
same_experiment one repeated
cp one/report.html page.html
run 0 figures one
check "figures writes another page" cmp -s page.html one/report.html

for figure in convergence-first convergence-other_one sensitivity ranks; do
    check "figures/$figure" [ -s one/figures/$figure.gp ]
    check "the page lacks $figure" grep -q "figures/$figure.gp" one/report.html
done
shows_over() { grep -qF "Friedman's test over 2 datasets" one/table.txt && grep -qF "Nemenyi: ranks that differ by less than" one/table.txt; }
check "no test over the sets" shows_over
check "JSON has the test over the sets" grep -q '"critical_difference"' one/table.json
check "diagnostics" grep -qE "^other one +GmP turned +6 +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ +12$" one/diagnostics.txt
check "diagnostics for programs" [ "$(wc -l <one/diagnostics.csv)" -eq 7 ]
check "the units are not counted" [ -s one/diagnostics.txt ]
check "an edge is said" grep -q "edge" one/table.txt
check "p is not corrected for all comparisons" grep -q "4 comparisons by Holm" one/table.txt
run 0 run sets.yaml --set baseline_method=all --set figures=[] --set seeds=2 --out all
check "pairs.csv" [ "$(wc -l <all/pairs.csv)" -eq 7 ]
check "all pairs" grep -q "6 comparisons by Holm" all/table.txt
run 0 run sets.yaml --set 'papers={rmse: {first: {SP: "0.5 +- 0.1"}}}' --set figures=[] --set seeds=2 --out papers
shows "first, "
run 1 run sets.yaml --set 'papers={rmse: {frst: {SP: "0.5"}}}' --out refused
fails format key=papers path=sets.yaml
run 1 run sets.yaml --set baseline_method=SPP --out refused
fails format key=baseline_method path=sets.yaml
run 1 run sets.yaml --set data.name=first --set figures=[ranks] --out refused
fails format key=figures path=sets.yaml

# ---- a dry run, JSON, --set for all sets
run 0 run sets.yaml --dry-run --verbose
shows "jobs/first/GmP_turned/lr-0.1/seed-2" "jobs/other_one/SP/lr-0.01/seed-0" "36 jobs, "
run 0 run sets.yaml --dry-run --json
check "a dry run names sets" [ "$(grep -o '"set": "other one"' out | wc -l)" -eq 18 ]
run 0 run sets.yaml --set data.name=[other\ one] --set seeds=1 --set data.val=0.3 --set figures=[] --json --out json
check "--json is not one line" [ "$(wc -l <out)" -eq 1 ]
check "--set data.val" grep -q 'val: 0.3' json/jobs/other_one/SP/lr-0.1/seed-0/config.yaml
check "--set keeps a set's own keys" grep -q 'drop: colour' json/jobs/other_one/SP/lr-0.1/seed-0/config.yaml

# ---- the short form, and one file
cat >short.yaml <<'YAML'
name: short
data: {name: [first.csv, second.csv], drop: colour}
net: {hidden: [3]}
train: {epochs: 2}
methods: [{name: SP, param: sp}]
protocol: cv
folds: 2
YAML
run 0 run short.yaml
check "cv over sets" [ -s runs/short/jobs/second/SP/seed-0/refit/result.json ]
run 0 run short.yaml --set 'data={file: first.csv, target: y}' --out file
check "data: {file: ...}" grep -q 'name: first.csv' file/experiment.yaml

# ---- refused before anything is trained
refuse_set() { # FAILURE KEY=VALUE: argument where the value is no list of sets, format where the sets do not go together
    refuses "$1" run sets.yaml --set "$2" --out refused
    absent refused
}
refuse_set "argument key=data" data=[]
refuse_set "format key=data path=sets.yaml" data.name=[first.csv,bostn]
refuse_set "format key=data path=sets.yaml" data.name=[first.csv,classes.csv]
refuse_set "argument key=data" data.name=[first.csv,./first.csv]
refuse_set "argument key=data" 'data=[first.csv, {test: 0.2}]'
refuse_set "argument key=data" 'data=[[first.csv]]'
refuse_set "argument key=tset" 'data=[{file: first.csv, tset: 0.2}]'
refuse_set "format key=val path=sets.yaml line=3" data.val=0
refuse_set "argument key=file" 'data={name: a, file: first.csv}'
refuse_set "argument key=data" 'data={name: [a], file: [first.csv]}'
sed 's/^  - {file: first.csv, target: y}/  - {file: first.csv, target: nothing}/' sets.yaml >wrong.yaml
run 1 run wrong.yaml
fails format key=target path=wrong.yaml line=3

# ---- every training as CSV, and the same tables from it without training
check "CSV" python3 "$SOURCE_DIR/scripts/results-csv" alone >trainings.csv
check "lines of the CSV" [ "$(wc -l <trainings.csv)" -eq 19 ]
mkdir again
cp alone/experiment.yaml again/
check "back" python3 "$SOURCE_DIR/scripts/results-csv" --back trainings.csv again
run 0 run sets.yaml --set 'data=[{file: first.csv, target: y}]' --set figures=[] --out again --resume
absent again/jobs/first/SP/lr-0.1/seed-0/model.safetensors
# the CSV has no baselines
grep -v ^Baseline alone/table.txt | cat -s >table
check "another table: $(diff table <(cat -s again/table.txt))" cmp -s table <(cat -s again/table.txt)

# ---- rows and columns in another order: the model remembers, and predicts alike
run 0 train --data first.csv --target y --epochs 3 --hidden 4 --columns reversed --out turned
check "config has the order" grep -q 'columns: reversed' turned/config.yaml
run 0 eval turned --data first.csv --json
reversed=$(json out rmse)
run 0 predict turned --data first.csv --out turned.csv
run 0 train --data first.csv --target y --epochs 3 --hidden 4 --out straight
check "reversing changes nothing" [ "$(cmp turned/model.safetensors straight/model.safetensors 2>&1 | wc -l)" -gt 0 ]
check "no score" [ -n "$reversed" ]
run 0 train --data first.csv --target y --epochs 3 --hidden 4 --split sklearn --permute 113 --out permuted
check "config has the permutation" grep -q 'permute: 113' permuted/config.yaml
finish
