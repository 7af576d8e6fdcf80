#!/bin/bash
# SPDX-License-Identifier: MIT
#
# report.html: well-formed, alone in the world, the same whatever happened on the way.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.bash"

cat >odd.yaml <<'YAML'
name: odd <names> & "quotes"
data: {name: crescents, rows: 100, noise: 0.3}
net: {hidden: [8]}
train: {epochs: 10, batch: 16}
methods:
  - {name: "<script>alert(1)</script>", param: sp}
  - {name: "a & b's \"c\"", param: wn}
  - {name: "φ-méthode", param: gmp}
grid: {lr: [0.01, 0.1, 1e30]}
seeds: 3
YAML

# well_formed FILE: every tag is closed where it must be, ids are unique, links lead somewhere, nothing comes from outside
well_formed() {
    if command -v python3 >/dev/null; then
        check "$1 is not well-formed" python3 "$here/../browser/check_html.py" "$1"
    else
        skipped "no python3 to read $1"
    fi
    # but for the one script that draws charts, from its first line to its last, and the numbers of these
    sed '/^<script>/,/^<\/script>$/d; s/^<script type="application\/json">//' "$1" >alone
    check "$1 names an address" [ "$(grep -cE 'https?:|//[a-z]|<script|<link|@import|javascript:' alone)" -eq 0 ]
    check "$1 has more than one script" [ "$(grep -c '^<script>' "$1")" -le 1 ]
}

run 0 run odd.yaml --out a
check "no report" [ -s a/report.html ]
well_formed a/report.html
check "a name became markup" grep -qF '&lt;script&gt;alert(1)&lt;/script&gt;' a/report.html
check "letters were lost" grep -qF 'φ-méthode' a/report.html
no_temporaries a

# ---- the number of workers, a resume, a folder of another name: the same bytes
run 0 run odd.yaml --out b --jobs 1
check "another report with one worker" cmp -s a/report.html b/report.html
rm b/report.html b/jobs/*/*/seed-1/result.json
run 0 run odd.yaml --out b --resume
check "another report after a resume" cmp -s a/report.html b/report.html
rm b/report.html && mkdir b/report.html
run 1 run odd.yaml --out b --resume
fails file path=b/report.html

# ---- figures that were not drawn, that are broken, that are there
mkdir a/figures
echo 'plot x' >a/figures/plain.gp
echo '<svg width="10" height="10"><g id="i"/><use href="#i"/></svg>' >a/figures/turns.svg
echo '<svg width="10" height="10"><g id="i"/><script>alert(1)</script></svg>' >a/figures/moves.svg
echo '<svg width="10"' >a/figures/broken.svg
run 0 run odd.yaml --out a --resume
well_formed a/report.html
check "no figure" [ "$(grep -c '<figure' a/report.html)" -eq 4 ]
check "no word on how to draw it" grep -qF 'gnuplot plain.gp' a/report.html

# ---- the leak
run 0 run odd.yaml --set protocol=reference --out leak
check "no warning" grep -q 'class="warning"' leak/report.html
well_formed leak/report.html
check "green where the test part chose" bash -c '! grep -q "class=\"n best\"" leak/report.html'
check "no leading mean" grep -q 'class="n lead"' leak/report.html
cat >clear.yaml <<'YAML'
name: clear
data: {name: crescents, rows: 100, noise: 0.1}
net: {hidden: [8]}
train: {epochs: 30, batch: 32}
methods:
  - {name: still, param: gmp, lr: 1e-7}
  - {name: GmP, param: gmp, lr: 0.03}
seeds: 8
metric: loss
YAML
run 0 run clear.yaml --out clear
shows ": significant at 5 %"
check "a best mean that the verdict supports" grep -q 'class="n best"' clear/report.html

# ---- of one run: the command it gives repeats it
run 0 train --data crescents --rows 60 --epochs 5 --hidden 4,3 --param wn --norm bn --lr 0.03 --optimizer sgd --nesterov --seed 7 --out one
run 0 figures one convergence
shows one/figures/convergence one/report.html
well_formed one/report.html
command=$(sed 's/<[^>]*>//g' one/report.html | grep -o 'spherelu train .* --out again')
check "no command" [ -n "$command" ]
check "the command fails: $command" eval "\"$SPHERELU\" ${command#spherelu} --quiet >out 2>err"
same_run one again
options() { sed '/^origins:/,$d' "$1/config.yaml"; } # chosen once, and asked for the second time
check "another config.yaml: $(diff <(options one) <(options again))" cmp -s <(options one) <(options again)

finish
