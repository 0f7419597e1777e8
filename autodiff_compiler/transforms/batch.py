"""Batching: a straight-line function for a stack of values at once, instead of once for each of them.

Takes a function and the numbers of the parameters that become stacks. Gives a function in which these parameters, and
all results, have one more axis in front. A value that depends on a stack is a stack too. Each primitive has a rule that
says how it is applied to stacks. Without a rule, `NotBatchedError` is raised, and the caller has to loop.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def f(x, w):
...     return np.sum(w * x)
>>> fn = lower(f, (np.ones(3), np.ones(3))).function
>>> print(print_function(batch(fn, {0})), end="")
func f(%x: float64[d3, d1], %w: float64[d2]) {
  %v1: float64[d3, d1] = * %w, %x
  %v2: float64[d3] = np.sum %v1, axis=(1,)
  return %v2
}

Reference: Bradbury et al., JAX (2018), whose vmap has rules of this kind.
"""

from __future__ import annotations

from ..ir.core import Function
from ..operations.batching import Batcher, NotBatchedError


def batch(fn: Function, stacked: set[int]) -> Function:
    """`fn` for a stack of values of the parameters with these numbers; all results are stacks.

    Raises NotBatchedError where an operation has no rule.
    """
    return Batcher(fn, stacked).function


__all__ = ["NotBatchedError", "batch"]
