#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Optimizers and natural directions from the command line and from an experiment: what is written down, what is refused, going
# on after a signal.
. "$(dirname "$0")/lib.bash"

table 300 >t.csv
small=(--data t.csv --target y --hidden 16 --batch 32 --epochs 6)

# ---- what a run writes down
for optimizer in adam adamw sgd rmsprop lion; do
    run 0 train "${small[@]}" --optimizer $optimizer --out $optimizer
    check "$optimizer is not in config.yaml" grep -qx "  optimizer: $optimizer" $optimizer/config.yaml
done
check "rmsprop's rate and momentum" [ "$(grep -E '^  (lr|momentum):' rmsprop/config.yaml | tr -d '\n')" = "  lr: 0.006  momentum: 0" ]
check "lion's rate" grep -qx '  lr: 0.002' lion/config.yaml
check "natural directions nobody asked for" eval '! grep -q natural adam/config.yaml'
run 0 train "${small[@]}" --beta1 0.8 --beta2 0.95 --natural 0.01 --out given
for line in '  beta1: 0.8' '  beta2: 0.95' '  natural: 0.01'; do
    check "config.yaml lacks '$line'" grep -qx "$line" given/config.yaml
done
check "natural directions change nothing" eval '! cmp -s given/model.safetensors adam/model.safetensors'
run 0 train "${small[@]}" --param sphere --out sphere
run 0 train "${small[@]}" --param sphere --natural 0.01 --out natural-sphere
check "sphere has natural directions already" cmp -s sphere/model.safetensors natural-sphere/model.safetensors

# ---- what is refused
run 2 train "${small[@]}" --param sp --natural 0.01 --out no; fails argument key=natural
run 2 train "${small[@]}" --param wn --natural 0.01 --out no; fails argument key=natural
run 2 train "${small[@]}" --optimizer lion --natural 0.01 --out no; fails argument key=natural
run 2 train "${small[@]}" --natural 0 --out no; fails argument key=natural
run 2 train "${small[@]}" --optimizer sgd --beta2 0.9 --out no; fails argument key=beta2
run 2 train "${small[@]}" --momentum 0.5 --out no; fails argument key=momentum
absent no

cat >natural.yaml <<'YAML'
name: natural
data: {name: crescents, rows: 100}
net: {hidden: [8]}
train: {epochs: 4, batch: 32}
methods:
  - {name: GmP, param: gmp}
  - {name: natural, param: gmp, natural: 0.01}
  - {name: lion, param: gmp, optimizer: lion}
seeds: 2
YAML
run 0 run natural.yaml --out experiment
check "the method's key is not in its job's config.yaml" \
    grep -qx '  natural: 0.01' experiment/jobs/natural/seed-0/config.yaml
sed 's/natural, param: gmp/natural, param: wn/' natural.yaml >wrong.yaml
run 1 run wrong.yaml --out wrong
fails format key=natural path=wrong.yaml line=7

# ---- going on
training=(--data t.csv --target y --hidden 32,32 --batch 16 --epochs 600 --patience 0 --optimizer rmsprop --momentum 0.5
    --natural 0.1)
run 0 train "${training[@]}" --out whole
signalled TERM '[ -e stopped/checkpoint.safetensors ]' train "${training[@]}" --out stopped --checkpoint-seconds 0.02
run 0 train --resume --out stopped
same_run whole stopped
finish
