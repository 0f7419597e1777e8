"""Derivatives that functions under ``numba.njit`` call.

Numba asks an object that it does not know for its ``_numba_type_``, and a derivative gives that of a function of
Numba's. For the types of a call, the derivative is compiled as with ``backend="native"``. The caller gets a function
around its program, with the checks of arguments that calls from Python make. Where the program bails, and where an
argument does not fit it, Numba calls the derivative as Python code.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> import numba                                                            # doctest: +SKIP
>>> def cost(x, a):
...     return np.sum((x * x - a) ** 2)
>>> slope = ad.grad(cost)
>>> @numba.njit                                                             # doctest: +SKIP
... def descend(x, a, steps):
...     for _ in range(steps):
...         x = x - 0.01 * slope(x, a)
...     return x
>>> descend(np.ones(3), np.array([2.0, 3.0, 4.0]), 500)                     # doctest: +SKIP
array([1.41421356, 1.73205081, 2.        ])
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..codegen.load import load
from ..errors import AutodiffError
from ..ir.types import Dim, Dims

if TYPE_CHECKING:
    from .transforms import Transformed

_callers: weakref.WeakKeyDictionary[Transformed, Any] = weakref.WeakKeyDictionary()


def caller_of(derivative: Transformed) -> Any:
    """A function of Numba's that calls the derivative, with arguments of any types."""
    found = _callers.get(derivative)
    if found is not None:
        return found
    import numba
    from numba.extending import overload

    def call(*args: Any) -> Any:
        return derivative(*args)

    def call_for_types(*args: Any) -> Any:
        return implementation(derivative, args)

    call_for_types.__annotations__.clear()  # Numba compares the parameters with those of what it gets
    overload(call)(call_for_types)

    @numba.njit
    def caller(*args: Any) -> Any:
        return call(*args)

    _callers[derivative] = caller
    return caller


def numba_type(derivative: Transformed) -> Any:
    """What Numba calls the type of a derivative."""
    import numba

    return numba.typeof(caller_of(derivative))  # type: ignore[no-untyped-call]


def implementation(derivative: Transformed, types: tuple[Any, ...]) -> Callable[..., Any]:
    """The function that Numba compiles for a call with arguments of these types. Raises Numba's TypingError."""
    from numba.core.errors import TypingError

    from ..native import support

    name = derivative.__name__
    try:
        if support.AS_PYTHON:
            raise NotInside(f"with {support.VARIABLE}=python, there is no machine code")
        examples = tuple([example(t) for t in types])
        twin = derivative._with_backend("native")
        entry = twin._dispatch.make(*twin._dispatch.bind(examples, {}), [], [])
        return _Text(derivative, entry, types).function()
    except NotInside as error:
        raise TypingError(f"{name} cannot be called inside of a function that Numba compiles: {error}") from None
    except AutodiffError as error:
        raise TypingError(f"{name}: {error}") from None


class NotInside(Exception):
    """Why a derivative has no form that Numba compiles."""


def example(t: Any) -> Any:
    """A value of a type of Numba's."""
    from numba import types

    t = types.unliteral(t)  # type: ignore[no-untyped-call]
    if isinstance(t, types.Boolean):
        return True
    if isinstance(t, types.Integer):
        return 2
    if t == types.float64:
        return 0.5
    if isinstance(t, types.Array) and isinstance(t.dtype, (types.Float, types.Integer, types.Boolean)):
        return np.ones((2,) * t.ndim, np.dtype(str(t.dtype)))
    raise NotInside(f"there is no machine code for an argument of the type {t}")


