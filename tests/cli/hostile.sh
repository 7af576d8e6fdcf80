#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Files and options made to harm: each is refused in one line, with the exit code of a refusal, not of a crash.
. "$(dirname "$0")/lib.bash"

{
    echo "a,b,price"
    for i in $(seq 40); do echo "$i,$((i * i)),$((i * 3))"; done
} >ok.csv
run 0 train --data ok.csv --epochs 2 --out run

# ---- a model that says another number of columns than its net takes
cp -r run narrow
LC_ALL=C sed -i 's/\\"feature\\"/\\"dropped\\"/' narrow/model.safetensors
for command in "predict narrow" "eval narrow" "boundaries narrow" "regions narrow"; do
    run 1 $command --data ok.csv
    fails format path=narrow/model.safetensors
done

# ---- a run that does not say its task
cp -r run untold
sed -i '/^  task:/d' untold/config.yaml
run 1 figures untold
fails format key=task path=untold/config.yaml

# ---- numbers whose product wraps
run 2 train --data ok.csv --epochs 18446744073709551615 --batch 20 --out refused
fails argument key=epochs
run 2 train --data ok.csv --epochs 9223372036854775808 --batch 20 --out refused
fails argument key=epochs
absent refused

# ---- links in a run folder that lead out of it, and files of others beside ours
echo mine >outside
cp -r run trap
rm trap/result.json trap/model.safetensors
for name in config.yaml.tmp model.safetensors.tmp checkpoint.safetensors.tmp result.json.tmp split.json.tmp; do
    ln -s ../outside "trap/$name"
done
ln -s ../outside trap/model.safetensors
run 0 train --resume --out trap
check "a file outside of the run folder was written" [ "$(cat outside)" = mine ]
cp -r run log
rm log/metrics.jsonl log/result.json
ln -s ../outside log/metrics.jsonl
run 1 train --resume --out log
fails file path=log/metrics.jsonl
check "a log was written through a link" [ "$(cat outside)" = mine ]
echo mine >keep.safetensors.tmp
run 0 convert run/model.safetensors keep.safetensors --to gmp
check "convert overwrote keep.safetensors.tmp" [ "$(cat keep.safetensors.tmp)" = mine ]

# ---- folders that hold something else, and names that lead there
mkdir others
echo mine >others/notes.txt
touch others/.hidden
run 2 train --data ok.csv --epochs 1 --out others
fails argument path=others
experiment() { printf 'name: "%s"\ndata: {name: ok.csv}\ntrain: {epochs: 1}\nmethods: [{name: A}]\n' "$1"; }
experiment fine >fine.yaml
run 2 run fine.yaml --out others
fails argument path=others
check "files were written among others'" [ "$(ls -A others)" = "$(printf '.hidden\nnotes.txt')" ]
rm others/notes.txt
run 0 run fine.yaml --out others
for name in . ..; do
    experiment $name >named.yaml
    run 1 run named.yaml
    fails format key=name path=named.yaml line=1
done
absent runs

# ---- names that would give a terminal orders
for name in '\x1b[31m' '\u009b31m' '\x7f'; do
    for at in "$name" "A$name"; do
        experiment "$at" >named.yaml
        run 1 run named.yaml
        fails format key=name path=named.yaml line=1
        experiment fine | sed "s/{name: A}/{name: \"${at//\\/\\\\}\"}/" >named.yaml
        run 1 run named.yaml
        fails format key=name path=named.yaml line=4
    done
done
classes 60 no $'yes\e[31m' >coloured.csv
run 0 train --data coloured.csv --epochs 2 --out coloured
sed "s/yes.*/other\x1b[2J/" coloured.csv >others.csv
run 1 eval coloured --data others.csv
check "an escape reached stderr" eval "! grep -q $'\e' err"
run 0 predict coloured --data coloured.csv
check "a file holds what the data hold" grep -q $'\e' out
if command -v script >/dev/null; then
    script -qec "'$SPHERELU' predict coloured --data coloured.csv" /dev/null >out 2>err </dev/null
    check "nothing was printed" grep -qF 'yes?[31m' out
    check "an escape reached a terminal" eval "! grep -q $'\e' out"
else
    skipped "what a terminal gets (no script)"
fi

