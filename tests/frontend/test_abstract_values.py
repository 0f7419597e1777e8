"""Each kind of abstract value answers the questions of `frontend.avals`: leaves, rebuilding, likeness, sameness."""

from __future__ import annotations

import ast
from collections import OrderedDict

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.frontend import avals
from autodiff_compiler.frontend.avals import (
    MISSING,
    Bound,
    Closure,
    Columns,
    Composite,
    DictRef,
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    Obj,
    Partial,
    Ref,
    Seq,
    alike,
    leaves_of,
    parts_of,
    rebuilt,
    same,
    substituted,
    values_in,
)
from autodiff_compiler.frontend.joins import Joiner, join, join_contents
from autodiff_compiler.frontend.structures import LEAF
from autodiff_compiler.ir.core import Value
from autodiff_compiler.ir.types import PY_FLOAT
from autodiff_compiler.records import fields_of, replaced

LAMBDA = ast.parse("lambda a, *, b: a").body[0].value  # type: ignore[attr-defined]


def kinds() -> list[type[Composite]]:
    return [c for c in vars(avals).values() if isinstance(c, type) and issubclass(c, Composite) and c is not Composite]


def made(cls: type[Composite], *parts: object) -> Composite:
    """A value of the class of which each part is one of these, in turn."""
    fill = {}
    n = 0
    for name in fields_of(cls):
        if name in cls.many:
            fill[name] = (parts[n % len(parts)], parts[(n + 1) % len(parts)])
            n += 2
        elif name in cls.single:
            fill[name] = parts[n % len(parts)]
            n += 1
        else:
            fill[name] = ("a", "b") if name in ("names", "keys") else 7
    return cls(**fill)


@pytest.mark.parametrize("cls", kinds(), ids=lambda c: c.__name__)
def test_parts_leaves_and_likeness(cls: type[Composite]) -> None:
    u, v, w = (Value(PY_FLOAT) for _ in range(3))
    av = made(cls, u, v)
    assert set(leaves_of(av)) <= {u, v} and leaves_of(av) == parts_of(av) == values_in(av)
    assert rebuilt(av, lambda leaf: leaf) is av
    other = substituted(av, {u: w})
    assert leaves_of(other) == [w if leaf is u else leaf for leaf in leaves_of(av)]
    assert alike(av, other) and not same(av, other)
    assert same(av, av.with_parts(parts_of(av)))
    for name in fields_of(cls):
        if name not in (*cls.many, *cls.single, *cls.ignored):
            assert not alike(av, replaced(av, **{name: "another"})), name


def test_a_view_is_a_leaf_and_so_are_the_values_of_its_path() -> None:
    i, j = Value(PY_FLOAT), Value(PY_FLOAT)
    view = Ref(3, (("index", (i, slice(None, j))),))
    pair = Seq((view, 1.0, Maybe(ListRef(4), j)))
    found = leaves_of(pair)
    assert [type(x) for x in found] == [Ref, Value, Value, ListRef, Value]
    new = substituted(pair, {i: 5})
    assert new.items[0].path == (("index", (5, slice(None, j))),) and new.items[2] is pair.items[2]
    assert rebuilt(pair, lambda x: Ref(9) if type(x) is Ref else x).items[0].cell == 9


def test_defaults_of_keyword_only_parameters_are_parts() -> None:
    v = Value(PY_FLOAT)
    fn = Closure(LAMBDA, 1, test_same, (1.0,), ("b",), (v,), "file")
    assert values_in(fn) == [v] and substituted(fn, {v: 2.0}).values == (2.0,)


