"""Products of arrays and linear algebra as primitives."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import runtime
from .core import Builder, Prim, type_of
from .infer import broadcast_dims, join_lengths, promote
from .ops_common import DimTuple, as_array, axes_of, bound, enter, mixed_dtype, must_equal, scalar_or_array
from .opset import PRIMS
from .types import ANY, DimLike, Ty, array

Dtype = np.dtype[Any] | None


def _pair(b: Builder, x: Any, y: Any) -> tuple[Ty, Ty] | None:
    """The operands' types as arrays, or None if they are not known to be arrays of known rank."""
    a, c = type_of(x), type_of(y)
    a = as_array(b, x) if a.kind not in ("py", "generic", "scalar", "array") else a
    c = as_array(b, y) if c.kind not in ("py", "generic", "scalar", "array") else c
    for t in (a, c):
        if t.kind not in ("py", "generic", "scalar", "array"):
            return None
    return a, c


def _matmul(b: Builder, x1: Any, x2: Any) -> Ty:
    pair = _pair(b, x1, x2)
    if pair is None:
        return ANY
    dtypes = promote(np.matmul, list(pair))
    dtype = dtypes[0] if dtypes else None
    p, q = pair[0].dims, pair[1].dims
    if p is None or q is None or not p or not q:
        return Ty("any", dtype, None)
    must_equal(b, p[-1], q[-2] if len(q) > 1 else q[-1])
    batch = broadcast_dims(b, [p[:-2], q[:-2]]) or ()
    return scalar_or_array(True, dtype, (*batch, *p[:-1][-1:], *(q[-1:] if len(q) > 1 else ())))


def _total_matmul(b: Builder, x1: Any, x2: Any) -> bool:
    # A mismatch of lengths is seen by inference, which then marks the operation as a check.
    types = [type_of(x1), type_of(x2)]
    return all(t.kind == "array" and t.dims and t.dtype is not None for t in types)


def _dot(b: Builder, a: Any, b_: Any) -> Ty:
    pair = _pair(b, a, b_)
    if pair is None:
        return ANY
    dtype = mixed_dtype(pair)
    p, q = pair[0].dims, pair[1].dims
    if p is None or q is None:
        return Ty("any", dtype, None)
    if not p or not q:
        return scalar_or_array(True, dtype, p or q)
    must_equal(b, p[-1], q[-2] if len(q) > 1 else q[-1])
    return scalar_or_array(True, dtype, (*p[:-1], *q[:-2], *(q[-1:] if len(q) > 1 else ())))


def _inner(b: Builder, a: Any, b_: Any, /) -> Ty:
    pair = _pair(b, a, b_)
    if pair is None:
        return ANY
    dtype = mixed_dtype(pair)
    p, q = pair[0].dims, pair[1].dims
    if p is None or q is None:
        return Ty("any", dtype, None)
    if not p or not q:
        return scalar_or_array(True, dtype, p or q)
    must_equal(b, p[-1], q[-1])
    return scalar_or_array(True, dtype, (*p[:-1], *q[:-1]))


def _size(b: Builder, dims: DimTuple | None) -> DimLike:
    if dims is None:
        return b.dims.fresh()
    rest = [d for d in dims if d != 1]
    if not rest:
        return 1
    if len(rest) == 1:
        return rest[0]
    if all(isinstance(d, int) for d in rest):
        return int(np.prod(rest))
    return b.dims.named(("size", *rest))


def _outer(b: Builder, a: Any, b_: Any) -> Ty:
    pair = _pair(b, a, b_)
    if pair is None:
        return ANY
    return array(mixed_dtype(pair), (_size(b, pair[0].dims), _size(b, pair[1].dims)))


def _vdot(b: Builder, a: Any, b_: Any, /) -> Ty:
    pair = _pair(b, a, b_)
    return ANY if pair is None else scalar_or_array(True, mixed_dtype(pair), ())


