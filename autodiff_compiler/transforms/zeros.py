"""Where a cotangent is zero for sure: the mask that guards a partial that may be infinite.

Takes a cotangent in the backward sweep. Gives a mask of the elements that are zero for all inputs. There, a rule
multiplies its infinite partial by a strong zero.

In ``sum(w * sqrt(x))`` with ``w[0] == x[0] == 0``, the derivative by ``x[0]`` is zero: the cotangent of the root is
zero whatever `x` is. In ``sum(sqrt(x) * sqrt(x))`` the cotangent happens to be zero there, but it changes with `x`.
Zero times infinity has no value then, and the derivative is nan. So a zero counts if it comes from a subscript, a mask,
a choice, or a factor that does not depend on the argument of the root.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> x, w = np.array([0.0, 4.0]), np.array([0.0, 1.0])
>>> ad.grad(lambda x, w: np.sum(w * np.sqrt(x)))(x, w)
array([0.  , 0.25])
>>> with np.errstate(all="ignore"):
...     ad.grad(lambda x: np.sum(np.sqrt(x) * np.sqrt(x)))(x)
array([nan,  1.])
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Container, Iterable
from typing import Any

import numpy as np

from ..analysis.activity import differentiable_operands, varied_values
from ..ir.core import CALL, IF, LOOP, Builder, Op, Region, Value, leaves, type_of
from ..ir.opset import ADDAT, GET, LIST_GET, PRIMS, SET, SPREAD, SUM_TO, ZEROS, apply
from ..ir.rewrite import free_values, operands_first
from ..operations.choices import SELECT, WHERE
from ..operations.lib import BOOL, STEP, SUBSCRIPTS, WEIGHTS, invert, truth
from ..operations.linalg import EINSUM
from ..operations.signs import never_zero
from .cotangents import computed_of

DEPTH = 12
_NE = PRIMS[operator.ne]
_CHOICES = (CALL, GET, LIST_GET, PRIMS[np.clip])
_LARGEST = (max, min)

# Masks: an IR value; False: zero everywhere; True: no sure zero; and while it is built, None: not understood.
Mask = Any


def _has_factor_over(g: Any, p: Any, but: Container[Value], depth: int = 6) -> bool:
    """A factor is a quotient by what is computed of `p`, and none of those in `but`."""
    op = g.op if type(g) is Value else None
    if op is None or not depth or g in but:
        return False
    if "quotient" in op.prim.traits and computed_of(op.args[1], p):
        return True
    return op.prim.elementwise and any(_has_factor_over(a, p, but, depth - 1) for a in op.args)


class Cotangents:
    """What is known of the cotangents in the reverse sweep over one function."""

    shared = True  # a cotangent usually has several uses

    def __init__(
        self, b: Builder, body: Region, inputs: Iterable[Value], masks: bool | None = True, transposed: bool = False
    ):  # fmt: skip
        self.b = b
        self.body = body
        self.inputs = list(inputs)
        self.tag = b.tag
        # False: zero times an infinite partial is nan, except for the partial of a root. None: for all partials.
        self.masks = masks
        # The cotangents of this adjoint, or of the one that is made of it, are tangents. A tangent that a choice leaves
        # out may be nan: that of ``sin(x) / x`` at 0.
        self.transposed = transposed
        self._varied: dict[Value, int] = {}
        self._forward: set[Region] = set()
        self._known: dict[Value, int] = {}
        self._everything = (1 << len(self.inputs)) - 1
        self._has_roots: bool | None = None
        self._has_exponentials: bool | None = None
        self._infinite: dict[Value, bool] = {}
        self._flat: dict[Value, bool] = {}
        self._steps: dict[Value, float] = {}
        self._chosen_values: dict[Value, bool] = {}
        self._dropped: dict[Value, bool] = {}
        self.steep: set[Value] = set()  # quotients that belong to a function which is infinite where its argument is

    # --- dependence -----------------------------------------------------------------------------------------------

    def _prepare(self) -> None:
        """Find which forward values vary with which input."""
        ops = self.body.ops
        self.body.ops = [op for op in ops if op.tag != self.tag]
        self._varied = varied_values(self.body, self.inputs)
        # What a gradient inside of another function reads of that one does not vary with its inputs.
        self._varied.update(dict.fromkeys(free_values(self.body), 0))
        self._forward = {self.body, *(region for op in self.body.walk() for region in op.regions)}
        self.body.ops = ops

    def varies(self, v: Any) -> int:
        """The inputs on which a value depends differentiably, a bit for each; all of them where that is not known."""
        if type(v) is not Value or (v.type.dtype is not None and v.type.dtype.kind not in "fc"):
            return 0
        if not self._forward:
            self._prepare()
        if v not in self._known:
            for x in operands_first(v, self._known, self._made_of):
                self._known[x] = self._everything  # in case it depends on itself
                self._known[x] = self._find(x)
        return self._known[v]

    def _made_of(self, v: Value) -> list[Value]:
        derived = v.op is not None and v.op.tag == self.tag and not v.op.regions
        return differentiable_operands(v.op) if derived else []  # type: ignore[arg-type]

    def _find(self, v: Value) -> int:
        op = v.op
        if v.type.dtype is not None and v.type.dtype.kind not in "fc":
            return 0
        if (v.region in self._forward or v in self._varied) if op is None else op.tag != self.tag:
            return self._varied.get(v, 0)
        if op is None or "carries" in op.prim.traits:
            return self._everything
        if op.prim is LOOP:
            return self._of_loop(op, v)
        if op.regions:
            return self._everything
        if op.prim.nondiff or op.prim is PRIMS[np.sign]:
            return 0
        return functools.reduce(operator.or_, map(self.varies, differentiable_operands(op)), 0)

    def _of_loop(self, op: Op, v: Value) -> int:
        """The inputs on which a result of a loop depends, to a fixpoint over the carried values."""
        (body,) = op.regions
        kept = dict(self._known)
        carried = list(zip(body.params[1:], op.args[1], body.exit[1:], op.results))
        found = [self.varies(init) for _, init, _, _ in carried]
        while True:
            self._known = {**kept, **{param: f for (param, *_), f in zip(carried, found)}}
            new = [f | self.varies(out) for (_, _, out, _), f in zip(carried, found)]
            if new == found:
                break
            found = new
        self._known = kept
        results = {result: f for (*_, result), f in zip(carried, found)}
        self._known.update(results)
        return results.get(v, 0)  # the number of iterations

    # --- infinity -------------------------------------------------------------------------------------------------

    def may_be_infinite(self, g: Any) -> bool:
        """The cotangent may be infinite where the function is finite: it came through a root, or that is not known."""
        if self.transposed:
            return True
        if self._has_roots is None:
            self._has_roots = any(op.tag != self.tag and _is_root(op) for op in self.body.walk())
        return self._has_roots and self.may_have_divided(g)

    def may_have_divided(self, g: Any) -> bool:
        """The cotangent came through a quotient or a power, or that is not known."""
        return type(g) is Value and holds_below(g, self._infinite, self._divides)

    def may_be_flat(self, g: Any, p: Any) -> bool:
        """Zero may be the limit of the cotangent where `p`, a value of the function, is infinite, or that is not known.

        The cotangent came through a quotient whose value is finite where its divisor is infinite. In ``1 / (1 + p)``
        that is a quotient of the function.
        """
        if type(g) is not Value:
            return False
        return holds_below(g, self._flat, lambda v: self._divides(v, self.steep)) or _has_factor_over(g, p, self.steep)

    def _divides(self, v: Value, but: Container[Value] = ()) -> bool | None:
        op = v.op
        if op is None:
            return v.region is not self.body  # carried from somewhere
        if op.tag != self.tag:
            return False
        divides = "quotient" in op.prim.traits and not _is_count(op.args[1]) and v not in but
        return divides or "power" in op.prim.traits or "carries" in op.prim.traits or len(op.regions) > 0 or None

    def chosen(self, x: Any) -> bool:
        """The value may be one of several, so that its cotangent may be dropped."""
        return type(x) is Value and holds_below(x, self._chosen_values, lambda v: is_choice(v, self.body))

    def may_be_dropped(self, g: Any) -> bool:
        """The cotangent comes from a loop or a list, which may have bound what it belongs to anew."""
        return type(g) is Value and holds_below(g, self._dropped, _drops)

    # --- zeros that the program finds -----------------------------------------------------------------------------

    def vanishes(self, g: Any, x: Any) -> bool:
        """Where the cotangent `g` of a root of `x` is zero, the derivative by the operands of `x` is zero.

        There are two cases. First, `x` may be at its smallest value, zero: then it does not move. An argument itself is
        known to move. Second, `g` depends on no root: then it goes to zero faster than the derivative of the root goes
        to infinity.
        """
        if type(g) is not Value or never_zero(g):
            return False
        return self._may_rest(x, DEPTH) or not self._rough(
            g, functools.reduce(operator.or_, map(self.varies, leaves(x)), 0)
        )

    def _may_rest(self, x: Any, depth: int) -> bool:
        """The value may have a derivative of zero at some point, or that is not known."""
        if isinstance(x, (tuple, list)):
            return any(self._may_rest(item, depth) for item in x)
        if type(x) is not Value or not self.varies(x):
            return False
        op = x.op
        if op is None:
            return x not in self.inputs
        if not depth:
            return True
        if "sum" in op.prim.traits or "product" in op.prim.traits or "quotient" in op.prim.traits:
            p, q = (bool(self.varies(a)) for a in op.args)
            if p and q or (q and "quotient" in op.prim.traits):
                return True
            return self._may_rest(op.args[0 if p else 1], depth - 1)
        return "steady" not in op.prim.traits and "joins" not in op.prim.traits or self._may_rest(op.args[0], depth - 1)

    def _rough(self, g: Value, inputs: int) -> bool:
        """The value depends on a root, or that is not known."""
        return holds_below(g, {}, lambda v: self._roots(v, inputs))

    def _roots(self, v: Value, inputs: int) -> bool | None:
        if not self.varies(v) & inputs:
            return False
        op = v.op
        if op is None:
            return v not in self.inputs
        return bool(op.regions) or "carries" in op.prim.traits or _is_root(op) or None

    def decays(self, g: Any, out: Any) -> bool:
        """The cotangent `g` is zero where the quotient `out` is infinite.

        It goes to zero faster than the derivative of the quotient goes to infinity, since it depends on the quotient
        through exponentials only.
        """
        if self._has_exponentials is None:
            self._has_exponentials = any("exponential" in op.prim.traits for op in self.body.walk())
        inputs = self.varies(out) if self._has_exponentials else 0
        todo: list[tuple[Any, bool]] = [(g, False)]
        seen, found = set(), False
        while todo and inputs:
            v, below = todo.pop()
            if (v, below) in seen or type(v) is not Value or not self.varies(v) & inputs or v in self.inputs:
                continue
            seen.add((v, below))
            if v is out and below:
                continue
            op = v.op
            if v is out or op is None or op.regions or len(seen) > 60:
                return False
            if not op.prim.traits.isdisjoint(("carries", "logarithm")):
                return False
            below = below or "exponential" in op.prim.traits
            found = found or below
            todo += [(x, below) for x in differentiable_operands(op)]
        return found

    # --- masks ----------------------------------------------------------------------------------------------------

    def mask(self, g: Any, args: Any, level: int) -> Mask:
        """Booleans that are false where `g` is zero for sure. False: it is zero everywhere. True: nowhere.

        args:  the operands of the operation
        level: the zeros that count. CHOICES: of masks and conditions. SUBSCRIPTS: these, and those of parts that are
               not read. WEIGHTS: these, and those of factors that do not vary with `args`.
        """
        if type(g) is not Value or not self.masks:
            return True
        moving = 0
        if level >= WEIGHTS:
            moving = functools.reduce(operator.or_, map(self.varies, leaves(args)), 0)
        elif self._steps_to_mask(g) > DEPTH:
            return True
        return self._mask(g, moving, level, DEPTH, {})

    def _may_mask(self, v: Value) -> bool | None:
        """The value may be zero for sure somewhere, by itself."""
        op = v.op
        if v.type.dtype == BOOL:
            return True
        if op is None or op.tag != self.tag:
            return False
        if op.regions or "chooses" in op.prim.traits:
            return True
        for a in op.args:
            if type(a) is not Value and (isinstance(a, np.ndarray) or _is_zero(a)):
                return True
        return None

    def _steps_to_mask(self, g: Value) -> float:
        """How many operations lie between a value and the nearest one that may be zero for sure by itself."""
        todo, known = [g], self._steps
        while todo:  # no recursion: a chain may be thousands long
            v = todo[-1]
            if v not in known:
                here = self._may_mask(v)
                if here is None:
                    operands = v.op.operands()  # type: ignore[union-attr]
                    unknown = [x for x in operands if x not in known]
                    if unknown:
                        todo += unknown
                        continue
                    known[v] = 1 + min([known[x] for x in operands], default=math.inf)
                else:
                    known[v] = 0 if here else math.inf
            todo.pop()
        return known[g]

    def _mask(self, g: Any, moving: int, level: int, depth: int, known: dict[Any, Mask]) -> Mask:
        if isinstance(g, np.ndarray):
            counts = level >= WEIGHTS or g.dtype == BOOL
            return self.b.emit(PRIMS[np.asarray], g if g.dtype == BOOL else g != 0) if counts else True
        if type(g) is not Value:
            return not _is_zero(g)
        if g.type.dtype == BOOL:
            return g
        if level < WEIGHTS and self._steps_to_mask(g) > depth:
            return True
        key = (g, depth)
        if key not in known:
            known[key] = self._mask_of(g, moving, level, depth, known)
        return known[key]

    def _mask_of(self, g: Value, moving: int, level: int, depth: int, known: dict[Any, Mask]) -> Mask:
        op = g.op
        if op is not None and depth and op.tag == self.tag and self.b.sees(op):
            found = self._made(g, op, lambda x: self._mask(x, moving, level, depth - 1, known), level)
            if found is not None:
                return found
        # Nothing is known of this factor but the inputs that it depends on.
        if level < WEIGHTS or g.type.dims is None or not g.type.is_float or self.varies(g) & moving:
            return True
        return self.b.emit(_NE, g, 0.0)

    def _made(self, g: Value, op: Op, of: Callable[[Any], Mask], level: int) -> Mask:
        """The mask of a value of the backward sweep, from the masks of the operands of its operation."""
        prim, args = op.prim, op.args
        if prim is ZEROS:
            return False
        if "product" in prim.traits:
            return _both(of(args[0]), of(args[1]))
        if "quotient" in prim.traits or "same_zeros" in prim.traits:
            return of(args[0])
        if prim is EINSUM and isinstance(args[0], str):
            terms, _, output = args[0].partition("->")
            found: Mask = None
            for term, operand in zip(terms.split(","), args[1:]):
                if term == output and len(set(term)) == len(term):
                    part = of(operand)
                    found = part if found is None else _both(found, part)
            return found
        if "sum" in prim.traits:
            return self._either(of(args[0]), of(args[1]), g)
        if prim in (SPREAD, SUM_TO):
            inner = of(args[0])
            if type(inner) is bool or inner.type.dims == () or self._covers(inner, g):
                return inner
            return self.b.emit(SPREAD, inner, g) if prim is SPREAD else None
        if prim is SELECT or (prim is WHERE and len(args) == 3):
            return self._chosen(args[0], of(args[1]), of(args[2]))
        if level < SUBSCRIPTS:
            return None
        if prim is IF:
            k = op.results.index(g)
            then, orelse = (not _is_zero(r.exit[k]) for r in op.regions)
            return self._chosen(args[0], then, orelse)
        if prim is ADDAT or prim is SET:
            return self._stored(op, of)
        if prim is GET or "moves" in prim.traits:
            inner = of(args[0])
            if type(inner) is bool:
                return inner
            return self.b.emit(prim, inner, *args[1:], **op.kwargs) if self._covers(inner, args[0]) else None
        return None

    def _covers(self, mask: Value, x: Any) -> bool:
        """The mask has the shape of `x`."""
        p, q = mask.type.dims, type_of(x).dims
        return p is not None and q is not None and len(p) == len(q) and all(map(self.b.dims.same, p, q))

    def _either(self, p: Mask, q: Mask, like: Value) -> Mask:
        if p is True or q is True:
            return None  # they may cancel
        if p is False or q is False:
            other = q if p is False else p
            return other if other is False or self._covers(other, like) else None
        return p | q

    def _chosen(self, cond: Any, p: Mask, q: Mask) -> Mask:
        if q is False:
            return False if p is False else _both(truth(cond), p)
        return _both(invert(truth(cond)), q) if p is False else None

    def _stored(self, op: Op, of: Callable[[Any], Mask]) -> Mask:
        """A part is added or replaced."""
        a, path, v = op.args
        base, part = of(a), of(v)
        if type(base) is Value and not self._covers(base, a):
            base = True
        if type(base) is bool:
            if base == (part is not False):
                return base
            base = apply(np.ones_like if base else np.zeros_like, a, dtype=BOOL)
        if part is False:
            return base if op.prim is ADDAT else self.b.emit(SET, base, path, False)
        if type(part) is Value and op.prim is ADDAT and type_of(v).dims == part.type.dims:
            # Of repeated subscripts one may be sure to be zero and another not.
            return base | self.b.emit(_NE, self.b.emit(ADDAT, self.b.emit(ZEROS, a), path, part), 0.0)
        if type(part) is Value and op.prim is SET and type_of(v).dims == part.type.dims:
            return self.b.emit(SET, base, path, part)
        return self.b.emit(SET, base, path, True)


def holds_below(g: Value, known: dict[Value, bool], here: Callable[[Value], bool | None]) -> bool:
    """A property holds of `g`. ``here(v)`` says whether it holds of `v`; None: if it holds of an operand of `v`."""
    todo = [g]
    while todo:  # no recursion: a chain may be thousands long
        v = todo[-1]
        if v not in known:
            found = here(v)
            if found is None:
                assert v.op is not None
                operands = [known.get(x, x) for x in v.op.operands()]
                found = True in operands
                if not found and (unknown := [x for x in operands if x is not False]):
                    todo += unknown  # type: ignore[arg-type]
                    continue
            known[v] = found
        todo.pop()
    return known[g]


def is_choice(v: Value, body: Region) -> bool | None:
    """The value is one of several, by a condition or a subscript. None: it is not, but an operand of it may be."""
    op = v.op
    if op is None:
        return v.region is not body
    prim = op.prim
    if op.regions or prim in _CHOICES or any(prim.fn is fn for fn in _LARGEST):
        return True
    if prim.singular == STEP or not prim.traits.isdisjoint(("chooses", "carries")):
        return True
    return None


def _drops(v: Value) -> bool | None:
    """The cotangent is what a loop or a branch leaves of one, or an item of a list; None: an operand of it may be."""
    op = v.op
    if op is None:
        return False
    return len(op.regions) > 0 or op.prim is LIST_GET or None


def _is_root(op: Op) -> bool:
    """A partial of the operation is infinite at a point where it is finite itself."""
    if "power" in op.prim.traits and len(op.args) > 1 and type(op.args[1]) in (int, float):
        return bool(0 < op.args[1] < 1)
    return op.prim.singular == WEIGHTS


def _is_count(x: Any) -> bool:
    kind = type_of(x).dtype
    return type(x) is not Value or (kind is not None and kind.kind in "biu")


def _both(p: Mask, q: Mask) -> Mask:
    if p is False or q is False:
        return False
    return q if p is True else p if q is True else p & q


def _is_zero(x: Any) -> bool:
    if type(x) is Value:
        return x.op is not None and x.op.prim is ZEROS
    return type(x) in (int, float) and x == 0
