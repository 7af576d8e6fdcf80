# SPDX-License-Identifier: MIT
#
# What the scripts that drive the tool share; source it. Needs SPHERELU, the built tool. The script then stands in an
# empty folder that is removed at its end; finish with `finish`.
: "${SPHERELU:?set SPHERELU to the built tool}"
case $SPHERELU in /*) ;; *) SPHERELU=$PWD/$SPHERELU ;; esac
work=$(mktemp -d) || exit 1
trap '[ $BASHPID = $$ ] && rm -rf "$work"' EXIT # not in a child that is killed before it becomes the tool
cd "$work" || exit 1
export LC_ALL=C SPHERELU_PROGRESS_SECONDS=1e9 # a slow machine prints no lines of progress
export SPHERELU_MESSAGES=json                  # tests check code, key, path and line; messages.txt alone has wording
failed=0 checks=0

wrong() {
    echo "FAILED: $*"
    [ -e out ] && echo "  stdout: $(head -c 300 out)"
    [ -e err ] && echo "  stderr: $(head -c 300 err)"
    failed=$((failed + 1))
}

# in_layer NAME: make check, make test (also if SPH_LAYER is not set) or make test-long runs this (tests/layers.txt)
in_layer() {
    [ "${SPH_LAYER:-test}" = "$1" ]
}

# skipped REASON: tells of a part that cannot be checked here, in the line scripts/run-tests counts
skipped() {
    echo "SKIPPED: $*"
}

# check TEXT COMMAND...: the command succeeds
check() {
    local text=$1
    shift
    checks=$((checks + 1))
    "$@" || wrong "$text"
}

# run CODE ARGS...: the tool ends with CODE
run() {
    local expected=$1 code
    shift
    "$SPHERELU" "$@" >out 2>err
    code=$?
    checks=$((checks + 1))
    [ $code -eq "$expected" ] || wrong "spherelu $*: exit $code, expected $expected"
}

# await CONDITION: until it holds, ten minutes at most: a busy machine, a sanitizer
await() {
    local tries
    for ((tries = 0; tries < 30000; tries++)); do
        eval "$1" 2>/dev/null && return
        sleep 0.02
    done
    wrong "never happened: $1"
}

# start ARGS...: the tool in the background, as `child`. Without job control it would ignore SIGINT.
start() {
    : >out 2>err # the last command's output is gone before anybody waits for a line of this one
    set -m
    "$SPHERELU" "$@" >out 2>err &
    child=$!
    set +m
}

# signalled SIGNAL CONDITION ARGS...: the tool gets SIGNAL once CONDITION holds; `code` is its exit code
signalled() {
    local signal=$1 condition=$2
    shift 2
    start "$@"
    await "$condition || ! kill -0 $child"
    kill -"$signal" $child 2>/dev/null
    wait $child 2>/dev/null
    code=$?
}

# lines FILE: how many it has, 0 if it is not there
lines() {
    cat "$1" 2>/dev/null | wc -l
}

# read_message LINE: into `message`: kind (error or note), code, command, key, path, line, text; false if it is no message
declare -A message
read_message() {
    local text='(null|"(([^"\\]|\\.)*)")'
    local form="^\{\"(error|note)\": \{\"code\": $text, \"command\": $text, \"key\": $text, \"path\": $text, \"line\": (null|[0-9]+), \"message\": $text\}\}\$"
    [[ $1 =~ $form ]] || return
    message=([kind]=${BASH_REMATCH[1]} [code]=${BASH_REMATCH[3]} [command]=${BASH_REMATCH[6]} [key]=${BASH_REMATCH[9]}
        [path]=${BASH_REMATCH[12]} [line]=${BASH_REMATCH[14]} [text]=${BASH_REMATCH[16]})
    [ "${message[line]}" != null ] || message[line]=
}

# message_is KIND CODE [key=TEXT] [path=END] [line=N] [WORD...]: the message read last, with each WORD in its text. A key or a line that is not named is not there; a
# path is looked at only where one is named.
message_is() {
    local field key='' line='' path=${message[path]}
    [ "${message[kind]}" = "$1" ] && [ "${message[code]}" = "$2" ] || return
    for field in "${@:3}"; do
        case $field in key=* | path=* | line=*) local "$field" ;; *) [[ ${message[text]} == *"$field"* ]] || return ;; esac
    done
    [ "${message[key]}" = "$key" ] && [ "${message[line]}" = "$line" ] && [[ ${message[path]} == *"$path" ]] && [ -n "${message[text]}" ]
}

# fails CODE [key=TEXT] [path=END] [line=N]: nothing on stdout, and exactly one line on stderr, an error of that code: argument,
# file, format, memory, diverged, failed or stopped
fails() {
    checks=$((checks + 1))
    [ "$(wc -l <err)" -eq 1 ] && read_message "$(<err)" && message_is error "$@" || wrong "not one error: $*"
    [ ! -s out ] || wrong "stdout is not empty: $*"
}

# refuses "CODE [key=TEXT] [path=END] [line=N]" ARGS...: the tool ends with 2 if the code is argument, with 1 if it is another,
# and fails so
refuses() {
    local failure=$1 expected=1
    shift
    [ "${failure%% *}" != argument ] || expected=2
    run $expected "$@"
    eval "fails $failure"
}

# some_message KIND CODE [key=TEXT] ...: a line of stderr is such a message
some_message() {
    local line
    checks=$((checks + 1))
    while IFS= read -r line; do
        read_message "$line" && message_is "$@" && return
    done <err
    wrong "no $*"
}

# has_error CODE [key=TEXT] [path=END] [line=N]: stderr has that error, among other lines
has_error() {
    some_message error "$@"
}

# notes [key=TEXT] [WORD...]: stderr has a note about that key, with each WORD in it: a name or a number, no wording
notes() {
    some_message note '' "$@"
}

# shows TEXT...: stdout holds each TEXT, and stderr is empty
shows() {
    local text
    checks=$((checks + 1))
    for text; do
        grep -qF -- "$text" out || wrong "stdout lacks: $text"
    done
    [ -s err ] && wrong "stderr is not empty: $1"
}

# absent PATH...: none of them exists
absent() {
    local path
    for path; do
        checks=$((checks + 1))
        [ -e "$path" ] && wrong "$path was left behind"
    done
}

no_temporaries() {
    check "temporary files were left in $1: $(ls "$1")" [ -z "$(find "$1" -name '*.tmp*')" ]
}

# A file without its clock readings.
timeless() {
    sed -E 's/,?"seconds": ?[^,}]*//' "$1"
}

