"""The module ``torch.optim.lr_scheduler``: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


class LRScheduler:
    """Sets the learning rate of each group of an optimizer; a subclass has ``rate(initial, epoch)``."""

    def __init__(self, optimizer: Any, last_epoch: int = -1):
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self.step()

    def rate(self, initial: float, epoch: int, number: int) -> float:
        """The learning rate in an epoch of the group of this number."""
        raise NotImplementedError

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        for k, (group, initial) in enumerate(zip(self.optimizer.param_groups, self.base_lrs)):
            group["lr"] = self.rate(initial, self.last_epoch, k)

    def get_last_lr(self) -> list[float]:
        """The learning rates in force."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        return {"last_epoch": self.last_epoch, "base_lrs": self.base_lrs}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.last_epoch, self.base_lrs = state_dict["last_epoch"], list(state_dict["base_lrs"])


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch, or one for each group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1):
        many = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        )
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return initial * self.lr_lambdas[number](epoch)


class StepLR(LRScheduler):
    """Times `gamma` after every so many epochs."""

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return float(initial * self.gamma ** (epoch // self.step_size))


class MultiStepLR(LRScheduler):
    """Times `gamma` at each of the epochs given."""

    def __init__(self, optimizer: Any, milestones: Any, gamma: float = 0.1, last_epoch: int = -1):
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return float(initial * self.gamma ** sum(m <= epoch for m in self.milestones))


class ExponentialLR(LRScheduler):
    """Times `gamma` after each epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return float(initial * self.gamma**epoch)


class CosineAnnealingLR(LRScheduler):
    """Half a wave of the cosine from the initial rate to `eta_min` in `T_max` epochs."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return self.eta_min + (initial - self.eta_min) * (1 + math.cos(math.pi * epoch / self.T_max)) / 2


MEMBERS = {c.__name__: c for c in (LRScheduler, LambdaLR, StepLR, MultiStepLR, ExponentialLR, CosineAnnealingLR)}
