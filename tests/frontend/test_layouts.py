"""Orders in memory: whether a reshape is a view of what a function has made is as NumPy decides it for that array.

Each program makes an array in some way, from operands in all orders, takes a view or a copy of it, stores through that,
and reads both. It is right, or refused.
"""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from tests.differences import differences

MAKERS = {
    "filled": [
        "np.zeros((3, 4), order='F')", "np.ones((3, 4), 'd', 'F')", "np.full((3, 4), v[0], order='F')",
        "np.eye(4, order='F')",
    ],
    "like": [
        "np.zeros_like({})", "np.ones_like({}, order='C')", "np.full_like({}, v[0], order='F')",
        "np.zeros_like({}, shape=(2, 3))",
    ],
    "copied": [
        "{}.copy()", "{}.copy(order='F')", "{}.copy('K')", "np.copy({})", "np.copy({}, order='C')", "np.array({})",
        "np.array({}, order='F')", "np.array({}, copy=None)",
    ],
    "cast": [
        "{}.astype(float)", "{}.astype(complex).real", "{}.flatten('F').reshape(2, -1)", "copy.copy({})",
        "copy.deepcopy({})",
    ],
    "asked": [
        "np.asarray({})", "np.asarray({}, order='F')", "np.ascontiguousarray({})", "np.asfortranarray({})",
        "np.asarray({}, float, 'C')", "np.require({})",
    ],
    "computed": [
        "{} * 2.0", "np.sin({})", "{} + {}[:1]", "np.where({} > 0, {}, 1.0)", "{} * v[-1]",
        "np.clip({}, -1.0, 1.0)", "-{}",
    ],
    "products": [
        "{} @ np.swapaxes({}, -1, -2)", "np.matmul({}, np.swapaxes({}, -1, -2))", "np.outer({}[0], {}[1])",
        "np.multiply.outer({}[0], v)",
    ],
    "joined": [
        "np.stack([{}, {}])", "np.stack([{}, {}], axis=-1)", "np.concatenate([{}, {}], axis=1)", "np.array([{}, {}])",
        "np.vstack([{}, {}])",
    ],
    "reduced": [
        "np.cumsum({}, 0)", "np.sum({}, axis=0, keepdims=True) * {}", "np.max({}, axis=0)",
        "{}.mean(-1, keepdims=True)",
        "np.sort({}, 0)",
    ],
    "picked": [
        "{}[[1, 0]]", "{}[..., [1, 0]]", "np.take({}, [1, 0], axis=-1)", "{}[::-1]", "{}[:, None]", "{}.T",
        "np.moveaxis({}, 0, -1)",
    ],
}  # fmt: skip
WINDOWS = "np.lib.stride_tricks.sliding_window_view(v, 2)"
OPERANDS = [
    "c", "f", "f.T", "c.T", "c[::-1]", "c[:, ::2]", "np.asfortranarray(c)", "np.broadcast_to(v, (3, 4))", "(f * v)",
    "d[:, 1]", "d.transpose(1, 0, 2)", "np.asfortranarray(d)", "v[:, None]", WINDOWS,
]  # fmt: skip
VIEWS = [
    "r.ravel()", "r.reshape(-1)", "r.T.ravel()", "r.ravel(order='F')", "r.reshape(-1, order='F')", "r.ravel('K')",
    "r.reshape(2, -1)[0]",
]  # fmt: skip
PROGRAM = """import copy
import numpy as np

def f(c, f, d, v):
    r = {}
    z = {}
    z[1:3] = z[1:3] * v[0] + v[1]
    z[-1:] *= v[2]
    return np.sum(np.arange(1.0, r.size + 1.0).reshape(r.shape) * r) + np.sum(np.arange(z.size) * np.sin(z))
"""


def arguments() -> list[Any]:
    c = np.cos(np.arange(12.0)).reshape(3, 4) * 1.3 + 0.2
    return [
        c,
        np.asfortranarray(c[::-1] * 0.7),
        np.sin(np.arange(24.0)).reshape(2, 3, 4),
        np.array([0.3, 0.7, -0.2, 0.5]),
    ]


