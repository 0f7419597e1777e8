"""The values of a program as LLVM has them, and what Numba does with them.

A number is a value of LLVM's. An array is where its elements lie, and its lengths. The record that Numba has of it,
which LLVM would take apart again, is made only for functions that Numba writes.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import errors, lowering
from numba.core import types as _types
from numba.core.typing import templates as _templates
from numba.cpython import listobj as _listobj
from numba.np import arrayobj as _arrayobj

from . import blas, memory

types: Any = _types
cgutils: Any = _cgutils
arrayobj: Any = _arrayobj
listobj: Any = _listobj
templates: Any = _templates
Base: Any = lowering.BaseLower

WORD = ir.IntType(64)
HOLDER = types.MemInfoPointer(types.voidptr)


class Unknown(Exception):
    """The text has something that only Numba knows."""


class NoProgram(Unknown):
    """The function is none that `native.numba_text` writes."""


@dataclass(slots=True)
class Number:
    kind: Any
    value: Any
    literal: Any = None


@dataclass(slots=True)
class Buffer:
    """An array in contiguous memory: where its elements lie, its lengths, and what counts its references.

    is_ours: there is one reference more than somebody else has
    """

    kind: Any
    data: Any
    lengths: list[Any]
    holder: Any
    is_ours: bool = False


@dataclass(slots=True)
class Stack:
    """A list of arrays."""

    kind: Any
    value: Any
    is_ours: bool = False


@dataclass(slots=True)
class Items:
    values: list[Any]


@dataclass(slots=True)
class Known:
    """What a name of the module or of NumPy's stands for."""

    value: Any


