"""Answers to questions about objects, over time and in all places: what changes between calls is seen, conditions on
objects made inside follow what these hold, NumPy's strings and numbers are what they are, flags those of the array."""

import array
import collections
import dataclasses
import datetime
import enum
import fractions
import math
import types

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError
from tests.programs.checks import load

X = 0.7


class Mode(enum.IntEnum):
    OFF = 0
    ON = 1


class Truthy:
    def __init__(self, t):
        self.t = t

    def __bool__(self):
        return bool(self.t)


class Thing:
    def m(self):
        return 1.0


class Equal:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return self.k == other.k

    def __lt__(self, other):
        return self.k < other.k


class Counted:
    n = 0

    def __bool__(self):
        self.n += 1
        return self.n % 2 == 0


@dataclasses.dataclass
class Data:
    a: float
    b: float = 1.0


class Shown:
    text = "a"

    def __str__(self):
        return self.text


class Strings:
    SQ = np.str_("sq")


class Text(str):
    pass


class Sealed(frozenset):
    pass


class Sorted(collections.OrderedDict):
    pass


def helper(v):
    return v


THING, OTHER = Thing(), Thing()
BUFFER, FROZEN, SORTED = bytearray(b"sq"), Sealed({1}), Sorted(a=1)
HELPERS = [helper, len]
DATES = datetime.date(2020, 1, 1), datetime.date(2020, 1, 1)
SPACES = types.SimpleNamespace(a=1), types.SimpleNamespace(a=1)
NAMES = np.array(["sq", "cu"])
MODE, BYTES, TEXT, ONE, YES = np.str_("sq"), np.bytes_(b"sq"), Text("sq"), np.int64(1), np.True_
TABLE, ORDERED = {np.int64(1): 2.0, "sq": 3.0}, collections.OrderedDict(a=1, b=2)

CONDITIONS = """
BUFFER == b'sq'; b'sq' == BUFFER; FROZEN == {1}; {1} != FROZEN; SORTED == {'a': 1}; FROZEN == frozenset({1})
helper == helper; helper in HELPERS; helper in (len, abs); THING.m == THING.m; THING.m == OTHER.m; h == h
h in [h]; h != h; DATES[0] == DATES[1]; SPACES[0] == SPACES[1]; x.__class__ is float; type(x) is float
type(x) is np.float64; a.base is None; np.nan in [np.nan]; math.nan in (math.nan,); np.nan == np.nan
[np.nan] == [np.nan]; {'a': np.nan} == {'a': np.nan}; x in [x]; float('nan') in [float('nan')]
hasattr(x, '__call__'); hasattr(a, '__call__'); hasattr(a, 'shape'); hasattr(THING, 'm'); MODE == 'sq'
'sq' == MODE; MODE != 'sq'; MODE in ('sq', 'cu'); MODE in {'sq': 1}; MODE in {'cu'}; NAMES[0] == 'sq'
NAMES[0] != 'sq'; NAMES[1] in ('sq', 'q'); 'cu' in NAMES; f'{MODE}' == 'sq'; MODE.startswith('s')
(MODE == 'sq') is True; type(MODE) is str; isinstance(MODE, str); MODE == BYTES; BYTES == b'sq'
TABLE[MODE] == 3.0; MODE < 't'; MODE == Strings.SQ; ONE == 1; ONE in {1: 2}; TABLE[ONE] == 2.0; TABLE[1] == 2.0
YES is True; YES == True; not YES; type(ONE) is int; ONE is 1; TEXT == 'sq'; TEXT in {'sq'}; TABLE[TEXT] == 3.0
type(TEXT) is str; isinstance(TEXT, str); ... is Ellipsis; NotImplemented is NotImplemented; 'a' == 1; None == 0
a == None; 1 < 2 < 3; 0 < x > 2; (1, 2) == [1, 2]; K['OFF'] is K.OFF; K(0) is K.OFF; K.OFF in K; K.OFF == 0
K.OFF; K.ON and x; K.OFF or 0; isinstance(K.OFF, int); Equal(x) == Equal(x); Equal(x) < Equal(x * x)
Equal(x) in [Equal(1.0), Equal(x)]; Truthy(x > 0.5); Truthy(x - 0.7); Data(x) == Data(x)
Data(x) == Data(x, 2.0); [x, 2] == [x, 2]; (x, 1) < (x, 2); any([0, None, K.OFF]); all([1, 'a', x])
ORDERED == collections.OrderedDict(b=2, a=1); ORDERED == {'b': 2, 'a': 1}; type(ORDERED) is dict; range(0)
range(2); isinstance(ORDERED, collections.OrderedDict); callable(THING); callable(helper)
hash('a') == hash('a'); np is np; getattr(THING, 'z', 3) == 3; f'{THING.m()}' == '1.0'; type(x > 0) is bool
type(np.sum(a)) is np.float64; Counted() or x < 0
"""
CONDITIONS = [c.strip() for line in CONDITIONS.strip().splitlines() for c in line.split(";")]
PLACES = {
    "statement": "if {c}:\n        return x * x\n    return x ** 3",
    "loop": "s = 0.0\n    for k in range(2):\n        s = s + (x * x if {c} else x ** 3)\n    return s / 2",
    "inner": "def g():\n        return x * x if {c} else x ** 3\n    return g()",
    "comprehension": "return sum([x * x for _ in (0,) if {c}]) or x ** 3",
    "negated": "return x ** 3 if not ({c}) else x * x",
    "while": "y = x ** 3\n    while {c}:\n        y = x * x\n        break\n    return y",
}


