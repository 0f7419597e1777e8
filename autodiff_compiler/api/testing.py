"""``check_grads``: forward and reverse mode against central differences, to any order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..tracebacks import trimmed
from ..tree import Tree, children, flatten, unflatten, with_children
from .forward import jvp
from .likely import likely_cause
from .options import checking
from .pullbacks import projected_gradient, vjp

_MODES = ("fwd", "rev")
MOST = 200  # elements that are looked at to find the one that is wrong


@trimmed
def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, modes: str | Sequence[str] = _MODES,
    atol: float | None = None, rtol: float | None = None, eps: float | None = None, *, seed: int = 0,
) -> None:  # fmt: skip
    """Compare the derivatives of `f` at `args`, up to `order`, with central differences along random directions.

    f:    a function whose results are floats, arrays, or containers of them; a scalar result is not needed.
    args: a sequence of arguments. All floats and float arrays in them are varied.
    modes: "fwd", "rev", or both: the modes that are checked. Of higher order are derivatives of the gradient, in these
          modes.
    atol, rtol: tolerances; by default 1e-5, and 2e-2 if an argument has a lower precision than float64.
    eps:  the step of the differences; by default 1e-6, and 1e-2 for lower precision.
    seed: the seed of the random directions.

    For random u and v it compares ``<u, f'(x) v>``, in forward mode from ``jvp(v)``, in reverse mode from
    ``pullback(u)``, with ``<u, (f(x + eps v) - f(x - eps v)) / (2 eps)>``.

    Raises AssertionError if they differ. The message has the order, the mode, and the element of the arguments where
    the difference is largest, with both values and the likely cause: a kink or a jump, rounding errors that cancel, a
    step that does not fit, or a wrong derivative. Raises `WrongValueError`, a subclass, if the compiled forward sweep
    computes another value than `f`. Raises `ArgumentError` for an unknown mode.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.check_grads(lambda x: np.sum(np.sin(x) * x), (np.array([0.3, 1.2]),), order=2)
    >>> ad.check_grads(lambda x: np.sum(np.where(x > 0.0, x, 0.0)), (np.array([0.0, 1.2]),), order=1, modes="rev")
    Traceback (most recent call last):
        ...
    AssertionError: order 1: reverse mode disagrees with central differences...
    """
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    if not wanted or not set(wanted) <= set(_MODES):
        raise ArgumentError(f"check_grads: the modes are 'fwd' and 'rev', not {modes!r}")
    leaves, _ = flatten(tuple(args))
    low = any(np.result_type(x) in (np.float32, np.float16, np.complex64) for x in leaves)
    atol = (2e-2 if low else 1e-5) if atol is None else atol
    rtol = (2e-2 if low else 1e-5) if rtol is None else rtol
    eps = (1e-2 if low else 1e-6) if eps is None else eps
    task = _Task(wanted, order, atol, rtol, eps, np.random.default_rng(seed))
    with checking():
        _check(f, tuple(args), 1, task)


@dataclass
class _Task:
    modes: tuple[str, ...]
    order: int
    atol: float
    rtol: float
    eps: float
    rng: np.random.Generator

    def agree(self, a: float, b: float) -> bool:
        return abs(a - b) <= self.atol + self.rtol * max(abs(a), abs(b))


def _random_like(x: Any, rng: np.random.Generator) -> Any:
    dtype = np.result_type(x)
    v = rng.standard_normal(np.shape(x))
    if dtype.kind == "c":
        v = v + 1j * rng.standard_normal(np.shape(x))
    if isinstance(x, (float, complex)) and not isinstance(x, np.generic):
        return complex(v) if isinstance(x, complex) else float(v)
    v = np.asarray(v).astype(dtype)
    return v if isinstance(x, np.ndarray) else dtype.type(v)


def _is_float(x: Any) -> bool:
    return bool(np.result_type(x).kind in "fc")


def _inner(a: Any, b: Any) -> float:
    """The real pairing of a cotangent and a tangent."""
    return float(np.real(np.sum(np.asarray(a, np.result_type(a, np.float64)) * b)))


class _Level:
    """A function at its arguments, with what differences and both modes say along a direction.

    A direction has an array or a number for each leaf of the arguments, and None for those that do not move.
    """

    def __init__(self, f: Any, args: tuple[Any, ...], rng: np.random.Generator):
        self.f, self.args = f, args
        self.flat, self.tree = flatten(args)
        self.moving = [k for k, x in enumerate(self.flat) if _is_float(x)]
        out, self.pull = vjp(f, *args)
        self.results, self.out_tree = flatten(out)
        self.direction = [_random_like(x, rng) if k in self.moving else None for k, x in enumerate(self.flat)]
        self.cotangents = [_random_like(r, rng) if _is_float(r) else r for r in self.results]

    def projected(self, step: float, direction: Sequence[Any], weights: Sequence[Any]) -> float:
        """The result at a place on a line, paired with a cotangent."""
        new = [x if d is None else x + step * d for x, d in zip(self.flat, direction)]
        new = [np.asarray(n, np.result_type(x)) if isinstance(x, np.ndarray) else n for n, x in zip(new, self.flat)]
        values = flatten(self.f(*unflatten(self.tree, new)))[0]
        return sum(_inner(u, v) for u, v, r in zip(weights, values, self.results) if _is_float(r))

    def values(self, mode: str, weights: Sequence[Any], direction: Sequence[Any], eps: float) -> tuple[float, float]:
        """What the mode gives, and what central differences give."""
        sides = [self.projected(sign * eps, direction, weights) for sign in (1.0, -1.0)]
        return self.exact(mode, weights, direction), (sides[0] - sides[1]) / (2 * eps)

    def exact(self, mode: str, weights: Sequence[Any], direction: Sequence[Any]) -> float:
        if mode == "rev":
            back = [g for g in flatten(self.pull(unflatten(self.out_tree, weights)))[0] if _is_float(g)]
            return sum(_inner(g, direction[k]) for g, k in zip(back, self.moving) if direction[k] is not None)
        dots = [
            (np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0 * x) if k in self.moving and d is None else d
            for k, (x, d) in enumerate(zip(self.flat, direction))
        ]
        tangent = flatten(jvp(self.f, self.args, unflatten(_tangent_tree(self.tree), dots))[1])[0]
        moving = [u for u, r in zip(weights, self.results) if _is_float(r)]
        return sum(_inner(u, t) for u, t in zip(moving, [t for t in tangent if t is not None and _is_float(t)]))


def _check(f: Any, args: tuple[Any, ...], order: int, task: _Task) -> None:
    level = _Level(f, args, task.rng)
    for mode in task.modes:
        exact, numeric = level.values(mode, level.cotangents, level.direction, task.eps)
        if not task.agree(exact, numeric):
            raise AssertionError(_report(level, mode, order, exact, numeric, task))
    if task.order > order:
        # The gradient of a fixed projection of the result is the function to check next.
        _check(projected_gradient(f, level.cotangents, len(args)), args, order + 1, task)


# --- what is said of a difference -------------------------------------------------------------------------------------


def _report(level: _Level, mode: str, order: int, exact: float, numeric: float, task: _Task) -> str:
    """The message: the element where the difference is largest, both values, and the likely cause."""
    name = "forward mode" if mode == "fwd" else "reverse mode"
    head = (
        f"order {order}: {name} disagrees with central differences, {exact:.10g} and {numeric:.10g} along a random "
        "direction"
    )
    results, fewer = _units(level.results, [k for k, r in enumerate(level.results) if _is_float(r)], task.rng)
    results = [(where, [0 * r if u is None else u for u, r in zip(unit, level.results)]) for where, unit in results]
    units, sampled = _units(level.flat, level.moving, task.rng)
    names = _names_of_leaves(level.tree, _params(level.f))
    weights = level.cotangents
    found = _worst(units, lambda unit: level.values(mode, weights, unit, task.eps), task)
    if found is None:  # each element agrees, and their sum does not
        place, direction = "along this direction", level.direction
    else:
        (k, where), direction = found
        value = level.flat[k]
        place = f"{names[k]}{_subscript(where)} = {value[where[0]] if isinstance(value, np.ndarray) else value!s}"
    chosen = _worst(results, lambda unit: level.values(mode, unit, direction, task.eps), task)
    if chosen is not None:
        (_, where), weights = chosen
        place += f", result{_subscript(where)}" if len(results) > 1 else ""
    got, want = level.values(mode, weights, direction, task.eps)
    cause = likely_cause(lambda t: level.projected(t, direction, weights), got, task.eps)
    more = f"\n(of {MOST} elements that were looked at)" if sampled or fewer else ""
    return (
        f"{head}\n{place}: {name} gives {got:.10g}, central differences {want:.10g} (step {task.eps:.0e})\n"
        f"likely cause: {cause}{more}"
    )


def _worst(units: list[Any], values: Callable[[Any], tuple[float, float]], task: _Task) -> Any:
    """The unit at which both values differ most; None if they agree at each."""
    most, found = 1.0, None
    for unit in units:
        got, want = values(unit[1])
        away = abs(got - want) / (task.atol + task.rtol * max(abs(got), abs(want)))
        if not away <= most:
            most, found = (np.inf if np.isnan(away) else away), unit
    return found


def _units(flat: list[Any], moving: list[int], rng: np.random.Generator) -> tuple[list[Any], bool]:
    """Directions along one element each: ``((leaf, (index, imaginary)), direction)``, and whether there are more."""
    places: list[tuple[int, Any, bool]] = []
    for k in moving:
        for index in np.ndindex(np.shape(flat[k])):
            places += [(k, index, False)] + ([(k, index, True)] if np.iscomplexobj(flat[k]) else [])
    sampled = len(places) > MOST
    if sampled:
        places = [places[i] for i in sorted(rng.choice(len(places), MOST, replace=False))]
    out = []
    for k, index, imaginary in places:
        x = flat[k]
        unit: Any = np.zeros(np.shape(x), np.result_type(x))
        unit[index] = 1j if imaginary else 1.0
        direction: list[Any] = [None] * len(flat)
        direction[k] = unit if isinstance(x, np.ndarray) else type(x)(unit[()])
        out.append(((k, (index, imaginary)), direction))
    return out, sampled


def _subscript(where: tuple[Any, bool]) -> str:
    index, imaginary = where
    return (f"[{', '.join(map(str, index))}]" if index else "") + (" (imaginary part)" if imaginary else "")


def _params(f: Any) -> list[str]:
    try:
        return list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        return []


def _names_of_leaves(whole: Tree, params: list[str]) -> dict[int, str]:
    """What each leaf of the arguments is called: ``argument 0 (params)['w']``."""
    found: dict[int, str] = {}

    def visit(tree: Tree, name: str) -> None:
        if tree[0] == "leaf":
            found[tree[1]] = name
        parts = children(tree)
        keys = [f"[{k}]" for k in range(len(parts))]
        if tree[0] == "dict":
            keys = [f"[{key!r}]" for key in tree[1]]
        elif tree[0] in ("new", "like"):
            keys = [f".{key}" for key in tree[2]]
        elif tree[0] == "make" and hasattr(tree[1], "_fields"):
            keys = [f".{key}" for key in tree[1]._fields]
        for key, part in zip(keys, parts):
            visit(part, name + key)

    for k, part in enumerate(children(whole)):
        visit(part, f"argument {k}" + (f" ({params[k]})" if k < len(params) else ""))
    return found


def _tangent_tree(tree: Tree) -> Tree:
    """The structure of tangents: None for what has none."""
    if tree[0] == "static":
        return ("static", None)
    return tree if tree[0] == "leaf" else with_children(tree, [_tangent_tree(t) for t in children(tree)])


__all__ = ["check_grads"]
