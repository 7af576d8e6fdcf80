#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the files of this folder and the message each must give (expected.txt, without the file's path;
"ok" for those that are unusual but right; "..." stands for the JSON library's own words). test_safetensors.c reads the list, the fuzz target starts from the files."""
import json
import os
import struct

here = os.path.dirname(os.path.abspath(__file__))
expected = []


def put(name, header, data, message, length=None):
    if isinstance(header, dict):
        header = json.dumps(header, separators=(",", ":"))
    if isinstance(header, str):
        header = header.encode()
    length = len(header) if length is None else length
    raw(name, struct.pack("<Q", length) + header + data, message)


def raw(name, content, message):
    with open(os.path.join(here, name + ".safetensors"), "wb") as f:
        f.write(content)
    expected.append(f"{name}.safetensors: {message}")


def t(shape, begin, end, dtype="F32", **more):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end], **more}


d = bytes(range(64))
a = t([2], 0, 8)
dtypes = "F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL"

# right, if unusual
put("ok-no-tensors", "{}", b"", "ok")
put("ok-trailing-blanks", '{"a":' + json.dumps(a) + "}   \n\t ", d[:8], "ok")
put("ok-unaligned", {"b": t([3], 0, 3, "U8"), "a": t([1], 3, 11, "F64")}, d[:11], "ok")
put("ok-empty-and-scalar", {"e": t([3, 0, 2], 4, 4), "s": t([], 0, 4), "f": t([0], 0, 0), "a": t([1], 4, 8)}, d[:8], "ok")
put("ok-not-in-order", {"b": t([1], 8, 12), "a": a}, d[:12], "ok")
put("ok-metadata-only", {"__metadata__": {"k": "v", "": ""}}, b"", "ok")
put("ok-eight-dimensions", {"a": t([1, 1, 2, 1, 1, 1, 1, 1], 0, 8)}, d[:8], "ok")
put("ok-escaped-names", r'{"q\"\\\/\n\u00e9\ud83d\ude00":' + json.dumps(a) + "}", d[:8], "ok")

# the header's frame
raw("empty-file", b"", "0 bytes, expected at least 8 for the header's length")
raw("seven-bytes", b"\x02\0\0\0\0\0\0", "7 bytes, expected at least 8 for the header's length")
raw("no-header", struct.pack("<Q", 2), "a header of 2 bytes, but only 0 bytes follow its length")
raw("header-length-zero", struct.pack("<Q", 0), "an empty header, expected '{'")
put("header-truncated", '{"a":{"dtype":"F32","sha', b"", "a header of 55 bytes, but only 24 bytes follow its length", 55)
put("header-length-oversized", "{}", b"", "a header of 100000001 bytes, expected at most 100000000", 100000001)
put("header-length-at-limit", "{}", b"", "a header of 100000000 bytes, but only 2 bytes follow its length", 100000000)
put("header-length-all-ones", "{}", b"", "a header of 18446744073709551615 bytes, expected at most 100000000", 2**64 - 1)
put("header-length-wraps", "{}", b"", "a header of 18446744073709551608 bytes, expected at most 100000000", 2**64 - 8)
put("header-begins-with-blank", " {}", b"", "the header begins with byte 0x20, expected '{'")
put("header-begins-with-bom", b"\xef\xbb\xbf{}", b"", "the header begins with byte 0xef, expected '{'")
put("header-is-an-array", "[]", b"", "the header begins with byte 0x5b, expected '{'")
raw("a-zip-file", b"PK\x03\x04\x14\0\0\0\x08\0 rest of it", "a header of 85966670672 bytes, expected at most 100000000")
put("not-json", "{this is not JSON}", b"", "header: not valid JSON at line 1, column 5: string...")
put("json-ends-early", '{"a":', b"", "header: not valid JSON at line 1, column 5: ...")
put("json-goes-on", '{"a":' + json.dumps(a) + "}{}", d[:8], "header: not valid JSON at line 1, column 61: end of file expected...")
put("nul-after-json", b"{}\0\0", b"", "header: not valid JSON at line 1, column 3: end of file expected...")
put("not-utf8-in-name", b'{"caf\xe9":' + json.dumps(a).encode() + b"}", d[:8], "header: not UTF-8 at byte 5: unable to decode byte 0xe9...")
put("not-utf8-after", b"{}\xff", b"", "header: not UTF-8 at byte 2: unable to decode byte 0xff...")
put("surrogate-in-name", b'{"\xed\xa0\x80":' + json.dumps(a).encode() + b"}", d[:8], "header: not UTF-8 at byte 2: unable to decode byte 0xed...")
put("nul-in-name", '{"a\\u0000b":' + json.dumps(a) + "}", d[:8], "header: not valid JSON at line 1, column 11: NUL byte in object key not supported...")
put("duplicate-tensor", '{"a":' + json.dumps(a) + ',"a":' + json.dumps(a) + "}", d[:8], "header: not valid JSON at line 1, column 63: duplicate object key...")
put("duplicate-key-in-tensor", '{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', d[:8], "header: not valid JSON at line 1, column 27: duplicate object key...")
put("duplicate-metadata", '{"__metadata__":{"k":"1","k":"2"}}', b"", "header: not valid JSON at line 1, column 28: duplicate object key...")
put("deep-nesting", '{"a":' + "[" * 5000, b"", "header: not valid JSON at line 1, column 2053: maximum parsing depth reached...")

