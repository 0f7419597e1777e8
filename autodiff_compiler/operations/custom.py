"""What is done to cotangents by functions of users: the check of what a rule gives, and calls while they flow."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import runtime
from ..ir.core import Builder, Op, type_of
from ..ir.types import Ty
from .batch_rules import batch
from .record import Refused, constant_in, op, refuses, vjp

if TYPE_CHECKING:
    from .batching import Batcher


def _matching_type(b: Builder, g: Any, x: Any, what: Any) -> Ty:
    t, like = type_of(g), type_of(x)
    return replace(t, dims=like.dims) if t.kind == "array" and like.dims is not None else t


op(runtime.matching, "g, x, what", type=_matching_type, alias="maybe", shape_only=(1,))


@vjp(runtime.matching, "g", linear=True)
def _matching(g: Any, out: Any, x: Any, like: Any, what: Any) -> Any:
    return g


constant_in(runtime.matching, "x", "what")

op(runtime.hooked, "fn, g", type=lambda b, fn, g: type_of(g), effects=True)
refuses(
    runtime.hooked,
    Refused(
        "a second derivative through on_gradient, whose function is called and not followed",
        "let the function compute its result only, so that it can be followed",
    ),
    "g",
)


@batch(runtime.matching)
def _matching_batch(self: Batcher, op: Op) -> Any:
    g, x, what = self.new(op.args)
    return self.stack(op.prim, self.spread(g), self.spread(x), what)
