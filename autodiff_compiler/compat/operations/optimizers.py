"""One step of gradient descent and of Adam, on NumPy's arrays. The systems' classes are thin around these."""

from __future__ import annotations

from typing import Any

import numpy as np


def momentum_step(
    g: Any, kept: Any, momentum: Any, dampening: Any = 0, nesterov: bool = False
) -> tuple[Any, Any]:  # fmt: skip
    """The direction of a step, and the running sum of gradients to be kept; `kept` is None at the first step.

    >>> direction, kept = momentum_step(np.array([1.0]), np.array([2.0]), 0.5)
    >>> direction, kept
    (array([2.]), array([2.]))
    """
    kept = np.array(g) if kept is None else momentum * kept + (1 - dampening) * g if dampening else momentum * kept + g
    return (g + momentum * kept if nesterov else kept), kept


def adam_step(
    g: Any,
    mean: Any,
    square: Any,
    largest: Any,
    step: int,
    betas: tuple[Any, Any],
    epsilon: Any,
    inside: bool,
    bias: tuple[Any, Any] | None = None,
) -> tuple[Any, Any, Any, Any]:
    """What a step of length one subtracts, and the running means to be kept: of gradients, of their squares, and of the
    latter the largest so far, where `largest` is not None.

    inside: `epsilon` is added before the bias of the mean of squares is taken out (the paper's "epsilon hat"), else
    after. The first step has the number 1. bias: the betas of which powers are taken, where they are rounded otherwise.

    References: Kingma and Ba, Adam: a method for stochastic optimization (2014), algorithm 1 and section 2; Reddi et
    al., On the convergence of Adam and beyond (2018), algorithm 2, for the largest mean.
    """
    one, two = betas
    kind = g.dtype.type
    mean = mean + (g - mean) * kind(1 - one)
    square = square + (g * g - square) * kind(1 - two)
    counted = square
    if largest is not None:
        counted = largest = np.maximum(largest, square)
    one, two = betas if bias is None else bias
    root = (1 - two**step) ** 0.5
    change = mean * kind(root / (1 - one**step)) / (np.sqrt(counted) + kind(epsilon if inside else epsilon * root))
    return change, mean, square, largest
