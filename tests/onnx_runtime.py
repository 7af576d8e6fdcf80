#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#   onnx_runtime.py nets DIR              what onnx_nets wrote: the checker, onnxruntime, and OpenCV where it can
#   onnx_runtime.py run MODEL X.csv P.csv a run's graph on the columns of X.csv against what predict printed
#   onnx_runtime.py images MODEL X.npy P.csv   the same on bytes (N, height, width, channels), of which the middle is taken
#
# Needs onnx, onnxruntime and numpy; OpenCV (cv2) is optional. Outputs may differ by 1e-5 of the largest.
import csv
import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime

onnxruntime.set_default_logger_severity(3)
TOLERANCE = 1e-5


def session(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    return model, onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def error(found, expected):
    return float(np.max(np.abs(found - expected)) / max(1, np.max(np.abs(expected))))


def by_opencv(path, x, expected):
    """None: it does not read this graph."""
    import cv2

    try:
        net = cv2.dnn.readNetFromONNX(path)
        net.setInput(np.ascontiguousarray(x))
        return error(net.forward().reshape(expected.shape), expected)
    except cv2.error:
        return None


def check_nets(folder):
    try:
        import cv2  # noqa: F401

        opencv = True
    except ImportError:
        opencv = False
        print("SKIPPED: OpenCV is not installed")
    wrong, worst, read, seen = [], 0, 0, 0
    for line in sys.stdin:
        number, name, rows, inputs, outputs = line.rstrip("\n").split("\t")
        path = f"{folder}/{number}.onnx"
        x = np.fromfile(f"{folder}/{number}.x").reshape(int(rows), -1).astype("f4")
        y = np.fromfile(f"{folder}/{number}.y").reshape(int(rows), -1)
        model, run = session(path)
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
        x = x.reshape([-1] + shape)
        whole = run.run(["scores"], {"X": x})[0]
        one = np.concatenate([run.run(["scores"], {"X": row[None]})[0] for row in x])  # the batch is open
        off = max(error(whole, y), error(one, y))
        worst, seen = max(worst, off), seen + 1
        if not off <= TOLERANCE:
            wrong.append(f"{name}: {off:.2g} by onnxruntime")
        cv = by_opencv(path, x, y) if opencv and len(shape) > 1 else None
        if cv is not None:
            read += 1
            if not cv <= 10 * TOLERANCE:
                wrong.append(f"{name}: {cv:.2g} by OpenCV")
    print(f"{seen} nets, at worst {worst:.2g} of the largest output; OpenCV read {read}")
    print("\n".join(wrong))
    return bool(wrong)


def documented_encode():
    """encode() as docs/exchange.md has it, tried on the example in the text there."""
    page = pathlib.Path(__file__).parent.parent.joinpath("docs", "exchange.md").read_text()
    block = next(b for b in page.split("```python\n")[1:] if "def encode(" in b).split("```")[0]
    names = {}
    exec(compile(block, "docs/exchange.md", "exec"), names)
    data = {"columns": [{"name": "sold", "kind": "date", "role": "feature", "first": 19723}]}
    features = ["sold.days", "sold.weekday", "sold.month", "sold.year", "sold.hour"]
    x = names["encode"]({"data": json.dumps(data), "features": json.dumps(features)}, [{"sold": "2024-03-05"}, {"sold": ""}])
    assert x[0].tolist() == [64, 1, 3, 2024, 0] and np.isnan(x[1]).all()
    return names["encode"]


def check_run(path, table, predictions):
    model, run = session(path)
    features = json.loads({p.key: p.value for p in model.metadata_props}["features"])
    rows = list(csv.DictReader(open(table)))
    x = documented_encode()(run.get_modelmeta().custom_metadata_map, rows)
    assert x.shape == (len(rows), len(features))
    expected = list(csv.DictReader(open(predictions)))
    for row in expected:  # of an ensemble: the graph gives the mean alone
        for column in [c for c in row if c.startswith("spread")]:
            del row[column]
    out = dict(zip([o.name for o in run.get_outputs()], run.run(None, {"X": x})))
    if "variable" in out:
        y = np.array([[float(v) for v in r.values()] for r in expected])
        off = error(out["variable"], y)
    else:
        p = np.array([[float(v) for k, v in r.items() if k != "class"] for r in expected])
        found = out["probabilities"][:, 1:] if p.shape[1] == 1 else out["probabilities"]
        off = error(found, p)
        if [str(v) for v in out["label"]] != [r["class"] for r in expected]:
            print(f"{path}: other labels than predict's")
            return 1
    print(f"{path}: {len(rows)} rows, {off:.2g}")
    return not off <= TOLERANCE


def check_images(path, images, predictions):
    model, run = session(path)
    _, height, width = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
    pixels = np.load(images)
    top, left = (pixels.shape[1] - height) // 2, (pixels.shape[2] - width) // 2
    x = pixels[:, top : top + height, left : left + width].transpose(0, 3, 1, 2).astype("f4")
    expected = [{k: v for k, v in row.items() if k.startswith("p_")} for row in csv.DictReader(open(predictions))]
    p = np.array([[float(v) for v in row.values()] for row in expected])
    found = run.run(["probabilities"], {"X": x})[0]
    off = error(found[:, 1:] if p.shape[1] == 1 else found, p)
    print(f"{path}: {len(p)} pictures, {off:.2g}")
    return len(p) != len(x) or not off <= TOLERANCE


if sys.argv[1] == "nets":
    sys.exit(check_nets(sys.argv[2]))
sys.exit((check_images if sys.argv[1] == "images" else check_run)(*sys.argv[2:5]))
