"""Writing to what lives outside of the function: attributes of objects, globals and enclosing variables, the items of
lists, dictionaries and arrays of integers.

What is written is kept, once per call, when and where the function does it. Within the call it is abstract state like
any other: an object, or a variable, that is written anywhere becomes a container of what is written there, with what it
holds when the call begins. Each change of the container is also an operation with an effect on the live object.

What is put outside may be changed later, there and here. Numbers and constants cannot be; a container that the function
made is made again as a Python object, and of an array a copy is kept. Later changes are done to both, where it is known
which copy is meant: not to an array that was kept in a branch or as a view.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import AliasError
from ..ir.core import Value
from ..ir.opset import (
    APPEND_TO,
    BUILD,
    DEL_ATTRIBUTE,
    DEL_ENTRY,
    FILL_LIST,
    KEEP,
    LIST_APPEND,
    LIST_DROP,
    LIST_SET,
    SET,
    SET_ATTRIBUTE,
    SET_ENTRY,
    STORE_INTO,
)
from ..lowered import BAKED_MODULES, ObjectStep
from ..tree import class_lookup, is_library_class
from .avals import (
    MISSING,
    UNSET,
    Bound,
    Closure,
    Columns,
    Conflict,
    DictRef,
    Entries,
    Instance,
    ItemOf,
    Items,
    ListRef,
    Maybe,
    Obj,
    Partial,
    Poison,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    describe,
    is_collection,
    is_constant,
)
from .definitions import stands_in
from .handlers import Node, Val
from .inputs import base_of, path_name
from .own_code import has_code
from .plan import FoundWanting, WrittenOutside
from .structures import Leaf

if TYPE_CHECKING:
    from .splices import Splices as Before
else:  # the parts between are imported when they are first needed, see `parts`
    from .disturbed import Disturbances as Before

_LIBRARIES = frozenset({*sys.stdlib_module_names, *BAKED_MODULES})


class Outside(Before):
    """Changes of what lives outside of the function."""

    def object_path(self, av: Obj) -> Any:
        """Where an object is found."""
        return av.path or (ObjectStep(("object", av.obj)),)

    # --- variables ------------------------------------------------------------------------------------------------

    def variable(self, name: str) -> tuple[Any, Any, str, Any]:
        """A global or enclosing variable: its identity, who holds it, under which name, and the path to the holder."""
        owner = self.frame.owner
        start = (ObjectStep(("object", owner)),)
        if name in owner.__code__.co_freevars and name not in self.frame.scope.globals:
            k = owner.__code__.co_freevars.index(name)
            cell = owner.__closure__[k]
            return ("cell", id(cell)), cell, "cell_contents", (*start, ("attr", "__closure__"), ("item", k))
        return ("global", id(owner.__globals__), name), owner.__globals__, name, (*start, ("attr", "__globals__"))

    def opened_variable(self, name: str, node: Node) -> int:
        """The container that stands for a variable that is written in this call."""
        key, holder, attribute, path = self.variable(name)
        cell = self.inputs.variables.get(key)
        if cell is None:
            known = super().load(name, node) if self.is_bound(holder, attribute) else None
            if known is None and not self.is_bound(holder, attribute):
                if isinstance(holder, dict):
                    self.inputs.guard((("global", self.frame.owner, name),), "absent", name)
                known = UNSET
            cell = self.inputs.variables[key] = self.cells.new()
            self.inputs.initial[cell] = Entries((attribute,), (known,))
            kind = "dict" if isinstance(holder, dict) else "object"
            self.inputs.outside[cell] = (kind, holder, path)
        return cell

    @staticmethod
    def is_bound(holder: Any, attribute: str) -> bool:
        return attribute in holder if isinstance(holder, dict) else hasattr(holder, attribute)

    def load(self, name: str, node: Node) -> Any:
        if self.plan.written and self.home(name) is None and _is_written(self, name):
            cell = self.opened_variable(name, node)
            return self.use(self.checked(cell, node, "variable").items[0], name, node)
        return super().load(name, node)

    def bind(self, name: str, av: Val, node: Node) -> None:
        if self.home(name) is not None:
            super().bind(name, av, node)
            return
        key, holder, attribute, _ = self.variable(name)
        if not _is_written(self, name):
            raise FoundWanting(WrittenOutside(key, holder, frozenset({attribute})))
        cell = self.opened_variable(name, node)
        self.mutate(cell, Entries((attribute,), (av,)), node)

    # --- attributes of classes, functions and modules ---------------------------------------------------------------

    def attribute_key(self, obj: Any, name: str) -> Any:
        """The identity of such an attribute. That of a module is a global variable."""
        return ("global", id(vars(obj)), name) if isinstance(obj, types.ModuleType) else ("attribute", id(obj), name)

    def writes_in_class(self, cls: type, name: str) -> bool:
        """This call writes the attribute somewhere, in the class or in one of its bases."""
        written = self.plan.written
        return bool(written) and any(("attribute", id(base), name) in written for base in cls.__mro__)

    def written_attribute(self, obj: Any, path: Any, name: str, node: Node) -> Any:
        """What such a thing itself holds under a name, or `MISSING`; NotImplemented if this call writes it nowhere."""
        key = self.attribute_key(obj, name)
        if key not in self.plan.written:
            return NotImplemented
        item = self.checked(_opened_attribute(self, key, obj, path, name, node), node, "attribute").items[0]
        return MISSING if item is UNSET else self.use(item, f"{obj.__name__}.{name}", node)

    def store_lasting(self, base: Obj, name: str, av: Val, node: Node) -> None:
        """``base.name = av`` of a class, a function or a module."""
        obj, path = base.obj, self.object_path(base)
        if not _may_be_stored(obj, name):
            self.write_attribute(base, name, node)
        av = self.use(av, name, node)
        if _binds(self, av):
            what = f"{describe(av)} is kept in the attribute {name!r} of {describe(base)}"
            self.fail(what, node, "keep it in a variable")
        key = self.attribute_key(obj, name)
        if key not in self.plan.written:
            raise FoundWanting(WrittenOutside(key, obj, frozenset({name})))
        self.mutate(_opened_attribute(self, key, obj, path, name, node), Entries((name,), (av,)), node)

    # --- changes of containers ------------------------------------------------------------------------------------

    def write_attribute(self, av: Obj, name: str, node: Node) -> NoReturn:
        """The lowering starts again, with this object taken as a container of what is written to it."""
        obj = av.obj
        if isinstance(obj, (type, types.ModuleType, types.FunctionType)) or av.path is None or not self.is_plain(obj):
            what = "class" if isinstance(obj, type) else "module" if isinstance(obj, types.ModuleType) else "thing"
            self.fail(
                f"assignment to the attribute {name!r} of {describe(av)}: a {what} that lives outside of the function",
                node,
                "keep it in an attribute of an object, or in a global variable",
            )
        raise FoundWanting(WrittenOutside(("object", id(obj)), obj, frozenset({*_stored_names(self), name})))

    def is_plain(self, obj: Any) -> bool:
        """It keeps its attributes as most objects do; a `threading.local` does not."""
        cls = type(obj)
        plain = (object, base_of(cls) or object)
        for name in ("__getattribute__", "__setattr__"):
            found = getattr(cls, name)
            if not isinstance(found, types.FunctionType) and all(found is not getattr(c, name) for c in plain):
                return False
        return hasattr(obj, "__dict__") or bool(getattr(cls, "__slots__", ()))

    def live(self, cell: int, node: Node) -> tuple[str, Any] | None:
        """What a container is outside, if it is anything there: its kind, and the object as a value."""
        found = self.inputs.outside.get(cell)
        if found is not None:
            kind, obj, path = found
            return kind, self.live_input(obj, path)
        kept = self.kept_as.get(cell)
        if kept is not None:
            if not any(region is home_of(kept[1]) for region, _ in self.builder._scopes):
                _changed_after(self, cell, node)
            return kept
        family = self.cells.family(cell)
        if any(c in self.inputs.outside or c in self.kept_as for c in family if c != cell):
            self.fail(
                "unprovable alias: which of several things this is, of which one lives outside of the function, is not "
                "known when the program is compiled",
                node,
                "change it in each branch",
                AliasError,
            )
        return None

    def live_input(self, obj: Any, path: Any) -> Value:
        value = self.top.params[self.inputs.object_at(obj, path, path_name(path))]
        if has_code(obj):
            self.live_objects[value] = [obj]
        return value

    def only_looked_at(self, av: Val, name: str, node: Node) -> None:
        """Refuse to compute with an eager tensor from outside, whose gradient would be lost. `name`: the attribute that
        is asked for; its class names those that tell about it."""
        cls: Any = type(av.obj) if type(av) is Obj else getattr(av, "cls", None)
        known = getattr(cls, "__autodiff_outside__", None)
        if known is not None and name not in known:
            what = f"compiled code computes with a {cls.__name__} that is not among its arguments"
            remedy = f"pass the {cls.__name__} as an argument, or use what its numpy() gives"
            self.fail(f"{what}: its gradient would be lost", node, remedy)

    def mutate(self, cell: int, content: Any, node: Node, resized: bool = True, keeps_items: bool = False) -> None:
        _check_item(self, cell, node)
        if cell in self.inputs.hidden_cells and cell not in self.inputs.outside:
            self.refuse_outside(self.inputs.hidden_cells[cell], node)
        if cell in self.frozen and cell not in self.kept_as:
            _changed_after(self, cell, node)
        if cell in self.inputs.outside and self.inputs.outside[cell][2][-1] == ("attr", "__dict__"):
            self.fail("a change of the __dict__ of an object from outside", node, "assign to its attributes")
        live = self.live(cell, node)
        if self.mirrored == cell:
            self.mirrored = None
        elif live is not None:
            if self.recursions:
                self.fail("a recursion that writes to what lives outside of it", node, "return the value instead")
            self.change(live[0], live[1], self.checked(cell, node, "container"), content, node)
        self.inputs.changed.add(cell)
        super().mutate(cell, content, node, resized, keeps_items)

    def change(self, kind: str, live: Any, old: Any, new: Any, node: Node) -> None:
        """Do to the live object what happened to the container."""
        if kind == "list":
            _change_list(self, live, old, new, node)
            return
        store, remove = (SET_ATTRIBUTE, DEL_ATTRIBUTE) if kind == "object" else (SET_ENTRY, DEL_ENTRY)
        before = dict(zip(old.keys, old.items))
        after = dict(zip(new.keys, new.items))
        for key in before:
            if key not in after:
                self.emit(node, remove, live, key)
        for key, av in after.items():
            if key not in before or before[key] is not av or kind != "dict":
                if key in before and before[key] is av:
                    continue
                self.emit(node, store, live, key, self.kept(av, node))

    def list_append(self, ref: ListRef, item: Val, node: Node) -> None:
        if _append_outside(self, ref, item, node):
            return
        if type(self.content(ref.cell)) is Columns:
            live = self.live(ref.cell, node)
            if live is not None and not self.recursions:
                _check_item(self, ref.cell, node)
                self.emit(node, APPEND_TO, live[1], self.kept(item, node))
                self.mirrored = ref.cell
        self.append_to_list(ref, item, node)

    def settle_appended(self) -> None:
        """At the end of the lowering: lists that were only appended to need no guard on their length."""
        for cell in self.appended:
            path = self.inputs.outside[cell][2]
            self.inputs.guards[:] = [g for g in self.inputs.guards if not (g.path == path and g.kind == "len")]

    def content(self, cell: int) -> Any:
        self.read_cells.add(cell)
        if cell in self.appended:
            obj = self.appended[cell]
            raise FoundWanting(WrittenOutside(("list", id(obj)), obj, frozenset()))
        return super().content(cell)

    # --- stores into arrays ---------------------------------------------------------------------------------------

    def store(self, ref: Ref, step: tuple[Any, ...] | None, value: Val, node: Node, prim: Any = SET) -> None:
        copy = kept_copy(self, ref.cell) if prim is SET and not self.recursions else None
        if self.frozen:
            around = {ref.cell, *self.state.links.get(ref.cell, ())}
            if copy is not None:
                around.remove(ref.cell)
            for cell in around & set(self.frozen):
                _changed_after(self, cell, node)
            for cell in [*self.inputs.outside, *self.kept_as]:
                content: Any = self.state.heap.get(cell)
                if type(content) in (Items, Entries):
                    held = set(self.cells_in(content.items)) - set(self.inputs.initial)
                    if around & held:
                        _changed_after(self, ref.cell, node)
        _check_item(self, ref.cell, node)
        if type(value) not in (list, tuple):  # which are operands
            value = self.operand(value, node)  # as it is before the store
        super().store(ref, step, value, node, prim)
        if copy is not None:
            path = ref.path if step is None else (*ref.path, step)
            self.emit(node, STORE_INTO, copy, path or (("index", (Ellipsis,)),), value)
        for number in self.cells.origins.get(ref.cell, frozenset()):
            item = self.inputs.inputs[number]
            if not item.hidden:
                continue
            if prim is not SET or self.inputs.arrays.get(number) != ref.cell or self.recursions:
                self.refuse_outside(item.name, node)
            array = self.top.params[self.inputs.object_at(None, item.path, item.name)]
            path = ref.path if step is None else (*ref.path, step)
            self.emit(node, STORE_INTO, array, path or (("index", (Ellipsis,)),), value)
            self.inputs.kept_arrays.add(number)

    # --- what is put outside --------------------------------------------------------------------------------------

    def kept(self, av: Val, node: Node) -> Val:
        """The operand for a value that is put where it outlives the call."""
        kind = type(av)
        if type(av) is Maybe or type(av) is Conflict:
            return self.kept(self.use(av, "the value", node), node)
        if kind is Value:
            return _kept_value(self, av, node)
        if is_constant(av):
            return av
        if kind is Ref or kind in (ListRef, DictRef, Instance):
            return _kept_cell(self, av, node)
        if kind is Seq:
            return self.emit(node, BUILD, av.cls or tuple, (), *[self.kept(x, node) for x in av.items])
        if kind is RangeOf or kind is SliceOf:
            parts = [self.kept(x, node) for x in (av.start, av.stop, av.step)]
            return self.emit(node, BUILD, range if kind is RangeOf else slice, (), *parts)
        if kind is Obj:
            if av.path is not None and self.is_plain(av.obj) and not isinstance(av.obj, (type, types.FunctionType)):
                return self.live_input(av.obj, av.path)
            return self.pinned(av)
        what = "a function" if kind in (Closure, Bound, Partial) else describe(av)
        self.fail(f"{what} made in the function is kept outside of it", node, "keep numbers, arrays and containers")

    def check_changed_in_loop(self, cell: int) -> None:
        """A cell from before a loop that its body changes must not be kept in the body too: the order would matter."""
        kept = self.kept_as.get(cell)
        if kept is None and cell in self.kept_copies:
            kept = ("array", self.kept_copies[cell])
        if cell in self.frozen and (kept is None or not _is_before_loop(self, kept[1])):
            self.fail(
                f"this was kept outside of the function in line {self.frozen[cell].line}, and is changed in the loop",
                None,
                "keep a copy, or keep it after the loop",
            )


def _is_written(ctx: Outside, name: str) -> bool:
    """The global or enclosing variable is written somewhere in this call."""
    written = ctx.plan.written
    return bool(written) and ctx.frame.site is None and ctx.variable(name)[0] in written


def _opened_attribute(ctx: Outside, key: Any, obj: Any, path: Any, name: str, node: Node) -> int:
    """The container that stands for an attribute of a class, function or module that is written in this call."""
    cell = ctx.inputs.variables.get(key)
    if cell is None:
        cell = ctx.inputs.variables[key] = ctx.cells.new()
        if name in vars(obj):
            step = (("item", name),) if isinstance(obj, type) else ()
            there = (*path, ("attr", "__dict__" if step else name), *step)
            known = ctx.outside(vars(obj)[name], there, node)
        else:
            ctx.inputs.guard(path, "lacks", name)
            known = UNSET
        ctx.inputs.initial[cell] = Entries((name,), (known,))
        ctx.inputs.outside[cell] = ("object", obj, path)
    return cell


def _may_be_stored(obj: Any, name: str) -> bool:
    """Python keeps it in the namespace of the class, function or module, and nothing else happens."""
    root = (obj.__name__ if isinstance(obj, types.ModuleType) else str(obj.__module__)).split(".")[0]
    if name.startswith("__") or hasattr(type(obj), name) or (root != "__main__" and root in _LIBRARIES):
        return False  # what Python's own functions read, as `sys.stdout`, steers more than what is lowered
    if isinstance(obj, types.ModuleType):
        return type(obj) is types.ModuleType and not hasattr(obj, "__getattr__")
    if not isinstance(obj, type):
        return isinstance(obj, types.FunctionType)
    if is_library_class(obj) or obj.__flags__ & (1 << 8 | 1 << 9) != 1 << 9:  # immutable, or written in C
        return False
    plain = class_lookup(type(obj), "__setattr__") is type.__setattr__
    return plain and not hasattr(type(class_lookup(obj, name)), "__get__")


def _binds(ctx: Outside, av: Val) -> bool:
    """What a look-up may give something else for: a function, or an object of a class with ``__get__``."""
    if type(av) is Value:
        known: Any = ctx.known_objects.get(av)
        return av.type.kind == "object" and (not isinstance(known, type) or hasattr(known, "__get__"))
    cls = type(av.obj) if type(av) is Obj else av.cls if type(av) is Instance else None
    return type(av) in (Closure, Bound, Partial) or hasattr(cls, "__get__")


def _stored_names(ctx: Outside) -> set[str]:
    """The attributes that the function at hand stores: it may well do so to the same object."""
    nodes = ast.walk(ctx.frame.node)
    return {n.attr for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}


def _changed_after(ctx: Outside, cell: int, node: Node) -> NoReturn:
    where = ctx.frozen.get(cell)
    at = f" in line {where.line}" if where is not None else ""
    ctx.fail(
        f"this was kept outside of the function{at}, and is changed afterwards",
        node,
        "keep a copy, or keep it when it is finished",
    )


def _change_list(ctx: Outside, live: Any, old: Any, new: Any, node: Node) -> None:
    if type(new) is Items and type(old) is Items:
        if len(new.items) == len(old.items) + 1 and all(x is y for x, y in zip(old.items, new.items)):
            ctx.emit(node, APPEND_TO, live, ctx.kept(new.items[-1], node))
        elif len(new.items) == len(old.items):
            for k, (x, y) in enumerate(zip(old.items, new.items)):
                if x is not y:
                    ctx.emit(node, SET_ENTRY, live, k, ctx.kept(y, node))
        else:
            ctx.emit(node, FILL_LIST, live, *[ctx.kept(x, node) for x in new.items])
        return
    op = last = None
    if type(new) is Columns and type(old) is Columns and len(new.leaves) == 1 and type(new.structure) is Leaf:
        op, last = new.leaves[0].op, old.leaves[0]
    if op is not None and op.prim is LIST_APPEND and op.args[0] is last:
        ctx.emit(node, APPEND_TO, live, _kept_value(ctx, op.args[1], node))
    elif op is not None and op.prim is LIST_SET and op.args[0] is last:
        ctx.emit(node, SET_ENTRY, live, op.args[1], _kept_value(ctx, op.args[2], node))
    elif op is not None and op.prim is LIST_DROP and op.args[0] is last:
        ctx.emit(node, DEL_ENTRY, live, op.args[1])
    else:
        ctx.fail("this change of a list that lives outside of the function", node, "use append, or an item")


def _check_item(ctx: Outside, cell: int, node: Node) -> None:
    """What is an item of a list that lives outside, at an index known at run time only, cannot be changed."""
    held = ctx.state.heap.get(cell)
    while type(held) is ItemOf:
        if held.cell in ctx.inputs.outside or held.cell in ctx.kept_as:
            ctx.fail(
                "a change of an item, by an index known at run time only, of a list that lives outside",
                node,
                "pass the list as an argument",
                cause=held.index,
            )
        held = ctx.state.heap.get(held.cell)


def _append_outside(ctx: Outside, ref: ListRef, item: Val, node: Node) -> bool:
    """Append to a list from outside that this call never reads: how long it is does not matter then."""
    found = ctx.inputs.outside.get(ref.cell)
    if found is None or found[0] != "list" or ("list", id(found[1])) in ctx.plan.written or ctx.recursions:
        return False
    if ref.cell in ctx.read_cells or len(ctx.inputs.containers.get(id(found[1]), ())) > 1:
        return False
    ctx.emit(node, APPEND_TO, ctx.live_input(found[1], found[2]), ctx.kept(item, node))
    ctx.appended[ref.cell] = found[1]
    ctx.inputs.changed.add(ref.cell)
    return True


def _kept_value(ctx: Outside, value: Val, node: Node) -> Val:
    if type(value) is Value and not value.type.is_scalar and value.type.kind not in ("object", "shape"):
        return ctx.emit(node, KEEP, value)
    return value


def _kept_cell(ctx: Outside, av: Val, node: Node) -> Val:
    """What an array or a container is outside: itself if it comes from there, else it is made now."""
    live = ctx.live(av.cell, node) if type(av) is not Ref else None
    if live is not None:
        return live[1]
    inside = ctx.cells_in([av])
    loc = ctx.loc_of(node)
    pristine = all(c in ctx.inputs.initial and ctx.content(c) is ctx.inputs.initial[c] for c in inside)
    path = ctx.inputs.found_at.get(av.cell) if pristine and not getattr(av, "path", ()) else None
    if path is not None:
        for cell in inside:
            ctx.frozen.setdefault(cell, loc)
        return ctx.live_input(None, path)
    if type(av) is Ref:
        copy = kept_copy(ctx, av.cell) if not av.path else None
        if copy is not None:
            return copy  # one array, wherever it is kept
        copy = ctx.emit(node, KEEP, ctx.read(av, node))
        if not av.path and av.cell not in ctx.frozen:
            ctx.kept_copies[av.cell] = copy
        else:
            ctx.kept_copies.pop(av.cell, None)
        ctx.frozen.setdefault(av.cell, loc)
        return copy
    if is_collection(av) or (type(av) is Instance and base_of(av.cls) is not None):
        ctx.fail(f"{describe(av)} made in the function is kept outside of it", node, "keep a list or a dictionary")
    if type(av) is Instance and stands_in(av.cls):
        what = f"{describe(av)}, which stands for an object of a library, is kept outside of the function"
        ctx.fail(what, node, "keep the numbers and arrays that it holds")
    content = ctx.checked(av.cell, node, "container")
    if isinstance(content, Poison):
        ctx.poisoned(content, node, "container")
    if type(av) is ListRef and type(content) is Columns:
        if type(content.structure) is not Leaf:
            ctx.fail("a list of containers that grew in a loop is kept outside", node, "keep each")
        value = ctx.emit(node, KEEP, content.leaves[0])
    else:
        cls: Any = list if type(av) is ListRef else dict if type(av) is DictRef else av.cls
        names = content.keys if type(content) is Entries else ()
        if any(not is_constant(k) for k in names):
            ctx.fail("a dictionary with such keys is kept outside of the function", node, "use strings as keys")
        value = ctx.emit(node, BUILD, cls, tuple(names), *[ctx.kept(x, node) for x in content.items])
    kind = {ListRef: "list", DictRef: "dict"}.get(type(av), "object")
    ctx.kept_as[av.cell] = (kind, value)
    ctx.frozen.setdefault(av.cell, loc)
    return value


def kept_copy(ctx: Outside, cell: int) -> Any:
    """The one copy of an array that is kept outside, if there is one that this code surely made."""
    copy = ctx.kept_copies.get(cell)
    return copy if copy is not None and any(region is home_of(copy) for region, _ in ctx.builder._scopes) else None


def _is_before_loop(ctx: Outside, value: Value) -> bool:
    return any(region is home_of(value) for region, _ in ctx.builder._scopes[:-1])


def home_of(value: Value) -> Any:
    """The region in which a value is defined."""
    return value.region if value.op is None else value.op.parent
