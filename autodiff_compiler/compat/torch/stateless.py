"""``torch.func.functional_call``: a module as a function of its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .nn.modules import Module
from .shaping import stack


def functional_call(
    module: Any, parameter_and_buffer_dicts: Any, args: Any = None, kwargs: dict[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """Call a module with these tensors in the place of its parameters and buffers.

    parameter_and_buffer_dicts: tensors by dotted name, or several such dictionaries. What they do not name stays.
    tie_weights: a tensor that the module has under several names is replaced under all of them. strict: RuntimeError
    for names that are missing, and for others.

    >>> from autodiff_compiler.compat import torch
    >>> layer = torch.nn.Linear(2, 1)
    >>> p = {"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([0.5])}
    >>> torch.func.functional_call(layer, p, torch.tensor([1.0, 1.0]))
    tensor([3.5000])
    """
    given = _merged(parameter_and_buffer_dicts)
    places = {
        f"{path}.{name}" if path else name: (m, name)
        for path, m in module._paths()
        for name, kind in m._kinds.items()
        if kind is not Module and vars(m)[name] is not None
    }
    if strict:
        _check(type(module).__name__, given, places)
    found = {name: t for name, t in given.items() if name in places}
    if tie_weights:
        for name, t in list(found.items()):
            own = vars(places[name][0])[places[name][1]]
            found.update({n: t for n, (m, a) in places.items() if vars(m)[a] is own and n not in found})
    before = {name: vars(places[name][0])[places[name][1]] for name in found}
    positional = () if args is None else args if isinstance(args, tuple) else (args,)
    try:
        for name, t in found.items():
            m, attribute = places[name]
            object.__setattr__(m, attribute, t)
        return module(*positional, **(kwargs or {}))
    finally:
        for name, t in before.items():
            m, attribute = places[name]
            object.__setattr__(m, attribute, t)


def _merged(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return given
    if not isinstance(given, Sequence) or not all(isinstance(d, dict) for d in given):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given).__name__}"
        )
    names = [name for d in given for name in d]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    return {name: t for d in given for name, t in d.items()}


def _check(kind: str, given: dict[str, Any], places: dict[str, Any]) -> None:
    problems = [
        ("Unexpected", [n for n in given if n not in places]),
        ("Missing", [n for n in places if n not in given]),
    ]
    text = "".join(f"\n\t{word} key(s): {', '.join(map(repr, names))}." for word, names in problems if names)
    if text:
        raise RuntimeError(f"Error(s) in reparametrizing for {kind}:{text}")


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters of modules of one class, stacked, by name, and their buffers. For `vmap` of `functional_call`."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(m) is not type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    made: list[dict[str, Any]] = []
    for each in (Module.named_parameters, Module.named_buffers):
        columns = [dict(each(m)) for m in models]
        made.append({name: stack([c[name] for c in columns]).detach() for name in columns[0]})
    for name, t in made[0].items():
        t.requires_grad_(dict(models[0].named_parameters())[name].requires_grad)
    return made[0], made[1]
