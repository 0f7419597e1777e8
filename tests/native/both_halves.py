"""Runs `vjp` and `linearize` with both backends, and compares them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from autodiff_compiler.api.linearized import Linearized
from autodiff_compiler.api.pullbacks import Pullback
from autodiff_compiler.tree import flatten, unflatten

from .both import leaves, outcome


def programs(transformed: Any) -> list[Any]:
    """The programs of a transformation, the first half in front."""
    runs = [inspect.unwrap(entry.run) for entries in transformed._dispatch.entries.values() for entry in entries]
    return [v for run in runs for v in run.__globals__.values() if type(v).__name__ == "Native"]


def bailed(transformed: Any) -> bool:
    """The last call of a program went on with NumPy."""
    return any(program.bails or program.stopped for program in programs(transformed))


def direction(x: Any, seed: int) -> Any:
    """A tangent or a cotangent of a value."""
    rng = np.random.default_rng(seed)
    found, tree = flatten(x)
    moved: list[Any] = []
    for v in found:
        if isinstance(v, np.ndarray) and v.dtype.kind in "fc":
            moved.append(rng.normal(size=v.shape).astype(v.dtype))
        elif isinstance(v, (float, np.floating)):
            moved.append(type(v)(rng.normal()))
        elif isinstance(v, (complex, np.complexfloating)):
            moved.append(type(v)(rng.normal() + 1j * rng.normal()))
        else:
            moved.append(None if isinstance(v, (int, str, bool, np.integer, np.bool_)) else v)
    return unflatten(tree, moved)


def same(got: Any, want: Any, rtol: float) -> None:
    a, b = leaves(got), leaves(want)
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert type(x) is type(y) or (isinstance(y, (float, complex)) and isinstance(x, (float, complex))), (
            type(x),
            type(y),
        )
        if isinstance(y, (float, complex, np.ndarray, np.generic)):
            assert np.shape(x) == np.shape(y) and np.result_type(x) == np.result_type(y)
            np.testing.assert_allclose(x, y, rtol=rtol, atol=1e-9, equal_nan=True)


def agree(
    f: Callable[..., Any], *args: Any, argnums: Any = (0,), rtol: float = 1e-9, kind: Any = Pullback,
    mapped: Any = None, has_aux: bool = False,
) -> Any:  # fmt: skip
    """Check that both backends give the same values and cotangents, or tangents, twice, and raise the same. What the
    caller does to arguments and results in between does not matter. The transformation with machine code.
    """
    native, plain = (kind(f, argnums, has_aux).asked({"backend": b}) for b in ("native", "numpy"))
    ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
    got, want = outcome_of(native, ours), outcome_of(plain, theirs)
    if isinstance(want, Exception):
        assert type(got) is type(want) and str(got) == str(want), (got, want)
        return native
    if isinstance(got, Exception):
        raise got
    same([got[0], *got[2:]], [want[0], *want[2:]], rtol)
    seeds = [args[k] for k in argnums] if kind is Linearized else None
    for turn in range(3):
        given = [direction(x, turn) for x in seeds] if seeds is not None else [direction(want[0], turn)]
        if mapped is not None:
            given = [mapped(g) for g in given]
        outs = [outcome(pull, tuple(given)) for pull in (got[1], want[1])]
        if isinstance(outs[1], Exception):
            assert type(outs[0]) is type(outs[1]) and str(outs[0]) == str(outs[1]), outs
            continue
        if isinstance(outs[0], Exception):
            raise outs[0]
        same(outs[0], outs[1], rtol)
        for x in leaves([ours, theirs, got[0], want[0], *outs]):
            if isinstance(x, np.ndarray) and x.flags.writeable:
                x[...] = 7
    return native


def outcome_of(transformed: Any, args: tuple[Any, ...]) -> Any:
    try:
        return transformed(*args)
    except Exception as error:
        return error


KINDS = [Pullback, Linearized]

__all__ = ["KINDS", "Linearized", "Pullback", "agree", "bailed", "direction", "programs"]
