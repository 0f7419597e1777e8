"""What is refused, and how it is said: place, caret, reason and remedy of each.

A case is a program with carets under the place that the error has to name. docs/refusals.md is made from this list:
``pytest --update-golden`` rewrites it.
"""

from __future__ import annotations

import ast
import collections
import importlib.util
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import errors
from tests.duck.strict import Strict

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "refusals.md"
NUMBERS = itertools.count()
X = np.array([0.5, 1.5, 2.5])


@dataclass(frozen=True)
class Refusal:
    """A program that is refused."""

    title: str
    program: str  # with a line of carets under the place
    error: type[errors.AutodiffError]
    message: str  # a regular expression
    remedy: str  # a regular expression
    args: tuple[Any, ...] = (X,)


def split_carets(text: str) -> tuple[str, int, int, int]:
    """The program without its carets; line, column and width of the place that they mark."""
    lines: list[str] = []
    place = (0, 0, 0)
    for line in text.strip("\n").split("\n"):
        if line.strip() and not line.strip().strip("^"):
            place = (len(lines) - 1, line.index("^"), line.count("^"))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n", *place


def load(program: str, directory: Path) -> tuple[Any, Path]:
    path = directory / f"refused_{next(NUMBERS)}.py"
    path.write_text(program)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, path


HEAD = "import numpy as np\nimport autodiff_compiler as ad\n\n"

REFUSALS: list[Refusal] = []


def refuse(
    title: str, program: str, error: type[errors.AutodiffError], message: str, remedy: str, args: Any = (X,)
) -> None:
    REFUSALS.append(Refusal(title, program, error, message, remedy, args))


# --- what is not part of the language ---

refuse(
    "a generator that yields inside of `try`",
    """
def f(x):
    def powers():
        try:
            yield x[0]
        except ValueError:
            yield x[1]

    return sum(powers())
           ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the generator 'powers' yields inside of a `try` with `except` statement",
    "yield after it",
)
refuse(
    "a generator with `finally` that is left",
    """
def f(x):
    def powers():
        try:
            yield x[0]
            yield x[1]
        finally:
            print("closed")

    it = powers()
    for v in it:
             ^^
        if v > 1.0:
            break
    return v
""",
    errors.UnsupportedError,
    "'powers' has a `finally` clause, and when this generator is closed is not known",
    "loop over the call itself",
)
refuse(
    "a generator that waits at a place known at run time only",
    """
def f(x):
    def powers():
        for v in x[x > 1.0]:
            yield v * v

    it = powers()
    first = next(it)
    return first + next(it)
                   ^^^^^^^^
""",
    errors.UnsupportedError,
    "where this iterator stands is known at run time only",
    "make a list of it first",
)
refuse(
    "a generator that is differentiated",
    """
def f(x):
^^^^^^^^^
    yield x
""",
    errors.UnsupportedError,
    "'f' is a generator, or returns one",
    "return what it yields",
)
refuse(
    "helpers that grow",
    """
def h0(x): return x * 1.5
def h1(x): return h0(x) + h0(x)
def h2(x): return h1(x) + h1(x)
                          ^^^^^
def h3(x): return h2(x) + h2(x)
rest = (h3,) * 3000

def f(x):
    for h in rest:
        x = h(x) * 0.1
    return np.sum(x)
""",
    errors.UnsupportedError,
    "compiling this takes more than 20,000 operations: 'h0' is inlined in line .* times",
    "call it once and keep the result",
)
refuse(
    "loops that grow",
    """
class Cell:
    rate = 0.5

cells = [Cell() for _ in range(64)]

def f(x):
    s = x
    for a in cells:
        for b in cells:
            for c in cells:
                s = s + a.rate
                    ^^^^^^^^^^
    return np.sum(s)
""",
    errors.UnsupportedError,
    "compiling this takes more than 20,000 operations: unrolling the loop in line .*iteration",
    "loop over a range or an array",
)
refuse(
    "the value of `yield from`",
    """
def helper(x):
    last = yield from x
           ^^^^^^^^^^^^
    yield last

def f(x):
    return sum(helper(x))
""",
    errors.UnsupportedError,
    "the value of `yield from`",
    "write a loop with `yield`",
)
refuse(
    "async def",
    """
async def f(x):
^^^^^^^^^^^^^^^
    return np.sum(x)
""",
    errors.UnsupportedError,
    "async",
    "ordinary function",
)
refuse(
    "await of a coroutine",
    """
async def later(x):
    return x

def f(x):
    return np.sum(later(x))
                  ^^^^^^^^
""",
    errors.UnsupportedError,
    "async",
    "ordinary function",
)
refuse(
    "eval",
    """
def f(x):
    return np.sum(eval("x * x"))
                  ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"eval\(\)",
    "write",
)
refuse(
    "exec",
    """
def f(x):
    exec("y = 2.0")
    ^^^^^^^^^^^^^^^
    return np.sum(x)
""",
    errors.UnsupportedError,
    r"exec\(\)",
    "write",
)
refuse(
    "locals",
    """
def f(x):
    y = x * x
    return np.sum(locals()["y"])
                  ^^^^^^^^
""",
    errors.UnsupportedError,
    r"locals\(\)",
    ".",
)
refuse(
    "input",
    """
def f(x):
    return np.sum(x) * float(input())
                             ^^^^^^^
""",
    errors.UnsupportedError,
    r"input\(\)",
    ".",
)
refuse(
    "a function that is defined inside and cached",
    """
import functools

def f(x):
    @functools.lru_cache(maxsize=None)
     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    def factor(n):
        return 1.0 if n < 2 else n * factor(n - 1)

    return np.sum(x * factor(4))
""",
    errors.UnsupportedError,
    r"lru_cache\(\) of a function that is defined inside",
    "top level",
)
refuse(
    "a stack of context managers",
    """
import contextlib

def f(x):
    with contextlib.ExitStack() as stack:
         ^^^^^^^^^^^^^^^^^^^^^^
        stack.enter_context(np.errstate(all="ignore"))
    return np.sum(x)
""",
    errors.UnsupportedError,
    "context manager",
    "outside",
)
refuse(
    "a class that is defined inside",
    """
def f(x):
    class Box:
    ^^^^^^^^^^
        pass

    return np.sum(x)
""",
    errors.UnsupportedError,
    "class definition",
    "outside",
)

