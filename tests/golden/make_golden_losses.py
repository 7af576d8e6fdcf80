#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loss trajectories of PyTorch under more losses, the oracle of tests/test_golden_losses.c. See README.md.

    python3 make_golden_losses.py                  writes trajectories_losses.csv
    python3 make_golden_losses.py --conditioning   shows how far rounding alone moves each trajectory
"""
import argparse
import os

import torch

from make_golden import DTYPES, STEPS, Hidden, problem, worst

LOSSES = {
    "huber": torch.nn.HuberLoss(),
    "huber:0.25": torch.nn.HuberLoss(delta=0.25),
    "poisson": torch.nn.PoissonNLLLoss(log_input=True, full=False),
}
PARAMS = ("sp", "gmp")
F32 = (("huber", "sp"), ("poisson", "sp"))  # where f32 meets no kink
LR = 0.01


def trajectory(label, param, dtype, nudge=0.0):
    """STEPS + 1 losses, the t-th before update t. nudge: relative noise on the initial weights."""
    x, y, layers = problem()
    if label == "poisson":  # counts
        y = torch.floor(4 * y * y)
    noise = torch.Generator().manual_seed(1)
    layers = [
        tuple(t * (1 + nudge * torch.randn(t.shape, generator=noise, dtype=t.dtype)) for t in pair) for pair in layers
    ]
    x, y = x.to(dtype), y.to(dtype)
    hidden = [Hidden(w, b, param, "none", k == 0, dtype) for k, (w, b) in enumerate(layers[:-1])]
    w, b = (t.to(dtype).clone().requires_grad_() for t in layers[-1])
    step = torch.optim.Adam([p for h in hidden for p in h.raw.values()] + [w, b], lr=LR)
    losses = []
    for _ in range(STEPS + 1):
        z = x
        for h in hidden:
            z = h(z)
        value = LOSSES[label](z @ w.T + b, y)
        losses.append(float(value))
        step.zero_grad()
        value.backward()
        step.step()
    return losses


def conditioning():
    print("largest relative change of a loss: initial weights x (1 + 1e-16 N), x (1 + 1e-7 N); torch f32 against f64")
    for label in LOSSES:
        for param in PARAMS:
            wide = trajectory(label, param, torch.float64)
            small = worst(trajectory(label, param, torch.float64, 1e-16), wide)
            large = worst(trajectory(label, param, torch.float64, 1e-7), wide)
            f32 = worst(trajectory(label, param, torch.float32), wide)
            print(f"{label:16s} {param:7s} {small:.1e}  {large:.1e}  {f32:.1e}   loss {wide[0]:.4g} -> {wide[-1]:.4g}")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--conditioning", action="store_true")
    args = args.parse_args()
    torch.set_num_threads(1)
    if args.conditioning:
        conditioning()
        return
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trajectories_losses.csv")
    with open(path, "w") as out:
        out.write("loss,param,dtype,step,value\n")
        for label in LOSSES:
            for param in PARAMS:
                for dtype in ("f64", "f32") if (label, param) in F32 else ("f64",):
                    for t, value in enumerate(trajectory(label, param, DTYPES[dtype])):
                        out.write(f"{label},{param},{dtype},{t},{value:.17g}\n")


if __name__ == "__main__":
    main()
