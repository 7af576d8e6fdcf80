#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which defaults for a table: the study of docs/results/defaults.md.

    bench/defaults.py validate [--candidate "--param sp --lr 0.01 ..."]... [--splits 3] [--tables boston,yacht]
    bench/defaults.py choose
    bench/defaults.py test [--peers mlp,tuned,hgb,realmlp,tabm] [--splits 10] [--tables ...]
    bench/defaults.py report
    bench/defaults.py test --fresh [--peers ...] [--splits 5]; bench/defaults.py report --fresh       tables that chose nothing

Needs numpy and scikit-learn; RealMLP and TabM are asked for only where `pytabkit` and `tabm` are installed. `validate` appends to
results/defaults_validation.csv and `test` to results/defaults_test.csv: what stands there is not run again, so that the study can be
stopped and gone on with. Without --candidate, validate takes all that the file names. Seconds are the processor's. `validate` never
reads a test row.
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
FRESH_TEST = os.path.join(HERE, "results", "defaults_fresh.csv")
FIELDS = ("stage", "candidate", "table", "split", "score", "seconds", "epochs")

UCI = ("boston", "concrete", "energy", "naval", "power", "wine", "yacht")
SKLEARN = ("diabetes", "breast_cancer", "cultivars", "digits", "iris")
MADE = ("made-price", "made-churn", "made-kind")
TABLES = UCI + SKLEARN + MADE

FRESH = {  # package, target, columns left out, task
    "anes96": ("statsmodels", "vote", (), "classes"),
    "fair": ("statsmodels", "affairs", (), "regression"),
    "grunfeld": ("statsmodels", "invest", (), "regression"),
    "modechoice": ("statsmodels", "choice", ("individual",), "classes"),
    "randhie": ("statsmodels", "mdvis", (), "regression"),
    "engel": ("statsmodels", "income", (), "regression"),
    "cars": ("vega_datasets", "Miles_per_Gallon", ("Name", "Year"), "regression"),
    "barley": ("vega_datasets", "yield", (), "regression"),
    "seattle_weather": ("vega_datasets", "weather", ("date",), "classes"),
}
LARGE = ("naval", "power")  # 5,000 rows and more
TODAY = "--param gmp --lr 0.01 --batch 1024 --hidden 100 --schedule none --epochs 1000 --patience 100"  # version 0.1.0
NEW = ""  # what the tool does when nothing is said


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


def fresh(name):
    """Tables that chose nothing, of the packages statsmodels and vega_datasets."""
    import statsmodels.api as sm
    from vega_datasets import local_data
    package, target, drop, task = FRESH[name]
    frame = getattr(sm.datasets, name).load_pandas().data if package == "statsmodels" else getattr(local_data, name)()
    frame = frame.drop(columns=list(drop)).dropna(subset=[target])
    frame = frame[[c for c in frame if c != target] + [target]]
    cells = [["" if v != v else repr(float(v)) if isinstance(v, (int, float)) else str(v) for v in row]
             for row in frame.astype(object).values.tolist()]
    if task == "classes":
        cells = [row[:-1] + ["c" + row[-1]] for row in cells]
    return list(frame.columns[:-1]) + ["y"], cells, task


def table(name):
    return (uci if name in UCI else from_sklearn if name in SKLEARN else made if name in MADE else fresh)(name)


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header] + rows)


def parted(rows, seed):
    """The first fifth of a permutation, and the rest."""
    order = np.random.RandomState(seed).permutation(len(rows))
    few = len(rows) // 5
    return [rows[i] for i in order[few:]], [rows[i] for i in order[:few]]


# ---------------------------------------------------------------- the tool