# --- what has to be known when the program is compiled ---

refuse(
    "a dictionary key that is computed from numbers",
    """
def f(x):
    table = {0: x, 1: x * x}
    return np.sum(table[int(x[0])])
                  ^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "key has to be known",
    "literal",
)
refuse(
    "a name of an attribute that is computed",
    """
class Model:
    a = 1.0
    b = 2.0

def f(x, names):
    which = "a" if x[0] > 0 else "b"
    return np.sum(x) * getattr(Model, which + str(x[0]))
                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"getattr\(\) needs a name",
    ".",
    (X, ()),
)
refuse(
    "a set of values of run time",
    """
def f(x):
    return sum({x[0], x[1]})
               ^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "set",
    ".",
)
refuse(
    "a dtype that is chosen at run time",
    """
def f(x):
    kinds = [np.float32, np.float64]
    return np.sum(x.astype(kinds[int(x[0])]))
                           ^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "known",
    ".",
)
refuse(
    "a function that is chosen by a number of run time",
    """
def f(x):
    return np.sum([np.sin, np.cos][int(x[0])](x))
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "different kinds",
    "index with a literal",
)
refuse(
    "a recursion that does not end",
    """
def f(x):
    return f(x)
           ^^^^
""",
    errors.UnsupportedError,
    "recursion",
    "loop",
)
# --- memory ---

refuse(
    "a store into windows that share elements",
    """
def f(x):
    w = np.lib.stride_tricks.sliding_window_view(x * 1.0, 2, writeable=True)
    w[0] = 2.0
    ^^^^
    return np.sum(w)
""",
    errors.AliasError,
    "several elements may be one in memory",
    "copy it first",
)
refuse(
    "a store through a mask of what overlaps",
    """
def f(x):
    a = x * 1.0
    a[a > 0] = a[::-1]
    ^^^^^^^^
    return np.sum(a)
""",
    errors.AliasError,
    "NumPy reads there what it has just written",
    "copy it first",
)
refuse(
    "an argument that overlaps itself",
    """
def f(x):
^^^^^^^^^
    x[0] = 2.0
    return np.sum(x)
""",
    errors.AliasError,
    "several elements of the array 'x' may be one in memory",
    "pass a copy",
    (np.lib.stride_tricks.as_strided(np.ones(3), (3,), (0,)),),
)
refuse(
    "a store into what may be protected",
    """
def f(x):
    w = np.asfortranarray(np.broadcast_to(x, (2, 3)))
    w[0] = 2.0
    ^^^^
    return np.sum(w)
""",
    errors.UnsupportedError,
    "NumPy protects from stores",
    "copy it first",
)
refuse(
    "`out=` of a function with several results",
    """
def f(x):
    a = np.zeros(3)
    np.modf(x, out=(a, a))
    ^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(a)
""",
    errors.UnsupportedError,
    "np.modf with out=",
    "assign its results",
)
refuse(
    "`np.dot` into an array of unknown layout",
    """
def f(x):
    a = np.zeros((2, 3), order="F")
    np.dot(np.ones((2, 3)), np.outer(x, x), out=a)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(a)
""",
    errors.UnsupportedError,
    "not known to be laid out in C order",
    "np.dot",
)
refuse(
    "`out=` of another dtype",
    """
def f(x):
    a = np.zeros(3, np.float32)
    np.take(x, [0, 1, 2], out=a)
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(a)
""",
    errors.UnsupportedError,
    "out= of another dtype",
    "assign the result",
)
refuse(
    "arguments that overlap in part",
    """
def f(x, y):
^^^^^^^^^^^^
    x[0] = 2.0
    return np.sum(x * y)
""",
    errors.AliasError,
    "may share memory",
    r"copy",
    (X[:2], X[1:]),
)
refuse(
    "an array with another number of elements in its place",
    """
def f(x):
    y = x * 2.0
    y.resize(5)
    ^^^^^^^^^^^
    return np.sum(y)
""",
    errors.UnsupportedError,
    "resize",
    ".",
)

# --- exceptions and contexts ---

refuse(
    "what a body changed before it raised",
    """
def f(x):
    done = [0.0]
    def add(v):
        done[0] += v
        return v
    try:
        y = add(x[0]) + x[9]
    except IndexError:
        y = 0.0
    return y + done[0]
               ^^^^^^^
""",
    errors.UnsupportedError,
    "may or may not have been changed by the body of the `try`",
    "in its `else`",
)
refuse(
    "a manager that yields in a branch",
    """
import contextlib

@contextlib.contextmanager
def sometimes(x):
    if x[0] > 0:
        yield x

def f(x):
    with sometimes(x) as y:
         ^^^^^^^^^^^^
        s = np.sum(y)
    return s
""",
    errors.UnsupportedError,
    "yield",
    ".",
)
refuse(
    "errstate that calls a function",
    """
def f(x):
    with np.errstate(all="call"):
         ^^^^^^^^^^^^^^^^^^^^^^^
        return np.sum(1 / x)
""",
    errors.UnsupportedError,
    "errstate",
    ".",
)
refuse(
    "raise of what is no exception",
    """
def f(x):
    raise np.sum(x)
          ^^^^^^^^^
""",
    errors.UnsupportedError,
    "exception class",
    "raise an exception class",
)

# --- outside state ---

refuse(
    "an attribute of a class that its metaclass stores",
    """
class Checked(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, abs(value))

class Model(metaclass=Checked):
    scale = 1.0

def f(x):
    Model.scale = 2.0
    ^^^^^^^^^^^
    return np.sum(x) * Model.scale
""",
    errors.UnsupportedError,
    "a class that lives outside of the function",
    "keep it in an attribute of an object",
)
refuse(
    "a function that is kept in a class",
    """
class Model:
    activation = None

def f(x):
    Model.activation = np.tanh
    Model.activation = lambda v: v * v
    ^^^^^^^^^^^^^^^^
    return np.sum(Model.activation(x))
""",
    errors.UnsupportedError,
    "is kept in the attribute 'activation' of 'Model'",
    "keep it in a variable",
)
refuse(
    "an attribute of a class that a property of a derived class hides",
    """
class Model:
    pass

class Fixed(Model):
    @property
    def scale(self):
        return 1.0

def f(x):
    Model.scale = 2.0
    return np.sum(x) * Fixed().scale
                       ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "'scale', which is computed for objects of Fixed and written in a class of theirs",
    "use another name",
)
refuse(
    "a store into an array that was kept outside",
    """
kept = []

def f(x):
    y = x * 2.0
    kept.append(y[1:])
    y[0] = 1.0
    ^^^^
    return np.sum(y)
""",
    errors.AutodiffError,
    ".",
    ".",
)
refuse(
    "a recursion that stores into its argument",
    """
def halve(a, n):
    a[0] = a[0] * 0.5
    if n > a[0]:
        halve(a, n - 1.0)

def f(x):
    y = x * 1.0
    halve(y, x[1])
    ^^^^^^^^^^^^^^
    return np.sum(y)
""",
    errors.UnsupportedError,
    "a store .* of the recursive function",
    "write it as a loop",
)
refuse(
    "a store through the real part",
    """
def f(x):
    z = x * 1j
    z.real[0] = x[1]
    return np.sum(np.abs(z))
                  ^^^^^^^^^
""",
    errors.AliasError,
    "unprovable alias",
    "copy",
)
refuse(
    "a ufunc that leaves entries uninitialised",
    """
def f(x):
    return np.sum(np.sqrt(x, where=x > 1))
                  ^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "where=",
    ".",
)
refuse(
    "a list that changes its length while a loop goes through it",
    """
def f(x):
    parts = [v for v in x]
    for v in parts:
    ^^^^^^^^^^^^^^^
        if v > 1.0:
            parts.append(v - 1.0)
    return sum(parts)
""",
    errors.AutodiffError,
    ".",
    ".",
)
refuse(
    "the order in memory of a view with repeated elements",
    """
def f(x):
    return np.sum(np.ravel(np.broadcast_to(x, (2, 3)), order="K") * 2.0)
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "order='K'",
    "pass order='C' or 'F'",
)
refuse(
    "the namespace of a class",
    """
class Model:
    rate = 2.0

def f(x):
    return x * x if "rate" in vars(Model) else x
                              ^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the namespace of a class",
    "use getattr",
    [2.0],
)
refuse(
    "an order in memory that NumPy does not know",
    """
def f(x):
    return np.sum(x.copy(order="Z") * 2.0)
                  ^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "order='Z'",
    "pass 'C' or 'F'",
)
refuse(
    "quantiles by another method",
    """
def f(x):
    return np.quantile(x, 0.3, method="nearest")
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.AutodiffError,
    ".",
    ".",
)
refuse(
    "vjp, in a function that is compiled, of one that changes what is outside of it",
    """
def f(x):
    seen = [0.0]

    def g(v):
        seen[0] = v[0]
        return np.sin(v)

    y, pull = ad.vjp(g, x)
              ^^^^^^^^^^^^
    return np.sum(pull(y)[0]) + seen[0]
""",
    errors.UnsupportedError,
    "vjp, in a function that is compiled, of a function that changes what is outside of it",
    "take the gradient by grad there",
)
refuse(
    "a Jacobian by a complex argument",
    """
def f(x):
    return np.sum(ad.jacobian(lambda z: z * z)(x * 1j).imag)
                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "jacobian by a complex argument",
    "pass its real and its imaginary part as two arguments",
)
refuse(
    "Taylor coefficients in a function that is compiled",
    """
def f(x):
    return ad.taylor(np.sin, x[0], 1.0, 3)[2]
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "taylor in a function that is compiled is not supported",
    "use derivative there",
)
refuse(
    "a __getattr__ without source",
    """
class Box:
    __getattr__ = {}.get

BOX = Box()

def f(x):
    return x[0] if BOX.size else x[1]
                   ^^^^^^^^
""",
    errors.UnsupportedError,
    r"Box\.__getattr__, which computes 'size', has no source",
    "define it as a function",
)
refuse(
    "the __dict__ of an object that is a container",
    """
class Config(dict):
    pass

def f(x):
    c = Config(a=x[0])
    c.b = x[1]
    return vars(c)["b"]
           ^^^^^^^
""",
    errors.UnsupportedError,
    r"__dict__ of an instance of Config, which is a container too",
    "use its attributes",
)
refuse(
    "a deque of a class of one's own from outside",
    """
import collections

class Window(collections.deque):
    pass

WINDOW = Window([1.0])

def f(x):
    return x[0] * WINDOW[0]
                  ^^^^^^^^^
""",
    errors.UnsupportedError,
    r"'Window' from outside, of a class derived from deque",
    "pass its items",
)
refuse(
    "defaults that are stored by a method of one's own",
    """
import collections

class Groups(collections.defaultdict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)

def f(x):
    g = Groups(list)
    g["a"].append(x[0])
    ^^^^^^
    return g["a"][0]
""",
    errors.UnsupportedError,
    r"Groups stores its defaults by its own __setitem__",
    "define __missing__",
)
refuse(
    "an operator that makes another deque of one's own",
    """
import collections

class Window(collections.deque):
    pass

def f(x):
    w = Window(x[:2]) + Window([1.0])
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return w[0]
""",
    errors.UnsupportedError,
    r"__add__ of an instance of Window, which makes another one",
    "make it in steps",
)
refuse(
    "a dataclass that is a list",
    """
import dataclasses

@dataclasses.dataclass
class Row(list):
    weight: float = 1.0

def f(x):
    return Row(x[0]).weight
           ^^^^^^^^^
""",
    errors.UnsupportedError,
    r"how Row is made, which is a container too",
    "write its __init__",
)
refuse(
    "a copy of a list of one's own",
    """
import copy

class Log(list):
    def append(self, value):
        super().append(value * 2)

def f(x):
    log = Log([x[0]])
    return copy.copy(log)[0]
           ^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"a copy of an instance of Log",
    "make a new one of its items",
)
refuse(
    "the entries of a dictionary that says what they are",
    """
class Config(dict):
    def __iter__(self):
        return iter(["a"])

def f(x):
    return dict(Config(a=x[0]))["a"]
           ^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"the entries of an instance of Config, whose class says what they are",
    "loop over it",
)
refuse(
    "an argument that holds floats where no gradient is put",
    """
def f(d):
^^^^^^^^^
    return d["q"]
""",
    errors.UnsupportedError,
    r"holds floats in a UserDict",
    "pass them in a list",
    ({"p": collections.UserDict(a=1.0), "q": 2.0},),
)
refuse(
    "np.fromiter with a count",
    """
def f(x):
    return np.fromiter((v for v in x), float, 2)[0]
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"np.fromiter with count=",
    "make a list of as many items",
)
refuse(
    "a length that is no int",
    """
class Index:
    def __index__(self):
        return 2

class Pair:
    def __len__(self):
        return Index()

def f(x):
    return x[0] if Pair() else x[1]
                   ^^^^^^
""",
    errors.UnsupportedError,
    r"__len__ returns Index, which is no int",
    "return int",
)
refuse(
    "what foreign code gives after a value entered it",
    """
from contextvars import ContextVar

SEEN = ContextVar("SEEN")

def f(x):
    SEEN.set(x[0])
    return SEEN.get() * x[1]
           ^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"what ContextVar\.get gives may hold a differentiated value, .* one entered ContextVar\.set in line 9",
    "keep it in a variable, list",
)
refuse(
    "an object that foreign code can reach",
    """
class Box:
    size = 2.0

def f(x):
    type.__setattr__(Box, "size", x[0])
    return Box.size * x[1]
           ^^^^^^^^
""",
    errors.UnsupportedError,
    r"this Box can be reached by type\.__setattr__ in line 8, which may have changed it",
    "read it before",
)
refuse(
    "the __dict__ of an object from outside",
    """
class Box:
    pass

BOX = Box()

def f(x):
    vars(BOX)["size"] = x[0]
    ^^^^^^^^^^^^^^^^^
    return BOX.size * x[1]
""",
    errors.UnsupportedError,
    "a change of the __dict__ of an object from outside",
    "assign to its attributes",
)
refuse(
    "a derivative through an array of objects",
    """
def f(x):
    a = np.array([x[0]], dtype=object)
    return a[0] * x[1]
           ^^^^
""",
    errors.UnsupportedError,
    "through an array of objects, strings or records",
    "use arrays of floats",
)
refuse(
    "a derivative through text",
    """
def f(x):
    return np.sum(x.astype(str).astype(float))
                  ^^^^^^^^^^^^^
""",
    errors.RuleLookupError,
    "through an array of objects or strings",
    "use an array of floats",
)
refuse(
    "records made of tuples",
    """
def f(x):
    a = np.array([(x[0], 1.0)], dtype=[("p", float), ("q", float)])
        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return a["p"][0]
""",
    errors.UnsupportedError,
    "records made of tuples",
    r"np\.zeros\(n, dtype\), and store each field",
)
refuse(
    "a special method called by its name, of operands of two kinds",
    """
def f(x):
    return (3.0).__mul__(x).sum()
           ^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    r"__mul__\(\) of .* which of the two has the say",
    "use the operator",
)

