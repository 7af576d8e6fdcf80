# SPDX-License-Identifier: MIT
"""Directions and their gradients in JAX, beside libspherelu's."""

import ctypes
import math

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="no JAX")
import jax.numpy as jnp

import spherelu.jax as sj
from spherelu import _abi
from spherelu._lib import check, lib

jax.config.update("jax_enable_x64", True)


def by_library(theta, du):
    """u and dtheta of libspherelu."""
    (m, n), place = du.shape, lambda array: ctypes.c_void_p(array.ctypes.data)
    u, dtheta = np.empty((m, n)), np.empty((m, n - 1))
    of = _abi.sph_weights_grads(first=theta.ctypes.data, dw=du.ctypes.data, dfirst=dtheta.ctypes.data)
    check(lib().sph_weights(_abi.SPH_F64, _abi.SPH_PARAM_GMP, m, n, place(theta), None, place(u), None, 1))
    check(lib().sph_weights_grad(_abi.SPH_F64, _abi.SPH_PARAM_GMP, m, n, ctypes.byref(of), 1))
    return u, dtheta


@pytest.mark.parametrize("m, n", [(1, 2), (3, 3), (17, 40), (5, 600)])
@pytest.mark.parametrize("poles", [False, True])
def test_values_and_gradients_are_those_of_the_library(m, n, poles):
    rng = np.random.default_rng(m * n)
    theta, du = rng.uniform(0.05, 3.1, (m, n - 1)), rng.normal(size=(m, n))
    if poles:
        theta[:, :: max(1, n // 3)] = 0  # sin(theta) = 0, where a division by the sine fails
    u, pull = jax.vjp(sj.directions, jnp.asarray(theta))
    want_u, want = by_library(theta, du)
    assert np.allclose(u, want_u, atol=1e-14)
    assert np.allclose(pull(jnp.asarray(du))[0], want, atol=1e-12)


def test_gradients_at_poles_are_those_of_differences():
    theta = jnp.array([0.0, math.pi, 0.5, 0.0, 2.0])
    du = jnp.arange(1.0, 7.0)
    grad = jax.grad(lambda t: sj.directions(t) @ du)(theta)
    for i in range(5):
        step = jnp.zeros(5).at[i].set(1e-6)
        assert abs((sj.directions(theta + step) - sj.directions(theta - step)) @ du / 2e-6 - grad[i]) < 1e-8


def test_second_derivatives_jit_and_vmap():
    theta, f = jnp.array([[0.0, 1.0, 2.0], [0.3, 0.0, 1.0]]), lambda t: jnp.sin(sj.directions(t)).sum()
    hessian = jax.vmap(jax.jacrev(jax.grad(f)))(theta)
    for row, found in zip(theta, hessian):
        for i in range(3):
            step = jnp.zeros(3).at[i].set(1e-6)
            assert np.allclose((jax.grad(f)(row + step) - jax.grad(f)(row - step)) / 2e-6, found[i], atol=1e-7)
    assert np.allclose(jax.jit(jax.vmap(sj.directions))(theta), sj.directions(theta), atol=1e-15)


@pytest.mark.parametrize("n", [2, 3, 50])
def test_angles_give_the_vectors_back(n):
    w = np.random.default_rng(n).normal(size=(9, n))
    w[0] = 0
    theta, length = sj.angles(w * 1e-200)
    assert np.allclose(length[:, None] * 1e200 * sj.directions(theta), w, atol=1e-12)


def test_f32_stays_f32():
    theta = jnp.ones((2, 3), jnp.float32)
    assert sj.directions(theta).dtype == jax.grad(lambda t: sj.directions(t).sum())(theta).dtype == jnp.float32
