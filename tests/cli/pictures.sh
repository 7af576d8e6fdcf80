#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Folders of pictures, end to end: trained on, scored, predicted; the same bits for any number of workers and after a stop.
. "$(dirname "$0")/lib.bash"
from=${SOURCE_DIR:-$(dirname "$0")/../..}/tests/golden/pictures
if ! "$SPHERELU" --version | grep -q "pictures: TurboJPEG, libpng"; then
    skipped "this build decodes no JPEG or no PNG"
    finish
    exit
fi

# photos DIR COUNT: classes of each kind of picture there is
photos() {
    local class i
    for class in large plain scans small tall; do
        mkdir -p "$1/$class"
        for ((i = 0; i < $2; i++)); do
            cp "$from/$class".* "$1/$class/$((100 + i)).$(basename "$from/$class".* | cut -d. -f2)"
        done
    done
}
photos set/train 16
photos set/val 2
small=(--net resnet18 --width 0.0625 --param sp --norm bn --size 32 --batch 16)

# ---- training, scores and predictions
run 0 train --quiet --data set "${small[@]}" --augment colour --epochs 6 --patience 0 --lr 0.01 --out a
shows "set: 90 rows, 3072 features" "resnet18 sp+bn" "train     64 rows" "val       16 rows" "test      10 rows"
check "training taught nothing: $(json a/result.json test accuracy)" \
    awk -v a="$(json a/result.json test accuracy)" 'BEGIN { exit !(a > 0.5) }'
check "the options are not in the config" [ "$(grep -cE 'augment: colour|size: 32' a/config.yaml)" -eq 2 ]
run 0 eval a --data set --json
shows '"rows": 10'
check "eval on the set is not the result's test loss" \
    awk -v a="$(json out loss)" -v b="$(json a/result.json test loss)" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
accuracy=$(json out accuracy)
run 0 predict a --data set --out p.csv
check "another header" grep -qxF "file,class,p_large,p_plain,p_scans,p_small,p_tall" p.csv
check "files are not named" grep -q "^val/tall/101.jpg," p.csv
check "predictions and scores disagree" awk -F, -v a="$accuracy" 'NR > 1 { split($1, path, "/"); hits += path[2] == $2 }
    END { exit !(NR == 11 && hits / 10 - a < 1e-9 && a - hits / 10 < 1e-9) }' p.csv
mkdir flat && cp set/val/tall/100.jpg flat/one.jpg && cp set/val/plain/100.png flat/two.png
run 0 predict a --data flat
check "not a line a picture" [ "$(cut -d, -f1 out | tr '\n' ' ')" = "file one.jpg two.png " ]
sed -n 2p out >alone; grep '^val/tall/100' p.csv >among # f32: products of other sizes round differently
check "another prediction of the same file" awk -F, 'NR == 1 { for (i = 2; i <= NF; i++) was[i] = $i; next }
    { for (i = 3; i <= NF; i++) if ($i - was[i] > 1e-4 || was[i] - $i > 1e-4) exit 1; exit $2 != was[2] }' alone among
run 0 predict a --data flat/one.jpg
check "one picture is not one line" [ "$(wc -l <out)" -eq 2 ]
run 1 eval a --data flat
fails format path=flat

# ---- what it would ask of the machine, by a few steps
run 0 train --dry-run --data set --net resnet18 --width 0.25 --param sp --norm bn --size 32 --batch 16 --epochs 2
shows "epoch     4 steps of " "time      " " for 2 epochs" "memory    " "disk      "
run 0 train --dry-run --data set --net resnet18 --width 0.25 --param sp --norm bn --size 32 --batch 16 --epochs 2 --json
mv out dry.json
run 0 train --quiet --data set --net resnet18 --width 0.25 --param sp --norm bn --size 32 --batch 16 --epochs 2 --out wide
check "the disk is off by more than a tenth" awk -v a="$(json dry.json disk_bytes)" -v b="$(cat wide/* | wc -c)" \
    'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }'
check "no time" awk -v step="$(json dry.json step_seconds)" -v all="$(json dry.json seconds)" 'BEGIN { exit !(step > 0 && all > 8 * step) }'
rm -r wide
if peak_is_seen; then
    tells_its_peak --data set --net resnet18 --width 0.25 --param sp --norm bn --size 128 --batch 16 --epochs 1
else
    skipped "the memory that a dry run tells: no /proc, or a sanitizer's own memory"
fi

# ---- one folder that is split; one channel; no change of pictures; an mlp; size 64 if not given
run 0 train --quiet --data set/train "${small[@]}" --gray --augment flip --epochs 1 --out gray
shows "set/train: 80 rows, 1024 features" "test      16 rows"
run 0 eval gray --data set/val
run 0 train --quiet --data set/train --size 8 --hidden 5 --epochs 1 --augment none --rows 40 --out flatnet
shows "set/train: 40 rows, 192 features"
run 0 train --quiet --data set --net mobile --width 0.1 --param sp --norm bn --rows 10 --epochs 1 --batch 5 --out usual
shows "12288 features"
check "crop is not the default" grep -q "augment: crop" usual/config.yaml

# ---- JPEG files are decoded whole, or smaller where that is asked for; a run keeps it for eval and predict
for part in train val; do
    for class in odd odd-turned odd-upright large; do
        mkdir -p "big/$part/$class"
        for i in 1 2 3 4; do cp "$from/$class.jpg" "big/$part/$class/$i.jpg"; done
    done
