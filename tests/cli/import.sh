# SPDX-License-Identifier: MIT
#
# spherelu import: what it says, and that the result is a model as any other. What graphs become is test_onnx's business.
. "$(dirname "$0")/lib.bash"
golden=$SOURCE_DIR/tests/golden/onnx bad=$SOURCE_DIR/tests/bad/onnx

if "$SPHERELU" --version | grep -q '^onnx: none'; then
    run 2 import "$golden/torch_mlp.onnx" out.safetensors
    fails argument path=onnx
    skipped "the rest: this build has no protobuf-c"
    finish
fi
run 0 import "$golden/torch_mlp.onnx" mlp.safetensors
shows "mlp.safetensors: 4-7-6-2 sp, 97 "
run 0 import "$golden/sklearn_classes.onnx" classes.safetensors
notes key="Relu2 (Softmax)" "6 nodes"
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

# An ensemble comes back whole, under every link and in the run's own units: with the imported file as its model the run predicts
# the same, spread included.
close() { # A.csv B.csv: the same texts, numbers to 2e-5 of the larger
    awk -F, 'NR == FNR { line[FNR] = $0; next }
        { n = split(line[FNR], a, ","); if (n != NF) exit 1
          for (i = 1; i <= n; i++) {
              if (a[i] == $i) continue
              if (a[i] + 0 == 0 && a[i] !~ /^-?0/) exit 1
              d = a[i] - $i; m = a[i] * a[i] > 1 ? a[i] * a[i] : 1
              if (d * d > 4e-10 * m) { print FILENAME ":" FNR ": " $i ", expected " a[i]; exit 1 } } }
        END { if (FNR < 2) exit 1 }' "$1" "$2"
}
awk 'BEGIN { srand(1); print "age,city,year,price,count,rich,size"; split("Paris Rome Oslo", city, " "); split("small middle large", size, " ")
    for (i = 1; i <= 150; i++) {
        age = int(18 + 70 * rand()); c = city[1 + int(3 * rand())]; year = int(1990 + 34 * rand()); price = age / 10 + length(c) + (year - 2000) / 8 + 10 * rand()
        print (i % 17 ? age : "") "," c "," year "," price "," int(price > 0 ? price : 0) "," (price > 12 ? "yes" : "no") "," size[1 + int(3 * rand())] } }' >table.csv
tried=0
whole() { # TARGET MEMBERS OPTION...
    local name=whole$((tried++)) others
    others=$(echo price count rich size | tr ' ' '\n' | grep -vx "${1%%,*}" | grep -vx "${1##*,}" | paste -sd,)
    run 0 train --data table.csv --target "$1" --drop "$others" --epochs 5 --ensemble "$2" --out "$name" --quiet "${@:3}"
    run 0 predict "$name" --data table.csv --out before.csv
    run 0 export "$name" "$name.onnx"
    run 0 import "$name.onnx" "$name.safetensors" --json --quiet
    shows "\"members\": $2" '"rows_compared": 9'
    cp "$name.safetensors" "$name/model.safetensors"
    run 0 predict "$name" --data table.csv --out after.csv
    check "$name: other predictions after the import" close before.csv after.csv
}
whole price 1 --hidden 20
whole price 3 --hidden 20,10 --norm bn
whole price,count 4 --hidden 20
whole count 2 --hidden 20 --loss poisson --param sp
whole rich 1
whole rich 4 --hidden 20
whole size 3 --hidden 20 --activation elu --param sp
run 0 convert whole5.safetensors gmp.safetensors --to gmp
run 0 export whole1 one.onnx --member 2
run 0 import one.onnx one.safetensors
check "nothing to say of one member" test ! -s err

for file in unknown-node truncated opset-too-new external-missing goes-round; do
    IFS=$'\t' read -r _ code key _ path < <(grep "^$file" "$bad/expect.txt")
    refuses "$code key=${key#-} path=/bad/onnx/$([ "$path" = - ] && echo "$file.onnx" || echo "$path")" import "$bad/$file.onnx" out.safetensors
    check "$file leaves nothing" test ! -e out.safetensors
done
run 1 import nowhere.onnx out.safetensors
fails file path=nowhere.onnx
run 2 import "$golden/torch_mlp.onnx"
fails argument key=OUT.safetensors
finish
