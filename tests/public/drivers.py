"""A recorded call as a small program: a function of its floating arguments that returns one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LONGEST = 12  # items of a mixed list that is written out


def is_float(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind == "f" and value.size > 0
    return isinstance(value, (float, np.floating))


def is_complex(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return type(value) is np.ndarray and value.dtype.kind == "c" and value.size > 0
    return isinstance(value, (complex, np.complexfloating))


def is_plain_object(value: Any) -> bool:
    """An instance of a class of the package, with attributes of its own."""
    return (
        hasattr(value, "__dict__")
        and not isinstance(value, type)
        and not callable(type(value).__dict__.get("__get__"))
        and type(value).__module__.split(".")[0] not in ("builtins", "numpy", "scipy", "types", "functools")
    )


def signature_of(args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Kinds of the arguments, by which two calls of a function are told apart. None if nothing in them is floating."""
    kinds = tuple(kind(value) for value in (*args, *kwargs.values()))
    return (kinds, tuple(kwargs)) if "float" in repr(kinds) or "object" in repr(kinds) else None


def kind(value: Any, depth: int = 0) -> Any:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.ndim}"
    if isinstance(value, (list, tuple)) and depth < 3:
        return (type(value).__name__, *sorted({repr(kind(item, depth + 1)) for item in value}))
    if isinstance(value, dict) and depth < 3:
        return ("dict", *sorted({repr(kind(item, depth + 1)) for item in value.values()}))
    if isinstance(value, str):
        return f"str {value[:20]}"
    return f"object {type(value).__name__}" if is_plain_object(value) else type(value).__name__


@dataclass
class Driver:
    """The source of a function `loss`, the names that it reads, and its arguments: first those differentiated by."""

    source: str
    names: dict[str, Any]
    args: list[Any]
    active: int
    imports: list[str] = field(default_factory=list)

    def function(self, filename: str) -> Any:
        import linecache

        linecache.cache[filename] = (len(self.source), None, self.source.splitlines(True), filename)
        scope = {"np": np, **self.names}
        exec(compile(self.source, filename, "exec"), scope)
        return scope["loss"]


class Writer:
    """Writes the arguments of a call as expressions. Floating ones and objects become parameters."""

    def __init__(self) -> None:
        self.active: list[tuple[str, Any]] = []
        self.objects: list[tuple[str, Any]] = []
        self.names: dict[str, Any] = {}

    def expression(self, value: Any, hint: str) -> str:
        if is_float(value) or self.is_floats(value):
            if isinstance(value, float) and not math.isfinite(value):
                return self.name(value, "K")
            return self.parameter(self.active, value, hint)
        if value is None or isinstance(value, (bool, int, str)) and len(repr(value)) < 60 and type(value) in PLAIN:
            return repr(value)
        if type(value) in (list, tuple) and len(value) <= LONGEST and holds_floats(value):
            items = [self.expression(item, hint) for item in value]
            if type(value) is list:
                return f"[{', '.join(items)}]"
            return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if type(value) is dict and len(value) <= LONGEST and holds_floats(value) and all(type(k) is str for k in value):
            return "{" + ", ".join(f"{k!r}: {self.expression(item, k)}" for k, item in value.items()) + "}"
        if is_plain_object(value) and not callable_only(value):
            return self.parameter(self.objects, value, hint)
        return self.name(value, "K")

    @staticmethod
    def is_floats(value: Any) -> bool:
        if type(value) not in (list, tuple) or not value:
            return False
        return all(type(item) is float or Writer.is_floats(item) for item in value)

    def parameter(self, where: list[tuple[str, Any]], value: Any, hint: str) -> str:
        for name, other in self.objects:
            if other is value:  # `a.append(a)`: a change of the object changes both
                return name
        name = f"{hint if hint.isidentifier() else 'x'}{len(self.active) + len(self.objects)}"
        where.append((name, value))
        return name

    def name(self, value: Any, prefix: str) -> str:
        for name, other in self.names.items():
            if other is value:
                return name
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name


PLAIN = (bool, int, str)


