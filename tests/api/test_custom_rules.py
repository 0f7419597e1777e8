"""Functions with rules of their own (`custom_vjp`, `custom_jvp`, `register_vjp`, `register_jvp`): numbers, both modes
against each other, second order, containers, and what is refused."""

import functools
import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import autodiff_compiler as ad

X = np.array([0.4, 0.8, 1.3])
V = np.array([1.0, -2.0, 0.5])
SCALE = np.array([1.0, 2.0, 3.0])


def slopes(f: Any, x: Any, h: float = 1e-6) -> Any:
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[index] = h
        out[index] = (f(x + d) - f(x - d)) / (2 * h)
    return out


def agree(f: Any, x: Any = X) -> None:
    """Gradient against differences, forward against reverse mode, and the derivative of the gradient."""
    v = np.cos(np.arange(x.size)).reshape(x.shape)
    g = ad.grad(f)(x)
    np.testing.assert_allclose(g, slopes(f, x), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(f, (x,), (v,))[1], np.sum(g * v), rtol=1e-12)
    along = lambda z: np.sum(ad.grad(f)(z) * v)
    np.testing.assert_allclose(ad.grad(along)(x), slopes(along, x), rtol=1e-5, atol=1e-5)


# --- functions with rules ---------------------------------------------------------------------------------------------


@ad.custom_vjp
def square(x):
    return x * x


square.defvjp(lambda x: (square(x), x), lambda x, g: (2.0 * x * g,))


@ad.custom_jvp
def exponential(x):
    return np.exp(x)


@exponential.defjvp
def exponential_jvp(primals, tangents):
    y = exponential(primals[0])
    return y, y * tangents[0]


@ad.custom_jvp
def product(x, y):
    return x**3 * y


product.defjvps(lambda d, out, x, y: 3.0 * x * x * y * d, lambda d, out, x, y: x**3 * d)


@ad.custom_vjp
def cube(x):
    return x * x * x


def cube_fwd(x):
    saved, y = [], x
    for _ in range(2):
        saved.append(y)
        y = y * x
    return y, (x, saved)


def cube_bwd(residuals, g):
    x, saved = residuals
    total = np.zeros_like(x)
    for y in reversed(saved):
        total = total + g * y
        g = g * x
    return (total + g,)


cube.defvjp(cube_fwd, cube_bwd)


@ad.custom_jvp
def cube_too(x):
    return x**3


@cube_too.defjvp
def cube_too_jvp(primals, tangents):
    (x,), (d,) = primals, tangents
    y, y_dot = x, d
    for _ in range(2):
        y_dot = y_dot * x + y * d
        y = y * x
    return y, y_dot


@ad.custom_jvp
def size(x):
    return x if x > 0.0 else -x


@size.defjvp
def size_jvp(primals, tangents):
    (x,), (d,) = primals, tangents
    if x > 0.0:
        return x, d
    return -x, -d


@ad.custom_vjp
def sine(x):
    return np.sin(x)


@ad.custom_vjp
def cosine(x):
    return np.cos(x)


sine.defvjp(lambda x: (sine(x), x), lambda x, g: (g * cosine(x),))
cosine.defvjp(lambda x: (cosine(x), x), lambda x, g: (-g * sine(x),))


@ad.custom_vjp
def scaled(x):
    return x * SCALE


scaled.defvjp(lambda x: (x * SCALE, None), lambda _, g: (g * SCALE,))


def inner(x):
    total = 0.0
    for v in x:
        total = total + exponential(v)
    return total


@ad.custom_vjp
def energy(x):
    return np.sum(square(x)) * inner(x)


energy.defvjp(
    lambda x: (energy(x), x),
    lambda x, g: (g * (2.0 * x * inner(x) + np.sum(square(x)) * ad.grad(inner)(x)),),
)


@ad.custom_vjp
def solve(a, b):
    return np.linalg.solve(a, b)


def solve_fwd(a, b):
    x = solve(a, b)
    return x, (a, x)


def solve_bwd(residuals, g):
    a, x = residuals
    w = np.linalg.solve(a.T, g)
    return -np.outer(w, x), w


solve.defvjp(solve_fwd, solve_bwd)
RULES = {"square": square, "exponential": exponential}

# --- programs ---------------------------------------------------------------------------------------------------------


