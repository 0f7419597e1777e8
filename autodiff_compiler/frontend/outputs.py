"""Where NumPy writes: what ``out=`` takes, and stores that NumPy does element by element while it reads."""

from __future__ import annotations

import functools
import operator
from typing import Any, NoReturn

import numpy as np

from ..errors import AliasError
from ..ir.core import Prim, Value, type_of
from ..ir.foreign import root_module
from ..ir.opset import GET
from ..ir.roles import signature_of
from ..ir.types import same_dtype
from .avals import Obj, Overwritten, Ref, Seq, describe, is_number
from .border import Border
from .handlers import Node, Val
from .layout import Layout, layout_of
from .state import FOLDED, PROTECTED

# Methods and functions without a signature.
_TAKE_OUT = frozenset({"reduce", "accumulate", "reduceat", "c_einsum", "clip"})
# They want the dtype of their result, and do not cast.
_EXACT = (np.dot, np.linalg.multi_dot, np.argmax, np.argmin, np.einsum, np.take, np.choose, np.compress)
# They compute in the dtype of `out`, if it is wider than that of their result.
_WIDENING = frozenset(
    f"{prefix}{name}"
    for prefix in ("np.", "np.nan", "np.add.", "np.multiply.")
    for name in ("sum", "prod", "cumsum", "cumprod", "trace", "reduce")
)
# They also round to the dtype of `out` what is not their result yet, such as the variance of np.std.
_IN_STEPS = frozenset(
    f"{prefix}{name}"
    for prefix in ("np.", "np.nan")
    for name in ("mean", "std", "var", "median", "quantile", "percentile", "ptp")
)
# They write to the array while they still read their operands.
_IN_PARTS = frozenset({"np.concatenate", "np.stack", "np.ptp"})
# Their result is broadcast to `out`; that of all others has its shape.
_LIKE_UFUNCS = frozenset({"np.clip"})


@functools.cache
def takes_out(fn: Any) -> bool:
    """The function has a parameter ``out``."""
    if isinstance(fn, np.ufunc):
        return True
    signature = signature_of(fn)
    return "out" in signature.parameters if signature is not None else getattr(fn, "__name__", "") in _TAKE_OUT


def _overwrites(fn: Any) -> tuple[tuple[str, str], ...]:
    """The parameters of a function that allow it to overwrite another: their names, and those of the others."""
    signature = signature_of(fn) if root_module(fn) in ("numpy", "scipy") else None
    names = [] if signature is None else list(signature.parameters)
    allowing = [name for name in names if name.startswith("overwrite_")]
    others = {f"overwrite_{name.lower()}": name for name in names} if allowing else {}
    return tuple([(name, others.get(name.lower(), names[0])) for name in allowing])  # overwrite_input: the first


def _fits_in(dtype: Any, other: Any) -> bool:
    """Each number of the dtype is one of the other; also if nothing is known of one of them."""
    return dtype is not None and other is not None and np.result_type(dtype, other) == other


