#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Confusion matrices as text and as a figure, of tables and of pictures; the sheet of mistakes; top-1 beside top-5.
. "$(dirname "$0")/lib.bash"
from=${SOURCE_DIR:-$(dirname "$0")/../..}/tests/golden/pictures

# six classes on a line, hard to tell from their neighbours
awk -v OFS=, 'BEGIN { srand(7); print "x,z,kind"; for (i = 0; i < 360; i++) { c = i % 6; print c + 2 * rand(), rand(), substr("abcdef", c + 1, 1) } }' >six.csv
run 0 train --quiet --data six.csv --epochs 30 --hidden 8 --out six
run 0 eval six --confusion
shows "true class" "predicted class"
run 0 eval six --confusion --json
mv out matrix.json
run 0 predict six --data six.csv --out p.csv
check "not what predict says of the test rows" python3 - <<'P'
import csv, json
matrix = json.load(open("matrix.json"))
truth = [row["kind"] for row in csv.DictReader(open("six.csv"))]
given = [row["class"] for row in csv.DictReader(open("p.csv"))]
labels = matrix["confusion"]["classes"]
counts = [[0] * 6 for _ in labels]
for row in json.load(open("six/split.json"))["test"]:
    counts[labels.index(truth[row])][labels.index(given[row])] += 1
assert counts == matrix["confusion"]["counts"], (counts, matrix)
hits = sum(counts[c][c] for c in range(6))
assert sum(map(sum, counts)) == matrix["rows"] and abs(hits / matrix["rows"] - matrix["accuracy"]) < 1e-12
P
run 0 figures six confusion
check "the figure's numbers are others" python3 - <<'P'
import json
counts = json.load(open("matrix.json"))["confusion"]["counts"]
rows = [list(map(float, line.split())) for line in open("six/figures/confusion.p0.dat") if line.strip() and line[0] != "#"]
assert len(rows) == 36
for x, y, share, count, truth, given in rows:
    assert count == counts[int(truth)][int(given)] and abs(share * sum(counts[int(truth)]) - count) < 1e-6
P
check "the page does not show it" grep -q '<table class="confusion\|confusion' six/report.html
run 2 figures six wrong
fails argument key=wrong path=six

# more classes than fit: what is confused most
awk -v OFS=, 'BEGIN { srand(3); print "x,kind"; for (i = 0; i < 600; i++) { c = i % 60; print c + 3 * rand(), "k" c } }' >many.csv
run 0 train --quiet --data many.csv --epochs 5 --hidden 8 --out many
run 0 eval many --confusion
shows "60 classes" " -> "
check "not twenty of them" [ "$(grep -c -- '-> k' out)" -eq 20 ]
run 0 figures many confusion
check "not fifty of sixty" [ "$(grep -vc '^#\|^$' many/figures/confusion.p0.dat)" -eq 2500 ]

# two classes, and none
run 0 train --quiet --data crescents --rows 100 --epochs 3 --out two
run 0 eval two --confusion --json
check "not two classes" python3 -c 'import json; m = json.load(open("out"))["confusion"]["counts"]; assert sum(map(sum, m)) == 20 and len(m) == 2'
run 0 train --quiet --data levy --epochs 2 --out real
run 2 eval real --confusion
fails argument key=confusion
run 2 figures real confusion
fails argument key=confusion path=real

# ---- top-1 and top-5 in one table
cat >table.yaml <<'Y'
name: side
data: {file: six.csv}
net: {kind: mlp, hidden: [8]}
train: {epochs: 5}
methods: [{name: SP, param: sp, lr: 0.01}, {name: GmP, param: gmp, lr: 0.01}]
seeds: 2
figures: [confusion]
Y
for metric in accuracy top5; do
    run 0 run table.yaml --quiet --set metric=$metric --out side-$metric
    check "not both in the text" grep -Eq "^method +(accuracy +top5|top5 +accuracy) " out
    check "not what the jobs scored" python3 - $metric <<'P'
import json, sys
table = json.load(open(f"side-{sys.argv[1]}/table.json"))["methods"][0]
jobs = [job for job in json.load(open(f"side-{sys.argv[1]}/results.json"))["jobs"] if job["method"] == "SP"]
other = table["beside"]["metric"]
assert {sys.argv[1], other} == {"accuracy", "top5"}
assert abs(table["beside"]["mean"] - sum(job["test"][other] for job in jobs) / 2) < 1e-12
P
done
check "two panels are not there" [ -s side-top5/figures/confusion.p1.dat ]

# ---- mistakes as pictures
if "$SPHERELU" --version | grep -q "pictures: TurboJPEG, libpng"; then
    for class in large plain scans small tall; do
        mkdir -p "set/$class"
        for i in 1 2 3 4 5 6; do
            cp "$from/$class".* "set/$class/$i.$(basename "$from/$class".* | cut -d. -f2)"
        done
    done
    run 0 train --quiet --data set --size 16 --hidden 3 --epochs 1 --lr 0.1 --test 0.5 --out photos
    run 0 figures photos confusion wrong
    run 0 eval photos --confusion --json
    check "not a tile for each mistake, up to 24" python3 - <<'P'
import json, re
m = json.load(open("out"))["confusion"]["counts"]
wrong = sum(map(sum, m)) - sum(m[i][i] for i in range(5))
rows = [line for line in open("photos/figures/wrong.p0.dat") if line.strip() and line[0] != "#"]
assert wrong and len(rows) == 256 * min(wrong, 24), (wrong, len(rows))
script = open("photos/figures/wrong.gp").read()
chances = [float(x) for x in re.findall(r"^given_\d+ = ['\"].* ([01]\.\d\d)['\"]", script, re.M)]
assert len(chances) == min(wrong, 24) and chances == sorted(chances, reverse=True)
P
    check "the page does not show them" grep -q "Wrongly classified test images" photos/report.html
else
    skipped "this build decodes no JPEG or no PNG"
fi
finish
