"""What emitted modules take from here: a program as machine code, and the functions that programs call.

This module and `native.pool`, which it loads, import Numba. With ``AUTODIFF_COMPILER_NATIVE=python`` in the
environment, programs run as the Python code that they are: slow, to be stepped through in pdb, and without Numba.
"""

from __future__ import annotations

import base64
import itertools
import linecache
import logging
import os
import pickle
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy._core import umath

from . import outside

VARIABLE = "AUTODIFF_COMPILER_NATIVE"
LOG = logging.getLogger("autodiff_compiler")
PATIENCE = 20  # calls in a row that bail, after which a program is not tried any more
AS_PYTHON = os.environ.get(VARIABLE, "") == "python"


class Disk(Protocol):
    """Where machine code is kept for other processes: texts under keys that depend on texts."""

    def load(self, *parts: str) -> str | None: ...
    def store(self, text: str, *parts: str) -> None: ...


DISK: list[Disk] = []  # the API puts the disk cache here


if AS_PYTHON:

    def njit(fn: Any) -> Any:
        return fn

    apart = njit

else:
    import llvmlite  # type: ignore[import-untyped]
    import numba
    from numba.core import caching, compiler, serialize, types
    from numba.core import cgutils as _cgutils
    from numba.extending import intrinsic

    Program: Any
    try:
        from .compiling import Program
    except (ImportError, AttributeError):  # a version of Numba whose compiler has other names: it is slower then
        Program = compiler.Compiler

    cgutils: Any = _cgutils
    _njit: Any = numba.njit
    # Of functions that only programs call. What Python would need to call them takes a tenth of a second to compile.
    njit: Callable[..., Any] = _njit(  # type: ignore[no-redef]
        error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=Program
    )
    # Other threads run meanwhile, as they do while NumPy computes.
    as_program = _njit(error_model="numpy", no_cfunc_wrapper=True, nogil=True, pipeline_class=Program)

    def apart(fn: Any) -> Any:
        """Likewise, of a function whose buffers do not overlap where it writes.

        LLVM would ask the run whether they do, and sum up in another order if their places in memory left it in doubt.
        """
        made = njit(fn)
        customize = made._compiler._customize_flags

        def with_apart(flags: Any) -> Any:
            flags.noalias = True
            return customize(flags)

        made._compiler._customize_flags = with_apart
        return made

    class KeptCode(caching.NullCache):
        """Keeps what Numba makes of a function on disk. The text of the module is part of the key.

        What is read is code that runs, so it comes from the folder that no one else may write to.
        """

        def __init__(self, fn: Any):
            self.text = "".join(linecache.getlines(fn.__code__.co_filename))

        def key(self, signature: Any, codegen: Any) -> tuple[str, ...]:
            versions = f"numba {numba.__version__} llvmlite {llvmlite.__version__} nogil translated"
            return "machine code", versions, self.text, str(signature), repr(codegen.magic_tuple())

        def load_overload(self, signature: Any, target: Any) -> Any:
            target.refresh()
            kept = DISK[0].load(*self.key(signature, target.codegen())) if DISK else None
            if kept is None:
                return None
            try:
                parts = pickle.loads(base64.b85decode(kept))
                return compiler.CompileResult._rebuild(target, *parts)  # type: ignore[no-untyped-call]
            except Exception:
                LOG.debug("the machine code on disk is of no use", exc_info=True)
                return None

        def save_overload(self, signature: Any, made: Any) -> None:
            dynamic = any(not x.can_cache for x in made.lifted) or made.library.has_dynamic_globals
            if DISK and not dynamic:
                data = serialize.dumps(made._reduce())  # type: ignore[no-untyped-call]
                DISK[0].store(base64.b85encode(data).decode(), *self.key(signature, made.codegen))


# NumPy's settings for floating-point errors, and whether one of them is to raise or to call. A context has another
# object for other settings.
_SETTINGS = getattr(umath, "_extobj_contextvar", None)
_known: list[tuple[Any, bool]] = [(None, False)]