def test_same() -> None:
    assert same(1.0, 1.0) and not same(1, 1.0) and not same(0.0, -0.0)
    assert same(Ref(1), Ref(1)) and not same(Ref(1), Ref(1, (("index", (0,)),)))
    assert same(ListRef(1), ListRef(1)) and not same(ListRef(1), DictRef(1))
    assert same(Obj(ast), Obj(ast)) and not same(Obj(ast), Obj(pytest))
    assert same(Seq((1, ListRef(2))), Seq((1, ListRef(2)))) and not same(Seq((1,)), Seq((1, 2)))
    assert not same(Value(PY_FLOAT), Value(PY_FLOAT))
    assert not same(Partial(Obj(ast), (1,), (), ()), Partial(Obj(ast), (2,), (), ()))
    assert not same(Bound("append", ListRef(1)), Bound("append", ListRef(2)))


def test_references() -> None:
    assert Instance(dict, 1).to(2).cls is dict and Instance(dict, 1).to(2).cell == 2
    assert ListRef(1).kin(ListRef(2)) and not ListRef(1).kin(DictRef(1))
    assert not Instance(dict, 1).kin(Instance(list, 1))
    assert Items((1,)).keys is None and Entries(("a",), (1,)).keys == ("a",)


def in_a_loop(x, n):
    g = lambda y, *, k=x: y * k
    for i in range(n):
        g = lambda y, *, k=x * i: y * k
    return g(x)


def test_a_program_with_defaults_of_keyword_only_parameters() -> None:
    assert ad.grad(in_a_loop)(2.0, 3) == 8.0


class Double:
    def __init__(self, v):
        self.v = v

    def f(self):
        return self.v * 2


class Triple(Double):
    def f(self):
        return self.v * 3


# --- joins: what a joiner is asked ------------------------------------------------------------------------------------


class Asked(Joiner):
    """Answers each question with its name."""

    def __getattribute__(self, name):
        return lambda *args: name


U, V = Value(PY_FLOAT), Value(PY_FLOAT)
VIEW = Ref(1)
PAIR = Seq((U, ListRef(2)))


@pytest.mark.parametrize(
    ("a", "b", "asked"),
    [
        (U, V, "number"),
        (1.0, V, "number"),
        (MISSING, 1.0, "number"),
        (VIEW, U, "array"),
        (2.0, VIEW, "array"),
        (VIEW, MISSING, "array"),
        (VIEW, ListRef(2), "clash"),
        (U, PAIR, "clash"),
        (PAIR, U, "clash"),
        (ListRef(1), ListRef(2), "container"),
        (MISSING, DictRef(2), "container"),
        (ListRef(1), DictRef(2), "clash"),
        (Instance(Double, 1), Instance(Double, 2), "container"),
        (Instance(Double, 1), Instance(Triple, 2), "clash"),
        (Obj(ast), Obj(pytest), "clash"),
        (PAIR, Seq((U,)), "clash"),
    ],
)
def test_what_a_join_asks(a, b, asked) -> None:
    assert join(a, b, Asked(), None) == asked


def test_a_join_of_composite_values_joins_their_parts() -> None:
    assert join(PAIR, Seq((V, ListRef(3))), Asked(), None).items == ("part", "part")
    assert join(MISSING, PAIR, Asked(), None).items == ("part", "part")
    assert join(Obj(ast), Obj(ast), Asked(), None).obj is ast
    assert join(MISSING, Obj(ast), Asked(), None).obj is ast


COLUMNS = Columns(LEAF, (U,), True)


@pytest.mark.parametrize(
    ("a", "b", "asked"),
    [
        (U, V, "buffer"),
        (MISSING, V, "buffer"),
        (U, COLUMNS, "other_keys"),
        (COLUMNS, U, "other_keys"),
        (COLUMNS, COLUMNS, "run_time_list"),
        (COLUMNS, MISSING, "run_time_list"),
        (Items((U,)), Items((U, V)), "run_time_list"),
        (Items((U,)), COLUMNS, "run_time_list"),
        (Items((U,)), ItemOf(1, 0, LEAF, 0, LEAF), "item"),
        (ItemOf(1, 0, LEAF, 0, LEAF), MISSING, "item"),
        (Entries(("a",), (U,)), Entries(("b",), (U,)), "other_keys"),
        (Items((U,)), Entries(("b",), (U,)), "other_keys"),
    ],
)
def test_what_a_join_of_contents_asks(a, b, asked) -> None:
    assert join_contents(a, b, Asked(), None) == asked


