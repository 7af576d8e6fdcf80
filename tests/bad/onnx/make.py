#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Writes the graphs of this folder, each broken in one way; expect.txt has the failure that each must give. Needs the Python
# package onnx.
import os

import numpy as np
from onnx import NodeProto
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

os.chdir(os.path.dirname(os.path.abspath(__file__)))


def const(name, *shape, dtype="f4"):
    return numpy_helper.from_array((np.arange(int(np.prod(shape))) % 7 / 7 - 0.4).reshape(shape).astype(dtype), name)


def model(nodes, constants, shape=("N", 3), out="y", opset=13, kind=T.FLOAT, inputs=("x",), outputs=None):
    graph = h.make_graph(nodes, "g", [h.make_tensor_value_info(i, kind, shape) for i in inputs],
                         [h.make_tensor_value_info(o, T.FLOAT, None) for o in (outputs or [out])], constants)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=7)


def save(name, what):
    data = what if isinstance(what, bytes) else what.SerializeToString()
    with open(name + ".onnx", "wb") as file:
        file.write(data)


w, b = const("w", 2, 3), const("b", 2)
gemm = h.make_node("Gemm", ["x", "w", "b"], ["y"], name="last", transB=1)
fine = model([gemm], [w, b])
conv_w = const("w", 2, 3, 3, 3)
image = ("N", 3, 5, 5)


def conv(**more):
    return model([h.make_node("Conv", ["x", "w"], ["c"], name="conv", **more), h.make_node("GlobalAveragePool", ["c"], ["y"])],
                 [conv_w], image)


save("ok-gemm", fine)
save("ok-matmul-add", model([h.make_node("MatMul", ["x", "w"], ["m"]), h.make_node("Add", ["b", "m"], ["y"])], [const("w", 3, 2), b]))
save("ok-f64", model([gemm], [const("w", 2, 3, dtype="f8"), const("b", 2, dtype="f8")], kind=T.DOUBLE))
save("ok-whole-image", model([h.make_node("Flatten", ["x"], ["f"]), h.make_node("Gemm", ["f", "w", "b"], ["y"], transB=1)],
                             [const("w", 2, 12), b], ("N", 3, 2, 2)))
save("ok-constant-node", model([h.make_node("Constant", [], ["w"], value=w), gemm], [b]))

save("empty", b"")
save("not-protobuf", b"a text, and no messages\n")
save("graph-twice", fine.SerializeToString() * 2)
save("truncated", fine.SerializeToString()[:-9])
save("opset-too-new", model([gemm], [w, b], opset=99))
save("opset-too-old", model([gemm], [w, b], opset=6))
save("unknown-node", model([h.make_node("Tanh", ["x"], ["t"], name="bend"), h.make_node("Gemm", ["t", "w", "b"], ["y"], transB=1)],
                           [w, b]))
save("unknown-domain", model([h.make_node("Gemm", ["x", "w"], ["y"], name="mine", domain="my.own")], [w]))
body = h.make_graph([h.make_node("Identity", ["c"], ["d"])], "body", [], [])
save("loop-node", model([h.make_node("Loop", ["x"], ["y"], name="again", body=body)], []))
save("goes-round", model([h.make_node("Add", ["x", "p"], ["q"], name="first"), h.make_node("Relu", ["q"], ["p"])], [], out="p"))
save("out-of-order", model([h.make_node("Relu", ["h"], ["y"], name="early"), h.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1)], [w, b]))
save("given-twice", model([gemm, gemm], [w, b]))


def changed(tensor, **fields):
    t = T()
    t.CopyFrom(tensor)
    for key, value in fields.items():
        t.ClearField(key)
        (getattr(t, key).extend if isinstance(value, list) else lambda v: setattr(t, key, v))(value)
    return t


outside = changed(w, data_location=T.EXTERNAL, raw_data=b"")
outside.ClearField("raw_data")
for name, place in [("external-missing", "gone.bin"), ("external-absolute", "/etc/passwd"), ("external-above", "../safetensors/make.py"),
                    ("external-short", "empty.onnx")]:
    t = changed(outside)
    t.external_data.add(key="location", value=place)
    save(name, model([gemm], [t, b]))
save("shape-too-large", model([gemm], [changed(w, dims=[2000000, 3]), b]))
save("shape-overflows", model([gemm], [changed(w, dims=[1 << 40, 1 << 40]), b]))
save("shape-negative", model([gemm], [changed(w, dims=[-2, 3]), b]))
save("nine-dimensions", model([gemm], [changed(w, dims=[1] * 7 + [2, 3]), b]))
save("type-int8", model([gemm], [changed(w, data_type=3), b]))
save("not-finite", model([gemm], [numpy_helper.from_array(np.full((2, 3), np.nan, "f4"), "w"), b]))
save("weight-computed", model([h.make_node("Gemm", ["x", "x", "b"], ["y"], name="last")], [b]))
save("weight-does-not-fit", model([gemm], [const("w", 2, 4), b]))
save("bias-does-not-fit", model([gemm], [w, const("b", 5)]))
save("no-weight", model([h.make_node("Gemm", ["x"], ["y"], name="last")], []))
save("no-input", model([gemm], [w, b], inputs=()))
save("two-inputs", model([gemm], [w, b], inputs=("x", "z")))
save("three-dimensions", model([gemm], [w, b], ("N", 3, 4)))
save("open-size", conv())
save("image-open", model([h.make_node("Conv", ["x", "w"], ["y"])], [conv_w], ("N", 3, "H", "W")))
save("image-huge", model([h.make_node("Conv", ["x", "w"], ["y"])], [conv_w], ("N", 3, 1 << 40, 1 << 40)))
save("input-int", model([gemm], [w, b], kind=T.INT64))
save("no-layer", model([h.make_node("Identity", ["x"], ["y"])], []))
save("no-output", model([gemm], [w, b], out="nobody"))
save("two-outputs", model([h.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1), h.make_node("Gemm", ["x", "w"], ["y"], transB=1)], [w, b],
                          outputs=["h", "y"]))
