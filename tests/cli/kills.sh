#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Promise: whatever the moment at which a command ends, each file is the old one or the new one, and the same command again gives
# the same bits as one that nobody disturbed; an experiment repeats no job that had finished. Here train (tables, images,
# ensembles that are tuned and refitted), run, convert, export, predict and figures end at random moments, four of five by SIGKILL
# and the others by SIGTERM. KILLS is their number: 16 in make test, 1,000 in make test-long. test_faults and
# test_experiment_faults end train and run at each of their writes.
. "$(dirname "$0")/lib_experiment.bash"
. "$(dirname "$0")/lib_faults.bash"
. "$(dirname "$0")/lib.bash"

seed=${KILL_SEED:-$$}
wanted=${KILLS:-$(in_layer long && echo 1000 || echo 16)}
RANDOM=$seed
echo "moments drawn with KILL_SEED=$seed"

stand_in_gnuplot "$PWD/path"
export PATH=$PWD/path:$PATH
table 600 >small.csv
classes 20000 0 1 | sed '1s/u,v/x1,x2/' >points.csv
for ((i = 0; i < 12; i++)); do # four pictures, in turn, of two classes
    names=(small.jpg plain.png scans.jpg tall.jpg)
    mkdir -p pictures/$((i % 2))
    cp "${SOURCE_DIR:?set SOURCE_DIR to the sources}/tests/golden/pictures/${names[i % 4]}" pictures/$((i % 2))/$i.jpg
done
cat >x.yaml <<'YAML'
name: x
data: {name: crescents, rows: 200, noise: 0.3}
net: {hidden: [10]}
train: {epochs: 60, batch: 16, patience: 0, checkpoint_seconds: 0.01}
methods:
  - {name: SP, param: sp, lr: 0.01}
  - {name: GmP, param: gmp, lr: 0.1}
seeds: 2
record: {boundaries: epoch}
figures: [convergence, turns]
YAML

# what is done, in the folder that $1 names; each must do with what an ended one left
declare -A does=(
    [train]='train --quiet --resume --data small.csv --target y --hidden 24,24 --norm bn --batch 16 --epochs 60 --patience 40
        --schedule plateau:3:0.7:0.001 --seed 5 --checkpoint-seconds 0.01 --record boundaries+patterns:0,100,1000 --out FOLDER/run'
    [pictures]='train --quiet --resume --data pictures --size 16 --workers 2 --augment colour --net vgg6 --width 0.0625 --norm bn
        --batch 4 --epochs 6 --seed 3 --checkpoint-seconds 0.01 --out FOLDER/seen'
    [tune]='train --quiet --resume --data small.csv --target y --hidden 16 --batch 64 --epochs 30 --ensemble 2 --refit --tune 2
        --threads 2 --seed 7 --checkpoint-seconds 0.01 --out FOLDER/tuned'
    [run]='run x.yaml --quiet --resume --jobs 2 --out FOLDER/x'
    [convert]='convert base/wide/model.safetensors FOLDER/new.safetensors --to gmp'
    [export]='export base/wide FOLDER/new.onnx'
    [predict]='predict base/drawn --data points.csv --out FOLDER/p.csv'
    [figures]='figures FOLDER/drawn convergence turns moves decision'
)
subjects=(train pictures tune run convert export predict figures)

# begin FOLDER: what lies there before: old files, and a run that has no figures yet
begin() {
    rm -rf "$1"
    mkdir "$1"
    cp -r base/drawn "$1/drawn"
    echo old >"$1/p.csv"
    cp base/wide/split.json "$1/new.safetensors"
    echo old >"$1/new.onnx"
}

