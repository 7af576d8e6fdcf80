#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Figures and the table of motion from real trainings: what the papers claim of Levy and of the banana's large rate, files
# that are made and follow the seed, spherelu figures, and what is said where something is missing.
. "$(dirname "$0")/lib.bash"
experiments=$SOURCE_DIR/experiments

# row FILE METHOD [POINT]: that line of a motion.csv; fields: 6 largest move, 8 largest turn
row() {
    grep "^$2,${3:-},layers.0," "$1"
}

# more VALUE THAN, less VALUE THAN: of numbers that are there
more() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 > b + 0) }'
}
less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 < b + 0) }'
}

# made DIR NAME...: script, data and pictures of each are there
made() {
    local dir=$1 name ending
    shift
    for name; do
        for ending in gp png svg pdf; do
            check "$dir/$name.$ending is missing or empty" [ -s "$dir/$name.$ending" ]
        done
        check "$dir/$name has no data" [ -n "$(find "$dir" -name "$name.*.dat" -size +0)" ]
    done
}

# ---- must hold: Levy under GmP moves by less than 1 at every step, under the others by orders of magnitude more
run 0 run "$experiments/levy.yaml" --set epochs=300 --set figures=[] --out levy
shows "levy: " "10 seeds"
check "GmP on Levy: $(row levy/motion.csv GmP)" less "$(row levy/motion.csv GmP | cut -d, -f6)" 1
for method in SP WN BN; do
    check "$method on Levy: $(row levy/motion.csv $method)" more "$(row levy/motion.csv $method | cut -d, -f6)" 100
done
check "runs and steps" grep -q '^GmP,,layers.0,10,3000,' levy/motion.csv
absent levy/figures

# ---- must hold: on the banana at 0.1 GmP turns little, the others by tens of degrees
run 0 run "$experiments/banana.yaml" --set epochs=30 --set figures=[] --out banana
check "GmP's turns: $(row banana/motion.csv GmP 'lr 0.1')" less "$(row banana/motion.csv GmP 'lr 0.1' | cut -d, -f8)" 15
for method in SP WN BN; do
    check "$method's turns: $(row banana/motion.csv $method 'lr 0.1')" \
        more "$(row banana/motion.csv $method 'lr 0.1' | cut -d, -f8)" 30
done

if ! command -v gnuplot >/dev/null; then
    skipped "there is no gnuplot"
    finish
fi

# ---- every figure is made, is not empty, and is another one with another seed
cat >plane.yaml <<'YAML'
name: plane
data: {name: crescents, rows: 120, noise: 0.3}
net: {hidden: [6, 5]}
train: {epochs: 6, batch: 32}
methods:
  - {name: SP, param: sp}
  - {name: "GmP, mine", param: gmp}
grid: {lr: [0.1, 0.01]}
table: all
record: {boundaries: every, patterns: epoch}
figures: [trajectories, animation, turns, moves, decision, convergence, sensitivity, flips, regions]
YAML
names="trajectories animation turns moves decision convergence sensitivity flips regions"
run 0 run plane.yaml --out plane-0
shows "plane: moves and turns of the boundaries in a step" "figures   plane-0/figures"
made plane-0/figures $names
run 0 run "$experiments/levy.yaml" --set seeds=2 --set epochs=40 --set figures=[moves,predictions,spectrum,trajectories] --out line-0
made line-0/figures moves predictions spectrum trajectories
# without gnuplot the data are the same
PATH=/nowhere run 0 run plane.yaml --seed 1 --out plane-1
PATH=/nowhere run 0 run "$experiments/levy.yaml" --seed 1 --set seeds=2 --set epochs=40 --set figures=[moves,predictions,spectrum,trajectories] --out line-1
for data in plane-0/figures/*.dat line-0/figures/{moves,spectrum,trajectories,predictions.p}*.dat; do
    check "$data does not depend on the seed" [ "$(md5sum <"$data")" != "$(md5sum <"${data/-0/-1}")" ]
done

# ---- any seed, or the median one; a leak is said in the picture
run 0 run plane.yaml --set seeds=3 --set table=all --set figures=[decision,turns,convergence] --set protocol=reference --out seeds
for name in decision turns; do
    check "$name: the median seed is not named" grep -q "^foot_seed = 'seed [012], closest to the median scores of 3 seeds'" seeds/figures/$name.gp
    check "$name: no leak" grep -q "^foot_leak = 'leak" seeds/figures/$name.gp
done
check "convergence is of all seeds" grep -q "^foot_seed = ''" seeds/figures/convergence.gp
check "the score leaks" grep -Eq "^score_0 = 'test accuracy [0-9.]+ \(leak\)'" seeds/figures/decision.gp
check "no median beside the score" grep -Eq "^median_0 = 'median of 3: [0-9.]+'" seeds/figures/decision.gp
shown=$(sed -n "s/^median_0 = 'median of 3: \(.*\)'/\1/p" seeds/figures/decision.gp)
middle=$(for seed in 0 1 2; do sed -n 's/.*"accuracy": \([0-9.e-]*\).*/\1/p' seeds/jobs/SP/lr-0.1/seed-$seed/result.json | head -1; done | sort -g | sed -n 2p)
check "the median is $middle, not $shown" [ "$(printf %.3f "$middle")" = "$shown" ]
check "the page names the seed" grep -Eq "Shown: seed [012], closest to the median scores of 3 seeds\. Its scores are biased" seeds/report.html
median=$(sed -n "s/^foot_seed = 'seed \([012]\),.*/\1/p" seeds/figures/decision.gp)
cp seeds/figures/decision.p0data.dat median.dat
for seed in 0 1 2; do
    run 0 figures seeds decision --seed $seed
    check "seed $seed is not named" grep -q "^foot_seed = 'seed $seed'" seeds/figures/decision.gp
    cp seeds/figures/decision.p0data.dat seed-$seed.dat
    run 0 figures seeds/jobs/SP/lr-0.1/seed-$seed decision
    check "seed $seed is another training" cmp -s seed-$seed.dat seeds/jobs/SP/lr-0.1/seed-$seed/figures/decision.p0data.dat
