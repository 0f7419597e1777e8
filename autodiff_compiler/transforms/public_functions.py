"""Duck arrays are computed by NumPy's public functions alone: nothing is stored into them, and nothing converts them.

Takes a function that is printed next, with its stores and with operations that only the compiler makes. Gives one in
which each operation on a duck array is a function that NumPy hands to it, an operator, a subscript that reads, or a
question about its shape or dtype. What cannot be written so is an error, located where the program asks for it.

>>> import numpy as np
>>> from autodiff_compiler.frontend.lower import lower
>>> from autodiff_compiler.ir.printer import print_function
>>> def double(x):
...     return np.sum(2.0 * x[0])
>>> fn = lower(double, (np.ones(3),)).function
>>> fn.params[0].type = as_duck(fn.params[0].type, object)
>>> by_public_functions(fn)
>>> print(print_function(fn).strip())
func double(%x: float64[d1] of object) {
  %v1: float64[] of object = get %x, (('index', (0,)),)   # line 2
  %v2: float64[] of object = * 2.0, %v1   # line 2
  %v3: float64[] of object = np.sum %v2   # line 2
  return %v3
}

A lazy array may hold on to the arrays that it was made from. So a store into an array of NumPy's that one was made from
goes to a copy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .. import duck
from ..analysis.ducks import duck_values
from ..errors import UnsupportedError
from ..ir import opset
from ..ir.core import (
    CALL,
    DERIVED,
    FUNC,
    IF,
    LOOP,
    TRY,
    Builder,
    Function,
    Op,
    Prim,
    Region,
    Value,
    leaves,
    map_leaves,
    type_of,
)
from ..ir.opset import ACCUM, ADD, ADDAT, GET, MUL, PRIMS, SET
from ..ir.rewrite import replace_values
from ..ir.types import Ty, as_duck, duck_in
from ..operations.choices import OVER, PRODUCT, QUOTIENT, RATIO
from .placing import Lengths, at_step, broadcast, part, placed


def by_public_functions(fn: Function) -> None:
    """Compute duck arrays by public functions of NumPy's alone."""
    ducks = duck_values(fn.body)
    classes = {cls for p in fn.params if (cls := duck_in(p.type)) is not None}
    for v in ducks:
        if duck_in(v.type) is None:
            v.type = as_duck(v.type, next(iter(classes)) if len(classes) == 1 else object)
    _Rewriter(fn.body, ducks, classes).run()


