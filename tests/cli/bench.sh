#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Speed of training steps on images: what is printed, and that it is about the network asked for. Small ones: the
# figures themselves are nobody's business here.
. "$(dirname "$0")/lib.bash"

has_onednn=0
"$SPHERELU" --version | grep -q 'convolutions: oneDNN' && has_onednn=1

# object: one JSON object on stdout, with every key of the contract and a rate above 0
object() {
    local key
    check "not one line" [ "$(wc -l <out)" -eq 1 ]
    for key in what size batch width param norm activation optimizer conv images_per_second \
        conv_only_images_per_second parameters peak_bytes repeats threads dtype version cpu; do
        checks=$((checks + 1))
        grep -q "\"$key\": " out || wrong "no \"$key\""
    done
    check "no rate: $(json out images_per_second)" \
        awk -v x="$(json out images_per_second)" 'BEGIN { exit !(x > 0) }'
    # weights, gradients and momentum are numbers of 4 or 8 bytes each
    check "peak memory below what the weights alone take" \
        awk -v peak="$(json out peak_bytes)" -v count="$(json out parameters)" 'BEGIN { exit !(peak > 12 * count) }'
}

# has KEY VALUE
has() {
    check "$1: $(json out "$1"), expected $2" [ "$(json out "$1")" = "$2" ]
}

limit() {
    if [ $1 -eq 1 ]; then
        check "no limit beside the rate" \
            awk -v x="$(json out conv_only_images_per_second)" 'BEGIN { exit !(x > 0) }'
    else
        has conv_only_images_per_second null
    fi
}

# ---- the networks are the known ones: torchvision's numbers of parameters, less 7,680 of the small stem that small images
# get. (bn over two numbers, as at the end of a resnet50 on tiny images, would let gradients overflow.)
run 0 bench resnet18 --size 8 --batch 2 --param sp --norm bn --json
object; limit $has_onednn
has what '"resnet18"'; has parameters 11681832; has size 8; has batch 2; has optimizer '"sgd"'; has conv '"auto"'
run 0 bench resnet50 --size 64 --batch 2 --param sp --norm bn --json
object; limit $has_onednn
has parameters 25557032

# ---- MobileNet's number, too
run 0 bench mobile --size 64 --batch 2 --param sp --norm bn --json
object; limit $has_onednn
has what '"mobile"'; has parameters 4231976; has size 64; has batch 2; has optimizer '"sgd"'
run 0 bench mobile --width 0.125 --batch 2 --param gmp --norm imn --steps-only --json
object; has size 224

# ---- vgg6: its defaults, and what each option changes
run 0 bench vgg6 --width 0.0625 --json
object; limit $has_onednn
has size 32; has batch 32; has param '"gmp"'; has norm '"none"'; has activation '"relu"'; has repeats 3; has threads 1
run 0 bench vgg6 --width 0.0625 --batch 4 --param gmp --norm imn --conv direct --threads 2 --json
object; limit $has_onednn
has norm '"imn"'; has conv '"direct"'; has threads 2; has batch 4
run 0 bench vgg6 --width 0.0625 --batch 4 --size 16 --param wn --norm mbn --activation leaky_relu --optimizer adam \
    --repeats 4 --dtype f64 --json
object; limit 0 # oneDNN has no f64
has dtype '"f64"'; has optimizer '"adam"'; has activation '"leaky_relu"'; has repeats 4; has size 16

run 0 bench vgg6 --width 0.0625 --batch 4 --steps-only --json
object; limit 0

run 0 bench vgg6 --width 0.0625 --batch 4
shows "vgg6  32x32" "batch 4" "images per second" "bare convolutions" "peak"

# ---- pictures of a folder
if "$SPHERELU" --version | grep -q "pictures: TurboJPEG, libpng"; then
    mkdir -p photos/a photos/b
    cp "${SOURCE_DIR:-$(dirname "$0")/../..}"/tests/golden/pictures/*.jpg photos/a
    cp photos/a/small.jpg photos/b
    run 0 bench loader --data photos --size 24 --workers 2 --json
    for key in images_per_second decode_only_images_per_second images_per_processor_second decode_only_per_processor_second; do
        check "$key is no rate" awk -v x="$(json out $key)" 'BEGIN { exit !(x > 0) }'
    done
    has images 8; has workers 2; has size 24; has decode '"exact"'
    run 0 bench loader --data photos --size 24 --decode scaled
    shows "loader  8 pictures, 24x24, decode scaled, 1 worker" "the decoder alone"
fi
run 2 bench loader; fails argument key=data
run 2 bench loader --data crescents; fails argument path=crescents

# ---- what cannot be meant
run 2 bench vgg7; fails argument key=vgg7
run 2 bench vgg6 --width 0; fails argument key=width
run 2 bench vgg6 --width wide; fails argument key=width
run 2 bench vgg6 --conv winograd; fails argument key=conv
# ---- recording boundaries costs something, and leaves nothing
mkdir recorded
run 0 bench mlp --rows 20 --inputs 3 --hidden 4 --repeats 3 --record recorded --json
check "no time beside it" awk -v x="$(json out us_per_step_recorded)" -v y="$(json out us_per_step)" \
    'BEGIN { exit !(x > 0 && y > 0) }'
check "files were left behind" rmdir recorded

run 2 bench vgg6 --batch 0; fails argument key=batch
run 2 bench vgg6 --batch 1 --norm bn; fails argument key=batch
run 2 bench vgg6 --batch 99999999; fails argument key=batch
run 2 bench vgg6 --size 4; fails argument key='max pool'
run 2 bench resnet18 --size 99999999999; fails argument key=size
run 2 bench resnet18 --repeats 0; fails argument key=repeats
finish
