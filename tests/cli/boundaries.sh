# SPDX-License-Identifier: MIT
#
# spherelu boundaries: its columns and what they say, raw units, data of its own and others', refusals.
. "$(dirname "$0")/lib.bash"

table 120 >own.csv
run 0 train --data own.csv --target y --missing mean --hidden 6,4 --dtype f64 --epochs 20 --out r --quiet --seed 3

# ---- all layers: a line for each hidden unit, on the training rows
run 0 boundaries r
shows "layer,unit,norm,offset,active_share,state,nearest,pole"
check "10 units" [ "$(wc -l <out)" -eq 11 ]
check "the header is the first line" [ "$(head -1 out)" = "layer,unit,norm,offset,active_share,state,nearest,pole" ]
check "shares are of the 76 training rows" awk -F, 'NR > 1 { x = $5 * 76; if (x - int(x + 0.5) > 1e-9 || int(x + 0.5) - x > 1e-9) exit 1 }' out
check "states fit shares" awk -F, 'NR > 1 { s = $5 == 0 ? "dead" : $5 == 1 ? "always_on" : "both"; if ($6 != s) exit 1 }' out

# ---- one layer: phi and direction, in raw units; phi lies on its boundary, and the rows lie where they are said to
awk 'NR == 1 || NR <= 61' own.csv | grep -v ',,' >new.csv
run 0 boundaries r --layer 0 --data new.csv
check "columns of a layer" [ "$(head -1 out)" = "layer,unit,norm,offset,active_share,phi_1,phi_2,phi_3,phi_4,phi_5,phi_6,state,nearest,pole,direction_1,direction_2,direction_3,direction_4,direction_5,direction_6,phi_net_1,phi_net_2,phi_net_3,phi_net_4,phi_net_5,phi_net_6" ]
cp out first.csv
check "phi and sides, by hand" awk -F, '
    NR == FNR { gsub(/["$]/, ""); if (FNR > 1) { # a, b, colour, "$p,ppp.50", y: the comma of a price parts it in two
        x[FNR - 1, 1] = $1; x[FNR - 1, 2] = $2
        x[FNR - 1, 3] = $3 == "dark blue"; x[FNR - 1, 4] = $3 == "green"; x[FNR - 1, 5] = $3 == "red"
        x[FNR - 1, 6] = $4 * 1000 + $5; rows = FNR - 1 }
        next }
    FNR == 1 { next }
    { on = $4; active = 0; least = 1e300
      for (i = 1; i <= 6; i++) on += $(5 + i) * $(14 + i)
      for (r = 1; r <= rows; r++) {
          d = $4
          for (i = 1; i <= 6; i++) d += $(14 + i) * x[r, i]
          active += d > 0; if (d < 0) d = -d; if (d < least) least = d }
      other = $4
      for (i = 1; i <= 6; i++) other += $(20 + i) * $(14 + i)
      if (other < 0) other = -other
      if (other > 1e-10 * (1 + ($4 < 0 ? -$4 : $4))) { print "phi_net of unit " $2 ": " other; exit 1 }
      if ($21 == $6 || $21 == "") { print "phi_net of unit " $2 " is phi"; exit 1 }
      if (on < 0) on = -on
      if (on > 1e-10 * (1 + ($4 < 0 ? -$4 : $4))) { print "phi of unit " $2 ": " on; exit 1 }
      if (active / rows - $5 > 1e-9 || $5 - active / rows > 1e-9) { print "share of " $2 ": " active / rows; exit 1 }
      if (least - $13 > 1e-7 || $13 - least > 1e-7) { print "nearest of " $2 ": " least; exit 1 } }
    END { if (FNR != 7) exit 1 }' new.csv first.csv

# ---- by name, as JSON, without targets
cut -d, -f1-5 own.csv | sed '1s/.*/a,b,colour,price/' >plain.csv
run 0 boundaries r --layer layers.1 --data plain.csv --json
shows '"layer": 1' '"path": "layers.1"' '"kind": "hyperplane"' '"raw": false' '"points": 120' '"direction": ['
check "a deeper layer has one phi" [ "$(grep -c phi_net out)" -eq 0 ]
run 0 boundaries r --layer 0 --json
shows '"phi_net": ['
run 0 boundaries r --json
shows '"raw": true' '"kind": "none"' '"points": 76'

run 0 boundaries r --rows 10 --json
shows '"points": 10'
run 0 boundaries r --data new.csv --rows 7 --json
shows '"points": 7'
run 2 boundaries r --rows 0; fails argument key=rows

# ---- units that have none: ln with a shift keeps its share
run 0 train --data crescents --rows 200 --hidden 5 --norm ln --epochs 3 --out ln --quiet
run 0 boundaries ln
check "ln: empty cells and shares" awk -F, 'NR > 1 && !($3 == "" && $4 == "" && $5 >= 0 && $6 != "" && $7 == "") { exit 1 }' out
run 0 train --data crescents --rows 200 --hidden 5 --activation srelu --epochs 3 --out srelu --quiet
run 0 boundaries srelu
shows "layer,unit,norm,offset,active_share,state,nearest,pole,offset_right"

# ---- data that are gone leave their columns empty, and a line says so
mv own.csv moved.csv
run 0 boundaries r
check "one line on stderr" [ "$(wc -l <err)" -eq 1 ]
notes key=data own.csv
check "empty shares" awk -F, 'NR > 1 && !($3 > 0 && $4 != "" && $5 == "" && $6 == "" && $7 == "") { exit 1 }' out
run 0 boundaries r --quiet
check "quiet" [ ! -s err ]
run 0 boundaries r --data moved.csv
check "other data are there" awk -F, 'NR > 1 && $5 == "" { exit 1 }' out

# ---- and so do data that changed since: fewer rows, and as many with another number
head -30 moved.csv >own.csv
run 0 boundaries r
check "fewer rows: one line" [ "$(wc -l <err)" -eq 1 ]
notes key=data "r: "
sed '7s/^[^,]*/1.25/' moved.csv >own.csv
run 0 boundaries r
check "another number: one line" [ "$(wc -l <err)" -eq 1 ]
notes key=data "r: "
check "no shares of other data" awk -F, 'NR > 1 && !($4 != "" && $5 == "" && $6 == "" && $7 == "") { exit 1 }' out
run 0 boundaries r --data own.csv
check "unless they are named" awk -F, 'NR > 1 && $5 == "" { exit 1 }' out
run 1 figures r
fails format path=r
cp -r r old # as runs were written that did not keep the number
sed -i 's/"content":"[^"]*",//' old/split.json
run 0 boundaries old
check "nothing to compare with" [ ! -s err ]
cp moved.csv own.csv
run 0 boundaries r
check "as they were" [ ! -s err ]
rm own.csv

# ---- refusals
run 2 boundaries; fails argument key=RUN
run 1 boundaries nothere; fails file path=nothere
mkdir empty
run 1 boundaries empty; fails format path=empty
cp -r r cut
rm cut/model.safetensors
run 1 boundaries cut; fails format path=cut
run 2 boundaries r --layer 3; fails argument key=layer
run 2 boundaries r --layer layers.9; fails argument key=layer
run 2 boundaries r --layer 1x; fails argument key=layer
run 2 boundaries r --layer 2; fails argument key=layer
run 1 boundaries r --data nothere.csv; fails file path=nothere.csv
cut -d, -f1,2 moved.csv >thin.csv
run 1 boundaries r --data thin.csv; fails format key=colour path=thin.csv

# ---- with reversed columns phi_1 belongs to the last one, and that is said; names are in the JSON
cp moved.csv own.csv
run 0 train --data own.csv --target y --missing mean --columns reversed --hidden 6,4 --dtype f64 --epochs 20 --out back --quiet --seed 3
run 0 boundaries back --layer 0 --json
shows '"features": ["price", "colour=dark blue", "colour=green", "colour=red", "b", "a"]'
run 0 boundaries back --layer 0
notes key=columns phi_1 "'price'" phi_6 "'a'"
run 0 boundaries back --layer 0 --quiet
check "quiet" [ ! -s err ]
run 0 boundaries back --layer 1
check "a deeper layer reads no columns" [ ! -s err ]
run 0 boundaries r --layer 0
check "columns as they are" [ ! -s err ]
run 0 boundaries r --layer 0 --json
shows '"features": ["a", "b", "colour=dark blue", "colour=green", "colour=red", "price"]'
run 0 show back; shows "columns reversed"
run 0 show back/model.safetensors --json; shows '"reversed": true'
# another file is read by the names of its columns, whatever their order
awk 'BEGIN { srand(3); print "a,b,c,y"; for (i = 0; i < 60; i++) { a = rand(); b = rand(); c = rand(); print a "," b "," c "," a + 2 * b - c } }' >abc.csv
awk -F, '{ print $3 "," $1 "," $4 "," $2 }' abc.csv >cayb.csv
run 0 train --data abc.csv --target y --columns reversed --hidden 5 --epochs 10 --out abc --quiet
run 0 predict abc --data abc.csv --out one.csv
run 0 predict abc --data cayb.csv --out two.csv
check "the order of the columns of another file" cmp -s one.csv two.csv
finish