# a tensor's entry
put("entry-is-a-number", {"a": 7}, b"", 'tensor "a": not an object, expected one with dtype, shape and data_offsets')
put("unknown-key", {"a": t([2], 0, 8, strides=[1])}, d[:8], 'tensor "a": unknown key "strides", expected dtype, shape and data_offsets')
put("no-dtype", {"a": {"shape": [2], "data_offsets": [0, 8]}}, d[:8], f'tensor "a": no dtype, expected one of {dtypes}')
put("dtype-is-a-number", {"a": t([2], 0, 8, 4)}, d[:8], f'tensor "a": dtype is not a string, expected one of {dtypes}')
put("dtype-unknown", {"a": t([8], 0, 8, "F8_E4M3")}, d[:8], f'tensor "a": dtype "F8_E4M3", expected one of {dtypes}')
put("dtype-in-small-letters", {"a": t([2], 0, 8, "f32")}, d[:8], f'tensor "a": dtype "f32", expected one of {dtypes}')
put("no-shape", {"a": {"dtype": "F32", "data_offsets": [0, 8]}}, d[:8], 'tensor "a": no shape, expected an array')
put("shape-is-a-number", {"a": t(2, 0, 8)}, d[:8], 'tensor "a": shape is something else, expected an array')
put("shape-negative", {"a": t([-2], 0, 8)}, d[:8], 'tensor "a": shape[0] is -2, expected a whole number from 0')
put("shape-fraction", {"a": t([1, 2.0], 0, 8)}, d[:8], 'tensor "a": shape[1] is not a whole number, expected one from 0')
put("shape-text", {"a": t(["2"], 0, 8)}, d[:8], 'tensor "a": shape[0] is not a whole number, expected one from 0')
put("shape-huge-number", {"a": t([10**30], 0, 8)}, d[:8], "header: not valid JSON at line 1, column 60: too big integer...")
put("shape-overflows", {"a": t([2**32, 2**32, 2], 0, 8)}, d[:8], 'tensor "a": shape [4294967296, 4294967296, 2] of F32 is too large, expected less than 2^64 bytes')
put("shape-wraps-to-size", {"a": t([2**62 + 2], 0, 8)}, d[:8], 'tensor "a": shape [4611686018427387906] of F32 is too large, expected less than 2^64 bytes')
put("nine-dimensions", {"a": t([1] * 9, 0, 4)}, d[:4], 'tensor "a": shape has 9 dimensions, expected at most 8')
put("no-offsets", {"a": {"dtype": "F32", "shape": [2]}}, d[:8], 'tensor "a": no data_offsets, expected [begin, end]')
put("one-offset", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0]}}, d[:8], 'tensor "a": data_offsets is something else, expected [begin, end]')
put("three-offsets", {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4, 8]}}, d[:8], 'tensor "a": data_offsets is something else, expected [begin, end]')
put("offset-negative", {"a": t([2], -8, 0)}, d[:8], 'tensor "a": data_offsets[0] is -8, expected a whole number from 0')
put("offset-fraction", {"a": t([2], 0, 8.5)}, d[:8], 'tensor "a": data_offsets[1] is not a whole number, expected one from 0')
put("offsets-reversed", {"a": t([2], 8, 0)}, d[:8], 'tensor "a": data_offsets [8, 0], expected begin before end')
put("shape-offsets-mismatch", {"a": t([2, 2], 0, 8)}, d[:8], 'tensor "a": data_offsets [0, 8] hold 8 bytes, shape [2, 2] of F32 takes 16')
put("scalar-with-no-bytes", {"a": t([], 0, 0)}, b"", 'tensor "a": data_offsets [0, 0] hold 0 bytes, shape [] of F32 takes 4')
put("data-truncated", {"a": t([4], 0, 16)}, d[:10], 'tensor "a": data_offsets [0, 16], but the file has 10 bytes of data')
put("data-past-the-end", {"a": t([2], 2**62, 2**62 + 8)}, d[:8], 'tensor "a": data_offsets [4611686018427387904, 4611686018427387912], but the file has 8 bytes of data')

# tensors together
put("first-not-at-zero", {"a": t([2], 4, 12)}, d[:12], 'tensor "a": data_offsets begin at 4, expected 0 for the first')
put("hole", {"a": a, "b": t([1], 12, 16)}, d[:16], 'tensor "b": data_offsets begin at 12, expected 8: there is a hole after tensor "a"')
put("overlap", {"a": a, "b": t([2], 4, 12)}, d[:12], 'tensor "b": data_offsets begin at 4, expected 8: it overlaps tensor "a"')
put("same-place-twice", {"a": a, "b": a}, d[:8], 'tensor "b": data_offsets begin at 0, expected 8: it overlaps tensor "a"')
put("empty-inside-another", {"a": a, "e": t([0], 4, 4)}, d[:8], 'tensor "e": data_offsets begin at 4, expected 8: it overlaps tensor "a"')
put("trailing-bytes", {"a": a}, d[:9], "9 bytes of data, expected 8: the last tensor ends there")
put("data-without-tensors", "{}", d[:4], "4 bytes of data, expected 0: the last tensor ends there")
put("metadata-nested", {"__metadata__": {"k": {"x": "y"}}}, b"", '__metadata__ "k" is not a string, expected one')
put("metadata-number", {"__metadata__": {"k": 1}}, b"", '__metadata__ "k" is not a string, expected one')
put("metadata-null", {"__metadata__": None}, b"", "__metadata__ is not an object, expected one of strings")

with open(os.path.join(here, "expected.txt"), "w") as f:
    f.write("\n".join(expected) + "\n")