# ---- files whose reading took the square of their size
awk 'BEGIN { for (row = 0; row < 4; row++) for (i = 0; i < 100000; i++)
    printf "%s%d%s", row ? "v" row "_" : "name", i, i < 99999 ? "," : "\n" }' >wide.csv
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "["; print "" }' >deep.yaml
cp -r run deep
cp deep.yaml deep/config.yaml
{
    experiment many
    seq -s, 0 300000 | sed 's/.*/seeds: [&,77]/'
} >many.yaml
begun=$SECONDS
run 1 run many.yaml --out refused
fails format key=seeds path=many.yaml line=5
run 1 train --data wide.csv --drop none --out refused
fails format key=name0 path=wide.csv
run 1 run deep.yaml
fails format path=deep.yaml line=1
run 1 eval deep --data ok.csv
fails format path=deep/config.yaml line=1
check "$((SECONDS - begun)) seconds for four files of less than 3 MB" [ $((SECONDS - begun)) -lt 300 ]

# ---- links of a folder to itself, and to others that lead back: each run is listed once
mkdir -p loop/inner
cp -r run loop/mine
for i in $(seq 12); do ln -s . loop/self$i; done
ln -s .. loop/inner/back
run 0 list loop
check "a run is listed $(grep -c 'loop/' out) times" [ "$(grep -c 'loop/' out)" -eq 1 ]

# ---- more memory than is allowed
in_little_memory() { # PATH COMMAND...: exit 1, and no gigabytes on the way
    local path=$1
    shift
    (
        [ -n "${SPH_SAN:-}" ] || ulimit -v 2000000
        "$SPHERELU" "$@" --max-memory 100M >out 2>err
    )
    check "spherelu $*: exit $?, expected 1" [ $? -eq 1 ]
    fails memory key=max-memory path="$path"
}
head -c 300000000 /dev/zero | gzip -1 >zeroes_batch.bin.gz
in_little_memory /dev/zero train --data /dev/zero --out refused
in_little_memory zeroes_batch.bin.gz train --data zeroes_batch.bin.gz --out refused
in_little_memory "" train --data ok.csv --hidden 10000,10000 --out refused
run 0 train --data ok.csv --epochs 1 --max-memory 100M --out small
for size in 0 8X G 1GB -1 99999999999999999999 20000000T; do
    run 2 train --data ok.csv --max-memory=$size --out refused
    fails argument key=max-memory
done
absent refused

# ---- an address space in which OpenBLAS would not start, and one in which it would not end
if [ -z "${SPH_SAN:-}" ]; then
    table 700 >large.csv
    for space in 150000 300000 450000 500000 550000 700000 1000000; do
        (
            ulimit -v $space
            timeout -s KILL 60 "$SPHERELU" --version >out 2>err &&
                timeout -s KILL 60 "$SPHERELU" train --data large.csv --hidden 300,300 --epochs 1 --quiet --out in$space \
                    >out 2>err
        )
        check "an address space of $space kB: exit $?, expected 0" [ $? -eq 0 ]
    done
    (
        ulimit -v 700000
        "$SPHERELU" --version >out 2>err
        "$SPHERELU" train --data large.csv --hidden 4 --epochs 1 --verbose --out said >said.out 2>said.err
        "$SPHERELU" train --data large.csv --hidden 4 --epochs 1 --out told >told.out 2>told.train
        "$SPHERELU" train --data large.csv --hidden 4 --epochs 1 --quiet --out quiet >told.out 2>told.quiet
        "$SPHERELU" run fine.yaml --out told.run >told.out 2>told.run.err
        "$SPHERELU" eval said >told.out 2>told.eval
        "$SPHERELU" predict said --data large.csv >told.out 2>told.predict
    )
    if "$SPHERELU" --version | grep -q '^matrices: OpenBLAS'; then
        check "--version does not tell that OpenBLAS has no room" grep -q '^matrices: built in.*OpenBLAS' out
        for file in told.train told.run.err told.eval told.predict; do
            check "$file: not one note of it" [ "$(grep -c '^{"note": .*OpenBLAS' $file)" -eq 1 ]
        done
        check "told under --quiet" [ ! -s told.quiet ]
        check "train --verbose does not tell of it" grep -q '^{"note": .*"kernels".*OpenBLAS' said.err
    fi
fi

