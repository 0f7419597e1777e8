"""NumPy's functions with arguments that fit and that do not: what NumPy raises is raised, and a value is NumPy's.

Each call is made with arguments of several shapes. An error of the package is allowed, a raw one only where NumPy
raises as well.
"""

from __future__ import annotations

import collections
import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

R = np.random.default_rng(0)
ARGUMENTS: list[Any] = [
    0.7, np.float64(0.7), np.array(0.7), *[R.uniform(0.3, 1.7, s) for s in ((3,), (1,), (0,), (2, 3), (3, 3), (0, 3))],
    *[R.uniform(0.3, 1.7, s) for s in ((3, 0), (2, 3, 2), (1, 1), (1, 3))],
]  # fmt: skip
NAMESPACE: dict[str, Any] = {
    "A": R.uniform(0.3, 1.7, 3), "M": R.uniform(0.3, 1.7, (2, 3)), "S": R.uniform(0.3, 1.7, (3, 3)), "E": np.zeros(0),
    "W": np.array([1.0, -1.0, 0.0]), "N": np.arange(3), "B": np.array([True, False, True]), "I": np.array([0, 2]),
}  # fmt: skip

REDUCTIONS = "sum prod mean std var max min all nansum nanprod nanmean nanstd nanvar nanmax nanmin median nanmedian"
SCANS = "cumsum cumprod nancumsum nancumprod cumulative_sum cumulative_prod sort argsort argmax flip unwrap diff"
ALONG = "stack gradient trapezoid unstack rollaxis squeeze expand_dims repeat take delete roll split array_split"
AXES = [
    "",
    ", axis=0",
    ", axis=1",
    ", axis=-1",
    ", axis=2",
    ", axis=(0, 1)",
    ", axis=(0, 0)",
    ", axis=None",
    ", axis=()",
]
SECOND = {"stack": "[x, x]", "repeat": "x, 2", "take": "x, [0, 1]", "delete": "x, 0", "roll": "x, 1", "split": "x, 1",
          "array_split": "x, 2"}  # fmt: skip


def calls() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for f in REDUCTIONS.split():
        groups["reductions"] += [f"np.{f}(x{a})" for a in AXES]
        groups["reductions"] += [f"np.{f}(x, axis=0, keepdims=True)", f"np.{f}(x, bogus=1)"]
        outs = ["np.zeros(3)", "np.zeros(2)", "np.zeros(())", "np.zeros(3, int)"]
        groups["outputs"] += [f"np.{f}(x, axis=0, out={o})" for o in outs if "all" not in f]
        if f in ("std", "var", "nanstd", "nanvar"):
            groups["reductions"] += [f"np.{f}(x, ddof={d}{a})" for d in (1, 2) for a in AXES[:3]]
        if hasattr(np.ndarray, f):
            groups["reductions"] += [f"x.{f}()", f"x.{f}(1)"]
    for f in SCANS.split():
        groups["scans"] += [f"np.{f}(x{a})" for a in AXES]
    for f in ALONG.split():
        groups["along"] += [f"np.{f}({SECOND.get(f, 'x')}{', ' + a[7:] if f == 'rollaxis' and a else a})" for a in AXES]
    for w in ("A", "W", "x", "x - x", "M", "np.ones(2)"):
        groups["average"] += [f"np.average(x, weights={w}{a})" for a in AXES[:6]]
    groups["average"] += ["np.average(x, returned=True)", "np.average(x, axis=1)", "np.average(x, A, 0)"]
    for o in ("None", "1", "2", "-1", "np.inf", "'fro'", "'nuc'", "0", "'bogus'"):
        groups["norms"] += [f"np.linalg.norm(x, {o}{a})" for a in (*AXES[:7], ", axis=(0, 1), keepdims=True")]
        groups["norms"] += [f"np.linalg.vector_norm(x, ord={o}, axis=(0, 1))", f"np.linalg.matrix_norm(x, ord={o})"]
    for f in ("add", "subtract", "power", "maximum", "matmul", "vecdot", "matvec", "vecmat"):
        for b in ("x, x", "x, A", "M, x", "x, E", "x, np.ones(2)"):
            groups["pairs"].append(f"np.{f}({b})")
        for o in ("np.zeros(3)", "np.zeros(2)", "np.zeros((2, 3))", "np.zeros(3, int)", "np.zeros(())"):
            groups["outputs"].append(f"np.{f}(x, A, out={o})")
        if f in ("add", "maximum"):
            groups["scans"] += [f"np.{f}.reduce(x{a})" for a in AXES] + [f"np.{f}.accumulate(x{a})" for a in AXES[:8]]
            groups["pairs"] += [f"np.{f}.outer(x, A)", f"np.{f}.outer(x, x)"]
    for f in ("dot", "inner", "outer", "vdot", "kron", "linalg.outer", "linalg.vecdot", "tensordot", "linalg.solve"):
        groups["pairs"] += [f"np.{f}(x, {b})" for b in ("A", "S", "x", "2.0", "np.ones((3, 2))")] + [f"np.{f}(M, x)"]
    for f in ("atleast_2d", "atleast_3d", "vstack", "hstack", "dstack", "column_stack", "concatenate", "block"):
        groups["joining"] += [
            f"np.{f}({b})" for b in ("x", "(x,)", "[x, x]", "[x, A]", "(x, 2.0)", "[]", "[[x, x], x]")
        ]
    for s in ("-1", "3", "(3, 1)", "(-1, -1)", "()", "(0, -1)", "x.shape", "(2, 3)", "(-2,)"):
        groups["shapes"] += [f"np.{f}(x, {s})" for f in ("reshape", "broadcast_to", "resize")] + [f"np.full({s}, x)"]
    return groups


