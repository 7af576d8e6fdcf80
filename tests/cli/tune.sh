#!/bin/bash
# SPDX-License-Identifier: MIT
#
# --tune: what was tried and chosen lies in the folder, the choice is what is trained, it is no worse on the validation part than
# what would have been taken; what is given is not tuned; what is refused.
. "$(dirname "$0")/lib.bash"

table 500 >t.csv
net=(--quiet --data t.csv --target y --hidden 20 --epochs 90 --patience 20)
run 0 train "${net[@]}" --out plain
run 0 train "${net[@]}" --tune 6 --out tuned
run 0 train "${net[@]}" --tune 6 --out again
same_run tuned again
trail() { grep -v '"seconds"' "$1/tune.json"; }
check "another trail" [ "$(trail tuned)" = "$(trail again)" ]
check "worse on the validation part than the default" awk -v a="$(json tuned/result.json val loss)" -v b="$(json plain/result.json val loss)" 'BEGIN { exit !(a <= b) }'
chosen() { tr -d ' \n' <"$1/tune.json" | grep -o '"chosen":{[^}]*}' | grep -o "\"$2\":\"[^\"]*" | sed 's/.*"//'; }
check "the choice is not what was trained" grep -qx "  lr: $(chosen tuned lr)" tuned/config.yaml
check "the batch is not what was trained" grep -qx "  batch: $(chosen tuned batch)" tuned/config.yaml
check "hidden was given" [ "$(chosen tuned hidden)" = 20 ]
tried=$(grep -c '"rungs"' tuned/tune.json)
check "only $tried were tried" [ "$tried" -ge 10 ]
check "the default was not tried to the end" [ "$(tr -d ' \n' <tuned/tune.json | grep -o '"tried":\[{[^]]*\]' | head -1 | grep -o '"epochs"' | wc -l)" -eq 3 ]
run 0 train "${net[@]:1}" --tune 6 --out told
notes "--tune" "$tried candidates" "--lr $(chosen tuned lr)"
run 0 show tuned; shows "--tune 6"
tuning=$(tr '\n' ' ' <tuned/report.html | sed 's/.*>Tuning<\/h2>//; s/<h2.*//')
check "the page does not say what was tried: ${tuning:0:200}" grep -q "tried $tried candidates in .* s.*lr $(chosen tuned lr)" <<<"$tuning"
check "the page does not list the candidates" [ "$(grep -o '<tr' <<<"$tuning" | wc -l)" -eq $((tried + 1)) ]
check "a run without --tune has a section on it" [ "$(grep -c '>Tuning<' plain/report.html)" -eq 0 ]
run 0 train "${net[@]}" --tune 1 --out one
check "a budget of one is the default alone" cmp -s one/model.safetensors plain/model.safetensors

# refused
run 2 train "${net[@]}" --tune 0 --out bad; fails argument key=tune
run 2 train "${net[@]}" --tune 3 --val 0 --out bad; fails argument key=tune
run 2 train --resume --tune 7 --out tuned; fails argument key=tune
absent bad
for broken in '={' 'chosen={"chosen": 3}' 'batch={"chosen": {"lr": "0.1", "hidden": "20", "batch": 3}}' \
    'lr={"chosen": {"lr": "fast", "hidden": "20", "batch": "3"}}'; do
    rm -rf broken && cp -r tuned broken && rm broken/result.json broken/model.safetensors
    echo "${broken#*=}" >broken/tune.json
    refuses "format key=${broken%%=*} path=broken/tune.json" train --resume --out broken
done
finish
