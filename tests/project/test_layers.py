"""Imports flow one way: each part of the package sees only the parts below it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "autodiff_compiler"

# For each part, the other parts that it may import.
BELOW: dict[str, set[str]] = {
    "pristine": {"locks"},
    "late": {"locks"},
    "families": set(),
    "locks": set(),
    "memory": set(),
    "collector": set(),
    "duck": {"errors"},
    "deep": set(),
    "errors": {"deep"},
    "live": {"errors"},
    "records": set(),
    "made": {"records"},
    "tracebacks": {"errors"},
    "rows": set(),
    "runtime": {"duck", "errors", "kernels", "rows", "tree"},
    "kernels": set(),
    "nn": {"kernels"},
    "tree": {"duck", "errors"},
    "ir": {"locks", "records", "live", "deep", "errors", "runtime", "kernels"},
    "lowered": {"duck", "records", "errors", "tree", "ir"},
    "analysis": {"errors", "runtime", "kernels", "ir"},
    "operations": {"families", "live", "records", "errors", "runtime", "kernels", "ir"},
    "frontend": {
        "duck",
        "locks",
        "made",
        "families",
        "live",
        "records",
        "lowered",
        "deep",
        "errors",
        "runtime",
        "kernels",
        "tree",
        "ir",
        "nn",
        "operations",
    },
    "codegen": {"memory", "records", "errors", "runtime", "rows", "kernels", "tree", "ir", "operations"},
    # The loop-nest form and its printer; calls of NumPy are printed by the code generator.
    "native": {"records", "errors", "runtime", "kernels", "ir", "analysis", "operations", "codegen", "transforms"},
    "transforms": {
        "duck",
        "families",
        "records",
        "errors",
        "runtime",
        "kernels",
        "tree",
        "ir",
        "analysis",
        "operations",
    },
    "api": {
        "collector",
        "duck",
        "locks",
        "made",
        "live",
        "records",
        "deep",
        "errors",
        "tracebacks",
        "runtime",
        "kernels",
        "tree",
        "ir",
        "analysis",
        "operations",
        "frontend",
        "codegen",
        "transforms",
        "native",
        "lowered",
    },
    # Of the frontend, the tape uses the definitions of NumPy functions in Python.
    "tape": {
        "collector",
        "locks",
        "records",
        "errors",
        "tracebacks",
        "runtime",
        "kernels",
        "tree",
        "ir",
        "analysis",
        "operations",
        "frontend",
        "transforms",
        "codegen",
        "api",
        "lowered",
    },
    "compat": {"errors", "runtime", "kernels", "tree", "ir", "operations", "api", "tape", "nn"},
    # The command line uses the package as a user does; `doctor` asks where the disk cache is.
    "cli": {"errors", "api", "tree", ""},
    "__main__": {"cli"},
}
# Heavy libraries, and the only places that may import them when the package is imported.
ALLOWED_THIRD_PARTY: dict[str, set[str]] = {
    "numba": {
        "native/support.py",
        "native/pool.py",
        "native/compiling.py",
        "native/values.py",
        "native/translation.py",
        "native/memory.py",
        "native/blas.py",
        "native/outside.py",
        "api/inside_numba.py",
    },
    # Loaded by `families`, and by what returns sparse matrices.
    "scipy": {"operations/scipy", "kernels/scipy", "frontend/library/scipy", "api/sparse.py"},
    "bottleneck": {"frontend/library/others"},
    "matplotlib": set(),
    "pygments": {"api/display.py", "cli/main.py"},
    "gast": {"api/trees.py"},
    "astunparse": {"codegen/statements.py"},
}


def part_of(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def for_type_checkers_only(tree: ast.Module) -> set[ast.AST]:
    out: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for statement in node.body:
                out.update(ast.walk(statement))
    return out


# Which argument of these names a module that is imported later.
LATE = {"late": 1, "_plain": 0, "_changing": 0, "_sharing": 0, "_merging": 0}


def imports_of(path: Path) -> list[tuple[int, str]]:
    """The modules that a file imports, anywhere in it, as absolute names with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped = for_type_checkers_only(tree)
    package = ["autodiff_compiler", *path.relative_to(PACKAGE).parts[:-1]]
    out = []
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            out += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in LATE:
            module = node.args[LATE[ast.unparse(node.func)]]
            if isinstance(module, ast.Constant):
                out.append((node.lineno, ".".join([*package, module.value])))
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module or "").split(".")] if node.module else base
            # `from . import x` may import a module x; `from .x import y` imports x.
            out += [(node.lineno, ".".join([*base, alias.name])) for alias in node.names]
    return out


FILES = sorted(p for p in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_flow_one_way(path: Path) -> None:
    part = part_of(path)
    if part == "__init__":
        return  # the public API collects from everywhere
    assert part in BELOW, (
        f"{path.relative_to(PACKAGE)} is in no known layer; add it to this test and to docs/architecture.md"
    )
    for line, name in imports_of(path):
        if name.split(".")[0] != "autodiff_compiler":
            continue
        pieces = name.split(".")[1:]
        known = bool(pieces) and ((PACKAGE / pieces[0]).is_dir() or (PACKAGE / f"{pieces[0]}.py").exists())
        target = pieces[0] if known else ""
        if pieces and pieces[0].startswith("__"):
            continue  # __version__
        assert target in (part, "pristine", "late", *BELOW[part]), f"{path}:{line}: {part} must not import {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_heavy_libraries_stay_in_their_places(path: Path) -> None:
    for line, name in imports_of(path):
        library = name.split(".")[0]
        if library in ALLOWED_THIRD_PARTY:
            where = path.relative_to(PACKAGE)
            places = {where.as_posix(), where.parent.as_posix()}
            assert places & ALLOWED_THIRD_PARTY[library], f"{path}:{line}: imports {library}"


def mutual(files: list[Path]) -> list[str]:
    """The pairs of modules that import each other, at their heads or inside of functions."""
    names = {".".join(["autodiff_compiler", *p.relative_to(PACKAGE).with_suffix("").parts]): p for p in files}
    names = {name.removesuffix(".__init__"): p for name, p in names.items()}
    seen: dict[str, set[str]] = {}
    for name, path in names.items():
        found = {n if n in names else n.rpartition(".")[0] for _, n in imports_of(path)}
        seen[name] = {n for n in found if n in names and n != name}
    # A package may import its modules, and these other modules of the package: that is no import of the package.
    return sorted(f"{a} and {b}" for a, others in seen.items() for b in others if a < b and a in seen[b])


def test_no_two_modules_import_each_other() -> None:
    assert mutual(FILES) == []


def test_mutual_imports_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "ir").mkdir()
    texts = {"a": "from .b import f\n", "b": "def f():\n    from . import a\n", "c": "from .a import g\n"}
    for name, text in texts.items():
        (tmp_path / "ir" / f"{name}.py").write_text(text)
    assert mutual(sorted(tmp_path.rglob("*.py"))) == ["autodiff_compiler.ir.a and autodiff_compiler.ir.b"]


def test_every_folder_is_a_package() -> None:
    for folder in {p.parent for p in FILES}:
        assert (folder / "__init__.py").exists(), folder


def test_the_checker_sees_relative_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.PACKAGE", tmp_path)
    (tmp_path / "operations").mkdir()
    file = tmp_path / "operations" / "a.py"
    file.write_text("from . import b\nfrom ..ir.core import Value\nfrom .. import api\nimport numpy as np\n")
    assert [name for _, name in imports_of(file)] == [
        "autodiff_compiler.operations.b",
        "autodiff_compiler.ir.core.Value",
        "autodiff_compiler.api",
        "numpy",
    ]
