"""Keras layers, models and optimizers: outputs, gradients and weights after three steps as the real one has them.

What they are compared with is in tf_models.json, which python -m tests.compat.record_tf writes.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compat.recorded import assert_recorded
from tests.compat.tf_models import PROGRAMS

RECORDED = json.loads(Path(__file__).with_name("tf_models.json").read_text())


def test_every_program_is_recorded():
    assert sorted(PROGRAMS) == sorted(RECORDED)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(tf, name):
    result = PROGRAMS[name](tf)
    assert list(result) == list(RECORDED[name])
    for key, expected in RECORDED[name].items():
        assert_recorded(result[key], expected, key)
