"""``check_grads``: reverse mode against central differences, to any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..tracebacks import trimmed
from ..tree import flatten, unflatten
from .pullbacks import projected_gradient, vjp


@trimmed
def check_grads(
    f: Callable[..., Any], args: Sequence[Any], order: int = 2, *, atol: float | None = None, rtol: float | None = None,
    eps: float | None = None, seed: int = 0,
) -> None:  # fmt: skip
    """Compare the derivatives of `f` at `args`, up to `order`, with central differences along random directions.

    f:    a function whose results are floats, arrays, or containers of them; a scalar result is not needed.
    args: a sequence of arguments. All floats and float arrays in them are varied.
    atol, rtol: tolerances; by default 1e-5, and 2e-2 if an argument has a lower precision than float64.
    eps:  the step of the differences; by default 1e-6, and 1e-2 for lower precision.
    seed: the seed of the random directions.

    For random u and v it compares ``<pullback(u), v>`` with ``<u, (f(x + eps v) - f(x - eps v)) / (2 eps)>``. Raises
    AssertionError with the order and both numbers if they differ. Raises `WrongValueError`, a subclass, if the compiled
    forward sweep computes another value than `f`.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.check_grads(lambda x: np.sum(np.sin(x) * x), (np.array([0.3, 1.2]),), order=2)
    """
    from .compiler import checking

    rng = np.random.default_rng(seed)
    leaves, _ = flatten(tuple(args))
    low = any(np.result_type(x) in (np.float32, np.float16, np.complex64) for x in leaves)
    atol = (2e-2 if low else 1e-5) if atol is None else atol
    rtol = (2e-2 if low else 1e-5) if rtol is None else rtol
    eps = (1e-2 if low else 1e-6) if eps is None else eps
    with checking():
        _check(f, tuple(args), order, 1, atol, rtol, eps, rng)


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


def _check(
    f: Any, args: tuple[Any, ...], order: int, level: int, atol: float, rtol: float, eps: float, rng: Any
) -> None:
    flat, tree = flatten(args)
    moving = [k for k, x in enumerate(flat) if _is_float(x)]
    out, pullback = vjp(f, *args)
    results, out_tree = flatten(out)
    tangents = [_random_like(x, rng) if k in moving else x for k, x in enumerate(flat)]
    cotangents = [_random_like(r, rng) if _is_float(r) else r for r in results]
    back = [g for g in flatten(pullback(unflatten(out_tree, cotangents)))[0] if _is_float(g)]

    def moved(sign: float) -> list[Any]:
        new = [x + sign * eps * tangents[k] if k in moving else x for k, x in enumerate(flat)]
        new = [np.asarray(n, np.result_type(x)) if isinstance(x, np.ndarray) else n for n, x in zip(new, flat)]
        return flatten(f(*unflatten(tree, new)))[0]

    plus, minus = moved(1.0), moved(-1.0)
    numeric = sum(
        _inner(u, (p - m) / (2 * eps)) for u, p, m, r in zip(cotangents, plus, minus, results) if _is_float(r)
    )
    exact = sum(_inner(g, tangents[k]) for g, k in zip(back, moving))
    if not abs(exact - numeric) <= atol + rtol * max(abs(exact), abs(numeric)):
        raise AssertionError(f"order {level}: reverse mode gives {exact!r}, central differences {numeric!r}")
    if order > level:
        # The gradient of a fixed projection of the result is the function to check next.
        _check(projected_gradient(f, cotangents, len(args)), args, order, level + 1, atol, rtol, eps, rng)
