#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""SciPy's answers, the oracle of tests/test_statistics.c. Writes statistics.csv; see README.md beside this file.

Lines: wilcoxon,KIND,SEED,N,pairs that differ,statistic,p,exact
       bootstrap,SEED,N,level,low,high,standard error of the mean difference
       ranks,SEED,CASES,METHODS,larger is better,rank...
The samples are drawn from SEED by the generator below, in C as here. KIND counts: SciPy is given how many of 40 + SEED % 61 test
rows are right, which are whole numbers; C is given the accuracies."""
import collections
import fractions
import math
import os
import warnings

import numpy as np
from scipy import stats

RESAMPLES = 200000


class Lcg:
    def __init__(self, seed):
        self.state = seed
        for _ in range(4):
            self.unit()

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53


def pairs(kind, seed, n):
    draw = Lcg(seed)
    shift = draw.unit() * 0.5
    x, y = [], []
    for i in range(n):
        a, b = draw.unit(), draw.unit() + shift
        if kind == "ties":  # quarters: differences are exact, many of one size, some 0
            a, b = math.floor(a * 12) / 4, math.floor(b * 12) / 4
        if kind == "counts":
            rows = 40 + seed % 61
            a, b = rows - math.floor(a * 12), rows - math.floor(b * 12)
        if kind == "zeros" and i % 3 == 0:
            b = a
        x.append(a)
        y.append(b)
    return np.array(x), np.array(y)


def exact_p(ranks, statistic):
    """Of all signs of the ranks: the share whose positive ranks add up to the statistic or less, twice."""
    patterns = {0: 1}
    for rank in (2 * ranks).astype(int):
        reached = collections.Counter(patterns)
        for total, count in patterns.items():
            reached[total + int(rank)] += count
        patterns = reached
    tail = sum(count for total, count in patterns.items() if total <= 2 * statistic)
    return min(1.0, float(fractions.Fraction(2 * tail, 2 ** len(ranks))))


def wilcoxon(kind, seed, n):
    x, y = pairs(kind, seed, n)
    d = (x - y)[x != y]
    exact = len(d) <= 50
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = stats.wilcoxon(x, y, method="approx")
        p = exact_p(stats.rankdata(abs(d)), result.statistic) if exact else result.pvalue
        # SciPy's exact method has no ties; its enumeration of all signs has, and is slow.
        if exact and len(set(abs(d))) == n:
            assert abs(stats.wilcoxon(x, y, method="exact").pvalue - p) <= 1e-12 * p
        elif 1 < len(d) <= 12:
            assert abs(stats.wilcoxon(d, method=stats.PermutationMethod(n_resamples=np.inf)).pvalue - p) <= 1e-12 * p
    return len(d), result.statistic, p, int(exact)


def scores(seed, cases, methods):
    draw = Lcg(seed)
    table = np.array([[math.floor(draw.unit() * 8) / 8 for _ in range(methods)] for _ in range(cases)])
    table[table == 0] = np.nan  # one in eight failed
    return table


def ranks(table, larger):
    worst = -np.inf if larger else np.inf
    filled = np.where(np.isnan(table), worst, table)
    return stats.rankdata(-filled if larger else filled, axis=1).mean(axis=0)


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "statistics.csv"), "w", newline="\n") as out:
    def line(*cells):
        print(*(repr(float(c)) if isinstance(c, float) else c for c in cells), sep=",", file=out)

    seed = 0
    sizes = {"plain": [*range(1, 41), 45, 49, 50, 51, 52, 75, 100, 200],
             "ties": [*range(2, 26), 40, 60, 100], "zeros": [*range(2, 26), 40, 60, 100]}
    for kind, counts in sizes.items():
        for n in counts:
            seed += 1
            line("wilcoxon", kind, seed, n, *wilcoxon(kind, seed, n))
    for n in (3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 50, 100):
        for extra in range(3):
            own = 10000 + 97 * n + extra  # the other lines keep their seeds
            line("wilcoxon", "counts", own, n, *wilcoxon("counts", own, n))
    for n in (8, 9, 10, 12, 15, 20, 30, 50):
        for level in (0.9, 0.95):
            seed += 1
            x, y = pairs("plain", seed, n)
            found = stats.bootstrap((x, y), lambda a, b, axis: np.mean(a - b, axis=axis), paired=True, vectorized=True,
                                    n_resamples=RESAMPLES, batch=10000, confidence_level=level, method="percentile",
                                    random_state=seed).confidence_interval
            line("bootstrap", seed, n, level, found.low, found.high, stats.sem(x - y))
    for cases, methods in ((1, 1), (1, 5), (5, 4), (7, 3), (20, 7), (100, 2)):
        for larger in (0, 1):
            seed += 1
            line("ranks", seed, cases, methods, larger, *map(float, ranks(scores(seed, cases, methods), larger)))
