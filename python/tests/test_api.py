# SPDX-License-Identifier: MIT
"""What a user of Python expects of the package: predictions, models from files, numbers of every kind, names and docs."""

import ctypes
import inspect
import json
import os
import pickle
import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import spherelu

SMALL = dict(hidden=8, epochs=30)


def tool(*arguments):
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.run([os.environ["SPHERELU_TOOL"], *map(str, arguments)], check=True, capture_output=True, text=True, env=env).stdout


def write_csv(path, x, y):
    heads = [f"x{j}" for j in range(x.shape[1])] + ["y"]
    rows = [",".join([*(repr(float(v)) for v in row), str(label)]) for row, label in zip(x, y)]
    path.write_text("\n".join([",".join(heads), *rows]) + "\n")
    return path


@pytest.fixture
def counts(rng):
    x = rng.normal(size=(200, 3))
    return x, rng.poisson(np.exp(0.5 * x[:, 0] + 1)).astype(float)


# ---------------------------------------------------------------- predictions


@pytest.mark.parametrize("ensemble", [1, 3])
def test_a_poisson_net_predicts_means_of_counts(counts, tmp_path, ensemble):
    x, y = counts
    run = spherelu.train(x, y, loss="poisson", ensemble=ensemble, **SMALL)
    means = np.mean([np.exp(net(x)[:, 0]) for net in run.nets], axis=0)
    assert np.allclose(run.predict(x), means, rtol=1e-12) and (run.predict(x) > 0).all()
    assert np.allclose(run.net(x)[:, 0], np.log(means), rtol=1e-9)
    assert abs(run.predict(x).mean() / y.mean() - 1) < 0.5
    csv, out = write_csv(tmp_path / "counts.csv", x, y), tmp_path / "run"
    common = ["--loss", "poisson", "--hidden", 8, "--epochs", 30, "--ensemble", ensemble]
    tool("train", "--quiet", "--no-report", "--data", csv, *common, "--out", out)
    said = [float(line.split(",")[0]) for line in tool("predict", out, "--data", csv).splitlines()[1:]]
    for model in (spherelu.load(out), spherelu.load(out / "model.safetensors")):
        assert model.loss == "poisson" and np.array_equal(model.predict(x), said)


@pytest.mark.parametrize("loss", ["mse", "mae", "huber"])
def test_other_losses_predict_what_the_net_gives(counts, loss):
    x, y = counts
    run = spherelu.train(x, y, loss=loss, **SMALL)
    assert np.array_equal(run.predict(x), run.net(x)[:, 0])
    with pytest.raises(spherelu.ArgumentError):
        run.predict_proba(x)
    with pytest.raises(spherelu.ArgumentError):
        run.predict(x, return_std=True)


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [0.5, 1.5], [False, True], ["a", "b", "c"], [0, 1, 2]])
@pytest.mark.parametrize("ensemble", [1, 2])
def test_classes_are_predicted_by_their_labels(rng, tmp_path, labels, ensemble):
    x = rng.normal(size=(150, 2))
    y = np.array(labels)[np.digitize(x[:, 0], np.linspace(-0.4, 0.4, len(labels) - 1)) if len(labels) > 2 else (x[:, 0] > 0).astype(int)]
    run = spherelu.train(x, y, task="binary" if len(labels) == 2 else "classes", ensemble=ensemble, **SMALL)
    assert run.predict(x).dtype == np.array(labels).dtype and (run.predict(x) == y).mean() > 0.8
    p = run.predict_proba(x)
    assert p.shape == (150, len(labels)) and np.allclose(p.sum(axis=1), 1)
    assert (run.classes[p.argmax(axis=1)] == run.predict(x)).all()
    run.save(tmp_path / "model.safetensors")
    again = spherelu.load(tmp_path / "model.safetensors")
    assert again.classes.tolist() == labels and again.classes.dtype == run.classes.dtype
    assert np.array_equal(again.predict(x), run.predict(x)) and np.array_equal(again.predict_proba(x), p)


