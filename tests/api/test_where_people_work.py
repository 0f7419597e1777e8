"""Functions of edited files, notebooks, prompts, doctests and other processes: the source is the one of the code."""

from __future__ import annotations

import doctest
import importlib
import linecache
import math
import os
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import carried
from autodiff_compiler.errors import SourceUnavailableError
from autodiff_compiler.frontend import source

ROOT = Path(__file__).resolve().parents[2]
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("AUTODIFF_")}
ENVIRONMENT = {**CLEAN, "PYTHONPATH": str(ROOT), "AUTODIFF_COMPILER_CACHE": "off", "NO_COLOR": "1"}


def output(*command, given=None, cwd=None, **environment):
    done = subprocess.run(
        command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, timeout=120, input=given, cwd=cwd
    )
    return done.stdout + done.stderr


# --- edited files -----------------------------------------------------------------------------------------------------

BEFORE = """\
def helper(x):
    return x * 2.0

def f(x):
    return helper(x) * x

square = lambda x: x * x

class Model:
    def loss(self, x):
        return x * 3.0
"""


class Edited:
    """A module that is written anew. Each version is younger than the one before, as edits by hand are."""

    def __init__(self, folder, name):
        self.path = folder / f"{name}.py"
        self.time = 10**18

    def write(self, text):
        self.path.write_text(text)
        self.time += 10**10
        os.utime(self.path, ns=(self.time, self.time))
        importlib.invalidate_caches()


@pytest.fixture
def edited(tmp_path, monkeypatch, request):
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"edited_{abs(hash(request.node.name)) % 10**8}"
    out = Edited(tmp_path, name)
    out.write(BEFORE)
    out.module = importlib.import_module(name)
    yield out
    del sys.modules[name]


CHANGES = [
    ("* 2.0", "* 5.0"),
    ("helper(x) * x", "helper(x) * x * x"),
    ("def helper", "# a comment\n\n\ndef helper"),
    ("x * x\n\nclass", "x * x * x\n\nclass"),
    ("x * 3.0", "x * 7.0 + x"),
]


@pytest.mark.parametrize("old, new", CHANGES)
def test_a_reloaded_module_uses_its_new_source(edited, old, new):
    m = edited.module
    before = [ad.grad(m.f)(3.0), ad.grad(m.square)(3.0), ad.grad(m.Model().loss)(3.0)]
    assert before == [12.0, 6.0, 3.0]
    by_name = ad.grad(lambda x: m.f(x) + m.square(x) + m.Model().loss(x))
    assert by_name(3.0) == sum(before)
    edited.write(BEFORE.replace(old, new))
    importlib.reload(m)

    def difference(f, h=1e-4):
        return (f(3.0 + h) - f(3.0 - h)) / (2 * h)

    after = [difference(f) for f in (m.f, m.square, m.Model().loss)]
    assert [ad.grad(m.f)(3.0), ad.grad(m.square)(3.0), ad.grad(m.Model().loss)(3.0)] == pytest.approx(after)
    assert by_name(3.0) == pytest.approx(sum(after))


def test_comments_in_code_are_of_the_new_source(edited):
    m = edited.module
    loop = "def f(x):\n    for k in range(9):\n        x = x * x{}\n    return x\n"
    edited.write(loop.format(""))
    importlib.reload(m)
    assert "x = x * x\n" in ad.grad(m.f).source(1.0)
    edited.write("\n\n" + loop.format(" + 2.0"))
    importlib.reload(m)
    assert "line 5: x = x * x + 2.0" in ad.grad(m.f).source(1.0)


def test_an_old_function_calls_the_new_helper(edited):
    m = edited.module
    old = m.f
    ad.grad(old)(3.0)
    edited.write("\n\n" + BEFORE.replace("* 2.0", "* 5.0").replace("helper(x) * x", "helper(x)"))
    importlib.reload(m)
    assert ad.grad(old)(3.0) == 2 * 5.0 * 3.0  # as Python runs it: its own code, and the helper of now


