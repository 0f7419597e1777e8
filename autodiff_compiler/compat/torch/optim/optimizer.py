"""What all optimizers have in common: groups of parameters with options, state, steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Base
from ..modes import enable_grad, no_grad

REQUIRED = object()


class Optimizer:
    """Changes parameters by their gradients.

    A subclass has `defaults` and ``_update(p, g, state, group)``. The arrays `p`, which it writes, and `g`, and the
    dict `state` belong to one parameter.
    """

    ways: tuple[str, ...] = ()

    def __init__(self, params: Any, defaults: dict[str, Any]):
        if isinstance(params, Base):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__name__}"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Any, dict[str, Any]] = {}
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _ways(self, given: dict[str, Any]) -> dict[str, Any]:
        """Options on how PyTorch computes, which are kept and change nothing; but for `decoupled_weight_decay`.

        Raises TypeError for others, and NotImplementedError for ``differentiable=True``.
        """
        for name in given:
            if name not in self.ways:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument {name!r}")
        if given.get("differentiable"):
            raise NotImplementedError(
                f"{type(self).__name__}: differentiable=True is not there. Instead: p = p - lr * grad, "
                "with grad from autograd.grad(..., create_graph=True)"
            )
        usual = {name: None if name in ("foreach", "fused") else False for name in self.ways}
        return {**usual, **given}

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with options of their own."""
        group = dict(param_group)
        given = group["params"]
        group["params"] = [given] if isinstance(given, Base) else list(given)
        for k, p in enumerate(group["params"]):
            if isinstance(p, tuple) and len(p) == 2 and isinstance(p[0], str):
                p = group["params"][k] = p[1]  # of named_parameters
            if not isinstance(p, Base):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if p._var is not None and p._var.record is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        seen = {id(p) for g in self.param_groups for p in g["params"]}
        if any(id(p) in seen for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **group})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:
                    p._grad = None
                elif p._grad is not None:
                    p._grad = p._grad.detach().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. `closure` computes the loss anew; its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p._grad is None:
                        continue
                    g = p._grad._value
                    if group.get("maximize"):
                        g = -g
                    # The memory is not written to in place: the graph of a second order may read it, and so its
                    # version counts.
                    self._update(p._value, g, self.state.setdefault(p, {}), group)
                    p._memory.written()
        return loss

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {k}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join([*lines, ")"])


def check(name: str, value: float, low: float = 0.0, high: float | None = None) -> None:
    """Raise ValueError for an option outside of its range."""
    if isinstance(value, Base):
        return
    if value < low or (high is not None and value >= high):
        raise ValueError(f"Invalid {name}: {value}")


def buffer(state: dict[str, Any], name: str, like: Any) -> Any:
    """The array of this name in the state: zeros at first."""
    found = state.get(name)
    if found is None:
        found = state[name] = np.zeros_like(like)
    return found


def count(state: dict[str, Any]) -> int:
    """The number of this step."""
    state["step"] = int(state.get("step", 0)) + 1
    return int(state["step"])