def test_a_default_run_s_net_is_what_was_scored(table):
    x, y = table
    run = spherelu.train(x, y)
    assert isinstance(run.net, spherelu.Ensemble) and len(run.nets) == len(run.net) == 5
    assert np.allclose(run.net(x), np.mean([net(x) for net in run.nets], axis=0), rtol=0, atol=1e-12)
    assert np.array_equal(run.net(x)[:, 0], run.predict(x))
    mean, spread = run.predict(x, return_std=True)
    assert np.allclose(spread, np.std([net(x)[:, 0] for net in run.nets], axis=0, ddof=1)) and np.array_equal(mean, run.predict(x))
    with pytest.raises(spherelu.ArgumentError, match="nets"):
        run.net.boundaries(x)
    for again in (pickle.loads(pickle.dumps(run.net)), run.net.copy()):
        assert np.array_equal(again.predict(x), run.predict(x))
    assert np.allclose(run.net.convert("sp").predict(x), run.predict(x), atol=1e-4)
    more = spherelu.train(x, y, start=run.net)
    assert len(more.nets) == 5
    all_rows = spherelu.train(x, y, test=0.5, seed=1)
    assert all_rows.scores["test"]["rmse"] > 0


def test_a_tracker_says_that_it_takes_one_net(table):
    with pytest.warns(UserWarning, match="ensemble=1"):
        run = spherelu.train(*table, callbacks=[spherelu.Tracker()])
    assert len(run.nets) == 1
    with pytest.warns(UserWarning, match="ensemble=1"):
        spherelu.train("crescents", callbacks=[spherelu.Tracker()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spherelu.train(*table, callbacks=[spherelu.Tracker()], ensemble=1, epochs=2)
        spherelu.train(*table, callbacks=[spherelu.Tracker()], epochs=2)


# ---------------------------------------------------------------- what integers are

TARGETS = {
    "many": np.arange(300) % 150,
    "five hundred": np.arange(1020) % 510,
    "numbered": np.arange(300) % 4,
    "from one": np.arange(300) % 4 + 1,
    "with a gap": np.array([0, 1, 3])[np.arange(300) % 3],
    "from two": np.arange(300) % 3 + 2,
    "two": np.array([5, 9])[np.arange(300) % 2],
    "twenty": np.arange(300) % 20,
    "twenty-one": np.arange(300) % 21,
    "few rows": np.arange(12) % 7,
    "negative": np.arange(300) % 5 - 2,
}


@pytest.mark.parametrize("case", TARGETS)
def test_integers_are_what_the_tool_takes_a_column_for(case, rng, tmp_path):
    y = TARGETS[case]
    x = rng.normal(size=(len(y), 2))
    tool("train", "--quiet", "--no-report", "--data", write_csv(tmp_path / "t.csv", x, y), "--epochs", 1, "--out", tmp_path / "run")
    config = (tmp_path / "run" / "config.yaml").read_text()
    theirs = next(line.split(":")[1].strip() for line in config.splitlines() if line.strip().startswith("task:"))
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        run = spherelu.train(x, y, epochs=1)
    assert run.options["task"] == theirs
    assert bool(heard) == (theirs == "regression") and (theirs != "regression" or "task='classes'" in run.notes[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert spherelu.train(x, y, task="regression", epochs=1).options["task"] == "regression"


def test_the_task_decides(rng):
    x = rng.normal(size=(120, 2))
    assert spherelu.train(x, np.arange(120) % 30, task="classes", epochs=1).net.outputs == 30
    assert spherelu.train(x, np.arange(120) % 2, task="classes", epochs=1).net.outputs == 2
    with pytest.warns(UserWarning, match="task='binary'"):
        assert spherelu.train(x, np.arange(120) % 2.0, epochs=1).options["task"] == "regression"
    for wrong in (dict(task="binary"), dict(task="guess")):
        with pytest.raises(spherelu.ArgumentError) as caught:
            spherelu.train(x, np.arange(120) % 3, epochs=1, **wrong)
        assert caught.value.key == "task"
    with pytest.raises(spherelu.ArgumentError):
        spherelu.train(x, np.ones(120, dtype=int), task="classes", epochs=1)
    with pytest.raises(spherelu.ArgumentError):
        spherelu.train(x, [None, *range(119)], epochs=1)


# ---------------------------------------------------------------- numbers of every kind

NUMBERS = [np.float64(0.001), np.float32(0.001), np.float16(0.001), np.array(0.001), Decimal("0.001"), Fraction(1, 1000), "0.001", np.str_("0.001"), np.longdouble("0.001")]


@pytest.mark.parametrize("lr", NUMBERS, ids=lambda value: type(value).__name__)
def test_every_number_is_a_number(lr, table):
    run = spherelu.train(*table, lr=lr, epochs=1)
    assert np.isclose(float(run.options["lr"]), 0.001, rtol=1e-3)


@pytest.mark.parametrize("whole", [2, 2.0, np.int8(2), np.uint64(2), np.float32(2), np.array(2), "2", Fraction(2), True + 1])
def test_every_whole_number_is_one(whole, table, tmp_path):
    assert spherelu.train(*table, epochs=whole, hidden=whole, ensemble=whole, seed=whole, batch=whole).epochs == 2
    net = spherelu.train(table[0][:, :2], table[1], hidden=[whole, whole], epochs=1).net
    if not isinstance(whole, (str, float, Fraction, np.floating)):
        assert len(spherelu.perturb(inputs=whole, rows=whole)) == 5
        assert net.boundaries(layer=whole - whole) and net.weight(whole)[0].shape == (1, 2)
    path = tmp_path / "small.yaml"
    path.write_text("name: small\ndata: {name: crescents, rows: 60}\ntrain: {epochs: 5}\nmethods:\n  - {name: SP, param: sp}\nseeds: 1\n")
    if not isinstance(whole, Fraction):
        assert spherelu.run(path, tmp_path / "out", set={"train.epochs": whole, "train.lr": np.float32(0.25)}).failed == 0


@pytest.mark.parametrize("switch", [True, np.True_, np.array(True), "true"])
def test_every_bool_is_one(switch, table):
    assert spherelu.train(*table, optimizer="sgd", momentum=0.9, nesterov=switch, epochs=1).options["nesterov"] == "true"


@pytest.mark.parametrize("shape", [(-1,), (1,), (0, 2)])
def test_sample_weights_of_another_shape_are_refused(shape, table):
    x, y = table
    weights = np.ones((len(x) + shape[0], *shape[1:]))
    with pytest.raises(spherelu.ArgumentError) as caught:
        spherelu.train(x, y, sample_weight=weights, epochs=1)
    assert caught.value.key == "sample_weight"


@pytest.mark.parametrize("bad", [b"0.1", {0.1}, {0.1: 1}, object(), 1j, np.complex128(1), float("nan"), np.datetime64("2024-01-01"), [[0.1]] * 2])
def test_what_is_no_option_is_refused_by_name(bad, table):
    with pytest.raises(ValueError) as caught:
        spherelu.train(*table, lr=bad, epochs=1)
    assert caught.value.key == "lr" and "--" not in str(caught.value)


@pytest.mark.parametrize(
    "options, word",
    [(dict(lr_theta=-1), "lr_theta"), (dict(weight_decay="a"), "weight_decay"), (dict(groups=3), "groups"), (dict(learning_rate=1), "learning_rate"), (dict(opochs=3), "epochs")],
)
def test_messages_are_in_python_s_words(options, word, table):
    with pytest.raises(spherelu.ArgumentError) as caught:
        spherelu.train(*table, **{"epochs": 1, **options})
    assert word in str(caught.value) and "--" not in str(caught.value) and word.replace("_", "-") not in str(caught.value).replace(word, "")


def test_paths_in_messages_stay_what_they_are(tmp_path):
    path = tmp_path / "--lr-theta.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(spherelu.Error) as caught:
        spherelu.train(path, epochs=1)
    assert str(path) in str(caught.value) and caught.value.path == str(path)


# ---------------------------------------------------------------- models from files


def test_run_folders_load_with_their_columns(rng, tmp_path):
    pd = pytest.importorskip("pandas")
    rows = 120
    day = pd.to_datetime("2024-01-31") + pd.to_timedelta(rng.integers(0, 300, rows), "D")
    t = pd.DataFrame({"size": rng.normal(size=rows), "id": np.arange(rows), "colour": rng.choice(["red", "green"], rows), "day": day.strftime("%d/%m/%Y")})
    t["kind"] = np.where(t["size"] + (t["colour"] == "red") > 0.5, "big", "small")
    t.loc[::11, "size"] = np.nan
    t.to_csv(tmp_path / "t.csv", index=False)
    for target, options in (("kind", ()), ("size", ("--drop", "id", "--columns", "reversed", "--missing", "drop"))):
        out = tmp_path / target
        tool("train", "--quiet", "--no-report", "--data", tmp_path / "t.csv", "--target", target, *options, "--epochs", 5, "--ensemble", 2, "--out", out)
        lines = [line.split(",") for line in tool("predict", out, "--data", tmp_path / "t.csv").splitlines()]
        said = [line[lines[0].index("class" if target == "kind" else "prediction")] for line in lines[1:]]
        model = spherelu.load(out)
        asked = pd.read_csv(tmp_path / "t.csv")
        if target == "size":
            asked, said = asked[["day", "colour", "kind"]], np.array(said, dtype=float)
            assert np.allclose(model.predict(asked)[asked.index % 11 != 0] if len(said) < rows else model.predict(asked), said, rtol=1e-12)
        else:
            assert model.predict(asked).tolist() == said and model.classes.tolist() == ["big", "small"]
            assert [column.kind for column in model.columns][:1] == ["number"] and "colour" in model.columns.names
        model.save(tmp_path / "m.safetensors")
        assert np.array_equal(spherelu.load(tmp_path / "m.safetensors").predict(asked), model.predict(asked))
        with pytest.raises(spherelu.ArgumentError) as caught:
            model.predict(asked.drop(columns="colour"))
        assert caught.value.key == "colour"
        with pytest.raises(spherelu.ArgumentError):
            model.predict(np.zeros((3, 4)))


def test_a_file_training_predicts_and_names_its_classes(tmp_path):
    run = spherelu.train("crescents", out=tmp_path / "run", epochs=20, ensemble=2)
    x = np.random.default_rng(0).normal(size=(20, 2))
    assert run.classes is not None and set(run.predict(x)) <= set(run.classes)
    assert np.array_equal(spherelu.load(tmp_path / "run").predict_proba(x), run.predict_proba(x))


def test_tables_of_every_library_train_and_predict(rng, tmp_path):
    pd = pytest.importorskip("pandas")
    t = pd.DataFrame({"size": rng.normal(size=90), "colour": rng.choice(["red", "green"], 90), "sure": rng.random(90) < 0.5})
    y = t["size"] + 2.0 * (t["colour"] == "red")
    run = spherelu.train(t, y, **SMALL)
    assert run.net.inputs == 4 and run.net.columns.names == ["size", "colour", "sure"]
    assert np.array_equal(run.predict(t[["sure", "colour", "size"]].assign(more=1)), run.predict(t))
    run.save(tmp_path / "m.safetensors")
    assert np.array_equal(spherelu.load(tmp_path / "m.safetensors").predict(t), run.predict(t))
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({name: t[name].tolist() for name in t}).with_columns(pl.col("colour").cast(pl.Categorical))
    theirs = spherelu.train(frame, pl.Series(y.tolist()), **SMALL)
    assert np.array_equal(theirs.predict(frame), run.predict(t)) and np.array_equal(theirs.predict(t), run.predict(frame.lazy()))
    words = spherelu.train(frame, pl.Series(np.where(y > 1, "up", "down").tolist()).cast(pl.Categorical), **SMALL)
    assert words.classes.tolist() == ["down", "up"]
    pa = pytest.importorskip("pyarrow")
    assert np.array_equal(run.predict(pa.Table.from_pandas(t)), run.predict(t))


def test_polars_columns_of_every_kind(rng):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    import datetime

    days = [None if i % 9 == 0 else datetime.date(2024, 1, 1) + datetime.timedelta(days=i) for i in range(60)]
    times = [datetime.datetime(2024, 1, 1, i % 24) for i in range(60)]
    columns = {
        "whole": [None if i % 7 == 0 else i % 5 for i in range(60)],
        "yes": [i % 3 == 0 for i in range(60)],
        "word": [None if i % 11 == 0 else "ab"[i % 2] for i in range(60)],
        "day": days,
        "time": times,
        "long": [datetime.timedelta(hours=i) for i in range(60)],
    }
    polars = spherelu.Columns.of_table(pl.DataFrame(columns))
    assert [c.kind for c in polars] == ["number", "number", "text", "date", "date", "duration"]
    theirs = pd.DataFrame({**columns, "whole": pd.array(columns["whole"], dtype="Int64"), "day": pd.to_datetime(pd.Series(days)), "time": pd.to_datetime(pd.Series(times))})
    assert spherelu.Columns.of_table(theirs) == polars
    assert np.array_equal(polars.encode(pl.DataFrame(columns)), polars.encode(theirs), equal_nan=True)
    assert spherelu.Columns.of_note(json.loads(json.dumps({"named": True, "columns": polars.to_note()}))) == polars
    with pytest.raises(spherelu.ArgumentError) as caught:
        spherelu.Columns.of_table(pl.DataFrame({"odd": [[1], [2]]}))
    assert caught.value.key == "odd"


def test_sparse_matrices_become_dense_if_they_fit(rng):
    sparse = pytest.importorskip("scipy.sparse")
    x = rng.normal(size=(100, 5)) * (rng.random((100, 5)) < 0.3)
    y = x[:, 0]
    want = spherelu.train(x, y, **SMALL).predict(x)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        assert np.array_equal(spherelu.train(kind(x), y, **SMALL).predict(kind(x)), want)
    with pytest.raises(spherelu.ArgumentError, match="dense") as caught:
        spherelu.train(sparse.csr_matrix((10**6, 10**6)), np.zeros(10**6), **SMALL)
    assert caught.value.key == "x"


@pytest.mark.parametrize("ensemble", [1, 2])
@pytest.mark.parametrize("kind", ["number", "counts", "two", "three"])
def test_onnx_graphs_predict_the_same(rng, tmp_path, kind, ensemble):
    x = rng.normal(size=(80, 3))
    y = {"number": x[:, 0], "counts": np.floor(np.exp(x[:, 0])), "two": np.where(x[:, 0] > 0, "u", "d"), "three": np.digitize(x[:, 0], [-0.5, 0.5])}[kind]
    run = spherelu.train(x, y, task=None if kind != "three" else "classes", loss="poisson" if kind == "counts" else None, ensemble=ensemble, **SMALL)
    path = tmp_path / "model.onnx"
    try:
        run.export_onnx(path)
    except spherelu.Error as error:
        pytest.skip(str(error))  # built without protobuf-c
    if ensemble == 1:
        again = spherelu.load(path)
        assert np.allclose(again.predict_proba(x) if run.classes is not None else again.predict(x), run.predict_proba(x) if run.classes is not None else run.predict(x), atol=1e-5)
        assert run.classes is None or again.classes.tolist() == run.classes.tolist()
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(path)
    out = session.run(None, {session.get_inputs()[0].name: x.astype(np.float32)})
    if run.classes is None:
        assert np.allclose(out[0][:, 0], run.predict(x), rtol=1e-4, atol=1e-5)
    else:
        assert np.allclose(out[1], run.predict_proba(x), atol=1e-5) and [str(v) for v in out[0]] == [str(v) for v in run.predict(x)]


def test_a_foreign_graph_asks_for_its_task(table, tmp_path):
    x, y = table
    net = spherelu.train(x, np.digitize(y, [0.3, 1.0]), task="classes", **SMALL).net
    net.note = ""
    try:
        net.export_onnx(tmp_path / "plain.onnx")
    except spherelu.Error as error:
        pytest.skip(str(error))
    plain = spherelu.load(tmp_path / "plain.onnx")
    assert plain.task == "regression" and plain.predict(x).shape == (200, 3)
    known = spherelu.load(tmp_path / "plain.onnx", task="classes", classes=["low", "middle", "high"])
    assert set(known.predict(x)) <= {"low", "middle", "high"} and known.predict_proba(x).shape == (200, 3)
    known.note = json.dumps({"head_left_out": "probabilities (Softmax)"})
    with pytest.raises(spherelu.ArgumentError, match="task"):
        known.predict(x)
    for wrong in (dict(task="binary"), dict(task="guess"), dict(task="classes", classes=["a"])):
        with pytest.raises(spherelu.ArgumentError):
            spherelu.load(tmp_path / "plain.onnx", **wrong)


def test_folders_that_are_no_runs_are_refused(tmp_path):
    with pytest.raises(spherelu.FormatError):
        spherelu.load(tmp_path)
    (tmp_path / "x.onnx").write_bytes(b"nothing")
    with pytest.raises(spherelu.Error):
        spherelu.load(tmp_path / "x.onnx")


# ---------------------------------------------------------------- threads


def threads_of(code, **env):
    text = f"import numpy as np, spherelu\nx = np.random.default_rng(0).normal(size=(60, 2))\n{code}\nprint(spherelu.train(x, x[:, 0]).options['threads'])"
    env = {**{name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "LOKY_"))}, **env}
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True, env=env).stdout.strip()


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_threads_follow_the_system_s_limits():
    free = int(threads_of(""))
    assert free == min(5, len(os.sched_getaffinity(0)))
    assert threads_of("import os; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])") in ("1", str(free))  # before libgomp is loaded
    assert threads_of("", OMP_NUM_THREADS="1") == "1"
    assert threads_of("", LOKY_MAX_CPU_COUNT="1") == "1"
    assert threads_of("spherelu.train(x, x[:, 0], hidden=4, epochs=1).net(x)") == str(free), "a call leaves OpenMP's setting as it was"
    pytest.importorskip("threadpoolctl")
    limits = "from threadpoolctl import threadpool_limits\nspherelu.version()\nwith threadpool_limits(1): run = spherelu.train(x, x[:, 0])\n"
    assert threads_of(limits + "assert run.options['threads'] == '1'") == str(free)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_threads_follow_the_affinity():
    one = f"{min(os.sched_getaffinity(0)):x}"
    text = "import numpy as np, spherelu; x = np.eye(60); print(spherelu.train(x, x[:, 0]).options['threads'])"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "LOKY_"))}
    said = subprocess.run(["taskset", str(int(one, 16) and 1 << int(one, 16) or 1), sys.executable, "-c", text], capture_output=True, text=True, env=env)
    assert said.stdout.strip() == "1", said.stderr


