#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
#   onnx_interpreter.py make DIR     graphs of every operator that the interpreter of src/store/onnx_run.c has, with the attributes it
#                                    takes, and random ones in which they are mixed; stdout has a path and a number of rows a line
#   onnx_interpreter.py check DIR    what onnx_interpret wrote beside them, by onnxruntime
#   onnx_interpreter.py imported DIR graphs that `spherelu import` and `export` took there and back (PATH.back.onnx), by onnxruntime
#
# Outputs may differ by 1e-5 of the largest: onnxruntime computes in f32.
import glob
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

onnxruntime.set_default_logger_severity(4)
TOLERANCE = 1e-5
rng = np.random.default_rng(0)
made = {}


def draw(*shape):
    return rng.normal(size=shape).astype("f4")


def save(folder, name, nodes, constants, shape, rows=3, opset=13, outputs=("y",), x=None):
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", T.FLOAT, ("N", *shape))],
        [h.make_tensor_value_info(o, T.FLOAT, None) for o in outputs],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset), h.make_opsetid("ai.onnx.ml", 1)], ir_version=7)
    path = f"{folder}/{len(made):04d}-{name}.onnx"
    made[path] = rows
    onnx.save(model, path)
    x = draw(rows, *shape) * 3 if x is None else x
    x.astype("f8").tofile(path + ".x")
    print(path, rows)


def one(folder, op, inputs, constants, shape, opset=13, domain="", x=None, name="", **attributes):
    save(folder, name or op, [h.make_node(op, inputs, ["y"], domain=domain, **attributes)], constants, shape, opset=opset, x=x)


