"""Layers and losses: values and gradients as the real Keras gives them."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .keras_cases import all_cases

CASES = all_cases()
VALUES: dict[str, Any] = json.loads(Path(__file__).with_name("keras_values.json").read_text(encoding="utf-8"))


def is_digest(x: Any) -> bool:
    return isinstance(x, list) and [type(item) for item in x] == [str, list, float, float]


def compare(found: Any, expected: Any, where: str) -> None:
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            compare(found[key], expected[key], key)
    elif (
        isinstance(expected, list)
        and len(expected) == 4
        and isinstance(expected[0], str)
        and isinstance(expected[1], list)
    ):
        assert found[:2] == expected[:2], where
        norm = max(expected[2], 1e-6)
        assert found[2] == pytest.approx(expected[2], rel=1e-5, abs=1e-7), where
        assert found[3] == pytest.approx(expected[3], rel=1e-5, abs=1e-5 * norm), where
    elif isinstance(expected, list) and expected and isinstance(expected[0], list):
        assert len(found) == len(expected), where
        for a, b in zip(found, expected):
            compare(a, b, where)
    else:
        assert found == expected, where


@pytest.mark.parametrize("name", CASES)
def test_values(tf: ModuleType, name: str) -> None:
    function, *arguments = CASES[name]
    compare(function(tf, *arguments), VALUES[name], name)


def test_there_is_a_value_for_each_case() -> None:
    assert list(VALUES) == list(CASES)