def tensordot_axes(axes: Any, p: int, q: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The contracted axes of both operands of ``tensordot``, or None if they are not known."""
    if isinstance(axes, (int, np.integer)):
        n = int(axes)
        return (tuple(range(p - n, p)), tuple(range(n))) if 0 <= n <= min(p, q) else None
    if not isinstance(axes, (tuple, list)) or len(axes) != 2:
        return None
    left, right = (tuple(e) if isinstance(e, (tuple, list)) else (e,) for e in axes)
    found = axes_of(left, p), axes_of(right, q)
    if found[0] is None or found[1] is None or len(found[0]) != len(found[1]):
        return None
    return found[0], found[1]


def _tensordot(b: Builder, a: Any, b_: Any, axes: Any = 2) -> Ty:
    pair = as_array(b, a), as_array(b, b_)
    if any(t.kind != "array" for t in pair):
        return ANY
    dtype = mixed_dtype(pair)
    p, q = pair[0].dims, pair[1].dims
    contracted = None if p is None or q is None else tensordot_axes(axes, len(p), len(q))
    if p is None or q is None or contracted is None:
        return Ty("array", dtype, None)
    for i, j in zip(*contracted):
        must_equal(b, p[i], q[j])
    dims = [d for k, d in enumerate(p) if k not in contracted[0]]
    dims += [d for k, d in enumerate(q) if k not in contracted[1]]
    return array(dtype, tuple(dims))


def parse_einsum(subscripts: str, ndims: list[int]) -> tuple[list[list[str]], list[str]] | None:
    """The labels of every operand and of the result; an ellipsis becomes labels ``"0"``, ``"1"`` ... from its end."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        return None
    inputs: list[list[str]] = []
    hidden = 0
    for term, ndim in zip(terms, ndims):
        head, dots, tail = term.partition("...")
        extra = ndim - len(head) - len(tail) if dots else 0
        if extra < 0 or (not dots and ndim != len(term)):
            return None
        hidden = max(hidden, extra)
        inputs.append([*head, *[str(k) for k in reversed(range(extra))], *tail])
    broadcast = [str(k) for k in reversed(range(hidden))]
    if arrow:
        head, dots, tail = right.partition("...")
        output = [*head, *(broadcast if dots else []), *tail]
        if not dots and hidden:
            return None
    else:
        counts: dict[str, int] = {}
        for letter in left.replace(",", "").replace(".", ""):
            counts[letter] = counts.get(letter, 0) + 1
        output = broadcast + sorted(k for k, n in counts.items() if n == 1)
    return inputs, output


def _einsum(b: Builder, subscripts: Any, *operands: Any, optimize: Any = False) -> Ty:
    types = [as_array(b, o) for o in operands]
    if any(t.kind != "array" for t in types) or not isinstance(subscripts, str):
        return ANY
    dtype = mixed_dtype(types)
    if any(t.dims is None for t in types):
        return Ty("any", dtype, None)
    parsed = parse_einsum(subscripts, [t.ndim or 0 for t in types])
    if parsed is None:
        return ANY
    lengths: dict[str, list[DimLike]] = {}
    for labels, t in zip(parsed[0], types):
        for label, d in zip(labels, t.dims or ()):
            lengths.setdefault(label, []).append(b.dims.find(d))
    joined = {label: join_lengths(b, found) for label, found in lengths.items()}
    if not all(label in joined for label in parsed[1]):
        return ANY
    dims = tuple([joined[label] for label in parsed[1]])
    if not dims and optimize is not False:
        return Ty("any", dtype, dims)  # a 0-d array where it is done by tensordot, else a scalar
    return scalar_or_array(True, dtype, dims)


def _linalg_dtype(types: list[Ty]) -> Dtype:
    found = mixed_dtype(types)
    if found is None or found.kind in "biu":
        return None if found is None else np.dtype(np.float64)
    return found if found in (np.float32, np.float64, np.complex64, np.complex128) else None


def _square(b: Builder, a: Any) -> Ty:
    """A stack of square matrices in, the same out."""
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or len(t.dims) < 2:
        return ANY
    must_equal(b, t.dims[-2], t.dims[-1])
    return array(_linalg_dtype([t]), (*t.dims[:-1], t.dims[-2]))


def _cholesky(b: Builder, a: Any) -> Ty:
    return _square(b, a)


def _det(b: Builder, a: Any) -> Ty:
    t = _square(b, a)
    return ANY if t.dims is None else scalar_or_array(True, t.dtype, t.dims[:-2])


def _slogdet(b: Builder, a: Any) -> Any:
    t = _det(b, a)
    if t is ANY:
        return ANY
    real = t.dtype
    if real is not None and real.kind == "c":
        real = np.empty(0, real).real.dtype
    return t, scalar_or_array(True, real, t.dims)


def _solve(b: Builder, a: Any, b_: Any) -> Ty:
    p, q = as_array(b, a), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) < 2 or not q.dims:
        return ANY
    must_equal(b, p.dims[-2], p.dims[-1])
    dtype = _linalg_dtype([p, q])
    if len(q.dims) == 1:
        must_equal(b, p.dims[-1], q.dims[-1])
        return array(dtype, (*p.dims[:-2], p.dims[-1]))
    must_equal(b, p.dims[-1], q.dims[-2])
    batch = broadcast_dims(b, [p.dims[:-2], q.dims[:-2]]) or ()
    return array(dtype, (*batch, p.dims[-1], q.dims[-1]))


