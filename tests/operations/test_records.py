"""What `op` and `elementwise` enter, and what they say of a mistake."""

from __future__ import annotations

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import runtime
from autodiff_compiler.errors import RuleLookupError
from autodiff_compiler.operations.check import check_rule
from autodiff_compiler.operations.record import elementwise, op
from autodiff_compiler.transforms import pipeline


@pytest.mark.parametrize("name", ["runtime.ratio", "np", "numpy.sum", "linalg.inv"])
def test_a_name_is_one_of_numpys(name):
    with pytest.raises(RuleLookupError, match="names no function of NumPy's"):
        op(name)


def test_other_functions_of_the_package_need_a_record():
    with pytest.raises(RuleLookupError, match="enter it with `op` first"):
        elementwise(pipeline.adjoint, lambda out, x: out)


def test_too_many_arguments_are_told():
    with pytest.raises(TypeError, match=r"np.sin has 1 arguments \(x\), not 2"):
        check_rule(np.sin, 0.5, 0.7)


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "softsign", "erf", "erfc", "ndtr", "lgamma", "rsqrt"])
def test_an_elementwise_kernel_whose_result_nobody_uses_is_not_called(name):
    kernel = getattr(runtime, name)

    def f(x):
        return np.sum(x + 0.0 * kernel(np.ones(3)))

    assert name not in ad.grad(f).source(np.ones(3))


def test_an_elementwise_kernel_refuses_complex_numbers():
    def f(x):
        runtime.sigmoid(1j * x)
        return np.sum(x)

    with pytest.raises(TypeError, match="complex"):
        ad.grad(f)(np.ones(3))
