#!/bin/bash
# SPDX-License-Identifier: MIT
#
# train --record: what it leaves, and that stopping, killing and resuming change nothing in it.
. "$(dirname "$0")/lib.bash"

python=/usr/bin/python3
if ! $python -c 'import numpy' 2>/dev/null; then
    skipped "what numpy reads in boundaries.npz ($python has no numpy)"
    python=
fi

# numpy CODE: runs it with z = the arrays of $folder; asserts speak
numpy() {
    [ -n "$python" ] || return
    checks=$((checks + 1))
    $python - "$folder/boundaries.npz" >numpy.out 2>&1 <<PYTHON || wrong "$folder: $(tail -1 numpy.out)"
import sys
import numpy as np
z = dict(np.load(sys.argv[1]))
def has(*names):
    assert sorted(set(z) - {"features"}) == sorted(names), sorted(z)
def features(*names):
    assert [bytes(name).rstrip(b"\0").decode() for name in z["features"]] == list(names), z["features"]
def shape(name, dtype, *want):
    assert z[name].dtype == dtype and z[name].shape == want, (name, z[name].dtype, z[name].shape)
def motion(path, bound):
    "move and turn are those between the frames, of every step"
    phi, u = z[path + ".phi"].astype(float), z[path + ".normal"].astype(float)
    move = np.linalg.norm(np.diff(phi, axis=0), axis=2)
    turn = 2 * np.arctan2(np.linalg.norm(u[1:] - u[:-1], axis=2), np.linalg.norm(u[1:] + u[:-1], axis=2))
    for name, value in ("move", move), ("turn", turn):
        want = np.stack([value.max(1), np.median(value, 1), np.percentile(value, 90, axis=1)], axis=1)
        worst = (np.abs(z[path + "." + name] - want) / (1 + np.abs(phi).max())).max()
        assert worst < bound, (name, worst)
    assert np.allclose(np.linalg.norm(u, axis=2), 1, atol=1e-6)
$1
PYTHON
}

table 300 >t.csv
classes 200 one two three >c.csv
short=(--data t.csv --target y --hidden 9,5 --batch 64 --epochs 8 --patience 0 --quiet)

# ---- what is kept, and when: 192 training rows are 3 steps an epoch
run 0 train "${short[@]}" --record boundaries --out epoch
absent epoch/boundaries.moves.part epoch/boundaries.frames.part epoch/boundaries.patterns.part
folder=epoch
numpy '
has("step", "frame_step", "x_mean", "x_scale", *(f"layers.{k}.{a}" for k in (0, 1) for a in ("move", "turn", "phi", "normal")))
assert z["step"].tolist() == list(range(1, 25)) and z["frame_step"].tolist() == list(range(0, 25, 3))
shape("layers.0.move", "f8", 24, 3)
shape("layers.0.phi", "f4", 9, 9, 6)
shape("layers.1.normal", "f4", 9, 5, 9)
shape("x_mean", "f8", 6)
assert (z["layers.0.turn"][:, 0] > 0).all() and (z["layers.0.turn"][:, 0] >= z["layers.0.turn"][:, 2]).all()'
check "config.yaml lacks the record" grep -q '^  record: "boundaries:epoch"' epoch/config.yaml

run 0 train "${short[@]}" --record boundaries:every --dtype f64 --norm bn --param sp --out every
# phi is in the order of the features: from the last column to the first, if they are reversed
awk 'BEGIN { srand(3); print "first,town,y"; for (i = 0; i < 40; i++) print rand() "," (i % 2 ? "Oslo" : "Rome") "," rand() }' >towns.csv
run 0 train --data towns.csv --columns reversed --hidden 3 --epochs 2 --record boundaries --out reversed --quiet
folder=reversed
numpy 'features("town=Oslo", "town=Rome", "first")
assert z["layers.0.phi"].shape[2] == 3 and abs(z["x_mean"][0] + z["x_mean"][1] - 1) < 1e-12'

folder=every
numpy '
assert z["frame_step"].tolist() == list(range(25))
shape("layers.0.phi", "f8", 25, 9, 6)
motion("layers.0", 1e-13), motion("layers.1", 1e-13)'
run 0 train "${short[@]}" --record boundaries:every --norm imn --out imn
folder=imn
numpy 'motion("layers.0", 2e-6), motion("layers.1", 2e-6)'

run 0 train "${short[@]}" --record patterns:24,0+boundaries:7,0,7,99 --standardize off --out chosen
folder=chosen
numpy '
assert z["frame_step"].tolist() == [0, 7] and z["pattern_step"].tolist() == [0, 24]
assert z["step"].size == 24 and "x_mean" not in z
shape("layers.0.pattern", "u1", 2, 192, 2)
bits = np.unpackbits(z["layers.0.pattern"], axis=2)[:, :, :9]
assert z["layers.0.flips"].tolist() == [0, (bits[0] != bits[1]).sum()]
assert z["layers.0.distinct"].tolist() == [len(np.unique(b, axis=0)) for b in bits]'
check "another way of saying it is not the same" grep -q '"boundaries:0,7,99+patterns:0,24"' chosen/config.yaml

