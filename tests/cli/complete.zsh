# SPDX-License-Identifier: MIT
#
# zsh -f complete.zsh FOLDER LINE: what zsh lists at the end of LINE, typed into a shell in a terminal of its own, with
# FOLDER/_spherelu as its completion.
zmodload zsh/zpty
zpty shell TERM=dumb zsh -f -i
zpty -w shell "PS1= PS2= COLUMNS=200 LINES=1000 LISTMAX=10000 ; fpath=(${(q)1} \$fpath) ; autoload -Uz compinit ; compinit -u -D"
# The list is drawn, then its end is told, by one key: a key typed behind it would keep zsh from drawing.
zpty -w shell "unsetopt always_last_prompt ; list() { zle list-choices ; zle -R ; zle -I ; print en''ded } ; zle -N list"
zpty -w shell "bindkey '^T' list ; echo rea''dy"
zpty -r shell text $'*ready\r\n*'
zpty -w -n shell "$2"$'\x14'
zpty -r shell text '*ended*'
print -r -- "${text//$'\r'/}"
zpty -d shell
