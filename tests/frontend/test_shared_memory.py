"""What shares memory: functions that may give a view, for arrays laid out in every way, stored into from both sides;
stores and outputs that overlap what they read. Each program gives what the function itself gives, or an error."""

from __future__ import annotations

import collections
import linecache
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import autodiff_compiler as ad

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

VIEWS = """
np.meshgrid(a, a, copy=False)[0]; np.meshgrid(a, a[:2], copy=False, sparse=True)[1]; np.meshgrid(a, copy=False)[0]
np.meshgrid(a, a[:2], copy=False, indexing='ij')[0]; np.meshgrid(a, a)[0]; np.meshgrid(a, a[:2], sparse=True)[0]
sliding_window_view(a, 2, axis=0); sliding_window_view(a, 2, axis=0, writeable=True)
sliding_window_view(a, 2, axis=0, writeable=True).T; np.broadcast_to(a, (2, 3, 4)); np.broadcast_to(a, a.shape)
np.diagonal(a); np.diag(a); a.diagonal(); np.rot90(a); np.rot90(a, 4); np.flip(a); np.flip(a, 0); np.fliplr(a)
np.roll(a, 0); np.moveaxis(a, 0, -1); np.rollaxis(a, -1); np.swapaxes(a, 0, -1); np.squeeze(a); a.squeeze(0)
np.squeeze(a[None], 0); np.expand_dims(a, 0); np.atleast_1d(a); np.atleast_2d(a); np.atleast_3d(a); np.atleast_2d(a[0])
np.asarray(a); np.asarray(a, float); np.asarray(a, np.float32); np.asarray(a, order='F'); np.asanyarray(a)
np.asfortranarray(a); np.ascontiguousarray(a); np.require(a, float); np.array(a); np.array(a, order='F'); np.copy(a)
a.copy(); a.copy('F'); np.split(a, [1])[0]; np.array_split(a, 2)[0]; np.hsplit(a, [1])[0]; np.vsplit(a, [1])[0]
np.ravel(a); a.ravel(); a.reshape(-1); a.reshape(4, -1); a.reshape(a.shape); a.reshape(*a.shape, 1); a.flatten()
a.T; a.T.T; a.T.ravel(); a.T.reshape(-1); a.T.flatten(); np.transpose(a); np.matrix_transpose(a); a.real; a.imag
np.real(a); np.conj(a); a.conj(); a.conjugate(); a[...]; a[()]; a[1:]; a[::-1]; a[:, ::2]; a[0]; a[..., 0]; a[0, ...]
a[None]; a[[0, 1]]; a[a > 0]; a[1:].T; a[::2].reshape(-1); a[:2].ravel(); a[:, :2].reshape(-1); a[0].reshape(2, 2)
a.astype(float); a.astype(float, copy=False); a.astype(np.float32, copy=False); np.nan_to_num(a); np.clip(a, -9, 9)
np.positive(a); +a; np.take(a, [0], axis=0); np.where(a > 9, 0.0, a); np.concatenate([a]); np.stack([a]); np.vstack([a])
np.block([a]); np.repeat(a, 1, axis=0); np.tile(a, 1); np.resize(a, a.shape); np.pad(a, 0); np.tril(a); np.sort(a)
np.diff(a, 0); np.einsum('ij->ji', a); np.einsum('...->...', a); np.round(a, 1); np.sum(a, axis=()); np.array([a])
np.array([a[0]])[0]; [v for v in a][0]; list(a)[0]; [a, a][0]; (a if a.size else a * 2); next(iter(a)); np.median(a)
np.lib.stride_tricks.as_strided(a); np.broadcast_arrays(a, a)[1]; np.broadcast_arrays(a, a[0])[0]
np.block(a); np.block([[a]]); np.unstack(a)[0]; np.permute_dims(a, (1, 0))
""".replace(";", "\n").split("\n")
STORES = {
    "whole": "r[...] = 5.0",
    "base": "a[...] = 5.0",
    "first": "r[0] = 4.0",
    "scaled": "r *= 3.0",
    "flat": "r.flat[1] = 7.0",
    "last": "a[-1] = a[-1] * 2.0",
    "added": "a += r",
}


def values(*shape: int) -> Any:
    return np.cos(np.arange(float(np.prod(shape)))).reshape(shape) * 1.3 + 0.2


def laid_out(layout: str) -> Any:
    buffer = {
        "C": lambda: np.zeros((3, 4)),
        "F": lambda: np.zeros((3, 4), order="F"),
        "strided": lambda: np.zeros((6, 8))[::2, ::2],
        "reversed": lambda: np.zeros((4, 3)).T[:, ::-1],
        "row": lambda: np.zeros((1, 4)),
        "vector": lambda: np.zeros(8)[::-2],
        "number": lambda: np.zeros(()),
        "empty": lambda: np.zeros((0, 4)),
        "one": lambda: np.zeros(1),
        "cube": lambda: np.zeros((2, 3, 2)).transpose(0, 2, 1).transpose(0, 2, 1),
    }[layout]()
    buffer[...] = values(*buffer.shape)
    return buffer


