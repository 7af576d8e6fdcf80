# SPDX-License-Identifier: MIT
"""The directions of GmP and their exact gradient as pure functions for JAX.

    >>> import jax, jax.numpy as jnp, spherelu.jax as sj
    >>> theta, length = sj.angles(jnp.array([[3.0, 0.0, 4.0]]))
    >>> bool(jnp.allclose(length[:, None] * sj.directions(theta), jnp.array([[3.0, 0.0, 4.0]]), atol=1e-5))
    True

Both functions are plain JAX: `jit`, `vmap`, `grad` and second derivatives work, on every device. A unit of a network is
`r * relu(directions(theta) @ x + lambda)`; examples/flax_gmp.py has a layer for Flax.
"""

from __future__ import annotations

from typing import Any

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("spherelu.jax needs JAX: pip install jax") from error

__all__ = ["angles", "directions"]


def _before(sines: Any) -> Any:
    """(..., n): of each coordinate the product of the sines before it. Products by doubling: they can be differentiated where a sine is
    0."""
    one = jnp.ones_like(sines[..., :1])
    return jnp.concatenate([one, jax.lax.associative_scan(jnp.multiply, sines, axis=sines.ndim - 1)], axis=-1)


@jax.custom_vjp
def directions(theta: Any) -> Any:
    """u(theta): (..., n-1) angles to (..., n) unit vectors, n 2 or more. The gradient divides nowhere, so that it is exact where
    a sine is 0.

    >>> import jax, jax.numpy as jnp, spherelu.jax as sj
    >>> jax.grad(lambda theta: sj.directions(theta)[2])(jnp.array([0.0, 0.0])).tolist()  # sin(theta) is 0
    [0.0, 0.0]
    """
    ones = jnp.ones_like(theta[..., :1])
    return _before(jnp.sin(theta)) * jnp.concatenate([jnp.cos(theta), ones], axis=-1)


def _forward(theta: Any) -> tuple[Any, Any]:
    return directions(theta), theta


def _backward(theta: Any, du: Any) -> tuple[Any]:
    """behind_i = cos_i du_i + sin_i behind_(i+1), from the last coordinate, is the gradient of the smaller sphere of the coordinates from i
    on; dtheta_i = before_i (cos_i behind_(i+1) - sin_i du_i)."""
    sine, cosine = jnp.sin(theta), jnp.cos(theta)

    def after(right: Any, left: Any) -> Any:  # affine maps (factor, term), the one on the right first
        return left[0] * right[0], left[0] * right[1] + left[1]

    zero = jnp.zeros_like(du[..., -1:])
    factor = jnp.concatenate([sine, zero], axis=-1)
    term = jnp.concatenate([cosine * du[..., :-1], du[..., -1:]], axis=-1)
    behind = jax.lax.associative_scan(after, (factor, term), reverse=True, axis=theta.ndim - 1)[1][..., 1:]
    return (_before(sine)[..., :-1] * (cosine * behind - sine * du[..., :-1]),)


directions.defvjp(_forward, _backward)


def angles(w: Any) -> tuple[Any, Any]:
    """Angles (..., n-1) and lengths (...) of vectors w (..., n); a vector of zeros has angles 0. For first values: it is not meant to be
    differentiated.

    >>> import jax.numpy as jnp, spherelu.jax as sj
    >>> theta, length = sj.angles(jnp.array([[0.0, 2.0]]))
    >>> round(float(theta[0, 0]), 4), float(length[0])
    (1.5708, 2.0)
    """
    w = jnp.asarray(w)
    most = jnp.max(jnp.abs(w), axis=-1, keepdims=True)
    scaled = w / jnp.where(most > 0, most, 1)
    tails = jnp.sqrt(jnp.cumsum(scaled[..., ::-1] ** 2, axis=-1)[..., ::-1])  # lengths from each coordinate on
    last = jnp.arctan2(w[..., -1:], w[..., -2:-1])
    return jnp.concatenate([jnp.arctan2(tails[..., 1:-1], scaled[..., :-2]), last], axis=-1), tails[..., 0] * most[..., 0]
