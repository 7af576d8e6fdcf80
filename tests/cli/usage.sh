#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How the tool answers before any training: help, version, wrong usage, exit codes. Needs SPHERELU, the built tool.
: "${SPHERELU:?set SPHERELU to the built tool}"
root=$(cd "$(dirname "$0")/../.." && pwd)
case $SPHERELU in /*) ;; *) SPHERELU=$PWD/$SPHERELU ;; esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0 checks=0

wrong() {
    echo "FAILED: $*"
    echo "  stdout: $(head -c 300 out)"
    echo "  stderr: $(head -c 300 err)"
    failed=$((failed + 1))
}

# run CODE ARGS...: the tool ends with CODE
run() {
    expected=$1
    shift
    "$SPHERELU" "$@" >out 2>err
    code=$?
    checks=$((checks + 1))
    [ $code -eq "$expected" ] || wrong "spherelu $*: exit $code, expected $expected"
}

# says TEXT: exactly one line on stderr, it holds TEXT, and nothing on stdout
says() {
    checks=$((checks + 1))
    [ "$(wc -l <err)" -eq 1 ] || wrong "not one line: $*"
    grep -qF -- "$1" err || wrong "stderr lacks: $1"
    [ -s out ] && wrong "stdout is not empty: $*"
}

shows() {
    checks=$((checks + 1))
    grep -qF -- "$1" out || wrong "stdout lacks: $1"
    [ -s err ] && wrong "stderr is not empty: $1"
}

# ---- help and version
run 0 --help; shows "spherelu train --data"
for command in train eval predict boundaries regions convert bench; do
    run 0 --help; shows "  $command "
    run 0 $command --help; shows "examples"; shows "--json"
    run 0 $command -h; shows "usage: spherelu $command"
    run 0 help $command; shows "usage: spherelu $command"
    checks=$((checks + 1))
    awk 'length > 100 { exit 1 }' out || wrong "help of $command is wider than 100 columns"
done
run 0 help; shows "usage"
run 0 train --help
for option in data target drop delimiter task missing standardize test val split rows net hidden param norm activation \
    init loss label-smoothing optimizer lr lr-theta lr-lambda lr-r momentum nesterov weight-decay beta1 beta2 epsilon natural clip batch micro epochs \
    schedule warmup patience monitor norm-momentum ensemble refit tune checkpoint-seconds resume out seed seed-split seed-init threads dtype json quiet \
    verbose help version; do
    checks=$((checks + 1))
    grep -qE -- "^  --$option( |\$)" out || wrong "train --help lacks --$option"
done
checks=$((checks + 1))
run 0 predict --help; shows "that of the second class"
run 0 --version; shows "kernels: "; shows "cpu: "
grep -qE '^spherelu [0-9]+\.[0-9]+\.[0-9]+$' out || wrong "--version does not begin with the version"
run 0 train --version; shows "kernels: "

# ---- commands
run 2; says "a command is missing"
run 2 trian; says "unknown command 'trian', did you mean 'train'?"
run 2 zzzzzz; says "unknown command 'zzzzzz'"
run 2 --quiet; says "expected a command first"
run 2 help trian; says "did you mean 'train'?"

# ---- options
run 2 train --data x --out r --epoch 3; says "unknown option '--epoch', did you mean '--epochs'?"
run 2 train --data x --out r --resme; says "did you mean '--resume'?"
run 2 train --data x --out r --zzzzzzzzz 1; says "unknown option '--zzzzzzzzz'"
run 2 train --data x --out r --recrod boundaries; says "unknown option '--recrod', did you mean '--record'?"
run 2 train --data x --out r -e 3; says "unknown option '-e'"
run 2 train --data x --out r stray; says "found 'stray'"
run 2 train --data; says "--data: found nothing"
run 2 train --data --out r; says "--data: found nothing"
run 2 train --data x --out r --quiet=3; says "--quiet: found '3', expected no value"
run 2 train; says "--out is missing"
run 2 train --out r; says "--data is missing"
run 2 train --data x; says "--out is missing"
run 2 train --data x --out ''; says "--out: found nothing"

# ---- values
for bad in "lr 0" "lr -1" "lr nan" "lr=x" "batch 0" "batch 1.5" "epochs 0" "test 1" "val=-0.5" "momentum 1" "hidden 10,0" \
    "hidden ,"  "threads 0" "seed -1" "seed-split x" "seed-init -1" "norm-momentum 0" "label-smoothing 1" "clip -1" "delimiter ab"; do
    # shellcheck disable=SC2086 # a name and a value
    run 2 train --data x --out r --$bad; says "--${bad%%[ =]*}: found '"; says "expected "
done
run 2 train --data x --out r --optimizer adan; says "--optimizer: unknown word 'adan', did you mean 'adam'? (adam|adamw|sgd|rmsprop|lion)"
run 2 train --data x --out r --param=gpm; says "did you mean 'gmp'? (sp|wn|gmp|sphere)"
run 2 train --data x --out r --init glorott; says "did you mean 'glorot'?"
run 2 train --data "$(printf 'a\nb')" --out r --optimizer "$(printf 'a\nb')"; says "--optimizer"
[ -e r ] && wrong "wrong usage left a run folder"

# ---- what is not there is a failure, not wrong usage
run 1 train --data nothere.csv --out r; says "nothere.csv"
[ -e r/model.safetensors ] && wrong "a failed run left a model"
run 1 eval nothere --data x; says "nothere"
run 1 predict nothere --data x --out p.csv; says "nothere"
[ -e p.csv ] && wrong "a failed prediction left a file"
echo >afile.safetensors
run 1 eval afile.safetensors --data x; says "afile.safetensors: expected a run folder, found a file"
run 1 predict afile.safetensors --data x --out p.csv; says "afile.safetensors: expected a run folder, found a file"
mkdir empty
run 1 convert empty o.safetensors --to sp; says "empty/model.safetensors"
run 1 convert nothere.safetensors o.safetensors --to sp; says "nothere.safetensors"
[ -e o.safetensors ] && wrong "a failed conversion left a file"

# ---- the other commands
run 2 eval; says "RUN is missing"
run 2 eval a b --data x; says "found 'b'"
run 1 eval nothere; says "nothere: no such run folder"
run 2 show; says "RUN|FILE is missing"
run 1 show nothere; says "nothere: no such run folder or model file"
run 1 list nothere; says "nothere: no such folder"
run 2 list a b; says "found 'b'"
run 2 eval a --data x --dtype f16; says "--dtype: unknown word 'f16'"
run 2 eval a --data x --threads 0; says "--threads: found '0'"
run 2 eval a --dat x; says "did you mean '--data'?"
run 2 predict; says "RUN is missing"
run 2 predict a; says "--data is missing"
run 2 predict a --data x --json; says "--json needs --out"
run 2 convert a; says "OUT.safetensors is missing"
run 2 convert a b; says "--to is missing"
run 2 convert a b --to gpm; says "did you mean 'gmp'?"
run 2 bench mpl; says "did you mean 'mlp'?"
run 2 bench mlp --hidden 3,x; says "--hidden: found '3,x'"
run 1 bench mlp --record nowhere; says "nowhere/boundaries.moves.part: cannot open"
run 2 bench mlp --repeats 0; says "--repeats: found '0'"
run 2 bench param --param gpm; says "did you mean 'gmp'?"

# ---- a full disk behind stdout is noticed
if [ -e /dev/full ]; then
    checks=$((checks + 1))
    "$SPHERELU" --help >/dev/full 2>err
    [ $? -eq 1 ] || wrong "--help into a full disk does not fail"
fi

# ---- the document and the manual page are what the help says
checks=$((checks + 2))
SPHERELU=$SPHERELU sh "$root/scripts/make-cli-docs" >out 2>err
cmp -s out "$root/docs/cli.md" || wrong "docs/cli.md is old: run scripts/make-cli-docs > docs/cli.md"
SPHERELU=$SPHERELU sh "$root/scripts/make-man" >out 2>err
cmp -s out "$root/man/spherelu.1" || wrong "man/spherelu.1 is old: run scripts/make-man > man/spherelu.1"

echo "$checks checks, $failed failed"
[ $failed -eq 0 ]
