"""The two optimizers. Each step is the formula of the paper named, with PyTorch's options and places of epsilon."""

from __future__ import annotations

from typing import Any

from ...operations.optimizers import adam_step, momentum_step
from .optimizer import Optimizer, buffer, check, count


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

    ways = ("differentiable", "foreach", "fused")

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        check("momentum value", momentum)
        check("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay,
            "nesterov": nesterov, "maximize": maximize, **self._ways(ways),
        })  # fmt: skip

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if group["momentum"]:
            g, kept = momentum_step(
                g, state.get("momentum_buffer"), group["momentum"], group["dampening"], group["nesterov"]
            )
            state["momentum_buffer"] = kept
        p -= group["lr"] * g


class Adam(Optimizer):
    """Kingma and Ba, Adam (2015). With `amsgrad`, Reddi et al. (2018); with `decoupled_weight_decay`, AdamW of
    Loshchilov and Hutter (2019)."""

    ways = ("capturable", "decoupled_weight_decay", "differentiable", "foreach", "fused")

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        check("epsilon value", eps)
        check("beta parameter at index 0", betas[0], 0.0, 1.0)
        check("beta parameter at index 1", betas[1], 0.0, 1.0)
        check("weight_decay value", weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, **self._ways(ways),
        })  # fmt: skip

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        n = count(state)
        lr = group["lr"]
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p *= 1 - lr * group["weight_decay"]
            else:
                g = g + group["weight_decay"] * p
        largest = buffer(state, "max_exp_avg_sq", p) if group["amsgrad"] else None
        mean, square = buffer(state, "exp_avg", p), buffer(state, "exp_avg_sq", p)
        change, mean, square, largest = adam_step(g, mean, square, largest, n, group["betas"], group["eps"], False)
        state.update(exp_avg=mean, exp_avg_sq=square)
        if largest is not None:
            state["max_exp_avg_sq"] = largest
        p -= lr * change
