# SPDX-License-Identifier: MIT
"""Regressor and Classifier among scikit-learn's own."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.2")
pd = pytest.importorskip("pandas")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.estimator_checks import parametrize_with_checks

import spherelu
import spherelu.sklearn

NEW = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 6)

quick = dict(epochs=200, hidden=30)


# Before scikit-learn 1.6 the estimators' own tag _xfail_checks has them.
@parametrize_with_checks(
    [spherelu.Regressor(), spherelu.Classifier()], **({"expected_failed_checks": lambda _: spherelu.sklearn.EXPECTED_FAILED_CHECKS} if NEW else {})
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


@pytest.mark.skipif(not NEW, reason="the check came with scikit-learn 1.6")
@pytest.mark.parametrize("kind", [spherelu.Regressor, spherelu.Classifier])
def test_weights_are_repetitions_where_no_rows_are_drawn(kind):
    from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

    check_sample_weight_equivalence_on_dense_data(kind.__name__, kind(early_stopping=False, batch="full", epochs=100, dtype="f64"))


# ---------------------------------------------------------------- what is not said is what the tool takes


def tool_s_own(x, y, folder, *options):
    """What `spherelu train` makes of the table: the run's options and its predictions as text."""
    pd.DataFrame(x).rename(columns=lambda j: f"x{j}").assign(y=y).to_csv(folder / "table.csv", index=False)
    tool = os.environ["SPHERELU_TOOL"]
    env = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of a sanitizer, which the tool has in it
    common = [tool, "train", "--quiet", "--no-report", "--data", folder / "table.csv", "--target", "y", "--test", "0"]
    subprocess.run([*common, *options, "--out", folder / "run"], check=True, capture_output=True, env=env)
    said = subprocess.run([tool, "predict", folder / "run", "--data", folder / "table.csv"], check=True, capture_output=True, text=True, env=env).stdout
    return (folder / "run" / "config.yaml").read_text(), np.array([line.split(",") for line in said.splitlines()])


def assert_same(model, x, predictions):
    """To the digits that the tool prints, which read back the same."""
    column = predictions[0].tolist().index("prediction")
    assert np.array_equal(predictions[1:, column].astype(float), model.predict(x))


@pytest.mark.parametrize("keywords, options", [({}, ()), ({"seed": 3, "n_jobs": 1}, ("--seed", "3")), ({"epochs": 20}, ("--epochs", "20")), ({"param": "gmp"}, ("--param", "gmp"))])
def test_a_regressor_is_what_the_tool_trains(keywords, options, table, tmp_path):
    x, y = table
    config, predictions = tool_s_own(x, y, tmp_path, *options)
    model = spherelu.Regressor(**keywords).fit(x, y)
    assert len(model.nets_) == (1 if {"epochs", "param"} & set(keywords) else 5) == (5 if "ensemble: 5" in config else 1)
    assert_same(model, x, predictions)


def test_a_large_table_gets_two_layers_as_in_the_tool(rng, tmp_path):
    x = rng.normal(size=(5000, 2))
    y = np.abs(x[:, 0]) + x[:, 1]
    _, predictions = tool_s_own(x, y, tmp_path, "--epochs", "1")
    model = spherelu.Regressor(epochs=1).fit(x, y)
    assert [layer.units for layer in model.net_.layers] == [128, 128, 1] and model.options_["batch"] == "128"
    assert_same(model, x, predictions)


