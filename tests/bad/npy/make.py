#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the broken .npy and .npz files of this folder; expect.txt says what each of them gives."""
import os
import struct
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SIX = struct.pack("<6d", 1, 2, 3, 4, 5, 6)


def npy(words, numbers=SIX):
    words = words.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words + numbers


def f8(shape, numbers=SIX):
    return npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}", numbers)


def put(name, content):
    with open(os.path.join(HERE, name), "wb") as out:
        out.write(content)


def npz(name, **arrays):
    with zipfile.ZipFile(os.path.join(HERE, name), "w", zipfile.ZIP_DEFLATED) as out:
        for member, content in arrays.items():
            member = member.replace("_txt", ".txt") if member.endswith("_txt") else member + ".npy"
            out.writestr(zipfile.ZipInfo(member, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


good = f8("(3, 2)")
twice = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), 'shape': (300, 1)}")

put("no-magic.npy", b"X" + good[1:])
put("version-9.npy", good[:6] + b"\x09" + good[7:])
put("short.npy", good[:-8])
put("long.npy", good + b"\0")
put("cut-header.npy", good[:40])
put("cut-length.npy", good[:6] + b"\x02" + good[7:11])
put("empty.npy", b"")
put("objects.npy", npy("{'descr': '|O', 'fortran_order': False, 'shape': (3, 2), }"))
put("half.npy", npy("{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }", SIX[:12]))
put("records.npy", npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3, 2), }"))
put("three-dimensions.npy", f8("(3, 2, 1)"))
put("no-dimension.npy", f8("()", SIX[:8]))
put("product-overflows.npy", f8("(4611686018427387904, 8)"))
put("product-wraps-to-size.npy", f8("(9223372036854775811, 2)"))
put("number-overflows.npy", f8("(99999999999999999999999, 8)"))
put("shape-too-large.npy", f8("(1152921504606846975, 2)"))
put("no-rows.npy", f8("(0, 2)", b""))
put("no-rows-many-columns.npy", f8("(0, 400000000)", b""))  # and no memory for so many names
put("no-columns.npy", f8("(3, 0)", b""))
put("shape-twice.npy", twice)
put("type-twice.npy", npy("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}"))
put("no-order.npy", npy("{'descr': '<f8', 'shape': (3, 2), }"))
put("nonsense.npy", npy("nonsense"))
put("infinite.npy", f8("(3, 2)", struct.pack("<6d", 1, 2, 3, float("inf"), 5, 6)))

npz("other-names.npz", a=good, b=f8("(2,)", SIX[:16]))
npz("no-target.npz", x=good)
npz("no-array.npz", readme_txt=good)
npz("fewer-targets.npz", x=good, y=f8("(2,)", SIX[:16]))
npz("junk-target.npz", x=good, y=b"\x93n" + good[2:])
npz("two-features.npz", x=good, data=good)
npz("empty-target.npz", x=good, y=f8("(3, 0)", b""))
npz("shape-twice.npz", x=twice, y=f8("(2,)", SIX[:16]))
put("junk.npz", b"junk")
