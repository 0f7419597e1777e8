"""Every error says where, shows the line with a caret, and says what to do instead."""

from __future__ import annotations

import contextlib
import functools
import math
import pickle
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors
from autodiff_compiler.errors import AliasError, ArgumentError, SourceUnavailableError, UnsupportedError
from autodiff_compiler.frontend.lower import lower

X = np.array([0.3, -0.7, 1.2, 0.5])


def uses_try(x):
    xs = []
    try:
        [xs.append(v) or x[k + 2] for k, v in enumerate(x)]
    except BaseException:
        pass
    return sum(xs)


def uses_with(x):
    with contextlib.ExitStack():
        return x


def uses_match(x):
    s = x
    for _ in x:
        del s[0]
    return s


def makes_class(x):
    class Inner:
        pass

    return x


def yields(x):
    def generator():
        yield 1.0

    return generator().send(None)


def writes_global(x):
    global X
    X = lambda v: v * x
    return x


def many_kinds(x):
    y = x
    if x[0] > 0:
        y = (x, x)
    return y


def long_recursion(x):
    if x < 0:
        x = x + 2
    return long_recursion(x - 1)


def unknown_method(x):
    return x.byteswap()


def evaluates(x):
    return eval("x")


def unbound(x):
    y = z  # noqa: F821
    z = x
    return z


def no_such_name(x):
    return x + undefined_name  # noqa: F821


def no_such_attribute(x):
    return np.no_such_function(x)


def wrong_call(x):
    def inner(a, b):
        return a + b

    return inner(x)


def int_plus_float(x):
    k = np.zeros(3, dtype=np.int64)
    k += x[:3]
    return k.sum()


def grows_strange(x):
    out = []
    while x.sum() > 1.0:
        out.append(x)
        x = x / 2
        out.append({"v": x})
    return out


outside = np.ones(4)
log: list[Any] = []


def writes_outside(x):
    kept = x * 2.0
    log.append(kept[1:])
    kept[1] = x[0]
    return x.sum()


def logs(x):
    log.append(lambda: x[0])
    return x.sum()


def not_a_number_method(x):
    return x.sum()


class Box:
    w = 1.0


