#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A table as it comes from somebody's desk, from the first refusal to the page one shows around: nothing silent.
. "$(dirname "$0")/lib.bash"

# shop ROWS: ids, dates, a constant, remarks, groups, weights, missing cells; target price
shop() {
    awk -v rows="$1" 'BEGIN {
        srand(3); print "id,when,town,rooms,same,remark,site,w,price,rent"
        for (i = 0; i < rows; i++) {
            month = 1 + int(12 * rand()); r = 1 + int(7 * rand()); t = int(3 * rand())
            printf "%d,%d-%02d-%02d,%s,%s,7,remark %d of many,%d,%.3f,%.1f,%.1f\n", i + 1, 2019 + int(3 * rand()), month,
                1 + int(28 * rand()), substr("ABC", t + 1, 1), i % 37 == 5 ? "" : r, i, i / 20, rand(),
                1000 * r + 3000 * (month == 7) + 100 * rand(), 10 * r + 5 * t + rand()
        }
    }'
}
shop 400 >shop.csv

# ---- what cannot be used is named at once, with what to do
run 1 train --data shop.csv --target price --drop none --out refused
fails format key=remark path=shop.csv
awk 'BEGIN { print "a,b,x,y"; for (i = 0; i < 80; i++) printf "p%d,q%d,%d,%d.5\n", i, i, i % 9, i % 11 }' >words.csv
run 1 train --data words.csv --drop none --out refused
fails format key=a path=words.csv
absent refused

# ---- --drop auto, dates, counts
run 0 train --data shop.csv --target price --drop auto,rent --epochs 60 --out first
check "no page is told of" grep -q '^report    first/report.html$' out
check "filled cells are not told: $(cat out)" grep -q 'rooms 11' out
for column in id same remark when; do
    notes "'$column'"
done
run 0 train --data shop.csv --target price --drop auto,rent --epochs 60 --out again --quiet --no-report
check "--quiet is not quiet" [ ! -s err ]
absent again/report.html
same_run first again
run 0 train --resume --json --quiet --no-report --out again
shows '"counts": "' 'rooms 11"'
awk 'BEGIN { for (row = 0; row < 4; row++) for (i = 0; i < 20000; i++)
    printf "%s%d%s", row ? "v" row "_" : "name", i, i < 19999 ? "," : "\n" }' >wide.csv
began=$SECONDS
run 1 train --data wide.csv --drop auto --out refused
fails format path=wide.csv
check "$((SECONDS - began)) seconds for 20,000 columns" [ $((SECONDS - began)) -lt 300 ]
run 0 show first/model.safetensors
shows "columns     id, when, town, rooms, "

# ---- the task is announced
awk 'BEGIN { srand(1); print "x,quality"; for (i = 0; i < 90; i++) print rand() "," 3 + i % 6 }' >wine.csv
awk 'BEGIN { srand(1); print "x,kind"; for (i = 0; i < 90; i++) print rand() "," i % 3 }' >kinds.csv
run 0 train --data wine.csv --epochs 3 --out wine
notes "'quality'" --task
check "numbers are no numbers" grep -q '^training  regression' out
run 0 train --data kinds.csv --epochs 3 --out kinds
notes "'kind'" --task
check "numbered classes are no classes" grep -q '^training  classes' out
run 0 train --data kinds.csv --task regression --epochs 3 --out numbers --quiet
check "--task is not heeded" grep -q '^training  regression' out

