#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spherelu against PyTorch on networks for images, in the same run, alternating, best of several rounds.

    compare_images.py --tool build/spherelu [--rounds 3] [--only vgg6|resnet18|resnet50|mobile|wrn28-2] [--check]
    compare_images.py --table
    compare_images.py --sizes [--rounds 3] [--only NET] [--at 16,32] [--threads 1|2] [--python PYTHON] [--check]

Each measurement is a fresh process. In the first round PyTorch runs a repetition in every memory format that serves the
method; the fastest is compared with. How much memory that one takes is told by a second round. Writes
bench/results/images.csv; with --only the rows of that network alone.
--sizes: each network at 16, 32, 64, 128 and 224 pixels instead, batch 32, one thread and two; bench/results/sizes.csv.
With --only, --at or --threads what was not measured keeps its rows.
--python: another interpreter whose PyTorch is taken, such as that of a virtual environment.
--format: PyTorch's, where the fastest is known; else the first round tries all.
--repeats: repetitions of each measurement, 3; 1 where a step takes long.
--table: what sizes.csv has, as the table of bench/README.md; nothing is measured.
--check fails when a bar is missed.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

from compare import HERE, read, report, write

Work = collections.namedtuple("Work", "net batch param norm threads torch size", defaults=[None])  # None: the net's own
GMP_IMN, BN = ("gmp", "imn"), ("sp", "bn")
WORK = [
    Work("vgg6", 32, *GMP_IMN, 1, True),
    Work("resnet18", 16, *BN, 1, True),
    Work("resnet50", 16, *BN, 1, True),
    Work("mobile", 32, *BN, 1, True, 32),
    Work("mobile", 16, *BN, 1, True, 224),
    Work("mobile", 32, *GMP_IMN, 1, True, 32),
    Work("vgg6", 64, *GMP_IMN, 1, False),
    Work("vgg6", 64, *BN, 1, False),
    Work("vgg6", 64, "gmp", "none", 1, False),
    Work("vgg6", 64, "sp", "none", 1, False),
    Work("vgg6", 64, *GMP_IMN, 2, False),
    Work("resnet18", 16, *BN, 2, False),
]
# With oneDNN 2: how many times PyTorch, and which share of the bare convolutions (None: no bar. Of a mobile half the
# time goes into what lies between them).
PYTORCH = {"vgg6": (2.0, 0.85), "resnet18": (1.5, 0.8), "resnet50": (1.3, 0.8), "mobile": (1.0, None),
           "wrn28-2": (1.3, None)}
SIZES = [Work(net, 32, *BN, threads, True, size) for net in ("vgg6", "resnet18", "resnet50", "wrn28-2")
         for size in (16, 32, 64, 128, 224) for threads in (1, 2)]
SIZES_BAR = {1: 1.3, 2: 1.0}
# The time of the first over that of the second, at most.
OVER = [(GMP_IMN, BN, 1.05), (("gmp", "none"), ("sp", "none"), 1.02)]
TWO_THREADS = 1.7
KEYS = ("net", "size", "batch", "param", "norm", "threads")  # a row of the tables


