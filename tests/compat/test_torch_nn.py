"""torch.nn: modules, parameters, their names and state, what modules print, optimizers."""

from __future__ import annotations

import copy
import json
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

VALUES = Path(__file__).with_name("torch_values.json")


@pytest.fixture(scope="module")
def nn(torch: Any) -> Any:
    return torch.nn


# --- modules ----------------------------------------------------------------------------------------------------------


def test_linear(torch: Any, nn: Any) -> None:
    layer = nn.Linear(3, 2)
    assert layer.weight.shape == (2, 3) and layer.bias.shape == (2,) and layer.weight.requires_grad
    assert isinstance(layer.weight, nn.Parameter) and isinstance(layer.weight, torch.Tensor)
    bound = 1 / np.sqrt(3)
    assert layer.weight.abs().max().item() <= bound and layer.bias.abs().max().item() <= bound
    x = torch.ones(4, 3)
    assert torch.allclose(layer(x), x @ layer.weight.T + layer.bias)
    assert nn.Linear(3, 2, bias=False).bias is None
    layer(x).sum().backward()
    assert layer.bias.grad.tolist() == [4.0, 4.0] and layer.weight.grad.tolist() == [[4.0] * 3] * 2
    assert nn.Linear(3, 2, dtype=torch.float64).weight.dtype == torch.float64


def net_class(torch: Any, nn: Any) -> Any:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = nn.Linear(4, 3)
            self.act = nn.ReLU()
            self.fc2 = nn.Linear(3, 1)
            self.scale = nn.Parameter(torch.tensor(2.0))
            self.register_buffer("calls", torch.tensor(0))

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return self.fc2(self.act(self.fc1(x))) * self.scale

    return Net


def test_a_module_of_ones_own(torch: Any, nn: Any) -> None:
    net = net_class(torch, nn)()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["scale", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]
    assert len(list(net.parameters())) == 5 and sum(p.numel() for p in net.parameters()) == 4 * 3 + 3 + 3 + 1 + 1
    assert [n for n, _ in net.named_children()] == ["fc1", "act", "fc2"] and len(list(net.modules())) == 4
    assert [n for n, _ in net.named_modules()] == ["", "fc1", "act", "fc2"]
    assert [n for n, _ in net.named_buffers()] == ["calls"]
    out = net(torch.ones(5, 4))
    assert out.shape == (5, 1) and net.calls.item() == 1
    out.sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net(torch.ones(5, 4)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert all((p.grad == 0).all() for p in net.parameters())
    assert list(net.state_dict()) == ["scale", "calls", "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]
    assert repr(net) == (
        "Net(\n  (fc1): Linear(in_features=4, out_features=3, bias=True)\n  (act): ReLU()\n"
        "  (fc2): Linear(in_features=3, out_features=1, bias=True)\n)"
    )


def test_a_module_without_super_init(nn: Any) -> None:
    class Broken(nn.Module):
        def __init__(self) -> None:
            self.fc = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Broken()


def test_missing_forward_and_missing_attributes(torch: Any, nn: Any) -> None:
    class Empty(nn.Module):
        pass

    with pytest.raises(NotImplementedError, match=r'Module \[Empty\] is missing the required "forward" function'):
        Empty()(torch.ones(1))
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'nonsense'"):
        nn.Linear(1, 1).nonsense
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"cannot assign 'torch.FloatTensor' as parameter 'weight'"):
        layer.weight = torch.ones(1, 1)
    del layer.bias
    assert [n for n, _ in layer.named_parameters()] == ["weight"]


def test_train_and_eval(torch: Any, nn: Any) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    assert net.training and net[1].training
    assert net.eval() is net and not net[1].training
    x = torch.ones(3, 2)
    assert torch.equal(net(x), net(x))
    net.train()
    assert net[1].training
    frozen = net.requires_grad_(False)
    assert all(not p.requires_grad for p in frozen.parameters())


def test_sequential(torch: Any, nn: Any) -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    assert len(net) == 3 and isinstance(net[1], nn.Tanh) and [type(m).__name__ for m in net][2] == "Linear"
    assert list(net.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"] and net(torch.ones(4, 2)).shape == (
        4,
        1,
    )
    named = nn.Sequential(OrderedDict([("a", nn.Linear(2, 3)), ("b", nn.ReLU())]))
    assert named.a.weight.shape == (3, 2) and isinstance(named.b, nn.ReLU)
    named.add_module("c", nn.Sigmoid())
    assert len(named) == 3 and isinstance(net[:2], nn.Sequential) and len(net[:2]) == 2
    net.append(nn.ReLU())
    assert len(net) == 4
    assert repr(nn.Sequential(nn.Linear(2, 3), nn.Dropout(p=0.1))) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Dropout(p=0.1, inplace=False)\n)"
    )


