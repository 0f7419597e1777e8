"""Checkpoints, in a user's program: functions and loops of which the adjoint keeps less, and computes more."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from ..errors import ArgumentError
from ..lowered import lowers_by
from ..records import record
from .carried import carried, is_found_by_name, restored

F = TypeVar("F", bound=Callable[..., Any])
It = TypeVar("It", bound=Iterable[Any])


class Checkpoint:
    """A function that is computed again where it is reversed. See `checkpoint`."""

    def __init__(self, fun: Callable[..., Any]):
        if not callable(fun):
            raise TypeError(f"checkpoint needs a function, not {fun!r}")
        self.fun = fun
        functools.update_wrapper(self, fun)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.fun(*args, **kwargs)

    def __reduce__(self) -> Any:
        if is_found_by_name(self):
            return self.__qualname__  # type: ignore[attr-defined]
        return restored, (carried(self.fun), type(self), (self.fun,))

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        return self if obj is None else functools.partial(self, obj)

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_checkpoint, primal_of

        return lower_checkpoint(interp, primal_of(interp, self.fun), args, kwargs)


@record
class AbstractCheckpoint:
    """The checkpoint of a function that exists only while the program is lowered."""

    callee: Any

    def __autodiff_lower__(self, interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from .compiler import lower_checkpoint

        return lower_checkpoint(interp, self.callee, args, kwargs)


def checkpoint(fun: F) -> F:
    """A function that does what `fun` does. Also as ``@checkpoint``. `remat` is the same function, as in JAX.

    In an adjoint, nothing of what `fun` computes is kept. The backward sweep computes it again, from what `fun` was
    given, before it reverses it. So a chain of checkpoints needs the memory of one of them, and of their arguments; it
    takes one more run of the function. Derivatives of any order do so.

    `fun` may store into its arguments and bind outer variables. It must not have effects, such as printing or drawing
    random numbers: that is an `UnsupportedError` where it is compiled, as they would happen twice.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> @ad.checkpoint
    ... def layer(x):
    ...     for _ in range(100):
    ...         x = np.sin(x)
    ...     return x
    >>> def f(x):
    ...     for _ in range(3):
    ...         x = layer(x)
    ...     return x
    >>> print(ad.grad(f).source(0.5))
    import numpy as np
    <BLANKLINE>
    <BLANKLINE>
    def f_grad(x):
        x_saved = []
        for _ in range(3):
            x_saved.append(x)
            for _ in range(100):
                x = np.sin(x)
        x_bar = 1.0
        # adjoint of line 2: for _ in range(3):
        for x in reversed(x_saved):
            x_saved2 = []
            for _ in range(100):
                x_saved2.append(x)
                x = np.sin(x)
            # adjoint of line 3: for _ in range(100):
            for x in reversed(x_saved2):
                # adjoint of line 4: x = np.sin(x)
                x_bar *= np.cos(x)
        return x_bar
    <BLANKLINE>

    Source: Griewank and Walther, Evaluating Derivatives (2008), chapter 12.
    """
    return cast(F, Checkpoint(fun))


remat = checkpoint


def checkpointed(
    iterable: It, segments: int | None = None, *, snapshots: int | None = None, disk: int | None = None,
    directory: str | None = None,
) -> It:  # fmt: skip
    """The iterable itself, to loop over: ``for i in checkpointed(range(n)):``.

    In an adjoint, the loop is cut into `segments` of equal length; by default, there are as many as the square root of
    the number of trips. What the loop starts a segment with is kept, and the trips of one segment at a time. So n trips
    need the memory of ``segments + n / segments`` trips, and each runs twice.

    With `snapshots`, the state of the loop is kept at so many trips at a time, and nothing else: n trips need the
    memory of `snapshots` states and of one trip. Which trips run again, and when, is the schedule with the least number
    of trips. Of 2,000 trips with 8 snapshots, each runs 5 times in the mean.

    With `disk`, the state is kept at so many more trips, in files without a name, which are gone when the gradient is
    there, or has raised. All of these snapshots are one schedule: the ones that are taken first, which are read least
    often, are on disk. Small arrays, numbers and lists stay in memory.

    iterable:  a range, an array, a list or tuple of numbers or of arrays of one number of axes, or what `zip`,
        `enumerate` and `reversed` make of them. With `segments`, it is known before how many items there are. A loop
        that is left by `break` or `return` may keep half as many snapshots, since the number of
        trips is not known before. A loop that cannot run again is reversed as others are: with `snapshots`, one that
        calls a recursive function, or that carries an array that may have no value before it.
    segments:  an int, or None.
    snapshots: an int, or None: with `disk` none in memory.
    disk:      an int, or None.
    directory: where the files are; by default, where `tempfile.gettempdir` says. That may be memory, too.

    Raises `ArgumentError` for what is no iterable, for numbers below 1, and for segments with snapshots. A loop with
    effects, such as printing or drawing random numbers, is an `UnsupportedError` where it is differentiated: they would
    happen twice. If a file cannot be written, OSError says so.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> def decay(x, n):
    ...     for _ in ad.checkpointed(range(n)):
    ...         x = x - 0.01 * np.sin(x)
    ...     return x
    >>> float(ad.grad(decay)(0.5, 10_000))
    2.397642552091916e-44

    Source: Griewank and Walther, Evaluating Derivatives (2008), chapter 12; Algorithm 799: Revolve (ACM TOMS 26, 2000).
    On two levels: Stumm and Walther, MultiStage approaches for optimal offline checkpointing (SIAM J. Sci. Comput. 31,
    2009).
    """
    if not isinstance(iterable, Iterable):
        raise ArgumentError(
            f"checkpointed needs an iterable, not {type(iterable).__name__}", None, "loop over range(n)"
        )
    wrong = misfit(segments, snapshots, disk, directory)
    if wrong is not None:
        raise ArgumentError(wrong[0], None, wrong[1])
    return iterable


def misfit(segments: Any, snapshots: Any, disk: Any, directory: Any) -> tuple[str, str] | None:
    """What is wrong with the numbers, as far as they are known, and a remedy."""
    if segments is not None and (snapshots is not None or disk is not None):
        return "checkpointed takes segments or snapshots, not both", "give one of them, or none"
    if directory is not None and disk is None:
        return "checkpointed takes a directory for snapshots on disk", "give disk=, how many there are"
    for name, number, least in (
        ("segment", segments, 1), ("snapshot", snapshots, int(disk is None)), ("snapshot on disk", disk, 1),
    ):  # fmt: skip
        if isinstance(number, int) and number < least:
            return f"checkpointed needs at least {'one' if least else 'no'} {name}, not {number}", "give a larger one"
    return None


def _checkpoint_inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import lower_checkpoint_of

    return lower_checkpoint_of(interp, args, kwargs)


def _checkpointed_inside(interp: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    from .compiler import lower_checkpointed

    return lower_checkpointed(interp, args, kwargs)


lowers_by(_checkpoint_inside)(checkpoint)
lowers_by(_checkpointed_inside)(checkpointed)

__all__ = ["Checkpoint", "checkpoint", "checkpointed", "remat"]