def loop(x):
    total, v = 0.0, x
    for _ in range(4):
        if total < 3.0:
            v = product(v, x) + cube(v) * 0.1
        else:
            v = square(v) * 0.2
        total = total + np.sum(v)
    return total


def stores(x):
    a = np.zeros((4, 3))
    for i in range(4):
        a[i] = square(a[i - 1]) + product(x, 0.5)
    a[1:] *= exponential(a[:-1])
    return np.sum(a)


def attempts(x):
    try:
        y = square(x)
        if y[1] > 0.5:
            raise ValueError
    except ValueError:
        y = exponential(x)
    return np.sum(y * cube_too(x))


def leaving(x):
    for _ in range(5):
        x = square(x) + 0.1
        if x[2] > 3.0:
            return np.sum(exponential(0.1 * x))
    return np.sum(x)


def calling(x):
    if np.sum(x) < 0.1:
        return x
    return calling(square(0.8 * x))


def dispatched(x):
    for name in ("square", "exponential", "square"):
        x = RULES[name](x) * 0.5
    return np.sum(x)


def stored_into(x):
    y = square(x)
    y[0] = 3.0
    y += exponential(x)
    return np.sum(y * x)


def defined_inside(x):
    @ad.custom_vjp
    def f(y):
        return y * y

    def fwd(y):
        return f(y), y

    def bwd(y, g):
        return (2.0 * y * g,)

    f.defvjp(fwd, bwd)

    @functools.partial(ad.custom_jvp, nondiff_argnums=(0,))
    def power(n, y):
        return y**n

    @power.defjvp
    def rule(n, primals, tangents):
        return power(n, primals[0]), n * primals[0] ** (n - 1) * tangents[0]

    return np.sum(f(x) * power(3, x))


PROGRAMS = [
    loop,
    stores,
    attempts,
    leaving,
    dispatched,
    stored_into,
    defined_inside,
    lambda x: np.sum(calling(x)),
    lambda x: np.sum(cube(x) * cube_too(x)),
    lambda x: size(x[0] - 1.0) * size(x[1]),
    lambda x: np.sum(sine(x) * cosine(x)),
    lambda x: np.sum(scaled(square(x))),
    lambda x: energy(x) * energy(0.5 * x),
    lambda x: np.sum(solve(np.eye(3) * 3.0 + np.outer(x, x), x) ** 2),
    lambda x: sum(map(square, x)) + functools.reduce(lambda a, b: a + exponential(b), x, 0.0),
    lambda x: np.sum(ad.grad(lambda z: np.sum(square(z) * exponential(z * x)))(x)),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_programs(program: Any) -> None:
    agree(program)


# --- containers -------------------------------------------------------------------------------------------------------


@dataclass
class Layer:
    w: Any
    b: Any
    name: str = "layer"


class Pair(NamedTuple):
    a: Any
    b: Any


@ad.custom_vjp
def network(params, x):
    return {"out": params["w"] @ x + params["b"][0], "more": (2.0 * x, 3)}


def network_bwd(residuals, g):
    w, x = residuals
    out, (more, n) = g["out"], g["more"]
    assert n is None
    return {"w": np.outer(out, x), "b": [out]}, w.T @ out + 2.0 * more


network.defvjp(lambda params, x: (network(params, x), (params["w"], x)), network_bwd)


@ad.custom_jvp
def affine(layer, x):
    return layer.w * x + layer.b


@affine.defjvp
def affine_jvp(primals, tangents):
    (layer, x), (d, x_dot) = primals, tangents
    return affine(layer, x), d.w * x + layer.w * x_dot + d.b


@ad.custom_jvp
def times(pair):
    return pair.a * pair.b


times.defjvp(lambda p, t: (times(p[0]), t[0].a * p[0].b + p[0].a * t[0].b))

total = ad.custom_vjp(lambda parts: sum(parts))
total.defvjp(lambda parts: (sum(parts), len(parts)), lambda n, g: ([g] * n,))


def selected(x):
    parts = []
    for v in x:
        if v > 0.5:
            parts.append(v * v)
    return total(parts)


def of_network(x):
    found = network({"w": np.outer(x, x), "b": [2.0 * x]}, x)
    return np.sum(found["out"] ** 2) + np.sum(found["more"][0]) * found["more"][1]


@pytest.mark.parametrize(
    "program",
    [
        of_network,
        lambda x: np.sum(affine(Layer(x, x[0]), x) ** 2),
        lambda x: np.sum(times(Pair(x, x[1]))),
        selected,
    ],
)
def test_containers(program: Any) -> None:
    agree(program)


def test_arguments_that_are_containers() -> None:
    params = {"w": np.arange(6.0).reshape(2, 3), "b": [np.ones(2)]}
    ad.check_grads(lambda p, x: np.sum(network(p, x)["out"] ** 2), (params, X))
    found = ad.grad(lambda layer: np.sum(affine(layer, X)))(Layer(X, 2.0))
    np.testing.assert_allclose(found.w, X)
    assert found.b == 3.0


def test_methods_and_keywords() -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = 2.0

        @ad.custom_vjp
        def apply(self, x):
            return self.scale * x

    Model.apply.defvjp(lambda self, x: (self.scale * x, self.scale), lambda scale, g: (None, scale * g))
    model = Model()
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(model.apply(x)))(X), [2.0, 2.0, 2.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(product(y=x, x=2.0)))(X), [8.0, 8.0, 8.0])