def test_state_dict_round_trip(torch: Any, nn: Any) -> None:
    Net = net_class(torch, nn)
    a, b = Net(), Net()
    state = a.state_dict()
    assert not state["fc1.weight"].requires_grad and state["fc1.weight"].data_ptr() == a.fc1.weight.data_ptr()
    result = b.load_state_dict(state)
    assert repr(result) == "<All keys matched successfully>"
    x = torch.ones(2, 4)
    assert torch.equal(a(x), b(x))
    del state["fc1.weight"]
    state["extra"] = torch.ones(1)
    with pytest.raises(RuntimeError, match=r'(?s)Missing key\(s\) in state_dict: "fc1.weight".*Unexpected key\(s\)'):
        b.load_state_dict(state)
    result = b.load_state_dict(state, strict=False)
    assert result.missing_keys == ["fc1.weight"] and result.unexpected_keys == ["extra"]
    state = a.state_dict()
    state["fc2.bias"] = torch.ones(7)
    with pytest.raises(
        RuntimeError, match=r"(?s)size mismatch for fc2.bias: copying a param with shape torch.Size\(\[7\]\)"
    ):
        b.load_state_dict(state)


def test_apply_and_hooks(torch: Any, nn: Any) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))

    def constant(m: Any) -> None:
        if isinstance(m, nn.Linear):
            m.weight.data.fill_(0.5)
            m.bias.data.fill_(0.25)

    assert net.apply(constant) is net
    assert net(torch.ones(1, 2)).tolist() == [[1.5, 1.5]]
    seen = []
    handle = net[0].register_forward_hook(lambda m, args, out: seen.append((args[0].shape, out.shape)))
    net(torch.ones(1, 2))
    handle.remove()
    net(torch.ones(1, 2))
    assert seen == [((1, 2), (1, 2))]


def test_shared_parameters_are_listed_once(torch: Any, nn: Any) -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert len(list(net.parameters())) == 3
    net(torch.ones(1, 2)).sum().backward()
    assert net[0].weight.grad is net[1].weight.grad


def test_conversions_of_modules(torch: Any, nn: Any) -> None:
    net = nn.Linear(2, 2).double()
    assert net.weight.dtype == torch.float64 and net.to(torch.float32).weight.dtype == torch.float32
    assert net.to("cpu") is net
    twin = copy.deepcopy(net)
    assert torch.equal(twin.weight, net.weight) and twin.weight is not net.weight and twin.weight.requires_grad


def test_modules_can_be_pickled(torch: Any, nn: Any) -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1, bias=False))
    twin = pickle.loads(pickle.dumps(net))
    x = torch.ones(4, 2)
    assert torch.equal(twin(x), net(x)) and list(twin.state_dict()) == ["0.weight", "0.bias", "2.weight"]


def test_conv_pool_flatten(torch: Any, nn: Any) -> None:
    net = nn.Sequential(
        nn.Conv2d(1, 4, kernel_size=3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 4 * 4, 10)
    )
    assert net[0].weight.shape == (4, 1, 3, 3) and net[0].bias.shape == (4,)
    out = net(torch.ones(2, 1, 8, 8))
    assert out.shape == (2, 10)
    out.sum().backward()
    assert net[0].weight.grad.shape == (4, 1, 3, 3)
    assert repr(net[0]) == "Conv2d(1, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))"
    assert repr(net[2]) == "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)"
    assert repr(net[3]) == "Flatten(start_dim=1, end_dim=-1)"


def test_modules_of_functions(torch: Any, nn: Any) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0]])
    assert nn.Softmax(dim=1)(x).sum().item() == pytest.approx(1.0)
    assert nn.GELU()(x).shape == (1, 3) and nn.LeakyReLU(0.1)(-x).tolist()[0][0] == pytest.approx(-0.1)
    assert nn.Sigmoid()(x).max().item() < 1 and nn.ELU()(x).tolist() == x.tolist() and nn.SiLU()(x).shape == (1, 3)
    assert nn.Softplus()(x).min().item() > 1
    assert nn.AvgPool2d(2)(torch.ones(1, 1, 4, 4)).shape == (1, 1, 2, 2)


