"""TensorFlow's exceptions (``tf.errors``)."""

from __future__ import annotations

from typing import Any

OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS = range(7)
PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED = range(7, 13)
INTERNAL, UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED = range(13, 17)


class OpError(Exception):
    """What an operation raises. `message`, `error_code`; `node_def` and `op` are None: there is no graph."""

    _code = UNKNOWN

    def __init__(self, node_def: Any, op: Any, message: str, *args: Any):
        super().__init__(node_def, op, message, *args)
        self.node_def = node_def
        self.op = op
        self.message = message

    @property
    def error_code(self) -> int:
        return self._code

    @property
    def experimental_payloads(self) -> dict[Any, Any]:
        return {}

    def __str__(self) -> str:
        return self.message


class CancelledError(OpError):
    _code = CANCELLED


class UnknownError(OpError):
    _code = UNKNOWN


class InvalidArgumentError(OpError):
    """An operand has a dtype, a shape or a value that the operation cannot take."""

    _code = INVALID_ARGUMENT


class DeadlineExceededError(OpError):
    _code = DEADLINE_EXCEEDED


class NotFoundError(OpError):
    _code = NOT_FOUND


class AlreadyExistsError(OpError):
    _code = ALREADY_EXISTS


class PermissionDeniedError(OpError):
    _code = PERMISSION_DENIED


class ResourceExhaustedError(OpError):
    _code = RESOURCE_EXHAUSTED


class FailedPreconditionError(OpError):
    _code = FAILED_PRECONDITION


class AbortedError(OpError):
    _code = ABORTED


class OutOfRangeError(OpError):
    """An iterator of a dataset has come to its end."""

    _code = OUT_OF_RANGE


class UnimplementedError(OpError):
    _code = UNIMPLEMENTED


class InternalError(OpError):
    _code = INTERNAL


class UnavailableError(OpError):
    _code = UNAVAILABLE


class DataLossError(OpError):
    _code = DATA_LOSS


class UnauthenticatedError(OpError):
    _code = UNAUTHENTICATED


class OperatorNotAllowedInGraphError(TypeError):
    """Not raised here: everything is eager."""


def invalid(op: str, message: str) -> InvalidArgumentError:
    """The error of an operation that TensorFlow calls `op`."""
    return InvalidArgumentError(None, None, f"{message} [Op:{op}] name: ")


def dims(shape: Any) -> str:
    """A shape as TensorFlow's kernels write it.

    >>> dims((2, 3))
    '[2,3]'
    """
    return "[" + ",".join([str(n) for n in shape]) + "]"
