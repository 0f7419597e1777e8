"""Tracebacks end where the user's code ends: no frame of this package is shown, unless the environment asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import tracebacks
from autodiff_compiler.errors import InternalError
from autodiff_compiler.transforms import pipeline

ROOT = Path(__file__).resolve().parents[2]
HERE = os.path.abspath(__file__)
PACKAGE = os.path.dirname(ad.__file__) + os.sep
X = np.array([1.0, 2.0])


class OwnError(Exception):
    pass


def refused(x):
    return np.sum(np.kaiser(4, x[0]))


def vector(x):
    return x * 2.0


def raises(x):
    if x[0] > 0.0:
        raise ValueError("mine")
    return np.sum(x)


@ad.primitive
def measured(x):
    raise OwnError("from the user's function")


ad.vjp_rule(measured, "x")(lambda g, out, x: g)


def calls_back(x):
    return np.sum(measured(x))


def singular(x):
    return np.sum(np.linalg.inv(np.outer(x, x) * 0.0))


def pull(fn):
    def call(*args):
        return ad.vjp(fn, *args)[1](np.ones((7, 7)))

    return call


def raised_by(fn, *args, **kwargs):
    with pytest.raises(Exception) as caught:
        fn(*args, **kwargs)
    return caught.value


def files(error):
    return [frame.filename for frame in traceback.extract_tb(error.__traceback__)]


def is_ours(file):
    return file.startswith(PACKAGE) or file == tracebacks.DISPATCH


CALLS = {
    "no function": (ad.grad, (3,)),
    "refused": (ad.grad(refused), (X,)),
    "source": (ad.grad(refused).source, (X,)),
    "tree": (ad.grad(refused).tree, (X,)),
    "ir": (ad.grad(refused).ir, (X,)),
    "passes": (ad.grad(refused).passes, (X,)),
    "vector": (ad.value_and_grad(vector), (X,)),
    "vjp": (ad.vjp, (refused, X)),
    "pullback": (pull(vector), (X,)),
    "jvp": (ad.jvp, (refused, (X,), (X,))),
    "jvp of another shape": (ad.jvp, (vector, (X,), (np.ones(3),))),
    "check_grads": (ad.check_grads, (refused, (X,))),
    "raises": (ad.grad(raises), (X,)),
    "singular": (ad.grad(singular), (X,)),
    "no argument": (ad.grad(raises), ()),
    "no such argument": (ad.grad(raises, 3), (X,)),
    "integers": (ad.grad(vector), (np.arange(3),)),
    "shapes": (ad.grad(lambda x: np.sum(x @ np.ones(3))), (X,)),
}


@pytest.mark.parametrize("case", CALLS)
def test_no_frame_of_the_package_is_shown(case):
    fn, args = CALLS[case]
    error = raised_by(fn, *args)
    shown = files(error)
    assert shown[0] == HERE
    # Python 3.10 shows the door itself, which pytest and IPython hide.
    doors = [file for file in shown if is_ours(file)]
    assert len(doors) <= (2 if sys.version_info < (3, 11) else 0), shown
    if sys.version_info >= (3, 11):
        assert len("".join(traceback.format_exception(error)).splitlines()) < 20


def test_the_environment_shows_all_frames(monkeypatch):
    monkeypatch.setenv("AUTODIFF_COMPILER_TRACEBACK", "full")
    assert any(map(is_ours, files(raised_by(ad.grad(refused), X))))


def test_exceptions_of_the_user_keep_what_they_are():
    error = raised_by(ad.grad(calls_back), X)
    assert type(error) is OwnError and str(error) == "from the user's function"
    frames = traceback.extract_tb(error.__traceback__)
    assert frames[-1].filename == HERE and frames[-1].name == "measured"
    assert any(frame.filename.startswith("<autodiff calls_back_grad") for frame in frames)


def test_what_numpy_raises_in_emitted_code_keeps_both_frames():
    shown = files(raised_by(ad.grad(singular), X))
    assert any(file.startswith("<autodiff singular_grad") for file in shown)
    assert "numpy" in shown[-1]


def test_the_users_context_and_cause_stay():
    def outer():
        try:
            raise KeyError("the user's")
        except KeyError as error:
            try:
                ad.grad(refused)(X)
            except ad.AutodiffError as second:
                raise OwnError("third") from second

    error = raised_by(outer)
    assert isinstance(error.__cause__, ad.RuleLookupError)
    contexts, at = [], error.__cause__
    while at is not None:
        contexts.append(type(at))
        at = at.__context__
    assert contexts == [ad.RuleLookupError, KeyError]
    assert "autodiff_compiler/" not in "".join(
        line for line in traceback.format_exception(error) if line.startswith("  File") and sys.version_info >= (3, 11)
    ).replace(HERE, "")


def test_a_defect_keeps_its_frames(monkeypatch):
    def broken(*args, **kwargs):
        raise InternalError("a defect")

    monkeypatch.setattr(pipeline, "adjoint", broken)
    assert any(map(is_ours, files(raised_by(ad.grad(lambda x: np.sum(x * 3.25)), X))))


def test_the_tape_hides_its_frames():
    with ad.GradientTape() as tape:
        x = ad.Variable(1.0)
        y = x * x
    tape.gradient(y, x)
    error = raised_by(tape.gradient, y, x)
    assert sum(map(is_ours, files(error))) <= (1 if sys.version_info < (3, 11) else 0)


PROGRAM = """
import numpy as np
import autodiff_compiler as ad

def f(x):
    return np.sum(np.kaiser(4, x[0]))

{call}
"""


def output(command, **environment):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("AUTODIFF_")}
    env = {**clean, "PYTHONPATH": str(ROOT), "AUTODIFF_COMPILER_CACHE": "off", "NO_COLOR": "1", **environment}
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120)
    return done.stdout + done.stderr


def ours_in(text):
    return [line for line in text.splitlines() if PACKAGE in line or "<autodiff_compiler dispatch>" in line]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 shows the door")
def test_in_a_script(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(call="ad.grad(f)(np.eye(2))"))
    text = output([sys.executable, str(file)])
    assert not ours_in(text) and len(text.splitlines()) <= 9
    assert f"{file}:6:19, in f" in text and "           ^^^^" in text and "no derivative rule" in text
    full = output([sys.executable, str(file)], AUTODIFF_COMPILER_TRACEBACK="full")
    assert len(ours_in(full)) > 5


def test_in_pytest(tmp_path):
    file = tmp_path / "test_program.py"
    file.write_text(PROGRAM.format(call="def test_it():\n    ad.grad(f)(np.eye(2))"))
    text = output([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)])
    assert "1 failed" in text and "no derivative rule" in text and ":6:19, in f" in text
    assert not [line for line in text.splitlines() if "autodiff_compiler/" in line and ".py:" in line], text
    assert len(text.splitlines()) < 40


def test_in_ipython(tmp_path):
    pytest.importorskip("IPython")
    file = tmp_path / "cells.ipy"
    file.write_text(PROGRAM.format(call="ad.grad(f)(np.eye(2))"))
    text = output([sys.executable, "-m", "IPython", "--colors=NoColor", str(file)], IPYTHONDIR=str(tmp_path))
    assert "no derivative rule" in text and not ours_in(text)
    assert "autodiff_compiler/" not in text.replace(str(ROOT), "") and len(text.splitlines()) < 30
