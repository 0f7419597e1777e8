"""Compares a program with a run of the function itself: value, gradient by central differences, exceptions."""

import importlib.util

import autodiff_compiler as ad
from autodiff_compiler.errors import AutodiffError

X = 1.137


# A function with a helper that writes down when it runs, and with a little of everything to work on.
HEAD = """import numpy as np, copy, itertools, functools, dataclasses, contextlib, collections, math
class O:
    def __init__(self, v): self.v = v
    def m(self, *a): return self.v * sum(a)
    def __getitem__(self, k): return self.v
    def __setitem__(self, k, w): self.v = w
@contextlib.contextmanager
def cm(v):
    yield v
class P(dict): pass
G = 1.0
P2 = collections.namedtuple("P2", "a b")
@dataclasses.dataclass
class D:
    a: float
    b: float = 2.0
    c: list = None
class Hook:
    def __init__(self, v): self.v = v
    def __copy__(self): return Hook(self.v * 2)
    def __deepcopy__(self, memo): return Hook(self.v * 3)
def f(x):
    log = []
    def e(k, v=None):
        log.append(k)
        return (k if v is None else v)
    def g(v):
        log.append(v)
        return v
    def h(*a, **k):
        r = 0.0
        for i, v in enumerate(a):
            r = r + v * (i + 1)
        for i, v in enumerate(k.values()):
            r = r + v * 10 * (i + 1)
        return r
    a = np.arange(1.0, 6.0) * x
    l = [x, 2 * x, 3 * x, 4 * x]
    d = {1: x, 2: 2 * x, 3: 3 * x}
    o = O(x)
    r = 0.0
    {BODY}
    w = 0.0
    for i, k in enumerate(log):
        w = w + k * (i + 1) ** 2
    return r * 1.0 + w * x
"""


def module_of(text, folder, name):
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outcome(f, x=X):
    """The outcome of a program: "right", "refused", or a text that says what is wrong."""
    try:
        expected, error = f(x), None
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    except Exception as raised:
        error = raised
    try:
        value, grad = ad.value_and_grad(f)(x)
    except Exception as raised:
        if error is not None and isinstance(raised, type(error)):
            return "right"
        return "refused" if isinstance(raised, AutodiffError) else f"raises {raised!r}"
    if error is not None:
        return f"gives {value}, where the function raises {error!r}"
    if abs(value - expected) > 1e-9 * (1 + abs(expected)) or abs(grad - slope) > 1e-5 * (1 + abs(slope)):
        return f"{value} for {expected}, derivative {grad} for {slope}"
    return "right"
