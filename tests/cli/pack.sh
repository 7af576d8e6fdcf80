#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Packed sets, end to end: packed, trained on, scored and predicted as the folder they came from; what is refused.
. "$(dirname "$0")/lib.bash"
from=${SOURCE_DIR:-$(dirname "$0")/../..}/tests/golden/pictures
if ! "$SPHERELU" --version | grep -q "pictures: TurboJPEG, libpng"; then
    skipped "this build decodes no JPEG or no PNG"
    finish
    exit
fi
for part in train val; do
    for class in large plain scans small tall; do
        mkdir -p "set/$part/$class"
        for i in 1 2 3 4; do
            cp "$from/$class".* "set/$part/$class/$i.$(basename "$from/$class".* | cut -d. -f2)"
        done
    done
done

run 0 pack set packed --size 224 --quiet
shows "images    20 to train on, 20 to test on, 5 classes" "each      256 x 256 pixels, 3 channels" "disk      7.9 MB" "packed    packed"
no_temporaries packed
check "not the files of a pack" [ "$(ls packed | tr '\n' ' ')" = \
    "classes.txt decode.txt train_files.txt train_images.npy train_labels.npy val_files.txt val_images.npy val_labels.npy " ]
run 0 pack set gray --size 28 --gray --workers 2 --json
check "not what was packed" [ "$(json out side) $(json out channels) $(json out train_images) $(json out bytes)" = "32 1 20 40960" ]
python=${SPH_ONNX_PYTHON:-/usr/bin/python3}
if "$python" -c 'import numpy' 2>/dev/null; then
    check "numpy does not read it" "$python" -c '
import numpy
images = numpy.load("packed/train_images.npy", mmap_mode="r")
assert images.shape == (20, 256, 256, 3) and images.dtype == "u1" and images.std() > 10
assert list(numpy.load("packed/val_labels.npy")) == [c for c in range(5) for _ in range(4)]'
else
    skipped "numpy is not here"
fi

# ---- trained on as the folder: the same bits, whoever reads it; jobs side by side too
small=(--net mobile --size 224 --width 0.1 --param sp --norm bn --batch 10 --epochs 2 --patience 0 --augment flip)
run 0 train --quiet --data set "${small[@]}" --out files
run 0 train --quiet --data packed "${small[@]}" --out mapped
check "another network came of it" cmp files/model.safetensors mapped/model.safetensors
run 0 eval files --data set --json
mv out a
run 0 eval files --data packed --json
check "other scores" cmp a out
run 0 predict files --data set
mv out a
run 0 predict files --data packed
check "other predictions" cmp a out
check "files are not named" grep -q "^val/tall/4.jpg," out
for workers in 1 4; do
    run 0 train --quiet --data packed --size 32 --net resnet18 --width 0.0625 --param sp --norm bn --batch 10 --epochs 2 --patience 0 \
        --augment colour --workers $workers --out w$workers
done
sed -i 's/workers: [0-9]*/workers: n/' w?/config.yaml
same_run w1 w4
cat >jobs.yaml <<'Y'
name: jobs
data: {file: gray, gray: true, val: 0.2, augment: crop}
net: {kind: vgg6, width: 0.05}
train: {epochs: 1, batch: 8, optimizer: sgd, loss: ce}
methods: [{name: SP, param: sp, lr: 0.01}, {name: GmP, param: gmp, lr: 0.01}]
seeds: 2
Y
run 0 run jobs.yaml --jobs 2 --quiet --out jobs
run 0 run jobs.yaml --jobs 1 --quiet --out jobs1
check "the number of jobs changes the table" cmp jobs/table.csv jobs1/table.csv

# ---- how files were decoded is kept with the set, and with a model that learnt from it
check "JPEG files are not decoded whole" [ "$(cat packed/decode.txt)" = exact ]
check "the config does not say it" grep -q "decode: exact" mapped/config.yaml
run 0 pack set fast --size 28 --decode scaled --quiet
check "the set does not keep it" [ "$(cat fast/decode.txt)" = scaled ]
run 0 train --quiet --data fast --net mobile --width 0.1 --param sp --norm bn --batch 10 --schedule none --epochs 1 --out fast-run
check "the model does not keep it" grep -q "decode: scaled" fast-run/config.yaml
run 0 train --quiet --resume --epochs 2 --out fast-run
run 2 train --quiet --data fast --net mobile --width 0.1 --decode exact --out again
fails argument key=decode
run 2 pack set again --decode half
fails argument key=decode

# ---- what is refused
run 2 pack set packed
fails argument path=packed
run 2 pack packed again
fails argument path=packed
run 2 pack crescents again
fails argument path=crescents
run 2 pack nowhere again
fails argument path=nowhere
run 2 pack set again --size 5000
fails argument key=size
run 2 pack set
fails argument key=OUT
absent again
head -c 500 "$from/small.jpg" >set/train/small/5.jpg
run 1 pack set again
fails format path=set/train/small/5.jpg
check "a part of a set is left: $(ls again)" [ -z "$(ls again)" ]
run 0 pack set skipped --size 32 --skip-bad
notes key=skip-bad 1
check "the others are not packed" grep -q "images    20 to train on" out
# ---- killed: what is left gives way to the next call; files of others do not
mkdir killed others
touch killed/{classes.txt,val_images.npy,val_labels.npy,train_images.npy.0123456789abcdef.tmp} others/classes.txt
cp -r killed mixed
touch mixed/mine.txt
run 0 pack set/val killed --size 28
check "more than a set of one part: $(ls killed)" [ "$(ls killed | tr '\n' ' ')" = "classes.txt decode.txt train_files.txt train_images.npy train_labels.npy " ]
for dir in others mixed; do
    run 2 pack set/val $dir
    fails argument path="$dir"
done
check "files of others are gone" [ "$(ls others mixed | wc -w)" -eq 8 ]
head -c 9000 packed/train_images.npy >cut && mkdir short && cp packed/* short && mv cut short/train_images.npy
run 1 train --data short "${small[@]}" --out never
fails format path=short/train_images.npy
absent never
finish
