"""The module ``torch.optim``: gradient descent and Adam. Steps are formulas of `operations.optimizers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..module_tables import public
from ..operations.optimizers import adam_step, momentum_step
from .core import Base
from .modes import enable_grad, no_grad
from .tensor import drop_gradients


class Optimizer:
    """Changes parameters by their gradients.

    A subclass has `defaults` and ``_update(p, g, state, group)``. The arrays `p`, which it writes, and `g`, and the
    dict `state` belong to one parameter.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]):
        self.defaults = defaults
        if isinstance(params, Base):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                f"{type(params).__name__}"
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        self.param_groups: list[dict[str, Any]] = []
        self.state: dict[Any, dict[str, Any]] = {}
        for group in groups if isinstance(groups[0], dict) else [{"params": groups}]:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters, with options of their own."""
        given = param_group["params"]
        params = [given] if isinstance(given, Base) else list(given)
        for p in params:
            if not isinstance(p, Base):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if p._var is not None and p._var.record is not None:
                raise ValueError("can't optimize a non-leaf Tensor")
        seen = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in seen for p in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients, or fill them with zeros."""
        for group in self.param_groups:
            drop_gradients(group["params"], set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change every parameter that has a gradient. `closure` computes the loss anew; its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p._grad is not None:
                        g = p._grad._value
                        self._update(p._value, -g if group.get("maximize") else g, self.state.setdefault(p, {}), group)
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


def _check(options: dict[str, float], high: float = float("inf")) -> None:
    """Raise ValueError for an option that is negative, or not below a bound."""
    for name, value in options.items():
        if not 0.0 <= value < high:
            raise ValueError(f"Invalid {name}: {value}")


class SGD(Optimizer):
    """Gradient descent, with momentum (also Nesterov's) and weight decay.

    >>> from autodiff_compiler.compat import torch
    >>> w = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w
    tensor([ 0.5000, -1.0000], requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False,
    ):  # fmt: skip
        _check({"learning rate": lr, "momentum value": momentum, "weight_decay value": weight_decay})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize,
        })  # fmt: skip

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if group["momentum"]:
            kept = state.get("momentum_buffer")
            g, kept = momentum_step(g, kept, group["momentum"], group["dampening"], group["nesterov"])
            state["momentum_buffer"] = kept
        p -= group["lr"] * g


class Adam(Optimizer):
    """Kingma and Ba, Adam (2015). With `amsgrad`, Reddi et al. (2018)."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False,
    ):  # fmt: skip
        _check({"learning rate": lr, "epsilon value": eps, "weight_decay value": weight_decay})
        _check({f"beta parameter at index {k}": beta for k, beta in enumerate(betas)}, 1.0)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize,
        })  # fmt: skip

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
            state.update({name: np.zeros_like(p) for name in names}, step=0)
        state["step"] += 1
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        largest = state.get("max_exp_avg_sq")
        change, mean, square, largest = adam_step(
            g, state["exp_avg"], state["exp_avg_sq"], largest, state["step"], group["betas"], group["eps"], False
        )
        state.update(exp_avg=mean, exp_avg_sq=square)
        if largest is not None:
            state["max_exp_avg_sq"] = largest
        p -= group["lr"] * change


_MEMBERS: dict[str, Any] = {"Adam": Adam, "Optimizer": Optimizer, "SGD": SGD}
__all__ = sorted(_MEMBERS)
__getattr__, __dir__ = public(__name__, _MEMBERS)