done
check "seeds are alike" sh -c '! cmp -s seed-0.dat seed-1.dat && ! cmp -s seed-1.dat seed-2.dat'
check "the median seed is not the one it says" cmp -s median.dat "seed-$median.dat"
run 0 figures seeds decision --seed median
check "--seed median" cmp -s seeds/figures/decision.p0data.dat median.dat
run 2 figures seeds decision --seed 3
fails argument key=seed path=seeds/experiment.yaml
run 2 figures seeds/jobs/SP/lr-0.1/seed-1 decision --seed 0
fails argument key=seed path=seeds/jobs/SP/lr-0.1/seed-1
run 2 figures seeds --seed first
fails argument key=seed

# ---- a run under protocol reference is drawn with the options that it had, and leaks only where the test part chose
before() { grep -v '^#' "$1/figures/predictions.p0.dat" | cut -d' ' -f1,2; }
own="--data levy --val 0 --standardize off --init glorot --dtype f64 --hidden 5 --epochs 3 --batch full --monitor train_loss"
run 0 train $own --protocol reference --out apart
run 0 train $own --out same
for name in apart same; do
    run 0 figures $name predictions
    check "$name: a leak where there is none" grep -Eq "^score_0 = 'test rmse [0-9.]+'" $name/figures/predictions.gp
done
run 0 train $own --record boundaries:epoch --out points
run 0 figures points --quiet
check "moves of points" [ -s points/figures/moves.gp ]
absent points/figures/turns.gp # points do not turn
for file in same/model.safetensors same/config.yaml; do
    run 1 figures $file
    fails format path=$file
done
check "another net before training" [ "$(before apart | md5sum)" = "$(before same | md5sum)" ]

