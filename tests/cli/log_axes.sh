#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The numbers at the tics of every figure with a logarithmic axis: each stands where its value is. gnuplot 5 puts tics at powers
# only, gnuplot 6 between them too.
. "$(dirname "$0")/lib.bash"
if ! command -v gnuplot >/dev/null; then
    skipped "no gnuplot"
    exit 77
fi
gnuplot --version

# axes SVG: for each axis the number of its labels, and how far the worst stands from a line through its first and last label, in
# pixels, with values or their logarithms along the axis, whichever fits
axes() {
    sed -E -e 's/<tspan[^>]*dy="-[^>]*>/^/g; s/[^\x00-\x7F]//g' -e '/<text>/ s/<[^>]*>//g' "$1" | awk '
        /translate\(/ && /text-anchor="(end|middle)"/ {
            split($0, half, /translate\(/); split(half[2], at, /[,)]/)
            upright = /text-anchor="end"/; next_axis = upright ? "y" at[1] : "x" at[2]; place = upright ? at[2] : at[1]; wait = 1; next
        }
        wait { wait = 0; gsub(/[ \t]/, ""); label($0) }
        function label(text, two) {
            if (next_axis != axis) { finish(); axis = next_axis; n = 0; plain = 1 }
            if (split(text, two, "^") == 2 && two[1] ~ /^[0-9]+$/) value[++n] = two[1] ^ two[2]
            else if (text ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) value[++n] = text + 0
            else { plain = 0; return }
            position[n] = place
        }
        function worst(logs,    k, most, here, first, last) {
            most = 0
            for (k = 1; k <= n; k++) { if (logs && value[k] <= 0) return 1e9; v[k] = logs ? log(value[k]) : value[k] }
            if (v[n] == v[1]) return 1e9
            for (k = 1; k <= n; k++) {
                here = position[1] + (v[k] - v[1]) / (v[n] - v[1]) * (position[n] - position[1]) - position[k]
                if (here < 0) here = -here
                if (here > most) most = here
            }
            return most
        }
        function finish(a, b) { if (n > 1 && plain) { a = worst(0); b = worst(1); print axis, n, a < b ? a : b, b < a ? "log" : "" } }
        END { finish() }'
}

# labelled SVG LOGS: all labels stand in their places, and LOGS axes or more are logarithmic with three labels or more
labelled() {
    axes "$1" >found
    check "$1: no axis with labels" test -s found
    check "$1: labels that do not stand where their values are: $(awk '$3 > 1.5' found | head -n 3)" awk '$3 > 1.5 { exit 1 }' found
    check "$1: too few logarithmic axes with labels: $(cat found)" awk -v least="$2" '$4 == "log" && $2 > 2 { n++ } END { exit n < least }' found
}

cat >x.yaml <<'YAML'
name: x
data: {name: crescents, rows: 100}
net: {hidden: [4]}
train: {epochs: 30, batch: 16}
methods:
  - {name: SP, param: sp}
  - {name: GmP, param: gmp}
seeds: 2
table: all
YAML
# Rates over many powers of ten, over one, and within one.
run 0 run x.yaml --quiet --set 'grid={lr: [0.0001, 0.001, 0.01, 0.1, 1]}' --set 'figures=[sensitivity, tolerance, convergence]' --out many
run 0 run x.yaml --quiet --set 'grid={lr: [0.03, 0.1, 0.3, 1]}' --set 'figures=[sensitivity, tolerance, convergence]' --out some
run 0 run x.yaml --quiet --set 'grid={lr: [0.2, 0.3, 0.5]}' --set 'figures=[sensitivity, tolerance, convergence]' --out few
run 0 run x.yaml --quiet --set 'record={boundaries: every, patterns: epoch}' --set 'figures=[moves, flips]' --out moved
run 0 run x.yaml --quiet --set 'grid={hidden: [[3], [30], [300]]}' --set 'record={gradients: [0, 5]}' --set 'figures=[width]' --out widths
run 0 run "$SOURCE_DIR/experiments/fig1.yaml" --quiet --set 'perturb={dim: 17, eps: [0.001, 0.01, 0.1]}' --set 'figures=[perturbation]' --out turned
labelled many/figures/sensitivity.svg 1
labelled many/figures/tolerance.svg 1
for out in some few; do
    labelled $out/figures/sensitivity.svg 0
    labelled $out/figures/tolerance.svg 0
done
for out in many some few; do labelled $out/figures/convergence.svg 0; done
labelled moved/figures/moves.svg 1
labelled moved/figures/flips.svg 0
labelled widths/figures/width.svg 0
labelled turned/figures/perturbation.svg 1
finish
