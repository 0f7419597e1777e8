"""The calls of a package's public functions, while its doctests, its tests and the obvious calls run.

Nothing is wrapped. A profile function sees each call of Python code, and keeps deep copies of the arguments.
"""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib
import inspect
import io
import os
import pkgutil
import signal
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .drivers import signature_of

# Folders of a package that hold no code of its own.
OUTSIDE = {
    "tests",
    "test",
    "numba",
    "numba_vectorized",
    "vectorized",
    "units",
    "testing",
    "conftest",
    "plots",
    "plot",
    "examples",
    "derivations",
    "cli",
    "__main__",
}


@dataclass
class Target:
    """A public function, or a method of a public class, and the way to it from its module."""

    module: str
    path: tuple[str, ...]
    kind: str  # "function", "method", "class", "static"

    @property
    def name(self) -> str:
        return ".".join((self.module, *self.path))


@dataclass
class Recorded:
    target: Target
    args: list[Any]
    kwargs: dict[str, Any]


def modules_of(package: str) -> list[types.ModuleType]:
    """The package with all of its modules that can be imported."""
    root = importlib.import_module(package)
    found = [root]
    for info in pkgutil.walk_packages(getattr(root, "__path__", []), package + ".", onerror=lambda name: None):
        if OUTSIDE & set(info.name.split(".")):
            continue
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                found.append(importlib.import_module(info.name))
        except (Exception, SystemExit):
            continue
    return found


def targets_of(modules: list[types.ModuleType], package: str) -> dict[types.CodeType, Target]:
    """The public functions by their code. A wrapper that several functions share is left out."""
    found: dict[types.CodeType, Target] = {}
    shared: set[types.CodeType] = set()

    def add(function: Any, target: Target) -> None:
        code = getattr(function, "__code__", None)
        if not isinstance(code, types.CodeType) or code.co_flags & (
            inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        ):
            return
        if code in found and found[code].path != target.path:
            shared.add(code)
        found.setdefault(code, target)

    for module in sorted(modules, key=lambda m: m.__name__.count("."), reverse=True):
        for name, value in list(vars(module).items()):
            if name.startswith("_") or getattr(value, "__module__", "") != module.__name__:
                continue
            if isinstance(value, types.FunctionType):
                add(value, Target(module.__name__, (name,), "function"))
            elif isinstance(value, type):
                for method, member in vars(value).items():
                    if method.startswith("_") and method not in ("__call__", "__init__"):
                        continue
                    if isinstance(member, types.FunctionType):
                        add(member, Target(module.__name__, (name, method), "method"))
                    elif isinstance(member, (staticmethod, classmethod)):
                        kind = "static" if isinstance(member, staticmethod) else "class"
                        add(member.__func__, Target(module.__name__, (name, method), kind))
    return {code: target for code, target in found.items() if code not in shared}


class Recorder:
    """Keeps the first calls of each target, with arguments of different kinds."""

    def __init__(self, targets: dict[types.CodeType, Target], limit: int):
        self.targets = targets
        self.limit = limit
        self.found: dict[str, dict[Any, Recorded]] = {}
        self.attempts: dict[str, int] = {}

    def __call__(self, frame: types.FrameType, event: str, arg: Any) -> None:
        if event != "call":
            return
        target = self.targets.get(frame.f_code)
        if target is None:
            return
        calls = self.found.setdefault(target.name, {})
        if len(calls) >= self.limit or self.attempts.get(target.name, 0) > 50:
            return
        self.attempts[target.name] = self.attempts.get(target.name, 0) + 1
        try:
            recorded = self.recorded(frame, target)
            key = signature_of(recorded.args, recorded.kwargs)
            if key is not None and key not in calls:
                memo: dict[int, Any] = {}
                if target.path[-1] == "__init__":
                    recorded.args = recorded.args[1:]
                recorded.args, recorded.kwargs = copy.deepcopy((recorded.args, recorded.kwargs), memo)
                calls[key] = recorded
        except Exception:
            return

    @staticmethod
    def recorded(frame: types.FrameType, target: Target) -> Recorded:
        code, local = frame.f_code, frame.f_locals
        names = code.co_varnames
        count, only = code.co_argcount, code.co_kwonlyargcount
        args = [local[name] for name in names[:count]]
        kwargs = {name: local[name] for name in names[count : count + only]}
        at = count + only
        if code.co_flags & inspect.CO_VARARGS:
            args += local[names[at]]
            at += 1
        elif target.kind != "static":
            args, kwargs = without_defaults(frame, list(names[:count]), args, kwargs, code.co_posonlyargcount)
        if code.co_flags & inspect.CO_VARKEYWORDS:
            kwargs |= local[names[at]]
        return Recorded(target, args[1:] if target.kind == "class" else args, kwargs)


