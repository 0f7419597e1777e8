"""`vjp` and `linearize` as machine code: a forward sweep and a pullback, which are two programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from benchmarks.by_hand import all_programs
from benchmarks.kernels import all_kernels
from benchmarks.kernels.kernel import is_float

from .both import why_not
from .both_halves import Linearized, Pullback, agree, bailed, programs
from .test_kernels import WITHOUT

KINDS = [Pullback, Linearized]
KERNELS = [k for k in all_kernels() if not k.refused]
# `linearize` puts what is no float of a known kind on a list, and lists of arrays on another one.
LISTS = {"wave_2d", "filter_bank", "double_pendulum", "forward_kinematics", "newton_euler"}
X = np.array([0.5, -1.5, 2.0, 0.25])
W = np.arange(12.0).reshape(3, 4) / 7.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=[k.name for k in KERNELS])
def test_kernels_agree(kernel: Any, kind: Any) -> None:
    args = kernel.inputs(kernel.small)
    argnums = tuple(k for k, a in enumerate(args) if is_float(a))
    native = agree(kernel.function, *args, argnums=argnums, rtol=1e-8, kind=kind)
    if kernel.name not in WITHOUT and (kernel.name not in LISTS or kind is Pullback):
        assert why_not(native) is None and not bailed(native)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", list(all_programs()), ids=[p.name for p in all_programs()])
def test_programs_agree(program: Any, kind: Any) -> None:
    argnums = program.argnums if isinstance(program.argnums, tuple) else (program.argnums,)
    native = agree(program.function, *program.inputs(program.small), argnums=argnums, rtol=1e-8, kind=kind)
    if program.name not in WITHOUT:
        assert why_not(native) is None and not bailed(native)


def itself(x: Any) -> Any:
    return x


def part(x: Any) -> Any:
    return x[1:]


def beside(x: Any) -> Any:
    return x, x * 2.0, x[::-1] * x


def saved_and_returned(x: Any) -> Any:
    y = np.exp(x)
    return y, y * y


def written(x: Any) -> Any:
    x[1] = x[0] * 3.0
    x[2:] *= x[:2]
    return x, np.sum(x * x)


def written_in_a_loop(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return x


def swapped(x: Any) -> Any:
    a, b = x, np.sin(x)
    for _ in range(3):
        a, b = b, a * b
    return a, b


def rows(x: Any) -> Any:
    A = np.outer(x, x)
    n = 0
    while n < 3 and np.sum(A) < 1e3:
        A = np.sin(A) * 2.0 @ A
        n += 1
    return A


def in_branches(x: Any) -> Any:
    y = x
    for i in range(5):
        if y[0] > 0.4:
            y = np.sin(y) * y
        else:
            y = np.cos(y) + np.outer(y, y)[0]
    return y


def numbers(x: Any) -> Any:
    s = 1.0
    for i in range(len(x)):
        s = s * x[i] if x[i] > 0 else s / x[i]
    return s, s * x[0], len(x)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "f", [itself, part, beside, saved_and_returned, written, written_in_a_loop, swapped, rows, in_branches, numbers]
)
def test_what_is_kept_belongs_to_the_pullback(f: Any, kind: Any) -> None:
    native = agree(f, X.copy(), kind=kind)
    assert why_not(native) is None and not bailed(native)


def product(x: float, y: float) -> Any:
    return x * y, np.exp(x)


def shrunk(x: Any, k: float) -> Any:
    return x * np.float32(k), k * k


SEEDS = [lambda g: g, lambda g: tuple(map(int, g)), lambda g: (True, False), lambda g: tuple(map(np.float64, g)),
         lambda g: tuple(map(np.float32, g)), lambda g: (g[0] * 1j, g[1]), lambda g: (2**60 + 1, 1.0),
         lambda g: (10**400, 1.0), lambda g: (np.array(g[0]), g[1])]  # fmt: skip


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_cotangents_of_numbers(seed: int) -> None:
    agree(product, 0.5, 0.25, argnums=(0, 1), mapped=SEEDS[seed])
    agree(shrunk, np.float32(1.5), 0.3, argnums=(0, 1), mapped=SEEDS[seed])


def test_tangents_and_cotangents_that_do_not_fit_raise() -> None:
    for kind in KINDS:
        agree(beside, X, kind=kind, mapped=lambda g: g[0])
        agree(in_branches, X, kind=kind, mapped=lambda g: g[1:])
        agree(in_branches, X, kind=kind, mapped=lambda g: np.asfortranarray(g).astype(np.float32)[::-1])


def test_what_comes_beside_the_result() -> None:
    for kind in KINDS:
        native = agree(lambda x: (np.sin(x), {"n": len(x), "y": x * 2.0}), X, kind=kind, has_aux=True)
        assert why_not(native) is None and not bailed(native)


def quotient(x: float, y: float) -> Any:
    return x / y


def test_a_forward_sweep_that_bails() -> None:
    for kind in KINDS:
        agree(quotient, 1.0, 0.0, argnums=(0, 1), kind=kind)
        agree(lambda x, k: x[k] * x, X, 9, kind=kind)
        agree(lambda x, k: x * k, X, 2**70, kind=kind)


def test_a_pullback_that_bails_goes_on_with_numpy() -> None:
    def f(x: Any) -> Any:
        return x * x * 1e200

    native = Pullback(f, (0,)).asked({"backend": "native"})
    x = X * 1e120
    out, pull = native(x)
    x[:] = 0.0
    with np.errstate(all="raise"):
        # The forward sweep overflows, and raised nothing when it ran.
        np.testing.assert_allclose(pull(np.full(4, 1e-300))[0], 2.0 * X * 1e20)
        with pytest.raises(FloatingPointError):
            pull(np.full(4, 1e300))
    assert np.isinf(out).all()
    assert np.isinf(pull(np.full(4, 1e300))[0]).all() and not bailed(native)


def test_a_pullback_that_always_bails_is_not_tried_for_ever(caplog: Any) -> None:
    native = Pullback(lambda x: np.sum(np.sin(x)), (0,)).asked({"backend": "native"})
    _, pull = native(X)
    _, backward = programs(native)
    for _ in range(30):
        backward.bailed()
    assert "goes on with NumPy" in caplog.text
    np.testing.assert_allclose(native(X)[1](1.0)[0], np.cos(X))
    np.testing.assert_allclose(pull(1.0)[0], np.cos(X))


def test_options() -> None:
    value, pull = ad.vjp(beside, X, backend="native")
    np.testing.assert_allclose(pull(value)[0], ad.vjp(beside, X)[1](value)[0])
    value, push = ad.linearize(beside, X, backend="native")
    np.testing.assert_allclose(push(X)[2], ad.linearize(beside, X)[1](X)[2])
    value, pull = ad.vjp(in_branches, X, backend="native", max_residual_bytes=2000)
    np.testing.assert_allclose(pull(value)[0], ad.vjp(in_branches, X)[1](value)[0])
    with pytest.raises(TypeError):
        ad.linearize(beside, X, backwards=True)


def test_the_text() -> None:
    native = Pullback(saved_and_returned, (0,)).asked({"backend": "native"})
    text = native.source(X)
    assert "def saved_and_returned_vjp_native(x):" in text and "def saved_and_returned_vjp_pullback_native(" in text
    assert text.count(" = owned(x)") == 1
