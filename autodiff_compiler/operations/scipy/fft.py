"""`scipy.fft`: the transforms along one axis. Those along several are definitions.

References: Strang, The discrete cosine transform (1999), for the matrices of the cosine transforms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import fft

from ...ir.core import Builder, Value
from ...ir.ops_common import as_array
from ...ir.types import Ty, py_int
from ...kernels.scipy import fft as kernels
from .. import lib
from ..batch_rules import along, batch
from ..fourier import fft_pullback, fft_type, fitted, irfft_pullback, irfft_type, rfft_pullback, rfft_type, transformed
from ..lib import call
from ..record import op, vjp

# --- transforms of complex and of real numbers ------------------------------------------------------------------------


def _without_workers(make: Any) -> Any:
    """A type or a rule for calls that may say how many threads to use."""
    return lambda *args, workers=None, **options: make(*args, **options)


for _name, _type, _rule in (
    ("fft", fft_type, fft_pullback(fft.fft)), ("ifft", fft_type, fft_pullback(fft.ifft)),
    ("rfft", rfft_type, rfft_pullback(fft.irfft)), ("irfft", irfft_type, irfft_pullback(fft.rfft)),
):  # fmt: skip
    op(f"scipy.fft.{_name}", "x: array, n, axis, norm, overwrite_x, workers", type=_without_workers(_type))
    vjp(getattr(fft, _name), "x", linear=True)(_without_workers(_rule))

# --- cosine and sine transforms ---------------------------------------------------------------------------------------


def _real_transform_type(
    b: Builder, x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None, **options: Any
) -> Ty:  # fmt: skip
    return transformed(b, x, n, axis, _floating, lambda m: b.dims.fresh() if isinstance(m, Value) else m)


def _floating(dtype: Any) -> Any:
    if dtype is not None and dtype.kind in "iu":
        return np.dtype(np.float64)
    return dtype if dtype in (np.float32, np.float64, np.complex64, np.complex128) else None


_BACK = {1: 1, 2: 3, 3: 2, 4: 4}  # the type of the inverse transform
_OPPOSITE = {None: "forward", "backward": "forward", "forward": None, "ortho": "ortho"}


def _transposed(fn: Any, inverse: bool) -> Any:
    """The pullback. With ``orthogonalize=True`` the transposed transform is one of SciPy's for every `norm`; without,
    the ends have other factors."""

    def rule(
        g: Any, out: Any, x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None,
        orthogonalize: Any = None, workers: Any = None,
    ) -> Any:  # fmt: skip
        place = lib.axes(axis, x)[0]
        if type not in _BACK or norm not in _OPPOSITE:
            raise lib.unsupported("the derivative of a cosine or sine transform needs constants for type and norm")
        if inverse:
            type, norm = _BACK[type], _OPPOSITE[norm]
        orthogonal = norm == "ortho" if orthogonalize is None else bool(orthogonalize)
        before, after = (1.0, 1.0), (1.0, 1.0)
        if not orthogonal:
            before, after = _factors(fn, type)
        bar = _scaled(g, place, before)
        options = {} if norm == "ortho" or type == 4 or (fn is fft.dst and type == 1) else {"orthogonalize": True}
        bar = call(fn, bar, _BACK[type], axis=place, norm=norm, **options)
        return fitted(_scaled(bar, place, after), x, n, place)

    return rule


def _factors(fn: Any, kind: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """The factors of the first and the last element, before and after the transposed orthogonal transform."""
    root = math.sqrt(2.0)
    neutral = (1.0, 1.0)
    if kind == 2:
        return (root, 1.0) if fn is fft.dct else (1.0, root), neutral
    if kind == 3:
        return neutral, (1 / root, 1.0) if fn is fft.dct else (1.0, 1 / root)
    return ((root, root), (1 / root, 1 / root)) if kind == 1 and fn is fft.dct else (neutral, neutral)


def _scaled(x: Any, axis: int, factors: tuple[float, float]) -> Any:
    return x if factors == (1.0, 1.0) else call(kernels.scaled_ends, x, axis, *factors)


for _stem, _fn in (("dct", fft.dct), ("dst", fft.dst)):
    for _name in (_stem, "i" + _stem):
        op(f"scipy.fft.{_name}", "x: array, type: known, n, axis, norm, overwrite_x, workers, orthogonalize: known",
           type=_real_transform_type)  # fmt: skip
        vjp(getattr(fft, _name), "x", linear=True)(_transposed(_fn, _name != _stem))

op(kernels.scaled_ends, "x: array, axis, first, last", type=lambda b, x, *rest: as_array(b, x))


@vjp(kernels.scaled_ends, "x", linear=True)
def _scaled_ends(g: Any, out: Any, x: Any, axis: Any, first: Any, last: Any) -> Any:
    return call(kernels.scaled_ends, g, axis, first, last)


batch(fft.fft, fft.ifft, fft.rfft, fft.irfft, fft.dct, fft.idct, fft.dst, fft.idst)(along(axis=-1))

# --- lengths ----------------------------------------------------------------------------------------------------------

for _name in ("next_fast_len", "prev_fast_len"):
    if hasattr(fft, _name):
        op(f"scipy.fft.{_name}", "target, real", type=lambda b, target, real=False: py_int(), nondiff=True)
