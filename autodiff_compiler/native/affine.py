"""Positions as polynomials of what is known in front of a loop, for proofs that iterations touch other elements.

An atom is a number that the program computes: an expression, or the variable of a loop. Atoms that count trips, and
lengths, are not negative.

>>> from autodiff_compiler.native.nest import INDEX, Length, Name
>>> i, n = Poly.of(Name("i", INDEX)), Poly.of(Length("x", 0))
>>> (i * n + n + Poly.number(2)) - n
Poly(2 + i*x.length(0))
>>> (n + Poly.number(1)).is_positive(), (n - Poly.number(1)).is_positive()
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .nest import INDEX, Call, Const, Expr, Length, Name, show_expr
from .views import ONE, ZERO, plus

# An atom is an expression; a monomial the atoms in it, in order of their texts.
Monomial = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Poly:
    """A sum of products of atoms with ints."""

    terms: Mapping[Monomial, int]

    @staticmethod
    def number(k: int) -> Poly:
        return Poly({(): k} if k else {})

    @staticmethod
    def of(e: Expr) -> Poly:
        return Poly({(e,): 1})

    def __add__(self, other: Poly) -> Poly:
        out = dict(self.terms)
        for m, c in other.terms.items():
            out[m] = out.get(m, 0) + c
        return Poly({m: c for m, c in out.items() if c})

    def __neg__(self) -> Poly:
        return Poly({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Poly) -> Poly:
        return self + -other

    def __mul__(self, other: Poly) -> Poly:
        out: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(sorted((*m, *n), key=show_expr))
                out[key] = out.get(key, 0) + c * d
        return Poly({m: c for m, c in out.items() if c})

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __repr__(self) -> str:
        texts = []
        for m, c in sorted(self.terms.items(), key=lambda item: [show_expr(a) for a in item[0]]):
            names = "*".join(map(show_expr, m))
            texts.append(str(c) if not m else names if c == 1 else f"{c}*{names}")
        return f"Poly({' + '.join(texts) or '0'})"

    @property
    def constant(self) -> int | None:
        """The int that it is, if it is one."""
        return self.terms.get((), 0) if all(not m for m in self.terms) else None

    @property
    def atoms(self) -> set[Expr]:
        return {a for m in self.terms for a in m}

    def by(self, atom: Expr) -> tuple[Poly, Poly] | None:
        """The factor of an atom, and what does not have it. None if it is there as a power."""
        factor: dict[Monomial, int] = {}
        rest: dict[Monomial, int] = {}
        for m, c in self.terms.items():
            if m.count(atom) > 1:
                return None
            if atom in m:
                factor[tuple([a for a in m if a != atom])] = c
            else:
                rest[m] = c
        return Poly(factor), Poly(rest)

    def with_(self, atom: Expr, value: Poly) -> Poly:
        """The polynomial with a value for an atom."""
        out = Poly({})
        for m, c in self.terms.items():
            found = Poly({tuple([a for a in m if a != atom]): c})
            for _ in range(m.count(atom)):
                found *= value
            out += found
        return out

    def is_positive(self) -> bool:
        """It is 1 or more for all values of its atoms."""
        return self.terms.get((), 0) >= 1 and self.is_not_negative()

    def is_not_negative(self) -> bool:
        return all(c >= 0 and all(map(_counts, m)) for m, c in self.terms.items())

    def expr(self) -> Expr:
        """As an expression of the program."""
        out: Expr = ZERO
        for m, c in self.terms.items():
            e: Expr = Const(abs(c), INDEX)
            for a in m:
                e = a if e == ONE else Call("mul", (e, a), INDEX)
            if c < 0:
                out = Call("sub", (out, e), INDEX) if not isinstance(e, Const) else plus(out, Const(c, INDEX))
            else:
                out = e if out == ZERO else plus(out, e)
        return out


def _counts(atom: Expr) -> bool:
    """The atom is never negative."""
    return isinstance(atom, Length) or (
        isinstance(atom, Call)
        and atom.fn == "maximum"
        and any(isinstance(a, Const) and a.value >= 0 for a in atom.args)
    )


def variable(name: str) -> Expr:
    """An atom for what is not computed yet: where a loop starts, or how many trips it has made."""
    return Name(f"?{name}", INDEX)


__all__ = ["Poly", "variable"]