# same SUBJECT: what is in `killed` is what is in `whole`
same() {
    case $1 in
    train) same_run whole/run killed/run ;;
    pictures) same_run whole/seen killed/seen ;;
    tune)
        same_run whole/tuned killed/tuned
        check "another choice" cmp -s <(grep -v '"seconds"' whole/tuned/tune.json) <(grep -v '"seconds"' killed/tuned/tune.json)
        check "another refit" cmp -s <(timeless whole/tuned/refit.jsonl) <(timeless killed/tuned/refit.jsonl)
        ;;
    export) check "another export" cmp -s whole/new.onnx killed/new.onnx ;;
    run) same_experiment whole/x killed/x ;;
    convert) check "another conversion" cmp -s whole/new.safetensors killed/new.safetensors ;;
    predict) check "other predictions" cmp -s whole/p.csv killed/p.csv ;;
    figures) check "other figures: $(diff -rq whole/drawn killed/drawn)" diff -rq whole/drawn killed/drawn ;;
    esac
    check "temporaries were left: $(find killed -name '*.tmp*')" [ -z "$(find killed -name '*.tmp*')" ]
}

# old_or_new: files of the commands that write one
old_or_new() {
    cmp -s killed/p.csv whole/p.csv || check "half a prediction" [ "$(cat killed/p.csv)" = old ]
    cmp -s killed/new.onnx whole/new.onnx || check "half an export" [ "$(tr -d '\0' <killed/new.onnx)" = old ]
    cmp -s killed/new.safetensors whole/new.safetensors ||
        check "half a conversion" cmp -s killed/new.safetensors base/wide/split.json
}

# finished_jobs: the files of those that have a result, by number: a job that ran again has another
finished_jobs() {
    find killed/x -name result.json -printf '%p %i\n' 2>/dev/null | sort
}

mkdir base
run 0 train --quiet --data small.csv --target y --hidden 1000,1000 --batch full --epochs 1 --out base/wide
run 0 train --quiet --data crescents --hidden 6 --epochs 20 --record boundaries --out base/drawn
begin whole
declare -A takes
for subject in "${subjects[@]}"; do
    began=${EPOCHREALTIME/[.,]/}
    # shellcheck disable=SC2046 # words
    run 0 ${does[$subject]//FOLDER/whole}
    takes[$subject]=$(((${EPOCHREALTIME/[.,]/} - began) / 1000 + 5)) # ms
done

# pause MS: without a process of its own
exec {never}<> <(:)
pause() {
    read -rt "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))" -u $never
}

kills=0 terms=0 late=0 rounds=0 limit=$((SECONDS + 300 + 20 * wanted))
declare -A killed_of
while [ $((kills + terms)) -lt "$wanted" ] && [ $SECONDS -lt $limit ]; do
    subject=${subjects[rounds % ${#subjects[@]}]}
    rounds=$((rounds + 1))
    begin killed
    for ((again = RANDOM % 4; again >= 0; again--)); do
        signal=KILL
        [ $((RANDOM % 5)) -eq 0 ] && signal=TERM
        finished_jobs >finished
        # shellcheck disable=SC2086 # words
        start ${does[$subject]//FOLDER/killed}
        pause $((RANDOM % takes[$subject]))
        kill -$signal $child 2>/dev/null
        wait $child 2>/dev/null
        code=$?
        old_or_new
        check "a finished job ran again" [ -z "$(comm -23 finished <(finished_jobs))" ]
        case $signal:$code in
        KILL:137) kills=$((kills + 1)) killed_of[$subject]=$((killed_of[$subject] + 1)) ;;
        TERM:143) terms=$((terms + 1)) killed_of[$subject]=$((killed_of[$subject] + 1)) ;;
        *:0) late=$((late + 1)) && break ;;
        *) wrong "$subject after SIG$signal: exit $code" ;;
        esac
    done
    # shellcheck disable=SC2086 # words
    run 0 ${does[$subject]//FOLDER/killed}
    same "$subject"
    [ $failed -lt 10 ] || finish
done
echo "$((kills + terms)) commands ended ($kills by SIGKILL, $terms by SIGTERM) in $rounds rounds, $late were done before:" \
    "$(for subject in "${subjects[@]}"; do echo -n " $subject ${killed_of[$subject]}"; done)"
check "$wanted kills" [ $((kills + terms)) -ge "$wanted" ]
finish
