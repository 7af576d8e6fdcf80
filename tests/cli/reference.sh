#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The authors' constants through the tool: what a run under protocol reference writes down, a draw that no seed changes, draws as a
# grid, and which outputs warn of a leak.
. "$(dirname "$0")/lib.bash"
experiments=$SOURCE_DIR/experiments

# ---- config.yaml has every constant, and repeats the run
run 0 train --data levy --draw authors --protocol reference --param wn --norm bn --epochs 3 --out wn
for line in "dtype: f64" "draw: authors" "init: authors" "wn_output: true" "norm_epsilon: 0.001" "norm_momentum: 0.01" \
    "norm_variance: biased" "adam_form: keras" "epsilon: 1e-07" "monitor: val_mse" "loss: mae" "lr: 0.01" \
    'schedule: "plateau:50:0.1:0.0001"'; do
    check "config.yaml has no '$line'" grep -q "^ *$line\$" wn/config.yaml
done
run 0 train --data levy --draw authors --protocol reference --param wn --norm bn --epochs 3 --out again
check "the same run twice differs" cmp wn/model.safetensors again/model.safetensors
run 0 train --data levy --epochs 2 --out usual
check "a usual run names a constant of the authors" [ -z "$(grep -E 'adam_form|norm_variance|imn_at|wn_output|angle_order|draw' usual/config.yaml)" ]

# ---- who chose: the test part, unless the training loss did
check "no warning where the test part chose" grep -q '"warning"' wn/result.json
run 0 train --data levy --draw authors --protocol reference --monitor train_loss --epochs 3 --out alone
check "a warning where it did not" [ -z "$(grep '"warning"' alone/result.json)" ]

# ---- images are monitored by top-5, and by top-1 where five classes are all there are: the tool says so
python3 - <<'PYTHON'
import struct
for classes in (4, 6):
    for part, rows in (("train", 24), ("t10k", 12)):
        with open(f"{part}-images-idx3-ubyte", "wb") as out:
            out.write(struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 8, 8))
            out.write(bytes((17 * i + 3 * p + i * p) % 256 for i in range(rows) for p in range(64)))
        with open(f"{part}-labels-idx1-ubyte", "wb") as out:
            out.write(struct.pack(">BBBBI", 0, 0, 8, 1, rows) + bytes(i % classes for i in range(rows)))
    import os
    os.mkdir(f"classes{classes}")
    for part in ("train", "t10k"):
        for end in ("images-idx3-ubyte", "labels-idx1-ubyte"):
            os.rename(f"{part}-{end}", f"classes{classes}/{part}-{end}")
PYTHON
few=(--net vgg6 --width 0.1 --protocol reference --epochs 1 --batch 8)
run 0 train --data classes4 "${few[@]}" --out few
check "four classes are not monitored by accuracy" grep -q "monitor: val_accuracy$" few/config.yaml
notes val_accuracy val_top5
run 0 train --data classes6 "${few[@]}" --out six
check "six classes are not monitored by top-5" grep -q "monitor: val_top5$" six/config.yaml
check "something is said of it: $(cat err)" [ -z "$(grep val_accuracy err)" ]
run 0 train --data classes4 "${few[@]}" --monitor val_loss --out asked
check "what was asked for is not monitored" grep -q "monitor: val_loss$" asked/config.yaml
run 2 train --data classes4 "${few[@]}" --monitor val_top5 --out x
fails argument key=monitor
for data in levy crescents "classes4 --net mlp"; do # every task has what is monitored by default
    # shellcheck disable=SC2086 # an option
    run 0 train --data $data --protocol reference --epochs 1 --quiet --out "task-${data%% *}"
done

# ---- a draw is the same for all seeds, and a grid may have several
run 0 run "$experiments/levy-draws.yaml" --set epochs=2 --set seeds=2 --set grid.draw=[authors,0,1] --out draws
absent draws/figures
results() {
    cut -d: -f2 "draws/jobs/GmP/draw-$1/seed-$2/result.json" | tr -d ' \n' | sed 's/"seconds".*//; s/,[0-9.e-]*,false.*//'
}
check "draw 0 is not the authors'" [ "$(results authors 1)" = "$(results 0 1)" ]
check "draw 1 is the authors'" [ "$(results authors 1)" != "$(results 1 1)" ]
check "the table warns" [ -z "$(grep WARNING draws/table.txt)" ]

if command -v gnuplot >/dev/null; then
    run 0 run "$experiments/levy.yaml" --set epochs=3 --set seeds=1 --set figures=[moves] --out shown
    check "a figure says that the test part chose" [ -z "$(grep "test set" shown/figures/moves.caption shown/figures/moves.gp)" ]
    run 0 run "$experiments/levy.yaml" --set epochs=3 --set seeds=1 --set figures=[moves] --set monitor=val_loss --out leaks
    check "a figure does not say that it chose" grep -q "test set" leaks/figures/moves.caption
fi

# ---- both in one table, beside the notebook's numbers
run 0 run "$experiments/banana-both.yaml" --set epochs=2 --set seeds=2 --out both
shows "GmP paper" "0.885: notebook" "median"
check "no warning of the leak" grep -q WARNING both/table.txt
run 0 run both/experiment.yaml --out repeated
check "what was written down gives another table" cmp both/table.csv repeated/table.csv
options() { sed '/^origins:/,$d' "$1/jobs/BN_code/seed-1/config.yaml"; } # set on the command line, then read from the file
check "and other constants" cmp <(options both) <(options repeated)

# ---- what is wrong is said
run 2 train --data levy --draw theirs --out x
fails argument key=draw
run 2 train --data crescents --draw 3 --out x
fails argument key=draw
run 2 train --data levy --optimizer sgd --adam-form keras --out x
fails argument key=adam-form
finish