@pytest.mark.parametrize("labels", [["down", "up"], ["down", "level", "up"]])
def test_a_classifier_is_what_the_tool_trains(labels, table, tmp_path):
    x, y = table
    word = np.array(labels)[np.digitize(y, np.quantile(y, np.linspace(0, 1, len(labels) + 1)[1:-1]))]
    _, predictions = tool_s_own(x, word, tmp_path)
    model = spherelu.Classifier().fit(x, word)
    assert len(model.nets_) == 5
    heads = predictions[0].tolist()
    assert np.array_equal(predictions[1:, heads.index("class")], model.predict(x))
    up = predictions[1:, heads.index("probability" if len(labels) == 2 else "p_up")].astype(float)
    assert np.allclose(up, model.predict_proba(x)[:, -1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("times", [False, True])
def test_words_dates_and_holes_are_taken_as_the_tool_takes_them(times, rng, tmp_path):
    rows = 150
    day = pd.to_datetime("2023-11-20") + pd.to_timedelta(rng.integers(0, 300, rows), "D")
    x = pd.DataFrame({"size": rng.normal(size=rows), "colour": rng.choice(["red", "green", "Blue"], rows), "day": day})
    y = x["size"] + 2.0 * (x["colour"] == "red") + 0.5 * x["day"].dt.month
    if times:
        x["day"] += pd.to_timedelta(rng.integers(0, 86400, rows), "s")
    x.loc[::17, "size"] = np.nan
    x.loc[::19, "colour"] = None
    x.loc[::23, "day"] = pd.NaT
    _, predictions = tool_s_own(x, y, tmp_path)
    model = spherelu.Regressor().fit(x, y)
    assert model.net_.inputs == 1 + 3 + 4 + times
    if times:  # seconds as days, rounded in another place
        assert np.allclose(predictions[1:, 0].astype(float), model.predict(x), atol=0.02)
    else:
        assert_same(model, x, predictions)
    zone = x.assign(day=x["day"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    assert np.array_equal(model.predict(zone), model.predict(x))


def test_defaults_that_are_said_are_said(table):
    fixed = {o.name: o.default for o in spherelu.options()}
    model = spherelu.Regressor(param=fixed["param"], hidden=fixed["hidden"], epochs=30).fit(*table)
    assert model.options_["param"] == "gmp" and len(model.nets_) == 1
    assert spherelu.Regressor(epochs=30).fit(*table).options_["param"] == "sphere"
    assert spherelu.train(*table, epochs=30).options["param"] == "sphere"
    run = spherelu.train(*table, callbacks=[spherelu.Tracker()], epochs=2)
    assert len(run.nets) == 1 and len(spherelu.train(*table).nets) == 5


def test_balanced_classes_find_the_rare_one():
    draw = np.random.default_rng(1)
    x = np.concatenate([draw.normal(size=(380, 2)), draw.normal(size=(20, 2)) + 1.5])
    y = np.repeat([0, 1], [380, 20])
    found = {w: spherelu.Classifier(class_weight=w, random_state=0, **quick).fit(x, y).predict(x)[380:].mean() for w in (None, "balanced")}
    assert found["balanced"] > found[None] + 0.2
    dictionary = spherelu.Classifier(class_weight={0: 1, 1: 19}, random_state=0, **quick).fit(x, y)
    assert dictionary.predict(x)[380:].mean() > found[None] + 0.2
    balanced = spherelu.Classifier(class_weight="balanced", random_state=0, **quick).fit(x, y)
    assert np.allclose(dictionary.decision_function(x), balanced.decision_function(x), rtol=0, atol=1e-4), "weights are relative"
    with pytest.raises(ValueError):
        spherelu.Classifier(class_weight={0: 1, 1: -5}, **quick).fit(x, y)
    few = spherelu.Classifier(class_weight="balanced").fit(x[374:381], y[374:381])  # in one fold the rare row validates alone
    assert len(few.nets_) == 5


@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"]])
@pytest.mark.parametrize("more", [{}, {"hidden": 8, "epochs": 20}, {"hidden": 8, "epochs": 20, "early_stopping": False}])
def test_balanced_is_the_dictionary_that_scikit_learn_computes(labels, more):
    draw = np.random.default_rng(2)
    y = draw.choice(labels, 300, p=np.arange(1, len(labels) + 1) ** 2 / np.sum(np.arange(1, len(labels) + 1) ** 2))
    x = draw.normal(size=(300, 3)) + 2 * (y == labels[0])[:, None]
    weight = draw.integers(1, 4, 300).astype(float)
    for sample_weight in (None, weight):
        counts = np.array([np.sum((weight if sample_weight is not None else np.ones(300))[y == label]) for label in labels])
        dictionary = dict(zip(labels, counts.sum() / (len(labels) * counts)))
        if sample_weight is None:
            assert list(dictionary.values()) == compute_class_weight("balanced", classes=np.array(labels), y=y).tolist()
        one, two = (spherelu.Classifier(class_weight=w, random_state=0, **more).fit(x, y, sample_weight) for w in ("balanced", dictionary))
        assert np.array_equal(one.decision_function(x), two.decision_function(x))


def test_class_weights_weigh_the_loss_and_not_the_standardisation():
    """The second of two full steps of gradient descent, by NumPy from the first one's weights."""
    draw = np.random.default_rng(3)
    y = (draw.random(200) < 0.1).astype(int)
    x = draw.normal(size=(200, 3)) * [1, 10, 0.1] + 5.0 * y[:, None]
    plain = {"param": "sp", "hidden": 6, "optimizer": "sgd", "momentum": 0, "lr": 0.5, "batch": "full", "schedule": "none"}
    for weights in ("balanced", {0: 1.0, 1: 7.0}):
        how = {**plain, "class_weight": weights, "dtype": "f64", "early_stopping": False, "random_state": 0}
        (w1, b1, _), (w2, b2, _) = (spherelu.Classifier(epochs=1, **how).fit(x, y).net_.weight(k) for k in range(2))
        inputs = (x - x.mean(0)) / x.std(0)
        count = compute_class_weight(weights, classes=np.array([0, 1]), y=y)[y]
        hidden = np.maximum(inputs @ w1.T + b1, 0)
        dz = (count / count.sum() * (1 / (1 + np.exp(-(hidden @ w2.T + b2)[:, 0])) - y))[:, None]
        dh = dz @ w2 * (hidden > 0)
        expected = [w1 - 0.5 * dh.T @ inputs, b1 - 0.5 * dh.sum(0), w2 - 0.5 * dz.T @ hidden, b2 - 0.5 * dz.sum(0)]
        after = spherelu.Classifier(epochs=2, **how).fit(x, y)
        found = [array for k in range(2) for array in after.net_.weight(k)[:2]]
        assert all(np.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(found, expected))
        by_rows = spherelu.Classifier(epochs=2, **{**how, "class_weight": None}).fit(x, y, sample_weight=count)
        assert not np.allclose(by_rows.decision_function(x), after.decision_function(x), atol=1e-3), "weights of rows weigh the means too"


def test_rows_count_what_their_weight_says(table):
    x, y = table
    other = np.concatenate([y, -y])
    both = np.concatenate([x, x])
    weight = np.repeat([1.0, 1e-9], len(x))
    model = spherelu.Regressor(early_stopping=False, **quick).fit(both, other, sample_weight=weight)
    assert model.score(x, y) > 0.8 and model.score(both, other, sample_weight=weight) > 0.8
    assert spherelu.Regressor(early_stopping=False, **quick).fit(both, other).score(x, y) < 0.5
    without = spherelu.Regressor(**quick).fit(both, other, sample_weight=weight > 0.5)
    assert np.array_equal(without.predict(x), spherelu.Regressor(**quick).fit(x, y, sample_weight=np.ones(len(x))).predict(x))
    for bad in (np.zeros(len(x)), np.ones(3), -np.ones(len(x)), np.full(len(x), np.nan), np.ones((len(x), 2))):
        with pytest.raises(ValueError):
            spherelu.Regressor(**quick).fit(x, y, sample_weight=bad)
    with pytest.raises(ValueError):
        spherelu.train(x, y, sample_weight=np.ones(3), epochs=1)


def test_rows_come_piece_by_piece(table):
    x, y = table
    model = spherelu.Regressor(hidden=30, lr=0.02)
    for i in range(300):
        model.partial_fit(x[i % 4 :: 4], y[i % 4 :: 4])
    assert model.score(x, y) > 0.8 and model.n_iter_ == 300 and len(model.history_["train_loss"]) == 300
    mean = model.net_(x).mean()
    model.partial_fit(x[:5] + 1000, y[:5])
    assert abs(model.net_(x).mean() - mean) < 1, "the standardisation stays that of the first rows"
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.partial_fit(x, y).predict(x), model.partial_fit(x, y).predict(x))
    with pytest.raises(ValueError):
        model.partial_fit(x[:, :2], y)
    with pytest.raises(ValueError):
        model.partial_fit(x, np.column_stack([y, y]))
    assert model.fit(x, y).n_iter_ > 1


@pytest.mark.parametrize("ensemble", [1, 3])
def test_the_optimizer_goes_on_from_piece_to_piece(table, ensemble):
    """Two pieces of all rows in one batch are a training of two epochs; without the optimizer's memory they are not."""
    x, y = table
    same = dict(hidden=8, lr=0.02, batch="full", dtype="f64", ensemble=ensemble)
    pieces = spherelu.Regressor(**same).partial_fit(x, y)
    forgetful = pickle.loads(pickle.dumps(pieces))
    forgetful._state = None
    whole = spherelu.Regressor(**same, epochs=2, val=0, patience=0, schedule="none").fit(x, y)
    assert np.allclose(pieces.partial_fit(x, y).predict(x), whole.predict(x), atol=1e-9)
    assert not np.allclose(forgetful.partial_fit(x, y).predict(x), whole.predict(x), atol=1e-4)


def test_pieces_need_not_hold_all_classes():
    x, y = load_iris(return_X_y=True)
    model = spherelu.Classifier(hidden=30, lr=0.02)
    for _ in range(60):
        for k in range(3):
            model.partial_fit(x[y == k], y[y == k], classes=[0, 1, 2])
    assert model.score(x, y) > 0.8
    with pytest.raises(ValueError):
        model.partial_fit(x, y, classes=[0, 1])
    with pytest.raises(ValueError):
        model.partial_fit(x, y + 1)
    with pytest.raises(ValueError):
        spherelu.Classifier(class_weight="balanced").partial_fit(x, y)


def test_ensembles_predict_their_mean(table, tmp_path):
    x, y = table
    model = spherelu.Regressor(ensemble=3, n_jobs=2, **quick).fit(x, y)
    assert len(model.nets_) == 3 and np.array_equal(model.nets_[0](x), model.net_(x))
    assert np.array_equal(model.net_(x)[:, 0], spherelu.Regressor(**quick).fit(x, y).predict(x)), "the first one is that of one net"
    mean, spread = model.predict(x, return_std=True)
    assert np.allclose(mean, np.mean([net(x)[:, 0] for net in model.nets_], axis=0)) and (spread > 0).all()
    assert np.array_equal(mean, spherelu.Regressor(ensemble=3, n_jobs=1, **quick).fit(x, y).predict(x))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(x), mean)
    with pytest.raises(ValueError):
        spherelu.Regressor(**quick).fit(x, y).predict(x, return_std=True)
    word = np.where(y > 1, "up", np.where(y < 0.2, "down", "level"))
    for labels in (word, word == "up"):
        classes = spherelu.Classifier(ensemble=2, n_jobs=-1, **quick).fit(x, labels)
        p = classes.predict_proba(x)
        assert np.allclose(p.sum(axis=1), 1) and (classes.classes_[p.argmax(axis=1)] == classes.predict(x)).all()
        assert classes.score(x, labels) > 0.8
    with pytest.raises(ValueError):
        spherelu.train(x, y, ensemble=2, epochs=2, callbacks=[spherelu.Tracker()])
    run = spherelu.train("crescents", out=tmp_path / "run", epochs=2, ensemble=2)
    assert len(run.nets) == 2 and run.net.inputs == 2


def test_refit_takes_the_validation_rows_too(table):
    x, y = table
    plain, again = (spherelu.Regressor(refit=r, **quick).fit(x, y) for r in (None, True))
    assert not np.array_equal(plain.predict(x), again.predict(x)) and again.score(x, y) > 0.8
    for wrong in ("tune", "weights", "group", "time"):
        with pytest.raises(TypeError):
            spherelu.Regressor(**{wrong: 2})
        with pytest.raises(ValueError):
            spherelu.train(x, y, epochs=1, **{wrong: 2})


def test_keywords_are_the_table_s():
    keywords = spherelu.Regressor().get_params()
    table = {o.name: None for o in spherelu.options(in_memory=True) if o.name not in ("test", "task")}
    assert table.items() <= keywords.items()
    assert set(keywords) - set(table) == {"early_stopping", "warm_start", "random_state", "n_jobs"}
    assert "lr_theta" in (spherelu.Regressor.__doc__ or "")
    with pytest.raises(TypeError):
        spherelu.Regressor(nobody=1)


def test_every_keyword_reaches_the_training(table):
    model = spherelu.Regressor(param="sphere", hidden=(7, 5), lr=0.003, optimizer="adamw", weight_decay=0.01, epochs=3, dtype="f64").fit(*table)
    assert [layer.units for layer in model.net_.layers] == [7, 5, 1] and model.net_.layers[0].param == "sphere"
    assert model.options_["optimizer"] == "adamw" and model.options_["lr"] == "0.003" and model.net_.dtype == np.float64
    assert model.n_iter_ == 3 and len(model.history_["val_loss"]) == 3


def test_wrong_keywords_are_named_by_fit(table):
    with pytest.raises(ValueError) as caught:
        spherelu.Regressor(lr=-1).fit(*table)
    assert caught.value.key == "lr"


def test_compositions(table):
    x, y = table
    pipeline = make_pipeline(StandardScaler(), spherelu.Regressor(**quick))
    assert pipeline.fit(x, y).score(x, y) > 0.8
    search = GridSearchCV(spherelu.Regressor(**quick), {"param": ["sp", "gmp"], "lr": [0.01, 0.03]}, cv=2).fit(x, y)
    assert search.best_score_ > 0.5 and set(search.best_params_) == {"param", "lr"}
    iris = load_iris(return_X_y=True)
    scores = cross_val_score(spherelu.Classifier(**quick), *iris, cv=3, n_jobs=2)
    assert scores.shape == (3,) and scores.mean() > 0.85


def test_probabilities(rng):
    x, y = load_iris(return_X_y=True)
    model = spherelu.Classifier(**quick).fit(x, y)
    p = model.predict_proba(x)
    assert np.allclose(p.sum(axis=1), 1) and (model.classes_[p.argmax(axis=1)] == model.predict(x)).all()
    assert model.score(x, y) > 0.9 and np.allclose(np.log(p), model.predict_log_proba(x))
    two = spherelu.Classifier(**quick).fit(x, np.where(y == 1, "yes", "no"))
    assert two.predict_proba(x).shape == (150, 2) and two.decision_function(x).shape == (150,)
    assert ((two.decision_function(x) > 0) == (two.predict(x) == "yes")).all()


def test_several_targets():
    x, y = make_regression(200, 4, n_targets=3, random_state=0)
    model = spherelu.Regressor(**quick).fit(x, y)
    assert model.predict(x).shape == (200, 3) and model.score(x, y) > 0.9


def test_boundaries_are_in_the_units_of_the_features(table):
    x, y = table
    model = spherelu.Regressor(**quick).fit(100 * x + 1000, y)
    first = model.boundaries_[0]
    assert first.raw and np.median(np.abs(first.phi)) > 50
    assert model.boundaries(100 * x + 1000)[0].points == 200


def test_pickles_load_in_another_process(table, tmp_path):
    x, y = table
    model = spherelu.Regressor(**quick).fit(x, y)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "x.npy", x)
    code = "import pickle, sys, numpy as np; m = pickle.load(open(sys.argv[1], 'rb')); np.save(sys.argv[3], m.predict(np.load(sys.argv[2])))"
    subprocess.run([sys.executable, "-c", code, tmp_path / "model.pkl", tmp_path / "x.npy", tmp_path / "y.npy"], check=True)
    assert np.array_equal(np.load(tmp_path / "y.npy"), model.predict(x))
    assert model.net_.to_bytes() in pickle.dumps(model)
    import joblib

    joblib.dump(model, tmp_path / "model.joblib")
    assert np.array_equal(joblib.load(tmp_path / "model.joblib").predict(x), model.predict(x))


def test_warm_start_and_early_stopping(table):
    model = spherelu.Regressor(hidden=10, epochs=50, warm_start=True, early_stopping=False).fit(*table)
    assert "val_loss" not in model.history_ and model.n_iter_ == 50
    first = model.history_["train_loss"]
    assert model.fit(*table).history_["train_loss"][0] < first[0]
    assert not hasattr(clone(model), "net_")


def test_random_state_draws_the_seed(table):
    seeds = {spherelu.Regressor(epochs=1, random_state=s).fit(*table).options_["seed"] for s in (0, 0, 1)}
    assert len(seeds) == 2


def frame(rng, rows=200):
    x = pd.DataFrame({"size": rng.normal(size=rows), "colour": rng.choice(["red", "green"], rows), "kind": pd.Categorical(rng.choice(["a", "b", "c"], rows))})
    return x, x["size"] + 2.0 * (x["colour"] == "red") - (x["kind"] == "b")


def test_tables_with_words_and_holes(rng, tmp_path):
    x, y = frame(rng)
    x.loc[::17, "size"] = np.nan
    x.loc[::19, "colour"] = None
    y = y.fillna(0.0)
    model = spherelu.Regressor(**quick).fit(x, y)
    assert list(model.feature_names_in_) == ["size", "colour", "kind"] and model.n_features_in_ == 3
    assert model.net_.inputs == 1 + 2 + 3 and model.score(x, y) > 0.5
    odd = x.iloc[:3].copy()
    odd["colour"] = "never seen"
    assert np.isfinite(model.predict(odd)).all()
    with pytest.raises(ValueError):
        model.predict(x[["size", "kind", "colour"]])
    with pytest.raises(ValueError):
        model.predict(np.zeros((2, 3)))
    pytest.importorskip("pyarrow")
    x.to_parquet(tmp_path / "x.parquet")
    assert np.array_equal(model.predict(pd.read_parquet(tmp_path / "x.parquet")), model.predict(x))


def test_columns_of_every_kind(rng):
    rows = 120
    x = pd.DataFrame(
        {
            "whole": pd.array(rng.integers(0, 9, rows), dtype="Int64"),
            "yes": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "odd": [None if i % 7 == 0 else float(i % 5) for i in range(rows)],
            "mixed": pd.Series([None if i % 11 == 0 else i % 3 for i in range(rows)], dtype=object),
            "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, rows), "D"),
            "word": pd.Series(rng.choice(["a", "b"], rows), dtype="string"),
        }
    )
    x.loc[::13, "whole"] = pd.NA
    x.loc[::17, "yes"] = pd.NA
    x.loc[::19, "day"] = pd.NaT
    x.loc[::23, "word"] = pd.NA
    y = (x["word"] == "a").fillna(False).to_numpy() * 3.0 + x["odd"].fillna(2).to_numpy()
    model = spherelu.Regressor(**quick).fit(x, y)
    assert model.net_.inputs == 4 + 4 + 2 and model.score(x, y) > 0.6
    assert spherelu.Regressor(**quick).fit(x[["whole", "odd"]], y).net_.inputs == 2
    with pytest.raises(ValueError):
        model.predict(x.assign(day=0))


def test_column_transformer(rng):
    x, y = frame(rng)
    columns = ColumnTransformer([("words", OneHotEncoder(sparse_output=False), ["colour", "kind"])], remainder="passthrough")
    assert make_pipeline(columns, spherelu.Regressor(**quick)).fit(x, y).score(x, y) > 0.9


def test_classes_of_tables(rng):
    x, y = frame(rng)
    model = spherelu.Classifier(**quick).fit(x, np.where(y > 0, "up", "down"))
    assert model.score(x, np.where(y > 0, "up", "down")) > 0.9
    with pytest.raises(ValueError):
        model.fit(x, ["up"] * 3)


# ---------------------------------------------------------------- what users of scikit-learn expect


@pytest.mark.parametrize("keywords", [dict(hidden=8, epochs=50), dict()])
def test_poisson_predicts_means_as_the_tool_does(keywords, rng, tmp_path):
    x = rng.normal(size=(150, 3))
    y = rng.poisson(np.exp(0.5 * x[:, 0] + 1))
    options = [word for name, value in keywords.items() for word in (f"--{name}", str(value))]
    _, predictions = tool_s_own(x, y, tmp_path, "--loss", "poisson", "--task", "regression", *options)
    model = spherelu.Regressor(loss="poisson", **keywords).fit(x, y)
    assert_same(model, x, predictions)
    assert model.predict(x).min() > 0 and abs(model.predict(x).mean() / y.mean() - 1) < 0.3
    from sklearn.linear_model import PoissonRegressor
    from sklearn.metrics import mean_poisson_deviance

    theirs = PoissonRegressor().fit(x, y).predict(x)
    assert mean_poisson_deviance(y, model.predict(x)) < 1.5 * mean_poisson_deviance(y, theirs)
    both = spherelu.Regressor(loss="poisson", ensemble=3, **quick).fit(x, np.column_stack([y, y + 1]))
    assert both.predict(x).shape == (150, 2) and both.predict(x).min() > 0
    mean, spread = both.predict(x, return_std=True)
    assert np.allclose(spread, np.std([np.exp(net(x)) for net in both.nets_], axis=0, ddof=1)) and np.array_equal(mean, both.predict(x))


def test_searches_over_numpy_s_numbers(table):
    from scipy.stats import loguniform, randint
    from sklearn.model_selection import RandomizedSearchCV

    x, y = table
    grid = {"lr": np.logspace(-3, -1, 2), "hidden": np.array([8, 16]), "weight_decay": [np.float32(0)]}
    search = GridSearchCV(spherelu.Regressor(epochs=5), grid, cv=2, error_score="raise").fit(x, y)
    assert search.best_params_["lr"] in grid["lr"]
    space = {"lr": loguniform(1e-3, 1e-1), "batch": randint(16, 64), "param": np.array(["sp", "gmp"]), "early_stopping": np.array([True, False])}
    found = RandomizedSearchCV(spherelu.Regressor(epochs=5, hidden=8), space, n_iter=4, cv=2, random_state=0, error_score="raise", n_jobs=2).fit(x, y)
    assert found.best_estimator_.options_["param"] == found.best_params_["param"]
    assert repr(clone(found.best_estimator_))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one processor")
def test_n_jobs_counts_as_joblib_does(table):
    available = int(spherelu.Regressor(ensemble=5, epochs=1).fit(*table).options_["threads"])
    for jobs, threads in ((1, 1), (2, 2), (-1, available), (-2, max(1, available - 1)), (-99, 1), (np.int64(2), 2)):
        assert spherelu.Regressor(ensemble=5, epochs=1, n_jobs=jobs).fit(*table).options_["threads"] == str(threads)
    for wrong in (0, 1.5, "all", True):
        with pytest.raises(ValueError, match="n_jobs"):
            spherelu.Regressor(epochs=1, n_jobs=wrong).fit(*table)


class Told(spherelu.Classifier):
    """Keeps the number of threads where cross_validate returns it."""

    def score(self, X, y):
        return float(self.options_["threads"])


def test_workers_of_joblib_share_the_processors(table):
    from joblib import cpu_count, parallel_backend

    env = {name: os.environ.pop(name) for name in [*os.environ] if name == "OMP_NUM_THREADS"}
    try:
        with parallel_backend("loky", n_jobs=cpu_count()):
            threads = cross_val_score(Told(), table[0], table[1] > 0.5, cv=2)
    finally:
        os.environ.update(env)
    assert (threads == 1).all()


def test_sparse_matrices(table):
    from scipy import sparse

    x, y = table
    x = np.where(np.abs(x) > 1, x, 0)
    model = spherelu.Regressor(**quick).fit(x, y)
    for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
        assert np.array_equal(spherelu.Regressor(**quick).fit(kind(x), y).predict(kind(x)), model.predict(x))
    with pytest.raises(ValueError, match="dense"):
        model.__class__().fit(sparse.csr_matrix((10**6, 10**6)), np.arange(10**6))
    words = OneHotEncoder().fit_transform([["a"], ["b"]] * 40)
    assert spherelu.Classifier(**quick).fit(words, [0, 1] * 40).score(words, [0, 1] * 40) == 1


def test_several_labels_a_row_are_refused_with_a_way_out(rng):
    from sklearn.multioutput import MultiOutputClassifier

    x = rng.normal(size=(60, 2))
    labels = (x > 0).astype(int)
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        spherelu.Classifier(**quick).fit(x, labels)
    with pytest.raises(ValueError, match="MultiOutputClassifier"):
        spherelu.Classifier(**quick).fit(x, np.column_stack([labels[:, 0], 2 * labels[:, 1] + labels[:, 0]]))
    assert MultiOutputClassifier(spherelu.Classifier(**quick)).fit(x, labels).score(x, labels) > 0.8


def test_warm_start_with_another_shape_says_so(table):
    x, y = table
    model = spherelu.Regressor(hidden=10, epochs=5, warm_start=True).fit(x, y)
    for change in (dict(hidden=20), dict(hidden=(10, 10)), dict(param="sp"), dict(ensemble=2)):
        with pytest.raises(ValueError, match="warm_start") as caught:
            fitted(model, change).fit(x, y)
        assert caught.value.key in change
    for same in (dict(hidden=(10,)), dict(hidden="10"), dict(hidden=np.int64(10)), dict(hidden=None), dict(ensemble=1)):
        fitted(model, same).fit(x, y)
    with pytest.raises(ValueError):
        fitted(model, {}).fit(x[:, :2], y)
    fitted(model, dict(hidden=20, warm_start=False)).fit(x, y)


def fitted(model, change):
    return pickle.loads(pickle.dumps(model)).set_params(**change)


def test_polars_tables(rng):
    pl = pytest.importorskip("polars")
    x, y = frame(rng)
    x = x.astype({"kind": str})
    x.loc[::19, "colour"] = None
    theirs = pl.DataFrame({name: [None if pd.isna(v) else v for v in x[name]] for name in x}).with_columns(pl.col("kind").cast(pl.Categorical))
    model = spherelu.Regressor(**quick).fit(theirs, pl.Series(y.tolist()))
    assert np.array_equal(model.predict(theirs), spherelu.Regressor(**quick).fit(x, y).predict(x))
    assert list(model.feature_names_in_) == ["size", "colour", "kind"]
    words = pl.Series(np.where(y > 0, "up", "down").tolist()).cast(pl.Categorical)
    classes = spherelu.Classifier(**quick).fit(theirs, words)
    assert classes.classes_.tolist() == ["down", "up"] and classes.score(theirs, words.to_list()) > 0.8
    numbers = theirs.select("size")
    assert np.array_equal(spherelu.Regressor(**quick).fit(numbers, y).predict(numbers), spherelu.Regressor(**quick).fit(x[["size"]], y).predict(x[["size"]]))


def test_fitted_models_are_saved_and_loaded(rng, tmp_path):
    x, y = frame(rng)
    model = spherelu.Regressor(ensemble=2, **quick).fit(x, y)
    model.save(tmp_path / "m.safetensors")
    again = spherelu.load(tmp_path / "m.safetensors")
    assert np.array_equal(again.predict(x), model.predict(x)) and again.columns.names == list(x.columns)
    labels = np.where(y > 0, "up", "down")
    classes = spherelu.Classifier(**quick).fit(x[["size"]], labels)
    classes.save(tmp_path / "c.safetensors")
    again = spherelu.load(tmp_path / "c.safetensors")
    assert np.array_equal(again.predict(x), classes.predict(x[["size"]])) and again.classes.tolist() == ["down", "up"]
    assert np.array_equal(again.predict_proba(x[["size"]].to_numpy()), classes.predict_proba(x[["size"]]))
    for unfitted in (spherelu.Regressor(),):
        with pytest.raises(sklearn.exceptions.NotFittedError):
            unfitted.save(tmp_path / "none")


def test_messages_name_keywords(table):
    with pytest.raises(ValueError) as caught:
        spherelu.Regressor(lr_theta=-1).fit(*table)
    assert "lr_theta" in str(caught.value) and "--" not in str(caught.value)


@pytest.mark.parametrize("page, heading", [("README.md", "## From Python"), ("python/README.md", "# spherelu in Python"), ("python/README.md", "## Load a trained model"), ("docs/exchange.md", "## Export to ONNX"), ("docs/ensembles.md", "In Python"), ("python/README.md", "## scikit-learn")])
def test_the_pages_examples_run(page, heading, tmp_path, monkeypatch, rng):
    import re
    from pathlib import Path

    text = (Path(__file__).parents[2] / page).read_text()
    code = re.search(r"```python\n(.*?)```", text[text.index(heading) :], re.S)[1]
    monkeypatch.chdir(tmp_path)
    x = rng.normal(size=(200, 5))
    exec(compile(code, page, "exec"), {"x": x, "y": x[:, 0]})


@pytest.mark.parametrize("kind", [spherelu.Regressor, spherelu.Classifier])
@pytest.mark.parametrize("ensemble", [1, 2])
def test_what_overflows_has_no_prediction_and_no_score(kind, ensemble, rng):
    x = rng.normal(size=(60, 3))
    y = (x[:, 0] > 0) * 1.0
    model = kind(hidden=[32, 32], param="sp", epochs=5, ensemble=ensemble).fit(x, y)
    large = x.copy()
    large[7, 1] = 1e39  # more than f32 holds
    with pytest.raises(ValueError, match="row 7, column 1: 1e\\+39"):
        model.predict(large)
    large[7, 1] = 1e38
    for net in model.nets_:  # whose sums do not hold that
        net.set("layers.0.weight", 100 * net.tensors["layers.0.weight"])
    for ask in (model.predict, lambda rows: model.score(rows, y), *([model.predict_proba] if kind is spherelu.Classifier else [])):
        with pytest.raises(ValueError, match="row 7 "):
            ask(large)
    assert kind(hidden=8, epochs=5, dtype="f64").fit(x, y).predict(large).shape == (60,)


def test_the_loss_of_an_epoch_counts_every_row_once(rng):
    x, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    weights = rng.uniform(0.5, 2, size=100)
    for given in ({}, {"sample_weight": weights}):
        losses = [
            spherelu.Regressor(hidden=8, epochs=1, lr=1e-30, dtype="f64", batch=batch, early_stopping=False)
            .fit(x, y, **given)
            .history_["train_loss"][0]
            for batch in ("full", 64, 7)
        ]
        assert np.allclose(losses, losses[0], rtol=1e-12, atol=0)


def test_eval_set_chooses_the_epoch(table):
    x, y = table
    model = spherelu.Regressor(hidden=6, epochs=20, random_state=0).fit(x[:150], y[:150], eval_set=[(x[150:], y[150:])])
    assert np.isclose(model.scores_["val"]["rmse"], np.sqrt(np.mean((model.predict(x[150:]) - y[150:]) ** 2)), rtol=1e-5)
    labels = np.where(y > 0.5, "high", "low")
    model = spherelu.Classifier(hidden=6, epochs=20, random_state=0).fit(x[:150], labels[:150], eval_set=(x[150:], labels[150:]))
    assert np.isclose(model.scores_["val"]["accuracy"], model.score(x[150:], labels[150:]))
    with pytest.raises(ValueError, match="early_stopping"):
        spherelu.Regressor(early_stopping=False).fit(x, y, eval_set=(x, y))
    with pytest.raises(ValueError, match="features"):
        spherelu.Regressor(hidden=3, epochs=1).fit(x, y, eval_set=(x[:, :2], y))
