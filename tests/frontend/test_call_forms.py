"""Calls of NumPy's functions and methods as NumPy binds them, and functions at the edge of what they take.

Each call is compared with the function itself: its value, central differences, or the class of what it raises.
"""

from __future__ import annotations

import json
import linecache
import math
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

R = np.random.default_rng(3)
V, M, S = R.uniform(0.3, 1.7, 3), R.uniform(0.3, 1.7, (2, 3)), R.uniform(0.3, 1.7, (3, 3))
NAMESPACE: dict[str, Any] = {"np": np, "math": math, "c": R.uniform(0.3, 1.7, 3), "I": np.array([0, 2])}
ARGUMENTS: dict[str, Any] = {
    "f": 0.7, "0": np.array(0.7), "1": V, "2": M, "s": S, "e": np.zeros(0), "l": [0.7, 1.1, 0.4],
    "b": np.array([True, False, True]), "u": np.array([200, 100, 3], np.uint8), "t": 2.0 * np.ones((3, 3)),
    "z": np.zeros((3, 3)), "n": np.zeros((3, 0)), "c": np.array([1.0, 1.0, 1.0]), "o": np.array([0.0, 1.0, 1.0]),
}  # fmt: skip

# Required parameters by name, and arguments that no parameter takes.
NAMES = """
np.transpose(a=x); np.squeeze(a=x); np.reshape(a=x, shape=-1); np.ravel(a=x); np.swapaxes(a=x, axis1=0, axis2=0)
np.expand_dims(a=x, axis=0); np.moveaxis(a=x, source=0, destination=0); np.copy(a=x); np.shape(a=x); np.ndim(a=x)
np.size(a=x); np.median(a=x); np.split(ary=x, indices_or_sections=1); np.asarray(a=x); np.array(object=x); np.sum(a=x)
np.linalg.norm(x=x); np.take(a=x, indices=[0]); np.clip(a=x, a_min=0.5, a_max=1.0); np.vstack(tup=[x, x])
np.isscalar(element=x); x.clip(max=1.0); x.reshape(-1, order='C'); x.take(indices=0); x.astype(dtype=float)
np.where(x > 0.8, x, 0.0); np.concatenate([x, x], axis=0); x.compress(condition=[True]); np.repeat(a=x, repeats=2)
"""
MISFITS = """
np.reshape(x, -1, bogus=1); np.squeeze(x, bogus=1); np.moveaxis(x, 0, -1, bogus=1); np.permute_dims(x, bogus=1)
np.expand_dims(x, 0, axis=0); np.swapaxes(x, 0, 1, axis1=0); np.transpose(x, (1, 0), axes=(1, 0)); np.shape(x, 1)
np.ravel(x, bogus=1); np.copy(x, bogus=1); np.array(x, bogus=1); np.asarray(x, float, None, 3); np.vstack([x], [x])
np.sum(); np.median(); np.transpose(); np.asarray(); np.vstack(); np.take(x); np.shape(); np.reshape(x, (), shape=-1)
x.astype(); x.copy('C', 1); x.copy(bogus=1); x.item(bogus=1); x.reshape(); x.squeeze(bogus=1); x.tolist(1); x.fill()
x.transpose(bogus=1); x.conj(1); x.flatten(1, 2); x.compress(); x.sum(0, 1, 2, 3, 4, 5, 6); x.sort(1, 2, 3, 4); x.dot()
np.linalg.norm(x, bogus=1); np.fft.fft(x, out=np.zeros(3), bogus=1); np.average(x, bogus=1); np.linalg.det(x, 1)
"""
# Axes, sections and dtypes that do not fit.
RAISE = {
    "012lb": "np.transpose(x, ()); np.transpose(x, (0, 0, 0)); np.transpose(x, (5,)); np.swapaxes(x, 0, 7)",
    "12s": "x.transpose(()); x.transpose(None, None); np.expand_dims(x, 7); np.moveaxis(x, 0, 7)",
    "1": "np.split(x, -1); np.split(x, 0); np.array_split(x, -1); np.trapezoid(x, axis=(0,)); np.cov(x, ddof=0.5)",
    "0f": "np.fft.fftshift(x); np.fft.ifftshift(x); np.linalg.tensorinv(x); np.linalg.tensorinv(x, 1)",
    "l": "np.hsplit(x, [1]); np.unstack(x); np.linalg.cond(x, 1)",
    "b": "np.ediff1d(x); np.gradient(x); np.ediff1d(x, to_end=c)",
    "u": "np.ediff1d(x, to_begin=1.5)",
    "e": "np.polyfit(x, x, 2); np.linalg.cond(x)",
    "01": "np.quantile(c, np.nan); np.linalg.cond(x, 'fro'); np.lib.stride_tricks.sliding_window_view(x, 9)",
    "2": "np.linalg.cond(x, 1); np.linalg.tensorinv(x, 1); np.linalg.tensorsolve(np.ones((3, 3)), x)",
    "n": "np.linalg.cond(x); np.linalg.cond(x, -2); np.linalg.tensorinv(x)",
}
# What is an array without axes is changed by ``+=``, and a number is not.
KINDS = """
np.nanmedian(x); np.median(x); np.flip(x); np.fft.fftn(x).real; np.transpose(x); np.squeeze(x); np.reshape(x, ())
np.pad(x, 2, 'reflect'); x + 0.0
np.asarray(x); np.copy(x); np.ravel(x); np.positive(x); np.sum(x); np.real(x); np.take(x, 0)
np.atleast_1d(x); np.nansum(x); np.where(x > 0, x, x); np.full((), x); np.cumsum(x); np.clip(x, 0, 1); np.round(x, 1)
"""
VALUES = {
    "b": "np.median(x); np.nanmedian(x); np.gradient(c, x)",
    "u": "np.median(x); np.nanmedian(x); np.polyval(x, x); np.median(x[:2]); np.polyval(x, 2.0)",
    "fb": "np.piecewise(x, [x == x], [lambda v: v * v, 1.0])",
    "ne": "np.repeat(x, -1); np.tile(x, -1); np.tile(x, (2, -1)); x.repeat(-2, 0)",
    "2s": "np.take_along_axis(x, I, None); np.take_along_axis(x, np.array([[1]]), 1)",
    "tzs": "np.linalg.det(x); np.linalg.det(x[:2, :2]); np.linalg.det(x * 1j).imag",
    "ts": "np.linalg.det(np.stack([x, c * x]))",
    "co": "np.interp(0.3, x, c); np.interp(2.0, x, c); np.interp([2.0, 0.5], [0.0, 1.0, 1.0], x)",
    "o": "np.interp(x + 1, c * 0, x)",
    "12": "np.maximum(x * (1 + 1j), x[..., ::-1]).imag; np.fmax(x * 1j, 0.5j - x).real",
    "2": "np.minimum(x * 1j, 1.0 - 1j).imag",
    "1": "np.fmin(x * 1j, x[::-1] * (1 - 1j)).imag; np.clip(x * (1 + 1j), 0.5, 1.0).imag; np.ediff1d(x, to_end=c)",
}


