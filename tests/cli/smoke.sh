#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every command of the tool does its work once, on little data. The other scripts test what each of them does.
. "$(dirname "$0")/lib.bash"
table 60 >t.csv
mkdir -p photos/{one,two}
cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" photos/one
cp "$SOURCE_DIR/tests/golden/pictures/plain.png" photos/two
cat >x.yaml <<'YAML'
name: x
data: {name: crescents, rows: 60}
net: {hidden: [4]}
train: {epochs: 2}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
YAML
commands=(
    "train --quiet --data t.csv --target y --hidden 4 --epochs 2 --out table"
    "train --quiet --data crescents --rows 60 --hidden 4 --epochs 2 --record boundaries --out plane"
    "eval table"
    "predict table --data t.csv"
    "importance table --repeats 1"
    "compare plane plane"
    "boundaries plane"
    "regions plane"
    "figures plane convergence"
    "convert plane sp.safetensors --to sp"
    "export plane plane.onnx"
    "import plane.onnx back.safetensors"
    "show plane"
    "list ."
    "run x.yaml --quiet --out x"
    "pack photos packed --size 8"
    "perturb --dim 3 --samples 20"
    "data list"
    "bench mlp --hidden 8 --repeats 1"
    "completion bash"
    "help train"
)
for command in "${commands[@]}"; do
    # shellcheck disable=SC2086 # words
    run 0 $command
    check "$command printed nothing" [ -s out ]
done
for name in $("$SPHERELU" --help | sed -n '/^first steps/q; s/^  \([a-z]*\) .*/\1/p'); do
    [ "$name" != playground ] || continue # needs make playground: playground.sh
    check "$name is not tried" grep -q "^$name " <(printf '%s\n' "${commands[@]}")
done
finish
