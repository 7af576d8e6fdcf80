#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Networks for images, end to end on small sets: made here in CIFAR's and IDX's formats, and the known sets where
# $SPHERELU_DATA has them.
. "$(dirname "$0")/lib.bash"

# bytes: numbers on stdin, one byte each
bytes() {
    printf '%b' "$(awk '{ for (i = 1; i <= NF; i++) printf "\\0%03o", $i }')"
}

# cifar ROWS SEED: records of ten classes, each a patch of its own colour and place on noise
cifar() {
    awk -v rows="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < rows; i++) {
            class = int(rand() * 10); print class
            for (c = 0; c < 3; c++)
                for (y = 0; y < 32; y++)
                    for (x = 0; x < 32; x++) {
                        inside = int(y / 7) == class % 5 && x > 8 && x < 24 && (class < 5 ? c == 0 : c == 2)
                        print int(rand() * 80) + 160 * inside
                    }
        }
    }' | bytes
}

# idx ROWS SEED: the images and labels of three classes in 12 x 10 pixels, as the files images and labels
idx() {
    local count="0 0 $(($1 / 256)) $(($1 % 256))"
    { echo 0 0 8 1 "$count" && awk -v rows="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < rows; i++)
            print int(rand() * 3)
    }'; } >labels.txt
    { echo 0 0 8 3 "$count" 0 0 0 12 0 0 0 10 && awk -v seed="$2" 'BEGIN { srand(seed + 100) } NR > 1 {
        for (p = 0; p < 120; p++)
            print int(rand() * 60) + 150 * (int(p / 40) == $1)
    }' labels.txt; } | bytes >images
    bytes <labels.txt >labels
}

mkdir ten digits
cifar 150 1 >ten/data_batch_1.bin
cifar 90 2 | gzip >ten/data_batch_2.bin.gz
cifar 60 3 >ten/test_batch.bin
idx 200 1
gzip -c images >digits/train-images-idx3-ubyte.gz
gzip -c labels >digits/train-labels-idx1-ubyte.gz
idx 50 2
mv images digits/t10k-images-idx3-ubyte
mv labels digits/t10k-labels-idx1-ubyte
small=(--net vgg6 --width 0.0625 --param gmp --norm none --batch 16)

# ---- training, scores and predictions
run 0 train --quiet --data ten "${small[@]}" --norm imn --epochs 6 --out a
shows "ten: 300 rows, 3072 features" "vgg6 gmp+imn" "train     192 rows" "val       48 rows" "test      60 rows" "top5"
check "the page does not count the images of the test set by class" \
    [ "$(grep -o '<tr><th scope="row">[^<]*</th><td class="n">[0-9]*</td><td class="n">[0-9]*</td><td class="n">[0-9]*</td></tr>' a/report.html | wc -l)" -ge 10 ]
check "the page does not say what the test set is" grep -q "The test set is that of the dataset" a/report.html
check "no standard error of the accuracy" grep -q "standard error of 0.0[0-9]* with 60 rows" a/report.html
if command -v gnuplot >/dev/null; then
    check "no mistakes on the page" grep -q "Wrongly classified test images" a/report.html
else
    skipped "there is no gnuplot"
fi
check "training taught nothing: $(json a/result.json train accuracy)" \
    awk -v a="$(json a/result.json train accuracy)" 'BEGIN { exit !(a > 0.3) }'
test_loss=$(json a/result.json test loss)
run 0 eval a --data ten --json
shows '"rows": 60'
check "eval on the set is not the result's test loss" \
    awk -v a="$(json out loss)" -v b="$test_loss" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
run 0 predict a --data ten/test_batch.bin --out p.csv
check "not a line an image" [ "$(wc -l <p.csv)" -eq 61 ]
check "another header" grep -qxF "class,p_0,p_1,p_2,p_3,p_4,p_5,p_6,p_7,p_8,p_9" p.csv
od -An -v -tu1 -w3073 -N$((60 * 3073)) ten/test_batch.bin | awk '{ print $1 }' >truth
run 0 eval a --data ten/test_batch.bin --json
check "predictions and scores disagree" awk -v a="$(json out accuracy)" 'NR == FNR { truth[NR] = $1; next }
    FNR > 1 { split($0, cell, ","); hits += cell[1] == truth[FNR - 1] }
    END { exit !(hits / 60 - a < 1e-9 && a - hits / 60 < 1e-9) }' truth p.csv
check "augment is not in the config" grep -q "augment: flip" a/config.yaml
check "hidden is in the config of a vgg6" [ -z "$(grep hidden a/config.yaml)" ]

# ---- flips: the same bits again, other bits without them, the same after a stop in the middle of an epoch
run 0 train --quiet --data ten "${small[@]}" --norm imn --epochs 6 --out again
same_run a again
run 0 train --quiet --data ten "${small[@]}" --norm imn --epochs 6 --augment none --out straight
check "flips changed nothing" [ "$(json a/result.json train loss)" != "$(json straight/result.json train loss)" ]
longer=(--data ten "${small[@]}" --param sphere --batch 8 --epochs 60 --patience 0)
run 0 train --quiet "${longer[@]}" --out whole
for turn in 1 2; do
    old=$(lines parts/metrics.jsonl)
    signalled TERM '[ $(lines parts/metrics.jsonl) -gt $old ]' train --resume "${longer[@]}" --checkpoint-seconds 0.02 --out parts
    check "a training was not stopped: exit $code" [ $code -eq 143 ]
done
run 0 train --resume --out parts
same_run whole parts
run 0 train --resume --out a
same_run a again

