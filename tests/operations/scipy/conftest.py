"""The tests here are for the versions of SciPy that the compiler knows. For older ones there is one that says so."""

from __future__ import annotations

import scipy

from autodiff_compiler.families import has_old_scipy

collect_ignore_glob = ["test_[!o]*.py", "test_optimize.py"] if has_old_scipy() else []
assert scipy
