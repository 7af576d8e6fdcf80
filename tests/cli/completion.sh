#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What shells complete: every command, every option of each, the words that an option takes.
. "$(dirname "$0")/lib.bash"

run 0 completion bash
cp out spherelu.bash
check "bash does not take its script" bash -n spherelu.bash

# complete WORD...: what bash offers for the last word
complete_() {
    bash -c '. ./spherelu.bash; COMP_WORDS=(spherelu "$@"); COMP_CWORD=$#; _spherelu; printf "%s\n" "${COMPREPLY[@]}"' - "$@"
}
check "commands: $(complete_ comp | tr '\n' ' ')" [ "$(complete_ comp | tr '\n' ' ')" = "compare completion " ]
check "options: $(complete_ train --class)" [ "$(complete_ train --class)" = --class-weight ]
check "words: $(complete_ train --param g)" [ "$(complete_ train --param g)" = gmp ]
touch houses.csv
check "files: $(complete_ train --data hou)" [ "$(complete_ train --data hou)" = houses.csv ]
commands=$("$SPHERELU" --help | sed -n 's/^  \([a-z]*\)  *[a-z].*/\1/p' | sort -u | grep -vx spherelu)
for command in $commands; do
    offered=$(complete_ "$command" --)
    for option in $("$SPHERELU" "$command" --help-all | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
        check "bash does not offer $command --$option" grep -qx -- "--$option" <<<"$offered"
    done
done
run 0 completion zsh
cp out _spherelu
check "zsh has no options of importance" grep -q "'--repeats\[" _spherelu
if command -v zsh >/dev/null; then
    check "zsh does not take its script" zsh -n _spherelu
    offers() { timeout 60 zsh -f "$SOURCE_DIR/tests/cli/complete.zsh" "$PWD" "$1" >offered; } # LINE
    offers "spherelu comp"
    check "zsh, commands: $(cat offered)" grep -q '^completion  *-- ' offered
    offers "spherelu train --class"
    check "zsh, options: $(cat offered)" grep -q '^--class-weight  *-- balanced' offered
    offers "spherelu train --param "
    check "zsh, words: $(cat offered)" grep -q '^gmp  *sp  *sphere  *wn' offered
    offers "spherelu train --data hou"
    check "zsh, files: $(cat offered)" grep -q '^houses.csv' offered
else
    skipped "zsh is not installed"
fi
run 0 completion fish
cp out spherelu.fish
check "fish has no words of --param" grep -q -- "-l param -x -a 'sp wn gmp sphere'" spherelu.fish
if command -v fish >/dev/null; then
    check "fish does not take its script" fish -n spherelu.fish
    fish_offers() { HOME=$PWD fish --no-config -c 'source spherelu.fish; complete -C "$argv[1]"' "$1" | cut -f 1; } # LINE
    check "fish, commands" [ "$(fish_offers 'spherelu comp' | tr '\n' ' ')" = "compare completion " ]
    check "fish, words: $(fish_offers 'spherelu train --param ')" [ "$(fish_offers 'spherelu train --param g')" = gmp ]
    check "fish, files" [ "$(fish_offers 'spherelu train --data hou')" = houses.csv ]
    for command in $commands; do
        fish_offers "spherelu $command --" >offered
        for option in $("$SPHERELU" "$command" --help-all | sed -n 's/^  --\([a-z0-9-]*\).*/\1/p'); do
            check "fish does not offer $command --$option" grep -qx -- "--$option" offered
        done
    done
else
    skipped "fish is not installed"
fi
run 2 completion tcsh
fails argument key=tcsh
finish
