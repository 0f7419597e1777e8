"""Chains of views and copies of an array, and stores through both ends: each program gives what the function itself
gives, value and gradient, or an error."""

from __future__ import annotations

import collections
import linecache
import random
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

R = np.random.default_rng(11)
BUFFER = R.uniform(0.3, 1.7, (4, 6))
ARGUMENTS: list[Any] = [
    BUFFER[0, :3].copy(), BUFFER[:2, :3].copy(), BUFFER[1:, :3].copy(), R.uniform(0.3, 1.7, (2, 3, 2)), np.array(0.7),
    np.asfortranarray(BUFFER[:2, :3]), BUFFER[::-2, ::-2], BUFFER[0, ::-2], np.array([0.6]), np.array([[0.4, 1.2]]),
]  # fmt: skip
VIEWS = """
@[1:]; @[::2]; @[::-1]; @.T; @.reshape(-1); @.ravel(); @[None]; @.squeeze(); @.swapaxes(0, -1); @.reshape(@.shape); @[0]
np.broadcast_to(@, @.shape); np.broadcast_to(@, (2, *@.shape)); np.diagonal(@); np.diag(@); np.moveaxis(@, 0, -1)
np.lib.stride_tricks.sliding_window_view(@, 1, axis=0); np.broadcast_arrays(@, np.zeros((2, *@.shape)))[0]; @.flat[:]
@.flat[1:]; @.flat[[0]]; @.imag; @.real; np.imag(@); np.real(@); np.rollaxis(@, -1); np.transpose(@); np.squeeze(@)
@.copy(); @.copy('F'); @[[0]]; @[@ > 0.5]; np.reshape(@, (-1, 1)); np.positive(@); list(np.ravel(@))[0]; np.flip(@)
[w for w in @.reshape(-1)][0]; next(iter(@)); np.array_split(@, 2)[1]; np.split(@, 1)[0]; np.atleast_2d(@); @ + 0.0
np.permute_dims(@); np.asfortranarray(@); np.ascontiguousarray(@); (@ * 1j).imag; @[...]; @[()]; np.asarray(@)
"""
STORES = """
v[0] = 2.0; v[...] *= 2.0; v += 1.0; v.flat[0] = 3.0; v[:] = 1.5; np.add(v, 1.0, out=v); v[v > 0.5] = 0.25; a[0] = 5.0
np.put(v, 0, 4.0); np.copyto(v, 2.0); a += 1.0; a[...] = a * a; v.T[...] = 1.5; v[1:] += v[:-1]; a.flat[-1] = 3.0
v[0] -= v[0] * v[-1]; np.negative(a, out=a); np.cumsum(v, axis=0, out=v); v.flat[1:] = 0.5; a = a * 2.0
"""
STARTS = ["x * 1.0", "x", "x.copy()", "x.T", "np.asfortranarray(x)", "x[::-1]", "x.reshape(x.shape)"]
# What was found wrong, each the smallest.
FOUND = {
    "flat": ["a = x * 1.0", "v = a.flat[:]", "v[0] = 5.0"],
    "flat, the other way": ["a = x * 1.0", "v = a.flat[1:]", "a[...] = 5.0"],
    "flat with places": ["a = x * 1.0", "v = a.flat[[0, 0]]", "v *= 5.0"],
    "imaginary": ["a = x * 1.0", "v = a.imag", "v[...] = 5.0"],
    "imaginary, the function": ["a = x * 1.0", "v = np.imag(a)", "v[...] = 5.0"],
    "reshape of what is protected": ["a = x", "v = np.broadcast_to(a, a.shape).reshape(-1)", "v[0] = 1.0"],
    "diagonal": ["a = x", "v = np.diag(a).reshape(-1)", "v[0] = 1.0"],
    "reshape of a reshape": ["a = x * 1.0", "v = a.reshape(a.shape).T", "v.flat[0] = 4.0"],
    "put": ["a = x * 1.0", "v = np.rollaxis(a.reshape(a.shape), -1)", "np.put(v, 0, 4.0)"],
    "element of an array without axes": ["a = x.copy()", "v = list(np.ravel(a))[0]", "a[...] = a * a"],
    "reshape of a number": ["a = x[::-1]", "v = a[0].reshape(a[0].shape).reshape(-1)", "v[...] *= 2.0"],
    "copy of a number": ["a = x + 0.0", "v = np.transpose(a).copy()", "v += 1.0"],
    "shape": ["shape = (2, *x.shape)", "a = np.broadcast_arrays(x, np.zeros(shape))[0]", "v = np.reshape(a, (-1, 1))"],
}


