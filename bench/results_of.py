#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the results of 1,000 finished jobs take to be read and written: `spherelu run --resume` where all is done.

    results_of.py --tool build/spherelu [--jobs 1000] [--rounds 3] [--check]

The experiments differ in what the jobs are: methods, seeds, points of a grid (the best or all of them), folds, recorded
boundaries. Each is run once, then resumed, which repeats the checks, reads every result, writes results.json, the tables
and the page, and draws nothing. The best of the rounds counts, wall clock and processor. --check fails above 2 s of the
processor's time: on a busy machine the wall clock says more about the others.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

BAR = 2.0
HEAD = "name: results\ndata: {name: crescents, rows: 40}\nnet: {hidden: [2]}\ntrain: {epochs: 1, batch: full}\n"


def experiment(methods, seeds, points=1, more=""):
    params = ("sp", "gmp", "wn", "sphere")
    text = HEAD + "methods:\n"
    for i in range(methods):
        text += f"  - {{name: M{i}, param: {params[i % 4]}, lr: {0.001 * (i + 1):g}}}\n"
    text += f"seeds: {seeds}\n"
    if points > 1:
        text += "grid: {lr: [" + ", ".join(f"{0.001 * (i + 1):g}" for i in range(points)) + "]}\n"
    return text + more


def shapes(n):
    return {
        "5 methods, 20 seeds, a grid": experiment(5, 20, n // 100),
        "the same, all points shown": experiment(5, 20, n // 100, "table: all\n"),
        "2 methods, many seeds": experiment(2, n // 2),
        "20 methods, 50 seeds": experiment(20, n // 20),
        "the same, boundaries recorded": experiment(20, n // 20, 1, "record: {boundaries: epoch}\n"),
        "200 methods, 5 seeds": experiment(n // 5, 5),
        "1,000 methods": experiment(n, 1),
        "5 folds and refits": experiment(5, 4, n // 120, "protocol: cv\nfolds: 5\n"),
    }


def run(command):
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default="build/spherelu")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    tool, worst = os.path.realpath(args.tool), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as work:
        print(f"{'about ' + str(args.jobs) + ' jobs':34s} {'wall':>8s} {'processor':>10s}")
        for i, (name, text) in enumerate(shapes(args.jobs).items()):
            path = os.path.join(work, f"{i}.yaml")
            with open(path, "w") as file:
                file.write(text)
            command = [tool, "run", path, "--out", os.path.join(work, str(i)), "--quiet"]
            run(command)
            times = [run(command + ["--resume"]) for _ in range(args.rounds)]
            wall, processor = min(t[0] for t in times), min(t[1] for t in times)
            worst = max(worst, processor)
            print(f"{name:34s} {wall:6.2f} s {processor:8.2f} s")
    print(f"{'at most':34s} {BAR:6.2f} s")
    return int(args.check and worst > BAR)


if __name__ == "__main__":
    sys.exit(main())
