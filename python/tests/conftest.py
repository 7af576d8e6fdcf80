# SPDX-License-Identifier: MIT
import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def table(rng):
    """A table that a small net learns: (x, y)."""
    x = rng.normal(size=(200, 3))
    return x, np.abs(x[:, 0]) + 0.5 * x[:, 1]
