# SPDX-License-Identifier: MIT
"""Estimators in skl2onnx's graphs, run by onnxruntime."""

import numpy as np
import pytest

pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")
from skl2onnx import to_onnx
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from spherelu import Classifier, Regressor

X = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32)
QUICK = dict(hidden=8, epochs=5)


def outputs(graph, x):
    session = runtime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_regressor_in_a_pipeline_predicts_the_same(dtype):
    x = X.astype(dtype)
    model = make_pipeline(StandardScaler(), Regressor(**QUICK)).fit(x, x[:, 0])
    (found,) = outputs(to_onnx(model, x[:1]), x)
    assert np.allclose(found.ravel(), model.predict(x), atol=1e-4)


def test_an_ensemble_and_several_targets():
    model = Regressor(ensemble=3, epochs=3).fit(X, X[:, :2])
    (found,) = outputs(to_onnx(model, X[:1]), X)
    assert found.shape == (200, 2) and np.allclose(found, model.predict(X), atol=1e-4)


@pytest.mark.parametrize("labels", [["a", "b"], ["x", "y", "z"], [3, 5], [0, 1, 2]])
def test_classes_keep_their_labels(labels):
    y = np.array(labels)[np.digitize(X[:, 0], [-0.4, 0.4][: len(labels) - 1])]
    model = Classifier(**QUICK).fit(X, y)
    found, shares = outputs(to_onnx(model, X[:1], options={"zipmap": False}), X)
    assert np.mean(found == model.predict(X)) > 0.99  # rows on the boundary may round to the other side
    assert np.allclose(shares, model.predict_proba(X), atol=1e-4)
    named = outputs(to_onnx(model, X[:1]), X)[1]  # the default: a dictionary of each row
    assert list(named[0]) == sorted(labels)


def test_text_is_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")})
    with pytest.raises(ValueError, match="text or dates"):
        to_onnx(Regressor(**QUICK).fit(table, X[:, 2]), X[:1, :2])
