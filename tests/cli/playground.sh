# SPDX-License-Identifier: MIT
#
# spherelu playground: where the page is looked for, the record of a run in it, and what is refused.
. "$(dirname "$0")/lib.bash"
unset DISPLAY WAYLAND_DISPLAY

# A tool elsewhere, without a page; then with one in its folder, and with one in share/spherelu, which comes first.
mkdir -p away/bin away/share/spherelu
cp "$SPHERELU" away/bin/spherelu
tool=$SPHERELU
SPHERELU=$PWD/away/bin/spherelu
run 1 playground
fails failed
check "the message names the command that makes it" grep -q "playground.html not found; run make playground" err
printf '<p>page</p>\n<script id="replay">/*REPLAY*/</script>\n<p>end</p>\n' >away/bin/playground.html
run 0 playground
check "the page beside the tool" [ "$(cat out)" = "$PWD/away/bin/playground.html" ]
cp away/bin/playground.html away/share/spherelu/playground.html
run 0 playground --json
check "the installed page comes first" grep -q 'away/share/spherelu/playground.html' out
check "nothing is opened without a display" grep -q '"opened": false' out
run 0 playground --out copy.html
check "a copy" cmp -s copy.html away/bin/playground.html

# ---- a run
run 0 train --data crescents --hidden 5 --param gmp --val 0 --epochs 3 --quiet --no-report --out plain
run 1 playground plain
fails file path=plain
run 0 train --data crescents --rows 50 --hidden 5 --param gmp --val 0 --epochs 3 --record boundaries:every --quiet --no-report --out two
run 0 playground two
check "beside the run" [ "$(cat out)" = "two/playground.html" ]
check "no file is left half-written" [ ! -e two/playground.html.part ]
command -v python3 >/dev/null && check "the record" python3 - two <<'PY'
import base64, io, json, re, sys, zipfile
page = open(sys.argv[1] + "/playground.html").read()
assert page.startswith("<p>page</p>") and page.endswith("<p>end</p>\n")
record = json.loads(re.search(r'<script id="replay">(.*?)</script>', page).group(1))
assert record["param"] == "gmp" and record["norm"] == "none" and record["inputs"] == 2 and record["units"] == 5
assert len(record["x"]) == 100 and len(record["y"]) == 50 and record["task"] == "binary" and record["classes"] == ["0", "1"]
npz = base64.b64decode(record["npz"])
assert npz == open(sys.argv[1] + "/boundaries.npz", "rb").read()
assert "layers.0.phi.npy" in zipfile.ZipFile(io.BytesIO(npz)).namelist()
PY

# ---- a name of a class that would end the script
{
    echo "a,b,kind"
    for i in $(seq 20); do echo "$i,$((i % 5)),</script><b>"; echo "$((i % 7)),$i,other"; done
} >names.csv
run 0 train --data names.csv --hidden 3 --epochs 2 --record boundaries:every --quiet --no-report --out names
run 0 playground names
check "one script only" [ "$(grep -o "</script>" names/playground.html | wc -l)" -eq 1 ]

# ---- what is refused
{
    echo "a,b,c,price"
    for i in $(seq 40); do echo "$i,$((i * i)),$((i % 3)),$((i * 3))"; done
} >three.csv
run 0 train --data three.csv --hidden 4 --epochs 3 --record boundaries:every --quiet --no-report --out three
run 1 playground three
fails file path=three
run 1 playground nowhere
fails file path=nowhere
run 1 playground two --out no/such/folder.html
fails file path=no/such/folder.html
echo "another page" >away/share/spherelu/playground.html
run 1 playground two
fails file "path=$PWD/away/share/spherelu/playground.html"
SPHERELU=$tool
finish