# --- arguments and results ---

refuse(
    "a result with axes",
    """
def f(x):
^^^^^^^^^
    return x * 2
""",
    errors.NonScalarOutputError,
    r"grad needs a scalar result, and f returns an array, float64\[",
    "sum the result, or use vjp",
)
refuse(
    "a result that is no number",
    """
def f(x):
^^^^^^^^^
    return "done"
""",
    errors.NonScalarOutputError,
    "grad needs a scalar result",
    ".",
)
refuse(
    "a complex result",
    """
def f(x):
^^^^^^^^^
    return np.sum(x * 1j)
""",
    errors.NonScalarOutputError,
    "grad needs a real floating result",
    ".",
)
refuse(
    "an integer to differentiate by",
    """
def f(n):
^^^^^^^^^
    return n * 2.0
""",
    errors.IntegerArgumentError,
    "cannot differentiate with respect to 'n'",
    "pass it as a float",
    (3,),
)
refuse(
    "an array of integers to differentiate by",
    """
def f(n):
^^^^^^^^^
    return np.sum(n * 2.0)
""",
    errors.IntegerArgumentError,
    "cannot differentiate with respect to 'n'",
    r"pass n\.astype\(float\)",
    (np.arange(3),),
)
refuse(
    "an argument without floating numbers",
    """
def f(name, x):
^^^^^^^^^^^^^^^
    return np.sum(x)
""",
    errors.ArgumentError,
    "cannot differentiate with respect to 'name'",
    "pass floats",
    ("weights", X),
)
DUCK = Strict(X)
refuse(
    "a store into an array of another library",
    """
def f(x):
    x[0] = 1.0
    ^^^^
    return np.sum(x)
""",
    errors.UnsupportedError,
    "a store into a tests.duck.strict.Strict: what else it changes depends on the library",
    "np.where",
    (DUCK,),
)
refuse(
    "an array of another library that is stored into one of NumPy's",
    """
def f(x):
    y = np.zeros(2)
    y[0] = np.sum(x)
    ^^^^
    return np.sum(y)
""",
    errors.UnsupportedError,
    "a tests.duck.strict.Strict is stored into an array of NumPy's, which would convert it",
    "np.stack",
    (DUCK,),
)
refuse(
    "an array of another library that is changed in place",
    """
def f(x):
    x += 1.0
    ^^^^^^^^
    return np.sum(x)
""",
    errors.UnsupportedError,
    "'x' may be a tests.duck.strict.Strict, which is changed in place by \\+=",
    "x = x",
    (DUCK,),
)
refuse(
    "an array of another library that is converted",
    """
def f(x):
    return np.sum(np.asarray(x) ** 2)
                  ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "np.asarray computes a tests.duck.strict.Strict, or copies it from where it is",
    "leave it as it is",
    (DUCK,),
)
refuse(
    "what only another library's arrays have",
    """
def f(x):
    return np.sum(x.compute())
                  ^^^^^^^^^
""",
    errors.UnsupportedError,
    "the attribute 'compute' of a tests.duck.strict.Strict",
    "a function of NumPy's",
    (DUCK,),
)
refuse(
    "a function that NumPy does not hand to arrays of other libraries",
    """
def f(x):
    return np.sum(ad.nn.relu(x))
                  ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the function calls relu, which NumPy does not hand to a tests.duck.strict.Strict",
    "other functions of NumPy's",
    (DUCK,),
)
refuse(
    "a subscript by an array, of an array of another library",
    """
def f(x):
    return np.sum(x[np.array([0, 1, 1])] ** 2)
                  ^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the derivative of a subscript by an array adds to repeated places, and no public function does so",
    "take slices",
    (DUCK,),
)
refuse(
    "a store into an argument beside an array of another library",
    """
def f(a, x):
^^^^^^^^^^^^
    a[0] = 1.0
    return np.sum(a * x)
""",
    errors.AliasError,
    "the function writes to the array 'a', and 'x', a tests.duck.strict.Strict, may read from it",
    "a.copy",
    (X, DUCK),
)
refuse(
    "a subclass of an array",
    """
def f(x):
^^^^^^^^^
    return np.sum(x)
""",
    errors.UnsupportedError,
    "subclasses of np.ndarray",
    "np.asarray",
    (np.ma.array([1.0, 2.0]),),
)
refuse(
    "an array of objects",
    """
def f(x):
^^^^^^^^^
    return np.sum(x)
""",
    errors.AutodiffError,
    "object",
    ".",
    (np.array([1.0, None], dtype=object),),
)
refuse(
    "an argument too many",
    """
def f(x):
^^^^^^^^^
    return np.sum(x)
""",
    errors.ArgumentError,
    "too many positional arguments",
    "",
    (X, X),
)

# --- functions ---

refuse(
    "a function without a rule",
    """
def f(x):
    return np.sum(np.kaiser(4, x[0]))
                  ^^^^^^^^^^^^^^^^^^
""",
    errors.RuleLookupError,
    "no derivative rule for np.kaiser|no derivative rule for numpy.kaiser",
    "vjp_rule",
)
refuse(
    "a function without a rule whose result is unpacked",
    """
def f(x):
    w, v, u = np.histogram2d(x, x, weights=x)
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(w) + v[0] + u[0]
""",
    errors.AutodiffError,
    "no derivative rule for np.histogram2d",
    "vjp_rule",
)
refuse(
    "an array that is called",
    """
def f(x):
    return x.size() * x[0]
           ^^^^^^^^
""",
    errors.ArgumentError,
    "`x.size` is an int, which cannot be called",
    "call a function or a method",
)
refuse(
    "an attribute of a polynomial of np.poly1d",
    """
def f(x):
    return len(np.poly1d(x).variable) * x[0]
               ^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the attribute 'variable' of a np.poly1d",
    "its values",
)
refuse(
    "an attribute that arrays do not have",
    """
def f(x):
    x.name = "a"
    ^^^^^^
    return x[0]
""",
    errors.MissingAttributeError,
    "'numpy.ndarray' object has no attribute 'name'",
    "keep it in a variable",
)
refuse(
    "np.r_ of what is an array at some times only",
    """
def f(x):
    path = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            path = x[i : i + 1]
    return np.sum(np.r_[path, x])
                  ^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "np.r_ and np.c_ of what is an array at some times only",
    "begin with an empty array",
)
refuse(
    "a library function that calls back",
    """
def f(x):
    return np.sum(np.frompyfunc(lambda v: v * v, 1, 1)(x))
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "an array of objects of np.frompyfunc cannot be used as a value here",
    r"make an array of numbers of it: \.astype\(float\)",
)
refuse(
    "an object that decides what its attributes are",
    """
class Strange:
    def __getattribute__(self, name):
        return 1.0

strange = Strange()

def f(x):
    return np.sum(x * strange.w)
                      ^^^^^^^^^
""",
    errors.UnsupportedError,
    "__getattribute__",
    ".",
)

