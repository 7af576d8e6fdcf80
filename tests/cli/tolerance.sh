#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu run over a grid of learning rates whose points all stand in the table: tolerance.txt, .csv, .json, the page, the
# figure; the same again from the folder; what is refused.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"

table 90 >first.csv
table 120 | sed 's/y$/price2/' >second.csv
cat >rates.yaml <<'YAML'
name: rates
data:
  - {file: first.csv, target: y}
  - {name: other one, file: second.csv}
net: {hidden: [6]}
train: {epochs: 12, batch: 1024}
methods:
  - {name: SP, param: sp}
  - {name: GmP glorot, param: gmp, init: glorot}
seeds: 3
grid: {lr: [1e30, 0.01, 0.1, 0.3]}
baseline_method: SP
table: all
figures: [tolerance, sensitivity]
YAML

run 0 run rates.yaml
shows "rates: tolerance of the learning rate (rmse), 3 splits of 2 datasets" "x SP's" "largest rate: SP "
for file in tolerance.txt tolerance.csv tolerance.json figures/tolerance.gp figures/tolerance.curves.dat figures/tolerance.p1.dat; do
    check "$file is missing" [ -s "runs/rates/$file" ]
done
check "rows of tolerance.csv" [ "$(wc -l <runs/rates/tolerance.csv)" -eq 5 ]
check "a diverged rate is counted in every row" [ "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "diverged_rates") c = i } NR > 1 && $c == 1' runs/rates/tolerance.csv | wc -l)" -eq 4 ]
check "no rate within is a diverged one" [ "$(grep -c ',1e+30,' runs/rates/tolerance.csv)" -eq 0 ]
check "JSON" python3 -c '
import json, math
t = json.load(open("runs/rates/tolerance.json"))
assert t["percent"] == 5 and t["reference"] == "SP" and t["rates"] == [0.01, 0.1, 0.3, 1e30], t["rates"]
assert [m["method"] for m in t["methods"]] == ["SP", "GmP glorot"] and len(t["verdicts"]) == 2
assert 0 < t["methods"][1]["largest_p"] <= t["methods"][1]["largest_corrected"] <= 1 and t["methods"][0]["tolerance_p"] is None
for line in t["lines"]:
    assert math.isclose(line["tolerance"], line["to_lr"] / line["from_lr"]) and line["from_lr"] <= line["best_lr"] <= line["to_lr"]
    assert line["from_edge"] == (line["from_lr"] == 0.01) and not line["to_edge"]
    assert len(line["log10_tolerance_by_split"]) == 3
'
check "the crosses of diverged trainings" [ "$(grep -c '1e+30' runs/rates/figures/tolerance.p0lost.dat)" -eq 2 ]
check "the page has the figure" grep -q "largest rate" runs/rates/report.html
check "the page has the figure" grep -q "figures/tolerance.gp" runs/rates/report.html
if command -v gnuplot >/dev/null; then
    check "the picture" [ -s runs/rates/figures/tolerance.png ]
else
    skipped "tolerance.png: no gnuplot"
fi

# ---- again from the folder, and by --json
cp runs/rates/report.html page.html
run 0 figures runs/rates tolerance
check "figures writes another page" cmp -s page.html runs/rates/report.html
run 0 run rates.yaml --resume --json
check "--json has it" python3 -c 'import json; assert len(json.load(open("out"))["tolerance"]["lines"]) == 4'

# ---- the trainings as CSV, also of an experiment that goes on: complete sets alone
check "CSV" python3 "$SOURCE_DIR/scripts/results-csv" runs/rates >whole.csv
mkdir going
cp -r runs/rates/experiment.yaml runs/rates/jobs going/
check "CSV of one that goes on" python3 "$SOURCE_DIR/scripts/results-csv" going >going.csv
check "another CSV: $(diff <(sort whole.csv) <(sort going.csv))" cmp -s <(sort whole.csv) <(sort going.csv)
rm going/jobs/other_one/SP/lr-0.1/seed-1/result.json
python3 "$SOURCE_DIR/scripts/results-csv" going >going.csv 2>err
check "what is left out is said" grep -q "other one.*23.*24" err
check "the complete set alone" [ "$(wc -l <going.csv)" -eq 25 ]

# ---- nothing to say: no files; what is refused
run 0 run rates.yaml --set table=best --set figures=[] --out best
absent best/tolerance.txt best/tolerance.csv best/tolerance.json
run 1 run rates.yaml --set table=best --set figures=[tolerance] --out refused
fails format key=figures path=rates.yaml
sed 's/^grid: .*/grid: {hidden: [2, 3]}/; s/^figures: .*//' rates.yaml >wrong.yaml
run 1 run wrong.yaml --out refused
fails format key=baseline_method path=wrong.yaml line=12
absent refused
finish
