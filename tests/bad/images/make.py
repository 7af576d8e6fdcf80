#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files and folders of this folder and the message each must give (expect.txt: source, tab, message; both
without this folder's path; "..." at the end stands for a library's own words). test_images_read.c reads the list."""
import gzip
import io
import os
import struct
import zipfile

here = os.path.dirname(os.path.abspath(__file__))
expected = []


def put(name, content):
    path = os.path.join(here, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(content)


def bad(source, message):
    expected.append(f"{source}\t{message}")


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
bad("short_batch.bin", "short_batch.bin: 6141 bytes, expected whole images of 3073: 1 and 3068 bytes over")
put("long_batch.bin", two + b"x")
bad("long_batch.bin", "long_batch.bin: 6147 bytes, expected whole images of 3073: 2 and 1 bytes over")
put("empty_batch.bin", b"")
bad("empty_batch.bin", "empty_batch.bin: 0 bytes, expected whole images of 3073: 0 and 0 bytes over")
put("label_batch.bin", two + record(10))
bad("label_batch.bin", "label_batch.bin: image 2: label 10, expected 0 to 9")
put("neither.bin", bytes(5000))
bad("neither.bin", "neither.bin: 5000 bytes, expected whole images of 3073: 1 and 1927 bytes over")
put("hundred.bin", record(1, 99) + record(2, 100))
bad("hundred.bin", "hundred.bin: image 1: label 100, expected 0 to 99")
put("coarse.bin", record(1, 99) + record(20, 5))
bad("coarse.bin", "coarse.bin: image 1: coarse label 20, expected 0 to 19")
put("names/data_batch_1.bin", two)
put("names/batches.meta.txt", b"a\nb\nc\n\n")
bad("names", "names/batches.meta.txt: 3 names of classes, expected 10")
put("latin/data_batch_1.bin", two)
put("latin/batches.meta.txt", b"a\nb\xe9b\n")
bad("latin", "latin/batches.meta.txt:2: the name of a class is not UTF-8")
put("one-bad/data_batch_1.bin", two)
put("one-bad/data_batch_3.bin.gz", gz(two[:-1]))
bad("one-bad", "one-bad/data_batch_3.bin.gz: 6145 bytes, expected whole images of 3073: 1 and 3072 bytes over")
put("bad-test/data_batch_1.bin", two)
put("bad-test/test_batch.bin", record(255))
bad("bad-test", "bad-test/test_batch.bin: image 0: label 255, expected 0 to 9")

# ---------------------------------------------------------------- gzip
put("text_batch.bin.gz", b"this is not gzip at all")
bad("text_batch.bin.gz", "text_batch.bin.gz: not a gzip file: it does not begin with 1f 8b")
put("nothing_batch.bin.gz", b"")
bad("nothing_batch.bin.gz", "nothing_batch.bin.gz: not a gzip file: it does not begin with 1f 8b")
put("garbage_batch.bin.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + bytes(range(200, 256)) * 4)
bad("garbage_batch.bin.gz", "garbage_batch.bin.gz: cannot be unpacked: ...")
put("header_batch.bin.gz", b"\x1f\x8b\x55\xff garbage")
bad("header_batch.bin.gz", "header_batch.bin.gz: cannot be unpacked: ...")
put("cut_batch.bin.gz", gz(two)[: len(gz(two)) // 2])
bad("cut_batch.bin.gz", "cut_batch.bin.gz: cannot be unpacked: ...")

# ---------------------------------------------------------------- IDX
def images(name, content, message, of=None):
    put(f"{name}-images-idx3-ubyte", content)
    if of is not None:
        put(f"{name}-labels-idx1-ubyte", of)
    bad(f"{name}-images-idx3-ubyte", f"{name}-{message}")


i, l = "images-idx3-ubyte: ", "labels-idx1-ubyte: "
four = idx(4, 2, 3)
images("magic", b"PK\3\4" + four[4:], i + "not an IDX file: it does not begin with 00 00 and a type")
images("tiny", b"\0\0", i + "not an IDX file: it does not begin with 00 00 and a type")
images("type", idx(4, 2, 3, kind=10), i + "not an IDX file: it does not begin with 00 00 and a type")
images("float", idx(4, 2, 3, kind=13), i + "numbers of type f32, expected bytes (u8)")
images("flat", idx(24), i + "1 dimensions, expected 3 for images")
images("deep", idx(4, 2, 3, 1), i + "4 dimensions, expected 3 for images")
images("header", four[:11], i + "the file ends within its IDX header")
images("short", four[:-1], i + "23 bytes after the header, expected 24")
images("long", four + b"x", i + "25 bytes after the header, expected 24")
images("none", idx(0, 2, 3), i + "size 0 in dimension 0")
images("thin", idx(4, 2, 0), i + "size 0 in dimension 2")
images("wide", idx(1, 2, 0x10001, data=b""), i + "images with a side of 65537, expected at most 65536")
images("huge", idx(0xFFFFFFFF, 0x10000, 0x10000, data=b""), i + "0 bytes after the header, expected 18446744069414584320")
images("alone", four, i + "its labels are expected in alone-labels-idx1-ubyte, and that is not there")
images("few", four, l + "3 labels for 4 images", of=idx(3))
images("many", four, l + "5 labels for 4 images", of=idx(5))
images("square", four, l + "2 dimensions, expected 1 for labels", of=idx(2, 2))
images("wrong", four, l + "numbers of type i32, expected bytes (u8)", of=idx(4, kind=12))
images("cut", four, l + "3 bytes after the header, expected 4", of=idx(4)[:-1])
images("same", four, "images-idx3-ubyte: every label is the same: nothing to learn", of=idx(4, data=bytes(4)))
put("other-size/train-images-idx3-ubyte", four)
put("other-size/train-labels-idx1-ubyte", idx(4))
put("other-size/t10k-images-idx3-ubyte", idx(2, 3, 2))
put("other-size/t10k-labels-idx1-ubyte", idx(2))
bad("other-size", "other-size/t10k-images-idx3-ubyte: images of 1 x 3 x 2 (channels, height, width), expected 1 x 2 x 3")
put("other-class/train-images-idx3-ubyte.gz", gz(four))
put("other-class/train-labels-idx1-ubyte.gz", gz(idx(4)))
put("other-class/t10k-images-idx3-ubyte.gz", gz(four))
put("other-class/t10k-labels-idx1-ubyte.gz", gz(idx(4, data=b"\0\1\2\1")))
bad("other-class", "other-class/t10k-labels-idx1-ubyte.gz: image 2: label 2, expected 0 to 1")

# ---------------------------------------------------------------- npz
def batch(name, content, message):
    put(f"{name}/train_data_batch_1.npz", content)
    bad(name, f"{name}/train_data_batch_1.npz: {message}")


batch("no-labels", npz(data=data(3)), "no array named y, labels or target; found: data")
batch("no-data", npz(labels=labels(1, 2, 3)), "no array named x or data; found: labels")
batch("few-labels", npz(data=data(3), labels=labels(1, 2)), "3 rows of features and 2 of targets")
batch("label-0", npz(data=data(3), labels=labels(1, 2, 0)), "image 2: label 0, expected 1 to 65536")
batch("label-large", npz(data=data(2), labels=labels(1, 1 << 40)), "image 1: label 1099511627776, expected 1 to 65536")
batch("float-labels", npz(data=data(2), labels=labels(1, 2, descr="<f8", code="d")),
      "labels has 1 columns of type f8, expected one of whole numbers")
batch("float-data", npz(data=npy("<f4", "(2, 12)", bytes(96)), labels=labels(1, 2)),
      "data holds numbers of type f4, expected bytes (u1), image after image")
batch("fortran", npz(data=npy("|u1", "(2, 12)", bytes(24), True), labels=labels(1, 2)),
      "data holds numbers of type u1 column after column, expected bytes (u1), image after image")
batch("no-square", npz(data=data(2, 13), labels=labels(1, 2)),
      "data has 13 columns, expected 3 planes of a square, as 3072 = 3 x 32 x 32")
batch("short-data", npz(data=data(3)[:-1], labels=labels(1, 2, 3)),
      "data: 35 bytes of numbers, expected 36 (3 x 12 of 1 bytes)")
batch("not-zip", b"PK\3\4 and then nothing", "not a zip file: ...")
batch("beyond", npz(data=data(3), labels=labels(1, 2, 4)), "image 2: label 4, expected 1 to 3")
put("beyond/classes.txt", b"1 n1 one\n2 n2 two, deux\n3 n3 three\n")
good = npz(data=data(3), labels=labels(1, 2, 3))
for name, text, message in [("twice", b"1 n1 a\n1 n2 b\n", "2: label 1 is there already"),
                            ("zero", b"0 n1 a\n1 n2 b\n", "1: label '0', expected 1 to 2"),
                            ("words", b"1 n1 a\ncat\n", "2: label 'cat', expected 1 to 2")]:
    put(f"{name}/train_data_batch_1.npz", good)
    put(f"{name}/classes.txt", text)
    bad(name, f"{name}/classes.txt:{message}")

# ---------------------------------------------------------------- packed
def pack(name, message, images=None, classes=b"a\nb\n", part="train", **others):
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
    bad(f"pack-{name}", f"pack-{name}{message}")


pack("short", "/train_images.npy: 35 bytes of numbers, expected 3 x 2 x 2 x 3", npy("|u1", "(3, 2, 2, 3)", bytes(35)))
pack("flat", "/train_images.npy: an array of 2 dimensions, expected 4: images, height, width, channels",
     npy("|u1", "(3, 12)", bytes(36)))
pack("planes", "/train_images.npy: 2 channels, expected 1 or 3, the last dimension", npy("|u1", "(3, 3, 2, 2)", bytes(36)))
pack("floats", "/train_images.npy: numbers of type f4, expected bytes (u1), image after image",
     npy("<f4", "(3, 2, 2, 3)", bytes(144)))
pack("fortran", "/train_images.npy: numbers of type u1 column after column, expected bytes (u1), image after image",
     npy("|u1", "(3, 2, 2, 3)", bytes(36), True))
pack("nothing", "/train_images.npy: 0 images of 2 x 2 pixels, expected some of 1 to 65500 a side",
     npy("|u1", "(0, 2, 2, 3)", b""))
pack("wide", "/train_images.npy: 1 images of 65501 x 1 pixels, expected some of 1 to 65500 a side",
     npy("|u1", "(1, 1, 65501, 1)", b""))
pack("wraps", "/train_images.npy: 36 bytes of numbers, expected 6148914691236517206 x 2 x 2 x 3",
     npy("|u1", "(6148914691236517206, 2, 2, 3)", bytes(36)))
pack("no-npy", "/train_images.npy: not an NPY file: it does not begin with \\x93NUMPY", b"images")
pack("other-size", "/val_images.npy: images of 2 x 1 x 3, those to train on are 2 x 2 x 3",
     npy("|u1", "(1, 2, 1, 3)", bytes(6)), part="val", val_labels=labels(1))
pack("no-labels", "/train_images.npy: its labels are expected in pack-no-labels/train_labels.npy, and that is not there",
     train_labels=None)
pack("few-labels", "/train_labels.npy: 2 labels for 3 images", train_labels=labels(0, 1))
pack("float-labels", "/train_labels.npy: 1 columns of type f8, expected a column of integers",
     train_labels=labels(0, 1, 0, descr="<f8", code="d"))
pack("label-2", "/train_labels.npy: image 1: label 2, expected 0 to 1", train_labels=labels(0, 2, 1))
pack("label-below", ": image 1: label -1, expected 0 to 65535", classes=None, train_labels=labels(0, -1, 1))
pack("one-class", ": one class, '0': nothing to learn", classes=None, train_labels=labels(0, 0, 0))
pack("no-classes", "/classes.txt: no class names, expected one per line", classes=b"")
pack("no-name", "/classes.txt:2: a class without a name", classes=b"a\n\nb\n")
pack("latin", "/classes.txt:2: the name of a class is not UTF-8", classes=b"a\n\xe9t\xe9\n")
pack("few-files", "/train_files.txt: 2 names for 3 images", train_files=b"1.jpg\n2.jpg\n")
pack("many-files", "/train_files.txt: more than 3 names for 3 images", train_files=b"1\n2\n3\n4\n")

with open(os.path.join(here, "expect.txt"), "w") as f:
    f.write("\n".join(expected) + "\n")
