#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a small vgg6 reaches under six methods, beside multinomial logistic regression on the same rows.

    bench/accuracy.py --tool build/spherelu [--data cifar,fashion] [--methods sp,bn,wn,wn+mbn,gmp,gmp+imn] [--check]

Needs SPHERELU_DATA, numpy and scikit-learn; writes bench/results/accuracy.csv. For each method a few settings are tried in
short trainings on some of the rows without a test part (--test 0), and the one of the smallest validation loss trains on
all of them; the test rows are scored once, at the end. Logistic regression sees the same training rows, standardised the
same way, and its C is chosen by the same validation rows. --check fails when a method is not 10 points above it on CIFAR-10.
"""
import argparse
import csv
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
METHODS = {"sp": ("sp", "none"), "bn": ("sp", "bn"), "wn": ("wn", "none"), "wn+mbn": ("wn", "mbn"),
           "gmp": ("gmp", "none"), "gmp+imn": ("gmp", "imn")}
SETTINGS = (("sgd", 0.02, None), ("sgd", 0.1, None), ("adam", 0.002, None))  # optimizer, lr, init
GMP_SETTINGS = SETTINGS + (("sgd", 0.1, "glorot"),)
INVERSE_PENALTIES = (0.00001, 0.0001, 0.001, 0.01, 0.1, 1)  # logistic regression's C, until one is worse than the last
POINTS = 10
FIELDS = ("set", "method", "stage", "optimizer", "lr", "init", "batch", "epochs", "best_epoch", "train_rows", "val_rows",
          "test_rows", "val_loss", "val_accuracy", "test_accuracy", "logistic_accuracy", "points", "seconds")


# ---------------------------------------------------------------- the same rows, read here

def read_idx(path):
    with gzip.open(path) as file:
        data = file.read()
    dims = struct.unpack(f">{data[3]}I", data[4:4 + 4 * data[3]])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(dims)


def read_fashion(folder):
    parts = [(read_idx(f"{folder}/fashion-mnist/{name}-images-idx3-ubyte.gz"),
              read_idx(f"{folder}/fashion-mnist/{name}-labels-idx1-ubyte.gz")) for name in ("train", "t10k")]
    return [(x.reshape(len(x), 1, -1), y) for x, y in parts]


def read_cifar(folder):
    parts = []
    for name in ("data_batch_1", "test_batch"):
        with gzip.open(f"{folder}/cifar10/{name}.bin.gz") as file:
            rows = np.frombuffer(file.read(), np.uint8).reshape(-1, 3073)
        parts.append((rows[:, 1:].reshape(len(rows), 3, -1), rows[:, 0]))
    return parts


SETS = {"cifar": ("cifar10", read_cifar), "fashion": ("fashion-mnist", read_fashion)}


def choose(parts, count, seed):
    """What --rows keeps: numpy's choice of the training rows, and of the test rows in proportion, in the set's order."""
    if not count:
        return parts
    total = len(parts[0][0])
    kept = (count, -(-count * len(parts[1][0]) // total))
    rows = [np.sort(np.random.RandomState(seed).choice(len(x), k, replace=False)) for (x, _), k in zip(parts, kept)]
    return [(x[r], y[r]) for (x, y), r in zip(parts, rows)]


# ---------------------------------------------------------------- the two sides

def train(args, name, method, setting, rows, epochs, out, test):
    optimizer, lr, init = setting
    param, norm = METHODS[method]
    command = [args.tool, "train", "--data", SETS[name][0], *(["--rows", rows] if rows else []), "--net", "vgg6", "--width",
               0.25, "--param", param, "--norm", norm, *(["--init", init] if init else []), "--optimizer", optimizer, "--lr",
               lr, "--schedule", "cosine", "--batch", args.batch, "--epochs", epochs, "--val", 0.1 if test else 0.2,
               "--seed", args.seed, "--threads", 1, "--checkpoint-seconds", 100000, *([] if test else ["--test", 0]), "--quiet",
               "--json", "--out", out]
    begin = time.time()
    done = subprocess.run([*map(str, command)], text=True, stdout=subprocess.PIPE)
    if done.returncode and not (done.stdout and json.loads(done.stdout)["diverged"]):
        sys.exit(f"accuracy.py: failed: {' '.join(map(str, command))}")
    result = json.loads(done.stdout)
    with open(os.path.join(out, "split.json")) as file:
        split = json.load(file)
    row = dict(zip(FIELDS, [""] * len(FIELDS)), set=SETS[name][0], method=method, optimizer=optimizer, lr=lr,
               init=init or ("paper" if param == "gmp" else "glorot"), batch=args.batch, epochs=result.get("epochs", ""),
               best_epoch=result.get("best_epoch", ""), train_rows=len(split["train"]), val_rows=len(split["val"]),
               test_rows=len(split.get("test", [])), seconds=round(time.time() - begin, 1))
    if result["diverged"]:
        row["val_loss"] = "diverged"
    else:
        row.update(val_loss=round(result["val"]["loss"], 4), val_accuracy=round(result["val"]["accuracy"], 4))
        if test:
            row["test_accuracy"] = round(result["test"]["accuracy"], 4)
    return row, split


def logistic(parts, split):
    """Validation and test accuracy, the chosen C, seconds."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    x = np.concatenate([x for x, _ in parts]).astype(np.float32)
    y = np.concatenate([y for _, y in parts])
    seen = x[split["train"]]
    x = (x - seen.mean((0, 2), dtype=np.float64)[:, None]) / seen.std((0, 2), dtype=np.float64)[:, None]
    x = x.reshape(len(x), -1).astype(np.float32)
    begin, best = time.time(), None
    for penalty in INVERSE_PENALTIES:
        model = LogisticRegression(C=penalty, max_iter=1000, tol=1e-3)
        with warnings.catch_warnings(record=True) as late:
            warnings.simplefilter("always", ConvergenceWarning)
            model.fit(x[split["train"]], y[split["train"]])
        val = model.score(x[split["val"]], y[split["val"]])
        print(f"  logistic regression, C {penalty}: {val:.4f} of the validation rows"
              f"{', not converged' if late else ''}", flush=True)
        if best and val < best[0]:
            break
        best = val, penalty, model
    val, penalty, model = best
    return val, model.score(x[split["test"]], y[split["test"]]), penalty, time.time() - begin


