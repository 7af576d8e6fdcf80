#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of this folder; expect.txt has the failure that each must give, "ok" for those that are unusual but right.
test_npz.c opens each and reads its array a; the fuzz target starts from the files."""
import io
import os
import struct
import warnings
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
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


def put(name, content):
    with open(os.path.join(here, name + ".npz"), "wb") as f:
        f.write(content)


def array(name, content):
    put(name, pack(("a.npy", content)))


good = pack(("a.npy", npy()))

# right, if unusual
put("ok", good)
put("ok-deflated", pack(("a.npy", npy("(300,)", data=bytes(2400))), method=zipfile.ZIP_DEFLATED))
put("ok-other-members", pack(("read.me", b"hello"), ("a.npy", npy()), ("b.npy", npy("()", data=bytes(8)))))
put("ok-comment", pack(("a.npy", npy()), comment=b"made by hand"))
array("ok-scalar", npy("()", data=struct.pack("<d", 1)))
array("ok-empty", npy("(0, 3)", data=b""))
array("ok-big-endian", npy("(1, 2)", "'>f4'", data=struct.pack(">2f", 1, 2)))
array("ok-bool", npy("(2,)", "'|b1'", data=b"\1\0"))
array("ok-version-3", npy(version=3))
array("ok-fortran-vector", npy(order="True"))
array("ok-four-dimensions", npy("(1, 3, 1, 1)"))

# no zip, or not all of it
put("empty-file", b"")
put("text", b"x,y\n1,2\n")
put("an-npy-file", npy())
put("cut-in-the-directory", good[:-10])
put("cut-in-the-numbers", good[: len(good) // 2])
put("cut-in-the-first-header", good[:20])
put("numbers-missing-before-the-directory", good[:100] + good[110:])
put("directory-elsewhere", good[:-6] + struct.pack("<I", 7) + good[-2:])

# members that are not what they say
flipped = bytearray(good)
flipped[good.index(struct.pack("<d", 2))] ^= 1
put("sum-is-wrong", bytes(flipped))
squeezed = bytearray(pack(("a.npy", npy("(300,)", data=bytes(i % 251 for i in range(2400)))), method=zipfile.ZIP_DEFLATED))
squeezed[100:120] = bytes(20)
put("deflated-and-damaged", bytes(squeezed))
put("name-twice", pack(("a.npy", npy()), ("a.npy", npy())))
put("no-such-name", pack(("b.npy", npy())))
put("no-arrays", pack(("read.me", b"hello")))
put("empty-zip", pack())

# headers
array("empty-member", b"")
array("not-npy", b"1 2 3 4 5 6 7")
array("version-9", npy(version=9))
array("header-cut", npy()[:40])
array("header-not-a-dict", npy(dict="[1, 2, 3]"))
array("no-shape", npy(dict="{'descr': '<f8', 'fortran_order': False}"))
array("shape-twice", npy(dict="{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'shape': (300,)}"))
array("records", npy(descr="[('x', '<f8')]"))
array("objects", npy(descr="'|O'"))
array("text-array", npy(descr="'<U5'"))
array("complex", npy(descr="'<c16'"))
array("five-dimensions", npy("(1, 1, 1, 1, 3)"))
array("fortran-order", npy("(3, 1)", order="True"))
array("shape-wraps", npy("(4294967296, 4294967296)"))
array("shape-wraps-to-size", npy("(9223372036854775809, 2)", data=bytes(16)))
array("bytes-wrap", npy("(2305843009213693952, 1)"))

# numbers
array("numbers-missing", npy("(4,)"))
array("numbers-none", npy("(4,)", data=b""))
array("numbers-left-over", npy("(2,)"))
array("half-a-number", npy("(3,)", data=bytes(23)))
array("claims-a-petabyte", npy("(140737488355328,)"))
