#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Run folders and an experiment that 0.2.0 wrote (tests/old/make-runs): today's tool reads them, predicts what 0.2.0 predicted and goes
# on as 0.2.0 did.
old=$(cd "$(dirname "$0")/../old/0.2.0" && pwd)
. "$(dirname "$0")/lib.bash"
cp -r "$old/." .
export OMP_NUM_THREADS=1

# same_numbers A B: tables of the same words, and of numbers that differ by the rounding of another processor alone
same_numbers() {
    checks=$((checks + 1))
    awk -F, 'NR == FNR { was[NR] = $0; next }
        function far(a, b) { return a != b && (a !~ /^[-+0-9.e]+$/ || (a - b) ^ 2 > 1e-8) }
        {
            if (split(was[FNR], old) != NF) { print "line " FNR ": columns"; exit 1 }
            for (i = 1; i <= NF; i++) if (far(old[i], $i)) { print "line " FNR ": " old[i] " | " $i; exit 1 }
        }
        END { if (FNR != length(was)) { print "rows"; exit 1 } }' "$1" "$2" >different || wrong "$1 and $2: $(<different)"
}

data_of() {
    case $1 in table | ensemble) echo table.csv ;; images) echo pictures ;; *) echo classes.csv ;; esac
}

# ---- predictions and scores
for run in table ensemble classes images; do
    run 0 predict $run --data "$(data_of $run)"
    cp out predicted.csv
    same_numbers expected/$run.csv predicted.csv
    run 0 eval $run --json
    scored=$(json out loss)
    stored=$(json $run/result.json test loss)
    check "$run: the test loss is $scored, 0.2.0 had $stored" awk -v a="$scored" -v b="$stored" 'BEGIN { exit !(a > 0 && (a - b) ^ 2 < 1e-8) }'
    run 0 show $run
    shows "$(data_of $run)"
    run 0 train --resume --out $run # it had finished; its checkpoint was removed, so it is trained again
    run 0 predict $run --data "$(data_of $run)"
    same_numbers predicted.csv out
done
run 0 list .
check "list shows five runs" [ "$(grep -cE '^(\./)?(table|ensemble|classes|images|stopped) ' out)" -eq 5 ]

# ---- what else reads them
run 0 boundaries classes
run 0 convert images sp.safetensors --to sp
run 0 convert ensemble gmp.safetensors --to gmp
run 0 compare table ensemble
figures() { "$SPHERELU" figures classes turns >out 2>err || grep -q gnuplot err; } # the data of the figure need no gnuplot
check "figures: $(cat err 2>/dev/null)" figures
check "figures wrote no data" [ -s classes/figures/turns.gp ]

# ---- a training that 0.2.0 had begun
run 0 train --resume --out stopped --quiet
run 0 predict stopped --data classes.csv
cp out predicted.csv
same_numbers expected/stopped.csv predicted.csv
run 0 regions stopped --json

# ---- an experiment without one of its jobs
touch mark
run 0 run small.yaml --jobs 1 --out experiment --resume --quiet
check "the job that was missing did not run" [ experiment/jobs/SP/seed-1/result.json -nt mark ]
check "a finished job ran again" [ ! experiment/jobs/SP/seed-0/result.json -nt mark ]
for table in expected/experiment.csv experiment/table.csv; do # without notes and verdicts, whose wording may change
    sed 's/,".*//' $table | cut -d, -f1-36 >"$(basename $table).numbers"
done
same_numbers experiment.csv.numbers table.csv.numbers

# ---- columns that today's tool refuses: folders that had no --text, since earlier versions took these columns as categories
awk 'BEGIN { print "m,day,x,y"
    for (i = 0; i < 120; i++) printf "%d kg,%s,%d.5,%d\n", 105 + i % 25, i % 40 ? sprintf("2024-01-%02d", 1 + i % 28) : "soon", i % 7, i % 25 }' >odd.csv
refuses "format key=day path=odd.csv line=2" train --data odd.csv --out new
absent new
run 0 train --data odd.csv --text m,day --hidden 6 --epochs 6 --out odd --quiet
run 0 eval odd --json
scored=$(json out loss)
cat >odd.yaml <<'Y'
name: odd
data: {name: odd.csv, target: y, text: "m,day"}
net: {hidden: [4]}
train: {epochs: 2}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
seeds: 2
Y
run 0 run odd.yaml --out odds --quiet
sed -i '/^ *text: /d' odd/config.yaml odds/experiment.yaml odds/jobs/*/*/config.yaml
sed -i 's/, text: "m,day"//' odd.yaml
check "config.yaml still has text" eval '! grep -q "text:" odd/config.yaml odds/experiment.yaml'
run 0 eval odd --json
check "the loss was $scored" [ "$(json out loss)" = "$scored" ]
rm odd/result.json odd/model.safetensors
run 0 train --resume --out odd --quiet
run 0 eval odd --json
check "the loss of the resumed run was $scored" [ "$(json out loss)" = "$scored" ]
rm -r odds/jobs/GmP/seed-1 odds/jobs/SP/seed-0/result.json
run 0 run odd.yaml --out odds --resume --quiet
check "a job that was missing did not run" [ -e odds/jobs/GmP/seed-1/result.json ]
check "a job that had not finished did not" [ -e odds/jobs/SP/seed-0/result.json ]
refuses "format key=day path=odd.yaml line=2" run odd.yaml --out other
finish
