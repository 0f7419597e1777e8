"""TensorFlow's operations: values, dtypes, shapes, gradients and second derivatives as the real one has them.

What they are compared with is in tf_operations.json, which python -m tests.compat.record_tf writes.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.compat.tf_operations import cases, measure

RECORDED = json.loads(Path(__file__).with_name("tf_operations.json").read_text())
TOLERANCE = {"float16": (4e-3, 2e-3), "float32": (3e-5, 3e-6), "complex64": (3e-5, 3e-6)}
ALL = {
    f"{group}: {case.name} in {dtype}" if len(case.dtypes) > 1 else f"{group}: {case.name}": (case, dtype)
    for group, case, dtype in cases()
}


def assert_recorded(tensor, recorded, what):
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
        rtol, atol = TOLERANCE.get(dtype, (1e-7, 1e-9))
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol, err_msg=what)
    else:
        assert got.reshape(-1).tolist() == entries, what


def test_every_case_is_recorded():
    assert sorted(ALL) == sorted(RECORDED)


@pytest.mark.parametrize("key", ALL)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operation(tf, key):
    case, dtype = ALL[key]
    recorded = RECORDED[key]
    result = measure(tf, case, dtype)
    assert_recorded(result["value"], recorded["value"], "the value")
    for name, expected in recorded["gradients"].items():
        assert_recorded(result["gradients"][name], expected, f"the gradient by {name}")
    for name, expected in recorded.get("second", {}).items():
        assert_recorded(result["second"][name], expected, f"the second derivative by {name}")
