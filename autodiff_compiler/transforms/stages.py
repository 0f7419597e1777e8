"""The two stages of a function with values of types that only the run tells. See `api.two_stages`.

Takes the SSA form of a function in which such values are marked. Gives two functions: the prologue, which does all that
is seen outside and keeps what it gave in a log, and the body, which is differentiated and takes it from there.

>>> import numpy as np
>>> import autodiff_compiler as ad
>>> def weighted(x):
...     roots = np.sort_complex([2.0, 1.0]).real
...     return np.sum(x @ roots)
>>> text = ad.grad(weighted).source(np.eye(2))
>>> print("\\n".join(line for line in text.splitlines() if line and "import" not in line))
def weighted_grad(x, log):
    t = log.call("np.sort_complex in line 2", np.sort_complex, [2.0, 1.0])
    log.see(t, 0, "np.sort_complex in line 2")
    return ()
def weighted_grad(x, log):
    t = log.given()("np.sort_complex in line 2")
    roots = t.real
    return spread(1.0, (x @ roots)[:, None]) * roots
"""

from __future__ import annotations

import warnings
from typing import Any

from ..analysis.taint import is_foreign, keeps
from ..errors import UnsupportedError
from ..ir import opset
from ..ir.core import Function, Op, Prim, Region, Value
from ..ir.custom import CUSTOM, CUSTOM_EFFECTS
from ..ir.foreign import runs_own_code
from ..ir.opset import ASSERT, POP, PUSH, RAISE
from ..ir.rewrite import clone_function
from ..ir.sites import GET_ITEM, GET_NEXT, OBSERVE, STOP
from ..ir.spelling import literal
from ..ir.types import OBJECT
from ..records import replaced

_ATOM = 12
# They steer the program, or are no effects outside of it.
_IN_BOTH = (RAISE, ASSERT, PUSH, POP)
# To do them twice is to do them once, and both stages compute what they keep from warning.
_FILTERS = (warnings.simplefilter, warnings.filterwarnings, warnings.resetwarnings)
# The body does them: nothing that the prologue does looks at what they write.
WRITES = (
    opset.SET_ATTRIBUTE, opset.DEL_ATTRIBUTE, opset.SET_ENTRY, opset.DEL_ENTRY, opset.APPEND_TO, opset.FILL_LIST,
    opset.STORE_INTO,
)  # fmt: skip


def stages(fn: Function) -> tuple[Function, Function]:
    """The prologue and the body, of which the last parameter is the log."""
    writes = [op for op in fn.body.walk() if op.prim in WRITES]
    for op in fn.body.walk():
        if writes and is_foreign(op) and not _reads_text(op):
            raise UnsupportedError(
                "a write to what lives outside of the function, where the type of a value is known at run time only: "
                f"a call of {op.prim.name} may look at what is written",
                writes[0].loc,
                "make that value outside of the function and pass it, or return what is to be written",
            )
    for op in fn.body.walk():
        if op.prim is CUSTOM_EFFECTS:
            raise UnsupportedError(
                f"{op.args[0].name!r}, a function with a rule of its own, has an effect, where the type of a value is "
                "known at run time only",
                op.loc,
                "make that value outside of the function and pass it",
            )
    prologue, body = clone_function(fn)[0], clone_function(fn)[0]
    _make_prologue(prologue.body)
    _make_body(body.body)
    return prologue, body


def _reads_text(op: Op) -> bool:
    """A function of the standard library works on text and numbers, or on what another one made of them: it sees
    nothing of what the program writes."""
    operands = list(op.operands())
    given = [x for x in (*op.args, *op.kwargs.values()) if type(x) is not Value]
    own = op.prim in (GET_ITEM, GET_NEXT) or op.prim.fn is getattr or runs_own_code(op.prim.fn)
    if not own or not all(isinstance(x, _TEXT) for x in given):
        return False
    return all(v.type.is_scalar or (v.op is not None and _reads_text(v.op)) for v in operands)


_TEXT = (str, bytes, bool, int, float, type(None))


def _logged(top: Region) -> list[Op]:
    """The operations that have an effect, and those that look at an object that one of them gave."""
    live: set[Value] = set()
    out = []
    for op in top.walk():
        if op.prim in _IN_BOTH or op.prim in WRITES or op.prim in (OBSERVE, STOP, CUSTOM) or op.regions:
            continue
        if op.prim.fn in _FILTERS:
            continue
        looks = any(v in live for v in op.operands()) and all(r.type.kind not in _COPIED for r in op.results)
        if op.prim.effects or looks:
            out.append(op)
            live.update(r for r in op.results if r.type.kind in ("any", "object"))
    return out


