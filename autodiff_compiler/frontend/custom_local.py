"""Functions with rules of their own that are defined in the function being lowered: their parts are abstract values."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from ..lowered import lowers_by
from .avals import Obj, Seq
from .custom_rules import lower_custom
from .handlers import Ctx, Val


class Local:
    """A function with a rule of its own that is defined in the function being lowered: its parts are abstract."""

    local = True
    opaque: Any = None

    def __init__(self, kind: str, fun: Val, numbers: tuple[int, ...], remedy: str):
        self.kind, self.fun, self.nondiff_argnums, self.remedy = kind, fun, numbers, remedy
        node = getattr(fun, "node", None)
        self.__name__ = getattr(node, "name", "") or getattr(getattr(fun, "obj", None), "__name__", "<lambda>")
        self.fwd: Any = None
        self.bwd: Any = None
        self.jvp: Any = None
        self.parts: tuple[Any, ...] = ()

    @property
    def has_rules(self) -> bool:
        return (self.bwd if self.kind == "vjp" else self.jvp) is not None or bool(self.parts)

    def __autodiff_lower__(self, ctx: Any, args: list[Val], kwargs: dict[str, Val]) -> Val:
        return lower_custom(ctx, self, args, kwargs)

    def defvjp(self, fwd: Val, bwd: Val) -> None:
        self.fwd, self.bwd = fwd, bwd

    def defjvp(self, jvp: Val) -> Val:
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps: Val) -> None:
        self.parts = jvps


def _defined_by(method: Any) -> None:
    """The method of `Local` runs when the program is lowered."""

    def lowering(ctx: Any, args: list[Val], kwargs: dict[str, Val]) -> Val:
        return method(args[0].obj, *args[1:], **kwargs)

    lowers_by(lowering)(method)


for _method in (Local.defvjp, Local.defjvp, Local.defjvps):
    _defined_by(_method)


def lower_custom_made(ctx: Ctx, cls: Any, args: list[Val], kwargs: dict[str, Val]) -> Val:
    """The abstract value of ``custom_vjp(f)`` in a function that is lowered."""
    numbers = kwargs.get("nondiff_argnums", args[1] if len(args) > 1 else ())
    items = numbers.items if type(numbers) is Seq else numbers if isinstance(numbers, tuple) else (numbers,)
    if not args or not all(type(k) is int for k in items):
        raise ArgumentError(f"{cls.__name__} needs a function, and numbers of arguments", ctx.builder.loc)
    made = Local(cls.kind, args[0], tuple(items), cls.remedy)
    return Obj(made, (("object", made),))


__all__ = ["Local", "lower_custom_made"]
