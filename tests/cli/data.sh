#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu data: the sets that have a name, and where they are found.
source "$(dirname "$0")/lib.bash"

mkdir one two
printf 'a,b,Class\n1,2,-1\n2,1,1\n3,3,1\n4,1,-1\n' >two/banana.csv
export SPHERELU_DATA=$work/one:$work/two SPHERELU_CACHE=$work/none

run 0 data list
check "a made set" grep -q '^crescents .*made by the seed$' out
check "a set of the second folder" grep -q "^banana .* 5300 .*$work/two/banana.csv$" out
check "a set that is nowhere" grep -q '^boston .*not found$' out
run 0 data info banana
check "the licence" grep -q '^from .*licence' out
check "the target" grep -q '^target *Class$' out
run 0 data list --json
check "as JSON" python3 -c '
import json, sys
sets = {s["name"]: s for s in json.load(open("out"))}
assert sets["banana"]["path"].endswith("two/banana.csv") and sets["banana"]["classes"] == 2
assert sets["boston"]["path"] is None and len(sets["boston"]["columns"].split(",")) == sets["boston"]["features"] + 1
assert sets["crescents"]["path"] == "" and sets["cifar10"]["images"]'
run 0 data info levy --json
check "one object" python3 -c 'import json; assert json.load(open("out"))["task"] == "regression"'
run 2 data info bananna
says "spherelu data: no set 'bananna', did you mean 'banana'? (spherelu data list names them)"
run 2 data
says "list|info is missing"
run 2 data info
says "expected list, or info and a name"
run 2 data get banana
says "found 'get banana', expected list, or info and a name"
finish
