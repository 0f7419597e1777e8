"""Every pass shows itself: its module says what it takes and gives, and has an example. CI runs all examples."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

import autodiff_compiler

PACKAGE = Path(autodiff_compiler.__file__).parent
MODULES = [
    f"{folder}.{path.stem}"
    for folder in ("analysis", "codegen", "transforms")
    for path in sorted((PACKAGE / folder).glob("*.py"))
    if path.stem != "__init__"
]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_takes_and_gives(name: str) -> None:
    text = importlib.import_module(f"autodiff_compiler.{name}").__doc__ or ""
    assert ">>>" in text, "no example of a function before and after"
    words = re.findall(r"\w+", text)
    assert "gives" in words or "Gives" in words, "what does it give?"
    assert "takes" in words or "Takes" in words, "what does it take?"
