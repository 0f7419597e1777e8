"""`tf.Module`: an object that finds the variables and modules among its attributes."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from .. import tensorflow as tf
from .naming import name_scope

F = TypeVar("F", bound=Callable[..., Any])


def snake_case(name: str) -> str:
    """The name of a class as TensorFlow writes it in names of variables.

    >>> snake_case("HTTPServer2Big"), snake_case("_MyDense")
    ('http_server2_big', '__my_dense')
    """
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()


class Module:
    """Base class of objects with variables. They are found among its attributes, also in lists, tuples and mappings.

    name: a Python identifier; by default that of the class, in snake case. Raises ValueError for another one.

    Variables come in the order of their attributes' names. A module's own come before those of modules inside it.

    >>> from autodiff_compiler.compat import tensorflow as tf
    >>> class Line(tf.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = tf.Variable(2.0, name="w")
    ...         self.b = tf.Variable(1.0, name="b")
    >>> [v.name for v in Line().trainable_variables]
    ['b:0', 'w:0']
    """

    def __init__(self, name: str | None = None):
        if name is None:
            name = snake_case(type(self).__name__)
        if not name.isidentifier():
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid "
                "class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._scope_name: str = scope

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> Any:
        """A context in which new variables get the module's name in front of theirs."""
        return name_scope(self._scope_name)

    @classmethod
    def with_name_scope(cls, method: F) -> F:
        """Decorator of a method: variables that it makes get the module's name in front of theirs."""

        @functools.wraps(method)
        def decorated(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return decorated  # type: ignore[return-value]

    @property
    def variables(self) -> Any:
        """The variables of this module and of the modules inside it."""
        return tuple(self._flatten(is_variable))

    @property
    def trainable_variables(self) -> Any:
        return tuple(self._flatten(lambda v: is_variable(v) and v.trainable))

    @property
    def non_trainable_variables(self) -> Any:
        return tuple(self._flatten(lambda v: is_variable(v) and not v.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules inside this one, at any depth."""
        return tuple(self._flatten(lambda v: isinstance(v, Module)))

    def _flatten(self, predicate: Callable[[Any], bool]) -> Iterator[Any]:
        """The attributes' leaves that fulfil the predicate, each once."""
        return _search(self, predicate, {id(self)})


def is_variable(x: Any) -> bool:
    return isinstance(x, tf.Variable)


def _search(module: Module, predicate: Callable[[Any], bool], seen: set[int]) -> Iterator[Any]:
    inside: list[Module] = []
    for name, value in sorted(vars(module).items(), key=lambda item: item[0]):
        try:
            found = list(leaves(value))
        except TypeError as error:
            raise ValueError(f"Error processing property {name!r} of {module!r}") from error
        for leaf in found:
            if id(leaf) not in seen:
                seen.add(id(leaf))
                if predicate(leaf):
                    yield leaf
                if isinstance(leaf, Module):
                    inside.append(leaf)
    for leaf in inside:
        yield from _search(leaf, predicate, seen)


def leaves(x: Any, order: Callable[[Any], Any] = sorted) -> Iterator[Any]:
    """The leaves of nested lists, tuples and mappings. `order` puts the keys of a mapping in order."""
    if isinstance(x, Mapping):
        x = [x[key] for key in order(x)]
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from leaves(item, order)
    else:
        yield x
