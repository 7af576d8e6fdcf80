#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Runs one can find: list, show, and eval of a run's own test part; predictions that read back as the same bits.
. "$(dirname "$0")/lib.bash"

run 0 train --data boston --param gmp --hidden 20,10 --norm bn --epochs 30 --out runs/one --quiet
run 0 train --data crescents --param sphere --epochs 5 --test 0 --out runs/deep/two --quiet
mkdir -p runs/broken runs/.hidden runs/nothing
echo 'data: [' >runs/broken/config.yaml
cp -r runs/one runs/.hidden/copy

# ---- list
run 0 list
shows "runs/one " "boston" "mlp 20,10" "gmp+bn" "rmse" "finished" "runs/deep/two " "sphere" "runs/broken" "not YAML"
check "a hidden folder is listed" sh -c '! grep -q hidden out'
check "three runs are three rows and a head" test "$(wc -l <out)" -eq 4
run 0 list runs/deep --json
check "list --json is one line" test "$(wc -l <out)" -eq 1
shows '"run": "runs/deep/two"' '"method": "sphere"' '"test": null' '"state": "finished"'
mkdir -p unread/broken unread/locked/config.yaml && echo '[' >unread/broken/config.yaml
run 1 list unread # the broken one is told in its row; what the system did not read fails the list, when all is said
check "not all rows are there" [ "$(grep -c '^unread/broken  not YAML\|^unread/locked  cannot read' out)" -eq 2 ]
has_error file path=unread/locked/config.yaml
rm -r unread/locked
run 0 list unread
rm -r unread
run 1 list runs/nothing
fails file path=runs/nothing
run 0 list runs/nothing --json
shows "[]"
ln -s ../runs runs/loop
run 0 list
rm runs/loop

# ---- show
run 0 show runs/one
shows "layers.0  dense      13     20  gmp    bn" "layers.2  dense      10      1  sp     none  identity" "repeat      spherelu train --data boston"
command=$(sed -n 's/^repeat *spherelu //p' out)
eval "run 0 $command --quiet"
check "the command that show prints repeats the run" cmp -s again/model.safetensors runs/one/model.safetensors
run 0 show runs/one --json
shows '"hidden": "20,10"' '"learned": ' '"best_epoch"' '"path": "layers.2"'
run 0 show runs/one/model.safetensors
shows "columns     CRIM, " "layers.1  dense"
run 0 show runs/one/model.safetensors --json
shows '"model": "runs/one/model.safetensors"' '"layers": ['
run 1 show runs
fails format path=runs
run 1 show runs/broken
fails format path=runs/broken/config.yaml line=2
echo junk >junk.safetensors
run 1 show junk.safetensors
fails format path=junk.safetensors
cat >e.yaml <<YAML
name: few
data: {name: crescents, rows: 60}
net: {hidden: [4]}
train: {epochs: 3}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
seeds: 2
YAML
run 0 run e.yaml --out runs/few --quiet
run 0 show runs/few
check "show of an experiment is its table" cmp -s out runs/few/table.txt
run 0 list runs/few
shows "runs/few  experiment  4 jobs"

# ---- eval without data is the run's own test part; f32 sums of other tiles round otherwise
run 0 eval runs/one --json
for metric in loss rmse mae r2; do
    check "eval's $metric is not that of result.json" awk -v key="\"$metric\":" '
        function value(line) { sub(".*" key " *", "", line); return line + 0 }
        FNR == 1 { part++ } part == 1 { a = value($0) } part == 2 && !b && index($0, key) { b = value($0) }
        END { exit !(a && b && (a > b ? a - b : b - a) < 1e-5 * (b > 0 ? b : -b)) }' out runs/one/result.json
done
run 2 eval runs/deep/two
fails argument key=data

# ---- predictions keep the differences of large targets
awk 'BEGIN { srand(5); print "a,t"; for (i = 0; i < 200; i++) { a = rand(); printf "%.9f,%d\n", a, 1700000000 + 20 * a } }' >late.csv
run 0 train --data late.csv --target t --task regression --epochs 100 --out late --quiet
run 0 predict late --data late.csv --out p.csv
check "of 200 predictions near 1.7e9 only $(sort -u p.csv | wc -l) differ" test "$(sort -u p.csv | wc -l)" -gt 150

finish
