#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#   make.py torch       torch_mlp.onnx, torch_resnet18.onnx, torch_resnet18_bn.onnx   torch 1.13, torchvision 0.14
#   make.py sklearn     sklearn_binary.onnx, sklearn_classes.onnx, sklearn_values.onnx   scikit-learn 1.9, skl2onnx 1.20
#
# What other tools export, small, and NAME.txt: what comes out (scores, logistic or softmax), rows, then a line of outputs for each
# row. Number i of the input of all rows is (i * 37 % 101) / 50 - 1. tests/test_onnx.c reads both.
import os
import sys

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))
ROWS = 3


def rows(*shape):
    i = np.arange(ROWS * int(np.prod(shape)))
    return ((i * 37 % 101) / 50 - 1).reshape(ROWS, *shape).astype("f4")


def expect(name, what, y):
    with open(name + ".txt", "w") as file:
        print(what, len(y), file=file)
        for row in np.asarray(y, dtype="f8").reshape(len(y), -1):
            print(*("%.9g" % v for v in row), file=file)


def by_torch():
    import torch
    from torch import nn
    from torchvision.models.resnet import BasicBlock

    class Small(nn.Module):
        """torchvision's ResNet-18, a sixteenth as wide: the same modules under the same names."""

        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False)
            self.bn1, self.relu, self.maxpool = nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
            before = 4
            for k, planes in enumerate([4, 8, 16, 32]):
                down = nn.Sequential(nn.Conv2d(before, planes, 1, 2, bias=False), nn.BatchNorm2d(planes)) if k else None
                blocks = [BasicBlock(before, planes, 2 if k else 1, down), BasicBlock(planes, planes)]
                setattr(self, f"layer{k + 1}", nn.Sequential(*blocks))
                before = planes
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(before, 5)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(torch.flatten(self.avgpool(x), 1))

    torch.manual_seed(1)
    mlp = nn.Sequential(nn.Linear(4, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 2)).eval()
    net = Small().eval()
    for module in net.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.2)
            module.running_var.uniform_(0.5, 2)
            module.weight.data.uniform_(0.5, 1.5)
            module.bias.data.normal_(0, 0.2)
    kept = dict(training=torch.onnx.TrainingMode.PRESERVE, do_constant_folding=False)
    for name, module, shape, more in [("torch_mlp", mlp, (4,), {}), ("torch_resnet18", net, (3, 40, 40), {}),
                                      ("torch_resnet18_bn", net, (3, 40, 40), kept)]:
        x = torch.from_numpy(rows(*shape))
        torch.onnx.export(module, x, name + ".onnx", input_names=["x"], dynamic_axes={"x": {0: "n"}}, opset_version=13, **more)
        expect(name, "scores", module(x).detach().numpy())


def by_sklearn():
    import warnings

    from skl2onnx import to_onnx
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    warnings.filterwarnings("ignore")
    x = np.random.RandomState(0).randn(60, 4).astype("f4")
    binary = MLPClassifier(hidden_layer_sizes=(5,), max_iter=20, random_state=0).fit(x, (x[:, 0] > 0).astype(int))
    classes = make_pipeline(StandardScaler(), MLPClassifier(hidden_layer_sizes=(6, 5), max_iter=20, random_state=0))
    classes.fit(3 * x + 1, np.array(["a", "b", "c"])[(x[:, 0] > 0).astype(int) + (x[:, 1] > 0)])
    values = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(5,), max_iter=20, random_state=0))
    values.fit(x, x[:, 0] * 2)
    for name, what, model, predict in [("sklearn_binary", "logistic", binary, lambda v: binary.predict_proba(v)[:, 1]),
                                       ("sklearn_classes", "softmax", classes, classes.predict_proba),
                                       ("sklearn_values", "scores", values, values.predict)]:
        with open(name + ".onnx", "wb") as file:
            file.write(to_onnx(model, x[:1]).SerializeToString())
        expect(name, what, predict(rows(4)))


{"torch": by_torch, "sklearn": by_sklearn}[sys.argv[1]]()