CASES: list[tuple[Any, str, type[Exception], Any]] = [
    (uses_try, "return sum(xs)", UnsupportedError, (X,)),
    (uses_with, "with contextlib.ExitStack():", UnsupportedError, (X,)),
    (uses_match, "del s[0]", ArgumentError, (X,)),
    (makes_class, "class Inner:", UnsupportedError, (X,)),
    (yields, "return generator().send(None)", UnsupportedError, (X,)),
    (writes_global, "X = lambda v: v * x", UnsupportedError, (X,)),
    (many_kinds, "return y", UnsupportedError, (X,)),
    (long_recursion, "return long_recursion(x - 1)", UnsupportedError, (3.0,)),
    (unknown_method, "return x.byteswap()", errors.RuleLookupError, (X,)),
    (evaluates, 'return eval("x")', UnsupportedError, (X,)),
    (unbound, "y = z", UnboundLocalError, (X,)),
    (no_such_name, "return x + undefined_name", NameError, (X,)),
    (no_such_attribute, "return np.no_such_function(x)", AttributeError, (X,)),
    (wrong_call, "return inner(x)", TypeError, (X,)),
    (int_plus_float, "k += x[:3]", TypeError, (X,)),
    (writes_outside, "kept[1] = x[0]", UnsupportedError, (X,)),
    (logs, "log.append(lambda: x[0])", UnsupportedError, (X,)),
    (not_a_number_method, "return x.sum()", AttributeError, (2.0,)),
    (grows_strange, "out.append(x)", AliasError, (X,)),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_located(case: tuple[Any, str, type[Exception], Any]) -> None:
    f, line, kind, args = case
    with pytest.raises(kind) as caught:
        lower(f, args)
    error = caught.value
    assert isinstance(error, errors.AutodiffError)
    text = str(error).splitlines()
    assert text[0].startswith(f"{__file__}:")
    assert text[0].endswith(f"in {f.__name__}")
    number = int(text[0][len(__file__) + 1 :].split(":")[0])
    assert f.__code__.co_firstlineno < number < f.__code__.co_firstlineno + 10
    assert text[1].strip().startswith(line)
    assert set(text[2].strip()) == {"^"}
    assert len(text[2]) <= len(text[1])


def test_caret_points_at_the_expression() -> None:
    with pytest.raises(UnsupportedError) as caught:
        lower(evaluates, (X,))
    _, line, caret, *_ = str(caught.value).splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == 'eval("x")'


def test_no_source() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x * 2\n", namespace)
    with pytest.raises(SourceUnavailableError, match="source of 'f' is not available") as caught:
        lower(namespace["f"], (1.0,))
    assert isinstance(caught.value, OSError)

    def calls(x):
        return namespace["f"](x)

    with pytest.raises(SourceUnavailableError) as caught:
        lower(calls, (1.0,))
    assert 'return namespace["f"](x)' in str(caught.value)


def test_array_subclass_and_unknown_objects() -> None:
    with pytest.raises(UnsupportedError, match="subclasses of np"):
        lower(lambda x: x, (np.ma.array([1.0]),))


def either(x, c):
    y = x * 2
    b = x
    while c > 0:
        c = c - x[0] ** 2
        b = y if c > 1 else b
    b[0] = 5.0
    return x.sum()


def maybe_view(m):
    v = m.reshape(4, 1)
    v[0] = 1.0
    return m.sum()


def view_in_loop(x, n):
    y = x
    for i in range(n):
        x[0] = 2.0
        y = x[1:] if i > 2 else y
    return y.sum()


def elements_shared(x):
    y = x * 2
    rows = []
    for _ in range(100_000):
        rows.append(y)
    y[0] = 1.0
    return rows[0].sum()


@pytest.mark.parametrize(
    "case", [(either, X, 1.0), (maybe_view, np.eye(4)[::2, ::2]), (elements_shared, X)], ids=lambda c: c[0].__name__
)
def test_unprovable_alias(case: tuple[Any, ...]) -> None:
    f, *args = case
    with pytest.raises(AliasError, match="unprovable alias") as caught:
        lower(f, tuple(args))
    assert "copy" in caught.value.remedy
    assert caught.value.loc is not None


def test_errors_survive_pickling() -> None:
    with pytest.raises(UnsupportedError) as caught:
        lower(uses_try, (X,))
    copied = pickle.loads(pickle.dumps(caught.value))
    assert str(copied) == str(caught.value)
    assert type(copied) is UnsupportedError


@pytest.mark.parametrize(
    ("kind", "base"),
    [
        (errors.UnsupportedError, NotImplementedError),
        (errors.SourceUnavailableError, OSError),
        (errors.AliasError, NotImplementedError),
        (errors.NonScalarOutputError, TypeError),
        (errors.IntegerArgumentError, TypeError),
        (errors.RuleLookupError, LookupError),
    ],
)
def test_bases(kind: type[Exception], base: type[Exception]) -> None:
    error = kind("what", None, "this instead")  # type: ignore[call-arg]
    assert isinstance(error, base)
    assert isinstance(error, errors.AutodiffError)
    assert str(error) == "what\nInstead: this instead"


def root(s):
    return (-s) ** 0.5


def squared_root(s):
    t = pow(s, 0.5)
    return t * t


@pytest.mark.parametrize("transform", [ad.grad, ad.value_and_grad])
def test_a_power_of_pythons_may_be_complex(transform):
    with pytest.raises(errors.NonScalarOutputError, match="complex"):
        transform(root)(1.7)
    assert ad.grad(root)(-4.0) == pytest.approx(-0.25)
    assert ad.grad(squared_root)(1.7) == pytest.approx(1.0)
    assert ad.grad(lambda s: abs(root(s)))(1.7) == pytest.approx(0.5 / 1.7**0.5)


@pytest.mark.parametrize("fn, args", [(len, ([1.0, 2.0],)), (math.floor, (1.5,)), (sorted, ([1.0],))])
def test_a_built_in_function_is_named_at_the_call(fn, args):
    with pytest.raises(ad.AutodiffError) as caught:
        ad.grad(fn)(*args)  # this line
    told = str(caught.value)
    assert told.startswith(__file__) and "# this line" in told and ", in test_a_built_in_function" in told
    assert f"pass a function that returns one float; {fn.__name__!r} is built in" in told


def test_a_callable_object_and_a_partial_are_named_where_their_code_is():
    class Rounded:
        def __call__(self, x, digits=0):
            return int(x)

    for fn in (Rounded(), functools.partial(Rounded(), digits=1)):
        with pytest.raises(ad.NonScalarOutputError) as caught:
            ad.grad(fn)(1.5)
        assert caught.value.loc.line == Rounded.__call__.__code__.co_firstlineno
