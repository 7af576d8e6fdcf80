#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch training a small MLP under the same method, written the usual way: microseconds per full-batch step.

    torch_mlp.py --rows 404 --inputs 13 --hidden 100 --param gmp --norm none --optimizer adam
"""
import argparse
import json
import time

import torch
from torch import nn

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}  # as those of `spherelu bench --clock`

class MeanOnly(nn.Module):
    """MBN: the batch mean leaves, the bias comes after it."""

    def __init__(self, units):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(units))

    def forward(self, z):
        return z - z.mean(0) + self.bias


class Unit(nn.Module):
    """act(norm(W x + b)) * s of one hidden layer."""

    def __init__(self, n, m, param, norm, first):
        super().__init__()
        w = nn.init.xavier_uniform_(torch.empty(m, n))
        self.param, self.imn = param, norm == "imn" and not first
        if param == "sp":
            self.w = nn.Parameter(w)
        elif param == "wn":
            self.v, self.g = nn.Parameter(w), nn.Parameter(w.norm(dim=1))
        elif param == "gmp":
            tails = w.flip(1).square().cumsum(1).flip(1).sqrt()
            theta = torch.atan2(tails[:, 1:], w[:, :-1])
            theta[:, -1] = torch.atan2(w[:, -1], w[:, -2])
            self.theta = nn.Parameter(theta)
            self.register_buffer("one", torch.ones(m, 1))
        else:
            self.u = nn.Parameter(w / w.norm(dim=1, keepdim=True))
        if param in ("gmp", "sphere"):
            self.r = nn.Parameter(torch.ones(m))
        self.b = nn.Parameter(torch.zeros(m)) if norm not in ("bn", "mbn") else None
        self.norm = {"bn": nn.BatchNorm1d, "ln": nn.LayerNorm, "mbn": MeanOnly}.get(norm, lambda _: None)(m)

    def weight(self):
        if self.param == "sp":
            return self.w
        if self.param == "wn":
            return self.v * (self.g / self.v.norm(dim=1)).unsqueeze(1)
        if self.param == "gmp":
            sines = torch.cumprod(torch.sin(self.theta), 1)
            return torch.cat([self.one, sines], 1) * torch.cat([torch.cos(self.theta), self.one], 1)
        return self.u

    def forward(self, x):
        if self.imn:
            x = x - x.mean(0)
        z = nn.functional.linear(x, self.weight(), self.b)
        if self.norm is not None:
            z = self.norm(z)
        z = torch.relu(z)
        return z * self.r if self.param in ("gmp", "sphere") else z


def time_mlp(rows, inputs, hidden, param, norm, optimizer, repeats=5, seconds=0.3, clock="wall"):
    """Best of repeats, each about `seconds` long, after a warm-up."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = [inputs, *hidden]
    layers = [Unit(n, m, param, norm, k == 0) for k, (n, m) in enumerate(zip(sizes, sizes[1:]))]
    net = nn.Sequential(*layers, nn.Linear(sizes[-1], 1))
    x, y = torch.randn(rows, inputs), torch.randn(rows, 1)
    kinds = {
        "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
        "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3),
        "sgd": lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9),
        "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3),
    }
    step = kinds[optimizer](net.parameters())
    units = [layer for layer in layers if param == "sphere"]

    def train(steps):
        for _ in range(steps):
            step.zero_grad(set_to_none=True)
            nn.functional.mse_loss(net(x), y).backward()
            with torch.no_grad():
                for layer in units:
                    u = layer.u
                    u.grad -= (u.grad * u).sum(1, keepdim=True) * u
                step.step()
                for layer in units:
                    layer.u /= layer.u.norm(dim=1, keepdim=True)

    train(20)
    steps, best = 20, float("inf")
    for _ in range(repeats):
        begin = CLOCKS[clock]()
        train(steps)
        took = CLOCKS[clock]() - begin
        best = min(best, took / steps)
        steps = max(20, int(seconds / best))
    return best * 1e6


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--rows", type=int, default=404)
    args.add_argument("--inputs", type=int, default=13)
    args.add_argument("--hidden", default="100", help="100 or 100,50")
    args.add_argument("--param", choices=("sp", "wn", "gmp", "sphere"), default="gmp")
    args.add_argument("--norm", choices=("none", "bn", "ln", "mbn", "imn"), default="none")
    args.add_argument("--optimizer", choices=("adam", "adamw", "sgd", "rmsprop"), default="adam")
    args.add_argument("--clock", choices=CLOCKS, default="wall")
    args = args.parse_args()
    hidden = [int(units) for units in args.hidden.split(",")]
    us = time_mlp(args.rows, args.inputs, hidden, args.param, args.norm, args.optimizer, clock=args.clock)
    print(json.dumps({"what": "torch mlp", **vars(args), "us_per_step": round(us, 2), "threads": 1,
                      "dtype": "f32", "version": torch.__version__}))


if __name__ == "__main__":
    main()
