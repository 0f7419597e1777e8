"""Compares a tensor with a recorded one of a real system."""

from __future__ import annotations

from typing import Any

import numpy as np

TOLERANCE = {"float16": (4e-3, 2e-3), "float32": (3e-5, 3e-6), "complex64": (3e-5, 3e-6)}


def assert_recorded(tensor: Any, recorded: list[Any] | None, what: str, through: str = "") -> None:
    """Assert that a tensor has the recorded dtype, shape and entries. `recorded` is [dtype, shape, entries], or None.

    through: a dtype that the computation went through, which may be less precise than that of the tensor.
    """
    if recorded is None:
        assert tensor is None, f"{what} is {tensor}, where TensorFlow has None"
        return
    assert tensor is not None, f"{what} is None, where TensorFlow has a tensor"
    dtype, shape, entries = recorded
    got = np.asarray(tensor.numpy())
    assert got.dtype.name == dtype, f"dtype of {what}"
    assert list(got.shape) == shape, f"shape of {what}"
    kind = np.dtype(dtype).kind
    if kind in "fc":
        expected = np.array(entries, np.float64)
        expected = (expected.view(np.complex128) if kind == "c" else expected).reshape(shape)
        rtol, atol = max(TOLERANCE.get(name, (1e-6, 1e-9)) for name in (dtype, through))
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=what)
    else:
        assert got.reshape(-1).tolist() == entries, what
