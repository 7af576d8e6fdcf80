#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes seeds/jpeg and seeds/png: a small picture of every kind that the decoders know, so that most executions are short.
# Needs the Python package pillow.
import os
import struct
import zlib

from PIL import Image

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "seeds"))
for name in "jpeg", "png":
    os.makedirs(name, exist_ok=True)


def picture(mode, width, height):
    bands = len(Image.new(mode, (1, 1)).getbands())
    return Image.frombytes(mode, (width, height), bytes(i * 37 % 256 for i in range(width * height * bands)))


def orientation(value):
    exif = Image.Exif()
    exif[0x0112] = value
    return exif.tobytes()


rgb, gray, inks = picture("RGB", 17, 9), picture("L", 8, 8), picture("CMYK", 9, 8)
rgb.save("jpeg/colours.jpg", subsampling=2)
rgb.save("jpeg/full.jpg", subsampling=0, optimize=True)
rgb.save("jpeg/scans.jpg", progressive=True)
rgb.save("jpeg/held.jpg", exif=orientation(6), quality=20)
rgb.save("jpeg/restarts.jpg", restart_marker_blocks=1)
gray.save("jpeg/gray.jpg")
gray.save("jpeg/gray-scans.jpg", progressive=True, exif=orientation(3))
inks.save("jpeg/inks.jpg")


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(name, width, height, depth, colour, interlaced=0, before=b"", rows=None):
    line = (width * depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour] + 7) // 8
    data = rows or b"".join(bytes([y % 5]) + bytes((x * 7 + y) % 4 for x in range(line)) for y in range(height))
    with open(f"png/{name}.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)) +
                   before + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


palette = chunk(b"PLTE", bytes(range(12)))
png("bits", 9, 5, 1, 0)
png("gray", 6, 5, 8, 0, before=chunk(b"tRNS", b"\0\3"))
png("gray-deep", 4, 4, 16, 0)
png("colours", 5, 4, 8, 2)
png("colours-deep", 3, 3, 16, 2)
png("palette", 7, 4, 2, 3, before=palette + chunk(b"tRNS", b"\0\x80"))
png("gray-alpha", 4, 3, 8, 4)
png("alpha", 4, 3, 8, 6, before=chunk(b"gAMA", struct.pack(">I", 45455)))
png("texts", 2, 2, 8, 2, before=chunk(b"zTXt", b"k\0\0" + zlib.compress(b"text")) + chunk(b"tEXt", b"k\0v"))
png("interlaced", 8, 8, 8, 2, 1, rows=bytes(8 * 8 * 3 + 15))
