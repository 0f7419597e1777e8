"""`scipy.spatial.transform`."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from autodiff_compiler.kernels.scipy import spatial as kernels
from autodiff_compiler.operations.check import check_rule
from tests.differences import differences
from tests.operations.scipy.harness import load

load("spatial")
RNG = np.random.default_rng(11)
W = RNG.normal(size=(5, 3, 3))
V = RNG.normal(size=(5, 3))
Q = RNG.normal(size=(5, 4))
MANY, ONE = Rotation.from_rotvec(V), Rotation.from_rotvec(V[0])
SINGLE = not Rotation.from_euler("x", [0.0]).single  # SciPy 1.16: powers in single precision
TIMES = np.array([0.0, 1.0, 2.0, 3.0, 5.0])

RULES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (kernels.nearest_rotation, (W[0],), {}),
    (kernels.nearest_rotation, (W[1:4],), {}),
    (kernels.nearest_rotation, (MANY.as_matrix(),), {}),
]
# What is smooth, as functions of one array.
SMOOTH = {
    "euler": (lambda a: W * Rotation.from_euler("xyz", a).as_matrix(), V),
    "degrees": (lambda a: W[0] * Rotation.from_euler("ZYX", a, degrees=True).as_matrix(), 50 * V[0]),
    "one axis": (lambda a: W[0] * Rotation.from_euler("x", a).as_matrix(), V[0, 0]),
    "several angles": (lambda a: W[:3] * Rotation.from_euler("y", a).as_matrix(), V[:3, :1]),
    "two axes": (lambda a: W[0] * Rotation.from_euler("zx", a).as_matrix(), V[0, :2]),
    "from_quat": (lambda a: W * Rotation.from_quat(a).as_matrix(), Q),
    "scalar_first": (lambda a: Q * Rotation.from_quat(a, scalar_first=True).as_quat(scalar_first=True), Q + 0.1),
    "class": (lambda a: W[0] * Rotation(a).as_matrix(), Q[0]),
    "canonical": (lambda a: Q * Rotation.from_quat(a).as_quat(canonical=True), Q + 0.1),
    "from_rotvec": (lambda a: W * Rotation.from_rotvec(a).as_matrix(), V),
    "in degrees": (lambda a: V * np.sin(Rotation.from_rotvec(a, True).as_rotvec(degrees=True) / 50), 60 * V),
    "no rotation": (lambda a: W * Rotation.from_rotvec(a).as_matrix(), np.zeros((5, 3))),
    "no rotation and back": (lambda a: V * np.sin(Rotation.from_rotvec(a).as_rotvec() + V), np.zeros((5, 3))),
    "little": (lambda a: V * np.sin(Rotation.from_rotvec(a).as_rotvec() + V), 3e-4 * V),
    "product": (lambda a: V * (Rotation.from_rotvec(a) * Rotation.from_euler("xyz", V)).as_rotvec(), V[::-1] + 0.2),
    "as_rotvec": (lambda a: V * Rotation.from_quat(a).as_rotvec(), Q),
    "from_matrix": (lambda a: V * Rotation.from_matrix(a).as_rotvec(), MANY.as_matrix()),
    "not orthogonal": (lambda a: V[0] * Rotation.from_matrix(a).as_rotvec(), 1.2 * ONE.as_matrix() + 0.1 * W[0]),
    "apply": (lambda a: V * Rotation.from_rotvec(a[0]).apply(a) ** 2, V + 1),
    "apply to each": (lambda a: V * Rotation.from_rotvec(a).apply(np.sin(a)) ** 2, V + 1),
    "apply inverse": (lambda a: V[0] * Rotation.from_rotvec(a).apply(a**2, inverse=True), V[1]),
    "inv": (lambda a: V * (Rotation.from_rotvec(a).inv() * MANY).as_rotvec(), V[1]),
    "mrp": (lambda a: V * Rotation.from_mrp(a).as_mrp() ** 2, V + 0.1),
    "magnitude": (lambda a: V[:, 0] * Rotation.from_rotvec(a).magnitude(), V),
    "one magnitude": (lambda a: Rotation.from_rotvec(a).magnitude(), V[0]),
    "power": (lambda a: W * (Rotation.from_rotvec(a) ** 0.5).as_matrix(), V),
    "apply of outside": (lambda v: W[0] * MANY.apply(v)[0] + ONE.apply(v), V[0]),
    "left of outside": (lambda a: W * (Rotation.from_rotvec(a) * MANY[0] * ONE.inv()).as_matrix(), V[0]),
    "right of outside": (lambda a: W * (MANY * Rotation.from_rotvec(a)).as_matrix(), V[0]),
    "items": (lambda a: np.stack([r.as_quat() * np.arange(4) for r in Rotation.from_rotvec(a)]), V),
    "items of outside": (lambda a: np.stack([r.apply(a) * k for k, r in enumerate(MANY)]), V[0]),
    "slices": (lambda a: V[:2] * Rotation.from_rotvec(a)[1:3].as_rotvec() * len(Rotation.from_rotvec(a)), V),
    "identity": (lambda a: V * (Rotation.identity(5) * Rotation.identity() * Rotation.from_rotvec(a)).as_rotvec(), V),
    "concatenate": (lambda a: W[:3] * Rotation.concatenate([Rotation.from_rotvec(a), MANY[:2]]).as_matrix(), V[0]),
    "Slerp": (lambda a: V * Slerp(TIMES, Rotation.from_rotvec(a))([0.0, 0.7, 2.0, 2.5, 5.0]).as_rotvec(), V),
    "Slerp at times": (lambda t: V * Slerp(TIMES, MANY)(t).as_rotvec(), np.array([0.1, 0.7, 1.5, 2.5, 4.0])),
    "Slerp at a time": (lambda t: V[0] * Slerp(TIMES, MANY)(t).as_rotvec(), 0.6),
    "Slerp by times": (lambda t: V[0] * Slerp(t, MANY)(0.6).as_rotvec(), TIMES),
}


@pytest.mark.parametrize("fn, args, kwargs", RULES, ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_rule(fn, *args, kwargs=kwargs)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name: str) -> None:
    fn, x = SMOOTH[name]

    def f(x):
        return np.sum(fn(x))

    value, g = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(g, differences(f, x), rtol=1e-6, atol=1e-7)
    d = np.cos(np.arange(np.size(x))).reshape(np.shape(x))
    np.testing.assert_allclose(ad.jvp(f, (x,), (d if np.ndim(d) else float(d),))[1], np.sum(g * d), rtol=1e-9)

    def h(x):
        return np.sum(d * ad.grad(f)(x))

    gradient = ad.grad(f)
    along = differences(lambda x: np.sum(d * gradient(x)), x)
    np.testing.assert_allclose(ad.grad(h)(x), along, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZXZ", "zyx", "ZYX", "yxy", "XZY"])
def test_as_euler(seq: str) -> None:
    def f(a):
        return np.sum(V * np.sin(Rotation.from_quat(a).as_euler(seq)))

    def g(a):
        return np.sum(V[0] * np.sin(Rotation.from_quat(a).as_euler(seq, degrees=True) / 50))

    for fn, x in ((f, Q), (g, Q[0])):
        value, found = ad.value_and_grad(fn)(x)
        np.testing.assert_allclose(value, fn(x), rtol=1e-13)
        np.testing.assert_allclose(found, differences(fn, x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("seq", ["xyz", "XYZ", "zxz", "ZXZ", "XZY", "zyx"])
def test_gimbal_lock(seq: str) -> None:
    """The angles are SciPy's, and have no derivative."""

    def f(a):
        return np.sum(np.array([1.0, 2.0, 3.0]) * Rotation.from_quat(a).as_euler(seq))

    locked = 0
    for q in ([0, 0, 0, 1], [0, 1, 0, 1], [0, 1, 0, -1], [1, 0, 0, 0], [1, 0, 1, 0], [1, 1, 1, 1], [1, -1, 1, 1]):
        x = np.array(q, float)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            wanted = f(x)
        if not found:
            continue
        locked += 1
        value, g = ad.value_and_grad(f)(x)
        assert value == pytest.approx(wanted, abs=1e-13)
        assert np.all(np.isnan(g))
    assert locked


