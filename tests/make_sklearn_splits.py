#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes what scikit-learn's train_test_split and KFold and numpy's RandomState.choice give.

tests/sklearn_splits.csv, columns: n,seed,test,val,test_rows,val_rows,train_rows,test_hash,val_hash,train_hash,choice_hash
A hash is FNV-1a 64 over the rows as little-endian uint32. choice_hash is of RandomState(seed).choice(n, k, replace=False)
with k = ceil(n / 3). After a line "full" follow whole lists: n,seed,test,val,part,rows separated by blanks.

tests/sklearn_kfolds.csv, columns: n,seed,folds,hash of all folds' validation rows in turn, hash of their training rows. After
"full": n,seed,folds,fold,part,rows.
Needs numpy and scikit-learn; the tests need only the file."""
import math
import os
import random

import numpy as np
from sklearn.model_selection import KFold, train_test_split


def fnv(rows):
    h = 14695981039346656037
    for byte in np.asarray(rows, dtype="<u4").tobytes():
        h = ((h ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return f"{h:016x}"


def split(n, seed, test, val):
    rows = np.arange(n)
    held = np.array([], dtype=int)
    if test > 0:
        rows, held = train_test_split(rows, test_size=test, random_state=seed)
    kept = np.array([], dtype=int)
    if val > 0:
        rows, kept = train_test_split(rows, test_size=val, random_state=seed)
    return held, kept, rows


draw = random.Random(7)
cases = [(506, s, 0.2, 0.2) for s in range(20)] + [(5, 0, 0.2, 0.2), (3, 1, 0.2, 0.2), (2, 2, 0.5, 0.0)]
cases += [(10, 42, 0.25, 0.0), (10, 42, 0.0, 0.25), (1000, 4294967295, 0.2, 0.0), (5300, 0, 0.1, 0.1), (11934, 3, 0.1, 0.2)]
cases += [(65537, 1, 0.2, 0.2), (100, 9, 0.07, 0.29), (100, 9, 0.14, 0.55), (50, 11, 0.58, 0.28)]
while len(cases) < 100:
    cases.append((draw.randint(10, 3000), draw.randrange(2**32), draw.choice([0.1, 0.15, 0.2, 0.3, 1 / 3]),
                  draw.choice([0.0, 0.1, 0.2, 0.25])))

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "sklearn_splits.csv"), "w", newline="\n") as out:
    for n, seed, test, val in cases:
        held, kept, rest = split(n, seed, test, val)
        choice = np.random.RandomState(seed).choice(n, math.ceil(n / 3), replace=False)
        print(n, seed, repr(test), repr(val), len(held), len(kept), len(rest), fnv(held), fnv(kept), fnv(rest), fnv(choice),
              sep=",", file=out)
    print("full", file=out)
    for n, seed, test, val in [(5, 0, 0.2, 0.2), (10, 42, 0.25, 0.0), (30, 1, 0.2, 0.2)]:
        for part, rows in zip(("test", "val", "train"), split(n, seed, test, val)):
            print(n, seed, repr(test), repr(val), part, " ".join(map(str, rows)), sep=",", file=out)


def folds(n, seed, count):
    return list(KFold(count, shuffle=True, random_state=seed).split(np.zeros((n, 1))))


draw = random.Random(8)
cases = [(323, s, 5) for s in range(20)] + [(506, s, 10) for s in range(10)]
cases += [(2, 0, 2), (3, 1, 2), (3, 1, 3), (5, 2, 5), (7, 3, 3), (10, 42, 10), (1000, 4294967295, 5), (65537, 1, 3), (101, 4, 101)]
while len(cases) < 100:
    cases.append((draw.randint(10, 3000), draw.randrange(2**32), draw.choice([2, 3, 4, 5, 7, 10])))

with open(os.path.join(here, "sklearn_kfolds.csv"), "w", newline="\n") as out:
    for n, seed, count in cases:
        parts = folds(n, seed, count)
        print(n, seed, count, fnv(np.concatenate([val for _, val in parts])), fnv(np.concatenate([train for train, _ in parts])),
              sep=",", file=out)
    print("full", file=out)
    for n, seed, count in [(5, 0, 2), (11, 42, 3), (20, 1, 5)]:
        for fold, (train, val) in enumerate(folds(n, seed, count)):
            for part, rows in (("val", val), ("train", train)):
                print(n, seed, count, fold, part, " ".join(map(str, rows)), sep=",", file=out)