def floats_raise() -> bool:
    """NumPy is to raise, or to call a function, where floating-point numbers overflow or are invalid."""
    settings = None if _SETTINGS is None else _SETTINGS.get()
    known = _known[0]
    if settings is None or settings is not known[0]:
        known = _known[0] = settings, any(what in ("raise", "call", "log") for what in np.geterr().values())
    return known[1]


class Native:
    """A program as machine code. It is compiled at the first call.

    A call gives a tuple, True and the results; or None where the program bails, or cannot be compiled. Then the caller
    goes on with NumPy code, and raises what that raises.

    run:     the program, as Numba's dispatcher
    bails:   how many calls in a row bailed
    stopped: why the program is not tried any more, or None
    """

    def __init__(self, fn: Any):
        if AS_PYTHON:
            self.run: Any = fn
        else:
            self.run = as_program(fn)
            self.run._cache = KeptCode(fn)
        self.__name__ = fn.__name__
        self.bails = 0
        self.stopped: str | None = None

    def __call__(self, *args: Any) -> Any:
        # What `floats_raise` does if the settings are as they were: a call of it would take longer than the rest.
        known, raises = _known[0]
        if self.stopped is not None or raises or known is None or _SETTINGS.get() is not known:  # type: ignore[union-attr]
            if self.stopped is not None or floats_raise():
                return None
        try:
            out = self.run(*args)
        except Exception as error:
            return self.failed(error)
        if out[0]:
            if self.bails:
                self.bails = 0
            return out
        return self.bailed()

    def bailed(self) -> None:
        self.bails += 1
        if self.bails == PATIENCE:
            self.stop(f"{PATIENCE} calls in a row met what is left to NumPy")

    def failed(self, error: Exception) -> None:
        """Numba's code raised, for want of memory say, or there is no machine code."""
        if AS_PYTHON and isinstance(error, (NameError, IndexError, TypeError)):
            raise AssertionError(f"machine code would go on where Python raises {error!r}") from error
        if not AS_PYTHON and not self.run.signatures:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            self.stop(f"Numba does not compile it: {lines[0]}")
        else:
            self.bailed()  # Numba's code does not free what it holds when Python raises

    def stop(self, why: str) -> None:
        self.stopped = why
        LOG.warning("%s goes on with NumPy: %s", self.__name__, why)


# --- what entries call ------------------------------------------------------------------------------------------------


def owned(x: Any) -> Any:
    """A copy of an array, in contiguous memory."""
    return np.array(x, order="C")


_PLAIN = (float, bool, np.float64)


def is_plain(x: Any, may_be_complex: bool = False) -> bool:
    """A number that a float of a machine stands for, whatever it is multiplied with; or a complex number of one."""
    if type(x) in _PLAIN or (may_be_complex and type(x) in (complex, np.complex128)):
        return True
    return type(x) is int and -(1 << 53) <= x <= 1 << 53


def numpy_function(forward: Any, *args: Any) -> Any:
    """The pullback, or pushforward, that the NumPy code gives for these arguments. It is made when it is called.

    The forward sweep as machine code has shown its results, so this one neither warns nor raises.
    """
    made: list[Any] = []

    def call(*seeds: Any) -> Any:
        if not made:
            with np.errstate(all="ignore"):
                made.append(forward(*args)[1])
        return made[0](*seeds)

    return call


# --- what programs call -----------------------------------------------------------------------------------------------

if AS_PYTHON:

    def plus(a: Any, b: Any) -> Any:
        return a + b

    def choose(condition: Any, x: Any, y: Any) -> Any:
        return x if condition else y

    def opaque(k: int) -> int:
        return k

    def bound(k: Any, n: Any) -> Any:
        return max(0, k + n) if k < 0 else min(k, n)

    def minimum(x: Any, y: Any) -> Any:
        return x if x < y or x != x else y

    def maximum(x: Any, y: Any) -> Any:
        return x if x > y or x != x else y

    def bitand(x: Any, y: Any) -> Any:
        return x & y

    def bitor(x: Any, y: Any) -> Any:
        return x | y

    def _add_product(out: Any, a: Any, b: Any) -> None:
        out += a @ b

    many_exp, many_log, many_tanh = np.exp, np.log, np.tanh

    def _longer(a: Any, n: int) -> Any:
        out = np.empty(max(2 * a.shape[0], n), a.dtype)
        out[: len(a)] = a
        return out

    buffer: Any = np.empty
    zeroed: Any = np.zeros
    filled: Any = np.full
    longer: Any = _longer
    add_product: Any = _add_product