def test_power() -> None:
    """By the exponent. The difference quotient is of SciPy's function where SciPy has that in full precision."""

    def f(a, n):
        return np.sum(W * (Rotation.from_rotvec(a) ** n).as_matrix())

    def exact(a, n):
        return np.sum(W * Rotation.from_rotvec(n * Rotation.from_rotvec(a).as_rotvec()).as_matrix())

    fn = exact if SINGLE else f
    np.testing.assert_allclose(ad.grad(f, argnums=1)(V, 0.25), differences(fn, V, 0.25, argnum=1), rtol=1e-6)
    np.testing.assert_allclose(ad.grad(f)(V, -1.0), differences(fn, V, -1.0), rtol=1e-6, atol=1e-7)


def test_align_vectors() -> None:
    def f(a, b, w):
        r, distance = Rotation.align_vectors(a, b, weights=w)
        return np.sum(W[0] * r.as_matrix()) + distance

    def g(a):
        r, distance = Rotation.align_vectors(a, V)
        return np.sum(W[0] * r.as_matrix()) + distance

    mirrored = V * np.array([1.0, 1.0, -1.0])
    for a in (V[:, ::-1] + 0.3, ONE.apply(V) + 0.1 * W[:, 0], ONE.apply(mirrored)):
        args = (a, V, np.arange(1.0, 6.0))
        assert ad.value_and_grad(f)(*args)[0] == pytest.approx(f(*args), rel=1e-12)
        for k in range(3):
            np.testing.assert_allclose(ad.grad(f, argnums=k)(*args), differences(f, *args, argnum=k), rtol=1e-5)
        np.testing.assert_allclose(ad.grad(g)(a), differences(g, a), rtol=1e-5)


