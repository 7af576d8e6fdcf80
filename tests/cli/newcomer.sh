#!/bin/bash
# SPDX-License-Identifier: MIT
#
# As a new user would try it: no option but --data, --target and --out, on tables as they come. On average over five
# seeds the network must beat linear regression on the same rows, which is worked out here, apart from the tool.
. "$(dirname "$0")/lib.bash"

for name in boston wine; do
    gzip -dc "$SOURCE_DIR/data/uci/$name.txt.gz" >$name.txt
done

# linear NUMBERS RUN: test RMSE of least squares on the run's training and validation rows. NUMBERS: a table without a
# header, blanks between the columns, the target last.
linear() {
    tr -d ' \n' <"$2/split.json" | sed 's/"content":"[^"]*",//; s/"test":/\n&/; s/[^0-9,\n]//g' | tr , ' ' >rows
    awk '
    FILENAME == "rows" { for (i = 1; i <= NF; i++) part[$i] = FNR == 2 ? "test" : "fit"; next }
    NF == 0 { next }
    {
        n = NF; x[n] = 1
        for (i = 1; i < n; i++) x[i] = $i
        if (part[row++ + 0] == "test") { line[++tests] = $0; next }
        for (i = 1; i <= n; i++) { for (j = 1; j <= i; j++) a[i, j] += x[i] * x[j]; b[i] += x[i] * $NF }
    }
    END { # Cholesky with a ridge that only breaks ties
        for (i = 1; i <= n; i++) {
            a[i, i] *= 1 + 1e-8
            for (j = 1; j <= i; j++) {
                s = a[i, j]
                for (k = 1; k < j; k++) s -= l[i, k] * l[j, k]
                l[i, j] = i == j ? sqrt(s) : s / l[j, j]
            }
        }
        for (i = 1; i <= n; i++) { s = b[i]; for (k = 1; k < i; k++) s -= l[i, k] * z[k]; z[i] = s / l[i, i] }
        for (i = n; i; i--) { s = z[i]; for (k = i + 1; k <= n; k++) s -= l[k, i] * w[k]; w[i] = s / l[i, i] }
        for (t = 1; t <= tests; t++) {
            split(line[t], v); p = w[n]
            for (i = 1; i < n; i++) p += w[i] * v[i]
            sum += (v[n] - p) ^ 2
        }
        printf "%.5f", sqrt(sum / tests)
    }' rows "$1"
}

# beats NAME DATA TARGET NUMBERS
beats() {
    local name=$1 seed ours theirs ours_all=0 theirs_all=0
    for seed in 0 1 2 3 4; do
        if [ $seed -eq 0 ]; then
            run 0 train --data "$2" --target "$3" --out "$name$seed"
            grep -v -e --task -e "'id'" err >rest
            mv rest err # but for the notes on the task and the id
            shows "test " "rmse "
        else
            run 0 train --data "$2" --target "$3" --out "$name$seed" --seed $seed
        fi
        ours=$(json "$name$seed/result.json" test rmse)
        theirs=$(linear "$4" "$name$seed")
        printf '%-9s seed %d: rmse %.4f, linear regression %.4f\n' "$name" $seed "$ours" "$theirs"
        ours_all=$(awk "BEGIN { print $ours_all + $ours / 5 }")
        theirs_all=$(awk "BEGIN { print $theirs_all + $theirs / 5 }")
    done
    printf '%-9s mean:   rmse %.4f, linear regression %.4f\n' "$name" "$ours_all" "$theirs_all"
    check "$name: not better than linear regression" awk "BEGIN { exit !($ours_all < $theirs_all) }"
}

beats boston boston.txt 13 boston.txt
beats wine wine.txt 11 wine.txt

