"""The PyTorch tab of the automatic differentiation chapter of Dive into Deep Learning, cell by cell."""

from __future__ import annotations

from typing import Any


def run(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell as a notebook does, and return the value of its last line."""
    *body, last = cell.strip().split("\n")
    exec("\n".join(body), names)
    try:
        return eval(last, names)
    except SyntaxError:
        exec(last, names)
        return None


def test_the_chapter_in_one_session(torch: Any) -> None:
    s: dict[str, Any] = {"torch": torch}
    assert repr(run("x = torch.arange(4.0)\nx", s)) == "tensor([0., 1., 2., 3.])"
    assert run("x.requires_grad_(True)  # Same as `x = torch.arange(4.0, requires_grad=True)`\nx.grad", s) is None
    y = run("y = 2 * torch.dot(x, x)\ny", s)
    assert repr(y) == "tensor(28., grad_fn=<MulBackward0>)"
    assert repr(run("y.backward()\nx.grad", s)) == "tensor([ 0.,  4.,  8., 12.])"
    assert repr(run("x.grad == 4 * x", s)) == "tensor([True, True, True, True])"
    assert repr(run("x.grad.zero_()\ny = x.sum()\ny.backward()\nx.grad", s)) == "tensor([1., 1., 1., 1.])"
    assert repr(run("x.grad.zero_()\ny = x * x\ny.sum().backward()\nx.grad", s)) == "tensor([0., 2., 4., 6.])"
    assert repr(run("x.grad.zero_()\ny = x * x\ny.backward(torch.ones(len(x)))\nx.grad", s)) == (
        "tensor([0., 2., 4., 6.])"
    )
    detach = "x.grad.zero_()\ny = x * x\nu = y.detach()\nz = u * x\n\nz.sum().backward()\nx.grad == u"
    assert repr(run(detach, s)) == "tensor([True, True, True, True])"
    assert repr(run("x.grad.zero_()\ny.sum().backward()\nx.grad == 2 * x", s)) == "tensor([True, True, True, True])"
    run(
        """
def f(a):
    b = a * 2
    while b.norm() < 1000:
        b = b * 2
    if b.sum() > 0:
        c = b
    else:
        c = 100 * b
    return c
pass
""",
        s,
    )
    for _ in range(3):
        run("a = torch.randn(size=(), requires_grad=True)\nd = f(a)\nd.backward()", s)
        equal = run("a.grad == d / a", s)
        # The quotient of a negative a is rounded: its result has the factor 100.
        assert repr(equal) == "tensor(True)" or (s["a"] < 0 and torch.allclose(s["a"].grad, s["d"] / s["a"]))


def test_exercise_backward_twice_raises(torch: Any) -> None:
    import pytest

    x = torch.arange(4.0, requires_grad=True)
    y = 2 * torch.dot(x, x)
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_exercise_control_flow_with_a_vector(torch: Any) -> None:
    def f(a: Any) -> Any:
        b = a * 2
        while b.norm() < 1000:
            b = b * 2
        return b if b.sum() > 0 else 100 * b

    a = torch.randn(size=(3,), requires_grad=True)
    d = f(a)
    d.sum().backward()
    assert torch.allclose(a.grad, (d / a).detach())


def test_exercise_derivative_of_sine(torch: Any) -> None:
    x = torch.linspace(-3, 3, 31, requires_grad=True)
    y = torch.sin(x)
    y.sum().backward()
    assert torch.allclose(x.grad, torch.cos(x.detach()))
    assert y.detach().numpy().shape == (31,)
