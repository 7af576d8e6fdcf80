#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Answers of SciPy, statsmodels and scikit-posthocs, the oracle of tests/test_ranking.c. Writes ranks.csv.

Lines: holm,N,p...,corrected p...                                        statsmodels' multipletests
       t,SEED,N,ratio,t,p                                                SciPy's Student t on the corrected variance
       friedman,KIND,SEED,SETS,METHODS,chi2,p,F,p of F,p of each pair    SciPy; Nemenyi by scikit-posthocs
       range,GROUPS,quantile at 5 %                                      SciPy's studentized range, infinite freedom
       tail,chi2|f|t|range,x,a,b,p                                       SciPy
Samples are drawn by the generator of make_statistics.py, in C as here. KIND ties: scores in eighths, small: in thirds, means: SciPy
ranks how many rows of five times 60 are right, C the mean of the five accuracies."""
import itertools
import math
import os

import numpy as np
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests


class Lcg:
    def __init__(self, seed):
        self.state = seed
        for _ in range(4):
            self.unit()

    def unit(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 11) * 2.0**-53


def scores(kind, seed, sets, methods):
    draw = Lcg(seed)
    if kind == "means":
        return np.array([[sum(60 - math.floor(draw.unit() * 4) for _ in range(5)) for m in range(methods)] for _ in range(sets)])
    cells = {"plain": None, "ties": 8, "small": 3}[kind]
    table = np.array([[draw.unit() + 0.1 * m for m in range(methods)] for _ in range(sets)])
    return np.floor(table * cells) / cells if cells else table


here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "ranks.csv"), "w", newline="\n") as out:
    def line(*cells):
        print(*(repr(float(c)) if isinstance(c, (float, np.floating)) else c for c in cells), sep=",", file=out)

    for p in ([0.01], [0.04, 0.01, 0.03], [0.5, 0.5, 0.001, 0.02], [0.002] * 6, [0.9, 0.04, 0.0001, 0.03, 1.0, 0.012, 0.012]):
        line("holm", len(p), *map(float, p), *multipletests(p, method="holm")[1])
    seed = 1000
    for n in (2, 3, 5, 10, 30):
        for ratio in (0.0, 0.25, 1 / 9):
            seed += 1
            draw = Lcg(seed)
            shift = draw.unit() * 0.5
            d = np.array([draw.unit() - draw.unit() - shift for _ in range(n)])
            t = d.mean() / math.sqrt((1 / n + ratio) * d.var(ddof=1))
            line("t", seed, n, float(ratio), t, 2 * stats.t.sf(abs(t), n - 1))
    for kind, sets, methods in (("plain", 2, 3), ("plain", 3, 3), ("plain", 7, 4), ("plain", 7, 6), ("plain", 20, 5), ("plain", 4, 10),
                                ("ties", 3, 4), ("ties", 7, 6), ("ties", 30, 8), ("small", 2, 3), ("small", 5, 6), ("small", 12, 4),
                                ("means", 4, 4), ("means", 10, 5), ("means", 25, 6)):
        seed += 1
        table = scores(kind, seed, sets, methods)
        chi2, p = stats.friedmanchisquare(*table.T)
        rest = sets * (methods - 1) - chi2
        f = (sets - 1) * chi2 / rest if rest > 1e-9 else math.inf
        pf = float(stats.f.sf(f, methods - 1, (methods - 1) * (sets - 1)))
        nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        line("friedman", kind, seed, sets, methods, chi2, p, float(f), pf,
             *(float(nemenyi[a, b]) for a, b in itertools.combinations(range(methods), 2)))
    for groups in (*range(2, 13), 20, 50):
        line("range", groups, stats.studentized_range.ppf(0.95, groups, math.inf))
    for x, a in itertools.product((0.01, 0.7, 3.0, 12.5, 60.0), (1, 2, 5, 11)):
        line("tail", "chi2", x, a, 0, stats.chi2.sf(x, a))
        line("tail", "t", x, a, 0, 2 * stats.t.sf(x, a))
        for b in (1, 4, 30):
            line("tail", "f", x, a, b, stats.f.sf(x, a, b))
    for x, groups in itertools.product((0.1, 1.0, 2.5, 3.5, 6.0), (2, 3, 6, 15)):
        line("tail", "range", x, groups, 0, stats.studentized_range.sf(x, groups, math.inf))