def function(source: str) -> Any:
    name = f"<shared {source}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {
        "np": np, "sliding_window_view": sliding_window_view, "as_strided": as_strided, "__name__": "shared",
    }  # fmt: skip
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def outcome(f: Any, make: Any) -> str:
    """Compare value and gradient with what the function itself gives; "right" or "refused"."""
    error: Any = None
    with np.errstate(all="ignore"):
        try:
            want = f(make())
        except Exception as raised:
            error = raised
        try:
            got, pull = ad.vjp(f, make())
        except ad.AutodiffError:
            return "refused"
        except Exception as raised:
            assert error is not None and isinstance(raised, type(error)), repr(raised)
            return "raises"
        assert error is None, f"{got} where the function raises {error!r}"
        weights = []
        for k, (x, y) in enumerate(zip(got, want, strict=True)):
            assert np.shape(x) == np.shape(y) and np.allclose(x, y), f"{x} instead of {y}"
            w = np.cos(np.arange(float(np.size(y))) + k).reshape(np.shape(y)).astype(np.asarray(y).dtype)
            weights.append(w if isinstance(y, np.ndarray) else float(w))
        if any(np.asarray(y).dtype != np.float64 for y in want):
            return "right"
        (gradient,) = pull(tuple(weights))
        sums = []
        direction = np.sin(1.0 + np.arange(float(make().size))).reshape(make().shape)
        for step in (1e-6, -1e-6):
            x = make()
            x[...] += step * direction
            sums.append(sum(np.sum(np.asarray(y) * w) for y, w in zip(f(x), weights)))
        slope = (sums[0] - sums[1]) / 2e-6
        assert np.allclose(np.sum(gradient * direction), slope, rtol=1e-5, atol=1e-5), f"{gradient}"
    return "right"


def few(k: int) -> list[str]:
    """Some of the layouts, other ones for each program."""
    names = ["C", "F", "strided", "reversed", "row", "vector", "number", "empty", "one", "cube"]
    return [names[k % 10], names[(k * 7 + 3) % 10]]


@pytest.mark.parametrize("store", STORES)
def test_views(store: str) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for k, view in enumerate(v.strip() for v in VIEWS if v.strip()):
        f = function(f"def f(a):\n    r = {view}\n    {STORES[store]}\n    return a * 1.0, r * 1.0\n")
        for layout in few(k + len(store)):
            if "as_strided" in view and layout not in ("C", "vector"):
                continue
            try:
                counts[outcome(f, lambda layout=layout: laid_out(layout))] += 1
            except AssertionError as error:
                raise AssertionError(f"{view}, {layout}: {error}") from None
    assert counts["right"] > 60, counts


OVERLAPS = """
np.cumsum(a[:-1], out=a[1:]); np.add(a[:-1], a[1:], out=a[1:]); np.subtract(a, a[::-1], out=a); a += a[::-1]
np.concatenate([a[3:], a[:3]], out=a); np.stack([a[2:4], a[:2]], out=a[:4].reshape(2, 2)); np.round(a[::-1], 1, out=a)
np.take(a, [1, 2, 3, 0, 5, 4], out=a); np.choose([0, 1, 0, 1, 0, 1], [a[::-1], a], out=a); np.dot(M, a, out=a)
np.compress([1, 0, 1, 1], a, out=a[1:4]); np.matmul(M, a, out=a); np.einsum('i,i->i', a[::-1], a, out=a)
np.ptp(a.reshape(2, 3), axis=0, out=a[1:4]); np.sum(a.reshape(2, 3), axis=0, out=a[1:4]); np.copyto(a[1:], a[:-1])
np.copyto(a, a[::-1], where=[1, 0, 1, 0, 1, 1]); np.put(a, [1, 2, 3], a[:2]); np.place(a, a > -9, a[1:3])
np.place(a, a > -9, a[::-1]); np.putmask(a, a > -9, a[::-1]); np.putmask(a, a > -9, a[1:3]); a[1:] = a[:-1]
np.fill_diagonal(a[:4].reshape(2, 2), a[1:3]); np.put_along_axis(a, np.array([1, 2, 3]), a[:3], 0); a[::-1] = a
np.add.at(a, [1, 2, 3], a[:3]); np.multiply.at(a, [1, 2, 3], a[:3]); a[[1, 2, 3]] = a[:3]; a[a > -9] = a[::-1]
a.flat = a[::-1]; a.flat[...] = a[::-1]; a.flat[1:] = a[:-1]; a.flat[[1, 2, 3]] = a[:3]; a[::2].flat = a[1:4]
a.flat[a > -9] = a[::-1]; a.reshape(2, 3)[...] = a.reshape(3, 2).T.reshape(2, 3); a.real = a[::-1]; a.T[...] = a
np.clip(a[::-1], 0, 1, out=a); np.maximum(a, 0.5, where=a < 1, out=a); a[:-1] *= a[1:]; a.sort(); a.flat += 1.0
a.flat = [1.0, 2.0]; a.flat[...] = [1.0, 2.0, 3.0, 4.0]; a.flat[1:4] = np.ones((3, 3)); a.flat = []; a.flat[:] = a * 2
a.flat[[0, 1]] = [3.0]; a.flat[0] = 2.0; a.flat[::2] = [[1.0, 2.0]]; np.put(a, [0, 1], []); np.place(a, a > 9, [])
""".replace(";", "\n").split("\n")


