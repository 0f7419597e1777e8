"""The module ``torch.fft``: Fourier transforms along one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .conversion import numpy_dtype
from .core import make, run


def _transform(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    def transform(input: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        return run("Fft", lambda a: f(a, n, dim, norm), input)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"`{name}` along an axis; `n` cuts off or adds zeros. Complex, of the precision of the input."
    return transform


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None) -> Any:
    """The frequencies of `fft`."""
    return make(np.fft.fftfreq(n, d).astype(numpy_dtype(dtype)))


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None) -> Any:
    """The frequencies of `rfft`."""
    return make(np.fft.rfftfreq(n, d).astype(numpy_dtype(dtype)))


MEMBERS: dict[str, Any] = {n: _transform(n, getattr(np.fft, n)) for n in ("fft", "ifft", "rfft", "irfft")}
MEMBERS.update(fftfreq=fftfreq, rfftfreq=rfftfreq)
