"""The text of a module whose function runs as machine code, and as NumPy code where that cannot go on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..codegen.load import Emitted
from ..codegen.wrapping import wrapped
from ..ir.core import Function, Value
from ..ir.spelling import identifier
from ..ir.types import Ty
from ..records import replaced
from .lowering import Lowered, Result
from .nest import BOOL
from .numba_text import Printer, text_of
from .numbers import NotNative

LARGE = 1 << 40  # an int argument that is not smaller is left to NumPy


def native_module(
    fn: Function, lowered: Lowered, numpy: Emitted, name: str, result: Callable[[list[str]], str]
) -> Emitted:
    """A module with the function `name`: it calls the program that `fn` was lowered to, and the function in `numpy`
    where that bails. `result` formats the results.
    """
    printer = Printer()
    native = text_of(lowered.program, kinds_of(lowered.results), printer)
    if printer.loops:
        printer.helper("thread_count")
    lines = ["", "", *native, "", "", *_entry(fn, lowered, numpy.name, name, result, bool(printer.loops))]
    return module_of(numpy, lines, printer, lowered.foreign, name)


def kinds_of(results: Sequence[Result]) -> list[Any]:
    """The dtypes and numbers of axes of what a program returns, None for numbers."""
    kinds = [(r.dtype, r.axes if r.kind == "array" else None) for r in results]
    return kinds + [(BOOL, None) for r in results if r.kind == "?"]


def module_of(
    numpy: Emitted, native: Sequence[str], printer: Printer, calls: Sequence[Any], name: str,
    needed: Iterable[str] = (),
) -> Emitted:  # fmt: skip
    """The module with the function `name`, of NumPy code and what follows it, which is `native`.

    calls: the printers of calls of NumPy; needed: functions of `native.support`, beside those that `printer` knows
    """
    start = next(k for k, line in enumerate(numpy.lines) if line.startswith("def "))
    imports = _Imports("\n".join(numpy.lines[:start]))
    imports.add("numpy", "np")
    if any("dense(" in line for line in native):
        imports.add_names("autodiff_compiler.runtime", ["dense"])
    imports.add_names("autodiff_compiler.native.support", ["Native", "njit", *printer.helpers, *needed])
    objects = dict(numpy.objects)
    for called in calls:
        imports.add_printed(called)
        objects = {**called.objects, **objects}  # the name of an array says what it holds
    head = imports.lines()
    lines = [*head, "", "", *numpy.lines[start:]]
    for note in numpy.notes:
        note.at += len(head) + 2 - start if note.at >= 0 else 0
    lines += native
    return replaced(numpy, lines=lines, name=name, objects=objects)


def with_reason(numpy: Emitted, found: NotNative) -> Emitted:
    """A module of NumPy code with a comment that says why it is no machine code."""
    start = next(k for k, line in enumerate(numpy.lines) if line.startswith("def "))
    place = "" if found.op is None or found.op.loc is None else f", in line {found.op.loc.line}"
    lines = list(numpy.lines)
    lines.insert(start, f"# no machine code{place}: {found.why}")
    for note in numpy.notes:
        note.at += note.at >= start
    return replaced(numpy, lines=lines)


class _Imports:
    """The imports of a module. `text` are those of its NumPy code."""

    def __init__(self, text: str):
        self.modules: dict[str, str | None] = {}  # with the name by which each is known
        self.names: dict[str, set[str]] = {}
        for s in ast.parse(text).body:
            if isinstance(s, ast.ImportFrom):
                assert s.module is not None
                self.add_names(s.module, [ast.unparse(name) for name in s.names])
            else:
                assert isinstance(s, ast.Import)
                for name in s.names:
                    self.add(name.name, name.asname)

    def add(self, module: str, name: str | None = None) -> None:
        self.modules[module] = name

    def add_names(self, module: str, names: Iterable[str]) -> None:
        self.names.setdefault(module, set()).update(names)

    def add_printed(self, printer: Any) -> None:
        """What the text of a call needs."""
        if printer.imports_math:
            self.add("math")
        for module, names in printer.imports.items():
            self.add_names(module, names)
        self.add_names("autodiff_compiler.runtime", printer.helpers)

    def lines(self) -> list[str]:
        out = [
            f"import {module}" + ("" if name is None else f" as {name}")
            for module, name in sorted(self.modules.items())
        ]
        for module in sorted(self.names, key=lambda m: (m.startswith("autodiff_compiler"), m)):
            if self.names[module]:
                first = [name for name in ("Native", "njit") if name in self.names[module]]
                rest = sorted(self.names[module] - set(first))
                out += wrapped(f"from {module} import {', '.join([*first, *rest])}", 0)
        return out


def _entry(
    fn: Function, lowered: Lowered, numpy: str, name: str, result: Callable[[list[str]], str], has_threads: bool
) -> list[str]:
    """The function that callers see."""
    params = names_for(fn.params, {"np", "dense", "found", "thread_count", numpy, lowered.program.name})
    given, large = ["thread_count()"] if has_threads else [], []
    for k in lowered.taken:
        t, p = fn.params[k].type, params[k]
        given.append(f"dense({p})" if t.kind == "array" else p)
        if too_large(t):
            large.append(p)
    every = ", ".join(params)
    lines = [f"def {name}({every}):"]
    if large:
        lines.append(f"    if {' or '.join([f'not -{LARGE} < {p} < {LARGE}' for p in large])}:")
        lines.append(f"        return {numpy}({every})")
    names, shown = shown_results(lowered.results, {*params, "found"})
    lines.append(f"    found = {lowered.program.name}({', '.join(given)})")
    lines.append("    if found is None:")
    lines.append(f"        return {numpy}({every})")
    lines.append(f"    {', '.join(['_', *names])} = found")
    lines.append(f"    return {result(shown)}")
    return lines


def too_large(t: Ty) -> bool:
    """An argument of this type may have more bits than a program takes."""
    return t.kind == "py" and t.dtype is not None and t.dtype.kind == "i"


def shown_results(results: Sequence[Result], taken: set[str]) -> tuple[list[str], list[str]]:
    """Names for what a program returns, which are not `taken`; and the expressions of the results."""
    names = []
    for k in range(len(results)):
        stem = f"r{k}"
        while stem in taken:
            stem += "_"
        names.append(stem)
    flags = {k: f"is_numpys{k}" for k, r in enumerate(results) if r.kind == "?"}
    shown = []
    for k, (r, x) in enumerate(zip(results, names)):
        made = f"np.{r.dtype.name}({x})"
        shown.append(made if r.kind == "np" else f"({made} if {flags[k]} else {x})" if k in flags else x)
    return [*names, *flags.values()], shown


def names_for(params: Sequence[Value], needed: set[str]) -> list[str]:
    """Names for parameters: those of the user where they are not taken, or `needed`."""
    out: list[str] = []
    for k, p in enumerate(params):
        stem = identifier(p.hint or f"x{k}", f"x{k}")
        while stem in out or stem in needed:
            stem += "_"
        out.append(stem)
    return out


__all__ = ["kinds_of", "module_of", "names_for", "native_module", "shown_results", "too_large", "with_reason"]
