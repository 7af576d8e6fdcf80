#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peak memory of training steps beside PyTorch's: each network for images at two sizes, batch 32, one thread.

    memory.py --tool build/spherelu [--python PYTHON]... [--only NET] [--size N]... [--check]

Each measurement is a process of its own and takes its high-water mark (VmHWM). What PyTorch holds once it is imported
is taken off; of spherelu nothing is. PyTorch's is the smallest of its two memory formats. Writes bench/results/memory.csv, of
which --only and --size renew some rows. Where sp+bn takes more than PyTorch does it says so, and whether --memory small takes
less; --check fails where that does not either.
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
COLUMNS = ("machine", "threads", "version", "net", "size", "batch", "what", "peak_mb")


def last_line(command):
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    done = subprocess.run([*map(str, command)], env=env, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def ours(tool, net, size, param, norm, memory):
    line = last_line([tool, "bench", net, "--batch", BATCH, "--size", size, "--param", param, "--norm", norm, "--memory",
                      memory, "--optimizer", "sgd", "--steps-only", "--repeats", 1, "--json"])
    return (line["cpu"], "spherelu " + line["version"]), line["peak_bytes"] / 1e6


def torch(python, net, size):
    lines = [last_line([python, os.path.join(HERE, "torch_images.py"), "--net", net, "--method", "bn", "--batch", BATCH,
                        "--size", size, "--format", memory_format, "--repeats", 1])
             for memory_format in ("contiguous", "channels_last")]
    return "PyTorch " + lines[0]["version"], min(line["peak_bytes"] - line["import_bytes"] for line in lines) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="build/spherelu")
    parser.add_argument("--python", action="append", help="an interpreter that has PyTorch; may be given again")
    parser.add_argument("--only", choices=NETS)
    parser.add_argument("--size", type=int, action="append")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    path, table, over, missed = os.path.join(HERE, "results", "memory.csv"), {}, [], []
    if os.path.exists(path):
        with open(path, newline="") as file:
            table = {(row["net"], int(row["size"]), row["what"], row["version"]): (row["machine"], row["peak_mb"])
                     for row in csv.DictReader(file)}
    for net in [args.only] if args.only else NETS:
        for size in args.size or SIZES:
            took = {}
            for param, norm, memory in METHODS:
                (machine, version), peak = ours(args.tool, net, size, param, norm, memory)
                table[net, size, f"{param}+{norm} {memory}", version] = machine, f"{peak:.0f}"
                took[param, memory] = peak
            limits = []
            for python in args.python or ["/usr/bin/python3"]:
                version, peak = torch(python, net, size)
                limits.append(peak)
                table[net, size, "bn less its import", version] = machine, f"{peak:.0f}"
            normal, small, least = took["sp", "normal"], took["sp", "small"], min(limits)
            if normal > least:
                over.append(f"{net} at {size}: {normal:.0f} MB, with --memory small {small:.0f}, PyTorch {least:.0f}")
            if min(normal, small) > least:
                missed.append(over[-1])
            for key, (_, peak) in table.items():
                if key[:2] == (net, size):
                    print(f"{net:9} {size:4} {key[3] + ' ' + key[2]:45} {peak:>6} MB", flush=True)
            with open(path, "w", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                for net_, size_, what, version in sorted(table):
                    machine, peak = table[net_, size_, what, version]
                    writer.writerow([machine, 1, version, net_, size_, BATCH, what, peak])
    for line in over:
        print(line, file=sys.stderr)
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
