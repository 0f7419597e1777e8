"""Jacobians: stacks of tangents through a pushforward, or of cotangents through an adjoint.

`stack_tangents` takes a pushforward, and gives the function of the primal's parameters in which the tangents of all
unit directions go through at once. `stack_cotangents` takes an adjoint that keeps its results, and does the same with
the cotangents of all elements of the results. Both return, for each result and each parameter to differentiate by, an
array with the axes of the result and then those of the parameter. Nothing of the primal depends on the stack, so it is
computed once.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> from autodiff_compiler.transforms.pipeline import jacobian
>>> def f(x):
...     return np.sin(x)
>>> print(print_function(jacobian(lower(f, (np.ones(3),), {}).function, [0], [0], forward=True)), end="")
func f(%x: float64[d1]) {
  %v1: int = dim %x, 0
  %v2: float64[d1, d1] = np.eye %v1
  %v3: float64[d1] = np.cos %x   # line 2
  %sin_x_dot: float64[d2, d1] = * %v2, %v3   # line 2
  %v4: float64[d1, d2] = get %sin_x_dot, (('transpose', None),)
  return %v4
}
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..ir.core import DERIVED, Builder, Function, Op, Region, Value, current, leaves, type_of
from ..ir.opset import CAST, MUL, PRIMS
from ..ir.rewrite import replace_values
from ..ir.types import same_dtype
from ..operations import lib
from . import algebra
from .batch import NotBatchedError, batch


def is_number(x: Any) -> bool:
    """The value has one element and no axes."""
    return type_of(x).dims == ()


def stack_tangents(fn: Function, wrt: Sequence[int], results: Sequence[int], keep: Sequence[int]) -> Function:
    """The Jacobian of a function, from its pushforward by the parameters `wrt`, which takes their tangents.

    results: the numbers of the results to differentiate
    keep:    the numbers of the results that are returned in front
    """
    count = len(fn.body.exit) // 2
    kept, outs = _selected(fn, keep, results, [fn.body.exit[count + k] for k in results])
    made = _stacked(fn, len(wrt))
    body = made.body
    inputs = [body.params[k] for k in wrt]
    parts = _Parts(inputs)
    moving = made.meta["stacks"][kept + outs :]
    _seed(body, len(wrt), 0, parts)
    values, tangents = body.exit[kept : kept + outs], body.exit[kept + outs :]
    with _builder(body).active():
        blocks = [
            parts.block(k, d, y, x, columns=True) if moves else parts.nothing(y, x)
            for y, d, moves in zip(values, tangents, moving)
            for k, x in enumerate(inputs)
        ]
    body.exit = (*body.exit[:kept], *blocks)
    return made


def stack_cotangents(fn: Function, wrt: Sequence[int], results: Sequence[int], keep: Sequence[int]) -> Function:
    """The Jacobian of a function, from its adjoint by the parameters `wrt`, which keeps the results and takes a
    cotangent for each of `results`. See `stack_tangents`.
    """
    kept, outs = _selected(fn, keep, results, fn.body.exit[len(fn.body.exit) - len(wrt) :])
    made = _stacked(fn, len(results))
    body = made.body
    inputs = [body.params[k] for k in wrt]
    moving = made.meta["stacks"][kept + outs :]
    parts = _Parts(body.exit[kept : kept + outs])
    # The lengths of the results are known behind the forward sweep, and that does not read the cotangents.
    bars = body.params[len(body.params) - len(results) :]
    _seed(body, len(results), next((k for k, op in enumerate(body.ops) if _reads(op, bars)), len(body.ops)), parts)
    values, cotangents = body.exit[kept : kept + outs], body.exit[kept + outs :]
    with _builder(body).active():
        blocks = [
            parts.block(k, bar, y, x, columns=False) if moves else parts.nothing(y, x)
            for k, y in enumerate(values)
            for x, bar, moves in zip(inputs, cotangents, moving)
        ]
    body.exit = (*body.exit[:kept], *blocks)
    return made


def combine(fn: Function, result: int, forward: bool) -> Function:
    """The derivatives of one result along several directions, which are the last parameter: a stack of them.

    fn: a pushforward, or an adjoint that keeps its results. Its last parameter is a tangent or a cotangent.

    >>> import numpy as np
    >>> from autodiff_compiler.frontend.lower import lower
    >>> from autodiff_compiler.ir.printer import print_function
    >>> from autodiff_compiler.transforms.pipeline import combinations
    >>> def f(x):
    ...     return np.sin(x)
    >>> print(print_function(combinations(lower(f, (np.ones(3),), {}).function, 0, 0, forward=True)), end="")
    func f(%x: float64[d1], %x_dot: float64[d2, d1]) {
      %v1: float64[d1] = np.cos %x   # line 2
      %sin_x_dot: float64[d2, d1] = * %x_dot, %v1   # line 2
      return %sin_x_dot
    }
    """
    derived = fn.body.exit[len(fn.body.exit) // 2 + result] if forward else fn.body.exit[-1]
    fn.body.exit = (derived,)
    made = _stacked(fn, 1)
    directions = made.body.params[-1]
    if not made.meta["stacks"][0]:
        # The derivative is the same along all directions, which are linear: it is zero.
        like = made.body.exit[0]
        with _builder(made.body).active():
            shape = (lib.length(directions, 0), *lengths(like))
            made.body.exit = (lib.zeros_of(shape, like),)
    return made


def is_cheaper_forward(fn: Function, wrt: Sequence[int], results: Sequence[int]) -> bool:
    """The parameters have together at most as many elements as the results, for the arguments at hand."""

    def axes(x: Any) -> Any:
        dims = type_of(x).dims
        return None if dims is None else tuple(map(fn.body.dims.find, dims))

    if not all(type_of(fn.results[k]).is_real for k in results):
        return True
    return fn.body.dims.prefers([axes(fn.params[k]) for k in wrt], [axes(fn.results[k]) for k in results])


def require_real(fn: Function, results: Sequence[int], what: str, loc: Any = None) -> None:
    """Raise an error if a result may be complex: real cotangents do not see its imaginary part."""
    if not all(type_of(fn.results[k]).is_real for k in results):
        raise UnsupportedError(
            f"{what} of a result that is complex, or may be, by cotangents of it",
            loc,
            "use jacfwd, or return its real and its imaginary part",
        )


def is_complex(x: Any) -> bool:
    dtype = type_of(x).dtype
    return dtype is not None and dtype.kind == "c"


def sum_result(fn: Function) -> None:
    """Put the sum of the first result, if that is an array of real numbers, into its place."""
    body = fn.body
    t = type_of(body.exit[0])
    if t.kind == "array" and t.may_be_float and not is_complex(body.exit[0]):
        with Builder(body).active():
            body.exit = (np.sum(body.exit[0]), *body.exit[1:])


def trace(fn: Function, first: int, wrt: Sequence[int]) -> None:
    """Replace the blocks of a Hessian by the parameters `wrt`, which are the results from `first` on, by the sum of its
    diagonal.
    """
    body = fn.body
    blocks = body.exit[first:]
    builder = _builder(body)
    total: Any = None
    with builder.active():
        for k, number in enumerate(wrt):
            x, block = body.params[number], blocks[k * len(wrt) + k]
            if not is_number(x):
                n = lib.count(x)
                block = np.trace(block if lib.ndim(x) == 1 else lib.reshape(block, (n, n)))
            total = block if total is None else total + block
    body.exit = (*body.exit[:first], total)


def _selected(fn: Function, keep: Sequence[int], results: Sequence[int], derived: Any) -> tuple[int, int]:
    """Have the function return what is kept, the results to differentiate, and what is `derived`.

    Gives how many are kept, and how many are differentiated.
    """
    values = fn.body.exit
    fn.body.exit = (*[values[k] for k in keep], *[values[k] for k in results], *derived)
    return len(keep), len(results)


def _stacked(fn: Function, count: int) -> Function:
    """The function for a stack of values of its last `count` parameters."""
    try:
        made = batch(fn, set(range(len(fn.params) - count, len(fn.params))), spread=False)
    except NotBatchedError as error:
        place = None if error.op is None else error.op.loc
        raise UnsupportedError(
            f"the derivatives along all directions cannot be computed at once: {error}",
            place,
            "use vjp or jvp in a loop",
        ) from None
    for noted in ("constraints", "assumed", "smaller", "at_least"):
        # What holds of the arguments is checked at each call, so the caller's own record has to have it.
        known, found = getattr(fn.body.dims, noted), getattr(made.body.dims, noted)
        known.extend(found[len(known) :])
    fn.body.dims.derived.update(made.body.dims.derived)
    return made


def _builder(body: Region) -> Builder:
    builder = algebra.install(Builder(body))
    builder.tag = DERIVED
    return builder


def _seed(body: Region, count: int, at: int, parts: _Parts) -> None:
    """Put unit directions in the place of the last `count` parameters, in front of operation number `at`."""
    later = body.ops[at:]
    del body.ops[at:]
    with _builder(body).active():
        seeds = parts.seeds()
    body.ops += later
    replace_values(body, dict(zip(body.params[len(body.params) - count :], seeds)))
    del body.params[len(body.params) - count :]
    _multiply_out(body, parts.eye)


def _multiply_out(body: Region, eye: Any) -> None:
    """Have no product of matrices whose first factor is the identity `eye`, with its rows or columns scaled or not.

    The first layers of a network are such products. Scaling the rows of the other factor is faster by its length.
    """
    scaled: dict[Value, list[Any]] = {eye: []}  # matrices that are the identity times these numbers and vectors
    mapping: dict[Value, Any] = {}
    ops, body.ops = body.ops, []
    builder = _builder(body)
    for op in ops:
        if op.prim in (MUL, PRIMS[np.multiply]) and len(op.args) == 2:
            for x, factor in (op.args, op.args[::-1]):
                dims = type_of(factor).dims
                if _among(scaled, x) and not _among(scaled, factor) and dims is not None and len(dims) < 2:
                    scaled[op.result] = [*scaled[x], factor]
                    break
        elif op.prim in (PRIMS[np.matmul], PRIMS[operator.matmul]) and not op.kwargs and _among(scaled, op.args[0]):
            matrix = op.args[1]
            known, dtype = type_of(matrix), op.result.type.dtype
            if known.ndim == 2 and known.is_float and dtype is not None and not _among(scaled, matrix):
                builder.loc = op.loc
                with builder.active():
                    if not same_dtype(known.dtype, dtype):
                        matrix = lib.emit(CAST, matrix, dtype)
                    factors = scaled[op.args[0]]
                    scale = functools.reduce(lib.times, factors) if factors else None
                    if scale is not None and not is_number(scale):
                        scale = lib.part(scale, (slice(None), None))
                    mapping[op.result] = matrix if scale is None else scale * matrix
                continue
        body.ops.append(op)
    replace_values(body, mapping)


def _among(known: Container[Value], x: Any) -> bool:
    return type(x) is Value and x in known


def _reads(op: Op, values: Sequence[Value]) -> bool:
    if any(v in values for v in op.operands()):
        return True
    return any(
        any(v in values for v in leaves(region.exit)) or any(_reads(inner, values) for inner in region.ops)
        for region in op.regions
    )


class _Parts:
    """The unit directions of several values, one after the other: each has a part of the rows of one identity matrix.

    values: the arrays and numbers that move
    """

    def __init__(self, values: Sequence[Any]):
        self.values = values
        self.starts: list[Any] = []
        self.end: Any = 0
        self.eye: Any = None

    def seeds(self) -> list[Any]:
        """For each of the values, a stack of directions."""
        for x in self.values:
            self.starts.append(self.end)
            self.end = self.end + lib.count(x)
        self.eye = current().emit(PRIMS[np.eye], self.end)
        return [self.seed(k, x, self.eye) for k, x in enumerate(self.values)]

    def seed(self, k: int, x: Any, eye: Any) -> Any:
        t = type_of(x)
        rows = eye if len(self.values) == 1 else lib.part(eye, (slice(None), self.range(k)))
        if t.dtype is not None and t.dtype != np.float64:
            rows = lib.emit(CAST, rows, t.dtype)
        if lib.ndim(x) != 1 and not (is_number(x) and len(self.values) > 1):
            rows = lib.reshape(rows, (self.end, *lengths(x)))
        return rows

    def range(self, k: int) -> Any:
        """The rows of value number `k`: a slice, or a number for a number."""
        if is_number(self.values[k]):
            return self.starts[k]
        stop = self.starts[k + 1] if k + 1 < len(self.starts) else self.end
        start = self.starts[k]
        return slice(None if start is self.starts[0] else start, None if stop is self.end else stop)

    def block(self, k: int, stack: Any, y: Any, x: Any, columns: bool) -> Any:
        """The derivative of `y` by `x` from a stack of derivatives, of which value number `k` has a part.

        columns: the directions are those of `x`; otherwise of `y`.
        """
        moving = self.values[k]
        rows = stack if len(self.values) == 1 else lib.part(stack, (self.range(k),))
        if columns and not is_number(moving) and not is_number(y):
            rows = np.moveaxis(rows, 0, -1) if lib.ndim(y) > 1 else lib.swap(rows)
        flat = len(self.values) == 1 if is_number(moving) else lib.ndim(moving) != 1
        return lib.reshape(rows, (*lengths(y), *lengths(x))) if flat else rows

    def nothing(self, y: Any, x: Any) -> Any:
        """The derivative of `y` by `x`, on which it does not depend."""
        shape = (*lengths(y), *lengths(x))
        return lib.zeros_of(shape, y) if shape else 0.0


def lengths(x: Any) -> tuple[Any, ...]:
    """The lengths of the axes of a value."""
    return tuple([lib.length(x, k) for k in range(lib.ndim(x))])


__all__ = [
    "combine", "is_cheaper_forward", "is_complex", "is_number", "lengths", "require_real", "stack_cotangents",
    "stack_tangents", "sum_result", "trace",
]  # fmt: skip
