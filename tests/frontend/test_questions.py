# ruff: noqa: F401
"""Objects of many kinds, and what a program may ask of them: the gradient takes the branch that Python takes.

Each question is a condition on `o`, asked of objects of all kinds, which come from outside in several ways or are made
inside. Where Python raises an exception the gradient raises one; refusals are counted, and few.
"""

import array
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import numbers
import operator
import types

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError, UnsupportedError
from tests.programs.checks import load


class Mode(enum.IntEnum):
    OFF = 0
    ON = 1


class Name(str, enum.Enum):
    EMPTY = ""
    SQ = "sq"


class Level(float, enum.Enum):
    ZERO = 0.0
    HALF = 0.5


class Pair(tuple, enum.Enum):
    NONE = ()
    BOTH = (1, 2)


class Plain(enum.Enum):
    ZERO = 0
    ONE = 1


class Perm(enum.Flag):
    R = 1
    W = 2


class IPerm(enum.IntFlag):
    R = 1


class Own(enum.Enum):
    NO = 0
    YES = 1

    def __bool__(self):
        return bool(self.value)


class Sized(enum.Enum):
    A = 0
    B = 2

    def __len__(self):
        return self.value


class Truthy:
    def __init__(self, t):
        self.t = t

    def __bool__(self):
        return self.t


class BadBool:
    def __bool__(self):
        return 1


class Lens:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n


class NegLen:
    def __len__(self):
        return -1


class Both:
    def __bool__(self):
        return False

    def __len__(self):
        return 3


class PartBool:
    __bool__ = functools.partialmethod(lambda self, r: r, False)


class BuiltinBool:
    n = 0
    __len__ = operator.attrgetter("n")


class NoneBool:
    __bool__ = None


class Base:
    pass


class Derived(Truthy):
    pass


@dataclasses.dataclass
class Data:
    a: float = 1.0
    b: str = "s"


@dataclasses.dataclass
class DataLen:
    items: tuple = ()

    def __len__(self):
        return len(self.items)


@dataclasses.dataclass(frozen=True, order=True)
class Ord:
    k: int


class NT(collections.namedtuple("NT", "")):
    pass


NT0 = collections.namedtuple("NT0", "")
NT1 = collections.namedtuple("NT1", "a")


class NTB(collections.namedtuple("NTB", "a")):
    def __bool__(self):
        return False


class MyInt(int):
    pass


class MyFloat(float):
    pass


class MyStr(str):
    pass


class MyBytes(bytes):
    pass


class MyList(list):
    pass


class MyDict(dict):
    pass


class MyTuple(tuple):
    pass


class MySet(set):
    pass


class MyIntB(int):
    def __bool__(self):
        return False


class MyStrEq(str):
    def __eq__(self, o):
        return True

    __hash__ = str.__hash__


class Meta(type):
    def __bool__(cls):
        return False


class MetaLen(type):
    def __len__(cls):
        return 0


class Falsy(metaclass=Meta):
    pass


class FalsyLen(metaclass=MetaLen):
    pass


class EqAll:
    def __eq__(self, o):
        return True

    __hash__ = None


class EqNone:
    def __eq__(self, o):
        return False


class EqK:
    def __init__(self, k):
        self.k = k

    def __eq__(self, o):
        return isinstance(o, EqK) and self.k == o.k

    def __hash__(self):
        return hash(self.k)

    def __lt__(self, o):
        return self.k < o.k


@functools.total_ordering
class Tot:
    def __init__(self, k):
        self.k = k

    def __eq__(self, o):
        return self.k == o.k

    def __lt__(self, o):
        return self.k < o.k

    def m(self):
        return 1.0


class Callme:
    def __call__(self):
        return 1.0


class Slots:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


def h(v):
    return v


def h2(v):
    return v


tot = Tot(1)


class Strings:
    SQ = np.str_("sq")


class Box:
    pass


