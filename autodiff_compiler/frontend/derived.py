"""Objects whose class is derived from a list, dictionary, tuple, deque or another built-in container.

Such an object has attributes like any other, and under a hidden name the container that it is. A method that the class
defines in Python is a definition like any other; what it has from the built-in class works on the container. Python's
syntax looks methods up in the class (`special_method`, `call_special`); what NumPy, unpacking and the like read without
asking the class they read from the container (`underlying`).
"""

from __future__ import annotations

import collections
import enum
import operator
import types
from typing import Any

from ..lowered import ObjectStep
from ..tree import class_lookup
from .avals import Bound, Entries, Instance, Obj, Seq, describe
from .handlers import Node, Val
from .inputs import BASES, DATA, SELF, base_of
from .outside import Outside

_STEMS = ("add", "mul", "or", "and", "sub", "xor")
_OPERATORS, _REFLECTED, _IN_PLACE = (
    {f"__{kind}{stem}__": getattr(operator, f"__{stem}__") for stem in _STEMS} for kind in ("", "r", "i")
)
_PLAIN = (list, tuple, dict)  # of which the operators and copies of derived objects are plain ones
_SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType)
_DATA_SLOTS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_WRITES: dict[Any, tuple[str, ...]] = {
    list: ("append", "__setitem__", "__delitem__"), dict: ("__setitem__", "__delitem__"), tuple: (),
}  # fmt: skip


