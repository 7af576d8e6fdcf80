#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Bad input of every kind: the exit code, one line that says what was found and expected, and nothing left behind.
. "$(dirname "$0")/lib.bash"

{
    echo "a,b,price"
    for i in $(seq 40); do echo "$i,$((i * i)),$((i * 3))"; done
} >ok.csv
run 0 train --data ok.csv --epochs 3 --out fine

# refuse "CODE key=... path=... line=..." OPTIONS...: train fails so (fails), and makes no folder
refuse() {
    local failure=$1
    shift
    refuses "$failure" train "$@" --out refused
    absent refused
    rm -rf refused
}

# ---- files
: >empty.csv
head -1 ok.csv >header.csv
sed '7s/,.*//' ok.csv >few.csv
sed '7s/$/,1/' ok.csv >many.csv
sed '7s/^[0-9]*/six/' ok.csv >text.csv
sed '7s/^[0-9]*/inf/' ok.csv >infinite.csv
sed '7s/[0-9]*$/-1e999/' ok.csv >overflow.csv
sed '7s/[0-9]*$/six/' ok.csv >target.csv
sed '7s/^[0-9]*/nan/' ok.csv >nan.csv
sed '2,$s/[0-9]*$/5/' ok.csv >constant.csv
head -2 ok.csv >one.csv
head -c 64 /dev/zero >zero.csv
refuse "file path=nothere.csv" --data nothere.csv
refuse "format path=empty.csv" --data empty.csv
refuse "format path=header.csv" --data header.csv
refuse "format path=few.csv line=7" --data few.csv
refuse "format path=many.csv line=7" --data many.csv
refuse "format key=a path=text.csv line=7" --data text.csv
refuse "format key=a path=infinite.csv line=7" --data infinite.csv
refuse "format key=price path=overflow.csv line=7" --data overflow.csv
refuse "format key=price path=target.csv line=7" --data target.csv
refuse "format key=a path=nan.csv line=7" --data nan.csv --missing error
refuse "format key=price path=constant.csv" --data constant.csv
refuse "format path=one.csv" --data one.csv
refuse "format path=zero.csv" --data zero.csv
refuse "format key=fine path=." --data . # a folder with one folder of pictures, as far as names tell
run 0 train --data nan.csv --epochs 1 --out filled

# ---- columns
refuse "argument key=target path=ok.csv" --data ok.csv --target pric
refuse "argument key=target path=ok.csv" --data ok.csv --target zzz
refuse "argument key=target path=ok.csv" --data ok.csv --target 9
refuse "argument key=drop path=ok.csv" --data ok.csv --drop c
refuse "argument key=drop path=ok.csv" --data ok.csv --target price --drop price

# ---- options
refuse "argument key=lr" --data ok.csv --lr 0
refuse "argument key=lr" --data ok.csv --lr -0.1
refuse "argument key=lr" --data ok.csv --lr inf
refuse "argument key=batch" --data ok.csv --batch 0
refuse "argument key=permute" --data ok.csv --permute 4294967296
refuse "argument key=permute" --data ok.csv --permute -1
refuse "argument key=columns" --data ok.csv --columns reverse
run 0 train --data ok.csv --batch 25 --epochs 1 --out batch
run 0 train --data ok.csv --batch 1024 --epochs 1 --verbose --out more
notes key=batch 1024
check "a larger batch is all rows" cmp -s batch/model.safetensors more/model.safetensors
refuse "argument key=batch" --data ok.csv --batch 1 --norm bn
refuse "argument key=batch" --data ok.csv --batch 1 --norm mbn
refuse "argument key=micro" --data ok.csv --micro 1 --norm bn --quiet
refuse "argument key=monitor" --data ok.csv --monitor val_los
refuse "argument key=monitor" --data ok.csv --monitor val_accuracy
refuse "argument key=monitor" --data ok.csv --val 0 --monitor val_loss
for schedule in nonsense step step:3 step:x:0.1 plateau:5 plateau:x:0.1:0 cosine:3; do
    refuse "argument key=schedule" --data ok.csv --schedule $schedule
done
refuse "argument key=net" --data ok.csv --net vgg6
refuse "argument key=loss" --data ok.csv --loss ce
refuse "argument key=loss" --data ok.csv --loss bce
classes 60 yes no >two.csv
classes 60 one two three >three.csv
refuse "argument key=loss" --data two.csv --loss mse
refuse "argument key=loss" --data three.csv --loss bce
refuse "format key=kind path=two.csv line=2" --data two.csv --task regression
refuse "argument key=hidden" --data ok.csv --hidden 0
refuse "argument key=layers.1" --data ok.csv --hidden 4000000000,4000000000
[ -n "${SPH_SAN:-}" ] || # a sanitizer has words of its own about such sizes
    refuse "memory key=max-memory" --data ok.csv --hidden 40000000,40000000