# ---- IDX; an mlp takes the pixels as a row; other precisions and kinds
run 0 train --quiet --data digits --net mlp --hidden 20 --epochs 30 --augment none --out flat
shows "digits: 250 rows, 120 features" "120-20-3 sphere"
check "an mlp on images learns: $(json flat/result.json test accuracy)" \
    awk -v a="$(json flat/result.json test accuracy)" 'BEGIN { exit !(a > 0.9) }'
run 0 eval flat --data digits/t10k-images-idx3-ubyte --json
shows '"rows": 50'
run 0 train --quiet --data digits "${small[@]}" --dtype f64 --param sp --norm bn --epochs 2 --out f64
run 0 eval f64 --data digits
run 0 train --quiet --data digits --net resnet18 --width 0.0625 --norm bn --param sp --batch 32 --epochs 1 --rows 60 --out res
shows "digits: 75 rows" "resnet18 sp+bn" "test      15 rows"
# depthwise convolutions: trained, resumed, looked at, converted there and back
mobile=(--net mobile --width 0.125 --param gmp --norm imn --batch 32 --rows 100)
run 0 train --quiet --data digits "${mobile[@]}" --epochs 2 --record boundaries --out mob
shows "mobile gmp+imn"
check "the kind in the config" grep -q "kind: mobile" mob/config.yaml
check "depthwise layers in the model" grep -aqE 'groups[\]": *4\b' mob/model.safetensors
run 0 boundaries mob --layer 1 --data digits
check "a depthwise unit has nine inputs" [ "$(head -1 out | tr , '\n' | grep -c phi_)" -eq 9 ]
check "four depthwise units behind the first conv" [ "$(wc -l <out)" -eq 5 ]
run 0 eval mob --data digits --json
loss=$(json out loss)
run 0 convert mob mob.safetensors --to sp
run 0 convert mob.safetensors mob_back.safetensors --to gmp
cp -r mob back
cp mob_back.safetensors back/model.safetensors
run 0 eval back --data digits --json # accuracies say less: the classes are nearly tied after two epochs
check "another function after conversion: $loss, $(json out loss)" awk -v a="$loss" -v b="$(json out loss)" "BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }"
run 0 train --quiet --data digits "${mobile[@]}" --init mob_back.safetensors --lr 1e-9 --epochs 1 --out mob_again
run 2 regions mob --plane 0,1,2; fails argument key=layers.0
run 0 train --quiet --data digits "${small[@]}" --epochs 1 --test 0 --out untested
check "--test 0 left a test part" [ -z "$(grep '^test' out)" ]
rm digits/t10k-labels-idx1-ubyte
run 0 predict flat --data digits/t10k-images-idx3-ubyte
check "no labels, no predictions" [ "$(wc -l <out)" -eq 51 ]
run 1 eval flat --data digits/t10k-images-idx3-ubyte
fails file path=digits/t10k-images-idx3-ubyte

# ---- centred without division; one channel
run 0 train --quiet --data ten "${small[@]}" --standardize mean --epochs 1 --out centred
check "mean is not in the config" grep -q "standardize: mean" centred/config.yaml
run 0 eval centred --data ten
run 0 train --quiet --data ten "${small[@]}" --gray --epochs 2 --out gray
shows "ten: 300 rows, 1024 features"
check "gray is not in the config" grep -q "gray: true" gray/config.yaml
test_loss=$(json gray/result.json test loss)
run 0 eval gray --data ten --json
check "eval of a gray run is not its test loss" \
    awk -v a="$(json out loss)" -v b="$test_loss" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
run 0 train --resume --out gray
run 1 eval gray --data digits/train-images-idx3-ubyte.gz
fails format path=digits/train-images-idx3-ubyte.gz

# ---- what does not go together
table 40 >t.csv
no() {
    refuses "$1" "${@:2}" --out no
    absent no
}
no "argument key=net" train --data t.csv --target y --net resnet18
no "argument key=augment" train --data t.csv --target y --augment flip
no "argument key=gray" train --data t.csv --target y --gray
no "argument key=width" train --data ten --net mlp --width 2
no "argument key=hidden" train --data ten --net vgg6 --hidden 5
no "argument key=stem" train --data ten --net vgg6 --stem small
no "argument key=scale" train --data ten --net resnet18 --width 0.001
no "argument key=target" train --data ten --net vgg6 --target 3
no "argument key=task" train --data ten --net vgg6 --task regression
no "argument key=augment" train --data ten --net vgg6 --augment flop
no "argument key=rows path=ten" train --data ten --net vgg6 --rows 241
run 1 eval a --data t.csv
fails format path=t.csv
run 1 eval a --data digits
fails format path=digits/t10k-images-idx3-ubyte
run 1 eval a --data tenn
fails file path=tenn
run 0 train --quiet --data t.csv --target y --epochs 2 --out table
run 1 eval table --data ten
fails file path=ten
run 2 train --resume --augment none --out a
fails argument key=augment

# ---- a set that changed
printf '\x55' | dd of=ten/data_batch_1.bin bs=1 seek=5000 conv=notrunc 2>/dev/null
run 1 train --resume --out a
fails format path=a
head -c 100000 ten/test_batch.bin >cut && mv cut ten/test_batch.bin
run 1 eval a --data ten
fails format path=ten/test_batch.bin

# ---- the known sets
for set in cifar10 fashion-mnist imagenet32; do
    [ -n "$(find ${SPHERELU_DATA//:/ } -maxdepth 1 -name "$set*" 2>/dev/null)" ] || { skipped "$set is not in SPHERELU_DATA" && continue; }
    run 0 train --quiet --data $set "${small[@]}" --rows 200 --epochs 1 --out known-$set
    shows "data      $set: "
done
finish
