"""The command line: what it prints, its exit codes, and that users' mistakes give one clear text."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from autodiff_compiler.cli import main

ROOT = Path(__file__).resolve().parents[2]
MODULE = """
import numpy as np
import autodiff_compiler as ad

def energy(x, k):
    return np.sum(np.sin(k * x) * x)

def energy_example_inputs():
    return np.array([0.5, 1.0, 2.0]), 0.7

def nested(params, y):
    return np.sum((params["w"] * y + params["b"][0]) ** 2)

nested.example_inputs = lambda: ({"w": np.array([1.0, 2.0]), "b": [0.5]}, np.array([3.0, 4.0]))

def single(x):
    return np.sum(np.sqrt(x))

def single_example_inputs():
    return np.array([1.0, 2.0], dtype=np.float32)

def writes(x):
    x[0] = x[1] * x[1]
    return x.sum()

def large(x):
    return np.sum(x * x * x)

def example_inputs():
    return (np.linspace(0.1, 1.0, 150),)

def modulus(z):
    return np.abs(z) ** 2

def broken(x):
    return x[10]

def counts(n):
    return n * 2

def kink(x):
    return np.sum(np.where(x >= 1.0, x * x, 0.0))

constant = 3

@ad.grad(argnums="k")
def decorated(x, k):
    return np.sum(np.exp(x) * k * k)

decorated_example_inputs = lambda: (np.ones(2), 2.0)
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    path = tmp_path / "user_module.py"
    path.write_text(MODULE)
    return str(path)


