#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to record boundaries: time of a step with and without, in turns in one process; memory over many steps.

    tracker.py --tool build/spherelu [--rounds 5] [--check]

Writes bench/results/tracker.csv. --check fails when a bar is missed: 0.5 us + 30 ns per unit and step wherever a unit has
at most 100 inputs and the layer fits the cache (beyond, reading the weights takes longer than that), 5 % of the step at
404 x 13 x 100, and a peak memory that does not grow from 3 x 10^4 steps, by when every buffer has been full once, to
3 x 10^5.
"""
import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# rows, inputs, hidden, param, norm, dtype
SHAPES = (
    (404, 13, "100", "gmp", "none", "f32"),
    (404, 13, "100", "sp", "none", "f32"),
    (404, 13, "100", "sp", "bn", "f32"),
    (404, 13, "100", "gmp", "imn", "f32"),
    (404, 13, "100", "gmp", "none", "f64"),
    (404, 2, "10", "gmp", "none", "f32"),
    (404, 13, "10", "gmp", "none", "f32"),
    (404, 13, "1000", "gmp", "none", "f32"),
    (404, 13, "100,100", "gmp", "none", "f32"),
    (404, 784, "100", "gmp", "none", "f32"),
)
FEW_INPUTS = 100
BASE_US, UNIT_US, SHARE = 0.5, 0.030, 0.05
GROWTH_BYTES = 256 * 1024  # pages touched here and there; the rows themselves are 15,000,000 bytes of moves and 100,000,000 of frames


def measure(tool, folder, rows, inputs, hidden, param, norm, dtype):
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    words = ["bench", "mlp", "--rows", rows, "--inputs", inputs, "--hidden", hidden, "--param", param, "--norm", norm,
             "--dtype", dtype, "--threads", 1, "--record", folder, "--json"]
    done = subprocess.run([tool, *map(str, words)], env=env, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def bench_time(tool, rounds):
    out, bars = [], []
    print(f"{'net':>16s} {'method':9s} {'dtype':5s} {'us':>8s} {'recorded':>9s} {'cost':>6s} {'limit':>6s} {'share':>6s}")
    with tempfile.TemporaryDirectory() as folder:
        for shape in SHAPES:
            rows, inputs, hidden, param, norm, dtype = shape
            runs = [measure(tool, folder, *shape) for _ in range(rounds)]
            plain = min(run["us_per_step"] for run in runs)
            recorded = min(run["us_per_step_recorded"] for run in runs)
            layers = [int(m) for m in hidden.split(",")]
            limit = BASE_US + UNIT_US * sum(layers)
            cost, share = recorded - plain, recorded / plain - 1
            few = inputs <= FEW_INPUTS and max(layers[:-1], default=0) <= FEW_INPUTS
            name = f"{rows} x {inputs} x {hidden}"
            print(f"{name:>16s} {param + '+' + norm:9s} {dtype:5s} {plain:8.2f} {recorded:9.2f} {cost:6.2f} "
                  f"{limit if few else float('nan'):6.2f} {100 * share:5.1f}%", flush=True)
            out.append({"machine": runs[0]["cpu"], "threads": 1, "dtype": dtype, "spherelu": runs[0]["version"],
                        "rows": rows, "inputs": inputs, "hidden": hidden, "param": param, "norm": norm,
                        "us_per_step": f"{plain:.3f}", "us_per_step_recorded": f"{recorded:.3f}",
                        "us_of_recording": f"{cost:.3f}", "limit_us": f"{limit:.2f}" if few else "",
                        "share": f"{share:.4f}", "steps": "", "peak_bytes": ""})
            if few:
                bars.append((f"{name} {param}+{norm} {dtype}: at most {limit:.2f} us", cost <= limit, f"{cost:.2f}"))
            if shape == SHAPES[0]:
                bars.append((f"{name}: at most {100 * SHARE:.0f} % of the step", share <= SHARE, f"{100 * share:.1f} %"))
    return out, bars


def peak(tool, folder, steps, *more):
    """Most memory of a training of so many steps; a child of a child, so that no other counts."""
    words = [tool, "train", "--data", "crescents", "--rows", 10000, "--test", 0.2, "--val", 0, "--hidden", 20,
             "--batch", 8, "--epochs", steps // 1000, "--patience", 0, "--quiet", *more,
             "--out", os.path.join(folder, f"{steps}-{len(more)}")]
    code = ("import resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], text=True, stdout=subprocess.PIPE, check=True)
    return int(done.stdout) * 1024


def bench_memory(tool, machine, version):
    out, peaks = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for steps in (30_000, 300_000):
            for what in ("none", "boundaries:every"):
                more = () if what == "none" else ("--record", what)
                peaks[steps, what] = peak(tool, folder, steps, *more)
                print(f"{steps:>7d} steps, record {what:16s}: peak {peaks[steps, what] / 1e6:.2f} MB", flush=True)
                out.append({"machine": machine, "threads": 1, "dtype": "f32", "spherelu": version, "rows": 8,
                            "inputs": 2, "hidden": 20, "param": "gmp", "norm": "none", "us_per_step": "",
                            "us_per_step_recorded": "", "us_of_recording": "", "limit_us": "", "share": "",
                            "steps": steps if what != "none" else f"{steps} not recorded",
                            "peak_bytes": peaks[steps, what]})
    growth = peaks[300_000, "boundaries:every"] - peaks[30_000, "boundaries:every"]
    return out, [("memory from 3 x 10^4 to 3 x 10^5 recorded steps: flat", growth <= GROWTH_BYTES, f"{growth:+d} bytes")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rows, bars = bench_time(args.tool, args.rounds)
    more, flat = bench_memory(args.tool, rows[0]["machine"], rows[0]["spherelu"])
    path = os.path.join(HERE, "results", "tracker.csv")
    with open(path, "w", newline="") as out:
        table = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows + more)
    print(f"-> {os.path.relpath(path)}\n")
    for name, held, value in bars + flat:
        print(f"{'holds' if held else 'FAILS'}  {name}: {value}")
    if args.check and not all(held for _, held, _ in bars + flat):
        sys.exit(1)


if __name__ == "__main__":
    main()
