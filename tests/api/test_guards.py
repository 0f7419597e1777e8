"""What a function finds outside is looked at by every call: keys by type and value, functions that were replaced.

Each program changes something, and takes the gradient again; in several processes over one disk cache.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import pristine
from autodiff_compiler.ir.core import structural_key
from tests.processes import refused, run_in_processes, wrong

HEAD = "import builtins, functools, math, operator\nimport numpy as np\n"

# --- functions that are replaced: what is replaced, by what, and a function that calls it ---

PATCHES = {
    "ufunc": ("np.sin", "np.cos", "return np.sin(x) * x"),
    "ufunc by lambda": ("np.sin", "lambda v: v * v", "return np.sin(x) * x"),
    "its own partner": ("np.cos", "np.exp", "return np.sin(x) * np.cos(x)"),
    "used by the rule only": ("np.cos", "np.exp", "return np.sin(x) * x"),
    "function": ("np.sum", "np.prod", "return np.sum(np.array([x, 2.0]) * np.array([3.0, x]))"),
    "method of a module": ("np.linalg.norm", "lambda v: v[0] * 3.0", "return np.linalg.norm(np.array([x, 1.0]))"),
    "math": ("math.sin", "math.exp", "return math.sin(x) * x"),
    "math by lambda": ("math.exp", "lambda v: v * 5", "return math.exp(x) + math.sin(x)"),
    "operator": ("operator.mul", "operator.add", "return operator.mul(x, x) * x"),
    "built-in": ("builtins.abs", "lambda v: v * v * v", "return abs(x) * x"),
    "built-in round": ("builtins.round", "lambda v: v * v", "return round(x * 3.3) * x"),
    "built-in max": ("builtins.max", "min", "return max(x, x * x * 3)"),
    "functools": ("functools.reduce", "lambda f, v: v[0]", "return functools.reduce(lambda a, b: a * b, [x, x * x])"),
    "constant": ("np.pi", "2.5", "return np.pi * x * x"),
    "constant of math": ("math.e", "-1.5", "return math.e * x * x"),
    "type of a constant": ("math.tau", "'ab'", "return x * len(math.tau) if isinstance(math.tau, str) else x * x"),
    "a definition's function": ("np.cov", "np.corrcoef", "return np.cov(np.array([x, 2.0, 3.5]), np.array([1.0, x, 0.5]))[0, 1]"),
    "what definitions call": ("np.mean", "np.max", "return np.var(np.array([x, 2.0, x * x]))"),
    "what the runtime calls": ("np.broadcast_to", "np.zeros", "return np.sum(np.ones((2, 3)) * np.array([x, x * x, 1.0]))"),
    "what the rule calls": ("np.where", "lambda *a: a[1] * 7", "return np.max(np.array([x, 2.0, x * x])) * x"),
    "method": ("K.go", "lambda self, v: v ** 3", "return k.go(x) * x"),
    "static method": ("K.st", "staticmethod(lambda v: v ** 3)", "return K.st(x) * x"),
    "property": ("K.p", "property(lambda self: 7.0)", "return k.p * x * x"),
    "operator of a class": ("K.__mul__", "lambda self, v: v ** 3", "return k * x"),
    "truth of a class": ("K.__bool__", "lambda self: False", "return x * x if k else x ** 3"),
    "function of a module": ("helper", "lambda v: v ** 3", "return helper(x) * x"),
    "attribute of a function": ("helper.rate", "5.0", "return helper.rate * x * x"),
    "code of a function": ("helper.__code__", "(lambda v: v ** 3).__code__", "return helper(x) * x"),
    "default of a function": ("helper2.__defaults__", "(7.0,)", "return helper2(x) * x"),
}  # fmt: skip

CLASS = """
class K:
    def go(self, v): return v * v
    @staticmethod
    def st(v): return v * v
    @property
    def p(self): return 3.0
    def __mul__(self, v): return v * v
    def __bool__(self): return True