# ---- gradients: layer by layer, the output layer too, which has no activation
run 0 train "${short[@]}" --param gmp --batch full --record gradients:0,3,8 --out gradients
absent gradients/boundaries.gradients.part gradients/boundaries.moves.part
folder=gradients
numpy '
has("gradient_step", "x_mean", "x_scale", *(f"layers.{k}.{a}" for k in (0, 1) for a in ("active", "dead")),
    *(f"layers.{k}.{a}" for k in (0, 1, 2) for a in ("gradient", "gradient_norm", "input_mean")))
assert z["gradient_step"].tolist() == [0, 3, 8]
for k, count in enumerate((9 * 5, 5 * 8, 5)):
    rms, norm = z[f"layers.{k}.gradient"], z[f"layers.{k}.gradient_norm"]
    shape(f"layers.{k}.gradient", "f8", 3)
    assert (rms > 0).all() and np.allclose(norm, rms * np.sqrt(count))
active, dead = z["layers.0.active"], z["layers.0.dead"]
assert ((active > 0) & (active < 1)).all() and ((dead >= 0) & (dead < 1)).all()'

# ---- patterns alone; no boundaries under ln, and none without hidden layers
run 0 train --data c.csv --target kind --hidden 7 --epochs 3 --norm ln --record patterns --quiet --out ln
folder=ln
numpy 'has("pattern_step", "flips", "distinct", "x_mean", "x_scale", *("layers.0." + a for a in ("pattern", "flips", "distinct", "bits")))'
run 0 train --data c.csv --target kind --hidden 7 --epochs 3 --batch full --norm ln --record boundaries --quiet --out ln2
folder=ln2
numpy 'has("step", "frame_step", "x_mean", "x_scale")
assert z["step"].tolist() == [1, 2, 3]'
run 0 train "${short[@]}" --hidden none --record boundaries --out linear

# ---- it changes nothing in the training, and the same seed gives the same bits
run 0 train "${short[@]}" --out without
run 0 train "${short[@]}" --record boundaries:every+patterns:every+gradients:every --checkpoint-seconds 0.001 --out with
check "recording changed the model" cmp -s without/model.safetensors with/model.safetensors
run 0 train "${short[@]}" --record boundaries:every+patterns:every+gradients:every --out with-again
same_run with with-again
run 0 train "${short[@]}" --record boundaries:every+patterns:every+gradients:every --seed 1 --out other
check "another seed recorded the same" eval '! cmp -s with/boundaries.npz other/boundaries.npz'

# ---- the end of a run, again and again: the files are gone, the record stays
cp with/boundaries.npz kept.npz
run 0 train --resume --out with
check "a finished run was recorded again" cmp -s kept.npz with/boundaries.npz
touch with/boundaries.frames.part # as if killed while these went
run 0 train --resume --out with
absent with/boundaries.frames.part
check "a finished run lost its record" cmp -s kept.npz with/boundaries.npz

# ---- Ctrl-C leaves a record of what there is, and the run goes on from it
long=(--data t.csv --target y --hidden 9,5 --batch 16 --epochs 5000 --patience 0 --quiet
    --record boundaries:every+patterns:0,40,100,3000,20000+gradients:0,40,100,3000,20000)
run 0 train "${long[@]}" --out whole
signalled INT '[ -s stopped/metrics.jsonl ]' train "${long[@]}" --checkpoint-seconds 0.05 --out stopped
check "SIGINT: exit $code, expected 130" [ $code -eq 130 ]
folder=stopped
numpy '
steps = z["step"].size
assert 0 < steps < 60000 and z["step"].tolist() == list(range(1, steps + 1))
assert z["frame_step"].tolist() == list(range(steps + 1))
motion("layers.0", 2e-6)'
check "the parts of a stopped run are gone" [ -s stopped/boundaries.moves.part ]
cp -r stopped broken

# ---- a run that goes on has no old record beside it, however it ends
cp -r stopped again
before=$(stat -c %s stopped/boundaries.frames.part)
signalled KILL '[ $(stat -c %s again/boundaries.frames.part) -gt $before ]' train --resume --out again
if [ -e again/result.json ]; then
    skipped "the run was over before its kill"
else
    absent again/boundaries.npz
fi
run 0 train --resume --out again
same_run whole again

run 0 train --resume --out stopped
same_run whole stopped
absent stopped/boundaries.moves.part stopped/boundaries.frames.part stopped/boundaries.patterns.part \
    stopped/boundaries.gradients.part

