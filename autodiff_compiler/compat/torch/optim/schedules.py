"""The module ``torch.optim.lr_scheduler``: learning rates that change from epoch to epoch."""

from __future__ import annotations

import math
from bisect import bisect_right
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


class MultiplicativeLR(LRScheduler):
    """Times a function of the epoch at each epoch, or one for each group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1):
        many = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas: list[Callable[[int], float]] = (
            list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        )
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        before: float = self.optimizer.param_groups[number]["lr"]
        return before * self.lr_lambdas[number](epoch) if epoch > 0 else initial


class ConstantLR(LRScheduler):
    """`factor` times the initial rate in the first epochs."""

    def __init__(self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1):
        if not 0 <= factor <= 1:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return initial * (self.factor if epoch < self.total_iters else 1)


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` times the initial rate, in equal steps."""

    def __init__(
        self, optimizer: Any, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ):  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        part = min(self.total_iters, epoch) / self.total_iters
        return initial * (self.start_factor + (self.end_factor - self.start_factor) * part)


class PolynomialLR(LRScheduler):
    """Down to zero in so many epochs, by a power of what is left of them."""

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return float(initial * (1 - min(self.total_iters, epoch) / self.total_iters) ** self.power)


class SequentialLR(LRScheduler):
    """One schedule after the other: the next one begins at each of the epochs given."""

    def __init__(self, optimizer: Any, schedulers: Any, milestones: Any, last_epoch: int = -1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        for k, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    "SequentialLR expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {k} which is different from the optimizer passed in."
                )
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self.schedulers, self.milestones = list(schedulers), list(milestones)
        super().__init__(optimizer, last_epoch)

    def step(self) -> None:
        """Go on to the next epoch."""
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        scheduler = self.schedulers[number]
        # Its own epochs start anew.
        scheduler.last_epoch = self.last_epoch - (self.milestones[number - 1] if number else 0) - 1
        scheduler.step()

    def state_dict(self) -> dict[str, Any]:
        inner = [scheduler.state_dict() for scheduler in self.schedulers]
        return {**super().state_dict(), "milestones": self.milestones, "_schedulers": inner}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict(state_dict)
        self.milestones = list(state_dict["milestones"])
        for scheduler, inner in zip(self.schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(inner)


class ReduceLROnPlateau:
    """Times `factor` when a metric has not become better for more than `patience` steps.

    >>> from autodiff_compiler.compat import torch
    >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    >>> for loss in (3.0, 3.0, 3.0, 3.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ):  # fmt: skip
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        groups = len(optimizer.param_groups)
        self.min_lrs = list(min_lr) if isinstance(min_lr, (list, tuple)) else [min_lr] * groups
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = self.cooldown_counter = self.last_epoch = 0

    def is_better(self, a: float, best: float) -> bool:
        """Whether the metric is better than the best one so far, by the threshold."""
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            limit = best * (1 + sign * self.threshold)
        else:
            limit = best + sign * self.threshold
        return sign * a > sign * limit

    def step(self, metrics: Any) -> None:
        """Take the metric of an epoch: a number or a tensor with one."""
        current = float(metrics)
        self.last_epoch += 1
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            for group, low in zip(self.optimizer.param_groups, self.min_lrs):
                made = max(group["lr"] * self.factor, low)
                if group["lr"] - made > self.eps:
                    group["lr"] = made
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0

    def get_last_lr(self) -> list[float]:
        """The learning rates in force."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.__dict__.update(state_dict)


MEMBERS: dict[str, Any] = {
    c.__name__: c
    for c in (
        LRScheduler, LambdaLR, StepLR, MultiStepLR, ExponentialLR, CosineAnnealingLR, MultiplicativeLR, ConstantLR,
        LinearLR, PolynomialLR, SequentialLR, ReduceLROnPlateau,
    )
}  # fmt: skip
