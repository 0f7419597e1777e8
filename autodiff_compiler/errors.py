"""The exceptions of the package. A message says what is wrong, where, why, and what to write instead."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

from . import deep


class Place(Protocol):
    """The attributes of a source location that an error reads. `ir.core.Loc` has them."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def col(self) -> int: ...
    @property
    def end_col(self) -> int: ...
    @property
    def function(self) -> str: ...


def caret_text(loc: Place) -> str:
    """The source line, with carets under the columns of the location. Empty if the source cannot be read.

    >>> caret_text.__name__
    'caret_text'
    """
    line = linecache.getline(loc.file, loc.line).rstrip("\n")
    if not line.strip():
        return ""
    # `ast` counts columns in UTF-8 bytes.
    raw = line.encode()
    start = len(raw[: loc.col].decode(errors="ignore"))
    end = len(raw[: loc.end_col].decode(errors="ignore")) if loc.end_col > loc.col else len(line)
    pad = "".join("\t" if c == "\t" else " " for c in line[:start])
    return f"    {line}\n    {pad}{'^' * max(1, min(end, len(line)) - start)}"


class AutodiffError(Exception):
    """The base of all errors of this package.

    Parameters
    ----------
    message: what is wrong and why, one sentence.
    loc: the place in the user's source, if there is one.
    remedy: what to write instead.
    """

    certain = False  # it does not help to know more of the values
    on_a_path = False  # of a branch or a handler, which may never be taken

    def __init__(self, message: str, loc: Place | None = None, remedy: str = ""):
        super().__init__(message)
        self.message = message
        self.loc = loc
        self.remedy = remedy

    def __str__(self) -> str:
        parts = []
        if self.loc is not None:
            inside = f", in {self.loc.function}" if self.loc.function else ""
            parts.append(f"{self.loc.file}:{self.loc.line}:{self.loc.col + 1}{inside}")
            text = caret_text(self.loc)
            if text:
                parts.append(text)
        parts.append(self.message)
        if self.remedy:
            parts.append(f"Instead: {self.remedy}")
        return "\n".join(parts) if len(parts) > 1 else parts[0]

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.loc, self.remedy)


def is_interruption(error: BaseException) -> bool:
    """The exception did not come from the work at hand, so it must pass through.

    That is so in three cases. A signal handler raised it. Or its class is neither in the standard library nor in NumPy
    nor in this package, as of an exception that was thrown into the thread. Or the stack is full, and the work starts
    again on a larger one.
    """
    if isinstance(error, RecursionError) and not deep.is_deep():
        return True
    if type(error).__module__.split(".")[0] not in _KNOWN_MODULES:
        return True
    import signal  # not at each import of the package

    handlers = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


_KNOWN_MODULES = sys.stdlib_module_names | {"numpy", __name__.split(".")[0]}


def _code_of(fn: Any) -> Any:
    while isinstance(fn, functools.partial):
        fn = fn.func
    fn = getattr(fn, "__func__", fn)
    return getattr(fn, "__code__", None) or getattr(vars(type(fn)).get("__call__"), "__code__", None)


class UnsupportedError(AutodiffError, NotImplementedError):
    """Python that the compiler does not handle."""


class NotCompiled(BaseException):
    """The program gets to what could not be compiled, on a path that it may never take.

    No handler of the program's catches it, since it is no `Exception`. Who loads compiled code raises what it stands
    for in its place.
    """

    def __init__(self, kind: str, message: str, remedy: str, *place: Any):
        super().__init__(message)
        self.kind, self.message, self.remedy, self.place = kind, message, remedy, place

    def refusal(self) -> AutodiffError:
        """The error that the compiler would have raised."""
        kinds = {cls.__name__: cls for cls in _kinds(AutodiffError)}
        loc: Any = _Place(*self.place) if self.place else None
        return kinds.get(self.kind, UnsupportedError)(self.message, loc, self.remedy)


class _Place(NamedTuple):
    file: str
    line: int
    col: int
    end_col: int
    function: str


def _kinds(cls: type[AutodiffError]) -> Iterator[type[AutodiffError]]:
    yield cls
    for derived in cls.__subclasses__():
        yield from _kinds(derived)


