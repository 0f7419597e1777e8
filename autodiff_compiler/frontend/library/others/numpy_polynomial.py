"""The functions of `numpy.polynomial`: Python that NumPy ships, which is differentiated as it is written."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial, polyutils
from numpy.polynomial._polybase import ABCPolyBase

from .... import runtime
from ....ir.foreign import module_of
from ...definitions import DEFINED, are_definitions, defines, refuse


def _functions(module: types.ModuleType) -> dict[Any, Any]:
    """The functions of a module, and what they are written as. Those of quadratures are constants of NumPy's."""
    written = {x: getattr(x, "_implementation", x) for x in vars(module).values() if callable(x)}
    return {
        called: fn
        for called, fn in written.items()
        if isinstance(fn, types.FunctionType) and module_of(fn) == module.__name__ and not fn.__name__.endswith("gauss")
    }


def _methods(cls: type) -> list[Any]:
    members = [getattr(x, "__func__", getattr(x, "fget", x)) for x in vars(cls).values()]
    return [fn for fn in members if isinstance(fn, types.FunctionType)]


for _module in (polyutils, polynomial, chebyshev, legendre, hermite, hermite_e, laguerre):
    are_definitions(_functions(_module).values())
    DEFINED.update(_functions(_module))


@defines(polyutils.trimseq)
def trimseq(seq: Any) -> Any:
    return runtime.trimmed(np.asarray(seq))


for _cls in (
    ABCPolyBase, polynomial.Polynomial, chebyshev.Chebyshev, legendre.Legendre, hermite.Hermite, hermite_e.HermiteE,
    laguerre.Laguerre,
):  # fmt: skip
    are_definitions(_methods(_cls))
    DEFINED.update({fn: fn for fn in _methods(_cls)})


@defines(polyutils.getdomain)
def getdomain(x: Any) -> Any:
    [x] = polyutils.as_series([x], trim=False)
    if np.iscomplexobj(x):
        refuse("the domain of complex points", "give a domain")
    return np.array((x.min(), x.max()))


@defines(polyutils._fit)
def fitted(vander_f: Any, x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None) -> Any:
    """The same steps as NumPy's, with degrees that are known. There is no warning where the rank is not full."""
    if full:
        refuse("a fit with full=True", "leave it out")
    x = np.asarray(x) + 0.0
    y = np.asarray(y) + 0.0
    one = np.ndim(deg) == 0
    degrees = [deg] if one else sorted(deg)
    if x.ndim != 1 or y.ndim < 1 or y.ndim > 2 or len(x) != len(y) or len(x) == 0:
        raise TypeError("expected x and y to have same length")
    if degrees[0] < 0:
        raise ValueError("expected deg >= 0")
    lhs = vander_f(x, degrees[-1])
    if not one:
        lhs = lhs[:, degrees]
    lhs, rhs = lhs.T, y.T
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.ndim != 1 or len(x) != len(w):
            raise TypeError("expected x and w to have same length")
        lhs, rhs = lhs * w, rhs * w
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    if np.iscomplexobj(lhs):
        refuse("a fit at complex points", "use np.linalg.lstsq")
    scale = np.sqrt(np.square(lhs).sum(1))
    scale = np.where(scale == 0, 1, scale)
    found = (np.linalg.lstsq(lhs.T / scale, rhs.T, rcond)[0].T / scale).T
    if one:
        return found
    c = np.zeros((degrees[-1] + 1, *found.shape[1:]), dtype=found.dtype)
    c[degrees] = found
    return c


# NumPy's operators catch all exceptions, and leave it to the other operand then. Here, they raise.


@defines(ABCPolyBase.__add__)
def add(self: Any, other: Any) -> Any:
    return self.__class__(self._add(self.coef, self._get_coefficients(other)), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.__sub__)
def sub(self: Any, other: Any) -> Any:
    return self.__class__(self._sub(self.coef, self._get_coefficients(other)), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.__mul__)
def mul(self: Any, other: Any) -> Any:
    return self.__class__(self._mul(self.coef, self._get_coefficients(other)), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.__divmod__)
def divided(self: Any, other: Any) -> Any:
    quotient, rest = self._div(self.coef, self._get_coefficients(other))
    return (
        self.__class__(quotient, self.domain, self.window, self.symbol),
        self.__class__(rest, self.domain, self.window, self.symbol),
    )


@defines(ABCPolyBase.__radd__)
def radd(self: Any, other: Any) -> Any:
    return self.__class__(self._add(other, self.coef), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.__rsub__)
def rsub(self: Any, other: Any) -> Any:
    return self.__class__(self._sub(other, self.coef), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.__rmul__)
def rmul(self: Any, other: Any) -> Any:
    return self.__class__(self._mul(other, self.coef), self.domain, self.window, self.symbol)


@defines(ABCPolyBase.convert)
def convert(self: Any, domain: Any = None, kind: Any = None, window: Any = None) -> Any:
    refuse("one kind of polynomial made of another", "convert it outside, or fit it at points with Chebyshev.fit")
