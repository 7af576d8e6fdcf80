#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Run folders of released versions (tests/golden/runs) are read and gone on with; those of a newer format are refused by
# name, and nothing in them is changed.
. "$(dirname "$0")/lib.bash"
: "${SOURCE_DIR:?set SOURCE_DIR to the sources}"

for golden in "$SOURCE_DIR"/tests/golden/runs/*; do
    version=$(basename "$golden")
    cp -r "$golden" "$version" && cd "$version" || exit 1
    run 0 predict run --data data.csv --out again.csv
    # the last bits belong to the processor
    check "$version: other predictions" awk -F, 'NR == FNR { a[FNR] = $1; next }
        FNR > 1 && ($1 - a[FNR]) ^ 2 > 1e-8 { wrong = 1 } END { exit wrong || FNR != length(a) }' predictions.csv again.csv
    run 0 eval run --data data.csv
    run 0 boundaries run
    run 0 convert run/model.safetensors sp.safetensors --to sp
    run 0 train --resume --out run
    lines=$(wc -l <stopped/metrics.jsonl)
    run 0 train --resume --quiet --out stopped
    check "$version: a stopped run did not go on" [ "$(wc -l <stopped/metrics.jsonl)" -gt "$lines" ]
    run 0 eval stopped --data data.csv
    cd ..
done

# ---- a newer version's
cp -r "$SOURCE_DIR/tests/golden/runs/0.1.0" newer && cd newer || exit 1
sed -i 's/\\"format\\":1/\\"format\\":3/' run/model.safetensors stopped/checkpoint.safetensors
cp -r stopped before
run 1 eval run --data data.csv
fails format path='run/model.safetensors: metadata'
run 1 convert run/model.safetensors out.safetensors --to sp
fails format path='run/model.safetensors: metadata'
absent out.safetensors
run 1 train --resume --out stopped
fails format path='stopped/checkpoint.safetensors: metadata'
check "a newer run was changed" diff -r -x config.yaml before stopped # config.yaml names who went on last
cd ..
finish
