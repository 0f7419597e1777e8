"""Terms of rows that are known in front of a loop: they are stored there, with the same bits, and nothing else is."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad

RNG = np.random.default_rng(5)
RATES, X, Y = RNG.uniform(0.2, 0.8, 3), RNG.normal(size=(6, 3)), RNG.normal(size=(7, 3))
BEGUN = "out=y["


def check(f: Callable[..., Any], *args: Any, begun: bool) -> str:
    value, grads = ad.value_and_grad(f, (0, 1))(*args)
    _, expected = ad.value_and_grad(f, (0, 1), optimize=False)(*args)
    assert value == f(*args)
    for g, e in zip(grads, expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-11, atol=1e-12)
    source = ad.value_and_grad(f, (0, 1)).source(*args)
    assert (BEGUN in source) is begun, source
    return source


TERMS = ["rates * x[t]", "x[t] / rates", "(x[t] - rates)", "x[t] * x[t - 1]", "2.0 * x[t]", "(x[t] + rates[0])"]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("total", ["{} + 0.5 * y[t - 1]", "np.sin(y[t - 1]) + {}", "{} - y[t - 1]"])
def test_a_term_is_stored_in_front(program, term, total):
    f = program(f"y[t] = {total.format(term)}")
    source = check(f, X, RATES, begun=True)
    assert "        y[t] " in source and "x[t]" not in source.split("# adjoint")[0], source


@pytest.mark.parametrize(
    "loop",
    [
        "y[t] = y[t - 1] - rates * x[t]",  # taken away from what is not known
        "y[t] = x[t] + y[t - 1]",  # nothing is computed for it
        "y[t] = rates * x[t] * 2.0 + y[t - 1]",  # two operations would take an array between them
        "y[t] = np.exp(x[t]) + y[t - 1]",  # its bits may depend on the place
        "y[t] = rates * x[t] + y[t]",  # read before
        "y[t - 1] = rates * x[t] + y[t]",
        "y[t] = rates * x[t] + y[t - 2]",  # the first one counts from the end
        "y[t] = rates * x[t] + y[0]",
        "y[t] = rates * x[t] + np.sum(y)",
        "a = rates * x[t]; y[t] = a + y[t - 1] * a",  # read twice
        "y[t] = rates * x[t] + y[t - 1]; y[t, 0] = 1.0",
        "y[t] = x[t, 0] * 2.0 + y[t - 1]",  # a number, for a row
        "y[t, :2] = rates[:2] * x[t, :2] + y[t - 1, :2]",
        "x[t] = 0.5 * x[t]; y[t] = rates * x[t] + y[t - 1]",  # the loop changes it
    ],
)
def test_other_terms_stay(program, loop):
    check(program(loop), X, RATES, begun=False)


def test_a_loop_that_is_left_early_stays(program):
    check(program("if t > 3: break", "y[t] = rates * x[t] + y[t - 1]"), X, RATES, begun=False)
    check(program("if t > 9: raise ValueError", "y[t] = rates * x[t] + y[t - 1]"), X, RATES, begun=False)


def test_an_array_that_is_read_behind_the_loop_as_it_was_stays():
    def f(x, rates):
        y = np.cos(x)
        z = y.copy()
        for t in range(1, len(x)):
            z[t] = rates * x[t] + z[t - 1]
        return np.sum(y * z)

    value, grad = ad.value_and_grad(f)(X, RATES)
    assert value == f(X, RATES)
    np.testing.assert_allclose(grad, ad.grad(f, optimize=False)(X, RATES), rtol=1e-12)


def test_a_loop_that_goes_down():
    def f(x, rates):
        y = np.zeros_like(x)
        for t in range(len(x) - 2, -1, -1):
            y[t] = rates * x[t + 1] + 0.5 * y[t + 1]
        return np.sum(y * y * x)

    check(f, X, RATES, begun=True)


def test_rows_of_arrays_of_other_lengths():
    def f(x, rates, w):
        y = np.ones((len(x) + 1, 3))
        for t in range(len(x)):
            y[t + 1] = 2.0 * x[t] - rates * y[t]
        z = np.zeros_like(x)
        for t in range(len(x)):
            z[t] = rates * w[t] + np.sin(y[t])
        return np.sum(y**2) + np.sum(z**3)

    check(f, X, RATES, X * 2.0, begun=True)
    gradient = ad.value_and_grad(f)
    for w in (Y, X):  # one row that no iteration reads
        assert gradient(X, RATES, w)[0] == f(X, RATES, w)
    with pytest.raises(IndexError):
        gradient(X, RATES, X[:5])


@pytest.mark.parametrize("rows", [1, 2])
def test_few_rows(program, rows):
    f = program("y[t] = rates * x[t] + y[t - 1]")
    gradient = ad.value_and_grad(f)
    gradient(X, RATES)
    assert gradient(X[:rows], RATES)[0] == f(X[:rows], RATES)


def test_no_row():
    def f(x, rates):
        y = np.zeros_like(x)
        for t in range(1, len(x)):
            y[t] = rates * x[t] + y[t - 1]
        return np.sum(y * y * x)

    gradient = ad.value_and_grad(f)
    check(f, X, RATES, begun=True)
    assert gradient(X, RATES)[0] == f(X, RATES)
    assert gradient(X[:0], RATES)[0] == 0.0


def test_no_row_is_read_that_no_iteration_reads():
    """Nothing overflows that did not."""

    def f(x, rates):
        y = np.zeros_like(x)
        for t in range(1, len(x) - 1):
            y[t] = 1e10 * x[t] + y[t - 1]
        return np.sum(y * rates)

    x = X.copy()
    x[0], x[-1] = 1e305, -1e305
    with np.errstate(all="raise"):
        check(f, x, RATES, begun=True)


def test_float32():
    def f(x, rates):
        y = np.zeros_like(x)
        for t in range(1, len(x)):
            y[t] = rates * x[t] + y[t - 1]
        return np.sum(y)

    x, rates = X.astype(np.float32), RATES.astype(np.float32)
    value, source = ad.value_and_grad(f)(x, rates)[0], ad.value_and_grad(f).source(x, rates)
    assert value == f(x, rates) and value.dtype == np.float32 and BEGUN in source
    mixed = ad.value_and_grad(f)  # a product that is not of the array's dtype
    assert mixed(x, RATES)[0] == f(x, RATES) and BEGUN not in mixed.source(x, RATES)


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes a function of the statements of a loop."""

    def make(*statements: str) -> Callable[..., Any]:
        lines = [line for statement in statements for line in (statement.split("; "))]
        body = "".join(f"        {line}\n" for line in lines)
        text = (
            "import numpy as np\n\n\ndef f(x, rates):\n    y = np.zeros_like(x)\n    y[0] = x[0]\n"
            f"    for t in range(1, len(x)):\n{body}    return np.sum(y * y * x)\n"
        )
        path = tmp_path / f"program_{abs(hash(text))}.py"
        path.write_text(text)
        space: dict[str, Any] = {}
        exec(compile(text, str(path), "exec"), space)
        return space["f"]  # type: ignore[no-any-return]

    return make
