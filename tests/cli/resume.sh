#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Going on: after Ctrl-C and SIGTERM, after the end, and where it must be refused.
. "$(dirname "$0")/lib.bash"

table 800 >t.csv
training=(--data t.csv --target y --hidden 32,32 --batch 16 --epochs 8000 --patience 0 --schedule step:20,100:0.5)

# ---- signals
run 0 train "${training[@]}" --out whole

# stop SIGNAL CODE FOLDER: tells a training to stop once it has written a checkpoint, and it ends with CODE
stop() {
    old=$(stat -c %i-%z "$3/checkpoint.safetensors" 2>/dev/null)
    signalled "$1" "[ \"\$(stat -c %i-%z $3/checkpoint.safetensors)\" != '$old' ]" \
        train --resume "${training[@]}" --out "$3" --checkpoint-seconds 0.02
    check "$1: exit $code, expected $2" [ $code -eq "$2" ]
}
stop INT 130 stopped
has_error stopped
notes key=resume
absent stopped/model.safetensors stopped/result.json
no_temporaries stopped
run 1 eval stopped --data t.csv
fails format path=stopped
stop TERM 143 stopped
fails stopped
run 0 train --resume --out stopped
same_run whole stopped

# ---- the end of a finished run
timeless stopped/result.json >before
run 0 train --resume --out stopped
notes key=resume
sed '/^seconds/d' out >again
same_run whole stopped
check "resuming a finished run trained again" cmp -s before <(timeless stopped/result.json)
run 0 train --resume --out whole
check "resuming a finished run prints another result" cmp -s <(sed '/^run/d;/^report/d' again) <(sed '/^seconds/d;/^run/d;/^report/d' out)
run 0 train --resume --json --out whole
shows '"test"' '"rmse"' '"diverged": false' '"out": "whole"'
same_run whole stopped

# ---- a moved folder is the same run
mv stopped moved
run 0 train --resume --out moved
same_run whole moved

# ---- without --resume a run is never overwritten
run 2 train "${training[@]}" --out whole
fails argument path=whole
same_run whole moved

# ---- options that contradict the run
run 2 train --resume --lr 0.5 --out whole
fails argument key=lr
run 2 train --resume --seed 9 --out whole
fails argument key=seed
run 2 train --resume --norm bn --out whole
fails argument key=norm
run 2 train --resume --drop a --out whole
fails argument key=drop
run 0 train --resume "${training[@]}" --checkpoint-seconds 9 --out whole
same_run whole moved

# ---- --resume where nothing has begun yet begins
run 0 train --resume --data t.csv --target y --epochs 2 --out fresh
notes key=resume
run 1 train --resume --out nowhere
fails file path=nowhere
absent nowhere

# ---- data that changed
cp t.csv kept.csv
sed -i '$d' t.csv
run 1 train --resume --out whole
fails format path=whole
{ cat kept.csv; tail -1 kept.csv; } >t.csv
run 1 train --resume --out whole
fails format path=whole
awk -F, 'NR == 5 { sub(/^[^,]*/, "1.25") } { print }' kept.csv >t.csv
run 1 train --resume --out whole
fails format path=whole
cp -r whole old # its split.json says nothing about the data
sed -i 's/"content":"[^"]*",//' old/split.json
run 1 train --resume --out old
fails format path=old
sed '$d' kept.csv >t.csv
run 1 train --resume --out old
fails format key=test path=old/split.json
rm t.csv
run 1 train --resume --out whole
fails file path=t.csv
cp kept.csv t.csv
run 0 train --resume --out whole
same_run whole moved

# ---- what is in the folder is checked
run 0 train --data t.csv --target y --hidden 5 --epochs 2 --out small
run 0 train --data t.csv --target y --hidden 6 --epochs 2 --out other
cp other/checkpoint.safetensors small/
cp small/model.safetensors kept.model
run 1 train --resume --out small
fails format path=small/checkpoint.safetensors
check "a refused resume changed the model" cmp -s kept.model small/model.safetensors
head -c 300 other/checkpoint.safetensors >small/checkpoint.safetensors
run 1 train --resume --out small
fails format path=small/checkpoint.safetensors
cp other/model.safetensors other/checkpoint.safetensors
run 1 train --resume --out other
fails format path=other/checkpoint.safetensors
echo "lr: 3" >>small/config.yaml
run 1 train --resume --out small
fails format key=lr path=small/config.yaml line=$(wc -l <small/config.yaml)
printf '{"train": [0, 1], "val": [1], "test": []}' >moved/split.json
run 1 train --resume --out moved
fails format key=val path=moved/split.json
# ---- values keep their origins, except those that are given again
run 0 train --data t.csv --hidden 5 --schedule none --epochs 2 --out origins
run 0 train --resume --epochs 3 --out origins
run 0 show origins --json
check "origins after a resume" grep -q '"hidden": "command line".*"epochs": "command line"' out
check "a default became something else" grep -q '"norm": "default"' out

finish