def test_loss_modules(torch: Any, nn: Any) -> None:
    x, y = torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([2])
    F = nn.functional
    assert nn.CrossEntropyLoss()(x, y).item() == F.cross_entropy(x, y).item()
    assert nn.MSELoss()(x, x * 2).item() == F.mse_loss(x, x * 2).item() and nn.L1Loss()(x, x * 2).item() == 2.0
    assert nn.NLLLoss()(F.log_softmax(x, dim=1), y).item() == F.nll_loss(F.log_softmax(x, dim=1), y).item()
    t = torch.ones(1, 3)
    assert nn.BCEWithLogitsLoss()(x, t).item() == F.binary_cross_entropy_with_logits(x, t).item()
    assert nn.BCELoss()(torch.sigmoid(x), t).item() == pytest.approx(nn.BCEWithLogitsLoss()(x, t).item(), rel=1e-5)
    assert (
        nn.SmoothL1Loss()(x, t).item() == F.smooth_l1_loss(x, t).item()
        and nn.HuberLoss()(x, t).item() == 0.6666666865348816
    )
    assert nn.MSELoss(reduction="sum")(x, t).item() == 5.0
    weighted = nn.CrossEntropyLoss(torch.tensor([1.0, 2.0, 3.0]), ignore_index=-1)
    assert weighted(x, y).item() == F.cross_entropy(x, y, torch.tensor([1.0, 2.0, 3.0])).item()
    assert [n for n, _ in weighted.named_buffers()] == ["weight"] and repr(weighted) == "CrossEntropyLoss()"
    for wrong in ({"nonsense": 1}, {"reduction": "sum", "target": 2}):
        with pytest.raises(TypeError):
            nn.MSELoss(**wrong)


# --- optimizers -------------------------------------------------------------------------------------------------------

# Three steps on sum(w ** 2 * c) from [1, -2] with c = [1, 0.5], measured.
OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", dict(lr=0.1)),
    ("SGD", dict(lr=0.1, momentum=0.9)),
    ("SGD", dict(lr=0.1, momentum=0.9, dampening=0.5)),
    ("SGD", dict(lr=0.1, momentum=0.9, nesterov=True)),
    ("SGD", dict(lr=0.1, weight_decay=0.1)),
    ("SGD", dict(lr=0.1, maximize=True)),
    ("Adam", dict(lr=0.1)),
    ("Adam", dict(lr=0.1, betas=(0.5, 0.9), eps=1e-3)),
    ("Adam", dict(lr=0.1, weight_decay=0.1)),
    ("Adam", dict(lr=0.1, amsgrad=True)),
]


def three_steps(torch: Any, name: str, options: dict[str, Any]) -> list[float]:
    w = torch.tensor([1.0, -2.0], requires_grad=True)
    optimizer = getattr(torch.optim, name)([w], **options)
    for _ in range(3):
        optimizer.zero_grad()
        (w**2 * torch.tensor([1.0, 0.5])).sum().backward()
        optimizer.step()
    values: list[float] = w.tolist()
    return values


@pytest.mark.parametrize("case", OPTIMIZERS, ids=lambda case: f"{case[0]}-{case[1]}")
def test_three_steps(torch: Any, case: tuple[str, dict[str, Any]]) -> None:
    name, options = case
    expected = json.loads(VALUES.read_text(encoding="utf-8"))["optimizers"][f"{name} {options}"]
    assert three_steps(torch, name, options) == pytest.approx(expected, rel=2e-6)