def test_show(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{module}:energy"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("def ") or "\ndef " in out
    assert "np.cos" in out and "energy_grad" in out
    assert "\x1b" not in out
    compile(out, "emitted", "exec")


def test_show_ir(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--ir", f"{module}:energy"]) == 0
    assert "np.cos" in capsys.readouterr().out


def test_show_what_each_pass_makes(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--passes", f"{module}:writes"]) == 0
    out = capsys.readouterr().out
    stages = out.split("# after the pass ")
    assert [stage.partition("\n")[0] for stage in stages[1:3]] == ["'lower'", "'differentiate'"]
    assert "addat" not in stages[1] and "addat" in stages[2]


def test_show_is_coloured_in_a_terminal(
    module: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygments")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["show", f"{module}:energy"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["show", f"{module}:energy"]) == 0
    assert "\x1b[" not in capsys.readouterr().out


def test_check_has_a_row_for_each_argument(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{module}:energy"]) == 0
    head, first, second, verdict = capsys.readouterr().out.splitlines()
    assert head.split() == ["argument", "shape", "max", "abs", "error", "max", "rel", "error", "ok"]
    assert first.split()[0] == "x" and first.split()[-1] == "ok"
    assert second.split()[0] == "k" and second.split()[-1] == "ok"
    assert "agrees" in verdict


@pytest.mark.parametrize("function", ["single", "writes", "decorated", "large"])
def test_check_agrees(module: str, function: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{module}:{function}"]) == 0
    out = capsys.readouterr().out
    assert ("100 entries" in out) == (function in ("large", "writes"))
    if function == "decorated":
        assert out.splitlines()[1].startswith("k ") and len(out.splitlines()) == 3


def test_check_looks_into_containers(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{module}:nested"]) == 0
    out = capsys.readouterr().out
    assert "params['w']" in out and "params['b'][0]" in out and "\ny " in out


def test_check_complex(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{module}:modulus", "--inputs", "(1.5 + 2.5j,)"]) == 0


def test_check_fails_where_the_gradient_and_the_differences_disagree(
    module: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", f"{module}:kink", "--inputs", "np.array([1.0, 2.0])"]) == 1
    out = capsys.readouterr().out
    assert "NO" in out and "DISAGREES" in out


def test_bench(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", f"{module}:energy", "--seconds", "0.01"]) == 0
    rows = [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows == ["primal", "gradient", "ratio", "first"]


def test_bench_of_a_function_that_writes_into_its_argument(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", f"{module}:writes", "--seconds", "0.01"]) == 0
    assert "copying" in capsys.readouterr().out


def test_report_is_all_three(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", f"{module}:energy", "--seconds", "0.01"]) == 0
    out = capsys.readouterr().out
    assert "def " in out and "agrees" in out and "first gradient" in out


def test_inputs_from_an_expression_and_a_file(module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{module}:energy", "--inputs", "(np.ones(2), 3.0)"]) == 0
    assert "(2,)" in capsys.readouterr().out
    np.savez(tmp_path / "data.npz", k=0.5, x=np.ones(4))
    assert main(["check", f"{module}:energy", "--inputs", str(tmp_path / "data.npz")]) == 0
    out = capsys.readouterr().out
    assert "(4,)" in out and out.splitlines()[1].startswith("x ")
    assert main(["check", f"{module}:energy", "--inputs", "dict(k=0.5, x=np.ones(5))", "--argnums", "k"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["show", "energy"], "FILE.py:FUNCTION"),
        (["show", "no_such_file.py:f"], "no file"),
        (["show", "MODULE:nothing"], "energy, nested"),
        (["show", "MODULE:constant"], "not a function"),
        (["show", "MODULE:energy", "--inputs", "(1.0,"], "SyntaxError"),
        (["show", "MODULE:energy", "--inputs", "undefined_name"], "NameError"),
        (["show", "MODULE:energy", "--inputs", "(1.0, 2.0, 3.0)"], "do not fit"),
        (["show", "MODULE:energy", "--inputs", "no_such_file.npz"], "cannot read"),
        (["check", "MODULE:energy", "--argnums", "z"], "no argument 'z'"),
        (["check", "MODULE:broken", "--inputs", "np.ones(3)"], "IndexError"),
        (["check", "MODULE:counts", "--inputs", "3"], "no derivative"),
        (["check", "MODULE:counts", "--inputs", "3", "--argnums", "n"], "int"),
    ],
)
def test_mistakes(module: str, arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([argument.replace("MODULE", module) for argument in arguments])
    captured = capsys.readouterr()
    assert code == 2
    assert captured.err.startswith("error: ")
    assert text in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("text", ["def f(:\n", "import no_such_module\n", "1 / 0\n", "raise SystemExit(3)\n"])
def test_a_file_that_cannot_be_loaded(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    assert main(["show", f"{path}:f"]) == 2
    err = capsys.readouterr().err
    assert "cannot load" in err and "bad.py:1" in err and "Traceback" not in err


def test_no_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plain.py"
    path.write_text("def f(x):\n    return x * x\n")
    assert main(["show", f"{path}:f"]) == 2
    err = capsys.readouterr().err
    assert "example_inputs" in err and "--inputs" in err


def test_a_file_named_like_a_module_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "numpy.py"
    path.write_text("def f(x):\n    return x * x\n")
    assert main(["check", f"{path}:f", "--inputs", "2.0"]) == 0
    assert sys.modules["numpy"] is np


def test_unsupported_code_gives_the_located_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "unsupported.py"
    path.write_text("def f(x):\n    yield x\n    return x * x\n")
    assert main(["show", f"{path}:f", "--inputs", "2.0"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ") and "Traceback" not in err


def test_as_a_program(module: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "autodiff_compiler", "check", f"{module}:energy"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "agrees" in done.stdout
    done = subprocess.run(
        [*command[:3], "show"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2 and "FILE.py:FUNCTION" in done.stderr


OF_OBJECTS = """
import dataclasses
import numpy as np
import autodiff_compiler as ad

@ad.custom_vjp
def wrong(x):
    return x * x

wrong.defvjp(lambda x: (x * x, x), lambda x, g: (3.0 * x * g,))

@dataclasses.dataclass
class P:
    w: np.ndarray
    n: int = 3

def f(p, x):
    return np.sum(wrong(p.w) * x)

def right(p, x):
    return np.sum(p["inner"].w ** 2 * x) * p["inner"].n

def none(p, x):
    return np.sum(x)
"""


def test_check_looks_into_objects(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "of_objects.py"
    path.write_text(OF_OBJECTS)
    assert main(["check", f"{path}:f", "--inputs", "(P(np.ones(2)), np.ones(2))"]) == 1
    assert "p.w[0] = 1.0: the gradient is 3, the central difference 2" in capsys.readouterr().out
    assert main(["check", f"{path}:right", "--inputs", "({'inner': P(np.ones(2))}, np.ones(2))"]) == 0
    assert "p['inner'].w" in capsys.readouterr().out
    # The first argument that holds floats is differentiated by, as by `grad`.
    assert main(["show", f"{path}:right", "--inputs", "({'inner': P(np.ones(2))}, np.ones(2))"]) == 0
    assert "2.0 * inner_w" in capsys.readouterr().out
    assert main(["check", f"{path}:none", "--argnums", "p", "--inputs", "(3, np.ones(2))"]) == 2
    capsys.readouterr()