# --- iterators ---

refuse(
    "what is left in an iterator that a loop has left early",
    """
def f(x):
    it = iter(x)
    for v in it:
        if v > 0.3:
            break
    return sum(it)
           ^^^^^^^
""",
    errors.UnsupportedError,
    "is an iterator of which a part has been taken",
    "make a list of it first",
)
refuse(
    "items with effects computed ahead",
    """
def f(x):
    log = []
    total = 0.0
    for i, v in enumerate(v for v in x if log.append(v) or v > 0):
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        total = total + v * len(log) * i
    return total
""",
    errors.UnsupportedError,
    "an iterator whose items have effects, and of which the number is known at run time only",
    "list\\(",
)
refuse(
    "an iterator whose items are computed ahead, and that reads what the loop changes",
    """
def f(x):
    s = 1.0
    total = 0.0
    for i, v in enumerate(v * s for v in x if v > 0):
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        s = s + v
        total = total + v * i
    return total
""",
    errors.UnsupportedError,
    "a loop changes what the iterator that it runs over still reads",
    "list\\(",
)
refuse(
    "items that read the set or dictionary that they go into",
    """
def f(x):
    s = {0}
    s.update(len(s) for _ in range(3))
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(x) * sum(s)
""",
    errors.UnsupportedError,
    "an iterator that reads the container which its items go into",
    "list\\(",
)
refuse(
    "zip of an iterator with effects and a shorter one",
    """
def f(x):
    log = []
    total = 0.0
    for v, w in zip(map(lambda v: log.append(v) or v, x), x[1:]):
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        total = total + v * w
    return total + len(log)
""",
    errors.UnsupportedError,
    "zip\\(\\) or map\\(\\) of an iterator whose items have effects",
    "shortest",
)
refuse(
    "one more item is known at run time only",
    """
import itertools

def f(x):
    total = 0.0
    for v in itertools.takewhile(lambda v: v < 2, x):
             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        total = total + v
    return total
""",
    errors.UnsupportedError,
    "what is left in this iterator is known at run time only",
    "write a loop",
)
refuse(
    "groupby by keys known at run time only",
    """
import itertools

def f(x):
    return sum(len(list(g)) for k, g in itertools.groupby([x[0], x[1]]))
                   ^^^^^^^
""",
    errors.UnsupportedError,
    "known at run time only",
    "write a loop",
)
refuse(
    "islice of a filter, item by item",
    """
import itertools

def f(x):
    n = int(x[0] > 0) + 1
    it = itertools.islice(map(abs, x), n)
    return next(it)
           ^^^^^^^^
""",
    errors.UnsupportedError,
    "itertools.islice\\(\\) by numbers known at run time only",
    "loop over it",
)

