#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What PyTorch makes of image nets, the oracle of tests/test_golden_conv.c. See README.md beside this file.

    python3 make_golden_conv.py                  writes trajectories_conv.csv and logits.csv (torchvision needed)
    python3 make_golden_conv.py --conditioning   shows how far rounding alone moves each trajectory
"""
import argparse
import math
import os

import torch
from torch.nn import functional as F

from make_golden import EPSILON, Lcg, angles, direction, worst

ROWS, CHANNELS, SIDE, CLASSES, STEPS, SEED, RATE = 8, 3, 16, 10, 20, 5, 0.05
METHODS = (  # name, parameterization, normalization
    ("sp", "sp", "none"),
    ("sp+bn", "sp", "bn"),
    ("gmp", "gmp", "none"),
    ("gmp+imn", "gmp", "imn"),
    ("wn+mbn", "wn", "mbn"),
    ("wn+gn", "wn", "gn"),
    ("gmp+gn", "gmp", "gn"),
)
GROUPS = 8  # of gn: as many as the first layers have units, which is instance normalization
MOBILE_METHODS = METHODS[1:4] + (("wn", "wn", "none"),)
MOBILE_SIDE, MOBILE_STEPS, MOBILE_RATE, MOBILE_BN_RATE = 32, 6, 0.05, 0.001  # 27 times bn: rounding grows quickly


def mobile_layers(scale):
    """MobileNet: a conv, thirteen pairs of a depthwise and a 1x1 conv, the classifier. (units, inputs, kernel, stride)"""
    pairs = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)) + 5 * ((512, 1),) + ((1024, 2), (1024, 1))
    layers, channels = [(32 // scale, 3, 3, 1)], 32 // scale
    for units, stride in pairs:
        layers += [(channels, 1, 3, stride), (units // scale, channels, 1, 1)]
        channels = units // scale
    return tuple(layers) + ((10, channels, 0, 1),)


NETS = {  # units, inputs, kernel of each layer, in the order in which numbers are drawn; kernel 0: dense
    "vgg6": ((8, 3, 3), (8, 8, 3), (16, 8, 3), (16, 16, 3), (32, 16, 3), (32, 32, 3), (10, 32, 0)),
    "residual": ((8, 3, 3), (8, 8, 3), (8, 8, 3), (16, 8, 3), (16, 16, 3), (16, 8, 1), (10, 16, 0)),
    "mobile": mobile_layers(16),
}


def side(net):
    return MOBILE_SIDE if net == "mobile" else SIDE


def steps(net):
    return MOBILE_STEPS if net == "mobile" else STEPS


def rate(net, norm):
    return RATE if net != "mobile" else MOBILE_BN_RATE if norm == "bn" else MOBILE_RATE


def methods(net):
    return MOBILE_METHODS if net == "mobile" else METHODS


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def problem(net):
    """x (ROWS, 3, side, side), classes (ROWS) and [(W, b), ...], f64."""
    lcg = Lcg(SEED)
    shape = (ROWS, CHANNELS, side(net), side(net))
    x = tensor([lcg.spread(1.7) for _ in range(math.prod(shape))]).reshape(shape)
    layers = []
    for units, inputs, kernel, *_ in NETS[net]:
        area = max(kernel * kernel, 1)
        # 27 convs: He's, or nothing would be left of the images
        half = math.sqrt(6.0 / (inputs * area + (0 if net == "mobile" and kernel else units * area)))
        w = tensor([lcg.spread(half) for _ in range(units * inputs * area)])
        b = tensor([lcg.spread(0.1) for _ in range(units)])
        layers.append((w.reshape((units, inputs, kernel, kernel) if kernel else (units, inputs)), b))
    return x, torch.tensor([i * (CLASSES - 1) // (ROWS - 1) for i in range(ROWS)]), layers


class Conv:
    """A convolution with its normalization and activation, started from W and b."""

    def __init__(self, w, b, param, norm, first, dtype):
        self.shape, self.param, self.norm, self.first = w.shape, param, norm, first
        w = w.reshape(w.shape[0], -1)
        length = w.norm(dim=1)
        raw = {
            "sp": lambda: {"w": w, "b": b},
            "wn": lambda: {"v": w, "g": length, "b": b},
            "gmp": lambda: {"theta": angles(w), "b": b / length, "r": length},
        }[param]()
        if norm == "bn":
            del raw["b"]
        if norm in ("bn", "gn"):
            raw["scale"], raw["shift"] = torch.ones_like(b), torch.zeros_like(b)
        self.raw = {k: t.to(dtype).clone().requires_grad_() for k, t in raw.items()}

    def weight(self):
        p = self.raw
        if self.param == "sp":
            w = p["w"]
        elif self.param == "wn":
            w = (p["g"] / p["v"].norm(dim=1))[:, None] * p["v"]
        else:
            w = direction(p["theta"])
        return w.reshape(self.shape)

    def __call__(self, x, stride=1, act=torch.relu):
        p, per_channel = self.raw, (0, 2, 3)
        of = lambda t: t[None, :, None, None]
        if self.norm == "imn" and not self.first:
            x = x - x.mean(per_channel, keepdim=True)
        z = F.conv2d(x, self.weight(), stride=stride, padding=self.shape[2] // 2, groups=x.shape[1] // self.shape[1])
        if self.norm == "mbn":
            z = z - z.mean(per_channel, keepdim=True)
        if "b" in p:
            z = z + of(p["b"])
        if self.norm == "bn":
            mean, var = z.mean(per_channel, keepdim=True), z.var(per_channel, unbiased=False, keepdim=True)
            z = (z - mean) / torch.sqrt(var + EPSILON) * of(p["scale"]) + of(p["shift"])
        if self.norm == "gn":
            z = F.group_norm(z, GROUPS, p["scale"], p["shift"], EPSILON)
        z = act(z)
        return z * of(p["r"]) if "r" in p else z


def linear(z):
    return z


def vgg6(convs, x):
    for i, conv in enumerate(convs):
        x = conv(x)
        if i % 2:
            x = F.max_pool2d(x, 2)
    return x


def residual(convs, x):
    x = convs[0](x)
    x = torch.relu(convs[2](convs[1](x), act=linear) + x)
    return torch.relu(convs[4](convs[3](x, stride=2), act=linear) + convs[5](x, stride=2, act=linear))


def mobile(convs, x):
    for conv, (_, _, _, stride) in zip(convs, NETS["mobile"]):
        x = conv(x, stride)
    return x


def trajectory(net, param, norm, dtype, nudge=0.0):
    """steps(net) + 1 losses, the t-th before update t. nudge: relative noise on the initial weights."""
    x, classes, layers = problem(net)
    noise = torch.Generator().manual_seed(1)
    layers = [
        tuple(t * (1 + nudge * torch.randn(t.shape, generator=noise, dtype=t.dtype)) for t in pair) for pair in layers
    ]
    x = x.to(dtype)
    convs = [Conv(w, b, param, norm, k == 0, dtype) for k, (w, b) in enumerate(layers[:-1])]
    w, b = (t.to(dtype).clone().requires_grad_() for t in layers[-1])
    step = torch.optim.SGD([t for c in convs for t in c.raw.values()] + [w, b],
                           lr=rate(net, norm), momentum=0.9)
    losses = []
    for _ in range(steps(net) + 1):
        z = {"vgg6": vgg6, "residual": residual, "mobile": mobile}[net](convs, x).mean((2, 3))
        value = F.cross_entropy(z @ w.T + b, classes)
        losses.append(float(value))
        step.zero_grad()
        value.backward()
        step.step()
    return losses


def logits(name):
    """(2, 10) of torchvision's network in evaluation, weights and statistics from the generator, (2, 3, 64, 64)."""
    import torchvision

    net = getattr(torchvision.models, name)(num_classes=10).double().eval()
    lcg = Lcg(SEED)
    for key, t in net.state_dict().items():
        if key.endswith("num_batches_tracked"):
            continue
        if t.dim() > 1:
            half, middle = math.sqrt(3.0 / (t.numel() // t.shape[0])), 0.0
        else:
            half, middle = 0.25, 1.0 if "running_var" in key or (key.endswith("weight")) else 0.0
        t.copy_(tensor([middle + lcg.spread(half) for _ in range(t.numel())]).reshape(t.shape))
    x = tensor([lcg.spread(1.7) for _ in range(2 * 3 * 64 * 64)]).reshape(2, 3, 64, 64)
    with torch.no_grad():
        return net(x)


def conditioning():
    print("largest relative change of a loss: initial weights x (1 + 1e-16 N), x (1 + 1e-7 N); torch f32 against f64")
    for net in NETS:
        for name, param, norm in methods(net):
            wide = trajectory(net, param, norm, torch.float64)
            small = worst(trajectory(net, param, norm, torch.float64, 1e-16), wide)
            large = worst(trajectory(net, param, norm, torch.float64, 1e-7), wide)
            f32 = worst(trajectory(net, param, norm, torch.float32), wide)
            print(f"{net:8s} {name:8s} {small:.1e}  {large:.1e}  {f32:.1e}   loss {wide[0]:.4g} -> {wide[-1]:.4g}")


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--conditioning", action="store_true")
    args = args.parse_args()
    torch.set_num_threads(1)
    if args.conditioning:
        conditioning()
        return
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "trajectories_conv.csv"), "w") as out:
        out.write("net,method,step,value\n")
        for net in NETS:
            for name, param, norm in methods(net):
                for t, value in enumerate(trajectory(net, param, norm, torch.float64)):
                    out.write(f"{net},{name},{t},{value:.17g}\n")
    with open(os.path.join(folder, "logits.csv"), "w") as out:
        out.write("net,row,class,value\n")
        for net in ("resnet18", "resnet50"):
            for i, row in enumerate(logits(net)):
                for c, value in enumerate(row):
                    out.write(f"{net},{i},{c},{float(value):.17g}\n")


if __name__ == "__main__":
    main()
