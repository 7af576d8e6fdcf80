#!/bin/bash
# SPDX-License-Identifier: MIT
#
# spherelu data get and verify, against a server on the loopback: nothing comes from outside. GET_SET downloads sets that
# no table knows.
source "$(dirname "$0")/lib.bash"

if ! "$SPHERELU" --version | grep -q "downloads: libcurl"; then
    skipped "this build cannot download"
    exit 77
fi
mkdir served
python3 "$SOURCE_DIR/tests/http_server.py" "$work/served" &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$work"' EXIT
await '[ -e served/port ]'
url=http://127.0.0.1:$(cat served/port)
given=${SPHERELU_DATA:-}
unset SPHERELU_DATA http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy
export SPHERELU_CACHE=$work/cache HOME=$work NO_PROXY=127.0.0.1
asked() { grep -c "" served/requests; }
last() { tail -1 served/requests; }
no_parts() { check "parts were left: $(find cache -name '*.part*')" [ -z "$(find cache -name '*.part*')" ]; }

# A program that has no data beside it: here the tables have to be downloaded.
mkdir alone
cp "$SPHERELU" alone/
tool=$SPHERELU
SPHERELU=$work/alone/spherelu
gzip -dc "$SOURCE_DIR/data/uci/boston.txt.gz" >served/data.txt
cp "$SOURCE_DIR/data/banana.csv" served/2d_banana.csv
absent cache/uci

# ---- once; a second call asks nobody
run 0 data get boston --from "$url/plain"
shows "$work/cache/uci/boston.txt"
check "another file came" cmp -s cache/uci/boston.txt served/data.txt
count=$(asked)
run 0 data get boston --from "$url/plain"
shows "$work/cache/uci/boston.txt, as before"
check "a second call asked the server" [ "$(asked)" -eq "$count" ]
run 0 data list
check "it is not found" grep -q "^boston .*$work/cache/uci/boston.txt$" out
run 0 data verify
shows "boston         as published"
run 0 train --data boston --epochs 2 --quiet --out run
no_parts

# ---- slow, moved, a server that knows no parts
for way in slow moved whole; do
    rm -rf cache
    run 0 data get banana --from "$url/$way"
    check "$way: another file came" cmp -s cache/banana.csv served/2d_banana.csv
    no_parts
done

# ---- cut short: what came is kept under no name that is read, and the next call asks for the rest alone
rm -rf cache
run 1 data get banana --from "$url/cut"
fails file path="$url/cut/2d_banana.csv"
absent cache/banana.csv
half=$(stat -c %s cache/banana.csv.part)
check "half of it is not there: $half" [ "$half" -gt 1000 ]
run 1 train --data banana --quiet --out nothing
fails file path=banana
run 0 data get banana --from "$url/plain"
check "the rest was not asked for: $(last)" [ "$(last)" = "/plain/2d_banana.csv bytes=$half-" ]
check "two halves make another file" cmp -s cache/banana.csv served/2d_banana.csv
no_parts
# ... from a server that knows no parts it comes again from the start
rm -rf cache
run 1 data get banana --from "$url/cut"
run 0 data get banana --from "$url/whole"
check "another file came" cmp -s cache/banana.csv served/2d_banana.csv
# ... killed while it came
rm -rf cache
signalled KILL '[ -s "$(echo cache/*.part*)" ]' data get banana --from "$url/slow"
run 0 data get banana --from "$url/plain"
check "another file came after a kill" cmp -s cache/banana.csv served/2d_banana.csv
# ... whole, but killed before it got its name
rm -rf cache
mkdir cache
cp served/2d_banana.csv cache/banana.csv.part
run 0 data get banana --from "$url/plain"
check "a part that was whole" cmp -s cache/banana.csv served/2d_banana.csv
no_parts
# ... a part of something else
rm -rf cache
mkdir cache
head -c 5000 /dev/zero >cache/banana.csv.part
run 1 data get banana --from "$url/plain"
fails format key=sha256 path="$url/plain/2d_banana.csv"
no_parts
run 0 data get banana --from "$url/plain"

# ---- not there, round and round, no server, another digest
rm -rf cache
run 1 data get banana --from "$url/nowhere"
fails file path="$url/nowhere/2d_banana.csv"
run 1 data get banana --from "$url/round"
fails file path="$url/round/2d_banana.csv"
run 1 data get banana --from http://127.0.0.1:1
fails file path='http://127.0.0.1:1/2d_banana.csv'
run 1 data get banana --from "file://$work/served"
fails file path="file://$work/served/2d_banana.csv"
cp served/2d_banana.csv kept
printf 9 | dd of=served/2d_banana.csv bs=1 seek=100 conv=notrunc status=none
run 1 data get banana --from "$url/plain"
fails format key=sha256 path="$url/plain/2d_banana.csv"
absent cache/banana.csv cache/banana.csv.part
mv kept served/2d_banana.csv