def derivative(value):
    return 2 * X if abs(value - X * X) < 1e-12 else 3 * X * X


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_the_branch_in_each_place(place):
    lines = [
        f"def f{k}(x, a, h=helper):\n    K = Mode\n    " + PLACES[place].replace("{c}", c) + "\n"
        for k, c in enumerate(CONDITIONS)
    ]
    names = load("from tests.frontend.test_answers import *\n" + "\n".join(lines), f"answers_{place}")
    wrong, refused, a = [], 0, np.array([1.0])
    for k, condition in enumerate(CONDITIONS):
        f = names[f"f{k}"]
        want = derivative(f(X, a))
        try:
            got = ad.grad(f)(X, a)
        except AutodiffError:
            refused += 1
            continue
        if abs(got - want) > 1e-12:
            wrong.append((condition, want, got))
    assert not wrong
    assert refused <= 8


def over_time(f, *steps):
    """Change something, or choose other arguments, and compare the branch, with one gradient function."""
    g = ad.grad(f)
    for step in (None, *steps, None):
        args = step() if callable(step) else step
        args = args if type(args) is tuple else ()
        try:
            want = f(X, *args)
        except Exception as error:
            with pytest.raises((type(error), AutodiffError)):
                g(X, *args)
            continue
        assert abs(g(X, *args) - derivative(want)) < 1e-12, args


def make(condition, *names, **held):
    source = (
        f"def f(x{''.join(', ' + n for n in names)}):\n    if {condition}:\n        return x * x\n    return x ** 3\n"
    )
    env = load("from tests.frontend.test_answers import *\n" + source, f"over_time_{abs(hash(condition))}")
    env.update(held)
    return env


def test_attributes_that_a_comparison_reads():
    a, b = types.SimpleNamespace(a=1), types.SimpleNamespace(a=1)
    env = make("p == q", p=a, q=b)
    over_time(env["f"], lambda: setattr(a, "a", 2), lambda: setattr(b, "a", 2), lambda: setattr(b, "b", 2))
    a, b = Data(1.0), Data(1.0)
    env = make("p == q", p=a, q=b)
    over_time(env["f"], lambda: setattr(a, "a", 2.0), lambda: setattr(b, "a", 2.0), lambda: setattr(b, "b", "s"))


def test_methods_that_come_and_go():
    class Own:
        pass

    o, p = Own(), Own()
    for name, method in (("__bool__", lambda s: False), ("__len__", lambda s: 0)):
        over_time(make("o", o=o)["f"], lambda n=name, m=method: setattr(Own, n, m), lambda n=name: delattr(Own, n))
    over_time(
        make("o == p", o=o, p=p)["f"], lambda: setattr(Own, "__eq__", lambda s, o: True), lambda: delattr(Own, "__eq__")
    )
    over_time(
        make("callable(o)", o=o)["f"], lambda: setattr(Own, "__call__", lambda s: 1), lambda: delattr(Own, "__call__")
    )
    over_time(
        make("hasattr(o, 'a')", o=o)["f"],
        lambda: setattr(o, "a", 1),
        lambda: delattr(o, "a"),
        lambda: setattr(Own, "a", 1),
        lambda: delattr(Own, "a"),
    )