# ---- the one foreign program: not from the folder of the figures, and not by scripts that others may change
mkdir path scripts
printf '#!/bin/sh\necho wrong >"%s/started"\n' "$PWD" >path/gnuplot
chmod +x path/gnuplot
cp -r run drawn
mkdir drawn/figures
cp path/gnuplot drawn/figures
(
    PATH=.:
    "$SPHERELU" figures drawn >out 2>err
    "$SPHERELU" --version >out 2>err
)
absent started
check "--version names no gnuplot" grep -qx "gnuplot: not found" out
PATH=$PWD/path:$PATH run 0 --version
shows "gnuplot: $PWD/path/gnuplot"
names=(convergence)
echo "system 'echo wrong >$PWD/started'" >scripts/convergence.gp
chmod o+w scripts
SPHERELU_FIGURES=$PWD/scripts run 1 figures drawn "${names[@]}"
fails file key=SPHERELU_FIGURES
chmod o-w scripts
chmod o+w scripts/convergence.gp
SPHERELU_FIGURES=$PWD/scripts run 1 figures drawn "${names[@]}"
fails file key=SPHERELU_FIGURES
chmod o-w scripts/convergence.gp
for what in scripts scripts/convergence.gp; do
    if chown 12345 $what 2>/dev/null; then
        SPHERELU_FIGURES=$PWD/scripts run 1 figures drawn "${names[@]}"
        fails file key=SPHERELU_FIGURES
        chown "$(id -u)" $what
    else
        skipped "scripts that another user owns: only root can give them away"
    fi
done
absent started

# gnuplot draws where nobody can have laid a link, and the picture takes the place of one; it has its time and no more
cat >path/gnuplot <<'SH'
#!/bin/sh
eval "$3"
stat -c '%a %F' "$(dirname "$output")" >>"$SAW"
echo "$output" >>"$SAW"
[ -z "$SLOW" ] || exec sleep 600
echo drawn >"$output"
SH
echo mine >outside
rm -rf drawn/figures
mkdir drawn/figures
for name in convergence.png convergence.part.png convergence.gp convergence.svg; do ln -s ../../outside drawn/figures/$name; done
SAW=$PWD/saw PATH=$PWD/path:$PATH run 0 figures drawn convergence
check "gnuplot or we wrote through a link" [ "$(cat outside)" = mine ]
check "the picture is not in its place" [ "$(cat drawn/figures/convergence.png)" = drawn ] && [ ! -L drawn/figures/convergence.png ]
drawings=$(grep -c ' directory$' saw) # three, and three more where the page has no charts and gnuplot draws the curves for it
check "$drawings drawings, expected three or more" [ "$drawings" -ge 3 ]
check "the folder of a drawing is open to others: $(head -1 saw)" [ "$(grep -c '^700 directory$' saw)" -eq "$drawings" ]
check "a name is used twice" [ "$(grep -v ' directory$' saw | sort -u | wc -l)" -eq "$drawings" ]
check "a folder of a drawing is left" [ -z "$(find drawn -name '.drawing*')" ]
mkdir drawn/figures/.drawing.0123456789abcdef.tmp # as a killed one leaves it
touch drawn/figures/.drawing.0123456789abcdef.tmp/picture
begun=$SECONDS
SLOW=1 SPHERELU_GNUPLOT_SECONDS=0.3 SAW=$PWD/saw PATH=$PWD/path:$PATH run 1 figures drawn convergence
fails file path=drawn/figures/convergence.gp
check "it took $((SECONDS - begun)) seconds" [ $((SECONDS - begun)) -lt 60 ]
printf '#!/bin/sh\nexec 2>&- && exec sleep 100\n' >path/gnuplot # one that says no word and does not end
SPHERELU_GNUPLOT_SECONDS=0.3 PATH=$PWD/path:$PATH run 1 figures drawn convergence
fails file path=drawn/figures/convergence.gp
check "a folder of a drawing is left: $(ls -A drawn/figures)" [ -z "$(find drawn -name '.drawing*')" ]

# ---- a signal while data are read
mkfifo slow.csv
printf 'name: slow\ndata: {name: slow.csv}\nmethods: [{name: A}]\n' >slow.yaml
for command in "train --data slow.csv --out slow" "run slow.yaml --out slows"; do
    timeout -s KILL 60 "$SPHERELU" $command 2>err &
    child=$!
    exec 3>slow.csv # returns when the other end is open
    echo "a,b,y" >&3
    await '[ "$(ps -o state= --ppid $child)" = S ]' # it waits for more
    pkill -TERM -P $child
    wait $child
    check "$command: SIGTERM while data are read: exit $?, expected 143" [ $? -eq 143 ]
    exec 3>&-
done
finish
