# SPDX-License-Identifier: MIT
#
# What spherelu export writes, run by onnxruntime: the networks of onnx_nets, and runs of every task against predict.
# What others export comes back through import and export, and computes what its makers predict.
# Python with onnx and onnxruntime is $SPH_ONNX_PYTHON, or python3; torch, torchvision, onnxscript, scikit-learn, skl2onnx and OpenCV
# are used where it has them.
. "$(dirname "$0")/lib.bash"
python=${SPH_ONNX_PYTHON:-python3}
if [ -z "${ONNX_NETS:-}" ]; then
    skipped "graphs by onnxruntime (this build has no protobuf-c)"
    exit 77
fi
if ! "$python" -c 'import onnx, onnxruntime' 2>/dev/null; then
    skipped "graphs by onnxruntime ($python has none: pip install onnx onnxruntime; \$SPH_ONNX_PYTHON names another)"
    exit 77
fi
compare() { "$python" "$SOURCE_DIR/tests/onnx_runtime.py" "$@"; }

mkdir nets
check "the nets are made" sh -c '"$ONNX_NETS" nets > nets.tsv'
check "another result by onnxruntime" compare nets nets <nets.tsv

# A table with text, empty cells and large numbers, and each kind of target.
"$python" - <<'EOF'
import random
random.seed(3)
with open("table.csv", "w") as file:
    print("age,city,year,price,count,rich,size", file=file)
    for i in range(300):
        age, city, year = random.randint(18, 90), random.choice(["Paris", "Rome", "Oslo"]), random.randint(1990, 2024)
        price = age / 10 + len(city) + (year - 2000) / 8 + random.random()
        print(age if i % 17 else "", city, year, round(price, 4), int(price), "yes" if price > 11 else "no",
              ["small", "middle", "large"][min(2, int(price / 6))], sep=",", file=file)
EOF
tried=0
try() {
    local target=$1 others name=run$((tried++))
    others=$(echo price count rich size | tr ' ' '\n' | grep -vx "${target%%,*}" | grep -vx "${target##*,}" | paste -sd,)
    run 0 train --data table.csv --target "$target" --drop "$others" --epochs 5 --hidden 20,10 --out "$name" --quiet "${@:2}"
    run 0 predict "$name" --data table.csv --out "$name.csv"
    run 0 export "$name" "$name.onnx"
    check "$name: not what predict says" compare run "$name.onnx" table.csv "$name.csv"
    # as it comes back, in the run's place: all members
    if ! "$SPHERELU" import "$name.onnx" "$name/model.safetensors" --quiet >out 2>err; then
        check "$name is refused by a node's name" eval 'read_message "$(<err)" && [ -n "${message[key]}" ]'
        return
    fi
    came_back=$((came_back + 1))
    run 0 predict "$name" --data table.csv --out "$name.csv"
    check "$name: other predictions after the import" compare run "$name.onnx" table.csv "$name.csv"
}
came_back=0
try price --norm ln
try count --loss poisson --param sp
try price,count --param wn --norm gn
try rich --norm bn
try size --param sphere --norm imn --activation srelu
# the mean of several nets in one graph
try price --ensemble 3
try count --loss poisson --param sp --ensemble 2
try price,count --norm bn --ensemble 3
try price --scale robust --indicators raw
try size --scale robust --ensemble 3
try price,count --indicators raw --param sp
try rich --ensemble 4
try size --ensemble 3 --activation elu
check "runs that came back: $came_back" test "$came_back" -ge 6

# the columns of X are in the order of `features`, also where the table's order is reversed; dates, with times and without
"$python" - <<'EOF'
import random
random.seed(5)
with open("dates.csv", "w") as file:
    print("sold,seen,city,age,price", file=file)
    for i in range(240):
        month, day, hour, age, city = random.randint(1, 12), random.randint(1, 28), random.randint(0, 23), random.randint(1, 90), random.choice(["Oslo", "Rome", "a=b"])
        sold = f"2024-{month:02}-{day:02}" if i % 19 else ""
        seen = f"{2019 + i % 5}-{day:02}-{day:02}T{hour:02}:{i % 60:02}:00{'+02:00' if i % 7 == 0 else ''}".replace(f"-{day:02}-", f"-{month:02}-", 1)
        print(sold, seen, city, age, round(month + age / 5 + hour / 3 + len(city), 3), sep=",", file=file)
EOF
for columns in as-is reversed; do
    run 0 train --data dates.csv --columns $columns --epochs 20 --hidden 20 --dtype f64 --out "dates-$columns" --quiet
    run 0 predict "dates-$columns" --data dates.csv --out "dates-$columns.csv"
    run 0 export "dates-$columns" "dates-$columns.onnx"
    check "dates, columns $columns: not what predict says" compare run "dates-$columns.onnx" dates.csv "dates-$columns.csv"
done
try price --columns reversed
try size --columns reversed --ensemble 2

# pictures: bytes in, and what predict says of each; also the mean of two nets
mkdir -p photos/one photos/two
for i in 1 2 3; do
    cp "$SOURCE_DIR/tests/golden/pictures/large.jpg" photos/one/$i.jpg
    cp "$SOURCE_DIR/tests/golden/pictures/scans.jpg" photos/two/$i.jpg
    cp "$SOURCE_DIR/tests/golden/pictures/plain.png" photos/two/plain$i.png
done
run 0 pack photos packed --size 28
for members in 1 2; do
    run 0 train --data packed --net resnet18 --width 0.125 --norm bn --param sp --size 28 --epochs 2 --ensemble $members --quiet --out "pictures$members"
    run 0 predict "pictures$members" --data packed --out pictures.csv
    run 0 export "pictures$members" pictures.onnx
    check "pictures, $members nets: not what predict says" compare images pictures.onnx packed/train_images.npy pictures.csv
    run 0 import pictures.onnx "pictures$members/model.safetensors" --quiet
    run 0 predict "pictures$members" --data packed --out pictures.csv
    check "pictures, $members nets: other predictions after the import" compare images pictures.onnx packed/train_images.npy pictures.csv
done

# ---- the interpreter that imports are compared with, and what import makes of its graphs
mkdir graphs
graphs() { "$python" "$SOURCE_DIR/tests/onnx_interpreter.py" "$@"; }
check "graphs are made" sh -c '"$0" "$1" make graphs >graphs.txt' "$python" "$SOURCE_DIR/tests/onnx_interpreter.py"
check "the interpreter computes all of them" sh -c '"$ONNX_INTERPRET" <graphs.txt'
check "the interpreter disagrees with onnxruntime" graphs check graphs
while read -r path rows; do
    [[ $path == *mixed* ]] || continue
    name=${path%.onnx}
    if "$SPHERELU" import "$path" "$name.safetensors" --quiet >out 2>err; then
        run 0 export "$name.safetensors" "$name.back.onnx"
    else
        check "$path is refused by a node's name" eval 'read_message "$(<err)" && [ -n "${message[key]}" ]'
    fi
done <graphs.txt
check "other results after the import" graphs imported graphs

# ---- what others export
mkdir others
check "nets of others are made" sh -c '"$0" "$1" make others >others.txt' "$python" "$SOURCE_DIR/tests/onnx_import.py"
while read -r name; do
    run 0 import "others/$name.onnx" "others/$name.safetensors" --quiet
    run 0 export "others/$name.safetensors" "others/$name.back.onnx"
done <others.txt
check "another result than their makers'" "$python" "$SOURCE_DIR/tests/onnx_import.py" check others
finish