class _Rewriter:
    """Rewrites the operations of a function in program order.

    ducks:    the values that may be duck arrays
    replaced: what stands for the results of operations that were rewritten
    kept:     the arrays of NumPy's that lazy arrays may hold
    """

    def __init__(self, body: Region, ducks: set[Value], classes: set[type]):
        self.body = body
        self.ducks = ducks
        self.classes = classes
        self.lengths = Lengths(body)
        self.replaced: dict[Value, Any] = {}
        self.kept = _kept_arrays(body, ducks)
        self.op: Any = None  # that is being rewritten

    def run(self) -> None:
        self.region(self.body)
        replace_values(self.body, {v: self.now(x) for v, x in self.replaced.items()})

    def now(self, x: Any) -> Any:
        while type(x) is Value and x in self.replaced:
            x = self.replaced[x]
        return x

    def is_duck(self, arg: Any) -> bool:
        return any(v in self.ducks for v in leaves(arg))

    def region(self, region: Region) -> None:
        ops, region.ops = region.ops, []
        b = Builder(region)
        with b.active():
            for op in ops:
                for inner in op.regions:
                    self.region(inner)
                op.args, op.kwargs = map_leaves(self.now, op.args), map_leaves(self.now, op.kwargs)
                b.loc, b.tag, self.op = op.loc, op.tag, op
                if self.is_duck((op.args, op.kwargs)):
                    self.on_ducks(b, op)
                else:
                    self.on_others(b, op)

    def on_ducks(self, b: Builder, op: Op) -> None:
        first = len(b.region.ops)
        rewrite = _REWRITES.get(op.prim)
        made = NotImplemented if rewrite is None else rewrite(self, b, *op.args)
        if made is NotImplemented:
            self.check(op)
            b.region.ops.append(op)
            return
        for new in b.region.ops[first:]:
            new.droppable = new.droppable or op.droppable
            self.ducks.update([r for r in new.results if self.is_duck((new.args, new.kwargs))])
        self.replaced[op.result] = made
        if type(made) is Value:
            made.hint = made.hint or op.result.hint
            if op.result in self.ducks and made.type.duck is not None:
                self.ducks.add(made)

    def on_others(self, b: Builder, op: Op) -> None:
        if op.prim in _STORES and op.args[0] in self.kept:
            op.args = (b.emit(opset.COPY, op.args[0]), *op.args[1:])
        made = _of_numbers(self, b, op) if any(r in self.ducks for r in op.results) else NotImplemented
        if made is not NotImplemented:
            self.replaced[op.result] = made
            return
        b.region.ops.append(op)
        if op.regions or op.prim in (opset.POP, CALL):
            return
        for r in op.results:
            if r in self.ducks:  # an operand turned out to be none, as a seed is a number
                self.ducks.discard(r)
                known = op.prim.infer(b, op.args, op.kwargs) if op.prim.infer is not None else None
                r.type = known if isinstance(known, Ty) else replace(r.type, kind="any", duck=None)

    # --- what is left ---------------------------------------------------------------------------------------------

    def check(self, op: Op) -> None:
        """Raise UnsupportedError if the operation is none that duck arrays compute."""
        prim = op.prim
        if prim in _ANYWHERE or prim.effects or prim.foreign or "plain" in prim.traits or prim in _OPERATORS:
            return
        calls = f"{'the derivative' if op.tag == DERIVED else 'the function'} calls {prim.name}, which"
        given = map_leaves(self.probe, (op.args, op.kwargs))
        if not duck.is_handed_on(prim.fn, *given):
            self.fail(f"{calls} NumPy does not hand to", "write it with other functions of NumPy's")
        for cls in self.classes:
            if duck.is_missing_in(cls, prim.fn):
                library = duck.library_of(cls)
                self.fail(f"{calls} {library} does not have for", f"write it with functions that {library} has")

    def probe(self, v: Value) -> Any:
        return duck.Probe() if v in self.ducks else 1

    def fail(self, what: str, remedy: str) -> NoReturn:
        cls = next(iter(self.classes)) if len(self.classes) == 1 else object
        raise UnsupportedError(f"{what} a {duck.name_of(cls)}", self.op.loc, remedy)

    def placed(self, b: Builder, a: Any, path: tuple[Any, ...], v: Any) -> Any:
        return placed(b, self.lengths, self.fail, a, path, v)

    def broadcast(self, b: Builder, g: Any, x: Any) -> Any:
        return broadcast(b, self.lengths, g, x)


# --- arrays that lazy ones may hold -----------------------------------------------------------------------------------

_STORES = (SET, ADDAT, ACCUM)
_CONTROL = (IF, LOOP, TRY, FUNC, CALL)


def _kept_arrays(body: Region, ducks: set[Value]) -> set[Value]:
    """The arrays of NumPy's that may share memory with an operand of an operation on duck arrays."""
    parent: dict[Value, Value] = {}

    def find(v: Value) -> Value:
        while v in parent:
            v = parent[v]
        return v

    def are_one(values: list[Value]) -> None:
        roots = list(dict.fromkeys(map(find, values)))
        for root in roots[1:]:
            parent[root] = roots[0]

    kept: list[Value] = []
    everything: list[Value] = list(body.params)
    for op in body.walk():
        values = [*op.operands(), *op.results, *[p for r in op.regions for p in r.params]]
        values += [v for r in op.regions for v in leaves(r.exit)]
        everything += values
        if any(v in ducks for v in (*op.operands(), *op.results)) and op.prim not in _CONTROL:
            kept += [v for v in op.operands() if v not in ducks]
        if op.prim in _STORES or op.prim.alias != "fresh" or op.regions or op.prim in (opset.PUSH, opset.POP):
            are_one([v for v in values if not v.type.is_scalar])
    roots = {find(v) for v in kept if not v.type.is_scalar}
    return {v for v in everything if find(v) in roots}


# --- stores -----------------------------------------------------------------------------------------------------------


def _added_at(self: _Rewriter, b: Builder, a: Any, path: tuple[Any, ...], v: Any) -> Any:
    made = self.placed(b, a, path, v)
    return _in_dtype(b, made if _is_zero(a) else b.emit(ADD, a, made), type_of(a).dtype)


def _added(self: _Rewriter, b: Builder, a: Any, v: Any) -> Any:
    return NotImplemented if type_of(a).kind == "list" else _in_dtype(b, b.emit(ADD, a, v), type_of(a).dtype)


