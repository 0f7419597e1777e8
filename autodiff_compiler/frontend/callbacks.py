"""Functions that are handed to a solver: what they read from the functions around them becomes their arguments.

``lambda t: t * x[0]`` inside of the lowered code is no object at run time, as `x` is a value of the lowered code. It is
lifted to ``lambda x, t: t * x[0]``, a function of its own, and the solver gets it with the present `x`.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import types
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np

from ..errors import UnsupportedError
from ..ir.core import Value, type_of
from ..ir.foreign import CALLED, root_module
from ..kernels.callbacks import SCALAR, Callback, contents, made_object, unchanged
from ..made import TYPE_PARAMS, code_of, function_of
from ..tree import is_library_class, slot_names
from .avals import (
    MISSING,
    UNSET,
    Bound,
    Closure,
    Columns,
    DictRef,
    Entries,
    Instance,
    Items,
    ListRef,
    Maybe,
    Obj,
    Partial,
    RangeOf,
    Ref,
    Seq,
    SliceOf,
    describe,
    is_constant,
)
from .definitions import derived, lifted
from .frames import Frame
from .handlers import Ctx, Node, Val, lowers
from .inputs import base_of
from .objects import is_generated, is_object
from .scopes import scope_of
from .structures import Leaf

CHANGING = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "fill",
        "put",
    ]
)


@lowers(lifted)
def _lifted(ctx: Ctx, fun: Val, count: int, like: Val = None) -> Val:
    callback, captured = lift(ctx, fun, count, ctx.node)
    callback.like = SCALAR if like == "number" else None if like is None else len(captured) + like
    return Seq((Obj(callback, None), Seq(tuple(captured))))


@lowers(derived)
def _derived(ctx: Ctx, callback: Val, which: str, *args: Val) -> Val:
    return Obj(getattr(callback.obj, which)(*args), None)


def lift(ctx: Ctx, fun: Val, count: int, node: Node) -> tuple[Callback, list[Val]]:
    """The callback, and the values that it takes in front of `count` arguments."""
    if ctx.plan.written or any(ctx.state.heap.get(cell, was) is not was for cell, was in ctx.inputs.initial.items()):
        # At run time the function would find what was there before, and the derivative would be lost.
        ctx.fail(
            "a solver calls a function after something outside, or an argument, was written to",
            node,
            "write to copies: x = x.copy(); keep new values in local variables, and write to globals after the call",
        )
    if type(fun) is Partial and not fun.names:
        callback, captured = lift(ctx, fun.fn, count + len(fun.args), node)
        return callback, [*captured, *fun.args]
    if type(fun) is Closure:
        return _Lifting(ctx, fun, node).of_closure(fun, count)
    if type(fun) is Obj and callable(fun.obj):
        owner = getattr(fun.obj, "__self__", None)
        if isinstance(owner, types.ModuleType) or not is_object(fun) or _is_constant_object(ctx, fun):
            return Callback(_held(ctx, fun)), []
    if type(fun) is Bound and type(fun.self) is Obj and _is_constant_object(ctx, fun.self):
        owner = _held(ctx, fun.self)
        if isinstance(fun.fn, str):
            return Callback(getattr(owner, fun.fn)), []
        if type(fun.fn) is Obj and isinstance(fun.fn.obj, types.FunctionType):
            return Callback(types.MethodType(fun.fn.obj, owner)), []
    if type(fun) in (Partial, Bound) or is_object(fun):
        return _Lifting(ctx, None, node).of_value(fun, count)
    ctx.fail(f"a solver gets {describe(fun)} to call", node, "pass a function or a lambda")


def _is_constant_object(ctx: Ctx, av: Obj) -> bool:
    """An object from outside that holds nothing to differentiate by: it is not in an argument."""
    path = ctx.object_path(av)
    return not path or path[0][0] != "arg"


def _held(ctx: Ctx, av: Obj) -> Any:
    """An object that a callback reads as it is. The code is for this one."""
    if is_object(av) and av.path is not None:
        ctx.inputs.guard(av.path, "is", av.obj)
    return av.obj


class _Lifting:
    """A function on its way to a function of its own."""

    def __init__(self, ctx: Ctx, fun: Closure | None, node: Node):
        self.ctx, self.fun, self.node = ctx, fun, node
        self.values: list[Val] = []
        self.params: list[str] = []  # their names
        self.cells: dict[str, Any] = {}  # constants
        self.prologue: list[ast.stmt] = []  # what rebuilds containers, objects and local functions
        self.mutable: list[str] = []  # variables of the prologue: what could be written to
        self.known: dict[Any, str | None] = {}  # by identity, the variable of each; None while it is made
        self.settled: dict[str, int] = {}  # the names of others, with the frame of each
        self.used: set[str] = set()  # names of the function, and those that were chosen here
        self.changed: set[str] = set()
        self.left_out: dict[str, str] = {}  # attributes of objects, and why
        self.like: Any = None if fun is None else fun.node  # where what is made here stands

    def of_closure(self, fun: Closure, count: int) -> tuple[Callback, list[Val]]:
        tree = self.definition(fun, "callback" if isinstance(fun.node, ast.Lambda) else fun.node.name)
        spec = tree.args
        first = [*spec.posonlyargs, *spec.args]
        if spec.kwonlyargs or spec.kwarg is not None:
            self.refuse("a function with keyword-only arguments")
        # Of arguments with defaults, the solver gives only those that it has to.
        defaults = dict(zip([a.arg for a in first[len(first) - len(fun.defaults) :]], fun.defaults))
        more = {a.arg: self.built(self.fresh(a.arg), defaults[a.arg]) for a in first[count:] if a.arg in defaults}
        kept, body = first[:count], tree.body
        if self.mutable:
            inside = ast.arguments([], [*kept, *[ast.arg(name) for name in more]], spec.vararg, [], [], None, [])
            inner = ast.FunctionDef(self.fresh(tree.name), inside, body, [], None, None, **TYPE_PARAMS)
            given: list[ast.expr] = [*[_read(a.arg) for a in kept], *more.values()]
            if spec.vararg is not None:
                given.append(ast.Starred(_read(spec.vararg.arg), ast.Load()))
            body = [ast.copy_location(inner, tree), *self.watched(ast.Call(_read(inner.name), given, []))]
        else:
            body = [*[_assign(name, value, fun.node) for name, value in more.items()], *body]
        return self.made(tree.name, kept, spec.vararg, body, fun.owner, fun.file)

    def of_value(self, fun: Val, count: int) -> tuple[Callback, list[Val]]:
        """The same for a method, an object that can be called, or a partial with keywords."""
        frame = self.ctx.frame
        while frame.site is not None and frame.caller is not None:
            frame = frame.caller
        loc = self.ctx.loc_of(self.node)
        self.like = ast.Pass(lineno=loc.line, col_offset=loc.col, end_lineno=loc.line, end_col_offset=loc.col)
        names = [ast.arg(self.fresh(f"argument_{k}")) for k in range(count)]
        call = ast.Call(self.built(self.fresh("called"), fun), [_read(a.arg) for a in names], [])
        return self.made("callback", names, None, self.watched(call), frame.owner, frame.file)

    def watched(self, call: ast.expr) -> list[ast.stmt]:
        """Statements that return what the call gives, if it writes to nothing of the prologue."""
        if not self.mutable:
            return [ast.copy_location(ast.Return(call), self.like)]
        before, outcome = self.fresh("before"), self.fresh("outcome")
        them = ast.Tuple([_read(name) for name in self.mutable], ast.Load())
        check = ast.Call(self.constant(self.fresh("unchanged"), unchanged), [them, _read(before)], [])
        return [
            _assign(before, ast.Call(self.constant(self.fresh("contents"), contents), [them], []), self.like),
            _assign(outcome, call, self.like),
            ast.copy_location(ast.Expr(check), self.like),
            ast.copy_location(ast.Return(_read(outcome)), self.like),
        ]

    def made(
        self, name: str, kept: list[ast.arg], vararg: ast.arg | None, body: list[ast.stmt], owner: Any, file: str
    ) -> tuple[Callback, list[Val]]:
        spec = ast.arguments([], [*[ast.arg(p) for p in self.params], *kept], vararg, [], [], None, [])
        tree = ast.FunctionDef(name, spec, [*self.prologue, *body], [], None, None, **TYPE_PARAMS)
        made = Callback(function_of(ast.copy_location(tree, self.like), owner, file, self.cells))
        made.left_out = self.left_out
        return made, self.values

    def refuse(self, what: str, remedy: str = "pass a function that only computes its result") -> NoReturn:
        self.ctx.fail(f"a solver gets {what} to call", self.node, remedy)

    def definition(self, fun: Closure, name: str) -> ast.FunctionDef:
        """The function as a definition; what it reads from around it is noted."""
        tree = copy.deepcopy(fun.node)
        spec = tree.args  # what stands in it was computed where the function was defined
        spec.defaults, spec.kw_defaults = [], [None] * len(spec.kwonlyargs)
        for n in ast.walk(tree):
            if isinstance(n, ast.arg):
                n.annotation = None
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.refuse("a function that rebinds variables of others")
            if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)):
                self.refuse("a generator")
            if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
                self.note_changed(n)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CHANGING:
                self.note_changed(n.func)
            self.used.update([x for x in (getattr(n, "id", None), getattr(n, "arg", None)) if isinstance(x, str)])
        body: list[ast.stmt] = (
            tree.body if isinstance(tree, ast.FunctionDef) else [ast.copy_location(ast.Return(tree.body), tree.body)]
        )
        made = ast.FunctionDef(name, tree.args, body, [], None, None, **TYPE_PARAMS)
        ast.copy_location(made, tree)
        local = scope_of(tree).locals
        self.used |= local
        read = {n.id: None for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id not in local}
        code = code_of(made, list(read), fun.owner, fun.file)  # Python says which of them are those of a comprehension
        for free in read:
            if free in code.co_freevars:
                self.capture(free, self.ctx.frames[fun.env])
        return made

    def bridge(self, fun: Closure, name: str) -> ast.expr:
        """A local function that is called by this one. It is lifted by itself: names in it are its own."""
        if fun is self.fun:
            self.refuse("a function that calls itself", "write it as a loop")
        spec = copy.deepcopy(fun.node.args)
        if spec.kwonlyargs or spec.kwarg is not None:
            self.refuse(f"a function that calls {name!r}, which takes keywords,")
        for a in (*spec.posonlyargs, *spec.args):
            a.annotation = None
        given: list[ast.expr] = [_read(a.arg) for a in (*spec.posonlyargs, *spec.args)]
        inner = _Lifting(self.ctx, fun, self.node)
        callback, values = inner.of_closure(fun, len(given))
        if spec.vararg is not None:
            spec.vararg.annotation = None
            given.append(ast.Starred(_read(spec.vararg.arg), ast.Load()))
        self.used.update([a.id for a in ast.walk(ast.Tuple(given, ast.Load())) if isinstance(a, ast.Name)])
        self.left_out |= inner.left_out
        names = [self.built(self.fresh(f"{name}_{k}"), value) for k, value in zip(inner.params, values)]
        call = ast.Call(self.constant(self.fresh(f"{name}_lifted"), callback.fn), [*names, *given], [])
        spec.defaults = [self.built(self.fresh(f"{name}_default"), x) for x in fun.defaults]
        return ast.copy_location(ast.Lambda(spec, call), self.like)

    def note_changed(self, n: Any) -> None:
        while isinstance(n, (ast.Subscript, ast.Attribute)):
            n = n.value
        if isinstance(n, ast.Name):
            self.changed.add(n.id)

    def fresh(self, name: str) -> str:
        """A name for something that the function does not know by a name."""
        while name in self.used:
            name += "_"
        self.used.add(name)
        return name

    def capture(self, name: str, frame: Frame | None) -> None:
        """Settle what a name of the functions around it stands for."""
        while frame is not None and name not in frame.scope.locals:
            frame = frame.parent
        if frame is None:
            return  # a global, or a cell of the outermost function, which the lifted one reads as well
        if self.settled.get(name) == frame.env:
            return
        if self.settled.setdefault(name, frame.env) != frame.env:
            self.refuse(f"a function that reads two variables called {name!r}", "give one of them another name")
        av = self.ctx.state.envs[frame.env].get(name, MISSING)
        if av is MISSING:
            return
        if type(av) is Maybe:
            self.refuse(f"a function that reads {name!r}, which may not be bound,", "bind it on all paths")
        if name in self.changed and type(av) in (ListRef, DictRef, Instance, Obj, Closure):
            self.refuse(f"a function that changes {describe(av)} ({name!r})", "return what it computes")
        expression = self.built(name, av)
        if not (isinstance(expression, ast.Name) and expression.id == name):
            self.prologue.append(_assign(name, expression, self.like))

    # --- expressions for values; their leaves are parameters or constants ---------------------------------------------

    def built(self, name: str, av: Val) -> ast.expr:
        """An expression for a value in the lifted function, where it is called `name`."""
        kind = type(av)
        if kind in (Value, Ref):
            self.params.append(name)
            self.values.append(av)
            return _read(name)
        if is_constant(av):
            return self.constant(name, av)
        if kind is Seq:
            return self.put_together(name, av.cls, av.items)
        if kind is RangeOf or kind is SliceOf:
            return self.put_together(name, range if kind is RangeOf else slice, (av.start, av.stop, av.step))
        if kind is Closure:
            return self.bridge(av, name)
        if kind is Partial:
            args = self.items(name, (av.fn, *av.args))
            named = [ast.keyword(k, self.built(self.fresh(k), x)) for k, x in zip(av.names, av.values)]
            return ast.Call(self.constant(self.fresh("partial"), functools.partial), args, named)
        if kind is Bound and type(av.fn) is Obj and isinstance(av.fn.obj, types.FunctionType):
            partial = self.constant(self.fresh("partial"), functools.partial)
            owner = self.built(self.fresh("self"), av.self)
            return ast.Call(partial, [self.constant(self.fresh(av.fn.obj.__name__), av.fn.obj), owner], [])
        if kind is Obj and not (is_object(av) and _is_open(self.ctx, av)):
            return self.constant(name, _held(self.ctx, av))
        if kind in (ListRef, DictRef, Instance, Obj):
            key = (kind, av.path if kind is Obj else av.cell)
            if key not in self.known:
                self.known[key] = None
                made = self.container(name, av)
                if made is None:
                    del self.known[key]
                else:
                    self.known[key] = variable = self.fresh(f"{name}_")
                    self.mutable.append(variable)
                    self.prologue.append(_assign(variable, made, self.like))
            known = self.known.get(key)
            if known is not None:
                return _read(known)
            if key in self.known:
                self.refuse(f"a function that reads something that holds itself ({name!r})", "pass what it reads")
        what = "an object" if kind in (Instance, Obj) else describe(av)
        self.refuse(f"a function that reads {what} ({name!r})", "put what it reads of it into local variables first")

    def constant(self, name: str, obj: Any) -> ast.expr:
        self.cells[name] = obj
        return _read(name)

    def items(self, name: str, them: Iterable[Val]) -> list[ast.expr]:
        return [self.built(self.fresh(f"{name}_{k}"), x) for k, x in enumerate(them)]

    def put_together(self, name: str, cls: Any, them: tuple[Val, ...]) -> ast.expr:
        """A tuple, or what a callable makes of these."""
        items = self.items(name, them)
        if cls is None:
            return ast.Tuple(items, ast.Load())
        return ast.Call(self.constant(self.fresh(cls.__name__), cls), items, [])

    def container(self, name: str, av: Val) -> ast.expr | None:
        """An expression for a list, a dictionary or an object; None if there is none."""
        if type(av) is Obj:
            if not (_is_plain_class(type(av.obj)) and self.ctx.is_plain(av.obj)):
                return None
            return self.object(name, av, type(av.obj), _attributes(self.ctx, av))
        content = self.ctx.checked(av.cell, self.node, "list" if type(av) is ListRef else "object")
        if type(av) is ListRef and type(content) is Items:
            return ast.List(self.items(name, content.items), ast.Load())
        numbers = _numbers_of(content) if type(av) is ListRef else ""
        if numbers:
            array = self.built(name, self.ctx.call(Obj(np.array, None), [av], {}, self.node))
            if numbers == "py":
                return ast.Call(ast.Attribute(array, "tolist", ast.Load()), [], [])
            return ast.Call(self.constant(self.fresh("list"), list), [array], [])
        if type(av) is DictRef and type(content) is Entries and av.cell not in self.ctx.cells.ordered:
            keys: list[ast.expr | None] = [self.constant(self.fresh(f"{name}_key"), k) for k in content.keys]
            return ast.Dict(keys, self.items(name, content.items))
        if type(av) is Instance and type(content) is Entries and _is_plain_class(av.cls):
            if self.ctx.origin(av) is None and all(isinstance(k, str) for k in content.keys):
                return self.object(name, av, av.cls, content.table)
        return None

    def object(self, name: str, av: Val, cls: type, attributes: dict[str, Val]) -> ast.expr:
        """An expression for an object with these attributes. What cannot be handed on is left out, if nobody asks."""
        made: dict[str, ast.expr] = {}
        for attribute, value in attributes.items():
            if value is UNSET or value is MISSING:
                continue
            try:
                value = self.ctx.use(value, f"{cls.__name__}.{attribute}", self.node)
                made[attribute] = self.built(self.fresh(f"{name}_{attribute}"), value)
            except UnsupportedError as error:
                if attribute in _asked_for(cls, self.like) or hasattr(cls, attribute) or hasattr(cls, "__getattr__"):
                    raise
                self.left_out[attribute] = str(error.message)
        maker = self.constant(self.fresh("made_object"), made_object)
        names = self.constant(self.fresh(f"{name}_names"), tuple(made))
        return ast.Call(maker, [self.constant(self.fresh(cls.__name__), cls), names, *made.values()], [])


def _numbers_of(content: Any) -> str:
    """The kind of numbers in a list of run-time length, of which an array can be made, and of that the list again."""
    if type(content) is not Columns or type(content.structure) is not Leaf:
        return ""
    t = type_of(content.leaves[0]).elem
    if t is None or t.dtype not in (np.float64, np.int64):
        return ""
    return t.kind if t.kind in ("py", "generic") else ""


def _is_plain_class(cls: type) -> bool:
    """Of its objects the attributes are all that there is."""
    for name in ("__setattr__", "__getattribute__"):
        found = getattr(cls, name)
        if isinstance(found, types.FunctionType) and not is_generated(found):  # those of a frozen dataclass are
            return False
    return not (is_library_class(cls) or issubclass(cls, BaseException) or base_of(cls) is not None)


def _is_open(ctx: Ctx, av: Obj) -> bool:
    """An object of an argument, which may hold something to differentiate by: it is made again of its attributes."""
    cls = type(av.obj)
    known = root_module(cls) in CALLED or is_library_class(cls) and not hasattr(av.obj, "toarray")
    return not _is_constant_object(ctx, av) and not known


def _attributes(ctx: Ctx, av: Obj) -> dict[str, Val]:
    """The attributes of an object that is an argument, or in one. The code is for objects that have just these."""
    obj, path = av.obj, ctx.object_path(av)
    own = getattr(obj, "__dict__", None)
    names = [name for name in slot_names(type(obj)) if name != "__weakref__"]
    if own is not None:
        ctx.inputs.guard((*path, ("attr", "__dict__")), "keys", tuple(own))
        names += own
    for name in names:
        if not hasattr(obj, name):
            ctx.inputs.guard(path, "lacks", name)
    return {name: ctx.own_attribute(av, name, ctx.node) for name in names if hasattr(obj, name)}


def _asked_for(cls: type, node: ast.AST) -> set[str]:
    """The attributes that a function, or a method of the class or of its bases, reads; constructors left out."""
    found = {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    for c in cls.__mro__[:-1]:
        for name, raw in vars(c).items():
            if name not in ("__init__", "__new__", "__post_init__"):
                for fn in (raw, *[getattr(raw, way, None) for way in ("__func__", "fget", "func")]):
                    if isinstance(fn, types.FunctionType):
                        found |= _read_by(fn.__code__)
    return found


def _read_by(code: types.CodeType) -> set[str]:
    found = {str(i.argval) for i in dis.get_instructions(code) if i.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            found |= _read_by(const)
    return found


@lowers(made_object)
def _made_object(ctx: Ctx, cls: Val, names: Val, /, *values: Val) -> Val:
    return ctx.new_object(cls.obj, dict(zip(names.items, values)))


@lowers(contents, unchanged)
def _no_contents(ctx: Ctx, them: Val, before: Val = None, /) -> Val:
    return None  # what is written is seen where the solver calls the function


def _read(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), like)
