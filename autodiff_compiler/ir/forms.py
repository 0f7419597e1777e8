"""Lengths that are sums of lengths of arguments: `n - k + 1`, `2 * n`, `n // 2 + 1`.

A form has a factor for each root of a length, for the constant (None), and for each variable of a loop. What a slice
of an axis gives is known exactly where it lies inside of the axis: `image[i:i + n]` has `n` rows if `0 <= i` and
`i + n` is at most the length, for all `i`. Whether it does is seen at the lengths at hand, taken for granted, and
checked at each call (`Dims.hold`), as all is that code takes for granted of lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .core import LOOP, Value
from .types import Dim, DimLike, Dims, terms_of

Form = dict[Any, int]
MOST_STEPS = 8  # operations between a length and what is made of it


def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """``a + factor * b``."""
    out = dict(a)
    for root, c in b.items():
        out[root] = out.get(root, 0) + factor * c
    return {root: c for root, c in out.items() if c}


def form_of_length(dims: Dims, dim: DimLike) -> Form | None:
    """A length in terms of the roots of arguments; None if it depends on something else."""
    dim = dims.find(dim)
    if isinstance(dim, int):
        return {None: dim} if dim else {}
    top = dims.top()
    if dim.root not in top.lengths:
        return None
    terms, divisor = top.derived.get(dim.root, ((), 0))
    form: Form = dict(terms) if divisor == 1 else {dim.root: 1}
    if dim.off:
        form = plus(form, {None: -dim.off})
        if dim.off > 0 and not assume_at_least(dims, form, 0):
            return None
    return form


def value_of(dims: Dims, form: Form) -> int:
    """A form without variables of loops, at the lengths at hand."""
    lengths = dims.top().lengths
    return sum(c * (1 if root is None else lengths[root]) for root, c in form.items())


def assume_at_least(dims: Dims, form: Form, least: int) -> bool:
    """Take for granted that a form is not less than a number, if that holds of the lengths at hand."""
    if value_of(dims, form) < least:
        return False
    # Roots stand for lengths of at least two, which often is enough.
    certain = all(c > 0 for root, c in form.items() if root is not None)
    if not certain or sum(c * (1 if root is None else 2) for root, c in form.items()) < least:
        condition = (terms_of(form), least)
        top = dims.top()
        if condition not in top.at_least:
            top.at_least.append(condition)
    return True


def length_from(dims: Dims, form: Form) -> DimLike | None:
    """The length that a form is; None if it is less than two at the lengths at hand, and not a constant."""
    roots = [root for root in form if root is not None]
    if not roots:
        return form.get(None, 0)
    if not assume_at_least(dims, form, 2):
        return None
    if len(roots) == 1 and form[roots[0]] == 1:
        dim = Dim(roots[0], -form.get(None, 0))
        if dim.off:
            dims.top().mark_not_one(dim)
        return dim
    return _derived(dims, form, 1)


def _derived(dims: Dims, form: Form, divisor: int) -> Dim:
    """The root that stands for a form divided by a number."""
    top = dims.top()
    definition = (terms_of(form), divisor)
    for root, known in top.derived.items():
        if known == definition:
            return Dim(root)
    dim = top.fresh()
    top.derived[dim.root] = definition
    top.lengths[dim.root] = value_of(dims, form) // divisor
    top.arg_roots.add(dim.root)
    top.mark_not_one(dim)
    return dim


def floor_divided(dims: Dims, form: Form, divisor: int) -> Form | None:
    """A form divided by a positive number, rounded down."""
    if all(c % divisor == 0 for c in form.values()):
        return {root: c // divisor for root, c in form.items()}
    if not any(root is not None for root in form) or not assume_at_least(dims, form, 2 * divisor):
        return None
    return {_derived(dims, form, divisor).root: 1}


def linear(dims: Dims, x: Any, steps: int = MOST_STEPS) -> Form | None:
    """The form of an int; None if it is not one of lengths and variables of loops."""
    if isinstance(x, (bool, np.bool_)) or steps == 0:
        return None
    if isinstance(x, (int, np.integer)):
        return {None: int(x)} if x else {}
    if type(x) is not Value or x.type.kind != "py":
        return None
    if x.type.length is not None:
        found = form_of_length(dims, x.type.length)
        if found is not None:
            return found
    if x.op is None:
        return {x: 1} if range_of(x) is not None else None
    if x.op.kwargs or x.type.dtype is None or x.type.dtype.kind != "i":
        return None
    name = x.op.prim.name
    if name == "//" and type(x.op.args[1]) is int and x.op.args[1] > 0:
        part = linear(dims, x.op.args[0], steps - 1)
        return None if part is None or _variable(part) is not None else floor_divided(dims, part, x.op.args[1])
    if name not in ("+", "-", "*"):
        return None
    parts = [part for a in x.op.args if (part := linear(dims, a, steps - 1)) is not None]
    if len(parts) < len(x.op.args):
        return None
    if len(parts) == 1:
        return plus({}, parts[0], 1 if name == "+" else -1)
    first, second = parts
    if name == "*":
        for a, b in ((first, second), (second, first)):
            if all(root is None for root in a):
                return plus({}, b, a.get(None, 0))
        return None
    return plus(first, second, 1 if name == "+" else -1)


def range_of(index: Value) -> tuple[Any, ...] | None:
    """What a variable of a loop runs over: start, stop and step."""
    body = index.region
    if body is None or not body.params or body.params[0] is not index:
        return None
    range_ = body.range if body.op is None else body.op.range if body.op.prim is LOOP else None
    return range_ if range_ is not None and len(range_) >= 3 else None


def _variable(form: Form) -> Value | None:
    return next((root for root in form if type(root) is Value), None)


def _extreme(dims: Dims, form: Form, sign: int) -> Form | None:
    """A bound of a form over all iterations of the loops whose variables are in it: above for sign 1, below for -1."""
    for _ in range(MOST_STEPS):
        index = _variable(form)
        if index is None:
            return form
        start, stop, step = (range_of(index) or (None, None, None))[:3]
        if type(step) is not int or step == 0:
            return None
        first, end = linear(dims, start), linear(dims, stop)
        if first is None or end is None:
            return None
        # The last value is at most one step short of the end.
        low, high = (first, plus(end, {None: -1})) if step > 0 else (plus(end, {None: 1}), first)
        factor = form[index]
        rest = {root: c for root, c in form.items() if root is not index}
        form = plus(rest, high if factor * sign > 0 else low, factor)
    return None


def exact_slice(dims: Dims, length: DimLike, s: slice) -> DimLike | None:
    """The length of a slice with step 1 that lies inside of the axis; None if that is not so, or not known."""
    whole = form_of_length(dims, length)
    if whole is None:
        return None
    first, end = _bound(dims, s.start, {}, whole), _bound(dims, s.stop, whole, whole)
    if first is None or end is None:
        return None
    size = plus(end, first, -1)
    if all(root is None for root in size) and (all(root is None for root in first) or size.get(None, 0) < 2):
        return None  # `x[:4]` may as well be shorter: code for one length is worth it in a loop only
    low, high = _extreme(dims, first, -1), _extreme(dims, end, 1)
    if low is None or high is None:
        return None
    room, varies = plus(whole, high, -1), _variable(size) is not None
    least = 2 if any(root is not None for root in size) else 0
    if value_of(dims, low) < 0 or value_of(dims, room) < 0 or not (varies or value_of(dims, size) >= least):
        return None
    found = varying_length(dims, size) if varies else length_from(dims, size)
    if found is not None:
        assume_at_least(dims, low, 0)
        assume_at_least(dims, room, 0)
    return found


def block_length(dims: Dims, start: Any, stop: Any, length: DimLike | None = None) -> Dim | None:
    """The length ``stop - start`` of the blocks in ``for start in range(0, n, k)`` with ``stop = min(start + k, n)``.

    An axis with a `length` is sliced so: it has all blocks if it has at least n elements, which is taken for granted.
    None if the numbers are others. A loop that begins at 0, and has an iteration, has a positive step.
    """
    range_ = range_of(start) if type(start) is Value and start.op is None else None
    op = stop.op if type(stop) is Value else None
    if range_ is None or range_[0] != 0 or op is None or op.prim.name != "min" or len(op.args) != 2 or op.kwargs:
        return None
    end = linear(dims, range_[1])
    for next_, bound in (op.args, op.args[::-1]):
        step = next_.op if type(next_) is Value else None
        if step is None or step.prim.name != "+" or end is None or linear(dims, bound) != end:
            continue
        if not any(a is start and _is_same(k, range_[2]) for a, k in (step.args, step.args[::-1])):
            continue
        if length is not None:
            whole = form_of_length(dims, length)
            room = None if whole is None else plus(whole, end, -1)
            if room is None or _variable(room) is not None or not assume_at_least(dims, room, 0):
                return None
        return dims.named(("block", start, stop))
    return None


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is int and type(b) is int and a == b)


def varying_length(dims: Dims, form: Form) -> Dim | None:
    """The length that a form is in each iteration, if it never is negative."""
    low = _extreme(dims, form, -1)
    if low is None or not assume_at_least(dims, low, 0):
        return None
    dim = dims.named(("form", frozenset(form.items())))
    forms = dims.top().varying.setdefault(dim.root, [])
    if form not in forms:
        forms.append(form)
    return dim


def _bound(dims: Dims, x: Any, default: Form, whole: Form) -> Form | None:
    if x is None:
        return default
    form = linear(dims, x)
    if form is not None and all(root is None for root in form) and form.get(None, 0) < 0:
        return plus(whole, form)  # counted from the end
    return form


__all__ = [
    "Form",
    "block_length",
    "exact_slice",
    "floor_divided",
    "form_of_length",
    "length_from",
    "linear",
    "plus",
    "range_of",
]
