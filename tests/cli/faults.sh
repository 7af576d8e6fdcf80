#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Promise: when a call of any command fails (allocations, reads, writes, syncs, renames, processes, threads), is interrupted or
# cut short, the command bears it or ends with 1 and one line; files are the old ones or the new ones; the same command again
# gives the same bytes as one never disturbed. Here the first and the last call from every place of the program fail.
# FAULTS_EACH is another number of calls of each kind and command (1: of six kinds only), or own, or all, which takes most of a day.
. "$(dirname "$0")/lib_faults.bash"
. "$(dirname "$0")/lib.bash"

if [ -n "${SPH_SAN:-}" ]; then
    skipped "a sanitizer has an allocator and calls of its own; test_faults.c is for it"
    exit 77
fi

seed=${FAULTS_SEED:-12}
RANDOM=$seed
FAULTS_EACH=${FAULTS_EACH:-places}
[ "$FAULTS_EACH" != 1 ] || FAULTS_KINDS=6
echo "calls drawn with FAULTS_SEED=$seed"

export SPHERELU_DATA=${SOURCE_DIR:?set SOURCE_DIR to the sources}/data

# ---- what the commands work on, in `before`
stand_in_gnuplot "$PWD/path"
export PATH=$PWD/path:$PATH
mkdir before
(
    cd before || exit
    table 30 >t.csv
    classes 40 one two >c.csv
    cat >x.yaml <<'YAML'
name: x
data: {name: c.csv, target: kind}
net: {hidden: [4]}
train: {epochs: 2, batch: 16, checkpoint_seconds: 0}
methods:
  - {name: SP, param: sp}
  - {name: GmP, param: gmp}
seeds: 2
record: {boundaries: every}
figures: [convergence, turns]
YAML
    cat >small.yaml <<'YAML' # one of each: for walks through all places
name: small
data: {name: c.csv, target: kind}
net: {hidden: [2]}
train: {epochs: 1, batch: 16}
methods:
  - {name: SP, param: sp}
seeds: 1
figures: [convergence]
YAML
    tool=(env LD_PRELOAD="$FAULTS_LIBRARY" "$SPHERELU")
    "${tool[@]}" train --quiet --data t.csv --target y --hidden 5 --norm bn --epochs 2 --out table >/dev/null
    "${tool[@]}" train --quiet --data c.csv --target kind --hidden 5 --epochs 2 --record boundaries --out plane >/dev/null
    "${tool[@]}" train --quiet --data c.csv --target kind --hidden 3 --param sp --epochs 2 --out other >/dev/null
    mkdir digits
    for part in train:20 t10k:8; do # 12 x 10 pixels of three classes
        rows=${part#*:} part=${part%:*}
        {
            printf '\0\0\10\1\0\0\0'
            printf '%b' "\\0$(printf %o "$rows")"
            for ((i = 0; i < rows; i++)); do printf '%b' "\\0$((i % 3))"; done
        } >digits/$part-labels-idx1-ubyte
        {
            printf '\0\0\10\3\0\0\0'
            printf '%b' "\\0$(printf %o "$rows")"
            printf '\0\0\0\14\0\0\0\12'
            for ((i = 0; i < rows; i++)); do printf "%0$((40 * (i % 3)))d%040d%0$((80 - 40 * (i % 3)))d" 0 1 0 | head -c 120; done
        } >digits/$part-images-idx3-ubyte
    done
    mkdir -p pictures/one pictures/two
    for ((i = 0; i < 4; i++)); do
        cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" pictures/one/$i.jpg
        cp "$SOURCE_DIR/tests/golden/pictures/plain.png" pictures/two/$i.png
    done
    cp "$SOURCE_DIR/tests/golden/onnx/torch_mlp.onnx" in.onnx
    echo old >out.onnx
    echo old >p.csv
    cp plane/model.safetensors old.safetensors
)
training=(train --quiet --resume --data t.csv --target y --hidden 5 --norm bn --batch 8 --epochs 3 --patience 2
    --schedule plateau:1:0.5:0.1 --checkpoint-seconds 0 --record boundaries+patterns:0,4 --out run)

walk writes "${training[@]}"
walk writes train --resume --data c.csv --target kind --hidden 4 --threads 2 --dtype f64 --epochs 2 --json --no-report --out run
walk writes train --quiet --resume --data digits --net vgg6 --width 0.0625 --norm bn --batch 8 --epochs 1 --no-report --out run
walk writes train --quiet --resume --data pictures --size 8 --workers 1 --net vgg6 --width 0.0625 --batch 4 --epochs 1 \
    --augment crop --log tensorboard --no-report --out run
walk writes train --quiet --resume --data t.csv --target y --hidden 3 --ensemble 2 --refit --epochs 2 --out run
walk writes train --quiet --resume --data t.csv --target y --hidden 3 --tune 2 --epochs 2 --no-report --out run
walk writes pack pictures packed --size 8 --workers 1 --json
walk reads eval table --data t.csv --json
walk reads predict plane --data c.csv
walk writes predict table --data t.csv --out p.csv --json
walk writes convert plane/model.safetensors old.safetensors --to sp --json
walk writes export plane out.onnx
walk writes import in.onnx old.safetensors
walk reads importance plane --repeats 2 --json
walk reads compare plane other --json
walk writes compare plane other --out compared.html
walk reads boundaries table --layer 0 --data t.csv --json
walk reads regions plane --json
walk writes regions plane --out drawn
walk reads perturb --dim 3 --samples 20 --json
walk writes figures plane convergence turns
walk parts run x.yaml --quiet --resume --jobs 2 --out x
walk parts run small.yaml --quiet --resume --jobs 1 --out small
walk reads run x.yaml --dry-run --json
walk reads show plane
walk reads list . --json
walk reads completion bash
walk reads data list --json
walk reads data info crescents
walk reads data verify banana
walk reads help train
walk reads --version

if [ -n "${FAULTS_ONLY:-}" ]; then
    echo "$faults faults: $refused refused in one line, $borne borne, $foreign ended by a library itself"
    check "no fault was met" [ $faults -gt 0 ]
    finish
fi

# ---- exceptions that reach C: oneDNN's, when the operator new of its C++ finds no memory
thrown=0
images=(train --quiet --data digits --net vgg6 --width 0.0625 --norm bn --batch 8 --epochs 1 --out run)
for ((n = 1; n <= 20; n++)); do
    rm -rf try
    cp -r before try
    FAULT_IN=libstdc++ under memory:ENOMEM:$((n * n)) "${images[@]}"
    code=$?
    [ -n "$hit" ] || break
    check "operator new fails, call $((n * n)): exit $code, expected 0 or 1" [ $code -le 1 ]
    [ $code -eq 0 ] || check "not one line of ours: operator new, call $((n * n))" \
        eval '[ "$(wc -l <err)" -eq 1 ] && read_message "$(<err)"'
    read_message "$(<err)" && [ -z "${message[command]}" ] && message_is error memory key=max-memory && thrown=$((thrown + 1))
done
echo "$n calls of operator new, $thrown exceptions that nobody caught"
check "no exception reached the last resort" [ $thrown -gt 0 ]
echo "$faults faults: $refused refused in one line, $borne borne, $foreign ended by a library itself"
check "faults were met" [ $faults -gt 100 ]
finish
