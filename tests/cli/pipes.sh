#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Pipes and devices: a table may be one, and so may what is written; every other file that is one is refused at once, where
# it used to be waited for.
. "$(dirname "$0")/lib.bash"
tool=$SPHERELU
printf '#!/bin/sh\nexec timeout -s KILL 60 "%s" "$@"\n' "$tool" >timed
chmod +x timed
SPHERELU=$work/timed

{
    echo "a,b,y"
    for i in $(seq 60); do echo "$i,$((i * i % 17)),$((i * 3))"; done
} >t.csv
small=(--hidden 3 --epochs 2 --quiet)
run 0 train --data t.csv "${small[@]}" --record boundaries --out run
run 0 figures run convergence
run 0 export run net.onnx

# ---- the files of a run
for name in config.yaml model.safetensors result.json split.json metrics.jsonl boundaries.npz figures/own.note; do
    rm -rf trap
    cp -r run trap
    rm -f "trap/$name"
    mkfifo "trap/$name"
    case $name in
    config.yaml | model.safetensors | result.json)
        refuses "file path=trap/$name" eval trap --data t.csv
        refuses "file path=trap/$name" show trap
        [ $name = model.safetensors ] && refuses "file path=trap/$name" convert trap x.safetensors --to sp ;;
    split.json) refuses "file path=trap/$name" eval trap ;;
    metrics.jsonl) refuses "file path=trap/$name" figures trap convergence ;;
    figures/own.note)
        run 1 figures trap convergence
        has_error file path="trap/$name" ;;
    boundaries.npz) refuses "file path=trap/$name" figures trap trajectories ;;
    esac
done
rm -rf trap
cp -r run trap
rm trap/result.json trap/metrics.jsonl
mkfifo trap/metrics.jsonl
run 1 train --resume --out trap
fails file path=trap/metrics.jsonl

# ---- files that are named one by one
mkfifo pipe pipe.npy pipe.npz pipe.safetensors pipe.onnx
refuses "file path=pipe" show pipe
refuses "file path=pipe.safetensors" convert pipe.safetensors x.safetensors --to sp
refuses "file path=pipe.safetensors" train --data t.csv "${small[@]}" --init pipe.safetensors --out refused
refuses "file path=pipe.onnx" import pipe.onnx x.safetensors
for name in pipe.npy pipe.npz; do
    refuses "file path=$name" train --data $name "${small[@]}" --out refused
    refuses "file path=$name" predict run --data $name
done
absent refused x.safetensors

# ---- files of a folder of images
mkdir cifar
for i in 1 2 3 4 5; do mkfifo cifar/data_batch_$i.bin; done
mkfifo cifar/test_batch.bin
refuses "file path=cifar/data_batch_1.bin" train --data cifar --hidden 3 --out refused
mkdir pack
mkfifo pack/train_images.npy pack/classes.txt
refuses "file path=pack/classes.txt" train --data pack --hidden 3 --out refused
rm pack/classes.txt
refuses "file path=pack/train_images.npy" train --data pack --hidden 3 --out refused

# ---- a list of classes that is empty
: >pack/classes.txt
run 1 train --data pack --hidden 3 --out refused
fails format path=pack/classes.txt
mkdir named
for name in data_batch_1.bin test_batch.bin; do head -c 30730 /dev/zero >named/$name; done
: >named/batches.meta.txt
run 1 train --data named --hidden 3 --out refused
fails format path=named/batches.meta.txt
absent refused

# ---- tables and experiments may come through pipes
cat t.csv | run 0 train --data /dev/stdin "${small[@]}" --out piped
cat t.csv | run 0 train --data - "${small[@]}" --out dashed
run 0 train --data <(cat t.csv) "${small[@]}" --out substituted
for name in piped dashed substituted; do
    check "$name: another model" cmp -s $name/model.safetensors run/model.safetensors
done
(sleep 0.2 && cat t.csv >pipe) &
run 0 predict run --data pipe --out p.csv
wait $!
check "a prediction for each row" [ "$(wc -l <p.csv)" -eq 61 ]
printf 'name: small\ndata: {name: t.csv}\nnet: {hidden: [3]}\ntrain: {epochs: 1}\nmethods: [{name: A}]\n' >small.yaml
run 0 run <(cat small.yaml) --out experiment

# ---- so may results go into them
"$SPHERELU" predict run --data t.csv --out /dev/stdout 2>err | cmp -s - p.csv
check "/dev/stdout" [ "${PIPESTATUS[*]}" = "0 0" ]
run 0 predict run --data t.csv --out /dev/null
ln -s /dev/null nothing
run 0 predict run --data t.csv --out nothing
check "a link to a device was replaced" [ -L nothing ]
echo old >target
ln -s target link
run 0 predict run --data t.csv --out link
check "a link to a file was followed" eval '[ ! -L link ] && [ "$(cat target)" = old ] && cmp -s link p.csv'
ln -s /proc/self/fd/1 out_link # what /dev/stdout is
for command in "convert run /out/ --to sp" "export run /out/" "predict run --data t.csv --out /out/"; do
    "$SPHERELU" ${command//\/out\//out_link} 2>err | cat >given
    check "$command: the link to standard output was replaced" [ -L out_link ]
    check "$command: nothing was written" [ -s given ]
done
finish
