"""A chain of eight elementwise operations and a sum: call overhead when short, memory traffic when long."""

from __future__ import annotations

from typing import Any

import numpy as np

NAME = "elementwise chain"
ARGNUMS = 0
SIZES = {"n=10": 10, "n=1e3": 1000, "n=1e6": 1000000}
SMALL = 7


def inputs(size: int) -> tuple[Any, ...]:
    return (np.random.default_rng(2).normal(size=size),)


def primal(x):
    a = np.sin(x)
    b = a * x
    c = np.tanh(b)
    d = c + a
    e = d * d
    f = e + 1.0
    g = np.sqrt(f)
    h = np.log(g)
    return np.sum(h)


def by_hand(x):
    """The chain rule. Temporaries that are not read again are updated in place."""
    a = np.sin(x)
    b = a * x
    c = np.tanh(b)
    d = c + a
    f = d * d
    f += 1.0
    g = np.sqrt(f)
    d_bar = (1.0 / g) * (0.5 / g)
    d_bar *= d
    d_bar *= 2.0
    c *= c
    np.subtract(1.0, c, out=c)
    c *= d_bar  # now the adjoint of b
    d_bar += c * x  # now the adjoint of a
    d_bar *= np.cos(x)
    c *= a
    d_bar += c
    return d_bar


def autograd_version():
    import autograd
    import autograd.numpy as anp

    def chain(x):
        a = anp.sin(x)
        b = a * x
        c = anp.tanh(b)
        d = c + a
        e = d * d
        f = e + 1.0
        g = anp.sqrt(f)
        h = anp.log(g)
        return anp.sum(h)

    return autograd.grad(chain)
