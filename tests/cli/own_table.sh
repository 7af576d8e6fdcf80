#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The README's own experiment file, on a table nobody has seen before, in an empty folder: a line a method with its chosen rate, a verdict.
. "$(dirname "$0")/lib.bash"

sed -n '/^## Compare methods/,/^## Results/p' "$SOURCE_DIR/README.md" | sed -n '/^```yaml/,/^```$/p' | grep -v '^```' | sed 's:examples/::' >mine.yaml
check "README.md has no experiment on a table" grep -q 'file: houses.csv, target: price' mine.yaml
awk 'BEGIN {
    srand(4)
    print "area,rooms,town,price"
    for (i = 0; i < 160; i++) {
        area = 30 + 170 * rand(); rooms = int(1 + 7 * rand()); town = int(3 * rand())
        printf "%.1f,%d,%s,%.0f\n", area, rooms, substr("ABC", town + 1, 1), 1000 * area + 9000 * rooms + 20000 * town + 5000 * rand()
    }
}' >houses.csv
run 0 run mine.yaml --set train.epochs=30
shows "mine: rmse " "protocol holdout" "10 splits" "results   runs/mine"
for method in SP Sphere; do
    check "no line for $method with its rate" grep -qE "^$method +[0-9.]+ \+- [0-9.]+ +10 .*lr 0\.[0-9]+" out
done
check "no verdict" grep -qE '^(SP|Sphere) (better|worse|equal)' out

# ---- the command on the page repeats it in the folder of the page, for a table and first values given by relative paths
run 0 train --data houses.csv --target price --hidden 8 --epochs 1 --no-report --quiet --out first
cat >paths.yaml <<'YAML'
name: paths
data:
  - {name: here, file: houses.csv, target: price}
  - {file: more/others.csv, target: price}
net: {hidden: [8]}
train: {epochs: 3}
methods:
  - {name: Drawn, param: gmp}
  - {name: Given, param: gmp, init: first/model.safetensors}
YAML
mkdir more deep
cp houses.csv more/others.csv
run 0 run paths.yaml --set methods.Given.param=sphere --out deep/down/results
for results in runs/mine deep/down/results; do
    repeat=$(grep -o 'spherelu run experiment.yaml --out again' $results/report.html)
    pushd $results >/dev/null || exit 1
    run 0 ${repeat#spherelu }
    check "$results: its page repeats another experiment" cmp -s table.csv again/table.csv
    cd again || exit 1
    run 0 run experiment.yaml --dry-run
    run 0 figures . convergence
    popd >/dev/null || exit 1
done
run 0 run $results/experiment.yaml --resume --out $results
mv deep/down/results moved
run 0 run paths.yaml --set methods.Given.param=sphere --resume --out moved
sed 's|^directory.*|directory: [1]|' moved/experiment.yaml >list.yaml
run 1 run list.yaml --dry-run
fails format key=directory path=list.yaml line=$(lines list.yaml)

run 1 run mine.yaml --set data.target=prise --out wrong
fails format key=target path=mine.yaml line=2
absent wrong
finish
