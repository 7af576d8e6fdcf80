#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The files of experiments/ are accepted as they stand, and the one make run runs gives its table in time.
. "$(dirname "$0")/lib.bash"

# taste NAME SET OPTION...: an experiment on images, a little of it, where its set is there
taste() {
    local name=$1 set=$2
    shift 2
    if ! "$SPHERELU" data info "$set" --json 2>/dev/null | grep -q '"path": "[^"]*"}$'; then
        run 1 run "$SOURCE_DIR/experiments/$name.yaml" --out "$name"
        says "$set" # the file itself is accepted
        return
    fi
    run 0 run "$SOURCE_DIR/experiments/$name.yaml" --set seeds=1 --set epochs=1 --set net.width=0.0625 --set figures=[] "$@" --out "$name"
    shows "$name: " "WN" "results   $name"
}
taste cifar10-vgg6-small cifar10 --set data.rows=100
taste cifar10-vgg6-start cifar10 --set data.rows=100
taste fashion-vgg6-small fashion-mnist --set data.rows=100
taste rates-images cifar10 --set data.rows=100 --set 'grid.lr=[0.01, 1]'
taste imagenet32-subset-vgg6-small imagenet32 --set data.rows=500
taste imagenet32-vgg6 imagenet32 --set data.rows=500 --set 'grid.batch=[64]'
taste flowers-resnet18-small flowers --set data.size=32
taste imagenet-resnet18 imagenet
taste imagenet-resnet18-rates imagenet
taste imagenet-resnet50 imagenet

for file in "$SOURCE_DIR"/experiments/*.yaml; do
    name=$(basename "$file" .yaml)
    [ "$name" = fig1 ] && continue # trains nothing: figures_gnuplot.sh
    case $name in *-vgg6* | *-resnet* | rates-images) continue ;; esac # above
    # a taste of each; of several sets, two
    case $name in
    uci-fullbatch | uci-reference | [!u]*) few=() ;;
    *) few=(--set 'data=[boston, yacht]') ;;
    esac
    case $name in rates-deep | beyond-seven | beyond-two) few=(--set 'data.name=[yacht, boston]') ;; rates-depth) few=(--set 'grid.hidden=[[64], [64, 64]]') ;; esac
    case $name in uci | uci-[!r]* | beyond | beyond-seven | beyond-two | rates-*) few+=(--set 'grid.lr=[0.01, 0.1]') ;; esac
    case $name in rates-* | beyond-seven | beyond-two) less=("${few[@]}") ;; *) less=() ;; esac # it tries a few steps of every kind of job
    run 0 run "$file" "${less[@]}" --dry-run
    shows "jobs/" " at a time: about "
    run 0 run "$file" --set seeds=2 --set epochs=2 "${few[@]}" --out "$name"
    shows "$name: " "GmP" "results   $name"
done

# ---- what width-gradients.yaml says of its numbers at the start: second hidden layer, SP, WN, GmP, Sphere at 10 and at 1,000 units
at() { awk -v block="$1" -v width="$2" -v column="$3" '/^$/ { blank++; next } /^#/ { next } { if (blank) { b++; blank = 0 } }
    b == block && $1 == width { print $column }' width-gradients/figures/width.p1.dat; }
between() { check "$1: $2, expected $3 to $4" awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x >= low && x <= high) }'; }
if [ -e width-gradients/figures/width.p1.dat ]; then
    between "GmP's gradient, 10 units" "$(at 2 10 2)" 0.015 0.06
    between "GmP's gradient, 1,000 units" "$(at 2 1000 2)" 0.002 0.006
    between "SP's gradient, 1,000 units" "$(at 0 1000 2)" 0.0002 0.0005
    between "Sphere's gradient, 1,000 units" "$(at 3 1000 2)" 0.003 0.009
    for method in 0 1 2 3; do between "active share of method $method, 1,000 units" "$(at $method 1000 6)" 0.45 0.55; done
else
    check "width-gradients has no figure" false
fi

began=$SECONDS
run 0 run "$SOURCE_DIR/experiments/crescents.yaml" --out whole
shows "crescents: accuracy" "SP " "WN " "BN " "GmP " "+-" "Wilcoxon"
[ -n "${SPH_SAN:-}" ] || check "crescents.yaml takes $((SECONDS - began)) s, expected less than 120" [ $((SECONDS - began)) -lt 120 ]
for method in SP WN BN GmP; do
    check "no line for $method" grep -qE "^$method +0\.[0-9]+ \+- 0\.[0-9]+ +10 " out
done
check "no verdict" [ "$(grep -cE '^GmP (better|worse|equal).*(Wilcoxon|split)' out)" -eq 3 ]
finish
