"""The trainer: changes parameters by their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from .block import Parameter


class Trainer:
    """Changes parameters by their gradients, divided by the size of the batch.

    optimizer: "sgd" (learning_rate, momentum, wd), "adam" (learning_rate, beta1, beta2, epsilon, wd) or "rmsprop"
    (learning_rate, rho, epsilon, wd).
    """

    def __init__(self, params: Any, optimizer: str, optimizer_params: dict[str, Any] | None = None, **kwargs: Any):
        found = list(params.values()) if isinstance(params, dict) else list(params)
        for p in found:
            if not isinstance(p, Parameter):
                raise ValueError(f"a Trainer takes Parameters, but one is {type(p).__name__}")
        methods = {"sgd": self._sgd, "adam": self._adam, "rmsprop": self._rmsprop}
        if optimizer not in methods:
            raise ValueError(f"optimizer {optimizer!r} is not there. Instead: {', '.join(methods)}")
        self._params = found
        self._method = methods[optimizer]
        self._options = {"learning_rate": 0.001 if optimizer != "sgd" else 0.01, **(optimizer_params or {})}
        self._state: list[dict[str, Any]] = [{} for _ in found]

    @property
    def learning_rate(self) -> float:
        return float(self._options["learning_rate"])

    def set_learning_rate(self, lr: float) -> None:
        """Use another learning rate from now on."""
        self._options["learning_rate"] = lr

    def step(self, batch_size: int, ignore_stale_grad: bool = False) -> None:
        """Change the parameters by their gradients divided by `batch_size`."""
        for p, state in zip(self._params, self._state):
            if p.grad_req == "null":
                continue
            x = p.data()
            g = x.grad._value / batch_size
            wd = self._options.get("wd", 0.0) * p.wd_mult
            if wd:
                g = g + wd * x._value
            self._method(x._value, g, state, self._options["learning_rate"] * p.lr_mult)
            x._memory.written()

    def _sgd(self, p: Any, g: Any, state: dict[str, Any], lr: float) -> None:
        momentum = self._options.get("momentum", 0.0)
        if not momentum:
            p -= lr * g
            return
        kept = state.setdefault("momentum", np.zeros_like(p))
        kept *= momentum
        kept -= lr * g
        p += kept

    def _adam(self, p: Any, g: Any, state: dict[str, Any], lr: float) -> None:
        b1, b2 = self._options.get("beta1", 0.9), self._options.get("beta2", 0.999)
        n = state["step"] = state.get("step", 0) + 1
        mean = state.setdefault("mean", np.zeros_like(p))
        square = state.setdefault("square", np.zeros_like(p))
        mean += (1 - b1) * (g - mean)
        square += (1 - b2) * (g * g - square)
        rate = lr * (1 - b2**n) ** 0.5 / (1 - b1**n)
        p -= rate * mean / (np.sqrt(square) + self._options.get("epsilon", 1e-8))

    def _rmsprop(self, p: Any, g: Any, state: dict[str, Any], lr: float) -> None:
        rho = self._options.get("rho", 0.9)
        square = state.setdefault("square", np.zeros_like(p))
        square += (1 - rho) * (g * g - square)
        p -= lr * g / np.sqrt(square + self._options.get("epsilon", 1e-8))
