"""The examples in the pages do what the pages say."""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
LIMITS = re.findall(
    r"^## (.*?)\n\n```python\n(.*?)```\n\n```text\n(.*?)```", (DOCS / "limitations.md").read_text(), re.DOTALL | re.M
)


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md") if ">>> " in p.read_text()))
def test_examples_at_the_prompt(page: str) -> None:
    # The empty line before a closing fence is not part of what an example prints.
    text = re.sub(r"^```\w*$", "", (DOCS / page).read_text(), flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_there_are_limits() -> None:
    assert len(LIMITS) >= 10


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit[0])
def test_limit_gives_this_error(limit: tuple[str, str, str], tmp_path: Path) -> None:
    _, code, expected = limit
    path = tmp_path / "example.py"
    text = "import numpy as np\nimport autodiff_compiler as ad\n\n" + code
    path.write_text(text)
    namespace: dict[str, Any] = {"__name__": "example", "__file__": str(path)}
    with pytest.raises(Exception) as caught:  # noqa: PT011: the type is in the text
        exec(compile(text, str(path), "exec"), namespace)
    message = f"{type(caught.value).__name__}\n{caught.value}".replace(str(path), "example.py")
    assert message.strip() == expected.strip()
