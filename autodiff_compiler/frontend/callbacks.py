"""Functions that are handed to a solver: what they read from the functions around them becomes their arguments.

``lambda t: t * x[0]`` inside of the lowered code is no object at run time, as `x` is a value of the lowered code. It is
lifted to ``lambda x, t: t * x[0]``, a function of its own, and the solver gets it with the present `x`.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from typing import Any

from ..ir.core import Value
from ..kernels.callbacks import SCALAR, Callback
from . import source
from .avals import MISSING, Bound, Closure, Instance, ListRef, Maybe, Obj, Partial, Ref, Seq, describe, is_constant
from .core import Frame
from .definitions import derived, lifted
from .handlers import Ctx, Node, Val, lowers
from .objects import is_object
from .scopes import scope_of

_CHANGING = frozenset(
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
        return _Lifting(ctx, fun, count, node).run()
    if type(fun) is Obj and callable(fun.obj):
        owner = getattr(fun.obj, "__self__", None)
        if isinstance(owner, types.ModuleType) or owner is None or _is_constant_object(ctx, fun):
            return Callback(fun.obj), []
    if type(fun) is Bound and type(fun.self) is Obj and _is_constant_object(ctx, fun.self):
        name = fun.fn if isinstance(fun.fn, str) else getattr(fun.fn.obj, "__name__", "")
        return Callback(getattr(fun.self.obj, name)), []
    ctx.fail(
        f"a solver gets {describe(fun)} to call",
        node,
        "pass a function or a lambda, and put what it reads of objects into local variables first",
    )


def _is_constant_object(ctx: Ctx, av: Obj) -> bool:
    """An object from outside that holds nothing to differentiate by: it is not in an argument."""
    path = ctx.object_path(av)
    return not path or path[0][0] != "arg"


class _Lifting:
    """A closure on its way to a function of its own."""

    def __init__(self, ctx: Ctx, fun: Closure, count: int, node: Node):
        self.ctx, self.fun, self.count, self.node = ctx, fun, count, node
        self.values: list[Val] = []
        self.params: list[str] = []  # their names
        self.cells: dict[str, Any] = {}  # constants
        self.prologue: list[ast.stmt] = []  # what rebuilds containers and local functions
        self.taken: dict[str, int] = {}  # names that are settled, with the frame of each
        self.changed: set[str] = set()
        self.local = scope_of(fun.node).locals

    def run(self) -> tuple[Callback, list[Val]]:
        fun = self.fun
        tree = self.definition(fun, "callback" if isinstance(fun.node, ast.Lambda) else fun.node.name)
        spec = tree.args
        first = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        if spec.kwonlyargs or spec.kwarg is not None:
            self.refuse("a function with keyword-only arguments")
        # Of arguments with defaults, the solver gives only those that it has to.
        head: list[ast.stmt] = []
        for name, default in zip(first[len(first) - len(fun.defaults) :], fun.defaults):
            if first.index(name) >= self.count:
                head.append(_assign(name, self.built(f"{name}_default", default), fun.node))
        kept = [*spec.posonlyargs, *spec.args][: self.count]
        captured = [ast.arg(name) for name in self.params]
        tree.args = ast.arguments([], [*captured, *kept], spec.vararg, [], [], None, [])
        tree.body = [*self.prologue, *head, *tree.body]
        return Callback(_function(tree, fun, self.cells)), self.values

    def refuse(self, what: str, remedy: str = "pass a function that only computes its result") -> Any:
        self.ctx.fail(f"a solver gets {what} to call", self.node, remedy)

    def definition(self, fun: Closure, name: str) -> ast.FunctionDef:
        """The function as a definition; what it reads from around it is noted."""
        tree = copy.deepcopy(fun.node)
        for n in ast.walk(tree):
            if isinstance(n, (ast.Global, ast.Nonlocal)):
                self.refuse("a function that rebinds variables of others")
            if isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)):
                self.refuse("a generator")
            if isinstance(n, (ast.Subscript, ast.Attribute)) and not isinstance(n.ctx, ast.Load):
                self.note_changed(n)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in _CHANGING:
                self.note_changed(n.func)
        body: list[ast.stmt] = (
            tree.body if isinstance(tree, ast.FunctionDef) else [ast.copy_location(ast.Return(tree.body), tree.body)]
        )
        made = ast.FunctionDef(name, tree.args, body, [], None, None, **source._TYPE_PARAMS)
        ast.copy_location(made, tree)
        local = scope_of(tree).locals
        read = {n.id: None for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id not in local}
        for free in read:
            self.capture(free, self.ctx.frames[fun.env])
        return made

    def bridge(self, fun: Closure, name: str) -> ast.stmt:
        """A local function that is called by this one. It is lifted by itself: names in it are its own."""
        count = len(fun.node.args.posonlyargs) + len(fun.node.args.args)
        inner = _Lifting(self.ctx, fun, count, self.node)
        callback, values = inner.run()
        self.cells[f"{name}_lifted"] = callback.fn
        names = [self.built(f"{name}_{k}", value) for k, value in zip(inner.params, values)]
        given = [ast.Name(a.arg, ast.Load()) for a in (*fun.node.args.posonlyargs, *fun.node.args.args)]
        call = ast.Call(ast.Name(f"{name}_lifted", ast.Load()), [*names, *given], [])
        spec = copy.deepcopy(fun.node.args)
        if spec.kwonlyargs or spec.kwarg is not None or spec.vararg is not None:
            self.refuse(f"a function that calls {name!r}, which takes any number of arguments or keywords,")
        spec.defaults = [self.built(f"{name}_default_{k}", x) for k, x in enumerate(fun.defaults)]
        made = ast.Lambda(spec, call)
        return _assign(name, made, self.fun.node)

    def note_changed(self, n: Any) -> None:
        while isinstance(n, (ast.Subscript, ast.Attribute)):
            n = n.value
        if isinstance(n, ast.Name):
            self.changed.add(n.id)

    def capture(self, name: str, frame: Frame | None) -> None:
        """Settle what a name of the functions around it stands for."""
        while frame is not None and name not in frame.scope.locals:
            frame = frame.parent
        if frame is None:
            return  # a global, or a cell of the outermost function, which the lifted one reads as well
        if self.taken.setdefault(name, frame.env) != frame.env:
            self.refuse(f"a function that reads two variables called {name!r}", "give one of them another name")
        elif name in self.params or name in self.cells or any(_binds(s, name) for s in self.prologue):
            return
        av = self.ctx.state.envs[frame.env].get(name, MISSING)
        if av is MISSING or type(av) is Maybe:
            if type(av) is Maybe:
                self.refuse(f"a function that reads {name!r}, which may not be bound,", "bind it on all paths")
            return
        if type(av) is Closure:
            if av is self.fun:
                self.refuse("a function that calls itself", "write it as a loop")
            self.prologue.append(self.bridge(av, name))
            return
        expression = self.built(name, av)
        if not (isinstance(expression, ast.Name) and expression.id == name):
            self.prologue.append(_assign(name, expression, self.fun.node))

    def built(self, name: str, av: Val) -> ast.expr:
        """An expression for a value in the lifted function; its leaves are parameters or constants."""
        while name not in self.taken and name in self.local:
            name += "_"
        if type(av) is Seq and av.cls is None:
            items = [self.built(f"{name}_{k}", x) for k, x in enumerate(av.items)]
            return ast.Tuple(items, ast.Load())
        if type(av) is ListRef:
            if name in self.changed:
                self.refuse(f"a function that changes the list {name!r}", "return what it computes")
            content = self.ctx.checked(av.cell, self.node, "list")
            if type(content).__name__ == "Items":
                items = [self.built(f"{name}_{k}", x) for k, x in enumerate(content.items)]
                return ast.List(items, ast.Load())
        if is_constant(av):
            self.cells[name] = av
        elif type(av) is Obj and not (is_object(av) and not _is_constant_object(self.ctx, av)):
            self.cells[name] = av.obj
        elif type(av) in (Value, Ref):
            self.params.append(name)
            self.values.append(av)
        else:
            what = "an object" if type(av) in (Instance, Obj) else describe(av)
            remedy = "put what it reads of it into local variables first"
            self.refuse(f"a function that reads {what} ({name!r})", remedy)
        return ast.Name(name, ast.Load())


def _binds(statement: ast.stmt, name: str) -> bool:
    if isinstance(statement, ast.FunctionDef):
        return statement.name == name
    return isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == name


def _assign(name: str, value: ast.expr, like: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), like))


def _function(tree: ast.FunctionDef, fun: Closure, cells: dict[str, Any]) -> types.FunctionType:
    """The function of a definition, at the user's own lines: with these constants, and the globals of the closure."""
    ast.fix_missing_locations(tree)
    owner: types.FunctionType = fun.owner
    outer = dict(zip(owner.__code__.co_freevars, owner.__closure__ or ()))
    made = {**outer, **{name: types.CellType(value) for name, value in cells.items()}}
    names: list[ast.arg] = [ast.arg(name) for name in made]
    enclosing = ast.FunctionDef(
        "enclosing", ast.arguments([], names, None, [], [], None, []), [tree], [], None, None, **source._TYPE_PARAMS
    )
    module = ast.fix_missing_locations(ast.Module([ast.copy_location(enclosing, tree)], []))
    flags = owner.__code__.co_flags & source._FUTURE
    (outside,) = [c for c in compile(module, fun.file, "exec", flags, dont_inherit=True).co_consts if inspect.iscode(c)]
    (code,) = [c for c in outside.co_consts if inspect.iscode(c)]
    closure = tuple([made[name] for name in code.co_freevars])
    function = types.FunctionType(code, owner.__globals__, tree.name, None, closure)
    source.remember(function, source.Source(tree, fun.file, ast.unparse(tree), []))
    return function
