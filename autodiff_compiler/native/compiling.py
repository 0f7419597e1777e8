"""The compiler that programs have in Numba: `native.translation` in the place of Numba's Python passes.

Numba keeps what is around it: which types a call has, what Python needs to call a function, LLVM, and the machine code.
"""

from __future__ import annotations

import gc
import logging
import threading
from types import SimpleNamespace
from typing import Any

from numba.core import compiler, compiler_machinery, typed_passes
from numba.core import ir as numba_ir

from .translation import Translation, result_type, tree_of
from .values import NoProgram, Unknown

LOG = logging.getLogger("autodiff_compiler")
LEFT: list[str] = []  # the programs that are left to Numba, with the reason: a gap of ours


class _Translating(typed_passes.BaseNativeLowering):
    """Writes the instructions of a program, and gives them to LLVM."""

    _name: Any = "translating_a_program"

    @property
    def lowering_class(self) -> Any:
        return self._lowering

    def run_pass(self, state: Any) -> bool:
        function = state.func_id.func
        try:
            tree = tree_of(function)
            names = [arg.arg for arg in tree.args.args]
            state.return_type = result_type(function, tree)
            state.typemap = {f"arg.{name}": kind for name, kind in zip(names, state.args, strict=True)}
            state.calltypes = {}
            state.func_ir = SimpleNamespace(
                func_id=state.func_id, arg_names=names, blocks={0: None}, generator_info=None,
                loc=numba_ir.unknown_loc,
            )  # fmt: skip
            self._lowering = type("Translation", (Translation,), {"tree": tree})
            return super().run_pass(state)  # type: ignore[no-untyped-call, no-any-return]
        except Exception as error:
            if not isinstance(error, NoProgram):
                LEFT.append(f"{function.__name__}: {type(error).__name__}: {error}")
                LOG.debug("%s is left to Numba", function.__name__, exc_info=True)
            state.library = state.func_ir = state.typemap = state.calltypes = state.return_type = None
            raise Unknown from error


compiler_machinery.register_pass(mutates_CFG=True, analysis_only=False)(_Translating)  # type: ignore[no-untyped-call]


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
    """Numba's compiler of programs, and of what programs call."""

    is_ours = False

    def compile_extra(self, func: Any) -> Any:
        with _no_collection:
            try:
                self.is_ours = True
                return super().compile_extra(func)  # type: ignore[no-untyped-call]
            except Unknown:
                self.is_ours = False
                return super().compile_extra(func)  # type: ignore[no-untyped-call]

    def define_pipelines(self) -> list[Any]:
        if not self.is_ours:
            return super().define_pipelines()  # type: ignore[no-untyped-call, no-any-return]
        ours = compiler_machinery.PassManager("program")  # type: ignore[no-untyped-call]
        ours.add_pass(_Translating, "translate a program")  # type: ignore[no-untyped-call]
        ours.add_pass(typed_passes.NoPythonBackend, "what Python needs")  # type: ignore[no-untyped-call]
        ours.finalize()  # type: ignore[no-untyped-call]
        return [ours]


__all__ = ["LEFT", "Program"]