done
tiny=(--data big --net resnet18 --width 0.0625 --param sp --norm bn --size 24 --batch 8 --schedule none --epochs 2 --quiet)
close() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 1e-6 && b - a < 1e-6) }'
}
for decode in "" exact scaled; do
    run 0 train "${tiny[@]}" ${decode:+--decode $decode} --out "d$decode"
    check "the run does not keep how files are decoded" grep -q "decode: ${decode:-exact}$" "d$decode/config.yaml"
    for data in "" big; do # its own test part, and the same rows by name
        run 0 eval "d$decode" ${data:+--data $data} --json
        check "eval ${data:-of the test part} decodes otherwise than training, $decode" \
            close "$(json out loss)" "$(json "d$decode/result.json" test loss)"
    done
    run 0 predict "d$decode" --data big --out "p$decode.csv"
done
check "exact is not the default" cmp d/model.safetensors dexact/model.safetensors
check "scaled is no other way" [ "$(json dexact/result.json test loss)" != "$(json dscaled/result.json test loss)" ]
cp -r dscaled old # as 0.2.0 wrote it, which decoded JPEG files smaller and did not say so
sed -i '/decode:/d' old/config.yaml
check "the model does not say how files are decoded" python3 - <<'P'
import re
path = "old/model.safetensors"
whole = open(path, "rb").read()
found = re.findall(rb',? ?\\"decode\\": ?\\"scaled\\"', whole)
assert len(found) == 1, found
open(path, "wb").write(whole.replace(found[0], b" " * len(found[0])))
P
for data in "" big; do
    run 0 eval old ${data:+--data $data} --json
    check "an old run decodes otherwise" close "$(json out loss)" "$(json dscaled/result.json test loss)"
done
run 0 predict old --data big --out pold.csv
check "an old run predicts otherwise" cmp pold.csv pscaled.csv
run 0 train --resume --epochs 3 --quiet --out old
check "an old run goes on otherwise" grep -q "decode: scaled$" old/config.yaml
awk 'BEGIN { print "x,y"; for (i = 0; i < 30; i++) print i "," i % 2 }' >table.csv
for decode in exact scaled; do
    run 2 train --data table.csv --decode $decode --out nowhere
    fails argument key=decode
done
cat >decode.yaml <<'Y'
name: decode
data: {file: big, size: 24, val: 0.2, decode: scaled}
net: {kind: resnet18, width: 0.0625, norm: bn}
train: {epochs: 1, batch: 8}
methods: [{name: SP, param: sp}]
seeds: 1
Y
run 0 run decode.yaml --quiet --out experiment
check "an experiment's jobs decode otherwise" grep -q "decode: scaled$" experiment/jobs/SP/seed-*/config.yaml
check "an experiment does not keep it" grep -q "decode: scaled$" experiment/experiment.yaml
sed 's/, decode: scaled//' decode.yaml >plain.yaml
run 0 run plain.yaml --quiet --out plain
check "exact is not an experiment's default" grep -q "decode: exact$" plain/jobs/SP/seed-*/config.yaml

# ---- the same bits for any number of workers
for workers in 1 2 4; do
    run 0 train --quiet --data set "${small[@]}" --augment crop --batch 8 --epochs 4 --patience 0 --workers $workers --out w$workers
done
sed -i 's/workers: [0-9]*/workers: n/' w?/config.yaml
same_run w1 w2
same_run w1 w4

# ---- bad files: refused by name, or left out and counted
head -c 500 "$from/small.jpg" >set/train/small/150.jpg
echo text >set/val/tall/150.png
run 1 train --quiet --data set "${small[@]}" --augment none --epochs 1 --test 0 --val 0 --out no
fails format path=set/train/small/150.jpg
run 0 train --data set "${small[@]}" --augment none --epochs 1 --skip-bad --out skipped
notes key=skip-bad 2
check "the bad ones are not left out" grep -q "set: 90 rows" out
run 1 eval a --data set
fails format path=set/val/tall/150.png
run 0 eval a --data set --skip-bad --json
notes key=skip-bad 1
check "the bad one is not left out" grep -q '"rows": 10' out
if [ "$(id -u)" -ne 0 ]; then
    chmod 0 set/train/tall/100.jpg
    run 1 train --quiet --data set/train "${small[@]}" --augment none --epochs 1 --test 0 --val 0 --out no2
    fails file path=set/train/tall/100.jpg
    chmod 644 set/train/tall/100.jpg
fi

# ---- what does not go together
no() {
    refuses "$1" "${@:2}" --out never
    absent never
}
mkdir -p empty one/a nothing/{a,b} differ/{train,val}/{a,b} differ/val/c loop/{a,b}
cp "$from/small.jpg" one/a; cp "$from/small.jpg" nothing/a
for part in train/a train/b val/a val/b val/c; do cp "$from/small.jpg" differ/$part; done
cp "$from/small.jpg" loop/a; cp "$from/small.jpg" loop/b; ln -s .. loop/b/again
no "format path=empty" train --data empty "${small[@]}"
no "format key=a path=one" train --data one "${small[@]}"
no "format path=nothing/b" train --data nothing "${small[@]}"
no "format key=c path=differ/val" train --data differ "${small[@]}"
no "format path=loop/b/again/b" train --data loop "${small[@]}"
no "argument key=size" train --data set "${small[@]}" --size 5000
no "argument key=augment" train --data set "${small[@]}" --skip-bad --gray --augment colour
no "argument key=size" train --data crescents --size 32
no "argument key=skip-bad" train --data crescents --skip-bad
no "argument key=target" train --data set "${small[@]}" --target 3
run 2 eval a --data set --workers 0
fails argument key=workers
finish