refuse(
    "a memo that two copies share",
    """
import copy

def f(x):
    memo = {}
    a = copy.deepcopy(x, memo)
    b = copy.deepcopy(x, memo)
        ^^^^^^^^^^^^^^^^^^^^^^
    return np.sum(a * b)
""",
    errors.UnsupportedError,
    "memo that is used more than once",
    "in one list",
)
refuse(
    "a deep copy of a list that may hold one array twice",
    """
import copy

def f(x):
    rows = []
    for k in range(len(x)):
        rows.append(x)
    return np.sum(copy.deepcopy(rows)[0])
                  ^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "one object may be twice",
    "in a loop",
)
refuse(
    "a copy of an iterator",
    """
import copy

def f(x):
    return sum(copy.copy(iter([x[0], x[1]])))
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "a copy of an iterator",
    "itertools.tee",
)
refuse(
    "reversed() of a list that gets shorter",
    """
def f(x):
    values = [x[0], x[1], 3.0]
    back = reversed(values)
    values.pop()
    return next(back)
           ^^^^^^^^^^
""",
    errors.UnsupportedError,
    "a list that changes its length while reversed",
    "reversed.list",
)
refuse(
    "what was raised before an exception",
    """
def f(x):
    try:
        raise ValueError
    except ValueError as error:
        return x[0] if error.__context__ is None else x[1]
                       ^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "__context__: what was raised before",
    "in a variable",
)
refuse(
    "where an exception was raised",
    """
class Manager:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.line = trace.tb_lineno
                    ^^^^^^^^^^^^^^^
        return True

def f(x):
    manager = Manager()
    with manager:
        raise ValueError
    return x[0] * manager.line
""",
    errors.UnsupportedError,
    "what a traceback holds",
    "name what is asked for",
)
refuse(
    "the exception that is being handled outside of the function",
    """
import sys

def f(x):
    return x[0] if sys.exc_info()[0] is ValueError else x[1]
                   ^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "exc_info.. where no handler of the function runs",
    "name the exception",
)
refuse(
    "something inside of the standard library",
    """
import traceback

def f(x):
    try:
        raise ValueError
    except ValueError as error:
        lines = traceback.format_exception(error)
                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    return x[0] * len(lines)
""",
    errors.UnsupportedError,
    "of Python's own library",
    "in a variable",
)
refuse(
    "a part of a range with a step known at run time only",
    """
def f(x):
    k = int(x[0] * 2)
    return sum(range(9)[::k]) * x[0]
               ^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "a part of a range",
    "write the range itself",
)
refuse(
    "where a range has a number known at run time only",
    """
def f(x):
    return range(9).index(int(x[1])) * x[0]
           ^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "range.index",
    "from start, stop and step",
)

