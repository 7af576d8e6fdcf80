#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Every parameterization with every normalization in every network trains, saves and predicts, with odd shapes: images of
# 33 x 31 pixels, layers of 7, 13 and 1 units, a last batch of 1 to 6 rows. Its use is with make test SAN=address,undefined,
# which sees what the AVX kernels and oneDNN read and write. make test takes a sample; make test-long takes all.
. "$(dirname "$0")/lib.bash"

classes 45 one two three >table.csv
python3 - <<'PYTHON'
import os, random
random.seed(1)
os.mkdir("odd")
for part, rows in (("train", 22), ("t10k", 5)):
    count = rows.to_bytes(4, "big")
    with open(f"odd/{part}-images-idx3-ubyte", "wb") as file:
        file.write(b"\0\0\x08\x03" + count + b"\0\0\0\x21\0\0\0\x1f" + random.randbytes(rows * 33 * 31))
    with open(f"odd/{part}-labels-idx1-ubyte", "wb") as file:
        file.write(b"\0\0\x08\x01" + count + bytes(i % 3 for i in range(rows)))
PYTHON

nets=("--data table.csv --hidden 7,13,1 --batch 8" "--data odd --net vgg6 --width 0.04 --batch 5"
    "--data odd --net resnet18 --width 0.1 --batch 5" "--data odd --net wrn28-2 --width 0.2 --batch 4")
number=0
for param in gmp sphere wn sp; do
    for norm in none bn mbn imn ln gn; do
        for net in "${nets[@]}"; do
            for threads in 1 2; do
                number=$((number + 1))
                in_layer long || [ $((number % 7)) -eq 1 ] || continue
                dtype=f32
                [ $((number % 5)) -eq 0 ] && dtype=f64
                # shellcheck disable=SC2086 # options
                run 0 train $net --val 0 --param $param --norm $norm --threads $threads --dtype $dtype --ensemble 1 \
                    --epochs 1 --lr 0.001 --quiet --no-report --out run
                data=${net#--data }
                run 0 predict run --data "${data%% *}" --out predictions.csv
                rm -rf run
            done
        done
    done
done
finish
