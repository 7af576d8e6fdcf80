#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A layer of GmP units for Flax, and a network of it that is trained with Optax.

    pip install jax flax optax spherelu
    python examples/flax_gmp.py
"""

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

import spherelu.jax as sj


class GmP(nn.Module):
    """Units r * relu(u(theta) @ x + lambda), whose parameters are theta, lambda and r."""

    units: int

    @nn.compact
    def __call__(self, x):
        inputs = x.shape[-1]

        def first(key):
            w = nn.initializers.glorot_uniform()(key, (inputs, self.units)).T
            theta, length = sj.angles(w)
            return {"theta": theta, "lambda": jnp.zeros(self.units), "r": length}

        p = self.param("gmp", first)
        return p["r"] * nn.relu(x @ sj.directions(p["theta"]).T + p["lambda"])


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(1)(GmP(32)(GmP(32)(x)))[..., 0]


def main():
    x = jax.random.normal(jax.random.key(0), (512, 3))
    y = jnp.abs(x[:, 0]) + x[:, 1]
    model, optimizer = Net(), optax.adam(1e-2)
    params = model.init(jax.random.key(1), x)
    state = optimizer.init(params)

    def loss(params):
        return jnp.mean((model.apply(params, x) - y) ** 2)

    @jax.jit
    def step(params, state):
        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state)
        return optax.apply_updates(params, updates), state, value

    for i in range(300):
        params, state, value = step(params, state)
        if i % 100 == 0 or i == 299:
            print(f"step {i}: loss {value:.5f}")
    return float(value)


if __name__ == "__main__":
    main()