# ---- what is in the folder is checked
cp -r broken short
rm broken/boundaries.moves.part
run 1 train --resume --out broken
fails file path=broken/boundaries.moves.part
truncate -s 300 short/boundaries.frames.part
run 1 train --resume --out short
fails file path=short/boundaries.frames.part

# ---- a run that diverges keeps what it recorded
run 1 train --data t.csv --target y --hidden 8 --param sp --optimizer sgd --lr 1e18 --batch 16 --epochs 5 \
    --record boundaries:every --out diverged --quiet
folder=diverged
numpy 'assert z["frame_step"].size == z["step"].size + 1'
check "no record of a run that diverged" [ -s diverged/boundaries.npz ]
absent diverged/boundaries.moves.part diverged/boundaries.frames.part

# ---- notes: steps that never come, and what moments take
run 0 train --data t.csv --target y --hidden 9,5 --batch 64 --epochs 2 --record boundaries:3,99999999+patterns:6 --out late
notes key=record 99999999
run 0 train --data t.csv --target y --hidden 9,5 --batch 64 --epochs 2 --record boundaries:0,6 --out none-late
check "a note on steps that are there" eval '! grep -q \"record\" err'
run 0 train --data t.csv --target y --hidden 9,5 --batch 64 --epochs 2 --record boundaries+patterns --verbose --out sizes
notes key=record boundaries "0.0008 MB" # 8 + 2 * 4 * (9 * 6 + 5 * 9)
notes key=record patterns "0.000632 MB" # 192 * (2 + 1) + 7 * 8
run 0 train --data t.csv --target y --hidden 50000 --epochs 1 --record patterns:0 --out large
notes key=record patterns "1.2 MB"
run 0 train "${short[@]}" --record boundaries:99 --out quiet
check "quiet" [ ! -s err ]

# ---- a disk that is full at the end costs no training
case "${SPH_SAN:-}" in
*thread*) skipped "the thread sanitizer does not live under a file size limit" ;;
*)
    run 0 train "${short[@]}" --record boundaries:every --out room
    (
        ulimit -f $((($(stat -c %s room/boundaries.npz) - 1) / 1024)) # its parts fit, the whole does not
        "$SPHERELU" train "${short[@]}" --record boundaries:every --out full >out 2>err
    )
    check "a file beyond the limit" [ $? -eq 1 ]
    fails file path=full/boundaries.npz
    absent full/boundaries.npz full/result.json
    no_temporaries full
    run 0 eval full --data t.csv
    run 0 train --resume --out full
    same_run room full
    absent full/boundaries.moves.part full/boundaries.frames.part
    ;;
esac

# ---- memory does not grow with the steps
if [ -n "$python" ] && [ -z "${SPH_SAN:-}" ]; then
    # peak STEPS: KiB that a training of so many steps, an epoch each, has in memory at most; its page has all epochs
    peak() {
        $python -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$SPHERELU" train --data levy --rows 50 --hidden 10 \
            --batch full --epochs "$1" --patience 0 --record boundaries+patterns --no-report --quiet --out "peak$1"
    }
    less=$(peak 10000) more=$(peak 100000)
    check "100,000 steps: $more KiB, 10,000: $less KiB" [ "$more" -lt $((less + 2048)) ]
    rm -r peak10000 peak100000
fi

# ---- options
run 2 train "${short[@]}" --record boundary --out no
fails argument key=record
run 2 train "${short[@]}" --record boundaries:always --out no
fails argument key=record
run 2 train "${short[@]}" --record patterns:1,,2 --out no
fails argument key=record
run 2 train "${short[@]}" --record boundaries+boundaries:every --out no
fails argument key=record
run 2 train "${short[@]}" --record boundaries+ --out no
fails argument key=record
run 2 train --resume --record boundaries:every --out epoch
fails argument key=record
run 2 train --resume --record boundaries --out without
fails argument key=record
absent no

# ---- experiments: every job records
cat >e.yaml <<YAML
name: recorded
data: {name: crescents, rows: 100}
net: {hidden: [6]}
train: {epochs: 3, patience: 0}
methods: [{name: SP, param: sp}, {name: GmP, param: gmp}]
seeds: 2
record: {boundaries: [0, 2], patterns: epoch}
YAML
run 0 run e.yaml --quiet --out exp
for folder in exp/jobs/SP/seed-0 exp/jobs/GmP/seed-1; do
    numpy 'assert z["frame_step"].tolist() == [0, 2] and z["pattern_step"].tolist() == [0, 1, 2, 3] and z["step"].size == 3'
done
check "experiment.yaml lacks the record" grep -q '^record: {boundaries: \[0, 2\], patterns: epoch}' exp/experiment.yaml
run 0 run e.yaml --quiet --set record=boundaries:every --out exp2
folder=exp2/jobs/SP/seed-1
numpy 'assert z["frame_step"].tolist() == [0, 1, 2, 3] and "flips" not in z'
finish