# --- rules that say something else than the function ------------------------------------------------------------------

clipped = ad.custom_vjp(lambda x: x)
clipped.defvjp(lambda x: (x, None), lambda _, g: (np.clip(g, -1.0, 1.0),))
rounded = ad.custom_jvp(lambda x: np.round(x))
rounded.defjvp(lambda p, t: (np.round(p[0]), t[0]))


def test_a_rule_is_believed() -> None:
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(clipped(x) ** 2))(X), [0.8, 1.0, 1.0])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(rounded(x) ** 2))(X), [0.0, 2.0, 2.0])
    assert ad.jvp(lambda x: np.sum(rounded(x) ** 2), (X,), (V,))[1] == -3.0
    reverse = ad.custom_vjp(lambda k, x: x)
    reverse.defvjp(lambda k, x: (x, k), lambda k, g: (None, -k * g))
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(reverse(2.0, x)))(X), [-2.0, -2.0, -2.0])


def test_the_function_runs_where_nothing_is_differentiated() -> None:
    seen = ad.custom_vjp(lambda x: x * 2.0)
    seen.defvjp(lambda x: (x * 3.0, None), lambda _, g: (g,))
    assert seen(1.0) == 2.0
    assert ad.value_and_grad(lambda x, y: seen(y) * x)(1.0, 1.0) == (2.0, 2.0)
    assert ad.value_and_grad(lambda x, y: seen(y) * x, argnums=1)(1.0, 1.0) == (3.0, 1.0)


def test_dtypes_follow_the_arguments() -> None:
    g = ad.grad(lambda x: np.sum(cube(x) * exponential(x)))(X.astype(np.float32))
    assert g.dtype == np.float32
    z = 1.0 + 2.0j
    assert ad.grad(lambda z: np.abs(square(z)))(z) == pytest.approx(ad.grad(lambda z: np.abs(z * z))(z))


def test_a_new_rule_is_seen() -> None:
    f = ad.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, g: (2.0 * g,))
    g = ad.grad(lambda x: f(x))
    assert g(1.0) == 2.0
    f.defvjp(lambda x: (x, None), lambda _, g: (3.0 * g,))
    assert g(1.0) == 3.0


def test_effects_and_exceptions_in_rules(capsys: pytest.CaptureFixture[str]) -> None:
    def bwd(_, g):
        print("cotangent", g)
        if g > 5.0:
            raise ValueError("large")
        return (g,)

    f = ad.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), bwd)
    assert ad.grad(lambda x: f(f(x) * 2.0) * 2.0)(1.0) == 4.0
    assert capsys.readouterr().out.split() == ["cotangent", "2.0", "cotangent", "4.0"]
    with pytest.raises(ValueError, match="large"):
        ad.grad(lambda x: f(x) * 30.0)(1.0)


def test_pickle() -> None:
    assert pickle.loads(pickle.dumps(square)) is square
    assert pickle.loads(pickle.dumps(ad.grad(loop)))(X) == pytest.approx(ad.grad(loop)(X))


# --- what is refused --------------------------------------------------------------------------------------------------


def with_rule(fwd: Any, bwd: Any) -> Any:
    f = ad.custom_vjp(lambda x, y: x * y)
    f.defvjp(fwd, bwd)
    return ad.grad(lambda x: np.sum(f(x, 2.0 * x)))


