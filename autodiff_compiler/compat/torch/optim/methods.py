"""The two optimizers. Each step is the formula of the paper named, with PyTorch's options and places of epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np

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
        momentum = group["momentum"]
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = np.array(g)
            else:
                kept *= momentum
                kept += (1 - group["dampening"]) * g
            g = g + momentum * kept if group["nesterov"] else kept
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
        lr, (b1, b2) = group["lr"], group["betas"]
        if group["weight_decay"]:
            if group["decoupled_weight_decay"]:
                p *= 1 - lr * group["weight_decay"]
            else:
                g = g + group["weight_decay"] * p
        mean, square = buffer(state, "exp_avg", p), buffer(state, "exp_avg_sq", p)
        mean += (1 - b1) * (g - mean)
        square *= b2
        square += (1 - b2) * g * g
        if group["amsgrad"]:
            largest = buffer(state, "max_exp_avg_sq", p)
            np.maximum(largest, square, out=largest)
            square = largest
        p -= lr / (1 - b1**n) * mean / (np.sqrt(square) / (1 - b2**n) ** 0.5 + group["eps"])
