#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One training step by two processes of one thread, compared with one process of two threads and with PyTorch's
DistributedDataParallel (gloo).

    ranks.py --tool build/spherelu [--torch-python PYTHON] [--rounds 3] [--only NAME] [--out results/ranks.csv]

The programs take turns; the best round counts. Of each the mean of the steps after the first is taken: spherelu's steps are those of
`train --dry-run`, which takes a few steps of the real training, PyTorch's are on noise that is in memory. Elapsed time counts, since a
process that waits for another one may use its processor: this needs an idle machine. --torch-python is a Python with torch; without it, PyTorch is left out.
"""
import argparse
import csv
import json
import os
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
# name: image net or None, pixels, global batch, rows
WORK = {"resnet18 32": ("resnet18", 32, 64, 128), "resnet18 64": ("resnet18", 64, 32, 64),
        "vgg6 32": ("vgg6", 32, 64, 192), "mlp 3x1024": (None, 0, 512, 2048)}
FEATURES = 100
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--mca", "mpi_yield_when_idle", "0", "--bind-to", "core", "-n", "2"]

DDP = """
import sys, time
import torch
from torch import nn
from torch.nn import functional
sys.path.insert(0, {here!r})
import torch_images
name, pixels, batch, file, rank = {net!r}, {pixels}, {batch}, {file!r}, int(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(0)
torch.distributed.init_process_group("gloo", init_method="file://" + file, rank=rank, world_size=2)
half = batch // 2
if name:
    net = torch_images.NETS[name][0]("bn", 1, pixels).to(memory_format=torch.channels_last)
    net = nn.Sequential(*list(net)[:-1], nn.Linear(net[-1].in_features, 10))
    path, first = next((n, m) for n, m in net.named_modules() if isinstance(m, nn.Conv2d)) # gray images
    where = net.get_submodule(path.rpartition(".")[0])
    setattr(where, path.rpartition(".")[2], nn.Conv2d(1, first.out_channels, first.kernel_size, first.stride, first.padding, bias=first.bias is not None))
    x = torch.randn(half, 1, pixels, pixels).to(memory_format=torch.channels_last)
    y = torch.arange(half) % 10
else:
    net = nn.Sequential(nn.Linear({features}, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                        nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 1))
    x, y = torch.randn(half, {features}), torch.randn(half, 1)
net = nn.parallel.DistributedDataParallel(net)
step = torch.optim.SGD(net.parameters(), lr=1e-4, momentum=0.9) if name else torch.optim.Adam(net.parameters(), lr=1e-4)
for i in range(4):
    if i == 1: # the first one is slower
        begin = time.perf_counter()
    step.zero_grad(set_to_none=True)
    (functional.cross_entropy if name else functional.mse_loss)(net(x), y).backward()
    step.step()
if rank == 0:
    print((time.perf_counter() - begin) / 3)
"""


def make_data(folder, net, pixels, rows):
    rng = np.random.default_rng(1)
    if net:
        path = folder / f"noise-{pixels}"
        path.mkdir(exist_ok=True)
        for part, count in (("train", rows), ("t10k", 10)):
            for kind, values in (("images-idx3", rng.integers(0, 256, (count, pixels, pixels))), ("labels-idx1", np.arange(count) % 10)):
                head = struct.pack(f">BBBB{values.ndim}I", 0, 0, 8, values.ndim, *values.shape)
                (path / f"{part}-{kind}-ubyte").write_bytes(head + values.astype(np.uint8).tobytes())
        return path
    path = folder / "noise.npz"
    x = rng.standard_normal((rows, FEATURES))
    np.savez(path, x=x, y=np.sin(x.sum(1)))
    return path


def spherelu(tool, path, net, batch, ranks):
    kind = ["--net", net, "--param", "sp", "--norm", "bn", "--optimizer", "sgd"] if net else \
        ["--hidden", "1024,1024,1024", "--param", "sp", "--norm", "none"]
    command = [tool, "train", "--data", path, *kind, "--batch", batch, "--lr", "1e-4", "--epochs", "50", "--val", "0", "--test", "0",
               *(["--augment", "none"] if net else []), "--threads", 1 if ranks > 1 else 2, "--dry-run", "--json", "--quiet"]
    done = subprocess.run([*(MPIRUN if ranks > 1 else []), *map(str, command)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["step_seconds"]


def ddp(python, net, pixels, batch, folder):
    file = str(folder / "meeting")
    Path(file).unlink(missing_ok=True)
    program = DDP.format(here=str(HERE), net=net, pixels=pixels, batch=batch, file=file, features=FEATURES)
    ranks = [subprocess.Popen(["taskset", "-c", str(r), python, "-c", program, str(r)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}) for r in range(2)]
    said = [rank.communicate()[0] for rank in ranks]
    return float(said[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--torch-python")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=WORK)
    parser.add_argument("--out", default=HERE / "results" / "ranks.csv")
    args = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for work in [args.only] if args.only else WORK:
            net, pixels, batch, count = WORK[work]
            path = make_data(folder, net, pixels, count)
            best = {"threads": 1e9, "ranks": 1e9, "ddp": 1e9}
            for _ in range(args.rounds):
                best["threads"] = min(best["threads"], spherelu(args.tool, path, net, batch, 1))
                best["ranks"] = min(best["ranks"], spherelu(args.tool, path, net, batch, 2))
                if args.torch_python:
                    best["ddp"] = min(best["ddp"], ddp(args.torch_python, net, pixels, batch, folder))
            rows.append({"work": work, "batch": batch, "threads_ms": round(1e3 * best["threads"], 2),
                         "ranks_ms": round(1e3 * best["ranks"], 2),
                         "ddp_ms": round(1e3 * best["ddp"], 2) if args.torch_python else "",
                         "ranks_over_threads": round(best["threads"] / best["ranks"], 3),
                         "ranks_over_ddp": round(best["ddp"] / best["ranks"], 3) if args.torch_python else ""})
            print(json.dumps(rows[-1]), flush=True)
    with open(args.out, "w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
