"""Looking at a function between two passes, as the examples in the docstrings of the passes do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .transforms import grad


def show(f: Callable[..., Any], *args: Any, after: str = "lower", backward: bool = False) -> None:
    """Print the SSA form of a function, or of its gradient by the first argument, after a pass.

    `transforms.pipeline` names the passes. `backward` leaves out the operations before the first cotangent.

    >>> import numpy as np
    >>> show(lambda x: np.sin(x), 0.5)
    func <lambda>(%x: float) {
      %v1: float64 = np.sin %x
      return %v1
    }
    >>> show(lambda x: np.sin(x), 0.5, after="residuals", backward=True)
      (forward sweep)
      %x_bar: float64 = np.cos %x
      return %x_bar
    }
    """
    text = next(text for name, text in grad(f).passes(*args) if name == after)
    lines = [re.sub(r"   # line \d+", "", line) for line in text.splitlines()]
    if backward:
        first = next((k for k, line in enumerate(lines) if "_bar" in line), len(lines) - 3)
        lines[:first] = ["  (forward sweep)"]
    print("\n".join(lines))


def show_source(f: Callable[..., Any], *args: Any) -> None:
    """Print the emitted gradient of a function by the first argument, without the imports.

    >>> show_source(lambda x: x * x, 3.0)
    def lambda__grad(x):
        return 2.0 * x
    """
    text = grad(f).source(*args)
    print(text[text.index("def ") :].rstrip())


__all__ = ["show", "show_source"]