# --- Python's own errors, found early ---

refuse(
    "a name that is bound later",
    """
def f(x):
    y = z
        ^
    z = x
    return np.sum(y)
""",
    errors.UnboundNameError,
    "'z'",
    "",
)
refuse(
    "a name that is bound nowhere",
    """
def f(x):
    return np.sum(x) + nowhere
                       ^^^^^^^
""",
    errors.MissingNameError,
    "'nowhere'",
    "",
)
refuse(
    "an attribute of a module that is not there",
    """
def f(x):
    return np.summ(x)
           ^^^^^^^
""",
    errors.MissingAttributeError,
    "has no attribute 'summ'",
    "",
)
refuse(
    "an attribute of a number that is not there",
    """
def f(x):
    return x.sum()
           ^^^^^
""",
    errors.MissingAttributeError,
    "'float' object has no attribute 'sum'",
    "",
    (2.0,),
)
refuse(
    "a call that does not fit",
    """
def helper(a, b):
    return a * b

def f(x):
    return np.sum(helper(x))
                  ^^^^^^^^^
""",
    errors.ArgumentError,
    "'b'",
    "",
)
refuse(
    "an item that does not exist",
    """
def f(x):
    parts = [x, x * x]
    return np.sum(parts[2])
                  ^^^^^^^^
""",
    errors.AutodiffError,
    "index out of range",
    "",
)
refuse(
    "a key that does not exist",
    """
def f(x):
    parts = {"a": x}
    return np.sum(parts["b"])
                  ^^^^^^^^^^
""",
    errors.AutodiffError,
    "'b'",
    "",
)
refuse(
    "an unpacking that does not fit",
    """
def f(x):
    a, b = x, x, x
    ^^^^^^^^^^^^^^
    return np.sum(a)
""",
    errors.InvalidValueError,
    "unpack",
    "",
)
refuse(
    "the order of a set that comes from outside and is changed",
    """
def f(x, names):
    names.add("b")
    return x[0] * len(tuple(names)[0])
                      ^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "the order in which Python goes through this set is not known",
    "go through sorted",
    (X, {"a", "bc"}),
)

refuse(
    "the layout of an array that the function makes",
    """
def f(x):
    y = x[::2]
    return np.sum(x) if y.flags.c_contiguous else np.sum(x * x)
                        ^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "whether an array that the function makes is c_contiguous",
    "ask it of an argument",
)
refuse(
    "whether two results are one object",
    """
def f(x):
    a, b = x[0] * 1.0, x[0] * 1.0
    return a if a is b else a * a
                ^^^^^^
""",
    errors.UnsupportedError,
    "whether these are one object is not known",
    "compare with ==",
)
refuse(
    "a key whose class says how it is compared",
    """
class Key:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return self.k == other.k

    def __hash__(self):
        return hash(self.k)

KEY = Key(1)
TABLE = {KEY: 2.0}

def f(x):
    return x[0] * TABLE[KEY]
                  ^^^^^^^^^^
""",
    errors.UnsupportedError,
    "Key says how its objects are compared",
    "use a number, a string, a tuple",
)
refuse(
    "whether arrays share memory",
    """
def f(x):
    return np.sum(x) if np.shares_memory(x, x[1:]) else x[0]
                        ^^^^^^^^^^^^^^^^^^^^^^^^^^
""",
    errors.UnsupportedError,
    "shares_memory",
    "outside of the function",
)
refuse(
    "the address of an array",
    """
def f(x):
    return np.sum(x) if x.ctypes.data % 8 == 0 else x[0]
                        ^^^^^^^^
""",
    errors.UnsupportedError,
    "the attribute 'ctypes' of an array",
    "outside",
)
refuse(
    "floats added to integers in place",
    """
def f(x):
    count = np.zeros(3, dtype=np.int64)
    count += x
    ^^^^^^^^^^
    return np.sum(count)
""",
    errors.AutodiffError,
    "int64",
    "",
)


