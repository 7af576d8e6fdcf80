#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Promise: Ctrl-C and SIGTERM end a command with the exit code of the signal and remove the file it was about to write; the old
# file stays, and the same command works afterwards. The signal comes at each write, sync, rename and process in turn
# (tests/preload/faults.c).
. "$(dirname "$0")/lib.bash"
if [ -n "${SPH_SAN:-}" ]; then
    skipped "a sanitizer's runtime has to be preloaded first"
    exit 77
fi
run 0 train --data crescents --rows 40 --hidden 5 --epochs 1 --quiet --out run
mkdir -p photos/{one,two}
cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" photos/one
cp "$SOURCE_DIR/tests/golden/pictures/plain.png" photos/two

# interrupted FAULT COMMAND...: the signal came, and the command ended with its code
interrupted() {
    local fault=$1 code expected=130
    shift
    rm -f note
    { LD_PRELOAD=$FAULTS_LIBRARY FAULT=$fault FAULT_NOTE=$PWD/note "$SPHERELU" "$@" >out 2>err; } 2>/dev/null # bash tells of signals
    code=$?
    grep -q ^hit note 2>/dev/null || return
    met=$((met + 1))
    case $fault in *TERM*) expected=143 ;; esac
    check "$*: exit $code after $fault, expected $expected" [ $code -eq $expected ]
}
met=0
for signal in INT TERM; do
    for command in "export run x.new" "convert run x.new --to sp"; do
        run 0 $command
        mv x.new whole.new
        echo old >old.new
        for kind in write sync rename; do
            for n in 1 2 3; do
                cp old.new x.new
                interrupted $kind:$signal:$n $command || break
                check "$command: neither the old file nor the new one" eval 'cmp -s x.new old.new || cmp -s x.new whole.new'
                check "$command: files were left: $(ls)" [ -z "$(find . -name 'x.new.*')" ]
            done
        done
        run 0 $command
    done
    for n in 1 2 3 4 5 6; do
        rm -rf packed
        interrupted write:$signal:$n pack photos packed --size 64 --workers 1 || break
        check "pack: files were left: $(ls packed)" [ -z "$(find packed -name '*.tmp')" ]
    done
    rm -rf packed
    run 0 pack photos packed --size 64
done
check "signals: $met" [ $met -ge 20 ]
if command -v gnuplot >/dev/null; then
    run 0 figures run convergence
    cp run/figures/convergence.svg before.svg
    for n in 1 2 3; do
        interrupted process:INT:$n figures run convergence || break
        check "a temporary of ours was left" [ -z "$(find run -name '*.tmp' -not -name '.drawing.*')" ]
        check "a picture was cut short" eval '[ ! -e run/figures/convergence.svg ] || cmp -s run/figures/convergence.svg before.svg'
    done
    check "gnuplot was never interrupted" [ $n -gt 1 ]
    run 0 figures run convergence
    check "the folder of a drawing was left" [ -z "$(find run -name '.drawing.*')" ]
else
    skipped "figures: there is no gnuplot"
fi
finish