# Houses: words, dollars, thousands, empty cells; and the same as plain numbers.
awk 'BEGIN {
    srand(5); split("brick,wood,concrete", wall, ","); split("north,east,south,west,old town", place, ",")
    print "id,rooms,area,walls,place,taxes,built,price" >"houses.csv"
    for (i = 0; i < 900; i++) {
        rooms = 1 + int(rand() * 7); area = 25 * rooms + rand() * 40; w = 1 + int(rand() * 3); p = 1 + int(rand() * 5)
        taxes = 300 + rand() * 4000; built = 1900 + int(rand() * 120)
        price = 40000 + 900 * area * (1 + 0.25 * (p == 5) * (built < 1930)) + 20000 * (w == 1) - 12 * taxes + \
            900 * sqrt((built - 1960) ^ 2) + 15000 * (rand() - 0.5)
        no_area = i % 13 == 4; no_walls = i % 29 == 7
        printf "%d,%d,%s,%s,%s,\"$%d,%03d.00\",%d,\"$%d,%03d\"\n", i + 1, rooms, no_area ? "" : sprintf("%.1f", area),
            no_walls ? "NA" : wall[w], place[p], taxes / 1000, taxes % 1000, built, price / 1000, price % 1000 >"houses.csv"
        printf "%d %d %.1f %d", i + 1, rooms, no_area ? 120 : area, no_area >"houses.txt"
        for (k = 1; k <= 3; k++) printf " %d", k == w && !no_walls >"houses.txt"
        for (k = 1; k <= 5; k++) printf " %d", k == p >"houses.txt"
        printf " %d %d %d\n", taxes, built, price >"houses.txt"
    }
}'
beats houses houses.csv price houses.txt
run 0 predict houses0 --data houses.csv --out p.csv
check "a house costs $(sed -n 2p p.csv)" awk -F, 'NR > 1 && ($1 < 1000 || $1 > 1e6) { bad = 1 } END { exit bad }' p.csv

# What the tool knows by name needs no path and no target.
run 0 train --data boston --out known
check "boston by name is another training" cmp -s known/split.json boston0/split.json
run 0 train --data crescents --out classes
run 0 eval classes --confusion --json
matrix=$(tr -d ' \n' <out | sed 's/.*"counts":\[\[\([0-9]*\),\([0-9]*\)\],\[\([0-9]*\),\([0-9]*\)\]\].*/0 \1 \2 1 \3 \4/')
check "the page's matrix is not eval's, $matrix" grep -q "true class 0 1 $matrix " <(sed 's/<[^>]*>/ /g' classes/report.html | tr -s ' \n' ' ')
check "crescents: accuracy $(json classes/result.json test accuracy)" \
    awk "BEGIN { exit !($(json classes/result.json test accuracy) > 0.98) }"

# What the table says of the task, and the notes on what a new user would not ask for.
run 0 train --data crescents --schedule none --epochs 5 --out short
check "the task is not shown: $(cat out)" grep -q "^training  binary, bce, adam" out
notes key=epochs
run 0 train --data crescents --schedule none --epochs 5 --json --out short-json
notes key=epochs
for options in "--epochs 5 --quiet" "--epochs 5 --schedule cosine" "--epochs 2000 --patience 5"; do
    # shellcheck disable=SC2086 # words
    run 0 train --data crescents $options --out "short$((++short))"
    shows "training  binary"
done
awk 'BEGIN { srand(1); print "x,y"; for (i = 0; i < 5; i++) print rand() "," rand() }' >line.csv
run 0 train --data line.csv --hidden none --epochs 3 --quiet --out line
shows "line.csv: 5 rows, 1 feature" "training  regression, mse"
check "a test of one row: $(grep test out)" grep -q "^test      1 row, " out
check "a linear model is shown with an activation" grep -q "^network   1-1, 2 " out

# ---- a data scientist: houses.csv is all there is, and the page goes to a colleague
run 0 importance houses0
shows rmse
check "nobody would guess that prices rest on: $(sed -n 4p out)" grep -qE '^(area|place|built|taxes|rooms|walls) ' <(sed -n 4p out)
check "no page" grep -q "price" houses0/report.html
first=$(sed -n 4p out | cut -d' ' -f1)
importance=$(tr '\n' ' ' <houses0/report.html | sed 's/.*>Importance of the columns<\/h2>//; s/<h2.*//')
check "the page's most important column is not $first" grep -q "<tr><th scope=\"row\">$first<" <<<"$importance"
cp houses.csv more.csv
sed -i '5s/,[a-z ]*,[a-z ]*,"/,clay,moon,"/' more.csv
run 0 predict houses0 --data more.csv --keep id --out more-p.csv
notes walls 'clay'
notes place 'moon'
check "ids are not carried along" [ "$(head -2 more-p.csv | cut -d, -f1 | tr '\n' ' ')" = "id 1 " ]

