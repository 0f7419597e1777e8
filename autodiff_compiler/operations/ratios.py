"""The next order of the quotients and products of which a zero was chosen: see `roots`.

What such a zero stood for is a finite number that is not known, so the derivative by it is nan there; the zero itself
stays one. `honest` is nan where the zero was chosen.
"""

from __future__ import annotations

from typing import Any

from ..ir.numpy_ops import OVER, PRODUCT, RATIO
from .record import vjp


@vjp((RATIO, OVER), "g")
def _ratio_g(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    honest = numerator / d
    return g / (d + 0 * honest)


@vjp((RATIO, OVER), "d")
def _ratio_d(g: Any, out: Any, numerator: Any, d: Any) -> Any:
    return -(g * (numerator / d)) / d


@vjp(PRODUCT, "g")
def _product_g(g: Any, out: Any, factor: Any, p: Any) -> Any:
    honest = factor * p
    return g * (p + 0 * honest)


@vjp(PRODUCT, "p")
def _product_p(g: Any, out: Any, factor: Any, p: Any) -> Any:
    honest = factor * p
    return g * (factor + 0 * honest)
