"""The examples in the pages do what the pages say."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autodiff_compiler.families import known_versions

DOCS = Path(__file__).resolve().parents[2] / "docs"
LIMITS = re.findall(
    r"^## (.*?)\n\n```python\n(.*?)```\n\n```text\n(.*?)```", (DOCS / "limitations.md").read_text(), re.DOTALL | re.M
)


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md") if ">>> " in p.read_text()))
def test_examples_at_the_prompt(page: str) -> None:
    # The empty line before a closing fence is not part of what an example prints.
    text = re.sub(r"^```\w*$", "", (DOCS / page).read_text(), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_there_are_limits() -> None:
    assert len(LIMITS) >= 10


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit[0])
def test_limit_gives_this_error(limit: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, code, expected = limit
    # A process that was started by ``python -c`` keeps its own source under this name, from Python 3.13 on.
    monkeypatch.delitem(linecache.cache, "<string>", raising=False)
    path = tmp_path / "example.py"
    text = "import numpy as np\nimport autodiff_compiler as ad\n\n" + code
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": "example", "__file__": str(path)}
    with pytest.raises(Exception) as caught:
        exec(compile(text, str(path), "exec"), namespace)
    message = f"{type(caught.value).__name__}\n{caught.value}".replace(str(path), "example.py")
    assert message.strip() == expected.strip()


def blocks_of(page: str) -> str:
    """The Python of a page, as one program."""
    return "\n\n".join(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL))


def run(program: str, folder: Path) -> None:
    """In a process of its own: rules are entered in a table for good."""
    path = folder / "page.py"
    path.write_text(program)
    root = DOCS.parent
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert done.returncode == 0, done.stderr


def test_quickstart_runs(tmp_path: Path) -> None:
    checks = """
value, gradient = ad.value_and_grad(f)(w, x, y)
assert gradient.shape == w.shape
assert np.allclose(gradient, loss(w, x, y))
assert all(np.shape(g) == np.shape(a) for g, a in zip(product(x, x + 1.0), (x, x)))
ad.check_grads(lambda u: misfit(u, np.zeros(6), 0.1), (u0,), order=1)
"""
    run(blocks_of("quickstart.md") + checks, tmp_path)


def test_batching_page_runs(tmp_path: Path) -> None:
    shown = re.findall(r"```text\n(.*?)```", (DOCS / "batching.md").read_text(), re.DOTALL)
    calls = ("per_example.source(w, x, y)", "ad.grad(mean_loss).source(p, x, y)")
    checks = ""
    for call, text in zip(calls, shown, strict=True):
        body = [line for line in text.splitlines() if not line.strip().startswith("#")]
        checks += f"""
found = [line for line in {call}.splitlines() if not line.strip().startswith("#")]
assert found[-{len(body)}:] == {body!r}, found
"""
    run(blocks_of("batching.md") + checks, tmp_path)


def test_distributed_page_runs(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    shown = re.findall(r"```text\n(.*?)```", (DOCS / "distributed.md").read_text(), re.DOTALL)
    checks = f"""
found = ad.grad(loss).source(w, x, y)
unnumbered = lambda text: [line.partition(": ")[2] if "# adjoint" in line else line for line in text.splitlines()]
assert unnumbered({shown[0]!r}) == unnumbered(found), found

class Client:
    def map(self, f, *items):
        return [f(*item) for item in zip(*items)]

    def submit(self, f, *args):
        made = f(*args)
        return type("Future", (), dict(result=lambda self: made))()

value, gradient = step(Client(), w, 3)
assert np.allclose(value, 3000 * np.log(2.0)) and gradient.shape == (5,)
"""
    run(blocks_of("distributed.md") + checks, tmp_path)


def test_checkpoints_page_runs(tmp_path: Path) -> None:
    shown = re.findall(r"```text\n(.*?)```", (DOCS / "checkpoints.md").read_text(), re.DOTALL)
    checks = f"""
found = ad.grad(heat).source(u, 400)
assert {shown[0]!r} in found, found
assert g.shape == (3, 3) and np.all(np.isfinite(g))
"""
    run(blocks_of("checkpoints.md") + checks, tmp_path)


def test_rules_page_runs(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    checks = """
a, b = np.array([[2.0, 0.5], [0.3, 1.0]]), np.array([1.0, 2.0])
ad.check_grads(lambda x: np.sum(erf(x) * x), (np.array([0.3, -0.7]),), order=2)
ad.check_grads(lambda b: np.sum(solve_somehow(a, b) ** 2), (b,), order=2)
ad.check_grads(lambda p: np.sum((p @ a) ** 2), (np.eye(2),), order=2)
"""
    run(blocks_of("rules.md") + checks, tmp_path)


def test_code_you_have_runs(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    if known_versions():
        pytest.skip("this version of SciPy is not known")
    checks = """
for f, *args in ((validation_error, 0.3), (distortion, 0.5), (peak_of_prey, rates), (log_likelihood, 1.0, 2.0, -0.5),
                 (temperature_in_the_middle, conductivity)):
    for k, x in enumerate(args):
        g = ad.grad(f, argnums=k)(*args)
        d = np.cos(np.arange(np.size(x))).reshape(np.shape(x)) * 1e-5
        plus, minus = ([*args[:k], x + s * d, *args[k + 1 :]] for s in (1, -1))
        assert np.isclose(np.sum(g * d), (f(*plus) - f(*minus)) / 2, rtol=2e-3), (f, g)
"""
    run(blocks_of("examples/code_you_have.md") + checks, tmp_path)


def test_the_notebook_runs() -> None:
    """Its cells are those of the page, and they run as a notebook runs them: each with its text in `linecache`."""
    pytest.importorskip("scipy")
    if known_versions():
        pytest.skip("this version of SciPy is not known")
    notebook = json.loads((DOCS.parent / "examples" / "code_you_have.ipynb").read_text())
    cells = ["".join(cell["source"]) + "\n" for cell in notebook["cells"] if cell["cell_type"] == "code"]
    page = (DOCS / "examples" / "code_you_have.md").read_text()
    assert cells == re.findall(r"```python\n(.*?)```", page, flags=re.S)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for k, text in enumerate(cells):
        file = f"<ipython-input-{k}>"
        linecache.cache[file] = (len(text), None, text.splitlines(True), file)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(text, file, "exec"), namespace)
