"""Jacobians and Hessians in one backward pass for all elements, against a pass for each of them."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_compiler.compat import torch
from autodiff_compiler.tape.pullback import Pullback

R = np.random.default_rng(3)
W, B, X = (torch.tensor(R.normal(size=s)) for s in ((4, 3), (3,), (5, 4)))


def in_place(w, b):
    y = w.clone()
    y.mul_(2.0)
    return y * b


FUNCTIONS = {
    "layer": lambda w, b: torch.tanh(X @ w + b),
    "one is not used": lambda w, b: w * 2.0,
    "softmax": lambda w, b: (torch.softmax(X @ w, dim=1) * b)[:, 1:].cumsum(0),
    "two outputs": lambda w, b: (w.sum(0) * b, w @ b),
    "in place": in_place,
    "without slope": lambda w, b: torch.floor(w) * b,
    "kinks": lambda w, b: torch.relu(w - b) ** 2,
}


def same(found, want):
    if isinstance(want, tuple):
        assert len(found) == len(want)
        for a, b in zip(found, want):
            same(a, b)
    else:
        assert found.shape == want.shape and found.dtype == want.dtype
        np.testing.assert_allclose(found.detach().numpy(), want.detach().numpy(), rtol=1e-11, atol=1e-12)


def both(f, monkeypatch):
    """With stacks, which all pullbacks can take, and without."""
    stacked = Pullback.stacked
    with monkeypatch.context() as patch:
        patch.setattr(Pullback, "stacked", lambda self: stacked(self) or pytest.fail("no rule for stacks"))
        found = f()
    with monkeypatch.context() as patch:
        patch.setattr(Pullback, "stacked", lambda self: None)
        same(found, f())
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_jacobians(name, create_graph, monkeypatch):
    f = FUNCTIONS[name]
    both(lambda: torch.autograd.functional.jacobian(f, (W, B), create_graph=create_graph), monkeypatch)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_hessians(name, monkeypatch):
    def f(w, b):
        out = FUNCTIONS[name](w, b)
        return sum((t * t).sum() for t in (out if isinstance(out, tuple) else (out,)))

    both(lambda: torch.autograd.functional.hessian(f, (W, B)), monkeypatch)


def test_gradients_through_a_jacobian(monkeypatch):
    def f():
        w = W.clone().requires_grad_()
        j = torch.autograd.functional.jacobian(lambda v: torch.tanh(X @ v) ** 2, w, create_graph=True)
        (j**2).sum().backward()
        return w.grad

    both(f, monkeypatch)


def test_a_function_with_its_own_gradient_takes_a_pass_for_each_element():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 2.0 * x

        @staticmethod
        def backward(ctx, g):
            return 2.0 * g

    j = torch.autograd.functional.jacobian(lambda x: Double.apply(x) * x, B)
    np.testing.assert_allclose(j.numpy(), np.diag(4.0 * B.numpy()))
