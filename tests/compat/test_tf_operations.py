"""TensorFlow's operations: values, dtypes, shapes, gradients and second derivatives as the real one has them.

What they are compared with is in tf_operations.json, which python -m tests.compat.record_tf writes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compat.recorded import assert_recorded
from tests.compat.tf_operations import cases, measure

RECORDED = json.loads(Path(__file__).with_name("tf_operations.json").read_text())
ALL = {
    f"{group}: {case.name} in {dtype}" if len(case.dtypes) > 1 else f"{group}: {case.name}": (case, dtype)
    for group, case, dtype in cases()
}


def test_every_case_is_recorded():
    assert sorted(ALL) == sorted(RECORDED)


@pytest.mark.parametrize("key", ALL, ids=str)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operation(tf, key):
    case, dtype = ALL[key]
    recorded = RECORDED[key]
    result = measure(tf, case, dtype)
    assert_recorded(result["value"], recorded["value"], "the value")
    through = recorded["value"][0]  # Keras' losses are float32, whatever their arguments are
    for name, expected in recorded["gradients"].items():
        assert_recorded(result["gradients"][name], expected, f"the gradient by {name}", through)
    for name, expected in recorded.get("second", {}).items():
        assert_recorded(result["second"][name], expected, f"the second derivative by {name}", through)
