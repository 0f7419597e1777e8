"""TensorFlow's exceptions (``tf.errors``)."""

from __future__ import annotations

from typing import Any

from .namespace import lazy


class OpError(Exception):
    """What an operation raises. `message`, `error_code`; `node_def` and `op` are None: there is no graph."""

    error_code = 2

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any):
        super().__init__(node_def, op, message, *args)
        self.node_def = node_def
        self.op = op
        self.message = message

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(OpError):
    """An operand has a dtype, a shape or a value that the operation cannot take."""

    error_code = 3


class OutOfRangeError(OpError):
    """An iterator of a dataset has come to its end."""

    error_code = 11


# Programs name these in ``except`` clauses. They are not raised here.
_CODES = {
    "CancelledError": 1, "UnknownError": 2, "DeadlineExceededError": 4, "NotFoundError": 5, "AlreadyExistsError": 6,
    "PermissionDeniedError": 7, "ResourceExhaustedError": 8, "FailedPreconditionError": 9, "AbortedError": 10,
    "UnimplementedError": 12, "InternalError": 13, "UnavailableError": 14, "DataLossError": 15,
    "UnauthenticatedError": 16,
}  # fmt: skip
globals().update(
    {name: type(name, (OpError,), {"error_code": code, "__module__": __name__}) for name, code in _CODES.items()}
)


def invalid(op: str, message: str) -> InvalidArgumentError:
    """The error of an operation that TensorFlow calls `op`."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: ")


def dims(shape: Any) -> str:
    """A shape as TensorFlow's kernels write it.

    >>> dims((2, 3))
    '[2,3]'
    """
    return "[" + ",".join([str(n) for n in shape]) + "]"


__getattr__, __dir__ = lazy(__name__, {})
