#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Regressor.fit beside `spherelu train` on the same rows in npy: what the Python package costs. Both in turn, processor
time of the whole process, best of the rounds.

    python bench/python_fit.py --tool build/spherelu --package build/python [--rows 100000] [--features 30] [--epochs 20] [--check]

--check: fails where fit takes more than 3 % longer.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np

FIT = """
import resource, sys, numpy as np, spherelu
from sklearn.base import BaseEstimator
table = np.load(sys.argv[1])
model = spherelu.Regressor(epochs=int(sys.argv[2]), patience=0, val=0.2)
before = resource.getrusage(resource.RUSAGE_SELF)
model.fit(table[:, :-1], table[:, -1])
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, model.n_iter_)
"""


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--package", required=True)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(args.rows, args.features))
    best = {"train": float("inf"), "fit": float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.npy")
        np.save(path, np.column_stack([x, np.abs(x[:, 0]) + x[:, 1]]))
        for i in range(args.rounds):
            before = children()
            subprocess.run(
                [args.tool, "train", "--data", path, "--test", "0", "--task", "regression", "--epochs", str(args.epochs), "--patience", "0", "--quiet", "--out", f"{folder}/{i}"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            best["train"] = min(best["train"], children() - before)
            said = subprocess.run(
                [sys.executable, "-c", FIT, path, str(args.epochs)], check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": args.package}
            ).stdout.split()
            best["fit"] = min(best["fit"], float(said[0]))
    ratio = best["fit"] / best["train"]
    print(json.dumps({"what": "python_fit", "rows": args.rows, "features": args.features, "epochs": args.epochs, "train_s": round(best["train"], 3), "fit_s": round(best["fit"], 3), "fit_by_train": round(ratio, 3)}))
    if args.check and ratio > 1.03:
        sys.exit("fit takes more than 3 % longer than train")


if __name__ == "__main__":
    main()
