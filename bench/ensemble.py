#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an ensemble costs: the time of K members over that of one, at equal epochs, reading apart.

    bench/ensemble.py [--tool build/spherelu] [--members 5] [--threads 1] [--rounds 5] [--clock processor|wall]

Runs alternate, and each ratio is of the medians over the rounds. `--clock processor` (the default) counts the processor time of the
training process less that of a run of one epoch, which reads the data and writes the folder; it holds on a busy machine. `wall` is
what result.json says, for several threads on an idle one."""
import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--tool", default="build/spherelu")
parser.add_argument("--members", type=int, default=5)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--clock", choices=["processor", "wall"], default="processor")
args = parser.parse_args()

SETS = {"boston": ["--epochs", "1500"], "concrete": ["--epochs", "1000", "--batch", "128"], "yacht": ["--epochs", "1500"]}


def seconds(folder, options):
    """Of one training, by the clock that was asked for."""
    shutil.rmtree(folder, ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([args.tool, "train", "--quiet", "--patience", "0", "--out", folder, *options], check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if args.clock == "wall":
        return json.load(open(os.path.join(folder, "result.json")))["seconds"]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


with tempfile.TemporaryDirectory() as top:
    for name, options in SETS.items():
        ensemble = ["--ensemble", str(args.members), "--threads", str(args.threads)]
        kinds = {"one": [], "all": ensemble, "rest of one": ["--epochs", "1"], "rest of all": ensemble + ["--epochs", "1"]}
        times = {kind: [] for kind in kinds}
        for _ in range(args.rounds):
            for kind, more in kinds.items():
                times[kind].append(seconds(os.path.join(top, "run"), ["--data", name, *options, *more]))
        m = {kind: statistics.median(t) for kind, t in times.items()}
        apart = args.clock == "processor"
        one, all_of_them = m["one"] - apart * m["rest of one"], m["all"] - apart * m["rest of all"]
        print(json.dumps({"what": "ensemble", "set": name, "members": args.members, "threads": args.threads,
                          "clock": args.clock, "one": round(one, 4), "all": round(all_of_them, 4),
                          "ratio": round(all_of_them / one, 3)}))
