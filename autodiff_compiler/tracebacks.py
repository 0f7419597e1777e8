"""Tracebacks of errors end where the user's code ends: the frames of this package are left out.

What is left are the frames of the program, of the emitted code, and of what these call. The frames of Python's library
and of NumPy that this package called go with its own. With ``AUTODIFF_COMPILER_TRACEBACK=full`` nothing is left out. A
defect of this package keeps its frames, since they are what a report needs.

Each door of the package, such as a call of a gradient, catches what passes, and calls `trim`:

    except BaseException as error:
        __tracebackhide__ = True
        trim(error)
        raise

From Python 3.11 on, the frame of the door itself is gone, too. Python 3.10 shows it; pytest and IPython look at the
name ``__tracebackhide__``, and hide it.
"""

from __future__ import annotations

import functools
import os
import sys
import types
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from .errors import InternalError, WrongValueError, is_defect

P = ParamSpec("P")
R = TypeVar("R")

VARIABLE = "AUTODIFF_COMPILER_TRACEBACK"
DISPATCH = "<autodiff_compiler dispatch>"  # the file name of the generated code that checks guards

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PYTHON = os.path.dirname(os.__file__) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep
_REPLACES_FIRST = sys.version_info >= (3, 11)


def is_hidden(file: str) -> bool:
    """Code of this file is this package's own."""
    return file.startswith(_PACKAGE) or file == DISPATCH


def _is_library(file: str) -> bool:
    return file.startswith((_PYTHON, _NUMPY, "<frozen ")) and (
        file.startswith(_NUMPY) or "site-packages" not in file[len(_PYTHON) :].split(os.sep, 1)[0]
    )


def visible(trace: types.TracebackType | None) -> list[types.TracebackType]:
    """The entries of a traceback that are shown, outermost first."""
    shown = []
    hiding = False
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        hiding = is_hidden(file) or (hiding and _is_library(file))
        if not hiding:
            shown.append(trace)
        trace = trace.tb_next
    return shown


def _joined(entries: list[types.TracebackType]) -> types.TracebackType | None:
    out: types.TracebackType | None = None
    for entry in reversed(entries):
        out = types.TracebackType(out, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return out


def trim(error: BaseException) -> None:
    """Leave the frames of this package out of the traceback of an exception that is about to leave the package.

    So it is done with the exceptions that it came from. One that began and ended inside of this package is left out.
    """
    if os.environ.get(VARIABLE, "").lower() == "full" or isinstance(error, (InternalError, WrongValueError)):
        return
    trace = error.__traceback__
    if trace is None or is_defect(error):
        return
    _trim_origins(error)
    if _REPLACES_FIRST:
        error.__traceback__ = _joined(visible(trace))
    else:
        trace.tb_next = _joined(visible(trace.tb_next))


def _trim_origins(error: BaseException) -> None:
    """Trim the causes and contexts of an exception."""
    seen = {id(error)}
    todo = [error]
    while todo:
        at = todo.pop()
        while at.__context__ is not None and at.__context__ is not at.__cause__ and _began_inside(at.__context__):
            if id(at.__context__) in seen:
                break
            seen.add(id(at.__context__))
            at.__context__ = at.__context__.__context__
        for origin in (at.__cause__, at.__context__):
            if origin is not None and id(origin) not in seen:
                seen.add(id(origin))
                todo.append(origin)
                if not is_defect(origin):
                    origin.__traceback__ = _joined(visible(origin.__traceback__))


def _began_inside(error: BaseException) -> bool:
    """It was raised and caught in this package, and no code of the program ran between."""
    return error.__traceback__ is not None and not is_defect(error) and not visible(error.__traceback__)


def trimmed(fn: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function is a door of the package. For those whose time does not matter."""

    @functools.wraps(fn)
    def door(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return fn(*args, **kwargs)
        except BaseException as error:
            __tracebackhide__ = True
            trim(error)
            raise

    return door


__all__ = ["VARIABLE", "is_hidden", "trim", "trimmed", "visible"]
