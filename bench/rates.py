#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which learning rate is a safe default: sets x nets x parameterizations x rates x seeds, by validation loss.

    bench/rates.py --tool build/spherelu            # needs SPHERELU_DATA; writes bench/results/rates.csv
    bench/rates.py --optimizer lion --rates 0.0003,0.001,0.003 --sets boston,yacht --nets 100 --out lion.csv

For each parameterization and rate it prints the geometric mean, over sets, nets and seeds, of the validation loss
divided by the best one any rate of that parameterization reached there, the worst such ratio, and how often training
diverged. A safe default has a small mean and a small worst case."""
import argparse
import csv
import json
import math
import os
import shutil
import subprocess
import tempfile

SETS = ["boston", "concrete", "energy", "naval", "power", "wine", "yacht", "crescents"]
NETS = ["100", "64-64"]
PARAMS = ["sp", "wn", "gmp", "sphere"]
RATES = ["0.001", "0.003", "0.01", "0.03", "0.1"]


def run(args, folder, data, hidden, param, lr, seed):
    out = os.path.join(folder, "run")
    shutil.rmtree(out, ignore_errors=True)
    command = [args.tool, "train", "--data", data, "--hidden", hidden.replace("-", ","), "--param", param,
               "--optimizer", args.optimizer, "--lr", lr, "--seed", str(seed), "--out", out,
               "--json", "--quiet", "--checkpoint-seconds", "1000"]
    done = subprocess.run(command, capture_output=True, text=True)
    result = json.loads(done.stdout)
    return float("nan") if result["diverged"] else result["val"]["loss"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", default="build/spherelu")
    parser.add_argument("--optimizer", default="adam")
    for name, words in (("sets", SETS), ("nets", NETS), ("params", PARAMS), ("rates", RATES)):
        parser.add_argument(f"--{name}", type=lambda text: text.split(","), default=words)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "results", "rates.csv"))
    args = parser.parse_args()
    rows, losses = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for data in args.sets:
            for hidden in args.nets:
                for param in args.params:
                    for seed in range(args.seeds):
                        for lr in args.rates:
                            loss = run(args, folder, data, hidden, param, lr, seed)
                            losses[data, hidden, param, seed, lr] = loss
                            rows.append([data, hidden, param, lr, seed, repr(loss)])
    with open(args.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["set", "hidden", "param", "lr", "seed", "val_loss"])
        writer.writerows(rows)
    print(f"{'param':8} {'lr':>6} {'mean':>7} {'worst':>7} {'diverged':>9}")
    for param in args.params:
        for lr in args.rates:
            ratios, diverged = [], 0
            for data in args.sets:
                for hidden in args.nets:
                    for seed in range(args.seeds):
                        best = min(v for v in (losses[data, hidden, param, seed, r] for r in args.rates) if v == v)
                        loss = losses[data, hidden, param, seed, lr]
                        if loss != loss:
                            diverged += 1
                        elif data != "crescents":  # separable: ratios of losses near 0 say nothing
                            ratios.append(loss / best)
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print(f"{param:8} {lr:>6} {mean:7.3f} {max(ratios):7.2f} {diverged:9}")


if __name__ == "__main__":
    main()
