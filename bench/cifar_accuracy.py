#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A ResNet-18 with the small stem on CIFAR-10, by the tool and by PyTorch under the same settings: do both learn the same?

    bench/cifar_accuracy.py --tool build/spherelu [--width 1] [--epochs 5] [--seeds 0,1,2] [--side ours] [--check]
    bench/cifar_accuracy.py --tool build/spherelu --same-start [--width 0.125] [--check]

Needs SPHERELU_DATA (cifar10: data_batch_1 trains, test_batch is scored once, at the end), PyTorch and torchvision, whose
BasicBlock is PyTorch's side. Both: Glorot uniform weights, batch normalization, random flips left to right, pixels standardised
by the training rows' mean and deviation of each channel, SGD with momentum and weight decay on the weights alone, a cosine
over all steps, no validation part. Seeds draw what is random on each side; no two runs share a draw. One thread each.

Writes bench/results/cifar_accuracy.csv after every run; a run that stands there with the same settings and versions is not
repeated, so that the work can be done in pieces; --side does one side alone, and two processes may share the file. --check
fails when the means lie more than two standard errors of their difference apart.

--same-start is the sharper question, answered in seconds: from PyTorch's start, all steps on the same 128 images, both in f64,
how far apart are the losses of ten steps? More than 1e-9 is missed.
"""
import argparse
import csv
import gzip
import json
import math
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import torch
import torchvision
from torch import nn
from torch.nn import functional
from torchvision.models.resnet import BasicBlock

HERE = os.path.dirname(os.path.abspath(__file__))
CLASSES, STAGES, DEPTH = 10, (64, 128, 256, 512), 2
MOMENTUM, DECAY = 0.9, 5e-4


# ---------------------------------------------------------------- PyTorch's side

def read(folder, name):
    with gzip.open(os.path.join(folder, "cifar10", name + ".bin.gz")) as file:
        rows = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8).view(-1, 3073)
    return rows[:, 1:].reshape(-1, 3, 32, 32).float(), rows[:, 0].long()


def resnet18(width):
    """torchvision's blocks and order of layers; its stem is that of small images, its channels are scaled."""
    channels = round(STAGES[0] * width)
    layers = [nn.Conv2d(3, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True)]
    for stage, units in enumerate(STAGES):
        units = round(units * width)
        for i in range(DEPTH):
            stride = 2 if stage and not i else 1
            shortcut = None
            if stride != 1 or channels != units:
                shortcut = nn.Sequential(nn.Conv2d(channels, units, 1, stride, bias=False), nn.BatchNorm2d(units))
            layers.append(BasicBlock(channels, units, stride, shortcut))
            channels = units
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))
    for module in model.modules():
        if isinstance(module, (nn.Conv2d, nn.Linear)):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
    return model


def sgd(model, args):
    weights = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.SGD([{"params": weights, "weight_decay": DECAY}, {"params": others, "weight_decay": 0}],
                           lr=args.lr, momentum=MOMENTUM)


def set_rate(optimizer, args, step, steps):
    for group in optimizer.param_groups:
        group["lr"] = args.lr * 0.5 * (1 + math.cos(math.pi * step / steps))


def standardise(x, *others):
    """By the mean and deviation of each channel of x, all of them."""
    deviation, mean = torch.std_mean(x, (0, 2, 3), keepdim=True, unbiased=False)
    return [(images - mean) / deviation for images in (x, *others)]


