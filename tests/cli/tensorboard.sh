# SPDX-License-Identifier: MIT
#
# train --log tensorboard: its event files, read by TensorBoard where that is installed ($SPH_ONNX_PYTHON, or python3).
. "$(dirname "$0")/lib.bash"
python=${SPH_ONNX_PYTHON:-python3}
if "$SPHERELU" --version | grep -q '^onnx: none'; then
    run 2 train --data crescents --epochs 1 --log tensorboard --out run --quiet
    fails argument key=log
    skipped "the rest: this build has no protobuf-c"
    finish
fi
readable() {
    if "$python" -c 'import tensorboard' 2>/dev/null; then
        check "$1: not what metrics.jsonl says" "$python" "$SOURCE_DIR/tests/read_events.py" "$@"
    else
        skipped "$1 by TensorBoard ($python has none; \$SPH_ONNX_PYTHON names another)"
    fi
}
files() { ls "$1"/events.out.tfevents.* 2>/dev/null | wc -l; }

run 0 train --data crescents --epochs 6 --hidden 8 --log tensorboard --out plain --quiet
check "one file" test "$(files plain)" = 1
check "its version" grep -qa 'brain.Event:2' plain/events.out.tfevents.*
check "the file knows" grep -q 'log: tensorboard' plain/config.yaml
readable plain
run 0 train --data crescents --epochs 5 --hidden 8,4 --param gmp --log tensorboard --record boundaries --out moving --quiet
check "what turns" grep -qa 'layers.0/turn_largest' moving/events.out.tfevents.*
readable moving boundaries
run 0 train --data crescents --epochs 3 --hidden 8 --out none --quiet
check "no file unasked" test "$(files none)" = 0
run 2 train --data crescents --epochs 3 --log tensorbord --out wrong --quiet
fails argument key=log

# Killed in the middle: the next part is another file, and both read as one run
signalled KILL '[ $(lines killed/metrics.jsonl) -gt 2 ]' train --data crescents --epochs 4000 --patience 0 --hidden 8 \
    --checkpoint-seconds 0 --log tensorboard --out killed --quiet
run 0 train --resume --out killed --quiet
check "a second file" test "$(files killed)" = 2
readable killed
run 0 train --resume --out killed --quiet
check "a run that is over writes none" test "$(files killed)" = 2
finish
