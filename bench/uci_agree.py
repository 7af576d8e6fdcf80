#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Cells of experiments/uci.yaml beside torch_uci.py, which knows nothing of spherelu: the same rows, the same protocol, other starts.

    uci_agree.py                        boston, concrete, yacht; ten splits; writes results/uci_agree.csv
    uci_agree.py --splits 40 --torch torch.csv      with what torch_uci.py printed before
    uci_agree.py --time                 how long a part of experiments/uci-reference.yaml takes by either; results/uci_time.csv

A cell is a method at the papers' rate on a set. Its difference is the mean over splits of (ours - PyTorch's) test RMSE, paired by
split, in standard errors of that mean. Bars: at most one cell in ten beyond two, none beyond three. Chance alone puts a cell of ten
splits beyond two with probability 0.077 and beyond three with 0.015 (Student's t, 9 degrees), so that 18 cells of two programs that do
the same pass both bars six times in ten; with 40 splits (0.052, 0.005) it is nearly eight.
Time is the processor's, of all processes, since the machine may be busy with other work. Needs torch, scikit-learn and numpy.
"""
import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch_uci

HERE = Path(__file__).resolve().parent
SETS = ["boston", "concrete", "yacht"]


def ours(args, folder, file, *settings):
    """Rows as torch_uci's, of an experiment that is run for the purpose: {(set, method, lr, seed): job}."""
    changes = [word for setting in settings for word in ("--set", setting)]
    subprocess.run([args.build / "spherelu", "run", HERE.parent / "experiments" / file, *changes, "--jobs", str(args.jobs),
                    "--out", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    jobs = json.loads((Path(folder) / "results.json").read_text())["jobs"]
    return {(job["set"], job["method"], float(job["grid"]["lr"]) if "grid" in job else None, job["seed"]): job for job in jobs}


def theirs(args):
    if args.torch:
        with open(args.torch, newline="") as file:
            return [row for row in csv.DictReader(file) if int(row["split"]) < args.splits and row["data"] in args.data]
    tasks = [(name, method, split, "holdout", 0) for name in args.data for method in torch_uci.METHODS["holdout"]
             for split in range(args.splits)]
    return list(torch_uci.run(tasks, args.jobs))


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(path)


def agree(args):
    with tempfile.TemporaryDirectory() as work:
        jobs = ours(args, f"{work}/run", "uci.yaml", f"data.name=[{','.join(args.data)}]", "grid.lr=[0.01, 0.1]", f"seeds={args.splits}")
    cells = {}
    for row in theirs(args):
        key = row["data"], row["method"], float(row["lr"])
        job = jobs[*key, int(row["split"])]
        if job["failed"] or job["diverged"]:
            sys.exit(f"uci_agree: {key}, split {row['split']} did not finish")
        cells.setdefault(key, []).append((job["test"]["rmse"], float(row["rmse"])))
    rows = []
    for (name, method, lr), pairs in cells.items():
        n = len(pairs)
        gaps = [a - b for a, b in pairs]
        mean = sum(gaps) / n
        error = math.sqrt(sum((gap - mean) ** 2 for gap in gaps) / (n - 1) / n)
        rows.append({"data": name, "method": method, "lr": lr, "splits": n, "spherelu": f"{sum(a for a, _ in pairs) / n:.4f}",
                     "torch": f"{sum(b for _, b in pairs) / n:.4f}", "difference": f"{mean:.4f}", "standard_error": f"{error:.4f}",
                     "in_standard_errors": f"{mean / error:.2f}"})
        print("  ".join(f"{value!s:>10}" for value in rows[-1].values()))
    write(args.out or HERE / "results" / "uci_agree.csv", rows)
    away = [abs(float(row["in_standard_errors"])) for row in rows]
    two, three = sum(a > 2 for a in away), sum(a > 3 for a in away)
    good = two <= len(away) / 10 and not three
    print(f"{len(away)} cells: {two} beyond two standard errors, {three} beyond three: {'as asked' if good else 'NOT as asked'}")
    return 0 if good else 1


def processor():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in used)


def compare_time(args):
    rows, total = [], [0, 0]
    for name in args.data:
        with tempfile.TemporaryDirectory() as work:
            begin, used = time.perf_counter(), processor()
            jobs = ours(args, f"{work}/run", "uci-reference.yaml", f"data=[{name}]", "papers={}", f"seeds={args.splits}")
            wall, used = time.perf_counter() - begin, processor() - used
        epochs = sum(job["epochs"] for job in jobs.values())
        tasks = [(name, method, split, "reference", 0) for method in torch_uci.METHODS["reference"] for split in range(args.splits)]
        begin = time.perf_counter()
        done = list(torch_uci.run(tasks, args.jobs))
        torch_wall, torch_used = time.perf_counter() - begin, sum(float(row["processor_seconds"]) for row in done)
        torch_epochs = sum(row["epochs"] for row in done)
        rows.append({"data": name, "trainings": len(tasks), "spherelu_processor_s": f"{used:.2f}", "torch_processor_s": f"{torch_used:.2f}",
                     "ratio": f"{torch_used / used:.1f}", "spherelu_epochs": epochs, "torch_epochs": torch_epochs,
                     "ratio_per_epoch": f"{torch_used / torch_epochs / (used / epochs):.1f}", "spherelu_clock_s": f"{wall:.1f}",
                     "torch_clock_s": f"{torch_wall:.1f}", "processes": args.jobs, "torch": torch_uci.torch.__version__})
        total = [total[0] + used, total[1] + torch_used]
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    write(args.out or HERE / "results" / "uci_time.csv", rows)
    ratio = total[1] / total[0]
    print(f"PyTorch takes {ratio:.1f} times the processor's time: {'as asked' if ratio >= 10 else 'NOT as asked'} (at least 10)")
    return 0 if ratio >= 10 else 1


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--build", type=Path, default=HERE.parent / "build")
    args.add_argument("--data", nargs="+", default=SETS)
    args.add_argument("--splits", type=int, default=10)
    args.add_argument("--jobs", type=int, default=os.cpu_count())
    args.add_argument("--torch", help="a file that torch_uci.py printed; without it PyTorch is run")
    args.add_argument("--out", type=Path)
    args.add_argument("--time", action="store_true")
    args = args.parse_args()
    return compare_time(args) if args.time else agree(args)


if __name__ == "__main__":
    sys.exit(main())
