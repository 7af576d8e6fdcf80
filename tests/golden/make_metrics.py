#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""scikit-learn's scores, the oracle of tests/test_metrics.c. Writes metrics.csv; see README.md beside this file.

Lines: case,NAME,TASK,OUTPUTS,ROWS   then for each row
       row,OUTPUT...,TARGET...       what the net gives (logits of classes) and what is true
       score,METRIC,VALUE            nan: scikit-learn refuses, or says that it is undefined"""
import os
import warnings

import numpy as np
from sklearn import metrics

SCORES = {
    "regression": {
        "rmse": lambda t, p: metrics.mean_squared_error(t, p) ** 0.5,
        "mae": metrics.mean_absolute_error,
        "mse": metrics.mean_squared_error,
        "r2": metrics.r2_score,
    },
    "binary": {
        "accuracy": lambda t, z: metrics.accuracy_score(t, z > 0),
        "log_loss": lambda t, z: metrics.log_loss(t, 1 / (1 + np.exp(-z)), labels=[0, 1]),
        "auc": metrics.roc_auc_score,
        "balanced_accuracy": lambda t, z: metrics.balanced_accuracy_score(t, z > 0),
        "f1": lambda t, z: metrics.f1_score(t, z > 0, average="macro"),
        "precision": lambda t, z: of_second(metrics.precision_score, t, z > 0),
        "recall": lambda t, z: of_second(metrics.recall_score, t, z > 0),
    },
    "classes": {
        "accuracy": lambda t, z: metrics.accuracy_score(t, z.argmax(1)),
        "log_loss": lambda t, z: metrics.log_loss(t, softmax(z), labels=range(z.shape[1])),
        "auc": lambda t, z: classes_auc(t, softmax(z)),
        "balanced_accuracy": lambda t, z: metrics.balanced_accuracy_score(t, z.argmax(1)),
        "f1": lambda t, z: metrics.f1_score(t, z.argmax(1), average="macro"),
        "top5": lambda t, z: metrics.top_k_accuracy_score(t, z, k=5, labels=range(z.shape[1])),
    },
}


def of_second(score, t, given):
    return score(t, given, zero_division=0) if np.any(t) else float("nan")


def softmax(z):
    p = np.exp(z - z.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def classes_auc(t, p):
    if p.shape[1] == 2:
        return metrics.roc_auc_score(t, p[:, 1])
    return metrics.roc_auc_score(t, p, multi_class="ovr", average="macro")


def cases():
    draw = np.random.RandomState(11)
    p = draw.normal(size=(37, 1))
    yield "plain", "regression", p, p + 0.5 * draw.normal(size=p.shape)
    yield "worse than the mean", "regression", p, draw.normal(size=p.shape) * 0.1
    p = draw.normal(size=(50, 3)) * [1, 100, 0.01]
    yield "several targets", "regression", p, p + draw.normal(size=p.shape) * [0.5, 20, 0.02]
    t = p + draw.normal(size=p.shape) * [0.5, 20, 0.02]
    t[:, 1] = 7
    yield "a constant target among several", "regression", p, t
    yield "a constant target", "regression", draw.normal(size=(9, 1)), np.full((9, 1), 0.3)
    yield "a constant target that is met", "regression", np.full((9, 1), 0.3), np.full((9, 1), 0.3)
    t = 1e6 + draw.normal(size=(600, 1))
    t[0] += 1000
    yield "far from 0 and an outlier first", "regression", t + 0.1 * draw.normal(size=t.shape), t
    yield "two rows", "regression", np.array([[1.0], [2.0]]), np.array([[1.5], [2.25]])
    yield "one row", "regression", np.array([[1.0]]), np.array([[1.5]])

    t = draw.randint(0, 2, (60, 1))
    z = 1.5 * draw.normal(size=t.shape) + t - 0.5
    yield "plain", "binary", z, t
    yield "ties", "binary", np.round(z), t
    yield "one score for all", "binary", np.full((60, 1), 0.25), t
    yield "upside down", "binary", -z, t
    yield "few of one class", "binary", z, (np.arange(60) % 20 == 3)[:, None] * 1
    yield "none of one class", "binary", z, np.zeros((60, 1), int)
    yield "all of one class", "binary", z, np.ones((60, 1), int)
    yield "saturated", "binary", np.where(np.arange(60)[:, None] % 7, 700.0, -700.0) * (2 * t - 1), t
    yield "one row", "binary", z[:1], t[:1]
    t = draw.randint(0, 2, (1500, 1))
    yield "many rows", "binary", np.round(draw.normal(size=t.shape) + t, 1), t

    t = draw.randint(0, 3, (70, 1))
    z = draw.normal(size=(70, 3)) + 1.5 * (t == np.arange(3))
    yield "three", "classes", z, t
    yield "two", "classes", z[:, :2], np.minimum(t, 1)
    tied = z.copy()
    tied[10:40] = tied[10:13].repeat(10, 0)
    yield "tied rows", "classes", tied, t
    yield "a class without rows", "classes", z, np.minimum(t, 1)
    never = z.copy()
    never[:, 2] -= 100
    yield "a class never given", "classes", never, t
    yield "a class neither there nor given", "classes", never, np.minimum(t, 1)
    yield "saturated", "classes", np.where((draw.rand(70, 3) < 0.2), 900.0, 0.0) + 1000 * (t == np.arange(3)), t
    t = np.concatenate([np.arange(8), draw.randint(0, 8, 300)])[:, None]
    yield "eight", "classes", draw.normal(size=(308, 8)) + (t == np.arange(8)), t


def logits(draw, t, classes, digits):
    return np.round(draw.normal(size=(len(t), classes)) + (t == np.arange(classes)), digits) + 1e-4 * np.arange(classes)


def random_cases():
    """Small ones, many: ties between rows, parts of one class, classes that never come. No ties between the classes of a row:
    there argmax takes the first, and we count a miss (a top-k hit has fewer than k others at least as high)."""
    draw = np.random.RandomState(12)
    for i in range(240):
        rows = draw.randint(1, 13)
        task = ["regression", "binary", "classes"][i % 3]
        digits = draw.randint(0, 4)  # few: ties
        if task == "regression":
            shape = (rows, draw.randint(1, 4))
            t = np.round(draw.normal(size=shape) * 10 ** draw.randint(0, 3), digits)
            yield f"random {i}", task, np.round(t + draw.normal(size=shape), digits), t
        elif task == "binary":
            t = (draw.rand(rows, 1) < draw.choice([0.05, 0.5, 0.9])) * 1
            yield f"random {i}", task, np.round(2 * draw.normal(size=t.shape) + t - 0.5, digits), t
        else:
            classes = draw.randint(2, 7)
            t = draw.randint(0, draw.randint(1, classes + 1), (rows, 1))
            yield f"random {i}", task, logits(draw, t, classes, digits), t


# What scikit-learn warns of where a score is undefined, or is defined all the same.
KNOWN = ["y_pred contains classes not in y_true", "R^2 score is not well-defined", "Only one class is present in y_true",
         "A single label was found"]

# And what it refuses, where ours is undefined.
REFUSED = ["Only one class present in y_true", "Number of classes in y_true not equal to the number of columns"]


def score(metric, t, p):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = metric(t, p)
        except ValueError as refused:
            assert any(known in str(refused) for known in REFUSED), str(refused)
            return float("nan")
    for warning in caught:
        assert any(known in str(warning.message) for known in KNOWN), str(warning.message)
    return value


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "metrics.csv")
    with open(path, "w") as out:
        for name, task, p, t in [*cases(), *random_cases()]:
            print("case", name, task, p.shape[1], len(p), sep=",", file=out)
            for a, b in zip(p, t):
                print("row", *[repr(float(x)) for x in [*a, *b]], sep=",", file=out)
            flat = p if task == "classes" or t.shape[1] > 1 else p[:, 0]
            for metric, call in SCORES[task].items():
                if metric == "top5" and p.shape[1] < 6:
                    continue
                value = score(call, t if t.shape[1] > 1 else t[:, 0], flat)
                print("score", metric, repr(float(value)), sep=",", file=out)


main()
