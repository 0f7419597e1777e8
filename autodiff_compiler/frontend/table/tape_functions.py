"""The functions of the tape that compiled code may call, and a refusal for the others."""

from __future__ import annotations

from ..avals import Obj
from ..handlers import Ctx, Val, lowers
from ..library.constants import stop_gradient


@lowers("autodiff_compiler.tape.custom.stop_gradient")
def _stop_gradient(ctx: Ctx, x: Val) -> Val:
    return ctx.inline_function(Obj(stop_gradient, None), [x], {}, ctx.node)
