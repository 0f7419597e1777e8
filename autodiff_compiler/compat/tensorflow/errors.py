"""TensorFlow's exceptions (``tf.errors``)."""

from __future__ import annotations

from typing import Any

from .namespace import lazy


class OpError(Exception):
    """What an operation raises. `node_def` and `op` are None: there is no graph."""

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any):
        super().__init__(node_def, op, message, *args)
        self.node_def, self.op, self.message = node_def, op, message

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(OpError):
    """An operand has a dtype, a shape or a value that the operation cannot take."""


# Programs name these in ``except`` clauses. They are not raised here.
_OTHERS = """CancelledError UnknownError DeadlineExceededError NotFoundError AlreadyExistsError PermissionDeniedError
ResourceExhaustedError FailedPreconditionError AbortedError OutOfRangeError UnimplementedError InternalError
UnavailableError DataLossError UnauthenticatedError"""
globals().update({name: type(name, (OpError,), {"__module__": __name__}) for name in _OTHERS.split()})


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