def test_contents_that_come_and_go():
    for o, put, take in (
        (array.array("d"), lambda o: o.append(1.0), lambda o: o.pop()),
        (bytearray(), lambda o: o.append(1), lambda o: o.pop()),
        ({1}, lambda o: o.discard(1), lambda o: o.add(2)),
        (collections.deque(), lambda o: o.append(1), lambda o: o.pop()),
        (Truthy(0), lambda o: setattr(o, "t", 1), lambda o: setattr(o, "t", 0)),
    ):
        over_time(make("o", o=o)["f"], lambda o=o, p=put: p(o), lambda o=o, t=take: t(o))
    shown = Shown()
    over_time(
        make("f'{o}' == 'a'", o=shown)["f"], lambda: setattr(shown, "text", "b"), lambda: setattr(shown, "text", "a")
    )


def test_arguments_that_are_one_object_or_two():
    a, t, l = np.ones(2), Thing(), [1]
    pairs = [
        (l, l),
        (l, [1]),
        (a, a),
        (a, a.copy()),
        (t, t),
        (t, Thing()),
        (None, None),
        (len, len),
        (len, abs),
        ({}, {}),
    ]
    over_time(make("a is b", "a", "b")["f"], *pairs)
    over_time(make("a in [b]", "a", "b")["f"], *[p for p in pairs if p[0] is not a])


def test_arguments_as_keys():
    table = {
        datetime.date(2020, 1, 1): True,
        datetime.date(2021, 1, 1): False,
        fractions.Fraction(1): True,
        Mode.ON: False,
    }
    keys = [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1), fractions.Fraction(1), Mode.ON, 1, np.int64(1), True]
    over_time(make("T[k]", "k", T=table)["f"], *[(k,) for k in [*keys, datetime.date(2022, 1, 1), [1]]])
    over_time(make("k in T", "k", T=table)["f"], *[(k,) for k in [*keys, datetime.date(2022, 1, 1), [1]]])


def test_what_a_global_is():
    env = make("mode == 'sq'", mode=np.str_("sq"))
    for mode in (np.str_("cu"), "sq", "cu", Text("sq"), Text("cu"), None, np.str_("sq")):
        over_time(env["f"], lambda m=mode: env.update(mode=m))


@pytest.mark.parametrize(
    "condition",
    [
        "a.flags.c_contiguous", "a.flags['C_CONTIGUOUS']", "a.flags['F']", "a.flags.f_contiguous",
        "a.flags.writeable", "a.flags.owndata", "a.flags.fnc", "a.strides == (16, 8)", "a.nbytes == 32",
        "a.itemsize == 8", "np.isfortran(a)",
        "(a * 2.0).flags.c_contiguous", "a.T.flags.c_contiguous", "a.copy().flags.c_contiguous", "a.base is None",
    ],
)  # fmt: skip
def test_the_memory_of_an_array(condition):
    fixed = np.ones((2, 2))
    fixed.flags.writeable = False
    arrays = [np.ones((2, 2)), np.asfortranarray(np.ones((2, 2))), np.ones((4, 4))[::2, ::2], np.ones((3, 2)), fixed]
    arrays += [np.ones(2), np.ones(4)[::2], np.ones((2, 2), np.float32)]
    f, right = make(condition, "a")["f"], 0
    g = ad.grad(f)
    for a in [*arrays, *arrays]:
        try:
            got = g(X, a)
        except AutodiffError:
            continue
        right += 1
        assert abs(got - derivative(f(X, a))) < 1e-12
    assert right >= 4


def test_a_layout_that_a_store_does_not_change():
    def f(a):
        a[0, 0] = a[0, 0] * 2.0
        return np.sum(a * a) if a.flags.f_contiguous else np.sum(a**3)

    a = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(ad.grad(f)(a)[1], 3 * a[1] ** 2)
    np.testing.assert_allclose(ad.grad(f)(np.asfortranarray(a))[1], 2 * a[1])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("m", [Mode.OFF, Mode.ON, Truthy(0), Truthy(1), None, "", "a", b"", 0.0, datetime.timedelta(0)])
def test_the_condition_of_where(m):
    def f(x, m):
        return np.where(m, x**2, x**3) * 1.0

    assert abs(ad.grad(f)(X, m) - derivative(f(X, m))) < 1e-12


def test_a_getter_runs_once():
    class Reader:
        def __init__(self):
            self.reads = 0

        @property
        def a(self):
            self.reads += 1
            return 2.0

    def f(x):
        reader = Reader()
        return x ** getattr(reader, "a", 3.0) * reader.reads

    assert abs(ad.grad(f)(X) - 2 * X) < 1e-12
    assert math.isclose(f(X), X * X)


__all__ = [name for name in globals() if not name.startswith("_")]
