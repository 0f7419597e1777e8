"""What the files around the code say about it stays true."""

from __future__ import annotations

import ast
import importlib
import operator
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.programs.random_programs import load

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def command_in_readme(name: str) -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- command: {name} -->\n```sh\n(.*?)\n```", text, re.DOTALL)
    assert found, f"README.md has no {name} command"
    return found[1]


def test_readme_has_the_two_commands() -> None:
    assert "pytest" in command_in_readme("test")
    example = command_in_readme("example")
    path, function = re.findall(r"(examples/\w+\.py):(\w+)", example)[0]
    assert f"def {function}(" in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_python_in_the_pages_is_python(page: Path) -> None:
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        ast.parse(code)


def test_readme_shows_what_is_emitted(update_golden: bool) -> None:
    import autodiff_compiler as ad

    page = (ROOT / "README.md").read_text(encoding="utf-8")
    table = page.partition("<!-- emitted")[2]
    written, emitted = re.findall(r"```python\n(.*?)```", table, re.DOTALL)[:2]
    f = load(written, "readme")["f"]
    source = ad.grad(f).source(np.linspace(0.1, 1.0, 8), 3)
    if update_golden:
        shown = source[source.index("def ") :]
        (ROOT / "README.md").write_text(page.replace(emitted, shown), encoding="utf-8")
    else:
        assert emitted.strip() in source, "run pytest --update-golden"


def test_versions_agree() -> None:
    if sys.version_info < (3, 11):
        pytest.skip("no tomllib")
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    for requirement in project["optional-dependencies"]["lint"]:
        name, _, version = requirement.partition("==")
        assert re.search(rf"repo: \S*{name}\S*\n    rev: v{re.escape(version)}\n", hooks), requirement
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    import autodiff_compiler

    assert autodiff_compiler.__version__ == project["version"]


def test_the_module_is_typed() -> None:
    assert (ROOT / "autodiff_compiler/py.typed").exists()


@pytest.mark.parametrize("part", ["analysis", "frontend", "ir", "operations", "transforms"])
def test_the_dtype_of_a_type_is_not_compared_with_that_of_float64(part: str) -> None:
    """It may be None, and ``None == np.dtype(float)`` is True in NumPy. ``None == np.float64`` is not."""
    found = []
    for path in sorted((ROOT / "autodiff_compiler" / part).rglob("*.py")):
        if "library" in path.parts or path.stem == "__init__":  # programs of arrays
            continue
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Compare) or not isinstance(node.left, ast.Attribute):
                continue
            if node.left.attr != "dtype" or not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                continue
            try:
                other = eval(ast.unparse(node.comparators[0]), vars(module))
            except NameError:
                continue  # a variable
            others = list(other) if isinstance(node.ops[0], ast.In | ast.NotIn) else [other]
            is_hashed = isinstance(other, (frozenset, dict))  # asks for the hash first
            if not is_hashed and any(one is not None and operator.eq(None, one) for one in others):
                found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    assert not found