# ---------------------------------------------------------------- names, docs, types


def test_dir_shows_what_is_public():
    assert sorted(dir(spherelu)) == sorted([*spherelu.__all__, "__doc__", "__version__"])
    assert sorted(spherelu.__all__) == spherelu.__all__ and all(hasattr(spherelu, name) for name in spherelu.__all__)
    assert sorted(spherelu.__all__) == sorted({*sum(spherelu._HOMES.values(), ()), *(n for n in vars(spherelu) if n.endswith("Error"))})
    names = {}
    exec("from spherelu import *", names)
    assert set(names) - {"__builtins__"} == set(spherelu.__all__)


def test_everything_public_has_a_docstring():
    bare = []
    for name in spherelu.__all__:
        thing = getattr(spherelu, name)
        if not inspect.getdoc(thing):
            bare.append(name)
        if inspect.isclass(thing):
            for base in thing.__mro__:
                if base.__module__.partition(".")[0] == "spherelu":
                    for key, member in vars(base).items():
                        if not key.startswith("_") and (callable(member) or isinstance(member, (property, classmethod, staticmethod))):
                            if not inspect.getdoc(getattr(thing, key, None) if not isinstance(member, property) else member):
                                bare.append(f"{name}.{key}")
    assert not bare


def test_typed_keywords_are_up_to_date():
    source = Path(__file__).parents[1]
    made = subprocess.run([sys.executable, source / "make-keywords"], capture_output=True, text=True, check=True).stdout
    assert made == (source / "spherelu" / "_keywords.py").read_text(), "run python/make-keywords"


