"""The tests here are for the versions of SciPy that the compiler knows. For others there is one that says so."""

from __future__ import annotations

from pathlib import Path

import scipy

from autodiff_compiler.families import known_versions

assert scipy
FILES = [path.name for path in Path(__file__).parent.glob("test_*.py")]
collect_ignore = [name for name in FILES if name != "test_old_version.py"] if known_versions() else []