def split(text: str) -> list[str]:
    return [part.strip() for part in text.replace("\n", ";").split(";") if part.strip()]


def programs(seed: int, count: int) -> list[tuple[list[str], Any]]:
    rng, views, stores = random.Random(seed), split(VIEWS), split(STORES)
    made = []
    for _ in range(count):
        chain = [f"v = {rng.choice(views).replace('@', 'v')}" for _ in range(rng.choice((1, 2, 2, 3)))]
        lines = [f"a = {rng.choice(STARTS)}", "v = a", *chain, *rng.sample(stores, rng.choice((1, 1, 2)))]
        made.append((lines, rng.choice(ARGUMENTS)))
    return made


def own(x: Any) -> Any:
    back = tuple([slice(None, None, -1 if s < 0 else 1) for s in x.strides])
    return x[back].copy(order="K")[back] if back else x.copy()


def weighed(name: str) -> str:
    return f"np.sum(np.cos({name} + 0.37 * np.arange(np.size({name})).reshape(np.shape({name}))))"


def outcome(run: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run()
        except Exception as error:
            return error


def check(lines: list[str], x: Any) -> str:
    body = "".join(f"    {line}\n" for line in [*lines, f"return {weighed('a')} + {weighed('v')} + {weighed('x')}"])
    name, source = f"<chain {lines}>", f"def f(x):\n{body}"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np, "__name__": "chains"}
    exec(compile(source, name, "exec"), namespace)
    f = namespace["f"]
    want, got = outcome(lambda: f(own(x))), outcome(lambda: ad.value_and_grad(f)(own(x)))
    if isinstance(got, ad.AutodiffError):
        return "refused"
    if isinstance(want, Exception):
        assert isinstance(got, Exception), f"{got} where NumPy raises {want!r}:\n{source}"
        return "raises"
    assert not isinstance(got, Exception), f"{got!r} instead of {want!r}:\n{source}"
    assert np.allclose(got[0], want, rtol=1e-12), f"{got[0]} instead of {want}:\n{source}"
    for k in np.ndindex(x.shape):
        ends = []
        for h in (1e-6, -1e-6):
            moved = own(x)
            moved[k] += h
            ends.append(outcome(lambda m=moved: f(m)))
        slope = (ends[0] - ends[1]) / 2e-6
        assert np.allclose(got[1][k], slope, rtol=1e-4, atol=1e-5), f"{got[1][k]} at {k}, not {slope}:\n{source}"
    return "right"


@pytest.mark.parametrize("seed", range(4))
def test_chains(seed: int) -> None:
    counts = collections.Counter(check(lines, x) for lines, x in programs(seed, 110))
    assert counts["right"] > 25, counts


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    counts = collections.Counter(check(FOUND[name], x) for x in ARGUMENTS)
    assert counts["right"] + counts["raises"] + counts["refused"] == len(ARGUMENTS)


def test_a_store_into_what_is_read_of_flat_is_no_store_into_the_array() -> None:
    assert check(FOUND["flat"], ARGUMENTS[1]) == check(FOUND["flat with places"], ARGUMENTS[2]) == "right"


NAMES = (
    "accum",
    "shape",
    "ndim",
    "size",
    "dtype",
    "get",
    "keep",
    "ratio",
    "product",
    "relu",
    "inverse",
    "spread",
    "finish",
)


@pytest.mark.parametrize("name", NAMES)
def test_variables_with_the_names_of_helpers(name: str) -> None:
    lines = [
        f"{name} = (2, *x.shape)",
        f"a = np.broadcast_arrays(x, np.zeros({name}))[0]",
        "v = np.reshape(a, (-1, 1))",
        f"{name} = np.linalg.slogdet(np.eye(2) * np.sqrt(np.sum(v)))[1]",
        f"a = a * {name}",
    ]
    assert check(lines, ARGUMENTS[1]) in ("right", "refused")


@pytest.mark.parametrize("axes", ["(0, 1), (1, 0)", "(-1, 0), (0, 1)", "0, -1", "[1], [0]"])
def test_axes_that_are_moved_are_views(axes: str) -> None:
    lines = ["a = x.reshape(1, -1) * 1.0", f"v = np.moveaxis(a, {axes})", "v[0, 0] = 5.0", "v *= 2.0"]
    assert check(lines, ARGUMENTS[1]) == "right"
