#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loss trajectories of PyTorch, the oracle of tests/test_golden.c. See README.md beside this file.

    python3 make_golden.py                  writes trajectories.csv
    python3 make_golden.py --conditioning   shows how far rounding alone moves each trajectory
"""
import argparse
import math
import os

import torch

ROWS, SIZES, STEPS, SEED = 200, (13, 32, 32, 1), 100, 96
METHODS = (  # name, parameterization, normalization
    ("sp", "sp", "none"),
    ("wn", "wn", "none"),
    ("gmp", "gmp", "none"),
    ("sphere", "sphere", "none"),
    ("gmp+imn", "gmp", "imn"),
    ("sp+bn", "sp", "bn"),
    ("sp+ln", "sp", "ln"),
    ("wn+mbn", "wn", "mbn"),
    ("wn+gn", "wn", "gn"),
    ("sphere+gn", "sphere", "gn"),
)
GROUPS = 4  # of gn
RUNS = (("mse", "f64"), ("mse", "f32"), ("mae", "f64"))
DTYPES = {"f64": torch.float64, "f32": torch.float32}
EPSILON = 1e-5


class Lcg:
    """The same doubles in [0, 1) as tests/test_golden.c draws."""

    def __init__(self, state):
        self.state = state

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53

    def spread(self, half):
        return (2.0 * self.unit() - 1.0) * half


def problem():
    """x (ROWS, 13), y (ROWS, 1) and [(W, b), ...], f64; only + - * and sqrt, in a fixed order."""
    lcg = Lcg(SEED)
    x = [[lcg.spread(1.7) for _ in range(SIZES[0])] for _ in range(ROWS)]
    y = [[0.5 * r[0] * r[1] + 0.25 * r[2] * r[2] - 0.5 * r[3] + 0.125 * r[4] * r[5] * r[6] + 0.25 * r[7]] for r in x]
    layers = []
    for n, m in zip(SIZES, SIZES[1:]):
        half = math.sqrt(6.0 / (n + m))
        w = [[lcg.spread(half) for _ in range(n)] for _ in range(m)]
        b = [lcg.spread(0.1) for _ in range(m)]
        layers.append((w, b))
    as_tensor = lambda values: torch.tensor(values, dtype=torch.float64)
    return as_tensor(x), as_tensor(y), [(as_tensor(w), as_tensor(b)) for w, b in layers]


def angles(w):
    """theta (m, n-1) of the rows of w (m, n)."""
    tails = torch.sqrt(torch.flip(torch.cumsum(torch.flip(w * w, [1]), 1), [1]))  # ||w_i..n||
    theta = torch.atan2(tails[:, 1:], w[:, :-1])
    theta[:, -1] = torch.atan2(w[:, -1], w[:, -2])
    return theta


def direction(theta):
    """u (m, n): cosines times the product of the sines before them."""
    one = torch.ones_like(theta[:, :1])
    prefix = torch.cumprod(torch.cat([one, torch.sin(theta)], 1), 1)
    return prefix * torch.cat([torch.cos(theta), one], 1)


class Hidden:
    """One hidden layer, started from W and b."""

    def __init__(self, w, b, param, norm, first, dtype):
        self.param, self.norm, self.first = param, norm, first
        length = w.norm(dim=1)
        raw = {
            "sp": lambda: {"w": w, "b": b},
            "wn": lambda: {"v": w, "g": length, "b": b},
            "gmp": lambda: {"theta": angles(w), "b": b / length, "r": length},
            "sphere": lambda: {"u": w / length[:, None], "b": b / length, "r": length},
        }[param]()
        if norm == "bn":
            del raw["b"]
        if norm in ("bn", "ln", "gn"):
            raw["scale"], raw["shift"] = torch.ones_like(b), torch.zeros_like(b)
        self.raw = {k: t.to(dtype).clone().requires_grad_() for k, t in raw.items()}

    def weight(self):
        p = self.raw
        if self.param == "sp":
            return p["w"]
        if self.param == "wn":
            return (p["g"] / p["v"].norm(dim=1))[:, None] * p["v"]
        return direction(p["theta"]) if self.param == "gmp" else p["u"]

    def __call__(self, x):
        p = self.raw
        if self.norm == "imn" and not self.first:
            x = x - x.mean(0)
        z = x @ self.weight().T
        if self.norm == "mbn":
            z = z - z.mean(0)
        if "b" in p:
            z = z + p["b"]
        if self.norm == "bn":
            z = (z - z.mean(0)) / torch.sqrt(z.var(0, unbiased=False) + EPSILON) * p["scale"] + p["shift"]
        if self.norm == "ln":
            mean, var = z.mean(1, keepdim=True), z.var(1, unbiased=False, keepdim=True)
            z = (z - mean) / torch.sqrt(var + EPSILON) * p["scale"] + p["shift"]
        if self.norm == "gn":
            z = torch.nn.functional.group_norm(z, GROUPS, p["scale"], p["shift"], EPSILON)
        z = torch.relu(z)
        return z * p["r"] if "r" in p else z

    def project(self):
        if "u" in self.raw:
            u = self.raw["u"]
            u.grad -= (u.grad * u).sum(1, keepdim=True) * u

    def after_step(self):
        if "u" in self.raw:
            u = self.raw["u"]
            u /= u.norm(dim=1, keepdim=True)


def trajectory(param, norm, optimizer, loss, dtype, nudge=0.0):
    """STEPS + 1 losses, the t-th before update t. nudge: relative noise on the initial weights."""
    x, y, layers = problem()
    noise = torch.Generator().manual_seed(1)
    layers = [
        tuple(t * (1 + nudge * torch.randn(t.shape, generator=noise, dtype=t.dtype)) for t in pair) for pair in layers
    ]
    x, y = x.to(dtype), y.to(dtype)
    hidden = [Hidden(w, b, param, norm, k == 0, dtype) for k, (w, b) in enumerate(layers[:-1])]
    w, b = (t.to(dtype).clone().requires_grad_() for t in layers[-1])
    learned = [t for h in hidden for t in h.raw.values()] + [w, b]
    if optimizer == "adam":
        step = torch.optim.Adam(learned, lr=0.1 if param == "gmp" else 0.01, betas=(0.9, 0.999), eps=1e-8)
    else:
        step = torch.optim.SGD(learned, lr=0.01, momentum=0.9)
    losses = []
    for t in range(STEPS + 1):
        z = x
        for h in hidden:
            z = h(z)
        error = z @ w.T + b - y
        value = error.abs().mean() if loss == "mae" else (error * error).mean()
        losses.append(float(value))
        step.zero_grad()
        value.backward()
        for h in hidden:
            h.project()
        step.step()
        with torch.no_grad():
            for h in hidden:
                h.after_step()
    return losses


def worst(a, b):
    return max(abs(p - q) / abs(q) for p, q in zip(a, b))


def conditioning():
    print("largest relative change of a loss: initial weights x (1 + 1e-16 N), x (1 + 1e-7 N); torch f32 against f64")
    for name, param, norm in METHODS:
        for optimizer in ("adam", "sgd"):
            for loss in ("mse", "mae"):
                wide = trajectory(param, norm, optimizer, loss, torch.float64)
                small = worst(trajectory(param, norm, optimizer, loss, torch.float64, 1e-16), wide)
                large = worst(trajectory(param, norm, optimizer, loss, torch.float64, 1e-7), wide)
                f32 = worst(trajectory(param, norm, optimizer, loss, torch.float32), wide)
                print(f"{name:8s} {optimizer:4s} {loss}  {small:.1e}  {large:.1e}  {f32:.1e}   loss {wide[0]:.4g} -> {wide[-1]:.4g}")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--conditioning", action="store_true")
    args = args.parse_args()
    torch.set_num_threads(1)
    if args.conditioning:
        conditioning()
        return
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trajectories.csv")
    with open(path, "w") as out:
        out.write("method,optimizer,loss,dtype,step,value\n")
        for name, param, norm in METHODS:
            for optimizer in ("adam", "sgd"):
                for loss, dtype in RUNS:
                    for t, value in enumerate(trajectory(param, norm, optimizer, loss, DTYPES[dtype])):
                        out.write(f"{name},{optimizer},{loss},{dtype},{t},{value:.17g}\n")


if __name__ == "__main__":
    main()