class _Text:
    """The text of the function around a program."""

    def __init__(self, derivative: Transformed, entry: Any, types: tuple[Any, ...]) -> None:
        self.derivative = derivative
        self.entry = entry
        self.types = types
        self.run = entry.run
        namespace = getattr(self.run, "__wrapped__", self.run).__globals__
        self.programs = {name: x for name, x in namespace.items() if type(x).__name__ == "Native"}
        if not self.programs:
            source = str(self.run.__autodiff_source__)
            why = [line for line in source.splitlines() if line.startswith("# no machine code")]
            raise NotInside(why[0][2:] if why else "it has no machine code")
        for guard in entry.lowered.guards:
            if guard.path and guard.path[0][0] == "arg" and guard.path[-1] == ("attr", "writeable"):
                raise NotInside("the function writes to an argument; let it begin with a copy, u = u.copy()")
            if guard.path and guard.path[0][0] == "arg":
                raise NotInside("its code depends on the value of an argument")

    def function(self) -> Callable[..., Any]:
        tree = ast.parse(self.run.__autodiff_source__)
        (entry,) = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == self.derivative.__name__]
        params = [arg.arg for arg in entry.args.args]
        namespace = self.namespace()
        given = self.given()
        returned = entry.body[-1]
        (call,) = [s for s in entry.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "found"]
        (taken,) = [s for s in entry.body if isinstance(s, ast.Assign) and ast.unparse(s.value) == "found"]
        assert isinstance(returned, ast.Return) and isinstance(taken.targets[0], ast.Tuple)
        results = [ast.unparse(x) for x in taken.targets[0].elts[1:]]
        structure(returned.value)
        used = [name for name in results if name in names_in(returned)]
        (program,) = self.programs.values()
        kinds = example_results(program)
        namespace.update({f"type_of_{name}": kind for name, kind in zip(results, kinds)})
        args = ", ".join([f"a{k}" for k in range(len(self.types))])
        typed = ", ".join([f"{name}=type_of_{name}" for name in used])
        shown = ast.unparse(returned)
        checks, fits = self.checks([f"a{k}" for k in range(len(self.types))])
        large = [ast.unparse(s.test) for s in entry.body if isinstance(s, ast.If) and "found" not in names_in(s.test)]
        lines = [
            f"def by_python({args}):",
            f"    with objmode({typed}):",
            f"        {', '.join(used)}, = in_python({args})",
            f"    {shown}",
            "",
            "",
            "def by_program(*args):",
            f"    {args}, = args",
            *[f"    {line}" for line in checks],
            *[f"    {p} = {text}" for p, text in zip(params, given)],
            *[f"    if {test}:\n        return by_python({args})" for test in ([fits] if fits else []) + large],
            f"    {ast.unparse(call)}".replace("dense(", "contiguous("),
            f"    if not found[0]:\n        return by_python({args})",
            f"    {ast.unparse(taken)}",
            f"    {shown}",
        ]
        order = [results.index(name) for name in used]
        namespace["in_python"] = python_call(self.derivative, [kinds[k] for k in order], shape_of(returned.value, used))
        return self.compiled("\n".join(lines), namespace)

    def compiled(self, text: str, namespace: dict[str, Any]) -> Callable[..., Any]:
        loaded = load(f"{text}\n\n\ndef both():\n    return by_python, by_program\n", "both", namespace)
        by_python, by_program = loaded()
        by_python.__module__ = None  # so Numba looks for names among the function's globals
        by_program.__globals__["by_python"] = namespace["njit"](by_python)
        return by_program  # type: ignore[no-any-return]

    def namespace(self) -> dict[str, Any]:
        import numba

        from ..native import support

        found: dict[str, Any] = {name: program.run for name, program in self.programs.items()}
        if self.derivative.options.parallel:
            found["thread_count"] = support.thread_count_inside()
        return {**found, "np": np, "objmode": numba.objmode, "njit": support.njit, "contiguous": np.ascontiguousarray}

    def given(self) -> list[str]:
        """The arguments that the parameters of the emitted function are."""
        out = []
        for item in self.entry.lowered.inputs:
            if len(item.path) == 1 and item.path[0][0] == "arg":
                out.append(f"a{item.path[0][1]}")
                continue
            raise NotInside(f"it reads {item.name!r}, which is no argument")
        return out

    def checks(self, args: list[str]) -> tuple[list[str], str]:
        """Statements that name lengths, and the condition under which arguments do not fit."""
        lines: list[str] = []
        fails: list[str] = []
        roots: set[int] = set()
        for item in self.entry.lowered.inputs:
            for axis, d in enumerate(item.type.dims or ()) if item.key[0] == "array" else ():
                here = f"{args[item.path[0][1]]}.shape[{axis}]"
                if not isinstance(d, Dim):
                    fails.append(f"{here} != {d}")
                elif d.root in roots:
                    fails.append(f"{here} != n{d.root}")
                else:
                    roots.add(d.root)
                    lines.append(f"n{d.root} = {here}")
                    fails.append(f"n{d.root} < 2")
        known: Dims = self.entry.lowered.function.body.dims
        for root, (terms, divisor) in known.derived.items():
            lines.append(f"n{root} = ({total(terms)}) // {divisor}")
        fails += [f"{total(terms)} < {least}" for terms, least in known.at_least]
        fails += [f"({length(a)} == {length(b)}) != {equal}" for a, b, equal in known.assumed]
        fails += [f"({count(a)} <= {count(b)}) != {answer}" for a, b, answer in known.smaller]
        fails += [f"{length(a)} != {length(b)}" for a, b in known.constraints]
        return lines, " or ".join(fails)


