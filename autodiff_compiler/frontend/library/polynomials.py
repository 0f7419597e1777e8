"""Polynomials: `np.poly1d`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..definitions import DEFINED, are_definitions, defines, refuse


class Polynomial1d:
    """A polynomial by its coefficients, highest power first. Those of the highest powers may be zero."""

    def __init__(self, coefs: Any) -> None:
        self.coefs = coefs

    @property
    def coeffs(self) -> Any:
        if len(self.coefs) > 1 and self.coefs[0] == 0:
            raise NotImplementedError("the coefficients of a np.poly1d whose highest one is zero")
        return self.coefs

    c = coef = coefficients = coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    o = order

    @property
    def roots(self) -> Any:
        return np.roots(self.coefs)

    r = roots

    def __call__(self, val: Any) -> Any:
        if isinstance(val, (Polynomial1d, np.poly1d)):
            refuse("a polynomial of a polynomial", "evaluate the inner one first")
        return np.polyval(self.coefs, val)

    def deriv(self, m: Any = 1) -> Any:
        coefs = self.coefs
        for _ in list(range(m)):
            coefs = coefs[:-1] * np.arange(len(coefs) - 1, 0, -1) if len(coefs) > 1 else coefs * 0
        return Polynomial1d(coefs)

    def integ(self, m: Any = 1, k: Any = 0) -> Any:
        if not isinstance(k, (int, float)):
            refuse("several constants of integration", "integrate once for each of them")
        coefs = self.coefs
        for _ in list(range(m)):
            coefs = np.append(coefs / np.arange(len(coefs), 0, -1), k)
        return Polynomial1d(coefs)

    def __neg__(self) -> Any:
        return Polynomial1d(-self.coefs)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return Polynomial1d(summed(self.coefs, coefficients_of(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return Polynomial1d(summed(self.coefs, -coefficients_of(other)))

    def __rsub__(self, other: Any) -> Any:
        return Polynomial1d(summed(coefficients_of(other), -self.coefs))

    def __mul__(self, other: Any) -> Any:
        return Polynomial1d(np.convolve(self.coefs, coefficients_of(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if np.ndim(other) != 0:
            refuse("a quotient of polynomials", "use np.polydiv of constants")
        return Polynomial1d(self.coefs / other)

    def __getattr__(self, name: Any) -> Any:
        refuse(f"the attribute {name!r} of a np.poly1d", "use its values, its coeffs, its roots, deriv() or integ()")


def coefficients_of(x: Any) -> Any:
    if isinstance(x, (Polynomial1d, np.poly1d)):
        return x.coeffs if isinstance(x, np.poly1d) else x.coefs
    return np.atleast_1d(x)


def summed(a: Any, b: Any) -> Any:
    """The sum of two polynomials by their coefficients."""
    if len(a) < len(b):
        a, b = b, a
    return a + np.concatenate((np.zeros(len(a) - len(b)), b))


@defines(np.poly1d)
def poly1d(c_or_r: Any, r: Any = False, variable: Any = None) -> Any:
    if isinstance(c_or_r, (Polynomial1d, np.poly1d)):
        return Polynomial1d(coefficients_of(c_or_r))
    if r:
        refuse("a np.poly1d by its roots", "multiply the factors")
    coefs = np.atleast_1d(c_or_r)
    if np.ndim(coefs) != 1:
        raise ValueError("Polynomial must be 1d only.")
    return Polynomial1d(coefs)


@defines(np.poly1d.__call__)
def call(self: Any, val: Any) -> Any:
    return Polynomial1d(self.coeffs)(val)


@defines(np.poly1d.deriv)
def deriv(self: Any, m: Any = 1) -> Any:
    return Polynomial1d(self.coeffs).deriv(m)


@defines(np.poly1d.integ)
def integ(self: Any, m: Any = 1, k: Any = 0) -> Any:
    return Polynomial1d(self.coeffs).integ(m, k)


@defines(np.poly1d.__add__, np.poly1d.__radd__)
def add(self: Any, other: Any) -> Any:
    return Polynomial1d(self.coeffs) + other


@defines(np.poly1d.__sub__)
def sub(self: Any, other: Any) -> Any:
    return Polynomial1d(self.coeffs) - other


@defines(np.poly1d.__mul__, np.poly1d.__rmul__)
def mul(self: Any, other: Any) -> Any:
    return Polynomial1d(self.coeffs) * other


@defines(np.poly)
def poly(seq_of_zeros: Any) -> Any:
    """Of a matrix, the product over its eigenvalues, which is real if the matrix is."""
    zeros = np.atleast_1d(seq_of_zeros)
    if np.issubdtype(zeros.dtype, np.complexfloating):
        refuse(
            "np.poly of complex numbers, whose values decide whether it is real", "multiply the factors, np.convolve"
        )
    square = np.ndim(zeros) == 2 and zeros.shape[0] == zeros.shape[1] and zeros.shape[0] != 0
    if not square and np.ndim(zeros) != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if len(zeros) == 0:
        return 1.0
    if square:
        zeros = np.linalg.eigvals(zeros) * np.ones(1, complex)
    elif not np.issubdtype(zeros.dtype, np.floating):
        zeros = zeros.astype(float)
    a = np.ones(1, dtype=zeros.dtype)
    for zero in zeros:
        a = np.convolve(a, np.array([1.0, -zero], dtype=zeros.dtype))
    return a.real.copy() if square else a


# Python that NumPy ships, which is differentiated as it is written.
_WRITTEN: list[Any] = [np.polyadd, np.polysub, np.polydiv]
DEFINED.update({fn: fn._implementation for fn in _WRITTEN})
are_definitions(fn._implementation for fn in _WRITTEN)


@defines(np.polymul)
def polymul(a1: Any, a2: Any) -> Any:
    of_objects = isinstance(a1, (Polynomial1d, np.poly1d)) or isinstance(a2, (Polynomial1d, np.poly1d))
    product = np.convolve(np.poly1d(a1).coeffs, np.poly1d(a2).coeffs)
    return np.poly1d(product) if of_objects else product


@defines(np.polyder)
def polyder(p: Any, m: Any = 1) -> Any:
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    coefs = np.asarray(coefficients_of(p))
    for _ in list(range(m)):
        coefs = coefs[:-1] * np.arange(len(coefs) - 1, 0, -1)
    return np.poly1d(coefs) if isinstance(p, (Polynomial1d, np.poly1d)) else coefs


@defines(np.polyint)
def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(k)
    if len(constants) == 1 and m > 1:
        constants = constants[0] * np.ones(m)
    if len(constants) < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    coefs = np.asarray(coefficients_of(p))
    for n in list(range(m)):
        coefs = np.concatenate((coefs / np.arange(len(coefs), 0, -1), constants[n : n + 1]))
    return np.poly1d(coefs) if isinstance(p, (Polynomial1d, np.poly1d)) else coefs
