#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peak memory of training steps beside PyTorch's: each network for images at two sizes, batch 32, one thread.

    memory.py --tool build/spherelu [--python PYTHON]... [--only NET] [--size N]... [--check]

Each measurement is a process of its own and takes its high-water mark (VmHWM). What PyTorch holds once it is imported
is taken off; of spherelu nothing is. PyTorch's is the smallest of its two memory formats. Writes bench/results/memory.csv, of
which --only and --size renew some rows. --check fails where a network takes more than PyTorch does.
"""
import argparse
import csv
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NETS, SIZES, BATCH = ("resnet18", "resnet50", "vgg6", "wrn28-2", "mobile"), (32, 128), 32
METHODS = [("sp", "bn", "normal"), ("sp", "bn", "small"), ("gmp", "bn", "normal"), ("gmp", "bn", "small")]
COLUMNS = ("net", "size", "batch", "what", "peak_mb")


def last_line(command):
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([*map(str, command)], env=env, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def ours(tool, net, size, param, norm, memory):
    line = last_line([tool, "bench", net, "--batch", BATCH, "--size", size, "--param", param, "--norm", norm, "--memory",
                      memory, "--optimizer", "sgd", "--steps-only", "--json"])
    return line["peak_bytes"] / 1e6


def torch(python, net, size):
    lines = [last_line([python, os.path.join(HERE, "torch_images.py"), "--net", net, "--method", "bn", "--batch", BATCH,
                        "--size", size, "--format", memory_format, "--repeats", 1])
             for memory_format in ("contiguous", "channels_last")]
    return lines[0]["version"], min(line["peak_bytes"] - line["import_bytes"] for line in lines) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/spherelu")
    parser.add_argument("--python", action="append", help="an interpreter that has PyTorch; may be given again")
    parser.add_argument("--only", choices=NETS)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    path, table, missed = os.path.join(HERE, "results", "memory.csv"), {}, []
    if os.path.exists(path):
        with open(path, newline="") as file:
            table = {(row["net"], int(row["size"]), row["what"]): row["peak_mb"] for row in csv.DictReader(file)}
    for net in [args.only] if args.only else NETS:
        for size in args.size or SIZES:
            limits = []
            for python in args.python or ["/usr/bin/python3"]:
                version, peak = torch(python, net, size)
                limits.append(peak)
                table[net, size, f"PyTorch {version} bn less its import"] = f"{peak:.0f}"
            for param, norm, memory in METHODS:
                peak = ours(args.tool, net, size, param, norm, memory)
                table[net, size, f"spherelu {param}+{norm} {memory}"] = f"{peak:.0f}"
                if param == "sp" and memory == "normal" and peak > min(limits):
                    missed.append(f"{net} at {size}: {peak:.0f} MB, PyTorch {min(limits):.0f}")
            for key, peak in table.items():
                if key[:2] == (net, size):
                    print(f"{net:9} {size:4} {key[2]:45} {peak:>6} MB", flush=True)
            with open(path, "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                writer.writerows([key[0], key[1], BATCH, key[2], table[key]] for key in sorted(table))
    for line in missed:
        print(line, file=sys.stderr)
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
