#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Regressor.fit beside `spherelu train` on the same rows in npy: what the Python package costs. Both in turn, processor
time, best of the rounds. Of the tool the whole process counts but for the page that it would draw, of Python reading the
file and `fit`. Both train the same net, which is checked.

    python bench/python_fit.py --tool build/spherelu --package build/python [--rows 100000] [--features 30] [--epochs 20]
                               [--rounds 5] [--csv bench/results/python_fit.csv] [--check]

--check: fails where fit takes more than 3 % longer.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

FIT = """
import resource, sys, time, numpy as np, sklearn, spherelu
from spherelu import Regressor
model = Regressor(epochs=int(sys.argv[2]))
def used():
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime + now.ru_stime
before = used()
table = np.load(sys.argv[1])
model.fit(table[:, :-1], table[:, -1])
seconds = used() - before
print(seconds, model.scores_["val"]["loss"], spherelu.version(), sklearn.__version__)
"""


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")


def train(args, path, out):
    before = children()
    options = ["--test", "0", "--task", "regression", "--epochs", str(args.epochs), "--no-report", "--quiet"]
    subprocess.run([args.tool, "train", "--data", path, *options, "--out", out], check=True, stdout=subprocess.DEVNULL)
    seconds = children() - before
    with open(os.path.join(out, "result.json")) as file:
        return seconds, json.load(file)["val"]["loss"]


def fit(args, path):
    env = {**os.environ, "PYTHONPATH": args.package}
    said = subprocess.run([sys.executable, "-c", FIT, path, str(args.epochs)], check=True, capture_output=True, text=True, env=env).stdout.split()
    return float(said[0]), float(said[1]), said[2:]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--csv")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(args.rows, args.features))
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.npy")
        np.save(path, np.column_stack([x, np.abs(x[:, 0]) + x[:, 1]]))
        for i in range(args.rounds):
            tool, loss = train(args, path, f"{folder}/{i}")
            python, own_loss, versions = fit(args, path)
            if own_loss != loss:
                sys.exit(f"these are two trainings: validation loss {loss!r} and {own_loss!r}")
            rounds.append((tool, python))
    heads = ["machine", "clock", "spherelu", "sklearn", "rows", "features", "epochs", "round", "train_s", "fit_s", "ratio"]
    common = [machine(), "processor", *versions, args.rows, args.features, args.epochs]
    if args.csv:
        with open(args.csv, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(heads)
            for i, (a, b) in enumerate(rounds):
                writer.writerow([*common, i, f"{a:.3f}", f"{b:.3f}", f"{b / a:.3f}"])
    best = [min(values) for values in zip(*rounds)]
    ratio = best[1] / best[0]
    print(json.dumps({"what": "python_fit", "rows": args.rows, "features": args.features, "epochs": args.epochs, "train_s": round(best[0], 3), "fit_s": round(best[1], 3), "fit_by_train": round(ratio, 3)}))
    if args.check and ratio > 1.03:
        sys.exit("fit takes more than 3 % longer than train")


if __name__ == "__main__":
    main()
