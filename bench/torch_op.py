#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""u(theta) and its gradient inside PyTorch: the custom op of spherelu.torch beside a cumulative product under autograd,
and beside the scans of PyTorch alone that other devices take. One run, in turn, best of the rounds, processor time.

    PYTHONPATH=build/python python bench/torch_op.py [--units 512] [--inputs 4608] [--rounds 7] [--threads 1] [--csv] [--check]

--csv: writes bench/results/torch_op.csv besides. --check: fails where the op is not at least 5 times as fast as cumprod under autograd.
"""

import argparse
import csv
import json
import os
import sys
import time

import torch

import spherelu
import spherelu.torch as st


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return " ".join(names[0].split()[:2]) if names else ""


def by_autograd(theta):
    one = theta.new_ones(theta.shape[0], 1)
    return torch.cat([one, torch.cumprod(torch.sin(theta), 1)], 1) * torch.cat([torch.cos(theta), one], 1)


def one_step(way, theta, du):
    theta.grad = None
    begin = time.process_time()
    way(theta).backward(du)
    return time.process_time() - begin


class Scans(torch.autograd.Function):
    @staticmethod
    def forward(ctx, theta):
        ctx.save_for_backward(theta)
        return st.scan(theta)

    @staticmethod
    def backward(ctx, du):
        return st.scan_grad(ctx.saved_tensors[0], du)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=512)
    parser.add_argument("--inputs", type=int, default=4608)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    theta, _ = st.angles(torch.randn(args.units, args.inputs))
    theta.requires_grad_()
    du = torch.randn(args.units, args.inputs)
    ways = {"op": st.directions, "cumprod_autograd": by_autograd, "scans": Scans.apply}
    best = {name: float("inf") for name in ways}
    for _ in range(args.rounds + 1):  # the first one warms up
        for name, way in ways.items():
            best[name] = min(best[name], one_step(way, theta, du))
    ratio = best["cumprod_autograd"] / best["op"]
    row = {
        "what": "torch_op",
        "machine": machine(),
        "threads": args.threads,
        "spherelu": spherelu.__version__,
        "torch": torch.__version__,
        "units": args.units,
        "inputs": args.inputs,
        **{f"{name}_ms": round(1e3 * seconds, 3) for name, seconds in best.items()},
        "times_faster_than_cumprod": round(ratio, 2),
    }
    print(json.dumps(row))
    if args.csv:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "torch_op.csv")
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, row, lineterminator="\n")
            writer.writeheader()
            writer.writerow(row)
    if args.check and ratio < 5:
        sys.exit("the op is less than 5 times as fast as cumprod under autograd")


if __name__ == "__main__":
    main()