@pytest.mark.parametrize("dims", [1, 2, 0])
def test_stores_that_overlap(dims: int) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for store in (s.strip() for s in OVERLAPS if s.strip()):
        shape = {0: "(x[:6] * 2).reshape(-1)", 1: "x[:6] * 1.0", 2: "(x * 1.0).reshape(6, 2)[:, 0]"}[dims]
        f = function(f"M = np.ones((6, 6))\ndef f(x):\n    a = {shape}\n    {store}\n    return a * 1.0, x * 2.0\n")
        f.__globals__["M"] = values(6, 6)
        try:
            counts[outcome(f, lambda: values(12))] += 1
        except AssertionError as error:
            raise AssertionError(f"{store}: {error}") from None
    assert counts["right"] > 20, counts


def stored(a: Any) -> Any:
    a[0] = a[1] * 3.0
    return np.sum(a * a)


BUFFER = values(4)


@pytest.mark.parametrize(
    "argument",
    [as_strided(BUFFER, (3,), (0,)), as_strided(BUFFER, (2, 2), (8, 8)), as_strided(BUFFER, (3, 2), (-0, 8))],
)
def test_an_argument_that_overlaps_itself(argument: Any) -> None:
    gradient = ad.grad(stored)
    gradient(argument.copy())
    with pytest.raises(ad.AliasError, match="several elements of the array 'a' may be one in memory"):
        gradient(argument)


@pytest.mark.parametrize("argument", [BUFFER[::2], BUFFER[::-1], values(3, 2).T, values(2, 3, 2)[:, ::2].T])
def test_an_argument_with_strides_does_not(argument: Any) -> None:
    assert np.allclose(ad.grad(stored)(argument), ad.grad(stored)(argument.copy()))


def pair(a: Any, b: Any) -> Any:
    a[0] = b[-1] * 3.0
    return np.sum(a * b)


@pytest.mark.parametrize("swapped", [False, True])
def test_arguments_that_overlap(swapped: bool) -> None:
    first, second = (BUFFER[1:], BUFFER[:-1]) if swapped else (BUFFER[:-1], BUFFER[1:])
    gradient = ad.grad(pair)
    gradient(first.copy(), second)
    with pytest.raises(ad.AliasError):
        gradient(first, second)


def chosen(x: Any, c: Any) -> Any:
    y = x * 1.0
    w = sliding_window_view(y, 2, writeable=True) if c > 0 else np.ones((2, 2))
    w[0, 1] = 4.0
    return np.sum(w)


def repeated(x: Any, c: Any) -> Any:
    w = np.ones((2, 2))
    while c > 0:
        w = sliding_window_view(x, 2, writeable=True)
        c = c - 1.0
    w[0, 1] = 4.0
    return np.sum(w)


@pytest.mark.parametrize("f", [chosen, repeated])
def test_what_is_folded_stays_so(f: Any) -> None:
    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(values(3), 1.0)


RNG = np.random.default_rng(3)
INTO = """
np.median(a, overwrite_input=True); np.nanmedian(a, overwrite_input=True); np.percentile(a, 30, None, None, True)
np.nanquantile(a, 0.3, overwrite_input=True); RNG.random(out=a); RNG.random(3, float, a)
RNG.standard_normal(out=a); RNG.standard_gamma(2.0, out=a); np.random.default_rng(0).random(out=a)
np.random.default_rng(0).standard_exponential(None, float, "zig", a); RNG.permuted(a, out=a)
""".replace(";", "\n").split("\n")


@pytest.mark.parametrize("call", [s.strip() for s in INTO if s.strip()])
def test_what_a_call_writes_is_not_read_as_it_was(call: str) -> None:
    f = function(f"def f(x):\n    a = x * 2.0\n    {call}\n    return np.sum(a * a)\n")
    f.__globals__["RNG"] = RNG
    with pytest.raises(ad.AutodiffError):
        ad.grad(f)(values(3))
    g = function("def f(x):\n    a = np.median(x * 2.0, overwrite_input=True)\n    return a * a\n")
    np.testing.assert_allclose(ad.grad(g)(np.array([3.0, 1.0, 2.0])), [0.0, 0.0, 16.0])
