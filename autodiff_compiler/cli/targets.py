"""What a command is about: a function of a file, and the arguments to call it with."""

from __future__ import annotations

import argparse
import copy
import functools
import importlib.util
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..tree import copy_with, is_object, own_attributes

_NO_INPUTS = """\
no inputs for {name}. Put a function next to it that returns a tuple of arguments,

    def example_inputs():
        return (np.ones(3), 0.5)

or pass --inputs "(np.ones(3), 0.5)", or --inputs FILE.npz with an array for each parameter. If functions in the file
need different inputs, call the one for this function {name}_example_inputs"""


_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class UserError(Exception):
    """An error that is reported without a traceback."""


@dataclass
class Target:
    """A function and the arguments to call it with."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: list[str]  # of the positional arguments
    argnums: int | tuple[int, ...]

    def positions(self) -> tuple[int, ...]:
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


# Finding the function and its inputs ---------------------------------------------------------------


def describe(error: BaseException) -> str:
    """An exception of the user's code as text: its place, class and message."""
    text = f"{type(error).__name__}: {error}".rstrip(": ")
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {text}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith(_HERE) and not frame.filename.startswith("<"):
            return f"{frame.filename}:{frame.lineno}: {text}"
    return text


def load_module(path: str) -> Any:
    if not os.path.isfile(path):
        raise UserError(f"there is no file {path}")
    stem = os.path.splitext(os.path.basename(path))[0]
    # A file with the name of an imported module must not replace it.
    name = f"_autodiff_file_{stem}" if stem in sys.modules else stem
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # as Python does for a script
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(f"cannot load {path}: {describe(error)}") from error
    return module


def _evaluate_inputs(text: str, module: Any) -> Any:
    if text.endswith(".npz"):
        try:
            with np.load(text, allow_pickle=False) as data:
                # A 0-d array stands for a number.
                return {key: data[key].item() if data[key].ndim == 0 else data[key] for key in data.files}
        except (OSError, ValueError) as error:
            raise UserError(f"cannot read {text}: {error}") from error
    try:
        return eval(text, {"np": np, **vars(module)})
    except Exception as error:
        raise UserError(f"--inputs {text!r} raises {type(error).__name__}: {error}") from error


def find_inputs(module: Any, qualified: str, function: Any, found: Any, text: str | None) -> Any:
    if text is not None:
        return _evaluate_inputs(text, module)
    hooks = [
        getattr(module, f"{qualified.rpartition('.')[2]}_example_inputs", None),
        getattr(found, "example_inputs", None),
        getattr(function, "example_inputs", None),
        getattr(module, "example_inputs", None),
    ]
    for hook in hooks:
        if hook is not None:
            try:
                return hook() if callable(hook) else hook
            except Exception as error:
                raise UserError(f"example_inputs raises: {describe(error)}") from error
    raise UserError(_NO_INPUTS.format(name=qualified))


def bind(
    function: Callable[..., Any], inputs: Any, qualified: str
) -> tuple[tuple[Any, ...], dict[str, Any], list[str]]:
    """The arguments as positional and keyword ones, and the names of the positional ones."""
    args, kwargs = (
        ((), inputs) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
    )
    try:
        signature = inspect.signature(function)
        bound = signature.bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        raise UserError(f"the inputs do not fit {qualified}: {error}") from error
    names: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{k}]" for k in range(len(bound.args) - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
    return bound.args, bound.kwargs, names[: len(bound.args)]


def _parse_argnums(text: str, names: list[str]) -> int | tuple[int, ...]:
    positions = []
    for item in text.split(","):
        item = item.strip()
        if item in names:
            positions.append(names.index(item))
        elif item.isdecimal() and int(item) < len(names):
            positions.append(int(item))
        else:
            raise UserError(f"--argnums {text}: there is no argument {item!r} among {', '.join(names)}")
    return positions[0] if len(positions) == 1 else tuple(positions)


def find_target(options: argparse.Namespace) -> Target:
    path, colon, qualified = options.target.rpartition(":")
    if not colon or not path or not qualified:
        raise UserError(f"{options.target!r} is not of the form FILE.py:FUNCTION")
    return target_in(load_module(path), path, qualified, options)


def functions_in(module: Any) -> list[str]:
    """The functions and methods that a module defines, by qualified name, in the order of the file."""
    out = []
    for name, value in vars(module).items():
        if getattr(value, "__module__", "") != module.__name__ or name.endswith("example_inputs"):
            continue
        if isinstance(value, type):
            out += [f"{name}.{k}" for k, v in vars(value).items() if _is_method(v) and not k.startswith("__")]
        elif callable(value) and not name.startswith("__"):
            out.append(name)
    return out


def _is_method(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, (staticmethod, classmethod)) or hasattr(member, "primal")