class Writer(Base):  # type: ignore[misc]
    """Writes what is done with values."""

    known: dict[Any, Any]  # what writes calls of functions, by the functions and the types of operands

    # --- references ---------------------------------------------------------------------------------------------------

    def given(self, kind: Any, value: Any) -> Any:
        """A value that Numba gives, as a value of ours. Somebody else has its references."""
        if isinstance(kind, types.Array):
            if kind.layout != "C" or not kind.ndim or not isinstance(kind.dtype, (types.Number, types.Boolean)):
                raise Unknown(f"an array of type {kind}")
            at = self.context.data_model_manager[kind].get_field_position
            lengths = [self.builder.extract_value(value, [at("shape"), k]) for k in range(kind.ndim)]
            data = self.builder.extract_value(value, at("data"))
            return Buffer(kind, data, lengths, self.builder.extract_value(value, at("meminfo")))
        if isinstance(kind, types.List) and isinstance(kind.dtype, types.Array):
            return Stack(kind, value)
        if isinstance(kind, (types.Number, types.Boolean)):
            return Number(types.unliteral(kind), value)
        raise Unknown(f"a value of type {kind}")

    def taken_over(self, kind: Any, value: Any) -> Any:
        """A value that Numba gives, with its reference."""
        found = self.given(kind, value)
        if not isinstance(found, Number):
            found.is_ours = True
        return found

    def incref(self, holder: Any) -> None:
        self.context.nrt.incref(self.builder, HOLDER, holder)

    def decref(self, holder: Any) -> None:
        self.context.nrt.decref(self.builder, HOLDER, holder)

    def holder_of(self, x: Any) -> Any:
        if isinstance(x, Buffer):
            return x.holder
        at = self.context.data_model_manager[x.kind].get_field_position("meminfo")
        return self.builder.extract_value(x.value, at)

    def owned(self, x: Any) -> None:
        """See to it that there is a reference for who gets this."""
        if not isinstance(x, Number) and not x.is_ours:
            self.incref(self.holder_of(x))

    def slot(self, kind: Any, zero: bool = False) -> Any:
        """A place in memory."""
        with self.builder.goto_block(self.entry_block):
            place = self.builder.alloca(kind)
            if zero:
                self.builder.store(ir.Constant(kind, None), place)
        return place

    # --- numbers, and functions that Numba knows ----------------------------------------------------------------------

    def constant(self, value: Any) -> Number:
        kind = {bool: types.boolean, int: types.intp, float: types.float64}.get(type(value))
        if kind is None:
            raise Unknown(repr(value))
        return Number(kind, self.context.get_constant(kind, value), value)

    def operate(self, op: Any, *operands: Any) -> Number:
        if not all(isinstance(x, Number) for x in operands):
            raise Unknown(f"{op.__name__} of something else than numbers")
        if op is operator.pow and operands[1].literal is not None:
            found = self.power(*operands)
            if found is not None:
                return found
        return self.apply(op, operands)  # type: ignore[no-any-return]

    def power(self, x: Number, k: Number) -> Number | None:
        """A power whose exponent is a constant, for which Numba has code of its own."""
        kinds = (x.kind, types.literal(k.literal) if isinstance(k.literal, int) else types.Omitted(k.literal))
        op = self.context.typing_context.resolve_value_type(operator.pow)
        try:
            signature = op.get_call_type(self.context.typing_context, kinds, {})
            made = self.context.get_function(op, signature)
            value = made(self.builder, (x.value, k.literal))
        except (errors.TypingError, NotImplementedError):
            return None
        return Number(signature.return_type, value)

    def apply(self, fn: Any, operands: Sequence[Any]) -> Any:
        """A call of a function that Numba knows."""
        if isinstance(fn, type) and issubclass(fn, np.generic) and isinstance(operands[0], Number):
            kind = self.context.typing_context.resolve_value_type(fn).instance_type
            return Number(kind, self.passed(operands[0], kind))
        values = [self.passed(x) for x in operands]
        kinds = tuple([self.kind_of(x) for x in operands])
        signature, made = self.resolved(fn, kinds)
        given = [
            self.context.cast(self.builder, value, kind, wanted)
            for value, kind, wanted in zip(values, kinds, signature.args)
        ]
        given += [self.context.get_dummy_value()] * (len(signature.args) - len(given))
        self.context.add_linking_libs(getattr(made, "libs", ()))
        found, kind = made(self.builder, given), signature.return_type
        if isinstance(kind, types.BaseTuple):
            parts = [self.builder.extract_value(found, k) for k in range(len(kind.types))]
            return Items([self.taken_over(t, x) for t, x in zip(kind.types, parts)])
        return Known(None) if kind in (types.none, types.void) else self.taken_over(kind, found)

    def resolved(self, fn: Any, kinds: tuple[Any, ...]) -> Any:
        """The signature of a function for operands of these types, and what writes a call of it."""
        if (fn, kinds) not in self.known:
            typing = self.context.typing_context
            kind = typing.resolve_value_type(fn)
            signature = kind.get_call_type(typing, kinds, {})
            if signature is None:
                raise Unknown(f"{fn} of {kinds}")
            self.known[fn, kinds] = signature, self.context.get_function(kind, signature)
        return self.known[fn, kinds]

    def kind_of(self, x: Any) -> Any:
        if isinstance(x, Items):
            return types.Tuple(tuple(map(self.kind_of, x.values)))
        return self.context.typing_context.resolve_value_type(x.value) if isinstance(x, Known) else x.kind

    def passed(self, x: Any, kind: Any = None) -> Any:
        """A value as Numba has it. With `kind`, it is of this type, and has a reference for who gets it."""
        if isinstance(x, Number):
            return x.value if kind in (None, x.kind) else self.context.cast(self.builder, x.value, x.kind, kind)
        if isinstance(x, Known):
            return self.context.get_dummy_value()
        if isinstance(x, Items):
            return self.context.make_tuple(self.builder, self.kind_of(x), list(map(self.passed, x.values)))
        if kind is not None:
            if not is_same(x.kind, kind):
                raise Unknown(f"a {x.kind} where a {kind} is wanted")
            self.owned(x)
        return x.value if isinstance(x, Stack) else self.record(x)

    # --- arrays -------------------------------------------------------------------------------------------------------

    def new(self, kind: Any, lengths: list[Any]) -> Buffer:
        data, holder = memory.allocate(self.context, self.builder, kind, lengths)
        return Buffer(kind, data, lengths, holder, True)

    def record(self, x: Buffer) -> Any:
        """The record of an array that Numba has."""
        b = self.builder
        model = self.context.data_model_manager[x.kind]
        item = ir.Constant(WORD, self.context.get_abi_sizeof(self.context.get_data_type(x.kind.dtype)))
        strides, count = [item], ir.Constant(WORD, 1)
        order = x.lengths[::-1] if x.kind.layout == "C" else x.lengths
        for n in order[:-1]:
            strides.append(b.mul(strides[-1], n))
        for n in x.lengths:
            count = b.mul(count, n)
        strides = strides[::-1] if x.kind.layout == "C" else strides
        made = ir.Constant(model.get_value_type(), ir.Undefined)
        parts = {"meminfo": x.holder, "nitems": count, "itemsize": item, "data": x.data}
        for field, value in parts.items():
            made = b.insert_value(made, value, model.get_field_position(field))
        parent = model.get_field_position("parent")
        made = b.insert_value(made, ir.Constant(made.type.elements[parent], None), parent)
        for field, values in (("shape", x.lengths), ("strides", strides)):
            for k, value in enumerate(values):
                made = b.insert_value(made, value, [model.get_field_position(field), k])
        return made

    def place(self, base: Any, index: Sequence[Any]) -> Any:
        """Where an element, or a row, is in memory."""
        if not isinstance(base, Buffer) or base.kind.layout != "C":
            raise Unknown("a subscript of something else than an array")
        b = self.builder
        offset = None
        for axis, n in enumerate(base.lengths):
            at = None
            if axis < len(index):
                x = index[axis]
                if not isinstance(x, Number) or not isinstance(x.kind, types.Integer):
                    raise Unknown("a position that is no int")
                at = self.context.cast(b, x.value, x.kind, types.intp)
            offset = at if offset is None else b.mul(offset, n) if at is None else b.add(b.mul(offset, n), at)
        return b.gep(base.data, [offset], inbounds=True)

    def load(self, base: Buffer, place: Any) -> Number:
        return Number(base.kind.dtype, arrayobj.load_item(self.context, self.builder, base.kind, place))

    def store(self, place: Any, kind: Any, x: Any) -> None:
        arrayobj.store_item(self.context, self.builder, kind, self.passed(x, kind.dtype), place)

    def row(self, base: Any, index: Sequence[Any]) -> Buffer:
        """The part of an array at positions of its first axes."""
        place = self.place(base, index)
        kind = base.kind.copy(ndim=base.kind.ndim - len(index))
        return Buffer(kind, place, base.lengths[len(index) :], base.holder)

    def piece(self, base: Any, low: Any, high: Any) -> Buffer:
        """Elements of a buffer with one axis, which it has."""
        if not isinstance(base, Buffer) or base.kind.ndim != 1 or low.kind != types.intp or high.kind != types.intp:
            raise Unknown("a slice")
        length = self.builder.sub(high.value, low.value)
        return Buffer(base.kind, self.place(base, [low]), [length], base.holder)

    def transposed(self, x: Any) -> Buffer:
        """A matrix whose columns are rows."""
        if not isinstance(x, Buffer) or x.kind.ndim != 2:
            raise Unknown("the transpose of something else than a matrix")
        return Buffer(x.kind.copy(layout="F"), x.data, x.lengths[::-1], x.holder)

    def reshaped(self, x: Buffer, shape: Any) -> Buffer:
        """The same elements with other axes, of which one may be -1."""
        wanted = shape.values if isinstance(shape, Items) else [shape]
        given = Items([Number(types.intp, self.passed(n, types.intp)) for n in wanted])
        typing = self.context.typing_context
        kind = typing.resolve_getattr(x.kind, "reshape")
        signature = kind.get_call_type(typing, (self.kind_of(given),), {})
        made = self.context.get_function(kind, signature)
        return self.taken_over(  # type: ignore[no-any-return]
            signature.return_type, made(self.builder, [self.record(x), self.passed(given)])
        )

    def lengths(self, shape: Any) -> list[Any]:
        return [self.passed(n, types.intp) for n in (shape.values if isinstance(shape, Items) else [shape])]

    def add_product(self, out: Any, a: Any, b: Any) -> Known:
        arrays = (out, a, b)
        if not all(isinstance(x, Buffer) for x in arrays):
            raise Unknown("a product of something else than arrays")
        places, shapes = [x.data for x in arrays], [x.lengths for x in arrays]
        blas.call(self.context, self.builder, [x.kind for x in arrays], places, shapes)
        return Known(None)

    def buffer(self, shape: Any, dtype: Any = None) -> Buffer:
        found = types.float64 if dtype is None else self.kind_of(dtype).dtype
        lengths = self.lengths(shape)
        return self.new(types.Array(found, len(lengths), "C"), lengths)

    def zeroed(self, shape: Any, dtype: Any = None) -> Buffer:
        made = self.buffer(shape, dtype)
        memory.set_to_zero(self.context, self.builder, made.kind, made.data, made.lengths)
        return made

    def filled(self, shape: Any, value: Number) -> Buffer:
        lengths = self.lengths(shape)
        made = self.new(types.Array(value.kind, len(lengths), "C"), lengths)
        count = functools.reduce(self.builder.mul, lengths)
        with cgutils.for_range(self.builder, count) as loop:
            self.store(self.builder.gep(made.data, [loop.index], inbounds=True), made.kind, value)
        return made

    def longer(self, x: Buffer, n: Number) -> Buffer:
        b, old = self.builder, x.lengths[0]
        twice = b.mul(old, ir.Constant(WORD, 2))
        made = self.new(x.kind, [b.select(b.icmp_signed(">", twice, n.value), twice, n.value)])
        item = self.context.get_abi_sizeof(self.context.get_data_type(x.kind.dtype))
        cgutils.raw_memcpy(b, made.data, x.data, b.mul(old, ir.Constant(WORD, item)), 1)
        return made

    # --- lists of arrays ----------------------------------------------------------------------------------------------

    def list_function(self, name: Any, gives: Any, *operands: Any) -> Any:
        """What Numba does with lists of arrays."""
        kinds = tuple(map(self.kind_of, operands))
        if len(operands) > 1 and isinstance(operands[-1], Buffer) and not is_same(kinds[-1], kinds[0].dtype):
            raise Unknown("a list of several types")
        made = self.context.get_function(name, templates.signature(gives, *kinds))
        found = made(self.builder, list(map(self.passed, operands)))
        return Known(None) if gives is types.none else self.taken_over(gives, found)

    def stack_of(self, x: Any) -> Stack:
        if not isinstance(x, Buffer):
            raise Unknown("a list of something else than arrays")
        kind = types.List(x.kind)
        made = listobj.build_list(self.context, self.builder, kind, [self.passed(x)])
        if x.is_ours:
            self.decref(x.holder)
        return Stack(kind, made, True)


def is_same(a: Any, b: Any) -> bool:
    """Values of these types are alike: it may be that one array may be written to, and the other one may not."""
    if isinstance(a, types.Array) and isinstance(b, types.Array):
        return (a.dtype, a.ndim, a.layout, a.aligned) == (b.dtype, b.ndim, b.layout, b.aligned)
    if isinstance(a, types.List) and isinstance(b, types.List):
        return is_same(a.dtype, b.dtype)
    return a == b  # type: ignore[no-any-return]


__all__ = ["WORD", "Buffer", "Items", "Known", "NoProgram", "Number", "Stack", "Unknown", "Writer", "is_same", "types"]
