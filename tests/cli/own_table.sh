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
shows "mine: rmse " "protocol holdout" "5 splits" "results   runs/mine"
for method in SP Sphere; do
    check "no line for $method with its rate" grep -qE "^$method +[0-9.]+ \+- [0-9.]+ +5 .*lr 0\.[0-9]+" out
done
check "no verdict" grep -qE '^(SP|Sphere) (better|worse|equal)' out
run 1 run mine.yaml --set data.target=prise --out wrong
fails format key=target path=mine.yaml line=2
absent wrong
finish