def _looked_up(module: Any, path: str, qualified: str) -> Any:
    """What the qualified name means. For a method of a class, it is that of an instance, if one can be made."""
    found, holder = module, None
    for part in qualified.split("."):
        if not hasattr(found, part):
            raise UserError(f"{path} has no {qualified}; it has {', '.join(functions_in(module)) or 'no functions'}")
        holder, found = found, getattr(found, part)
    if isinstance(holder, type) and not isinstance(inspect.getattr_static(holder, part), (staticmethod, classmethod)):
        try:
            return getattr(holder(), part)
        except Exception as error:
            raise UserError(
                f"{holder.__name__}() raises {describe(error)}. Make an instance in the file, and name its method: "
                f"{path}:instance.{part}"
            ) from error
    return found


def target_in(module: Any, path: str, qualified: str, options: argparse.Namespace) -> Target:
    """The function of a loaded file, and its inputs."""
    found = _looked_up(module, path, qualified)
    if isinstance(found, functools.partial) and hasattr(found.func, "primal"):  # a method under @grad
        found = types.MethodType(found.func.primal, *found.args)
    # For a function under @grad, take the function that the user wrote. One under @batch is taken as it is.
    function = getattr(found, "primal", found) if getattr(found, "is_derivative", True) else found
    if not callable(function):
        raise UserError(f"{qualified} in {path} is not a function")
    if not getattr(function, "is_derivative", True) and options.command not in ("show", "explain"):
        raise UserError(
            f"{qualified} is a function of stacks. {options.command} is for a gradient of it: show its code"
        )
    inputs = find_inputs(module, qualified, function, found, options.inputs)
    args, kwargs, names = bind(function, inputs, qualified)
    argnums: Any
    if options.argnums is not None:
        argnums = _parse_argnums(options.argnums, names)
    else:
        declared = getattr(found, "argnums", None) if found is not function else None
        argnums = _declared(declared, names)
        if argnums is None:
            positions = [k for k, arg in enumerate(args) if any(is_inexact(leaf) for _, leaf in leaves_of(arg, ()))]
            if not positions:
                raise UserError(
                    f"no argument of {qualified} is a floating point number or array: there is no derivative"
                )
            argnums = positions[0] if options.command == "show" or len(positions) == 1 else tuple(positions)
    return Target(qualified, function, args, kwargs, names, argnums)


def _declared(argnums: Any, names: list[str]) -> int | tuple[int, ...] | None:
    """The argnums of a gradient object as positions. None if it has none, or unknown ones."""
    if isinstance(argnums, str):
        return names.index(argnums) if argnums in names else None
    if isinstance(argnums, (tuple, list)):
        positions = [_declared(item, names) for item in argnums]
        return tuple(p for p in positions if isinstance(p, int)) if all(isinstance(p, int) for p in positions) else None
    return argnums if isinstance(argnums, int) else None


# Nested arguments ----------------------------------------------------------------------------------

Path = tuple[Any, ...]


def is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, (float, complex, np.inexact)) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


class Attribute(str):
    """A step of a path: the name of an attribute."""


def leaves_of(value: Any, path: Path, around: tuple[Any, ...] = ()) -> Iterator[tuple[Path, Any]]:
    """The leaves of a nested value, with their paths. `around`: the objects that it is part of."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves_of(item, (*path, key), around)
    elif isinstance(value, (tuple, list)):
        for key, item in enumerate(value):
            yield from leaves_of(item, (*path, key), around)
    elif is_object(value):
        if not any(value is outer for outer in around):
            for name, item in own_attributes(value).items():
                yield from leaves_of(item, (*path, Attribute(name)), (*around, value))
    else:
        yield path, value


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = getattr(value, key) if isinstance(key, Attribute) else value[key]
    return value


def shown(path: Path) -> str:
    """A path as it is written behind the name of an argument."""
    return "".join([f".{key}" if isinstance(key, Attribute) else f"[{key!r}]" for key in path])


def replaced(value: Any, path: Path, new: Any) -> Any:
    """The nested value with another leaf at the path."""
    if not path:
        return new
    inner = replaced(at(value, path[:1]), path[1:], new)
    if isinstance(path[0], Attribute):
        own = {**own_attributes(value), str(path[0]): inner}
        return copy_with(value, tuple(own), list(own.values()))
    if isinstance(value, dict):
        return {**value, path[0]: inner}
    items = list(value)
    items[path[0]] = inner
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return items


def call_primal(target: Target, args: tuple[Any, ...]) -> Any:
    try:
        # Copies, because the function may write into its arguments.
        return target.function(*copy.deepcopy(args), **copy.deepcopy(target.kwargs))
    except Exception as error:
        raise UserError(f"{target.name} itself raises with these inputs: {describe(error)}") from error


def gradient_of(target: Target) -> Any:
    import autodiff_compiler as ad

    if not getattr(target.function, "is_derivative", True):
        return target.function
    return ad.grad(target.function, argnums=target.argnums)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
