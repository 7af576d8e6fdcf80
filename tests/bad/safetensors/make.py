#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of this folder; expect.txt has the failure that each must give, "ok" for those that are unusual but right.
test_safetensors.c reads the list, the fuzz target starts from the files."""
import json
import os
import struct

here = os.path.dirname(os.path.abspath(__file__))


def put(name, header, data, length=None):
    if isinstance(header, dict):
        header = json.dumps(header, separators=(",", ":"))
    if isinstance(header, str):
        header = header.encode()
    length = len(header) if length is None else length
    raw(name, struct.pack("<Q", length) + header + data)


def raw(name, content):
    with open(os.path.join(here, name + ".safetensors"), "wb") as f:
        f.write(content)


def t(shape, begin, end, dtype="F32", **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


d = bytes(range(64))
a = t([2], 0, 8)

# right, if unusual
put("ok-no-tensors", "{}", b"")
put("ok-trailing-blanks", '{"a":' + json.dumps(a) + "}   \n\t ", d[:8])
put("ok-unaligned", {"b": t([3], 0, 3, "U8"), "a": t([1], 3, 11, "F64")}, d[:11])
put("ok-empty-and-scalar", {"e": t([3, 0, 2], 4, 4), "s": t([], 0, 4), "f": t([0], 0, 0), "a": t([1], 4, 8)}, d[:8])
put("ok-not-in-order", {"b": t([1], 8, 12), "a": a}, d[:12])
put("ok-metadata-only", {"__metadata__": {"k": "v", "": ""}}, b"")
put("ok-eight-dimensions", {"a": t([1, 1, 2, 1, 1, 1, 1, 1], 0, 8)}, d[:8])
put("ok-escaped-names", r'{"q\"\\\/\n\u00e9\ud83d\ude00":' + json.dumps(a) + "}", d[:8])

# the header's frame
raw("empty-file", b"")
raw("seven-bytes", b"\x02\0\0\0\0\0\0")
raw("no-header", struct.pack("<Q", 2))
raw("header-length-zero", struct.pack("<Q", 0))
put("header-truncated", '{"a":{"dtype":"F32","sha', b"", 55)
put("header-length-oversized", "{}", b"", 100000001)
put("header-length-at-limit", "{}", b"", 100000000)
put("header-length-all-ones", "{}", b"", 2**64 - 1)
put("header-length-wraps", "{}", b"", 2**64 - 8)
put("header-begins-with-blank", " {}", b"")
put("header-begins-with-bom", b"\xef\xbb\xbf{}", b"")
put("header-is-an-array", "[]", b"")
raw("a-zip-file", b"PK\x03\x04\x14\0\0\0\x08\0 rest of it")
put("not-json", "{this is not JSON}", b"")
put("json-ends-early", '{"a":', b"")
put("json-goes-on", '{"a":' + json.dumps(a) + "}{}", d[:8])
put("nul-after-json", b"{}\0\0", b"")
put("not-utf8-in-name", b'{"caf\xe9":' + json.dumps(a).encode() + b"}", d[:8])
put("not-utf8-after", b"{}\xff", b"")
put("surrogate-in-name", b'{"\xed\xa0\x80":' + json.dumps(a).encode() + b"}", d[:8])
put("nul-in-name", '{"a\\u0000b":' + json.dumps(a) + "}", d[:8])
put("duplicate-tensor", '{"a":' + json.dumps(a) + ',"a":' + json.dumps(a) + "}", d[:8])
put("duplicate-key-in-tensor", '{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', d[:8])
put("duplicate-metadata", '{"__metadata__":{"k":"1","k":"2"}}', b"")
put("deep-nesting", '{"a":' + "[" * 5000, b"")

# a tensor's entry
put("entry-is-a-number", {"a": 7}, b"")
put("unknown-key", {"a": t([2], 0, 8, strides=[1])}, d[:8])
put("no-dtype", {"a": {"shape": [2], "data_offsets": [0, 8]}}, d[:8])
put("dtype-is-a-number", {"a": t([2], 0, 8, 4)}, d[:8])
put("dtype-unknown", {"a": t([8], 0, 8, "F8_E4M3")}, d[:8])
put("dtype-in-small-letters", {"a": t([2], 0, 8, "f32")}, d[:8])
put("no-shape", {"a": {"dtype": "F32", "data_offsets": [0, 8]}}, d[:8])
put("shape-is-a-number", {"a": t(2, 0, 8)}, d[:8])
put("shape-negative", {"a": t([-2], 0, 8)}, d[:8])
put("shape-fraction", {"a": t([1, 2.0], 0, 8)}, d[:8])
put("shape-text", {"a": t(["2"], 0, 8)}, d[:8])
put("shape-huge-number", {"a": t([10**30], 0, 8)}, d[:8])
put("shape-overflows", {"a": t([2**32, 2**32, 2], 0, 8)}, d[:8])
put("shape-wraps-to-size", {"a": t([2**62 + 2], 0, 8)}, d[:8])
put("nine-dimensions", {"a": t([1] * 9, 0, 4)}, d[:4])
put("no-offsets", {"a": {"dtype": "F32", "shape": [2]}}, d[:8])
put("one-offset", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}}, d[:8])
put("three-offsets", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]}}, d[:8])
put("offset-negative", {"a": t([2], -8, 0)}, d[:8])
put("offset-fraction", {"a": t([2], 0, 8.5)}, d[:8])
put("offsets-reversed", {"a": t([2], 8, 0)}, d[:8])
put("shape-offsets-mismatch", {"a": t([2, 2], 0, 8)}, d[:8])
put("scalar-with-no-bytes", {"a": t([], 0, 0)}, b"")
put("data-truncated", {"a": t([4], 0, 16)}, d[:10])
put("data-past-the-end", {"a": t([2], 2**62, 2**62 + 8)}, d[:8])

# tensors together
put("first-not-at-zero", {"a": t([2], 4, 12)}, d[:12])
put("hole", {"a": a, "b": t([1], 12, 16)}, d[:16])
put("overlap", {"a": a, "b": t([2], 4, 12)}, d[:12])
put("same-place-twice", {"a": a, "b": a}, d[:8])
put("empty-inside-another", {"a": a, "e": t([0], 4, 4)}, d[:8])
put("trailing-bytes", {"a": a}, d[:9])
put("data-without-tensors", "{}", d[:4])
put("metadata-nested", {"__metadata__": {"k": {"x": "y"}}}, b"")
put("metadata-number", {"__metadata__": {"k": 1}}, b"")
put("metadata-null", {"__metadata__": None}, b"")