def total(terms: Any) -> str:
    return " + ".join([f"{c}" if root is None else f"{c} * n{root}" for root, c in terms]) or "0"


def length(d: Any) -> str:
    return str(d) if isinstance(d, int) else f"max(n{d.root} - {d.off}, 0)"


def count(shapes: Any) -> str:
    return " + ".join([" * ".join(["1", *map(length, dims)]) for dims in shapes]) or "0"


def names_in(node: Any) -> set[str]:
    return {x.id for x in ast.walk(node) if isinstance(x, ast.Name)}


def structure(node: Any) -> None:
    """Numba has numbers, arrays and tuples of them."""
    for x in ast.walk(node):
        if isinstance(x, (ast.Dict, ast.List)) or (
            isinstance(x, ast.Call) and not ast.unparse(x.func).startswith("np.")
        ):
            raise NotInside("its result is no number, array or tuple of such")


def shape_of(node: Any, used: list[str]) -> Any:
    """The tuples of a result, with the places in `used` of its numbers and arrays."""
    if isinstance(node, ast.Tuple):
        return tuple([shape_of(x, used) for x in node.elts])
    found = [name for name in used if name in names_in(node)]
    if not found:
        raise NotInside("a part of its result is a constant")
    return used.index(found[0])


def example_results(program: Any) -> list[Any]:
    """The types of Numba's of the results of a program."""
    import numba

    bail = program.run.py_func.__globals__[f"{program.__name__}_bail"]
    bail = getattr(bail, "py_func", bail)
    as_python = FunctionType(bail.__code__, {**bail.__globals__, "buffer": np.empty})
    return [numba.typeof(x) for x in as_python()[1:]]  # type: ignore[no-untyped-call]


def python_call(derivative: Transformed, kinds: list[Any], shape: Any) -> Callable[..., Any]:
    """The derivative as Python code calls it, whose numbers and arrays are in one tuple, of these types."""
    from numba import types

    def place(result: Any, shape: Any, out: list[Any]) -> None:
        if isinstance(shape, tuple):
            for part, inner in zip(result, shape, strict=True):
                place(part, inner, out)
        else:
            kind = kinds[shape]
            is_array = isinstance(kind, types.Array)
            out[shape] = np.ascontiguousarray(result, np.dtype(str(kind.dtype))) if is_array else result

    def in_python(*args: Any) -> Any:
        out: list[Any] = [None] * len(kinds)
        place(derivative(*args), shape, out)
        return tuple(out)

    return in_python


__all__ = ["NotInside", "numba_type"]