SAVING = lambda x, y: (x * y, (x, y))


@pytest.mark.parametrize(
    "fwd, bwd, said",
    [
        (lambda x, y: x * y, lambda r, g: (g, g), "'fwd' of '<lambda>' is wrong in what it returns: expected a pair"),
        (lambda x, y: (np.sum(x * y), 0), lambda r, g: (g, g), "in the result: expected float64[d1], found float64"),
        (lambda x, y: ((x, y), 0), lambda r, g: (g, g), "expected float64[d1], found (float64[d1], float64[d1])"),
        (SAVING, lambda r, g: g, "'bwd' of '<lambda>' is wrong in what it returns: expected a tuple of 2 cotangents"),
        (SAVING, lambda r, g: (g,), "expected a tuple of 2 cotangents"),
        (SAVING, lambda r, g: (g, np.sum(g)), "the cotangent of argument 1: expected float64[d1], found float64"),
        (SAVING, lambda r, g: ((g, g), g), "the cotangent of argument 0: expected float64[d1], found (float64[d1], "),
        (SAVING, lambda r, g: (1j * g, g), "the cotangent of argument 0: expected float64[d1], found complex128[d1]"),
        (SAVING, lambda r, g: (g > 0.0, g), "the cotangent of argument 0: expected float64[d1], found bool[d1]"),
    ],
)
def test_rules_that_return_something_else(fwd: Any, bwd: Any, said: str) -> None:
    with pytest.raises(ad.AutodiffError) as caught:
        with_rule(fwd, bwd)(X)
    assert said in str(caught.value) and "f(x, 2.0 * x)" in str(caught.value)


def test_a_shape_that_only_the_run_tells() -> None:
    with pytest.raises(ValueError, match=r"cotangent of argument 0 has shape \(2,\), expected \(3,\)"):
        with_rule(SAVING, lambda r, g: (g[1:], g))(X)


def writes(x):
    x[0] = 1.0
    return x * x


writing = ad.custom_vjp(writes)
writing.defvjp(lambda x: (x * x, x), lambda x, g: (2.0 * x * g,))
bare = ad.custom_vjp(lambda x: x)
fixed = ad.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
fixed.defvjp(lambda n, x: (n * x, None), lambda n, _, g: (n * g,))
called = ad.custom_vjp(lambda f, x: f(x), nondiff_argnums=0)
called.defvjp(lambda f, x: (f(x), x), lambda f, x, g: (g * f(1.0),))
bent = ad.custom_jvp(lambda x: x)
bent.defjvp(lambda p, t: (p[0], t[0] ** 2))


@pytest.mark.parametrize(
    "run, said",
    [
        (lambda: ad.grad(lambda x: np.sum(writing(x)))(X), "writes to an argument"),
        (lambda: ad.grad(lambda x: np.sum(bare(x)))(X), "has no rule"),
        (lambda: ad.grad(lambda x: np.sum(fixed(x, x)))(X), "among its nondiff_argnums is differentiated by"),
        (lambda: ad.grad(lambda x: np.sum(called(lambda q: q * x, x)))(X), "reads 'x' from around it"),
        (lambda: ad.grad(lambda x: np.sum(bent(x)))(X), "not linear in the tangents"),
        (lambda: ad.jvp(lambda x: np.sum(clipped(x)), (X,), (V,)), "not linear in the cotangents"),
    ],
)
def test_refusals(run: Any, said: str) -> None:
    with pytest.raises(ad.AutodiffError) as caught:
        run()
    assert said in str(caught.value) and "Instead:" in str(caught.value)


@pytest.mark.parametrize(
    "jvp",
    [
        lambda p, t: (p[0], t[0] + 1.0),
        lambda p, t: (p[0], np.abs(t[0])),
        lambda p, t: (p[0], np.where(t[0] > 0.0, t[0], 0.0)),
        lambda p, t: (p[0], np.where(p[0] > 0.5, t[0], 1.0)),
        lambda p, t: (p[0], t[0] if np.sum(t[0]) > 0.0 else 2.0 * t[0]),
    ],
)
def test_rules_that_are_not_linear(jvp: Any) -> None:
    """They have no transpose: neither that of a rule for tangents, nor that of a backward function."""
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(jvp)
    with pytest.raises(ad.UnsupportedError, match="not linear in the tangents"):
        ad.grad(lambda x: np.sum(f(x)))(X)
    b = ad.custom_vjp(lambda x: x)
    b.defvjp(lambda x: (x, x), lambda x, g: (jvp((x,), (g,))[1],))
    with pytest.raises(ad.UnsupportedError, match="not linear in the cotangents"):
        ad.jvp(lambda x: np.sum(b(x)), (X,), (V,))