# ---------------------------------------------------------------- all of it

def table(rows):
    print("\n| set | method | test accuracy | logistic regression | points above | epochs | seconds | settings |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print(f"| {row['set']} | {row['method']} | {100 * row['test_accuracy']:.1f} | {100 * row['logistic_accuracy']:.1f} | "
              f"{row['points']:+.1f} | {row['epochs']} | {row['seconds']:.0f} | {row['optimizer']}, lr {row['lr']}, "
              f"init {row['init']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    parser.add_argument("--data", default="cifar,fashion")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--fashion-rows", type=int, default=12000, help="of 60,000; 0: all")
    parser.add_argument("--search-rows", type=int, default=2000)
    parser.add_argument("--search-epochs", type=int, default=4)
    parser.add_argument("--search-data", default="cifar", help="the set whose validation rows choose the settings")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default=os.path.join(HERE, "results", "accuracy.csv"))
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    folder = os.environ.get("SPHERELU_DATA") or sys.exit("accuracy.py: SPHERELU_DATA is not set")
    methods, rows, finals = args.methods.split(","), [], []
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
    with tempfile.TemporaryDirectory() as runs, open(args.out, "w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()

        def keep(row, stage):
            rows.append(dict(row, stage=stage))
            writer.writerow(rows[-1])
            file.flush()
            print("  " + "  ".join(f"{k} {v}" for k, v in rows[-1].items() if v != ""), flush=True)

        chosen = {}
        for method in methods:
            tried = []
            for i, setting in enumerate(GMP_SETTINGS if method.startswith("gmp") else SETTINGS):
                row, _ = train(args, args.search_data, method, setting, args.search_rows, args.search_epochs,
                               os.path.join(runs, f"search-{method}-{i}"), False)
                keep(row, "search")
                if row["val_loss"] != "diverged":
                    tried.append((row["val_loss"], i, setting))
            if not tried:
                sys.exit(f"accuracy.py: {method} diverged with every setting")
            chosen[method] = min(tried)[2]
        for name in args.data.split(","):
            count = args.fashion_rows if name == "fashion" else 0
            parts, rival = choose(SETS[name][1](folder), count, args.seed), None
            for method in methods:
                row, split = train(args, name, method, chosen[method], count, args.epochs,
                                   os.path.join(runs, f"{name}-{method}"), True)
                if row["val_loss"] == "diverged":
                    sys.exit(f"accuracy.py: {method} diverged on {name} with {chosen[method]}")
                if not rival:
                    rival = logistic(parts, split)
                    keep(dict(zip(FIELDS, [""] * len(FIELDS)), set=SETS[name][0], method="logistic", init=f"C {rival[2]}",
                              train_rows=len(split["train"]), val_rows=len(split["val"]), test_rows=len(split["test"]),
                              val_accuracy=round(rival[0], 4), test_accuracy=round(rival[1], 4),
                              seconds=round(rival[3], 1)), "final")
                row.update(logistic_accuracy=round(rival[1], 4), points=round(100 * (row["test_accuracy"] - rival[1]), 1))
                keep(row, "final")
                finals.append(rows[-1])
    table(finals)
    barred = [row for row in finals if row["set"] == "cifar10"]
    late = [row["method"] for row in barred if row["points"] < POINTS]
    if barred:
        print(f"\n{'MISSED' if late else 'met   '}  {POINTS} points above logistic regression on CIFAR-10: "
              f"{', '.join(late) or 'every method that ran'}")
    if args.check and late:
        sys.exit(1)


if __name__ == "__main__":
    main()
