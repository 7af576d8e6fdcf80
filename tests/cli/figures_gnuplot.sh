#!/bin/bash
# SPDX-License-Identifier: MIT
#
# experiments/fig1.yaml, which trains nothing: its numbers, figures and report; another seed; what is refused; and all of
# it but the pictures on a machine without gnuplot.
. "$(dirname "$0")/lib.bash"
fig1=$SOURCE_DIR/experiments/fig1.yaml
names="boundary perturbation points lines"

# ---------------------------------------------------------------- without gnuplot: data, script, and how to get it
mkdir empty
run_bare() { PATH=$work/empty "$SPHERELU" run "$fig1" --out bare >out 2>err; }
check "run without gnuplot" run_bare
checks=$((checks + 1))
[ "$(wc -l <err)" -eq 1 ] || wrong "not one line on stderr"
notes key=figures bare/figures gnuplot
check "no table" grep -q "^0.1 " out
for name in $names; do
    check "no script for $name" test -s "bare/figures/$name.gp"
    check "no data for $name" compgen -G "bare/figures/$name.*.dat" >/dev/null
    absent "bare/figures/$name.png" "bare/figures/$name.svg" "bare/figures/$name.pdf"
done
check "no report" test -s bare/report.html

# ---------------------------------------------------------------- what is refused
bad() {
    refuses "$1" run "$fig1" --out bad "${@:2}"
    absent bad
}
bad "argument key=dim" --set 'perturb={dim: 1}'
bad "argument key=eps" --set 'perturb={eps: [x]}'
bad "argument key=eps" --set 'perturb={eps: 1}'
bad "argument key=eps" --set 'perturb={eps: []}'
bad "argument key=length" --set 'perturb={length: -1}'
bad "argument key=weight" --set 'perturb={weight: [1]}'
bad "argument key=weight" --set 'perturb={weight: 1}'
bad "argument key=weight" --set 'perturb={weight: [1, 2], dim: 2}'
bad "argument key=weight" --set 'perturb={length: 1, weight: [1, 2]}'
bad "argument key=weight" --set 'perturb={weight: [0, 0]}'
bad "argument key=perturb" --set 'perturb={epps: [1]}'
bad "argument key=perturb" --set perturb=2
bad "format key=figures path=fig1.yaml" --set 'figures=[turns]'
printf 'name: x\nfigures: [boundary]\n' >none.yaml
run 1 run none.yaml --out bad
fails format key=name path=none.yaml

if ! command -v gnuplot >/dev/null; then
    skipped "no gnuplot"
    finish
fi

# ---------------------------------------------------------------- with it
run 0 run "$fig1" --out zero
shows "fig1: one unit with 2 inputs" "GmP" "results   zero" "figures   zero/figures"
check "spherelu figures" "$SPHERELU" figures bare >/dev/null
for name in $names; do
    for ending in png svg pdf; do
        check "no $name.$ending" test -s "zero/figures/$name.$ending"
    done
    check "$name.png is not the one that spherelu figures draws" cmp -s "zero/figures/$name.png" "bare/figures/$name.png"
    check "$name.svg is not in the report" grep -qF "$(base64 -w 0 "zero/figures/$name.svg" | head -c 4000 | tail -c 400)" zero/report.html
done
run 2 run "$fig1" --out zero
fails argument key=resume path=zero
run 0 run zero/experiment.yaml --resume --out zero
# The unit of the authors' notebook (numpy's RandomState(1)): w, and b = -0.52817175e-3.
check "another unit than the papers'" grep -q "weight: \[0.00162434536, -0.00061175641\]" zero/experiment.yaml
check "another distance" awk '!/^#/ && NF { exit !(($2 + 0.304294478 * -0.93583) ^ 2 + ($3 + 0.304294478 * 0.35245) ^ 2 < 1e-8) }' zero/figures/perturbation.phi.dat
run 0 run "$fig1" --seed 1 --out one
check "another seed, the same picture" sh -c '! cmp -s zero/figures/perturbation.png one/figures/perturbation.png'
check "another seed, the same data" sh -c '! cmp -s zero/figures/perturbation.phi.dat one/figures/perturbation.phi.dat'
run 0 run "$fig1" --set 'perturb={dim: 17, eps: [0.01, 0.1]}' --set 'figures=[perturbation]' --out many --json
check "not 17 inputs" grep -q '"inputs": 17' out
check "no turns" test -s many/figures/perturbation.turn.dat
check "no picture of 17 inputs" test -s many/figures/perturbation.png
run 0 run "$fig1" --dry-run
shows "0 jobs"
finish
