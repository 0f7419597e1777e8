"""The command `check`: a gradient against central differences."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from ..api.likely import corner, likely_cause
from .targets import (
    Path,
    Target,
    UserError,
    at,
    call_primal,
    gradient_of,
    is_inexact,
    leaves_of,
    print_table,
    replaced,
    shown,
)

_STEP = 6e-6  # about the cube root of a double's precision, where central differences are best


def _difference(f: Callable[[Any], float], leaf: Any, index: Any) -> complex:
    """The central difference of `f` by one entry of `leaf`, with an error of fourth order in the step.

    For a complex entry it is the derivative by the real part minus 1j times the derivative by the imaginary part.
    """

    def moved(amount: Any) -> float:
        if isinstance(leaf, np.ndarray):
            out = leaf.copy()
            out[index] += amount
            return f(out)
        return f(leaf + amount)

    entry = leaf[index] if isinstance(leaf, np.ndarray) else leaf
    h = 20 * _STEP * max(1.0, abs(entry))

    def along(direction: Any) -> float:
        near = moved(h * direction) - moved(-h * direction)
        far = moved(2 * h * direction) - moved(-2 * h * direction)
        return float((8 * near - far) / (12 * h))

    return along(1.0) - 1j * along(1.0j) if np.iscomplexobj(leaf) else along(1.0)


_MOST_KINKS = 5  # that are printed


def _line(f: Callable[[Any], float], leaf: Any, index: Any) -> tuple[Callable[[float], float], float]:
    """How the value changes along one entry, and the step that goes with its size."""
    entry = leaf[index] if isinstance(leaf, np.ndarray) else leaf

    def moved(amount: float) -> float:
        if isinstance(leaf, np.ndarray):
            out = leaf.copy()
            out[index] += amount
            return f(out)
        return f(leaf + amount)

    return moved, 20 * _STEP * max(1.0, abs(entry))


def _remark(
    f: Callable[[Any], float], leaf: Any, index: Any, noise: float, got: complex, want: complex, ok: bool
) -> str:  # fmt: skip
    """What to say of an entry where the gradient and the differences disagree, or that is at a kink or a jump."""
    line, h = _line(f, leaf, index)
    if np.iscomplexobj(leaf):
        return "" if ok else f": the gradient is {got:.10g}, the central difference {want:.10g}"
    found = corner(line, h, noise)
    if found:
        kink = found.startswith("a kink")
        more = "The gradient is one of the subgradients, central differences give their mean; check at other inputs"
        return f" is at {found}. {more if kink else 'No derivative exists there'}"
    if ok:
        return ""
    values = f"the gradient is {np.real(got):.10g}, the central difference {np.real(want):.10g}"
    return f": {values}. Likely cause: {likely_cause(line, float(np.real(got)), h)}"


def check(target: Target, options: argparse.Namespace) -> int:
    value = call_primal(target, target.args)
    # Differences are taken in double precision, where they are more accurate.
    doubled = tuple(_in_double(arg) for arg in target.args)
    result = gradient_of(target)(*target.args, **target.kwargs)
    gradients = result if isinstance(target.argnums, tuple) else (result,)
    rows, fine, sampled = [], True, False
    kinks: list[str] = []
    rng = np.random.default_rng(0)
    for position, gradient in zip(target.positions(), gradients):
        for path, leaf in leaves_of(target.args[position], ()):
            if not is_inexact(leaf):
                continue
            got = at(gradient, path)
            name = target.names[position] + shown(path)
            if np.shape(got) != np.shape(leaf):
                rows.append([name, str(np.shape(leaf)), "-", "-", f"NO, gradient has shape {np.shape(got)}"])
                fine = False
                continue

            def f(new: Any, position: int = position, path: Path = path) -> float:
                args = list(doubled)
                args[position] = replaced(args[position], path, new)
                return float(np.real(call_primal(target, tuple(args))))

            entries = list(np.ndindex(np.shape(leaf)))
            if len(entries) > options.entries:
                entries = [entries[k] for k in sorted(rng.choice(len(entries), options.entries, replace=False))]
                sampled = True
            wide = at(doubled[position], path)
            want = np.array([_difference(f, wide, index) for index in entries])
            have = np.array([got[index] if index else got for index in entries])
            error = np.abs(have - want)
            scale = max(float(np.max(np.abs(want), initial=0.0)), 1e-300)
            absolute = float(np.max(error, initial=0.0))
            precision = 1e-6 if np.result_type(leaf).itemsize >= (16 if np.iscomplexobj(leaf) else 8) else 1e-3
            # Rounding in the function's value limits the accuracy of a difference for a small gradient.
            noise = 1e-9 * abs(float(np.real(value)))
            ok = bool(absolute <= (options.tolerance or precision) * scale + noise)  # False for a nan
            fine &= ok
            rows.append([name, str(np.shape(leaf)), f"{absolute:.2e}", f"{absolute / scale:.2e}", "ok" if ok else "NO"])
            fits = error <= (options.tolerance or precision) * scale + noise
            for k in np.argsort(-error):
                index = entries[k]
                place = name + (f"[{', '.join(map(str, index))}]" if index else "")
                text = _remark(f, wide, index, noise, have[k], want[k], bool(fits[k]))
                kinks += [f"{place} = {leaf[index] if index else leaf!s}{text}"] if text else []
    if not rows:
        names = ", ".join([target.names[k] for k in target.positions()])
        raise UserError(f"{names}: there is no floating point number or array to differentiate by")
    print_table(["argument", "shape", "max abs error", "max rel error", "ok"], rows)
    if sampled:
        print(f"({options.entries} entries of each larger argument, chosen at random)")
    for text in kinks[:_MOST_KINKS]:
        print(text)
    if len(kinks) > _MOST_KINKS:
        print(f"(and {len(kinks) - _MOST_KINKS} more such places)")
    print("the gradient agrees with central differences" if fine else "the gradient DISAGREES with central differences")
    return 0 if fine else 1


def _in_double(value: Any) -> Any:
    for path, leaf in list(leaves_of(value, ())):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc":
            value = replaced(value, path, leaf.astype(np.complex128 if leaf.dtype.kind == "c" else np.float64))
        elif isinstance(leaf, np.inexact):
            value = replaced(value, path, complex(leaf) if np.iscomplexobj(leaf) else float(leaf))
    return value