def test_the_graph_of_an_ensemble_is_loaded_with_all_its_members(tmp_path):
    x = np.random.default_rng(0).normal(size=(80, 2))
    run = spherelu.train(x, x[:, 0] + x[:, 1], ensemble=3, hidden=5, epochs=5)
    run.export_onnx(tmp_path / "three.onnx")
    model = spherelu.load(tmp_path / "three.onnx")
    assert len(model.nets) == 3
    assert np.allclose(model.predict(x), run.predict(x), rtol=1e-4, atol=1e-5)  # f32, in another order


# ---------------------------------------------------------------- the C interface


def test_no_function_of_the_library_crashes_on_null():
    """Every public function, every pointer NULL and every number 0: a failure or an empty answer, in a process of its own."""
    code = """
import ctypes, sys
from spherelu import _abi
from spherelu._lib import lib
def nothing(kind):
    if kind is None or kind in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(kind, "contents") or issubclass(kind, ctypes._CFuncPtr):
        return None
    return 0
ENUMS = ("sph_net_dtype", "sph_data_task")
for name, (result, arguments) in _abi.FUNCTIONS.items():
    print(name, flush=True)
    code = getattr(lib(), name)(*[kind() if issubclass(kind, ctypes._CFuncPtr) else nothing(kind) for kind in arguments])
    pointers = [k for k in arguments if nothing(k) is None]
    if result is ctypes.c_int and pointers and name not in ENUMS:
        assert code == -1, (name, code)
        assert lib().sph_failure().contents.key or name == "sph_word_find", name
print("all")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "all", (done.stdout.splitlines()[-1], done.returncode, done.stderr)


def test_each_null_argument_is_named(tmp_path):
    """Every public function, once for each of its pointers, with only that one NULL: refused by name, or allowed by the header."""
    here = Path(__file__).parent
    command = [sys.executable, here / "each_null.py", here.parents[1] / "include" / "spherelu"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == "all", (done.stdout[-2000:], done.returncode, done.stderr[-2000:])