else:
    # These write LLVM's instructions at once. A function of their own in Numba takes 0.1 s to compile, `np.dot` 0.7 s.
    from llvmlite import ir

    from . import blas, elementary, memory

    buffer, filled, longer, zeroed = memory.buffer, memory.filled, memory.longer, memory.zeroed
    add_product = blas.add_product

    def _of_one_type(generate: Any, wanted: Any = types.Number) -> Any:
        """An operation on two numbers of one type, which it gives."""

        def typed(context: Any, x: Any, y: Any) -> Any:
            found = context.unify_types(x, y)
            if not isinstance(found, (wanted, types.Boolean)):
                return None
            return found(found, found), lambda context, builder, signature, args: generate(builder, found, *args)

        return typed

    def _less(builder: Any, t: Any, x: Any, y: Any) -> Any:
        return (builder.fcmp_ordered if isinstance(t, types.Float) else builder.icmp_signed)("<", x, y)

    def _first_if(builder: Any, t: Any, condition: Any, x: Any, y: Any) -> Any:
        """`x` if the condition is true, or if it is nan."""
        if isinstance(t, types.Float):
            condition = builder.or_(condition, builder.fcmp_unordered("uno", x, x))
        return builder.select(condition, x, y)

    @intrinsic
    def plus(context: Any, a: Any, b: Any) -> Any:
        """``a + b`` in a sum that may be taken in any order. So the compiler may add several elements at once."""
        if not isinstance(a, types.Float) or a != b:
            return None

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.fadd(args[0], args[1], flags=("reassoc", "nsz"))

        return a(a, b), generate

    @intrinsic
    def minimum(context: Any, x: Any, y: Any) -> Any:
        """The smaller of two numbers, or the one that is nan."""

        def generate(builder: Any, t: Any, x: Any, y: Any) -> Any:
            return _first_if(builder, t, _less(builder, t, x, y), x, y)

        return _of_one_type(generate)(context, x, y)

    @intrinsic
    def maximum(context: Any, x: Any, y: Any) -> Any:
        """The larger of two numbers, or the one that is nan."""

        def generate(builder: Any, t: Any, x: Any, y: Any) -> Any:
            return _first_if(builder, t, _less(builder, t, y, x), x, y)

        return _of_one_type(generate)(context, x, y)

    @intrinsic
    def bitand(context: Any, x: Any, y: Any) -> Any:
        return _of_one_type(lambda builder, t, x, y: builder.and_(x, y), types.Integer)(context, x, y)

    @intrinsic
    def bitor(context: Any, x: Any, y: Any) -> Any:
        return _of_one_type(lambda builder, t, x, y: builder.or_(x, y), types.Integer)(context, x, y)

    @intrinsic
    def choose(context: Any, condition: Any, x: Any, y: Any) -> Any:
        """One of two numbers, both of which are computed."""
        found = context.unify_types(x, y)
        if not isinstance(found, (types.Number, types.Boolean)):
            return None
        return found(types.boolean, found, found), lambda context, builder, signature, args: builder.select(*args)

    def _of_floats(name: str) -> Any:
        """A function of `native.elementary`."""

        def typed(context: Any, x: Any) -> Any:
            if not isinstance(x, types.Float):
                return None
            return x(x), lambda context, builder, signature, args: elementary.call(builder, name, args[0])

        typed.__name__ = f"many_{name}"
        return intrinsic(typed)

    many_exp, many_log, many_tanh = map(_of_floats, ("exp", "log", "tanh"))

    @intrinsic
    def bound(context: Any, k: Any, n: Any) -> Any:
        """A bound of a slice, as a position from 0 to `n`."""

        def generate(builder: Any, t: Any, k: Any, n: Any) -> Any:
            zero = ir.Constant(k.type, 0)
            moved = builder.add(k, n)
            from_end = builder.select(builder.icmp_signed("<", moved, zero), zero, moved)
            from_start = builder.select(builder.icmp_signed("<", k, n), k, n)
            return builder.select(builder.icmp_signed("<", k, zero), from_end, from_start)

        return _of_one_type(generate, types.Integer)(context, k, n)

    @intrinsic
    def opaque(context: Any, k: Any) -> Any:
        """An int, made by no instruction, but of which LLVM takes for granted that it is made by one."""
        if k != types.int64:
            return None
        same = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return k(k), lambda context, builder, signature, args: builder.asm(same, "", "=r,0", args, False)


