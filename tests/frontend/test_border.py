"""Containers that reach a parameter which takes an array: every function of NumPy's and every form of store, times the
kinds of containers. Each program is compared with a run of itself and with central differences."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.frontend.definitions import DEFINED, load_all
from autodiff_compiler.frontend.handlers import at_border
from autodiff_compiler.ir.core import Prim
from autodiff_compiler.ir.opset import PRIMS
from autodiff_compiler.ir.roles import MAKERS, ROLES, is_numpys, names_of
from tests.programs.checks import load

load_all()
POINT = (0.7, 1.3)

# L stands for a container of three numbers, M for one of two rows of two, P for a positive definite one, K for the
# argument that has to be a list of arrays.
CONTAINERS = {
    "list": {"L": "[x, y * x, 0.5]", "M": "[[x, y], [y * x, 1.5]]", "P": "[[2.0 + x, y], [y, 3.0]]"},
    "tuple": {"L": "(x, y * x, 0.5)", "M": "((x, y), (y * x, 1.5))", "P": "((2.0 + x, y), (y, 3.0))"},
    "mixed": {
        "L": "[np.float64(x), y * x, np.array(0.5)]",
        "M": "(np.array([x, y]), [y * x, 1.5])",
        "P": "[np.array([2.0 + x, y]), (y, 3.0)]",
    },
    "grown": {
        "L": "grown([x, y * x, 0.5], int(n))",
        "M": "grown_rows([x, y * x], [y, 1.5], int(n))",
        "P": "grown_rows([2.0 + x, y], [y, 3.0], int(n))",
    },
    "grown tuples": {
        "L": "grown([x, y * x, 0.5], int(n))",
        "M": "grown_tuples([x, y * x], [y, 1.5], int(n))",
        "P": "grown_tuples([2.0 + x, y], [y, 3.0], int(n))",
    },
    "grown arrays": {
        "L": "grown([x, y * x, 0.5], int(n))",
        "M": "grown_arrays([x, y * x], [y, 1.5], int(n))",
        "P": "grown_arrays([2.0 + x, y], [y, 3.0], int(n))",
    },
}
HEADER = """
import operator
import numpy as np

def grown(items, n):
    items = np.array(items)
    out = []
    for k in range(n + 1):
        out.append(items[k])
    return out

def grown_rows(p, q, n):
    p, q = np.array(p), np.array(q)
    out = []
    for k in range(n):
        out.append([p[k], q[k]])
    return out

def grown_tuples(p, q, n):
    p, q = np.array(p), np.array(q)
    out = []
    for k in range(n):
        out.append((p[k], q[k]))
    return out

def grown_arrays(p, q, n):
    p, q = np.array(p), np.array(q)
    out = []
    for k in range(n):
        out.append(np.array([p[k], q[k]]))
    return out