__all__ = [name for name in globals() if not name.startswith("_")]
# fmt: off
KINDS = [
    "Mode.OFF", "Name.SQ", "Level.ZERO", "Level.HALF", "Pair.NONE", "Pair.BOTH", "Plain.ZERO", "Perm(0)", "Perm.R",
    "Own.NO", "Own.YES", "Truthy(False)", "Truthy(True)", "BadBool()", "Lens(0)", "NegLen()", "Both()", "PartBool()",
    "NoneBool()", "Base()", "Data()", "DataLen()", "Ord(1)", "NT()", "NT1(1)", "NTB(1)", "MyInt(0)", "MyFloat(0.0)",
    "MyStr('')", "MyStr('sq')", "MyList()", "MyList([1])", "MyDict()", "MyStrEq('zz')", "Base", "Falsy", "FalsyLen",
    "EqAll()", "EqNone()", "EqK(1)", "Tot(1)", "Callme()", "Slots(1)", "h", "h2", "(lambda v: v)", "tot.m",
    "functools.partial(h, 1)", "array.array('d')", "b'sq'", "bytearray()", "memoryview(b'a')",
    "fractions.Fraction(0)", "fractions.Fraction(1, 2)", "datetime.timedelta(0)", "datetime.date(2020, 1, 1)",
    "types.SimpleNamespace(a=1)", "np.str_('')", "np.str_('sq')", "np.bytes_(b'sq')", "np.True_", "np.int64(0)",
    "np.int64(1)", "np.float64(0.0)", "np.float64(1.0)", "np.datetime64('2020-01-01')", "np.array(0.0)",
    "np.array([0.0])", "np.array([1.0, 2.0])", "np.zeros(0)", "np.array(['sq', 'no'])", "range(0)", "[]", "[1]",
    "['sq', 1]", "{}", "()", "set()", "{1, 'sq'}", "frozenset()", "collections.deque()", "collections.deque([1])",
    "collections.defaultdict(int)", "None", "True", "0", "1", "0.0", "float('nan')", "''", "'sq'", "...",
    "NotImplemented",
]
QUESTIONS = [
    "o", "not o", "bool(o)", "(o and True)", "(o or False)", "any([o])", "all([o])", "[1 for _ in (1,) if o]",
    "list(filter(None, [o]))", "(1 if o else 0)", "operator.not_(o)", "o == o", "o is o", "o in [o]", "o in (1, o)",
    "o in {o}", "o == None", "o is None", "o is not None", "o == 0", "o != 0", "o == 'sq'", "o != 'sq'",
    "o in ('sq', 'cu')", "o not in ('sq', 1)", "o is True", "o is False", "o == 1.0", "o == (1, 2)", "o == [1]",
    "o < 1", "o > 0", "o <= o", "0 <= o < 2", "o in {'sq': 1, 1: 2}", "'sq' in o", "o.__class__ is float",
    "type(o) is float", "type(o) == str", "type(o) is np.float64", "type(o) is np.ndarray", "isinstance(o, int)",
    "isinstance(o, (int, float, np.floating))", "isinstance(o, numbers.Real)", "isinstance(o, str)",
    "isinstance(o, collections.abc.Sized)", "isinstance(o, collections.abc.Callable)",
    "isinstance(o, (list, tuple))", "isinstance(o, np.ndarray)", "isinstance(o, np.generic)",
    "isinstance(o, enum.Enum)", "callable(o)", "hasattr(o, 'a')", "hasattr(o, '__call__')", "hasattr(o, '__len__')",
    "hasattr(o, 'shape')", "hasattr(o, '__name__')", "getattr(o, 'nope', None) is None", "getattr(o, 'a', 0) == 1",
    "len(o) == 0", "hash(o) == hash(o)", "str(o) == 'sq'", "f'{o}' == 'sq'", "o == h", "o in (h, len)",
    "o is Mode.OFF", "o == Mode.OFF", "o in (Mode.OFF, Name.SQ)", "o == fractions.Fraction(1, 2)",
    "o == datetime.date(2020, 1, 1)", "o == types.SimpleNamespace(a=1)", "o == Data()", "o < Ord(2)", "EqK(1) == o",
    "o == EqK(1)", "o < EqK(2)", "o >= Tot(1)", "issubclass(o, int)", "o.startswith('s')",
    "{'sq': 1, 1: 2, 0: 0}.get(o) == 1", "{'sq': True, 1: False}[o]", "o == np.array([1.0])", "o == x",
    "x in (o, x)", "o == np.float64(1.0)", "o == np.str_('sq')", "o is np.True_", "type(o) is type(o)",
    "o.__class__ is type(o)", "type(o).__name__ == 'str'", "match: 'sq'", "match: 1", "match: None", "match: True",
    "match: Mode.OFF", "match: str()", "match: int()", "match: float()", "match: [_, _]", "match: []", "match: [*_]",
    "match: {'sq': 1}", "match: 'sq' | 0", "match: Data()", "match: Data(a=1.0)", "match: NPS.SQ",
    "match: np.ndarray()",
]
# fmt: on
PLACES = ("arg", "attr", "item", "global", "helper", "closure", "default", "inside")
EVERYWHERE = ("o", "o == 'sq'")
HEAD = "from tests.frontend.test_questions import *\n\n"
X = 0.7


