"""``explain``: what the compiler found out about a function, and what its derivative costs and meets."""

from __future__ import annotations

import copy
import linecache
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import AutodiffError, is_interruption
from ..ir.core import DERIVED, Function, Op, Region, Value, leaves, type_of
from ..ir.opset import KEEP_WITHIN, PUSH, REVERSAL, SEGMENT, SNAPSHOT_FILE, SNAPSHOTS
from ..lowered import Lowered, bind_arguments, fetch
from ..tracebacks import trimmed
from .transforms import Transformed, differentiated, innermost, lower_any

LONGEST = 20.0  # seconds: the interpreter is far slower than emitted code


class Explanation(str):
    """A text that a prompt shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _TooLong(Exception):
    """The run is given up."""


@trimmed
def explain(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """What happens when `fun` is differentiated at these arguments, as a text with these parts.

    ``active``:  the values that carry a derivative, by line.
    ``saved``:   what the forward sweep saves for the backward sweep, how often and how many bytes.
    ``loops``:   for each loop, what is kept at a time: all that is saved, segments, or snapshots.
    ``lowered more than once``: what was unrolled, split or made static, and why.
    ``of unknown type``: the values of which the compiler does not know what they are, and the call that made them so.
    ``example by example``: of a function of stacks, why it runs once for each example.
    ``nan and inf``: where one first appears in the forward sweep, and where in the backward sweep.
    ``machine code``: of a gradient with ``backend="native"``: what of it is machine code, or why nothing is.

    fun: a function, or a gradient, which says by which arguments it differentiates. A function is differentiated by all
        arguments that hold floats.

    The function and its derivative run once, in the reference interpreter. So it is slow, and what the function prints
    is printed. Raises what `grad` raises for code that cannot be differentiated.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> text = ad.explain(lambda x: np.sum(np.log(x)), np.array([1.0, 0.0]))
    >>> [line.strip() for line in text.splitlines() if "first" in line]
    ['forward sweep: -inf first in np.log, line 1', 'backward sweep: inf first in /, line 1']
    """
    from .compiler import pipeline

    argnums: Any = None
    primal, budget = fun, None if not isinstance(fun, Transformed) else fun.options.max_residual_bytes
    if isinstance(fun, Transformed) and fun.is_derivative:
        argnums, primal = fun.argnums, fun.primal
    lowered = lower_any(primal, args, kwargs)
    if argnums is None:
        argnums = tuple(range(len(args)))
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    wanted, _ = differentiated(primal, lowered, several, args, kwargs, exact=True)
    reasons = list(lowered.reasons)
    parts = [_heading(lowered, wanted.wrt), _active(lowered, wanted.wrt)]
    seeds = [None if type_of(r).may_be_float else 0.0 for r in lowered.function.results]
    adjoint = pipeline.adjoint(lowered.function, wanted.wrt, seeds=seeds, keep_results=True, budget=budget)
    run = _run(primal, lowered, adjoint, args, kwargs)
    parts += [_saved(run), _loops(run)]
    if reasons:
        parts.append("lowered more than once\n" + "\n".join(f"  {n}. {text}" for n, text in enumerate(reasons, 1)))
    if lowered.alone:
        parts.append(f"example by example\n  {lowered.alone}")
    parts += [_unknown(lowered), _not_finite(run)]
    if isinstance(fun, Transformed) and fun.options.backend == "native":
        parts.append(_machine_code(str(fun.source(*args, **kwargs)), fun.options.parallel))
    return Explanation("\n\n".join(part for part in parts if part))


# --- the function -----------------------------------------------------------------------------------------------------


def _heading(lowered: Lowered, wrt: list[int]) -> str:
    loc = lowered.loc
    where = "" if loc is None else f", {loc.file}:{loc.line}"
    names = ", ".join([f"{lowered.inputs[k].name}: {lowered.inputs[k].type}" for k in wrt])
    return f"{lowered.function.name}{where}\n  differentiated by {names or 'nothing'}"


def _machine_code(source: str, parallel: bool) -> str:
    """What the text of a module says of its program."""
    lines = source.splitlines()
    refused = [line.removeprefix("# no machine code") for line in lines if line.startswith("# no machine code")]
    if refused:
        return f"machine code\n  none{refused[0]}"
    heads = [k for k, line in enumerate(lines) if line.startswith("@in_python(")]
    calls = [lines[k + 2].strip().removeprefix("return ").removeprefix("found = ") for k in heads]
    rows = [f"  {text}" for text in dict.fromkeys(calls)]
    loops = sum(line.strip().startswith("if in_parts(") for line in lines)
    rows += [f"  loops that threads run in parts: {loops}"] if parallel else []
    return "\n".join(["machine code", "  all of it" if not calls else "  all but these calls of NumPy:", *rows])


def _line(op: Op | None) -> str:
    return "" if op is None or op.loc is None else f"line {op.loc.line}"


def _statement(op: Op) -> str:
    return "" if op.loc is None else linecache.getline(op.loc.file, op.loc.line).strip()


def _by_line(ops: Iterator[tuple[Op, str]]) -> list[str]:
    """A row for each line of the program, with the texts for it."""
    rows: dict[tuple[str, int], tuple[str, list[str]]] = {}
    for op, text in ops:
        if op.loc is not None:
            found = rows.setdefault((op.loc.file, op.loc.line), (_statement(op), []))[1]
            if text and text not in found:
                found.append(text)
    out = []
    for (_, line), (statement, texts) in sorted(rows.items()):
        out.append(f"  line {line}: {statement}")
        out += [f"      {', '.join(texts)}"] if texts else []
    return out


def _active(lowered: Lowered, wrt: list[int]) -> str:
    from ..analysis.activity import activity

    body = lowered.function.body
    active, _ = activity(body, [body.params[k] for k in wrt])

    def found() -> Iterator[tuple[Op, str]]:
        for op in body.walk():
            for r in op.results:
                if r in active:
                    yield op, f"{r.hint}: {r.type}" if r.hint else ""

    rows = _by_line(found())
    return "\n".join(["active", *rows]) if rows else "active\n  nothing: the derivative is zero"


def _unknown(lowered: Lowered) -> str:
    """The operations whose result has no known type, though their operands have one."""

    def found() -> Iterator[tuple[Op, str]]:
        for op in lowered.function.body.walk():
            if op.regions or any(v.type.kind == "any" for v in leaves(op.args)):
                continue
            for r in op.results:
                if r.type.kind == "any":
                    yield op, f"{r.hint or 'the value'} from {op.prim.name}"

    rows = _by_line(found())
    return "\n".join(["of unknown type", *rows]) if rows else ""


# --- the run ----------------------------------------------------------------------------------------------------------


@dataclass
class _Run:
    """What was seen when the derivative ran.

    pushed:  by the operation that saves a value in an iteration, the bytes of each
    kept:    the values outside of loops that the backward sweep reads, and their bytes
    plans:   by the line of a loop, what is kept of it at a time, where that is not all
    files:   by the line of a loop, how many snapshots may be on disk
    nan:     by sweep, the first operation whose result is not finite though its operands are, and the number
    failed:  why the run ended early
    """

    loops: dict[Op, Op] = field(default_factory=dict)
    pushed: dict[Op, list[int]] = field(default_factory=dict)
    kept: dict[Value, int] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)
    files: dict[str, int] = field(default_factory=dict)
    nan: dict[str, tuple[Op, str]] = field(default_factory=dict)
    failed: str = ""


def _run(primal: Any, lowered: Lowered, adjoint: Function, args: Any, kwargs: Any) -> _Run:
    from ..ir.interp import interpret, watched

    run = _Run()
    backward = _backward_ops(adjoint.body)
    wanted = _read_by(adjoint.body, backward)
    for op in adjoint.body.walk():
        for region in op.regions:
            for inner in region.ops:
                run.loops[inner] = op
    end = time.perf_counter() + LONGEST

    def look(op: Op, operands: Any, results: Any) -> None:
        if time.perf_counter() > end:
            raise _TooLong
        if op.prim is PUSH:
            run.pushed.setdefault(op, []).append(_bytes(operands[1]))
            return
        if op.prim in _PLANS and (plan := _PLANS[op.prim](operands, results)):
            run.plans.setdefault(_line(op), plan)
        if op.prim is SNAPSHOT_FILE:
            run.files[_line(op)] = operands[0]
        for value, result in zip(op.results, results):
            if value in wanted:
                run.kept[value] = _bytes(result)
        sweep = "backward" if op in backward else "forward"
        if sweep not in run.nan and (odd := _odd(results)) and not _odd(operands):
            run.nan[sweep] = op, odd

    _, values, _ = bind_arguments(innermost(primal), *copy.deepcopy((args, kwargs)))
    inputs = [fetch(item.path, tuple(values)) for item in lowered.inputs]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            results = interpret(lowered.function, copy.deepcopy(inputs))
            seeds = [_ones(r) for r in results if _has_cotangent(r)]
            with watched(look):
                interpret(adjoint, [*inputs, *seeds[: len(adjoint.params) - len(inputs)]])
        except _TooLong:
            run.failed = f"the run took more than {LONGEST:g} seconds, and was given up"
        except Exception as error:
            if is_interruption(error) and not isinstance(error, AutodiffError):
                raise
            run.failed = f"the run ended with {type(error).__name__}: {error}"
    return run


def _has_cotangent(r: Any) -> bool:
    """The result has a cotangent."""
    if isinstance(r, list):
        return True
    return isinstance(r, (float, complex, np.ndarray, np.inexact)) and np.result_type(r).kind in "fc"


def _ones(r: Any) -> Any:
    return [_ones(x) for x in r] if isinstance(r, list) else np.ones_like(r) if isinstance(r, np.ndarray) else 1.0


def _backward_ops(body: Region) -> set[Op]:
    """The operations of the backward sweep."""
    out: set[Op] = set()
    for op in body.ops:
        if op.tag == DERIVED:
            out.add(op)
            for region in op.regions:
                out.update(region.walk())
    return out


def _read_by(body: Region, backward: set[Op]) -> set[Value]:
    """The values of the forward sweep, outside of loops, whose content the backward sweep reads."""
    made = {r for op in body.ops if op not in backward for r in op.results}
    found: set[Value] = set()
    for op in backward:
        for k, arg in enumerate(op.args if op.prim is not PUSH else ()):
            if k not in op.prim.shape_only:
                found.update(v for v in leaves(arg) if v in made and v.type.kind in ("array", "list", "any"))
    return found


def _bytes(x: Any) -> int:
    if isinstance(x, (np.ndarray, np.generic)):
        return int(x.nbytes)
    if isinstance(x, (list, tuple)):
        return sum(map(_bytes, x))
    return 16 if isinstance(x, complex) else 8


def _odd(xs: Any) -> str:
    """The first of nan and inf in a value: empty if all are finite."""
    if isinstance(xs, (tuple, list)):
        return next((odd for odd in map(_odd, xs) if odd), "")
    if not isinstance(xs, (float, complex, np.ndarray, np.inexact)) or np.result_type(xs).kind not in "fc":
        return ""
    values = np.ravel(xs)
    bad = values[~np.isfinite(values)]
    if not len(bad):
        return ""
    return "nan" if np.isnan(bad[0]) else str(bad[0])


def _saved(run: _Run) -> str:
    rows = []
    for op, sizes in run.pushed.items():
        value = op.args[1]
        name = f"{value.hint or 'a value'}: {value.type}" if type(value) is Value else repr(value)
        around = _loop_around(run, op)
        # A loop stands at the line of its statement.
        where = _line(around) or _line(op)
        place = f"in each iteration of the loop, {where}" if around is not None else where
        rows.append(f"  {name}, {place}: {len(sizes)} times, {sum(sizes)} bytes")
    for value, size in run.kept.items():
        where = _line(value.op)
        rows.append(f"  {value.hint or 'a value'}: {value.type}, once{', ' + where if where else ''}: {size} bytes")
    total = sum(map(sum, run.pushed.values())) + sum(run.kept.values())
    if run.failed:
        rows.append(f"  ({run.failed})")
    return "\n".join([f"saved: {total} bytes", *rows])


def _loop_around(run: _Run, op: Op) -> Op | None:
    around = run.loops.get(op)
    while around is not None and around.prim.name != "loop" and around in run.loops:
        around = run.loops[around]
    return around


# What is kept of a loop, by the operation that decides it.
_PLANS: dict[Any, Callable[[Any, Any], str]] = {
    SEGMENT: lambda given, made: f"the start of each segment of {made[0]} iterations, and all of one segment",
    SNAPSHOTS: lambda given, made: f"{_snapshots(max(1, len(made[0]) - 1))}, and all of {_iterations(given[2])}",
    REVERSAL: lambda given, made: f"at most {_snapshots(given[2])}, and all of {_iterations(given[3])}",
    KEEP_WITHIN: lambda given, made: (
        ""
        if made[0]
        else f"the start of each segment of {made[1]} iterations, and all of one segment"
        if given[0] is None
        else f"at most {_snapshots(made[2])}, and all of {_iterations(made[1])}"
    ),
}


def _snapshots(count: int) -> str:
    return f"{count} snapshot{'s' * (count > 1)}"


def _iterations(count: int) -> str:
    return "one iteration" if count == 1 else f"{count} iterations"


def _number(row: tuple[str, str]) -> int:
    return int(row[0].split()[-1]) if row[0] else 0


def _loops(run: _Run) -> str:
    """What is kept of each loop at a time."""
    rows = dict(run.plans)
    for line, count in run.files.items():
        rows[line] = f"{rows[line]}; at most {count} of the snapshots on disk"
    for op in run.pushed:
        loop = _loop_around(run, op)
        if loop is not None and op.tag != DERIVED:
            rows.setdefault(_line(loop) or _line(op), "all; grad with max_residual_bytes=... keeps less")
    found = [f"  {line or 'a loop'}: {what}" for line, what in sorted(rows.items(), key=_number)]
    return "\n".join(["loops", *found]) if found else ""


def _not_finite(run: _Run) -> str:
    rows = []
    for sweep in ("forward", "backward"):
        if sweep in run.nan:
            op, odd = run.nan[sweep]
            place = f", {_line(op)}" if op.loc is not None else ""
            rows.append(f"  {sweep} sweep: {odd} first in {op.prim.name}{place}")
            rows += [f"      {_statement(op)}"] if _statement(op) else []
    if not rows:
        return "nan and inf\n  none" if not run.failed else ""
    return "\n".join(["nan and inf", *rows])


__all__ = ["Explanation", "explain"]