in_python = outside.run_as_python if AS_PYTHON else outside.compiled

# --- loops in parts ---------------------------------------------------------------------------------------------------

# An addition of two floats in a loop takes about a nanosecond, and a thread some microseconds to begin.
WORTH = 40_000  # additions; a loop with less work is one part
LEAST = 10_000  # and a part has at least so many
MANY = 32  # parts, at most
LINE = 64  # parts begin where LLVM's loops over several elements do, so that an element is computed as in one part
ROOM = 8  # what it costs to keep an element of a sum that each part has for itself, until it is added up

if AS_PYTHON:
    import random

    def thread_count() -> int:
        return 1

    def pieces(trips: int, cost: int, room: int) -> int:
        return max(0, min(3, trips))

    def position(k: int) -> int:
        return k

    def in_parts(threads: int, code: Any, parts: int, low: int, high: int, args: tuple[Any, ...]) -> bool:
        """Run one or two iterations at a time, in an order that shows whether one needs another."""
        bailed = False
        order = list(range(parts))
        random.Random(int(parts)).shuffle(order)
        for part in order:
            n = high - low
            first, last = low + n * part // parts, low + n * (part + 1) // parts
            draw = random.Random(int(last - first))
            ends = [first]
            while ends[-1] < last:
                ends.append(min(last, ends[-1] + draw.randint(1, 2)))
            mine = list(itertools.pairwise(ends))
            draw.shuffle(mine)
            for k, end in mine:
                bailed |= code(part, k, end, *args)
        return bailed