# ---- splits by group and time, weights
run 0 train --data shop.csv --target price --drop auto,rent --group site --epochs 5 --quiet --out groups
run 0 train --data shop.csv --target price --drop auto,rent,site --time when --weights w --epochs 5 --quiet --out times
check "a group is on two sides" awk -F'[:,]' '
    { sub(/"content":"[^"]*",/, ""); part = "" }
    { for (i = 1; i <= NF; i++) { if ($i ~ /train|val|test/) { part = $i; gsub(/[^a-z]/, "", part) }
        cell = $i; gsub(/[^0-9]/, "", cell); if (cell == "" || part == "") continue
        site = int(cell / 20); if ((site in of) && of[site] != part) bad = 1; of[site] = part } }
    END { for (s in of) count++; exit bad || count != 20 }' <(tr -d ' \n' <groups/split.json)
# ---- rows of one time are on one side: 10 rows an hour, and shares that no hour ends at
awk 'BEGIN { print "hour,x,y"; for (i = 0; i < 120; i++) print int(i / 10) "," i % 7 "," (i * 13) % 31 ".5" }' >hours.csv
run 0 train --data hours.csv --target y --time hour --test 0.21 --val 0.13 --epochs 2 --quiet --out hours
check "an hour is on two sides: $(cat hours/split.json)" awk '
    { gsub(/"content": *"[^"]*",?/, ""); n = split($0, word, /[^a-z0-9]+/)
      for (i = 1; i <= n; i++) if (word[i] ~ /^[a-z]+$/) part = word[i]
          else if (word[i] != "") { hour = int(word[i] / 10); if ((hour in of) && of[hour] != part) bad = 1
              of[hour] = part; rows[part]++ } }
    END { exit bad || rows["test"] != 30 || rows["val"] != 20 || rows["train"] != 70 }' <(tr -d '\n' <hours/split.json)
run 2 train --data hours.csv --target y --time hour --test 0.95 --val 0 --out nowhere
fails argument key=time
run 2 train --data shop.csv --target price --drop auto --group place --out nowhere
fails argument key=group path=shop.csv
run 2 train --data shop.csv --target price --drop auto --group site --split stratified --out nowhere
fails argument key=group
run 2 train --data shop.csv --target price --drop auto --class-weight balanced --out nowhere
fails argument key=class-weight
sed 's/^\(\([^,]*,\)\{7\}\)[^,]*/\10/; 1s/.*/id,when,town,rooms,same,remark,site,w,price,rent/' shop.csv >zero.csv
run 2 train --data zero.csv --target price --drop auto --weights w --out nowhere
fails argument key=weights
absent nowhere
awk 'BEGIN { srand(5); print "u,v,rare"; for (i = 0; i < 600; i++) { y = i % 15 == 0; print rand() + 0.4 * y "," rand() "," (y ? "yes" : "no") } }' >rare.csv
run 0 train --data rare.csv --epochs 60 --quiet --out plain
run 0 train --data rare.csv --epochs 60 --quiet --class-weight balanced --out balanced
rare=$(grep -c ',yes$' rare.csv)
for name in plain balanced; do
    run 0 predict $name --data rare.csv --out $name.csv
    printf -v yes_$name %d "$(grep -c '^yes,' $name.csv)"
done
# shellcheck disable=SC2154 # printf -v
check "of $rare rare rows $yes_plain are found, balanced $yes_balanced" [ "$yes_balanced" -gt $((2 * yes_plain + rare)) ]

# ---- what is kept of the best epoch: its weights at its end; of a single epoch those that patience 0 keeps, the last
for nets in 1 2; do
    for batch in full 16; do
        for patience in 0 5; do
            run 0 train --data hours.csv --target y --hidden 4 --val 0 --batch $batch --epochs 1 --ensemble $nets \
                --patience $patience --quiet --out one-$nets-$batch-$patience
        done
        check "$nets nets, batch $batch: the trained net is not kept" \
            cmp one-$nets-$batch-0/model.safetensors one-$nets-$batch-5/model.safetensors
        check "$nets nets, batch $batch: the best epoch is not the one there is" \
            [ "$(json one-$nets-$batch-5/result.json best_epoch)" = 1 ]
    done
done

jumps=(--data hours.csv --target y --hidden 8 --val 0 --batch full --lr 0.7 --schedule none --patience 50 --quiet)
run 0 train "${jumps[@]}" --epochs 30 --out whole
run 0 train "${jumps[@]}" --epochs 7 --checkpoint-seconds 0 --out parts
run 0 train --resume --epochs 30 --quiet --out parts
check "resumed, another epoch's weights are kept" cmp whole/model.safetensors parts/model.safetensors

# ---- robust scaling: one row far out; resumed, with members, refused where boundaries must be straight
awk 'BEGIN { srand(8); print "x,size,town,y"; for (i = 0; i < 200; i++) { x = rand(); s = i == 7 ? 1e9 : 50 + 20 * rand(); t = i % 3
    print x "," s "," substr("ABC", t + 1, 1) "," 3 * x + (i == 7 ? 0 : s / 20) + t } }' >far.csv