def test_a_join_of_contents_joins_what_is_held() -> None:
    assert join_contents(Items((U,)), Items((V,)), Asked(), None).items == ("held",)
    made = join_contents(Entries(("a",), (U,)), MISSING, Asked(), None)
    assert (made.keys, made.items) == (("a",), ("held",))


# --- an object of another class, bound in a loop ----------------------------------------------------------------------


def bound_in_a_loop(x, n):
    o = Double(x)
    for _ in range(n):
        o = Triple(x * o.v)
    return o.f()


def read_in_the_loop(x, n):
    o = Double(x)
    s = 0.0
    for _ in range(n):
        s = s + o.f()
        o = Triple(x)
    return s


def as_an_entry(x, n):
    d = {"o": Double(x)}
    for _ in range(n):
        d["o"] = Triple(x)
    return d["o"].f()


def until_it_is_large(x, n):
    o = Double(x)
    while o.v < n:
        o = Triple(x * o.v)
    return o.f()


@pytest.mark.parametrize(("f", "gradient"), [(bound_in_a_loop, 96.0), (read_in_the_loop, 8.0), (as_an_entry, 3.0)])
def test_an_object_of_another_class_in_a_loop(f, gradient) -> None:
    assert ad.grad(f)(2.0, 3) == gradient


def test_an_object_of_another_class_in_a_loop_that_cannot_be_unrolled() -> None:
    with pytest.raises(ad.UnsupportedError, match="different classes on different paths"):
        ad.grad(until_it_is_large)(2.0, 100.0)


# --- dictionaries whose keys are equal, and not the same --------------------------------------------------------------


def weighted(d):
    return sum(np.sum(v) * (2.0 if type(k) is int else 1.0) for k, v in d.items())


def keys_in_a_loop(x, n):
    d = {1.0: x}
    for _ in range(n):
        d = {1: x}
    return weighted(d)


def keys_in_a_branch(x, n):
    if n > 5:
        d = {1: x}
    else:
        d = {1.0: x}
    return weighted(d)


def keys_in_records(x, n):
    rows = []
    for i in range(n):
        rows.append({1: x} if i % 2 else {1.0: x})
    return sum(weighted(d) for d in rows)


def keys_that_are_bools(x, n):
    rows = []
    for i in range(n):
        rows.append({True: x} if i % 2 else {1: x})
    return sum(weighted(d) for d in rows)


@pytest.mark.parametrize(
    ("f", "gradient"),
    [(keys_in_a_loop, 2.0), (keys_in_a_branch, 1.0), (keys_in_records, 4.0), (keys_that_are_bools, 5.0)],
)
def test_keys_that_are_equal_and_not_the_same(f, gradient) -> None:
    np.testing.assert_array_equal(ad.grad(f)(np.ones(2), 3), [gradient, gradient])


def another_class_of_dictionary(x, n):
    d = {"a": x}
    s = 0.0
    for _ in range(n):
        s = s + np.sum(d["a"]) * (2.0 if type(d) is OrderedDict else 1.0)
        d = OrderedDict(a=x)
    return s


def the_class_is_not_asked_for(x, n):
    d = {"a": x}
    s = 0.0
    for _ in range(n):
        s = s + np.sum(d["a"])
        d = OrderedDict(a=x * 2.0)
    return s


def test_a_dictionary_of_another_class_in_a_loop() -> None:
    with pytest.raises(ad.UnsupportedError, match="the type of this value is not known"):
        ad.grad(another_class_of_dictionary)(np.ones(2), 3)
    np.testing.assert_array_equal(ad.grad(the_class_is_not_asked_for)(np.ones(2), 3), [5.0, 5.0])
