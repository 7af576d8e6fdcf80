#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu data: the sets that have a name, and where they are found.
source "$(dirname "$0")/lib.bash"

mkdir one two
printf 'a,b,Class\n1,2,-1\n2,1,1\n3,3,1\n4,1,-1\n' >two/banana.csv
export SPHERELU_DATA=$work/one:$work/two SPHERELU_CACHE=$work/none

run 0 data list
check "a made set" grep -q '^crescents ' out
check "a set of the second folder" grep -q "^banana .* 5300 .*$work/two/banana.csv$" out
check "a set that came with the program" grep -q "^boston .*/data/uci/boston.txt.gz$" out
check "a set that is nowhere" grep -q '^cifar10 .*not found$' out
run 0 data info banana
check "the licence" grep -q '^from .*licence' out
check "the target" grep -q '^target *Class$' out
check "where its bytes come from" grep -q '^source .*2d_banana.csv$' out
check "their digest" grep -q '^sha256 *c76502bdf63e4f74e0290bd98da2c425aab247c919cee6dfbfe856694c484e55$' out
run 0 data info mnist
check "a digest that others published" grep -q '^sha256 *440fcabf' out
run 0 data info imagenet32
check "how to come by a set nobody may hand on" grep -q '^source .*image-net.org' out
run 0 data list --json
check "as JSON" python3 -c '
import json, sys
sets = {s["name"]: s for s in json.load(open("out"))}
assert sets["banana"]["path"].endswith("two/banana.csv") and sets["banana"]["classes"] == 2
assert sets["cifar10"]["path"] is None and sets["cifar10"]["sources"][0]["cited"] and len(sets["boston"]["columns"].split(",")) == sets["boston"]["features"] + 1
assert sets["crescents"]["path"] == "" and sets["cifar10"]["images"]'
run 0 data info levy --json
check "one object" python3 -c 'import json; assert json.load(open("out"))["task"] == "regression"'
run 2 data info bananna
fails argument key=bananna
run 2 data
fails argument key='list|info|get|verify'
run 2 data info
fails argument key=info
run 2 data take banana
fails argument key=take

# The order: folders of the variable, then the cache, then what came with the program, here installed elsewhere.
row() {
    "$@" data list | awk '$1 == "yacht" { print $NF }'
}
mkdir -p prefix/bin prefix/share/spherelu/data/uci cache/uci three/uci
cp "$SPHERELU" prefix/bin/
gzip -dc "$SOURCE_DIR/data/uci/yacht.txt.gz" >plain.txt
cp plain.txt prefix/share/spherelu/data/uci/yacht.txt
export SPHERELU_DATA=$work/one SPHERELU_CACHE=$work/cache
check "installed: $(row prefix/bin/spherelu)" [ "$(row prefix/bin/spherelu)" = "$work/prefix/share/spherelu/data/uci/yacht.txt" ]
cp "$SOURCE_DIR/data/uci/yacht.txt.gz" cache/uci/
check "the cache comes first" [ "$(row prefix/bin/spherelu)" = "$work/cache/uci/yacht.txt.gz" ]
cp plain.txt three/uci/yacht.txt
SPHERELU_DATA=$work/one:$work/three
check "the variable comes before it" [ "$(row prefix/bin/spherelu)" = "$work/three/uci/yacht.txt" ]
ln -s ../prefix/bin/spherelu two/spherelu
check "through a link to the program" [ "$(SPHERELU_CACHE='' SPHERELU_DATA='' HOME=$work row two/spherelu)" = "$work/prefix/share/spherelu/data/uci/yacht.txt" ]
rm -r prefix/share
unset SPHERELU_DATA
export SPHERELU_CACHE=$work/none
checks=$((checks + 1))
prefix/bin/spherelu train --data yacht --out nothing >out 2>err && wrong "a set that is nowhere was found"
fails file path=yacht

# What travels with the program is what its README and its table say, byte for byte.
check "data/ has other bytes than said" python3 - "$SOURCE_DIR/data" "$SPHERELU" <<'EOF'
import gzip, hashlib, json, re, subprocess, sys
from pathlib import Path
folder = Path(sys.argv[1])
page = (folder / "README.md").read_text()
sets = {s["file"]: s for s in json.loads(subprocess.run([sys.argv[2], "data", "list", "--json"], capture_output=True).stdout)}
rows = re.findall(r"(?m)^\| `([a-z/.]+)` \| ([0-9,]+) \| (\d+) \| .* \| `([0-9a-f]{64})` \|$", page)
assert len(rows) == 8, rows
for name, count, columns, digest in rows:
    packed = folder / (name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else (folder / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == digest == sets[name]["sources"][0]["sha256"], name
    lines = [line for line in content.decode().split("\n") if line.strip()]
    assert len(lines) - (name == "banana.csv") == int(count.replace(",", "")) == sets[name]["rows"], name
    assert len(re.split(r"[\s,]+", lines[-1].strip())) == int(columns), name
assert {str(p.relative_to(folder)).removesuffix(".gz") for p in folder.rglob("*") if p.is_file()} == {r[0] for r in rows} | {"README.md"}
EOF

# Any table may be packed: the same network, a failure with its line, and nothing beyond the memory allowed.
table 300 >t.csv
gzip -c t.csv >t.csv.gz
run 0 train --data t.csv --epochs 5 --quiet --out plain
run 0 train --data t.csv.gz --epochs 5 --quiet --out packed
same_run plain packed
run 0 predict packed --data t.csv.gz --out p.csv
check "predictions of a packed table" [ "$(wc -l <p.csv)" -eq 301 ]
{ head -n 200 t.csv && echo 1,2,red; } | gzip >short.csv.gz
run 1 train --data short.csv.gz --quiet --out nothing
fails format path=short.csv.gz line=201
head -c 1000 t.csv.gz >cut.csv.gz
run 1 train --data cut.csv.gz --quiet --out nothing
fails format path=cut.csv.gz
cp t.csv text.csv.gz
run 1 train --data text.csv.gz --quiet --out nothing
fails format path=text.csv.gz
{ cat t.csv && yes "1,2,red,3,4" | head -c 60000000; } | gzip -1 >large.csv.gz
run 1 train --data large.csv.gz --quiet --max-memory 40M --out nothing
fails memory key=max-memory path=large.csv.gz
absent nothing
finish