def test_a_function_whose_text_is_gone_is_refused(edited):
    old = edited.module.f
    edited.write(BEFORE.replace("helper(x) * x", "helper(x) * x * x"))
    with pytest.raises(SourceUnavailableError, match=r"has changed since it was imported(.|\n)*importlib.reload"):
        ad.grad(old)(3.0)
    importlib.reload(edited.module)
    assert ad.grad(edited.module.f)(3.0) == 2.0 * 27.0
    with pytest.raises(SourceUnavailableError, match="has changed since it was imported"):
        ad.grad(old)(3.0)


def test_an_edited_file_that_is_not_reloaded_keeps_its_meaning(edited):
    m = edited.module
    assert ad.grad(m.f)(3.0) == 12.0
    edited.write("# nothing is left\n")
    linecache.checkcache()
    assert ad.grad(m.f)(3.0) == 12.0 and ad.grad(m.f)(np.float32(3.0)) == 12.0


def test_code_put_into_a_function_is_seen(edited):
    """As IPython's autoreload does."""
    m = edited.module
    f, g = m.f, ad.grad(m.f)
    assert g(3.0) == 12.0
    edited.write("\n" + BEFORE.replace("helper(x) * x", "helper(x) * x * x"))
    new = types.ModuleType(m.__name__)
    exec(compile(edited.path.read_text(), str(edited.path), "exec"), new.__dict__)
    f.__code__ = new.f.__code__
    assert g(3.0) == 54.0


# --- pytest's assertions ----------------------------------------------------------------------------------------------


def with_assertions(x):
    y = x * 2.0
    assert y.shape == (2,), "message"
    assert not np.any(y > 100) and (n := len(y)) == 2  # noqa: RUF018

    def inner(z):
        assert z is not None
        return np.sum(z * np.sin(z)) * n

    return inner(y)


class Asserting:
    def __init__(self):
        self.__k = 2.0

    def loss(self, x):
        assert self.__k == 2.0
        return np.sum(x * self.__k)


def test_rewritten_assertions_are_known():
    assert source._is_rewritten(with_assertions.__code__)
    ad.check_grads(with_assertions, (np.array([0.3, 0.7]),))
    ad.check_grads(Asserting().loss, (np.array([0.3, 0.7]),))


@pytest.mark.parametrize("old, new", [("x * 2.0", "x + 2.0"), ("+ 1.0", "- 1.0"), ("# end", "x = 2.0")])
def test_an_edit_beside_a_rewritten_assertion_is_seen(tmp_path, old, new):
    text = "def f(x):\n    assert x > 0.0, 'wrong'\n    y = x * 2.0\n    # end\n    return x * y + 1.0\n"
    test = tmp_path / "test_edited.py"
    test.write_text(
        text
        + f"""
def test_it():
    import linecache, pathlib, pytest
    import autodiff_compiler as ad
    path = pathlib.Path(__file__)
    path.write_text(path.read_text().replace({old!r}, {new!r}, 1))
    with pytest.raises(ad.SourceUnavailableError):
        ad.grad(f)(1.5)
"""
    )
    if old == "# end":
        text = text.replace("# end", "pass")
    assert "1 passed" in output(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(test))


# --- prompts, doctests, debuggers -------------------------------------------------------------------------------------

AT_PROMPT = """\
import autodiff_compiler as ad
def f(x):
    return x * x

print(ad.grad(f)(3.0))
"""


@pytest.mark.parametrize("way", ["-c", "prompt"])
def test_python_3_13_keeps_what_was_typed(way):
    if way == "-c":
        text = output(sys.executable, "-c", AT_PROMPT)
    else:
        text = output(sys.executable, "-i", "-q", given=AT_PROMPT, PYTHON_BASIC_REPL="1")
    if sys.version_info >= (3, 13):
        assert "6.0" in text
    else:
        assert "Python 3.13 keeps what is typed" in text and "ad.from_tree" in text
        assert ("at Python's prompt" if way == "prompt" else "`python -c`") in text


