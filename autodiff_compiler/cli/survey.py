"""Commands about a whole file, and about the installation."""

from __future__ import annotations

import argparse
import importlib.metadata
import inspect
import os
import platform
import sys
import time
from typing import Any

import numpy as np

from .checks import check
from .targets import UserError, bind, describe, functions_in, load_module, print_table, target_in

_EXTRAS = ("astunparse", "gast", "pygments", "numba", "scipy", "mpmath", "matplotlib", "IPython", "pytest")
# Arguments that are tried for functions without example inputs.
_GUESSES = (("floats", 0.5), ("vectors", np.linspace(0.2, 0.8, 3)), ("matrices", np.eye(3) + 0.1))


def version() -> str:
    import autodiff_compiler as ad

    return f"autodiff_compiler {ad.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"


def doctor() -> int:
    """Versions, the disk cache, the extras, and a gradient that is compiled now. 1 if that fails."""
    import autodiff_compiler as ad

    print(version())
    print(f"{sys.executable} on {platform.platform()}")
    print(f"package: {os.path.dirname(os.path.abspath(ad.__file__))}")
    print(f"cache:   {_cache()}")
    rows = []
    for name in _EXTRAS:
        try:
            rows.append([f"  {name}", importlib.metadata.version(name)])
        except importlib.metadata.PackageNotFoundError:
            rows.append([f"  {name}", "not installed"])
    print_table(["extras", ""], rows)
    settings = sorted(k for k in os.environ if k.startswith("AUTODIFF_COMPILER_"))
    print("environment: " + (", ".join(f"{k}={os.environ[k]}" for k in settings) or "no variable of this package"))
    start = time.perf_counter()
    try:
        got = ad.grad(_trial)(np.array([1.0, 2.0]))
    except Exception as error:
        print(f"a gradient cannot be compiled: {type(error).__name__}: {error}")
        return 1
    if not np.allclose(got, 3.0 * np.array([1.0, 2.0]) ** 2):
        print(f"a gradient is WRONG: {got}")
        return 1
    print(f"a gradient was compiled or found, and is right ({(time.perf_counter() - start) * 1e3:.0f} ms)")
    return 0


def _trial(x: Any) -> Any:
    return np.sum(x**3)


def _cache() -> str:
    from autodiff_compiler.api import cache

    folder = cache.default_folder()
    if folder is None:
        return "off"
    if not os.path.isdir(folder):
        return f"{folder}, which does not exist yet"
    sizes = []
    try:
        for found, _, names in os.walk(folder):
            sizes += [os.path.getsize(os.path.join(found, name)) for name in names if name.endswith(".entry")]
        mode = os.stat(folder)
    except OSError as error:
        return f"{folder}, which cannot be read: {error}"
    text = f"{folder}, {len(sizes)} entries, {sum(sizes) / 1e6:.2f} MB"
    if hasattr(os, "geteuid") and (mode.st_uid != os.geteuid() or mode.st_mode & 0o022):
        return text + ". It is NOT USED: it belongs to another user, or others may write to it"
    return text


def check_file(path: str, options: argparse.Namespace) -> int:
    """Check all functions of a file that have inputs. 1 if one is wrong, 2 if one cannot be checked."""
    from autodiff_compiler.errors import AutodiffError

    module = load_module(path)
    code, count = 0, 0
    for name in functions_in(module):
        try:
            target = target_in(module, path, name, options)
        except UserError as error:
            print(f"{name}: skipped, {str(error).splitlines()[0].partition('. Put')[0]}\n")
            continue
        print(f"{name}:")
        count += 1
        try:
            code = max(code, check(target, options))
        except (AutodiffError, UserError) as error:
            print(f"error: {error}")
            code = 2
        print()
    print(f"{count} functions checked")
    return code


def coverage(path: str, options: argparse.Namespace) -> int:
    """Which functions of a file compile, and why the others do not. 1 if one is refused."""
    module = load_module(path)
    rows, refused = [], 0
    for name in functions_in(module):
        verdict = _compiles(module, path, name, options)
        refused += verdict.startswith("refused")
        rows.append((name, verdict))
    width = max((len(name) for name, _ in rows), default=0)
    for name, verdict in rows:
        print(f"{name.ljust(width)}  {verdict}".rstrip())
    compiled = sum(verdict.startswith("compiles") for _, verdict in rows)
    print(f"{compiled} of {len(rows)} compile, {refused} are refused")
    return 1 if refused else 0


def _compiles(module: Any, path: str, name: str, options: argparse.Namespace) -> str:
    import autodiff_compiler as ad

    try:
        target = target_in(module, path, name, options)
    except UserError as error:
        return _guessed(module, path, name, str(error).splitlines()[0])
    return _verdict(ad.grad(target.function, argnums=target.argnums), target.args, target.kwargs, "")


def _guessed(module: Any, path: str, name: str, why: str) -> str:
    """The verdict for arguments that are guessed. Nothing is run."""
    import autodiff_compiler as ad

    found = module
    for part in name.split("."):
        found = getattr(found, part)
    function = getattr(found, "primal", found)
    first = ""
    if "." in name:
        return f"unknown: {why}"
    for what, value in _GUESSES:
        try:
            needed = [
                p
                for p in inspect.signature(function).parameters.values()
                if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            ]
            args, kwargs, _ = bind(function, (value,) * len(needed), name)
        except (UserError, ValueError):
            return f"unknown: {why}"
        if not needed:
            return "unknown: it takes no arguments"
        verdict = _verdict(ad.grad(function, argnums=tuple(range(len(needed)))), args, kwargs, f" for {what}")
        if verdict.startswith("compiles"):
            return verdict
        first = first or verdict
    return first.replace("refused", "unknown without example inputs", 1) if "Error" not in first else first


def _verdict(gradient: Any, args: Any, kwargs: Any, how: str) -> str:
    from autodiff_compiler.errors import AutodiffError, NonScalarOutputError

    try:
        gradient.source(*args, **kwargs)
    except NonScalarOutputError:
        return f"compiles{how} (its result is no real scalar: use vjp)"
    except AutodiffError as error:
        where = "" if error.loc is None else f"line {error.loc.line}: "
        return f"refused{how}: {where}{error.message.splitlines()[0]} ({type(error).__name__})"
    except Exception as error:
        return f"unknown{how}: {describe(error)}"
    return f"compiles{how}"


__all__ = ["check_file", "coverage", "doctor", "version"]
