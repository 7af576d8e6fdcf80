# SPDX-License-Identifier: MIT
#
# spherelu regions: numbers, JSON, pictures, planes; what is refused, and how; without gnuplot.
. "$(dirname "$0")/lib.bash"

run 0 train --data crescents --hidden 12,8 --epochs 20 --dtype f64 --out two --quiet
run 0 regions two
shows "regions  " "layers.0" "layers.1" "area" "largest" "smallest" "decision boundary"
check "no piece of the decision boundary" grep -qE "^decision boundary .* in [1-9][0-9]* piece" out
count=$(awk '$1 == "regions" { print $2 }' out)
check "the last layer has all regions" grep -qE "layers.1 +$count, with 8 units" out
check "more regions than units" [ "$count" -gt 20 ]

# ---- JSON: every region, areas that sum to the window's
run 0 regions two --window -1e100,1e100,-1e100,1e100 --json
command -v python3 >/dev/null && check "it is JSON, far out" python3 -c \
    'import json; json.load(open("out"), parse_constant=lambda word: 1 / 0)'
run 0 regions two --window -1,2,-0.5,1 --json
command -v python3 >/dev/null && check "it is JSON" python3 - out <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["window"] == [-1, 2, -0.5, 1] and r["task"] == "binary" and not r["stopped"] and r["names"] == ["x1", "x2"]
assert len(r["regions"]) == r["count"] == r["layers"][-1]["regions"]
assert abs(sum(p["area"] for p in r["regions"]) / 4.5 - 1) < 1e-9
assert all(len(p["pattern"]) == 2 and len(p["pattern"][0]) == 4 and len(p["map"]) == 1 for p in r["regions"])
for d in r["decision"]:                       # the logit is 0 along it, by the region's own map
    a, b, c = r["regions"][d["region"]]["map"][0]
    for x, y in (d["from"], d["to"]):
        assert abs(a * x + b * y + c) < 1e-9 * (abs(a) + abs(b) + abs(c) + 1)
assert r["decision"] and r["decision_length"] > 1
PY

# ---- files and pictures
run 0 regions two --out pictures
notes key=out pictures/regions.json
run 0 regions two --out again --json
notes key=out again/regions.json
check "stdout is not JSON alone" python3 -m json.tool out /dev/null
for file in regions.json regions.gp regions.polygon.dat regions.decision.dat regions.data.dat; do
    check "$file is not empty" [ -s pictures/$file ]
done
if command -v gnuplot >/dev/null; then
    for format in png svg pdf; do check "regions.$format was drawn" [ -s pictures/regions.$format ]; done
fi
no_temporaries pictures
check "a few hundred rows of data, with their numbers" awk '/^[^#]/ { n++; if (NF != 4) exit 1 } END { exit !(n > 100 && n <= 400) }' pictures/regions.data.dat
run 0 train --data crescents --hidden 12,8 --epochs 20 --dtype f64 --seed 1 --out other --quiet
run 0 regions other --out others --quiet
check "another seed, other regions" bash -c '! cmp -s pictures/regions.polygon.dat others/regions.polygon.dat'

mkdir nothing
ln -s "$(command -v env)" nothing/env
PATH=$PWD/nothing run 0 regions two --out bare
notes key=out gnuplot
check "the script is there all the same" [ -s bare/regions.gp ]
check "and the data" [ -s bare/regions.polygon.dat ]
absent bare/regions.png

# ---- classes have the names that predictions have, in regions.json and in both pictures
awk 'BEGIN { srand(2); print "length,width,kind"; for (i = 0; i < 120; i++) { k = i % 3; printf "%.3f,%.3f,%s\n", rand() + k, rand() + k * k, substr("oak7  ash", 1 + 3 * k, 3) } }' | sed 's/ *$//' >trees.csv
run 0 train --data trees.csv --target kind --hidden 6 --epochs 5 --out trees --quiet
run 0 regions trees --out trees/pictures --json
python3 - out <<'PY' || wrong "classes of regions.json"
import json, sys
assert json.load(open(sys.argv[1]))["classes"] == ["7", "ash", "oak"]
PY
run 0 figures trees regions decision --quiet
for script in trees/pictures/regions.gp trees/figures/regions.gp trees/figures/decision.gp; do
    check "$script: other names of classes" [ "$(sed -n 's/^class_[0-9] = //p' $script | tr '\n' ' ')" = "'class 7' 'ash' 'oak' " ]
done

