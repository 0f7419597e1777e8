"""Recurrent layers: RNN, LSTM, GRU, and their cells. A layer is one operation of the graph, with all its steps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .... import nn
from ...graph.array import value_of
from ..core import make, run
from ..shaping import cat, stack
from ..tensor import check_device
from .activations import dropout
from .layers import _uniform
from .modules import Module

# One step: from what the input and the old state give to the gates, and the old states, to the new states.
Step = Callable[[Any, Any, tuple[Any, ...]], tuple[Any, ...]]


def _split(gates: Any, count: int) -> list[Any]:
    n = value_of(gates).shape[-1] // count
    return [gates[..., k * n : (k + 1) * n] for k in range(count)]


def _tanh_step(x: Any, h: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
    return (np.tanh(x + h),)


def _relu_step(x: Any, h: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
    return (nn.relu(x + h),)


def _lstm_step(x: Any, h: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
    i, f, g, o = _split(x + h, 4)
    c = nn.sigmoid(f) * states[1] + nn.sigmoid(i) * np.tanh(g)
    return nn.sigmoid(o) * np.tanh(c), c


def _gru_step(x: Any, h: Any, states: tuple[Any, ...]) -> tuple[Any, ...]:
    (xr, xz, xn), (hr, hz, hn) = _split(x, 3), _split(h, 3)
    z = nn.sigmoid(xz + hz)
    n = np.tanh(xn + nn.sigmoid(xr + hr) * hn)
    return ((states[0] - n) * z + n,)


STEPS: dict[str, tuple[Step, int, int]] = {  # and how many states and gates it has
    "RNN_TANH": (_tanh_step, 1, 1),
    "RNN_RELU": (_relu_step, 1, 1),
    "LSTM": (_lstm_step, 2, 4),
    "GRU": (_gru_step, 1, 3),
}


def _affine(a: Any, weight: Any, bias: Any) -> Any:
    out = np.matmul(a, weight.T)
    return out if bias is None else out + bias


def _steps(mode: str, reverse: bool, bias: bool, projected: bool) -> Callable[..., tuple[Any, ...]]:
    """A function of the input (steps, batch, width), the first states and the weights; it gives the outputs of all
    steps and the last states."""
    step, count, _ = STEPS[mode]

    def computed(x: Any, *rest: Any) -> tuple[Any, ...]:
        states, weights = rest[:count], list(rest[count:])
        w_ih, w_hh = weights[:2]
        b_ih, b_hh = weights[2:4] if bias else (None, None)
        inputs = _affine(x, w_ih, b_ih)
        length = value_of(x).shape[0]
        outputs: list[Any] = [None] * length
        for k in reversed(range(length)) if reverse else range(length):
            states = step(inputs[k], _affine(states[0], w_hh, b_hh), states)
            if projected:
                states = (np.matmul(states[0], weights[-1].T), *states[1:])
            outputs[k] = states[0]
        return (np.stack(outputs), *states)

    return computed


class _Recurrent(Module):
    mode: str

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ):  # fmt: skip
        super().__init__()
        check_device(device)
        if not 0 <= dropout <= 1 or isinstance(dropout, bool):
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                UserWarning,
                stacklevel=3,
            )
        for name, size in (("hidden_size", hidden_size), ("num_layers", num_layers)):
            if size <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if proj_size < 0 or proj_size >= hidden_size:
            raise ValueError("proj_size has to be a positive integer, smaller than hidden_size")
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, float(dropout), bidirectional
        self.proj_size = proj_size
        bound, gates = 1 / math.sqrt(hidden_size), STEPS[self.mode][2]
        out = proj_size or hidden_size
        self._names: list[list[str]] = []
        for layer in range(num_layers):
            width = input_size if layer == 0 else out * (2 if bidirectional else 1)
            for suffix in ("", "_reverse") if bidirectional else ("",):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (gates * hidden_size, width),
                    "weight_hh": (gates * hidden_size, out),
                }
                if bias:
                    shapes |= {"bias_ih": (gates * hidden_size,), "bias_hh": (gates * hidden_size,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                names = [f"{name}_l{layer}{suffix}" for name in shapes]
                for name, shape in zip(names, shapes.values()):
                    self.register_parameter(name, _uniform(shape, bound, dtype))
                self._names.append(names)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The weights of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._names]

    def flatten_parameters(self) -> None:
        """Nothing: the weights stay where they are."""

    def _check(self, input: Any, hx: tuple[Any, ...]) -> None:
        kind = type(self).__name__
        if input.dim() not in (2, 3):
            raise ValueError(f"{kind}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        weight = self.all_weights[0][0]
        if input.dtype is not weight.dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )
        if hx and any(h.dim() != input.dim() for h in hx):
            how = "batched" if input.dim() == 3 else "unbatched"
            names, dims = ("hx and cx", f"({hx[0].dim()}-D, {hx[-1].dim()}-D) tensors")
            if len(hx) == 1:
                names, dims = "hx", f"{hx[0].dim()}-D tensor"
            raise RuntimeError(
                f"For {how} {input.dim()}-D input, {names} should also be {input.dim()}-D but got {dims}"
            )

    def _first(self, hx: tuple[Any, ...], batch: int, dtype: Any) -> list[Any]:
        """The first states: those given, or zeros."""
        directions = 2 if self.bidirectional else 1
        out = []
        for k in range(STEPS[self.mode][1]):
            width = (self.proj_size or self.hidden_size) if k == 0 else self.hidden_size
            shape = (self.num_layers * directions, batch, width)
            if not hx:
                out.append(make(np.zeros(shape, dtype)))
            elif hx[k]._value.shape != shape:
                name = f"hidden[{k}]" if len(hx) > 1 else "hidden"
                raise RuntimeError(f"Expected {name} size {shape}, got {list(hx[k]._value.shape)}")
            else:
                out.append(hx[k])
        return out

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The outputs of the last layer at all steps, and the last states of all layers.

        Shapes: `input` (steps, batch, input_size), or (batch, steps, input_size) with `batch_first`, or (steps,
        input_size); the states (layers times directions, batch, hidden_size).
        """
        many = STEPS[self.mode][1] > 1
        given = [] if hx is None else [hx[0], hx[1]] if many else [hx]
        self._check(input, tuple(given))
        single = input.dim() == 2
        if single:
            input, given = input.unsqueeze(1), [h.unsqueeze(1) for h in given]
        elif self.batch_first:
            input = input.transpose(0, 1)
        if not input.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        first = self._first(tuple(given), input.shape[1], input._value.dtype)
        last: list[list[Any]] = [[] for _ in first]
        weights = self.all_weights
        directions = 2 if self.bidirectional else 1
        out = input
        for layer in range(self.num_layers):
            if layer and self.dropout:
                out = dropout(out, self.dropout, self.training)
            parts = []
            for k in range(layer * directions, (layer + 1) * directions):
                f = _steps(self.mode, k % directions == 1, self.bias, bool(self.proj_size))
                made, *states = run(self.mode, f, out, *[h[k] for h in first], *weights[k])
                parts.append(made)
                for kept, state in zip(last, states):
                    kept.append(state)
            out = cat(parts, -1) if len(parts) > 1 else parts[0]
        finals = [stack(states) for states in last]
        if single:
            out, finals = out.squeeze(1), [h.squeeze(1) for h in finals]
        elif self.batch_first:
            out = out.transpose(0, 1)
        return out, tuple(finals) if many else finals[0]

    def extra_repr(self) -> str:
        out = f"{self.input_size}, {self.hidden_size}"
        defaults = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False
        }  # fmt: skip
        for name, usual in defaults.items():
            if getattr(self, name) != usual:
                out += f", {name}={getattr(self, name)}"
        return out


