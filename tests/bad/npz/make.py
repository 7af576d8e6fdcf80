#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of this folder and the message each must give (expected.txt, without the file's path; "ok"
for those that are unusual but right; "..." stands for libarchive's own words). test_npz.c opens each and reads
its array a; the fuzz target starts from the files."""
import io
import os
import struct
import warnings
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
expected = []
warnings.simplefilter("ignore")  # zipfile's, of names that come twice


def npy(shape="(3,)", descr="'<f8'", order="False", data=None, version=1, dict=None):
    text = dict or "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    start = 10 if version == 1 else 12
    length = (len(text) + start + 64) // 64 * 64 - start
    head = b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", length)
    return head + text.ljust(length - 1).encode() + b"\n" + (struct.pack("<3d", 1, 2, 3) if data is None else data)


def pack(*members, method=zipfile.ZIP_STORED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        for name, content in members:
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.compress_type = method
            z.writestr(info, content)
        z.comment = comment
    return out.getvalue()


def put(name, content, message):
    with open(os.path.join(here, name + ".npz"), "wb") as f:
        f.write(content)
    expected.append(f"{name}.npz: {message}")


def array(name, content, message):
    put(name, pack(("a.npy", content)), message)


good = pack(("a.npy", npy()))
cut = "the file is cut short: its zip directory is missing"

# right, if unusual
put("ok", good, "ok")
put("ok-deflated", pack(("a.npy", npy("(300,)", data=bytes(2400))), method=zipfile.ZIP_DEFLATED), "ok")
put("ok-other-members", pack(("read.me", b"hello"), ("a.npy", npy()), ("b.npy", npy("()", data=bytes(8)))), "ok")
put("ok-comment", pack(("a.npy", npy()), comment=b"made by hand"), "ok")
array("ok-scalar", npy("()", data=struct.pack("<d", 1)), "ok")
array("ok-empty", npy("(0, 3)", data=b""), "ok")
array("ok-big-endian", npy("(1, 2)", "'>f4'", data=struct.pack(">2f", 1, 2)), "ok")
array("ok-bool", npy("(2,)", "'|b1'", data=b"\1\0"), "ok")
array("ok-version-3", npy(version=3), "ok")
array("ok-fortran-vector", npy(order="True"), "ok")
array("ok-four-dimensions", npy("(1, 3, 1, 1)"), "ok")

# no zip, or not all of it
put("empty-file", b"", "not an npz file: it is no zip")
put("text", b"x,y\n1,2\n", "not an npz file: it is no zip")
put("an-npy-file", npy(), "not an npz file: it is no zip")
put("cut-in-the-directory", good[:-10], cut)
put("cut-in-the-numbers", good[: len(good) // 2], cut)
put("cut-in-the-first-header", good[:20], cut)
put("numbers-missing-before-the-directory", good[:100] + good[110:], "...")
put("directory-elsewhere", good[:-6] + struct.pack("<I", 7) + good[-2:], "...")

# members that are not what they say
flipped = bytearray(good)
flipped[good.index(struct.pack("<d", 2))] ^= 1
put("sum-is-wrong", bytes(flipped), "a: ...")
squeezed = bytearray(pack(("a.npy", npy("(300,)", data=bytes(i % 251 for i in range(2400)))), method=zipfile.ZIP_DEFLATED))
squeezed[100:120] = bytes(20)
put("deflated-and-damaged", bytes(squeezed), "a: ...")
put("name-twice", pack(("a.npy", npy()), ("a.npy", npy())), "a: two arrays of this name")
put("no-such-name", pack(("b.npy", npy())), "no array named a")
put("no-arrays", pack(("read.me", b"hello")), "no array named a")
put("empty-zip", pack(), "an empty zip, expected arrays")

# headers
array("empty-member", b"", "a: not an NPY file: it does not begin with \\x93NUMPY")
array("not-npy", b"1 2 3 4 5 6 7", "a: not an NPY file: it does not begin with \\x93NUMPY")
array("version-9", npy(version=9), "a: NPY version 9, expected 1, 2 or 3")
array("header-cut", npy()[:40], "a: the file ends within its NPY header")
array("header-not-a-dict", npy(dict="[1, 2, 3]"), "a: the NPY header is not understood near byte 10")
array("no-shape", npy(dict="{'descr': '<f8', 'fortran_order': False}"), "a: the NPY header is not understood near byte 50")
array("shape-twice", npy(dict="{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'shape': (300,)}"),
      "a: the NPY header is not understood near byte 74")
array("records", npy(descr="[('x', '<f8')]"), "a: records (a structured type), expected plain numbers")
array("objects", npy(descr="'|O'"), "a: numbers of type '|O', expected floats, integers or bool")
array("text-array", npy(descr="'<U5'"), "a: numbers of type '<U5', expected floats, integers or bool")
array("complex", npy(descr="'<c16'"), "a: numbers of type '<c16', expected floats, integers or bool")
array("five-dimensions", npy("(1, 1, 1, 1, 3)"), "a: an array of 5 dimensions, expected at most 4")
array("fortran-order", npy("(3, 1)", order="True"), "a: numbers in Fortran's order, expected C's")
array("shape-wraps", npy("(4294967296, 4294967296)"), "a: the array's shape is too big for any memory")
array("bytes-wrap", npy("(2305843009213693952, 1)"), "a: the array's shape is too big for any memory")

# numbers
array("numbers-missing", npy("(4,)"), "a: 24 bytes of numbers, expected 32")
array("numbers-none", npy("(4,)", data=b""), "a: 0 bytes of numbers, expected 32")
array("numbers-left-over", npy("(2,)"), "a: more bytes of numbers than the 16 expected")
array("half-a-number", npy("(3,)", data=bytes(23)), "a: 23 bytes of numbers, expected 24")
array("claims-a-petabyte", npy("(140737488355328,)"), "a: 24 bytes of numbers, expected 1125899906842624")

with open(os.path.join(here, "expected.txt"), "w") as f:
    f.write("\n".join(expected) + "\n")
