"""PyTorch's tensors: making them, their dtypes, what they print, views and memory, indexing, methods in place."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

# --- creation and dtypes ----------------------------------------------------------------------------------------------


def test_default_dtypes(torch: Any) -> None:
    assert torch.tensor(1.0).dtype == torch.float32 and torch.tensor([1.0, 2]).dtype == torch.float32
    assert torch.tensor(1).dtype == torch.int64 and torch.tensor([True]).dtype == torch.bool
    assert torch.tensor(1j).dtype == torch.complex64
    assert torch.tensor([]).dtype == torch.float32 and torch.tensor([]).shape == (0,)
    assert torch.tensor(np.ones(2)).dtype == torch.float64 and torch.tensor(np.float64(3)).dtype == torch.float64
    assert torch.tensor(np.arange(2, dtype=np.int32)).dtype == torch.int32
    assert torch.as_tensor([1.5]).dtype == torch.float32
    assert torch.get_default_dtype() == torch.float32


def test_lists_become_float64_without_rounding(torch: Any) -> None:
    assert torch.tensor([0.1, -1.78], dtype=torch.float64).tolist() == [0.1, -1.78]
    assert torch.tensor(2**40 + 1, dtype=torch.float64).item() == 2**40 + 1
    assert (
        torch.as_tensor([0.1], dtype=torch.float64).item() == 0.1
        and torch.full((1,), 0.1, dtype=torch.float64).item() == 0.1
    )


def test_creation(torch: Any) -> None:
    assert torch.zeros(2, 3).shape == torch.Size([2, 3]) and torch.zeros((2, 3)).shape == (2, 3)
    assert torch.ones(2, dtype=torch.int64).tolist() == [1, 1]
    assert torch.full((2,), 7).dtype == torch.int64 and torch.full((2,), 7.0).dtype == torch.float32
    assert torch.arange(5).dtype == torch.int64 and torch.arange(5.0).dtype == torch.float32
    assert torch.arange(1, 2, 0.25).tolist() == [1.0, 1.25, 1.5, 1.75]
    assert torch.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert torch.eye(2).tolist() == [[1.0, 0.0], [0.0, 1.0]] and torch.eye(2, 3).shape == (2, 3)
    assert torch.empty(2, 0).shape == (2, 0) and torch.empty(2).dtype == torch.float32
    x = torch.ones(2, 3, dtype=torch.float64)
    assert torch.zeros_like(x).dtype == torch.float64 and torch.ones_like(x, dtype=torch.int32).dtype == torch.int32
    assert torch.full_like(x, 2).dtype == torch.float64 and torch.rand_like(x).dtype == torch.float64
    assert x.new_zeros(4).dtype == torch.float64 and x.new_ones(2, 2).shape == (2, 2)
    assert x.new_tensor([1, 2]).dtype == torch.float64 or x.new_tensor([1, 2]).dtype == torch.int64
    assert torch.tril(torch.ones(2, 2)).tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert torch.triu(torch.ones(2, 2), diagonal=1).tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert torch.diag(torch.tensor([1.0, 2.0])).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert torch.tensor(3, dtype=torch.float32).item() == 3.0
    for f in (torch.zeros, torch.rand, torch.arange):
        with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
            f(2, out=x)
    assert torch.Tensor([1, 2]).dtype == torch.float32 and torch.Tensor(2, 3).shape == (2, 3)


def test_promotion(torch: Any) -> None:
    i, f, d, b = torch.tensor([1]), torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64), torch.tensor([True])
    assert (i + f).dtype == torch.float32 and (f + d).dtype == torch.float64
    assert (i + 1).dtype == torch.int64 and (i + 1.0).dtype == torch.float32 and (i / 2).dtype == torch.float32
    assert (i // 2).dtype == torch.int64 and (i / i).dtype == torch.float32
    assert (b + b).dtype == torch.bool and (b + 1).dtype == torch.int64 and (b * 1.5).dtype == torch.float32
    assert (f + 1j).dtype == torch.complex64 and (d + 1).dtype == torch.float64
    assert (f + torch.tensor(1.0, dtype=torch.float64)).dtype == torch.float32  # a tensor without axes is weak
    assert (torch.tensor(1.0) + torch.tensor(1.0, dtype=torch.float64)).dtype == torch.float64
    assert (i + torch.tensor(1.5)).dtype == torch.float32
    assert (torch.tensor([1], dtype=torch.int32) + torch.tensor(1)).dtype == torch.int32
    assert (torch.tensor([1], dtype=torch.int32) + i).dtype == torch.int64
    assert (torch.tensor([1.0], dtype=torch.float16) + f).dtype == torch.float32
    assert torch.sqrt(i).dtype == torch.float32 and torch.exp(i).dtype == torch.float32
    assert i.sum().dtype == torch.int64 and b.sum().dtype == torch.int64
    assert torch.tensor([1], dtype=torch.int32).sum().dtype == torch.int64
    assert (i**2).dtype == torch.int64 and (2**f).dtype == torch.float32 and (i**2.0).dtype == torch.float32
    assert (f > 0).dtype == torch.bool and torch.result_type(i, 1.0) == torch.float32
    assert (f + np.float64(1)).dtype == torch.float32
    assert torch.where(b, 1.0, f).dtype == torch.float32 and torch.promote_types(torch.int32, torch.float32) == (
        torch.float32
    )
    assert torch.cat([i, f]).dtype == torch.float32


def test_mean_of_integers(torch: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"mean\(\): could not infer output dtype. Input dtype must be either a floating point"
    ):
        torch.arange(3).mean()


def test_matmul_of_two_dtypes(torch: Any) -> None:
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64)


def test_conversions(torch: Any) -> None:
    x = torch.tensor([1.7, -1.7])
    assert x.int().tolist() == [1, -1] and x.int().dtype == torch.int32
    assert x.long().dtype == torch.int64 and x.double().dtype == torch.float64 and x.half().dtype == torch.float16
    assert x.bool().tolist() == [True, True] and x.float() is x
    assert (
        x.to(torch.float64).dtype == torch.float64
        and x.to(torch.float32) is x
        and x.type(torch.int64).tolist()
        == [
            1,
            -1,
        ]
    )
    assert x.to("cpu") is x and x.cpu() is x and x.to("cpu", torch.float64).dtype == torch.float64
    assert x.type_as(torch.ones(1, dtype=torch.float64)).dtype == torch.float64
    assert x.type() == "torch.FloatTensor"
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    y.double().sum().backward()
    assert y.grad.dtype == torch.float32 and y.grad.tolist() == [1.0, 1.0]


def test_dtype_objects(torch: Any) -> None:
    assert repr(torch.float32) == "torch.float32" and torch.float is torch.float32 and torch.long is torch.int64
    assert torch.double is torch.float64 and torch.int is torch.int32 and torch.half is torch.float16
    assert torch.float32.is_floating_point and not torch.int64.is_floating_point and torch.complex64.is_complex
    assert torch.float32.itemsize == 4
    assert isinstance(torch.float32, torch.dtype)


def test_item_tolist_float_int_bool_len_iter(torch: Any) -> None:
    assert type(torch.tensor(2.5).item()) is float and type(torch.tensor(2).item()) is int
    assert torch.tensor(True).item() is True and torch.tensor([3]).item() == 3
    assert float(torch.tensor([2.5])) == 2.5 and int(torch.tensor(2.7)) == 2 and bool(torch.tensor(0.0)) is False
    assert torch.ones(2, 2).tolist() == [[1.0, 1.0], [1.0, 1.0]] and torch.tensor(1.5).tolist() == 1.5
    assert len(torch.ones(3, 2)) == 3 and [r.tolist() for r in torch.eye(2)] == [[1.0, 0.0], [0.0, 1.0]]
    assert list(range(5))[torch.tensor(2)] == 2
    assert f"{torch.tensor(1.5):.2f}" == "1.50" and f"{torch.tensor([1.5])}" == "tensor([1.5000])"
    a, b = torch.tensor([1.0, 2.0])
    assert a.item() == 1.0 and b.item() == 2.0
    with pytest.raises(RuntimeError, match=r"a Tensor with 2 elements cannot be converted to Scalar"):
        torch.ones(2).item()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        list(torch.tensor(1.0))
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(torch.tensor(1.0))


def test_hash_identity_and_equality(torch: Any) -> None:
    x, y = torch.ones(2), torch.ones(2)
    assert len({x, y}) == 2 and {x: 1}[x] == 1
    assert (x == y).tolist() == [True, True] and torch.equal(x, y) and not torch.equal(x, torch.ones(3))
    assert (x == None) is False and (x != None) is True  # noqa: E711
    assert torch.allclose(x, y + 1e-7) and not torch.allclose(x, y + 1e-3)
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        x.eq(torch.ones(3))
    with pytest.raises(RuntimeError, match="The size of tensor a"):
        assert x == torch.ones(3)


def test_shape_attributes(torch: Any) -> None:
    x = torch.ones(2, 3, 4)
    assert x.shape == (2, 3, 4) and isinstance(x.shape, tuple) and repr(x.shape) == "torch.Size([2, 3, 4])"
    assert x.size() == torch.Size([2, 3, 4]) and x.size(1) == 3 and x.size(-1) == 4
    assert x.dim() == x.ndim == 3 and x.shape.numel() == 24 and x.nelement() == 24
    assert x.stride() == (12, 4, 1) and x.is_contiguous() and not x.transpose(0, 1).is_contiguous()
    assert x.T.shape == (4, 3, 2) if x.ndim == 2 else x.mT.shape == (2, 4, 3)
    assert str(x.device) == "cpu" and x.device.type == "cpu" and repr(x.device) == "device(type='cpu')"
    assert torch.device("cpu") == x.device and x.element_size() == 4
    assert not torch.cuda.is_available()
    assert torch.is_tensor(x) and isinstance(x, torch.Tensor) and not torch.is_tensor([1])


# --- what is printed --------------------------------------------------------------------------------------------------

REPRS = [
    ("torch.tensor(1.0)", "tensor(1.)"),
    ("torch.tensor(1.5)", "tensor(1.5000)"),
    ("torch.tensor(3)", "tensor(3)"),
    ("torch.tensor(True)", "tensor(True)"),
    ("torch.tensor([])", "tensor([])"),
    ("torch.tensor([1, 22, 333])", "tensor([  1,  22, 333])"),
    ("torch.tensor([1.0, -2.0])", "tensor([ 1., -2.])"),
    ("torch.tensor([1.0, 2.5])", "tensor([1.0000, 2.5000])"),
    ("torch.tensor([True, False])", "tensor([ True, False])"),
    ("torch.tensor([1e-8, 1.0])", "tensor([1.0000e-08, 1.0000e+00])"),
    ("torch.tensor([1e9])", "tensor([1.0000e+09])"),
    ("torch.tensor([0.1, 1000.5])", "tensor([1.0000e-01, 1.0005e+03])"),
    ("torch.tensor([100.0, 1.5])", "tensor([100.0000,   1.5000])"),
    ("torch.tensor(float('nan'))", "tensor(nan)"),
    ("torch.tensor([float('inf'), 1.0])", "tensor([inf, 1.])"),
    ("torch.tensor([float('nan'), 1.5])", "tensor([   nan, 1.5000])"),
    ("torch.tensor(0.1, dtype=torch.float64)", "tensor(0.1000, dtype=torch.float64)"),
    ("torch.arange(3, dtype=torch.int32)", "tensor([0, 1, 2], dtype=torch.int32)"),
    ("torch.arange(3.0)", "tensor([0., 1., 2.])"),
    ("torch.ones(2, 2)", "tensor([[1., 1.],\n        [1., 1.]])"),
    ("torch.ones(2, 1, 2)", "tensor([[[1., 1.]],\n\n        [[1., 1.]]])"),
    ("torch.zeros(2, 0)", "tensor([], size=(2, 0))"),
    ("torch.zeros(0, dtype=torch.int64)", "tensor([], dtype=torch.int64)"),
    ("torch.ones(2, requires_grad=True)", "tensor([1., 1.], requires_grad=True)"),
    ("torch.ones(2, requires_grad=True) + 1", "tensor([2., 2.], grad_fn=<AddBackward0>)"),
    (
        "torch.ones(2, dtype=torch.float64, requires_grad=True)",
        "tensor([1., 1.], dtype=torch.float64, requires_grad=True)",
    ),
    ("torch.ones(2, requires_grad=True).detach()", "tensor([1., 1.])"),
    ("torch.tensor([1 + 2j])", "tensor([1.+2.j])"),
    ("torch.tensor(-0.5)", "tensor(-0.5000)"),
    ("torch.tensor([-0.0])", "tensor([-0.])"),
    ("torch.tensor(123456.0)", "tensor(123456.)"),
    ("torch.tensor(123456.789)", "tensor(123456.7891)"),
    ("torch.tensor(1e-5)", "tensor(1.0000e-05)"),
    ("torch.tensor([0.00012, 0.5])", "tensor([1.2000e-04, 5.0000e-01])"),
    (
        "torch.arange(12.0).reshape(3, 4)",
        "tensor([[ 0.,  1.,  2.,  3.],\n        [ 4.,  5.,  6.,  7.],\n        [ 8.,  9., 10., 11.]])",
    ),
    (
        "torch.linspace(0, 1, 21)",
        "tensor([0.0000, 0.0500, 0.1000, 0.1500, 0.2000, 0.2500, 0.3000, 0.3500, 0.4000,\n"
        "        0.4500, 0.5000, 0.5500, 0.6000, 0.6500, 0.7000, 0.7500, 0.8000, 0.8500,\n"
        "        0.9000, 0.9500, 1.0000])",
    ),
    ("torch.arange(2000)", "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    ("torch.nn.Parameter(torch.ones(2))", "Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    ("torch.ones(2).shape", "torch.Size([2])"),
    ("torch.float64", "torch.float64"),
    ("torch.ones(2, 2).max(0)", "torch.return_types.max(\nvalues=tensor([1., 1.]),\nindices=tensor([0, 0]))"),
    ("torch.ones(100, 100)[:, 0].sum()", "tensor(100.)"),
    (
        "torch.eye(40)",
        "tensor([[1., 0., 0.,  ..., 0., 0., 0.],\n        [0., 1., 0.,  ..., 0., 0., 0.],\n"
        "        [0., 0., 1.,  ..., 0., 0., 0.],\n        ...,\n        [0., 0., 0.,  ..., 1., 0., 0.],\n"
        "        [0., 0., 0.,  ..., 0., 1., 0.],\n        [0., 0., 0.,  ..., 0., 0., 1.]])",
    ),
]


@pytest.mark.parametrize("code, text", REPRS, ids=[code for code, _ in REPRS])
def test_repr(torch: Any, code: str, text: str) -> None:
    assert repr(eval(code, {"torch": torch})) == text


def test_str_is_repr(torch: Any) -> None:
    assert str(torch.tensor([1.5])) == "tensor([1.5000])"


# --- views and memory -------------------------------------------------------------------------------------------------


def test_views_share_memory(torch: Any) -> None:
    x = torch.arange(6.0)
    for view in (x.view(2, 3), x.reshape(3, 2), x[1:], x[::2], x.unsqueeze(0), x.view(2, 3).t(), x.expand(2, 6)):
        before = x.clone()
        with torch.no_grad():
            view[0] = -5.0
        assert not torch.equal(before, x)
        x.copy_(before)
    y = torch.arange(6.0).view(2, 3)
    y.t()[0, 1] = 100.0
    assert y.tolist() == [[0.0, 1.0, 2.0], [100.0, 4.0, 5.0]]
    row = y[1]
    row += 1
    assert y[1].tolist() == [101.0, 5.0, 6.0]
    y.diagonal().zero_()
    assert y.tolist() == [[0.0, 1.0, 2.0], [101.0, 0.0, 6.0]]


def test_copies_do_not_share(torch: Any) -> None:
    x = torch.arange(6.0)
    for made in (x.clone(), x[[0, 1]], x[x > 2], x + 0, x.repeat(2), torch.tensor(x.tolist())):
        made.zero_()
        assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    a = np.ones(2)
    t = torch.as_tensor(a)
    a[0] = 3
    assert t.tolist() == [3.0, 1.0]


def test_view_needs_compatible_strides(torch: Any) -> None:
    x = torch.arange(6.0).view(2, 3)
    with pytest.raises(RuntimeError, match="view size is not compatible with input tensor's size and stride"):
        x.t().view(6)
    assert x.t().reshape(6).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert x.t().contiguous().view(6).tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    with pytest.raises(RuntimeError, match=r"shape '\[4\]' is invalid for input of size 6"):
        x.view(4)


def test_shape_methods(torch: Any) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    assert x.view(-1, 4).shape == (6, 4) and x.flatten().shape == (24,) and x.flatten(1).shape == (2, 12)
    assert torch.flatten(x, 0, 1).shape == (6, 4) and x.ravel().shape == (24,)
    assert x.permute(2, 0, 1).shape == (4, 2, 3) and x.transpose(0, 2).shape == (4, 3, 2)
    assert x.unsqueeze(-1).shape == (2, 3, 4, 1) and x.unsqueeze(1).squeeze(1).shape == (2, 3, 4)
    assert torch.ones(1, 2, 1).squeeze().shape == (2,) and torch.ones(1, 2).squeeze(1).shape == (1, 2)
    assert torch.ones(1, 3).expand(2, -1).shape == (2, 3) and torch.ones(2).repeat(2, 3).shape == (2, 6)
    assert torch.ones(2).expand_as(torch.ones(3, 2)).shape == (3, 2) and x.view_as(x).shape == x.shape
    assert torch.movedim(x, 0, 2).shape == (3, 4, 2) and x.swapaxes(0, 1).shape == (3, 2, 4)
    assert torch.broadcast_to(torch.ones(3), (2, 3)).shape == (2, 3)
    assert [p.shape for p in x.split(1)] == [(1, 3, 4)] * 2 and [p.shape[2] for p in x.split([1, 3], dim=2)] == [1, 3]
    assert [len(c) for c in torch.chunk(torch.arange(7), 3)] == [3, 3, 1]
    assert [u.shape for u in torch.unbind(x, 1)] == [(2, 4)] * 3
    assert torch.tensor([1, 2, 3]).flip(0).tolist() == [3, 2, 1] and torch.roll(torch.arange(3), 1).tolist() == [
        2,
        0,
        1,
    ]
    assert torch.cat([x, x], dim=1).shape == (2, 6, 4) and torch.stack([x, x], dim=-1).shape == (2, 3, 4, 2)
    assert torch.hstack([torch.ones(2), torch.ones(1)]).shape == (3,) and torch.vstack([x[0, 0], x[0, 0]]).shape == (
        2,
        4,
    )
    assert x.narrow(2, 1, 2).shape == (2, 3, 2) and x.select(1, 0).shape == (2, 4)
    assert torch.tile(torch.arange(2), (2,)).tolist() == [0, 1, 0, 1]
    assert torch.arange(3).repeat_interleave(2).tolist() == [0, 0, 1, 1, 2, 2]
    rows = torch.tensor([[1, 2], [3, 4]])
    assert rows.repeat_interleave(2, dim=1).tolist() == [[1, 1, 2, 2], [3, 3, 4, 4]]
    assert rows.repeat_interleave(torch.tensor([1, 2]), -2).tolist() == [[1, 2], [3, 4], [3, 4]]
    assert torch.roll(rows, 1, 0).tolist() == [[3, 4], [1, 2]]
    assert torch.roll(rows, (1, 1), (0, 1)).tolist() == [[4, 3], [2, 1]]
    assert [m.tolist() for m in torch.meshgrid(torch.arange(2), torch.arange(2), indexing="ij")] == [
        [[0, 0], [1, 1]],
        [[0, 1], [0, 1]],
    ]


# --- indexing ---------------------------------------------------------------------------------------------------------


def test_indexing(torch: Any) -> None:
    x = torch.arange(12.0).reshape(3, 4)
    assert x[0, 1].item() == 1.0 and x[-1].tolist() == [8.0, 9.0, 10.0, 11.0] and x[1, -1].item() == 7.0
    assert x[:, 1].tolist() == [1.0, 5.0, 9.0] and x[..., 0].tolist() == [0.0, 4.0, 8.0] and x[None].shape == (1, 3, 4)
    assert x[[0, 2], [1, 3]].tolist() == [1.0, 11.0] and x[torch.tensor([0, 2])].shape == (2, 4)
    assert x[x > 9].tolist() == [10.0, 11.0] and x[x[:, 0] > 3].shape == (2, 4)
    assert x[torch.tensor(1), torch.tensor(2)].item() == 6.0 and x[1:, ::2].tolist() == [[4.0, 6.0], [8.0, 10.0]]
    with pytest.raises(IndexError, match="index 5 is out of bounds for dimension 0 with size 3"):
        x[5]
    with pytest.raises(IndexError, match="too many indices for tensor of dimension 2"):
        x[0, 0, 0]
    with pytest.raises(ValueError, match="step must be greater than zero"):
        x[::-1]
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool"):
        x[torch.tensor([0.0])]


def test_gradients_of_indexing(torch: Any) -> None:
    x = torch.arange(4.0, requires_grad=True)
    x[torch.tensor([0, 0, 3])].sum().backward()
    assert x.grad.tolist() == [2.0, 0.0, 0.0, 1.0]
    x.grad = None
    (x[1:3] * x[0:2]).sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 1.0, 0.0]
    x.grad = None
    (x[x > 1.5] ** 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 4.0, 6.0]


def test_stores(torch: Any) -> None:
    x = torch.zeros(2, 3)
    x[0] = 1
    x[:, 2] = torch.tensor([5.0, 6.0])
    x[1, 0] += 4
    assert x.tolist() == [[1.0, 1.0, 5.0], [4.0, 0.0, 6.0]]
    x[x > 4.5] = 0
    x[[0, 1], [0, 1]] = torch.tensor([7.0, 8.0])
    assert x.tolist() == [[7.0, 1.0, 0.0], [4.0, 8.0, 0.0]]
    i = torch.zeros(2, dtype=torch.int64)
    i[0] = 2.7
    assert i.tolist() == [2, 0]


def test_stores_into_one_number(torch: Any) -> None:
    w = torch.tensor(2.0, requires_grad=True)
    x = w * 3
    x[...] = w * w
    (x * 2).backward()
    assert w.grad.item() == 8.0


# --- methods in place -------------------------------------------------------------------------------------------------


def test_in_place_methods(torch: Any) -> None:
    x = torch.tensor([1.0, -4.0])
    assert x.add_(1) is x and x.tolist() == [2.0, -3.0]
    assert x.sub_(1).mul_(2).div_(4).tolist() == [0.5, -2.0]
    assert x.abs_().sqrt_().tolist() == [0.5**0.5 if False else 0.7071067690849304, 1.4142135381698608]
    assert x.zero_().tolist() == [0.0, 0.0] and x.fill_(3).tolist() == [3.0, 3.0] and x.pow_(2).tolist() == [9.0, 9.0]
    assert x.copy_(torch.tensor([1, 2])).tolist() == [1.0, 2.0] and x.neg_().tolist() == [-1.0, -2.0]
    assert x.clamp_(min=-1.5).tolist() == [-1.0, -1.5] and x.relu_().tolist() == [0.0, 0.0]
    assert x.add_(torch.ones(2), alpha=3).tolist() == [3.0, 3.0]
    assert x.addcmul_(torch.ones(2), torch.ones(2), value=2).tolist() == [5.0, 5.0]
    assert x.addcdiv_(torch.ones(2), torch.full((2,), 2.0)).tolist() == [5.5, 5.5]
    assert x.masked_fill_(torch.tensor([True, False]), 0.0).tolist() == [0.0, 5.5]
    assert x.exp_().tolist()[0] == 1.0 and x.lerp_(torch.zeros(2), 1.0).tolist() == [0.0, 0.0]
    assert x.uniform_(2, 3).min().item() >= 2 and x.normal_().shape == (2,)
    assert x.requires_grad_() is x


def test_in_place_keeps_dtype(torch: Any) -> None:
    i = torch.tensor([1, 2])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        i.add_(1.5)
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type"):
        i /= 2
    x = torch.ones(2)
    x += torch.ones(2, dtype=torch.float64)
    assert x.dtype == torch.float32
    with pytest.raises(RuntimeError, match="output with shape"):
        x.add_(torch.ones(3, 2))


def test_augmented_assignment_is_in_place(torch: Any) -> None:
    x = torch.ones(2)
    y = x
    x += 1
    x *= 3
    x -= 1
    x /= 2
    x **= 2
    assert y is x and y.tolist() == [6.25, 6.25]


# --- arithmetic -------------------------------------------------------------------------------------------------------


def test_operators(torch: Any) -> None:
    x = torch.tensor([7.0, -7.0])
    assert (
        (x // 2).tolist() == [3.0, -4.0] and (x % 4).tolist() == [3.0, 1.0] and (2 // torch.tensor([2.0])).item() == 1
    )
    assert (
        (1 - x).tolist() == [-6.0, 8.0] and (7 / x).tolist() == [1.0, -1.0] and (2 ** torch.tensor([3.0])).item() == 8
    )
    assert abs(x).tolist() == [7.0, 7.0] and (-x).tolist() == [-7.0, 7.0] and (+x).tolist() == [7.0, -7.0]
    m = torch.tensor([True, False])
    assert (~m).tolist() == [False, True] and (m & True).tolist() == [True, False] and (m | ~m).all().item()
    assert (
        (m ^ m).any().item() is False and (torch.tensor([5]) % 3).item() == 2 and (torch.tensor([6]) >> 1).item() == 3
    )
    assert torch.add(x, x, alpha=2).tolist() == [21.0, -21.0] and torch.sub(x, 1).tolist() == [6.0, -8.0]
    assert torch.div(x, 2, rounding_mode="floor").tolist() == [3.0, -4.0]
    assert torch.div(x, 2, rounding_mode="trunc").tolist() == [3.0, -3.0]
    assert torch.fmod(x, 4).tolist() == [3.0, -3.0] and torch.remainder(x, 4).tolist() == [3.0, 1.0]
    assert (x < 0).tolist() == [False, True] and x.eq(7).tolist() == [True, False] and x.gt(0).sum().item() == 1
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\) at non-sing"
    ):
        x + torch.ones(3)
    with pytest.raises(TypeError, match=r"unsupported operand type|can't multiply|must be Tensor"):
        x + "a"


def test_numpy_operands(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert np.mean(x.numpy()) == 1.5 and np.asarray(x).dtype == np.float32 and np.array(x).tolist() == [1.0, 2.0]
    assert (x * np.float32(2)).tolist() == [2.0, 4.0]


def test_reductions(torch: Any) -> None:
    x = torch.tensor([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
    assert (
        x.sum().item() == 21.0 and x.sum(0).tolist() == [5.0, 7.0, 9.0] and x.sum(dim=1, keepdim=True).shape == (2, 1)
    )
    assert x.sum((0, 1)).item() == 21.0 and x.mean(1).tolist() == [3.0, 4.0] and x.sum(axis=0).shape == (3,)
    values, indices = x.max(dim=1)
    assert values.tolist() == [5.0, 6.0] and indices.tolist() == [1, 2] and indices.dtype == torch.int64
    out = torch.min(x, 0)
    assert out.values.tolist() == [1.0, 2.0, 3.0] and out.indices.tolist() == [0, 1, 0] and out[0] is not None
    assert x.max().item() == 6.0 and x.argmax().item() == 5 and x.argmin(dim=1).tolist() == [0, 1]
    assert torch.max(x, torch.tensor(3.0)).tolist() == [[3.0, 5.0, 3.0], [4.0, 3.0, 6.0]]
    assert x.prod().item() == 720.0 and x.prod(1).tolist() == [15.0, 48.0] and x.amax(dim=0).tolist() == [4.0, 5.0, 6.0]
    assert abs(x.std().item() - 1.8708287) < 1e-6 and abs(x.var(unbiased=False).item() - 35 / 12) < 1e-5
    assert torch.var(x, dim=1, correction=0).shape == (2,) and abs(x.norm().item() - 91**0.5) < 1e-5
    assert x.cumsum(1).tolist() == [[1.0, 6.0, 9.0], [4.0, 6.0, 12.0]] and x.cumprod(0)[1].tolist() == [4.0, 10.0, 18.0]
    assert x.any().item() and not (x > 2).all() and (x > 2).all(dim=0).tolist() == [False, False, True]
    assert torch.logsumexp(torch.zeros(2, 3), 1).shape == (2,) and x.median().item() == 3.0
    s = x.sort(dim=1, descending=True)
    assert s.values.tolist() == [[5.0, 3.0, 1.0], [6.0, 4.0, 2.0]] and s.indices[0].tolist() == [1, 2, 0]
    assert x.argsort(dim=1).tolist() == [[0, 2, 1], [1, 0, 2]] and x.topk(2, dim=1).values.tolist() == [
        [5.0, 3.0],
        [6.0, 4.0],
    ]
    assert torch.nonzero(torch.tensor([0, 3, 4])).tolist() == [[1], [2]]
    assert torch.isnan(torch.tensor([float("nan"), 1.0])).tolist() == [True, False]
    assert torch.isfinite(torch.tensor([float("inf"), 1.0])).tolist() == [False, True]
    with pytest.raises(IndexError, match=r"Dimension out of range \(expected to be in range of \[-2, 1\], but got 2\)"):
        x.sum(2)


def test_selection(torch: Any) -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.where(x > 2, x, 0.0).tolist() == [[0.0, 0.0], [3.0, 4.0]]
    assert torch.where(x > 2, x, torch.zeros_like(x)).sum().item() == 7.0
    assert torch.gather(x, 1, torch.tensor([[0], [1]])).tolist() == [[1.0], [4.0]]
    assert torch.zeros(2, 2).scatter_(1, torch.tensor([[0], [1]]), 1.0).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert torch.zeros(3).scatter_add(0, torch.tensor([0, 0, 2]), torch.ones(3)).tolist() == [2.0, 0.0, 1.0]
    assert torch.zeros(3).index_add_(0, torch.tensor([0, 0, 2]), torch.ones(3)).tolist() == [2.0, 0.0, 1.0]
    assert torch.index_select(x, 1, torch.tensor([1])).tolist() == [[2.0], [4.0]]
    assert x.masked_fill(x > 3, -1.0).tolist() == [[1.0, 2.0], [3.0, -1.0]]
    assert torch.masked_select(x, x > 1).tolist() == [2.0, 3.0, 4.0] and x.take(torch.tensor([3, 0])).tolist() == [
        4.0,
        1.0,
    ]
    assert x.clamp(2, 3).tolist() == [[2.0, 2.0], [3.0, 3.0]] and torch.clamp(x, max=2).max().item() == 2.0
    assert torch.clip(x, min=3).min().item() == 3.0 and torch.maximum(x, x.T).tolist() == [[1.0, 3.0], [3.0, 4.0]]
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max' must not be None"):
        x.clamp()


def test_linear_algebra(torch: Any) -> None:
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    v = torch.tensor([1.0, 2.0])
    assert (a @ v).tolist() == [4.0, 7.0] and torch.matmul(a, a).tolist() == [[5.0, 5.0], [5.0, 10.0]]
    assert torch.mm(a, a).shape == (2, 2) and a.mv(v).tolist() == [4.0, 7.0] and v.dot(v).item() == 5.0
    assert torch.bmm(torch.ones(3, 2, 4), torch.ones(3, 4, 5)).shape == (3, 2, 5)
    assert torch.einsum("ij,j->i", a, v).tolist() == [4.0, 7.0] and torch.outer(v, v).tolist() == [
        [1.0, 2.0],
        [2.0, 4.0],
    ]
    assert abs(torch.det(a).item() - 5.0) < 1e-5 and torch.allclose(torch.inverse(a) @ a, torch.eye(2), atol=1e-6)
    assert torch.allclose(torch.linalg.solve(a, v), torch.tensor([0.2, 0.6]))
    assert torch.allclose(torch.linalg.cholesky(a) @ torch.linalg.cholesky(a).T, a)
    assert (
        torch.trace(a).item() == 5.0
        and torch.diagonal(a).tolist() == [2.0, 3.0]
        and abs(torch.logdet(a).item() - 1.609438) < 1e-5
    )
    assert (
        torch.linalg.norm(v).item() == v.norm().item()
        and v.norm(1).item() == 3.0
        and v.norm(p=float("inf")).item() == 2.0
    )
    assert torch.linalg.eigvalsh(a).shape == (2,) and torch.linalg.svd(a).S.shape == (2,)
    assert torch.addmm(torch.zeros(2), a, a).shape == (2, 2) and torch.baddbmm(
        torch.zeros(1), torch.ones(1, 2, 2), torch.ones(1, 2, 2)
    ).shape == (1, 2, 2)
    assert torch.tensordot(a, a, dims=2).item() == 15.0
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x2 and 3x2\)"):
        a @ torch.ones(3, 2)


# --- random numbers ---------------------------------------------------------------------------------------------------


def test_random_numbers(torch: Any) -> None:
    torch.manual_seed(0)
    first = [torch.rand(3), torch.randn(2, 2), torch.randint(0, 10, (5,)), torch.randperm(6)]
    torch.manual_seed(0)
    again = [torch.rand(3), torch.randn(2, 2), torch.randint(0, 10, (5,)), torch.randperm(6)]
    assert all(torch.equal(a, b) for a, b in zip(first, again))
    assert [t.dtype for t in first] == [torch.float32, torch.float32, torch.int64, torch.int64]
    assert [tuple(t.shape) for t in first] == [(3,), (2, 2), (5,), (6,)]
    assert not torch.equal(torch.rand(3), torch.rand(3))
    assert sorted(first[3].tolist()) == list(range(6)) and 0 <= first[2].min() and first[2].max() < 10
    assert torch.randn(size=(2,)).shape == (2,) and torch.rand((2, 3), requires_grad=True).requires_grad
    many = torch.randn(20000)
    assert abs(many.mean().item()) < 0.05 and abs(many.std().item() - 1) < 0.05
    n = torch.normal(2.0, 0.5, (10000,))
    assert abs(n.mean().item() - 2) < 0.05 and abs(n.std().item() - 0.5) < 0.05
    assert torch.randint(5, (2,)).shape == (2,)


# --- objects ----------------------------------------------------------------------------------------------------------


def test_copying_and_pickling(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = copy.deepcopy(x)
    assert c.tolist() == [1.0, 2.0] and c.requires_grad and c.data_ptr() != x.data_ptr()
    p = pickle.loads(pickle.dumps(x))
    assert p.tolist() == [1.0, 2.0] and p.requires_grad
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(x * 2)


def test_absent_names(torch: Any) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        torch.nonsense
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        torch.nn.nonsense
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        torch.autograd.nonsense
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        torch.ones(1).nonsense
    # Later writes into a tensor that had given itself another shape had a wrong gradient.
    with pytest.raises(AttributeError, match="object has no attribute 'unsqueeze_'. Did you mean: 'unsqueeze'"):
        torch.ones(1).unsqueeze_(0)


def test_matplotlib_and_numpy_protocols(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0])
    assert x.__array__().tolist() == [1.0, 2.0] and np.sum(np.asarray(x)) == 3.0
    assert np.stack([np.asarray(t) for t in x]).tolist() == [1.0, 2.0]