"""

UNARY = (
    "negative positive absolute fabs sqrt square cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan "
    "arctan "
    "sinh cosh tanh arcsinh deg2rad rad2deg degrees radians sinc i0 conj real imag nan_to_num"
).split()
BINARY = (
    "add subtract multiply divide true_divide power float_power remainder fmod maximum minimum fmax fmin arctan2 hypot "
    "logaddexp logaddexp2 copysign"
).split()
REDUCTIONS = (
    "sum prod mean max min std var ptp cumsum cumprod nansum nanmean nanmax nanmin nanstd nanvar nanprod median "
    "nanmedian average nancumsum nancumprod"
).split()
CALLS = [
    *[f"np.{name}({{L}})" for name in UNARY],
    *[f"np.{name}({{L}}, 1.7)" for name in BINARY],
    *[f"np.{name}(np.array([0.3, 1.1, 2.0]) * y, {{L}})" for name in BINARY],
    *[f"np.{name}({{L}})" for name in REDUCTIONS],
    *[f"np.{name}({{M}}, axis=0)" for name in REDUCTIONS],
    "np.arcsin(np.multiply({L}, 0.3))", "np.quantile({L}, 0.4)", "np.percentile({L}, [20, 40])", "np.trapezoid({L})",
    "np.trapezoid({L}, {L})", "np.dot({L}, {L})", "np.dot({M}, {M})", "np.vdot({L}, {L})", "np.inner({L}, {L})",
    "np.outer({L}, {L})", "np.matmul({M}, {M})", "np.tensordot({M}, {M}, 1)", "np.einsum('ij,jk->ik', {M}, {M})",
    "np.einsum('i,i', {L}, {L})", "np.kron({L}, {L})", "np.cross({L}, [1.0, 2.0, 3.0])", "np.trace({M})",
    "np.linalg.norm({L})", "np.linalg.norm({M}, axis=1)", "np.linalg.norm({M}, 1)", "np.linalg.det({M})",
    "np.linalg.inv({M})", "np.linalg.solve({M}, [1.0, y])", "np.linalg.solve(np.eye(2) + y, {M})",
    "np.linalg.cholesky({P})", "np.linalg.eigh({P})[0]", "np.linalg.eigvalsh({P})", "np.linalg.svd({M})[1]",
    "np.linalg.pinv({M})", "np.linalg.slogdet({M})[1]", "np.linalg.matrix_power({M}, 2)", "np.linalg.cond({M})",
    "np.linalg.multi_dot([{M}, {M}, {M}])", "np.linalg.qr({M})[1]", "np.linalg.lstsq({M}, [1.0, y])[0]",
    "np.linalg.tensorsolve({M}, [1.0, y])", "np.abs(np.fft.fft({L}))", "np.fft.irfft(np.fft.rfft({L}), 3)",
    "np.abs(np.fft.fft2({M}))", "np.fft.fftshift({L})", "np.convolve({L}, [1.0, y])", "np.correlate({L}, {L}, 'full')",
    "np.interp(0.6, [0.0, 1.0, 2.0], {L})", "np.interp({L}, [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])",
    "np.reshape({L}, (3, 1))", "np.reshape({M}, 4)", "np.ravel({M})", "np.ravel({L})", "np.transpose({M})",
    "np.swapaxes({M}, 0, 1)", "np.moveaxis({M}, 0, 1)", "np.rollaxis({M}, 1)", "np.squeeze({L})",
    "np.expand_dims({L}, 0)", "np.broadcast_to({L}, (2, 3))", "np.broadcast_arrays({L}, np.ones((2, 3)))[0]",
    "np.atleast_1d({L})", "np.atleast_2d({L})", "np.atleast_3d({L})", "np.flip({L})", "np.flipud({M})",
    "np.fliplr({M})", "np.roll({L}, 1)", "np.rot90({M})", "np.concatenate([{L}, {L}])", "np.concatenate([{L}, [y]])",
    "np.concatenate({M})", "np.stack([{L}, {L}])", "np.stack({M})", "np.vstack([{L}, {L}])", "np.vstack({M})",
    "np.hstack([{L}, {L}])", "np.hstack({M})", "np.dstack([{L}, {L}])", "np.column_stack([{L}, {L}])",
    "np.column_stack({M})", "np.append({L}, 2.0 * y)", "np.append([1.0], {L})", "np.insert({L}, 1, y)",
    "np.insert(np.ones(3) * y, 1, {L})", "np.delete({L}, 1)", "np.split({L}, 3)[1]", "np.array_split({L}, 2)[0]",
    "np.repeat({L}, 2)", "np.repeat({L}, [1, 2, 0])", "np.tile({L}, 2)", "np.pad({L}, 1)", "np.resize({L}, 5)",
    "np.where([True, False, True], {L}, 2.0)", "np.where(np.array([True, False, True]), y, {L})",
    "np.clip({L}, 0.6, 0.8)", "np.clip(np.array([0.1, 1.0, 2.0]) * y, {L}, 2.0)", "np.clip([0.1, 5.0, 0.2], 0.3, {L})",
    "np.take({L}, [0, 2])", "np.take({L}, 1)", "np.take_along_axis({M}, np.array([[0], [1]]), 1)", "np.sort({L})",
    "np.partition({L}, 1)", "np.compress([True, False, True], {L})", "np.extract([True, False, True], {L})",
    "np.choose([0, 1], [{L}[:2], [y, y]])", "np.select([np.array([True, False, True])], [{L}], 3.0)",
    "np.diff({L})", "np.diff({L}, prepend=y)", "np.ediff1d({L})", "np.gradient({L})", "np.diag({L})", "np.diag({M})",
    "np.diagonal({M})", "np.diagflat({L})", "np.tril({M})", "np.triu({M})", "np.vander({L})", "np.unwrap({L})",
    "np.round(np.multiply({L}, 1.0)) + y", "np.full(3, {L})", "np.full((2, 3), {L})", "np.full_like(np.zeros(3), {L})",
    "np.linspace({L}, 2.0, 3)", "np.linspace(0.0, {L}, 3)", "np.geomspace({L}, 2.0, 3)", "np.logspace({L}, 1.0, 3)",
    "np.copy({L})", "np.array({L})", "np.asarray({L})", "np.asarray({M}).T", "np.array({L}, dtype=float)",
    "np.asanyarray({M})", "np.ascontiguousarray({M})", "np.asfortranarray({M})", "np.array({M}, ndmin=3)",
    "np.r_[{L}]", "np.r_[{L}, y]", "np.r_[1.0, {L}, 2.0]", "np.c_[{L}, {L}]", "np.meshgrid({L}, [1.0, 2.0])[0]",
    "np.meshgrid([1.0, 2.0], {L})[1]", "np.ix_([0, 1])[0] * y", "np.polyval({L}, y)", "np.polyval([1.0, 2.0], {L})",
    "np.polyfit([0.0, 1.0, 2.0], {L}, 1)", "np.cov({M})", "np.cov({L}, [1.0, 2.0, 4.0])",
    "np.corrcoef({L}, [1.0, 2.0, 4.0])",
    "np.average({L}, weights=[1.0, 2.0, 3.0])", "np.average([1.0, 2.0, 3.0], weights={L})",
    "np.bincount([0, 1, 1], weights={L})", "np.histogram([0.1, 0.2, 0.9], 2, weights={L})[0]",
    "np.apply_along_axis(np.sum, 0, {M})", "np.zeros_like({L}) + y", "np.ones_like({M}) * y",
    "np.piecewise({L}, [np.array([True, False, True])], [np.sin, np.cos])", "np.nan_to_num({M})", "np.angle({L}) + y",
    "np.add.reduce({L})", "np.multiply.reduce({L})", "np.maximum.reduce({L})", "np.add.accumulate({L})",
    "np.multiply.accumulate({L})", "np.add.outer({L}, {L})", "np.multiply.outer({L}, [1.0, y])",
    "np.add.reduceat({L}, [0, 2])", "np.lib.stride_tricks.sliding_window_view({L}, 2)",
    "np.block([[np.array({L}), y]])",
    "np.fix({L}) + y", "np.heaviside({L}, 0.5) + y", "np.ptp({M}, 1)", "np.max({M}, axis=1)", "np.emath.sqrt({L})",
    "np.linalg.vector_norm({L})", "np.linalg.matrix_norm({M})", "np.linalg.outer({L}, {L})",
    "np.linalg.matmul({M}, {M})",
    "np.linalg.diagonal({M})", "np.linalg.trace({M})", "np.linalg.cross({L}, [1.0, 2.0, y])",
    "np.matrix_transpose({M})",
    "np.cumulative_sum({L})", "np.searchsorted([0.0, 1.0], {L}) + y", "np.argmax({L}) * y", "np.count_nonzero({L}) * y",
    "np.less({L}, 0.8) * y", "np.isfinite({L}) * y", "np.allclose({L}, {L}) * y", "np.shape({M})[0] * y",
    "np.size({M}) * y", "np.ndim({M}) * y", "np.any({L}) * y", "np.unique({L})", "np.argsort({L}) * y",
    "np.dot(np.ones(3), {L})", "np.matvec({M}, [1.0, y])", "np.vecdot({L}, {L})", "np.float64(2.0) * np.add({L}, 0.0)",
    # methods
    "(np.ones(3) * y).dot({L})", "np.ones(2).dot({M}) * y", "(np.arange(3.0) * y).clip({L}, 3.0)",
    "(np.arange(3.0) * y).take([0, 2])", "(np.arange(3.0) * y).repeat([1, 0, 2])",
    "(np.arange(3.0) * y).compress([True, False, True])", "np.array([0, 1]).choose([{L}[:2], [y, y]])",
    # operators
    "np.arange(3.0) + {L}", "{L} + np.arange(3.0)", "np.arange(3.0) * {L}", "{L} * np.arange(3.0)", "{L} - np.ones(3)",
    "{L} / np.array([1.0, 2.0, y])", "np.array([1.0, 2.0, y]) / {L}", "{L} ** np.array([2.0, 1.0, y])",
    "np.array([1.0, 2.0, y]) ** {L}", "np.eye(2) @ {M}", "{M} @ np.eye(2)", "{M} @ np.array([1.0, y])",
    "np.array([1.0, y]) @ {M}", "{L} % np.array([0.4, 0.3, 0.2])", "{L} - np.max({L})", "{L} * np.float64(2.0)",
    "np.float64(2.0) * {L}", "np.float64(2.0) - {L}", "{L} / np.sum({L})", "({L} > np.full(3, 0.6)) * y",
    "({L} == np.array([0.7, 0.5, 0.5])) * y", "(np.full(3, 0.6) <= {L}) * y",
]  # fmt: skip

# Statements that store into `a`, zeros of three or (b) of two rows of two, and (r) an array of records.
STORES = [
    "a[:] = {L}", "a[...] = {L}", "a[0:2] = {L}[:2]", "a[::-1] = {L}", "a[np.array([True, True, True])] = {L}",
    "a[[2, 0, 1]] = {L}", "a[np.array([2, 0, 1])] = {L}", "a[[True, False, True]] = {L}[:2]", "b[0] = {L}[:2]",
    "b[1, :] = {L}[1:]", "b[:, 0] = {L}[1:]", "b[:] = {M}", "b[...] = {M}", "b[:, ::-1] = {M}", "b[[1, 0]] = {M}",
    "b[0][:] = {L}[:2]", "b[:, None, 0] = {M}", "c = b[0]; c[:] = {L}[1:]", "b.T[:] = {M}", "b.T[0] = {L}[:2]",
    "a += {L}", "a -= {L}", "a *= {L}", "a /= {L}", "a **= {L}", "a[:] += {L}", "b += {M}", "b *= {M}", "b @= {M}",
    "b[0] += {L}[:2]", "a[[0, 2]] *= {L}[:2]", "b += {L}[:2]", "a[1:] -= {L}[1:]",
    "np.copyto(a, {L})", "np.copyto(b, {M})", "np.copyto(b, {L}[:2])", "np.copyto(a, {L}, where=[True, False, True])",
    "np.put(a, [0, 2], {L})", "np.put(a, [2, 0], {L}[1:])", "a.put([0, 1], {L}[:2])", "np.place(a, a < 2.0, {L})",
    "np.putmask(a, np.array([True, False, True]), {L})", "np.put_along_axis(a, np.array([2, 0, 1]), {L}, 0)",
    "np.put_along_axis(b, np.array([[1], [0]]), [[x], [y]], 1)",
    "np.put_along_axis(b, np.array([[1, 0], [0, 1]]), {M}, 1)",
    "np.fill_diagonal(b, {L}[:2])", "np.add.at(a, [0, 0, 1], {L})", "np.add.at(a, np.array([0, 0, 1]), {L})",
    "np.subtract.at(a, [0, 0, 1], {L})", "np.multiply.at(a, [0, 1, 2], {L})", "np.add.at(b, (0, [0, 1]), {L}[:2])",
    "a.flat = {L}", "a.flat[:] = {L}", "b.flat = {M}[0]", "b.flat[:] = [x, y, y * x, 1.0]", "b.flat[1:3] = {L}[:2]",
    "a.real = {L}", "a.real[:] = {L}", "np.add(a, {L}, out=a)", "np.multiply({L}, 2.0, a)", "np.sin({L}, out=a)",
    "np.cumsum({L}, out=a)", "np.dot({M}, {M}, out=b)", "np.clip({L}, 0.0, 0.8, out=a)", "a[:], b[:] = {L}, {M}",
    "a[0], b[:] = 2.0 * y, {M}", "operator.iadd(a, {L})", "np.stack({M}, out=b)",
    "np.concatenate([{L}[:2], [y]], out=a)",
    "b[{L}[0] > 0.0, 0] = x", "for row in b: row[:] = {L}[:2]", "for k in range(2): b[k] = [x * k, y]",
    "for k in range(2): b[k, :] = (x * k, y)", "for k in range(2): b[k] += {L}[:2]",
    "for k in range(1): b[k + 1] = [x * b[k, 0] + x, y]",
]  # fmt: skip


def program(body: str, containers: dict[str, str]) -> str:
    for name, text in containers.items():
        body = body.replace("{" + name + "}", text)
    return HEADER + body


def call_program(expression: str, kind: str) -> str:
    body = f"""
