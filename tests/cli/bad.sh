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

# refuse CODE TEXT OPTIONS...: train ends so, says TEXT, and makes no folder
refuse() {
    local code=$1 text=$2
    shift 2
    run "$code" train "$@" --out refused
    says "$text"
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
refuse 1 "nothere.csv: no such file" --data nothere.csv
refuse 1 "empty.csv: the file is empty" --data empty.csv
refuse 1 "header.csv: a header and no rows" --data header.csv
refuse 1 "few.csv:7: 1 column, expected 3" --data few.csv
refuse 1 "many.csv:7: 4 columns, expected 3" --data many.csv
refuse 1 "text.csv:7: column 'a' holds 'six', expected a number" --data text.csv
refuse 1 "infinite.csv:7: column 'a' holds 'inf', expected a finite number" --data infinite.csv
refuse 1 "overflow.csv:7: column 'price' holds '-1e999', expected a finite number" --data overflow.csv
refuse 1 "target.csv:7: column 'price' holds 'six', expected a number" --data target.csv
refuse 1 "nan.csv:7: column 'a' has a missing cell" --data nan.csv --missing error
refuse 1 "constant.csv: target 'price' is 5 in all 40 rows" --data constant.csv
refuse 1 "one.csv: one row of data, expected at least 2" --data one.csv
refuse 1 "zero.csv" --data zero.csv
refuse 1 ".: " --data .
run 0 train --data nan.csv --epochs 1 --out filled

# ---- columns
refuse 2 "ok.csv: no column 'pric' (target); do you mean 'price'?" --data ok.csv --target pric
refuse 2 "ok.csv: no column 'zzz' (target); the columns are a, b, price" --data ok.csv --target zzz
refuse 2 "ok.csv: no column '9' (target)" --data ok.csv --target 9
refuse 2 "ok.csv: no column 'c' (drop)" --data ok.csv --drop c
refuse 2 "'price'" --data ok.csv --target price --drop price

# ---- options
refuse 2 "--lr: found '0', expected a number greater than 0" --data ok.csv --lr 0
refuse 2 "--lr: found '-0.1', expected a number greater than 0" --data ok.csv --lr -0.1
refuse 2 "--lr: found 'inf'" --data ok.csv --lr inf
refuse 2 "--batch: found '0', expected a whole number, 1 or more, or full" --data ok.csv --batch 0
refuse 2 "permute: numpy's permutation takes seeds below 2^32" --data ok.csv --permute 4294967296
refuse 2 "--permute: found '-1', expected a whole number, 0 or more" --data ok.csv --permute -1
refuse 2 "--columns: unknown word 'reverse', did you mean 'reversed'? (as-is|reversed)" --data ok.csv --columns reverse
run 0 train --data ok.csv --batch 25 --epochs 1 --out batch
run 0 train --data ok.csv --batch 1024 --epochs 1 --verbose --out more
check "a batch larger than the training part is not told" grep -qF "note: --batch: there are no more than 1024 training rows, a step takes all" err
check "a larger batch is all rows" cmp -s batch/model.safetensors more/model.safetensors
refuse 2 "batch: 1 row has no statistics of its own" --data ok.csv --batch 1 --norm bn
refuse 2 "batch: 1 row has no statistics of its own" --data ok.csv --batch 1 --norm mbn
refuse 2 "micro: 1 row has no statistics of its own" --data ok.csv --micro 1 --norm bn --quiet
refuse 2 "monitor: no value val_los; there are train_loss, val_loss" --data ok.csv --monitor val_los
refuse 2 "monitor: no value val_accuracy" --data ok.csv --monitor val_accuracy
refuse 2 "no validation part" --data ok.csv --val 0 --monitor val_loss
for schedule in nonsense step step:3 step:x:0.1 plateau:5 plateau:x:0.1:0 cosine:3; do
    refuse 2 "schedule: '$schedule' is none of: none, step:" --data ok.csv --schedule $schedule
done
refuse 2 "net: vgg6 takes images, and ok.csv is a table" --data ok.csv --net vgg6
refuse 2 "loss: ce does not fit the task" --data ok.csv --loss ce
refuse 2 "loss: bce does not fit the task" --data ok.csv --loss bce
classes 60 yes no >two.csv
classes 60 one two three >three.csv
refuse 2 "loss: mse does not fit the task" --data two.csv --loss mse
refuse 2 "loss: bce does not fit the task" --data three.csv --loss bce
refuse 1 "two.csv" --data two.csv --task regression
refuse 2 "--hidden: found '0'" --data ok.csv --hidden 0
refuse 2 "more than this machine can address" --data ok.csv --hidden 4000000000,4000000000
[ -n "${SPH_SAN:-}" ] || # a sanitizer has words of its own about such sizes
    refuse 1 "max-memory: out of memory: " --data ok.csv --hidden 40000000,40000000

# ---- weights to begin with
model=fine/model.safetensors
head -c 100 $model >cut.safetensors
{ cat $model; echo; } >long.safetensors
{ printf '\377\377\377\377\377\377\377\177'; tail -c +9 $model; } >header.safetensors
{ head -c 8 $model; printf '\377\376'; tail -c +11 $model; } >utf8.safetensors
: >empty.safetensors
for bad in cut long header utf8 empty; do
    refuse 1 "$bad.safetensors" --data ok.csv --init $bad.safetensors
    run 1 convert $bad.safetensors out.safetensors --to sp
    says "$bad.safetensors"
    absent out.safetensors
done
refuse 1 "nothere.safetensors: cannot open" --data ok.csv --init nothere.safetensors
refuse 1 "$model" --data ok.csv --hidden 7 --init $model
refuse 1 "$model" --data ok.csv --param sp --init $model
refuse 1 "fine/checkpoint.safetensors" --data ok.csv --init fine/checkpoint.safetensors
run 1 convert fine/checkpoint.safetensors out.safetensors --to sp
says "fine/checkpoint.safetensors"
absent out.safetensors
run 0 train --data ok.csv --epochs 1 --init $model --out begun

# ---- other data for a run
cut -d, -f1,3 ok.csv >without.csv
cut -d, -f1,2 ok.csv >features.csv
sed '1s/b/B/' features.csv >renamed.csv
run 1 predict fine --data without.csv --out p.csv
says "without.csv: no feature column 'b'"
run 1 predict fine --data renamed.csv --out p.csv
says "renamed.csv: no feature column 'b'"
run 1 predict fine --data text.csv --out p.csv
says "text.csv:7: column 'a' holds 'six'"
run 1 predict fine --data header.csv --out p.csv
says "header.csv: a header and no rows"
run 1 predict fine --data empty.csv --out p.csv
says "empty.csv: the file is empty"
absent p.csv
run 1 eval fine --data features.csv
says "features.csv: no target column 'price'"
run 1 eval fine --data nothere.csv
says "nothere.csv: no such file"
run 0 train --data three.csv --epochs 2 --out three
sed '3s/[a-z]*$/four/' three.csv >four.csv
run 1 eval three --data four.csv
says "four.csv:3: " "'four'"
table 60 >t.csv
run 0 train --data t.csv --epochs 2 --out words
sed '4s/red\|green\|dark blue/pink/' t.csv >pink.csv
run 1 predict words --data pink.csv --strict
says "pink.csv:4: " "'pink'"

# ---- folders that are no run
mkdir bare
run 1 eval bare --data ok.csv
says "bare: not a run folder: it has no config.yaml"
cp -r fine damaged
cp cut.safetensors damaged/model.safetensors
run 1 predict damaged --data ok.csv
says "damaged/model.safetensors"
cp fine/checkpoint.safetensors damaged/model.safetensors
run 1 predict damaged --data ok.csv
says "damaged/model.safetensors"

# ---- a run that diverges
diverged() {
    local folder=$1
    check "$folder: result.json does not say so" [ "$(json "$folder/result.json" diverged)" = true ]
    check "$folder: result.json has scores" eval '! grep -qE "\"(rmse|loss|test)\":" "$folder/result.json"'
    check "$folder: result.json does not say why" grep -q '"reason": "' "$folder/result.json"
    absent "$folder/model.safetensors"
    no_temporaries "$folder"
    run 1 eval "$folder" --data ok.csv
    says "$folder: the run diverged"
}
run 1 train --data ok.csv --optimizer sgd --lr 1e6 --val 0 --out away
says " at step " "first seen in layers." "try a smaller lr than 1e+06"
diverged away
run 1 train --data ok.csv --optimizer sgd --lr 1e6 --out away-val
says "the validation loss became " " step 2 " "try a smaller lr than 1e+06"
diverged away-val
run 1 train --data ok.csv --lr 1e30 --param sp --json --out away-json
check "stderr is not one line" [ "$(wc -l <err)" -eq 1 ]
check "--json does not say that the run diverged" grep -q '"diverged": true' out
diverged away-json
# It goes well for a while: what was saved then stays.
training=(--data ok.csv --optimizer sgd --momentum 0 --lr 0.01 --clip 1 --schedule step:20:1e38 --patience 0 --epochs 60
    --val 0 --checkpoint-seconds 0)
run 1 train "${training[@]}" --out late
says " at step 2" "first seen in layers."
diverged late
check "no metrics before the end" [ "$(wc -l <late/metrics.jsonl)" -ge 19 ]
cp late/checkpoint.safetensors kept
run 2 train --resume --out late
says "late: holds a run that diverged; choose another --out and a smaller --lr"
check "resuming a diverged run changed its checkpoint" cmp -s kept late/checkpoint.safetensors
finish
