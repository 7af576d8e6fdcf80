# SPDX-License-Identifier: MIT
"""Arguments that nobody would think of: each call returns or raises an exception of Python's, and the process lives on.

A crash ends the process, so that the run is bounded and in a process of its own (python/tests/run). SPHERELU_FUZZ is the number of
examples of each test, 25 unless set.
"""

import os
import tempfile

import numpy as np
import pytest

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import spherelu

settings.register_profile(
    "bounded",
    max_examples=int(os.environ.get("SPHERELU_FUZZ", "25")),
    deadline=None,
    derandomize="SPHERELU_FUZZ" not in os.environ,
    database=None,
    suppress_health_check=list(HealthCheck),
)
settings.load_profile("bounded")

# What a call may raise. Others, and a crash, are defects.
FAILURES = (spherelu.Error, ValueError, TypeError, IndexError, OverflowError, MemoryError, OSError, ArithmeticError)

odd_numbers = st.one_of(
    st.integers(-(2**70), 2**70), st.integers(-3, 40), st.floats(allow_nan=True), st.sampled_from([0, -0.0, 1e308, float("inf"), 2**31, 2**63, 2**64 - 1])
)
odd = st.one_of(
    st.none(),
    st.booleans(),
    odd_numbers,
    st.text(max_size=20),
    st.binary(max_size=20),
    st.lists(odd_numbers, max_size=4),
    st.dictionaries(st.text(max_size=3), odd_numbers, max_size=2),
    st.sampled_from([object(), np.float32(0.5), np.array([]), np.array(3), "none", "auto", "full", "mse", "poisson", "sp", "gmp", "0", "-1", "\0", "é"]),
)
arrays = st.one_of(
    hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_]), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=12)),
    hnp.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(3)), elements=st.floats(allow_nan=True, allow_infinity=True)),
    odd,
)


def survives(work):
    try:
        return work()
    except FAILURES:
        return None


@pytest.fixture(scope="module")
def net():
    x = np.random.default_rng(0).normal(size=(40, 3))
    return spherelu.train(x, x[:, 0], hidden=[5, 4], epochs=2).net


@pytest.fixture(scope="module")
def data():
    x = np.random.default_rng(0).normal(size=(40, 3))
    return x, np.abs(x[:, 0])


NAMES = [o.name for o in spherelu.options(in_memory=True) if o.name not in ("threads",)]
SMALL = {"epochs": 1, "hidden": 3, "ensemble": 1}


@given(chosen=st.dictionaries(st.sampled_from(NAMES), odd, max_size=3))
def test_options(data, chosen):
    for name in ("epochs", "hidden", "ensemble", "width"):  # nets as large as memory are no crash, but take their time
        if isinstance(chosen.get(name), (int, float)) and chosen[name] > 50:
            chosen[name] = 50
    survives(lambda: spherelu.train(*data, **{**SMALL, **chosen}))


@given(x=arrays, y=arrays, task=st.sampled_from([None, "regression", "binary", "classes", "guess"]), weights=st.one_of(st.none(), arrays))
def test_data(x, y, task, weights):
    if isinstance(x, str):
        return
    survives(lambda: spherelu.train(x, y, task=task, sample_weight=weights, **SMALL))


@given(x=arrays)
def test_calls_of_a_net(net, x):
    for work in (net, net.predict, net.predict_proba, net.boundaries, net.regions, lambda x: net.boundaries(layer=x), lambda x: net.weight(x)):
        survives(lambda: work(x))
    survives(lambda: net.regions(plane=x, most=100))
    survives(lambda: spherelu.boundaries(net, x, raw=x))


@given(name=odd, values=arrays)
def test_what_is_set(net, name, values):
    copy = net.copy()
    survives(lambda: copy.set(name, values))
    survives(lambda: setattr(copy, "note", name))
    survives(lambda: copy.predict(np.zeros((2, 3))))
    survives(lambda: copy.convert(name))
    survives(copy.to_bytes)
    survives(lambda: spherelu.Ensemble([copy, net]).predict(np.zeros((2, 3))))


notes = st.recursive(
    st.one_of(st.none(), st.booleans(), odd_numbers, st.text(max_size=8), st.sampled_from(["regression", "binary", "classes", "feature", "text", "date", "number"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["task", "classes", "columns", "named", "loss", "labels", "role", "kind", "levels", "first", "name", "missing"]), inner, max_size=5),
    ),
    max_leaves=12,
)


@given(note=notes)
def test_notes_of_files(net, note):
    import json

    copy = net.copy()
    survives(lambda: setattr(copy, "note", json.dumps(note)))
    with tempfile.TemporaryDirectory() as folder:
        survives(lambda: copy.save(folder + "/m.safetensors"))
        survives(lambda: copy.export_onnx(folder + "/m.onnx"))
        again = survives(lambda: spherelu.load(folder + "/m.safetensors")) or copy
        for work in (lambda: again.classes, lambda: again.columns, lambda: again.predict(np.zeros((2, 3))), lambda: again.predict_proba(np.zeros((2, 3)))):
            survives(work)


@given(data=st.data())
def test_damaged_files(net, data):
    bytes_ = bytearray(net.to_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(bytes_) - 1))
        bytes_[at] = data.draw(st.integers(0, 255))
    cut = bytes(bytes_[: data.draw(st.integers(0, len(bytes_)))])
    for damaged in (bytes(bytes_), cut):
        found = survives(lambda: spherelu.Net.from_bytes(damaged))
        if found is not None:
            survives(lambda: found(np.zeros((2, found.inputs))) if found.inputs < 1000 else None)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("m.safetensors", "m.onnx"):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(bytes_)
            survives(lambda: spherelu.load(os.path.join(folder, name)))


@given(eps=arrays, inputs=odd, options=st.dictionaries(st.sampled_from(["length", "distance", "rows", "units", "seed"]), odd, max_size=3))
def test_perturbations(eps, inputs, options):
    if isinstance(inputs, int) and inputs > 1000 or any(isinstance(v, int) and v > 1000 for v in options.values()):
        return
    survives(lambda: spherelu.perturb(eps, inputs=inputs, **options))


@given(path=odd, options=st.dictionaries(st.sampled_from(["task", "classes"]), odd, max_size=2))
def test_paths(path, options):
    if isinstance(path, int) and not isinstance(path, bool):
        return  # open files of the test
    survives(lambda: spherelu.load(path, **options))
    survives(lambda: spherelu.convert(path, "sp"))
    survives(lambda: spherelu.run(path))


@given(
    keywords=st.dictionaries(st.sampled_from([*NAMES, "n_jobs", "random_state", "warm_start", "early_stopping"]), odd, max_size=2), x=arrays, y=arrays
)
def test_estimators(data, keywords, x, y):
    pytest.importorskip("sklearn", minversion="1.2")
    if keywords.get("n_jobs") is not None:
        keywords["n_jobs"] = 1
    for name in ("epochs", "hidden", "ensemble", "width", "test"):
        keywords.pop(name, None)
    keywords.pop("task", None)
    own = {"epochs": 1, "hidden": 3, "ensemble": 1}
    survives(lambda: spherelu.Regressor(**own, **keywords).fit(*data).predict(x))
    survives(lambda: spherelu.Classifier(**own, **keywords).fit(data[0], data[1] > 0.5).predict_proba(x))
    survives(lambda: spherelu.Classifier(**own).fit(x, y))
