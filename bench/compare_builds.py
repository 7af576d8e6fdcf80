#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two builds of the tool on the same work in the same run, one thread: is the newer one slower?

    compare_builds.py OLD NEW [--rounds 5] [--only REGEX] [--slack 0.03] [--csv FILE]

Each round runs OLD, NEW and OLD again on each piece of work, every other round backwards; the best of all rounds counts,
and the median stands beside it. What the two halves of OLD differ by is noise: NEW is slower where its best lies below
OLD's by more than that and --slack. Exit 1 where one is.
"""
import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys

MLP = "mlp --rows {} --inputs {} --hidden 100 --norm none --optimizer adam --param {}"
IMAGES = "{} --batch {} --size {} --param {} --norm {} --steps-only"
WORKS = [
    *((MLP.format(rows, inputs, param), "us_per_step")
      for rows, inputs, param in ((404, 13, "gmp"), (404, 13, "sp"), (1024, 11, "gmp"), (7654, 4, "gmp"))),
    (IMAGES.format("vgg6", 32, 32, "gmp", "imn"), "images_per_second"),
    (IMAGES.format("resnet18", 16, 224, "sp", "bn"), "images_per_second"),
    ("param --units 512 --inputs 4608 --param gmp", "ns_per_weight"),
]


def measure(tool, words):
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([tool, "bench", *words.split(), "--threads", "1", "--json"], env=env, text=True,
                          stdout=subprocess.PIPE, check=True)
    said = json.loads(done.stdout.splitlines()[-1])
    if "ns_per_weight_forward" in said:
        said["ns_per_weight"] = said["ns_per_weight_forward"] + said["ns_per_weight_backward"]
    return said


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("old", metavar="OLD")
    args.add_argument("new", metavar="NEW")
    args.add_argument("--rounds", type=int, default=5)
    args.add_argument("--only", metavar="REGEX", default="", help="work whose words match")
    args.add_argument("--slack", type=float, default=0.03, help="what is no difference even without noise (0.03)")
    args.add_argument("--csv", metavar="FILE")
    args = args.parse_args()

    works = [work for work in WORKS if re.search(args.only, work[0])]
    sides = {"old": args.old, "new": args.new, "again": args.old}
    numbers = {(words, side): [] for words, _ in works for side in sides}
    for k in range(args.rounds):
        for words, key in works:
            for side in list(sides)[::-1 if k % 2 else 1]:
                numbers[words, side].append(measure(sides[side], words)[key])
        print(f"round {k + 1} of {args.rounds}", file=sys.stderr, flush=True)

    rows, slower = [], 0
    print(f"{'old best':>10s} {'median':>10s} {'new best':>10s} {'median':>10s} {'new:old':>8s} {'old:old':>8s}")
    for words, key in works:
        best = max if key == "images_per_second" else min
        speed = (lambda value: value) if key == "images_per_second" else (lambda value: 1 / value)
        old, new, again = (numbers[words, side] for side in sides)
        ratio = 2 * speed(best(new)) / (speed(best(old)) + speed(best(again)))
        noise = speed(best(again)) / speed(best(old))
        bad = ratio < 1 - args.slack - abs(noise - 1)
        slower += bad
        row = [best(old + again), statistics.median(old + again), best(new), statistics.median(new), ratio, noise]
        print("{:10.4g} {:10.4g} {:10.4g} {:10.4g} {:8.3f} {:8.3f}".format(*row), f" {key}  {words}{'  SLOWER' if bad else ''}")
        rows.append([words, key, args.rounds, *(f"{value:.5g}" for value in row)])
    if args.csv:
        with open(args.csv, "w", newline="") as out:
            table = csv.writer(out, lineterminator="\n")
            table.writerow(["work", "unit", "rounds", "old_best", "old_median", "new_best", "new_median", "new_over_old",
                            "old_over_old"])
            table.writerows(rows)
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
