"""How Numba reads and writes elements in programs: with fewer instructions than its own.

A program's positions are in range and count from the front (`native.nest.Load`), and its arrays are contiguous. Numba's
own code for ``x[i, j]`` takes apart and puts together a record of an array several times, and asks whether `i` counts
from the end: some fifty instructions, which LLVM reads and leaves out again. They are half of what it takes to compile
a program. `Program` is a compiler of Numba's that writes six.

What is read or written in another way, such as a row, is Numba's. Loops of long programs are not unrolled, unless their
trips are known.
"""

from __future__ import annotations

import gc
import threading
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils as _cgutils
from numba.core import compiler, compiler_machinery, lowering, typed_passes
from numba.core import ir as numba_ir
from numba.core import types as _types
from numba.np import arrayobj as _arrayobj

types: Any = _types
cgutils: Any = _cgutils
arrayobj: Any = _arrayobj
Lower: Any = lowering.Lower
WORD = types.intp
MANY = 16  # loops, with which a program is long


def _is_plain(array: Any, index: Any) -> bool:
    """The array is contiguous, and there is one position for each axis."""
    if not isinstance(array, types.Array) or array.layout != "C" or not array.ndim:
        return False
    if not isinstance(array.dtype, (types.Float, types.Integer, types.Boolean, types.Complex)):
        return False
    found = index.types if isinstance(index, types.BaseTuple) else (index,)
    return len(found) == array.ndim and all(isinstance(t, types.Integer) and t.signed for t in found)


class _Lower(Lower):  # type: ignore[misc]
    """Numba's lowering, but for elements of arrays and for counts of references."""

    def lower_inst(self, inst: Any) -> Any:
        out = super().lower_inst(inst)
        if self._has_many_loops and isinstance(inst, numba_ir.Jump) and inst.target <= self._label:
            _as_it_is(self.builder.block.terminator)
        return out

    def lower_block(self, block: Any) -> Any:
        self._label = self._labels[id(block)]
        return super().lower_block(block)

    def lower_function_body(self) -> Any:
        self._labels = {id(block): label for label, block in self.blocks.items()}
        ends = [(label, block.body[-1]) for label, block in self.blocks.items()]
        loops = sum(isinstance(end, numba_ir.Jump) and end.target <= label for label, end in ends)
        self._has_many_loops = loops > MANY
        return super().lower_function_body()

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        array = self.typeof(value.name)
        if not _is_plain(array, self.typeof(index.name)):
            return super().lower_getitem(resty, expr, value, index, signature)
        found = arrayobj.load_item(self.context, self.builder, array, self._place(value, index))
        return self.context.cast(self.builder, found, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        array = self.typeof(target_var.name)
        if not _is_plain(array, self.typeof(index_var.name)):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), self.typeof(value_var.name), array.dtype)
        arrayobj.store_item(self.context, self.builder, array, value, self._place(target_var, index_var))
        return None

    def _place(self, array: Any, index: Any) -> Any:
        """Where the element is in memory."""
        kind, build = self.typeof(array.name), self.builder
        index_type, at = self.typeof(index.name), self.loadvar(index.name)
        is_tuple = isinstance(index_type, types.BaseTuple)
        kinds = index_type.types if is_tuple else (index_type,)
        positions = [
            self.context.cast(build, build.extract_value(at, k) if is_tuple else at, t, WORD)
            for k, t in enumerate(kinds)
        ]
        offset = positions[0]
        for axis in range(1, kind.ndim):
            length = self._part(array.name, kind, "shape", axis)
            offset = build.add(build.mul(offset, length), positions[axis])
        return build.gep(self._part(array.name, kind, "data"), [offset], inbounds=True)

    def _part(self, name: str, kind: Any, field: str, axis: int | None = None) -> Any:
        """A field of the record of an array."""
        where = self.context.data_model_manager[kind].get_field_position(field)
        if name in self._blk_local_varmap and not self._disable_sroa_like_opt:
            path = [where] if axis is None else [where, axis]
            return self.builder.extract_value(self._blk_local_varmap[name], path)
        path = [0, where] if axis is None else [0, where, axis]
        return self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), *path))

    def incref(self, typ: Any, val: Any) -> None:
        self._count("incref", typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        self._count("decref", typ, val)

    def _count(self, how: str, kind: Any, value: Any) -> None:
        model = self.context.data_model_manager[kind]
        if isinstance(kind, types.Array):
            holder = types.MemInfoPointer(types.voidptr)
            value = self.builder.extract_value(value, model.get_field_position("meminfo"))
            getattr(self.context.nrt, how)(self.builder, holder, value)
        elif model.contains_nrt_meminfo():
            getattr(self.context.nrt, how)(self.builder, kind, value)


def _as_it_is(back: Any) -> None:
    """Where only the run tells the trips of a loop, LLVM does not unroll it. `back` is the branch to its head.

    Several trips in a row made programs take a fifth more time to compile. Few took less to run, up to a tenth.
    """
    module = back.function.module
    rule = module.add_metadata([ir.MetaDataString(module, "llvm.loop.unroll.runtime.disable")])
    loop = ir.MDValue(module, [rule], name=str(len(module.metadata)))
    loop.operands = (loop, rule)  # it names itself, so no other loop is the same
    back.set_metadata("llvm.loop", loop)


class _Lowering(typed_passes.NativeLowering):
    _name = "native_lowering_of_elements"

    @property
    def lowering_class(self) -> Any:
        return _Lower


compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)(_Lowering)  # type: ignore[no-untyped-call]


# Passes for what no program has: closures, comprehensions, `literal_unroll`, exceptions, expressions of arrays.
NEEDLESS = frozenset({
    "inline_closure_likes", "Rewrite dynamic raises", "make_function_op_code_to_jit_function",
    "inline_inlinables", "find_literally", "literal_unroll", "nopython_rewrites",
})  # fmt: skip


class _NoCollection:
    """While something compiles, Python looks for no garbage: it would go through all that Numba makes, many times."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.compiling = 0
        self.was_on = False

    def __enter__(self) -> None:
        with self.lock:
            if not self.compiling:
                self.was_on = gc.isenabled()
                gc.disable()
            self.compiling += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.compiling -= 1
            if not self.compiling and self.was_on:
                gc.enable()


_no_collection = _NoCollection()


class Program(compiler.Compiler):
    """Numba's compiler with this lowering."""

    def compile_extra(self, func: Any) -> Any:
        with _no_collection:
            return super().compile_extra(func)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> list[Any]:
        made = super().define_pipelines()  # type: ignore[no-untyped-call]
        for passes in made:
            passes.passes[:] = [
                (_Lowering if p is typed_passes.NativeLowering else p, what)
                for p, what in passes.passes
                if p.name() not in NEEDLESS
            ]
            passes.finalize()
        return made  # type: ignore[no-any-return]


__all__ = ["Program"]