class Outputs(Border):
    def numpy_at(self, node: Node, fn: Any, *args: Val) -> Val:
        return self.call(Obj(fn, None), list(args), {}, node)

    def is_scalar(self, av: Val) -> bool:
        return is_number(av) or (type(av) is Value and av.type.is_scalar)

    def write_out(self, prim: Prim, out: Any, result: Any, operands: list[Any], node: Node) -> Any:
        """The keyword out=: store into an array, whole."""
        if not takes_out(prim.fn):
            self.raises(TypeError, f"{prim.name}() got an unexpected keyword argument 'out'", node)
        if prim.nout != 1:
            self.fail(f"{prim.name} with out=", node, "assign its results")
        if type(out) is Seq and isinstance(prim.fn, np.ufunc):
            if len(out.items) != 1:
                message = "The 'out' tuple must have exactly one entry per ufunc output"
                self.raises(ValueError, message, node)
            out = out.items[0]
        if type(out) is not Ref:
            self.fail("out= of something that is not an array", node, "pass an array")
        whole = self.read(out, node)
        if type(result) is Value:
            self.check_cast(whole, result, node)
        have, want = type_of(result), whole.type
        name = prim.name.removesuffix(".outer")
        if prim.fn in _EXACT and not same_dtype(have.dtype, want.dtype):
            self.fail(
                f"{name} with out= of another dtype than its result", node, "assign the result, cast to that dtype"
            )
        inexact = name in _IN_STEPS and not same_dtype(have.dtype, want.dtype)
        if inexact or (name in _WIDENING and not _fits_in(want.dtype, have.dtype)):
            message = f"{name} with out= of a dtype in which it is rounded in another way"
            self.fail(message, node, "assign the result, or say dtype= as well")
        if prim.fn is np.dot and layout_of(self, out) != frozenset():
            layout = layout_of(self, out)
            self.fail(
                "np.dot with out= that is not known to be laid out in C order", node, "write a[...] = np.dot(x, y)",
                cause=Layout(layout) if layout is not None else None,
            )  # fmt: skip
        if name in _IN_PARTS and any(self.shares(x, out) for x in operands):
            self.refuse_overlap(f"{name} with out=", node)
        if isinstance(prim.fn, np.ufunc) and prim.fn.signature is None or name in _LIKE_UFUNCS:
            if have.ndim is None or want.ndim is None:
                self.fail(f"{name} with out=, where the number of axes of one is not known", node, "assign the result")
            if have.ndim > want.ndim:
                message = f"non-broadcastable output operand of {want.ndim} axes, for a result of {have.ndim}"
                self.raises(ValueError, message, node)
        else:
            _require_shape(self, result, out, f"out= of {name} has another shape than its result", node)
        self.half_done(out.cell, True)
        self.store(out, None if out.path else ("index", (Ellipsis,)), result, node)
        return out

    def overwritten(self, fn: Any, args: list[Val], kwargs: dict[str, Val], node: Node) -> None:
        """After a call: what it may leave anything in (``overwrite_a=True`` of SciPy's) is not known any more."""
        places = _overwrites(fn) if type(fn).__hash__ is not None else ()
        signature = signature_of(fn) if places else None
        if signature is None:
            return
        given = signature.bind_partial(*args, **kwargs).arguments
        for name, target in places:
            allowed, av = given.get(name), given.get(target)
            if allowed is False or allowed is None or allowed == 0:
                continue
            for cell in self.cells_in([av]) if type(av) is Ref else ():
                numbers = {number for number in self.cells.origins.get(cell, ()) if number >= 0}
                for number in numbers:
                    if self.inputs.inputs[number].hidden:
                        self.refuse_outside(self.inputs.inputs[number].name, node)
                self.stored |= numbers
                self.half_done(cell)
                self.state.poison(cell, self.loc_of(node))
                what = f"was passed to {fn.__name__}() with {name} in line {self.loc_of(node).line}"
                self.state.heap[cell] = Overwritten(self.loc_of(node), f"{what}: what that leaves in it is not known")

    def require_equal(self, n: Any, m: Any, message: str, node: Node) -> None:
        """Raise a ValueError where two lengths differ."""
        if _same_number(self, n, m):
            return
        if isinstance(n, int) and isinstance(m, int):
            self.raises(ValueError, message, node)
        self.raise_unless(self.binary(operator.eq, n, m, node), ValueError, message, node)

    # --- memory that is written while it is read ------------------------------------------------------------------

    def shares(self, x: Any, target: Ref) -> bool:
        """An operand may be a view of the memory of the target."""
        if isinstance(x, (list, tuple)):
            return any(self.shares(item, target) for item in x)
        there = [self.held(cell) for cell in (target.cell, *self.state.links.get(target.cell, ()))]
        while type(x) is Value:
            if any(x is value for value in there):
                return True
            if x.op is None or x.op.prim.alias == "fresh" or not x.op.args or x.op.regions:
                return False
            if x.op.prim is GET and x.type.is_scalar:
                return False
            x = x.op.args[0]
        return False

    def refuse_overlap(self, what: str, node: Node) -> NoReturn:
        self.fail(
            f"{what}, of what may share memory with the array that is written: NumPy reads there what it has just "
            "written",
            node,
            "copy it first, with .copy()",
            AliasError,
        )

    def check_overlap(self, ref: Ref, step: tuple[Any, ...] | None, value: Val, node: Node) -> None:
        """Of all stores by subscript, NumPy does that through a mask while it reads."""
        if step is not None and step[0] == "index" and any(type(i) is slice for i in step[1]):
            if type_of(self.read(ref, node)).dims == ():
                self.raises(IndexError, "too many indices for array: array is 0-dimensional", node)
        origins = self.cells.origins.get(ref.cell, frozenset())
        if PROTECTED in origins:
            self.fail(
                "a store into what may be an array that NumPy protects from stores", node, "copy it first, with .copy()"
            )
        if FOLDED in origins:
            self.fail(
                "a store into an array of which several elements may be one in memory",
                node,
                "copy it first, with .copy(), or store into the array that it shows",
                AliasError,
            )
        items: tuple[Any, ...] = step[1] if step is not None and step[0] == "index" else ()
        mask = type_of(items[0]) if len(items) == 1 and type(items[0]) is Value else None
        if mask is not None and mask.dtype in (None, np.bool_) and not mask.is_scalar and self.shares(value, ref):
            self.refuse_overlap("a store through a mask", node)

    # --- elements in C order --------------------------------------------------------------------------------------

    def cycled(self, values: Any, count: Any, node: Node) -> Any:
        """As many values as there are places: they are repeated, or cut, as NumPy does it; None if there are none."""
        if self.is_scalar(values):
            return values
        flat = self.numpy_at(node, np.ravel, self.numpy_at(node, np.asarray, values))
        if self.is_empty(flat, node):
            return None
        size = self.array_attribute(flat, "size", node)
        if _same_number(self, size, count):
            return flat
        places = self.binary(operator.mod, self.numpy_at(node, np.arange, count), size, node)
        return self.subscript(flat, places, node)

    def is_empty(self, av: Val, node: Node) -> bool:
        """The array surely has no elements."""
        dims = type_of(self.operand(av, node)).dims
        return dims is not None and any(self.builder.dims.find(d) == 0 for d in dims)

    def store_in_flat(self, flat: Ref, index: Val, value: Val, node: Node) -> None:
        """``a.flat[index] = value``: the values are repeated, or cut, to as many as there are places."""
        operand = self.operand(value, node)
        if type(value) is Ref and self.shares(operand, flat):
            self.refuse_overlap("a store into .flat", node)
        part = self.subscript(flat, index, node)
        if type(part) is Ref or not type_of(self.operand(part, node)).is_scalar:
            value = self.cycled(value, self.array_attribute(part, "size", node), node)
            if value is None:
                return
            operand = self.operand(value, node)
        elif not type_of(operand).is_scalar and type_of(operand).ndim != 0:
            self.fail(f"a store of {describe(value)} into one element of .flat", node, "store a number")
        self.store(flat, ("index", self.index_items(index, node)), operand, node)


def _require_shape(ctx: Outputs, x: Any, like: Ref, message: str, node: Node) -> None:
    """Raise a ValueError where an operand has not just the shape of an array."""
    whole = ctx.read(like, node)
    if type_of(x).dims is None or whole.type.dims is None:
        ctx.fail("out= where the number of axes of one is not known", node, "assign the result")
    if type_of(x).ndim != whole.type.ndim:
        ctx.raises(ValueError, message, node)
    for k in range(type_of(x).ndim or 0):
        ctx.require_equal(ctx.axis_length(x, k, node), ctx.axis_length(whole, k, node), message, node)


def _same_number(ctx: Outputs, n: Any, m: Any) -> bool:
    if isinstance(n, int) and isinstance(m, int):
        return n == m
    a, b = type_of(n).length, type_of(m).length
    return a is not None and b is not None and ctx.builder.dims.same(a, b)


__all__ = ["Outputs", "takes_out"]
