#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spherelu against PyTorch and JAX on the same work in the same run, one thread, alternating, best of several rounds.

    compare.py --tool build/spherelu [--rounds 3] [--only mlp|param] [--check]

Without JAX and optax in this Python, PyTorch alone. Writes bench/results/mlp.csv and bench/results/param.csv. --check fails
when a bar is missed.
"""
import argparse
import csv
import importlib.util
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# rows, inputs, how many times PyTorch and JAX GmP must be
SHAPES = ((404, 13, 15, 3), (1024, 11, 12, 3), (7654, 4, 8, 3))
PARAMS = ("sp", "wn", "gmp", "sphere")
HIDDEN = 100
GMP_OVER_SP = 1.08  # at 404 x 13
PARAM_SHAPES = [(512, n) for n in (16, 64, 256, 1024, 4608, 16384)] + [(m, 512) for m in (16, 64, 256, 1024, 4096)]
NS_PER_WEIGHT = 1.6  # at 512 x 4608, u(theta) and its gradient together


def ours(tool, clock, *words):
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([tool, "bench", *map(str, words), "--threads", "1", "--clock", clock, "--json"], env=env, text=True,
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def jax_mlp(rows, inputs, param, clock):
    """None where there is no JAX."""
    if not all(map(importlib.util.find_spec, ("jax", "optax"))):
        return None
    done = subprocess.run([sys.executable, os.path.join(HERE, "jax_mlp.py"), "--rows", str(rows), "--inputs", str(inputs), "--hidden",
                           str(HIDDEN), "--param", param, "--repeats", "3", "--clock", clock], text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def read(name):
    path = os.path.join(HERE, "results", name)
    if not os.path.exists(path):
        return []
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


def write(name, rows):
    path = os.path.join(HERE, "results", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as out:
        table = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    print(f"-> {os.path.relpath(path)}\n")


def bench_mlp(tool, rounds, clock):
    import torch

    sys.path.insert(0, HERE)
    from torch_mlp import time_mlp

    rows_out, bars, best = [], [], {}
    print(f"{'rows x inputs':>14s}  {'param':7s} {'spherelu us':>12s} {'PyTorch us':>11s} {'ratio':>7s} {'JAX us':>9s} {'ratio':>7s}")
    for rows, inputs, torch_bar, jax_bar in SHAPES:
        for param in PARAMS:
            mine, theirs, loop, loop_version = float("inf"), float("inf"), float("inf"), ""
            for _ in range(rounds):
                said = ours(tool, clock, "mlp", "--rows", rows, "--inputs", inputs, "--hidden", HIDDEN, "--param", param,
                            "--norm", "none", "--optimizer", "adam")
                mine = min(mine, said["us_per_step"])
                theirs = min(theirs, time_mlp(rows, inputs, [HIDDEN], param, "none", "adam", repeats=3, clock=clock))
                jax = jax_mlp(rows, inputs, param, clock)
                if jax:
                    loop, loop_version = min(loop, jax["us_per_step"]), jax["version"]
            best[rows, param] = mine
            print(f"{rows:>8d} x {inputs:<3d}  {param:7s} {mine:12.1f} {theirs:11.1f} {theirs / mine:7.1f}"
                  + (f" {loop:9.1f} {loop / mine:7.2f}" if loop_version else f" {'-':>9s} {'-':>7s}"), flush=True)
            rows_out.append({"machine": said["cpu"], "threads": 1, "clock": clock, "dtype": said["dtype"], "spherelu": said["version"],
                             "torch": torch.__version__, "jax": loop_version, "rows": rows, "inputs": inputs, "hidden": HIDDEN,
                             "param": param, "norm": "none", "optimizer": "adam", "spherelu_us_per_step": f"{mine:.2f}",
                             "torch_us_per_step": f"{theirs:.2f}", "ratio": f"{theirs / mine:.2f}",
                             "jax_us_per_step": f"{loop:.2f}" if loop_version else "",
                             "jax_ratio": f"{loop / mine:.2f}" if loop_version else ""})
            if param == "gmp":
                bars.append((f"gmp {rows} x {inputs}: at least {torch_bar} x PyTorch", theirs / mine >= torch_bar,
                             f"{theirs / mine:.1f}"))
                if loop_version:
                    bars.append((f"gmp {rows} x {inputs}: at least {jax_bar} x JAX's loop of steps", loop / mine >= jax_bar,
                                 f"{loop / mine:.2f}"))
    over = best[404, "gmp"] / best[404, "sp"]
    bars.append((f"gmp over sp at 404 x 13: at most {GMP_OVER_SP}", over <= GMP_OVER_SP, f"{over:.3f}"))
    write("mlp.csv", rows_out)
    return bars


def bench_param(tool, rounds, clock):
    rows_out, bars = [], []
    print(f"{'units x inputs':>15s} {'forward':>9s} {'backward':>9s} {'both':>7s}   ns per weight, gmp")
    for units, inputs in PARAM_SHAPES:
        runs = [ours(tool, clock, "param", "--units", units, "--inputs", inputs, "--param", "gmp") for _ in range(rounds)]
        forward = min(run["ns_per_weight_forward"] for run in runs)
        backward = min(run["ns_per_weight_backward"] for run in runs)
        both = forward + backward
        print(f"{units:>7d} x {inputs:<5d} {forward:9.3f} {backward:9.3f} {both:7.3f}", flush=True)
        rows_out.append({"machine": runs[0]["cpu"], "threads": 1, "clock": clock, "dtype": runs[0]["dtype"],
                         "spherelu": runs[0]["version"], "param": "gmp", "units": units, "inputs": inputs,
                         "ns_per_weight_forward": f"{forward:.4f}", "ns_per_weight_backward": f"{backward:.4f}",
                         "ns_per_weight": f"{both:.4f}"})
        if inputs == 4608:
            bars.append((f"u(theta) and its gradient at {units} x {inputs}: at most {NS_PER_WEIGHT} ns per weight",
                         both <= NS_PER_WEIGHT, f"{both:.3f}"))
    write("param.csv", rows_out)
    return bars


def report(bars, check):
    """Prints the bars; with check a missed one ends the program."""
    for what, met, value in bars:
        print(f"{'met   ' if met else 'MISSED'}  {what}: {value}")
    if check and not all(met for _, met, _ in bars):
        sys.exit(1)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    args.add_argument("--rounds", type=int, default=3)
    args.add_argument("--only", choices=("mlp", "param"))
    args.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: on a machine that others use too")
    args.add_argument("--check", action="store_true")
    args = args.parse_args()
    bars = []
    if args.only != "param":
        bars += bench_mlp(args.tool, args.rounds, args.clock)
    if args.only != "mlp":
        bars += bench_param(args.tool, args.rounds, args.clock)
    report(bars, args.check)


if __name__ == "__main__":
    main()
