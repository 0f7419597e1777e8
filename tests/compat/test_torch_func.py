"""``torch.func.vmap``, and what optimizers print."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def test_gradients_by_a_dict_of_tensors_and_for_each_row(torch: Any) -> None:
    params = {"w": torch.tensor([[0.5, -1.0]]), "b": torch.tensor([0.25])}
    x, y = torch.arange(8.0).reshape(4, 2) / 4, torch.arange(4.0).reshape(4, 1)

    def loss(params: Any, x: Any, y: Any) -> Any:
        return ((torch.tanh(x @ params["w"].T + params["b"]) - y) ** 2).mean()

    found = torch.func.grad(loss)(params, x, y)
    assert list(found) == ["w", "b"]
    leaves = {k: v.clone().requires_grad_() for k, v in params.items()}
    loss(leaves, x, y).backward()
    rows = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(params, x, y)
    for name, p in leaves.items():
        np.testing.assert_allclose(found[name].numpy(), p.grad.numpy(), rtol=1e-5)
        assert rows[name].shape == (4, *p.shape)
        np.testing.assert_allclose(rows[name].mean(0).numpy(), p.grad.numpy(), rtol=1e-4, atol=1e-6)


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
        (lambda: torch.vmap(torch.sum, in_dims=None)(x), "expected `in_dims` to be int or"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


OUTSIDE: list[tuple[Any, float]] = [
    (lambda f, x, w: f.grad(lambda x: w * x * x)(x), 6.0),
    (lambda f, x, w: f.grad_and_value(lambda x: w * x * x)(x)[1], 9.0),
    (lambda f, x, w: f.jacrev(lambda x: w * x * x)(x), 6.0),
    (lambda f, x, w: f.hessian(lambda x: w * x * x)(x), 2.0),
    (lambda f, x, w: f.hessian(lambda x: x * x * x)(w), 6.0),
    (lambda f, x, w: f.jvp(lambda x: w * x * x, (x,), (x,))[1], 18.0),
    (lambda f, x, w: f.jvp(lambda x: x * x * w, (w,), (x,))[1], 24.0),
    (lambda f, x, w: f.jvp(lambda x: x * x, (x,), (w,))[1], 6.0),
    (lambda f, x, w: f.vjp(lambda x: w * x * x, x)[0], 9.0),
    (lambda f, x, w: f.vjp(lambda x: w * x * x, x)[1](x)[0], 18.0),
    (lambda f, x, w: f.vjp(lambda x: x * x, w)[1](w)[0], 8.0),
    (lambda f, x, w: f.vjp(lambda x: x * x, x)[1](w)[0], 6.0),
]


@pytest.mark.parametrize("number", range(len(OUTSIDE)))
def test_derivatives_depend_on_tensors_outside_of_the_function(torch: Any, number: int) -> None:
    derivative, expected = OUTSIDE[number]
    x, w = torch.tensor(3.0), torch.tensor(2.0, requires_grad=True)
    (w * 5.0 + derivative(torch.func, x, w)).backward()
    assert w.grad.item() == 5.0 + expected
    with torch.no_grad():
        assert not derivative(torch.func, x, w).requires_grad


NESTED: list[tuple[Any, float]] = [
    (lambda f, x: f.grad(f.grad(lambda x: x**3))(x), 12.0),
    (lambda f, x: f.jvp(f.grad(lambda x: x**3), (x,), (torch_ones(x),))[1], 12.0),
    (lambda f, x: f.grad(lambda x: f.jvp(lambda y: y**3, (x,), (torch_ones(x),))[1])(x), 12.0),
    (lambda f, x: f.grad(lambda x: f.vjp(lambda y: y**3, x)[1](torch_ones(x))[0])(x), 12.0),
    (lambda f, x: f.jacrev(f.jacrev(lambda x: x**3))(x), 12.0),
    (lambda f, x: f.grad(lambda x: x * f.grad(lambda y: x + y)(torch_ones(x)))(x), 1.0),
    (lambda f, x: f.grad(lambda x: x * f.grad(lambda y: x * y)(torch_ones(x)))(x), 4.0),
    (lambda f, x: f.grad(lambda x: (x * x, x * 3), has_aux=True)(x)[1], 6.0),
    (lambda f, x: f.jvp(lambda x: torch_ones(x), (x,), (x,))[1], 0.0),
    (lambda f, x: f.jvp(lambda x: (torch_ones(x), x * 3), (x,), (x,))[1][1], 6.0),
    (lambda f, x: f.vjp(lambda x: torch_ones(x), x)[1](x)[0], 0.0),
]


def torch_ones(x: Any) -> Any:
    """A constant, which depends on nothing."""
    return x.new_ones(())


@pytest.mark.parametrize("number", range(len(NESTED)))
def test_nested_derivatives_require_no_gradient_afterwards(torch: Any, number: int) -> None:
    derivative, expected = NESTED[number]
    found = derivative(torch.func, torch.tensor(2.0))
    assert found.item() == expected and not found.requires_grad


def test_what_optimizers_print_and_options_that_are_not_there(torch: Any) -> None:
    p = torch.nn.Parameter(torch.ones(2))
    assert repr(torch.optim.Adam([p], lr=0.1)) == (
        "Adam (\nParameter Group 0\n    amsgrad: False\n    betas: (0.9, 0.999)\n    eps: 1e-08\n    lr: 0.1\n"
        "    maximize: False\n    weight_decay: 0\n)"
    )
    with pytest.raises(TypeError, match="unexpected keyword argument 'fused'"):
        torch.optim.SGD([p], fused=True)