# ---- a plane of more inputs, a line of one, a window without data
awk 'BEGIN { srand(1); print "a,b,c,d,y"; for (i = 0; i < 60; i++) { a = rand(); print a "," rand() "," rand() "," 3 * a "," a + rand() } }' >table.csv
run 0 train --data table.csv --hidden 20 --epochs 5 --out four --quiet
run 0 regions four --plane 3,14,15
shows "regions" "area"
check "a regression has no decision" bash -c '! grep -q decision out'
run 0 regions four --plane 3,14,15 --data table.csv --json
check "the plane goes through its first row" grep -q '"plane": {"origin": \[0\.' out
run 0 regions four --plane 3,14,15 --out plane
check "its axes say their unit" grep -qF 't: towards row 15 (standardized distance)' plane/regions.gp
check "its three rows have their numbers" bash -c "awk '/^[^#]/ { print \$4 }' plane/regions.data.dat | tr '\n' ' ' | grep -qx '3 14 15 '"
if command -v gnuplot >/dev/null; then
    check "and the picture shows them" bash -c "grep -q 'row 3<' plane/regions.svg && grep -q 'row 15<' plane/regions.svg"
fi
run 0 regions four --plane 3,14,15 --colour output --out coloured --json
check "every pixel has the output" awk '/^[^#]/ { n++; if (NF != 3 || $3 !~ /^-?[0-9]/) exit 1 } END { exit n != 57600 }' coloured/regions.map.dat
absent plane/regions.map.dat
command -v python3 >/dev/null && check "and it is that of the region it lies in" python3 - out coloured/regions.map.dat <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
rows = [tuple(map(float, line.split())) for line in open(sys.argv[2]) if line[0] != "#" and line.strip()]
for s, t, value in rows[::997]:
    near = []
    for p in r["regions"]:
        v = p["vertices"]
        if all((b[0] - a[0]) * (t - a[1]) - (b[1] - a[1]) * (s - a[0]) >= -1e-6 for a, b in zip(v, v[1:] + v[:1])):
            near.append(p["map"][0][0] * s + p["map"][0][1] * t + p["map"][0][2])
    assert near and min(abs(n - value) for n in near) < 1e-4 * (1 + abs(value)), (s, t, value, near)
PY
run 2 regions four --plane 3,14,15 --colour red
fails argument key=colour
run 0 train --data levy --hidden 10 --epochs 5 --out one --quiet
run 0 regions one --window -2,3
shows "length             5"
run 0 regions one --out strip
if command -v gnuplot >/dev/null; then
    check "one input is a strip" awk '/^ width=/ { gsub(/[^0-9 ]/, ""); exit !($1 > 2 * $2) }' strip/regions.svg
fi
cp table.csv away.csv
sed -i '30s/^[^,]*/0.5/' table.csv
run 1 regions four --plane 0,1,2
fails format path=four
run 0 regions four --plane 0,1,2 --data table.csv
awk 'BEGIN { srand(2); print "a,b,y"; for (i = 0; i < 60; i++) { a = rand(); b = rand(); print a "," b "," a + b } }' >two.csv
run 0 train --data two.csv --hidden 6 --epochs 2 --out flat --quiet
echo "5,5,1" >>two.csv
run 1 regions flat
fails format path=flat
run 0 regions flat --window 0,1,0,1 --out flat-window # needs no data, and shows none
check "no points of other data" eval '! grep -v "^#" flat-window/regions.data.dat | grep -q .'
rm table.csv
run 1 regions four --plane 0,1,2
fails file path=table.csv
run 0 regions four --plane 0,1,2 --data away.csv

# ---- refused, in one line
run 2 regions four --data away.csv
fails argument key=plane
run 2 regions four --plane 0,1,60 --data away.csv
fails argument key=plane
run 2 regions four --plane 0,1,1 --data away.csv
fails argument key=plane
run 2 regions four --plane 7,7,1 --data away.csv
fails argument key=plane
for plane in 0,1 0,1,2,3 a,b,c 0,1,-2 0,,1 ""; do
    run 2 regions four --plane "$plane"
    fails argument key=plane
done
for window in 0,1 1,2,3,4,5 a,b,c,d 0,1,0, 0,1,0,1x; do
    run 2 regions two --window "$window"
    fails argument key=window
done
run 2 regions two --window 0,1,1,0
fails argument key=window
run 2 regions two --window 0,nan,0,1
fails argument key=window
run 2 regions two --window -1e200,1e200,-1e200,1e200
fails argument key=window
run 2 regions one --plane 0,1,2
fails argument key=plane
run 2 regions one --window 0,1,0,1
fails argument key=window
run 2 regions two --most 3
fails argument key=most
run 2 regions two --most 0
fails argument key=most
cut -d, -f1-3 away.csv >narrow.csv
run 1 regions four --plane 0,1,2 --data narrow.csv
fails format key=d path=narrow.csv
run 1 regions nowhere
fails file path=nowhere
run 2 regions
fails argument key=RUN
for word in ln:norm elu:activation srelu:activation; do
    run 0 train --data crescents --"${word#*:}" "${word%:*}" --epochs 2 --out "bad-${word%:*}" --quiet
    run 2 regions "bad-${word%:*}"
    fails argument key=layers.0
done
touch file
run 1 regions two --out file
fails file path=file
finish