class RNN(_Recurrent):
    """``h = tanh(x @ weight_ih.T + bias_ih + h @ weight_hh.T + bias_hh)`` at each step; or relu.

    >>> from autodiff_compiler.compat import torch
    >>> out, h = torch.nn.RNN(3, 4)(torch.ones(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args: Any,
        **kwargs: Any
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(_Recurrent):
    """Long short-term memory: gates decide what of the cell's state is kept, added and shown.

    >>> from autodiff_compiler.compat import torch
    >>> out, (h, c) = torch.nn.LSTM(3, 4, num_layers=2, batch_first=True)(torch.ones(2, 5, 3))
    >>> out.shape, h.shape, c.shape
    (torch.Size([2, 5, 4]), torch.Size([2, 2, 4]), torch.Size([2, 2, 4]))
    """

    mode = "LSTM"


class GRU(_Recurrent):
    """Gated recurrent units.

    >>> from autodiff_compiler.compat import torch
    >>> out, h = torch.nn.GRU(3, 4, bidirectional=True)(torch.ones(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 8]), torch.Size([2, 2, 4]))
    """

    mode = "GRU"

    def __init__(self, *args: Any, **kwargs: Any):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__(*args, **kwargs)


class _Cell(Module):
    mode: str

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None):
        super().__init__()
        check_device(device)
        self.input_size, self.hidden_size = input_size, hidden_size
        bound, gates = 1 / math.sqrt(hidden_size) if hidden_size else 0.0, STEPS[self.mode][2]
        self.weight_ih = _uniform((gates * hidden_size, input_size), bound, dtype)
        self.weight_hh = _uniform((gates * hidden_size, hidden_size), bound, dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, _uniform((gates * hidden_size,), bound, dtype) if bias else None)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The new state, or states. Shapes: `input` (batch, input_size) or (input_size); states (batch, hidden_size)
        or (hidden_size)."""
        kind, count = type(self).__name__, STEPS[self.mode][1]
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.shape[-1]} expected {self.input_size}")
        shape = (*input.shape[:-1], self.hidden_size)
        if hx is None:
            states: list[Any] = [make(np.zeros(shape, input._value.dtype)) for _ in range(count)]
        else:
            states = list(hx) if isinstance(hx, (tuple, list)) else [hx]
        for k, h in enumerate(states):
            if h.shape[-1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got {h.shape[-1]}, expected {self.hidden_size}"
                )
            if h.shape[:-1] != shape[:-1]:
                raise RuntimeError(f"Input batch size {shape[0]} doesn't match hidden{k} batch size {h.shape[0]}")
        step, bias = STEPS[self.mode][0], self.bias_ih is not None

        def computed(x: Any, *rest: Any) -> Any:
            old, weights = rest[:count], rest[count:]
            b_ih, b_hh = weights[2:] if bias else (None, None)
            made = step(_affine(x, weights[0], b_ih), _affine(old[0], weights[1], b_hh), old)
            return made if count > 1 else made[0]

        biases = [self.bias_ih, self.bias_hh] if bias else []
        return run(self.mode, computed, input, *states, self.weight_ih, self.weight_hh, *biases)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias_ih is not None else ", bias=False")


class RNNCell(_Cell):
    """One step of `RNN`."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", **kwargs: Any
    ):  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(input_size, hidden_size, bias, **kwargs)
        self.nonlinearity = nonlinearity


class LSTMCell(_Cell):
    """One step of `LSTM`: from (h, c) to (h, c)."""

    mode = "LSTM"


class GRUCell(_Cell):
    """One step of `GRU`."""

    mode = "GRU"


MEMBERS: dict[str, Any] = {c.__name__: c for c in (RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell)}
