#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which defaults for a table: the study of docs/results/defaults.md.

    bench/defaults.py validate [--group param] [--base "--param sp --lr 0.01"] [--splits 3] [--tables boston,yacht]
    bench/defaults.py choose
    bench/defaults.py test --new "--param sp ..." [--peers mlp,tuned,hgb,realmlp,tabm] [--splits 10]
    bench/defaults.py report

Needs numpy and scikit-learn; RealMLP and TabM are asked for only where `pytabkit` and `tabm` are installed. `validate` appends to
results/defaults_validation.csv and `test` to results/defaults_test.csv: what stands there is not run again, so that the study can be
stopped and gone on with. Seconds are the processor's. `validate` never reads a test row.
"""
import argparse
import csv
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
VALIDATION = os.path.join(HERE, "results", "defaults_validation.csv")
TEST = os.path.join(HERE, "results", "defaults_test.csv")
FIELDS = ("stage", "group", "candidate", "table", "split", "score", "seconds", "epochs")

UCI = ("boston", "concrete", "energy", "naval", "power", "wine", "yacht")
SKLEARN = ("diabetes", "breast_cancer", "cultivars", "digits", "iris")
MADE = ("made-price", "made-churn", "made-kind")
TABLES = UCI + SKLEARN + MADE

TODAY = "--param gmp --lr 0.01 --batch 1024 --hidden 100"
GROUPS = {  # options that are put behind the base
    "param": [f"--param {p} --lr {lr}" for p in ("sp", "wn", "gmp", "sphere") for lr in (0.003, 0.01, 0.03)],
    "batch": [f"--batch {b}" for b in ("1024", "256", "128", "64", "rows")],
    "hidden": [f"--hidden {h}" for h in ("100", "256", "100,100", "256,256", "128,128,128")],
    "schedule": ["--schedule none --patience 100", "--schedule cosine --epochs 200 --patience 0",
                 "--schedule cosine --epochs 400 --patience 0"],
    "refit": ["--refit false", "--refit true"],
    "ensemble": ["--ensemble 1", "--ensemble 5", "--ensemble 10"],
}


# ---------------------------------------------------------------- tables: a list of columns, the last one the target

def uci(name):
    import gzip
    with gzip.open(os.path.join(ROOT, "data", "uci", name + ".txt.gz"), "rt") as file:
        rows = [line.split() for line in file if line.strip()]
    if name == "naval":  # its second target goes
        rows = [row[:17] for row in rows]
    return [f"x{i}" for i in range(len(rows[0]) - 1)] + ["y"], rows, "regression"


def from_sklearn(name):
    from sklearn import datasets
    load = {"cultivars": datasets.load_wine}.get(name) or getattr(datasets, "load_" + name)
    x, y = load(return_X_y=True)
    real = name == "diabetes"
    rows = [[repr(float(v)) for v in row] + [repr(float(t)) if real else f"c{t}"] for row, t in zip(x, y)]
    return [f"x{i}" for i in range(x.shape[1])] + ["y"], rows, "regression" if real else "classes"


def made(name):
    """Numbers, categories that matter, missing cells that tell nothing."""
    rng = np.random.RandomState({"made-price": 1, "made-churn": 2, "made-kind": 3}[name])
    count = {"made-price": 2000, "made-churn": 1500, "made-kind": 2400}[name]
    x = rng.randn(count, 6)
    city = rng.randint(0, 8, count)
    shape = rng.randint(0, 3, count)
    of_city = np.random.RandomState(0).randn(8)[city]
    hidden = x[:, 0] * np.where(shape == 1, 1.5, -0.5) + np.sin(2 * x[:, 1]) + 0.5 * x[:, 2] * x[:, 3] + of_city
    noisy = hidden + 0.4 * rng.randn(count)
    if name == "made-price":
        y = [repr(float(v)) for v in 100 * np.exp(0.3 * noisy)]
    elif name == "made-churn":
        y = ["yes" if v > 0.5 else "no" for v in noisy]
    else:
        y = [f"k{int(v)}" for v in np.digitize(noisy, np.quantile(noisy, [0.2, 0.5, 0.8]))]
    missing = rng.rand(count, 6) < 0.08
    rows = [["" if missing[i, j] else repr(float(x[i, j])) for j in range(6)]
            + [f"city{city[i]}", ("round", "flat", "long")[shape[i]], y[i]] for i in range(count)]
    return [f"x{j}" for j in range(6)] + ["city", "shape", "y"], rows, "regression" if name == "made-price" else "classes"


def table(name):
    return uci(name) if name in UCI else from_sklearn(name) if name in SKLEARN else made(name)


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)


def parted(rows, seed):
    """The first fifth of a permutation, and the rest."""
    order = np.random.RandomState(seed).permutation(len(rows))
    few = len(rows) // 5
    return [rows[i] for i in order[few:]], [rows[i] for i in order[:few]]


# ---------------------------------------------------------------- the tool

def by_rows(rows):
    """A power of two near a sixteenth of the rows, from 32 to 256."""
    return int(min(256, max(32, 2 ** round(np.log2(max(1, rows * 0.8 / 16))))))


def spherelu(tool, options, header, train, held, task, work, seed):
    """Trains on some rows, scores others: RMSE or log loss, processor seconds, epochs."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    write_csv(work + "/train.csv", header, train)
    write_csv(work + "/held.csv", header, held)
    words = ["full" if w == "rows" and len(train) < 32 else str(by_rows(len(train))) if w == "rows" else w
             for w in shlex.split(options)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kind = ["--task", "regression"] if task == "regression" else []
    trained = subprocess.run([tool, "train", "--quiet", "--data", work + "/train.csv", "--target", "y", "--test", "0",
                              "--seed", str(seed), "--out", work + "/run", *kind, *words], capture_output=True, text=True)
    if trained.returncode:
        print(trained.stderr, file=sys.stderr)
        return float("inf"), 0.0, 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    scores = json.loads(subprocess.run([tool, "eval", work + "/run", "--data", work + "/held.csv", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    result = json.load(open(work + "/run/result.json"))
    return scores["rmse" if task == "regression" else "log_loss"], seconds, result["epochs"]


# ---------------------------------------------------------------- peers

def arrays(header, train, held, fill):
    """Numbers as they are, a column for each level of a category, as the tool has them; missing cells by the mean or NaN."""
    import sklearn.preprocessing as prep
    columns_train, columns_held = [], []
    for j in range(len(header) - 1):
        a, b = [r[j] for r in train], [r[j] for r in held]
        try:
            a, b = ([float(v) if v else np.nan for v in part] for part in (a, b))
            mean = np.nanmean(a)
            if fill:
                a, b = np.where(np.isnan(a), mean, a), np.where(np.isnan(b), mean, b)
            columns_train.append(np.array(a)[:, None])
            columns_held.append(np.array(b)[:, None])
        except ValueError:
            code = prep.OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(np.array(a)[:, None])
            columns_train.append(code.transform(np.array(a)[:, None]))
            columns_held.append(code.transform(np.array(b)[:, None]))
    return np.hstack(columns_train), np.hstack(columns_held)


def peer(name, header, train, held, task, seed):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.metrics import log_loss
    from sklearn.model_selection import RandomizedSearchCV
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler
    real = task == "regression"
    x, z = arrays(header, train, held, name != "hgb")
    y, t = ([r[-1] for r in part] for part in (train, held))
    y, t = (np.array(v, float) if real else np.array(v) for v in (y, t))
    centre, scale = (y.mean(), y.std()) if real else (0, 1)
    start = time.process_time()
    if name != "hgb":
        scaler = StandardScaler().fit(x)
        x, z = scaler.transform(x), scaler.transform(z)
    if name in ("mlp", "tuned"):
        model = (MLPRegressor if real else MLPClassifier)(random_state=seed)
        if name == "tuned":
            model = RandomizedSearchCV((MLPRegressor if real else MLPClassifier)(random_state=seed, early_stopping=True,
                                                                                 max_iter=500, n_iter_no_change=30),
                                       {"learning_rate_init": [0.001, 0.003, 0.01, 0.03], "alpha": [1e-5, 1e-3, 1e-1],
                                        "hidden_layer_sizes": [(100,), (256,), (100, 100)]}, n_iter=20, cv=3,
                                       random_state=seed)
    elif name == "hgb":
        model = (HistGradientBoostingRegressor if real else HistGradientBoostingClassifier)(random_state=seed)
    elif name == "realmlp":
        from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor
        model = (RealMLP_TD_Regressor if real else RealMLP_TD_Classifier)(random_state=seed, device="cpu")
    else:
        from pytabkit import TabM_D_Classifier, TabM_D_Regressor
        model = (TabM_D_Regressor if real else TabM_D_Classifier)(random_state=seed, device="cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x, (y - centre) / scale if real else y)
        seconds = time.process_time() - start
        if real:
            return float(np.sqrt(np.mean((np.ravel(model.predict(z)) * scale + centre - t) ** 2))), seconds, 0
        return float(log_loss(t, model.predict_proba(z), labels=model.classes_)), seconds, 0


# ---------------------------------------------------------------- stages

def known(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return list(csv.DictReader(file))


class Log:
    """Rows of a CSV file; one that is there is not made again."""

    def __init__(self, path):
        self.path = path
        self.done = {(r["candidate"], r["table"], r["split"]) for r in known(path)}

    def add(self, stage, group, candidate, name, split, make):
        if (candidate, name, str(split)) in self.done:
            return
        score, seconds, epochs = make()
        new = not os.path.exists(self.path)
        with open(self.path, "a", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            if new:
                out.writerow(FIELDS)
            out.writerow([stage, group, candidate, name, split, repr(float(score)), f"{seconds:.3f}", epochs])
        self.done.add((candidate, name, str(split)))


def validate(args, names):
    log = Log(args.validation)
    candidates = [("today", TODAY)] + [(g, f"{args.base} {more}".strip()) for g in args.group.split(",") for more in GROUPS[g]]
    with tempfile.TemporaryDirectory() as work:
        for split in range(args.splits):
            for name in names:
                header, rows, task = table(name)
                development, _ = parted(rows, split)
                train, held = parted(development, split + 1000)
                for group, options in candidates:
                    log.add("validate", group, options, name, split,
                            lambda o=options: spherelu(args.tool, o, header, train, held, task, work + "/run", split))


def test(args, names):
    log = Log(args.results)
    with tempfile.TemporaryDirectory() as work:
        for split in range(args.splits):
            for name in names:
                header, rows, task = table(name)
                development, held = parted(rows, split)
                for group, options in (("today", TODAY), ("new", args.new)):
                    if options:
                        log.add("test", group, options, name, split,
                                lambda o=options: spherelu(args.tool, o, header, development, held, task, work + "/run", split))
                for word in filter(None, args.peers.split(",")):
                    log.add("test", "peer", word, name, split, lambda w=word: peer(w, header, development, held, task, split))


def means(rows):
    """candidate -> table -> (mean score, standard error, mean seconds), of the splits that all candidates of a table have."""
    candidates = sorted({r["candidate"] for r in rows})
    out = {c: {} for c in candidates}
    for name in {r["table"] for r in rows}:
        by = {c: {r["split"]: r for r in rows if r["candidate"] == c and r["table"] == name} for c in candidates}
        splits = set.intersection(*(set(v) for v in by.values())) if by else set()
        for c in candidates:
            s = np.array([float(by[c][k]["score"]) for k in splits])
            if len(s):
                out[c][name] = (s.mean(), s.std(ddof=1) / np.sqrt(len(s)) if len(s) > 1 else float("nan"),
                                float(np.mean([float(by[c][k]["seconds"]) for k in splits])), len(s))
    return out


def summary(rows):
    """(overall, worst ratio, seconds over today's, candidate), best first."""
    m = means(rows)
    lines = []
    for candidate, by in m.items():
        names = [n for n in by if n in m[TODAY]]
        ratio = np.array([by[n][0] / m[TODAY][n][0] for n in names])
        cost = sum(by[n][2] for n in names) / max(1e-9, sum(m[TODAY][n][2] for n in names))
        if len(names):
            lines.append((float(np.exp(np.log(ratio).mean())), float(ratio.max()), cost, candidate, names[int(ratio.argmax())],
                          len(names), by[names[0]][3]))
    return sorted(lines)


def choose(args, _):
    lines = summary(known(args.validation))
    for overall, worst, cost, candidate, where, count, splits in lines:
        print(f"{overall:.4f}  worst {worst:5.2f} ({where})  time {cost:6.2f}  {count} tables x {splits} splits  {candidate}")
    allowed = [line for line in lines if line[1] <= 1.10]
    if allowed:
        best = allowed[0]
        cheap = [line for line in allowed if line[0] <= best[0] * 1.01 and line[2] <= best[2] / 2]
        print("chosen:", (cheap or [best])[0][3])


def report(args, _):
    rows = known(args.results)
    m = means(rows)
    names = [n for n in TABLES if any(n in by for by in m.values())]
    print("| table | " + " | ".join(m) + " |\n| --- |" + " --- |" * len(m))
    for n in names:
        print(f"| {n} | " + " | ".join(f"{m[c][n][0]:.4g} +- {m[c][n][1]:.2g}" if n in m[c] else "" for c in m) + " |")
    print("| seconds | " + " | ".join(f"{sum(v[2] for v in m[c].values()):.3g}" for c in m) + " |")


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("stage", choices=["validate", "choose", "test", "report"])
parser.add_argument("--tool", default=os.path.join(ROOT, "build", "spherelu"))
parser.add_argument("--tables", default=",".join(TABLES))
parser.add_argument("--splits", type=int, default=3)
parser.add_argument("--group", default="param")
parser.add_argument("--base", default="--batch 1024 --hidden 100")
parser.add_argument("--new", default="")
parser.add_argument("--peers", default="")
parser.add_argument("--validation", default=VALIDATION)
parser.add_argument("--results", default=TEST)
arguments = parser.parse_args()
wanted = arguments.tables.split(",")
for word in wanted:
    if word not in TABLES:
        sys.exit(f"defaults.py: no table '{word}'; there are {', '.join(TABLES)}")
{"validate": validate, "choose": choose, "test": test, "report": report}[arguments.stage](arguments, wanted)
