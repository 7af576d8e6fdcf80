# SPDX-License-Identifier: MIT
#
# spherelu convert: files of other tools, bn kept and folded, notes and refusals.
. "$(dirname "$0")/lib.bash"

# st FILE HEADER: a safetensors file; its data come from stdin
st() {
    local header=$2
    while ((${#header} % 8)); do header+=' '; done
    {
        printf "\\x$(printf %02x $((${#header} % 256)))\\x$(printf %02x $((${#header} / 256)))\\0\\0\\0\\0\\0\\0%s" "$header"
        cat
    } >"$1"
}
tensor() { printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s]}' "$@"; }
f32() { local x; for x; do case $x in 0) printf '\0\0\0\0' ;; 1) printf '\0\0\200\77' ;; -1) printf '\0\0\200\277' ;; 2) printf '\0\0\0\100' ;; esac; done; }

# ---- dense layers alone, sorted by name as Python's safetensors does
header="{$(tensor 0.bias F32 2 0,8),$(tensor 0.weight F32 2,2 8,24),$(tensor 10.weight F32 1,2 24,32),$(tensor 2.weight F32 2,2 32,48)}"
f32 1 -1 1 2 2 -1 1 1 2 1 1 -1 | st chain.safetensors "$header"
run 0 convert chain.safetensors gmp.safetensors --to gmp
notes key=net chain.safetensors "0, 2, 10"
check "what was written" grep -q '^gmp.safetensors: 2-2-2-1 gmp, 12 ' out
check "angles are there" grep -qa '"0.theta".*"0.lambda".*"0.r".*"2.theta".*"2.r".*"10.weight"' gmp.safetensors
run 0 convert gmp.safetensors back.safetensors --to sp --quiet
shows " sp"
run 0 convert back.safetensors back.safetensors --to sp --quiet # onto itself
run 0 convert gmp.safetensors sphere.safetensors --to sphere --json --quiet
shows '"param": "sphere"' '"layers": 3'

run 1 convert chain.safetensors o.safetensors --to sp --names torchvision
fails format path=chain.safetensors
run 2 convert chain.safetensors o.safetensors --to sp --names pytorch
fails argument key=names
f32 1 -1 0 0 2 -1 1 1 2 1 1 -1 | st zero.safetensors "$header"
run 0 convert zero.safetensors o.safetensors --to gmp --quiet
rm o.safetensors
f32 1 -1 1 2 2 -1 1 1 2 1 1 -1 | st stranger.safetensors "${header/0.bias/0.gain}"
run 1 convert stranger.safetensors o.safetensors --to gmp
fails format path=stranger.safetensors
f32 1 -1 1 2 2 -1 1 1 2 1 1 -1 | st eight.safetensors "${header/\"F32\"/\"F8_E4M3\"}"
run 1 convert eight.safetensors o.safetensors --to gmp
fails format key=0.bias path=eight.safetensors
printf '\1\2\3\4\5\6\7\10' | st integers.safetensors "{$(tensor 0.weight I8 2,4 0,8)}"
run 1 convert integers.safetensors o.safetensors --to gmp
fails format key=0.weight path=integers.safetensors
absent o.safetensors
no_temporaries .

# ---- bn, folded and kept
run 0 train --data crescents --param sp --norm bn --hidden 8 --epochs 3 --out bn --quiet
run 0 predict bn --data crescents --out expected.csv --quiet
for kept in 0 1; do
    keep=
    [ $kept = 1 ] && keep=--keep-bn
    cp -r bn other
    run 0 convert bn gmp.safetensors --to gmp $keep
    cp gmp.safetensors other/model.safetensors
    check "bn is there or not $keep" test "$(grep -caE '"norm\\": ?\\"bn' gmp.safetensors)" -eq $kept
    run 0 predict other --data crescents --out found.csv --quiet
    check "the converted model predicts otherwise $keep" awk -F, '
        NR == FNR { want[FNR] = $NF; next }
        FNR > 1 && ($NF - want[FNR]) ^ 2 > 1e-8 { bad = 1 }
        END { exit bad || FNR < 100 }' expected.csv found.csv
    rm -r other
done
run 0 convert bn folded.safetensors --to gmp
run 1 convert folded.safetensors o.safetensors --to sp --names torchvision
fails format key=layer1.0.conv2 path=o.safetensors
# a number that is none is refused on every way, also where nothing but names changes
cp folded.safetensors nan.safetensors
printf '\0\0\300\177' | dd of=nan.safetensors bs=1 conv=notrunc seek=$(($(wc -c <nan.safetensors) - 4)) 2>dd.log
for to in sp gmp wn; do
    run 1 convert nan.safetensors o.safetensors --to $to
    fails format key=layers.1.bias path=nan.safetensors
done
absent o.safetensors
finish
