"""What differs between the versions of SciPy, asked of the one that is installed.

A fact is found by a call on a few numbers. So it holds for the versions to come, too, and no version number is
compared anywhere.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def found(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the function returns, or the exception that it raises."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args, **kwargs)
        except Exception as error:
            return error


def takes(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """The function computes something of these arguments.

    >>> takes(np.sqrt, 2.0), takes(np.sqrt, "two")
    (True, False)
    """
    return not isinstance(found(function, *args, **kwargs), Exception)


def keeps_float32(function: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """The result of the function has dtype float32, for arguments of that dtype.

    >>> keeps_float32(np.sqrt, np.ones(2, np.float32)), keeps_float32(float, np.float32(1))
    (True, False)
    """
    return getattr(found(function, *args, **kwargs), "dtype", None) == np.float32


__all__ = ["found", "keeps_float32", "takes"]
