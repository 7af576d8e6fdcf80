#!/usr/bin/env python3
"""Losses that Keras 2.15 sees in the papers' small problems -> trajectories_keras.csv.

Follows the authors' public code (github.com/Wenlin-Chen/geometric-parameterization) in what it computes: layers,
constants, data. The layers below are our own. README.md says what the problems are.

    python3.11 -m venv keras && keras/bin/pip install 'tensorflow-cpu==2.15.*'
    SPHERELU_DATA=... keras/bin/python tests/golden/make_keras.py [--conditioning]
"""

import gzip
import math
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf

keras = tf.keras
STEPS, IMAGE_STEPS = 100, 5
SEED = {"levy": 21, "banana": 22, "boston": 23, "vgg6": 24}


# ---------------------------------------------------------------- what C draws too


class Spread:
    """The integer generator of golden_problem.h."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self, count, half):
        values = np.empty(count)
        for i in range(count):
            self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
            values[i] = (2.0 * ((self.state >> 11) * 2.0**-53) - 1.0) * half
        return values


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b % 2**32, (a >> 32) ^ c[3] ^ k[1], a % 2**32]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def shuffled(rows, seed, epoch):
    """The order in which an epoch takes rows (base/random.h: purpose 3 is the shuffle)."""
    drawn, order = 0, list(range(rows))

    def word():
        nonlocal drawn
        drawn += 1
        return philox(((drawn - 1) // 4, 0, epoch, 3), (seed, 0))[(drawn - 1) % 4]

    for i in range(rows, 1, -1):
        product = word() * i
        if product % 2**32 < i:
            while product % 2**32 < 2**32 % i:
                product = word() * i
        j = product >> 32
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


# ---------------------------------------------------------------- data


def table(name):
    """Rows of numbers, in plain text or packed; what is not numbers is a header."""
    for folder in os.environ.get("SPHERELU_DATA", "data").split(":"):
        for packed in ("", ".gz"):
            path = os.path.join(folder, name + packed)
            if os.path.exists(path):
                with (gzip.open if packed else open)(path, "rt") as file:
                    lines = [line.replace(",", " ").split() for line in file]
                return np.array([[float(cell) for cell in cells] for cells in lines if cells and cells[0] != "At1"])
    sys.exit(f"{name}: not in SPHERELU_DATA")


def levy_of(x):
    w = 1.0 + (x - 1.0) / 4.0
    return np.sin(np.pi * w) ** 2 + (w - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w) ** 2)


def levy():
    np.random.seed(0)
    x = np.random.uniform(-10.0, 10.0, [50, 1])
    y = levy_of(x) + np.random.normal(0.0, 0.1, [50, 1])
    grid = (np.arange(201.0).reshape(-1, 1) - 100.0) / 10.0
    return x, y, grid, levy_of(grid)


def split(x, y):
    """scikit-learn's train_test_split(test_size=0.2, random_state=0), features standardised by the training part."""
    order = np.random.RandomState(0).permutation(len(x))
    test = math.ceil(0.2 * len(x))
    train, test = order[test:], order[:test]
    mean, deviation = x[train].mean(axis=0), x[train].std(axis=0)
    x = (x - mean) / deviation
    return x[train], y[train], x[test], y[test]


def banana():
    rows = table("banana.csv")
    rows = rows[np.random.RandomState(0).choice(len(rows), 1000, replace=False)]
    return split(rows[:, :2], (rows[:, 2:] > 0) * 1.0)


def boston():
    rows = table("uci/boston.txt")
    return split(rows[:, :-1], rows[:, -1:])


# ---------------------------------------------------------------- layers


class Own(keras.layers.Layer):
    """values: first values of its variables, by name; product(x, w) is that of a dense layer or a convolution."""

    def __init__(self, product, values, relu):
        super().__init__()
        self.product, self.relu = product, relu
        self.learned = {
            name: self.add_weight(
                name=name, shape=value.shape, initializer=keras.initializers.Constant(value), trainable=name != "sign"
            )
            for name, value in values.items()
        }


class Wn(Own):
    def call(self, x):
        at = self.learned
        v = at["v"] / tf.norm(at["v"], axis=0, keepdims=True)
        z = at["g"] * self.product(x, v) + at["b"]
        return tf.nn.relu(z) if self.relu else z


class Gmp(Own):
    def call(self, x):
        at = self.learned
        if "sign" in at:
            u = at["sign"]
        else:
            one = tf.ones_like(at["theta"][:1])
            sines = tf.concat([one, tf.math.cumprod(tf.sin(at["theta"]), axis=0)], axis=0)
            u = sines * tf.concat([tf.cos(at["theta"]), one], axis=0)
        return at["r"] * tf.nn.relu(self.product(x, u) + at["lambda"])


class MeanOnly(keras.layers.Layer):
    """x less its mean over all axes but the last, as mean_norm.py without centre and scale."""

    def call(self, x):
        return x - tf.reduce_mean(x, axis=list(range(len(x.shape) - 1)), keepdims=True)


def dense(x, w):
    return tf.matmul(x, w)


def conv(x, w):
    return tf.nn.conv2d(x, tf.reshape(w, [3, 3, x.shape[-1], w.shape[-1]]), 1, "SAME")


# ---------------------------------------------------------------- first values: w (n, m), conv in (kh, kw, cin) order


def angles(w):
    tails = np.sqrt(np.cumsum((w**2)[::-1], axis=0))[::-1]
    theta = np.arctan2(tails[1:], w[:-1])
    theta[-1] = np.arctan2(w[-1], w[-2])
    return theta