# ---- a server that does not end, one that falls silent, and one that sends on to a local file
rm -rf cache
for _ in 1 2; do # also where a part is left
    run 1 data get banana --from "$url/endless"
    fails format key=bytes path="$url/endless/2d_banana.csv"
    check "parts of it are kept: $(find cache -type f)" [ -z "$(find cache -type f)" ]
    head -c 5000 served/2d_banana.csv >cache/banana.csv.part
done
head -c 100000 /dev/zero >cache/banana.csv.part # larger than the file
run 0 data get banana --from "$url/plain"
check "another file came" cmp -s cache/banana.csv served/2d_banana.csv
rm -rf cache
begun=$SECONDS
SPHERELU_DOWNLOAD_SECONDS=2 run 1 data get banana --from "$url/stall"
fails file path="$url/stall/2d_banana.csv"
check "a silent server was waited for $((SECONDS - begun)) seconds" [ $((SECONDS - begun)) -lt 120 ]
run 0 data get banana --from "$url/plain"
check "two halves make another file" cmp -s cache/banana.csv served/2d_banana.csv

# ---- a clock that is set two days ahead and back all the time: time-outs do not look at it
if [ -n "${FAULTS_LIBRARY:-}" ] && [ -z "${SPH_SAN:-}" ]; then
    jumping() { FAULT_CLOCK=jumps LD_PRELOAD=$FAULTS_LIBRARY "$@"; }
    check "the clock does not jump" [ "$(jumping date +%Y%m)" = 200109 ]
    rm -rf cache
    SPHERELU_DOWNLOAD_SECONDS=10 jumping run 0 data get banana --from "$url/slow"
    check "another file came while the clock jumped" cmp -s cache/banana.csv served/2d_banana.csv
    rm -rf cache
    begun=$SECONDS
    SPHERELU_DOWNLOAD_SECONDS=2 jumping run 1 data get banana --from "$url/stall"
    fails file path="$url/stall/2d_banana.csv"
    check "a silent server was waited for $((SECONDS - begun)) seconds" [ $((SECONDS - begun)) -lt 120 ]
else
    skipped "a clock that jumps: no library to preload"
fi
rm -rf cache
run 1 data get banana --from "$url/astray"
fails file path="$url/astray/2d_banana.csv"
absent cache/banana.csv

# ---- a full disk: what went in is kept
(
    trap - EXIT
    ulimit -f 20
    exec "$SPHERELU" data get banana --from "$url/plain" >out 2>err
)
code=$?
check "a full disk: exit $code" [ $code -eq 1 ]
fails file path=cache/banana.csv.part
absent cache/banana.csv
run 0 data get banana --from "$url/plain"
check "another file came after a full disk" cmp -s cache/banana.csv served/2d_banana.csv
rm -rf cache

# ---- no network at all: a machine without any, not even the loopback
if unshare -rn true 2>/dev/null; then
    SPHERELU=$work/offline
    printf '#!/bin/sh\nexec unshare -rn "%s" "$@"\n' "$work/alone/spherelu" >offline
    chmod +x offline
    run 1 data get banana --from "$url/plain"
    fails file path="$url/plain/2d_banana.csv"
    run 1 data get banana
    fails file path='https://raw.githubusercontent.com/Wenlin-Chen/geometric-parameterization/0c48483a1089c16183308216a990f4235219a0ca/2d_banana/2d_banana.csv'
    absent cache/banana.csv
    SPHERELU=$work/alone/spherelu
else
    skipped "a machine without a network cannot be made here: unshare -rn"
fi
rm -rf cache

# ---- a cache that may only be read, by its bits (which root does not heed) and by what is mounted there
mkdir cache
if [ "$(id -u)" -ne 0 ]; then
    chmod 555 cache
    run 1 data get banana --from "$url/plain"
    fails file path="$work/cache/banana.csv.part"
    chmod 755 cache
fi
if unshare -rm mount -t tmpfs -o ro none cache 2>/dev/null; then
    printf '#!/bin/sh\nexec unshare -rm sh -c '\''mount -t tmpfs -o ro none "%s" && exec "%s" "$@"'\'' - "$@"\n' \
        "$work/cache" "$work/alone/spherelu" >read-only
    chmod +x read-only
    SPHERELU=$work/read-only
    run 1 data get banana --from "$url/plain"
    fails file path="$work/cache/banana.csv.part"
    SPHERELU=$work/alone/spherelu
else
    skipped "a file system that may only be read cannot be mounted here: unshare -rm"
fi
check "something came into it: $(ls cache)" [ -z "$(ls cache)" ]
rm -rf cache

# ---- a cache that cannot be written; a set nobody may hand on; one that is made; a name with a slip
echo file >file
SPHERELU_CACHE=$work/file run 1 data get banana --from "$url/plain"
fails file path="$work/file"
run 1 data get imagenet32
fails file key=data
run 0 data get levy
shows "levy "
run 2 data get bananna
fails argument key=bananna
SPHERELU=$tool
count=$(asked)
run 0 data get banana --from "$url/plain"
shows "/data/banana.csv, as before"
check "what came with the program was asked for" [ "$(asked)" -eq "$count" ]
run 0 data verify banana
shows "banana         as published"
mkdir other
sed 2d "$SOURCE_DIR/data/banana.csv" >other/banana.csv
SPHERELU_DATA=$work/other run 1 data verify banana
has_error format key=sha256 path=other/banana.csv
check "the state" grep -q "^banana  *not as published$" out

