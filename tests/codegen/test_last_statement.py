"""The last statement of a function: what is returned is computed there, or in statements in front of it."""

import numpy as np

import autodiff_compiler as ad
from benchmarks.by_hand.mechanics import steering_cost


def test_a_result_that_is_added_to_is_not_returned_before():
    """A sum that is too long for the line with ``return`` becomes ``x = a`` and ``x += b``."""
    rng = np.random.default_rng(1)
    args = 0.3 * rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), *(rng.normal(size=s) for s in (4, (6, 2), 4))
    tangents = tuple(np.cos(np.arange(a.size)).reshape(a.shape) for a in args)
    value, linear = ad.linearize(steering_cost, *args)
    _, tangent = ad.jvp(steering_cost, args, tangents)
    gradients = ad.grad(steering_cost, argnums=(0, 1, 2, 3, 4))(*args)
    assert value == steering_cost(*args)
    np.testing.assert_allclose(linear(*tangents), tangent)
    np.testing.assert_allclose(tangent, sum(np.sum(g * t) for g, t in zip(gradients, tangents)))
