"""What types say of the values of an adjoint is true when it runs, also where dtypes are mixed.

A type that promises too much lets a cast be left out: then a gradient comes in the wrong dtype, or rounded.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api.transforms import differentiated, lower_any
from autodiff_compiler.ir import interp
from autodiff_compiler.ir.core import UNDEF, Op
from autodiff_compiler.ir.types import PYTHON_DTYPES, Ty
from autodiff_compiler.lowered import fetch
from autodiff_compiler.transforms import pipeline
from tests.programs.checks import Program, arguments, fresh
from tests.programs.random_programs import generate, level_of

KINDS = {"py": (bool, int, float, complex), "generic": np.generic, "array": np.ndarray}


def untrue(t: Ty, value: Any) -> str:
    """What of the type does not hold of the value."""
    if value is UNDEF or t.kind in ("list", "shape", "object", "stack", "undef") or isinstance(value, (list, tuple)):
        return ""
    if type(value) is np.float64 and value == 0.0:
        return ""  # the cotangent of what is undefined on a path, which is not used
    python = isinstance(value, KINDS["py"]) and not isinstance(value, np.generic)
    if t.kind in KINDS and (not isinstance(value, KINDS[t.kind]) or (t.kind == "py" and not python)):
        return f"{type(value).__name__} for {t.kind}"
    if t.dtype is not None and value is not None:
        have = np.result_type(type(value) if python else value)
        if t.kind == "scalar":
            # The cotangent of a number is weak, or of any precision where the number is Python's.
            if python and t.dtype not in PYTHON_DTYPES or t.dtype in PYTHON_DTYPES and have.kind == t.dtype.kind:
                have = t.dtype
        if have != t.dtype:
            return f"dtype {have}"
    return f"{np.ndim(value)} axes" if t.dims is not None and len(t.dims) != np.ndim(value) else ""


@pytest.mark.parametrize("optimise", [False, True])
@pytest.mark.parametrize("seed", range(3000000, 3000040))
def test_types_hold_with_float32(seed: int, optimise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    source = generate(seed, level_of(seed))
    program = Program(source)
    args = tuple([a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in arguments(source, 10 * seed, 4)])
    step = interp._step

    def checked(op: Op, env: interp.Env) -> None:
        step(op, env)
        if op.prim.name == "zeros_like" and op.result.type.kind == "py":
            env[op.result] = 0.0  # as in emitted code
        for v in op.results:
            wrong = untrue(v.type, env[v])
            assert not wrong, f"{op.prim.name} at {op.loc}: {v.type}, but {wrong}: {env[v]!r}"

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program.prepare()
        given = program.pack(*fresh(args))
        try:
            lowered = lower_any(program.f, given, {})
        except ad.AutodiffError:
            return  # a program that is refused has no adjoint; tests/whole/test_random_programs.py bounds how many are
        wanted, _ = differentiated(program.f, lowered, program.gradient.argnums, given, {})
        _, values = program.gradient._dispatch.bind(given, {})
        adjoint = pipeline.adjoint(lowered.function, wanted.wrt, seeds=[1.0], optimise=optimise)
        monkeypatch.setattr(interp, "_step", checked)
        interp.interpret(adjoint, [fetch(item.path, values) for item in lowered.inputs])


X32, Y = np.array([3.0, 2.0], np.float32), np.array([1.0, 2.0])


def test_a_weight_is_not_rounded_to_the_dtype_of_another_argument() -> None:
    def f(x: Any, y: Any) -> Any:
        z = x * y * 1e-40
        return 1e40 * np.sum(np.cumsum(z))

    gx, gy = ad.grad(f, (0, 1))(X32, Y)
    assert gx.dtype == np.float32 and gy.dtype == np.float64
    np.testing.assert_allclose(gx, [2.0, 2.0], rtol=1e-6)
    np.testing.assert_allclose(gy, [6.0, 2.0], rtol=1e-12)


def test_the_same_in_a_loop() -> None:
    def f(x: Any, y: Any) -> Any:
        t = 0.0
        for i in range(2):
            z = x * y * 1e-40
            t += 1e40 * np.sum(np.cumsum(z)) * (i + 1)
        return t

    gx, gy = ad.grad(f, (0, 1))(X32, Y)
    assert gx.dtype == np.float32 and gy.dtype == np.float64
    np.testing.assert_allclose(gx, [6.0, 6.0], rtol=1e-6)
    np.testing.assert_allclose(gy, [18.0, 6.0], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_complex_weights(dtype: Any) -> None:
    x = np.array([0.5, -1.0, 2.0]).astype(dtype)
    g = ad.grad(lambda v: np.imag(np.sum(np.cumsum(v) * 1j)))(x)
    assert g.dtype == dtype
    np.testing.assert_allclose(g, [3.0, 2.0, 1.0])
    g = ad.grad(lambda v: np.imag(np.sum(np.cumsum(v * (1 + 2j)))))(x)
    assert g.dtype == dtype
    want = np.array([3.0, 2.0, 1.0]) * (2.0 - 1j if np.iscomplexobj(x) else 2.0)
    np.testing.assert_allclose(g, want)
