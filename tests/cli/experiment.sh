#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu run: tables, --set, --dry-run, --resume, signals, locks, full disks, and what is refused.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib.bash"

cat >small.yaml <<'YAML'
name: small
data: {name: crescents, rows: 100, noise: 0.3}
net: {hidden: [8]}
train: {epochs: 10, batch: 16}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: GmP, param: gmp, lr: 0.1}
seeds: 4
YAML

# ---- the table, and the folder
run 0 run small.yaml
shows "accuracy" "protocol holdout" "+-" "SP" "GmP" "Wilcoxon" "results   runs/small" "report    runs/small/report.html"
cmp -s <(head -n -3 out) runs/small/table.txt || wrong "what is printed is not table.txt"
for file in experiment.yaml results.json table.txt table.md table.tex table.csv table.json report.html \
    jobs/GmP/seed-3/model.safetensors; do
    check "$file is missing" [ -s "runs/small/$file" ]
done
run 0 eval runs/small/jobs/GmP/seed-3 --data crescents
run 0 run small.yaml --json --out json
check "--json is not one line" [ "$(wc -l <out)" -eq 1 ]
check "--json does not name the folder" [ "$(json out out)" = '"json"' ]
for file in table.txt table.md table.tex table.csv table.json; do
    check "another $file" cmp -s runs/small/$file json/$file
done

# ---- the number of workers
run 0 run small.yaml --jobs 1 --out one
run 0 run small.yaml --jobs 3 --out three
same_experiment one three
same_experiment one json

# ---- one job is what train gives
run 0 train --data crescents --rows 100 --noise 0.3 --hidden 8 --epochs 10 --batch 16 --param gmp --lr 0.1 \
    --schedule none --patience 100 --seed 2 --out alone
same_run alone one/jobs/GmP/seed-2

# ---- the resolved file repeats the experiment
run 0 run one/experiment.yaml --out repeated
same_experiment one repeated

# ---- --set, --seed, --threads, --dtype
run 0 run small.yaml --set seeds=1 --set train.epochs=3 --set methods.GmP.lr=0.2 --set hidden=[3,4] --out set
check "epochs" grep -q "^  epochs: 3" set/jobs/SP/seed-0/config.yaml
check "lr" grep -q "^  lr: 0.2" set/jobs/GmP/seed-0/config.yaml
check "hidden" grep -q "^  hidden: \[3, 4\]" set/jobs/GmP/seed-0/config.yaml
run 0 show set/jobs/GmP/seed-0 --json
check "origins of --set" python3 -c 'import json
o = json.load(open("out"))["origins"]
assert o["epochs"] == o["lr"] == o["hidden"] == "command line" and o["param"] == "method", o'
run 0 run small.yaml --seed 7 --threads 2 --dtype f64 --out common
check "seed" [ "$(ls common/jobs/SP)" = seed-7 ]
check "threads" grep -q "^threads: 2" common/jobs/SP/seed-7/config.yaml
check "dtype" grep -q "^dtype: f64" common/jobs/SP/seed-7/config.yaml
run 2 run small.yaml --set
fails argument key=set
run 2 run small.yaml --set epochs
fails argument key=set
run 2 run small.yaml --set epoch=3
fails argument key=epoch path='--set epoch=3'
run 2 run small.yaml --set methods.GMP.lr=1
fails argument key=methods.GMP.lr path='--set methods.GMP.lr=1'
run 2 run small.yaml --jobs 0
fails argument key=jobs

# ---- a dry run
run 0 run small.yaml --dry-run --jobs 2 --out dry
shows "8 jobs, 2 "
check "the jobs of SP" grep -qE "^SP +4 jobs" out
absent dry
run 0 run small.yaml --dry-run --json
check "a dry run in JSON" [ "$(grep -o '"folder"' out | wc -l)" -eq 8 ]
check "no memory, no disk" awk -v m="$(json out peak_bytes)" -v d="$(json out disk_bytes)" 'BEGIN { exit !(m > 1e6 && d > 1e4) }'

