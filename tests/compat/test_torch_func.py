"""``torch.func`` on nests, `functional_call`, `vmap`, `gradcheck`, and the options of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def network(torch: Any) -> Any:
    made = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    with torch.no_grad():
        for k, p in enumerate(made.parameters()):
            p.copy_(torch.sin(torch.arange(p.numel()) + k).reshape(p.shape))
    return made


def test_gradients_by_a_dict_of_parameters_and_for_each_row(torch: Any) -> None:
    net = network(torch)
    params = {k: v.detach() for k, v in net.named_parameters()}
    x, y = torch.arange(8.0).reshape(4, 2) / 4, torch.arange(4.0).reshape(4, 1)

    def loss(params: Any, x: Any, y: Any) -> Any:
        return ((torch.func.functional_call(net, params, (x,)) - y) ** 2).mean()

    found = torch.func.grad(loss)(params, x, y)
    assert list(found) == list(params)
    for p in net.parameters():
        p.grad = None
    ((net(x) - y) ** 2).mean().backward()
    rows = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    for name, p in net.named_parameters():
        np.testing.assert_allclose(found[name].numpy(), p.grad.numpy(), rtol=1e-5)
        assert rows[name].shape == (4, *p.shape)
        np.testing.assert_allclose(rows[name].mean(0).numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-6)


def test_functional_call_puts_back_and_ties(torch: Any) -> None:
    class Tied(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False)
            self.b.weight = self.a.weight

        def forward(self, x: Any) -> Any:
            return self.b(self.a(x))

    tied = Tied()
    before = tied.a.weight
    assert torch.func.functional_call(tied, {"a.weight": torch.eye(2) * 2}, torch.ones(1, 2)).tolist() == [[4.0, 4.0]]
    assert tied.a.weight is before and tied.b.weight is before
    with pytest.raises(RuntimeError, match="unexpected keys"):
        torch.func.functional_call(tied, {"nonsense": before}, torch.ones(1, 2), strict=True)


def test_vmap(torch: Any) -> None:
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.vmap(torch.dot)(x, x).tolist() == [5.0, 50.0]
    assert torch.vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=1)(x, torch.ones(2)).tolist() == x.tolist()
    assert torch.vmap(torch.vmap(lambda a: a.sum() * a))(torch.ones(2, 3, 4)).shape == (2, 3, 4)
    first, second = torch.vmap(lambda a: (a, {"sum": a.sum()}))(x)
    assert torch.equal(first, x) and second["sum"].tolist() == [3.0, 12.0]
    leaf = x.clone().requires_grad_()
    torch.vmap(lambda a: (a * a).sum())(leaf).sum().backward()
    assert torch.equal(leaf.grad, 2 * x)
    for call, message in (
        (lambda: torch.vmap(torch.dot)(x, torch.ones(3, 3)), "same size in the mapped dimension"),
        (lambda: torch.vmap(torch.dot, in_dims=(0,))(x, x), "not compatible with the structure of inputs"),
        (lambda: torch.vmap(torch.sum, in_dims=None)(x), "at least one tensor"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_gradcheck(torch: Any) -> None:
    class Wrong(torch.autograd.Function):  # type: ignore[name-defined, misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    a, b = (torch.tensor([1.0, k], dtype=torch.float64, requires_grad=True) for k in (2.0, 0.3))
    assert torch.autograd.gradcheck(lambda a, b: (a * b).sin().sum(), (a, b))
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        torch.autograd.gradcheck(Wrong.apply, a)
    assert not torch.autograd.gradcheck(Wrong.apply, a, raise_exception=False)
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        torch.autograd.gradcheck(torch.sin, torch.ones(2))


def test_options_of_optimizers_that_say_how_to_compute(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(2))
    text = repr(torch.optim.Adam([p], lr=0.1, fused=True))
    assert text == (
        "Adam (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n    capturable: False\n"
        "    decoupled_weight_decay: False\n    differentiable: False\n    eps: 1e-08\n    foreach: None\n"
        "    fused: True\n    lr: 0.1\n    maximize: False\n    weight_decay: 0\n)"
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        torch.optim.SGD([p], nonsense=1)
    with pytest.raises(NotImplementedError, match="differentiable=True is not there"):
        torch.optim.SGD([p], differentiable=True)
