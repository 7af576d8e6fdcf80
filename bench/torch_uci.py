#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The UCI comparison in PyTorch, by itself: nothing of spherelu is read or called, and its starts are its own draws.

    torch_uci.py boston concrete yacht --splits 10 --jobs 2 > torch.csv
    torch_uci.py boston --protocol reference

One hidden layer of 100 units at the papers' rates (0.1 for gmp and sphere, 0.01 else), mean absolute error, Adam, batches of
1,024, at most 5,000 epochs; the rate falls to a tenth after 50 epochs without a better squared error, training ends after 100, and the best
epoch's weights come back. Features are standardised on the training rows, targets stay as they are. The rows are scikit-learn's:
test from all with the split's number S, val from the rest with S.

holdout    the validation part (a fifth of the rest) is what is watched; f32; PyTorch's Adam and bn
reference  the TEST part is watched, as the authors' code does; f64; Keras' Adam (epsilon 1e-7 before the correction) and bn (1e-3,
           0.01), a drop of the rate unless the error fell by more than 1e-4, gmp from a Glorot vector on half a sphere, wn's output
           layer weight-normalised, boston's rows shuffled with seed 113 first
"""
import argparse
import csv
import gzip
import math
import multiprocessing
import sys
import time
from pathlib import Path

import numpy
import torch
from sklearn.model_selection import train_test_split
from torch import nn

TABLES = Path(__file__).resolve().parent.parent / "data" / "uci"
TARGET = {"naval": 16}  # else the last column; what stands behind it is left out
METHODS = {"holdout": ["SP", "WN", "BN", "GmP", "GmP glorot", "Sphere"], "reference": ["SP", "WN", "BN", "GmP"]}
RATE = {"SP": 0.01, "WN": 0.01, "BN": 0.01, "GmP": 0.1, "GmP glorot": 0.1, "Sphere": 0.1}
UNITS, BATCH, EPOCHS, PLATEAU, PATIENCE = 100, 1024, 5000, 50, 100


def table(name):
    with gzip.open(TABLES / f"{name}.txt.gz") as file:
        rows = numpy.loadtxt(file)
    last = TARGET.get(name, rows.shape[1] - 1)
    return rows[:, :last], rows[:, last]


def parts(name, split, protocol):
    """(x, y) of the training rows, of the rows that are watched, of the test rows; f64 tensors."""
    x, y = table(name)
    if name == "boston" and protocol == "reference":
        order = numpy.arange(len(y))
        numpy.random.RandomState(113).shuffle(order)
        x, y = x[order], y[order]
    rest, test = train_test_split(numpy.arange(len(y)), test_size=0.2, random_state=split)
    train, watched = rest, test
    if protocol == "holdout":
        train, watched = train_test_split(rest, test_size=0.2, random_state=split)
    mean, spread = x[train].mean(0), x[train].std(0)
    spread[x[train].max(0) == x[train].min(0)] = 1
    x = (x - mean) / spread
    return [(torch.tensor(x[rows]), torch.tensor(y[rows]).unsqueeze(1)) for rows in (train, watched, test)]


class Weights(nn.Module):
    """W x + b; the length and direction of W apart where it is weight-normalised."""

    def __init__(self, n, m, normalised, bias=True):
        super().__init__()
        w = nn.init.xavier_uniform_(torch.empty(m, n))
        self.w = nn.Parameter(w)
        self.length = nn.Parameter(w.norm(dim=1, keepdim=True)) if normalised else None
        self.b = nn.Parameter(torch.zeros(m)) if bias else None

    def forward(self, x):
        w = self.w if self.length is None else self.length * self.w / self.w.norm(dim=1, keepdim=True)
        return nn.functional.linear(x, w, self.b)


class Geometric(nn.Module):
    """r relu(u x + lambda), u given by angles or learned itself. start: paper, glorot, half (the authors')."""

    def __init__(self, n, m, angles, start):
        super().__init__()
        w = torch.randn(m, n) if start == "paper" else nn.init.xavier_uniform_(torch.empty(m, n))
        length = w.norm(dim=1, keepdim=True)
        self.angles = angles
        self.r = nn.Parameter(torch.ones(m) if start == "paper" else length.squeeze(1).clone())
        self.b = nn.Parameter(torch.zeros(m))
        if angles:
            behind = w.square().flip(1).cumsum(1).flip(1).sqrt()  # |w_k .. w_n|
            theta = torch.atan2(behind[:, 1:], w[:, :-1])
            theta[:, -1] = torch.atan2(w[:, -1].abs() if start == "half" else w[:, -1], w[:, -2])
            self.theta = nn.Parameter(theta)
            self.register_buffer("one", torch.ones(m, 1))
        else:
            self.u = nn.Parameter(w / length)

    def forward(self, x):
        u = self.u if not self.angles else None
        if u is None:
            sines = torch.cat([self.one, torch.cumprod(self.theta.sin(), 1)], 1)
            u = sines * torch.cat([self.theta.cos(), self.one], 1)
        return self.r * torch.relu(nn.functional.linear(x, u, self.b))

    @torch.no_grad()
    def to_tangent(self):
        self.u.grad -= (self.u.grad * self.u).sum(1, keepdim=True) * self.u

    @torch.no_grad()
    def to_sphere(self):
        self.u /= self.u.norm(dim=1, keepdim=True)


def network(inputs, method, protocol):
    reference = protocol == "reference"
    if method in ("GmP", "GmP glorot", "Sphere"):
        start = "half" if reference else "paper" if method == "GmP" else "glorot"
        hidden = [Geometric(inputs, UNITS, method != "Sphere", start)]
    elif method == "BN":
        norm = nn.BatchNorm1d(UNITS, eps=1e-3, momentum=0.01) if reference else nn.BatchNorm1d(UNITS)
        hidden = [Weights(inputs, UNITS, False, bias=False), norm, nn.ReLU()]
    else:
        hidden = [Weights(inputs, UNITS, method == "WN"), nn.ReLU()]
    return nn.Sequential(*hidden, Weights(UNITS, 1, reference and method == "WN"))


def squared_error(net, part):
    net.eval()
    with torch.no_grad():
        error = (net(part[0]) - part[1]).double().square().mean().item()
    net.train()
    return error


def train(task):
    """One cell of one split: a row of the output."""
    name, method, split, protocol, start = task
    reference = protocol == "reference"
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64 if reference else torch.float32)
    torch.manual_seed(1000 * start + split)
    data = [tuple(tensor.to(torch.get_default_dtype()) for tensor in part) for part in parts(name, split, protocol)]
    (x, y), watched, test = data
    net = network(x.shape[1], method, protocol)
    sphere = net[0] if method == "Sphere" else None
    adam = torch.optim.Adam(net.parameters(), lr=RATE[method], fused=True)
    group, delta = adam.param_groups[0], 1e-4 if reference else 0
    best = low = math.inf
    best_epoch = waited = step = 0
    kept = None
    begin, begin_processor = time.perf_counter(), time.process_time()
    for epoch in range(1, EPOCHS + 1):
        order = torch.randperm(len(x)) if len(x) > BATCH else torch.arange(len(x))
        for rows in order.split(BATCH):
            step += 1
            if reference:  # Keras adds it to the root before the correction
                group["eps"] = 1e-7 / math.sqrt(1 - 0.999 ** step)
            adam.zero_grad(set_to_none=True)
            (net(x[rows]) - y[rows]).abs().mean().backward()
            if sphere:
                sphere.to_tangent()
            adam.step()
            if sphere:
                sphere.to_sphere()
        error = squared_error(net, watched)
        if not math.isfinite(error):
            break
        if error < best:
            best, best_epoch, kept = error, epoch, {key: value.clone() for key, value in net.state_dict().items()}
        if error < low - delta:
            low, waited = error, 0
        else:
            waited += 1
            if waited == PLATEAU:
                group["lr"] *= 0.1
                waited = 0
        if epoch - best_epoch >= PATIENCE:
            break
    seconds, processor = time.perf_counter() - begin, time.process_time() - begin_processor
    if kept:
        net.load_state_dict(kept)
    return {"protocol": protocol, "data": name, "method": method, "lr": RATE[method], "split": split, "start": start,
            "rmse": f"{math.sqrt(squared_error(net, test)):.6g}", "epochs": epoch, "best_epoch": best_epoch,
            "seconds": f"{seconds:.3f}", "processor_seconds": f"{processor:.3f}"}


def run(tasks, jobs):
    """Rows of all tasks, in their order, one process a core."""
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        yield from pool.imap(train, tasks)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("data", nargs="+", choices=sorted(path.name[:-7] for path in TABLES.glob("*.txt.gz")))
    args.add_argument("--protocol", choices=METHODS, default="holdout")
    args.add_argument("--methods", nargs="+", choices=RATE)
    args.add_argument("--splits", type=int, default=10)
    args.add_argument("--starts", type=int, default=1, help="of each split, each from its own draw")
    args.add_argument("--jobs", type=int, default=2)
    args = args.parse_args()
    tasks = [(name, method, split, args.protocol, start) for name in args.data
             for method in args.methods or METHODS[args.protocol]
             for split in range(args.splits) for start in range(args.starts)]
    begin, writer = time.perf_counter(), None
    for row in run(tasks, args.jobs):
        if not writer:
            writer = csv.DictWriter(sys.stdout, row, lineterminator="\n")
            writer.writeheader()
        writer.writerow(row)
        sys.stdout.flush()
    print(f"{len(tasks)} trainings, {time.perf_counter() - begin:.0f} s, {args.jobs} processes, torch {torch.__version__}",
          file=sys.stderr)


if __name__ == "__main__":
    main()
