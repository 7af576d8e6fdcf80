#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The files of experiments/ are accepted as they stand, and the one make run runs gives its table in time. make test-long also
# runs a little of each.
. "$(dirname "$0")/lib.bash"

# A little of each, by the options that the file itself names for that. Where its data are not there it is accepted, and no more.
for file in "$SOURCE_DIR"/experiments/*.yaml; do
    name=$(basename "$file" .yaml)
    [ "$name" = fig1 ] && continue # trains nothing: figures_gnuplot.sh
    eval "little=($(sed -n 's/^# To see in seconds what it writes: //p' "$file"))"
    [ "${#little[@]}" -gt 0 ] || little=(--set seeds=2 --set epochs=2)
    data=$(sed -n '/^data:/,$ s/.*{name: \[*\([a-z0-9-]*\).*/\1/p' "$file" | head -n 1)
    if "$SPHERELU" data info "$data" --json 2>/dev/null | grep -q '"path": "[^"]*"}$'; then
        run 0 run "$file" "${little[@]}" --dry-run
        shows " job"
        in_layer long || continue
        run 0 run "$file" "${little[@]}" --out "$name"
        shows "$name: " "results   $name"
    else
        refuses "format key=data path=$name.yaml line=$(sed -n '/^data:/,$ { /name:/ { =; q } }' "$file")" run "$file" --out "$name"
    fi
done

# ---- what width-gradients.yaml says of its numbers at the start: second hidden layer, SP, WN, GmP, Sphere at 10 and at 1,000 units
at() { awk -v block="$1" -v width="$2" -v column="$3" '/^$/ { blank++; next } /^#/ { next } { if (blank) { b++; blank = 0 } }
    b == block && $1 == width { print $column }' width-gradients/figures/width.p1.dat; }
between() { check "$1: $2, expected $3 to $4" awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x >= low && x <= high) }'; }
if ! in_layer long; then
    : # width-gradients.yaml was not run
elif [ -e width-gradients/figures/width.p1.dat ]; then
    between "GmP's gradient, 10 units" "$(at 2 10 2)" 0.015 0.06
    between "GmP's gradient, 1,000 units" "$(at 2 1000 2)" 0.002 0.006
    between "SP's gradient, 1,000 units" "$(at 0 1000 2)" 0.0002 0.0005
    between "Sphere's gradient, 1,000 units" "$(at 3 1000 2)" 0.003 0.009
    for method in 0 1 2 3; do between "active share of method $method, 1,000 units" "$(at $method 1000 6)" 0.45 0.55; done
else
    check "width-gradients has no figure" false
fi

run 0 run "$SOURCE_DIR/experiments/crescents.yaml" --out whole
shows "crescents: accuracy" "SP " "WN " "BN " "GmP " "+-" "Wilcoxon"
for method in SP WN BN GmP; do
    check "no line for $method" grep -qE "^$method +0\.[0-9]+ \+- 0\.[0-9]+ +10 " out
done
check "no verdict" [ "$(grep -cE '^GmP (better|worse|equal).*(Wilcoxon|split)' out)" -eq 3 ]
finish
