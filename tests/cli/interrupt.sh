#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Ctrl-C and SIGTERM while a file is written: the exit code is the signal's, the old file stays, no temporary is left, and the
# same command works afterwards.
. "$(dirname "$0")/lib.bash"
run 0 train --data crescents --rows 40 --hidden 1500,1500 --epochs 1 --quiet --out run
for class in one two; do
    mkdir -p photos/$class
    for i in $(seq 150); do cp "$SOURCE_DIR/tests/golden/pictures/small.jpg" photos/$class/$i.jpg; done
done

# A background child of a script ignores SIGINT unless job control is on.
set -m
interrupt() { # SIGNAL CODE PATTERN COMMAND...: signals it when a file of that pattern is there, again if it was too late
    local signal=$1 expected=$2 pattern=$3 code child
    shift 3
    for _ in $(seq 20); do
        [ ! -e x.new ] || echo old >x.new
        "$SPHERELU" "$@" >out 2>err &
        child=$!
        until compgen -G "$pattern" >/dev/null || ! kill -0 $child 2>/dev/null; do :; done
        kill -$signal $child 2>/dev/null
        wait $child
        code=$?
        [ $code -eq 0 ] || break
        rm -rf packed
    done
    if [ $code -eq 0 ]; then
        skipped "$1: it was always too fast for a $signal"
        return 1
    fi
    check "$*: exit $code after $signal, expected $expected" [ $code -eq "$expected" ]
}
for signal in INT:130 TERM:143; do
    for command in "export run x.new" "convert run x.new --to sp"; do
        run 0 $command
        mv x.new whole.new
        echo old >old.new
        echo old >x.new
        interrupt ${signal%:*} ${signal#*:} 'x.new.*.tmp' $command || continue
        # The signal may come after the new file took its place.
        check "$command: neither the old file nor the new one" eval 'cmp -s x.new old.new || cmp -s x.new whole.new'
        check "$command: files were left: $(ls)" [ -z "$(find . -name 'x.new.*')" ]
        run 0 $command
    done
    rm -rf packed
    interrupt ${signal%:*} ${signal#*:} 'packed/train_images.npy.*.tmp' pack photos packed --size 64 || continue
    check "pack: files were left: $(ls packed)" [ -z "$(ls packed)" ]
    run 0 pack photos packed --size 64
done
if command -v gnuplot >/dev/null; then
    run 0 figures run convergence
    cp run/figures/convergence.svg before.svg
    interrupt INT 130 'run/figures/.drawing.*.tmp' figures run convergence && {
        check "a temporary of ours was left" [ -z "$(find run -name '*.tmp' -not -name '.drawing.*')" ]
        check "a picture was cut short" eval '[ ! -e run/figures/convergence.svg ] || cmp -s run/figures/convergence.svg before.svg'
        run 0 figures run convergence
        check "the folder of a drawing was left" [ -z "$(find run -name '.drawing.*')" ]
    }
fi
finish
