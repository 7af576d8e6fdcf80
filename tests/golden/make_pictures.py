#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Makes tests/golden/pictures/ and pictures.csv: small pictures, and what PIL and numpy make of them given the choices
# that are written beside. tests/test_pictures.c makes the same of them. Needs pillow and numpy.
import os

import numpy as np
from PIL import Image, ImageOps

here = os.path.dirname(os.path.abspath(__file__))
folder = os.path.join(here, "pictures")
os.makedirs(folder, exist_ok=True)


def scene(width, height, seed):
    """Smooth shades, a few edges, a little noise: what photographs are made of."""
    rng = np.random.RandomState(seed)
    y, x = np.mgrid[0:height, 0:width] / max(width, height)
    out = np.zeros((height, width, 3))
    for c in range(3):
        for _ in range(4):
            a, b, phase = rng.uniform(-12, 12), rng.uniform(-12, 12), rng.uniform(0, 6)
            out[:, :, c] += rng.uniform(10, 30) * np.sin(a * x + b * y + phase)
    for _ in range(5):
        cx, cy, r = rng.uniform(0, 1), rng.uniform(0, 0.8), rng.uniform(0.05, 0.25)
        out[(x - cx) ** 2 + (y - cy) ** 2 < r * r] += rng.uniform(-60, 60, 3)
    return np.clip(out + 128 + rng.normal(0, 3, out.shape), 0, 255).astype(np.uint8)


def orientation(number):
    exif = Image.Exif()
    exif[0x0112] = number
    return exif


files = [
    ("small.jpg", 97, 61, dict(quality=90, subsampling=0)),
    ("tall.jpg", 60, 150, dict(quality=88, subsampling=2)),
    ("large.jpg", 400, 300, dict(quality=80, subsampling=2, optimize=True)),  # decoded at a half and a quarter
    ("scans.jpg", 120, 90, dict(quality=85, progressive=True)),
    ("plain.png", 75, 50, dict(optimize=True)),
    # sides that no power of 2 divides: decoded smaller, they have columns and rows that are padding in part
    ("odd.jpg", 397, 293, dict(quality=80, subsampling=2, optimize=True)),
    ("odd-turned.jpg", 201, 147, dict(quality=80, subsampling=0, optimize=True, exif=orientation(3))),
    ("odd-upright.jpg", 201, 147, dict(quality=80, subsampling=0, optimize=True, exif=orientation(6))),
]
for number, (name, width, height, how) in enumerate(files):
    path = os.path.join(folder, name)
    if not os.path.exists(path):  # encoders differ from version to version: what is there stays
        Image.fromarray(scene(width, height, number)).save(path, **how)

shift = np.array([[14.0, 13.0, 12.0], [-1.5, 0.2, 1.4], [0.3, -0.6, 0.3]])  # [axis][channel], levels for alpha 1


def reference(name, shorter, x, y, flip, alpha, size):
    image = ImageOps.exif_transpose(Image.open(os.path.join(folder, name))).convert("RGB")
    w, h = image.size
    width, height = (shorter, shorter * h // w) if w <= h else (shorter * w // h, shorter)
    image = image.resize((width, height), Image.BILINEAR)
    if x is None:
        left, top = round((width - size) / 2), round((height - size) / 2)
    else:
        left, top = int(x * (width - size + 1)), int(y * (height - size + 1))
    pixels = np.asarray(image.crop((left, top, left + size, top + size)), dtype=np.float64)
    if flip:
        pixels = pixels[:, ::-1]
    pixels = pixels + 0.1 * (np.array(alpha)[:, None] * shift).sum(0)
    return np.clip(np.rint(pixels), 0, 255).astype(np.uint8).transpose(2, 0, 1)


cases = [
    (name, *choice)
    for name, *_ in files
    for choice in (
        (24, 27, None, None, 0, (0, 0, 0)),
        (24, 51, 0.25, 0.875, 1, (0, 0, 0)),
        (24, 33, 0.9375, 0.0625, 1, (1.5, -0.5, 2.0)),
        (7, 8, None, None, 0, (0, 0, 0)),
        (28, 32, None, None, 0, (0, 0, 0)),
    )
]
with open(os.path.join(here, "pictures.csv"), "w") as out:
    out.write("file,size,shorter,x,y,flip,alpha_1,alpha_2,alpha_3,pixels\n")
    for name, size, shorter, x, y, flip, alpha in cases:
        pixels = reference(name, shorter, x, y, flip, alpha, size)
        place = ("nan", "nan") if x is None else (x, y)
        out.write(f"{name},{size},{shorter},{place[0]},{place[1]},{flip},{alpha[0]},{alpha[1]},{alpha[2]},"
                  f"{pixels.tobytes().hex()}\n")
