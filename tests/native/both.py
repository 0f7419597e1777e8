"""Runs a gradient with both backends, and compares them."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_compiler as ad


def leaves(x: Any) -> list[Any]:
    if isinstance(x, dict):
        return [leaf for item in x.values() for leaf in leaves(item)]
    return [leaf for item in x for leaf in leaves(item)] if isinstance(x, (tuple, list)) else [x]


def why_not(transformed: Any) -> str | None:
    """Why the code of a transformation is no machine code; None if it is."""
    found = re.findall(r"# no machine code(?:, in line \d+)?: (.*)", str(transformed.source()))
    return found[0] if found else None


def programs(transformed: Any) -> list[Any]:
    """The programs of a transformation."""
    from autodiff_compiler.native.support import Native

    runs = [entry.run for entries in transformed._dispatch.entries.values() for entry in entries]
    return [v for run in runs for v in vars(run).get("__globals__", getattr(run, "__globals__", {})).values()
            if isinstance(v, Native)]  # fmt: skip


def left_to_numba() -> list[str]:
    """The programs of this process that Numba compiles in its own way."""
    compiling = sys.modules.get("autodiff_compiler.native.compiling")
    return list(compiling.LEFT) if compiling is not None else []


def bailed(transformed: Any) -> bool:
    """The last call of a program went on with NumPy."""
    return any(program.bails or program.stopped for program in programs(transformed))


def outcome(transformed: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    try:
        return transformed(*copy.deepcopy(args))
    except Exception as error:
        return error


def agree(
    f: Callable[..., Any], *args: Any, argnums: Any = 0, rtol: float = 1e-10, transform: Any = None, **options: Any
) -> Any:
    """Check that both backends give the same, and raise the same. The transformation with machine code.

    Values have the same types; a cotangent of one of Python's numbers may be Python's or NumPy's.
    """
    transform = transform or ad.value_and_grad
    native = transform(f, argnums=argnums, backend="native", **options)
    got, want = outcome(native, args), outcome(transform(f, argnums=argnums), args)
    assert not left_to_numba()
    if isinstance(want, Exception):
        assert type(got) is type(want) and str(got) == str(want), (got, want)
        return native
    if isinstance(got, Exception):
        raise got
    a, b = leaves(got), leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert type(x) is type(y) or isinstance(y, float), (type(x), type(y))
        assert np.shape(x) == np.shape(y) and np.result_type(x) == np.result_type(y)
        np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-11, equal_nan=True)
    return native
