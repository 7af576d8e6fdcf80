#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What GmP and sphere add to a training step in PyTorch: processor time of forward, backward and an SGD step of an MLP of 3 hidden
layers, plain, with torch's weight_norm, GmP and sphere. The ways take turns in each round; a ratio is the median over the rounds.

    PYTHONPATH=build/python python bench/torch_step.py [--widths 256,1024] [--batch 256] [--rounds 15] [--steps N] [--check]

--check: fails if GmP takes more than 1.3 of plain, or sphere more than 1.2 of weight_norm.
"""

import argparse
import json
import statistics
import sys
import time

import torch
from torch import nn

import spherelu.torch as st


def mlp(width):
    torch.manual_seed(0)
    layers = []
    for n in (64, width, width):
        layers += [nn.Linear(n, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 10))


def with_weight_norm(model):
    for layer in list(model)[:-1]:
        if isinstance(layer, nn.Linear):
            nn.utils.weight_norm(layer)
    return model


WAYS = {
    "plain": lambda model: model,
    "weight_norm": with_weight_norm,
    "gmp": lambda model: st.parametrize(model),
    "sphere": lambda model: st.parametrize(model, kind="sphere"),
}


class Way:
    def __init__(self, make, width):
        self.model = make(mlp(width))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)

    def seconds(self, steps, x, y):
        begin = time.process_time()
        for _ in range(steps):
            self.optimizer.zero_grad()
            nn.functional.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
        return (time.process_time() - begin) / steps


def measure(width, batch, rounds, steps):
    ways = {name: Way(make, width) for name, make in WAYS.items()}
    x, y = torch.randn(batch, 64), torch.randn(batch, 10)
    taken = {name: [way.seconds(steps, x, y) for _ in range(2)][:0] for name, way in ways.items()}  # warmed up
    for _ in range(rounds):
        for name, way in ways.items():
            taken[name].append(way.seconds(steps, x, y))
    ratio = lambda a, b: round(statistics.median(p / q for p, q in zip(taken[a], taken[b])), 3)
    return {
        "what": "torch_step",
        "torch": torch.__version__,
        "width": width,
        "batch": batch,
        **{f"{name}_ms": round(1e3 * min(values), 3) for name, values in taken.items()},
        "gmp_to_plain": ratio("gmp", "plain"),
        "sphere_to_weight_norm": ratio("sphere", "weight_norm"),
        "weight_norm_to_plain": ratio("weight_norm", "plain"),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--widths", default="256,1024")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    late = []
    for width in map(int, args.widths.split(",")):
        row = measure(width, args.batch, args.rounds, args.steps or max(2, 4000 // width))
        print(json.dumps(row), flush=True)
        if row["gmp_to_plain"] > 1.3 or row["sphere_to_weight_norm"] > 1.2:
            late.append(str(width))
    if args.check and late:
        sys.exit(f"torch_step: width {', '.join(late)} takes longer than it may")


if __name__ == "__main__":
    main()