OTHERS = """
np.cov(x); np.cov(x, ddof=2); np.cov(x, A); np.cov(x, rowvar=False); np.corrcoef(x); np.linalg.multi_dot([x])
x.clip(0); np.linalg.multi_dot([x, A]); np.linalg.multi_dot([x, x, A]); np.linalg.multi_dot([A, S, x])
x.clip(max=1.0); x.clip(); np.vander(x); np.vander(x, 2); np.vander(x, -1); np.meshgrid(x, A)
np.meshgrid(x, A, indexing='xx'); np.ix_(x); np.linalg.matrix_power(x, 1); np.linalg.matrix_power(x, 2)
np.linalg.matrix_power(x, 1.5); np.hsplit(x, 1); np.vsplit(x, 1); np.dsplit(x, 1); np.split(x, 2); np.split(x, 0)
np.array_split(x, [1, 2]); np.array_split(x, 0); np.rollaxis(x, 0, 5); np.rollaxis(x, 1, -2); np.diag(x)
np.diagonal(x, 0, 0, 0); np.trace(x, 1); np.rot90(x, 1, (0, 0)); np.choose([0, 1, 0], [x, A], out=np.zeros(3))
np.choose([0, 1, 0], [x, A], out=np.zeros((2, 3))); np.choose(5, [x, A]); np.dot(x, S, out=np.zeros((2, 3)))
np.dot(x, S, out=np.zeros(3)); np.dot(x, S, out=np.zeros((3, 2)).T); np.choose(0, x)
np.dot(x, S, out=np.zeros((2, 3), order='F')); np.clip(x, 0.5, 1.0, out=np.zeros(2)); np.round(x, 1, out=np.zeros(3))
np.sort(x, out=x); np.argsort(x, out=x); np.modf(x, out=None); np.sqrt(x, np.zeros(3)); np.take(x, 0); np.take(x, 5)
np.take(x, [[0]], axis=0); np.take(x, []); np.repeat(x, 2, axis=0); np.repeat(x, [1, 2]); np.compress([True], x)
x.compress([True]); np.extract(x > 0.8, x); np.delete(x, 0); np.insert(x, 0, 1.5); np.append(x, x, 0)
np.tile(x, (2, 1)); np.convolve(x, A); np.convolve(x, 2.0); np.convolve(A, x); np.correlate(x, A); np.pad(x, 1)
np.pad(x, 1, mode='edge'); np.quantile(x, 0.3); np.quantile(x, 1.5); np.percentile(x, [20, 50], axis=0)
np.gradient(x, A); np.gradient(x, np.ones(2)); np.gradient(x, edge_order=3); np.select([x > 1], [x])
np.select([], []); np.select([x], [x]); np.select([B], [x, x]); np.piecewise(x, [x < 1], [lambda v: v * v])
np.piecewise(x, [x < 1], [1.0, 2.0, 3.0]); np.geomspace(0, x, 3); np.geomspace(1, x, 3)
np.apply_along_axis(np.sum, 0, x); np.apply_along_axis(lambda r: r * 2.0, -1, x); np.nonzero(x); np.argwhere(x > 1)
np.tril_indices_from(x); np.diag_indices_from(x); np.polyfit(x, A, 1); np.polyfit(N, x, -1); np.polyval(x, 2.0)
np.interp(x, A, A); np.cross(x, A); np.linalg.tensorinv(x, 0); x.dot(A); x.ptp(); x[...]; x[()]; x[0]; x[None]
x[:, 0]; x[5]; x[1:]; x[[0]]; x[..., 0]; x[x > 0.8]; x[..., ...]; x.squeeze(); x.squeeze(0); x.T; x.ravel(); x ** 2
x ** (2 ** 70); x * (np.float64(1) / 0); x / np.float64(0); 0 ** x; x ** -1; x // 0; x % 0; x @ x; x @ A; A @ x
np.fft.fft(x, axis=1).real; np.fft.irfft(x); np.fft.fft2(x, axes=(0, 0)).real; np.linalg.det(x); np.linalg.inv(x)
np.linalg.cholesky(x); np.linalg.trace(x); np.linalg.diagonal(x); np.einsum('ii', x); np.einsum('ij->i', x)
np.einsum('i,i->i', x, A, out=np.zeros(2)); np.searchsorted(x, 0.5); np.bincount([0, 1, 1], weights=x)
np.digitize(x, A); np.diff(x, n=None); np.diff(x, 1); np.diff(x, n=2); np.fft.fftshift(x, axes=())
np.fft.ifftshift(x, axes=()); np.fft.fftshift(x, axes=0); np.linalg.cross(x, A, axis=None); np.linalg.cross(x, A)
np.corrcoef(x, dtype='x'); np.cov(x, dtype='x'); np.cov(x, dtype=np.float32); np.corrcoef(x, dtype=np.float64)
np.linalg.multi_dot([S, S], out=np.zeros((3, 3), np.float32)); np.linalg.multi_dot([S, S], out=np.zeros((3, 3)))
"""
STORES = """
x[0] = 2.0; x[:] = 2.0; x[5] = 1.0; x[...] = A; x[...] = M; x[0, 0] = 1.0; x.flat[0] = 2.0; x.flat[5] = 2.0
x.flat = A; x.flat[...] = [1.0, 2.0]; x.flat[...] = M; x.flat = []; x.flat[[0, 1]] = [3.0]; x.flat[1:] = [5.0]
x[B] = [1.0, 2.0]; x[B] = [1.0, 2.0, 3.0]; x += A; x += M; x += 1j; x += x[None]; x[0] += A; np.copyto(x, A)
np.copyto(x, M); x.fill(A); np.put(x, [0, 1], []); np.put(x, [0, 9], 2.0); np.place(x, x > 0.5, [])
np.putmask(x, B, 2.0); np.putmask(x, B, []); np.fill_diagonal(x, 2.0); np.put_along_axis(x, np.array([[0]]), 1.0, 1)
np.put_along_axis(x, np.array([0]), 1.0, None); np.add.at(x, 9, 1.0); np.add.at(x, [0, 0], 1.0); x.sort(); x.sort(3)
x.sort(axis=None); x.shape = (3, 1); x.T[...] = 1.0; np.add(x, A, out=x); np.cumsum(x, out=x)
np.clip(x, 0.5, 1.0, out=x); x[None] = 1.0; x[0] = [1.0]; x[x > 1] = 0.0
"""


