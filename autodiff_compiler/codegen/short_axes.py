"""Operations on arrays whose last axis may be short, as calls of the functions of `rows`.

Takes an operation, or the types of its operands. Gives the text of a call that looks at the shape when it runs, or says
that there is none. In the SSA form these are plain operations: how they are printed is all that differs.

>>> import numpy as np
>>> from autodiff_compiler.api.stages import show_source
>>> def f(x, neighbour):
...     d = x - x[neighbour]
...     return np.sum(np.sqrt(np.sum(d**2, axis=1)))
>>> show_source(f, np.ones((4, 2)), np.array([1, 2, 3, 0]))
def f_grad(x, neighbour):
    d = x - take_rows(x, neighbour)
    sqrt_sum_d_sq = np.sqrt(row_sums(d**2))
    # adjoint of line 3: return np.sum(np.sqrt(np.sum(d**2, axis=1)))
    d_bar = over(spread(1.0, sqrt_sum_d_sq), sqrt_sum_d_sq)[:, None] * d
    # adjoint of line 2: d = x - x[neighbour]
    add_at(d_bar, neighbour, -d_bar)
    return d_bar
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.core import DERIVED, LOOSE, Op, Value, type_of
from ..ir.types import Ty, length_of
from ..rows import SHORT

if TYPE_CHECKING:
    from .expressions import Printer

FLOATS = (np.float64, np.float32)


def is_numpys(x: Any) -> bool:
    """Its methods are those of NumPy's arrays."""
    t = type_of(x)
    return t.kind == "array" and t.duck is None


def is_index_array(x: Any) -> bool:
    """An array of ints, and not an int."""
    t = type_of(x)
    return type(x) is Value and is_numpys(x) and t.dtype is not None and t.dtype.kind == "i" and bool(t.ndim)


def may_be_short(x: Any, op: Op) -> bool:
    """The last axis has few elements in the arguments at hand, or nobody knows.

    The functions of `rows` are right for all lengths. They are called where they are faster: elsewhere, what NumPy does
    is easier to read.
    """
    dims = op.parent.dims.top() if op.parent is not None else None
    if dims is None or type(x) is not Value or not x.type.dims:
        return True
    last = dims.find(x.type.dims[-1])
    if isinstance(last, int):
        return last < SHORT
    return last.root not in dims.lengths or length_of(last, dims.lengths) < SHORT


def names_rows(op: Op) -> bool:
    """An array of ints, or a vector of booleans, is the index of an array that has rows."""
    base, path = op.args
    t = type_of(base)
    if len(path) != 1 or path[0][0] != "index" or len(path[0][1]) != 1 or not is_numpys(base):
        return False
    if not may_be_short(base, op):
        return False
    (index,) = path[0][1]
    is_mask = type(index) is Value and is_numpys(index) and index.type.dtype == bool and index.type.ndim == 1
    plain = t.dtype is not None and t.dtype.kind in "biufc"
    return plain and t.ndim is not None and t.ndim > 1 and (is_mask or is_index_array(index))


def sums(p: Printer, op: Op) -> str | None:
    """A sum along the last axis, or along the one before, that of many rows."""
    x = op.args[0]
    found = over_rows(p, op, "row_sums", (*FLOATS, np.bool_))
    if found is None and _is_free(op) and _is_column_sum(op):
        return p.helper("column_sums", x)
    if found is not None or not _reduces(op, FLOATS, 2):
        return found
    text = p.helper("column_sums", x)
    if not _is_free(op):
        text = f"{text[:-1]}, exact=True)"
    kept = "[None, :]" if type_of(x).ndim == 2 else "[..., None, :]"
    return text + kept if op.kwargs.get("keepdims") else text


def _is_free(op: Op) -> bool:
    """Its last digits may differ from NumPy's."""
    return op.tag == LOOSE or (op.tag == DERIVED and not op.again)


def _is_column_sum(op: Op) -> bool:
    """A sum of a matrix of floats along its first axis. As a product it takes half of the time, or less."""
    t, axis = type_of(op.args[0]), op.kwargs.get("axis")
    plain = is_numpys(op.args[0]) and t.ndim == 2 and t.dtype in FLOATS and len(op.args) == 1
    return plain and type(axis) is int and axis in (0, -2) and not any(op.kwargs[k] for k in op.kwargs if k != "axis")


def over_rows(p: Printer, op: Op, name: str, dtypes: Sequence[Any]) -> str | None:
    """What the function of `rows` with this name computes along the last axis of arrays of these dtypes."""
    if not _reduces(op, dtypes, 1):
        return None
    kept = "[:, None]" if type_of(op.args[0]).ndim == 2 else "[..., None]"
    return p.helper(name, op.args[0]) + (kept if op.kwargs.get("keepdims") else "")


def _reduces(op: Op, dtypes: Sequence[Any], back: int) -> bool:
    """An array with two axes or more is reduced along the one that is the number `back` from behind."""
    x, axis, keepdims = op.args[0], op.kwargs.get("axis"), op.kwargs.get("keepdims", False)
    t = type_of(x)
    if not is_numpys(x) or all(t.dtype != d for d in dtypes) or not t.dims or len(t.dims) < 2 or t.dims[-1] == 1:
        return False
    if len(op.args) > 1 or not op.kwargs.keys() <= {"axis", "keepdims"} or type(keepdims) is not bool:
        return False
    return type(axis) is int and axis in (-back, len(t.dims) - back) and may_be_short(x, op)


def is_broadcast_between(x: Ty, y: Ty) -> bool:
    """Of two arrays of floats with three axes or more, one is broadcast along the one before the last, and not along
    its neighbours. NumPy's loops are short there, and slow, if the last axis is. Outer products stay as they are."""
    if x.duck is not None or y.duck is not None or x.dtype not in FLOATS or x.dtype != y.dtype:
        return False
    if not x.dims or not y.dims or not len(x.dims) == len(y.dims) > 2 or x.dims[-1] == 1 or y.dims[-1] == 1:
        return False
    return any(a[-2] == 1 != b[-2] and a[-3] != 1 for a, b in ((x.dims, y.dims), (y.dims, x.dims)))


__all__ = [
    "FLOATS",
    "is_broadcast_between",
    "is_index_array",
    "is_numpys",
    "may_be_short",
    "names_rows",
    "over_rows",
    "sums",
]