def _stored(self: _Rewriter, b: Builder, a: Any, path: tuple[Any, ...], v: Any) -> Any:
    dtype = type_of(a).dtype
    if opset.is_whole(path):
        return _in_dtype(b, self.broadcast(b, v, a), dtype)
    made = self.placed(b, a, path, v)
    if not _is_zero(a):
        there = b.emit(PRIMS[np.ones_like], part(b, a, path), dtype=np.dtype(bool))
        made = b.emit(PRIMS[np.where], self.placed(b, a, path, there), made, a)
    return _in_dtype(b, made, dtype)


def _is_zero(a: Any) -> bool:
    return type(a) is Value and a.op is not None and a.op.prim in (opset.ZEROS, PRIMS[np.zeros_like])


def _listed_at(self: _Rewriter, b: Builder, items: Any, i: Any, g: Any) -> Any:
    return b.emit(opset.LIST_SET, items, i, b.emit(ADD, b.emit(opset.LIST_GET, items, i), g))


# --- shapes and dtypes ------------------------------------------------------------------------------------------------


def _in_dtype(b: Builder, v: Any, dtype: np.dtype[Any] | None) -> Any:
    t = type_of(v)
    if dtype is None or (t.dtype is not None and t.dtype == dtype) or dtype.kind not in "fc" or t.duck is None:
        return v
    return b.emit(opset.IN_DTYPE, v, dtype)


def _zeros(self: _Rewriter, b: Builder, x: Any) -> Any:
    t = type_of(x)
    if t.kind == "list":
        return NotImplemented
    return b.emit(PRIMS[np.zeros_like], x, **({} if t.is_float else {"dtype": np.dtype(float)}))


def _spread(self: _Rewriter, b: Builder, g: Any, x: Any) -> Any:
    return self.broadcast(b, g, x)


def _full_like(self: _Rewriter, b: Builder, x: Any, g: Any) -> Any:
    return self.broadcast(b, g, x)


def _summed(self: _Rewriter, b: Builder, g: Any, x: Any) -> Any:
    """The cotangent `g` in the shape and dtype of `x`."""
    tg, tx = type_of(g), type_of(x)
    if tx.kind == "list":
        return NotImplemented
    if tg.dims is None or tx.dims is None:
        self.fail("a derivative needs the number of axes, which is not known, of", "reshape it to a known one")
    if len(tg.dims) < len(tx.dims):
        g = b.emit(PRIMS[np.reshape], g, (1,) * (len(tx.dims) - len(tg.dims)) + self.lengths.all(b, g))
    want, have = tx.dims, type_of(g).dims or ()
    extra, same = len(have) - len(want), b.dims.same
    gone = [k for k, d in enumerate(have) if k < extra or (want[k - extra] == 1 and not same(d, 1))]
    if any(not same(m, n) and m != 1 for m, n in zip(want, have[extra:])):
        g = b.emit(opset.SUMMED, g, self.lengths.all(b, x))  # only the run knows which axes were broadcast
        g.type = as_duck(Ty("array", tg.dtype, want), object)
    elif gone:
        keep = {"keepdims": True} if gone[-1] >= extra else {}
        g = b.emit(PRIMS[np.sum], g, axis=tuple(gone) if len(gone) > 1 else gone[0], **keep)
        if keep and extra:
            g = b.emit(PRIMS[np.squeeze], g, tuple(range(extra)))
    return _in_dtype(b, g, tx.dtype if tx.kind in ("array", "generic") else None)


def _finished(self: _Rewriter, b: Builder, g: Any, x: Any) -> Any:
    if type_of(x).duck is None or type_of(g).duck is not None:
        return _summed(self, b, g, x)
    made = _summed(self, b, g, x) if type_of(g).dims != () else self.broadcast(b, g, x)
    if type_of(made).duck is None:  # an array of NumPy's
        made = b.emit(MUL, b.emit(PRIMS[np.ones_like], x), made)
    return _in_dtype(b, made, type_of(x).dtype)


def _cast(self: _Rewriter, b: Builder, g: Any, dtype: Any) -> Any:
    known = isinstance(dtype, np.dtype) and dtype.kind in "fc"
    return _in_dtype(b, g, dtype) if known else b.emit(opset.IN_DTYPE, g, dtype)


def _scalar(self: _Rewriter, b: Builder, a: Any) -> Any:
    t = type_of(a)
    return a if t.dims == () and t.dtype is not None and t.dtype.kind == "f" else NotImplemented


def _copied(self: _Rewriter, b: Builder, a: Any) -> Any:
    return b.emit(opset.COPY, a)


def _read(self: _Rewriter, b: Builder, a: Any, path: tuple[Any, ...]) -> Any:
    if not self.is_duck(a):
        self.fail("an array of NumPy's is read at subscripts that are", "make the array one of that library")
    for step in path:
        a = at_step(b, a, step)
    return a