def split(text: str) -> list[str]:
    return [call.strip() for call in text.replace("\n", ";").split(";") if call.strip()]


def function(expression: str, weigh: bool, name: str, then: str) -> Any:
    """`f(x)`, or, where `x` holds no floats, `f(x, s)`."""
    result = (
        "np.sum(r * s)" if not weigh else "np.sum(np.cos(r + 0.37 * np.arange(np.size(r)).reshape(np.shape(r)))) * s"
    )
    source = f"def f(x, s=1.0):\n    r = {expression}\n    {then}\n    return {result}\n"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {**NAMESPACE, "__name__": "call_forms"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def own(x: Any) -> Any:
    return np.array(x) if isinstance(x, np.ndarray) else list(x) if isinstance(x, list) else x


def outcome(run: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            return error


def check(expression: str, x: Any, key: str, then: str = "pass") -> str:
    weigh = not isinstance(x, list)
    f = function(expression, weigh, f"<{expression} {key} {then}>", then)
    floats = not isinstance(x, list) and np.asarray(x).dtype.kind == "f"
    want = outcome(lambda: f(own(x), 0.9))
    got = outcome(lambda: ad.value_and_grad(f, 0 if floats else 1)(own(x), 0.9))
    if isinstance(want, Exception):
        assert isinstance(got, ad.AutodiffError) or type(got) is type(want), f"{got!r} instead of {want!r}"
        assert not isinstance(got, ad.AutodiffError) or got.loc is not None, repr(got)
        return "raises"
    assert not isinstance(got, Exception), f"{got!r} instead of {want!r}"
    value, gradient = got
    assert np.allclose(value, want, rtol=1e-12), f"{value} instead of {want}"
    if not floats:
        assert np.allclose(gradient, want / 0.9, rtol=1e-12)
        return "right"
    for k in np.ndindex(np.shape(x)):
        step = np.zeros(np.shape(x))
        step[k] = 1e-6
        up, down = (
            outcome(lambda h=h: f(np.asarray(x) + h if np.ndim(x) else x + float(h), 0.9)) for h in (step, -step)
        )
        both = (up - want) / 1e-6, (want - down) / 1e-6
        if np.allclose(*both, rtol=1e-3, atol=1e-3):  # else it is a kink
            found = gradient[k] if np.ndim(x) else gradient
            assert np.allclose(found, (both[0] + both[1]) / 2, rtol=1e-4, atol=1e-6), f"{k}: {found}, not {both}"
    return "right"


CASES = [(call, key) for text in (NAMES, MISFITS) for call in split(text) for key in "02"]
CASES += [
    (call, key) for table in (RAISE, VALUES) for keys, text in table.items() for call in split(text) for key in keys
]


@pytest.mark.parametrize("part", range(8))
def test_calls(part: int) -> None:
    wrong = []
    for expression, key in CASES[part::8]:
        if "unstack" in expression and not hasattr(np, "unstack"):
            continue
        try:
            check(expression, ARGUMENTS[key], key)
        except AssertionError as problem:
            wrong.append(f"{expression} of {key}: {problem}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("keys, text, right", [("02", NAMES, 40), ("02", MISFITS, 0)])
def test_what_is_meant_to_fit_does(keys: str, text: str, right: int) -> None:
    found = [check(call, ARGUMENTS[key], key) for call in split(text) for key in keys]
    assert found.count("right") >= right and (right or set(found) == {"raises"}), found


@pytest.mark.parametrize("x", [0.7, np.float64(0.7), np.array(0.7), np.array([0.7])])
def test_numbers_and_arrays_without_axes(x: Any) -> None:
    for expression in split(KINDS):
        if expression != "np.reshape(x, ())" or np.ndim(x) == 0:
            assert check(expression, x, repr(type(x)), "b = r; b += 1.0; r = r * b") == "right"


ORDERS = """
max(x); min(x); sorted(x)[0]; sorted(x)[1] * sorted(x)[2]; max(x, key=abs); sorted(x, key=lambda v: -v)[0]; max(list(x))
sorted(x, reverse=True)[0]; min(x, default=0.0); max([v * 2 for v in x]); max((v for v in x)); min(x[0], x[1], x[2])
max(range(3), key=lambda i: x[i]) * x[2]; max(enumerate(x), key=lambda p: p[1])[0] * x[1]; sum(sorted(x)[:2])
"""


@pytest.mark.parametrize("places", ["0", "1", "2", "01", ""])
def test_orders_of_numbers_among_which_there_is_nan(places: str) -> None:
    x = np.array([1.2, 0.4, 0.9])
    for k in places:
        x[int(k)] = np.nan
    for expression in split(ORDERS):
        f = function(expression, False, f"<order {expression} {places}>", "pass")
        value, gradient = ad.value_and_grad(f)(x)
        assert np.array_equal(value, f(x), equal_nan=True), expression
        for k in range(3):
            up, down = (outcome(lambda h=h, k=k: f(x + h * (np.arange(3) == k))) for h in (1e-6, -1e-6))
            if np.isfinite(up - down):
                assert np.isclose(gradient[k], (up - down) / 2e-6, atol=1e-6), expression


def test_of_equal_numbers_the_first_is_taken() -> None:
    for name in ("max", "min"):
        f = function(f"{name}(x)", False, f"<first of {name}>", "pass")
        assert ad.grad(f)(np.array([1.0, 1.0, 1.0])).tolist() == [1.0, 0.0, 0.0]


def full(x: Any) -> Any:
    u, s, vh = np.linalg.svd(x)
    return np.sum(u) + np.sum(s * s) + np.sum(vh)


def crossed(x: Any) -> Any:
    return np.sum(np.cross(x, x[::-1]))


@pytest.mark.parametrize("f, x", [(full, M), (crossed, np.ones((3, 2)))])
def test_what_is_refused_when_it_runs_names_its_place(f: Any, x: Any) -> None:
    with pytest.raises(ad.AutodiffError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ad.grad(f)(x)
    assert caught.value.loc is not None and caught.value.loc.file == __file__ and caught.value.remedy


def logarithm(x: Any) -> Any:
    return np.linalg.slogdet(x)[1]


def triangle(x: Any) -> Any:
    return np.sum(np.linalg.qr(x)[1] ** 2)


def condition(x: Any) -> Any:
    return np.linalg.cond(x, 1)


@pytest.mark.parametrize("f", [logarithm, triangle, condition])
def test_a_singular_matrix(f: Any) -> None:
    """No number comes out, and no error of NumPy's from the derivative."""
    with np.errstate(all="ignore"):
        gradient = ad.grad(f)(np.zeros((3, 3)))
    assert gradient.shape == (3, 3) and not np.any(np.isfinite(gradient) & (gradient != 0))


def test_second_derivatives_of_determinants() -> None:
    a = R.uniform(0.3, 1.7, (3, 3))
    inner = ad.grad(lambda x: np.sum(ad.grad(np.linalg.det)(x) ** 2))(a)
    ad.check_grads(np.linalg.det, (a,), order=2)
    cofactors = [[ad.grad(lambda x, i=i, j=j: ad.grad(np.linalg.det)(x)[i, j])(a) for j in range(3)] for i in range(3)]
    assert np.allclose(inner, 2 * np.einsum("ij,ijkl->kl", ad.grad(np.linalg.det)(a), np.array(cofactors)))


def unordered(x: Any, p: Any) -> Any:
    return np.sum(np.interp(x, p, x))


def test_interpolation_between_points_that_do_not_increase() -> None:
    """NumPy's value means nothing there, and the derivative is nan."""
    assert np.all(np.isnan(ad.grad(unordered)(V, np.array([2.0, 1.0, 0.0]))))
    assert np.all(np.isfinite(ad.grad(unordered)(V, np.array([0.0, 1.0, 2.0]))))


def test_a_call_with_nothing_but_keywords() -> None:
    """What it is given is written into the call."""
    assert ad.value_and_grad(lambda x: x * len(json.dumps(obj=-x)))(0.5) == (2.0, 4.0)
    assert ad.value_and_grad(lambda x: x * len(json.dumps(obj=[-x])))(0.5) == (3.0, 6.0)
