"""What the definitions of `scipy.ndimage` share: how arguments are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...definitions import refuse


def floating(name: Any, x: Any, output: Any = None) -> Any:
    """The input, of which the result has the dtype."""
    x = np.asarray(x)
    if output is not None:
        refuse(f"scipy.ndimage.{name} with output=", "assign the result")
    if not np.issubdtype(x.dtype, np.floating):
        refuse(f"scipy.ndimage.{name} of an array that does not hold floating numbers", "use its astype(float)")
    return x


def each(x: Any, n: Any) -> Any:
    """A setting for each of `n` axes, where one may stand for all."""
    if isinstance(x, (tuple, list)):
        if len(x) != n:
            raise RuntimeError("sequence argument must have length equal to input rank")
        return list(x)
    if x is not None and not isinstance(x, str) and np.ndim(x) == 1:
        return [x[k] for k in list(range(n))]
    return [x] * n


def settings(mode: Any, cval: Any = 0.0, origin: Any = 0) -> Any:
    """The keywords of a call that are not as they are by default."""
    options: Any = {}
    if mode != "reflect":
        options["mode"] = mode
    if mode in ("constant", "grid-constant"):
        options["cval"] = cval
    if not isinstance(origin, int) or origin != 0:
        options["origin"] = origin
    return options


def no_axes(name: Any, axes: Any) -> None:
    if axes is not None:
        refuse(f"scipy.ndimage.{name} with axes=", "use the filter along one axis")