def test_the_remedy_for_a_prompt_works():
    import ast

    namespace = {}
    exec("def f(x): return x * x", namespace)
    with pytest.raises(SourceUnavailableError, match=r"given to `exec`(.|\n)*ad.from_tree\(ast.parse"):
        ad.grad(namespace["f"])(3.0)
    assert ad.grad(ad.from_tree(ast.parse("def f(x): return x * x"), globals()))(3.0) == 6.0


def test_doctests():
    """
    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> def f(x):
    ...     return np.sum(x ** 2)
    >>> ad.grad(f)(np.array([1.0, 3.0]))
    array([2., 6.])
    >>> ad.grad(lambda x: x * x * x)(2.0)
    12.0
    """
    test = doctest.DocTestFinder().find(test_doctests, "doctests", globs={})[0]
    assert doctest.DocTestRunner().run(test).failed == 0


def test_under_a_debugger():
    seen = []

    def trace(frame, event, arg):
        seen.append(frame.f_code.co_name)
        return trace

    g = ad.grad(lambda x: np.sum(np.sin(x) * x))
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        got = g(np.array([0.5]))
    finally:
        sys.settrace(before)
    assert got == pytest.approx(np.sin(0.5) + 0.5 * np.cos(0.5))
    assert "lambda__grad" in seen


# --- IPython ----------------------------------------------------------------------------------------------------------

CELLS = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.user_module.__name__ = "__main__"
for cell in open(sys.argv[1]).read().split("#%%\\n"):
    result = shell.run_cell(cell, store_history=True)
    if not result.success:
        sys.exit(f"failed: {cell}")
"""


def in_ipython(folder, cells):
    pytest.importorskip("IPython")
    (folder / "cells.py").write_text(cells)
    (folder / "run.py").write_text(CELLS)
    return output(sys.executable, "run.py", "cells.py", cwd=folder, IPYTHONDIR=str(folder))


def test_magics(tmp_path):
    text = in_ipython(
        tmp_path,
        """\
import numpy as np
import autodiff_compiler as ad
#%%
%%time
def timed(x):
    return np.sum(x ** 3)
print("timed", ad.grad(timed)(np.ones(2)))
#%%
%%time
def timed(x):
    return np.sum(x ** 4)
print("again", ad.grad(timed)(np.ones(2)))
#%%
%timeit -n 1 -r1 print("lambda", ad.grad(lambda x: x * x * 3)(2.0))
#%%
%time print("expression", ad.grad(lambda x: x * x * 4)(2.0))
#%%
%%timeit -n1 -r1
def inner(x): return x * x
print("body", ad.grad(inner)(2.0))
#%%
%%capture out
class Model:
    def loss(self, x):
        return x * x * 5
print("captured", ad.grad(Model().loss)(1.0))
#%%
out.show()
""",
    )
    assert "failed" not in text, text
    for line in ("timed [3. 3.]", "again [4. 4.]", "lambda 12.0", "expression 16.0", "body 4.0", "captured 10.0"):
        assert line in text, text


def test_autoreload(tmp_path):
    text = in_ipython(
        tmp_path,
        """\
