"""The optimizers. Each step is the formula of the paper named, with PyTorch's options and places of epsilon."""

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
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

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
    """Kingma and Ba, Adam (2015). With `amsgrad`, Reddi et al. (2018)."""

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
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

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


class AdamW(Adam):
    """Adam with the weight decay apart from the gradient: Loshchilov and Hutter (2019)."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize, **{**ways, "decoupled_weight_decay": True}
        )


class Adamax(Optimizer):
    """The variant of Adam with the infinity norm: Kingma and Ba (2015)."""

    ways = ("capturable", "differentiable", "foreach")

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        n = count(state)
        b1, b2 = group["betas"]
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        mean, largest = buffer(state, "exp_avg", p), buffer(state, "exp_inf", p)
        mean += (1 - b1) * (g - mean)
        np.maximum(b2 * largest, np.abs(g) + group["eps"], out=largest)
        p -= group["lr"] / (1 - b1**n) * mean / largest


class RMSprop(Optimizer):
    """Gradients divided by a running root mean square: Tieleman and Hinton (2012)."""

    ways = ("capturable", "differentiable", "foreach")

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        check("epsilon value", eps)
        check("momentum value", momentum)
        check("alpha value", alpha)
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        alpha = group["alpha"]
        square = buffer(state, "square_avg", p)
        square *= alpha
        square += (1 - alpha) * g * g
        if group["centered"]:
            mean = buffer(state, "grad_avg", p)
            mean += (1 - alpha) * (g - mean)
            root = np.sqrt(square - mean * mean) + group["eps"]
        else:
            root = np.sqrt(square) + group["eps"]
        if group["momentum"]:
            kept = buffer(state, "momentum_buffer", p)
            kept *= group["momentum"]
            kept += g / root
            p -= group["lr"] * kept
        else:
            p -= group["lr"] * g / root


class Adagrad(Optimizer):
    """Gradients divided by the root of the sum of their squares: Duchi et al. (2011)."""

    ways = ("differentiable", "foreach", "fused")

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, *, maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "eps": eps,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        n = count(state)
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        if "sum" not in state:
            state["sum"] = np.full_like(p, group["initial_accumulator_value"])
        total = state["sum"]
        total += g * g
        p -= group["lr"] / (1 + (n - 1) * group["lr_decay"]) * g / (np.sqrt(total) + group["eps"])


class Adadelta(Optimizer):
    """Steps scaled by the running root mean square of earlier ones: Zeiler (2012)."""

    ways = ("capturable", "differentiable", "foreach")

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0, *,
        maximize: bool = False, **ways: Any,
    ):  # fmt: skip
        check("learning rate", lr)
        check("rho value", rho, 0.0, 1.0 + 1e-12)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                **self._ways(ways),
            },
        )

    def _update(self, p: Any, g: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["weight_decay"]:
            g = g + group["weight_decay"] * p
        rho, eps = group["rho"], group["eps"]
        square, steps = buffer(state, "square_avg", p), buffer(state, "acc_delta", p)
        square *= rho
        square += (1 - rho) * g * g
        delta = np.sqrt(steps + eps) / np.sqrt(square + eps) * g
        steps *= rho
        steps += (1 - rho) * delta * delta
        p -= group["lr"] * delta


METHODS = {c.__name__: c for c in (SGD, Adam, AdamW, Adamax, RMSprop, Adagrad, Adadelta)}