# ---- weights to begin with
model=fine/model.safetensors
head -c 100 $model >cut.safetensors
{ cat $model; echo; } >long.safetensors
{ printf '\377\377\377\377\377\377\377\177'; tail -c +9 $model; } >header.safetensors
{ head -c 8 $model; printf '\377\376'; tail -c +11 $model; } >utf8.safetensors
: >empty.safetensors
for bad in cut long header utf8 empty; do
    refuse "format path=$bad.safetensors" --data ok.csv --init $bad.safetensors
    run 1 convert $bad.safetensors out.safetensors --to sp
    fails format path=$bad.safetensors
    absent out.safetensors
done
refuse "file path=nothere.safetensors" --data ok.csv --init nothere.safetensors
refuse "format key=layers.0.u path=fine/model.safetensors" --data ok.csv --hidden 7 --init $model
refuse "format key=layers.0.weight path=fine/model.safetensors" --data ok.csv --param sp --init $model
refuse "format key=layers.0.u path=fine/checkpoint.safetensors" --data ok.csv --init fine/checkpoint.safetensors
run 1 convert fine/checkpoint.safetensors out.safetensors --to sp
fails format path=fine/checkpoint.safetensors
absent out.safetensors
run 0 train --data ok.csv --epochs 1 --init $model --out begun

# ---- other data for a run
cut -d, -f1,3 ok.csv >without.csv
cut -d, -f1,2 ok.csv >features.csv
sed '1s/b/B/' features.csv >renamed.csv
run 1 predict fine --data without.csv --out p.csv
fails format key=b path=without.csv
run 1 predict fine --data renamed.csv --out p.csv
fails format key=b path=renamed.csv
run 1 predict fine --data text.csv --out p.csv
fails format key=a path=text.csv line=7
run 1 predict fine --data header.csv --out p.csv
fails format path=header.csv
run 1 predict fine --data empty.csv --out p.csv
fails format path=empty.csv
absent p.csv
run 1 eval fine --data features.csv
fails format key=price path=features.csv
run 1 eval fine --data nothere.csv
fails file path=nothere.csv
run 0 train --data three.csv --epochs 2 --out three
sed '3s/[a-z]*$/four/' three.csv >four.csv
run 1 eval three --data four.csv
fails format key=kind path=four.csv line=3
table 60 >t.csv
run 0 train --data t.csv --epochs 2 --out words
sed '4s/red\|green\|dark blue/pink/' t.csv >pink.csv
run 1 predict words --data pink.csv --strict
fails format key=colour path=pink.csv line=4

# ---- folders that are no run
mkdir bare
run 1 eval bare --data ok.csv
fails format path=bare
cp -r fine damaged
cp cut.safetensors damaged/model.safetensors
run 1 predict damaged --data ok.csv
fails format path=damaged/model.safetensors
cp fine/checkpoint.safetensors damaged/model.safetensors
run 1 predict damaged --data ok.csv
fails format path=damaged/model.safetensors

# ---- a run that diverges
diverged() {
    local folder=$1
    check "$folder: result.json does not say so" [ "$(json "$folder/result.json" diverged)" = true ]
    check "$folder: result.json has scores" eval '! grep -qE "\"(rmse|loss|test)\":" "$folder/result.json"'
    check "$folder: result.json does not say why" grep -q '"reason": "' "$folder/result.json"
    absent "$folder/model.safetensors"
    no_temporaries "$folder"
    run 1 eval "$folder" --data ok.csv
    fails format path="$folder"
}
run 1 train --data ok.csv --optimizer sgd --lr 1e6 --val 0 --out away
fails diverged key=layers.0
diverged away
run 1 train --data ok.csv --optimizer sgd --lr 1e6 --out away-val
fails diverged key=layers.0
diverged away-val
run 1 train --data ok.csv --lr 1e30 --param sp --json --out away-json
check "stderr is not one line" [ "$(wc -l <err)" -eq 1 ]
check "--json does not say that the run diverged" grep -q '"diverged": true' out
diverged away-json
# It goes well for a while: what was saved then stays.
training=(--data ok.csv --optimizer sgd --momentum 0 --lr 0.01 --clip 1 --schedule step:20:1e38 --patience 0 --epochs 60
    --val 0 --checkpoint-seconds 0)
run 1 train "${training[@]}" --out late
fails diverged key=layers.0
diverged late
check "no metrics before the end" [ "$(wc -l <late/metrics.jsonl)" -ge 19 ]
cp late/checkpoint.safetensors kept
run 2 train --resume --out late
fails argument path=late
check "resuming a diverged run changed its checkpoint" cmp -s kept late/checkpoint.safetensors
finish
