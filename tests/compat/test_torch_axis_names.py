"""`axis` for `dim`, and `keepdims` for `keepdim`: which functions and methods take them was seen in PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodiff_compiler.compat.operations import ROWS
from autodiff_compiler.compat.operations.signatures import parameters

# Functions that are methods too, with the other arguments of a call along axis 1 of a matrix.
KEEPING = ("sum", "mean", "prod", "amax", "amin", "max", "min", "logsumexp", "var", "std", "argmax", "argmin", "any",
           "all", "median")  # fmt: skip
ALONG: dict[str, str] = {
    **dict.fromkeys(("cumsum", "cumprod", "softmax", "log_softmax", "sort", "argsort", "squeeze", "unsqueeze"), ""),
    **dict.fromkeys(("unbind",), ""), "topk": "k=2", "gather": "index=places", "scatter": "index=places, src=x * 2",
    "scatter_add": "index=places, src=x * 2", "index_select": "index=numbers",
    "index_add": "index=numbers, source=x * 2", "narrow": "start=1, length=2", "select": "index=1", "chunk": "chunks=2",
    "take_along_dim": "indices=places", "repeat_interleave": "repeats=2",
}  # fmt: skip
JOINING = ("cat", "stack", "concat", "concatenate")
ELSEWHERE = ("special.softmax", "special.log_softmax", "special.logsumexp", "linalg.vector_norm", "linalg.norm")
# Those that are written in Python there, and so take the one name only.
STRICT = ("torch.norm(x, {})", "x.norm({})", "torch.split(x, 1, {})", "x.split(1, {})",
          "torch.nn.functional.softmax(x, {})", "torch.nn.functional.log_softmax(x, {})")  # fmt: skip

CALLS = [
    *[f"{start}{{}}, {{}}=True)" for name in KEEPING for start in (f"torch.{name}(x, ", f"x.{name}(")],
    *[f"{start}{more}{', ' * bool(more)}{{}})" for name, more in ALONG.items()
      for start in (f"torch.{name}(x, ", f"x.{name}(")],
    *[f"torch.{name}((x, x), {{}})" for name in JOINING], *[f"torch.{name}(x, {{}})" for name in ELSEWHERE],
    "torch.linalg.norm(x, {}, {}=True)", "x.size({})", "x.stride({})",
    "x.clone().scatter_(index=places, src=x * 2, {})", "x.clone().scatter_add_(index=places, src=x * 2, {})",
    "x.clone().index_add_(index=numbers, source=x * 2, {})",
]  # fmt: skip


def run(torch: Any, call: str, *names: str) -> Any:
    x = torch.tensor([[3.0, 1.0, 2.0], [0.5, 0.25, 4.0]], requires_grad=True)
    places, numbers = torch.tensor([[0, 2, 1], [1, 1, 0]]), torch.tensor([2, 0, 1])
    bound = {"torch": torch, "x": x.detach() > 1 if ".any(" in call or ".all(" in call else x}
    out = eval(call.format(*names), {**bound, "places": places, "numbers": numbers})
    return x, out


def plain(out: Any) -> Any:
    return [plain(part) for part in out] if isinstance(out, (tuple, list)) else np.asarray(getattr(out, "_value", out))


@pytest.mark.parametrize("call", CALLS)
def test_a_keyword_has_two_names(torch: Any, call: str) -> None:
    x, expected = run(torch, call, "dim=1", "keepdim")
    y, found = run(torch, call, "axis=1", "keepdims")
    assert str(plain(found)) == str(plain(expected)) and type(found) is type(expected)
    first, other = (out[0] if isinstance(out, tuple) else out for out in (expected, found))
    if getattr(first, "requires_grad", False):
        first.sum().backward()
        other.sum().backward()
        assert np.array_equal(x.grad._value, y.grad._value)
    with pytest.raises(TypeError, match="axis"):
        run(torch, call, "dim=1, axis=1", "keepdim")
    with pytest.raises(TypeError, match="axes"):
        run(torch, call, "axes=1", "keepdim")


@pytest.mark.parametrize("call", STRICT)
def test_what_is_written_in_python_takes_one_name(torch: Any, call: str) -> None:
    run(torch, call, "dim=1")
    with pytest.raises(TypeError, match="axis"):
        run(torch, call, "axis=1")


def test_a_name_is_refused_beside_the_place_that_it_names(torch: Any) -> None:
    with pytest.raises(TypeError, match="multiple values"):
        run(torch, "torch.sum(x, 0, {})", "axis=1")
    with pytest.raises(TypeError, match="keepdims"):
        run(torch, "torch.cumsum(x, 0, {})", "keepdims=True")


def test_each_row_that_has_a_dim_is_listed() -> None:
    listed = {*KEEPING, *ALONG, *ELSEWHERE, "norm", "nn.functional.softmax", "nn.functional.log_softmax"}
    for row in ROWS:
        if "torch" in row.places and {"dim", "keepdim"} & {name for name, _ in parameters(row.signature("torch"))}:
            places = {place.lstrip(".").rstrip("_").removeprefix("torch.") for place in row.names("torch")}
            assert places <= listed, places - listed