def operators(folder):
    image, vector = (4, 7, 6), (5,)
    for op in "Relu", "LeakyRelu", "Elu", "Sigmoid", "Exp", "Neg", "Identity", "Dropout":
        for shape in image, vector:
            one(folder, op, ["x"], {}, shape)
    one(folder, "LeakyRelu", ["x"], {}, image, alpha=0.3)
    one(folder, "Elu", ["x"], {}, vector, alpha=1.7)
    one(folder, "Cast", ["x"], {}, vector, to=T.FLOAT)
    for turn_a, turn_b in (0, 0), (0, 1), (1, 0), (1, 1):
        a = 3 if turn_a else 5
        for shape in (), (4,), (1, 4), (5 if turn_a else 3, 4), (5 if turn_a else 3, 1), (1,):
            weight = draw(4, a) if turn_b else draw(a, 4)
            one(folder, "Gemm", ["x", "w", "b"], {"w": weight, "b": draw(*shape)}, vector, alpha=0.7, beta=-1.3, transA=turn_a, transB=turn_b)
    one(folder, "Gemm", ["x", "w"], {"w": draw(5, 4)}, vector)
    one(folder, "MatMul", ["x", "w"], {"w": draw(5, 4)}, vector)
    for k, stride, pads, gap, group in (
        ((3, 3), (1, 1), (0, 0, 0, 0), (1, 1), 1),
        ((3, 2), (2, 1), (1, 0, 2, 1), (1, 1), 2),
        ((1, 1), (2, 3), (0, 0, 0, 0), (1, 1), 4),
        ((3, 3), (1, 2), (2, 2, 2, 2), (2, 1), 2),
        ((5, 5), (3, 3), (2, 2, 2, 2), (1, 1), 1),
        ((7, 6), (1, 1), (0, 0, 0, 0), (1, 1), 1),
        ((3, 3), (2, 2), (2, 2, 2, 2), (2, 2), 4),
    ):
        w = {"w": draw(8, 4 // group, *k), "b": draw(8)}
        one(folder, "Conv", ["x", "w", "b"], w, image, kernel_shape=k, strides=stride, pads=pads, dilations=gap, group=group)
        one(folder, "Conv", ["x", "w"], {"w": w["w"]}, image, strides=stride, pads=pads, dilations=gap, group=group)
        if max(gap) == 1 and max(k) < 6 and k != (1, 1):
            one(folder, "MaxPool", ["x"], {}, image, kernel_shape=k, strides=stride, pads=[min(p, min(k) - 1) for p in pads])
            for include in 0, 1:
                pads_ = [min(p, min(k) - 1) for p in pads]
                one(folder, "AveragePool", ["x"], {}, image, kernel_shape=k, strides=stride, pads=pads_, count_include_pad=include)
    one(folder, "MaxPool", ["x"], {}, image, kernel_shape=(2, 3))
    one(folder, "GlobalAveragePool", ["x"], {}, image)
    for axes in [2, 3], [-1, -2], [1], [0, 2], None:
        for keep in 0, 1:
            more = {} if axes is None else {"axes": axes}
            one(folder, "ReduceMean", ["x"], {}, image, keepdims=keep, **more)
            constants = {} if axes is None else {"a": np.array(axes, "i8")}
            one(folder, "ReduceMean", ["x", *constants], constants, image, opset=18, keepdims=keep)
    statistics = {"s": draw(4), "b": draw(4), "m": draw(4), "v": draw(4) ** 2 + 0.1}
    one(folder, "BatchNormalization", ["x", "s", "b", "m", "v"], statistics, image, epsilon=0.01)
    one(folder, "BatchNormalization", ["x", "s", "b", "m", "v"], statistics, (4,))
    for op in "Add", "Sub", "Mul", "Div":
        for shape in (), (1,), (6,), (7, 1), (4, 1, 1), (1, 4, 7, 6), (3, 1, 1, 6), (2, 1, 4, 7, 1):
            if len(shape) < 5:
                one(folder, op, ["x", "c"], {"c": draw(*shape) + 2}, image)
            one(folder, op, ["c", "x"], {"c": draw(*shape)}, image, x=draw(3, *image) + 5)
        one(folder, op, ["x", "x"], {}, vector)
    x = draw(3, *vector)
    x[rng.random(x.shape) < 0.4] = np.nan
    save(folder, "Where", [h.make_node("IsNaN", ["x"], ["m"]), h.make_node("Where", ["m", "c", "x"], ["y"])], {"c": draw(5)}, vector, x=x)
    one(folder, "Scaler", ["x"], {}, vector, domain="ai.onnx.ml", offset=[1.0, 2, 3, 4, 5], scale=[0.5, 1, 2, 3, -1])
    one(folder, "Scaler", ["x"], {}, vector, domain="ai.onnx.ml", offset=[1.5], scale=[0.5])
    for axis in 0, 1, 2, 3, -1, -3:
        one(folder, "Flatten", ["x"], {}, image, axis=axis)
    for shape in [-1, 4], [0, -1], [3, 168], [0, 4, -1], [2, -1], [0, 0, 42], [3, 2, 2, 7, 6]:
        one(folder, "Reshape", ["x", "s"], {"s": np.array(shape, "i8")}, image)
    for op in "Softmax", "LogSoftmax":
        for opset in 11, 12, 13, 17:
            one(folder, op, ["x"], {}, vector, opset=opset)
            for axis in 1, 2, -1:
                one(folder, op, ["x"], {}, image, opset=opset, axis=axis)
            one(folder, op, ["x"], {}, image, opset=opset)
    for axis in 0, 1, -1:
        constants = {"c": draw(2, 4, 7, 6) if axis == 0 else draw(3, 2, 7, 6) if axis == 1 else draw(3, 4, 7, 1)}
        one(folder, "Concat", ["x", "c", "x"], constants, image, axis=axis)
    value = numpy_helper.from_array(draw(5, 2))
    save(folder, "Constant", [h.make_node("Constant", [], ["w"], value=value), h.make_node("MatMul", ["x", "w"], ["y"])], {}, vector)


# ---------------------------------------------------------------- graphs whose values are read in many places


def shuffled(nodes):
    """Another order in which each node comes behind what it reads."""
    left, known, out = list(nodes), {"x"}, []
    results = {o for node in nodes for o in node.output}
    while left:
        ready = [n for n in left if all(i in known or i not in results for i in n.input)]
        node = ready[rng.integers(len(ready))]
        left.remove(node)
        known.update(node.output)
        out.append(node)
    return out


def vectors(number):
    """Layers, activations, sums and other names over (N, 4)."""
    nodes, constants, values = [], {}, ["x"]
    for i in range(int(rng.integers(3, 14))):
        op = str(rng.choice(["Gemm", "Gemm", "Relu", "LeakyRelu", "Elu", "Identity", "Dropout", "Flatten", "Reshape", "Cast", "Mul", "Sub", "Add", "Add", "Neg"]))
        a, b = (values[-1] if rng.random() < 0.6 else values[rng.integers(len(values))] for _ in range(2))
        name, more = f"v{i}", {}
        inputs = [a]
        if op == "Gemm":
            constants[f"w{i}"], constants[f"b{i}"] = draw(4, 4) / 2, draw(4)
            inputs += [f"w{i}", f"b{i}"]
        elif op in ("Mul", "Sub"):
            constants[f"c{i}"] = draw(*[(4,), (1,), (1, 4), ()][rng.integers(4)])
            inputs += [f"c{i}"]
        elif op == "Reshape":
            constants[f"s{i}"] = np.array([[-1, 4], [0, 4], [0, -1]][rng.integers(3)], "i8")
            inputs += [f"s{i}"]
        elif op == "Cast":
            more = {"to": T.FLOAT}
        elif op == "Add":
            inputs += [b]
        nodes.append(h.make_node(op, inputs, [name], name=name, **more))
        values.append(name)
    constants["last"] = draw(4, 3)
    nodes.append(h.make_node("MatMul", [values[-1], "last"], ["y"], name="y"))
    return nodes, constants, (4,)


def images(number):
    """The same over (N, 3, 6, 6), then a vector."""
    nodes, constants, values = [], {}, ["x"]
    for i in range(int(rng.integers(2, 9))):
        op = str(rng.choice(["Conv", "Conv", "Relu", "Identity", "Cast", "Dropout", "BatchNormalization", "MaxPool", "AveragePool", "Mul", "Add", "Add"]))
        a, b = (values[-1] if rng.random() < 0.6 else values[rng.integers(len(values))] for _ in range(2))
        name, inputs, more = f"v{i}", [a], {}
        if op == "Conv":
            constants[f"w{i}"], constants[f"b{i}"] = draw(3, 3, 3, 3) / 3, draw(3)
            inputs, more = [a, f"w{i}", f"b{i}"], {"pads": [1] * 4}
        elif op == "BatchNormalization":
            keys = [f"n{i}.{key}" for key in ("scale", "shift", "mean", "var")]
            constants.update({key: draw(3) ** 2 + 0.2 if key.endswith("var") else draw(3) for key in keys})
            inputs += keys
        elif op in ("MaxPool", "AveragePool"):
            more = {"kernel_shape": [3, 3], "pads": [1] * 4, **({"count_include_pad": 1} if op[0] == "A" else {})}
        elif op == "Cast":
            more = {"to": T.FLOAT}
        elif op == "Mul":
            constants[f"c{i}"] = draw(*[(3, 1, 1), (1,), (1, 3, 1, 1)][rng.integers(3)])
            inputs += [f"c{i}"]
        elif op == "Add":
            inputs += [b]
        nodes.append(h.make_node(op, inputs, [name], name=name, **more))
        values.append(name)
    if rng.random() < 0.5:
        nodes += [h.make_node("GlobalAveragePool", [values[-1]], ["g"]), h.make_node("Flatten", ["g"], ["f"])]
        constants["last"] = draw(3, 2)
    else:
        nodes.append(h.make_node("Flatten", [values[-1]], ["f"]))
        constants["last"] = draw(108, 2) / 5
    nodes.append(h.make_node("MatMul", ["f", "last"], ["y"], name="y"))
    return nodes, constants, (3, 6, 6)


def make(folder):
    operators(folder)
    for k in range(150):
        nodes, constants, shape = (images if k % 3 == 0 else vectors)(k)
        save(folder, "mixed", shuffled(nodes), constants, shape)


def error(found, expected):
    both = np.isfinite(expected)
    if found.shape != expected.shape or not np.array_equal(np.isfinite(found), both):
        return np.inf
    return float(np.max(np.abs(found - expected)[both], initial=0) / max(1e-3, np.max(np.abs(expected)[both], initial=0)))


def by_runtime(path, name=None):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    run = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given = run.get_inputs()[0]
    x = np.fromfile(name or path + ".x").astype("f4")
    return run.run(None, {given.name: x.reshape([-1 if i == 0 else d for i, d in enumerate(given.shape)])})


def check(folder):
    wrong, worst, seen = 0, 0.0, 0
    for path in sorted(glob.glob(f"{folder}/*.onnx")):
        if path.endswith(".back.onnx"):
            continue
        for k, expected in enumerate(by_runtime(path)):
            off = error(np.fromfile(f"{path}.{k}.y").reshape(expected.shape), expected)
            worst, seen = max(worst, off), seen + 1
            if not off <= TOLERANCE:
                print(f"{path}: {off:.2g}")
                wrong += 1
    print(f"{seen} graphs, at worst {worst:.2g} of the largest output")
    return wrong or seen < 300


def imported(folder):
    wrong, worst, seen = 0, 0.0, 0
    for path in sorted(glob.glob(f"{folder}/*.back.onnx")):
        before = path[: -len(".back.onnx")] + ".onnx"
        off = error(by_runtime(path, before + ".x")[0], by_runtime(before)[0])
        worst, seen = max(worst, off), seen + 1
        if not off <= 20 * TOLERANCE:  # both in f32, and values in between may be larger than the last
            print(f"{before}: {off:.2g}")
            wrong += 1
    print(f"{seen} graphs came back, at worst {worst:.2g} of the largest output")
    return wrong or seen < 40


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    sys.exit((check if sys.argv[1] == "check" else imported)(sys.argv[2]))