def test_in_a_loop() -> None:
    """An attitude that is integrated, of an object of the user's."""

    class Body:
        def __init__(self, attitude):
            self.attitude = attitude

        def turn(self, rate):
            self.attitude = self.attitude * Rotation.from_rotvec(0.1 * rate)
            return self.attitude.apply(V[0])

    def f(rate):
        body = Body(ONE)
        total = 0.0
        for k in range(6):
            total = total + np.sum(body.turn(rate * k) * V[1])
        return total

    np.testing.assert_allclose(ad.grad(f)(V[2]), differences(f, V[2]), rtol=1e-6)


def test_as_an_argument() -> None:
    def f(v, r):
        return np.sum(r.apply(v) * V[1])

    np.testing.assert_allclose(ad.grad(f)(V[0], ONE), ONE.inv().apply(V[1]), rtol=1e-12, atol=1e-15)
    other = MANY[1]  # not the code for the values of the first
    np.testing.assert_allclose(ad.grad(f)(V[0], other), other.inv().apply(V[1]), rtol=1e-12, atol=1e-15)


def test_single_precision() -> None:
    """SciPy computes with float64."""

    def f(v):
        return np.sum(Rotation.from_rotvec(v).as_matrix() * W[0])

    x = V[0].astype(np.float32)
    value, g = ad.value_and_grad(f)(x)
    assert value.dtype == np.float64 and g.dtype == np.float32
    np.testing.assert_allclose(g, ad.grad(f)(x.astype(float)), rtol=1e-6)


def test_what_scipy_raises() -> None:
    def f(a):
        return np.sum(Rotation.from_quat(a).as_matrix())

    def g(a):
        return np.sum(Rotation.from_matrix(a).as_matrix())

    with pytest.raises(ValueError, match="zero norm"):
        ad.grad(f)(np.zeros(4))
    with pytest.raises(ValueError, match="determinant"):
        ad.grad(g)(-np.eye(3))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda a: Rotation.from_rotvec(a).mean().as_quat(), "the mean of rotations"),
        (lambda a: Rotation.from_rotvec(a).reduce().as_quat(), "reduce"),
        (lambda a: Rotation.from_davenport(np.eye(3), "e", a[0]).as_quat(), "from_davenport"),
        (lambda a: Rotation.from_rotvec(a).as_davenport(np.eye(3), "e"), "this attribute of a rotation"),
        (lambda a: Rotation(a, normalize=False).as_quat(), "normalize=False"),
        (lambda a: MANY.mean().apply(a), "the mean of rotations"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    def f(a):
        return np.sum(call(a))

    with pytest.raises(AutodiffError, match=message):
        ad.grad(f)(V)
