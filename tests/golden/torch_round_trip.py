#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Modules of PyTorch through `spherelu convert` and back. Run by hand; torch and torchvision needed.

    SPHERELU=build/spherelu /usr/bin/python3 tests/golden/torch_round_trip.py

Each line: what was converted, and the largest change of an output relative to the largest output. States go back through
load_state_dict(strict=True), so names and shapes are exactly PyTorch's.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision

TOOL = os.environ.get("SPHERELU", "build/spherelu")
LIMIT = 1e-5
DTYPES = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64}
failed = False


def save(path, state):
    """As Python's safetensors does it: by dtype, then by name."""
    header, offset, data = {"__metadata__": {"format": "pt"}}, 0, []
    for name, t in sorted(state.items(), key=lambda item: (-item[1].element_size(), item[0])):
        if t.dtype == torch.bfloat16:
            word, raw = "BF16", t.contiguous().view(torch.int16).numpy().tobytes()
        else:
            word = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.int64: "I64"}[t.dtype]
            raw = t.contiguous().numpy().tobytes()
        header[name] = {"dtype": word, "shape": list(t.shape), "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
        data.append(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    state = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = numpy.frombuffer(data[begin:end], DTYPES[entry["dtype"]]).reshape(entry["shape"])
        state[name] = torch.from_numpy(array.copy())
    return state


def convert(source, target, *options):
    subprocess.run([TOOL, "convert", source, target, "--quiet", *options], check=True, stdout=subprocess.DEVNULL)


def compare(what, ours, theirs):
    global failed
    gap = float((ours - theirs).abs().max() / theirs.abs().max())
    failed |= not gap <= LIMIT
    print(f"{what:60s} {gap:.1e}{'' if gap <= LIMIT else '  TOO FAR'}")


def randomize(module):
    """Statistics and scales as after a training, not as before one."""
    for name, t in module.state_dict().items():
        if name.endswith("running_mean") or (name.endswith("bias") and t.dim() == 1):
            t.normal_(0, 0.2)
        elif name.endswith("running_var"):
            t.uniform_(0.3, 2)
        elif name.endswith("weight") and t.dim() == 1:
            t.uniform_(-1, 1.5)
        elif name.endswith("num_batches_tracked"):
            t.fill_(11)


def without_bn(name):
    """The same network with biases and no normalization."""
    net = getattr(torchvision.models, name)(num_classes=10, norm_layer=lambda units: torch.nn.Identity())
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            module.bias = torch.nn.Parameter(torch.zeros(module.out_channels))
    return net.eval()


def resnet(name, folder):
    state, there, back = (os.path.join(folder, f) for f in ("state", "there", "back"))
    net = getattr(torchvision.models, name)(num_classes=10).eval()
    randomize(net)
    x = torch.randn(2, 3, 64, 64)
    expected = net(x)
    save(state, net.state_dict())
    for options in (["gmp", "--keep-bn"], ["sphere", "--keep-bn"], ["wn"]):
        convert(state, there, "--to", *options)
        convert(there, back, "--to", "sp", "--names", "torchvision")
        again = getattr(torchvision.models, name)(num_classes=10).eval()
        again.load_state_dict(load(back), strict=True)
        compare(f"{name} to {' '.join(options)} and back", again(x), expected)
    for param in ("gmp", "sphere"):
        convert(state, there, "--to", param)
        convert(there, back, "--to", "sp")
        again = without_bn(name)
        again.load_state_dict(load(back), strict=True)
        compare(f"{name} to {param}, bn folded, and back without bn", again(x), expected)


def sequential(dtype, folder):
    state, there, back = (os.path.join(folder, f) for f in ("state", "there", "back"))
    make = lambda: torch.nn.Sequential(
        *(m for k in range(7) for m in (torch.nn.Linear(32, 32, bias=k != 3), torch.nn.ReLU())), torch.nn.Linear(32, 5)
    )
    net = make()
    save(state, {name: t.to(dtype) for name, t in net.state_dict().items()})
    net.load_state_dict({name: t.to(dtype).float() for name, t in net.state_dict().items()})
    if dtype == torch.float64:
        net = net.double()
    x = torch.randn(50, 32, dtype=torch.float64 if dtype == torch.float64 else torch.float32)
    for param in ("wn", "gmp", "sphere"):
        convert(state, there, "--to", param)
        convert(there, back, "--to", "sp")
        again = make().to(x.dtype)
        again.load_state_dict(load(back), strict=True)
        compare(f"Sequential, {dtype}, to {param} and back", again(x), net(x))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            sequential(dtype, folder)
        for name in ("resnet18", "resnet50"):
            resnet(name, folder)
    sys.exit(failed)


if __name__ == "__main__":
    main()
