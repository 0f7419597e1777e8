"""The disk cache of code in two stages and of functions that solvers call, see `test_warm_cache`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_compiler.api import cache as cache_module

from .test_warm_cache import SHOW, Project, project  # noqa: F401  (a fixture)

pytestmark = pytest.mark.skipif(not cache_module._SUPPORTED, reason="no disk cache on this system")

SORTED = """import numpy as np


def f(x):
    rng = np.random.default_rng(7)
    r = np.sort_complex([2.0, 1.0]).real
    return np.sum(x * rng.normal(size=3)) * (x[:2] @ r)
"""
# Nothing is known of what is in a file.
FILE = """import numpy as np


def f(x):
    a = np.load("a.npy")[()]
    return np.sum(np.dot(x, a))
"""
AT = "import m, numpy as np\n" + SHOW.format("ad.{}(m.f)(np.array([1.0, 2.0, 3.0]))")


@pytest.mark.parametrize("transform", ["grad", "value_and_grad"])
def test_stages_are_kept(project: Project, transform: str) -> None:  # noqa: F811
    project.write("m.py", SORTED)
    count, first = project.run(AT.format(transform))
    assert count > 0
    again, second = project.run(AT.format(transform))
    assert again == 0
    assert repr(second) == repr(first)


def test_pullbacks_in_stages_are_kept(project: Project) -> None:  # noqa: F811
    project.write("m.py", SORTED)
    script = "import m, numpy as np\n" + SHOW.format("ad.vjp(m.f, np.ones(3))[1](2.0)")
    count, first = project.run(script)
    assert count > 0
    again, second = project.run(script)
    assert again == 0
    assert repr(second) == repr(first)


def holding(given: str) -> str:
    return f"import numpy as np\nnp.save('a.npy', {given})\n"


@pytest.mark.parametrize("given", ["3", "np.ones(3)", "np.arange(6.0).reshape(3, 2)"])
def test_a_value_of_another_type(project: Project, given: str) -> None:  # noqa: F811
    """What is seen differs from what the code was made for: it is made anew, and goes on with what was done."""
    project.write("m.py", FILE)
    project.run(holding("2.0") + AT.format("grad"))
    count, result = project.run(holding("5.0") + AT.format("grad"))
    assert count == 0
    assert result.tolist() == [5.0, 5.0, 5.0]
    count, result = project.run(holding(given) + AT.format("grad"))
    assert count > 0
    number = eval(given, {"np": np})
    assert result.tolist() == (number.reshape(3, -1).sum(1) if np.ndim(number) else np.full(3, 3.0)).tolist()
    assert project.run(holding("7.0") + AT.format("grad"))[1].tolist() == [7.0, 7.0, 7.0]


@pytest.mark.parametrize("text", ["# a comment\n" + SORTED, SORTED.replace("    rng", "    # a comment\n    rng")])
def test_lines_that_moved(project: Project, text: str) -> None:  # noqa: F811
    """The labels of the log name lines."""
    project.write("m.py", SORTED)
    first = project.run(AT.format("grad"))[1]
    project.write("m.py", text)
    count, second = project.run(AT.format("grad"))
    assert count > 0
    assert repr(second) == repr(first)
    assert project.run(AT.format("grad"))[0] == 0


def test_places_that_are_numbered_otherwise(project: Project) -> None:  # noqa: F811
    """Two kinds of arguments reach other places first."""
    project.write(
        "m.py",
        "import numpy as np\n\n\ndef f(x, k):\n    if k is None:\n        a = np.load('a.npy')[()]\n    else:\n"
        "        a = np.load('b.npy')[()]\n    b = np.load('a.npy')[()]\n    return np.sum(np.dot(x, a)) * b\n",
    )
    project.run(holding("2.0") + "np.save('b.npy', np.ones(3))\nprint(0)")
    one, two = "ad.grad(m.f)(np.ones(3), None)", "ad.grad(m.f)(np.ones(3), 'k')"
    for script in (one, two):
        project.run("import m, numpy as np\n" + SHOW.format(script))
    _, result = project.run("import m, numpy as np\n" + SHOW.format(f"[{one}.tolist(), {two}.tolist()]"))
    assert result == [[4.0] * 3, [2.0] * 3]
    _, result = project.run("import m, numpy as np\n" + SHOW.format(f"[{two}.tolist(), {one}.tolist()]"))
    assert result == [[2.0] * 3, [4.0] * 3]


SOLVER = """import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize

K = 2.0


def helper(t, a):
    return np.sin(a * t)


def f(x):
    scale = 3.0
    area = quad(lambda t: scale * K * helper(t, x[0]), 0.0, x[1])[0]
    found = minimize(lambda z: np.sum((z - x[:2]) ** 2) + np.sum(z**4), np.zeros(2), tol=1e-10)
    return area + np.sum(found.x) * x[2]
"""


def differences(text: str) -> list[float]:
    space: dict[str, Any] = {}
    exec(text, space)
    x = np.array([1.0, 2.0, 3.0])
    steps = 1e-3 * np.eye(3)
    return [(space["f"](x + h) - space["f"](x - h)) / 2e-3 for h in steps]


CHANGES = [
    ("scale = 3.0", "scale = 4.0"),
    ("K = 2.0", "K = 5.0"),
    ("np.sin(a * t)", "np.cos(a * t)"),
    ("scale * K", "scale + K"),
    ("z**4", "z**2"),
    ("K = 2.0\n", "K = 2.0\nMORE = 1\n"),
]


def test_functions_that_a_solver_calls(project: Project) -> None:  # noqa: F811
    pytest.importorskip("scipy", minversion="1.16")
    project.write("m.py", SOLVER)
    count, first = project.run(AT.format("grad"))
    assert count > 0
    assert first == pytest.approx(differences(SOLVER), rel=1e-4)
    again, second = project.run(AT.format("grad"))
    assert again == 0
    assert second.tolist() == first.tolist()


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_what_such_functions_read_has_changed(project: Project, old: str, new: str) -> None:  # noqa: F811
    pytest.importorskip("scipy", minversion="1.16")
    project.write("m.py", SOLVER)
    project.run(AT.format("grad"))
    changed = SOLVER.replace(old, new)
    project.write("m.py", changed)
    assert project.run(AT.format("grad"))[1] == pytest.approx(differences(changed), rel=1e-4)
    assert project.run(AT.format("grad"))[0] == 0
