# SPDX-License-Identifier: MIT
#
# spherelu import: what it says, and that the result is a model as any other. What graphs become is test_onnx's business.
. "$(dirname "$0")/lib.bash"
golden=$SOURCE_DIR/tests/golden/onnx bad=$SOURCE_DIR/tests/bad/onnx

if "$SPHERELU" --version | grep -q '^onnx: none'; then
    run 2 import "$golden/torch_mlp.onnx" out.safetensors
    says "this build knows no ONNX"
    skipped "the rest: this build has no protobuf-c"
    finish
fi
run 0 import "$golden/torch_mlp.onnx" mlp.safetensors
shows "mlp.safetensors: 4-7-6-2 sp, 97 learned numbers"
run 0 import "$golden/sklearn_classes.onnx" classes.safetensors
check "what is left out" grep -q "6 nodes from Relu2 (Softmax) on left out: the network gives scores" err
run 0 import "$golden/sklearn_classes.onnx" classes.safetensors --json --quiet
shows '"left_out": 6' '"layers": 3'
run 0 convert mlp.safetensors gmp.safetensors --to gmp
run 0 export gmp.safetensors again.onnx
run 0 import again.onnx back.safetensors
shows "4-7-6-2"
run 0 import "$golden/torch_resnet18_bn.onnx" resnet.safetensors
run 0 convert resnet.safetensors torchvision.safetensors --to sp --names torchvision
check "torchvision's names" grep -qa layer2.0.downsample.1.running_mean torchvision.safetensors

# A training goes on from it
run 0 import "$golden/sklearn_binary.onnx" binary.safetensors --quiet
printf 'a,b,c,d,y\n' >rows.csv
for i in 1 2 3 4 5 6 7 8 9; do echo "$i,$((i * 7 % 5)),$((i * 3 % 4)),1.5,$((i % 2))" >>rows.csv; done
run 0 train --data rows.csv --target y --hidden 5 --param sp --init binary.safetensors --epochs 1 --out run --quiet
run 0 predict run --data rows.csv
check "a line for each row" test "$(wc -l <out)" = 10

for file in unknown-node truncated opset-too-new external-missing goes-round; do
    run 1 import "$bad/$file.onnx" out.safetensors
    says "/bad/onnx/"
    check "$file leaves nothing" test ! -e out.safetensors
done
run 1 import nowhere.onnx out.safetensors
says "nowhere.onnx"
run 2 import "$golden/torch_mlp.onnx"
says "OUT.safetensors"
finish
