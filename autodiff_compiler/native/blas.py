"""Products of matrices and vectors, by BLAS."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import types as _types
from numba.extending import intrinsic

types: Any = _types
cgutils: Any = _cgutils


@intrinsic
def add_product(context: Any, out: Any, a: Any, b: Any) -> Any:
    """``out += a @ b`` of matrices and vectors of floats, by BLAS. `a` and `b` may be transposed."""
    return types.void(out, a, b), _of_records


def _of_records(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    arrays = [context.make_array(t)(context, builder, x) for t, x in zip(signature.args, args)]
    shapes = [cgutils.unpack_tuple(builder, x.shape, t.ndim) for t, x in zip(signature.args, arrays)]
    call(context, builder, signature.args, [x.data for x in arrays], shapes)
    return context.get_dummy_value()


def call(context: Any, builder: Any, kinds: Sequence[Any], places: Sequence[Any], shapes: Sequence[Any]) -> None:
    """Numba's functions find BLAS in SciPy. BLAS has columns where we have rows: it gets the factors in reverse.

    kinds, places, shapes: the types of three arrays, where their elements are, and their lengths
    """
    size, char = context.get_value_type(types.intp), ir.IntType(8)
    pointer = cgutils.voidptr_t
    datas = [builder.bitcast(x, pointer) for x in places]
    one = builder.bitcast(cgutils.alloca_once_value(builder, context.get_constant(kinds[0].dtype, 1.0)), pointer)
    kind = ir.Constant(char, ord("d" if kinds[0].dtype == types.float64 else "s"))

    def letter(transposed: bool) -> Any:
        return ir.Constant(char, ord("t" if transposed else "n"))

    def stride(k: int) -> Any:
        """How far apart the rows of a matrix are in memory, and not 0, which BLAS refuses."""
        n = shapes[k][1 if kinds[k].layout == "C" else 0]
        least = ir.Constant(size, 1)
        return builder.select(builder.icmp_signed("<", n, least), least, n)

    every = [n for shape in shapes for n in shape]
    large = builder.icmp_unsigned(">", functools.reduce(builder.or_, every), ir.Constant(size, 2**31 - 1))
    with builder.if_then(large, likely=False):
        context.call_conv.return_user_exc(builder, OverflowError, ("a matrix is too large for BLAS",))
    if kinds[1].ndim == kinds[2].ndim == 2:
        m, n = shapes[0]
        given = [
            kind, letter(kinds[2].layout == "F"), letter(kinds[1].layout == "F"), n, m, shapes[1][1], one,
            datas[2], stride(2), datas[1], stride(1), one, datas[0], stride(0),
        ]  # fmt: skip
        name = "numba_xxgemm"
    else:
        matrix, vector = (1, 2) if kinds[1].ndim == 2 else (2, 1)
        rows, columns = shapes[matrix]
        by_rows = kinds[matrix].layout == "C"
        m, n = (columns, rows) if by_rows else (rows, columns)
        given = [
            kind, letter(by_rows == (matrix == 1)), m, n, one, datas[matrix], stride(matrix), datas[vector], one,
            datas[0],
        ]  # fmt: skip
        name = "numba_xxgemv"
    made = ir.FunctionType(ir.IntType(32), [x.type for x in given])
    result = builder.call(cgutils.get_or_insert_function(builder.module, made, name), given)
    failed = builder.icmp_signed("!=", result, ir.Constant(result.type, 0))
    with builder.if_then(failed, likely=False):
        context.call_conv.return_user_exc(builder, RuntimeError, ("BLAS failed",))


__all__ = ["add_product", "call"]
