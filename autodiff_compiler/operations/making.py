"""Functions that make arrays, of numbers, of containers or of other arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import runtime
from ..ir import opset
from ..ir.core import Builder, Op, Value, type_of
from ..ir.infer import broadcast_dims, promote
from ..ir.ops_common import as_array, at_least, dtype_of, shape_dims
from ..ir.opset import PRIMS, mark
from ..ir.types import ANY, Ty, array
from ..pristine import np
from . import lib
from .batch_rules import batch, no_rule, of_one_operand
from .lib import call
from .record import constant_in, jvp, op, passes_on, vjp

if TYPE_CHECKING:
    from .batching import Batcher

# --- filled arrays ----------------------------------------------------------------------------------------------------


def _filled_type(b: Builder, shape: Any, dtype: Any = None, order: Any = "C") -> Ty:
    return array(dtype_of(dtype, np.dtype(np.float64)), shape_dims(b, shape))


for _name in ("zeros", "ones", "empty"):
    op(f"np.{_name}", "shape, dtype, order", type=_filled_type, unique=True, nondiff=True)


def _full_type(b: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Ty:
    fill = as_array(b, fill_value)
    return array(dtype_of(dtype, fill.dtype if fill.kind == "array" else None), shape_dims(b, shape))


op("np.full", "shape, fill_value: array, dtype, order", type=_full_type, unique=True)


def _like_type(b: Builder, a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Ty:
    t = as_array(b, a)
    if t.kind != "array":
        return ANY
    return array(dtype_of(dtype, t.dtype), t.dims if shape is None else shape_dims(b, shape))


def _total_like(b: Builder, a: Any, *rest: Any, **kwargs: Any) -> bool:
    return as_array(b, a).kind == "array" and not rest and not kwargs


for _name in ("zeros", "ones", "empty"):
    op(
        f"np.{_name}_like", "a: array, dtype, order, subok, shape", type=_like_type, unique=True, total=_total_like,
        nondiff=True,
    )  # fmt: skip


def _full_like_type(
    b: Builder, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None
) -> Ty:
    return _like_type(b, a, dtype, order, subok, shape)


op("np.full_like", "a: array, fill_value: array, dtype, order, subok, shape", type=_full_like_type, unique=True)
passes_on((np.full, np.full_like), "fill_value", linear=True)
batch(np.zeros_like, np.ones_like)(of_one_operand)
constant_in(np.full_like, "a")


def _eye_type(b: Builder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Ty:
    return array(dtype_of(dtype, None), shape_dims(b, (N, N if M is None else M)))


EYE = op("np.eye", "N, M, k, dtype, order", type=_eye_type, nondiff=True)


def _identity_type(b: Builder, n: Any, dtype: Any = None) -> Ty:
    return array(dtype_of(dtype, np.dtype(np.float64)), shape_dims(b, (n, n)))


op("np.identity", "n, dtype", type=_identity_type, nondiff=True)


def _tri_type(b: Builder, N: Any, M: Any = None, k: Any = 0, dtype: Any = float, *, like: Any = None) -> Ty:
    return ANY if like is not None else _eye_type(b, N, M, k, dtype)


op("np.tri", "N, M, k, dtype", type=_tri_type, nondiff=True)


def _window_type(b: Builder, M: Any, beta: Any = 0.0) -> Ty:
    known = type(M) is int and M > 0  # without points, it is empty
    plain = type_of(M).kind == "py" and type_of(M).dtype != np.complex128 and type_of(beta).kind == "py"
    return array(np.float64 if plain else None, (M if known else b.dims.fresh(),))


for _name in ("hanning", "hamming", "blackman", "bartlett"):
    op(f"np.{_name}", "M", type=_window_type)
op("np.kaiser", "M, beta", type=_window_type)

# --- arrays of containers, copies and casts ---------------------------------------------------------------------------


def _array_type(b: Builder, object: Any, dtype: Any = None, *, copy: Any = True) -> Ty:
    t = as_array(b, object)
    if t.kind != "array":
        return ANY
    return array(dtype_of(dtype, t.dtype), t.dims)


ARRAY = op("np.array", "object, dtype, copy, order, subok, ndmin", type=_array_type, total="known")


@vjp(np.array, "object", linear=True)
def _array(g: Any, out: Any, object: Any, dtype: Any = None, *, copy: Any = True) -> Any:
    return _pieces(g, object)


def _pieces(g: Any, items: Any) -> Any:
    """A cotangent for every leaf of a nested list or tuple from which an array was made."""
    if isinstance(items, (list, tuple)):
        return tuple([_pieces(lib.part(g, (k,)), item) for k, item in enumerate(items)])
    if type_of(items).kind == "list":
        return call(runtime.unstack, g)
    return g


def _array_batch(self: Batcher, op: Op) -> Any:
    args = self.bound(op)
    x = args.pop(op.prim.params[0])
    if args.keys() - {"dtype", "copy", "order"} or (op.prim is ARRAY and "order" in args):
        raise no_rule(op)
    dtype = args.get("dtype")
    out = _joined(self, op.args[0], x, op)
    if op.prim.fn in (np.ascontiguousarray, np.asfortranarray):
        out = self.aligned(out, 1)
    if out is not x:
        return out if dtype is None else self.stack(ARRAY, out, dtype)
    return self.stack(op.prim, x, **args)


def _joined(self: Batcher, old: Any, new: Any, op: Op) -> Any:
    """The stack of the arrays that are made of a nested list."""
    if isinstance(new, (list, tuple)):
        parts = [_joined(self, a, b, op) for a, b in zip(old, new)]
        return self.stack(PRIMS[np.stack], [self.spread(x) for x in parts], axis=1)
    if type_of(new).kind == "list":
        if new.type.elem is None or new.type.elem.kind not in ("array", "any"):
            raise no_rule(op)
        return self.stack(PRIMS[np.stack], new, axis=1)
    return new


def _laid_out_type(b: Builder, a: Any, dtype: Any = None) -> Ty:
    return at_least(_array_type(b, a, dtype), 1)


for _name in ("asarray", "asanyarray"):
    op(f"np.{_name}", "a: array, dtype, order", type=_array_type, alias="maybe", total="known")
for _name in ("ascontiguousarray", "asfortranarray"):
    op(f"np.{_name}", "a: array, dtype", type=_laid_out_type, alias="maybe")


@vjp((np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray), "a", linear=True)
def _asarray(g: Any, out: Any, a: Any, dtype: Any = None) -> Any:
    return _pieces(g, a)


def _copy_type(b: Builder, a: Any, order: Any = None) -> Ty:
    t = as_array(b, a)
    return t if t.kind == "array" else ANY


op("np.copy", "a: array, order, subok", type=_copy_type, total="known")


@vjp(np.copy, "a", linear=True)
def _copy(g: Any, out: Any, a: Any, order: Any = None) -> Any:
    return _pieces(g, a)


batch(np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray, np.copy)(_array_batch)


def _astype_type(b: Builder, x: Any, dtype: Any, /) -> Ty:
    t = type_of(x)
    if t.kind not in ("array", "generic", "any"):
        return ANY
    return Ty(t.kind, dtype_of(dtype, None), t.dims)


def astype(x: Any, dtype: Any) -> Any:
    """``x.astype(dtype)``."""
    return x.astype(dtype)


def _print_astype(printer: Any, op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    atom = 12  # the highest level of precedence, as codegen counts them
    return f"{printer.show(args[0], atom)}.astype({printer.show(args[1])})", atom


ASTYPE = op(astype, "x, dtype", name="astype", type=_astype_type, template=_print_astype)
PRIMS[np.ndarray.astype] = ASTYPE


@vjp(ASTYPE, "x")
def _astype(g: Any, out: Any, x: Any, dtype: Any) -> Any:
    if isinstance(dtype, Value) or np.dtype(dtype).kind in "fc":
        return g
    if np.dtype(dtype).kind not in "biu":
        raise lib.unsupported("a derivative would have to pass through an array of objects or strings",
                          "use an array of floats, or a list")  # fmt: skip
    return None


@jvp(ASTYPE, "x")
def _astype_jvp(d: Any, out: Any, x: Any, dtype: Any) -> Any:
    return lib.emit(opset.CAST, d, dtype if isinstance(dtype, Value) else np.dtype(dtype))


# --- ranges -----------------------------------------------------------------------------------------------------------


def _arange_type(b: Builder, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Ty:
    given = [a for a in (start, stop, step) if a is not None]
    types = [type_of(a) for a in given]
    if not all(t.is_scalar for t in types):
        return ANY
    kinds = {t.dtype.kind if t.dtype is not None else "?" for t in types}
    default: np.dtype[Any] | None = None
    if kinds == {"i"} and all(t.kind == "py" for t in types):
        default = np.dtype(np.int64)
    elif kinds <= {"i", "f"} and "f" in kinds and all(t.kind == "py" for t in types):
        default = np.dtype(np.float64)
    if step == 0 and isinstance(step, (int, float)):
        return ANY  # it raises
    if all(isinstance(a, int) for a in given):
        return array(dtype_of(dtype, default), (len(np.arange(*given)),))
    if stop is None and step is None and types[0].kind == "py" and kinds == {"i"}:
        return array(dtype_of(dtype, default), shape_dims(b, (start,)))
    return array(dtype_of(dtype, default), (b.dims.fresh(),))


op("np.arange", "start, stop, step, dtype", type=_arange_type)


@vjp(np.arange, "start")
def _arange_start(g: Any, out: Any, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    return None if stop is None else g


@vjp(np.arange, "step")
def _arange_step(g: Any, out: Any, start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    return g * call(np.arange, lib.length(out, 0))


constant_in(np.arange, "stop")


def _linspace_type(b: Builder, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None) -> Ty:
    types = [type_of(start), type_of(stop)]
    if not all(t.kind in ("py", "generic", "array", "scalar") for t in types):
        return ANY
    found = promote(np.true_divide, types)
    ends = broadcast_dims(b, [t.dims for t in types])
    length = shape_dims(b, (num,))
    if ends is None or length is None:
        return array(dtype_of(dtype, found and found[0]), None)
    return array(dtype_of(dtype, found and found[0]), (*length, *ends))


LINSPACE = op("np.linspace", "start: array, stop: array, num, endpoint, retstep, dtype, axis", type=_linspace_type)


@vjp(np.linspace, "start", linear="start, stop")
def _linspace_start(
    g: Any, out: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None
) -> Any:
    return g * (1 - _fractions(out, num, endpoint))


def _fractions(out: Any, num: Any, endpoint: Any) -> Any:
    """How far each of the `num` points lies on the way, along the first axis of `out`."""
    t = call(np.linspace, 0.0, 1.0, num, endpoint=endpoint)
    rank = lib.ndim(out)
    return t if rank == 1 else lib.reshape(t, (-1,) + (1,) * (rank - 1))


@vjp(np.linspace, "stop")
def _linspace_stop(
    g: Any, out: Any, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, *, dtype: Any = None
) -> Any:
    return g * _fractions(out, num, endpoint)


# --- questions --------------------------------------------------------------------------------------------------------


op("np.iscomplexobj", "x: array", nondiff=True)
op("np.isscalar", "element", nondiff=True)
PRIMS[np.shape], PRIMS[np.ndim], PRIMS[np.size] = opset.SHAPE_OF, opset.NDIM, opset.SIZE

# --- traits ---------------------------------------------------------------------------------------------------------

mark("joins", np.array, np.asarray)
mark("real", np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray)
