#!/bin/bash
# SPDX-License-Identifier: MIT
#
# How the tool answers before any training: help, version, wrong usage, exit codes. Needs SPHERELU, the built tool.
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$(dirname "$0")/lib.bash"

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
run 0 train --help-all
for option in data target drop delimiter task missing standardize test val split rows net hidden param norm activation \
    init loss label-smoothing optimizer lr lr-theta lr-lambda lr-r momentum nesterov weight-decay beta1 beta2 epsilon natural clip batch micro epochs \
    schedule warmup patience monitor norm-momentum ensemble refit tune checkpoint-seconds resume out seed seed-split seed-init threads dtype json quiet \
    verbose help version; do
    checks=$((checks + 1))
    grep -qE -- "^  --$option( |\$)" out || wrong "train --help-all lacks --$option"
done
checks=$((checks + 1))
# --help has the options used most with their defaults and three examples; --help-all has every option once
run 0 train --help; shows "  --data " "  --lr X" "(default" "help-all lists all"
checks=$((checks + 3))
[ "$(grep -c '^  --' out)" -le 30 ] || wrong "train --help has more than 30 options"
[ "$(grep -c '^  spherelu train' out)" = 3 ] || wrong "train --help does not have three examples"
grep -q '^  --angle-order' out && wrong "train --help has a constant of the papers' code"
run 0 train --help-all; shows "constants of the papers' code" "  --angle-order" "  balanced_accuracy"
checks=$((checks + 1))
[ -z "$(grep -o '^  --[a-z0-9-]*' out | sort | uniq -d)" ] || wrong "train --help-all has an option twice"
run 0 predict --help; shows "prediction_TARGET for each target"
run 0 --version; shows "kernels: "; shows "cpu: "
grep -qE '^spherelu [0-9]+\.[0-9]+\.[0-9]+$' out || wrong "--version does not begin with the version"
run 0 train --version; shows "kernels: "

# ---- commands
run 0; shows "the most common commands" "spherelu --help lists all"
checks=$((checks + 1))
[ "$(wc -l <out)" -le 24 ] || wrong "the overview has more than 24 lines"
run 2 trian; fails argument key=trian
run 2 zzzzzz; fails argument key=zzzzzz
run 2 --quiet; fails argument key=--quiet
run 2 help trian; fails argument key=trian

# ---- options
run 2 train --data x --out r --epoch 3; fails argument key=epoch
run 2 train --data x --out r --resme; fails argument key=resme
run 2 train --data x --out r --zzzzzzzzz 1; fails argument key=zzzzzzzzz
run 2 train --data x --out r --recrod boundaries; fails argument key=recrod
run 2 train --data x --out r -e 3; fails argument key=e
run 2 train --data x --out r stray; fails argument key=stray
run 2 train --data; fails argument key=data
run 2 train --data --out r; fails argument key=data
run 2 train --data x --out r --quiet=3; fails argument key=quiet
run 2 train; fails argument key=out
run 2 train --out r; fails argument key=data
run 2 train --data x; fails argument key=out
run 2 train --data x --out ''; fails argument key=out

# ---- values
for bad in "lr 0" "lr -1" "lr nan" "lr=x" "batch 0" "batch 1.5" "epochs 0" "test 1" "val=-0.5" "momentum 1" "hidden 10,0" \
    "hidden ,"  "threads 0" "seed -1" "seed-split x" "seed-init -1" "norm-momentum 0" "label-smoothing 1" "clip -1" "delimiter ab"; do
    # shellcheck disable=SC2086 # a name and a value
    run 2 train --data x --out r --$bad; fails argument key="${bad%%[ =]*}"
done
run 2 train --data x --out r --optimizer adan; fails argument key=optimizer
run 2 train --data x --out r --param=gpm; fails argument key=param
run 2 train --data x --out r --init glorott; fails argument key=init
run 2 train --data "$(printf 'a\nb')" --out r --optimizer "$(printf 'a\nb')"; fails argument key=optimizer
[ -e r ] && wrong "wrong usage left a run folder"

# ---- what is not there is a failure, not wrong usage
run 1 train --data nothere.csv --out r; fails file path=nothere.csv
[ -e r/model.safetensors ] && wrong "a failed run left a model"
run 1 eval nothere --data x; fails file path=nothere
run 1 predict nothere --data x --out p.csv; fails file path=nothere
[ -e p.csv ] && wrong "a failed prediction left a file"
echo >afile.safetensors
run 1 eval afile.safetensors --data x; fails format path=afile.safetensors
run 1 predict afile.safetensors --data x --out p.csv; fails format path=afile.safetensors
mkdir empty
run 1 convert empty o.safetensors --to sp; fails file path=empty/model.safetensors
run 1 convert nothere.safetensors o.safetensors --to sp; fails file path=nothere.safetensors
[ -e o.safetensors ] && wrong "a failed conversion left a file"

# ---- a command takes the options that it uses, and no other
for refused in "eval threads" "eval seed" "eval dtype" "predict seed" "boundaries threads" "regions dtype" "show seed" "list dtype" \
    "list max-memory" "compare threads" "importance dtype" "data seed" "data max-memory" "pack threads" "convert seed" \
    "export dtype" "import threads" "figures dtype" "perturb dtype" "completion json" "bench seed"; do
    run 2 ${refused% *} --${refused#* } 1; fails argument key="${refused#* }"
done
for command in $("$SPHERELU" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | grep -v '^spherelu$'); do
    run 0 $command --help; shows "--quiet" "--verbose" "--help" "--version"
done

# ---- the other commands
run 2 eval; fails argument key=RUN
run 2 eval a b --data x; fails argument key=b
run 1 eval nothere; fails file path=nothere
run 2 show; fails argument key='RUN|FILE'
run 1 show nothere; fails file path=nothere
run 1 list nothere; fails file path=nothere
run 2 list a b; fails argument key=b
run 2 eval a --data x --dtype f16; fails argument key=dtype
run 2 eval a --data x --threads 0; fails argument key=threads
run 2 eval a --dat x; fails argument key=dat
run 2 predict; fails argument key=RUN
run 2 predict a; fails argument key=data
run 2 predict a --data x --json; fails argument key=json
run 2 convert a; fails argument key=OUT.safetensors
run 2 convert a b; fails argument key=to
run 2 convert a b --to gpm; fails argument key=to
run 2 bench mpl; fails argument key=mpl
run 2 bench mlp --hidden 3,x; fails argument key=hidden
run 1 bench mlp --record nowhere; fails file path=nowhere/boundaries.moves.part
run 2 bench mlp --repeats 0; fails argument key=repeats
run 2 bench param --param gpm; fails argument key=param

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

finish
