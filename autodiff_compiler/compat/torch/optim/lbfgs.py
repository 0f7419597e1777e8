"""The quasi-Newton method of limited memory, with a line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..modes import enable_grad, no_grad
from .optimizer import Optimizer

Vector = np.ndarray[Any, Any]
Closure = Callable[[], Any]


class LBFGS(Optimizer):
    """Limited-memory BFGS (Nocedal and Wright, Numerical Optimization, chapters 3 and 7). `step` takes a closure that
    computes the loss anew and calls `backward`; it calls it several times.

    >>> from autodiff_compiler.compat import torch
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - torch.tensor([3.0, -1.0])) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item()
    13.0
    >>> [round(v, 4) for v in x.tolist()]
    [3.0, -1.0]
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ):  # fmt: skip
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        options = {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    # --- parameters as one vector ---------------------------------------------------------------------------------

    def _gradient(self) -> Vector:
        parts = [
            np.zeros(p._value.size, p._value.dtype) if p._grad is None else p._grad._value.ravel()
            for p in self.param_groups[0]["params"]
        ]
        return np.concatenate(parts)

    def _move(self, t: float, d: Vector) -> None:
        at = 0
        for p in self.param_groups[0]["params"]:
            n = p._value.size
            p._value += (t * d[at : at + n]).reshape(p._value.shape)
            p._memory.written()
            at += n

    def _at(self, closure: Closure, start: list[Vector], t: float, d: Vector) -> tuple[float, Vector]:
        """The loss and the gradient at a distance; the parameters go back to where they were."""
        self._move(t, d)
        with enable_grad():
            loss = float(closure())
        g = self._gradient()
        for p, value in zip(self.param_groups[0]["params"], start):
            p._value[...] = value
            p._memory.written()
        return loss, g

    # --- steps ----------------------------------------------------------------------------------------------------

    def step(self, closure: Closure | None = None) -> Any:
        """Several steps down; the loss before them is returned."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group = self.param_groups[0]
        memory = self.state.setdefault(group["params"][0], {"n_iter": 0, "func_evals": 0})
        with no_grad():
            with enable_grad():
                first = closure()
            loss, g = float(first), self._gradient()
            evaluations = 1
            memory["func_evals"] += 1
            if np.abs(g).max() <= group["tolerance_grad"]:
                return first
            for k in range(group["max_iter"]):
                memory["n_iter"] += 1
                d = self._direction(memory, g, group["history_size"])
                before, memory["gradient"] = loss, g
                t = group["lr"]
                if memory["n_iter"] == 1:
                    t = min(1.0, 1.0 / float(np.abs(g).sum())) * group["lr"]
                slope = float(g.dot(d))
                memory["d"], memory["t"] = d, t
                if slope > -group["tolerance_change"]:
                    break
                used = 0
                if group["line_search_fn"] is not None:
                    start = [p._value.copy() for p in group["params"]]

                    def loss_at(t: float, d: Vector = d, start: list[Vector] = start) -> tuple[float, Vector]:
                        return self._at(closure, start, t, d)

                    most = group["max_eval"] - evaluations
                    loss, g, t, used = strong_wolfe(loss_at, t, d, loss, g, slope, most=most)
                    self._move(t, d)
                    memory["t"] = t
                else:
                    self._move(t, d)
                    if k + 1 < group["max_iter"]:
                        with enable_grad():
                            loss = float(closure())
                        g, used = self._gradient(), 1
                evaluations += used
                memory["func_evals"] += used
                if (
                    evaluations >= group["max_eval"]
                    or np.abs(g).max() <= group["tolerance_grad"]
                    or np.abs(d * t).max() <= group["tolerance_change"]
                    or abs(loss - before) < group["tolerance_change"]
                ):
                    break
        return first

    def _direction(self, memory: dict[str, Any], g: Vector, history: int) -> Vector:
        """Minus the gradient, times an estimate of the inverse Hessian from the last steps."""
        if memory["n_iter"] == 1:
            memory["changes"], memory["scale"] = [], 1.0
            return -g
        y, s = g - memory["gradient"], memory["d"] * memory["t"]
        ys = y.dot(s)
        changes: list[tuple[Vector, Vector, Any]] = memory["changes"]
        if ys > 1e-10:
            if len(changes) == history:
                changes.pop(0)
            changes.append((y, s, 1.0 / ys))
            memory["scale"] = ys / y.dot(y)
        q = -g
        weights = []
        for y, s, rho in reversed(changes):
            a = s.dot(q) * rho
            weights.append(a)
            q = q - a * y
        r: Vector = q * memory["scale"]
        for (y, s, rho), a in zip(changes, reversed(weights)):
            r = r + s * (a - y.dot(r) * rho)
        return r


# --- the line search --------------------------------------------------------------------------------------------------


def cubic_minimum(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None
) -> float:
    """Where the cubic with these values and slopes at two places is least, within bounds."""
    low, high = bounds if bounds is not None else (min(x1, x2), max(x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if not square >= 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, low), high)


class _End:
    """A place on the line: how far, the loss, the gradient and the slope there."""

    def __init__(self, t: float, loss: float, g: Vector, d: Vector):
        self.t, self.loss, self.g, self.slope = t, loss, g, float(g.dot(d))


def strong_wolfe(
    loss_at: Callable[[float], tuple[float, Vector]], t: float, d: Vector, loss: float, g: Vector, slope: float,
    c1: float = 1e-4, c2: float = 0.9, tolerance: float = 1e-9, most: int = 25,
) -> tuple[float, Vector, float, int]:  # fmt: skip
    """A distance along `d` where the loss has sunk enough and the slope is flat enough: loss, gradient, distance, and
    how often the loss was computed."""
    size = float(np.abs(d).max())
    origin = previous = _End(0.0, loss, g, d)
    new = _End(t, *loss_at(t), d)
    count, tries = 1, 0
    bracket: list[_End] = []
    while tries < most:
        if new.loss > loss + c1 * new.t * slope or (tries > 1 and new.loss >= previous.loss):
            bracket = [previous, new]
            break
        if abs(new.slope) <= -c2 * slope:
            return new.loss, new.g, new.t, count
        if new.slope >= 0:
            bracket = [previous, new]
            break
        bounds = (new.t + 0.01 * (new.t - previous.t), new.t * 10)
        t = cubic_minimum(previous.t, previous.loss, previous.slope, new.t, new.loss, new.slope, bounds)
        previous, new = new, _End(t, *loss_at(t), d)
        count += 1
        tries += 1
    if not bracket:
        bracket = [origin, new]
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    little = False
    while tries < most:
        a, b = bracket
        if abs(b.t - a.t) * size < tolerance:
            break
        t = cubic_minimum(a.t, a.loss, a.slope, b.t, b.loss, b.slope)
        left, right = min(a.t, b.t), max(a.t, b.t)
        margin = 0.1 * (right - left)
        # Twice in a row close to an end is too little progress.
        if min(right - t, t - left) < margin:
            if little or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                little = False
            else:
                little = True
        else:
            little = False
        new = _End(t, *loss_at(t), d)
        count += 1
        tries += 1
        if new.loss > loss + c1 * new.t * slope or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = abs(new.slope) <= -c2 * slope
        if not done and new.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    best = bracket[low]
    return best.loss, best.g, best.t, count