def spherelu(tool, options, header, train, held, task, work, seed):
    """Trains on some rows, scores others: RMSE or log loss, processor seconds, epochs."""
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    write_csv(work + "/train.csv", header, train)
    write_csv(work + "/held.csv", header, held)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    kind = ["--task", "regression"] if task == "regression" else []
    trained = subprocess.run([tool, "train", "--quiet", "--data", work + "/train.csv", "--target", "y", "--test", "0",
                              "--seed", str(seed), "--no-report", "--out", work + "/run", *kind, *shlex.split(options)], capture_output=True, text=True)
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
                                        "hidden_layer_sizes": [(100,), (256,), (100, 100)]}, n_iter=10, cv=3,
                                       random_state=seed)
    elif name == "hgb":
        model = (HistGradientBoostingRegressor if real else HistGradientBoostingClassifier)(random_state=seed)
    elif name == "realmlp":
        from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor
        model = (RealMLP_TD_Regressor if real else RealMLP_TD_Classifier)(random_state=seed, device="cpu", n_threads=1)
    else:
        from pytabkit import TabM_D_Classifier, TabM_D_Regressor
        model = (TabM_D_Regressor if real else TabM_D_Classifier)(random_state=seed, device="cpu", n_threads=1)
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

    def add(self, stage, candidate, name, split, make):
        if (candidate, name, str(split)) in self.done:
            return
        score, seconds, epochs = make()
        new = not os.path.exists(self.path)
        with open(self.path, "a", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            if new:
                out.writerow(FIELDS)
            out.writerow([stage, candidate, name, split, repr(float(score)), f"{seconds:.3f}", epochs])
        self.done.add((candidate, name, str(split)))


def validate(args, names):
    log = Log(args.validation)
    candidates = args.candidate or list(dict.fromkeys(r["candidate"] for r in known(args.validation)))
    with tempfile.TemporaryDirectory() as work:
        for split in range(args.splits):
            for name in names:
                header, rows, task = table(name)
                development, _ = parted(rows, split)
                train, held = parted(development, split + 1000)
                for options in [TODAY] + candidates:
                    log.add("validate", options, name, split,
                            lambda o=options: spherelu(args.tool, o, header, train, held, task, work + "/run", split))


def test(args, names):
    log = Log(args.results)
    with tempfile.TemporaryDirectory() as work:
        for split in range(args.splits):
            for name in names:
                header, rows, task = table(name)
                development, held = parted(rows, split)
                for word, options in (("0.1.0", TODAY), ("new", NEW)) if args.own else ():
                    log.add("test", word, name, split,
                            lambda o=options: spherelu(args.tool, o, header, development, held, task, work + "/run", split))
                for word in filter(None, args.peers.split(",")):
                    log.add("test", word, name, split, lambda w=word: peer(w, header, development, held, task, split))


def by_table(rows):
    """candidate -> table -> split -> (score, seconds)."""
    out = {}
    for r in rows:
        out.setdefault(r["candidate"], {}).setdefault(r["table"], {})[r["split"]] = (float(r["score"]), float(r["seconds"]))
    return out


def ratios(ours, theirs):
    """Of each table that both have: the ratio of the mean scores over the splits that both have, and how many these are."""
    out = {}
    for name in ours:
        splits = sorted(set(ours[name]) & set(theirs.get(name, {})))
        if splits:
            out[name] = (np.mean([ours[name][s][0] for s in splits]) / np.mean([theirs[name][s][0] for s in splits]), len(splits))
    return out


def geometric(values):
    return float(np.exp(np.mean(np.log(values))))


def choose(args, _):
    """Small and large tables apart; only what was tried on all of them, and on as many splits as anything, can be chosen."""
    scores = by_table(known(args.validation))
    for title, names in (("below 5,000 rows", [n for n in TABLES if n not in LARGE]), ("from 5,000 rows on", LARGE)):
        lines = []
        for candidate, tables in scores.items():
            of = {n: r for n, r in ratios(tables, scores[TODAY]).items() if n in names}
            if len(of) == len(names):
                cost = sum(np.mean([v[1] for v in tables[n].values()]) for n in names)
                worst = max(of, key=lambda n: of[n][0])
                lines.append((geometric([r for r, _ in of.values()]), of[worst][0], worst, cost, min(k for _, k in of.values()), candidate))
        lines.sort()
        most = max(line[4] for line in lines if line[5] != TODAY)
        print(f"{title}: score over version 0.1.0's, worst table, seconds, splits")
        for overall, ratio, worst, cost, splits, candidate in lines:
            print(f"{overall:.4f}  {ratio:5.2f} {worst:13s} {cost:6.2f}  {splits}  {candidate}")
        allowed = [line for line in lines if line[1] <= 1.10 and line[4] == most]
        cheap = [line for line in allowed if line[0] <= allowed[0][0] * 1.01 and line[3] <= allowed[0][3] / 2]
        print("chosen:", (cheap or allowed)[0][5], "\n")


def report(args, names):
    scores = by_table(known(args.results))
    order = [c for c in ("new", "0.1.0", "mlp", "tuned", "hgb", "realmlp", "tabm") if c in scores]
    print("| table | " + " | ".join(order) + " |\n| --- |" + " --- |" * len(order))
    for name in names:
        cells = []
        for c in order:
            values = np.array([v[0] for v in scores[c].get(name, {}).values()])
            few = f" ({len(values)})" if 0 < len(values) < 10 else ""
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
            cells.append(f"{values.mean():.4g} +- {error:.2g}{few}" if len(values) else "")
        print(f"| {name} | " + " | ".join(cells) + " |")
    for c in order:
        seconds = [np.mean([v[1] for v in scores[c][n].values()]) for n in names if n in scores[c]]
        ours = [np.mean([v[1] for v in scores["new"][n].values()]) for n in names if n in scores[c]]
        of = ratios(scores["new"], scores[c])
        print(f"\nnew over {c}: {geometric([r for r, _ in of.values()]):.3f} in the geometric mean of {len(of)} tables; processor time"
              f" {sum(ours):.3g} s against {sum(seconds):.3g} s a split")
        behind = []
        for n in of:
            splits = sorted(set(scores["new"][n]) & set(scores[c][n]))
            here, there = (np.array([scores[w][n][s][0] for s in splits]) for w in ("new", c))
            error = there.std(ddof=1) / np.sqrt(len(splits)) if len(splits) > 1 else float("nan")
            if not here.mean() <= there.mean() + error:
                behind.append(n)
        print(f"  at most one standard error above it on {len(of) - len(behind)} of {len(of)}; not on: {', '.join(behind) or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stage", choices=["validate", "choose", "test", "report"])
    parser.add_argument("--tool", default=os.path.join(ROOT, "build", "spherelu"))
    parser.add_argument("--tables")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--candidate", action="append")
    parser.add_argument("--peers", default="")
    parser.add_argument("--no-own", dest="own", action="store_false", help="test: the peers alone")
    parser.add_argument("--validation", default=VALIDATION)
    parser.add_argument("--results")
    arguments = parser.parse_args()
    there = tuple(FRESH) if arguments.fresh else TABLES
    arguments.results = arguments.results or (FRESH_TEST if arguments.fresh else TEST)
    wanted = arguments.tables.split(",") if arguments.tables else there
    for word in wanted:
        if word not in there:
            sys.exit(f"defaults.py: no table '{word}'; there are {', '.join(there)}")
    {"validate": validate, "choose": choose, "test": test, "report": report}[arguments.stage](arguments, wanted)


if __name__ == "__main__":
    main()