far=(--data far.csv --target y --hidden 12 --scale robust --indicators raw --quiet)
for nets in 1 3; do
    run 0 train "${far[@]}" --ensemble $nets --epochs 30 --out far-$nets
    run 0 train "${far[@]}" --ensemble $nets --epochs 30 --out parts-$nets --checkpoint-seconds 0
    rm parts-$nets/result.json parts-$nets/model.safetensors
    run 0 train --resume --quiet --out parts-$nets
    same_run far-$nets parts-$nets
    run 0 predict far-$nets --data far.csv --out far.pred
    check "$nets nets: a row far out is no number" awk -F, 'NR > 1 && ($1 == "" || $1 + 0 != $1) { exit 1 }' far.pred
done
run 0 train "${far[@]}" --scale standard --epochs 30 --out near
rmse() { sed -n 's/.*"rmse": *\([0-9.e-]*\).*/\1/p' out | head -1; }
run 0 eval far-1 --json; robust=$(rmse)
run 0 eval near --json; standard=$(rmse)
check "robust scaling has $robust, standard $standard" awk "BEGIN { exit !($robust < 0.5 * $standard) }"
run 0 boundaries far-1 --layer 0
notes key=scale
check "a point in the data's units is missing" grep -q phi_net_1 out
run 0 importance far-1
run 2 regions far-1 --plane 0,1,2
fails argument key=scale
run 2 train "${far[@]}" --record boundaries --epochs 2 --out nowhere
fails argument key=scale
run 2 train "${far[@]}" --standardize off --epochs 2 --out nowhere
fails argument key=scale
run 2 train --data crescents --rows 100 --epochs 1 --scale strong --out nowhere
fails argument key=scale
absent nowhere

# ---- text with many values: 80 towns by their means, names of one row each as ever; the same numbers everywhere
awk 'BEGIN { srand(9); print "town,name,x,y"; for (i = 0; i < 1200; i++) { t = int(80 * rand()); x = rand()
    print (i % 100 == 3 ? "lone" i : "t" t) ",n" i "," x "," (t * 37 % 80) / 8 + x } }' >towns.csv
towns=(--data towns.csv --target y --epochs 40 --quiet --no-report)
for nets in 1 3; do
    run 0 train "${towns[@]}" --ensemble $nets --out towns-$nets
    run 0 train "${towns[@]}" --ensemble $nets --out again-$nets --checkpoint-seconds 0
    rm again-$nets/result.json again-$nets/model.safetensors
    run 0 train --resume --quiet --no-report --out again-$nets
    same_run towns-$nets again-$nets
    run 0 eval towns-$nets --json
    cp out own.json
    python3 - towns-$nets <<'EOF'
import json, sys
rows = open("towns.csv").read().splitlines()
test = json.load(open(sys.argv[1] + "/split.json"))["test"]
open("test-rows.csv", "w").write("\n".join([rows[0]] + [rows[1 + i] for i in test]) + "\n")
EOF
    run 0 eval towns-$nets --data test-rows.csv --json
    check "$nets nets: test rows have other numbers in a file" cmp -s own.json out
    run 0 importance towns-$nets
    check "$nets nets: towns do not matter" awk '$1 == "town" && $2 > 1 { found = 1 } END { exit !found }' out
    run 0 show towns-$nets
    shows "mean target of 81 levels" "left out: it is free text" "(x - "
done
run 0 train --data towns.csv --target y --epochs 2 --no-report --out towns-told
check "no table of columns" grep -q '^town .*mean target of 81 levels' out
run 1 train "${towns[@]}" --drop none --out nowhere
fails format key=name path=towns.csv
printf 'town,name,x\nt5,a,0.5\nnowhere,b,0.5\nlone3,c,0.5\n,d,0.5\n' >visit.csv
run 0 predict towns-1 --data visit.csv --out visited.csv
check "new towns are not like rare ones" [ "$(sed -n 3p visited.csv)" = "$(sed -n 4p visited.csv)" ]
notes "column 'town': 1 cell with a value that did not occur in training, such as 'nowhere'"
run 1 predict towns-1 --data visit.csv --strict --out visited.csv
fails format key=town path=visit.csv line=3