class InternalError(AutodiffError):
    """A defect of this package, found while it compiled a function. Nothing is wrong with the program.

    The cause is the exception that was raised, with its traceback.
    """

    @staticmethod
    @contextmanager
    def during(step: str, function: str) -> Iterator[None]:
        """Say in which step, and for which function, code of this package raised what only a defect raises.

        >>> with InternalError.during("the pass 'residuals'", "f"):
        ...     raise AssertionError("no region")
        Traceback (most recent call last):
        ...
        autodiff_compiler.errors.InternalError: ...
        """
        try:
            yield
        except _DEFECTS as error:
            if type(error) not in _DEFECTS or not is_ours(error):
                raise
            raise InternalError(
                f"internal error in {step} of {function!r}: {type(error).__name__}: {error}. This is a defect of the "
                "compiler, not of your program. Please report it: the function, the types of its arguments, and this "
                "traceback from its start",
                None,
                "until it is mended, write the function in simpler steps",
            ) from error


_DEFECTS = (AssertionError, KeyError, AttributeError, UnboundLocalError)


# Packages that raise `_DEFECTS` only by mistake. Emitted code and the tape raise them as the program would.
_COMPILER = ("analysis", "api", "codegen", "frontend", "ir", "operations", "transforms")


def is_ours(error: BaseException) -> bool:
    """It was raised by this package, not by a function or a rule of the user's."""
    return _raised_in(error)[0] == __name__.split(".")[0]


def is_defect(error: BaseException) -> bool:
    """Only a mistake in the compiler raises such an exception there."""
    if type(error) not in _DEFECTS:
        return False
    package, *modules = _raised_in(error)
    ours = package == __name__.split(".")[0] and bool(modules)
    return ours and modules[0] in _COMPILER and modules[-1] != "testing"


def _raised_in(error: BaseException) -> list[str]:
    """The name of the module whose code raised it, in parts."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return ("" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))).split(".")


class WrongValueError(AssertionError):
    """What was compiled gives another value than the function: a defect of this package.

    No `AutodiffError`: nothing is wrong with the program.
    """

    def __init__(self, message: str, loc: Place | None = None, remedy: str = ""):
        super().__init__(str(AutodiffError(message, loc, remedy)))


class SourceUnavailableError(AutodiffError, OSError):
    """The source text of a function cannot be read."""

    __str__ = AutodiffError.__str__


class AliasError(AutodiffError, NotImplementedError):
    """Two arrays may share memory, one of them is written to, and the compiler cannot prove that they do not."""


class NonScalarOutputError(AutodiffError, TypeError):
    """The result of a function under `grad` is not one real number."""


class IntegerArgumentError(AutodiffError, TypeError):
    """The argument to differentiate by holds integers or booleans."""


class RuleLookupError(AutodiffError, LookupError):
    """A function that a derivative must pass through has no derivative rule."""


class UnknownAxesError(RuleLookupError):
    """A derivative rule needs a number of axes that is not known. `joined`: the place where paths differ in it."""

    joined: Any = None


class UnboundNameError(AutodiffError, UnboundLocalError):
    """A name is read before it is bound."""


class MissingNameError(AutodiffError, NameError):
    """A name is bound nowhere."""


class MissingKeyError(AutodiffError, KeyError):
    """The dictionary does not have the key."""


class IndexRangeError(AutodiffError, IndexError):
    """The sequence does not have the item."""


class InvalidValueError(AutodiffError, ValueError):
    """Python would raise ValueError."""


class MissingAttributeError(AutodiffError, AttributeError):
    """The object does not have the attribute."""


class ArgumentError(AutodiffError, TypeError):
    """The arguments of a call do not fit. Python would raise TypeError."""


# What stands for Python's exceptions where the place is known.
LOCATED: dict[type, type[AutodiffError]] = {
    TypeError: ArgumentError,
    KeyError: MissingKeyError,
    IndexError: IndexRangeError,
    AttributeError: MissingAttributeError,
    NameError: MissingNameError,
    UnboundLocalError: UnboundNameError,
    ValueError: InvalidValueError,
}
