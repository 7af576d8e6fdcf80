# SPDX-License-Identifier: MIT
#
# What the walks through faults share; source it before lib.bash, which changes the folder. Needs FAULTS_LIBRARY, tests/preload/faults.c as a
# library. The tool runs under it throughout: its clock stands still, so that folders can be compared byte for byte.
: "${FAULTS_LIBRARY:?set FAULTS_LIBRARY to the built tests/preload/faults.c}"

# Every kind of call, and how it goes wrong; FAULTS_HOWS names some of them. An interrupted or short call is no failure: the
# command must end as ever.
hows=(memory:ENOMEM map:ENOMEM open:EMFILE open:EINTR read:EIO read:short read:EINTR write:ENOSPC write:EIO write:short
    write:EINTR sync:EIO sync:EINTR rename:EIO rename:ENOSPC process:EAGAIN thread:EAGAIN wait:EINTR)
[ -z "${FAULTS_HOWS:-}" ] || read -ra hows <<<"$FAULTS_HOWS"

# gnuplot's stand-in, a hundred times as fast: its pictures are the words it was given
stand_in_gnuplot() {
    mkdir -p "$1"
    cat >"$1/gnuplot" <<'SH'
#!/bin/sh
eval "$3"
printf '%s by %s\n' "$format" "$4" >"$output"
SH
    chmod +x "$1/gnuplot"
}

# under FAULT ARGS...: the tool in the folder `try`: its stdout in out, its lines on stderr in said (but for notes), in
# hit which call went wrong, empty if none did, and how many there were in calls
under() {
    local fault=$1 line code
    shift
    rm -f note
    {
        (
            cd try && exec timeout -s KILL 60 env LD_PRELOAD="$FAULTS_LIBRARY" FAULT="$fault" FAULT_NOTE=../note \
                "$SPHERELU" "$@" >../out 2>../err </dev/null
        )
        code=$?
    } 2>/dev/null # bash tells of crashes
    # of a dry run: what the process holds at the moment; of a list: when files were copied
    sed -i 's/"peak_bytes": [0-9.e+]*/"peak_bytes": 0/; s/"when": "[^"]*"/"when": ""/g' out
    hit='' calls=0 said=()
    [ -e note ] && while read -r line; do
        case $line in hit:*) hit=${line#hit: } ;; calls:*) calls=${line#calls: } ;; esac
    done <note
    while read -r line; do
        case $line in '' | '{"note":'*) ;; *) said+=("$line") ;; esac
    done <err
    return $code
}

# Two libraries end the program themselves when they find no memory, with a line of their own: libgomp (also where it gets no
# thread) and libarchive.
# Three follow a null pointer: libarchive, oneDNN and OpenSSL's libcrypto. Files stay old or new all the same, as after a kill.
# Where it is the process of a job, the command tells of it in its own line.
ends_itself() {
    local line
    for line in "${said[@]}"; do
        case $line in
        'libgomp: Out of memory'* | 'libgomp: Thread creation failed'* | 'Fatal Internal Error in libarchive: '*' memory'*) [ "$1" -eq 1 ] && return ;;
        '{"error": {"code": "memory", "command": null'*) [ "$1" -eq 1 ] && return ;; # an exception of C++
        '{"error": {"code": "crash"'*)
            [[ $hit == *'/libarchive.'* || $hit == *'/libdnnl.'* || $hit == *'/libcrypto.'* ]] && [ "$1" -eq "$([ "$judge" = parts ] && echo 1 || echo 139)" ] && return
            ;;
        esac
    done
    false
}

