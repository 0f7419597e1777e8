"""Recurrent layers: outputs and gradients that the real PyTorch gives, its errors, and training."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from autodiff_compiler.tape import pullback

LAYERS = {
    "RNN(3, 2)": {},
    "RNN(3, 2, nonlinearity='relu', bias=False)": {},
    "LSTM(3, 2)": {},
    "LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)": {},
    "LSTM(3, 4, proj_size=2)": {},
    "GRU(3, 2)": {},
    "GRU(3, 2, num_layers=2, bidirectional=True, bias=False)": {},
    "RNNCell(3, 2, nonlinearity='relu')": {"cell": True},
    "LSTMCell(3, 2)": {"cell": True},
    "GRUCell(3, 2, bias=False)": {"cell": True},
}


def waves(torch: Any, shape: Any, start: float) -> Any:
    n = int(np.prod(shape))
    return torch.sin(torch.arange(n, dtype=torch.float64) + start).reshape(tuple(shape)).detach()


def results(torch: Any, text: str, cell: bool = False) -> list[float]:
    """The loss, and a number of the gradient of the input, of the states and of each parameter."""
    layer = eval(f"torch.nn.{text}", {"torch": torch}).double()
    with torch.no_grad():
        for k, p in enumerate(layer.parameters()):
            p.copy_(0.7 * waves(torch, p.shape, k))
    x = waves(torch, (2, 3) if cell else (4, 3, 3), 0.5).requires_grad_()
    out = layer(x)
    parts = [out] if isinstance(out, torch.Tensor) else list(out)
    parts = list(itertools.chain(*[[p] if isinstance(p, torch.Tensor) else p for p in parts]))
    loss = sum((p * waves(torch, p.shape, k)).sum() for k, p in enumerate(parts))
    loss.backward()
    grads = [x.grad, *[p.grad for p in layer.parameters()]]
    return [loss.item(), *[(g * waves(torch, g.shape, k + 1)).sum().item() for k, g in enumerate(grads)]]


# What the real PyTorch gives.
EXPECTED: dict[str, list[float]] = {
    "RNN(3, 2)": [
        0.5673183504064323,
        -0.048581131252271204,
        -0.4982547433107609,
        -0.5092478503227478,
        -0.21548404488578232,
        -0.2871111819229483,
    ],
    "RNN(3, 2, nonlinearity='relu', bias=False)": [
        1.2628656616541143,
        1.022586748318258,
        -0.3226593666472696,
        -1.9491352735385357,
    ],
    "LSTM(3, 2)": [
        0.10561846769176736,
        0.43097847839128717,
        -0.7655921091500254,
        -0.07270004454316711,
        -0.05429375398407205,
        0.12596323588046202,
    ],
    "LSTM(3, 4, num_layers=2, batch_first=True, bidirectional=True)": [
        -1.9276977287011887,
        0.2080809510606889,
        0.1634657135396359,
        -0.8960806182323802,
        -0.03670554229396418,
        1.079792144164553,
        -0.5774512043870983,
        -0.14048014813966972,
        2.7489832577236264,
        1.115399043777206,
        0.0515251488156339,
        0.12013113648112785,
        1.247580339519268,
        1.6045987022458763,
        -1.6685865358719427,
        -0.07862792678754278,
        1.3064857510565229,
        0.484285603866919,
    ],
    "LSTM(3, 4, proj_size=2)": [
        0.1475906590402553,
        -0.4355414380307622,
        -0.05122540493425415,
        -0.0993719210812436,
        -0.26108515949927935,
        -0.8527029009467931,
        0.2702152113129489,
    ],
    "GRU(3, 2)": [
        0.058189713305631996,
        0.4341196940931328,
        -1.77955368445577,
        0.22797797335456926,
        0.6094808755057198,
        -0.14326410962959377,
    ],
    "GRU(3, 2, num_layers=2, bidirectional=True, bias=False)": [
        -0.7311027228098672,
        -0.26248983629874456,
        -0.7219427088252038,
        0.0655750349260373,
        0.6429147807141313,
        0.11423570453803727,
        0.6851971302795252,
        -0.017176036703720032,
        -0.1324368813283941,
        0.06827534292223743,
    ],
    "RNNCell(3, 2, nonlinearity='relu')": [
        0.07420377494342612,
        0.08760705115132641,
        0.020600850939605182,
        0.0,
        -0.1353234013692644,
        -0.03943111735788423,
    ],
    "LSTMCell(3, 2)": [
        0.13009144278660603,
        -0.08466911743010551,
        -0.10634486188537247,
        0.0,
        0.6799554206699114,
        0.22343038412538663,
    ],
    "GRUCell(3, 2, bias=False)": [-0.5469049221161858, -0.10281612919903194, -0.9431109931776378, 0.0],
}


@pytest.mark.parametrize("text", LAYERS)
def test_outputs_and_gradients_are_those_of_pytorch(torch: Any, text: str) -> None:
    for _ in range(2):
        np.testing.assert_allclose(results(torch, text, **LAYERS[text]), EXPECTED[text], rtol=1e-9)


def test_states_are_taken_and_given(torch: Any) -> None:
    torch.manual_seed(0)
    layer = torch.nn.LSTM(3, 4)
    x = torch.randn(6, 2, 3)
    whole, (h, c) = layer(x)
    first, state = layer(x[:4])
    second, (h2, c2) = layer(x[4:], state)
    assert torch.allclose(torch.cat([first, second]), whole, atol=1e-6)
    assert torch.allclose(h, h2, atol=1e-6) and torch.allclose(c, c2, atol=1e-6)
    cell = torch.nn.LSTMCell(3, 4)
    cell.load_state_dict({n.removesuffix("_l0"): p for n, p in layer.state_dict().items()})
    a, b = cell(x[0])
    for k in range(1, 6):
        a, b = cell(x[k], (a, b))
    assert torch.allclose(a, h[0], atol=1e-6) and torch.allclose(b, c[0], atol=1e-6)


def test_sequences_without_a_batch(torch: Any) -> None:
    for kind in (torch.nn.RNN, torch.nn.GRU):
        layer = kind(3, 4, bidirectional=True)
        out, h = layer(torch.ones(5, 3))
        assert out.shape == (5, 8) and h.shape == (2, 4)
        assert torch.allclose(layer(torch.ones(5, 1, 3))[0][:, 0], out)


def test_errors(torch: Any) -> None:
    nn = torch.nn
    lstm, gru = nn.LSTM(3, 4, 2), nn.GRU(3, 4)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: lstm(torch.ones(2, 2, 2, 3)), ValueError, "LSTM: Expected input to be 2D or 3D, got 4D instead"),
        (lambda: lstm(torch.ones(2, 5)), RuntimeError, r"must be equal to input_size. Expected 3, got 5"),
        (
            lambda: lstm(torch.ones(2, 5, 3), (torch.ones(1, 5, 4), torch.ones(2, 5, 4))),
            RuntimeError,
            r"Expected hidden\[0\] size \(2, 5, 4\), got \[1, 5, 4\]",
        ),
        (
            lambda: lstm(torch.ones(2, 5, 3), torch.ones(2, 5, 4)),
            RuntimeError,
            r"For batched 3-D input, hx and cx should also be 3-D but got \(2-D, 2-D\) tensors",
        ),
        (lambda: gru(torch.ones(2, 5, 3), torch.ones(2, 5, 4)), RuntimeError, r"Expected hidden size \(1, 5, 4\)"),
        (lambda: gru(torch.ones(2, 5, 3, dtype=torch.float64)), ValueError, r"does not match weight dtype"),
        (lambda: gru(torch.ones(0, 5, 3)), RuntimeError, "Expected sequence length to be larger than 0"),
        (lambda: nn.RNN(3, 4, nonlinearity="foo"), ValueError, "Unknown nonlinearity 'foo'"),
        (lambda: nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero"),
        (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "proj_size argument is only supported for LSTM"),
        (lambda: nn.LSTMCell(3, 4)(torch.ones(2, 5)), RuntimeError, "got 5 expected 3"),
        (
            lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(1, 4)),
            RuntimeError,
            "Input batch size 2 doesn't match hidden0 batch size 1",
        ),
    ]
    for call, error, message in cases:
        with pytest.raises(error, match=message):
            call()
    with pytest.warns(UserWarning, match="non-zero dropout expects num_layers greater than 1"):
        nn.LSTM(3, 4, dropout=0.5)


def test_text_of_the_layers(torch: Any) -> None:
    layer = torch.nn.LSTM(3, 4, 2, batch_first=True, dropout=0.1, bidirectional=True)
    assert repr(layer) == "LSTM(3, 4, num_layers=2, batch_first=True, dropout=0.1, bidirectional=True)"
    assert repr(torch.nn.GRUCell(3, 4, bias=False)) == "GRUCell(3, 4, bias=False)"
    assert len(layer.all_weights) == 4 and len(layer.state_dict()) == 16


def test_a_sequence_is_learnt_with_one_compilation(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    build = pullback._Build
    monkeypatch.setattr(pullback, "_Build", lambda *args: made.append(args) or build(*args))  # type: ignore[func-returns-value]
    torch.manual_seed(1)
    wave = torch.sin(torch.arange(13) * 0.5).reshape(13, 1, 1)
    layer, head = torch.nn.GRU(1, 8), torch.nn.Linear(8, 1)
    optimizer = torch.optim.Adam([*layer.parameters(), *head.parameters()], lr=0.02)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(head(layer(wave[:-1])[0]), wave[1:])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.05 * losses[0] and len(made) == 1