def _reshaped(self: _Rewriter, b: Builder, a: Any, shape: Any = None, *rest: Any) -> Any:
    """With the shape as a tuple, which all libraries take."""
    one = type(shape) is int or (type(shape) is Value and shape.type.is_scalar)
    return b.emit(PRIMS[np.reshape], a, (shape,), *rest, **self.op.kwargs) if one else NotImplemented


def _length(self: _Rewriter, b: Builder, a: Any) -> Any:
    return self.lengths.one(b, a, 0) if type_of(a).dims else NotImplemented


def _size(self: _Rewriter, b: Builder, a: Any) -> Any:
    if type_of(a).dims is None:
        return NotImplemented
    n: Any = 1
    for m in self.lengths.all(b, a):
        n = m if type(n) is int and n == 1 else b.emit(MUL, n, m)
    return n


# --- products and quotients -------------------------------------------------------------------------------------------


def _times(self: _Rewriter, b: Builder, x: Any, y: Any) -> Any:
    """Without a factor of one, which a seed leaves."""
    for one, v in ((x, y), (y, x)):
        if type(one) is float and one == 1.0 and type_of(v).is_float and self.op.tag == DERIVED:
            return v
    return NotImplemented


def _of_numbers(self: _Rewriter, b: Builder, op: Op) -> Any:
    """What is left of a seed that is a number, where the cotangent might have been a duck array."""
    if op.tag != DERIVED or not op.results or not all(type_of(x).is_scalar and type_of(x).is_float for x in op.args):
        return NotImplemented
    if op.prim is ACCUM:
        return b.emit(ADD, *op.args)
    if op.prim is MUL:
        return _times(self, b, *op.args)
    g, x = (*op.args, None)[:2]
    fits = op.prim is opset.SUM_TO and type_of(g).kind == "py" and type_of(x).dtype == np.float64
    return g if fits else NotImplemented


def _ratio(self: _Rewriter, b: Builder, g: Any, d: Any) -> Any:
    lost = b.emit(PRIMS[np.logical_and], b.emit(opset.EQ, d, 0), b.emit(opset.EQ, g, 0))
    return b.emit(opset.DIV, g, b.emit(PRIMS[np.where], lost, 1.0, d))


def _quotient(self: _Rewriter, b: Builder, g: Any, d: Any) -> Any:
    return b.emit(opset.DIV, g, d)


def _over(self: _Rewriter, b: Builder, g: Any, d: Any) -> Any:
    return b.emit(opset.DIV, g, b.emit(PRIMS[np.where], b.emit(opset.EQ, d, 0), np.inf, d))


def _product(self: _Rewriter, b: Builder, g: Any, p: Any) -> Any:
    return b.emit(PRIMS[np.where], b.emit(opset.EQ, g, 0), g, b.emit(MUL, g, p))


_REWRITES: dict[Prim, Callable[..., Any]] = {
    ADDAT: _added_at, ACCUM: _added, SET: _stored, opset.LIST_ADDAT: _listed_at, opset.ZEROS: _zeros,
    opset.SPREAD: _spread, opset.FULL_LIKE: _full_like, opset.SUM_TO: _summed, opset.FINISH: _finished,
    opset.CAST: _cast, opset.AS_SCALAR: _scalar, opset.CONSTANT: _copied, GET: _read, opset.LEN: _length,
    opset.SIZE: _size, PRIMS[np.reshape]: _reshaped, RATIO: _ratio, QUOTIENT: _quotient, OVER: _over,
    PRODUCT: _product, MUL: _times,
}  # fmt: skip
_OPERATORS = {PRIMS[fn] for fn in (*opset.OPERATORS, *opset.UNARY_OPERATORS, abs, operator.matmul)}
# Control flow, lists, and what else holds values.
_ANYWHERE = {
    IF, LOOP, TRY, FUNC, CALL, GET, opset.PUSH, opset.POP, opset.LIST_NEW, opset.LIST_APPEND, opset.LIST_GET,
    opset.LIST_SET, opset.LIST_INSERT, opset.LIST_SLICE, opset.LIST_SPLICE, opset.LIST_CUT, opset.LIST_DROP, opset.COPY,
    opset.OWN, opset.AS_SCALAR, opset.ZEROS, opset.FINISH, opset.SUM_TO, opset.TUPLE, opset.BUILD, opset.KEEP,
    opset.FORMAT, opset.LEN, PRIMS[np.ndarray.astype], opset.SUMMED, opset.IN_DTYPE,
}  # fmt: skip


__all__ = ["by_public_functions"]
