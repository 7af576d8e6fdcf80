#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a parameterization costs beside SP (Remark 3.4 of the papers): time and memory of a training step, by width.

    bench/cost.py [--tool build/spherelu] [--rounds 5] [--width N]... [--csv bench/results/cost.csv]

Two hidden layers of that many units on 13 inputs, batches of 256 rows, Adam, f32, one thread. Each round times every method at a width once, in turns
(`bench mlp`, by processor time: others may use the machine); the ratio to SP is taken within a round, and the median over the rounds is kept, with the least and
the most. Memory: the high-water mark of the process that steps, least of the rounds, and learned numbers as `train --dry-run` tells them.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
METHODS = [("sp", "none"), ("wn", "none"), ("gmp", "none"), ("sphere", "none"), ("sp", "bn")]
COLUMNS = ("width", "method", "us_per_step", "times_sp", "least", "most", "peak_mb", "peak_times_sp", "learned", "learned_times_sp")
ROWS, INPUTS = 256, 13


def step(tool, param, norm, width):
    """Microseconds of a step, bytes of the process at most."""
    command = [tool, "bench", "mlp", "--rows", str(ROWS), "--inputs", str(INPUTS), "--hidden", f"{width},{width}", "--param", param, "--norm", norm,
               "--clock", "processor", "--repeats", "3", "--json"]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(command)}: ends with {process.returncode}")
        out.seek(0)
        return json.loads(out.read().splitlines()[-1])["us_per_step"], usage.ru_maxrss * 1024


def learned(tool, param, norm, width):
    done = subprocess.run([tool, "train", "--data", "boston", "--hidden", f"{width},{width}", "--param", param, "--norm", norm, "--epochs", "1", "--dry-run", "--json"],
                          text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["learned"]


def measure(tool, width, rounds):
    times, peaks = {method: [] for method in METHODS}, {method: [] for method in METHODS}
    for _ in range(rounds):
        for method in METHODS:
            microseconds, peak = step(tool, *method, width)
            times[method].append(microseconds)
            peaks[method].append(peak)
    base, numbers = METHODS[0], {method: learned(tool, *method, width) for method in METHODS}
    for method in METHODS:
        ratios = [own / sp for own, sp in zip(times[method], times[base])]
        yield dict(zip(COLUMNS, (width, method[0] if method[1] == "none" else "+".join(method), f"{min(times[method]):.4g}", f"{statistics.median(ratios):.3g}",
                                 f"{min(ratios):.3g}", f"{max(ratios):.3g}", f"{min(peaks[method]) / 1e6:.4g}", f"{min(peaks[method]) / min(peaks[base]):.3g}",
                                 numbers[method], f"{numbers[method] / numbers[base]:.4g}")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=str(HERE.parent / "build" / "spherelu"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--width", type=int, action="append")
    parser.add_argument("--csv", type=Path, default=HERE / "results" / "cost.csv")
    args = parser.parse_args()
    with open(args.csv, "w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        print("| width | method | us a step | x SP | over the rounds | peak MB | x SP | learned numbers | x SP |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        for width in args.width or (10, 30, 100, 300, 1000):
            for row in measure(args.tool, width, args.rounds):
                out.writerow(row)
                print(f"| {row['width']} | {row['method']} | {row['us_per_step']} | {row['times_sp']} | {row['least']} to {row['most']} | {row['peak_mb']} | {row['peak_times_sp']} | "
                      f"{row['learned']:,} | {row['learned_times_sp']} |", flush=True)


if __name__ == "__main__":
    main()