# ---- a researcher: two methods on the same rows, then a look at all of them
run 0 train --data crescents --param sp --quiet --out runs/sp
run 0 train --data crescents --param gmp --quiet --record boundaries:epoch --out runs/gmp
run 0 compare runs/gmp runs/sp --out both.html
shows "runs/sp " "log loss" "standard error"
check "the curves of both are not in one figure" [ "$(grep -c '<figure' both.html)" -eq 1 ]
run 0 list
shows "runs/gmp " "runs/sp "
if command -v gnuplot >/dev/null; then
    run 0 figures runs/gmp decision convergence regions
    count=$(grep -oE '[0-9]+ regions' runs/gmp/figures/regions.gp | head -1)
    run 0 regions runs/gmp
    check "the figure has $count, the command says: $(head -2 out | tr '\n' ' ')" grep -qw "${count% regions}" out
    check "one run is a mean over seeds" sh -c '! grep -q "over the seeds" runs/gmp/report.html'
    check "the page has not both, figures and curves" [ "$(grep -c '<figure' runs/gmp/report.html)" -ge 4 ]
else
    skipped "gnuplot is not installed"
fi

# ---- an image person: a folder of photos, a network that ends
for class in cats dogs; do
    mkdir -p photos/$class
    for i in 1 2 3 4 5 6; do cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" photos/$class/$i.jpg; done
done
run 0 train --data photos --net vgg6 --width 0.125 --size 32 --dry-run
shows "epoch " "memory "
run 0 train --data photos --net vgg6 --width 0.125 --size 32 --epochs 1 --quiet --out runs/photos
check "no cosine: $(grep schedule runs/photos/config.yaml)" grep -q 'schedule: cosine' runs/photos/config.yaml
check "the page of images" grep -q "Curves" runs/photos/report.html
check "it says of a vgg6: $(grep -o 'One network[^<]*' runs/photos/report.html)" grep -q "vgg6 with width 0.125," runs/photos/report.html
check "no confusion matrix of the photos" grep -qi "confusion matrix" runs/photos/report.html
check "one epoch is not to be seen" grep -q '<th scope="row">1</th>' runs/photos/report.html
run 0 predict runs/photos --data photos/cats --out cats.csv
check "a line a picture: $(head -2 cats.csv)" [ "$(wc -l <cats.csv)" -eq 7 ]
# what is not said: 30 epochs, and the command of the page says so
run 0 train --data photos --net vgg6 --width 0.125 --size 32 --quiet --out runs/thirty
check "not 30 epochs: $(grep epochs runs/thirty/config.yaml)" grep -q 'epochs: 30$' runs/thirty/config.yaml
# 0.002 is meant for 128 images a step: another batch (of the 12 images, by default) has another rate, unless --lr is given
while read -r lr options; do
    # shellcheck disable=SC2086 # words
    run 0 train --data photos --net vgg6 --width 0.125 --size 32 --epochs 1 --quiet --no-report $options --out "runs/rate$((++rates))"
    check "${options:-no option}: $(grep ' lr:' runs/rate$rates/config.yaml), expected $lr" grep -qx "  lr: $lr" runs/rate$rates/config.yaml
done <<'RATES'
0.0006123724356957945
0.0005 --batch 8
0.000125 --batch 8 --optimizer sgd
0.0625 --batch 8 --lr 0.0625
RATES

# without --net: a small resnet with bn, which the page's command names; --hidden and --net mlp still flatten
run 0 train --data photos --size 32 --epochs 1 --quiet --out runs/open
shows "network   resnet18 sp+bn"
check "not a quarter of the channels" grep -q 'width: 0.25$' runs/open/config.yaml
check "the page's command: $(grep -o 'spherelu train .*' runs/open/report.html)" grep -q -e "--net resnet18 --width 0.25 .*--param sp --norm bn" <(sed 's/<[^>]*>//g' runs/open/report.html)
run 0 train --resume --quiet --out runs/open
shows "network   resnet18 sp+bn"
run 0 train --data photos --size 32 --hidden 5 --epochs 1 --quiet --no-report --out runs/flat
shows "network   3072-5-2 sphere"
run 0 train --data photos --size 32 --net mlp --epochs 1 --quiet --out runs/flat100
shows "network   3072-100-2 sphere"
check "the page's command leaves mlp out" grep -q -e "--net</span> mlp" runs/flat100/report.html
run 0 train --data photos --epochs 1 --quiet --no-report --out runs/side
shows "photos: 12 rows, 12288 features"
run 0 predict runs/side --data photos/cats --out cats.csv
refuses "argument key=tune" train --data photos --size 32 --tune 2 --out runs/bad

# A run is resumed from another directory than it was started in.
run 0 train --data line.csv --epochs 3 --quiet --out line2
mkdir elsewhere
cd elsewhere || exit 1
"$SPHERELU" train --resume --out ../line2 >../out 2>../err
code=$?
cd .. || exit 1
check "a resume without data: exit $code, expected 1" [ $code -eq 1 ]
fails file path=line.csv
finish
