#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu perturb: the table of turns, the checks, JSON that says everything, and what it refuses.
. "$(dirname "$0")/lib.bash"

# near X Y: to 1e-4
near() {
    awk -v x="$1" -v y="$2" 'BEGIN { d = x - y; exit !(d < 1e-4 && d > -1e-4) }'
}

# ---- a weight of one's own: (3, -4) 1e-4, eps as long as it. (3, -4) -> (8, 1): arctan(1/8) + arctan(4/3)
run 0 perturb --weight 3e-4,-4e-4 --eps 5e-4 --samples 0
shows "one unit with 2 inputs" "SP   w = 0.0003 -0.0004, b = 0.0005" "GmP  theta = -0.927295218, lambda = 1, r = 1" \
    "WN   v = 0.0003 -0.0004, g = 0.0005, b = 0.0005"
row=$(grep '^  0.0005' out)
read -r eps sp sp_shift wn wn_shift bn bn_shift ln ln_shift gmp gmp_shift <<<"$row"
for turn in "$sp" "$wn" "$bn" "$ln"; do check "turn $turn in: $row" near "$turn" 60.255119; done
check "GmP turns by eps: $gmp" near "$gmp" 0.028648
# phi of SP: from (-0.6, 0.8) to -1e-3 (8e-4, 1e-4) / 65e-8 = (-1.2308, -0.1538)
check "phi of SP moves: $sp_shift" [ "$sp_shift" = 1.144 ]
check "checks although none were asked for" test -z "$(grep -E 'flip|ok$' out)"

# ---- a weight that eps takes away
run 0 perturb --weight=-1e-3,-1e-3 --eps 1e-3 --samples 0
shows "none (w is 0)"

# ---- the sign of a turn does not depend on how short the weight is: (0, 1) -> (1, 2)
for length in 1e-3 1e-170; do
    run 0 perturb --weight 0,$length --eps $length --samples 0
    check "turn at $length: $(tail -1 out)" [ "$(awk 'END { print $2 }' out)" = -26.56505 ]
done

# ---- any dimension and any eps; the seed matters, the threads do not
run 0 perturb --dim 784 --eps 1e-5,-1e-2,3 --samples 0 --seed 4
shows "one unit with 784 inputs" "  1e-05 " "  -0.01 " "  3 " " ..."
cp out first
run 0 perturb --dim 784 --eps 1e-5,-1e-2,3 --samples 0 --seed 4
check "the same seed, other numbers" cmp -s out first
run 0 perturb --dim 784 --eps 1e-5,-1e-2,3 --samples 0 --seed 5
check "another seed, the same numbers" test -n "$(cmp out first 2>&1)"

# ---- the checks
run 0 perturb --samples 3000
shows "flip, SP (Prop. 2.3)" "flip, WN (Prop. 2.4)" "flip, BN (Prop. 2.5)" "flip, LN, shift 0" "BN = WN in |w|_S (Eq. 9)" "metric by products" \
    "metric by sums (2023)" "turn -> |eps|_M" "turn > |eps|" "turn = |eps| is reached" "180.000000000 degrees"
check "a check failed" test -z "$(grep FAILED out)"
check "39 checks, found $(grep -c 'ok$' out)" [ "$(grep -c 'ok$' out)" -eq 39 ]
check "fewer pairs than asked for" awk '/turn > /{ gsub(",", ""); exit !($5 >= 3000) }' out
cp out first
run 0 perturb --samples 3000 --threads 2 --quiet
check "threads change numbers" cmp -s out first

# ---- JSON
run 0 perturb --dim 3 --samples 2000 --json
check "not one line" [ "$(wc -l <out)" -eq 1 ]
for key in inputs distance rows units seed eps methods checks failed version name unit base perturbed boundary after w b \
    phi turn shift gamma beta others theta lambda r v g check cases measured expected value least most passed; do
    check "no \"$key\"" grep -q "\"$key\": " out
done
check "checks failed: $(json out failed)" [ "$(json out failed)" = 0 ]
check "39 checks in JSON" [ "$(grep -o '"passed": true' out | wc -l)" -eq 39 ]
check "5 methods, 4 eps and a base each" [ "$(grep -o '"phi": ' out | wc -l)" -eq 25 ]
if command -v python3 >/dev/null; then
    check "phi is not on its boundary, or turns are not those of w" python3 - out <<'PYTHON'
import json, math, sys
found = json.load(open(sys.argv[1]))
for method in found["methods"]:
    base = method["boundary"]
    for plane in [base] + method["after"]:
        dot = sum(a * b for a, b in zip(plane["w"], plane["phi"]))
        assert abs(dot + plane["b"]) < 1e-12 * max(1, abs(plane["b"])), method["name"]
        size = math.hypot(*base["w"]) * math.hypot(*plane["w"])
        cosine = sum(a * b for a, b in zip(plane["w"], base["w"])) / size
        assert abs(math.cos(math.radians(plane["turn"])) - cosine) < 1e-12, method["name"]
        assert abs(math.dist(plane["phi"], base["phi"]) - plane["shift"]) < 1e-9
PYTHON
fi

# ---- refused
run 2 perturb --eps 1e-3,x; fails argument key=eps
run 2 perturb --eps ""; fails argument key=eps
run 2 perturb --eps 1e-3,; fails argument key=eps
run 2 perturb --eps inf; fails argument key=eps
run 2 perturb --dim 1; fails argument key=dim
run 2 perturb --dim 70000; fails argument key=dim
run 2 perturb --length 0; fails argument key=length
run 2 perturb --length 1x; fails argument key=length
run 2 perturb --distance nan; fails argument key=distance
run 2 perturb --weight 1; fails argument key=weight
run 2 perturb --weight 1,2,3 --dim 2; fails argument key=weight
run 2 perturb --weight 1,2 --length 3; fails argument key=length
run 2 perturb --weight 0,0; fails argument key=weight
run 2 perturb --weight 1e308,1e308; fails argument key=length
run 2 perturb --eps 1e200; fails argument key=eps
run 2 perturb --rows 1; fails argument key=rows
run 2 perturb --units 1; fails argument key=units
run 2 perturb --samples -1; fails argument key=samples
run 2 perturb --sample 3; fails argument key=sample
run 2 perturb extra; fails argument key=extra

finish
