"""``torch.func.vmap``: a function for each slice of its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...tape.nest import flatten, is_nested, map_nested, pack_like
from ..operations import creation
from .core import Base, make
from .shaping import stack

NO_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
    "randomness flags on vmap or perform the randomness operation out of vmap"
)


def check_randomness(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """The function on each slice of its arguments, and the results put together. It runs slice by slice, in a loop, so
    it may look at values. `chunk_size` has no effect.

    in_dims: the axis of the slices, or one for each argument; None: the whole argument each time. An argument may be a
    nest of tensors, with one axis for all or a nest of axes. Keyword arguments are whole each time. out_dims: where the
    slices are in the results, in the same way; None for a result that is the same for all.
    randomness: "error" refuses random numbers, "same" draws the same for all slices, "different" others.

    >>> from autodiff_compiler.compat import torch
    >>> torch.func.vmap(torch.sum)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 7.])
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        axes = _axes(name, in_dims, args)
        given = list(zip(args, axes))
        size = _size(given)
        outs = []
        with creation.drawing(NO_RANDOM if randomness == "error" else "") as restart:
            for k in range(size or 1):
                if randomness == "same":
                    restart()
                parts = [_slice(x, dims, k if size else None) for x, dims in given]
                outs.append(func(*parts, **kwargs))
        return _together(name, outs, out_dims, size)

    return mapped


def _axes(name: str, in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """For each argument, the axes of its tensors, in its structure."""
    what = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"{what}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    dims = tuple(in_dims) if isinstance(in_dims, (tuple, list)) else (in_dims,) * len(args)
    if len(dims) != len(args):
        raise ValueError(
            f"{what}: in_dims is not compatible with the structure of inputs: it has {len(dims)} entries for "
            f"{len(args)} arguments"
        )
    found = []
    for x, dim in zip(args, dims):
        full = _broadcast(dim, x)
        if full is None and dim is not None:
            raise ValueError(f"{what}: in_dims is not compatible with the structure of inputs")
        for t, d in zip(flatten(x), flatten(full)):
            if d is not None:
                _check_axis(what, t, d)
        found.append(full)
    return found


def _check_axis(what: str, t: Any, dim: Any) -> None:
    if not isinstance(dim, int):
        raise ValueError(f"{what}: Got in_dim={dim!r} for an input but in_dim must be either an integer or None.")
    if not isinstance(t, Base):
        raise ValueError(
            f"{what}: Got in_dim={dim} for an input but the input is of type {type(t)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    n = t._value.ndim
    if not -n <= dim < n:
        raise ValueError(
            f"{what}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {n} so expected "
            f"in_dim to satisfy -{n} <= in_dim < {n}."
        )


def _broadcast(dims: Any, x: Any) -> Any:
    """Axes in the structure of `x`; one stands for all below it. None if they do not fit."""
    if not is_nested(dims):
        return map_nested(lambda t: dims, x)
    if type(dims) is not type(x) and not (isinstance(dims, (tuple, list)) and isinstance(x, (tuple, list))):
        return None
    if isinstance(dims, dict):
        if dims.keys() != x.keys():
            return None
        return {key: _broadcast(dims[key], x[key]) for key in x}
    return [_broadcast(d, item) for d, item in zip(dims, x)] if len(dims) == len(x) else None


def _size(given: list[tuple[Any, Any]]) -> int:
    """The number of slices."""
    sizes = [t._value.shape[d] for x, dims in given for t, d in zip(flatten(x), flatten(dims)) if d is not None]
    if not sizes:
        raise ValueError("vmap: expected at least one tensor with an axis to map over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{list(dict.fromkeys(sizes))} for the mapped dimension"
        )
    return int(sizes[0])


def _slice(x: Any, dims: Any, k: int | None) -> Any:
    """Slice number `k` of an argument; None: zeros of its shape, where there is none."""
    axes = iter(flatten(dims))

    def part(t: Any) -> Any:
        d = next(axes)
        if d is None:
            return t
        if k is None:
            return make(np.zeros(np.delete(t._value.shape, d), t._value.dtype))
        return t.select(d, k)

    return map_nested(part, x)


def _together(name: str, outs: list[Any], out_dims: Any, size: int) -> Any:
    """The results of the slices as one."""
    first = outs[0]
    for t in flatten(first):
        if not isinstance(t, Base):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(t)}. Did you mean to set "
                "out_dims= to None for output?"
            )
    dims = _broadcast(out_dims, first)
    if dims is None and out_dims is not None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            "`outputs`."
        )
    made = []
    for column, dim in zip(zip(*[flatten(out) for out in outs]), flatten(dims)):
        if dim is None:
            if any(t is not column[0] and not np.array_equal(t._value, column[0]._value) for t in column):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            made.append(column[0])
        elif size:
            made.append(stack(list(column), dim))
        else:
            v = np.expand_dims(column[0]._value, dim)
            made.append(make(np.delete(v, 0, dim)))
    return pack_like(first, made)