enter("np.matmul", "x1, x2", _matmul, total=_total_matmul)
MATMUL = enter("@", "x1, x2", _matmul, total=_total_matmul, fn=operator.matmul)
DOT = enter("np.dot", "a, b", _dot, total=_total_matmul)
enter("np.inner", "a, b", _inner, total="known")
enter("np.outer", "a, b", _outer, total="known")
enter("np.vdot", "a, b", _vdot)
enter("np.tensordot", "a, b, axes", _tensordot, total="known")
EINSUM = enter("np.einsum", "subscripts, *operands", _einsum, alias="maybe", total="known")
enter("np.linalg.inv", "a", _square)
for _kernel in (runtime.inverse, runtime.cofactors):
    PRIMS[_kernel] = Prim(_kernel.__name__, _kernel, bound(_square), ("a",))
enter("np.linalg.solve", "a, b", _solve)
enter("np.linalg.det", "a", _det)
SLOGDET = enter("np.linalg.slogdet", "a", _slogdet, nout=2)
enter("np.linalg.cholesky", "a", _cholesky)


# --- decompositions ---------------------------------------------------------------------------------------------------


def _real(dtype: Dtype) -> Dtype:
    return None if dtype is None else np.empty(0, dtype).real.dtype


def _eigh(b: Builder, a: Any, UPLO: Any = "L") -> Any:
    t = _square(b, a)
    return (ANY, ANY) if t.dims is None else (array(_real(t.dtype), t.dims[:-1]), t)


def _smaller(b: Builder, m: DimLike, n: DimLike) -> DimLike:
    m, n = b.dims.find(m), b.dims.find(n)
    if m == n:
        return m
    return min(m, n) if isinstance(m, int) and isinstance(n, int) else b.dims.named(("smaller", m, n))


def _matrices(b: Builder, a: Any) -> tuple[Ty, DimLike] | None:
    t = as_array(b, a)
    if t.kind != "array" or t.dims is None or len(t.dims) < 2:
        return None
    return array(_linalg_dtype([t]), t.dims), _smaller(b, t.dims[-2], t.dims[-1])


def _svdvals(b: Builder, x: Any, /) -> Ty:
    found = _matrices(b, x)
    return ANY if found is None or not found[0].dims else array(_real(found[0].dtype), (*found[0].dims[:-2], found[1]))


def _svd(b: Builder, a: Any, full_matrices: Any = True) -> Any:
    found = _matrices(b, a)
    if found is None or not isinstance(full_matrices, bool):
        return ANY, ANY, ANY
    t, k = found
    assert t.dims is not None
    *batch, m, n = t.dims
    p, q = (m, n) if full_matrices else (k, k)
    return array(t.dtype, (*batch, m, p)), array(_real(t.dtype), (*batch, k)), array(t.dtype, (*batch, q, n))


def _qr(b: Builder, a: Any, mode: Any = "reduced") -> Any:
    found = _matrices(b, a)
    if found is None or mode != "reduced":
        return ANY, ANY
    t, k = found
    assert t.dims is not None
    *batch, m, n = t.dims
    return array(t.dtype, (*batch, m, k)), array(t.dtype, (*batch, k, n))


def _pinv(b: Builder, a: Any, rcond: Any = None, hermitian: Any = False) -> Ty:
    found = _matrices(b, a)
    if found is None:
        return ANY
    t = found[0]
    assert t.dims is not None
    return array(t.dtype, (*t.dims[:-2], t.dims[-1], t.dims[-2]))


def _lstsq(b: Builder, a: Any, b_: Any, rcond: Any = None) -> Any:
    p, q = as_array(b, a), as_array(b, b_)
    if p.kind != "array" or q.kind != "array" or p.dims is None or q.dims is None or len(p.dims) != 2 or not q.dims:
        return ANY, ANY, ANY, ANY
    must_equal(b, p.dims[0], q.dims[0])
    dtype = _linalg_dtype([p, q])
    x = array(dtype, (p.dims[1], *q.dims[1:]))
    # The residuals are missing where the rank is not full.
    return x, array(_real(dtype), (b.dims.fresh(),)), ANY, array(_real(dtype), (_smaller(b, *p.dims),))


enter("np.linalg.eigh", "a, UPLO", _eigh, nout=2)
enter("np.linalg.svdvals", "x", _svdvals)
enter("np.linalg.svd", "a, full_matrices, compute_uv, hermitian", _svd, nout=3)
enter("np.linalg.qr", "a, mode", _qr, nout=2)
enter("np.linalg.pinv", "a, rcond, hermitian", _pinv)
enter("np.linalg.lstsq", "a, b, rcond", _lstsq, nout=4)
enter("np.linalg.matrix_rank", "A, tol, hermitian")