DEFAULTS: dict[types.CodeType, dict[str, Any]] = {}


def without_defaults(
    frame: types.FrameType, names: list[str], args: list[Any], kwargs: dict[str, Any], positional: int
) -> tuple[list[Any], dict[str, Any]]:
    """The call as a user writes it: what is the default is not passed, and what follows it is passed by name."""
    defaults = DEFAULTS.get(frame.f_code, {})
    kept: list[Any] = []
    named: dict[str, Any] = {}
    gap = False
    for k, (name, value) in enumerate(zip(names, args)):
        if name in defaults and defaults[name] is value and k >= positional:
            gap = True
        elif gap:
            named[name] = value
        else:
            kept.append(value)
    for name, value in kwargs.items():
        if not (name in defaults and defaults[name] is value):
            named[name] = value
    return kept, named


def remember_defaults(modules: list[types.ModuleType]) -> None:
    for module in modules:
        for value in list(vars(module).values()):
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            for member in members:
                function = getattr(member, "__func__", member)
                if isinstance(function, types.FunctionType):
                    names = function.__code__.co_varnames[: function.__code__.co_argcount]
                    values = function.__defaults__ or ()
                    known = dict(zip(names[len(names) - len(values) :], values))
                    DEFAULTS[function.__code__] = known | (function.__kwdefaults__ or {})


class OutOfTime(BaseException):
    pass


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except OutOfTime:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def sources_of(package: str, modules: list[types.ModuleType]) -> Iterator[Callable[[], Any]]:
    """What makes the calls: the obvious ones first, then the doctests, then the shipped tests."""
    from . import obvious

    yield from obvious.CALLS.get(package, lambda: iter(()))()
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module in modules:
        try:
            found = finder.find(module)
        except Exception:
            continue
        for test in found:
            if test.examples:
                yield lambda test=test: doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(
                    test, out=lambda text: None
                )
    folder = Path(modules[0].__file__ or "").parent / "tests"
    for path in sorted(folder.glob("test_*.py")) if folder.is_dir() else ():
        yield from tests_of(package, path)


def tests_of(package: str, path: Path) -> Iterator[Callable[[], Any]]:
    """The test functions of a file that take no arguments."""
    try:
        module = importlib.import_module(f"{package}.tests.{path.stem}")
    except (Exception, SystemExit, pytest.skip.Exception):
        return
    for name, value in list(vars(module).items()):
        if name.startswith("test") and isinstance(value, types.FunctionType) and not value.__code__.co_argcount:
            yield value


def record(package: str, limit: int, seconds: float) -> list[Recorded]:
    """The calls of a package's public functions, at most `limit` of each function."""
    from . import obvious

    obvious.BEFORE.get(package, lambda: None)()
    os.environ.setdefault("MPLBACKEND", "Agg")
    modules = modules_of(package)
    remember_defaults(modules)
    recorder = Recorder(targets_of(modules, package), limit)
    for source in sources_of(package, modules):
        quiet = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
            warnings.simplefilter("ignore")
            with limited(seconds):
                sys.setprofile(recorder)
                try:
                    source()
                except (Exception, SystemExit, pytest.skip.Exception):
                    pass
                finally:
                    sys.setprofile(None)
    return [call for calls in recorder.found.values() for call in calls.values()]
