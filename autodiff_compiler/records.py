"""Small classes with slots, of which only the fields are written.

The compiler has many such classes, and a program uses few of them. `dataclasses` compiles several functions for each
when it is defined, which would take a tenth of the time of a first gradient. Here only ``__init__`` is compiled, when
several instances have been made. Instances are equal to themselves only. What is to be compared by value is a
dataclass.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(dataclasses.field,))
    def record(cls: type[T]) -> type[T]: ...

    @dataclass_transform(eq_default=False, field_specifiers=(dataclasses.field,))
    def mutable_record(cls: type[T]) -> type[T]: ...

else:

    def record(cls):
        """A class with slots for the fields that `cls` is annotated with; `dataclasses.field` may give a factory.

        That nothing writes to an instance, the type checker sees.
        """
        space = dict(vars(cls))
        for name in ("__dict__", "__weakref__"):
            space.pop(name, None)
        own = [name for name, kind in space.get("__annotations__", {}).items() if not kind.startswith("ClassVar")]
        fields = {**getattr(cls, "__fields__", {}), **{name: space.pop(name, dataclasses.MISSING) for name in own}}

        few = iter(range(FEW))

        def first(self, /, *args, **kwargs):
            if next(few, None) is None or not _filled(self, fields, args, kwargs):
                made.__init__ = _init(fields)
                made.__init__(self, *args, **kwargs)

        space.setdefault("__repr__", _shown)
        space |= {"__slots__": tuple(own), "__fields__": fields, "__qualname__": cls.__qualname__, "__init__": first}
        made = type(cls)(cls.__name__, cls.__bases__, space)
        return made

    mutable_record = record


FEW = 5  # so many instances are made without a function for the class, which takes longer to compile than these


def _filled(obj: Any, fields: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Set the fields from arguments. False if these do not fit: `_init` has the error for that."""
    given = {**dict(zip(fields, args)), **kwargs}
    if len(given) < len(args) + len(kwargs):
        return False
    for name, default in fields.items():
        if name in given:
            value = given.pop(name)
        elif default is dataclasses.MISSING:
            return False
        else:
            value = default.default_factory() if isinstance(default, dataclasses.Field) else default  # type: ignore[operator]
        setattr(obj, name, value)
    return not given


def _init(fields: dict[str, Any]) -> Callable[..., None]:
    """The function that sets these fields from its parameters, each with its default."""
    params, lines = ["_self"], []
    known: dict[str, Any] = {"_missing": dataclasses.MISSING}
    for name, default in fields.items():
        value = name
        if isinstance(default, dataclasses.Field):
            known[f"_new_{name}"] = default.default_factory
            value = f"_new_{name}() if {name} is _missing else {name}"
            params.append(f"{name}=_missing")
        elif default is dataclasses.MISSING:
            params.append(name)
        else:
            known[f"_default_{name}"] = default
            params.append(f"{name}=_default_{name}")
        lines.append(f"    _self.{name} = {value}\n")
    exec(f"def __init__({', '.join(params)}):\n{''.join(lines) or '    pass'}", known)
    return known["__init__"]  # type: ignore[no-any-return]


def _shown(self: Any) -> str:
    parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields_of(self))
    return f"{type(self).__qualname__}({parts})"


def fields_of(obj: Any) -> tuple[str, ...]:
    """The names of the fields of a record, or of a class of records, in the order of its parameters."""
    return tuple(obj.__fields__)


def replaced(obj: T, **changes: Any) -> T:
    """A record like `obj`, with other values in these fields."""
    return type(obj)(**{**{name: getattr(obj, name) for name in fields_of(obj)}, **changes})


__all__ = ["fields_of", "mutable_record", "record", "replaced"]
