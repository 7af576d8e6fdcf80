# SPDX-License-Identifier: MIT
#
# spherelu export: what it prints and refuses. Whether the graphs are right is onnx_runtime.sh's and test_onnx's business.
. "$(dirname "$0")/lib.bash"

run 0 train --data crescents --param gmp --epochs 2 --hidden 4 --out run --quiet
if "$SPHERELU" --version | grep -q '^onnx: none'; then
    run 2 export run out.onnx
    fails argument path=out.onnx
    check "nothing is left" test ! -e out.onnx
    skipped "the rest: this build has no protobuf-c"
    finish
fi
run 0 export run out.onnx
shows "out.onnx: 2-4-1 gmp, ONNX opset 13, 2 inputs, 1 output"
check "what goes out" grep -qa probabilities out.onnx
check "whose data" grep -qa '"columns"' out.onnx
cp out.onnx first.onnx
run 0 export run out.onnx --opset 22 --raw --json
shows '"opset": 22' '"inputs": 2' '"network": "2-4-1 gmp"'
check "scores alone" sh -c '! grep -qa probabilities out.onnx && grep -qa scores out.onnx'
run 0 export run again.onnx
check "the same twice" cmp again.onnx first.onnx
run 0 export run/model.safetensors model.onnx
check "a model file has scores" grep -qa scores model.onnx

for opset in 11 23 99999999999; do
    run 2 export run out.onnx --opset $opset
    fails argument key=opset
done
run 2 export run out.onnx --opset x
fails argument key=opset
run 2 export run
fails argument key=OUT.onnx
run 1 export nowhere out.onnx
fails file path=nowhere
run 1 export nowhere.safetensors out.onnx
fails file path=nowhere.safetensors
run 1 export run missing/out.onnx
fails file path=missing/out.onnx
mkdir folder
run 1 export run folder
fails file path=folder
cp -r run broken && truncate -s 100 broken/model.safetensors
run 1 export broken out.onnx
fails format path=broken/model.safetensors
finish
