#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Winograd's algorithm costs in accuracy: the same trainings with --conv direct and with --conv auto.

    bench/winograd_cost.py --tool build/spherelu            # needs SPHERELU_DATA; writes bench/results/winograd.csv

A vgg6 of a quarter of the width on part of CIFAR-10, from the same first values, in the same order, for each seed.
Prints the loss of each epoch, how far the two lie apart, and the test accuracies, as a table for docs/numerics.md.
Two seeds with one algorithm show how far apart trainings lie anyway.
"""
import argparse
import csv
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = ("direct", "auto")


def train(tool, folder, args, way, seed):
    out = os.path.join(folder, f"{way}-{seed}")
    subprocess.run([tool, "train", "--data", args.data, "--rows", str(args.rows), "--net", "vgg6", "--width",
                    str(args.width), "--param", args.param, "--norm", args.norm, "--optimizer", "sgd", "--lr",
                    str(args.lr), "--batch", str(args.batch), "--epochs", str(args.epochs), "--patience", "0", "--val", "0",
                    "--seed", str(seed), "--conv", way, "--checkpoint-seconds", "100000", "--quiet", "--json", "--out",
                    out], check=True, stdout=subprocess.PIPE)
    with open(os.path.join(out, "metrics.jsonl")) as lines:
        losses = [json.loads(line)["train_loss"] for line in lines]
    with open(os.path.join(out, "result.json")) as file:
        return losses, json.load(file)["test"]["accuracy"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    parser.add_argument("--data", default="cifar10")
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--width", type=float, default=0.25)
    parser.add_argument("--param", default="gmp")
    parser.add_argument("--norm", default="imn")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", default=os.path.join(HERE, "results", "winograd.csv"))
    args = parser.parse_args()
    rows, table = [], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.seeds):
            (direct, hit), (auto, auto_hit) = (train(args.tool, folder, args, way, seed) for way in WAYS)
            apart = [abs(a / d - 1) for d, a in zip(direct, auto)]
            table.append((seed, apart[0], max(apart), direct[-1], auto[-1], hit, auto_hit))
            for way, losses, accuracy in (("direct", direct, hit), ("auto", auto, auto_hit)):
                rows += [[seed, way, epoch + 1, repr(loss), accuracy if epoch + 1 == len(losses) else ""]
                         for epoch, loss in enumerate(losses)]
            print(f"seed {seed}: epoch, loss direct, loss auto, apart")
            for epoch, (d, a, r) in enumerate(zip(direct, auto, apart)):
                print(f"  {epoch + 1:3d} {d:.6f} {a:.6f} {r:.1e}", flush=True)
    os.makedirs(os.path.dirname(args.out), exist_ok=True)
    with open(args.out, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["seed", "conv", "epoch", "train_loss", "test_accuracy"])
        writer.writerows(rows)
    print("\n| seed | loss apart, epoch 1 | most apart | last loss, direct | auto | test accuracy, direct | auto |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for seed, first, most, direct, auto, hit, auto_hit in table:
        print(f"| {seed} | {first:.1e} | {most:.1e} | {direct:.4f} | {auto:.4f} | {hit:.4f} | {auto_hit:.4f} |")


if __name__ == "__main__":
    main()
