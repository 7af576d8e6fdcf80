#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Group normalization from the command line and from an experiment: what is written down, what is refused, what other
# commands make of such a run.
. "$(dirname "$0")/lib.bash"

table 200 >t.csv
small=(--data t.csv --target y --hidden 16,8 --batch 32 --epochs 3 --norm gn)

# ---- what a run writes down
run 0 train "${small[@]}" --groups 4 --out four
check "groups are not in config.yaml" grep -qx '  groups: 4' four/config.yaml
check "groups are not in the model" grep -aqF '\"norm_groups\":4' four/model.safetensors
run 0 train "${small[@]}" --out usual
check "groups that nobody gave are in config.yaml" eval '! grep -q groups: usual/config.yaml'
check "the usual groups are not in the model" grep -aqF '\"norm_groups\":2' usual/model.safetensors
run 0 train "${small[@]}" --groups 1 --out one
run 0 train --data t.csv --target y --hidden 16,8 --batch 32 --epochs 3 --norm ln --out ln
check "one group is not ln" cmp -s <(sed 's/,"seconds".*//' one/metrics.jsonl) <(sed 's/,"seconds".*//' ln/metrics.jsonl)

# ---- what becomes of it
run 0 eval four --data t.csv --json
run 0 predict four --data t.csv --out p.csv
run 0 boundaries four
shows "layer,unit,norm,offset,active_share"
check "a shifted unit has an offset" grep -qE '^0,0,,,[0-9.]+,' out
run 0 convert four/model.safetensors sp.safetensors --to sp
run 2 regions four --plane 0,1,2
fails argument key=layers.0

# ---- what is refused
run 2 train "${small[@]}" --groups 3 --out no; fails argument key=layers.0
run 2 train "${small[@]}" --groups 16 --out no; fails argument key=layers.0
run 2 train "${small[@]}" --groups 0 --out no; fails argument key=groups
run 2 train --data t.csv --target y --norm bn --groups 2 --out no; fails argument key=groups
absent no

cat >groups.yaml <<'YAML'
name: groups
data: {name: crescents, rows: 100}
net: {hidden: [8]}
train: {epochs: 4, batch: 32}
methods:
  - {name: LN, param: gmp, norm: ln}
  - {name: GN, param: gmp, norm: gn, groups: 2}
seeds: 2
YAML
run 0 run groups.yaml --out experiment
check "the method's key is not in its job's config.yaml" grep -qx '  groups: 2' experiment/jobs/GN/seed-0/config.yaml
sed 's/norm: gn/norm: mbn/' groups.yaml >wrong.yaml
run 1 run wrong.yaml --out wrong
fails format key=groups path=wrong.yaml line=7
finish