else:
    from . import pool as _pool

    POOL: list[_pool.Pool] = []  # made when the first program has parts
    _making = threading.Lock()

    def _pool_of_this_process() -> _pool.Pool:
        if not POOL:
            with _making:
                if not POOL:
                    POOL.append(_pool.Pool())
        return POOL[0]

    def thread_count() -> int:
        """How many threads a program may use: as many as Numba's."""
        threads: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
        from numba.np.ufunc import parallel

        if parallel._is_initialized:  # otherwise nobody has set a number, and to ask for it starts Numba's threads
            threads = numba.get_num_threads()
        _pool_of_this_process().start(threads - 1)
        return threads

    def thread_count_inside() -> Any:
        """The same for functions that Numba compiles: the number there is now."""
        now = thread_count()

        @njit
        def count() -> int:
            return now

        return count

    @intrinsic
    def in_parts(
        context: Any, threads: Any, code: Any, parts: Any, low: Any, high: Any, args: Any
    ) -> Any:  # fmt: skip
        """Run ``code(part, first, last, *args)`` for each part of a range, in threads. Whether one of them bailed."""
        _pool_of_this_process()
        word = types.int64
        signature = code.get_call_type(context, (word, word, word, *args.types), {})

        def generate(context: Any, builder: Any, outer: Any, given: Any) -> Any:
            return _call_parts(context, builder, code.dispatcher.overloads[signature.args], signature, outer, given)

        return types.boolean(word, code, word, word, word, args), generate

    def _call_parts(context: Any, builder: Any, made: Any, signature: Any, outer: Any, given: Any) -> Any:
        """Put what the parts need into one place, and have it given to a function that calls `made` for a part."""
        threads, _, parts, low, high, args = given
        context.add_linking_libs([made.library])
        flag = ir.IntType(8)
        held = [parts, low, high, ir.Constant(flag, 0), *cgutils.unpack_tuple(builder, args, len(outer.args[5].types))]
        kind = ir.LiteralStructType([x.type for x in held])
        data = cgutils.alloca_once(builder, kind)
        for k, x in enumerate(held):
            builder.store(x, cgutils.gep_inbounds(builder, data, 0, k))
        name = builder.module.get_unique_name(f"{builder.function.name}.part")
        function = ir.Function(builder.module, _pool.PART, name)
        function.linkage = "internal"
        b = ir.IRBuilder(function.append_basic_block())
        place, part = b.bitcast(function.args[0], kind.as_pointer()), function.args[1]
        parts_, low_, high_, _, *values = [b.load(cgutils.gep_inbounds(b, place, 0, k)) for k in range(len(held))]
        lines = b.sdiv(b.add(b.sub(high_, low_), _pool.word(LINE - 1)), _pool.word(LINE))
        few = b.icmp_signed("<", lines, b.mul(parts_, _pool.word(4)))
        length = b.select(few, _pool.word(1), _pool.word(LINE))
        lines = b.select(few, b.sub(high_, low_), lines)

        def bound(k: Any) -> Any:
            at = b.add(low_, b.mul(b.sdiv(b.mul(lines, k), parts_), length))
            return b.select(b.icmp_signed("<", at, high_), at, high_)

        first, last = bound(part), bound(b.add(part, _pool.word(1)))
        status, bails = context.call_internal_no_propagate(b, made.fndesc, signature, [part, first, last, *values])
        bails = context.cast(b, bails, signature.return_type, types.boolean)
        with b.if_then(b.or_(status.is_error, bails)):
            b.store(ir.Constant(flag, 1), cgutils.gep_inbounds(b, place, 0, 3))
        b.ret_void()
        run = cgutils.get_or_insert_function(builder.module, _pool.RUN_TYPE, _pool.RUN)
        pointers = [builder.bitcast(x, _pool.POINTER) for x in (function, data)]
        builder.call(run, [*pointers, parts, threads])
        found = builder.load(cgutils.gep_inbounds(builder, data, 0, 3))
        return builder.icmp_unsigned("!=", found, ir.Constant(flag, 0))

    @intrinsic
    def position(context: Any, k: Any) -> Any:
        """An int that is not negative, and less than 2**48. If LLVM sees that, it computes several elements at once."""
        word = types.int64
        return word(word), lambda context, builder, signature, args: builder.and_(args[0], _pool.word((1 << 48) - 1))

    @njit
    def pieces(trips: int, cost: int, room: int) -> int:
        """In how many parts a loop is run, by its work. `room`: how many elements each part needs for itself."""
        work = trips * cost
        if trips < 2 or work < WORTH:
            return 1
        return max(1, min(trips, MANY, work // LEAST, work // (ROOM * max(room, 1))))


@njit
def quotient(x: Any, y: Any) -> Any:
    """The quotient of two complex numbers as NumPy computes it, by the algorithm of Smith. By zero it is not finite."""
    a, b, c, d = x.real, x.imag, y.real, y.imag
    if abs(c) >= abs(d):
        if c == 0.0 and d == 0.0:
            return complex(a * np.inf, b * np.inf)
        ratio = d / c
        scale = 1.0 / (c + d * ratio)
        return complex((a + b * ratio) * scale, (b - a * ratio) * scale)
    ratio = c / d
    scale = 1.0 / (d + c * ratio)
    return complex((a * ratio + b) * scale, (b * ratio - a) * scale)


__all__ = [
    "AS_PYTHON",
    "VARIABLE",
    "Native",
    "add_product",
    "apart",
    "bitand",
    "bitor",
    "bound",
    "buffer",
    "choose",
    "filled",
    "in_parts",
    "in_python",
    "longer",
    "many_exp",
    "many_log",
    "many_tanh",
    "maximum",
    "minimum",
    "is_plain",
    "njit",
    "numpy_function",
    "opaque",
    "owned",
    "pieces",
    "plus",
    "position",
    "quotient",
    "thread_count",
    "zeroed",
]