def callable_only(value: Any) -> bool:
    return callable(value) and not any(is_float(item) for item in vars(value).values())


def holds_floats(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(holds_floats(item) for item in value)
    if isinstance(value, dict):
        return any(holds_floats(item) for item in value.values())
    return is_float(value) or is_plain_object(value)


def leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """The floating parts of a result, each with the expression that leads to it."""
    if is_float(value) or is_complex(value):
        yield path, value
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for name in value._fields:
            yield from leaves(getattr(value, name), f"{path}.{name}", depth + 1)
    elif isinstance(value, (list, tuple)) and depth < 4 and len(value) <= 200:
        for k, item in enumerate(value):
            yield from leaves(item, f"{path}[{k}]", depth + 1)
    elif type(value) is dict and depth < 4:
        for k, item in value.items():
            if isinstance(k, (str, int)):
                yield from leaves(item, f"{path}[{k!r}]", depth + 1)
    elif is_plain_object(value) and depth < 2:
        for name, item in vars(value).items():
            if not name.startswith("_"):
                yield from leaves(item, f"{path}.{name}", depth + 2)


def written(target: Any, callee: Any, args: list[Any], kwargs: dict[str, Any]) -> Driver:
    """The driver of a call, without the lines that make one number of the result."""
    writer = Writer()
    given = list(args)
    head = "fn"
    if target.kind == "method" and target.path[-1] != "__init__":
        first = given.pop(0)
        me = writer.parameter(writer.objects, first, "self")
        head = me if target.path[-1] == "__call__" else f"{me}.{target.path[-1]}"
    else:
        head = target.path[-1] if target.kind == "function" else "_".join(target.path).replace("___init__", "")
        writer.names[head] = callee
    texts = [writer.expression(value, "x") for value in given]
    texts += [f"{name}={writer.expression(value, name)}" for name, value in kwargs.items()]
    active = writer.active
    if not active:  # the object itself is what the result depends on
        active, writer.objects = writer.objects, []
    parameters = [*active, *writer.objects]
    source = f"def loss({', '.join(name for name, _ in parameters)}):\n    r = {head}({', '.join(texts)})\n"
    return Driver(source, writer.names, [value for _, value in parameters], len(active))


def finished(driver: Driver, result: Any, args: list[Any], seed: int = 1) -> int:
    """Add to the driver what makes one number of the result: the inner product with random weights.

    If the call returns nothing, its result is what it changed in the attributes of the object. `args` are those that
    it was called with.
    """
    before: dict[str, Any] = {}
    rng = np.random.RandomState(seed)
    root, value = "r", result
    if value is None and is_plain_object(args[-1] if driver.active < len(args) else args[0]):
        k = driver.active if driver.active < len(args) else 0
        root = driver.source[9 : driver.source.index(")")].split(", ")[k]
        value = args[k]
        before = dict(leaves(driver.args[k]))
    terms: list[str] = []
    found = [(path, leaf) for path, leaf in list(leaves(value))[:60] if np.all(np.isfinite(leaf))]
    found = [(path, leaf) for path, leaf in found if path not in before or not np.array_equal(before[path], leaf)]
    largest = max((float(np.max(np.abs(leaf))) for _, leaf in found), default=0.0)
    for path, leaf in found:
        size = float(np.max(np.abs(leaf)))
        if size < 1e-12 * largest:  # what rounding left of a zero
            size = largest
        weight = rng.uniform(0.5, 1.5, np.shape(leaf)) / (size or 1.0)
        if is_complex(leaf):
            weight = weight * (1 + 0.7j)
        if np.ndim(leaf) == 0:
            text = repr(complex(weight) if is_complex(leaf) else float(weight))
        else:
            text = f"W{len(terms)}"
            driver.names[text] = weight
        term = f"{text} * {root}{path}" if not is_complex(leaf) else f"({text} * {root}{path}).real"
        terms.append(term if np.ndim(leaf) == 0 else f"np.sum({term})")
    if not terms:
        return 0
    driver.source += "    total = 0.0\n" + "".join(f"    total = total + {term}\n" for term in terms)
    driver.source += "    return total\n"
    return len(terms)
