#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#   onnx_import.py make DIR     nets of torch (an MLP and a ResNet-18, by both of its exporters) and of scikit-learn by skl2onnx, as
#                               far as these are installed: DIR/NAME.onnx, DIR/NAME.npz with rows and what their makers predict;
#                               stdout has a name a line
#   onnx_import.py check DIR    DIR/NAME.back.onnx, which spherelu made of each, by onnxruntime against the makers
#
# Outputs may differ by 1e-5 of the largest.
import glob
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
TOLERANCE = 1e-5


def keep(folder, name, x, y, link=""):
    np.savez(f"{folder}/{name}.npz", x=x, y=y, link=link)
    print(name)


def by_torch(folder):
    try:
        import onnxscript  # noqa: F401
        import torch
        import torchvision
    except ImportError as missing:
        print(f"SKIPPED: nets of torch ({missing})", file=sys.stderr)
        return
    torch.manual_seed(0)
    nn = torch.nn
    mlp = nn.Sequential(nn.Linear(4, 7), nn.ReLU(), nn.Linear(7, 6), nn.ReLU(), nn.Linear(6, 2))
    resnet = torchvision.models.resnet18(num_classes=5)
    for module in resnet.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    for name, net, shape in ("mlp", mlp, (3, 4)), ("resnet18", resnet, (2, 3, 64, 64)):
        x = torch.randn(*shape)
        y = net.eval()(x).detach().numpy()
        for new in True, False:
            path = f"{folder}/{name}_{'new' if new else 'old'}.onnx"
            how = {"dynamic_shapes": ({0: torch.export.Dim("rows")},)} if new else {"input_names": ["x"], "dynamic_axes": {"x": {0: "rows"}}}
            out, sys.stdout = sys.stdout, sys.stderr  # it tells what it does
            torch.onnx.export(net, (x,), path, dynamo=new, **how)
            sys.stdout = out
            keep(folder, path.split("/")[-1][:-5], x.numpy(), y)


def by_sklearn(folder):
    try:
        from skl2onnx import to_onnx
        from sklearn.neural_network import MLPClassifier, MLPRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    except ImportError as missing:
        print(f"SKIPPED: nets of scikit-learn ({missing})", file=sys.stderr)
        return
    rng = np.random.default_rng(0)
    x = (3 * rng.normal(size=(200, 5)) + 7).astype("f4")
    size = {"hidden_layer_sizes": (9, 6), "max_iter": 20, "random_state": 0}
    value = x[:, 0] - x[:, 1] * 0.3
    for name, model, y in (
        ("values", MLPRegressor(**size), value),
        ("two_classes", make_pipeline(StandardScaler(), MLPClassifier(**size)), value > 5),
        ("four_classes", MLPClassifier(**size), np.digitize(value, [3, 5, 7])),
    ):
        model.fit(x, y)
        with open(f"{folder}/{name}.onnx", "wb") as file:
            file.write(to_onnx(model, x[:1], options=None if name == "values" else {"zipmap": False}).SerializeToString())
        if name == "values":
            keep(folder, name, x[:20], model.predict(x[:20])[:, None])
        else:
            keep(folder, name, x[:20], model.predict_proba(x[:20]), "logistic" if name == "two_classes" else "softmax")


def predicted(scores, link):
    if link == "logistic":
        second = 1 / (1 + np.exp(-scores.astype("f8")))
        return np.hstack([1 - second, second])
    if link == "softmax":
        power = np.exp(scores.astype("f8") - scores.max(axis=1, keepdims=True))
        return power / power.sum(axis=1, keepdims=True)
    return scores


def check(folder):
    import onnxruntime

    wrong = 0
    for path in sorted(glob.glob(f"{folder}/*.npz")):
        kept = np.load(path)
        run = onnxruntime.InferenceSession(path[:-4] + ".back.onnx", providers=["CPUExecutionProvider"])
        y = predicted(run.run(["scores"], {"X": kept["x"]})[0], str(kept["link"]))
        off = float(np.max(np.abs(y - kept["y"])) / max(1, np.max(np.abs(kept["y"]))))
        print(f"{path.split('/')[-1][:-4]}: {off:.2g}")
        wrong += not off <= TOLERANCE
    return wrong


if sys.argv[1] == "make":
    by_torch(sys.argv[2])
    by_sklearn(sys.argv[2])
else:
    sys.exit(check(sys.argv[2]))
