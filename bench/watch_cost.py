#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `spherelu.watch` adds to a training step in PyTorch. Steps with and without it take turns in one process.

    PYTHONPATH=build/python python bench/watch_cost.py [--every 10] [--batch 128] [--rounds 5] [--threads 1] [--csv] [--check]

Each step is timed. A plain step is the median of all; a watched step is the mean, over the steps between two records, of the median of
each, so that a disturbed step does not count. Processor time by default, because elapsed time on a busy machine is not meaningful; --elapsed
measures that. --csv: writes bench/results/watch_cost.csv. --check: fails if a watched step takes more than 10 % longer at --every 10.
"""

import argparse
import csv
import os
import statistics
import sys
import time

import torch
from torch import nn

import spherelu

LIMIT = 1.10


def mlp(*widths):
    layers = []
    for n, m in zip(widths, widths[1:]):
        layers += [nn.Linear(n, m), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def resnet18(stem):
    import torchvision

    model = torchvision.models.resnet18(num_classes=10)
    if stem:  # the usual one for images of 32 x 32 pixels
        model.conv1, model.maxpool = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.Identity()
    return model


def transformer():
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Linear(48, 128), nn.TransformerEncoder(layer, 2), nn.Flatten(), nn.Linear(64 * 128, 10))


def timm_resnet():
    import timm

    return timm.create_model("resnet10t", num_classes=10)


# how a model is made, the shape of a sample, records in a round
MODELS = {
    "mlp 784-512-512-10": (lambda: mlp(784, 512, 512, 10), (784,), 10),
    "mlp 784-256-256-256-10": (lambda: mlp(784, 256, 256, 256, 10), (784,), 10),
    "mlp 13-100-10": (lambda: mlp(13, 100, 10), (13,), 100),
    "transformer 2 x 128, 64 tokens": (transformer, (64, 48), 1),
    "timm resnet10t 32x32": (timm_resnet, (3, 32, 32), 1),
    "resnet18 32x32": (lambda: resnet18(False), (3, 32, 32), 1),
    "resnet18 32x32, 3x3 stem": (lambda: resnet18(True), (3, 32, 32), 1),
}


def machine():
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return " ".join(names[0].split()[:2]) if names else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=10)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--elapsed", action="store_true")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = time.perf_counter if options.elapsed else time.process_time
    rows, missed = [], []
    for name in options.models:
        make, shape, repeats = MODELS[name]
        torch.manual_seed(0)
        model = make()
        x, y = torch.randn(options.batch, *shape), torch.randint(10, (options.batch,))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

        def steps(count):
            taken = []
            for _ in range(count):
                begin = clock()
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x), y).backward()
                optimizer.step()
                taken.append(clock() - begin)
            return taken

        count = options.every * repeats
        steps(2)
        plain, phases = [], [[] for _ in range(options.every)]
        for _ in range(options.rounds):
            plain += steps(count)
            with spherelu.watch(model, every=options.every, data=x):
                steps(options.every)
                for i, seconds in enumerate(steps(count)):
                    phases[i % options.every].append(seconds)
        usual, seen = statistics.median(plain), statistics.fmean(map(statistics.median, phases))
        ratio = seen / usual
        rows.append([name, options.batch, options.every, options.threads, f"{1e3 * usual:.3f}", f"{1e3 * seen:.3f}", f"{ratio:.3f}", "elapsed" if options.elapsed else "processor", torch.__version__, machine()])
        print(f"{name:28s} {1e3 * usual:9.3f} ms, watched {1e3 * seen:9.3f} ms: {ratio:.3f}", flush=True)
        if ratio > LIMIT:
            missed.append(f"{name}: {ratio:.3f}, limit {LIMIT}")
    if options.csv:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "watch_cost.csv")
        with open(path, "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["model", "batch", "every", "threads", "ms_per_step", "ms_per_step_watched", "ratio", "clock", "torch", "cpu"])
            writer.writerows(rows)
    for line in missed:
        print("missed:", line)
    return 1 if missed and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
