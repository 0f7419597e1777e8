"""The options that every transformation takes: how its code is made, and not what it computes. Whether what is
compiled is checked (`checking`), the environment and `check_grads` say."""

from __future__ import annotations

import importlib.util
import operator
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from ..errors import ArgumentError
from ..lowered import refused

BACKENDS = ("numpy", "native", "auto")


class Asked(TypedDict, total=False):
    """The options, as users give them.

    optimize: True runs all passes that make the code better, and False none of them. A text names those that are left
        out: ``optimize="-numbers, -sweeps"``. The gradient is the same, up to the last digits; what differs is the code
        and its speed. The error for a wrong name lists all names (see docs/architecture.md, "Leaving a pass out").
    reassociate: the function's value, too, may be computed in another order: a sum of squares as a product of vectors.
        It is faster, and the value differs from the function's in the last digits. Of NumPy code: machine code sums up
        in an order of its own in any case.
    max_residual_bytes: of derivatives with a backward sweep: what loops may keep for it. A loop that would keep more
        computes its values again, from snapshots, see docs/checkpoints.md. With "auto", so does each loop that
        would keep more than 64 MB.
    backend: "numpy", or "native" for machine code, which Numba compiles at the first call. "auto" begins with NumPy
        code, and goes on with machine code where that is faster. See docs/native.md.
    parallel: of machine code: threads run loops whose iterations are independent, as many as Numba uses. Elements are
        the same as without; sums differ in the last digits, and are the same for any number of threads.
    """

    optimize: bool | str
    reassociate: bool
    max_residual_bytes: int | Literal["auto"] | None
    backend: Literal["numpy", "native", "auto"]
    parallel: bool


DEFAULTS: dict[str, Any] = {
    "optimize": True, "reassociate": False, "max_residual_bytes": None, "backend": "numpy", "parallel": False,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a transformation. `left_out`: the passes that do not run."""

    left_out: frozenset[str] = frozenset()
    max_residual_bytes: int | Literal["auto"] | None = None
    backend: str = "numpy"
    parallel: bool = False
    reassociate: bool = False

    def portable(self) -> list[str]:
        """The part of a key of the disk cache that stands for the options."""
        out = [f"-{name}" for name in sorted(self.left_out)]
        if self.reassociate:
            out.append("reassociate")
        if self.max_residual_bytes is not None:
            out.append(f"bytes {self.max_residual_bytes}")
        if self.backend == "native":
            out += [self.backend, "parallel"] if self.parallel else [self.backend]
        return out


def options_of(what: str, asked: Mapping[str, Any], has_budget: bool, start: Options) -> Options:
    """The options that a user gives to `what`. Those that are not given are as in `start`.

    Raises TypeError for an unknown option and ValueError for passes that cannot be left out, as Python does, and
    `ArgumentError` for what is no number of bytes and no backend.
    """
    unknown = [name for name in asked if name not in DEFAULTS]
    if unknown:
        raise TypeError(f"{what}() got an unexpected keyword argument {unknown[0]!r}")
    left_out, budget = start.left_out, start.max_residual_bytes
    if asked.get("optimize", True) is not True:
        from .compiler import passes

        left_out |= passes.names_left_out(asked["optimize"])
    if asked.get("max_residual_bytes") is not None:
        if not has_budget:
            raise ArgumentError(f"{what} has no max_residual_bytes: it has no backward sweep", None, "leave it out")
        budget = bytes_of(asked["max_residual_bytes"])
    backend, parallel = asked.get("backend", start.backend), asked.get("parallel", start.parallel)
    loose = asked.get("reassociate", start.reassociate)
    for name, given in (("parallel", parallel), ("reassociate", loose)):
        if not isinstance(given, bool):
            raise ArgumentError(f"{name} is True or False, not {given!r}")
    if parallel and backend == "numpy":
        raise ArgumentError(
            "parallel=True is for machine code", None, "give backend='native' or backend='auto' with it"
        )
    return Options(left_out, budget, backend_of(backend), parallel, loose)


def backend_of(asked: Any) -> str:
    """The backend that a user asks for, which is "numpy" for "auto" without Numba. Raises `ArgumentError` for others,
    and for "native" without Numba."""
    if asked not in BACKENDS:
        raise ArgumentError(f"there is no backend {asked!r}", None, "give 'numpy', 'native' or 'auto'")
    if asked == "native" and not _has_numba():
        raise ArgumentError("backend='native' needs Numba, which is not installed", None, "pip install numba scipy")
    if asked == "auto" and not _has_numba():
        import logging  # the first import of it takes two milliseconds

        logging.getLogger("autodiff_compiler").info("backend='auto' is NumPy code, since Numba is not installed")
        return "numpy"
    return str(asked)


def _has_numba() -> bool:
    return os.environ.get("AUTODIFF_COMPILER_NATIVE") == "python" or importlib.util.find_spec("numba") is not None


def bytes_of(given: Any) -> int | Literal["auto"]:
    """A budget that a user gives. Raises `ArgumentError` if it is none."""
    if given == "auto":
        return "auto"
    try:
        found = operator.index(given)
    except TypeError:
        found = -1
    if found < 0 or isinstance(given, bool):
        raise ArgumentError(
            f"max_residual_bytes is a number of bytes, not {given!r}", None, "give a positive int, or 'auto'"
        )
    return found


_REMEDIES = {
    "optimize": "give it to the transformation of that function",
    "reassociate": "give it to the outermost derivative",
    "backend": "give it to the outermost derivative",
    "parallel": "give it to the outermost derivative",
}


def refuse_options(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Refuse options inside of a function that is compiled that are of the compilation as a whole."""
    for name, default in DEFAULTS.items():
        given = kwargs.get(name, default)
        if name in _REMEDIES and given is not default and given != default:
            _refuse(name, interp, args, kwargs)


def refuse_options_of(options: Options, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    """Likewise, where a transformed function that has them is called."""
    for name, is_given in (
        ("optimize", bool(options.left_out)), ("backend", options.backend == "native"), ("parallel", options.parallel),
        ("reassociate", options.reassociate),
    ):  # fmt: skip
        if is_given:
            _refuse(name, interp, args, kwargs)


def _refuse(name: str, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    refused(f"{name}=... in a function that is compiled is not supported", _REMEDIES[name])(interp, args, kwargs)


CHECKING = "AUTODIFF_COMPILER_CHECK"  # of the environment
_on: ContextVar[bool] = ContextVar("checking", default=False)


def is_checking() -> bool:
    return _on.get() or os.environ.get(CHECKING, "").strip().lower() in ("1", "true", "yes", "on")


@contextmanager
def checking() -> Iterator[None]:
    """A context in which all lowered functions are checked."""
    token = _on.set(True)
    try:
        yield
    finally:
        _on.reset(token)
