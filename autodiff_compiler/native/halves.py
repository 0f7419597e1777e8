"""The text of a module whose forward sweep and pullback run as machine code, and as NumPy code where that cannot go on.

The entry makes copies of the arrays that it is given. Both programs read these, and nothing writes to them. So if the
pullback bails, the forward sweep runs once more on them, as NumPy code, and gives a pullback that goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..codegen.load import Emitted
from ..ir.core import Function
from .handover import Halves, Seed
from .lowering import Result
from .module import kinds_of, module_of, names_for, shown_results, too_large
from .nest import Name, Stacked
from .numba_text import Printer, text_of


def module_in_halves(
    fn: Function, halves: Halves, numpy: Emitted, name: str, result: Callable[[list[str]], str]
) -> Emitted:
    """A module with the function `name`, which gives the value and a function. `result` formats the results of that
    function. See `native.module.native_module`.
    """
    printer = Printer()
    forward, backward = halves.programs
    residuals = [
        (p.dtype, None) if isinstance(p, Name) else (p.dtype, p.axes, isinstance(p, Stacked)) for p in halves.saved
    ]
    texts = []
    for program, kinds in (
        (forward, [*kinds_of(halves.results[0]), *residuals]), (backward, kinds_of(halves.results[1])),
    ):  # fmt: skip
        printer.lines = []
        texts += ["", "", *text_of(program, kinds, printer)]
    entry = _entry(fn, halves, numpy.name, name, result)
    helpers = {"owned", "numpy_function", *(["is_plain"] if any("is_plain(" in line for line in entry) else [])}
    return module_of(numpy, [*texts, "", "", *entry], printer, halves.foreign, name, helpers)


def _entry(fn: Function, halves: Halves, numpy: str, name: str, result: Callable[[list[str]], str]) -> list[str]:
    """The function that callers see."""
    forward, backward = (program.name for program in halves.programs)
    inner = fn.meta.get("inner", "pullback")
    needed = {"np", "dense", "owned", "found", "saved", "again", "numpy_function", "is_plain", inner, numpy}
    count = len(fn.params) - fn.meta["seed_params"]
    names = names_for(fn.params, needed | {forward, backward})
    params, seeds = names[:count], names[count:]
    every = ", ".join(params)
    lines = [f"def {name}({every}):"]
    large = [params[k] for k in halves.taken if too_large(fn.params[k].type)]
    if large:
        lines += [f"    if {_outside(large)}:", f"        return {numpy}({every})"]
    lines += [f"    {p} = owned({p})" for p, x in zip(params, fn.params) if x.type.kind == "array"]
    given = ", ".join([params[k] for k in halves.taken])
    lines += [
        f"    found = {forward}({given}) if {backward}.stopped is None else None",
        "    if found is None:",
        f"        return {numpy}({every})",
    ]
    lines += _taken_apart(halves.results[0], set(names) | needed, "    ", bool(halves.saved))
    stacks = sum(isinstance(p, Stacked) for p in halves.saved)
    lines.append(f"    again = numpy_function({numpy}{''.join(f', {p}' for p in params)})")
    lines += ["", f"    def {inner}({', '.join(seeds)}):"]
    asked = [(s, seed) for s, seed in zip(seeds, halves.seeds) if seed is not None and seed.kind == "?"]
    plain = [s + (", True" if seed.dtype.kind == "c" else "") for s, seed in asked]
    if plain:
        lines += [
            f"        if {' or '.join([f'not is_plain({s})' for s in plain])}:",
            f"            return again({', '.join(seeds)})",
        ]
    args = ["*saved"] if halves.saved and not stacks else []
    if stacks:
        args = [f"*saved[:-{stacks}]", f"*map(list, saved[-{stacks}:])"]
        args = args[1:] if stacks == len(halves.saved) else args
    args += [_given(s, seed) for s, seed in zip(seeds, halves.seeds) if seed is not None]
    lines += [
        f"        found = {backward}({', '.join(args)})",
        "        if found is None:",
        f"            return again({', '.join(seeds)})",
        *_taken_apart(halves.results[1], set(names) | needed, "        ", False),
        f"        return {result(shown_results(halves.results[1], set(names) | needed)[1])}",
        "",
    ]
    outs = shown_results(halves.results[0], set(names) | needed)[1]
    lines.append(f"    return {outs[0] if len(outs) == 1 else '(' + ', '.join(outs) + ')'}, {inner}")
    return lines


def _outside(names: Sequence[str]) -> str:
    from .module import LARGE

    return " or ".join([f"not -{LARGE} < {p} < {LARGE}" for p in names])


def _taken_apart(results: Sequence[Result], taken: set[str], indent: str, has_saved: bool) -> list[str]:
    """The statement that gives names to what a program returns."""
    names = ["_", *shown_results(results, taken)[0], *(["*saved"] if has_saved else [])]
    return [f"{indent}{', '.join(names)} = found"] if len(names) > 1 else []


def _given(name: str, seed: Seed) -> str:
    if seed.kind == "array":
        return f"dense({name})"
    return name if seed.kind != "?" else f"complex({name})" if seed.dtype.kind == "c" else f"float({name})"