# --- the tests ---


@pytest.mark.parametrize("case", REFUSALS, ids=lambda c: c.title.replace(" ", "-"))
def test_refused(case: Refusal, tmp_path: Path) -> None:
    program, line, column, width = split_carets(case.program)
    module, path = load(HEAD + program, tmp_path)
    before = [np.array(a, copy=True) if isinstance(a, np.ndarray) else a for a in case.args]
    with pytest.raises(case.error) as caught:
        ad.grad(module.f)(*case.args)
    for was, a in zip(before, case.args):
        assert was is a or np.array_equal(was, a)
    text = str(caught.value).splitlines()
    shown = program.split("\n")[line]
    assert re.match(rf"{re.escape(str(path))}:(\d+):(\d+)", text[0])
    head = f"{path}:{HEAD.count(chr(10)) + line + 1}:{column + 1}"
    assert text[0].startswith(f"{head}, in "), text
    assert text[1] == f"    {shown}"
    assert text[2] == "    " + " " * column + "^" * width, text
    assert re.search(case.message, text[3]), text
    if case.remedy:
        assert text[4].startswith("Instead: ") and re.search(case.remedy, text[4]), text
    assert len(text) <= 5


def calls_of(tree: ast.AST) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


@pytest.mark.parametrize("path", sorted((ROOT / "autodiff_compiler").rglob("*.py")), ids=lambda p: p.stem)
def test_each_refusal_says_what_to_do_instead(path: Path) -> None:
    """`self.fail(message, node)` without a remedy is for what Python itself would raise, and then names that error."""
    missing = []
    for call in calls_of(ast.parse(path.read_text())):
        fails = isinstance(call.func, ast.Attribute) and call.func.attr == "fail" and path.parent.name == "frontend"
        if fails and len(call.args) < 4:
            keywords = {k.arg for k in call.keywords}
            remedy = call.args[2] if len(call.args) > 2 else None
            empty = remedy is None or (isinstance(remedy, ast.Constant) and not remedy.value)
            if empty and not keywords & {"remedy", "error"}:
                missing.append(f"{path.name}:{call.lineno}")
        raised = isinstance(call.func, ast.Name) and call.func.id in (
            "UnsupportedError",
            "RuleLookupError",
            "AliasError",
            "NonScalarOutputError",
            "IntegerArgumentError",
            "SourceUnavailableError",
        )
        if raised and len(call.args) < 3 and "remedy" not in {k.arg for k in call.keywords}:
            missing.append(f"{path.name}:{call.lineno}")
    assert not missing


PAGE_HEAD = """# What is refused

What does an error of the compiler say, and what does it tell you to write instead? There is one line for each kind of
refusal. Each error also shows file, line and column, and the line with a caret under the place. [Known
limitations](limitations.md) shows some in full. This page is made from the tests.

| | the error says | instead |
|---|---|---|
"""


def told(case: Refusal, directory: Path) -> tuple[str, str]:
    """Message and remedy, without what is this machine's."""
    module, _ = load(HEAD + split_carets(case.program)[0], directory)
    try:
        ad.grad(module.f)(*case.args)
    except errors.AutodiffError as error:
        return error.message, error.remedy
    raise AssertionError(f"{case.title} is not refused")


def test_the_page_lists_them(tmp_path: Path, update_golden: bool) -> None:
    rows = ""
    for case in REFUSALS:
        message, remedy = told(case, tmp_path)
        message = re.sub(r" \(\S+\.py\)", "", message).replace("|", "\\|")
        rows += f"| {case.title} | {message} | {remedy} |\n"
    if update_golden:
        PAGE.write_text(PAGE_HEAD + rows)
    assert PAGE.read_text() == PAGE_HEAD + rows
