#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# Makes tests/golden/pickles/: four images of 2 x 2 pixels as batches of ImageNet32, as each protocol of pickle has them.
# Needs numpy.
import os
import pickle

import numpy as np

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pickles")
os.makedirs(folder, exist_ok=True)
data = (np.arange(48) * 37 % 256).astype(np.uint8).reshape(4, 12)
for protocol in (2, 3, 4):
    for name, labels in (("list", [1, 3, 2, 1]), ("array", np.array([1, 3, 2, 1]))):
        batch = {"data": data, "labels": labels, "mean": data.mean(0)}
        with open(os.path.join(folder, f"val_data_{name}.p{protocol}"), "wb") as out:
            pickle.dump(batch, out, protocol=protocol)
