#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PyTorch training the networks for images under the same methods, written the usual way: images per second.

    torch_images.py --net vgg6 --method gmp+imn --batch 32 [--threads 1] [--format channels_last|contiguous|mkldnn|fastest]

One JSON line. Steps are forward, cross-entropy, backward and SGD with momentum on one batch of noise; the best of
several repetitions after a warm-up, each of at least one step and half a second; a warm-up of ten seconds and more
counts as one. Peak memory is the process's own.
fastest: each format that serves the method for one repetition, then the fastest of them; no peak is told, as it would be that
of all of them.
"""
import argparse
import json
import os
import time

import torch
from torch import nn
from torch.nn import functional

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}  # as those of `spherelu bench --clock`
METHODS = ("sp", "bn", "wn", "wn+mbn", "gmp", "gmp+imn")
FORMATS = {"channels_last": torch.channels_last, "contiguous": torch.contiguous_format, "mkldnn": None}
MKLDNN_METHODS = ("sp", "bn", "wn")  # oneDNN's own tensors cannot be broadcast, which the others need
MOMENTUM = 0.1  # of running statistics


class InputMean(nn.Module):
    """IMN: the batch mean of each channel leaves."""

    def __init__(self, channels):
        super().__init__()
        self.register_buffer("running", torch.zeros(1, channels, 1, 1))

    def forward(self, x):
        mean = x.mean((0, 2, 3), keepdim=True)
        with torch.no_grad():
            self.running.lerp_(mean, MOMENTUM)
        return x - mean


class MeanOnly(InputMean):
    """MBN: the same at the output, and the bias comes after it."""

    def __init__(self, units):
        super().__init__(units)
        self.bias = nn.Parameter(torch.zeros(1, units, 1, 1))

    def forward(self, z):
        return super().forward(z) + self.bias


class PolarConv(nn.Module):
    """GmP's u(theta) * x + lambda: a cumulative product of sines."""

    def __init__(self, channels, units, kernel, stride, bias=True, groups=1):
        super().__init__()
        w = torch.randn(units, channels // groups * kernel * kernel)
        tails = w.flip(1).square().cumsum(1).flip(1).sqrt()
        theta = torch.atan2(tails[:, 1:], w[:, :-1])
        theta[:, -1] = torch.atan2(w[:, -1], w[:, -2])
        self.theta = nn.Parameter(theta)
        self.offset = nn.Parameter(torch.zeros(units)) if bias else None
        self.register_buffer("one", torch.ones(units, 1))
        self.shape, self.stride, self.padding = (units, channels // groups, kernel, kernel), stride, kernel // 2
        self.groups = groups

    def forward(self, x):
        sines = torch.cumprod(torch.sin(self.theta), 1)
        u = torch.cat([self.one, sines], 1) * torch.cat([torch.cos(self.theta), self.one], 1)
        return functional.conv2d(x, u.view(self.shape), self.offset, self.stride, self.padding, 1, self.groups)


class Unit(nn.Module):
    """r * act(norm(W x + b)) of one conv; first: its input is not to be centred here."""

    def __init__(self, method, channels, units, kernel, stride=1, act=True, first=False, groups=1):
        super().__init__()
        param, _, norm = method.partition("+")
        if param == "bn":
            param, norm = "sp", "bn"
        bias = norm not in ("bn", "mbn")
        self.before = InputMean(channels) if norm == "imn" and not first else None
        if param == "gmp":
            self.conv = PolarConv(channels, units, kernel, stride, bias, groups)
            self.r = nn.Parameter(torch.ones(1, units, 1, 1))
        else:
            self.conv = nn.Conv2d(channels, units, kernel, stride, kernel // 2, groups=groups, bias=bias)
            nn.init.xavier_uniform_(self.conv.weight)
            self.r = None
        if param == "wn":
            self.conv = nn.utils.weight_norm(self.conv)
        self.norm = {"bn": nn.BatchNorm2d, "mbn": MeanOnly}[norm](units) if norm in ("bn", "mbn") else None
        self.act = nn.ReLU(inplace=True) if act else None

    def forward(self, x):
        z = self.conv(x if self.before is None else self.before(x))
        if self.norm is not None:
            z = self.norm(z)
        if self.act is not None:
            z = self.act(z)
        return z if self.r is None else z * self.r


class Dense(nn.Module):
    """From oneDNN's own tensors back to plain ones."""

    def forward(self, x):
        return x.to_dense()


def scaled(width, units):
    return max(1, round(units * width))


def vgg6(method, width, classes=10):
    layers, channels = [], 3
    for stage in (128, 256, 512):
        for _ in range(2):
            units = scaled(width, stage)
            layers.append(Unit(method, channels, units, 3, first=not layers))
            channels = units
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


class Block(nn.Module):
    """torchvision's BasicBlock (expansion 1) and Bottleneck (4). IMN centres the input that the branch and the
    downsampling conv share once."""

    def __init__(self, method, channels, units, stride, expansion, width):
        super().__init__()
        inner, outer = scaled(width, units), scaled(width, units * expansion)
        self.before = InputMean(channels) if method.endswith("+imn") else None
        if expansion == 1:
            branch = [Unit(method, channels, inner, 3, stride, first=True), Unit(method, inner, outer, 3, act=False)]
        else:
            branch = [Unit(method, channels, inner, 1, first=True), Unit(method, inner, inner, 3, stride),
                      Unit(method, inner, outer, 1, act=False)]
        self.branch = nn.Sequential(*branch)
        self.downsample = None
        if stride != 1 or channels != outer:
            self.downsample = Unit(method, channels, outer, 1, stride, act=False, first=True)
        self.act = nn.ReLU(inplace=True)
        self.channels = outer

    def forward(self, x):
        centred = x if self.before is None else self.before(x)
        z = self.branch(centred)
        z += x if self.downsample is None else self.downsample(centred)
        return self.act(z)


def resnet(method, width, size, depths, expansion=1, stem=64, first=64, classes=1000):
    channels = scaled(width, stem)
    layers = [Unit(method, 3, channels, 7, 2, first=True), nn.MaxPool2d(3, 2, 1)]
    if size < 64 or len(depths) < 4:  # the small stem
        layers = [Unit(method, 3, channels, 3, first=True)]
    for stage, depth in enumerate(depths):
        for i in range(depth):
            layers.append(Block(method, channels, first << stage, 2 if stage and not i else 1, expansion, width))
            channels = layers[-1].channels
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


def mobile(method, width, size, classes=1000):
    pairs = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + 5 * ((512, 1),) + ((1024, 2), (1024, 1))
    channels = scaled(width, 32)
    layers = [Unit(method, 3, channels, 3, 2 if size >= 96 else 1, first=True)]
    for units, stride in pairs:
        units = scaled(width, units)
        layers += [Unit(method, channels, channels, 3, stride, groups=channels), Unit(method, channels, units, 1)]
        channels = units
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes))


# builder, image size, classes, batch
NETS = {
    "vgg6": (lambda method, width, size: vgg6(method, width), 32, 10, 32),
    "resnet18": (lambda method, width, size: resnet(method, width, size, (2, 2, 2, 2)), 224, 1000, 16),
    "resnet50": (lambda method, width, size: resnet(method, width, size, (3, 4, 6, 3), 4), 224, 1000, 16),
    "mobile": (mobile, 224, 1000, 16),
    "wrn28-2": (lambda method, width, size: resnet(method, width, size, (4, 4, 4), 1, 16, 32, 10), 32, 10, 32),
}

LONG = 10  # seconds


def peak_bytes():
    """VmHWM: getrusage would count what ran before this process's exec."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def time_images(net, method, batch, size, width, threads, memory_format, repeats=3, seconds=0.5, clock="wall"):
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    build, _, classes, _ = NETS[net]
    model, x = build(method, width, size).train(), torch.randn(batch, 3, size, size)
    if memory_format == "mkldnn":
        model, x = nn.Sequential(*model[:-3], Dense(), *model[-3:]), x.to_mkldnn()
    else:
        model = model.to(memory_format=FORMATS[memory_format])
        x = x.to(memory_format=FORMATS[memory_format])
    y = torch.arange(batch) % classes
    step = torch.optim.SGD(model.parameters(), lr=1e-4, momentum=0.9)

    def now():
        return CLOCKS[clock]() / (threads if clock == "processor" else 1)

    def stretch():
        begin, steps = now(), 0
        while not steps or now() - begin < seconds:
            step.zero_grad(set_to_none=True)
            functional.cross_entropy(model(x), y).backward()
            step.step()
            steps += 1
        return (now() - begin) / steps

    warm = stretch()  # one so long that little of it is warming up counts
    best = min([warm] * (warm > LONG) + [stretch() for _ in range(repeats - (warm > LONG))])
    return batch / best, sum(p.numel() for p in model.parameters())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--net", choices=NETS, default="vgg6")
    parser.add_argument("--method", choices=METHODS, default="gmp+imn")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--size", type=int)
    parser.add_argument("--width", type=float, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--format", choices=[*FORMATS, "fastest"], default="channels_last")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="processor: shared out to the threads")
    args = parser.parse_args()
    if args.format == "mkldnn" and args.method not in MKLDNN_METHODS:
        parser.error(f"--format mkldnn: PyTorch runs only {', '.join(MKLDNN_METHODS)} on such tensors")
    args.size, args.batch = args.size or NETS[args.net][1], args.batch or NETS[args.net][3]
    start, choose = peak_bytes(), args.format == "fastest"

    def timed(memory_format, repeats):
        return time_images(args.net, args.method, args.batch, args.size, args.width, args.threads, memory_format, repeats,
                           clock=args.clock)

    if choose:
        serving = [name for name in FORMATS if name != "mkldnn" or args.method in MKLDNN_METHODS]
        tried = {name: timed(name, 1) for name in serving}
        args.format = max(serving, key=lambda name: tried[name][0])
    rate, parameters = tried[args.format] if choose and args.repeats == 1 else timed(args.format, args.repeats)
    print(json.dumps({"what": "torch " + args.net, **vars(args), "images_per_second": round(rate, 3),
                      "parameters": parameters, "peak_bytes": None if choose else peak_bytes(), "import_bytes": start,
                      "dtype": "f32", "version": torch.__version__}))


if __name__ == "__main__":
    main()