def f(x, y, n):
    r = {expression}
    r = np.asarray(r)
    return np.sum(np.sin(r) * np.reshape(np.arange(1.0, r.size + 1.0), r.shape)) + x * y
"""
    return program(body, CONTAINERS[kind])


def store_program(statement: str, kind: str) -> str:
    body = f"""
def f(x, y, n):
    a = np.full(3, 1.0) + 0.1 * y
    b = np.full((2, 2), 1.0) + 0.2 * x
    {statement}
    return np.sum(np.sin(a) * np.arange(1.0, 4.0)) + np.sum(b * b * np.array([[1.0, 2.0], [3.0, 4.0]])) + x * y
"""
    return program(body, CONTAINERS[kind])


def outcome(source: str) -> str:
    """ "right", "invalid" (the function itself raises), "refused: ..." or "WRONG: ..." and "CRASH: ..."."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f = load(source, "border_program")["f"]
        try:
            value = f(*POINT, 2)
        except Exception as error:
            invalid: Exception | None = error
        else:
            invalid = None
        try:
            found_value, found = ad.value_and_grad(f, argnums=(0, 1))(*POINT, 2)
        except AutodiffError as error:
            return "invalid" if invalid is not None else f"refused: {error.message}"
        except Exception as error:
            return "invalid" if type(error) is type(invalid) else f"CRASH: {error!r}"
        if invalid is not None:
            return f"WRONG: it should raise {invalid!r}"
        h = 1e-6
        want = [
            (
                f(*(p + h * (k == j) for j, p in enumerate(POINT)), 2)
                - f(*(p - h * (k == j) for j, p in enumerate(POINT)), 2)
            )
            / (2 * h)
            for k in range(2)
        ]
        if abs(found_value - value) > 1e-12 * max(1.0, abs(value)) or not np.allclose(
            found, want, rtol=1e-5, atol=1e-5
        ):
            return f"WRONG: {found_value} {found}, not {value} {want}"
        return "right"


