#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What --tune N brings over the default: validation and test score of both, split by split.

    bench/tune.py [--tool build/spherelu] [--budget 20] [--splits 10] [--sets boston,concrete,banana]

The validation score (of the first net, where nothing else makes the default an ensemble) is never worse, by construction; the bar is the mean test score, at most 2 % worse. RMSE, or log loss for
classes. Prints one JSON object per split and, at the end, per set."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--tool", default="build/spherelu")
parser.add_argument("--budget", type=int, default=20)
parser.add_argument("--splits", type=int, default=10)
parser.add_argument("--sets", default="boston,concrete,banana")
parser.add_argument("--rows", default="", help="so many rows of each set")
args = parser.parse_args()


def scores(folder, options):
    subprocess.run([args.tool, "train", "--quiet", "--out", folder, *options], check=True, stdout=subprocess.DEVNULL)
    result = json.load(open(folder + "/result.json"))
    metric = "rmse" if "rmse" in result["test"] else "log_loss"
    first = result.get("members", [result])[0]  # the net that --tune chooses by
    return first["val"][metric], result["test"][metric], first["val"]["loss"]


with tempfile.TemporaryDirectory() as top:
    for name in args.sets.split(","):
        ratios, defaults, tuned = [], [], []
        for seed in range(args.splits):
            options = ["--data", name, "--seed", str(seed), *(["--rows", args.rows] if args.rows else [])]
            plain = scores(f"{top}/{name}-{seed}", options)
            folder = f"{top}/{name}-{seed}-tuned"
            found = scores(folder, options + ["--tune", str(args.budget)])
            trail = json.load(open(folder + "/tune.json"))
            assert found[2] <= plain[2], "worse on the validation part"
            defaults.append(plain[1])
            tuned.append(found[1])
            print(json.dumps({"set": name, "seed": seed, "val": plain[0], "val_tuned": found[0], "test": plain[1],
                              "test_tuned": found[1], "tried": len(trail["tried"]), "chosen": trail["chosen"]}), flush=True)
        print(json.dumps({"set": name, "splits": args.splits, "budget": args.budget, "test": statistics.mean(defaults),
                          "test_tuned": statistics.mean(tuned), "ratio": statistics.mean(tuned) / statistics.mean(defaults)}),
              flush=True)
