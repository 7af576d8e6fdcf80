# SPDX-License-Identifier: MIT
"""Regressor and Classifier among scikit-learn's own."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn", minversion="1.6")
pd = pytest.importorskip("pandas")

from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris, make_regression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import spherelu

# Checks that are expected to fail, each with its reason.
EXPECTED = {"check_class_weight_classifiers": "class_weight is None or 'balanced'; the check gives a dictionary"}

quick = dict(epochs=200, hidden=30)


@parametrize_with_checks([spherelu.Regressor(**quick), spherelu.Classifier(**quick)], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def test_balanced_classes_find_the_rare_one():
    draw = np.random.default_rng(1)
    x = np.concatenate([draw.normal(size=(380, 2)), draw.normal(size=(20, 2)) + 1.5])
    y = np.repeat([0, 1], [380, 20])
    found = {w: spherelu.Classifier(class_weight=w, random_state=0, **quick).fit(x, y).predict(x)[380:].mean() for w in (None, "balanced")}
    assert found["balanced"] > found[None] + 0.2
    with pytest.raises(ValueError, match="balanced"):
        spherelu.Classifier(class_weight={0: 1, 1: 5}, **quick).fit(x, y)


def test_keywords_are_the_table_s():
    keywords = spherelu.Regressor().get_params()
    table = {o.name: o.default for o in spherelu.options(in_memory=True) if o.name not in ("test", "task")}
    assert table.items() <= keywords.items()
    assert set(keywords) - set(table) == {"early_stopping", "warm_start", "random_state"}
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
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return
    x.to_parquet(tmp_path / "x.parquet")
    assert np.array_equal(model.predict(pd.read_parquet(tmp_path / "x.parquet")), model.predict(x))


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


@pytest.mark.parametrize("page, heading", [("README.md", "## From Python"), ("python/README.md", "# spherelu in Python"), ("python/README.md", "## scikit-learn")])
def test_the_pages_examples_run(page, heading, tmp_path, monkeypatch, rng):
    import re
    from pathlib import Path

    text = (Path(__file__).parents[2] / page).read_text()
    code = re.search(r"```python\n(.*?)```", text[text.index(heading) :], re.S)[1]
    monkeypatch.chdir(tmp_path)
    x = rng.normal(size=(200, 5))
    exec(compile(code, page, "exec"), {"x": x, "y": x[:, 0]})
