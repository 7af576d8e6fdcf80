# SPDX-License-Identifier: MIT
"""Converters of the estimators for skl2onnx, which puts them into the graph of a pipeline."""

from __future__ import annotations

import os
import tempfile
from typing import Any

import onnx
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import FloatTensorType, Int64TensorType, StringTensorType
from skl2onnx.common.utils import check_input_and_output_numbers


def _graph(estimator: Any) -> Any:
    """The estimator's own graph, as the library writes it."""
    if estimator.model_.columns is not None and not estimator.model_.columns.plain:
        raise ValueError(
            f"{type(estimator).__name__} was fitted on text or dates, which an ONNX graph does not encode: encode them in earlier steps"
            " of a Pipeline, for example by a OneHotEncoder"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.onnx")
        estimator.export_onnx(path)
        return onnx.load(path).graph


def _shapes(operator: Any) -> None:
    check_input_and_output_numbers(operator, input_count_range=1)
    estimator, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    if not hasattr(estimator, "classes_"):
        operator.outputs[0].type = FloatTensorType([rows, estimator.model_.nets[0].outputs])
        return
    numbers = estimator.classes_.dtype.kind in "iub"
    operator.outputs[0].type = (Int64TensorType if numbers else StringTensorType)([rows])
    operator.outputs[1].type = FloatTensorType([rows, len(estimator.classes_)])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph = _graph(operator.raw_operator)
    names: dict[str, str] = {"X": operator.inputs[0].full_name}
    if not isinstance(operator.inputs[0].type, FloatTensorType):  # the graph is float32
        names["X"] = scope.get_unique_variable_name("X")
        container.add_node("Cast", operator.inputs[0].full_name, names["X"], op_version=13, to=onnx.TensorProto.FLOAT, name=scope.get_unique_operator_name("Cast"))
    for ours, theirs in zip(graph.output, operator.outputs):
        names[ours.name] = theirs.full_name

    def renamed(name: str) -> str:
        if name and name not in names:
            names[name] = str(scope.get_unique_variable_name(name))
        return names.get(name, "")

    for tensor in graph.initializer:
        tensor.name = renamed(tensor.name)
        container.initializers.append(tensor)
    for node in graph.node:
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        container.add_node(
            node.op_type,
            [renamed(name) for name in node.input],
            [renamed(name) for name in node.output],
            op_domain=node.domain,
            op_version=13,
            name=scope.get_unique_operator_name(node.op_type),
            **attributes,
        )


def register(regressor: type, classifier: type) -> None:
    """Tells skl2onnx of the estimators."""
    update_registered_converter(regressor, "SphereluRegressor", _shapes, _convert)
    options = {"zipmap": [True, False, "columns"], "nocl": [True, False], "output_class_labels": [False, True]}
    update_registered_converter(classifier, "SphereluClassifier", _shapes, _convert, options=options)
