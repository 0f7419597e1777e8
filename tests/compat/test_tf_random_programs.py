"""Random programs with TensorFlow's tape, and the gradients that the real one gives them.

python -m tests.compat.tf_random_programs makes more.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compat.tf_random_programs import differences, run

RECORDED = json.loads(Path(__file__).with_name("tf_random_programs.json").read_text())


@pytest.mark.parametrize("entry", RECORDED, ids=lambda entry: str(entry["seed"]))
def test_random_program(tf, entry):
    assert differences(entry["result"], run(tf, entry["program"])) is None, entry["program"]