def run(command, threads):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    done = subprocess.run([*map(str, command)], env=env, text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def ours(tool, work):
    return run([tool, "bench", work.net, "--batch", work.batch, "--param", work.param, "--norm", work.norm,
                "--optimizer", "sgd", "--threads", work.threads, "--clock", run.clock, "--json", "--repeats", run.repeats,
                *(["--size", work.size] if work.size else []),
                *([] if work.torch and work not in SIZES else ["--steps-only"])],
               work.threads)


def method(work):
    return "bn" if (work.param, work.norm) == BN else work.param + ("" if work.norm == "none" else "+" + work.norm)


def theirs(work, memory_format):
    return run([theirs.python, os.path.join(HERE, "torch_images.py"), "--net", work.net, "--batch", work.batch,
                "--method", method(work), "--threads", work.threads, "--clock", run.clock, "--format",
                memory_format, "--repeats", run.repeats, *(["--size", work.size] if work.size else [])], work.threads)


theirs.python, run.clock, run.repeats = sys.executable, "wall", 3


def onednn(tool):
    said = subprocess.run([tool, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout
    words = [line.split()[-1] for line in said.splitlines() if line.strip().startswith("convolutions: oneDNN")]
    return words[0] if words else ""


def measure(tool, works, rounds, memory_format):
    """(work) -> what we said and what PyTorch said, best of the rounds; every other round runs backwards."""
    mine, other, fastest = {}, {}, {}
    for turn in range(rounds):
        for work in works[:: -1 if turn % 2 else 1]:
            said = ours(tool, work)
            best = mine.setdefault(work, said)
            for key in ("images_per_second", "conv_only_images_per_second"):
                best[key] = max(filter(None, (best[key], said[key])), default=None)
            best["peak_bytes"] = max(best["peak_bytes"], said["peak_bytes"])
            if not work.torch:
                continue
            said = theirs(work, fastest.get(work, memory_format))
            fastest[work] = said["format"]
            best = other.setdefault(work, said)
            best["images_per_second"] = max(best["images_per_second"], said["images_per_second"])
            best["peak_bytes"] = best["peak_bytes"] or said["peak_bytes"]
        print(f"round {turn + 1} of {rounds} done", file=sys.stderr, flush=True)
    return mine, other


def ratio(a, b):
    return a / b if a and b else float("nan")


def judge(mine, other, version):
    bars = []
    rate = {work: said["images_per_second"] for work, said in mine.items()}
    for work, said in other.items():
        times, share = PYTORCH[work.net] if not version or version.startswith("2.") else (1.0, None)
        name = f"{work.net} {method(work)} batch {work.batch}" + (f" size {work.size}" if work.size else "")
        got = ratio(rate[work], said["images_per_second"])
        bars.append((f"{name}: at least {times} x PyTorch ({said['format']})", got >= times, f"{got:.2f}"))
        if share:
            got = ratio(rate[work], mine[work]["conv_only_images_per_second"])
            bars.append((f"{name}: at least {share} of bare convolutions", got >= share,
                         f"{got:.3f}" if got == got else "not measured: a build without oneDNN"))
        if not said["peak_bytes"]:
            continue
        got = ratio(mine[work]["peak_bytes"], said["peak_bytes"])
        bars.append((f"{name}: peak memory at most PyTorch's", got <= 1,
                     f"{got:.2f} of it ({mine[work]['peak_bytes'] / 1e6:.0f} against {said['peak_bytes'] / 1e6:.0f} MB, "
                     f"of which importing torch {said['import_bytes'] / 1e6:.0f})"))
    for first, second, most in OVER:
        a, b = (Work("vgg6", 64, *pair, 1, False) for pair in (first, second))
        if a in rate and b in rate:
            got = ratio(rate[b], rate[a])
            bars.append((f"vgg6 batch 64: {method(a)} takes at most {most} x the time of {method(b)}", got <= most,
                         f"{got:.3f}"))
    for work in rate:
        one = [w for w in rate if w.threads == 1 and w[:4] == work[:4]]
        if work.threads == 2 and one:
            got = ratio(rate[work], rate[one[0]])
            bars.append((f"{work.net} {method(work)} batch {work.batch}: two threads at least {TWO_THREADS} x one",
                         got >= TWO_THREADS, f"{got:.2f}"))
    return bars


def judge_sizes(mine, other):
    """PyTorch's peak counts without what importing it takes."""
    bars = []
    for work, said in other.items():
        name = f"{work.net} {said['size']} pixels, {work.threads} thread{'s' * (work.threads > 1)}"
        got = ratio(mine[work]["images_per_second"], said["images_per_second"])
        bars.append((f"{name}: at least {SIZES_BAR[work.threads]} x PyTorch ({said['format']})",
                     got >= SIZES_BAR[work.threads], f"{got:.2f}"))
        if not said["peak_bytes"]:
            continue
        got = ratio(mine[work]["peak_bytes"], said["peak_bytes"] - said["import_bytes"])
        bars.append((f"{name}: peak memory at most PyTorch's less its import", got <= 1, f"{got:.2f}"))
    return bars


def sizes_table():
    """sizes.csv in Markdown."""
    rows = {(row["net"], row["size"], row["threads"]): row for row in read("sizes.csv")}
    nets, sizes = (list(dict.fromkeys(work[at] for work in SIZES)) for at in (Work._fields.index("net"), Work._fields.index("size")))
    print("| pixels | " + " | ".join(f"{net}, 1 thread | 2 threads" for net in nets) + " |\n|" + " --- |" * (2 * len(nets) + 1))
    for size in sizes:
        cells = [rows.get((net, str(size), threads)) for net in nets for threads in "12"]
        print(f"| {size} | " + " | ".join(f"{float(row['spherelu_images_per_second']):.3g} ({row['ratio']} x)" if row else "-" for row in cells) + " |")


def text(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=PYTORCH)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--at", type=lambda text: [int(word) for word in text.split(",")], help="of --sizes, these alone")
    parser.add_argument("--threads", type=int, choices=(1, 2))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="processor: on a machine that others use too")
    parser.add_argument("--format", choices=("channels_last", "contiguous", "mkldnn", "fastest"), default="fastest")
    parser.add_argument("--repeats", type=int, default=3, help="repetitions of one measurement; 1 where a step takes long")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.table:
        return sizes_table()
    theirs.python, run.clock, run.repeats = args.python, args.clock, args.repeats
    works = [work for work in (SIZES if args.sizes else WORK) if args.only in (None, work.net)
             and args.threads in (None, work.threads) and (not args.at or work.size in args.at)]
    version = onednn(args.tool)
    mine, other = measure(args.tool, works, args.rounds, args.format)
    rows = []
    print(f"{'net':9s} {'size':>4s} {'batch':>5s} {'method':8s} {'threads':>7s} {'spherelu':>9s} {'bare convs':>10s} {'PyTorch':>8s}"
          f" {'ratio':>6s}   images per second")
    for work in works:
        said, torch = mine[work], other.get(work, {})
        rate, limit, peer = said["images_per_second"], said["conv_only_images_per_second"], torch.get("images_per_second")
        print(f"{work.net:9s} {said['size']:4d} {work.batch:5d} {method(work):8s} {work.threads:7d} {rate:9.2f} {text(limit, 2) or '-':>10s}"
              f" {text(peer, 2) or '-':>8s} {text(peer and rate / peer, 2) or '-':>6s}")
        rows.append({"machine": said["cpu"], "threads": work.threads, "clock": args.clock, "dtype": said["dtype"], "spherelu": said["version"],
                     "onednn": version, "torch": torch.get("version", ""), "net": work.net, "size": said["size"],
                     "batch": work.batch, "param": work.param, "norm": work.norm, "optimizer": said["optimizer"],
                     "conv": said["conv"], "spherelu_images_per_second": text(rate),
                     "conv_only_images_per_second": text(limit), "torch_images_per_second": text(peer),
                     "torch_format": torch.get("format", ""), "ratio": text(peer and rate / peer, 2),
                     "spherelu_peak_bytes": said["peak_bytes"], "torch_peak_bytes": torch.get("peak_bytes") or "",
                     "torch_import_bytes": torch.get("import_bytes", "")})
    table = "sizes.csv" if args.sizes else "images.csv"
    kept = [row for row in read(table) if args.only or args.at or args.threads]
    measured = {tuple(str(row[key]) for key in KEYS) for row in rows}
    write(table, [row for row in kept if tuple(row[key] for key in KEYS) not in measured] + rows)
    report(judge_sizes(mine, other) if args.sizes else judge(mine, other, version), args.check)


if __name__ == "__main__":
    main()
