#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files and folders of this folder; expect.txt has the failure that each must give. test_images_read.c reads the
list."""
import gzip
import io
import os
import struct
import zipfile

here = os.path.dirname(os.path.abspath(__file__))


def put(name, content):
    path = os.path.join(here, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


def record(*labels, pixels=3072):
    return bytes(labels) + bytes((7 * i + sum(labels)) % 251 for i in range(pixels))


def idx(*sizes, kind=8, data=None, ndim=None):
    count = 1
    for size in sizes:
        count *= size
    head = bytes([0, 0, kind, len(sizes) if ndim is None else ndim]) + b"".join(struct.pack(">I", s) for s in sizes)
    return head + (bytes(i % 2 for i in range(count)) if data is None else data)


def npy(descr, shape, data, fortran=False):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def npz(**arrays):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for key, value in arrays.items():
            z.writestr(zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0)), value, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def gz(content):
    return gzip.compress(content, mtime=0)


def labels(*values, descr="<i8", code="q"):
    return npy(descr, f"({len(values)},)", struct.pack(f"<{len(values)}{code}", *values))


def data(rows, columns=12):
    return npy("|u1", f"({rows}, {columns})", bytes(range(columns)) * rows)


# ---------------------------------------------------------------- CIFAR
two = record(3) + record(4)
put("short_batch.bin", two[:-5])
put("long_batch.bin", two + b"x")
put("empty_batch.bin", b"")
put("label_batch.bin", two + record(10))
put("neither.bin", bytes(5000))
put("hundred.bin", record(1, 99) + record(2, 100))
put("coarse.bin", record(1, 99) + record(20, 5))
put("names/data_batch_1.bin", two)
put("names/batches.meta.txt", b"a\nb\nc\n\n")
put("latin/data_batch_1.bin", two)
put("latin/batches.meta.txt", b"a\nb\xe9b\n")
put("one-bad/data_batch_1.bin", two)
put("one-bad/data_batch_3.bin.gz", gz(two[:-1]))
put("bad-test/data_batch_1.bin", two)
put("bad-test/test_batch.bin", record(255))

# ---------------------------------------------------------------- gzip
put("text_batch.bin.gz", b"this is not gzip at all")
put("nothing_batch.bin.gz", b"")
put("garbage_batch.bin.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(range(200, 256)) * 4)
put("header_batch.bin.gz", b"\x1f\x8b\x55\xff garbage")
put("cut_batch.bin.gz", gz(two)[: len(gz(two)) // 2])

# ---------------------------------------------------------------- IDX
def images(name, content, of=None):
    put(f"{name}-images-idx3-ubyte", content)
    if of is not None:
        put(f"{name}-labels-idx1-ubyte", of)


four = idx(4, 2, 3)
images("magic", b"PK\3\4" + four[4:])
images("tiny", b"\0\0")
images("type", idx(4, 2, 3, kind=10))
images("float", idx(4, 2, 3, kind=13))
images("flat", idx(24))
images("deep", idx(4, 2, 3, 1))
images("header", four[:11])
images("short", four[:-1])
images("long", four + b"x")
images("none", idx(0, 2, 3))
images("thin", idx(4, 2, 0))
images("wide", idx(1, 2, 0x10001, data=b""))
images("huge", idx(0xFFFFFFFF, 0x10000, 0x10000, data=b""))
images("alone", four)
images("few", four, of=idx(3))
images("many", four, of=idx(5))
images("square", four, of=idx(2, 2))
images("wrong", four, of=idx(4, kind=12))
images("cut", four, of=idx(4)[:-1])
images("same", four, of=idx(4, data=bytes(4)))
put("other-size/train-images-idx3-ubyte", four)
put("other-size/train-labels-idx1-ubyte", idx(4))
put("other-size/t10k-images-idx3-ubyte", idx(2, 3, 2))
put("other-size/t10k-labels-idx1-ubyte", idx(2))
put("other-class/train-images-idx3-ubyte.gz", gz(four))
put("other-class/train-labels-idx1-ubyte.gz", gz(idx(4)))
put("other-class/t10k-images-idx3-ubyte.gz", gz(four))
put("other-class/t10k-labels-idx1-ubyte.gz", gz(idx(4, data=b"\0\1\2\1")))

# ---------------------------------------------------------------- npz
def batch(name, content):
    put(f"{name}/train_data_batch_1.npz", content)


batch("no-labels", npz(data=data(3)))
batch("no-data", npz(labels=labels(1, 2, 3)))
batch("few-labels", npz(data=data(3), labels=labels(1, 2)))
batch("label-0", npz(data=data(3), labels=labels(1, 2, 0)))
batch("label-large", npz(data=data(2), labels=labels(1, 1 << 40)))
batch("float-labels", npz(data=data(2), labels=labels(1, 2, descr="<f8", code="d")))
batch("float-data", npz(data=npy("<f4", "(2, 12)", bytes(96)), labels=labels(1, 2)))
batch("fortran", npz(data=npy("|u1", "(2, 12)", bytes(24), True), labels=labels(1, 2)))
batch("no-square", npz(data=data(2, 13), labels=labels(1, 2)))
batch("short-data", npz(data=data(3)[:-1], labels=labels(1, 2, 3)))
batch("not-zip", b"PK\3\4 and then nothing")
batch("beyond", npz(data=data(3), labels=labels(1, 2, 4)))
put("beyond/classes.txt", b"1 n1 one\n2 n2 two, deux\n3 n3 three\n")
good = npz(data=data(3), labels=labels(1, 2, 3))
for name, text in [("twice", b"1 n1 a\n1 n2 b\n"), ("zero", b"0 n1 a\n1 n2 b\n"), ("words", b"1 n1 a\ncat\n")]:
    put(f"{name}/train_data_batch_1.npz", good)
    put(f"{name}/classes.txt", text)

# ---------------------------------------------------------------- packed
def pack(name, images=None, classes=b"a\nb\n", part="train", **others):
    """A packed set of three pictures of 2 x 2, with what is wrong in place of what is right."""
    files = {"train_images.npy": npy("|u1", "(3, 2, 2, 3)", bytes(range(36))), "train_labels.npy": labels(0, 1, 0)}
    if images is not None:
        files[f"{part}_images.npy"] = images
    files.update({key + (".txt" if key.endswith("files") else ".npy"): value for key, value in others.items()})
    for file, content in files.items():
        if content is not None:
            put(f"pack-{name}/{file}", content)
    if classes is not None:
        put(f"pack-{name}/classes.txt", classes)


pack("short", npy("|u1", "(3, 2, 2, 3)", bytes(35)))
pack("flat",
     npy("|u1", "(3, 12)", bytes(36)))
pack("planes", npy("|u1", "(3, 3, 2, 2)", bytes(36)))
pack("floats",
     npy("<f4", "(3, 2, 2, 3)", bytes(144)))
pack("fortran",
     npy("|u1", "(3, 2, 2, 3)", bytes(36), True))
pack("nothing",
     npy("|u1", "(0, 2, 2, 3)", b""))
pack("wide",
     npy("|u1", "(1, 1, 65501, 1)", b""))
pack("wraps",
     npy("|u1", "(6148914691236517206, 2, 2, 3)", bytes(36)))
pack("no-npy", b"images")
pack("other-size",
     npy("|u1", "(1, 2, 1, 3)", bytes(6)), part="val", val_labels=labels(1))
pack("no-labels",
     train_labels=None)
pack("few-labels", train_labels=labels(0, 1))
pack("float-labels",
     train_labels=labels(0, 1, 0, descr="<f8", code="d"))
pack("label-2", train_labels=labels(0, 2, 1))
pack("label-below", classes=None, train_labels=labels(0, -1, 1))
pack("one-class", classes=None, train_labels=labels(0, 0, 0))
pack("no-classes", classes=b"")
pack("no-name", classes=b"a\n\nb\n")
pack("latin", classes=b"a\n\xe9t\xe9\n")
pack("few-files", train_files=b"1.jpg\n2.jpg\n")
pack("many-files", train_files=b"1\n2\n3\n4\n")