REFUSED = ("np.emath.sqrt", "a.real[:]", "operator.iadd")


@pytest.mark.parametrize("kind", CONTAINERS)
@pytest.mark.parametrize("make, texts", [(call_program, CALLS), (store_program, STORES)], ids=["calls", "stores"])
def test_border(make: Any, texts: list[str], kind: str) -> None:
    found = {text: outcome(make(text, kind)) for text in texts if available(text)}
    odd = {text: got for text, got in found.items() if got not in ("right", "invalid")}
    assert not {text: got for text, got in odd.items() if not got.startswith("refused") or not text.startswith(REFUSED)}
    assert sum(got == "right" for got in found.values()) > 0.95 * len(found)


def available(text: str) -> bool:
    """NumPy has the functions that the text calls; some are new."""
    return all(hasattr(np, name) for name in re.findall(r"np\.(\w+)", text))


def is_scipys(function: Any) -> bool:
    """What SciPy's definitions take is made an array in them: its parameters have no roles."""
    return (getattr(function, "__module__", None) or "").startswith("scipy.")


@pytest.mark.parametrize(
    "function",
    [
        *[f for f in DEFINED if not is_scipys(f)],
        *[f for f in at_border() if f not in MAKERS],
        *[p for p in PRIMS.values() if is_numpys(p)],
    ],
    ids=lambda fn: getattr(fn, "__qualname__", str(fn)),
)
def test_every_parameter_has_a_role(function: Any) -> None:
    if isinstance(function, Prim):
        assert len(function.roles) == len(function.params)
        return
    known = PRIMS[function].params if function in PRIMS else ()
    names = {name.lstrip("*") for name in names_of(DEFINED.get(function, function))}
    assert names - {name.lstrip("*") for name in known} <= ROLES.keys()


