"""Batching: a straight-line function for a stack of values at once, instead of once for each of them.

`batch` gives a function some of whose parameters have one more axis in front, as have all results. A value that depends
on one of these is stacked too: its first axis counts the calls that the function stands for. Each primitive has a rule
that says how it is applied to stacked operands; what follows an axis is counted from there is moved by one. Where there
is no rule, `NotBatchedError` is raised, and the caller has to call the function once for each value.

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