%load_ext autoreload
%autoreload 2
import os, pathlib, time
import autodiff_compiler as ad
path = pathlib.Path("reloaded.py")
path.write_text("def helper(x):\\n    return x * 2.0\\ndef f(x):\\n    return helper(x) * x\\n")
import reloaded
g = ad.grad(reloaded.f)
print("first", g(3.0))
#%%
path.write_text("def helper(x):\\n    return x * 5.0 + x\\n\\n\\ndef f(x):\\n    return helper(x) * x * x\\n")
later = time.time() + 10
os.utime(path, (later, later))
#%%
print("second", g(3.0), ad.grad(reloaded.f)(3.0))
""",
    )
    assert "failed" not in text and "first 12.0" in text and "second 162.0 162.0" in text, text


# --- other processes --------------------------------------------------------------------------------------------------


def test_a_pickle_carries_the_source(tmp_path):
    text = "def helper(x):\n    return x * 3.0\n\ndef f(x):\n    return helper(x) * x\n"
    file = "<ipython-input-7-carried>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    module = types.ModuleType("in_a_notebook")
    exec(compile(text, file, "exec"), module.__dict__)
    assert carried.carried(module.f) == ({file: text}, {("f", 4): file, ("helper", 1): file})
    sys.modules[module.__name__] = module
    try:
        pickled = pickle.dumps(ad.grad(module.f))
        del linecache.cache[file]
        source._cache.clear()
        assert pickle.loads(pickled)(2.0) == 12.0
    finally:
        del sys.modules[module.__name__], linecache.cache[file]
    source._cache.clear()
    with pytest.raises(SourceUnavailableError, match=r"in a notebook(.|\n)*carries the source"):
        ad.grad(types.FunctionType(module.f.__code__.replace(co_name="f"), module.__dict__))(2.0)


def test_a_pickle_of_a_module_carries_nothing():
    assert carried.carried(with_assertions) == ({}, {})


def test_a_large_argument_is_not_searched():
    numbers = [float(k) for k in range(200_000)]
    assert carried.carried(lambda x: x * numbers[3]) == ({}, {})


def test_pickled_code_whose_file_has_no_name():
    """cloudpickle leaves the name of the file out, from version 3.1.2 on."""
    text = "def f(x):\n    return (lambda y: y * 3.0)(x) * x\n"
    namespace: dict = {"__name__": "__main__"}
    exec(compile(text, "<ipython-input-8-nameless>", "exec"), namespace)
    linecache.cache["<ipython-input-8-nameless>"] = (len(text), None, text.splitlines(True), "")
    texts = carried.carried(namespace["f"])
    code = namespace["f"].__code__
    inner = [c.replace(co_filename="<dynamic-code>") if isinstance(c, types.CodeType) else c for c in code.co_consts]
    code = code.replace(co_filename="<dynamic-code>", co_consts=tuple(inner))
    with pytest.raises(SourceUnavailableError, match=r"in another process(.|\n)*carries the source"):
        ad.grad(types.FunctionType(code, namespace))(2.0)
    arrived = types.FunctionType(code, namespace)
    assert carried.restored(texts, type(ad.grad(math.sin)), (arrived,))(2.0) == 12.0


def test_workers_of_a_notebook(tmp_path):
    pytest.importorskip("joblib")
    text = in_ipython(
        tmp_path,
        """\
import numpy as np
import autodiff_compiler as ad
from joblib import Parallel, delayed
K = 3.0
def helper(x):
    return np.sin(x) * K
def loss(x):
    return np.sum(helper(x) ** 2)
@ad.value_and_grad(argnums=0)
def decorated(x):
    return helper(x) * x
g = ad.grad(loss)
def apply(f, xs):
    return Parallel(n_jobs=2)(delayed(f)(x) for x in xs)
points = [np.ones(2) * k for k in range(3)]
print(np.allclose(apply(g, points), [g(x) for x in points]))
print(apply(decorated, (1.0, 2.0)) == [decorated(1.0), decorated(2.0)])
print(apply(lambda x: decorated(x), (1.0, 2.0)) == [decorated(1.0), decorated(2.0)])
""",
    )
    assert text.split() == ["True", "True", "True"], text


def test_workers_of_a_script(tmp_path):
    pytest.importorskip("joblib")
    script = tmp_path / "script.py"
    script.write_text(
        """
import autodiff_compiler as ad
from joblib import Parallel, delayed
@ad.grad
def decorated(x):
    return x * x * x
def plain(x):
    return x * x
if __name__ == "__main__":
    print(Parallel(n_jobs=2)(delayed(decorated)(x) for x in (1.0, 2.0)))
    print(Parallel(n_jobs=2)(delayed(ad.grad(plain))(x) for x in (1.0, 2.0)))
"""
    )
    assert output(sys.executable, str(script)).split("\n")[:2] == ["[3.0, 12.0]", "[2.0, 4.0]"]