_COPIED = ("list", "stack", "shape", "undef")


def _make_prologue(top: Region) -> None:
    log = top.param(OBJECT, "log")
    logged = _logged(top)
    for op in logged:
        op.prim = _doing(op.prim, _label(op))
        op.kwargs = {**op.kwargs, "log": log}
    last = 0
    for region in _regions(top):
        region.ops = [op for op in region.ops if op.prim not in WRITES]
    for op in top.walk():
        if op.prim is OBSERVE:
            op.args, op.prim, op.kwargs = (*op.args, _label(op.args[0].op)), _SEE, {"log": log}
        elif op.prim is STOP:
            op.prim, op.kwargs = _STOP, {"log": log}
    for k, op in enumerate(top.ops):
        if op.prim.effects or any(inner.prim.effects for region in op.regions for inner in region.walk()):
            last = k + 1
    del top.ops[last:]
    top.exit = ()


def _make_body(top: Region) -> None:
    log = top.param(OBJECT, "log")
    given = Op(_GIVEN, (log,), {}, (), None)
    given.results = [Value(OBJECT, "given", given)]
    given.parent = top
    for op in _logged(top):
        op.prim = _taking(op)
        op.kwargs = {**op.kwargs, "given": given.results[0]}
    for region in _regions(top):
        region.ops = [op for op in region.ops if op.prim is not OBSERVE]
    top.ops.insert(0, given)


def _regions(top: Region) -> list[Region]:
    return [top, *[region for op in top.walk() for region in op.regions]]


def _label(op: Op) -> str:
    return op.prim.name if op.loc is None else f"{op.prim.name} in line {op.loc.line}"


def _doing(prim: Prim, label: str) -> Prim:
    # Of what is fresh, no one else can change it; and the prologue may store into it.
    fn, method = prim.fn, "call" if prim.alias == "maybe" else "do"
    assert fn is not None, prim

    def do(*args: Any, log: Any, **kwargs: Any) -> Any:
        return getattr(log, method)(label, fn, *args, **kwargs)

    do.__dict__["logged"] = prim  # whose function emitted code names: see `codegen.names`

    def template(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
        parts = [literal(label), printer.callee(prim), *[printer.show(a) for a in args]]
        parts += [f"{k}={printer.show(v)}" for k, v in kwargs.items() if k != "log"]
        return f"{printer.show(kwargs['log'], _ATOM)}.{method}({', '.join(parts)})", _ATOM

    return replaced(prim, fn=do, template=template, effects=True, total=None, elementwise=False)


def _taking(op: Op) -> Prim:
    prim, label = op.prim, _label(op)

    def take(*args: Any, given: Any, **kwargs: Any) -> Any:
        return given(label)

    def template(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
        return f"{printer.show(kwargs['given'], _ATOM)}({literal(label)})", _ATOM

    # It keeps its operands, so that it is known what it depends on. It has no derivative.
    makers = [v.op for v in op.operands() if v.op is not None and v.op.prim.template is not None]
    name = prim.name if prim.effects or not makers else makers[0].prim.name  # a look at what that gave
    return Prim(
        name, take, infer=prim.infer, params=("*args",), nout=prim.nout, alias=prim.alias, effects=True,
        foreign=keeps(op), nondiff=prim.nondiff, template=template,
    )  # fmt: skip


def _print_see(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    return f"{printer.show(kwargs['log'], _ATOM)}.see({', '.join(map(printer.show, args))})", _ATOM


def _print_stop(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    return f"{printer.show(kwargs['log'], _ATOM)}.stop()", _ATOM


def _print_given(printer: Any, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    return f"{printer.show(args[0], _ATOM)}.given()", _ATOM


_SEE = replaced(OBSERVE, fn=lambda value, site, label, log: log.see(value, site, label), template=_print_see)
_STOP = replaced(STOP, fn=lambda log: log.stop(), template=_print_stop)
_GIVEN = Prim(
    "given", lambda log: log.given(), infer=lambda b, args, kwargs: OBJECT, params=("log",), template=_print_given,
    unique=True, total=lambda b, args, kwargs: True,
)  # fmt: skip

__all__ = ["WRITES", "stages"]
