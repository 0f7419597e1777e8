"""How programs make buffers: with one call for each, of a function in LLVM's form.

Numba's `np.empty` is a function that it compiles for each number of axes and each dtype, and so are those that it
calls: a fifth of the time that a program takes to compile.

LLVM is told that a new buffer shares no memory with any other. So it does not ask the run whether two of them overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import types as _types
from numba.extending import intrinsic
from numba.np import arrayobj as _arrayobj

types: Any = _types
cgutils: Any = _cgutils
arrayobj: Any = _arrayobj

NAME = "autodiff_compiler_buffer"
ALIGNED = 32  # bytes: where a buffer begins, as Numba's arrays do
WORD, POINTER = ir.IntType(64), ir.IntType(8).as_pointer()


def _function(context: Any, module: Any, axes: int) -> Any:
    """The function that gives the memory of a buffer with so many axes, and puts its count of references at a place.

    It takes the lengths and the bytes of an element. It gives null if there is no such memory.
    """
    name = f"{NAME}{axes}"
    if name in module.globals:
        return module.globals[name]
    made = ir.Function(module, ir.FunctionType(POINTER, [*[WORD] * (axes + 1), POINTER.as_pointer()]), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    made.attributes.add("nounwind")
    made.return_value.add_attribute("noalias")
    builder = ir.IRBuilder(made.append_basic_block())
    *lengths, place = made.args
    size, wrong = lengths[-1], ir.Constant(ir.IntType(1), 0)
    for n in lengths[:-1]:  # a negative length is a very large one here
        product = builder.umul_with_overflow(size, n)
        size, wrong = builder.extract_value(product, 0), builder.or_(wrong, builder.extract_value(product, 1))
    wrong = builder.or_(wrong, builder.icmp_unsigned(">", size, ir.Constant(WORD, 1 << 62)))
    with builder.if_then(wrong, likely=False):
        builder.ret(ir.Constant(POINTER, None))
    holder = context.nrt.meminfo_alloc_aligned_unchecked(builder, size, ALIGNED)
    with builder.if_then(cgutils.is_null(builder, holder), likely=False):
        builder.ret(ir.Constant(POINTER, None))
    builder.store(holder, place)
    builder.ret(context.nrt.meminfo_data(builder, holder))
    return made


def allocate(context: Any, builder: Any, kind: Any, lengths: Sequence[Any]) -> tuple[Any, Any]:
    """The memory of a new array, and what counts its references."""
    item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    place = cgutils.alloca_once(builder, POINTER)
    data = builder.call(_function(context, builder.module, kind.ndim), [*lengths, ir.Constant(WORD, item), place])
    with builder.if_then(cgutils.is_null(builder, data), likely=False):
        context.call_conv.return_user_exc(builder, MemoryError, ("no memory for an array",))
    # From here on, calls may read, write and free what `data` points to. Its count of references, by which it is freed,
    # is reached in another way, so LLVM would think that it lives for ever, and read from it instead of from copies.
    seen = ir.FunctionType(ir.VoidType(), [POINTER])
    builder.asm(seen, "", "r,~{memory}", [data], True)
    return builder.bitcast(data, context.get_data_type(kind.dtype).as_pointer()), builder.load(place)


def set_to_zero(context: Any, builder: Any, kind: Any, data: Any, lengths: Sequence[Any]) -> None:
    """Have all elements be zero."""
    size = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    for n in lengths:
        size = builder.mul(size, n)
    cgutils.memset(builder, builder.bitcast(data, POINTER), size, 0)


def new(context: Any, builder: Any, kind: Any, lengths: Sequence[Any]) -> Any:
    """The record of a new array."""
    data, holder = allocate(context, builder, kind, lengths)
    made = arrayobj.make_array(kind)(context, builder)
    item = ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [item]
    for n in reversed(lengths[1:]):
        strides.append(builder.mul(strides[-1], n))
    arrayobj.populate_array(made, data=data, shape=list(lengths), strides=strides[::-1], itemsize=item, meminfo=holder)
    return made


def _lengths(context: Any, builder: Any, kind: Any, shape: Any) -> list[Any]:
    if isinstance(kind, types.BaseTuple):
        return [context.cast(builder, builder.extract_value(shape, k), t, types.intp) for k, t in enumerate(kind.types)]
    return [context.cast(builder, shape, kind, types.intp)]


def _made(shape: Any, dtype: Any, fill: Callable[..., None]) -> Any:
    kind = types.Array(dtype, len(shape) if isinstance(shape, types.BaseTuple) else 1, "C")

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        made = new(context, builder, kind, _lengths(context, builder, shape, args[0]))
        fill(context, builder, made, signature, args)
        return made._getvalue()

    return kind, generate


def _dtype_of(given: Any) -> Any:
    return types.float64 if isinstance(given, types.Omitted) or given is None else given.dtype


def _nothing(context: Any, builder: Any, made: Any, signature: Any, args: Any) -> None:
    pass


def _zeros(context: Any, builder: Any, made: Any, signature: Any, args: Any) -> None:
    lengths = cgutils.unpack_tuple(builder, made.shape)
    set_to_zero(context, builder, signature.return_type, made.data, lengths)


def _value(context: Any, builder: Any, made: Any, signature: Any, args: Any) -> None:
    value = context.get_value_as_data(builder, signature.args[1], args[1])
    with cgutils.for_range(builder, made.nitems) as loop:
        builder.store(value, builder.gep(made.data, [loop.index], inbounds=True))


@intrinsic
def buffer(context: Any, shape: Any, dtype: Any = None) -> Any:
    """``np.empty(shape, dtype)``"""
    kind, generate = _made(shape, _dtype_of(dtype), _nothing)
    return kind(shape, types.Omitted(None) if dtype is None else dtype), generate


@intrinsic
def zeroed(context: Any, shape: Any, dtype: Any = None) -> Any:
    """``np.zeros(shape, dtype)``"""
    kind, generate = _made(shape, _dtype_of(dtype), _zeros)
    return kind(shape, types.Omitted(None) if dtype is None else dtype), generate


@intrinsic
def filled(context: Any, shape: Any, value: Any) -> Any:
    """``np.full(shape, value)``"""
    dtype = types.unliteral(value)
    kind, generate = _made(shape, dtype, _value)
    return kind(shape, dtype), generate


@intrinsic
def longer(context: Any, a: Any, n: Any) -> Any:
    """The elements of a buffer in one that is twice as long, or has `n` places, if these are more."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        old = arrayobj.make_array(a)(context, builder, args[0])
        twice = builder.mul(old.nitems, ir.Constant(WORD, 2))
        more = builder.icmp_signed(">", twice, args[1])
        made = new(context, builder, a, [builder.select(more, twice, args[1])])
        size = builder.mul(old.nitems, old.itemsize)
        cgutils.raw_memcpy(builder, made.data, old.data, size, 1)
        return made._getvalue()

    return a(a, types.intp), generate


__all__ = ["allocate", "buffer", "filled", "longer", "new", "set_to_zero", "zeroed"]
