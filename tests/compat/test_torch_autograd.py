"""PyTorch's rules of autograd: leaves, accumulation, retained graphs, hooks, modes, versions, and the errors."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import numpy as np
import pytest

# --- leaves and requires_grad -----------------------------------------------------------------------------------------


def test_a_new_tensor_is_a_leaf_without_gradient(torch: Any) -> None:
    x = torch.ones(2)
    assert x.is_leaf and not x.requires_grad and x.grad is None and x.grad_fn is None


def test_requires_grad_returns_the_tensor_itself(torch: Any) -> None:
    x = torch.ones(2)
    assert x.requires_grad_() is x
    assert x.requires_grad and x.is_leaf
    x.requires_grad_(False)
    assert not x.requires_grad
    x.requires_grad = True
    assert x.requires_grad


def test_results_are_no_leaves_and_have_a_grad_fn(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert not y.is_leaf and y.requires_grad
    assert type(y.grad_fn).__name__ == "MulBackward0"
    assert (torch.ones(2) * 2).is_leaf


def test_names_of_grad_fn(torch: Any) -> None:
    x = torch.ones(2, 2, requires_grad=True)
    named = {
        "AddBackward0": x + 1,
        "SubBackward0": x - 1,
        "RsubBackward1": 1 - x,
        "DivBackward0": x / 2,
        "PowBackward0": x**2,
        "NegBackward0": -x,
        "ExpBackward0": x.exp(),
        "SumBackward0": x.sum(),
        "SumBackward1": x.sum(0),
        "MeanBackward0": x.mean(),
        "MeanBackward1": x.mean(1),
        "MmBackward0": x @ x,
        "DotBackward0": torch.dot(x[0], x[1]),
        "ViewBackward0": x.view(4),
        "TBackward0": x.t(),
        "PermuteBackward0": x.T.permute(1, 0),
        "SelectBackward0": x[0],
        "SliceBackward0": x[0:1],
        "IndexBackward0": x[[0, 1]],
        "CatBackward0": torch.cat([x, x]),
        "StackBackward0": torch.stack([x, x]),
        "ReluBackward0": torch.relu(x),
        "TanhBackward0": torch.tanh(x),
        "SigmoidBackward0": torch.sigmoid(x),
        "CloneBackward0": x.clone(),
        "MaxBackward1": x.max(),
        "MaxBackward0": x.max(dim=0).values,
    }
    for name, y in named.items():
        assert type(y.grad_fn).__name__ == name
    assert repr(torch.ones((), requires_grad=True) * 2) == "tensor(2., grad_fn=<MulBackward0>)"


def test_only_floats_can_require_gradients(torch: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"[Oo]nly Tensors of floating point and complex dtype can require gradients"
    ):
        torch.tensor([1, 2], requires_grad=True)
    with pytest.raises(
        RuntimeError, match=r"only Tensors of floating point (and complex )?dtype can require gradients"
    ):
        torch.arange(3).requires_grad_()
    with pytest.raises(
        RuntimeError, match=r"only Tensors of floating point (and complex )?dtype can require gradients"
    ):
        torch.arange(3).requires_grad = True


def test_requires_grad_of_a_result_cannot_be_changed(torch: Any) -> None:
    y = torch.ones(2, requires_grad=True) * 2
    y.requires_grad_(True)
    with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf variables"):
        y.requires_grad_(False)


def test_is_floating_point_and_numel(torch: Any) -> None:
    assert torch.ones(2).is_floating_point() and not torch.arange(2).is_floating_point()
    assert torch.ones(2, 3).numel() == 6 and torch.numel(torch.ones(4)) == 4


# --- backward ---------------------------------------------------------------------------------------------------------


def test_gradients_accumulate(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_accumulation_keeps_the_same_grad_object(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    first = x.grad
    x.sum().backward()
    assert x.grad is first and first.tolist() == [2.0, 2.0]


def test_grad_may_be_zeroed_set_to_none_and_assigned(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.sum().backward()
    assert x.grad.zero_() is x.grad
    assert x.grad.tolist() == [0.0, 0.0]
    x.grad = None
    assert x.grad is None
    x.grad = torch.tensor([5.0, 6.0])
    x.sum().backward()
    assert x.grad.tolist() == [6.0, 7.0]


def test_a_grad_of_another_shape_cannot_be_assigned(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"assign a gradient of size '\[3\]' to a tensor of size '\[2\]'"):
        x.grad = torch.ones(3)
    with pytest.raises(TypeError, match="assigned grad expected to be a Tensor or None"):
        x.grad = 1.0


def test_a_gradient_neither_requires_grad_nor_has_a_history(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    assert not x.grad.requires_grad and x.grad.grad_fn is None and x.grad.is_leaf


def test_backward_of_a_vector_needs_a_gradient(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        (x * 2).backward()


def test_backward_of_a_tensor_with_one_element(torch: Any) -> None:
    x = torch.ones(1, requires_grad=True)
    (x * 2).backward()
    assert x.grad.tolist() == [2.0]


def test_backward_with_a_gradient(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * x
    y.backward(gradient=torch.tensor([1.0, 0.1, 0.01]))
    assert torch.allclose(x.grad, torch.tensor([2.0, 0.4, 0.06]))
    y = x * x
    with pytest.raises(RuntimeError, match=r"Mismatch in shape: grad_output\[0\] has a shape of torch.Size\(\[2\]\)"):
        y.backward(torch.ones(2))


def test_backward_of_a_leaf(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    x.backward()
    assert x.grad.item() == 1.0
    x.backward()
    assert x.grad.item() == 2.0


def test_backward_without_a_graph(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="element 0 of tensors does not require grad and does not have a grad_fn"):
        torch.ones(()).backward()


def test_second_backward_needs_retain_graph(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x
    y.backward()
    with pytest.raises(
        RuntimeError,
        match=r"Trying to backward through the graph a second time \(or directly access saved tensors after they have "
        r"already been freed\).*Specify retain_graph=True",
    ):
        y.backward()
    x.grad = None
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 8.0


def test_a_shared_part_is_freed_for_the_other_target_too(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    h = x * x
    a, b = h * 3, h * h
    a.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        b.backward()


def test_operations_that_save_nothing_may_run_backward_twice(torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    y = x.sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_backward_of_several_losses_over_one_parameter(torch: Any) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    torch.autograd.backward([(w * 2).sum(), (w * w).sum()])
    assert w.grad.tolist() == [4.0, 6.0]
    w.grad = None
    torch.autograd.backward([w * 2, w * w], [torch.ones(2), torch.tensor([1.0, 10.0])])
    assert w.grad.tolist() == [4.0, 42.0]


def test_backward_with_inputs_touches_only_those(torch: Any) -> None:
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    (a * b).backward(inputs=[a])
    assert a.grad.item() == 3.0 and b.grad is None


def test_long_chains_do_not_recurse(torch: Any) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(3000):
        y = y * 1.0005
    y.backward()
    assert abs(x.grad.item() - 1.0005**3000) < 1e-2


def test_many_paths_add_up(torch: Any) -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(40):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0**40


def test_gradient_takes_the_dtype_of_the_leaf(torch: Any) -> None:
    x = torch.ones(2, dtype=torch.float32, requires_grad=True)
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    y = (x * w).sum()
    assert y.dtype == torch.float64
    y.backward()
    assert x.grad.dtype == torch.float32 and w.grad.dtype == torch.float64


def test_gradient_takes_the_shape_of_the_leaf(torch: Any) -> None:
    b = torch.zeros(3, requires_grad=True)
    s = torch.tensor(1.0, requires_grad=True)
    (torch.ones(4, 3) * s + b).sum().backward()
    assert b.grad.tolist() == [4.0, 4.0, 4.0] and s.grad.shape == () and s.grad.item() == 12.0


def test_an_unused_leaf_has_no_gradient(torch: Any) -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    x.sum().backward()
    assert y.grad is None


def test_gradient_is_none_through_comparisons_and_integers(torch: Any) -> None:
    x = torch.tensor([1.5, -2.0], requires_grad=True)
    assert not (x > 0).requires_grad
    assert not x.argmax().requires_grad
    assert not x.long().requires_grad
    assert not torch.zeros_like(x).requires_grad and not torch.ones_like(x).requires_grad
    assert (x > 0).is_leaf


def test_floor_round_and_sign_give_zeros(torch: Any) -> None:
    for f in (torch.floor, torch.ceil, torch.round, torch.sign, torch.trunc):
        x = torch.tensor([1.5, -2.25], requires_grad=True)
        y = f(x)
        assert y.requires_grad
        y.sum().backward()
        assert x.grad.tolist() == [0.0, 0.0]


# --- torch.autograd.grad ----------------------------------------------------------------------------------------------


def test_grad_gives_a_tuple_and_leaves_grad_alone(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = torch.tensor(4.0, requires_grad=True)
    out = torch.autograd.grad(x * y, (x, y))
    assert isinstance(out, tuple) and [g.item() for g in out] == [4.0, 3.0]
    assert x.grad is None and y.grad is None
    (g,) = torch.autograd.grad(x * x, x)
    assert g.item() == 6.0


def test_grad_of_an_intermediate(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    h = x * x
    y = h * h
    gh, gx = torch.autograd.grad(y, [h, x])
    assert gh.item() == 18.0 and gx.item() == 108.0


def test_grad_of_the_target_itself(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    y = x * x
    (g,) = torch.autograd.grad(y, y)
    assert g.item() == 1.0


def test_create_graph_gives_higher_orders(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    orders = []
    for _ in range(4):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        orders.append(y.item())
    assert orders == [32.0, 48.0, 48.0, 24.0]


def test_create_graph_in_backward(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (x**3).backward(create_graph=True)
    assert x.grad.requires_grad and x.grad.item() == 12.0
    first = x.grad
    x.grad = None
    first.backward()
    assert x.grad.item() == 12.0


def test_create_graph_keeps_the_graph(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    torch.autograd.grad(y, x, create_graph=True)
    assert torch.autograd.grad(y, x)[0].item() == 12.0


def test_a_second_order_without_slope_is_zero(torch: Any) -> None:
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    (g,) = torch.autograd.grad(torch.relu(x).sum(), x, create_graph=True)
    assert g.requires_grad
    (h,) = torch.autograd.grad((g * g).sum(), x)
    assert h.tolist() == [0.0, 0.0]
    assert torch.autograd.functional.hessian(lambda x: (x * 3).sum(), x.detach()).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_infinities_and_nan_do_not_warn(torch: Any) -> None:
    import warnings

    x = torch.tensor([0.0, -1.0], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (torch.log(x) + 1 / x).sum().backward()
    assert not torch.isfinite(x.grad).any() or x.grad[1].item() == -2.0


def test_gradient_penalty(torch: Any) -> None:
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    x = torch.tensor([1.0, -1.0], requires_grad=True)
    y = torch.tanh(w @ x).sum()
    (gx,) = torch.autograd.grad(y, x, create_graph=True)
    (gx**2).sum().backward()
    expected = torch.tensor([[10.00806808, -6.48050022], [20.75436974, -17.22680092]])
    assert torch.allclose(w.grad, expected)


def test_second_order_of_parts_that_are_written_to_zeros(torch: Any) -> None:
    """The lengths of arrays in the first pullback are named anew where it is differentiated."""
    x0 = torch.tensor([-0.74, 0.04, -1.26, -0.87], dtype=torch.float64, requires_grad=True)
    x2 = torch.tensor([0.08, 1.81, 1.81], dtype=torch.float64, requires_grad=True)
    v3 = x2[:2] + x2[:2]
    with torch.no_grad():
        v3.clamp_(-1.0, 1.0)
    v7 = x2[:2] - x0[:2]
    v8 = x2[:2] - v3[:2]
    v11 = v8[:2] + x2[:2]
    loss = x0.logsumexp(0) + v11.prod() + v7.sum()
    gs = torch.autograd.grad(loss, [x0, x2], create_graph=True)
    second = sum((g * g).sum() for g in gs)
    h0, h2 = torch.autograd.grad(second, [x0, x2], allow_unused=True)
    assert h2 is None or h2.tolist() == [0.0, 0.0, 0.0]
    assert torch.allclose(h0, torch.tensor([-0.18019878, -0.15512217, 0.12609274, 0.20922821], dtype=torch.float64))


def test_second_order_without_create_graph_raises(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x)
    with pytest.raises(RuntimeError, match="does not require grad and does not have a grad_fn"):
        torch.autograd.grad(g, x)


def test_unused_inputs(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    z = torch.tensor(5.0, requires_grad=True)
    with pytest.raises(
        RuntimeError,
        match=r"The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True",
    ):
        torch.autograd.grad(x * x, [x, z])
    gx, gz = torch.autograd.grad(x * x, [x, z], allow_unused=True)
    assert gx.item() == 4.0 and gz is None
    gx, gz = torch.autograd.grad(x * x, [x, z], materialize_grads=True)
    assert gz.item() == 0.0


def test_input_that_needs_no_gradient(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        torch.autograd.grad(x * x, torch.tensor(1.0))


def test_grad_outputs(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad(x * x, x, grad_outputs=torch.tensor([1.0, 10.0]))
    assert g.tolist() == [2.0, 40.0]
    (g,) = torch.autograd.grad([x * x, x.sum()], x, grad_outputs=[torch.ones(2), None])
    assert g.tolist() == [3.0, 5.0]


def test_grad_outputs_are_differentiable(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.ones(2, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, grad_outputs=v, create_graph=True)
    (jv,) = torch.autograd.grad(g, v, torch.tensor([1.0, 1.0]))
    assert jv.tolist() == [3.0, 12.0]


# --- functional -------------------------------------------------------------------------------------------------------


def test_functional_jacobian(torch: Any) -> None:
    jacobian = torch.autograd.functional.jacobian
    x = torch.tensor([1.0, 2.0, 3.0])
    assert jacobian(lambda x: x * x, x).tolist() == [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]
    a, b = jacobian(lambda a, b: a * b.sum(), (x, torch.ones(2)))
    assert a.shape == (3, 3) and b.tolist() == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    m = jacobian(lambda x: x.exp().sum(dim=1), torch.zeros(2, 3))
    assert m.shape == (2, 2, 3) and m[0].tolist() == [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
    assert not x.requires_grad
    many = jacobian(lambda x: (x.sum(), x * 2), x)
    assert isinstance(many, tuple) and many[0].tolist() == [1.0, 1.0, 1.0] and many[1].shape == (3, 3)
    unrelated = jacobian(lambda x: torch.ones(2), x)
    assert unrelated.tolist() == [[0.0] * 3] * 2


def test_functional_hessian(torch: Any) -> None:
    hessian = torch.autograd.functional.hessian
    x = torch.tensor([1.0, 2.0])
    assert hessian(lambda x: (x**3).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    h = hessian(lambda a, b: (a * b).sum(), (x, torch.ones(2)))
    assert h[0][0].tolist() == [[0.0, 0.0], [0.0, 0.0]] and h[0][1].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(RuntimeError, match="hessian should contain a single element"):
        hessian(lambda x: x * x, x)


def test_func_transforms(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert torch.func.grad(lambda x: (x**3).sum())(x).tolist() == [3.0, 12.0]
    value_first = torch.func.grad_and_value(lambda x: (x**3).sum())(x)
    assert value_first[0].tolist() == [3.0, 12.0] and value_first[1].item() == 9.0
    assert torch.func.jacrev(lambda x: x * x)(x).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert torch.func.hessian(lambda x: (x**3).sum())(x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    out, pull = torch.func.vjp(lambda x: x * x, x)
    assert out.tolist() == [1.0, 4.0]
    assert pull(torch.tensor([1.0, 10.0]))[0].tolist() == [2.0, 40.0]


# --- Function ---------------------------------------------------------------------------------------------------------


def exp_function(torch: Any) -> Any:
    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, i: Any) -> Any:
            result = i.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx: Any, grad_output: Any) -> Any:
            (result,) = ctx.saved_tensors
            return grad_output * result

    return Exp


def test_custom_function(torch: Any) -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = exp_function(torch).apply(x)
    assert type(y.grad_fn).__name__ == "ExpBackward" and y.requires_grad
    y.sum().backward()
    assert torch.allclose(x.grad, x.detach().exp())


def test_custom_function_is_differentiated_twice_through_its_backward(torch: Any) -> None:
    x = torch.tensor(0.5, requires_grad=True)
    y = exp_function(torch).apply(x)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert abs(h.item() - float(np.exp(0.5))) < 1e-6


def test_custom_function_with_constants_several_outputs_and_needs_input_grad(torch: Any) -> None:
    seen = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, k: float, y: Any) -> Any:
            ctx.k = k
            ctx.save_for_backward(x, y)
            return x * k, x * y

        @staticmethod
        def backward(ctx: Any, ga: Any, gb: Any) -> Any:
            seen.append((ctx.needs_input_grad, gb.tolist()))
            x, y = ctx.saved_tensors
            return ga * ctx.k + gb * y, None, gb * x

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.tensor([3.0, 4.0])
    a, b = F.apply(x, 2.0, y)
    a.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    assert seen == [((True, False, False), [0.0, 0.0])]
    x.grad = None
    a, b = F.apply(x, 2.0, y)
    (a + b).sum().backward()
    assert x.grad.tolist() == [5.0, 6.0]


def test_straight_through_estimator(torch: Any) -> None:
    class Round(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.round()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = torch.tensor([0.2, 1.7], requires_grad=True)
    (Round.apply(x) * x).sum().backward()
    assert torch.allclose(x.grad, torch.tensor([0.2, 3.7]))


def test_operations_inside_of_forward_are_not_recorded(torch: Any) -> None:
    modes = []

    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            modes.append((torch.is_grad_enabled(), (x * 2).requires_grad))
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            modes.append(torch.is_grad_enabled())
            return g * 5

    x = torch.tensor(1.0, requires_grad=True)
    F.apply(x).backward()
    assert modes == [(False, False), False] and x.grad.item() == 5.0


def test_custom_function_with_a_context_set_up_apart(torch: Any) -> None:
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2, x * 3, x > 0

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.set_materialize_grads(False)
            ctx.mark_non_differentiable(output[1])
            ctx.save_for_backward(inputs[0], None, output[0])

        @staticmethod
        def backward(ctx: Any, g: Any, none: Any, mask: Any) -> Any:
            x, nothing, double = ctx.saved_tensors
            assert none is None and mask is None and nothing is None
            return g * 2 + 0 * (x + double), None

    x = torch.tensor([1.0, -1.0], requires_grad=True)
    a, b, c = Split.apply(x)
    assert a.requires_grad and not b.requires_grad and c.dtype == torch.bool
    (g,) = torch.autograd.grad(a.sum(), x, retain_graph=True, create_graph=True)
    assert g.tolist() == [2.0, 2.0] and g.requires_grad
    with torch.no_grad():
        a.mul_(2.0)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        a.sum().backward()


def test_gradients_that_are_differentiated_and_kept_add_up(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    for _ in range(2):
        (x**3).backward(create_graph=True)
    assert x.grad.item() == 54.0 and x.grad.requires_grad
    h = x * 2
    h.retain_grad()
    (h * h).backward(retain_graph=True)
    (h * h).backward()
    assert h.grad.item() == 24.0
    z = torch.tensor([1.0 + 2.0j], requires_grad=True)
    (z * z).sum().backward(torch.tensor(1.0 + 0.0j))
    assert z.grad.tolist() == [2.0 - 4.0j]
    assert torch.func.jvp(lambda t: t * t, (torch.tensor(3.0),), (torch.tensor(2.0),))[1].item() == 12.0


def test_wrong_number_of_gradients_from_a_function(torch: Any) -> None:
    class F(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g

    x = torch.tensor(3.0, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"returned an incorrect number of gradients \(expected 2, got 1\)"):
        F.apply(x, x).backward()


def test_saved_tensors_are_freed_with_the_graph(torch: Any) -> None:
    x = torch.tensor(0.5, requires_grad=True)
    y = exp_function(torch).apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()


# --- hooks ------------------------------------------------------------------------------------------------------------


def test_retain_grad(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 3
    h.retain_grad()
    assert h.retains_grad
    (h * h).backward()
    assert h.grad.item() == 12.0 and x.grad.item() == 36.0
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()


def test_grad_of_a_non_leaf_is_none_and_warns(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 3
    h.backward()
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert h.grad is None


def test_hooks_see_and_replace_the_gradient(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.item()))
    handle = x.register_hook(lambda g: g * 10)
    (x * 3).backward()
    assert seen == [3.0] and x.grad.item() == 30.0
    handle.remove()
    x.grad = None
    (x * 3).backward()
    assert x.grad.item() == 3.0


def test_hook_on_an_intermediate_changes_what_flows_on(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 3
    seen = []
    h.register_hook(lambda g: seen.append(g.item()))
    h.register_hook(lambda g: g * 2)
    y = h * h + h
    y.backward()
    assert seen == [13.0] and x.grad.item() == 78.0


def test_hook_needs_a_tensor_that_requires_grad(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(lambda g: g)


def test_post_accumulate_grad_hook(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    (x * 3).backward()
    assert seen == [(True, 3.0)]


# --- modes ------------------------------------------------------------------------------------------------------------


def test_no_grad_as_context_and_decorator(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        y = x * 2
        assert not y.requires_grad and y.is_leaf
    assert torch.is_grad_enabled()

    @torch.no_grad()
    def f(x: Any) -> Any:
        return x * 2

    assert not f(x).requires_grad

    @torch.no_grad
    def g(x: Any) -> Any:
        return x * 2

    assert not g(x).requires_grad and g.__name__ == "g"


def test_enable_grad_and_set_grad_enabled(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        with torch.enable_grad():
            assert (x * 2).requires_grad
        assert not (x * 2).requires_grad

        @torch.enable_grad()
        def f(x: Any) -> Any:
            return x * 2

        assert f(x).requires_grad
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    torch.set_grad_enabled(False)
    try:
        assert not (x * 2).requires_grad
    finally:
        torch.set_grad_enabled(True)
    assert (x * 2).requires_grad


def test_modes_are_restored_after_exceptions(torch: Any) -> None:
    with pytest.raises(ValueError), torch.no_grad():
        raise ValueError
    assert torch.is_grad_enabled()


def test_modes_are_per_thread(torch: Any) -> None:
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_leaves_made_under_no_grad_may_require_grad(torch: Any) -> None:
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
    assert x.requires_grad
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_gradients_of_results_that_are_inputs_add_up(torch: Any) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    h = x * 2
    y = h * h
    for _ in range(2):
        y.backward(inputs=[h], retain_graph=True)
    assert h.grad.item() == 24.0 and x.grad is None
    with pytest.raises(RuntimeError, match="One of the differentiated Tensors does not require grad"):
        y.backward(inputs=[torch.ones(1)])


def test_inference_mode_records_nothing(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert not (x * 2).requires_grad
    with pytest.raises(TypeError, match=r"inference_mode\(\) takes no arguments"):
        torch.inference_mode(False)
    assert torch.inference_mode()(lambda: x * 2)().requires_grad is False


# --- detach, data, numpy ----------------------------------------------------------------------------------------------


def test_detach_shares_memory_and_cuts_the_path(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    d = x.detach()
    assert not d.requires_grad and d.is_leaf and d.data_ptr() == x.data_ptr()
    d[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    y = (x * x.detach()).sum()
    y.backward()
    assert x.grad.tolist() == [5.0, 2.0]


def test_a_write_through_detach_is_noticed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.detach().mul_(2)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


def test_a_write_through_data_is_not_noticed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    x.data.mul_(2)
    assert x._version == 0
    y.backward()
    assert x.grad.tolist() == [4.0, 8.0]


def test_data_may_be_assigned(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.data = torch.tensor([3.0, 4.0])
    assert x.tolist() == [3.0, 4.0] and x.requires_grad
    x.data -= 1
    assert x.tolist() == [2.0, 3.0]


def test_numpy_shares_memory(torch: Any) -> None:
    t = torch.zeros(3)
    a = t.numpy()
    a[0] = 7
    assert t.tolist() == [7.0, 0.0, 0.0] and a.dtype == np.float32
    t.add_(1)
    assert a.tolist() == [8.0, 1.0, 1.0]
    b = np.ones(2)
    s = torch.from_numpy(b)
    assert s.dtype == torch.float64
    b[1] = 9
    assert s.tolist() == [1.0, 9.0]
    c = torch.tensor(b)
    b[0] = -1
    assert c.tolist() == [1.0, 9.0]


def test_numpy_of_a_tensor_that_requires_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    message = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."
    with pytest.raises(RuntimeError, match=message):
        x.numpy()
    with pytest.raises(RuntimeError, match=message):
        np.asarray(x)
    with pytest.raises(RuntimeError, match=message):
        (x * 2).numpy()
    assert x.detach().numpy().tolist() == [1.0, 1.0]
    with torch.no_grad():
        assert (x * 2).numpy().tolist() == [2.0, 2.0]


def test_clone_is_differentiable_and_owns_its_memory(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    assert y.data_ptr() != x.data_ptr() and y.requires_grad
    y.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0] and x.tolist() == [1.0, 2.0]


def test_new_tensor_from_a_tensor_warns(torch: Any) -> None:
    with pytest.warns(UserWarning, match="To copy construct from a tensor, it is recommended to use"):
        torch.tensor(torch.ones(2))


# --- in place ---------------------------------------------------------------------------------------------------------


def test_in_place_on_a_leaf_that_requires_grad(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    message = "a leaf Variable that requires grad is being used in an in-place operation"
    with pytest.raises(RuntimeError, match=message):
        x.add_(1)
    with pytest.raises(RuntimeError, match=message):
        x += 1
    with pytest.raises(RuntimeError, match=message):
        x[0] = 5.0
    with pytest.raises(RuntimeError, match=message):
        x.zero_()
    with torch.no_grad():
        x += 1
        x[0] = 7.0
    assert x.tolist() == [7.0, 2.0] and x.requires_grad


def test_in_place_on_a_view_of_a_leaf(torch: Any) -> None:
    x = torch.ones(4, requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad is being used in an in-place"):
        x[:2].mul_(2)


def test_version_counters(torch: Any) -> None:
    x = torch.ones(2)
    assert x._version == 0
    x.add_(1)
    assert x._version == 1
    x[0] = 3
    assert x._version == 2
    v = x.view(2)
    assert v._version == 2
    v.zero_()
    assert x._version == 3 and x.detach()._version == 3 and x.clone()._version == 0
    x *= 2
    assert x._version == 4


def test_modified_saved_values_are_noticed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    y = (h * h).sum()
    h.add_(1)
    with pytest.raises(
        RuntimeError,
        match=r"one of the variables needed for gradient computation has been modified by an inplace operation: "
        r"\[torch.FloatTensor \[2\]\], which is output 0 of Add, is at version 1; expected version 0 instead",
    ):
        y.backward()


def test_modified_values_that_are_not_needed_do_no_harm(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 2
    y = (h + 1).sum()
    h.mul_(5)
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_modified_result_of_exp_is_noticed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.sum().backward()


def test_modified_constant_operand_is_noticed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([3.0, 4.0])
    y = (x * c).sum()
    c.zero_()
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        y.backward()


def test_in_place_operations_are_differentiated(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    h.mul_(3)
    h += x
    h *= torch.tensor([1.0, 10.0])
    h.sum().backward()
    assert x.grad.tolist() == [4.0, 40.0]
    h = x * 1
    h *= h.detach()
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[2\]\] is at version 1; expected version 0"):
        h.sum().backward()


def test_store_into_zeros(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = torch.zeros(3)
    out[0] = x[0] * x[1]
    out[1:] = x * 3
    assert out.requires_grad and not out.is_leaf
    out[2] = 7.0
    (out * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [32.0, 1.0]


def test_in_place_on_a_view_reaches_the_base(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x * 1
    v = h[1:]
    v.mul_(10)
    assert h.tolist() == [1.0, 20.0, 30.0]
    h.sum().backward()
    assert x.grad.tolist() == [1.0, 10.0, 10.0]


def test_in_place_on_the_base_reaches_a_view(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    h = x * 1
    v = h[1:]
    h.mul_(10)
    assert v.tolist() == [20.0, 30.0]
    v.sum().backward()
    assert x.grad.tolist() == [0.0, 10.0, 10.0]


def test_in_place_of_a_tensor_that_requires_grad_into_a_plain_leaf(torch: Any) -> None:
    x = torch.tensor(2.0, requires_grad=True)
    a = torch.ones(2)
    a.mul_(x)
    assert a.requires_grad and not a.is_leaf
    a.sum().backward()
    assert x.grad.item() == 2.0


def test_manual_sgd_step(torch: Any) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.25 * w.grad
            w.grad.zero_()
    assert w.tolist() == [0.125, 0.25] and w.is_leaf


# --- life -------------------------------------------------------------------------------------------------------------


def test_intermediates_are_freed_with_the_target(torch: Any) -> None:
    x = torch.ones(10, requires_grad=True)
    h = x * 2
    ref = weakref.ref(h)
    y = (h * h).sum()
    del h
    y.backward()
    del y
    gc.collect()
    assert ref() is None


def test_memory_stays_flat_without_the_garbage_collector(torch: Any) -> None:
    import tracemalloc

    w = torch.ones(200, requires_grad=True)
    exp = exp_function(torch)

    def step() -> None:
        h = w * 1
        h.mul_(2)
        h[0] = h[1] * 2
        h.register_hook(lambda g: g * 2)
        (g,) = torch.autograd.grad(exp.apply(h * 0.1).sum(), w, create_graph=True)
        (g * g).sum().backward()
        w.grad = None

    for _ in range(20):
        step()
    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            step()
        assert tracemalloc.get_traced_memory()[0] - before < 40_000
    finally:
        tracemalloc.stop()
        gc.enable()


def test_threads_with_graphs_of_their_own(torch: Any) -> None:
    results: dict[int, list[float]] = {}

    def work(k: int) -> None:
        out = []
        for i in range(20):
            x = torch.tensor(float(k + i), requires_grad=True)
            (x * x * x).backward()
            out.append(x.grad.item())
        results[k] = out

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(results[k] == [3.0 * (k + i) ** 2 for i in range(20)] for k in range(8))


def test_an_exception_in_a_loop_leaves_the_graph_usable(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    with pytest.raises(RuntimeError):
        y + torch.ones(3)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_graph_over_several_calls_of_backward(torch: Any) -> None:
    """A truncated recurrence: the state is detached between steps."""
    w = torch.tensor(0.5, requires_grad=True)
    h = torch.tensor(1.0)
    for _ in range(3):
        h = (h * w).detach() * w
        h.backward()
        h = h.detach()
    assert abs(w.grad.item() - (0.5 + 0.125 + 0.03125)) < 1e-6
