"""The kernels of scientific computing and the programs with adjoints by hand, with both backends."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.by_hand import all_programs
from benchmarks.kernels import all_kernels
from benchmarks.kernels.kernel import is_float

from .both import agree, bailed, why_not

KERNELS = [k for k in all_kernels() if not k.refused]
# Those that have no machine code, each with what is missing.
WITHOUT = {
    "lu_pivoted": "a subscript of type list",
    "vadv": "a branch that gives a number on one path and an array on the other",
    "soft_edit_distance": "a value of type list[scalar float64] where a number is wanted",
    "binomial_option": "power gives scalar ?, and has no native form",
}


@pytest.mark.parametrize("kernel", KERNELS, ids=[k.name for k in KERNELS])
def test_kernels_agree(kernel: Any) -> None:
    for size in (kernel.small, kernel.other):
        args = kernel.inputs(size)
        argnums = tuple(k for k, a in enumerate(args) if is_float(a))
        native = agree(kernel.function, *args, argnums=argnums, rtol=1e-8)
        assert (why_not(native) or "") == WITHOUT.get(kernel.name, "")
        assert kernel.name in WITHOUT or not bailed(native)


@pytest.mark.parametrize("program", all_programs(), ids=[p.name for p in all_programs()])
def test_programs_agree(program: Any) -> None:
    native = agree(program.function, *program.inputs(program.small), argnums=program.argnums, rtol=1e-8)
    assert (why_not(native) or "") == WITHOUT.get(program.name, "")
    assert program.name in WITHOUT or not bailed(native)