# ---- predictions: words that training did not see, columns carried along, stdin, packed
sed '2s/,[ABC],/,Z,/; 3s/,[ABC],/,Y,/' shop.csv >new.csv
run 0 predict first --data new.csv --keep id,when --out p.csv
notes "2 cells"
check "kept columns are not there: $(head -1 p.csv)" [ "$(head -1 p.csv)" = id,when,prediction ]
check "another row is kept" [ "$(sed 1d p.csv | cut -d, -f1,2)" = "$(sed 1d new.csv | cut -d, -f1,2)" ]
run 1 predict first --data new.csv --strict
fails format key=town path=new.csv line=2
run 2 predict first --data new.csv --keep nothing
fails argument key=keep path=new.csv
"$SPHERELU" predict first --data - --keep id,when <new.csv >piped.csv 2>err
check "stdin is another table" cmp -s p.csv piped.csv
gzip -c new.csv >new.csv.gz
run 0 predict first --data new.csv.gz --keep id,when --out q.csv
check "gzip is another table" cmp -s p.csv q.csv
if command -v zstd >/dev/null; then
    zstd -q new.csv -o new.csv.zst
    run 0 predict first --data new.csv.zst --keep id,when --out z.csv
    check "zstd is another table" cmp -s p.csv z.csv
    head -c 60 new.csv.zst >cut.csv.zst
    run 1 predict first --data cut.csv.zst
    fails format path=cut.csv.zst
else
    skipped "zstd is not installed"
fi
cp new.csv wrong.zst
run 1 predict first --data wrong.zst
fails format path=wrong.zst
"$SPHERELU" train --data - --target price --drop auto,rent --epochs 60 --quiet --no-report --out piped <shop.csv >out 2>err
check "training from stdin: $(cat err)" cmp -s piped/model.safetensors first/model.safetensors
run 2 eval piped
fails argument key=data
awk 'BEGIN { srand(2); for (i = 0; i < 60; i++) { a = rand(); b = rand(); printf "%d 1:%.4f 3:%.4f\n", (a > b ? 1 : -1), a, b } }' >t.libsvm
run 0 train --data t.libsvm --epochs 30 --out svm
notes "'x2'" # the second feature is 0 in all rows
check "libsvm" grep -q "t.libsvm: 60 rows, 2 features" out
check "the task of libsvm" grep -q "training  binary" out

# ---- several targets, one by one
run 0 train --data shop.csv --target price,rent --drop auto --epochs 30 --quiet --out two
check "targets are not scored one by one: $(cat out)" grep -qE '^test      rent: rmse [0-9.]+, mae [0-9.]+, r2 ' out
run 0 eval two
check "eval tells no targets" grep -q '^target    price: rmse ' out
run 0 eval two --json
shows '"targets": {"price": {"rmse": '

# ---- importance
run 0 importance first
shows "rmse" "10 times"
check "rooms are not what prices rest on: $(sed -n 4p out)" grep -q '^rooms ' <(sed -n 4p out)
cp out once
run 0 importance first
check "importance is another one the second time" cmp -s once out
run 0 importance first --metric r2 --repeats 3 --seed 5 --data new.csv --json
shows '"metric": "r2"' '"repeats": 3' '"column": "rooms"' '"spread": '
check "every repetition shuffles alike: $(cat out)" grep -q '"spread": [0-9.]*[1-9]' out
run 2 importance first --metric accuracy
fails argument key=metric
run 2 importance first --metric rmsee
fails argument key=metric
run 2 importance first --repeats 0
fails argument key=repeats

# ---- compare
run 0 train --data shop.csv --target price --drop auto,rent --param sp --epochs 60 --quiet --out sp
run 0 train --data shop.csv --target price --drop auto,rent --seed 1 --epochs 5 --quiet --out other
run 0 compare first sp other --out compared.html
check "what was not compared is not explained" [ "$(grep -c : out)" -ge 2 ]
check "no pairs: $(cat out)" grep -qE '^sp .* rmse .* 80 .* \+- .* [0-9]+ : [0-9]+$' out
check "no page with the curves" grep -q 'Validation losses by epoch' compared.html
run 0 compare first other
check "pairs of other rows" sh -c '! grep -qE " [0-9]+ : [0-9]+$" out'
run 0 compare first sp --json
shows '"run": "sp"' '"ahead_behind": "'
check "the difference is not that of the RMSEs" awk -v d="$(tr -d ' \n' <out | grep -o '"difference":-*[0-9][^,]*' | tail -1 | cut -d: -f2)" \
    -v a="$(json first/result.json test rmse)" -v b="$(json sp/result.json test rmse)" 'BEGIN { exit !((d - (b - a)) ^ 2 <= (1e-6 * a) ^ 2) }'
run 0 train --data shop.csv --target price --drop auto,rent --epochs 5 --ensemble 2 --quiet --no-report --out pair
run 0 compare pair sp
check "an ensemble is compared with one network without a warning" grep -q '^warning: an ensemble' out
run 2 compare first
fails argument key=RUN
run 1 compare first nothing
fails file path=nothing
cp -r sp unread && rm unread/result.json && mkdir unread/result.json
run 1 compare first unread # a result that is there and is not read is no missing one
fails file path=unread/result.json

