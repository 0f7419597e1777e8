"""Schedules of learning rates that rise and fall, and of the momentum that does the opposite."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .schedules import LRScheduler


def _each(value: Any, optimizer: Any) -> list[Any]:
    """One number for each group."""
    return list(value) if isinstance(value, (list, tuple)) else [value] * len(optimizer.param_groups)


class _Cycle(LRScheduler):
    """With momentum: ``momentum(epoch, number)`` gives that of a group."""

    cycle_momentum = False

    def _check_momentum(self, optimizer: Any) -> None:
        if self.cycle_momentum and not {"momentum", "betas"} & set(optimizer.defaults):
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")

    def momentum(self, epoch: int, number: int) -> float:
        raise NotImplementedError

    def step(self) -> None:
        """Go on to the next epoch."""
        super().step()
        if not self.cycle_momentum:
            return
        for k, group in enumerate(self.optimizer.param_groups):
            found = self.momentum(self.last_epoch, k)
            if "betas" in group:
                group["betas"] = (found, *group["betas"][1:])
            else:
                group["momentum"] = found


class OneCycleLR(_Cycle):
    """Smith and Topin, super-convergence: up to `max_lr`, and down to far below where it began."""

    def __init__(
        self, optimizer: Any, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ):  # fmt: skip
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
            total_steps = epochs * steps_per_epoch
        if total_steps <= 0:
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        if not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps, self.anneal, self.cycle_momentum = total_steps, anneal_strategy, cycle_momentum
        self._check_momentum(optimizer)
        high, low = _each(max_lr, optimizer), []
        for group, top in zip(optimizer.param_groups, high):
            group["initial_lr"] = top / div_factor
            low.append(top / div_factor / final_div_factor)
        start = [top / div_factor for top in high]
        slow, fast = _each(base_momentum, optimizer), _each(max_momentum, optimizer)
        rise = pct_start * total_steps - 1
        # Where each phase ends, and from what to what the rates and the momenta go in it.
        self._phases: list[tuple[float, list[Any], list[Any], list[Any], list[Any]]]
        if three_phase:
            self._phases = [
                (rise, start, high, fast, slow),
                (2 * pct_start * total_steps - 2, high, start, slow, fast),
                (total_steps - 1, start, low, fast, fast),
            ]
        else:
            self._phases = [(rise, start, high, fast, slow), (total_steps - 1, high, low, slow, fast)]
        super().__init__(optimizer, last_epoch)

    def _between(self, epoch: int, number: int, first: int) -> float:
        """The number of this group in an epoch: the rate (`first` is 1) or the momentum (3)."""
        if epoch > self.total_steps:
            raise ValueError(f"Tried to step {epoch} times. The specified number of total steps is {self.total_steps}")
        begin = 0.0
        for phase in self._phases:
            end = phase[0]
            if epoch <= end or phase is self._phases[-1]:
                a, b = phase[first][number], phase[first + 1][number]  # type: ignore[index]
                part = (epoch - begin) / (end - begin)
                if self.anneal == "linear":
                    return float((b - a) * part + a)
                return float(b + (a - b) / 2 * (1 + math.cos(math.pi * part)))
            begin = end
        raise AssertionError

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return self._between(epoch, number, 1)

    def momentum(self, epoch: int, number: int) -> float:
        return self._between(epoch, number, 3)


class CyclicLR(_Cycle):
    """Smith, cyclical learning rates: up from `base_lr` to `max_lr` and down again, over and over."""

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle", cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ):  # fmt: skip
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.cycle_momentum = cycle_momentum
        self._check_momentum(optimizer)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size, self.step_ratio = float(step_size_up + down), step_size_up / (step_size_up + down)
        self.max_lrs = _each(max_lr, optimizer)
        self.slow, self.fast = _each(base_momentum, optimizer), _each(max_momentum, optimizer)
        scales: dict[str, tuple[Callable[[float], float], str]] = {
            "triangular": (lambda x: 1.0, "cycle"),
            "triangular2": (lambda x: 1 / 2.0 ** (x - 1), "cycle"),
            "exp_range": (lambda x: gamma**x, "iterations"),
        }
        self.scale, self.scale_mode = scales[mode] if scale_fn is None else (scale_fn, scale_mode)
        for group, low in zip(optimizer.param_groups, _each(base_lr, optimizer)):
            group["initial_lr"] = low
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        cycle = math.floor(1 + epoch / self.total_size)
        x = 1.0 + epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        return height * self.scale(cycle if self.scale_mode == "cycle" else epoch)

    def rate(self, initial: float, epoch: int, number: int) -> float:
        return float(initial + (self.max_lrs[number] - initial) * self._height(epoch))

    def momentum(self, epoch: int, number: int) -> float:
        return float(self.fast[number] - (self.fast[number] - self.slow[number]) * self._height(epoch))


class CosineAnnealingWarmRestarts(LRScheduler):
    """Loshchilov and Hutter, SGDR: half waves of the cosine, each `T_mult` times as long as the one before."""

    def __init__(self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1):
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch, or to one between two."""
        if epoch is not None:
            self.last_epoch = epoch - 1  # type: ignore[assignment]
        super().step()
        self.last_epoch = math.floor(self.last_epoch)

    def rate(self, initial: float, epoch: float, number: int) -> float:
        length = self.T_0
        while epoch >= length:
            epoch -= length
            length *= self.T_mult
        return self.eta_min + (initial - self.eta_min) * (1 + math.cos(math.pi * epoch / length)) / 2


MEMBERS: dict[str, Any] = {c.__name__: c for c in (OneCycleLR, CyclicLR, CosineAnnealingWarmRestarts)}
