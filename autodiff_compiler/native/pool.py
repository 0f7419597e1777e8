"""Threads that run the parts of a loop, which machine code asks for without Python's lock.

Why not Numba's ``prange``: a thread of the user's that calls the same gradient meanwhile ends the process where Numba
has its own layer of threads ("workqueue"), and a child process ends where it has that of GNU's OpenMP.

The threads are Python's, and wait in machine code, in a lock of Python's interpreter that needs no lock of Python's
programs. Who asks runs parts itself, and waits only for threads that have begun. If the threads are at work for
somebody else, it runs all parts itself. So nobody ever waits for a thread that does not run. A child process has none
of its parent's threads, and starts its own.

The words that all share: HEAD is ``busy, next, parts, code, data, threads``. Then follow for each thread its state, the
lock that wakes it up, and the one that says that it is done.
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from llvmlite import ir
from numba.core import cgutils as _cgutils

cgutils: Any = _cgutils

RUN, WORK = "autodiff_compiler_run_parts", "autodiff_compiler_work"  # the symbols of the two functions
MOST = 128  # threads
BUSY, NEXT, PARTS, CODE, DATA, THREADS = range(6)
HEAD = EACH = 8  # words, a line of the processor's cache
STATE, WAKE, DONE = range(3)
# A thread sleeps until it is woken up, or is awake. POSTED: it is to begin. AWAITED: it runs parts, and who asked
# sleeps until it is done.
ASLEEP, AWAKE, POSTED, RUNNING, AWAITED = range(5)
SPINS = 4000  # how often somebody looks before it sleeps: some microseconds, about what waking up takes

WORD = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()
PART = ir.FunctionType(ir.VoidType(), [POINTER, WORD])  # runs a part: the data, and which part
RUN_TYPE = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, WORD, WORD])  # code, data, parts, threads


class Shared:
    """The words, at an address that stays."""

    def __init__(self) -> None:
        self.memory = ctypes.create_string_buffer(8 * (HEAD + EACH * MOST) + 64)
        self.base = (ctypes.addressof(self.memory) + 63) // 64 * 64
        self.words = (ctypes.c_int64 * (HEAD + EACH * MOST)).from_address(self.base)


class _Code:
    """Writes the two functions."""

    def __init__(self, shared: Shared):
        self.base = shared.base
        self.module = ir.Module("autodiff_compiler_pool")
        self.module.triple = llvm.get_process_triple()
        number = ir.IntType(32)
        self.acquire = ir.Function(self.module, ir.FunctionType(number, [POINTER, number]), "PyThread_acquire_lock")
        self.release = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [POINTER]), "PyThread_release_lock")
        self.share = self.shared_work()
        self.run()
        self.work()

    def begin(self, kind: Any, name: str) -> tuple[Any, Any]:
        function = ir.Function(self.module, kind, name)
        return function, ir.IRBuilder(function.append_basic_block())

    def at(self, b: Any, index: Any) -> Any:
        """The place of a word."""
        offset = b.mul(index, word(8)) if not isinstance(index, int) else word(8 * index)
        return b.inttoptr(b.add(word(self.base), offset), WORD.as_pointer())

    def of(self, b: Any, thread: Any, which: int) -> Any:
        """The place of a word of a thread."""
        return self.at(b, b.add(b.mul(thread, word(EACH)), word(HEAD + which)))

    def load(self, b: Any, place: Any) -> Any:
        return b.load_atomic(place, "seq_cst", 8)

    def store(self, b: Any, value: Any, place: Any) -> None:
        b.store_atomic(value, place, "seq_cst", 8)

    def exchange(self, b: Any, place: Any, value: int) -> Any:
        return b.atomic_rmw("xchg", place, word(value), "seq_cst")

    def replace(self, b: Any, place: Any, old: int, new: int) -> Any:
        """Put `new` in the place of `old`; whether it was there."""
        return b.extract_value(b.cmpxchg(place, word(old), word(new), "seq_cst", "seq_cst"), 1)

    def is_(self, b: Any, value: Any, wanted: int) -> Any:
        return b.icmp_signed("==", value, word(wanted))

    def lock(self, b: Any, thread: Any, which: int) -> Any:
        return b.inttoptr(self.load(b, self.of(b, thread, which)), POINTER)

    def sleep(self, b: Any, thread: Any, which: int) -> None:
        b.call(self.acquire, [self.lock(b, thread, which), ir.Constant(ir.IntType(32), 1)])

    def shared_work(self) -> Any:
        """Run the parts that nobody has begun, one after the other."""
        function, b = self.begin(ir.FunctionType(ir.VoidType(), []), "share")
        function.linkage = "internal"
        parts = self.load(b, self.at(b, PARTS))
        code = b.inttoptr(self.load(b, self.at(b, CODE)), PART.as_pointer())
        data = b.inttoptr(self.load(b, self.at(b, DATA)), POINTER)
        take, do, end = [b.append_basic_block(name) for name in ("take", "do", "end")]
        b.branch(take)
        b.position_at_end(take)
        part = b.atomic_rmw("add", self.at(b, NEXT), word(1), "seq_cst")
        b.cbranch(b.icmp_signed("<", part, parts), do, end)
        b.position_at_end(do)
        b.call(code, [data, part])
        b.branch(take)
        b.position_at_end(end)
        b.ret_void()
        return function

    def run(self) -> None:
        """Run all parts, alone or with threads."""
        function, b = self.begin(RUN_TYPE, RUN)
        code, data, parts, threads = function.args

        def least(x: Any, y: Any) -> Any:
            return b.select(b.icmp_signed("<", x, y), x, y)

        helpers = least(b.sub(threads, word(1)), least(self.load(b, self.at(b, THREADS)), b.sub(parts, word(1))))
        alone, ask, together = [b.append_basic_block(name) for name in ("alone", "ask", "together")]
        b.cbranch(b.icmp_signed("<=", helpers, word(0)), alone, ask)
        b.position_at_end(ask)
        b.cbranch(self.is_(b, self.exchange(b, self.at(b, BUSY), 1), 0), together, alone)
        b.position_at_end(alone)
        with cgutils.for_range(b, parts) as each:
            b.call(b.bitcast(code, PART.as_pointer()), [data, each.index])
        b.ret_void()
        b.position_at_end(together)
        for value, place in (
            (word(0), NEXT), (parts, PARTS), (b.ptrtoint(code, WORD), CODE), (b.ptrtoint(data, WORD), DATA),
        ):  # fmt: skip
            self.store(b, value, self.at(b, place))
        with cgutils.for_range(b, helpers) as each:
            old = self.exchange(b, self.of(b, each.index, STATE), POSTED)
            with b.if_then(self.is_(b, old, ASLEEP)):
                b.call(self.release, [self.lock(b, each.index, WAKE)])
        b.call(self.share, [])
        with cgutils.for_range(b, helpers) as each:
            self.wait_for(b, each.index)
        self.store(b, word(0), self.at(b, BUSY))
        b.ret_void()

    def wait_for(self, b: Any, thread: Any) -> None:
        """Wait until a thread is done. If it has not begun, it need not: all parts are begun."""
        state = self.of(b, thread, STATE)
        # It may have been woken up; then it finds itself awake, with nothing to do.
        with b.if_then(b.not_(self.replace(b, state, POSTED, AWAKE))):
            with cgutils.for_range(b, word(SPINS)) as look:
                runs = self.is_(b, self.load(b, state), RUNNING)
                with b.if_then(b.not_(runs)):
                    look.do_break()
            with b.if_then(self.replace(b, state, RUNNING, AWAITED)):
                self.sleep(b, thread, DONE)

    def work(self) -> None:
        """What a thread does, for ever."""
        function, b = self.begin(ir.FunctionType(ir.VoidType(), [WORD]), WORK)
        (thread,) = function.args
        state = self.of(b, thread, STATE)
        top, runs, rests = [b.append_basic_block(name) for name in ("top", "runs", "rests")]
        b.branch(top)
        b.position_at_end(top)
        b.cbranch(self.replace(b, state, POSTED, RUNNING), runs, rests)
        b.position_at_end(runs)
        b.call(self.share, [])
        old = self.exchange(b, state, AWAKE)
        with b.if_then(self.is_(b, old, AWAITED)):
            b.call(self.release, [self.lock(b, thread, DONE)])
        b.branch(rests)
        b.position_at_end(rests)
        with cgutils.for_range(b, word(SPINS)) as look, b.if_then(self.is_(b, self.load(b, state), POSTED)):
            look.do_break()
        with b.if_then(self.replace(b, state, AWAKE, ASLEEP)):
            self.sleep(b, thread, WAKE)
        b.branch(top)


def word(value: int) -> Any:
    return ir.Constant(WORD, value)


class Pool:
    """The threads of this process. Those of a program that asks for more are started; none ever ends."""

    def __init__(self) -> None:
        self.shared = Shared()
        self.lock = threading.Lock()
        python = ctypes.pythonapi
        for name in ("PyThread_acquire_lock", "PyThread_release_lock"):
            llvm.add_symbol(name, ctypes.cast(getattr(python, name), ctypes.c_void_p).value)
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        module = llvm.parse_assembly(str(_Code(self.shared).module))
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
        self.engine = llvm.create_mcjit_compiler(module, machine)
        self.engine.finalize_object()
        # A thread is in this code until the process ends, also when Python has let go of everything.
        python.Py_IncRef(ctypes.py_object(self.engine))
        python.Py_IncRef(ctypes.py_object(self.shared.memory))
        llvm.add_symbol(RUN, self.engine.get_function_address(RUN))
        self.work = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self.engine.get_function_address(WORK))
        python.Py_IncRef(ctypes.py_object(self.work))
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        """A child process has the memory of its parent, and none of its threads."""
        self.lock = threading.Lock()
        ctypes.memset(self.shared.base, 0, ctypes.sizeof(self.shared.words))

    def start(self, threads: int) -> None:
        """Have at least so many threads, besides those that ask."""
        words = self.shared.words
        threads = min(threads, MOST)
        if words[THREADS] >= threads:
            return
        with self.lock:
            for k in range(words[THREADS], threads):
                words[HEAD + EACH * k + WAKE], words[HEAD + EACH * k + DONE] = _taken_lock(), _taken_lock()
                words[HEAD + EACH * k + STATE] = AWAKE
                threading.Thread(target=self.work, args=(k,), name=f"autodiff-compiler-{k}", daemon=True).start()
                words[THREADS] = k + 1


def _taken_lock() -> int:
    """A lock of the interpreter that is taken, so that the next who takes it waits."""
    python = ctypes.pythonapi
    allocate = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", python))
    acquire = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(("PyThread_acquire_lock", python))
    made: int | None = allocate()
    if not made:
        raise MemoryError
    acquire(made, 1)
    return made


__all__ = ["PART", "POINTER", "RUN", "RUN_TYPE", "WORD", "Pool", "cgutils", "ir", "word"]