def layer(method, product, w, relu=True):
    """What a hidden layer is under a method; the list may hold a norm and an activation of their own."""
    m, length = w.shape[1], np.linalg.norm(w, axis=0)
    zero = np.zeros(m)
    if method.startswith("gmp"):
        values = {"r": length, "lambda": zero}
        if len(w) == 1:
            values["sign"] = np.sign(w)  # never learned
        else:
            w = w.copy()
            w[-1] = np.abs(w[-1])  # half a sphere
            values["theta"] = angles(w)
        return [Gmp(product, values, relu)] + ([MeanOnly()] if method == "gmp+imn" else [])
    if method == "wn+mbn":
        return [Wn(product, {"v": w, "g": length, "b": zero}, False), MeanOnly(), keras.layers.ReLU()]
    if method == "wn":
        return [Wn(product, {"v": w, "g": length, "b": zero}, relu)]
    start = keras.initializers.Constant(w if product is dense else w.reshape(3, 3, -1, m))
    act = "relu" if relu and method == "sp" else None
    if product is dense:
        plain = keras.layers.Dense(m, activation=act, kernel_initializer=start)
    else:
        plain = keras.layers.Conv2D(m, 3, padding="same", activation=act, kernel_initializer=start)
    return [plain] + ([keras.layers.BatchNormalization(), keras.layers.ReLU()] if method == "sp+bn" else [])


def output(method, w):
    return layer("wn" if method.startswith("wn") else "sp", dense, w, relu=False)


def noisy(w, rng):
    return w if rng is None else w * (1 + 1e-16 * rng.standard_normal(w.shape))


def draw(spread, n, m):
    """W (m, n) row-major in Glorot's range, given back as (n, m)."""
    return spread(m * n, math.sqrt(6.0 / (n + m))).reshape(m, n).T.copy()


# ---------------------------------------------------------------- runs


def net_of_table(name, method, hidden, inputs, rng):
    spread = Spread(SEED[name])
    layers = layer(method, dense, noisy(draw(spread, inputs, hidden), rng))
    layers += output(method, noisy(draw(spread, hidden, 1), rng))
    return layers + ([keras.layers.Activation("sigmoid")] if name == "banana" else [])


def train_table(name, method, rng=None):
    x, y, test_x, test_y = {"levy": levy, "banana": banana, "boston": boston}[name]()
    hidden, batch = {"levy": (100, len(x)), "banana": (10, 128), "boston": (100, 1024)}[name]
    model = keras.Sequential(net_of_table(name, method, hidden, x.shape[1], rng))
    loss = keras.losses.BinaryCrossentropy(from_logits=False) if name == "banana" else "mean_absolute_error"
    model.compile(loss=loss, optimizer=keras.optimizers.Adam(0.1 if method == "gmp" else 0.01))
    losses, epoch = [], 0
    while len(losses) < STEPS:
        order = shuffled(len(x), 0, epoch) if batch < len(x) else list(range(len(x)))
        for at in range(0, len(x), batch):
            rows = order[at : at + batch]
            if len(losses) < STEPS:
                losses.append(float(model.train_on_batch(x[rows], y[rows])))
        epoch += 1
    return losses + [float(model.evaluate(test_x, test_y, batch_size=len(test_x), verbose=0))]


def train_vgg(method, rng=None):
    spread = Spread(SEED["vgg6"])
    x = spread(8 * 3 * 16 * 16, 0.5).reshape(8, 3, 16, 16).transpose(0, 2, 3, 1)
    y = np.arange(8)
    layers, channels = [], 3
    for i, units in enumerate([8, 8, 16, 16, 32, 32]):
        half = math.sqrt(6.0 / (9 * channels + units))
        w = spread(units * channels * 9, half).reshape(units, channels, 3, 3)
        w = w.transpose(2, 3, 1, 0).reshape(9 * channels, units)
        layers += layer(method, conv, noisy(w, rng))
        if i % 2:
            layers.append(keras.layers.MaxPooling2D())
        channels = units
    layers.append(keras.layers.GlobalAveragePooling2D())
    model = keras.Sequential(layers + output(method, noisy(draw(spread, 32, 8), rng)))
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=keras.optimizers.SGD(0.1 if method.startswith("gmp") else 0.01, momentum=0.9),
    )
    return [float(model.train_on_batch(x, y)) for _ in range(IMAGE_STEPS)]


TABLES = [(name, method) for name in ("levy", "banana", "boston") for method in ("sp", "wn", "sp+bn", "gmp")]
IMAGES = [("vgg6", method) for method in ("sp", "sp+bn", "wn", "wn+mbn", "gmp", "gmp+imn")]


def run(name, method, rng=None):
    return train_vgg(method, rng) if name == "vgg6" else train_table(name, method, rng)


def main():
    assert tf.__version__.startswith("2.15."), tf.__version__
    keras.backend.set_floatx("float64")
    if "--conditioning" in sys.argv:
        rng = np.random.default_rng(1)
        for name, method in TABLES + IMAGES:
            plain = np.array(run(name, method))
            gap = max(np.max(np.abs(np.array(run(name, method, rng)) / plain - 1)) for _ in range(3))
            print(f"{name} {method}: {gap:.1e}", flush=True)
        return
    path = os.path.join(os.path.dirname(__file__), "trajectories_keras.csv")
    with open(path, "w") as file:
        file.write("problem,method,step,value\n")
        for name, method in TABLES + IMAGES:
            for step, value in enumerate(run(name, method)):
                file.write(f"{name},{method},{step},{value:.17g}\n")


main()
