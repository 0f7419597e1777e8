"""Attention and transformers, and layers that normalise: what the real PyTorch gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

CASES = {
    "attention": "nn.MultiheadAttention(4, 2, batch_first=True)(x, x, x)",
    "attention to others, batch second": "nn.MultiheadAttention(4, 2)(x, y, y)",
    "attention with masks": "nn.MultiheadAttention(4, 2, batch_first=True, bias=False)("
    "x, x, x, key_padding_mask=padding, attn_mask=later, average_attn_weights=False)",
    "attention without a batch": "nn.MultiheadAttention(4, 1)(x[0], y[0], y[0], attn_mask=added)",
    "encoder layer": "nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, dropout=0.0)(x)",
    "encoder layer, normalised first": "nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, dropout=0.0, "
    "norm_first=True, activation='gelu')(x, src_mask=nn.Transformer.generate_square_subsequent_mask(3).double())",
    "encoder": "nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, dropout=0.0), 2, "
    "nn.LayerNorm(4))(x, src_key_padding_mask=padding)",
    "decoder": "nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, batch_first=True, dropout=0.0), 2)("
    "x, y, tgt_mask=added)",
    "transformer": "nn.Transformer(4, 2, 1, 1, 6, dropout=0.0, batch_first=True)(x, y)",
    "InstanceNorm1d": "nn.InstanceNorm1d(3, affine=True)(x)",
    "InstanceNorm2d": "nn.InstanceNorm2d(2)(x.unsqueeze(0))",
    "RMSNorm": "nn.RMSNorm(4)(x)",
    "GroupNorm": "nn.GroupNorm(3, 3)(x)",
}


def waves(torch: Any, shape: Any, start: float) -> Any:
    n = int(np.prod(shape))
    return torch.sin(1.7 * torch.arange(n, dtype=torch.float64) + start).reshape(tuple(shape)).detach()


def results(torch: Any, text: str) -> list[float]:
    """The weighted sum of the results, and numbers of the gradients of the inputs and all parameters."""
    made, call = text.split(")(", 1) if ")(" in text else text.rsplit("(", 1)
    x, y = [waves(torch, (2, 3, 4), k).requires_grad_() for k in (0.3, 1.1)]
    later = torch.ones(3, 3).triu(1) > 0
    scope = {
        "nn": torch.nn, "x": x, "y": y, "later": later, "added": waves(torch, (3, 3), 0.0),
        "padding": torch.tensor([[False, False, True], [False, False, False]]),
    }  # fmt: skip
    module = eval(made + ")", scope).double()
    with torch.no_grad():
        for k, p in enumerate(module.parameters()):
            p.copy_(waves(torch, p.shape, k))
    scope["module"] = module
    out = eval(f"module({call}", scope)
    parts = [out] if isinstance(out, torch.Tensor) else [p for p in out if p is not None]
    loss = sum((p * waves(torch, p.shape, k)).sum() for k, p in enumerate(parts))
    leaves = [x, y, *module.parameters()]
    grads = torch.autograd.grad(loss, leaves, allow_unused=True)
    return [
        loss.item(),
        *[0.0 if g is None else (g * waves(torch, g.shape, k)).sum().item() for k, g in enumerate(grads)],
    ]


# What the real PyTorch gives.
EXPECTED: dict[str, list[float]] = {
    "attention": [
        1.6890895457191553,
        -2.3798056539950605,
        0.0,
        -7.773440797880397,
        -5.792688137650137,
        8.161922738375132,
        -6.979476704794938,
    ],
    "attention to others, batch second": [
        5.738016251430177,
        -0.09751488703869117,
        -0.5784368928382344,
        1.0639816903975774,
        -6.653164542649224,
        3.570831115286951,
        -6.979476704794939,
    ],
    "attention with masks": [-4.777918069408482, -7.805086057730917, 0.0, -1.978065068011522, 0.8374670455696505],
    "attention without a batch": [
        3.7371526655080958,
        0.038978924169490024,
        1.6819263073848103,
        -6.4881270565089855,
        -5.5759924771526785,
        1.2447355972199565,
        -0.9922178230261658,
    ],
    "encoder layer": [
        -8.250866380870187,
        -0.8235091174363632,
        0.0,
        1.1569867371666778,
        1.0436075948808412,
        0.042232748927837016,
        -1.0930575022718558,
        0.0,
        0.0,
        0.0,
        0.7649485137392459,
        2.195836205258669,
        -1.3952018614641803,
        -3.309213634542798,
        4.279919559688584,
    ],
    "encoder layer, normalised first": [
        46.65227697402773,
        11.813697039872478,
        0.0,
        -5.747893569471015,
        -5.843937787214141,
        -1.8719738268226118,
        -7.138333699522983,
        -6.501100936308457,
        -5.055070744989855,
        -7.705018596088473,
        2.065006877554792,
        0.5000428456913613,
        0.16318865992961373,
        -2.563793637124994,
        4.74522745029993,
    ],
    "encoder": [
        -0.10266603528888552,
        0.8176249506958934,
        0.0,
        0.9400579985458151,
        1.9071345898848957,
        -3.1945431977790566,
        1.4093438154282019,
        0.15286894574698578,
        -0.28260317202431373,
        0.14933659975935482,
        0.2830610875788595,
        0.6304601204896456,
        -0.47236755251069834,
        -0.4513917033491496,
        0.5726817073062627,
        0.3167052381229627,
        -0.3039912155455927,
        0.18037853128006381,
        -1.473161927262274,
        -2.92822381280728,
        0.5233369090101401,
        -1.4187842782122735,
        3.024389503455576,
        2.5369594571691088,
        5.785778492407451,
        2.185533340078133,
        1.0570263447265742,
        0.04722922405751806,
        6.949998238128104,
    ],
    "decoder": [
        -5.654483864183675,
        0.0028914467734287757,
        -0.1080889676785965,
        0.017104138000486355,
        0.013815871521071747,
        -0.021825914788868906,
        0.015455850354545188,
        -0.03570718558335084,
        -0.08595106580277785,
        0.19092214184563833,
        0.1060105457748647,
        0.1349111961577873,
        1.7827842190468903,
        -0.8842902301565939,
        -0.27245532101139264,
        0.04340577976922099,
        0.14862434519567863,
        0.33451414577433297,
        0.05332823846360645,
        0.04281281181340671,
        0.4400458328915261,
        -0.4448581904914407,
        0.6468310116990614,
        -0.34468014409832154,
        0.2816855653170821,
        -0.5724164328145043,
        -0.2346615898276252,
        0.26449702787180684,
        0.1593000658622187,
        -0.6160702852070208,
        1.554936000931454,
        -2.2934530781873423,
        -0.6679574164185877,
        0.07035865181450865,
        0.29011049182061277,
        0.6825237638140764,
        0.9646477207121332,
        5.529365606918481,
        -4.003000183935114,
    ],
    "transformer": [
        8.28966241110279,
        -0.02471810464468824,
        -1.1228152942653957,
        0.08522004851294898,
        0.08599830418029344,
        0.0931950998757237,
        -0.04552340097303942,
        0.0,
        0.0,
        0.0,
        0.20735383060875132,
        0.09246729443974297,
        -0.14656883308388474,
        0.16848422734242452,
        0.09807482000188203,
        0.5337315044244073,
        -1.6597521792957088,
        -0.12259281476945721,
        0.926196756974508,
        -0.6112997974697025,
        0.6515467566437941,
        1.26977395962135,
        1.2552062968814737,
        -1.0142012141850998,
        0.055090258584479246,
        2.889815434490727,
        2.0528456543139173,
        -1.0694924192465307,
        -2.411824813090864,
        0.8317642374723785,
        -0.09199332217260608,
        -1.8276006270451353,
        -5.084829542857633,
        2.9084624324891175,
        -1.243720095408686,
        -2.026487515415003,
        -4.3366226492661735,
    ],
    "InstanceNorm1d": [3.724180560435864, 0.3675739577205943, 0.0, -2.1215962042317, -0.24751754295961587],
    "InstanceNorm2d": [16.14549813244538, 1.481396451927715, 0.0],
    "RMSNorm": [-0.7242770781328041, -0.07210117790443382, 0.0, 1.2670584176773048],
    "GroupNorm": [3.724180560435864, 0.36757395772059487, 0.0, -2.1215962042317, -0.24751754295961587],
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_pytorch(torch: Any, name: str) -> None:
    np.testing.assert_allclose(results(torch, CASES[name]), EXPECTED[name], rtol=1e-7, atol=1e-9)


def test_text_and_parameters(torch: Any) -> None:
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    names = [n for n, _ in layer.named_parameters()]
    assert names[:4] == [
        "self_attn.in_proj_weight", "self_attn.in_proj_bias", "self_attn.out_proj.weight", "self_attn.out_proj.bias"
    ]  # fmt: skip
    assert names[-4:] == ["norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"] and len(names) == 12
    assert repr(layer.norm1) == "LayerNorm((8,), eps=1e-05, elementwise_affine=True, bias=True)"
    assert repr(nn.BatchNorm2d(3)) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"
    )
    assert repr(nn.GroupNorm(1, 2, affine=False)) == "GroupNorm(1, 2, eps=1e-05, affine=False, bias=False)"
    assert repr(nn.InstanceNorm2d(3)) == (
        "InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False)"
    )
    assert repr(nn.RMSNorm(4)) == "RMSNorm((4,), eps=None, elementwise_affine=True)"


def test_errors(torch: Any) -> None:
    nn, x = torch.nn, torch.ones(2, 3, 4)
    with pytest.raises(AssertionError, match="embed_dim must be divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(AssertionError, match="was expecting embedding dimension of 6, but got 4"):
        nn.MultiheadAttention(6, 2)(x, x, x)
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(4, 2, activation="tanh")
    with pytest.raises(RuntimeError, match="the feature number of src and tgt must be equal to d_model"):
        nn.Transformer(8, 2, 1, 1)(x, x)


def test_a_transformer_learns(torch: Any) -> None:
    torch.manual_seed(0)
    nn = torch.nn
    ids = torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    embed, head = nn.Embedding(6, 8), nn.Linear(8, 6)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    optimizer = torch.optim.Adam([*embed.parameters(), *layer.parameters(), *head.parameters()], lr=0.02)
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(head(layer(embed(ids))).reshape(-1, 6), ids.flip(1).reshape(-1))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]