# ---- a set of four files: the folder gets its name with the last of them, and none is asked for twice
files=$(find ${given//:/ } -maxdepth 1 -name fashion-mnist 2>/dev/null | head -1)
if [ -n "$files" ]; then
    rm -rf cache
    cp "$files"/*.gz served/
    mv served/t10k-images-idx3-ubyte.gz away
    run 1 data get fashion-mnist --from "$url/plain"
    fails file path="$url/plain/t10k-images-idx3-ubyte.gz"
    absent cache/fashion-mnist
    check "two files are kept" [ "$(find cache/fashion-mnist.part -name 'train-*.gz' | wc -l)" -eq 2 ]
    mv away served/t10k-images-idx3-ubyte.gz
    count=$(asked)
    run 0 data get fashion-mnist --from "$url/plain"
    shows "$work/cache/fashion-mnist"
    check "files that were there were asked for: $(tail -3 served/requests)" [ $(($(asked) - count)) -eq 2 ]
    run 0 data verify fashion-mnist
    shows "fashion-mnist  as published"
    run 0 train --data fashion-mnist --net mlp --hidden 5 --rows 100 --epochs 1 --quiet --out clothes
    no_parts
    rm served/*.gz
else
    skipped "fashion-mnist is not in SPHERELU_DATA"
fi

# ---- an archive: unpacked without its folder, its files written down, itself not kept
tar_of() { tar -C tree -czf "served/$1" "${@:2}"; }
mkdir -p tree/set-1
printf 'one' >tree/set-1/a.bin
printf 'two' >tree/set-1/b.txt
tar_of good.tar.gz set-1
get_archive() { "$GET_SET" "$1/" "$1" "$url/plain/$2" "$(sha256sum <"served/$2" | cut -c1-64)" archive >out 2>err; }
rm -rf cache
check "an archive: $(cat err)" get_archive good good.tar.gz
check "two files are verified: $(cat out)" [ "$(cat out)" = 2 ]
check "what it holds: $(ls cache/good)" [ "$(ls cache/good | tr '\n' ' ')" = "SHA256SUMS a.bin b.txt " ]
check "its bytes" [ "$(cat cache/good/a.bin cache/good/b.txt)" = onetwo ]
no_parts
count=$(asked)
check "a second call" get_archive good good.tar.gz
check "asked the server" [ "$(asked)" -eq "$count" ]
printf 'eno' >cache/good/a.bin
get_archive good good.tar.gz && wrong "a changed file was not seen"
check "which file: $(cat err)" grep -q "^-3 sha256: .*cache/good/a.bin: " err

# ... and such as lead elsewhere: nothing is written outside, the set gets no name
mkdir -p tree/deep/er tree/link tree/set-2
echo x >tree/deep/er/file
ln -s /etc/passwd tree/link/file
ln -s .. tree/set-2/up
echo x >tree/out
tar_of deep.tar.gz deep
tar_of link.tar.gz link
tar_of up.tar.gz set-2
tar -C tree/deep -czPf served/above.tar.gz ../out
tar -czPf served/root.tar.gz "$work/tree/out"
tar -C tree -czf served/alone.tar.gz out
mkdir tree/two tree/bomb tree/many
echo x >tree/two/a
ln tree/two/a tree/two/b
printf x >"tree/many/a"$'\n'"b"
head -c 50000000 /dev/zero >tree/bomb/zeros
mkfifo tree/set-2/pipe
tar_of hard.tar.gz two
tar_of lines.tar.gz many
tar_of bomb.tar.gz bomb
tar_of pipe.tar.gz set-2/pipe
truncate -s 1T tree/bomb/zeros
tar -C tree -czSf served/holes.tar.gz bomb
mkdir tree/crowd
(cd tree/crowd && seq 1010 | xargs touch)
tar_of crowd.tar.gz crowd
tar -C tree --transform 's:^set-1/a.bin:set-1/../../../a.bin:' -czPf served/within.tar.gz set-1
printf 'no archive' >served/text.tar.gz
head -c 60 served/good.tar.gz >served/short.tar.gz
for name in deep link up above root alone within text short hard lines bomb pipe holes crowd; do
    get_archive $name $name.tar.gz && wrong "$name.tar.gz was unpacked"
    check "$name: $(cat err)" grep -q "^-3 : .*$name.tar.gz: " err
    absent cache/$name
done
check "a bomb went off: $(du -s cache)" [ "$(du -s cache | cut -f1)" -lt 100000 ]
check "something was written outside: $(ls "$work" cache)" [ -z "$(find "$work" -path "$work/tree" -prune -o -name 'a.bin' -newer served/good.tar.gz -print | grep -v "^$work/cache/")" ]
finish