def test_optimizer_interface(torch: Any) -> None:
    a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=0.1)
    assert [g["lr"] for g in optimizer.param_groups] == [0.5, 0.1]
    (a + b).backward()
    optimizer.step()
    assert a.item() == 0.5 and b.item() == pytest.approx(1.9)
    optimizer.zero_grad()
    assert a.grad is None
    optimizer.param_groups[1]["lr"] = 1.0

    def closure() -> Any:
        optimizer.zero_grad()
        loss = a * 2 + b
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    assert loss.item() == pytest.approx(2.9) and a.item() == -0.5 and b.item() == pytest.approx(0.9)
    unused = torch.tensor(3.0, requires_grad=True)
    torch.optim.SGD([unused], lr=1.0).step()
    assert unused.item() == 3.0
    with pytest.raises(ValueError, match="optimizer got an empty parameter list"):
        torch.optim.SGD([], lr=0.1)
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        torch.optim.SGD([a], lr=-1)
    with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
        torch.optim.SGD([a * 1], lr=0.1)
    with pytest.raises(TypeError, match="params argument given to the optimizer should be an iterable of Tensors"):
        torch.optim.SGD(a, lr=0.1)
    with pytest.raises(ValueError, match="Nesterov momentum requires a momentum and zero dampening"):
        torch.optim.SGD([a], lr=0.1, nesterov=True)


# --- training ---------------------------------------------------------------------------------------------------------


def test_linear_regression_is_learned(torch: Any, nn: Any) -> None:
    torch.manual_seed(1)
    x = torch.randn(64, 3)
    y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 3.0
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(200):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 1e-4
    assert torch.allclose(model.weight.detach(), torch.tensor([[1.0, -2.0, 0.5]]), atol=1e-2)


def test_xor_is_learned(torch: Any, nn: Any) -> None:
    torch.manual_seed(3)
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([0, 1, 1, 0])
    model = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    for _ in range(200):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    assert model(x).argmax(dim=1).tolist() == [0, 1, 1, 0] and loss.item() < 0.1


def test_heads_are_joined_again_after_attention(torch: Any, nn: Any) -> None:
    # `contiguous` puts the memory in order also where a gradient is wanted; `view` raises on anything else.
    x = torch.arange(24.0).reshape(2, 3, 4).requires_grad_()
    turned = x.view(2, 3, 2, 2).transpose(1, 2)
    assert not turned.is_contiguous() and turned.contiguous().is_contiguous()
    joined = (turned * turned).transpose(1, 2).transpose(1, 2).contiguous().view(2, 2, 6)
    assert joined.stride() == (12, 6, 1)
    weight = torch.arange(24.0).view(2, 2, 6)
    (joined * weight).sum().backward()
    expected = 2 * x.detach() * weight.view(2, 2, 3, 2).transpose(1, 2).reshape(2, 3, 4)
    assert torch.equal(x.grad, expected)


def test_cross_entropy_of_joined_steps(torch: Any, nn: Any) -> None:
    # A recurrent network by hand joins the outputs of its steps: the recording does not know how many rows that makes.
    w = torch.tensor([[0.5, -1.0, 0.25]], requires_grad=True)
    labels = torch.tensor([0, 2, 1, 1])
    steps = [torch.tensor([[1.0], [2.0]]) @ w, torch.tensor([[-1.0], [0.5]]) @ w]
    nn.CrossEntropyLoss()(torch.cat(steps), labels).backward()
    x = np.array([1.0, 2.0, -1.0, 0.5])
    e = np.exp(x[:, None] * np.array([[0.5, -1.0, 0.25]]))
    expected = x @ (e / e.sum(1, keepdims=True) - np.eye(3)[[0, 2, 1, 1]]) / 4
    np.testing.assert_allclose(w.grad.numpy()[0], expected, rtol=1e-5)


def test_images_become_rows_by_view(torch: Any, nn: Any) -> None:
    # The most usual end of a convolutional network. `view` needs memory in the order of the axes.
    F = nn.functional
    x = torch.arange(32.0).reshape(2, 1, 4, 4)
    w = torch.ones(3, 1, 1, 1, requires_grad=True)
    for images in (
        F.conv2d(x, w, torch.zeros(3)),
        F.max_pool2d(F.relu(F.conv2d(x, w)), 2),
        F.avg_pool2d(F.conv2d(x, w), 2),
    ):
        assert images.is_contiguous()
        rows = images.view(-1, images[0].numel())
        assert torch.equal(rows, images.reshape(2, -1))
    rows = F.max_pool2d(F.conv2d(x, w), 2).view(2, -1)
    (rows * torch.arange(24.0).view(2, 12)).sum().backward()
    kept = torch.tensor([[5.0, 7.0, 13.0, 15.0], [21.0, 23.0, 29.0, 31.0]])
    weight = torch.arange(24.0).view(2, 3, 4)
    assert w.grad.flatten().tolist() == [(kept * weight[:, k]).sum().item() for k in range(3)]
