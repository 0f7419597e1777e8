"""Runs programs with lists and with masks as machine code and as NumPy code, and compares them.

A program takes Numba a second or two. With the argument "all", all programs run.
"""

from __future__ import annotations

import sys

from autodiff_compiler.native import support
from tests.api import test_checkpoints, test_residual_budget
from tests.native import both_halves, test_array_lists, test_lists, test_masks
from tests.native.both import agree, bailed, why_not


def main() -> None:
    assert not support.AS_PYTHON
    lists, masks = test_lists, test_masks
    each = slice(None, None, 1 if "all" in sys.argv else 4)
    for f in (lists.history, lists.looked_up, lists.changed, lists.kept_back, lists.read_behind)[each]:
        native = agree(f, lists.X)
        assert why_not(native) is None and not bailed(native), f
    for n in (0, 4, 5):
        agree(lists.table, lists.X, n)
        agree(lists.floats, 0.5, n)
    for f in (masks.picked, masks.put, masks.of_a_part, masks.in_a_loop, masks.swapped)[each]:
        native = agree(f, masks.X)
        assert why_not(native) is None and not bailed(native), f
        agree(f, -abs(masks.X))
    for f in test_array_lists.LISTS[each]:
        native = agree(f, lists.X)
        assert f is test_array_lists.reset or (why_not(native) is None and not bailed(native)), f
    for f in (test_checkpoints.carried, test_checkpoints.left, test_checkpoints.skips)[each]:
        native = agree(test_checkpoints.along(f, (7,), True, None, 2), lists.X[:3], rtol=1e-12)
        assert why_not(native) is None and not bailed(native), f
    for f in (test_residual_budget.carried, test_residual_budget.whiles, test_residual_budget.bound_inside)[each]:
        native = agree(f, lists.X[:3], rtol=1e-12, max_residual_bytes=2500)
        assert why_not(native) is None and not bailed(native), f
    native = both_halves.agree(
        test_checkpoints.along(test_checkpoints.carried, (7,), True, None, 2), lists.X[:3].copy()
    )
    assert "# no machine code" not in str(native.source()) and not both_halves.bailed(native)
    both_halves.agree(lists.history, lists.X.copy())
    both_halves.agree(masks.put, masks.X.copy())
    print("all agree")


if __name__ == "__main__":
    main()
