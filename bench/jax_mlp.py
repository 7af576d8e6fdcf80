#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""JAX training a small MLP under the same method: microseconds per full-batch step of one jitted loop of steps.

    jax_mlp.py --rows 404 --inputs 13 --hidden 100 --param gmp --optimizer adam [--repeats 5] [--clock wall|processor]

One JSON line. All steps of a repetition are one call of a compiled lax.fori_loop, so that nothing of Python is timed; the
process keeps to one processor, so that XLA has one thread. Gradients by jax.grad, updates by optax.
"""
import argparse
import json
import os
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # before XLA counts the processors

import jax  # noqa: E402
import optax  # noqa: E402
from jax import lax, nn, numpy as np, random  # noqa: E402

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}  # as those of `spherelu bench --clock`
OPTIMIZERS = {"adam": lambda: optax.adam(1e-3), "sgd": lambda: optax.sgd(1e-3, momentum=0.9)}


def angles(w):
    """Of the rows of w: theta_i = atan2(|w_i+1..n|, w_i), the last with its sign."""
    tails = np.sqrt(np.cumsum(np.square(w[:, ::-1]), 1)[:, ::-1])
    return np.concatenate([np.arctan2(tails[:, 1:-1], w[:, :-2]), np.arctan2(w[:, -1:], w[:, -2:-1])], 1)


def direction(theta):
    one = np.ones((len(theta), 1), theta.dtype)
    return np.concatenate([one, np.cumprod(np.sin(theta), 1)], 1) * np.concatenate([np.cos(theta), one], 1)


def length(v):
    return np.sqrt(np.sum(np.square(v), 1, keepdims=True))


def draw(key, n, m, param):
    w = nn.initializers.glorot_uniform()(key, (n, m)).T
    b, r = np.zeros(m), np.ones(m)
    return {"sp": lambda: {"w": w, "b": b}, "wn": lambda: {"v": w, "g": length(w)[:, 0], "b": b},
            "gmp": lambda: {"theta": angles(w), "b": b, "r": r}, "sphere": lambda: {"u": w / length(w), "b": b, "r": r}}[param]()


def unit(raw, x):
    if "theta" in raw:
        w = direction(raw["theta"])
    elif "v" in raw:
        w = raw["v"] * (raw["g"][:, None] / length(raw["v"]))
    else:
        w = raw["u"] if "u" in raw else raw["w"]
    z = nn.relu(x @ w.T + raw["b"])
    return z * raw["r"] if "r" in raw else z


def on_tangent(layer, grad):
    """sphere: the gradient's part along u leaves."""
    return {**grad, "u": grad["u"] - np.sum(grad["u"] * layer["u"], 1, keepdims=True) * layer["u"]} if "u" in grad else grad


def on_sphere(layer):
    return {**layer, "u": layer["u"] / length(layer["u"])} if "u" in layer else layer


def time_mlp(rows, inputs, hidden, param, optimizer, repeats=5, seconds=0.3, clock="wall"):
    """Best of repeats, each about `seconds` long, after a warm-up."""
    keys = iter(random.split(random.PRNGKey(0), len(hidden) + 3))
    sizes = [inputs, *hidden]
    net = [draw(next(keys), n, m, param) for n, m in zip(sizes, sizes[1:])] + [draw(next(keys), sizes[-1], 1, "sp")]
    x, y = random.normal(next(keys), (rows, inputs)), random.normal(next(keys), (rows, 1))
    rule = OPTIMIZERS[optimizer]()

    def loss(now):
        z = x
        for layer in now[:-1]:
            z = unit(layer, z)
        return np.mean(np.square(z @ now[-1]["w"].T + now[-1]["b"] - y))

    def step(_, state):
        now, slots = state
        grads = [on_tangent(layer, grad) for layer, grad in zip(now, jax.grad(loss)(now))]
        update, slots = rule.update(grads, slots, now)
        return [on_sphere(layer) for layer in optax.apply_updates(now, update)], slots

    train = jax.jit(lambda state, steps: lax.fori_loop(0, steps, step, state))
    state, steps, best = (net, rule.init(net)), 20, float("inf")
    state = jax.block_until_ready(train(state, steps))
    for _ in range(repeats + 1):  # the first finds how many steps a repetition takes
        begin = CLOCKS[clock]()
        state = jax.block_until_ready(train(state, steps))
        best = min(best, (CLOCKS[clock]() - begin) / steps)
        steps = max(20, int(seconds / best))
    assert np.isfinite(loss(state[0])), "the training diverged"
    return best * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=404)
    parser.add_argument("--inputs", type=int, default=13)
    parser.add_argument("--hidden", default="100", help="100 or 100,50")
    parser.add_argument("--param", choices=("sp", "wn", "gmp", "sphere"), default="gmp")
    parser.add_argument("--optimizer", choices=OPTIMIZERS, default="adam")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    args = parser.parse_args()
    us = time_mlp(args.rows, args.inputs, [int(units) for units in args.hidden.split(",")], args.param, args.optimizer, args.repeats,
                  clock=args.clock)
    print(json.dumps({"what": "jax mlp", **vars(args), "us_per_step": round(us, 2), "threads": 1, "dtype": "f32",
                      "version": jax.__version__, "optax": optax.__version__}))


if __name__ == "__main__":
    main()