# ---- folders
run 2 run small.yaml --out one
fails argument key=resume path=one
run 2 run small.yaml --set epochs=11 --resume --out one
fails argument key=out path=one
run 2 run small.yaml --out alone
fails argument key=out path=alone
run 0 run small.yaml --resume --out one
run 0 run small.yaml --resume --out fresh
run 1 run nothere.yaml
fails file path=nothere.yaml
run 2 run
fails argument key=FILE.yaml
echo text >file
run 1 run small.yaml --out file
fails file path=file

# ---- reference says that it leaks, in training too
run 0 run small.yaml --set protocol=reference --out leak
shows "WARNING: protocol reference"
for file in leak/table.* leak/results.json leak/jobs/SP/seed-0/result.json; do
    check "$file is silent about the leak" grep -q "protocol reference" "$file"
done
run 0 train --data crescents --protocol reference --epochs 3 --quiet --out leaking
shows "warning   "

# ---- a job that diverges, a job that fails
run 0 run small.yaml --set methods.SP.lr=1e30 --out away
shows "diverged: "
check "results.json does not tell of a divergence" grep -q '"diverged": true' away/results.json
mkdir -p failing/jobs/GmP
echo text >failing/jobs/GmP/seed-1
cp one/experiment.yaml failing
run 1 run small.yaml --resume --out failing
check "the table does not say which" grep -q "GmP/seed-1" out
has_error failed "1 of 8"
rm failing/jobs/GmP/seed-1
run 0 run small.yaml --resume --out failing
same_experiment one failing

# ---- bad files: line and key on one line (tests/test_experiment.c has all of them)
while IFS=$'\t' read -r file code key line _; do
    case $file in unknown-key.yaml | same-name.yaml | empty-methods.yaml | grid-unknown.yaml | folds-too-many.yaml)
        cp "$SOURCE_DIR/tests/bad/experiment/$file" .
        refuses "$code key=$key path=$file line=$line" run "$file" --out refused
        absent refused
        ;;
    esac
done <"$SOURCE_DIR/tests/bad/experiment/expect.txt"

# ---- signals: every job finishes its step and keeps a checkpoint
forty
long=10000
[ -z "${SPH_SAN:-}" ] || long=1000 # a sanitizer takes its time
run 0 run 40.yaml --set seeds=2 --set epochs=$long --out long
for signal in INT TERM; do
    signalled $signal '[ $(find "stopped$signal" -name checkpoint.safetensors | wc -l) -ge 2 ]' \
        run 40.yaml --set seeds=2 --set epochs=$long --jobs 2 --out "stopped$signal"
    check "SIG$signal gives $code" [ $code -eq $((128 + $(kill -l $signal))) ]
    fails stopped
    no_temporaries "stopped$signal"
    absent "stopped$signal/table.txt"
    command=$(grep -o 'spherelu run [^"]*' err) # the message names it; it repeats --set
    # shellcheck disable=SC2086 # words
    run 0 ${command#spherelu }
    same_experiment long "stopped$signal"
done

# ---- a second process is refused, on the experiment and on a run; a kill leaves no lock behind
start run 40.yaml --set seeds=2 --set epochs=200000 --jobs 1 --out held
await '[ -e held/jobs/SP/seed-0/checkpoint.safetensors ]'
run 1 run 40.yaml --set seeds=2 --set epochs=200000 --resume --out held
fails file path=held
run 1 train --resume --out held/jobs/SP/seed-0
fails file path=held/jobs/SP/seed-0
kill -KILL $child
wait $child 2>/dev/null
await 'flock -n held true && flock -n held/jobs/SP/seed-0 true' # its jobs end with it, a moment later

# ---- a disk that fills: one line or a line of the table, and with room again all is well
case "${SPH_SAN:-}" in
*thread*) ;;
*)
    for blocks in 1 2 3 4 6 8; do
        (
            ulimit -f $blocks
            exec "$SPHERELU" run 40.yaml --set seeds=1 --jobs 2 --resume --out full >out 2>err
        )
        check "exit $? with $blocks KiB" [ $? -le 1 ]
        no_temporaries full
    done
    run 0 run 40.yaml --set seeds=1 --resume --out full
    run 0 run 40.yaml --set seeds=1 --out room
    same_experiment full room
    ;;
esac
finish
