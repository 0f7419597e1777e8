"""Calls that derivative rules do not fit.

Takes an operation and the rule of one of its arguments. Gives the rule's contribution to the argument's cotangent. If
the rule fails, the primal is asked: what NumPy refuses, it says itself. Anything else is an error with its place.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> ad.grad(lambda x: np.sum(np.linalg.solve(x, np.ones(4))))(np.ones((3, 3)))
Traceback (most recent call last):
    ...
ValueError: ... Input operand 1 has a mismatch in its core dimension 0...
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..errors import AutodiffError, RuleLookupError, is_interruption
from ..ir.core import Op, Value, type_of
from ..ir.types import Dim, length_of

MOST_ELEMENTS = 1_000_000
ASSUMED_LENGTH = 3


def contribution_of(op: Op, rule: Any, g: Any, out: Any) -> Any:
    """What a rule gives for one argument of an operation."""
    with covering(op):
        return rule(g, out, *op.args, **op.kwargs)


@contextmanager
def covering(op: Op) -> Iterator[None]:
    """Rules of an operation are called in here: an error that they raise says that they do not cover the call."""
    try:
        yield
        return
    except (AutodiffError, LookupError, NotImplementedError) as error:
        if not isinstance(error, (IndexError, KeyError, RuleLookupError)):
            raise
        problem: Exception = error
    except (TypeError, ValueError, AttributeError, AssertionError, ArithmeticError) as error:
        if is_interruption(error):
            raise
        problem = error
    assert op.parent is not None
    refused = refusal(op) if op.parent.dims.parent is None else None
    if refused is not None:
        raise refused from None  # as the function would, which surely gets there
    if isinstance(problem, AutodiffError):
        raise problem
    raise RuleLookupError(
        f"the derivative rule of {op.prim.name} does not cover this call ({type(problem).__name__}: {problem})",
        op.loc,
        "write it with other functions of NumPy's",
    ) from problem


def refusal(op: Op) -> Exception | None:
    """What the function itself raises for arguments of these types; None if it takes them, or nobody knows."""
    if op.prim.fn is None:
        return None
    try:
        args = [sample(op, a) for a in op.args]
        kwargs = {k: sample(op, a) for k, a in op.kwargs.items()}
    except LookupError:
        return None
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            op.prim.fn(*args, **kwargs)
        except (TypeError, ValueError, IndexError) as error:
            return error
        except Exception:
            return None
    return None


def sample(op: Op, arg: Any) -> Any:
    """Something of the type of an operand."""
    if isinstance(arg, (list, tuple)):
        return type(arg)([sample(op, item) for item in arg])
    if type(arg) is not Value:
        return arg
    t = type_of(arg)
    if t.dtype is None or t.dims is None or t.kind not in ("array", "generic", "py"):
        raise LookupError
    assert op.parent is not None
    dims = op.parent.dims
    top = dims
    while top.parent is not None:
        top = top.parent
    shape = []
    for d in map(dims.find, t.dims):
        known = isinstance(d, int) or d.root in top.lengths
        shape.append(length_of(d, top.lengths) if known else ASSUMED_LENGTH - (d.off if isinstance(d, Dim) else 0))
    if min(shape, default=0) < 0 or np.prod(shape, dtype=float) > MOST_ELEMENTS:
        raise LookupError
    made = np.ones(shape, t.dtype)
    if len(shape) > 1:  # a matrix that has an inverse and factors
        made += np.eye(*shape[-2:], dtype=t.dtype)
    return made if t.kind == "array" else made[()] if t.kind == "generic" else made.item()


__all__ = ["contribution_of", "covering"]