class Derived(Outside):
    """What an object is that is a container as well."""

    def derived_from(self, av: Val) -> type | None:
        """The built-in container that the class of an object is derived from."""
        if type(av) is Instance:
            return base_of(av.cls)
        return base_of(type(av.obj)) if type(av) is Obj else None

    def is_native(self, av: Val, *names: str) -> bool:
        """The object has these methods from the container that its class is derived from."""
        cls, base = self.cls_of(av), self.derived_from(av)
        assert base is not None
        return all(class_lookup(cls, name) is class_lookup(base, name) for name in names)

    def underlying(self, av: Val, node: Node, *names: str) -> Val:
        """The container that an object is, if its class leaves these methods as they are; all else as it is."""
        if type(av) is Obj and isinstance(av.obj, enum.EnumMeta) and names in (("__iter__",), ("__len__",)):
            return _members_of(self, av)
        if type(av) not in (Instance, Obj) or self.derived_from(av) is None or not self.is_native(av, *names):
            return av
        return self.data_of(av, node)

    def data_of(self, av: Val, node: Node) -> Val:
        """The container that an object is."""
        if type(av) is Instance:
            content = self.checked(av.cell, node, "object")
            if DATA in content.keys:
                return self.use(content.get(DATA), "the container", node)
        origin = self.origin(av)
        if origin is None:
            self.fail(f"{describe(av)} is one of several, depending on a condition", node, "use it on each path")
        base = self.derived_from(av)
        if base not in _PLAIN:
            kind = getattr(base, "__name__", "")
            self.fail(f"{describe(av)} from outside, of a class derived from {kind}", node, "pass its items")
        if self.caching:
            self.impure(self.caching[-1])
        self.check_undisturbed(origin.obj, node)
        path = self.object_path(origin)
        return self.inputs.derived(origin.obj, path, self.is_native(av, *_WRITES[base]), self.loc_of(node))

    def own_dict(self, av: Val, node: Node) -> Val:
        """The dictionary that an object is, if that is where its attributes are: after ``self.__dict__ = self``."""
        if type(av) is not Instance or SELF not in self.checked(av.cell, node, "object").keys:
            return None
        return self.data_of(av, node)

    def become_own_dict(self, av: Instance, node: Node) -> None:
        """``self.__dict__ = self``: the attributes until then are gone."""
        self.mutate(av.cell, Entries((DATA, SELF), (self.data_of(av, node), True)), node)

    # --- construction ---------------------------------------------------------------------------------------------

    def new_derived(self, cls: type, args: list[Val], node: Any) -> Instance:
        """What ``cls.__new__(cls, *args)`` gives where the class does not define it."""
        base = base_of(cls)
        data = self.call(Obj(base, None), args if base in (tuple, frozenset) else [], {}, node)
        return Instance(cls, self.new_cell(Entries((DATA,), (data,))))

    def initialised(self, av: Instance, args: list[Val], kwargs: dict[str, Val], node: Any) -> None:
        """``list.__init__(av, ...)`` and the like."""
        base = self.derived_from(av)
        if base in (dict, collections.OrderedDict, collections.Counter):
            if args or kwargs:
                self.call(Bound("update", self.data_of(av, node)), args, kwargs, node)
        elif base not in (tuple, frozenset):
            _set_data(self, av, self.call(Obj(base, None), args, kwargs, node), node)

    # --- methods --------------------------------------------------------------------------------------------------

    def is_builtin_method(self, av: Val, raw: Any) -> bool:
        """What a class has under a name is a method of the container that it is derived from."""
        base = self.derived_from(av) if type(av) in (Instance, Obj) else None
        if base is None or not isinstance(raw, _SLOTS):
            return False
        return raw.__objclass__ is not object and issubclass(base, raw.__objclass__)

    def container_attribute(self, av: Val, raw: Any, node: Node) -> Val:
        """``maxlen`` of a deque, and the like; NotImplemented if it is none of the container's."""
        base = self.derived_from(av) if type(av) in (Instance, Obj) else None
        if base is None or not isinstance(raw, _DATA_SLOTS) or raw.__objclass__ not in BASES:
            return NotImplemented
        return self.attribute(self.data_of(av, node), raw.__name__, node)

    def derived_method(self, av: Val, name: str, args: list[Val], kwargs: dict[str, Val], node: Any) -> Any:
        """A method that an object has from the container that its class is derived from."""
        base, cls = self.derived_from(av), self.cls_of(av)
        assert base is not None
        if name == "__init__" and type(av) is Instance:
            self.initialised(av, args, kwargs, node)
            return None
        data = self.data_of(av, node)
        missing = class_lookup(cls, "__missing__")
        if name == "__getitem__" and isinstance(missing, types.FunctionType) and len(args) == 1:
            if not self.contains(args[0], data, node):
                return self.call(self.attribute(av, "__missing__", node), args, {}, node)
        if base is collections.defaultdict and name in ("__getitem__", "__missing__"):
            if not self.is_native(av, "__setitem__"):
                self.fail(f"{cls.__name__} stores its defaults by its own __setitem__", node, "define __missing__")
        if name == "__iadd__" and len(args) == 1:  # also with an array, to which a plain list would leave it
            self.call(Bound("extend", data), args, {}, node)
            return av
        if name in _IN_PLACE and len(args) == 1:
            done, made = self.augmented(_IN_PLACE[name], data, args[0], node)
            return av if done else made
        if name in _OPERATORS or name in _REFLECTED or name == "copy" or name == "__copy__":
            if base not in _PLAIN or (base is dict and not self.is_native(av, "__iter__")):
                self.fail(f"{name} of {describe(av)}, which makes another one", node, "make it in steps")
            other = args[0] if args else None
            if name in _OPERATORS and type(other) in (Instance, Obj) and self.derived_from(other) is None:
                if self.type_attribute(other, f"__r{name[2:]}") is not None:
                    return Obj(NotImplemented, None)  # that one has the say
            if name in _OPERATORS:
                return self.binary(_OPERATORS[name], data, self.underlying(args[0], node), node)
            if name in _REFLECTED:
                return self.binary(_REFLECTED[name], self.underlying(args[0], node), data, node)
        return self.call(Bound(name, data), args, kwargs, node)


def _members_of(ctx: Derived, av: Obj) -> Any:
    """The members of an enum, which do not change."""
    if type(av.obj).__iter__ is not enum.EnumMeta.__iter__ or type(av.obj).__len__ is not enum.EnumMeta.__len__:
        return av
    members = list(ctx.pinned(av))
    return Seq(tuple([Obj(m, (ObjectStep(("object", m)),)) for m in members]))


def _set_data(ctx: Derived, av: Instance, data: Any, node: Node) -> None:
    content = ctx.checked(av.cell, node, "object")
    ctx.mutate(av.cell, Entries.of({**content.table, DATA: data}), node)
