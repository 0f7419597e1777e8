"""Functions with a signature that is given as text."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# Parameters that systems have and that change nothing here.
UNUSED = frozenset(("name", "layout", "out", "validate_args"))


@functools.cache
def parameters(signature: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a signature, each with how it is passed on.

    >>> parameters("x, axis=None, *, dtype=None, name=None")
    (('x', 'x'), ('axis', 'axis'), ('dtype', 'dtype=dtype'))
    """
    function: Any = ast.parse(f"def f({signature}): pass").body[0]
    given = function.args
    found = [(a.arg, a.arg) for a in (*given.posonlyargs, *given.args)]
    if given.vararg:
        found.append((given.vararg.arg, f"*{given.vararg.arg}"))
    found += [(a.arg, f"{a.arg}={a.arg}") for a in given.kwonlyargs]
    if given.kwarg:
        found.append((given.kwarg.arg, f"**{given.kwarg.arg}"))
    return tuple([pair for pair in found if pair[0] not in UNUSED])


def settings(signature: str) -> str:
    """The parameters that say which array is made, as a tuple's items: all but the dtype and the options.

    >>> settings("start, end=None, *, dtype=None, **options")
    'start, end,'
    """
    return "".join(f"{name}, " for name, _ in parameters(signature) if name not in ("dtype", "ctx", "options")).strip()


@functools.cache
def _code(signature: str, body: str) -> types.CodeType:
    passed = parameters(signature)
    text = body.format(*[name for name, _ in passed], all=", ".join(text for _, text in passed))
    lines = "".join(f"    {line}\n" for line in text.splitlines())
    scope: dict[str, Any] = {"inf": float("inf")}
    exec(compile(f"def made({signature}):\n{lines}", "<operation>", "exec"), scope)
    made: types.FunctionType = scope["made"]
    return made.__code__


@functools.cache
def _defaults(signature: str) -> tuple[Any, Any]:
    scope: dict[str, Any] = {"inf": float("inf")}
    exec(f"def made({signature}): pass", scope)
    return scope["made"].__defaults__, scope["made"].__kwdefaults__


def function(
    name: str, signature: str, body: str, scope: Mapping[str, Any], doc: str, module: str
) -> Callable[..., Any]:  # fmt: skip
    """A function of this name and signature, so that help, completion and wrong arguments are as with any other.

    body: its statements, in which ``{0}``, ``{1}`` stand for the parameters and ``{all}`` for all that are passed on.
    scope: the names in it.

    >>> twice = function("twice", "x, by=2", "return times({all})", {"times": lambda x, by: x * by}, "`x` again.", "m")
    >>> twice(3), twice(3, by=4), twice.__doc__
    (6, 12, '`x` again.')
    """
    code = _code(signature, body)
    made = types.FunctionType(code.replace(co_name=name), {**scope, "__name__": module}, name)
    made.__defaults__, made.__kwdefaults__ = _defaults(signature)
    made.__qualname__, made.__doc__, made.__module__ = name, doc, module
    return made


def also_named(f: F, names: Mapping[str, str]) -> F:
    """The function, in calls of which keywords may have other names: ``{"axis": "dim"}`` takes `axis` for `dim`.

    If it has none of these parameters, it stays as it is.
    """
    code: types.CodeType = f.__code__
    params = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    there = [(name, own) for name, own in names.items() if own in params]
    if not there:
        return f

    @functools.wraps(f)
    def renaming(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for name, own in there:
                if name in kwargs and own not in kwargs:
                    kwargs[own] = kwargs.pop(name)
        return f(*args, **kwargs)

    return renaming  # type: ignore[return-value]


def named(name: str, f: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A function that was made, with its name and what `help` says of it."""
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return f
