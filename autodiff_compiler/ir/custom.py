"""Calls of functions that bring rules of their own: `custom_vjp` and `custom_jvp`.

``custom(rules, operands, captured, shaped)`` is such a call. `rules` holds the function and its rules in SSA form, so
that a transform can put one of them in the place of the call: the function, where the call is not differentiated; what
the rule says, where it is. The results are the leaves of the function's result.

The other operations of this module stand only in a function that the reverse transform is working on, see
`transforms.custom`:

``seam(rules, operands, outs, residuals, captured)``  the results of the rule's forward function, `outs`. The derivative
                  is what the rule's backward function says.
``linear(rules, dots, outs)``  the results `outs` of a rule for tangents. Their cotangents are those of the tangents.
``probe(x)``      a tangent of `x` that is zero. Its cotangent is that of `x`.
``held(x)``       `x` without a derivative.
"""

from __future__ import annotations

from typing import Any

from .core import Function, Loc, Op, Prim, Value, type_of
from .types import PY_FLOAT, Ty


class Rules:
    """A function and its rules, for one call.

    All functions take the operands of the call first, and the captured values last. `fixed`: the operands that the call
    is not to be differentiated by, by position. `captured`: what else the functions read, which may not be
    differentiated by either; `shaped`: that of which they ask the shape only.

    primal:   gives the results
    forward:  gives the results, then the residuals
    backward: of the residuals and a cotangent for each result, which is left out if the result is no floating number;
              gives a cotangent or None for each operand
    pushes:   of a tangent for each operand that it is for, which gives the tangents of the results; with it, the
              operands that it is for
    joint:    there is one rule in `pushes`, which gives the results, too, before their tangents; otherwise they take
              the results behind the tangents
    """

    def __init__(self, name: str, loc: Loc | None, fixed: frozenset[int]):
        self.name = name
        self.loc = loc
        self.fixed = fixed
        self.primal: Function | None = None
        self.forward: Function | None = None
        self.backward: Function | None = None
        self.pushes: list[tuple[Function, tuple[int, ...]]] = []
        self.joint = True
        self.effects = False  # of the backward function or of the rule for tangents
        self.captured: tuple[Value, ...] = ()
        self.shaped: tuple[Value, ...] = ()
        self.distant: list[Op] = []  # calls with these rules in the rules of other calls, while all are being lowered

    def functions(self) -> list[Function]:
        found = [self.primal, self.forward, self.backward, *[push for push, _ in self.pushes]]
        return [fn for fn in found if fn is not None]

    def __repr__(self) -> str:
        return f"<rules of {self.name}>"


CUSTOM = Prim("custom", alias="maybe", differentiable=(1, 2), shape_only=(3,))
# The function has an effect.
CUSTOM_EFFECTS = Prim("custom", alias="maybe", differentiable=(1, 2), shape_only=(3,), effects=True)
CUSTOMS = frozenset({CUSTOM, CUSTOM_EFFECTS})

SEAM = Prim("seam", alias="maybe", differentiable=(1,))
LINEAR = Prim("linear", alias="maybe", differentiable=(1,))


def _passed_on(g: Any, out: Any, x: Any) -> Any:
    return g


def _like_tangent(b: Any, args: Any, kwargs: Any) -> Ty:
    t = type_of(args[0])
    return PY_FLOAT if t.is_scalar else Ty(t.kind, t.dtype if t.is_float else None, t.dims, t.elem)


PROBE = Prim(
    "probe", params=("x",), infer=_like_tangent, shape_only=(0,), differentiable=(0,), pullbacks={"x": _passed_on},
    unique=True,
)  # fmt: skip
HELD = Prim("held", params=("x",), infer=lambda b, args, kwargs: type_of(args[0]), alias="maybe", differentiable=())


__all__ = ["CUSTOM", "CUSTOMS", "CUSTOM_EFFECTS", "HELD", "LINEAR", "PROBE", "SEAM", "Rules"]