def branches(question, indent):
    pad = " " * indent
    if question.startswith("match: "):
        return f"{pad}match o:\n{pad}    case {question[7:]}:\n{pad}        return x * x\n{pad}return x ** 3\n"
    return f"{pad}if {question}:\n{pad}    return x * x\n{pad}return x ** 3\n"


def source(question, place, made):
    start = {
        "arg": "def f(x, o):\n",
        "attr": "def f(x, b):\n    o = b.o\n",
        "item": "def f(x, l):\n    o = l[0]\n",
        "global": "def f(x):\n",
        "inside": f"def f(x):\n    o = {made}\n",
        "helper": "def f(x, o):\n    return g(x, o)\n\ndef g(x, o):\n",
    }
    if place in start:
        return start[place] + branches(question, 4)
    parameter = "o" if place == "closure" else "v"
    inner = "x" if place == "closure" else "x, o=v"
    return f"def make({parameter}):\n    def f({inner}):\n" + branches(question, 8) + "    return f\n"


def outcome(fn, *args):
    try:
        return fn(*args)
    except Exception as error:
        return error


def asked(question, place, kinds):
    """For each kind of object: what Python does, and what the gradient does."""
    env = gradient = None
    for number, kind in enumerate(kinds):
        o = eval(kind, globals())
        if env is None or place in ("closure", "default", "inside"):
            text = HEAD + source(question, place, kind)
            env = load(text, f"question{number}")
            gradient = None
        if place in ("closure", "default"):
            env["f"] = env["make"](o)
        if place == "global":
            env["o"] = o
        gradient = gradient or ad.grad(env["f"])
        box = Box()
        box.o = o
        args = {"arg": (o,), "helper": (o,), "attr": (box,), "item": ([o],)}.get(place, ())
        yield kind, outcome(env["f"], X, *args), outcome(gradient, X, *args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(QUESTIONS)), ids=QUESTIONS)
def test_the_branch_is_the_one_that_python_takes(number):
    question = QUESTIONS[number]
    places = PLACES if question in EVERYWHERE else (PLACES[number % len(PLACES)],)
    wrong, refused, total = [], 0, 0
    for place in places:
        some = slice(None) if question == "o" else slice(number % 2, None, 2)
        for kind, want, got in asked(question, place, KINDS[some]):
            total += 1
            if isinstance(want, Exception):
                fine = isinstance(got, AutodiffError) or type(got) is type(want)
            elif isinstance(got, AutodiffError):
                refused += 1
                continue
            else:
                derivative = 2 * X if abs(want - X * X) < 1e-12 else 3 * X * X
                fine = not isinstance(got, Exception) and abs(got - derivative) < 1e-12
            if not fine:
                wrong.append((place, kind, want, got))
    assert not wrong
    assert refused <= 0.5 * total


NAN = float("nan")


def one_number(s):
    a = s * NAN
    return s if [a] == [a] and a in (1.0, a) else 3 * s


def other_number(s):
    return s if s * NAN in [s * NAN * 1.0] else 5 * s


def computed_twice(s):
    return s if [s * K] == [s * K] else 5 * s


def counted(s):
    return [s * K].count(s * K) * s


def given_twice(s, t):
    return s if s in (t, 2.0) else 2 * s


def read_twice(x):
    return x[0] if x[0] in [x[0]] else x[1]


K = 2.0


@pytest.mark.parametrize("f", [one_number, other_number, computed_twice, counted])
def test_containers_compare_numbers_by_identity_first(f):
    assert ad.value_and_grad(f)(1.7) == pytest.approx((f(1.7), f(2.7) - f(1.7)))


@pytest.mark.parametrize("f, args", [(given_twice, (1.7, 1.7)), (given_twice, (1.7, 3.0)), (read_twice, (np.ones(2),))])
def test_numbers_that_may_be_one_object(f, args):
    value, _ = ad.value_and_grad(f)(*args)
    assert value == f(*args)
    # Of nan, only the object can tell whether it is the same.
    with pytest.raises(UnsupportedError, match="one object"):
        ad.grad(f)(*[arg * NAN for arg in args])


@pytest.mark.parametrize("f", [computed_twice, counted])
def test_nan_computed_twice_is_no_single_object(f, monkeypatch):
    monkeypatch.setitem(globals(), "K", NAN)
    assert f(1.7) in (8.5, 0.0)
    with pytest.raises(UnsupportedError, match="one object"):
        ad.grad(f)(1.7)