# ---- the page
for part in "Curves" "price" "spherelu train"; do
    check "report.html lacks: $part" grep -qF "$part" first/report.html
done
check "a run of classes has no calibration" grep -qF "Calibration" kinds/report.html

# ---- more epochs; not fewer, and not with a schedule that depends on their number
run 0 train --data shop.csv --target price --drop auto,rent --schedule none --patience 0 --epochs 30 --quiet --out short
run 0 train --data shop.csv --target price --drop auto,rent --schedule none --patience 0 --epochs 50 --quiet --out long
run 0 train --resume --epochs 50 --quiet --out short
same_run long short
refuses "argument key=epochs" train --resume --epochs 40 --quiet --out short
check "a refused number is in config.yaml" grep -q "epochs: 50$" short/config.yaml
run 0 train --data shop.csv --target price --drop auto,rent --schedule cosine --epochs 5 --quiet --out cosine
refuses "argument key=epochs" train --resume --epochs 6 --quiet --out cosine
run 0 train --resume --epochs 5 --quiet --out cosine

# ---- lines of progress where stderr is no terminal
SPHERELU_PROGRESS_SECONDS=0.01 "$SPHERELU" train --data shop.csv --target price --drop auto --epochs 3000 --batch 8 --patience 0 --hidden 64,64 --no-report --out lines >out 2>err
check "no line of progress: $(head -3 err)" grep -qE '^epoch [0-9]+/3000 step [0-9]+/[0-9]+  .* left  loss ' err
SPHERELU_PROGRESS_SECONDS=0.1 signalled INT 'grep -q steps/s err' train --data shop.csv --target price --drop auto --epochs 2000000000 --patience 0 --no-report --out endless
check "the rate has no digits: $(grep -m1 steps/s err)" grep -qE '  [0-9.]+ steps/s  ' err

# ---- how long it will take, before it begins
notes key=epochs " 2000000000 "
check "hours are not told: ${message[text]}" grep -qE ' [0-9]+:[0-9]+:[0-9]+ ' <<<"${message[text]}"
check "it is told too late" grep -q '"epochs"' <(grep -m1 -B9 '^epoch ' err)
run 0 train --data shop.csv --target price --drop auto --epochs 100000 --patience 0 --dry-run --json
epochs=$(awk "BEGIN { printf \"%d\", 1e5 * 600 / $(json out seconds) }") # ten minutes
SPHERELU_PROGRESS_SECONDS=0.1 signalled INT 'grep -q steps/s err' train --data shop.csv --target price --drop auto --epochs "$epochs" --patience 0 --no-report --out minutes
notes key=epochs " $epochs "
check "minutes are not told: ${message[text]}" grep -qE ' [0-9]+:[0-9]+(:[0-9]+)? ' <<<"${message[text]}"
run 0 train --data shop.csv --target price --drop auto --epochs 20 --seed 4 --out told
check "what is over in a second is told how long it takes: $(cat err)" sh -c '! grep -q \"epochs\" err'
run 0 train --data shop.csv --target price --drop auto --epochs 20 --seed 4 --quiet --out untold
same_run told untold # the steps that were measured are forgotten

# ---- the bar names what no step tells of
if command -v script >/dev/null; then
    bar() { env -u NO_COLOR TERM=xterm script -qec "stty cols 200; \"$SPHERELU\" $*" /dev/null | tr '\r' '\n' >bar; }
    bar train --data shop.csv --target price --drop auto --epochs 20 --out barred
    check "scoring is not named: $(cat bar)" grep -q '\] *.*scoring all rows' bar
    check "drawing is not named" grep -q '\] *.*drawing the report' bar
    bar eval barred
    check "eval names nothing: $(cat bar)" grep -q '\] *.*scoring' bar
    bar figures barred convergence
    check "figures names nothing: $(cat bar)" grep -q '\] *.*drawing figures' bar
    printf 'name: tiny\ndata: {name: crescents}\ntrain: {epochs: 3}\nmethods: [{name: GmP, param: gmp}]\nfigures: [convergence]\n' >tiny.yaml
    bar run tiny.yaml --out tiny
    check "run names nothing: $(cat bar)" grep -q '\] *.*drawing figures  0 of 1' bar
else
    skipped "script is not installed"
fi
finish