@pytest.mark.parametrize("name", ["a[:] = r", "np.copyto(a, r)", "a[0] = r[0]"])
def test_arrays_that_a_function_makes_of_a_list(name: str) -> None:
    """The second derivative, a warm cache and other lengths see the same arrays."""
    source = program(
        f"""
def f(x, y, n):
    r = [x * y, y ** 3, x ** 2 * y]
    a = np.zeros(3)
    {name}
    return np.sum(a * a * np.arange(1.0, 4.0))
""",
        {},
    )
    f = load(source, "border_second")["f"]
    h = 1e-5
    g = ad.grad(f)
    assert_close = np.testing.assert_allclose
    assert_close(
        ad.grad(ad.grad(f))(*POINT, 2),
        (g(POINT[0] + h, POINT[1], 2) - g(POINT[0] - h, POINT[1], 2)) / (2 * h),
        rtol=1e-6,
    )


def test_a_primitive_of_the_users_that_is_given_a_list() -> None:
    @ad.primitive
    def longest(items):
        return max(items)

    @ad.vjp_rule(longest, "items")
    def rule(g, out, items):
        return g

    def f(x):
        return longest([x, 2.0 * x]) * x

    with pytest.raises(AutodiffError, match="list or tuple") as caught:
        ad.grad(f)(0.7)
    assert "np.array" in str(caught.value)


def test_a_list_times_a_number() -> None:
    def f(p):
        return np.sum(p**2.0)

    with pytest.raises(TypeError):
        f([0.7, 1.3])
    with pytest.raises(TypeError):
        ad.grad(f)([0.7, 1.3])


if __name__ == "__main__":
    import collections

    counts: Any = collections.Counter()
    for kind in CONTAINERS:
        for make, texts in ((call_program, CALLS), (store_program, STORES)):
            for text in texts:
                got = outcome(make(text, kind))
                counts[got.split(":")[0]] += 1
                if got not in ("right", "invalid"):
                    print(kind, "|", text, "|", got)
    print(counts)
