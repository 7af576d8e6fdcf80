#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The files of experiments/ are accepted as they stand, and the one make run runs gives its table in time.
. "$(dirname "$0")/lib.bash"

for file in "$SOURCE_DIR"/experiments/*.yaml; do
    name=$(basename "$file" .yaml)
    if [ "$name" = banana ] && [ ! -e "${SPHERELU_DATA:-/nowhere}/banana.csv" ]; then
        skipped "banana.csv is not in SPHERELU_DATA"
        continue
    fi
    [ "$name" = fig1 ] && continue # trains nothing: figures_gnuplot.sh
    run 0 run "$file" --dry-run
    shows "jobs/" " jobs, "
    # a taste of each
    run 0 run "$file" --set seeds=2 --set epochs=2 --out "$name"
    shows "$name: " "GmP" "results   $name"
done

began=$SECONDS
run 0 run "$SOURCE_DIR/experiments/crescents.yaml" --out whole
shows "crescents: accuracy" "SP " "WN " "BN " "GmP " "+-" "Wilcoxon"
[ -n "${SPH_SAN:-}" ] || check "crescents.yaml takes $((SECONDS - began)) s, expected less than 120" [ $((SECONDS - began)) -lt 120 ]
for method in SP WN BN GmP; do
    check "no line for $method" grep -qE "^$method +0\.[0-9]+ \+- 0\.[0-9]+ +10 " out
done
check "no verdict" [ "$(grep -cE '^GmP (better|worse|equal).*(Wilcoxon|split)' out)" -eq 3 ]
finish