k = K()
def helper(v): return v * v
helper.rate = 2.0
def helper2(v, c=2.0): return v * c
"""


def patched(what: str, by: str, body: str, first: bool) -> str:
    """A program that calls a function, replaces it, calls, puts it back, calls; `first`: it is replaced at the start."""
    holder, _, name = what.rpartition(".")
    get = f"getattr({holder}, {name!r})" if holder != "K" else f"K.__dict__[{name!r}]"
    put = f"setattr({holder}, {name!r}, %s)" if holder else f"globals().__setitem__({name!r}, %s)"
    get = get if holder else name
    steps = ["steps = [back, patch, back]", "patch()"] if first else ["steps = [patch, back]"]
    return "\n".join([
        HEAD, CLASS, f"was = {get}", f"new = {by}", f"def f(x):\n    {body}",
        f"def patch(): {put % 'new'}", f"def back(): {put % 'was'}", *steps,
    ])  # fmt: skip


# --- cached functions: what each is, what changes, and a function that calls it ---

CACHED = {
    "global": ("c = 2.0\n@functools.lru_cache\ndef h(n): return c * n", "c = 5.0", "return h(3) * x * x"),
    "global, argument of a loop": ("c = 2.0\n@functools.cache\ndef h(n): return c * n", "c = 5.0", "t = 0.0\n    for i in range(3):\n        t = t + h(i) * x * x\n    return t"),
    "flag": ("c = True\n@functools.cache\ndef h(n): return 2.0 if c else 3.0", "c = False", "return h(1) * x * x"),
    "helper": ("def k(n): return n * 2.0\n@functools.cache\ndef h(n): return k(n)", "k = math.sqrt", "return h(3) * x * x"),
    "list": ("c = [2.0]\n@functools.cache\ndef h(n): return c[0] * n", "c[0] = 5.0", "return h(3) * x * x"),
    "array": ("c = np.ones(2)\n@functools.cache\ndef h(n): return c[0] * n", "c[0] = 5.0", "return h(3) * x * x"),
    "closure": ("def make():\n    c = 2.0\n    def put(v):\n        nonlocal c\n        c = v\n    @functools.cache\n    def h(n): return c * n\n    return h, put\nh, put = make()", "put(5.0)", "return h(3) * x * x"),
    "attribute": ("class O: pass\no = O()\no.c = 2.0\n@functools.cache\ndef h(n): return o.c * n", "o.c = 5.0", "return h(3) * x * x"),
    "self": ("class O:\n    @functools.cache\n    def h(self, n): return self.c * n\no = O()\no.c = 2.0", "o.c = 5.0", "return o.h(3) * x * x"),
    "object": ("class O: pass\no = O()\no.c = 2.0\n@functools.cache\ndef h(o): return o.c * 2", "o.c = 5.0", "return h(o) * x * x"),
    "property": ("class O:\n    @functools.cached_property\n    def p(self): return self.c * 2\no = O()\no.c = 2.0\no.p", "o.c = 5.0", "return o.p * x * x"),
    "array it gives": ("@functools.cache\ndef h(n): return np.ones(n)", "h(3)[0] = 5.0", "return h(3)[0] * x * x + np.sum(h(3))"),
    "list it gives": ("@functools.cache\ndef h(n): return [1.0, n]", "h(3)[0] = 5.0", "return h(3)[0] * x * x"),
    "inner cache": ("c = 2.0\n@functools.cache\ndef k(n): return c * n\n@functools.cache\ndef h(n): return k(n) + 1", "c = 5.0", "return h(3) * x * x"),
    "class attribute": ("class O:\n    c = 2.0\n@functools.cache\ndef h(n): return O.c * n", "O.c = 5.0", "return h(3) * x * x"),
    "default": ("@functools.cache\ndef h(n, c=2.0): return c * n", "pass", "return h(3) * x * x"),
    "random": ("@functools.cache\ndef h(n): return np.random.rand()", "pass", "return h(3) * x * x"),
    "nothing": ("@functools.cache\ndef h(v): return v * v * math.sin(v)", "pass", "return h(x) * x + h(2.0)"),
    "itself": ("@functools.cache\ndef h(v, n): return v if n == 0 else h(v, n - 1) * v", "pass", "return h(x, 3) * x"),
    "patched": ("@functools.cache\ndef h(n): return math.sin(n) * 2\nwas = math.sin", "math.sin = math.cos if math.sin is was else was", "return h(3) * x * x"),
}  # fmt: skip


# --- keys and values that are equal and yet not the same ---

EQUAL = {
    "key": ("d = {1: 0.7}", ["d = {True: 0.7}", "d = {1.0: 0.7}", "d = {1: 0.7}"], "t = 1.0\n    for k in d:\n        t = t * x * d[k] if k is True else t * x ** 3 if isinstance(k, float) else t * x ** 2\n    return t"),
    "zero key": ("d = {0.0: 0.7}", ["d = {-0.0: 0.7}", "d = {0: 0.7}", "d = {False: 0.7}"], "t = 1.0\n    for k in d:\n        t = t * x * math.copysign(2.0, k) + (x if isinstance(k, int) else 0.0)\n    return t"),
    "key in a tuple": ("d = {(1, 'a'): 0.7}", ["d = {(True, 'a'): 0.7}", "d = {(1.0, 'a'): 0.7}"], "t = 1.0\n    for k in d:\n        t = t * (x if k[0] is True else x ** 2 if type(k[0]) is int else x ** 3)\n    return t"),
    "key of NumPy": ("d = {'a': 0.7}", ["d = {np.str_('a'): 0.7}"], "t = 1.0\n    for k in d:\n        t = t * (x if type(k) is str else x ** 3)\n    return t"),
    "flag": ("d = True", ["d = 1", "d = 1.0", "d = True"], "return x * x if d is True else x ** 3 * d"),
    "text": ("d = 'a'", ["d = np.str_('a')", "d = b'a'"], "return x * x if type(d) is str else x ** 3"),
    "number": ("d = 1", ["d = 1.0", "d = True", "d = np.float64(1.0)", "d = np.int64(1)"], "return x * x if type(d) is int else x ** 3 if type(d) is float else x"),
    "sign": ("d = 0.0", ["d = -0.0", "d = 0"], "return x * math.copysign(2.0, d)"),
    "member": ("d = {1, 2}", ["d = {True, 2}", "d = {1.0, 2}"], "t = x\n    for k in d:\n        t = t * (x if k is True else 2.0 if type(k) is int else x * x)\n    return t"),
    "frozen member": ("d = frozenset([0.0])", ["d = frozenset([-0.0])", "d = frozenset([0])"], "t = x\n    for k in d:\n        t = t * math.copysign(3.0, k) * (x if type(k) is float else 1.0)\n    return t"),
    "order of keys": ("d = {'a': 1.0, 'b': 2.0}", ["d = {'b': 2.0, 'a': 1.0}"], "t = 0.0\n    for k in d:\n        t = t * x + d[k] * x\n    return t"),
    "attribute": ("class O: pass\nd = O()\nd.a = True", ["d.a = 1", "d.a = 1.0"], "return x * x if d.a is True else x ** 3"),
    "item": ("d = [True, 'a']", ["d[0] = 1", "d[1] = np.str_('a')"], "return (x * x if d[0] is True else x ** 3) * (x if type(d[1]) is str else 1.0)"),
    "default": ("def h(x, c=True): return x * x if c is True else x ** 3", ["h.__defaults__ = (1,)", "h.__defaults__ = (1.0,)"], "return h(x)"),
    "keyword default": ("def h(x, *, c=True): return x * x if c is True else x ** 3", ["h.__kwdefaults__ = {'c': 1}"], "return h(x)"),
    "partial": ("def h(c, x): return x * x if c is True else x ** 3\nd = functools.partial(h, True)", ["d = functools.partial(h, 1)", "d = functools.partial(h, 1.0)"], "return d(x)"),
    "closure": ("def make(c):\n    def h(x): return x * x if c is True else x ** 3\n    return h\nd = make(True)", ["d = make(1)", "d = make(1.0)"], "return d(x)"),
    "dtype": ("d = np.dtype('f8')", ["d = np.dtype('i8')", "d = np.float64", "d = 'f8'"], "return x * np.ones(2, d)[0] * (x if d == np.dtype('f8') else 1.0)"),
    "named tuple": ("import collections\nA = collections.namedtuple('A', 'p q')\nB = collections.namedtuple('B', 'q p')\nd = A(1.0, 2.0)", ["d = B(1.0, 2.0)", "d = (1.0, 2.0)"], "return x * x * (d.p if hasattr(d, 'p') else 7.0)"),
    "enum": ("import enum\nclass E(enum.IntEnum):\n    A = 1\nd = E.A", ["d = 1", "d = True"], "return x * x if isinstance(d, E) else x ** 3"),
    "slice": ("d = slice(0, 1)", ["d = slice(0, True)", "d = slice(0, 2)"], "return x * np.sum(np.array([x, 2.0, 3.0])[d])"),
    "counter": ("import collections\nd = collections.OrderedDict([(1, 0.5)])", ["d = collections.OrderedDict([(True, 0.5)])", "d = {1: 0.5}"], "t = 1.0\n    for k in d:\n        t = t * (x if k is True else x * x)\n    return t"),
}  # fmt: skip


def equal(first: str, changes: list[str], body: str) -> str:
    names = []
    text = [HEAD, first, f"def f(x):\n    {body}"]
    for k, change in enumerate(changes):
        name = "global d\n    " if change.startswith("d =") else ""
        text.append(f"def step_{k}():\n    {name}{change}")
        names.append(f"step_{k}")
    return "\n".join([*text, f"steps = [{', '.join(names)}]"])


def cached(first: str, change: str, body: str) -> str:
    name = "global c, k\n    " if change[:3] in ("c =", "k =") else ""
    step = f"def step():\n    {name}{change}"
    return "\n".join(
        [
            HEAD,
            first,
            f"def f(x):\n    {body}",
            step,
            "steps = [step, lambda: None]" if "was" not in first else "steps = [step, step]",
        ]
    )


PROGRAMS = {
    **{f"patched {name}": patched(*case, False) for name, case in PATCHES.items()},
    **{f"patched before, {name}": patched(*case, True) for name, case in PATCHES.items()},
    **{f"cached {name}": cached(*case) for name, case in CACHED.items()},
    **{f"equal {name}": equal(*case) for name, case in EQUAL.items()},
}


def test_what_is_outside_is_looked_at_by_every_call(tmp_path: Path) -> None:
    runs = run_in_processes(PROGRAMS, tmp_path, seeds=(1, 2, 3))
    assert wrong(runs) == []
    assert refused(runs) == set()


# --- keys of caches ---

ONES: list[Any] = [
    1, 1.0, True, 1 + 0j, np.float64(1), np.float32(1), np.int64(1), np.bool_(True), "1", np.str_("1"), b"1",
    0, 0.0, -0.0, False, None, "", (), float("nan"), complex(0.0, -0.0), complex(-0.0, 0.0), np.float64(-0.0), np.float64(0.0),
]  # fmt: skip


def test_constants_are_told_apart_by_type_and_value() -> None:
    nested = [*ONES, *[(x,) for x in ONES], *[[x] for x in ONES], *[{x: 0} for x in ONES], *[{"k": x} for x in ONES]]
    nested += [
        *[frozenset([x]) for x in ONES],
        *[{x} for x in ONES],
        *[slice(x, None) for x in ONES],
        *[((x,), 1) for x in ONES],
    ]
    keys = [structural_key(x) for x in nested]
    assert len(set(keys)) == len(keys)
    again = [structural_key(x) for x in nested]
    assert keys == again and all(hash(a) == hash(b) for a, b in zip(keys, again))


def kind_of(x: Any, v: Any) -> Any:
    """What code may do with a constant that tells it from all that are equal to it."""
    if isinstance(v, (tuple, list)):
        return x * 5 if len(v) == 0 else kind_of(x, v[0]) * 3
    if v is None:
        return x * 7
    if isinstance(v, (str, bytes)):
        return x * (2 + len(v)) * (13 if type(v) is str else 17 if isinstance(v, str) else 19)
    if isinstance(v, complex):
        return x * 23 + np.arctan2(v.imag, v.real)
    if v is True or v is False:
        return x * 29 if v else x * 31
    return x * (1.0 + v) * (37 if type(v) is float else 41 if type(v) is int else 43)


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: (v,), lambda v: [v, 1]], ids=["plain", "tuple", "list"])
def test_arguments_that_are_equal(wrap: Any) -> None:
    """One gradient function is called with all of them, in both orders."""
    made = ad.grad(kind_of)
    for v in [*ONES, *ONES[::-1]]:
        if isinstance(v, (np.str_, np.bool_)) or v != v:
            continue  # others tell these apart
        given = wrap(v)
        want = (kind_of(1.5, given) - kind_of(0.5, given)).real
        assert made(0.7, given) == pytest.approx(want), v
        assert ad.grad(lambda x, **kw: kind_of(x, kw["v"]))(0.7, v=given) == pytest.approx(want), v


def test_the_package_does_not_look_functions_up_where_programs_replace_them() -> None:
    import importlib
    import pkgutil

    for part in ("operations", "kernels"):
        package = importlib.import_module(f"autodiff_compiler.{part}")
        for info in pkgutil.iter_modules(package.__path__):
            if info.name == "check":
                continue  # it serves tests
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            assert getattr(module, "np", pristine.np) is pristine.np, module.__name__
            assert getattr(module, "math", pristine.math) is pristine.math, module.__name__
