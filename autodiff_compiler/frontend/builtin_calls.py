"""Python's built-in functions, and the methods of lists, dictionaries and strings."""

from __future__ import annotations

import builtins
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ir.core import Value, type_of
from ..ir.opset import LIST_DROP, LIST_GET, PRIMS, PRINT, opaque
from ..ir.types import py_int
from .access import class_lookup
from .avals import (
    Bound,
    Closure,
    DictRef,
    Entries,
    EnumerateOf,
    Instance,
    Items,
    ListRef,
    Obj,
    Partial,
    RangeOf,
    Ref,
    ReversedOf,
    Seq,
    SliceOf,
    ZipOf,
    describe,
    is_constant,
    is_number,
    is_static_int,
)
from .calls import Calls

Handler = Callable[[list[Any], dict[str, Any], Any], Any]

_REFUSED = {
    "eval": "", "exec": "", "globals": "", "locals": "", "vars": "", "input": "", "open": "", "delattr": "",
    "compile": "", "setattr": "assign to the name", "__import__": "use an import statement",
    "iter": "loop over it directly", "next": "loop over it directly",
    "id": "", "memoryview": "", "set": "use a list", "frozenset": "use a tuple",
}  # fmt: skip


class BuiltinCalls(Calls):
    def special(self, obj: Any) -> Handler | None:
        try:
            name = _BUILTINS.get(obj)
        except TypeError:
            return None
        if name is None:
            return None
        if name in _REFUSED:
            return lambda args, kwargs, node: self.fail(f"{name}() is not supported", node, _REFUSED[name])
        return getattr(self, "b_" + name, None)

    def only(self, args: list[Any], low: int, high: int, kwargs: dict[str, Any], node: Any, name: str) -> None:
        if not low <= len(args) <= high or kwargs:
            self.fail(f"{name}() is called with arguments that are not supported", node, "", ArgumentError)

    # --- iterables ------------------------------------------------------------------------------------------------

    def b_range(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 3, kwargs, node, "range")
        values = [self.integer(a, node) for a in args]
        if len(values) == 1:
            return RangeOf(0, values[0], 1)
        if len(values) == 3 and values[2] == 0 and is_static_int(values[2]):
            self.fail("range() arg 3 must not be zero", node, "", ArgumentError)
        return RangeOf(values[0], values[1], values[2] if len(values) == 3 else 1)

    def integer(self, av: Any, node: Any) -> Any:
        x = self.operand(av, node)
        t = type_of(x)
        if not (t.dtype is not None and t.dtype.kind in "iub") and not (
            t.kind in ("any", "scalar") and t.dtype is None
        ):
            self.fail(f"{describe(av)} cannot be interpreted as an integer", node, "", ArgumentError)
        if type(x) is Value and t.kind != "py":
            return self.emit(node, opaque_index(), x) if t.kind in ("any", "array") or t.dtype is None else x
        return int(x) if isinstance(x, bool) else x

    def b_enumerate(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", args[1] if len(args) > 1 else 0)
        self.only(args, 1, 2, kwargs, node, "enumerate")
        return EnumerateOf(self.iterable(args[0], node), start)

    def b_zip(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if kwargs.pop("strict", False) is not False or kwargs:
            self.fail("zip() with strict=", node)
        return ZipOf(tuple([self.iterable(a, node) for a in args]))

    def b_reversed(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "reversed")
        return ReversedOf(self.iterable(args[0], node))

    def b_map(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        its: list[Any] = [self.iterable(a, node) for a in args[1:]]
        it = ZipOf(tuple(its))
        items = self.unrollable(it, node)
        out = self.new_list([])
        if items is not None:
            for item in items:
                self.list_append(out, self.call(args[0], list(item.items), {}, node), node)
            return out
        range_, item_at = self.iteration(it, node)
        self.run_loop(
            node,
            range_,
            lambda i: self.list_append(out, self.call(args[0], list(item_at(i).items), {}, node), node),
            None,
            [],
            [],
            None,
        )
        return out

    def b_filter(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.fail("filter() is not supported", node, "use a comprehension with `if`")

    def iterable(self, av: Any, node: Any) -> Any:
        """Something that a loop can run over."""
        if type(av) is DictRef:
            return self.new_list(list(self.checked(av.cell, node, "dictionary").keys))
        return av

    def items_or_none(self, av: Any, node: Any) -> list[Any] | None:
        return self.iterated(av, node)

    def as_list(self, av: Any, node: Any) -> Any:
        """``list(av)``."""
        items = self.items_or_none(av, node)
        if items is not None:
            return self.new_list(items)
        if type(av) is ListRef:
            return self.linked(self.checked(av.cell, node, "list"), [av], numpy=False)
        out = self.new_list([])
        range_, item_at = self.iteration(av, node)
        self.run_loop(node, range_, lambda i: self.list_append(out, item_at(i), node), None, [], [], None)
        return out

    def b_list(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, kwargs, node, "list")
        return self.as_list(args[0], node) if args else self.new_list([])

    def b_tuple(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 0, 1, kwargs, node, "tuple")
        if not args:
            return Seq(())
        if type(args[0]) is Value and args[0].type.kind == "shape":
            return args[0]
        items = self.items_or_none(args[0], node)
        if items is None:
            self.fail("tuple() of something whose length is known at run time only", node, "use a list")
        return Seq(tuple(items))

    def b_dict(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        entries: dict[Any, Any] = {}
        if args:
            if type(args[0]) is DictRef:
                content = self.checked(args[0].cell, node, "dictionary")
                entries.update(zip(content.keys, content.items))
            else:
                items = self.items_or_none(args[0], node)
                if items is None:
                    self.fail("dict() of something whose length is known at run time only", node)
                for item in items:
                    key, value = self.unpacked(item, 2, node)
                    entries[self.static_key(key, node)] = value
        entries.update(kwargs)
        return self.new_dict(entries)

    def b_sorted(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        items = self.items_or_none(args[0], node)
        if items is not None and all(is_constant(i) for i in items) and not kwargs:
            return self.new_list(sorted(items))
        self.fail("sorted() of values known at run time only", node, "use np.sort")

    # --- numbers --------------------------------------------------------------------------------------------------

    def b_len(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "len")
        return self.length(args[0], node)

    def b_sum(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        start = kwargs.pop("start", args[1] if len(args) > 1 else 0)
        self.only(args, 1, 2, kwargs, node, "sum")
        items = self.items_or_none(args[0], node)
        if items is not None:
            total = start
            for item in items:
                total = self.binary(operator.add, total, item, node)
            return total
        env, name = self.frame.env, f"$sum{getattr(node, 'lineno', 0)}_{getattr(node, 'col_offset', 0)}"
        self.state.envs[env][name] = start
        range_, item_at = self.iteration(args[0], node)

        def add(i: Any) -> None:
            names = self.state.envs[env]
            new = self.binary(operator.add, names[name], item_at(i), node)
            self.state.envs[env][name] = new

        self.run_loop(node, range_, add, None, [], [], None)
        return self.state.envs[env].pop(name)

    def extreme(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if "key" in kwargs or "default" in kwargs:
            self.fail(f"{fn.__name__}() with key= or default=", node)
        if len(args) == 1:
            items = self.items_or_none(args[0], node)
            if items is None:
                if type(args[0]) is Ref and self.read(args[0], node).type.ndim == 1:
                    return self.call(Obj(getattr(np, fn.__name__), None), args, {}, node)
                self.fail(
                    f"{fn.__name__}() of a sequence whose length is known at run time only",
                    node,
                    f"use np.{fn.__name__}",
                )
            args = items
        if all(is_number(a) for a in args) and args:
            return fn(args)
        if len(args) == 1:
            return args[0]
        for a in args:
            if type(a) is Ref and self.read(a, node).type.ndim != 0:
                self.fail(
                    f"{fn.__name__}() of arrays, whose truth is ambiguous",
                    node,
                    f"use np.{fn.__name__}imum",
                    ArgumentError,
                )
        return self.call_prim(PRIMS[fn], args, {}, node)

    def b_min(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(min, args, kwargs, node)

    def b_max(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.extreme(max, args, kwargs, node)

    def number_call(self, fn: Any, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if all(is_constant(a) for a in args) and not kwargs:
            try:
                return fn(*args)
            except (ValueError, TypeError, OverflowError, ZeroDivisionError):
                pass
        if args and (type(args[0]) is Instance or type(args[0]) is Obj):
            method = self.type_attribute(args[0], f"__{fn.__name__}__")
            if method is not None:
                return self.call(method, args, {}, node)
        return self.call_prim(PRIMS[fn], args, kwargs, node)

    def b_abs(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(abs, args, kwargs, node)

    def b_round(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(round, args, kwargs, node)

    def b_float(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if args and type(args[0]) is Value and str(args[0].type) == "float":
            return args[0]
        return self.number_call(float, args, kwargs, node) if args else 0.0

    def b_int(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if args and type(args[0]) is Value and args[0].type.kind == "py" and str(args[0].type) == "int":
            return args[0]
        return self.number_call(int, args, kwargs, node) if args else 0

    def b_complex(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.number_call(complex, args, kwargs, node)

    def b_bool(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.truth(args[0], node) if args else False

    def b_pow(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "pow")
        return self.binary(operator.pow, args[0], args[1], node)

    def b_divmod(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "divmod")
        a, b = args
        return Seq((self.binary(operator.floordiv, a, b, node), self.binary(operator.mod, a, b, node)))

    def b_any(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.quantified(args, False, node)

    def b_all(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.quantified(args, True, node)

    def quantified(self, args: list[Any], every: bool, node: Any) -> Any:
        items = self.items_or_none(args[0], node)
        if items is None:
            x = self.operand(args[0], node)
            if type(x) is Value and x.type.kind == "array" and x.type.ndim == 1:
                return self.truth(self.call(Obj(np.all if every else np.any, None), args, {}, node), node)
            self.fail(
                "any() or all() of a sequence whose length is known at run time only", node, "use np.any or np.all"
            )
        result: Any = every
        for item in items:
            flag = self.truth(item, node)
            if isinstance(flag, bool):
                if flag is not every:
                    return flag
                continue
            result = (
                flag
                if result is every
                else self.emit(node, PRIMS[operator.and_ if every else operator.or_], result, flag)
            )
        return result

    # --- objects --------------------------------------------------------------------------------------------------

    def b_print(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.emit(
            node, PRINT, *[self.plain(a, node) for a in args], **{k: self.plain(v, node) for k, v in kwargs.items()}
        )
        return None

    def b_str(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(str, args, node)

    def b_repr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(repr, args, node)

    def b_format(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return self.text(format, args, node)

    def text(self, fn: Any, args: list[Any], node: Any) -> Any:
        if all(is_constant(a) for a in args):
            return fn(*args)
        return self.emit(node, opaque(fn, fn.__name__), *[self.plain(a, node) for a in args])

    def b_partial(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return Partial(args[0], tuple(args[1:]), tuple(kwargs), tuple(kwargs.values()))

    def b_slice(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 3, kwargs, node, "slice")
        return SliceOf(None, args[0], None) if len(args) == 1 else SliceOf(*args, *[None] * (3 - len(args)))

    def b_object(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.fail("object() is not supported", node)

    def b_callable(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av = args[0]
        if type(av) is Obj:
            return callable(av.obj)
        if type(av) is Instance:
            return class_lookup(av.cls, "__call__") is not None
        return type(av) in (Closure, Bound, Partial)

    def b_hasattr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        av, name = args[0], args[1]
        if not isinstance(name, str):
            self.fail("hasattr() needs a literal name", node)
        if type(av) is Obj:
            return hasattr(av.obj, name)
        if type(av) is Instance:
            return name in self.checked(av.cell, node, "object").keys or class_lookup(av.cls, name) is not None
        if type(av) is Ref:
            return hasattr(np.ndarray, name)
        if type(av) is Value and av.type.kind == "py" and av.type.dtype is not None:
            return hasattr(av.type.dtype.type(0).item(), name)
        if type(av) is Value and av.type.kind == "generic" and av.type.dtype is not None:
            return hasattr(av.type.dtype.type, name)
        samples: dict[type, Any] = {Seq: (), ListRef: [], DictRef: {}}
        if is_constant(av) or type(av) in samples:
            return hasattr(samples.get(type(av), av), name)
        self.fail(f"hasattr() of {describe(av)}", node)

    def b_getattr(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if len(args) < 2 or not isinstance(args[1], str):
            self.fail("getattr() needs a name that is known when the program is compiled", node)
        if len(args) == 3 and not self.b_hasattr(args[:2], {}, node):
            return args[2]
        return self.attribute(args[0], args[1], node)

    def b_type(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 1, 1, kwargs, node, "type")
        found = self.class_of(args[0], node)
        if found is None:
            self.fail("the type of this value is not known when the program is compiled", node)
        return Obj(found, None)

    def class_of(self, av: Any, node: Any) -> Any:
        """The exact class of what the value is at run time, or None."""
        kind = type(av)
        if kind is Ref or kind is Value:
            t = type_of(self.operand(av, node))
            if t.kind == "array":
                return np.ndarray
            if t.kind == "generic" and t.dtype is not None:
                return t.dtype.type
            if t.kind == "py" and t.dtype is not None:
                return {"b": bool, "i": int, "f": float, "c": complex}[t.dtype.kind]
            return tuple if t.kind == "shape" else list if t.kind == "list" else None
        if is_constant(av):
            return type(av)
        if kind is Obj:
            return type(av.obj)
        if kind is Instance:
            return av.cls
        if kind is Seq:
            return av.cls or tuple
        return {
            ListRef: list,
            DictRef: dict,
            RangeOf: range,
            Closure: types.FunctionType,
            SliceOf: slice,
            Partial: functools.partial,
        }.get(kind)

    def b_isinstance(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        self.only(args, 2, 2, kwargs, node, "isinstance")
        classes = self.classes(args[1], node)
        found = self.class_of(args[0], node)
        if found is not None:
            return issubclass(found, classes)
        t = type_of(self.operand(args[0], node))
        if t.kind == "scalar" and t.dtype is not None:
            python = {"b": bool, "i": int, "f": float, "c": complex}.get(t.dtype.kind, int)
            answers = {issubclass(python, classes), issubclass(t.dtype.type, classes)}
            if len(answers) == 1:
                return answers.pop()
        if (
            t.kind in ("scalar", "generic")
            and not issubclass(np.ndarray, classes)
            and all(
                not issubclass(c, (int, float, complex, np.generic)) and not issubclass(np.float64, c) for c in classes
            )
        ):
            return False
        return self.emit(
            node,
            opaque(isinstance, "isinstance"),
            self.operand(args[0], node),
            classes if len(classes) > 1 else classes[0],
        )

    def b_issubclass(self, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        return issubclass(args[0].obj, self.classes(args[1], node))

    def classes(self, av: Any, node: Any) -> tuple[type, ...]:
        if type(av) is Seq:
            return tuple([c for item in av.items for c in self.classes(item, node)])
        if type(av) is Obj and isinstance(av.obj, type):
            return (av.obj,)
        if type(av) is Obj and isinstance(av.obj, types.UnionType):
            return tuple(av.obj.__args__)
        self.fail("this is not a class known when the program is compiled", node)

    # --- methods of containers ------------------------------------------------------------------------------------

    def call_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name == "object.__init__":
            return None
        kind = type(av)
        if kind is ListRef:
            return self.list_method(av, name, args, kwargs, node)
        if kind is DictRef:
            return self.dict_method(av, name, args, kwargs, node)
        if isinstance(av, (str, bytes)):
            return self.string_method(av, name, args, kwargs, node)
        if kind is Seq and av.cls is not None and name == "_replace":
            values = dict(zip(av.cls._fields, av.items))
            values.update(kwargs)
            return Seq(tuple([values[n] for n in av.cls._fields]), av.cls)
        if kind is Seq and name == "_asdict" and av.cls is not None:
            return self.new_dict(dict(zip(av.cls._fields, av.items)))
        if kind is Seq and name in ("index", "count"):
            return self.constant_search(list(av.items), name, args, node)
        if is_number(av):
            value = getattr(av, name)(*args)
            return value
        return self.array_method(av, name, args, kwargs, node)

    def array_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        raise NotImplementedError

    def string_method(self, av: Any, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        if name == "join" and len(args) == 1:
            items = self.static_items(args[0], node)
            if all(isinstance(i, str) for i in items):
                return av.join(items)
        if all(is_constant(a) for a in [*args, *kwargs.values()]):
            result = getattr(av, name)(*args, **kwargs)
            return (
                self.new_list(result)
                if isinstance(result, list)
                else Seq(result)
                if isinstance(result, tuple)
                else result
            )
        if name == "format":
            return self.emit(
                node,
                opaque(str.format, "str.format"),
                av,
                *[self.plain(a, node) for a in args],
                **{k: self.plain(v, node) for k, v in kwargs.items()},
            )
        self.fail(f"str.{name} of values known at run time only", node)

    def constant_search(self, items: list[Any], name: str, args: list[Any], node: Any) -> Any:
        if all(is_constant(x) for x in [*items, *args]):
            return getattr(items, name)(*args)
        self.fail(f".{name}() of values known at run time only", node)

    def list_method(self, av: ListRef, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        content = self.checked(av.cell, node, "list")
        static = type(content) is Items
        if name == "append" and len(args) == 1:
            self.list_append(av, args[0], node)
            return None
        if name == "extend" and len(args) == 1:
            items = self.items_or_none(args[0], node)
            if items is not None:
                for item in items:
                    self.list_append(av, item, node)
                return None
            range_, item_at = self.iteration(args[0], node)
            self.run_loop(node, range_, lambda i: self.list_append(av, item_at(i), node), None, [], [], None)
            return None
        if name == "pop" and len(args) <= 1:
            k = args[0] if args else -1
            if static and is_static_int(k):
                items = list(content.items)
                if not -len(items) <= k < len(items):
                    self.fail("pop from an empty list, or index out of range", node, "", ArgumentError)
                item = items.pop(k)
                self.mutate(av.cell, Items(tuple(items)), node)
                return item
            if k == -1 and not static:
                item = self.linked(self.emit(node, LIST_GET, content, -1), [av], numpy=False)
                new = self.emit(node, LIST_DROP, content)
                self.state.heap[av.cell] = new
                return item
        if name == "copy":
            return self.as_list(av, node)
        if name == "clear":
            self.mutate(av.cell, Items(()), node)
            return None
        if static:
            items = list(content.items)
            if name == "insert" and is_static_int(args[0]):
                items.insert(args[0], args[1])
                self.mutate(av.cell, Items(tuple(items)), node)
                return None
            if name == "reverse":
                self.mutate(av.cell, Items(tuple(items[::-1])), node)
                return None
            if name in ("index", "count"):
                return self.constant_search(items, name, args, node)
            if name == "sort" and all(is_constant(i) for i in items) and not kwargs:
                self.mutate(av.cell, Items(tuple(sorted(items))), node)
                return None
        self.fail(f"list.{name}() is not supported here", node)

    def dict_method(self, av: DictRef, name: str, args: list[Any], kwargs: dict[str, Any], node: Any) -> Any:
        content = self.checked(av.cell, node, "dictionary")
        entries = dict(zip(content.keys, content.items))
        if name == "keys":
            return self.new_list(list(entries))
        if name == "values":
            return self.new_list(list(entries.values()))
        if name == "items":
            return self.new_list([Seq((k, v)) for k, v in entries.items()])
        if name == "copy":
            return self.new_dict(entries)
        if name == "get":
            return entries.get(self.static_key(args[0], node), args[1] if len(args) > 1 else None)
        if name in ("pop", "setdefault", "update"):
            result = None
            if name == "update":
                if args:
                    other = self.b_dict(args, {}, node)
                    found = self.checked(other.cell, node, "dictionary")
                    entries.update(zip(found.keys, found.items))
                entries.update(kwargs)
            elif name == "pop":
                key = self.static_key(args[0], node)
                if key not in entries and len(args) < 2:
                    self.fail(f"the dictionary has no key {key!r}", node, "", ArgumentError)
                result = entries.pop(key, args[1] if len(args) > 1 else None)
            else:
                key = self.static_key(args[0], node)
                result = entries.setdefault(key, args[1] if len(args) > 1 else None)
            self.mutate(av.cell, Entries(tuple(entries), tuple(entries.values())), node)
            return result
        self.fail(f"dict.{name}() is not supported", node)


def opaque_index() -> Any:
    """``operator.index`` as a primitive: an int of what may be one."""
    prim = opaque(operator.index, "operator.index")
    prim.infer = lambda b, a, k: py_int()
    return prim


_BUILTINS: dict[Any, str] = {
    obj: name
    for name, obj in vars(builtins).items()
    if not name.startswith("_") and callable(obj) and not (isinstance(obj, type) and issubclass(obj, BaseException))
}

_BUILTINS[functools.partial] = "partial"
