"""The disk cache between processes: an entry is used where nothing changed, and never where anything did.

Each program is run in processes of its own, over one cache folder. ``COMPILED`` counts what was lowered, so that a test
sees whether an entry was used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.api import cache as cache_module

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not cache_module._SUPPORTED, reason="no disk cache on this system")

HEAD = """
import numpy as np
import autodiff_compiler as ad
from autodiff_compiler.api import compiler

COMPILED = []
_real = compiler.lower
def _counted(*args, **kwargs):
    COMPILED.append(1)
    return _real(*args, **kwargs)
compiler.lower = _counted

def tried(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__} {error}"
"""


class Project:
    """A folder with modules, and processes that run in it with one cache."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.cache = folder / "cache"

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def start(self, script: str) -> subprocess.Popen[str]:
        environment = {
            **os.environ,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{self.folder}",
            "AUTODIFF_COMPILER_CACHE": str(self.cache),
            "AUTODIFF_COMPILER_CHECK": "0",  # compilations are counted
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-c", HEAD + script]
        return subprocess.Popen(
            command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def run(self, script: str) -> Any:
        """What the script prints: evaluated."""
        out, err = (process := self.start(script)).communicate(timeout=120)
        assert process.returncode == 0, err
        return eval(out.strip().splitlines()[-1], {"np": np, "array": np.array})

    def entries(self) -> list[Path]:
        return sorted(self.cache.glob("*.entry")) if self.cache.is_dir() else []


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


SHOW = "result = {}\nprint((len(COMPILED), result))\n"
MODEL = """import numpy as np
import helpers
from helpers import inner


def loss(x, s):
    y = x
    for i in range(4):
        y = inner(y) * s
    if s > 0:
        y = y + x
    return np.sum(y)
"""
HELPERS = """import numpy as np


def inner(y):
    return np.sin(y)
"""
CALL = "import model\n" + SHOW.format("ad.grad(model.loss, (0, 1))(np.linspace(0.1, 1.0, 5), 0.3)[0].tobytes().hex()")


def test_used_and_bit_identical(project: Project) -> None:
    project.write("model.py", MODEL)
    project.write("helpers.py", HELPERS)
    count, first = project.run(CALL)
    assert count == 1 and len(project.entries()) == 1
    assert project.run(CALL) == (0, first)
    # Elsewhere, too: the path of the file is no part of what it says.
    assert project.run("import os; os.chdir('/')\n" + CALL) == (0, first)


# What a module is before and after a change, the expression evaluated, its two values, and whether the change must
# compile anew (a number that changed is fetched at the call).
CHANGES: dict[str, tuple[str, str, str, Any, Any]] = {
    "the function": ("def f(x): return x * x", "def f(x): return x * x * x", "ad.grad(m.f)(2.0)", 4.0, 12.0),
    "a helper": (
        "def h(x): return x * x\ndef f(x): return h(x)",
        "def h(x): return 3 * x\ndef f(x): return h(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a helper's helper": (
        "def k(x): return x * x\ndef h(x): return k(x)\ndef f(x): return h(x)",
        "def k(x): return 3 * x\ndef h(x): return k(x)\ndef f(x): return h(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "which helper": (
        "def a(x): return x * x\ndef b(x): return 3 * x\nh = a\ndef f(x): return h(x)",
        "def a(x): return x * x\ndef b(x): return 3 * x\nh = b\ndef f(x): return h(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "which ufunc": (
        "import numpy as np\nh = np.square\ndef f(x): return h(x)",
        "import numpy as np\nh = np.negative\ndef f(x): return h(x)",
        "float(ad.grad(m.f)(2.0))", 4.0, -1.0,
    ),
    "a global number": ("c = 2.0\ndef f(x): return c * x", "c = 5.0\ndef f(x): return c * x", "ad.grad(m.f)(2.0)", 2.0, 5.0),
    "a global number's type": ("c = 2\ndef f(x): return c * x", "c = 2.5\ndef f(x): return c * x", "ad.grad(m.f)(2.0)", 2.0, 2.5),
    "a global flag": (
        "c = True\ndef f(x): return x * x if c else x",
        "c = False\ndef f(x): return x * x if c else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "a global string": (
        "c = 'a'\ndef f(x): return x * x if c == 'a' else x",
        "c = 'b'\ndef f(x): return x * x if c == 'a' else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "a global array's dtype": (
        "import numpy as np\nc = np.ones(2, np.float32)\ndef f(x): return np.sum(c * x)",
        "import numpy as np\nc = np.ones(2, np.float64)\ndef f(x): return np.sum(c * x)",
        "str((m.c.dtype, ad.grad(m.f)(np.float32(2.0))))", "(dtype('float32'), np.float32(2.0))", "(dtype('float64'), np.float32(2.0))",
    ),
    "a global's axes of length one": (
        "import numpy as np\nc = np.ones((3, 1))\ndef f(x): return np.sum(c * x)",
        "import numpy as np\nc = np.ones((3, 3))\ndef f(x): return np.sum(c * x)",
        "ad.grad(m.f)(np.ones((3, 1))).tolist()", [[1.0]] * 3, [[3.0]] * 3,
    ),
    "a global list's length": (
        "c = [1.0, 2.0]\ndef f(x): return sum([k * x for k in c])",
        "c = [1.0, 2.0, 4.0]\ndef f(x): return sum([k * x for k in c])",
        "ad.grad(m.f)(2.0)", 3.0, 7.0,
    ),
    "a global that hides a builtin": (
        "def f(x): return abs(x)", "def abs(x): return x * x\ndef f(x): return abs(x)", "ad.grad(m.f)(2.0)", 1.0, 4.0
    ),
    "a default number": ("def f(x, c=2.0): return c * x", "def f(x, c=5.0): return c * x", "ad.grad(m.f)(2.0)", 2.0, 5.0),
    "a default function": (
        "def a(x): return x * x\ndef b(x): return 3 * x\ndef f(x, h=a): return h(x)",
        "def a(x): return x * x\ndef b(x): return 3 * x\ndef f(x, h=b): return h(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a closure's number": (
        "def make(c):\n    def f(x): return c * x\n    return f\nf = make(2.0)",
        "def make(c):\n    def f(x): return c * x\n    return f\nf = make(5.0)",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "a closure's function": (
        "def a(x): return x * x\ndef b(x): return 3 * x\ndef make(c):\n    def f(x): return c(x)\n    return f\nf = make(a)",
        "def a(x): return x * x\ndef b(x): return 3 * x\ndef make(c):\n    def f(x): return c(x)\n    return f\nf = make(b)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a class attribute": (
        "class K:\n    flag = True\ndef f(x): return x * x if K.flag else x",
        "class K:\n    flag = False\ndef f(x): return x * x if K.flag else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "a method": (
        "class K:\n    def go(self, x): return x * x\nk = K()\ndef f(x): return k.go(x)",
        "class K:\n    def go(self, x): return 3 * x\nk = K()\ndef f(x): return k.go(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a method of an object made inside": (
        "class K:\n    def __init__(self, c): self.c = c\n    def go(self, x): return self.c * x\ndef f(x): return K(x).go(x)",
        "class K:\n    def __init__(self, c): self.c = 1.0\n    def go(self, x): return self.c * x\ndef f(x): return K(x).go(x)",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "an inherited method": (
        "class B:\n    def go(self, x): return x * x\nclass K(B): pass\nk = K()\ndef f(x): return k.go(x)",
        "class B:\n    def go(self, x): return 3 * x\nclass K(B): pass\nk = K()\ndef f(x): return k.go(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a base class": (
        "class B: pass\nclass K(B): pass\nk = K()\ndef f(x): return x * x if isinstance(k, B) else x",
        "class B: pass\nclass K: pass\nk = K()\ndef f(x): return x * x if isinstance(k, B) else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "an attribute that is there": (
        "class K: pass\nk = K()\ndef f(x): return x * x if hasattr(k, 'a') else x",
        "class K: pass\nk = K()\nk.a = 1\ndef f(x): return x * x if hasattr(k, 'a') else x",
        "ad.grad(m.f)(2.0)", 1.0, 4.0,
    ),
    "an object's identity": (
        "class K: pass\na, b = K(), K()\nc = a\ndef f(x): return x * x if c is a else x",
        "class K: pass\na, b = K(), K()\nc = b\ndef f(x): return x * x if c is a else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "a member of an enumeration": (
        "import enum\nclass K(enum.Enum):\n    A = 1\n    B = 2\nc = K.A\ndef f(x): return x * x if c is K.A else x",
        "import enum\nclass K(enum.Enum):\n    A = 1\n    B = 2\nc = K.B\ndef f(x): return x * x if c is K.A else x",
        "ad.grad(m.f)(2.0)", 4.0, 1.0,
    ),
    "a property": (
        "class K:\n    @property\n    def c(self): return 2.0\nk = K()\ndef f(x): return k.c * x",
        "class K:\n    @property\n    def c(self): return 5.0\nk = K()\ndef f(x): return k.c * x",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "a dataclass's default": (
        "import dataclasses\n@dataclasses.dataclass\nclass K:\n    a: float\n    b: float = 2.0\ndef f(x):\n    k = K(x)\n    return k.a * k.b",
        "import dataclasses\n@dataclasses.dataclass\nclass K:\n    a: float\n    b: float = 5.0\ndef f(x):\n    k = K(x)\n    return k.a * k.b",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "the function of a partial": (
        "import functools\ndef a(x): return x * x\ndef b(x): return 3 * x\nh = functools.partial(a)\ndef f(x): return h(x)",
        "import functools\ndef a(x): return x * x\ndef b(x): return 3 * x\nh = functools.partial(b)\ndef f(x): return h(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "the function under an inner gradient": (
        "import autodiff_compiler as ad\ndef h(x): return x * x * x\ng = ad.grad(h)\ndef f(x): return g(x)",
        "import autodiff_compiler as ad\ndef h(x): return x * x\ng = ad.grad(h)\ndef f(x): return g(x)",
        "ad.grad(m.f)(2.0)", 12.0, 2.0,
    ),
    "argnums of an inner gradient": (
        "import autodiff_compiler as ad\ndef h(x, y): return x * x * y\ng = ad.grad(h, 0)\ndef f(x): return g(x, 3.0)",
        "import autodiff_compiler as ad\ndef h(x, y): return x * x * y\ng = ad.grad(h, 1)\ndef f(x): return g(x, 3.0)",
        "ad.grad(m.f)(2.0)", 6.0, 4.0,
    ),
    "the second derivative's function": (
        "def f(x): return x * x * x", "def f(x): return x * x", "ad.grad(ad.grad(m.f))(2.0)", 12.0, 2.0
    ),
    "one of two lambdas on a line": (
        "f, g = lambda x: x * x, lambda x: 3 * x", "g, f = lambda x: x * x, lambda x: 3 * x", "ad.grad(m.f)(2.0)", 4.0, 3.0
    ),
    "the method that is differentiated": (
        "def h(x): return x * x\nclass K:\n    def go(self, x): return h(x)\nf = K().go",
        "def h(x): return 3 * x\nclass K:\n    def go(self, x): return h(x)\nf = K().go",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "the object that is called": (
        "def h(x): return x * x\nclass K:\n    def __call__(self, x): return h(x)\nf = K()",
        "def h(x): return 3 * x\nclass K:\n    def __call__(self, x): return h(x)\nf = K()",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "the partial that is differentiated": (
        "import functools\ndef h(c, x): return c * x\nf = functools.partial(h, 2.0)",
        "import functools\ndef h(c, x): return c * x * x\nf = functools.partial(h, 2.0)",
        "ad.grad(m.f)(2.0)", 2.0, 8.0,
    ),
    "a named tuple's field order": (
        "import collections\nP = collections.namedtuple('P', 'a b')\np = P(2.0, 5.0)\ndef f(x): return p.a * x",
        "import collections\nP = collections.namedtuple('P', 'b a')\np = P(2.0, 5.0)\ndef f(x): return p.a * x",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "the order of a dictionary": (
        "d = {'a': 2.0, 'b': 5.0}\ndef f(x): return list(d.values())[0] * x",
        "d = {'b': 5.0, 'a': 2.0}\ndef f(x): return list(d.values())[0] * x",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "a decorated helper": (
        "def twice(g): return lambda x: 2 * g(x)\n@twice\ndef h(x): return x * x\ndef f(x): return h(x)",
        "def twice(g): return lambda x: 3 * g(x)\n@twice\ndef h(x): return x * x\ndef f(x): return h(x)",
        "ad.grad(m.f)(2.0)", 8.0, 12.0,
    ),
    "a method of a base reached by super": (
        "class B:\n    def go(self, x): return x * x\nclass K(B):\n    def go(self, x): return super().go(x)\nk = K()\ndef f(x): return k.go(x)",
        "class B:\n    def go(self, x): return 3 * x\nclass K(B):\n    def go(self, x): return super().go(x)\nk = K()\ndef f(x): return k.go(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a static method": (
        "class K:\n    @staticmethod\n    def go(x): return x * x\ndef f(x): return K.go(x)",
        "class K:\n    @staticmethod\n    def go(x): return 3 * x\ndef f(x): return K.go(x)",
        "ad.grad(m.f)(2.0)", 4.0, 3.0,
    ),
    "a class method": (
        "class K:\n    c = 2.0\n    @classmethod\n    def go(cls, x): return cls.c * x\ndef f(x): return K.go(x)",
        "class K:\n    c = 5.0\n    @classmethod\n    def go(cls, x): return cls.c * x\ndef f(x): return K.go(x)",
        "ad.grad(m.f)(2.0)", 2.0, 5.0,
    ),
    "which exception": (
        "def f(x):\n    if x > 9: raise ValueError('a')\n    return x * x",
        "def f(x):\n    if x > 1: raise ValueError('a')\n    return x * x",
        "tried(lambda: ad.grad(m.f)(2.0))", 4.0, "ValueError a",
    ),
    "the pullback": (
        "def f(x): return {'a': x * x, 'n': None}",
        "def f(x): return {'a': x * x, 'b': x}",
        "(lambda r: (r[0], r[1]({k: 1.0 for k, v in r[0].items() if v})))(ad.vjp(m.f, 2.0))",
        ({"a": 4.0, "n": None}, (4.0,)), ({"a": 4.0, "b": 2.0}, (5.0,)),
    ),
}  # fmt: skip


NOT_STORED: set[str] = set()  # that two paths lead to one object is a guard as any other


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What each case gives in processes that follow each other: before, before again, after, after again, before."""
    project = Project(tmp_path_factory.mktemp("changes"))
    script = "out = {}\n"
    for k, (what, case) in enumerate(CHANGES.items()):
        script += f"del COMPILED[:]\nimport m{k} as m\nresult = {case[2]}\nout[{what!r}] = (len(COMPILED), result)\n"
    script += "print(out)\n"
    out = []
    for version in (0, 0, 1, 1, 0):
        for k, case in enumerate(CHANGES.values()):
            project.write(f"m{k}.py", case[version])
        out.append(project.run(script))
    return out


@pytest.mark.parametrize("what", CHANGES)
def test_nothing_stale(runs: list[dict[str, Any]], what: str) -> None:
    _, _, _, first, second = CHANGES[what]
    assert [run[what][1] for run in runs] == [first, first, second, second, first]


@pytest.mark.parametrize("what", CHANGES)
def test_stored(runs: list[dict[str, Any]], what: str) -> None:
    again = 1 if what in NOT_STORED else 0
    assert [run[what][0] for run in runs][:2] == [1, again]
    assert runs[3][what][0] == again


def test_other_arguments(project: Project) -> None:
    project.write("m.py", "import numpy as np\ndef f(x, y=2.0): return np.sum(x * x * y)")
    calls = ["(np.ones(3))", "(np.ones(3, np.float32))", "(np.ones((3, 1)))", "(np.ones((1, 3)))", "(2.0)", "(np.float32(2.0))", "(2.0, 3.0)",
             "(2.0, y=3)", "(np.ones(3), np.ones(3))", "(np.ones(7))"]  # fmt: skip
    script = "import m\nprint([(type(r), getattr(r, 'dtype', None), np.shape(r), np.sum(r)) for r in ("
    script += (
        ", ".join(f"ad.grad(m.f){c}" for c in calls)
        + ")] and [str(r) for r in ("
        + ", ".join(f"ad.grad(m.f){c}" for c in calls)
        + ")])"
    )
    first = project.run(script)
    assert project.run(script) == first
    assert (
        project.run(script.replace("print([", "print([0 for _ in COMPILED] or [").replace("COMPILED]", "COMPILED[:0]]"))
        == first
    )


def test_rebinding_is_seen_after_a_load(project: Project) -> None:
    project.write("m.py", "def h(x): return x * x\ndef k(x): return 3 * x\nc = 2.0\ndef f(x): return h(x) * c")
    script = (
        "import m\ng = ad.grad(m.f)\nout = [g(2.0)]\nm.h = m.k\nout.append(g(2.0))\nm.c = 5.0\nout.append(g(2.0))\n"
        + SHOW.format("out")
    )
    assert project.run(script) == (2, [8.0, 6.0, 15.0])
    assert project.run(script)[1] == [8.0, 6.0, 15.0]


def test_shapes_are_checked_after_a_load(project: Project) -> None:
    project.write("m.py", "import numpy as np\ndef f(x, y): return np.sum(x * y)")
    script = """import m
g = ad.grad(m.f)
g(np.ones(3), np.ones(3))
try:
    g(np.ones(3), np.ones(4))
except ValueError as error:
    print((len(COMPILED), str(error)))
"""
    count, message = project.run(script)
    assert count == 1 and "broadcast" in message
    assert project.run(script) == (0, message)


def test_overlapping_arguments_after_a_load(project: Project) -> None:
    project.write("m.py", "import numpy as np\ndef f(x, y):\n    x[0] = 2.0 * y[1]\n    return np.sum(x * y)")
    script = """import m
g = ad.grad(m.f)
g(np.ones(3), np.ones(3))
x = np.ones(3)
try:
    g(x, x)
except ad.AliasError as error:
    print((len(COMPILED), "share memory" in str(error)))
"""
    assert project.run(script) == (1, True)
    assert project.run(script) == (0, True)


@pytest.mark.parametrize("damage", ["empty", "half", "header", "garbage", "foreign", "field", "fingerprint"])
def test_damaged_entries(project: Project, damage: str) -> None:
    project.write("model.py", MODEL)
    project.write("helpers.py", HELPERS)
    _, first = project.run(CALL)
    (entry,) = project.entries()
    data = entry.read_bytes()
    head, _, body = data.partition(b"\n")
    if damage == "empty":
        entry.write_bytes(b"")
    elif damage == "half":
        entry.write_bytes(data[: len(data) // 2])
    elif damage == "header":
        entry.write_bytes(head + b"\n")
    elif damage == "garbage":
        entry.write_bytes(os.urandom(2000))
    else:
        # Well-formed as a file, and not what a compilation would have written.
        changed = {"foreign": b"{}\ndef f(): pass\n", "field": body.replace(b'"guards"', b'"gards"', 1), "fingerprint": body.replace(b"function ", b"function 0", 1)}  # fmt: skip
        store = f"from autodiff_compiler.api.cache import DiskCache\nDiskCache().store({entry.stem!r}, {changed[damage].decode()!r})\nprint(0)"
        project.run(store)
    assert project.run(CALL) == (1, first)
    assert project.run(CALL) == (0, first)


def test_eight_processes_at_once(project: Project) -> None:
    project.write("model.py", MODEL)
    project.write("helpers.py", HELPERS)
    running = [project.start(CALL) for _ in range(8)]
    results = set()
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        results.add(eval(out.strip().splitlines()[-1], {"np": np})[1])
    assert len(results) == 1
    assert project.run(CALL) == (0, *results)


def test_rules_of_users_turn_it_off(project: Project) -> None:
    project.write("m.py", "import numpy as np\ndef h(x): return x * x\ndef f(x): return h(x)")
    script = "import m\n" + SHOW.format("ad.grad(m.f)(2.0)")
    assert project.run(script) == (1, 4.0)
    registered = "import m\nad.primitive(m.h)\nad.elementwise(m.h, lambda out, x: 7.0)\n" + SHOW.format(
        "ad.grad(m.f)(2.0)"
    )
    assert project.run(registered) == (1, 7.0)
    assert project.run(script) == (0, 4.0)


def test_source_typed_in(project: Project) -> None:
    """A function without a file, whose source is known to linecache only, as in a notebook."""
    script = """
import linecache
for body in ("x * x", "3 * x"):
    text = f"def f(x):\\n    return {body}\\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
    space = {}
    exec(compile(text, "<cell>", "exec"), space)
    result = ad.grad(space["f"])(2.0)
    print((len(COMPILED), result))
"""
    assert project.run(script)[1] == 3.0
    assert project.run(script) == (0, 3.0)


def test_nothing_is_written_when_it_is_off(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("m.py", "def f(x): return x * x")
    script = "import os, m\nos.environ['AUTODIFF_COMPILER_CACHE'] = 'off'\n" + SHOW.format("ad.grad(m.f)(2.0)")
    assert project.run(script) == (1, 4.0)
    assert project.entries() == []