# ---- again, by --resume and by name; the same run gives the same data
cp -r plane-0/figures before
rm -r plane-0/figures
PATH=/nowhere run 0 run plane.yaml --out plane-0 --resume
for data in before/*.dat before/*.gp; do
    check "another ${data#before/} after --resume" cmp -s "$data" plane-0/figures/"${data#before/}"
done
rm -r plane-0/figures
run 0 figures plane-0 turns flips
shows "plane-0/figures/turns.png" "plane-0/figures/flips.png"
made plane-0/figures turns flips
absent plane-0/figures/moves.png
run 0 figures plane-0 turns --json
shows '{"figures": ["plane-0/figures/turns"], "drawn": true}'
(cd plane-0/figures && rm turns.svg && gnuplot -e "format='svg'" turns.gp 2>/dev/null) || wrong "turns.gp does not run alone"
check "turns.svg was not drawn by turns.gp alone" [ -s plane-0/figures/turns.svg ]

# ---- one run
run 0 train --data crescents --rows 100 --epochs 5 --hidden 4 --batch 32 --record boundaries --out one
check "what was recorded" grep -Eq "^recorded  boundaries(:epoch)?: one/boundaries.npz, [0-9.]+ kB; draw with: spherelu figures one$" out
run 0 figures one
made one/figures trajectories animation turns moves decision convergence confusion regions
wide() { [ "$(od -An -tu1 -j6 -N2 "$1" | awk '{ print $1 + 256 * $2 }')" -ge "$2" ]; }
check "the animation of one run is large enough to look at" wide one/figures/animation.gif 400
absent one/figures/flips.gp one/figures/predictions.gp one/figures/sensitivity.gp
check "notes of a recorded run" [ ! -s err ]
run 0 train --data crescents --rows 100 --epochs 2 --hidden 4 --batch 32 --out bare
run 0 figures bare
made bare/figures decision convergence confusion regions
absent bare/figures/turns.gp bare/figures/moves.gp
notes key=record bare
run 0 figures bare --quiet
check "quiet" [ ! -s err ]
rm -r bare/figures
for name in trajectories turns moves; do
    run 1 figures bare $name
    fails format key=record path=bare
done
run 0 train --data crescents --rows 100 --epochs 2 --hidden 4 --norm ln --out ln --quiet
run 0 figures ln
absent ln/figures/regions.gp
cp -r bare stopped
rm stopped/model.safetensors stopped/result.json
run 0 figures stopped decision
check "its report" [ -s stopped/report.html ]
check "a stopped run" grep -q "not finished" stopped/figures/decision.gp
run 1 figures plane-0/jobs/SP
fails format path=plane-0/jobs/SP
run 1 boundaries plane-0
fails format path=plane-0
run 0 run "$experiments/fig1.yaml" --set figures=[] --out alone
run 1 figures alone turns
fails format path=alone/experiment.yaml
run 1 figures line-0 flips
fails format path=line-0/experiment.yaml
SPHERELU_FIGURES=nothere run 1 figures bare convergence
fails file key=SPHERELU_FIGURES
run 0 figures bare convergence
made bare/figures convergence
run 2 figures one turn
fails argument key=turn
run 2 figures
fails argument key=DIR
run 1 figures nowhere
fails file path=nowhere
run 1 figures one/figures
fails format path=one/figures
printf 'PK' >one/boundaries.npz
run 1 figures one turns
fails format path=one/boundaries.npz

# ---- one method without hyperplanes (ln), three classes, features of other scales: the others are drawn, and what is not
# is said
awk 'BEGIN { srand(3); print "east,height,kind"; for (i = 0; i < 150; i++) { a = rand() * 6.2831853; c = int(a / 2.0944);
    printf "%.4f,%.2f,%s\n", 0.01 * cos(a), 5000 * sin(a), substr("abc", c + 1, 1) } }' >kinds.csv
cat >kinds.yaml <<'YAML'
name: kinds
data: {name: kinds.csv, target: kind}
net: {hidden: [6, 5]}
train: {epochs: 5, batch: 32}
methods:
  - {name: GmP, param: gmp}
  - {name: LN, param: sp, norm: ln}
record: {boundaries: every, patterns: epoch}
figures: [trajectories, animation, turns, moves, decision, flips, regions]
YAML
run 0 run kinds.yaml --out kinds
shows "figures   kinds/figures"
made kinds/figures trajectories animation turns moves decision flips regions
check "LN's panel" grep -q "^note_1 = 'no hyperplanes'" kinds/figures/trajectories.gp
check "LN's line" grep -q "^label_1 = 'LN.*(no hyperplanes)'" kinds/figures/turns.gp
for k in 0 1 2; do
    check "class $k is no colour of the map" grep -q "^[^ ]* [^ ]* $k " kinds/figures/decision.p0map.dat
done
check "names of classes" grep -q "^class_2 = 'c'" kinds/figures/decision.gp
# the largest of all layers, of which the table has each
check "turns: the largest of all layers is not the table's" \
    [ "$(awk '$2 ~ /^[0-9]/ && $2 > most { most = $2 } /^$/ && NR > 9 { exit } END { printf "%.3g", most }' kinds/figures/turns.p0.dat)" = \
    "$(grep '^GmP,' kinds/motion.csv | cut -d, -f8 | sort -g | tail -1 | xargs printf '%.3g')" ]
run 1 run kinds.yaml --set methods='[{name: LN, param: sp, norm: ln}]' --set figures='[turns, decision, moves]' --out only
has_error failed key=figures turns moves
made only/figures decision
check "the report says it" grep -q "turns: " only/report.html
run 0 train --data kinds.csv --target kind --hidden 6 --norm ln --epochs 3 --batch 32 --record boundaries --out ln-run
run 0 figures ln-run
notes key=figures trajectories turns
made ln-run/figures decision convergence confusion
check "the report says it" grep -q "turns: " ln-run/report.html
echo old > ln-run/figures/turns.png # of an earlier drawing
run 1 figures ln-run turns
check "an old picture stays" [ ! -e ln-run/figures/turns.png ]
fails format path=ln-run

# ---- without gnuplot data and scripts are there, and how to get it is said
rm -r plane-1/figures
PATH=/nowhere run 0 figures plane-1 turns
notes key=gnuplot
check "paths of files that are not there: $(cat out)" [ "$(head -1 out)" = plane-1/figures/turns.gp ]
check "script" [ -s plane-1/figures/turns.gp ]
check "data" [ -s plane-1/figures/turns.p0.dat ]
absent plane-1/figures/turns.png
PATH=/nowhere run 0 run plane.yaml --seed 1 --set figures=[turns,moves] --out without
notes key=figures gnuplot
check "more than one line: $(cat err)" [ "$(wc -l <err)" -eq 1 ]
check "script" [ -s without/figures/moves.gp ]

# ---- a figure that needs what the file does not have is refused before the first job
run 1 run plane.yaml --set record={} --out never
fails format key=figures path=plane.yaml line=11
absent never
finish