def theirs(args, folder, seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    (x, y), (test_x, test_y) = read(folder, "data_batch_1"), read(folder, "test_batch")
    x, test_x = standardise(x, test_x)
    model = resnet18(args.width).to(memory_format=torch.channels_last)
    optimizer = sgd(model, args)
    steps, step, loss_sum = args.epochs * -(-len(x) // args.batch), 0, 0
    for _ in range(args.epochs):
        model.train()
        loss_sum = 0
        for rows in torch.randperm(len(x)).split(args.batch):
            set_rate(optimizer, args, step, steps)
            batch = x[rows]
            flips = torch.rand(len(rows)) < 0.5
            batch[flips] = batch[flips].flip(3)
            optimizer.zero_grad(set_to_none=True)
            loss = functional.cross_entropy(model(batch.to(memory_format=torch.channels_last)), y[rows])
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(rows)
            step += 1
    model.eval()
    with torch.no_grad():
        hits = sum((model(a).argmax(1) == b).sum().item() for a, b in zip(test_x.split(250), test_y.split(250)))
    return hits / len(test_x), loss_sum / len(x)


# ---------------------------------------------------------------- ours

def train(args, folder, out, *options):
    """(what train printed, its epochs)"""
    command = [args.tool, "train", "--net", "resnet18", "--stem", "small", "--width", args.width, "--param", "sp", "--norm", "bn",
               "--optimizer", "sgd", "--lr", args.lr, "--momentum", MOMENTUM, "--weight-decay", DECAY, "--schedule", "cosine",
               "--patience", 0, "--val", 0, "--threads", 1, "--quiet", "--json", "--out", out + "/run", *options]
    done = subprocess.run([*map(str, command)], env=dict(os.environ, SPHERELU_DATA=folder), text=True, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(f"cifar_accuracy.py: failed: {' '.join(map(str, command))}")
    with open(out + "/run/metrics.jsonl") as file:
        return json.loads(done.stdout), [json.loads(line) for line in file]


def ours(args, folder, seed):
    with tempfile.TemporaryDirectory() as out:
        result, epochs = train(args, folder, out, "--data", "cifar10", "--init", "glorot", "--augment", "flip", "--batch", args.batch,
                               "--epochs", args.epochs, "--seed", seed)
        assert result["best_epoch"] == args.epochs, "the last epoch's training loss is not the lowest"
        return result["test"]["accuracy"], epochs[-1]["train_loss"]


# ---------------------------------------------------------------- the same start

STEPS, APART = 10, 1e-9


def named(model):
    """{torchvision's name: tensor} of a model of resnet18()."""
    layers = list(model)
    parts = {"conv1": layers[0], "bn1": layers[1], "fc": layers[-1]}
    parts |= {f"layer{stage + 1}.{i}": layers[3 + stage * DEPTH + i] for stage in range(len(STAGES)) for i in range(DEPTH)}
    return {f"{part}.{name}": value.numpy() for part, module in parts.items()
            for name, value in module.state_dict().items() if "tracked" not in name}


def save(path, tensors):
    """A safetensors file of f64."""
    header, data = {}, b""
    for name, value in tensors.items():
        numbers = value.astype("<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def same_start(args, folder):
    """The largest difference of the losses of STEPS steps."""
    torch.manual_seed(0)
    x, y = (part[:args.batch] for part in read(folder, "data_batch_1"))
    model = resnet18(args.width).double()
    optimizer, images, losses = sgd(model, args), standardise(x.double())[0], []
    with tempfile.TemporaryDirectory() as out:
        save(out + "/torch.safetensors", named(model))
        subprocess.run([args.tool, "convert", out + "/torch.safetensors", out + "/start.safetensors", "--to", "sp", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL)
        records = torch.cat((y[:, None].byte(), x.flatten(1).byte()), 1).numpy().tobytes()
        for name in ("data_batch_1", "test_batch"):
            with open(f"{out}/{name}.bin", "wb") as file:
                file.write(records)
        for step in range(STEPS):
            set_rate(optimizer, args, step, STEPS)
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        _, epochs = train(args, folder, out, "--data", out, "--init", out + "/start.safetensors", "--augment", "none", "--batch",
                          args.batch, "--epochs", STEPS, "--dtype", "f64", "--no-report")
    return max(abs(loss - epoch["train_loss"]) for loss, epoch in zip(losses, epochs, strict=True))


def machine():
    with open("/proc/cpuinfo") as file:
        return next(line.partition(": ")[2].strip() for line in file if line.startswith("model name"))


KEYS = ("program", "width", "epochs", "batch", "lr", "momentum", "weight_decay", "seed")  # of a run


def known(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", default=os.path.join(HERE, "..", "build", "spherelu"))
    parser.add_argument("--width", type=float, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--side", choices=("ours", "theirs"))
    parser.add_argument("--out", default=os.path.join(HERE, "results", "cifar_accuracy.csv"))
    parser.add_argument("--same-start", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    folder = os.environ.get("SPHERELU_DATA") or sys.exit("cifar_accuracy.py: SPHERELU_DATA is not set")
    if args.same_start:
        apart = same_start(args, folder)
        print(f"{'met   ' if apart <= APART else 'MISSED'}  losses of {STEPS} steps from the same start, f64: at most {apart:.1e} apart")
        sys.exit(args.check and apart > APART)
    version = subprocess.run([args.tool, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout.split()[1]
    sides = {f"spherelu {version}": ours, f"torch {torch.__version__}, torchvision {torchvision.__version__}": theirs}
    reached = {name: [] for name in sides}
    for seed in map(int, args.seeds.split(",")):
        for name, train in sides.items():
            if args.side not in (None, train.__name__):
                continue
            settings = {"width": args.width, "rows": 10000, "epochs": args.epochs, "batch": args.batch, "lr": args.lr,
                        "momentum": MOMENTUM, "weight_decay": DECAY, "seed": seed}
            row = {"machine": machine(), "program": name, "net": "resnet18 small stem bn", **settings}
            before = [old for old in known(args.out) if all(str(old[key]) == str(row[key]) for key in KEYS)]
            if not before:
                begin = time.process_time() + sum(os.times()[2:4])
                accuracy, loss = train(args, folder, seed)
                row |= {"last_train_loss": f"{loss:.4f}", "test_accuracy": f"{accuracy:.4f}",
                        "processor_seconds": round(time.process_time() + sum(os.times()[2:4]) - begin)}
                rows = [*known(args.out), row]
                with open(args.out, "w", newline="") as out:
                    table = csv.DictWriter(out, row.keys(), lineterminator="\n")
                    table.writeheader()
                    table.writerows(rows)
            reached[name].append(float((before or [row])[0]["test_accuracy"]))
            print("  ".join(map(str, (before or [row])[0].values())), flush=True)
    if min(map(len, reached.values())) > 1:
        means = {name: statistics.mean(values) for name, values in reached.items()}
        error = math.sqrt(sum(statistics.variance(values) / len(values) for values in reached.values()))
        for name, values in reached.items():
            print(f"{name}: {means[name]:.4f} of the test images")
        apart = abs(means[list(sides)[0]] - means[list(sides)[1]])
        print(f"{'met   ' if apart <= 2 * error else 'MISSED'}  {apart:.4f} apart; two standard errors: {2 * error:.4f}")
        if args.check and apart > 2 * error:
            sys.exit(1)


if __name__ == "__main__":
    main()
