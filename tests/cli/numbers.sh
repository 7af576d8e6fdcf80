#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Numbers at the edge of what they can be: cells too large for f32, predictions that are none, constant targets, spreads that are
# tiny, the loss of batches of unequal size; and JSON that has what the text has.
. "$(dirname "$0")/lib.bash"

# ---- a cell too large for f32
awk 'BEGIN { srand(5); print "a,b,kind"
    for (i = 0; i < 90; i++) { a = rand(); b = rand(); printf "%.6f,%.6f,%s\n", a, b, (a > b ? "bee" : a + b > 1 ? "ant" : "cat") } }' >three.csv
small=(--quiet --hidden 8 --epochs 20)
run 0 train --data three.csv "${small[@]}" --out three
run 0 train --data three.csv "${small[@]}" --ensemble 2 --out several
run 0 train --data three.csv "${small[@]}" --dtype f64 --out wide
{ head -4 three.csv && echo 1e39,0.5,ant && tail -3 three.csv; } >large.csv
for which in three several; do
    run 1 predict $which --data large.csv
    fails format key=a path=large.csv line=5
    run 1 predict $which --data large.csv --out none.csv
    fails format key=a path=large.csv line=5
    absent none.csv
    for command in "eval" "eval --confusion" "importance --repeats 1"; do
        # shellcheck disable=SC2086
        run 1 ${command%% *} $which ${command#"${command%% *}"} --data large.csv
        fails format key=a path=large.csv line=5
    done
done
run 0 predict wide --data large.csv
check "f64 holds 1e39" [ "$(wc -l <out)" -eq 8 ]
"$SPHERELU" predict three --data - <large.csv >out 2>err
check "standard input" [ $? -eq 1 ]
has_error format key=a
check "half of the predictions were written" [ ! -s out ]

# ---- one that f32 holds, and the net's sums do not
run 0 train --data three.csv --quiet --param sp --hidden 64,64,64 --epochs 20 --no-report --out deep
{ head -4 three.csv && echo 0.5,9e37,ant && tail -3 three.csv; } >edge.csv
run 1 predict deep --data edge.csv
fails format key=b path=edge.csv line=5
run 0 eval deep --data edge.csv
for metric in loss accuracy balanced_accuracy log_loss f1 auc; do
    check "$metric of a prediction that is no number" grep -qE "^$metric +undefined" out
done
run 0 eval deep --data edge.csv --json
check "not all scores are null: $(cat out)" sh -c '! grep -qE "\"(loss|accuracy|f1|auc|log_loss|balanced_accuracy)\": [^n]" out'
run 1 eval deep --data edge.csv --confusion
fails format key=row

# ---- the same of real targets, and in training
awk 'BEGIN { srand(6); print "a,b,y"
    for (i = 0; i < 100; i++) { a = rand(); b = rand(); printf "%.6f,%.6f,%.6f\n", a, b, a - b } }' >real.csv
run 0 train --data real.csv --target y "${small[@]}" --out real
{ cat real.csv && echo 0.5,0.5,-1e39; } >far.csv
run 1 eval real --data far.csv
fails format key=y path=far.csv line=102
{ cat real.csv && echo 0.5,1e39,0; } >off.csv
run 1 train --data off.csv --target y "${small[@]}" --standardize off --out no
fails format key=b path=off.csv
run 0 train --data off.csv --target y "${small[@]}" --split random --test 0 --out in # its own spread makes it small

# ---- a target that is constant in the part that is scored
awk 'BEGIN { srand(7); print "a,u,v"
    for (i = 0; i < 120; i++) { a = rand(); printf "%.6f,%.6f,%.6f\n", a, 3 * a, a * a } }' >both.csv
{ head -1 both.csv && awk -F, 'NR > 1 && NR < 50 { print $1 ",0.1," $3 }' both.csv; } >tenth.csv
run 0 train --data both.csv --target u,v "${small[@]}" --out both
run 0 eval both --data tenth.csv
check "r2 of a constant: $(grep ' u:' out)" grep -qE '^target +u: .* r2 0$' out
run 0 eval both --data tenth.csv --json
check "r2 of a constant: $(cat out)" grep -qE '"u": \{[^}]*"r2": 0\.0\}' out
check "r2 of the other: $(cat out)" grep -qE '"v": \{[^}]*"r2": -?[0-9.e-]+\}' out

