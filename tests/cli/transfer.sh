#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A trained network on another task: a new output layer, frozen tensors, resume, bad input; and what a dry run says.
. "$(dirname "$0")/lib.bash"

awk 'BEGIN { srand(1); print "x,y,label"
    for (i = 0; i < 300; i++) { a = rand() - .5; b = rand() - .5; print a "," b "," substr("abc", 1 + (a > 0) + (b > 0), 1) } }' >three.csv
common="--hidden 12,12 --param sp --norm bn --batch 64 --quiet"
run 0 train --data crescents $common --epochs 3 --out old
new="--data three.csv --target label $common --init old/model.safetensors --new-head --freeze layers.0,layers.1.weight"
run 0 train $new --weight-decay 0.1 --epochs 4 --out new
check "new_head is written down" grep -q "new_head: true" new/config.yaml
check "freeze is written down" grep -q "freeze: .*layers.0,layers.1.weight" new/config.yaml

# tensor FILE NAME: its bytes
tensor() {
    local length at
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    at=$(head -c $((8 + length)) "$1" | tail -c "$length" | grep -o "\"$2\":{[^}]*}" | sed 's/.*data_offsets":\[//; s/\].*//; s/,/ /')
    set -- "$1" $at
    tail -c +$((9 + length + $2)) "$1" | head -c $(($3 - $2)) | cksum
}
for name in layers.0.weight layers.0.norm.scale layers.0.norm.shift layers.0.norm.mean layers.0.norm.var layers.1.weight; do
    check "$name keeps its bits" [ "$(tensor old/model.safetensors $name)" = "$(tensor new/model.safetensors $name)" ]
done
for name in layers.1.norm.scale layers.1.norm.mean layers.2.weight; do
    check "$name learns" [ "$(tensor old/model.safetensors $name)" != "$(tensor new/model.safetensors $name)" ]
done

# a run that goes on: two epochs and two more are four
run 0 train --resume --out new
run 2 train --resume --out new --freeze layers.1

run 2 train $new --freeze layer.0 --out bad
fails argument key=freeze
run 2 train $new --freeze layers --out bad
fails argument key=freeze
run 2 train $new --freeze "layers.0," --out bad
fails argument key=freeze
run 2 train --data three.csv $common --new-head --out bad
fails argument key=new-head
run 1 train $new --hidden 12,13 --out bad
fails format key=layers.1.weight path=old/model.safetensors
run 1 train $new --activation elu --out bad
fails format path=old/model.safetensors
run 1 train --data three.csv --target label $common --init old/model.safetensors --out bad
fails format key=layers.2.weight path=old/model.safetensors
check "nothing was written" [ ! -e bad ]

run 0 train $new --dry-run
shows "60 test" "frozen" "memory"
check "a dry run writes nothing" [ ! -e bad ]
run 0 train $new --dry-run --json
shows '"peak_bytes"' '"frozen"'
run 2 train --dry-run --resume --out new
fails argument key=dry-run

# little memory changes no bit
for memory in normal small; do
    run 0 train --data crescents $common --epochs 3 --memory $memory --out memory-$memory
done
check "--memory small gives the same model" cmp -s memory-normal/model.safetensors memory-small/model.safetensors

# A dry run's number is right to 5 %; gmp takes at most three numbers a weight more than sp.
weights=$((13 * 1500 + 1500 * 1500))
if ! peak_is_seen; then
    skipped "the memory that a dry run tells: no /proc, or a sanitizer's own memory"
else
    gzip -dc "$SOURCE_DIR/data/uci/boston.txt.gz" >boston.txt
    for method in "--param sp --norm bn" "--param gmp --norm bn" "--param gmp --norm bn --memory small" "--param sp --dtype f64"; do
        tells_its_peak --data boston.txt --hidden 1500,1500 --epochs 3 $method
        case $method in *sp*bn) sp=$held ;; *gmp*bn) gmp=$held ;; esac
    done
    check "gmp holds $(((gmp - sp) * 1024 / 4 / weights)) numbers a weight more than sp" [ $(((gmp - sp) * 1024)) -le $((3 * 4 * weights)) ]
fi

# weights belong to features: a file whose data have the same ones in another order is refused, other features are not
awk 'BEGIN { srand(3); print "a,b,c,y"; for (i = 0; i < 60; i++) { a = rand(); b = rand(); c = rand(); print a "," b "," c "," a + 2 * b - c } }' >abc.csv
awk -F, '{ print $3 "," $1 "," $2 "," $4 }' abc.csv >cab.csv
sed '1s/.*/d,e,f,y/' abc.csv >def.csv
run 0 train --data abc.csv --hidden 5 --epochs 2 --out abc --quiet
init="--hidden 5 --epochs 2 --init abc/model.safetensors --quiet"
run 1 train --data cab.csv $init --out turned; fails format path=abc/model.safetensors
run 1 train --data abc.csv --columns reversed $init --out turned; fails format path=abc/model.safetensors
absent turned
run 0 train --data abc.csv $init --out same
run 0 train --data def.csv $init --out others
finish
