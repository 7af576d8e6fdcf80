#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Run and experiment folders that somebody else filled: no link in them is followed, neither to read nor to write.
. "$(dirname "$0")/lib.bash"

mkdir elsewhere away
echo PRIVATE >secret
untouched() {
    check "$1: something was written outside: $(ls -A elsewhere)" [ -z "$(ls -A elsewhere)" ]
    check "$1: a file outside was changed" [ "$(cat secret)" = PRIVATE ]
}
refused() { # PATH: one line that names the path, and no word of what lies outside
    fails file path="$1"
    check "the contents of a private file were printed" eval '! grep -q PRIVATE out err'
}
run 0 train --data crescents --rows 100 --hidden 4 --epochs 3 --record boundaries --out run
printf 'name: small\ndata: {name: crescents, rows: 100}\nnet: {hidden: [3]}\ntrain: {epochs: 2}\nmethods: [{name: A}]\nseeds: 2\nfigures: [convergence]\n' >small.yaml
run 0 run small.yaml --out whole

# ---- the folder itself may be named through a link
ln -s run named
run 0 eval named
run 0 show named/
run 0 figures named convergence
run 0 figures named/ convergence
check "no figure" [ -e run/figures/convergence.gp ]
run 0 list .
check "a run is not listed: $(cat out)" grep -q '^./run ' out

# ---- each file of a run as a link to the same file elsewhere
for name in config.yaml model.safetensors result.json split.json metrics.jsonl boundaries.npz; do
    rm -rf trap
    cp -r run trap
    mv "trap/$name" "away/$name"
    ln -s "../away/$name" "trap/$name"
    before=$(sha256sum "away/$name")
    case $name in
    config.yaml) commands=("show trap" "eval trap" "predict trap --data crescents" "figures trap" "train --resume --out trap") ;;
    model.safetensors) commands=("show trap" "eval trap" "predict trap --data crescents" "boundaries trap"
        "regions trap --out drawn" "importance trap" "export trap x.onnx" "convert trap x.safetensors --to sp") ;;
    result.json) commands=("show trap" "eval trap" "compare trap run" "train --resume --out trap") ;;
    split.json) commands=("eval trap") ;;
    metrics.jsonl) commands=("figures trap convergence") ;;
    boundaries.npz) commands=("figures trap trajectories") ;;
    esac
    for command in "${commands[@]}"; do
        run 1 $command
        refused "trap/$name"
    done
    check "$name: the file behind the link was changed" [ "$(sha256sum "away/$name")" = "$before" ]
done
rm -rf trap
cp -r run trap
ln -sf ../away/config.yaml trap/config.yaml
run 1 list .
check "the list does not name the link: $(cat out)" grep -q "^./trap " out

# ---- figures -> elsewhere, and the inputs of the page
rm -rf trap
cp -r run trap
rm -rf trap/figures
ln -s ../elsewhere trap/figures
run 1 figures trap
refused trap/figures
untouched "figures of a run"
for ending in note caption svg png gp dat; do
    rm -rf trap
    cp -r run trap
    rm -f trap/figures/convergence.* trap/report.html
    cp run/figures/convergence.gp trap/figures/
    ln -s ../../secret "trap/figures/own.$ending"
    [ $ending = caption ] && touch trap/figures/own.svg
    "$SPHERELU" figures trap convergence >out 2>err
    check "$ending: a private file is in the page" eval '! grep -qs -e PRIVATE -e UFJJVkFURQ trap/report.html'
    untouched "a page with $ending"
done
for name in convergence.png convergence.svg convergence.pdf convergence.gp convergence.caption convergence.note; do
    rm -rf trap
    cp -r run trap
    ln -sf ../../secret "trap/figures/$name"
    run 0 figures trap convergence
    check "$name is a link still" [ ! -L "trap/figures/$name" ]
    check "$name: a private file is in the page" eval '! grep -qs -e PRIVATE -e UFJJVkFURQ trap/report.html'
    untouched "$name"
done

# ---- an experiment: its files, the folder of its jobs, one job, one figure
for name in jobs jobs/A jobs/A/seed-1 figures; do
    rm -rf trap
    cp -r whole trap
    rm -rf "trap/$name" trap/results.json
    ln -s "$work/elsewhere" "trap/$name"
    run 1 run small.yaml --resume --out trap
    check "$name: no message about it: $(cat err)" grep -q "trap/$name" out err
    untouched "an experiment with $name"
done
for name in results.json jobs/A/seed-1/result.json; do
    rm -rf trap
    cp -r whole trap
    mv "trap/$name" away/result.json
    ln -s "$work/away/result.json" "trap/$name"
    if [ $name = results.json ]; then run 1 figures trap convergence; else run 1 run small.yaml --resume --out trap; fi
    refused "trap/$name"
done
rm -rf trap
cp -r whole trap
for name in table.txt table.csv report.html results.json; do
    ln -sf ../secret "trap/$name"
done
run 0 run small.yaml --resume --out trap
untouched "tables of an experiment"
check "a table is a link still" [ ! -L trap/table.txt ]

# ---- files that a command writes into a folder that the user named
mkdir maps
ln -s ../secret maps/regions.json
ln -s ../secret maps/regions.gp
run 0 regions run --out maps
untouched regions

# ---- the name of a class is no path
from=${SOURCE_DIR:-$(dirname "$0")/../..}/tests/golden/pictures
if "$SPHERELU" --version | grep -q "pictures: TurboJPEG, libpng"; then
    file=$(ls "$from"/small.*)
    for class in aaaaaaaaaaaa bbbb; do
        mkdir -p "set/$class"
        for i in 1 2 3 4 5 6 7; do cp "$file" "set/$class/$i.${file##*.}"; done
    done
    run 0 train --data set --net mlp --hidden 3 --size 8 --epochs 1 --batch 4 --out pictures
    LC_ALL=C sed -i 's:aaaaaaaaaaaa:../elsewhere:g' pictures/model.safetensors
    cp set/aaaaaaaaaaaa/1.* elsewhere/
    mkdir only
    cp -r set/bbbb only/
    run 0 predict pictures --data only
    check "pictures outside of the folder were read: $(grep elsewhere out)" eval '! grep -q "elsewhere/" out'
    run 0 eval pictures --data only --json
    shows '"rows": 7'
else
    skipped "this build decodes no JPEG or no PNG"
fi
finish