# ---- a spread of 1e-200: the same net as of the same numbers times 2^665, and errors in their units
awk 'NR == 1 { print; next } { split($0, c, ","); printf "%.17g,%s,%.17g\n", c[1] * 2 ^ -665, c[2], c[3] * 2 ^ -665 }' real.csv >tiny.csv
for dtype in f32 f64; do
    run 0 train --data real.csv --target y "${small[@]}" --dtype $dtype --no-report --out usual-$dtype
    run 0 train --data tiny.csv --target y "${small[@]}" --dtype $dtype --no-report --out tiny-$dtype
    check "$dtype: another training of a tiny column" cmp -s <(sed 's/"val_\(rmse\|mae\)":[^,]*,//g; s/"seconds".*//' usual-$dtype/metrics.jsonl) \
        <(sed 's/"val_\(rmse\|mae\)":[^,]*,//g; s/"seconds".*//' tiny-$dtype/metrics.jsonl)
    run 0 eval usual-$dtype --json
    usual=$(json out rmse) r2=$(json out r2)
    run 0 eval tiny-$dtype --json
    check "$dtype: rmse $(json out rmse), of the usual $usual" awk -v a="$(json out rmse)" -v b="$usual" 'BEGIN { exit !(a * 2 ^ 665 > b * 0.999999 && a * 2 ^ 665 < b * 1.000001) }'
    check "$dtype: r2 $(json out r2), of the usual $r2" [ "$(json out r2)" = "$r2" ]
done
awk 'NR == 1 { print "t," $0; next } { printf "%.17g,%s\n", 1e9 + NR % 3 * 1.2e-7, $0 }' real.csv >clock.csv
run 0 train --data clock.csv --target y --hidden 8 --epochs 2 --no-report --out clock
notes "'t'"
run 0 train --data real.csv --target y --hidden 8 --epochs 2 --no-report --out told
check "a note of nothing: $(cat err)" sh -c "! grep -q \"'\" err"

# ---- the loss of an epoch counts every sample once: at a rate of almost 0 it does not depend on the batch
for batch in full 32 7; do
    run 0 train --data real.csv --target y --hidden 8 --epochs 1 --lr 1e-30 --dtype f64 --batch $batch --no-report --quiet --out batch-$batch
    json batch-$batch/metrics.jsonl train_loss >>losses
done
check "losses by batch: $(tr '\n' ' ' <losses)" awk 'NR == 1 { a = $1 } { exit_code = $1 > a * (1 + 1e-12) || $1 < a * (1 - 1e-12) ? 1 : exit_code } END { exit exit_code + (NR != 3) }' losses

# ---- JSON has the text's numbers, and counts are whole
run 0 compare three wide --json
check "no difference: $(cat out)" grep -qE '"difference": -?[0-9.e-]+, "difference_error": [0-9.e-]+, "ahead_behind": "([0-9]+) : ([0-9]+)", "ahead": [0-9]+, "behind": [0-9]+,' out
difference=$(sed 's/.*"difference": \(-*[0-9.e-]*\),.*/\1/' out)
run 0 compare three wide
check "another difference in JSON ($difference) than in the text" awk -v d="$difference" '/^wide / { for (i = 1; i <= NF; i++) if ($i == "+-") found = ($(i - 1) - d) ^ 2 <= (1e-3 * d) ^ 2 + 1e-12 } END { exit !found }' out
check "the number of members is no whole number: $(head -1 several/metrics.jsonl)" grep -q '"members":2[,}]' several/metrics.jsonl

# ---- the progress of an ensemble has its loss
SPHERELU_PROGRESS_SECONDS=0.01 signalled INT '[ $(grep -c "  loss " err) -ge 3 ]' train --data real.csv --target y --hidden 64,64 \
    --epochs 3000 --patience 0 --batch 8 --ensemble 2 --no-report --out lines
check "no line with a loss: $(head -3 err)" grep -qE '^epoch [0-9]+/3000 .* left  loss [0-9.e-]+' err
check "a loss of 0: $(grep -m 1 'loss 0 ' err)" sh -c '! grep -qE "loss 0( |$)" err'

finish
