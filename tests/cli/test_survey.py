"""Commands about methods, whole files and the installation; and ties and jumps in `check`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import persist
from autodiff_compiler.cli import main

FILE = """
import numpy as np
import autodiff_compiler as ad

def example_inputs():
    return (np.array([0.5, 1.5]),)

class Model:
    def __init__(self):
        self.w = np.array([1.0, 2.0])

    def loss(self, x):
        return np.sum((self.w * x) ** 2)

    @ad.grad(argnums=1)
    def slope(self, x):
        return np.sum((self.w * x) ** 3)

    @staticmethod
    def square(x):
        return np.sum(x * x)

class Scaled:
    def __init__(self, k):
        self.k = k

    def loss(self, x):
        return np.sum(x * self.k)

scaled = Scaled(2.0)

def two(x, y):
    return x * y

def vector(x):
    return x * 2.0
"""
REFUSED = """
def refused(x):
    return np.sum(np.kaiser(4, x[0]))
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "surveyed.py"
    path.write_text(FILE)
    return str(path)


def out_of(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = main(list(argv))
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"autodiff_compiler {ad.__version__}" in out and f"NumPy {np.__version__}" in out


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])  # other tests have registered some, which turns the cache off
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", "off")
    code, out = out_of(capsys, "doctor")
    assert code == 0 and "cache:   off" in out and "is right" in out and "AUTODIFF_COMPILER_CACHE=off" in out
    assert re.search(r"gast +\d", out)
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path / "none"))
    assert "does not exist yet" in out_of(capsys, "doctor")[1]
    code, out = out_of(capsys, "doctor")
    assert "1 entries" in out
    (tmp_path / "none").chmod(0o777)
    assert "NOT USED" in out_of(capsys, "doctor")[1]


def test_methods(capsys: pytest.CaptureFixture[str], file: str) -> None:
    for name in ("Model.loss", "Model.slope", "Model.square", "scaled.loss"):
        code, out = out_of(capsys, "check", f"{file}:{name}")
        assert code == 0 and "agrees" in out, name
    assert "def slope_grad(x, " in out_of(capsys, "show", f"{file}:Model.slope")[1]
    code, out = out_of(capsys, "check", f"{file}:Scaled.loss")
    assert code == 2 and "Make an instance in the file" in out
    code, out = out_of(capsys, "check", f"{file}:Model.nothing")
    assert code == 2 and "Model.loss" in out


def test_explain(capsys: pytest.CaptureFixture[str], file: str) -> None:
    code, out = out_of(capsys, "explain", f"{file}:Model.loss")
    assert code == 0 and "differentiated by x: float64[" in out and "saved: " in out


def test_check_of_a_file(capsys: pytest.CaptureFixture[str], file: str, tmp_path: Path) -> None:
    code, out = out_of(capsys, "check", file)
    assert code == 2  # a result that is no scalar
    assert "two: skipped" in out and "Scaled.loss: skipped" in out and out.count("agrees with") == 3
    assert "4 functions checked" in out
    fine = tmp_path / "fine.py"
    fine.write_text(FILE[: FILE.index("class Scaled")])
    assert out_of(capsys, "check", str(fine))[0] == 0
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        fine.read_text()
        + "\n@ad.primitive\ndef p(x):\n    return x * 2.0\nad.vjp_rule(p, 'x')(lambda g, out, x: g)\n"
        + "def uses(x):\n    return np.sum(p(x))\n"
    )
    code, out = out_of(capsys, "check", str(wrong))
    assert "DISAGREES" in out and code != 0


def test_coverage(capsys: pytest.CaptureFixture[str], file: str, tmp_path: Path) -> None:
    code, out = out_of(capsys, "coverage", file)
    rows = dict(re.split(r"  +", line, maxsplit=1) for line in out.splitlines()[:-1])
    assert rows["Model.loss"] == rows["Model.slope"] == rows["Model.square"] == "compiles"
    assert rows["two"] == "compiles for floats" and "use vjp" in rows["vector"]
    assert rows["Scaled.loss"].startswith("unknown")
    assert code == 0 and "5 of 6 compile, 0 are refused" in out
    other = tmp_path / "other.py"
    other.write_text(FILE + REFUSED)
    code, out = out_of(capsys, "coverage", str(other))
    line = FILE.count("\n") + 3
    assert code == 1 and f"refused: line {line}: no derivative rule for np.kaiser" in out


def test_coverage_runs_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "loud.py"
    path.write_text("def f(x):\n    print('it ran')\n    return x * x\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTODIFF_COMPILER_CHECK", "0")
        assert "it ran" not in out_of(capsys, "coverage", str(path))[1]


@pytest.mark.parametrize(
    "body, said",
    [
        ("np.maximum(x, 0.5)", "x[0] = 0.5 is at a kink: the slope is -?0 below and 1 above"),
        ("np.abs(x - 0.5) * 3.0", "x[0] = 0.5 is at a kink: the slope is -3 below and 3 above"),
        (
            "np.where(x > 0.5, x + 1.0, x)",
            "is at a jump, or right beside one: above, the value differs by 1",
        ),
        (
            "np.where(x >= 0.5, x + 1.0, x)",
            "is at a jump, or right beside one: below, the value differs by 1",
        ),
        ("np.exp(3.0 * x) * np.sin(20.0 * x)", ""),
        ("x * 1e8 + x**2 * 1e-3", ""),
        ("(x - 0.5) ** 3", ""),
        ("np.cos(200.0 * x)", ""),
        ("np.where(x > 0.500001, 0.0, x)", "x[0] = 0.5 is at a jump, or right beside one: above"),
    ],
)
def test_ties_and_jumps(capsys: pytest.CaptureFixture[str], tmp_path: Path, body: str, said: str) -> None:
    path = tmp_path / "kinked.py"
    path.write_text(f"import numpy as np\n\ndef f(x):\n    return np.sum({body})\n")
    _, out = out_of(capsys, "check", f"{path}:f", "--inputs", "np.array([0.5, 1.25])")
    if said:
        assert re.search(re.escape(said).replace(r"\-\?", "-?").replace("-\\?", "-?"), out), out
    else:
        assert "is at a" not in out, out