save("image-out", model([h.make_node("Conv", ["x", "w"], ["y"])], [conv_w], image))
save("conv-channels", model([h.make_node("Conv", ["x", "w"], ["y"], name="conv")], [const("w", 2, 4, 3, 3)], image))
save("conv-oblong", model([h.make_node("Conv", ["x", "w"], ["y"], name="conv")], [const("w", 2, 3, 3, 1)], image))
save("conv-dilated", conv(dilations=[2, 2]))
save("conv-pads", conv(pads=[1, 0, 1, 0]))
save("conv-auto-pad", conv(auto_pad="SAME_UPPER"))
save("conv-strides", conv(strides=[0, 0]))
save("conv-pads-huge", conv(pads=[1 << 62] * 4))
save("conv-groups", conv(group=1 << 62))
save("kernel-too-large", model([h.make_node("Conv", ["x", "w"], ["y"], name="conv")], [const("w", 2, 3, 7, 7)], image))
save("variance-negative", model([h.make_node("MatMul", ["x", "w"], ["h"]), h.make_node("BatchNormalization", ["h", "b", "b", "b", "b"], ["y"], name="bn")],
                                [const("w", 3, 2), b]))
save("bn-alone", model([h.make_node("BatchNormalization", ["x", "b", "b", "b", "b"], ["y"], name="bn")], [const("b", 3)]))
save("leaky-slope", model([gemm, h.make_node("LeakyRelu", ["y"], ["z"], name="leak", alpha=0.3)], [w, b], out="z"))
save("layer-behind-softmax", model([h.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1), h.make_node("Softmax", ["h"], ["s"]),
                                    h.make_node("Gemm", ["s", "v"], ["y"], name="late")], [w, b, const("v", 2, 2)]))
save("divides-by-zero", model([h.make_node("Div", ["x", "z"], ["h"], name="over"), h.make_node("Gemm", ["h", "w", "b"], ["y"], transB=1)],
                              [w, b, numpy_helper.from_array(np.zeros(3, "f4"), "z")]))
save("flattened-constant", model([h.make_node("Conv", ["x", "w"], ["c"]), h.make_node("Flatten", ["c"], ["f"]),
                                  h.make_node("Add", ["f", "k"], ["s"], name="shift"), h.make_node("Gemm", ["s", "v"], ["y"])],
                                 [conv_w, const("k", 18), const("v", 18, 2)], image))
save("ok-flattened-factor", model([h.make_node("Conv", ["x", "w"], ["c"]), h.make_node("Flatten", ["c"], ["f"]),
                                   h.make_node("Mul", ["f", "k"], ["s"]), h.make_node("Gemm", ["s", "v"], ["y"])],
                                  [conv_w, const("k", 1), const("v", 18, 2)], image))
scaler = h.make_node("Scaler", ["x"], ["s"], name="scale", domain="ai.onnx.ml", offset=[0.0], scale=[2.0])
save("scaled-and-not", model([scaler, h.make_node("Gemm", ["s", "w", "b"], ["p"], transB=1), h.make_node("Gemm", ["x", "w", "b"], ["q"], transB=1),
                              h.make_node("Add", ["p", "q"], ["y"])], [w, b]))
wide = 1 << 20
grows = [h.make_node("MaxPool", [f"p{i}" if i else "x"], [f"p{i + 1}"], name=f"p{i}", kernel_shape=[wide] * 2, pads=[wide - 1] * 4)
         for i in range(40)]
save("grows-and-grows", model(grows + [h.make_node("GlobalAveragePool", ["p40"], ["y"])], [], ("N", 1 << 20, 2, 2)))
save("too-many-nodes", model([NodeProto() for i in range(20001)], []))
save("ok-factor-behind-relu", model([h.make_node("Sub", ["x", "m"], ["c"]), h.make_node("Div", ["c", "d"], ["z"]),
                                     h.make_node("Gemm", ["z", "w", "b"], ["g"], transB=1), h.make_node("Relu", ["g"], ["r"]),
                                     h.make_node("Mul", ["r", "k"], ["s"]), h.make_node("Gemm", ["s", "v"], ["y"])],
                                    [w, b, const("m", 3), const("d", 1, 3), const("k", 2), const("v", 2, 2)]))
save("sum-does-not-fit", model([h.make_node("Gemm", ["x", "w", "b"], ["p"], transB=1), h.make_node("Add", ["p", "x"], ["y"], name="sum")], [w, b]))