# half: files of `try` that are neither as before nor as after the command; those that grow or come and go while it runs
# are judged by what a repetition makes of them
half() {
    local name
    diff -rq try after | sed -n 's/^Files try\/\(.*\) and .* differ$/\1/p; s/^Only in try\(.*\): /\1\//p' | sed 's:^/::' |
        while read -r name; do
            case $name in
            */checkpoint.safetensors | */metrics.jsonl | */refit.jsonl | */boundaries.*.part) continue ;;
            */config.yaml) [[ $what == *' --tune '* ]] && continue ;; # until the choice is made it does not name what is chosen
            */events.out.tfevents.*) continue ;; # a resume begins another one
            *.tmp) [ "$ended" = itself ] && continue ;;
            */jobs/*) ;;
            *) [ "$judge" = parts ] && continue ;;
            esac
            [ -f "try/$name" ] && cmp -s "try/$name" "before/$name" && continue
            [ -d "try/$name" ] && continue
            echo "$name"
        done
}

# one FAULT ARGS...: the fault, and the command again without it. Counts in `faults`, `refused`, `borne`, `foreign`; false
# where it was not met: the command has fewer such calls.
one() {
    local fault=$1 code what left ended=''
    shift
    if [ "$judge" != reads ]; then
        rm -rf try
        cp -r before try
    fi
    under "$fault" "$@"
    code=$?
    [ -n "$hit" ] || return
    what="$fault of spherelu $*: $hit"
    faults=$((faults + 1)) checks=$((checks + 1))
    if ends_itself $code; then
        foreign=$((foreign + 1)) ended=itself
    elif [ $code -eq 0 ]; then
        borne=$((borne + 1))
        cmp -s out expected || wrong "$what: exit 0, and another result"
        [ ${#said[@]} -eq 0 ] || wrong "$what: exit 0, and a complaint"
    elif [ $code -eq 1 ]; then
        refused=$((refused + 1))
        [ ${#said[@]} -eq 1 ] || wrong "$what: not one line on stderr"
        read_message "${said[0]}" || wrong "$what: the line is not ours"
        [ "${message[kind]}" = error ] && [ -n "${message[text]}" ] || wrong "$what: the line says nothing"
        case $fault in *:EINTR:* | *:short:*) wrong "$what: taken for a failure" ;; esac
    else
        wrong "$what: exit $code"
    fi
    [ $failed -lt 30 ] || finish
    [ "$judge" != reads ] || return 0
    if [ $code -ne 0 ]; then
        left=$(half)
        [ -z "$left" ] || wrong "$what: neither the old file nor the new one: $left"
        diff -r try before >/dev/null && return 0 # it left nothing: again would be as without a fault
        diff -r try after >/dev/null && return 0  # all was done, and could not be told
        under memory:ENOMEM:0 "$@" || wrong "$what: cannot be repeated"
    fi
    diff -r -x 'events.out.tfevents.*' try after >differences || wrong "$what: not the same bytes after a repetition: $(head -3 differences)"
}

# chosen COUNT: the numbers of the calls that are to go wrong, of COUNT: FAULTS_EACH of them, about, every so many from a moment
# drawn at random; `places`: the first and the last call from each place of the program (the functions on the stack);
# `own`: the same, by the four innermost functions of our own: what goes on inside of a library is one place; all
chosen() {
    local n part
    case $FAULTS_EACH in
    all) seq 1 "$1" ;;
    places | own) sort -n stacks ;;
    *)
        part=$(($1 / FAULTS_EACH + 1))
        for ((n = RANDOM % part + 1; n <= $1; n += part)); do echo $n; done
        ;;
    esac
}

# kinds: all of hows, or FAULTS_KINDS of them, the next ones at each call
turn=0
kinds() {
    local n
    for ((n = 0; n < ${FAULTS_KINDS:-${#hows[@]}}; n++)); do echo "${hows[(turn + n) % ${#hows[@]}]}"; done
}

# walk JUDGE ARGS...: each chosen call of each kind goes wrong once. JUDGE says what the command leaves: reads (nothing),
# writes (files that are old or new), parts (also tables, figures and a report of those parts that did not fail).
# FAULTS_ONLY: only of commands that begin so; may be a pattern, as train*vgg6.
walk() {
    judge=$1
    shift
    local how n begin_faults=$faults all=0
    # shellcheck disable=SC2053
    [[ $* == ${FAULTS_ONLY:-}* ]] || return 0
    rm -rf try after
    cp -r before try
    under memory:ENOMEM:0 "$@" || wrong "spherelu $* without a fault: exit $?"
    cp -r try after
    cp out expected
    turn=$((turn + ${FAULTS_KINDS:-0}))
    for how in $(kinds); do
        rm -rf try
        cp -r before try
        FAULT_STACKS=$PWD/stacks under "$how:0" "$@"
        all=$((all + calls))
        chosen "$calls" >numbers # no pipe: RANDOM is to go on
        while read -r n; do
            one "$how:$n" "$@" || break
        done <numbers
    done
    echo "$((faults - begin_faults)) faults of $all calls: spherelu $*"
}
[ "${FAULTS_EACH:-}" != own ] || export FAULT_OWN=${FAULT_OWN:-4}
faults=0 refused=0 borne=0 foreign=0