def test_what_is_not_differentiated_may_be_fixed_or_read() -> None:
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(fixed(ad.stop_gradient(x), x)))(X), X)
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(called(lambda q: q * 3.0, x)))(X), [3.0, 3.0, 3.0])


COUNT = [0]
TABLE = {"a": 1.0}


def counts(x):
    COUNT[0] += 1
    return x


def saves(x):
    TABLE["a"] = 2.0
    return x, None


def keeps(_, g):
    TABLE["a"] = 3.0
    return (g,)


@pytest.mark.parametrize(
    "fun, fwd, bwd, said",
    [
        (counts, lambda x: (x, None), lambda _, g: (g,), "counts writes to"),
        (lambda x: x, saves, lambda _, g: (g,), "the rule 'fwd' of <lambda> writes to"),
        (lambda x: x, lambda x: (x, None), keeps, "the rule 'bwd' of <lambda> writes to"),
    ],
)
def test_writes_to_what_is_around(fun: Any, fwd: Any, bwd: Any, said: str) -> None:
    f = ad.custom_vjp(fun)
    f.defvjp(fwd, bwd)
    with pytest.raises(ad.UnsupportedError, match=said):
        ad.grad(lambda x: np.sum(f(x)) * COUNT[0] * TABLE["a"])(X)


@ad.custom_vjp
def doubled(x):
    y = 2.0 * x
    return y, y


doubled.defvjp(lambda x: ((lambda y: (y, y))(2.0 * x), None), lambda _, g: (2.0 * (g[0] + g[1]),))


def test_results_that_are_one_array() -> None:
    agree(lambda x: np.sum(doubled(x)[0] * doubled(x)[1]))

    def f(x):
        a, b = doubled(x)
        a[0] = 1.0
        return np.sum(a * b)

    with pytest.raises(ad.AliasError):
        ad.grad(f)(X)


def test_rules_that_write_to_their_own_arrays() -> None:
    def bwd(residuals, g):
        x, y = residuals
        g *= 2.0
        x *= g
        return 0.5 * g * y, 0.5 * x

    f = ad.custom_vjp(lambda x, y: x * y)
    f.defvjp(lambda x, y: (x * y, (x, y)), bwd)

    def overwrites(x):
        x = x.copy()
        z = f(x, x * x)
        x[0] = 5.0
        return np.sum(z * x) + np.sum(z)

    agree(overwrites)


def test_a_result_that_may_be_the_argument() -> None:
    def f(x):
        y = clipped(x)
        y += 1.0
        return np.sum(y * x)

    with pytest.raises(ad.AliasError):
        ad.grad(f)(X)


@pytest.mark.parametrize("make", [ad.custom_vjp, ad.custom_jvp])
def test_what_is_no_function(make: Any) -> None:
    with pytest.raises(ad.AutodiffError, match="needs a function"):
        make(3)
    f = make(lambda x: x)
    with pytest.raises(ad.AutodiffError, match="needs"):
        f.defvjp(1, 2) if make is ad.custom_vjp else f.defjvp(1)


# --- functions of others ----------------------------------------------------------------------------------------------


def test_register(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_compiler import lowered

    monkeypatch.setattr(lowered, "REGISTERED", dict(lowered.REGISTERED))
    table = np.vectorize(lambda x: x * x)
    ad.register_vjp(table, lambda x: (table(x), x), lambda x, g: (2.0 * x * g,))
    g = ad.grad(lambda x: np.sum(table(x)))
    np.testing.assert_allclose(g(X), 2.0 * X)
    assert "table(x)" in g.source(X) or "vectorize" in g.source(X)
    again = np.vectorize(lambda x: x**3)
    ad.register_jvp(again, lambda p, t: (again(p[0]), 3.0 * p[0] ** 2 * t[0]))
    agree(lambda x: np.sum(again(x) * x))
    with pytest.raises(ad.AutodiffError, match="has a rule of its own"):
        ad.register_vjp(square, lambda x: (x, x), lambda x, g: (g,))