# same_record A B: both recorded nothing, or the same
same_record() {
    [ -e "$1/boundaries.npz" ] || [ -e "$2/boundaries.npz" ] || return
    checks=$((checks + 1))
    cmp -s "$1/boundaries.npz" "$2/boundaries.npz" || wrong "$1 and $2: another boundaries.npz"
}

# same_run A B: two run folders hold the same bits, but for seconds
same_run() {
    checks=$((checks + 1))
    [ ! -e "$1/model.safetensors" ] && [ ! -e "$2/model.safetensors" ] || # of a run that diverged
        cmp -s "$1/model.safetensors" "$2/model.safetensors" || wrong "$1 and $2: another model.safetensors"
    cmp -s "$1/split.json" "$2/split.json" || wrong "$1 and $2: another split.json"
    cmp -s <(timeless "$1/metrics.jsonl") <(timeless "$2/metrics.jsonl") ||
        wrong "$1 and $2: another metrics.jsonl: $(diff <(timeless "$1/metrics.jsonl") <(timeless "$2/metrics.jsonl") | head -4)"
    cmp -s <(timeless "$1/result.json") <(timeless "$2/result.json") || wrong "$1 and $2: another result.json"
    same_record "$1" "$2"
}

# peak ARGS...: the most memory, in kB, that a training holds, looked at while it runs
peak() {
    local pid most=0 now
    "$SPHERELU" train "$@" --quiet --out peak >out 2>err &
    pid=$!
    while now=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null) && [ -n "$now" ]; do
        most=$now
        sleep 0.01
    done
    wait $pid
    rm -rf peak
    echo "$most"
}

peak_is_seen() {
    [ -r /proc/self/status ] && ! grep -q __asan_init "$SPHERELU" && ! grep -q __tsan_init "$SPHERELU"
}

# tells_its_peak ARGS...: a dry run of that training tells the memory it takes to 5 %, or 10 % less: OpenBLAS holds more with AVX-512;
# `held` is that, in kB
tells_its_peak() {
    local told
    run 0 train "$@" --dry-run --json
    told=$(json out peak_bytes)
    held=$(peak "$@")
    check "$*: told $told bytes, held $held kB" awk -v told="$told" -v held="$held" \
        'BEGIN { r = told / (held * 1024); exit !(r > 0.9 && r < 1.05) }'
}

# json FILE KEY...: the value at a path of keys, by jansson's own output style: enough for what the tool writes
json() {
    local text key
    text=$(tr -d ' \n' <"$1")
    shift
    for key; do
        text=${text#*\"$key\":}
    done
    echo "${text%%[,\}]*}"
}

# table ROWS: a CSV of three numbers, a word and a price, with missing cells; target y
table() {
    awk -v rows="$1" 'BEGIN {
        srand(7); print "a,b,colour,price,y"
        for (i = 0; i < rows; i++) {
            a = rand() * 4 - 2; b = rand() * 4 - 2; c = int(rand() * 3); p = 100 + rand() * 4000
            y = sin(2 * a) * b + (c == 1) * 2 + p / 2000 + (rand() - 0.5) * 0.2
            word = c == 0 ? "red" : c == 1 ? "green" : "dark blue"
            cell = i % 17 == 5 ? "" : sprintf("%.5f", b)
            printf "%.5f,%s,%s,\"$%d,%03d.50\",%.6f\n", a, cell, word, p / 1000, p % 1000, y
        }
    }'
}

# classes ROWS LABEL...: a CSV of two numbers and a label; target kind
classes() {
    local rows=$1
    shift
    awk -v rows="$rows" -v labels="$*" 'BEGIN {
        srand(11); count = split(labels, label, " "); print "u,v,kind"
        for (i = 0; i < rows; i++) {
            c = int(rand() * count); t = 6.2831853 * (c / count) + rand() - 0.5
            printf "%.5f,%.5f,%s\n", cos(t) + (rand() - 0.5) / 2, sin(t) + (rand() - 0.5) / 2, label[c + 1]
        }
    }'
}

finish() {
    echo "$checks checks, $failed failed"
    [ $failed -eq 0 ]
    exit
}