def exists(call: str) -> bool:
    name = call.split("(")[0]
    if not name.startswith("np."):
        return True
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


def split(text: str) -> list[str]:
    return [c.strip() for c in text.replace(";", "\n").split("\n") if c.strip()]


GROUPS = {**calls(), "others": split(OTHERS), "stores": split(STORES)}


def leaves(value: Any) -> list[Any]:
    return [x for item in value for x in leaves(item)] if isinstance(value, (tuple, list)) else [value]


def cotangent(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        made = [cotangent(v) for v in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return np.ones_like(value) * 0.5 if isinstance(value, np.ndarray) and value.dtype.kind in "fc" else 0.5


def check(f: Any, argument: Any) -> str:
    error: Any = None
    try:
        want = f(np.array(argument) if isinstance(argument, np.ndarray) else argument)
    except Exception as raised:
        error = raised
    try:
        got, pull = ad.vjp(f, np.array(argument) if isinstance(argument, np.ndarray) else argument)
    except ad.AutodiffError:
        return "refused"
    except Exception as raised:
        assert error is not None, f"crashes: {raised!r}"
        known = (TypeError, ValueError, IndexError, AttributeError, ArithmeticError)
        assert isinstance(raised, known) and isinstance(error, known), f"{raised!r} instead of {error!r}"
        return "raises"
    assert error is None, f"{got} where NumPy raises {error!r}"
    ours, theirs = leaves(got), leaves(want)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs):
        assert np.shape(x) == np.shape(y) and np.allclose(x, y, equal_nan=True), f"{x} instead of {y}"
    floats = [y for y in theirs if np.asarray(y).dtype.kind == "f"]
    if floats and len(floats) == len(theirs):
        try:
            (gradient,) = pull(cotangent(want))
        except ad.AutodiffError:
            return "refused"
        assert np.shape(gradient) == np.shape(argument)
    return "right"


@pytest.mark.parametrize("group", GROUPS)
def test_calls(group: str) -> None:
    counts: collections.Counter[str] = collections.Counter()
    for k, call in enumerate(c for c in GROUPS[group] if exists(c)):
        body = f"    {call}\n    return x * 2.0\n" if group == "stores" else f"    return {call}\n"
        name, source = f"<edge {group} {k}>", f"def f(x):\n{body}"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        namespace: dict[str, Any] = {"np": np, "__name__": "edges", **NAMESPACE}
        exec(compile(source, name, "exec"), namespace)
        for argument in (ARGUMENTS[(k + j) % len(ARGUMENTS)] for j in (0, 4, 9)):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    counts[check(namespace["f"], argument)] += 1
                except AssertionError as problem:
                    raise AssertionError(f"{call} of {argument!r}: {problem}") from None
    assert counts["right"] > 10, counts


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("q", [30, 0.5, 100.0, np.float64(30)])
def test_percentiles_have_the_dtype_of_numpys(dtype: type, q: float) -> None:
    x = np.array([3.0, 1.0, 2.0, 5.0], dtype)
    for f in (lambda x: np.percentile(x, q), lambda x: np.quantile(x, q / 200)):
        value, tangent = ad.jvp(f, (x,), (x,))
        assert value.dtype == tangent.dtype == f(x).dtype
        np.testing.assert_allclose(value, f(x), rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["nansum", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("axis", [None, 0])
def test_reductions_without_nan_keep_narrow_dtypes(name: str, dtype: type, axis: int | None) -> None:
    function = getattr(np, name)

    def f(x):
        found = function(x, axis=axis)
        return np.sum(found) if found.dtype == dtype else np.sum(found * found)

    x = np.array([[0.5, np.nan, 3.0], [2.0, 0.25, 1.5]], dtype)
    assert function(x, axis=axis).dtype == dtype
    value, gradient = ad.value_and_grad(f)(x)
    assert gradient.dtype == dtype
    np.testing.assert_allclose(value, f(x), rtol=1e-3)


def test_running_extremes_that_skip_nan() -> None:
    w = np.arange(1.0, 7.0)

    def f(x, running):
        return np.sum(np.where(np.isnan(x), 0.0, w * running(x)))

    x = np.array([np.nan, 1.0, np.nan, 3.0, 2.0, 5.0])
    assert ad.grad(f)(x, np.fmax.accumulate).tolist() == [0.0, 2.0, 0.0, 9.0, 0.0, 6.0]
    assert ad.grad(f)(x, np.fmin.accumulate).tolist() == [0.0, 17.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["arcsin", "arccos", "arcsinh", "arccosh", "arctanh", "sqrt", "log"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_derivatives_on_both_sides_of_a_branch_cut(name, side):
    """On a cut, the sign of a zero decides. The derivative is that of the branch that the function takes."""
    fn = getattr(np, name)

    def f(x):
        z = x + 0j
        if name == "arcsinh":
            z = 1j * x + 0
        y = fn(z if side > 0 else -np.conj(z) if name == "arcsinh" else np.conj(z))
        return np.sum(y.imag + 2.0 * y.real)

    for x in (2.1, -2.1, 0.3, -0.3):
        at = np.array([x])
        np.testing.assert_allclose(ad.grad(f)(at), differences(f, at), rtol=1e-6)
        np.testing.assert_allclose(ad.jvp(f, (at,), (np.ones(1),))[1], differences(f, at)[0], rtol=1e-6)


@pytest.mark.parametrize("reduce", [np.sum, np.prod, np.mean, np.std, np.cumsum], ids=lambda f: f.__name__)
def test_reductions_compute_in_the_dtype_of_a_wider_out(reduce):
    """So np.sum of float32 with ``out=`` of float64 has more digits than the sum that is stored into it."""

    def wider(x, dtype):
        out = np.zeros_like(x, dtype=dtype)
        reduce(x * x, axis=0, out=out if reduce is np.cumsum else out[0])
        return np.sum(out * out)

    def said(x):
        out = np.zeros_like(x, dtype=np.float64)
        reduce(x * x, axis=0, dtype=np.float64, out=out if reduce is np.cumsum else out[0])
        return np.sum(out * out)

    x = np.random.default_rng(0).normal(size=(9, 3))
    for dtype, have in ((np.float64, np.float32), (np.float64, np.float16), (np.float32, np.float16)):
        with pytest.raises(ad.UnsupportedError, match="rounded in another way"):
            ad.grad(wider)(x.astype(have), dtype)
        assert ad.value_and_grad(said)(x.astype(have))[0] == said(x.astype(have))
    for dtype, have in ((np.float64, np.float64), (np.float32, np.float32), (np.float32, np.float64)):
        if dtype is have or reduce not in (np.mean, np.std):
            assert ad.value_and_grad(wider)(x.astype(have), dtype)[0] == wider(x.astype(have), dtype)
        else:
            with pytest.raises(ad.UnsupportedError, match="rounded in another way"):
                ad.grad(wider)(x.astype(have), dtype)
