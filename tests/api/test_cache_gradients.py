"""Attacks on the disk cache, seen from a gradient: it is right each time, loaded or compiled anew."""

from __future__ import annotations

import compileall
import errno
import hashlib
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import cache as cache_module
from autodiff_compiler.api import persist
from tests.api.test_threads_and_pickle import in_threads
from tests.programs.checks import load

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """import numpy as np


def f(x, s):
    y = x * 1.0
    for i in range(3):
        y[i] = np.sin(y[i - 1] * s) + x[0]
    return np.sum(y * y)
"""
X = np.linspace(0.1, 0.9, 4)

pytestmark = pytest.mark.skipif(not cache_module._SUPPORTED, reason="no disk cache on this system")


def expected() -> bytes:
    os.environ[cache_module.VARIABLE], before = "off", os.environ[cache_module.VARIABLE]
    try:
        return ad.grad(load(SOURCE, "cached_program")["f"])(X, 0.7).tobytes()
    finally:
        os.environ[cache_module.VARIABLE] = before


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(persist, "RULES_OF_USERS", [])  # whatever other tests have registered
    monkeypatch.setenv(cache_module.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def gradient() -> tuple[bytes, int]:
    """The gradient as a new process would get it, and how often it had to be compiled."""
    made = ad.grad(load(SOURCE, "cached_program")["f"])
    lower, count = made._dispatch.lower, []

    def counted(*args: Any) -> Any:
        count.append(1)
        return lower(*args)

    made._dispatch.lower = counted  # type: ignore[method-assign]
    return made(X, 0.7).tobytes(), len(count)


def entry_of(folder: Path) -> Path:
    (path,) = folder.glob("*.entry")
    return path


def test_stored_and_loaded(folder: Path) -> None:
    want = expected()
    assert gradient() == (want, 1)
    assert gradient() == (want, 0)


def with_right_hash(path: Path, body: bytes) -> None:
    """An entry that says what it is and holds something else."""
    key = path.name.removesuffix(".entry")
    path.write_bytes(f"{cache_module._MAGIC} {key} {hashlib.sha256(body).hexdigest()}\n".encode() + body)


class Attack:
    def __reduce__(self) -> Any:
        return os.mkdir, ("executed",)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "truncated": lambda p: p.write_bytes(p.read_bytes()[:-40]),
    "garbage": lambda p: p.write_bytes(os.urandom(500)),
    "wrong hash": lambda p: p.write_bytes(p.read_bytes().replace(b"2.0", b"3.0", 1) + b"\n"),
    "a valid pickle": lambda p: p.write_bytes(pickle.dumps(Attack())),
    "a valid pickle under its hash": lambda p: with_right_hash(p, pickle.dumps(Attack())),
    "another header under its hash": lambda p: with_right_hash(p, b'{"objects": 1}\nimport os\nos.mkdir("executed")\n'),
    "world-writable": lambda p: p.chmod(0o666),
    "world-writable folder": lambda p: p.parent.chmod(0o777),
    "a folder": lambda p: (p.unlink(), p.mkdir()),
    "a link": lambda p: (p.rename(p.with_suffix(".moved")), p.symlink_to(p.with_suffix(".moved"))),
    "a link to itself": lambda p: (p.unlink(), p.symlink_to(p)),
    "folder gone": lambda p: shutil.rmtree(p.parent),
    "folder is a file": lambda p: (shutil.rmtree(p.parent), p.parent.write_text("no folder")),
    "folder is a link": lambda p: (p.parent.rename(str(p.parent) + "2"), p.parent.symlink_to(str(p.parent) + "2")),
    "unreadable": lambda p: p.chmod(0),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage(folder: Path, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    want, _ = gradient()
    DAMAGE[damage](entry_of(folder))
    got, compiled = gradient()
    assert got == want == expected()
    assert compiled == 1 or damage == "unreadable"  # root reads it
    assert not (tmp_path / "executed").exists()
    assert gradient()[0] == want


def shuffled(body: bytes, rng: random.Random) -> bytes:
    """The text of an entry with a few things in it changed."""
    kind = rng.randrange(6)
    if kind == 0:
        return body[: rng.randrange(len(body))]
    if kind == 1:
        flipped = bytearray(body)
        for _ in range(rng.randrange(1, 4)):
            flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(7)
        return bytes(flipped)
    if kind == 2:
        lines = body.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    if kind == 3:
        return rng.choice([b"", b"null", b"[]", b"{}", b'"a"\n1', b"0\n{}\n\n", pickle.dumps({"objects": []})])
    check, head, source = body.split(b"\n", 2)
    header = json.loads(head)
    places: list[tuple[Any, Any]] = []

    def collect(x: Any) -> None:
        for key in list(x) if isinstance(x, dict) else range(len(x)):
            places.append((x, key))
            if isinstance(x[key], (dict, list)):
                collect(x[key])

    collect(header)
    for holder, key in rng.sample(places, min(len(places), rng.randrange(1, 3))):
        if kind == 4:
            holder[key] = rng.choice([None, True, 0, 3, -1, 1.5, "x", [], {}, [[]], {"tuple": 1}])
        elif isinstance(holder, list) and holder:
            holder.pop(min(key, len(holder) - 1))
    return b"\n".join([check, json.dumps(header).encode(), source])


@pytest.mark.parametrize("seed", range(40))
def test_entries_changed_at_random(folder: Path, seed: int) -> None:
    want, _ = gradient()
    path = entry_of(folder)
    good = path.read_bytes().split(b"\n", 1)[1]
    with_right_hash(path, shuffled(good, random.Random(seed)))
    changed = path.read_bytes().split(b"\n", 1)[1] != good
    assert gradient() == (want, int(changed))
    assert gradient() == (want, 0)  # it was written anew, in its place
    assert len(list(folder.glob("*.entry"))) == 1


@pytest.mark.parametrize("what", ["source", "compiled"])
def test_a_package_without_files_of_its_own(tmp_path: Path, what: str) -> None:
    """From a zip archive, or from compiled modules alone: what is in them is what the cache depends on."""
    package = tmp_path / "at" / "autodiff_compiler"
    ignore = shutil.ignore_patterns("__pycache__", "compat")
    shutil.copytree(ROOT / "autodiff_compiler", package, ignore=ignore)
    (tmp_path / "m.py").write_text("def f(x):\n    return x * x\n")

    def run() -> str:
        where: Path = package.parent
        if what == "source":
            where = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", package.parent))
        else:
            where = tmp_path / "compiled"
            shutil.rmtree(where, ignore_errors=True)
            shutil.copytree(package.parent, where)
            compileall.compile_dir(where, quiet=2, legacy=True)
            for path in where.rglob("*.py"):
                path.unlink()
        environment = {
            **os.environ,
            "PYTHONPATH": f"{where}{os.pathsep}{tmp_path}",
            "AUTODIFF_COMPILER_CACHE": str(tmp_path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        script = "import m, autodiff_compiler as ad; print(ad.__file__, ad.grad(m.f)(3.0))"
        out = subprocess.run(
            [sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True
        )
        assert out.returncode == 0, out.stderr
        assert str(where) in out.stdout
        return out.stdout.split()[-1]

    assert run() == "6.0"
    module = package / "operations" / "elementwise.py"
    module.write_text(module.read_text().replace("MUL", "MUL  ", 1) + "\n# changed\nCHANGED = 1\n")
    assert run() == "6.0"
    assert len(list((tmp_path / "cache").glob("*.entry"))) == 2


@pytest.mark.parametrize("when", [0.0, 1.0, time.time() + 1e9], ids=["0", "1", "to come"])
def test_clocks_that_are_wrong(folder: Path, when: float) -> None:
    want, _ = gradient()
    os.utime(entry_of(folder), (when, when))
    assert gradient() == (want, 0)
    cache_module.DiskCache().prune()
    assert gradient() == (want, 0)


@pytest.mark.parametrize("what", ["package", "python", "numpy"])
def test_another_version(folder: Path, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    want, _ = gradient()
    if what == "package":
        monkeypatch.setattr(ad, "__version__", "999")
    elif what == "python":
        monkeypatch.setattr(sys, "version", "3.99.0 (another build)")
    else:
        monkeypatch.setattr(np, "__version__", "99.0")
    cache_module._surroundings.cache_clear()
    try:
        assert gradient() == (want, 1)
        assert gradient() == (want, 0)
    finally:
        monkeypatch.undo()
        cache_module._surroundings.cache_clear()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["open", "rename", "mkdir"])
def test_disk_that_is_full_or_read_only(folder: Path, code: int, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(code, os.strerror(code))

    want = expected()
    with monkeypatch.context() as patch:
        patch.setattr(cache_module.os, call, fail)
        assert gradient() == (want, 1)
        assert gradient() == (want, 1)
    assert gradient() == (want, 1)
    assert gradient() == (want, 0)


def test_removed_while_in_use(folder: Path) -> None:
    want = expected()
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            shutil.rmtree(folder, ignore_errors=True)

    thread = threading.Thread(target=remove, daemon=True)
    thread.start()
    try:
        for _ in range(15):
            assert gradient()[0] == want
    finally:
        stop.set()
        thread.join(timeout=30)
    assert not thread.is_alive()


def test_no_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want, _ = gradient()
    for variable in (cache_module.VARIABLE, "XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(variable, "")
    monkeypatch.chdir(tmp_path)
    assert gradient() == (want, 1)
    assert list(tmp_path.iterdir()) == []  # nothing relative to where it happens to run


def test_writers_killed_in_a_loop(folder: Path) -> None:
    """Processes that compile and store are killed at any moment; who comes after them gets the right gradient."""
    script = (
        "import sys; sys.path.insert(0, %r)\n"
        "from tests.api.test_cache_gradients import *\n"
        "print('ready', flush=True)\n"
        "while True:\n    gradient()\n    shutil.rmtree(%r, ignore_errors=True)\n" % (str(ROOT), str(folder))
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    want = expected()
    for delay in (0.01, 0.03, 0.05):
        process = subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert gradient()[0] == want
        assert gradient() == (want, 0)


def test_sixteen_threads_compile_and_run(folder: Path) -> None:
    """The same function in all of them and a function of its own in each, with the disk cache between them."""
    want = expected()
    shared = ad.grad(load(SOURCE, "cached_program")["f"])

    def make(k: int) -> Callable[[Any], Any]:
        def own(x: Any) -> Any:
            y = x
            for _ in range(k % 3 + 1):
                y = np.tanh(y) * k + x
            return np.sum(y)

        return own

    functions = [make(k) for k in range(16)]
    slopes = [ad.grad(f)(X) for f in functions]

    def work(k: int) -> bool:
        for _ in range(3):
            assert shared(X, 0.7).tobytes() == want
            assert ad.grad(functions[k])(X).tobytes() == slopes[k].tobytes()
            assert ad.grad(functions[0])(X).tobytes() == slopes[0].tobytes()
        return True

    assert in_threads([lambda k=k: work(k) for k in range(16)]) == [True] * 16  # type: ignore[misc]
