#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loss trajectories of PyTorch under more optimizers, the oracle of tests/test_golden_optimizers.c. See README.md.

    python3 make_golden_optimizers.py                  writes trajectories_optimizers.csv
    python3 make_golden_optimizers.py --conditioning   shows how far rounding alone moves each trajectory
"""
import argparse
import os

import torch

from make_golden import DTYPES, STEPS, Hidden, problem, worst

RUNS = (  # label, parameterizations, dtypes
    ("rmsprop", ("sp", "sphere"), ("f64", "f32")),
    ("rmsprop", ("gmp",), ("f64",)),
    ("rmsprop+momentum", ("sp", "gmp", "sphere"), ("f64",)),
    ("lion", ("sp", "gmp", "sphere"), ("f64",)),
    ("sgd+natural", ("gmp",), ("f64", "f32")),
    ("adam+natural", ("gmp",), ("f64", "f32")),
    ("rmsprop+natural", ("gmp",), ("f64",)),
)
DAMPING = 0.01
DECAYS = ("w", "g", "r")  # what weight decay touches


class Lion:
    """Chen et al., 2023, algorithm 2."""

    def __init__(self, decays, others, lr, betas, decay):
        self.lr, self.betas = lr, betas
        self.groups = [(p, decay, torch.zeros_like(p)) for p in decays] + [(p, 0, torch.zeros_like(p)) for p in others]

    def zero_grad(self):
        for p, _, _ in self.groups:
            p.grad = None

    @torch.no_grad()
    def step(self):
        first, second = self.betas
        for p, decay, m in self.groups:
            way = torch.sign(first * m + (1 - first) * p.grad)
            p -= self.lr * (way + decay * p)
            m.mul_(second).add_(p.grad, alpha=1 - second)


class NaturalAngles:
    """theta (units, angles): the gradient divided by the metric plus the damping, then by the root of one mean of squares
    a unit."""

    def __init__(self, thetas, others, lr, betas, epsilon, corrected):
        self.thetas, self.others = thetas, others
        self.lr, self.betas, self.epsilon, self.corrected = lr, betas, epsilon, corrected
        self.state = [(torch.zeros_like(p), torch.zeros_like(p[:, :1])) for p in thetas]
        self.steps = 0

    def zero_grad(self):
        self.others.zero_grad()
        for p in self.thetas:
            p.grad = None

    @torch.no_grad()
    def step(self):
        self.steps += 1
        first, second = self.betas
        correct = [1 - beta**self.steps if self.corrected else 1 for beta in self.betas]
        for p, (m, v) in zip(self.thetas, self.state):
            g = natural(p)
            v.mul_(second).add_((1 - second) * (g * g).mean(1, keepdim=True))
            m.mul_(first).add_((1 - first) * g)
            p -= self.lr / correct[0] * m / (torch.sqrt(v / correct[1]) + self.epsilon)
        self.others.step()


def natural(theta):
    """The gradient of angles over their metric (1, sin^2 th_1, sin^2 th_1 sin^2 th_2, ...) plus the damping."""
    square = torch.sin(theta[:, :-1]) ** 2
    metric = torch.cumprod(torch.cat([torch.ones_like(theta[:, :1]), square], 1), 1)
    return theta.grad / (metric + DAMPING)


class NaturalSgd(torch.optim.SGD):
    def __init__(self, thetas, others, **options):
        super().__init__(thetas + others, **options)
        self.thetas = thetas

    @torch.no_grad()
    def step(self):
        for p in self.thetas:
            p.grad.copy_(natural(p))
        super().step()


def optimizer(label, hidden, w, b):
    raw = [pair for h in hidden for pair in h.raw.items()] + [("w", w), ("b", b)]
    decays, others = [p for k, p in raw if k in DECAYS], [p for k, p in raw if k not in DECAYS]
    if label == "lion":
        return Lion(decays, others, lr=0.002, betas=(0.9, 0.99), decay=0.1)
    thetas, rest = [p for k, p in raw if k == "theta"], [p for k, p in raw if k != "theta"]
    if label == "sgd+natural":
        return NaturalSgd(thetas, rest, lr=0.01, momentum=0.9)
    if label == "adam+natural":
        others = torch.optim.Adam(rest, lr=0.01, betas=(0.9, 0.999), eps=1e-8)
        return NaturalAngles(thetas, others, 0.01, (0.9, 0.999), 1e-8, True)
    if label == "rmsprop+natural":
        others = torch.optim.RMSprop(rest, lr=0.003, alpha=0.99, eps=1e-8)
        return NaturalAngles(thetas, others, 0.003, (0, 0.99), 1e-8, False)
    momentum = 0.9 if label == "rmsprop+momentum" else 0
    lr = 0.0003 if momentum else 0.003
    return torch.optim.RMSprop(decays + others, lr=lr, alpha=0.99, eps=1e-8, momentum=momentum)


def trajectory(label, param, dtype, nudge=0.0):
    """STEPS + 1 losses, the t-th before update t. nudge: relative noise on the initial weights."""
    x, y, layers = problem()
    noise = torch.Generator().manual_seed(1)
    layers = [
        tuple(t * (1 + nudge * torch.randn(t.shape, generator=noise, dtype=t.dtype)) for t in pair) for pair in layers
    ]
    x, y = x.to(dtype), y.to(dtype)
    hidden = [Hidden(w, b, param, "none", k == 0, dtype) for k, (w, b) in enumerate(layers[:-1])]
    w, b = (t.to(dtype).clone().requires_grad_() for t in layers[-1])
    step = optimizer(label, hidden, w, b)
    losses = []
    for _ in range(STEPS + 1):
        z = x
        for h in hidden:
            z = h(z)
        error = z @ w.T + b - y
        value = (error * error).mean()
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


def conditioning():
    print("largest relative change of a loss: initial weights x (1 + 1e-16 N), x (1 + 1e-7 N); torch f32 against f64")
    for label, params, _ in RUNS:
        for param in params:
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
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trajectories_optimizers.csv")
    with open(path, "w") as out:
        out.write("optimizer,param,dtype,step,value\n")
        for label, params, dtypes in RUNS:
            for param in params:
                for dtype in dtypes:
                    for t, value in enumerate(trajectory(label, param, DTYPES[dtype])):
                        out.write(f"{label},{param},{dtype},{t},{value:.17g}\n")


if __name__ == "__main__":
    main()