def function(source: str) -> Any:
    name = "<layouts>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace: dict[str, Any] = {"__name__": "layouts"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def check(source: str) -> str:
    f = function(source)
    try:
        want = f(*arguments())
    except Exception:
        return "raises"
    try:
        value, (c_bar, v_bar) = ad.value_and_grad(f, argnums=(0, 3))(*arguments())
    except ad.AutodiffError as error:
        assert "defect" not in str(error) and "cannot handle" not in str(error), f"{error}\n{source}"
        return "refused"
    assert np.isclose(value, want), f"{value} instead of {want}\n{source}"
    r, h = np.random.default_rng(0), 1e-6
    toward = r.normal(size=(3, 4)), r.normal(size=4)
    ends = []
    for step in (h, -h):
        c, g, d, v = arguments()
        ends.append(f(c + step * toward[0], g, d, v + step * toward[1]))
    slope = (ends[0] - ends[1]) / (2 * h)
    got = np.sum(c_bar * toward[0]) + np.sum(v_bar * toward[1])
    assert np.isclose(got, slope, rtol=1e-5, atol=1e-5), f"gradient {got} instead of {slope}\n{source}"
    return "right"


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_a_view_is_what_numpy_makes_one(kind: str) -> None:
    seen: dict[str, int] = {}
    programs = list(itertools.product(MAKERS[kind], OPERANDS, VIEWS))
    for maker, operand, view in programs[:: max(1, len(programs) // 40)]:
        result = check(PROGRAM.format(maker.format(*[operand] * 4), view))
        seen[result] = seen.get(result, 0) + 1
    assert seen.get("right", 0) >= 4, seen


RIGHT = [
    ("np.asfortranarray(c)", "r.reshape(-1)"),
    ("np.zeros((3, 4)).copy(order='F')", "r.T.ravel()"),
    ("np.ones((3, 4), order='F')", "r.ravel(order='F')"),
    ("np.asfortranarray(c)", "r.reshape((2, -1), order='F')[0]"),
    ("np.asfortranarray(c) * v", "r.ravel()"),
    ("np.outer(v, v)", "r.ravel('A')"),
    ("copy.deepcopy(np.asfortranarray(c))", "r.ravel()"),
    ("np.matmul(d.transpose(1, 0, 2), d.transpose(1, 2, 0))", "r[0].reshape(-1)"),
    ("np.lib.stride_tricks.sliding_window_view(v * 1.0, 2).copy()", "r.reshape(-1)"),
    ("np.lib.stride_tricks.sliding_window_view(v * 1.0, 2, writeable=True).copy()", "r.ravel()"),
]


@pytest.mark.parametrize(("maker", "view"), RIGHT)
def test_arrays_of_known_order_are_not_refused(maker: str, view: str) -> None:
    assert check(PROGRAM.format(maker, view)) == ("refused" if maker.startswith("np.matmul") else "right")


def test_stores_through_flat_of_fortran_order() -> None:
    def f(x: Any) -> Any:
        a = np.ones((3, 3), order="F")
        a.flat[1:4] = x * 2.0
        return np.sum(a * np.arange(9.0).reshape(3, 3))

    value, gradient = ad.value_and_grad(f)(np.array([1.0, 2.0, 3.0]))
    assert value == f(np.array([1.0, 2.0, 3.0]))
    assert gradient.tolist() == [2.0, 4.0, 6.0]


def test_a_copy_of_windows_is_stored_into() -> None:
    def f(x: Any) -> Any:
        r = np.lib.stride_tricks.sliding_window_view(x * 1.0, 2).copy()
        r[0, 0] = 3.0 * x[1]
        return np.sum(r * r)

    assert np.allclose(ad.grad(f)(np.array([0.3, 0.7, 1.1])), [0.0, 22 * 0.7, 2.2])


def test_a_range_is_an_array_where_numpy_makes_one_of_it() -> None:
    def f(x: Any) -> Any:
        return np.dot([x[0], x[1]], range(2)) + np.inner(range(1, 3), x[:2]) + np.stack([range(3), x])[1, 0]

    assert ad.grad(f)(np.array([0.3, 0.7, 1.1])).tolist() == [2.0, 3.0, 0.0]


def test_the_diagonal_of_a_matrix_is_read_only() -> None:
    def f(x: Any) -> Any:
        m = np.outer(x, x)
        np.diag(m)[0] = 1.0
        return np.sum(m)

    def g(x: Any) -> Any:
        d = np.diag(np.outer(x, x)).copy()
        d[0] = x[1]
        m = np.diag(x)
        m[0, 1] = x[0]
        return np.sum(d * d) + np.sum(m * m)

    for call in (f, ad.grad(f)):
        with pytest.raises(ValueError, match="read-only"):
            call(np.array([1.0, 2.0]))
    assert ad.grad(g)(np.array([1.0, 2.0])).tolist() == [4.0, 40.0]


def turned_copy(x: Any) -> Any:
    return np.sum(x.T.copy() ** 2)


def copied_columns(x: Any) -> Any:
    return np.sum(x[:, ::2].copy() ** 2)


def turned_array(x: Any) -> Any:
    return np.sum(np.array(x.T, order="C") ** 2)


def copied_in_a_loop(x: Any) -> Any:
    turned = x.T.copy()
    total = 0.0
    for k in range(3):
        total += np.sum(turned * turned[k])
    return total


@pytest.mark.parametrize("f", [turned_copy, copied_columns, turned_array, copied_in_a_loop])
@pytest.mark.parametrize("backend", ["numpy", "native"])
def test_a_copy_decides_the_order_of_a_sum(f: Any, backend: str) -> None:
    """A copy in another order in memory is one, although nothing is stored into it: the value has the same bits."""
    gradient = ad.value_and_grad(f, backend=backend)
    rng = np.random.default_rng(3)
    for _ in range(20):
        x = rng.normal(size=(9, 9))
        value, by_x = gradient(x)
        assert value == f(x) or (backend == "native" and value == pytest.approx(f(x), rel=1e-13))
    np.testing.assert_allclose(by_x, differences(f, x), rtol=1e-6, atol=1e-7)
