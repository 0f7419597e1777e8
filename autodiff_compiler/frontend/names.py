"""Names: where each lives, and what it is bound to."""

from __future__ import annotations

import builtins
import types
from typing import Any, NoReturn

from ..errors import MissingNameError
from ..ir.core import Value, structural_key
from ..ir.opset import RAISE, exception
from ..lowered import ObjectStep
from ..tree import is_library_class
from . import definitions
from .avals import MISSING, Conflict, Maybe, Ref, is_constant
from .core import Core
from .frames import Frame
from .handlers import Node, Val
from .inputs import is_lasting
from .plan import FoundWanting, Impure


class Names(Core):
    """Reading and binding names."""

    def home(self, name: str) -> Frame | None:
        """The frame whose local the name is, or None for what lives outside of the lowered code."""
        frame: Frame | None = self.frame
        first = True
        while frame is not None:
            if name in frame.scope.globals and first:
                return None
            if name in frame.scope.locals or name[0] == "$":
                return frame
            first = False
            frame = frame.parent
        return None

    def own_frames(self) -> list[Frame]:
        """The frames of the function that runs: those of the comprehensions around, then its own."""
        frames = [self.frame]
        while frames[-1].comprehension:
            parent = frames[-1].parent
            assert parent is not None
            frames.append(parent)
        return frames

    def consumers(self) -> set[int]:
        """The scopes of the statements that run where the function yields."""
        found: set[int] = set()
        frame: Frame | None = self.frame
        while frame is not None:
            if frame.consumer is None:
                frame = frame.parent if frame.comprehension else None
                continue
            frame = frame.consumer
            inner: Frame | None = frame
            while inner is not None:
                found.add(inner.env)
                inner = inner.parent if inner.comprehension else None
        return found

    def load(self, name: str, node: Node) -> Any:
        """The value of a name."""
        frame = self.home(name)
        if frame is not None:
            av = self.state.envs[frame.env].get(name, MISSING)
            if self.reads is not None:
                self.reads.add((frame.env, name))
            if av is MISSING or (type(av) is Maybe and av.flag is not True):
                self.exposed.add((frame.env, name))
            if av is MISSING:
                _unbound(self, name, node)
            if name[0] == "$" and not getattr(node, "_keep", False):
                self.state.envs[frame.env].pop(name)  # the one use of a temporary
            elif type(av) is Maybe:
                # From here on it is bound.
                av = self.state.envs[frame.env][name] = self.use(av, name, node)
                return av
            return self.use(av, name, node)
        owner = self.frame.owner
        if self.frame.site is not None:
            return definitions.lookup(owner, name)
        if name in owner.__code__.co_freevars:
            cell = owner.__closure__[owner.__code__.co_freevars.index(name)]
            try:
                obj = cell.cell_contents
            except ValueError:
                self.fail(f"the enclosing variable {name!r} is not bound yet", node, "", MissingNameError)
            first, known_as = self.inputs.readers.setdefault(id(cell), (owner, name))
            return self.outside(obj, (("cell", first, known_as),), node)
        if name in owner.__globals__:
            first, _ = self.inputs.readers.setdefault(id(owner.__globals__), (owner, ""))
            return self.outside(owner.__globals__[name], (("global", first, name),), node)
        known: dict[str, Any] = owner.__builtins__  # type: ignore[attr-defined, unused-ignore]
        if name in known:
            self.inputs.guard((("global", owner, name),), "absent", name)
            if known is vars(builtins):
                return self.as_it_is(getattr(builtins, name), (ObjectStep(("object", builtins)), ("attr", name)))
            path = (ObjectStep(("object", owner)), ("attr", "__builtins__"), ("item", name))
            return self.as_it_is(known[name], path)
        self.inputs.guard((("global", owner, name),), "absent", name)
        self.raises(NameError, f"name {name!r} is not defined", node)

    def outside(self, obj: Any, path: Any, node: Node) -> Any:
        """The abstract value of something that the lowered code finds outside of it."""
        if self.caching and not _is_settled(self, obj, path):
            self.impure(self.caching[-1])
        return self.inputs.wrap(obj, path, "", True, self.loc_of(node) if hasattr(node, "lineno") else self.builder.loc)

    def module_entry(self, method: Any, name: Val, node: Node) -> Any:
        """What a method of `sys.modules` says of one name. Nothing is assumed of other names: compiling adds some."""
        if not isinstance(name, str):
            what = "an entry of sys.modules of which the name is known at run time only"
            self.fail(what, node, "write the name, or look outside of the function", cause=name)
        path: Any = (ObjectStep(("object", method)), ("call", (name,), structural_key((name,))))
        return self.outside(method(name), path, node)

    def impure(self, fn: Any) -> NoReturn:
        raise FoundWanting(Impure(fn))

    def use(self, av: Val, name: str, node: Node) -> Val:
        """A bound value as it is read: with the check that it is bound, if that is not certain."""
        if type(av) is Maybe:
            flag, inner = av.flag, av.av
            if flag is False:
                _unbound(self, name, node)
            message = f"cannot access local variable {name!r} where it is not associated with a value"
            self.raise_unless(flag, UnboundLocalError, message, node)
            if type(inner) is Conflict:
                self.fail(f"{name!r} {inner.why}", node, inner.remedy, cause=inner)
            return inner
        if type(av) is Conflict:
            self.fail(f"{name!r} {av.why}", node, av.remedy, cause=av)
        return av

    def raise_unless(self, flag: Any, error: type[Exception], message: str, node: Node) -> None:
        """Emit a check that raises what Python would raise."""
        if flag is True:
            return
        self.at(node)
        then, orelse = self.builder.new_region(), self.builder.new_region()
        with self.builder.inside(orelse):
            made = self.builder.emit(exception(error), message)
            self.builder.emit(RAISE, made)
        self.builder.if_(flag, then, orelse, [], [])

    def bind(self, name: str, av: Val, node: Node) -> None:
        """Assign to a name of the present scope."""
        frame = self.home(name)
        assert frame is not None
        self.state.envs[frame.env][name] = av
        value = av if type(av) is Value else self.state.heap.get(av.cell) if type(av) is Ref and not av.path else None
        if name.startswith("$"):
            return
        if type(av) is Ref and not av.path:
            self.cells.names.setdefault(av.cell, name)
        if type(value) is Value and not value.hint:
            value.hint = name
        elif type(av) is Ref and av.path and not av.hint:
            av.hint = name  # type: ignore[misc]  # the first name that the part is bound to


def _unbound(ctx: Names, name: str, node: Node) -> NoReturn:
    message = f"cannot access local variable {name!r} where it is not associated with a value"
    ctx.raises(UnboundLocalError, message, node, f"{name!r} is read before anything is bound to it")


def _is_settled(ctx: Names, obj: Any, path: Any) -> bool:
    """What a cached function may find outside without its values growing old: what nobody rebinds."""
    if any(obj is fn or obj is fn.__wrapped__ for fn in ctx.caching):
        return True
    kind, name = path[-1][0], path[-1][-1]
    if isinstance(obj, (type, types.ModuleType)) or (kind == "member" or name in ("__func__", "fget", "func")):
        return is_lasting(obj)
    if path[-1][0] == "default" and is_constant(obj):
        return True
    return not isinstance(obj, types.FunctionType) and callable(obj) and is_library_class(type(obj))
