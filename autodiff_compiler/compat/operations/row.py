"""What a row of the table says, and where a system finds the rows that it is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

SYSTEMS = ("tensorflow", "torch", "mxnet")

# The parameters of an operation of each kind, where the row does not say others.
SIGNATURES: dict[str, tuple[str, str, str]] = {
    "function": ("x, name=None", "input", "data"),
    "root": ("x, name=None", "input", "data"),
    "step": ("x, name=None", "input", "data"),
    "plain": ("x, name=None", "input", "data"),
    "still": ("x, name=None", "input", "data"),
    "predicate": ("x, name=None", "input", "data"),
    "operator": ("x, y, name=None", "input, other", "lhs, rhs"),
    "pair": ("x, y, name=None", "input, other", "lhs, rhs"),
    "comparison": ("x, y, name=None", "input, other", "lhs, rhs"),
    "logical": ("x, y, name=None", "input, other", "lhs, rhs"),
    "reduction": (
        "input_tensor, axis=None, keepdims=False, name=None",
        "input, dim=None, keepdim=False, *, dtype=None",
        "",
    ),
    "truth": ("input_tensor, axis=None, keepdims=False, name=None", "input, dim=None, keepdim=False", ""),
    "activation": ("features, name=None", "input", "data"),
    "index": ("input, axis=None, output_type=None, name=None", "input, dim=None, keepdim=False", ""),
    "running": ("x, axis=0, exclusive=False, reverse=False, name=None", "input, dim, *, dtype=None", ""),
    "along": ("logits, axis=None, name=None", "input, dim=None, dtype=None", "data, axis=-1"),
    "creation": (
        "shape, dtype='float32', name=None, layout=None",
        "*size, dtype=None, **options",
        "shape, dtype=None, order='C', ctx=None",
    ),
    "new": ("", "", ""),
    "likeness": ("input, dtype=None, name=None, layout=None", "input, *, dtype=None, **options", "a, dtype=None"),
    "elements": ("", "input, other", ""),
    "view": ("", "input", ""),
    "arrays": ("input, name=None", "input", "data"),
}


@dataclass(frozen=True, eq=False)
class Row:
    """One operation in all systems.

    - kind: how the arguments become arrays, a key of `SIGNATURES`.
    - function: what computes it, of arrays.
    - name: what the systems call it in graphs and messages.
    - doc: what `help` says.
    - places: for each system, the names with their modules, and the parameters where they are not those of the kind.
    - own: for a system with other values or slopes than the rest, its computing function.
    - integers: what they become in PyTorch, "float" or "keep". TensorFlow refuses them where NumPy would change the
      dtype, and for "refuse"; a step function lets them pass for "pass".
    - operands: how many of the first parameters are tensors; -1 if the first is a list of them.
    - module: of an activation, the name of the module in PyTorch.
    - results: for a system, the name of the tuple of several results, and the names of its fields.
    - numpy_names: whether PyTorch takes `axis` for `dim` and `keepdims` for `keepdim`. It does so in all functions that
      are not written in Python, such as those of ``nn.functional``.
    - refused: what TensorFlow says of a matrix that NumPy refuses.
    """

    kind: str
    function: Callable[..., Any]
    name: str
    doc: str
    places: Mapping[str, str]
    own: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    integers: str = "float"
    operands: int = 1
    module: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    numpy_names: bool = True
    refused: str = ""

    def computes(self, system: str) -> Callable[..., Any]:
        """The computing function in a system."""
        return self.own.get(system, self.function)

    def names(self, system: str) -> list[str]:
        """The names in a system, with their modules: ``["exp", "math.exp"]``."""
        return self.places.get(system, "").partition("(")[0].split()

    def signature(self, system: str) -> str:
        """The parameters in a system.

        >>> Row("function", abs, "Abs", "", {"torch": "abs"}).signature("torch")
        'input'
        """
        _, given, text = self.places[system].partition("(")
        return text.rstrip()[:-1] if given else SIGNATURES[self.kind][SYSTEMS.index(system)]


ROWS: list[Row] = []


def row(
    kind: str, function: Callable[..., Any], name: str, doc: str, tensorflow: str = "", torch: str = "",
    mxnet: str = "", **options: Any,
) -> None:  # fmt: skip
    """Add an operation to the table: the arguments are the fields of `Row`, and its places in the systems."""
    places = {"tensorflow": tensorflow, "torch": torch, "mxnet": mxnet}
    ROWS.append(Row(kind, function, name, doc, {s: text for s, text in places.items() if text}, **options))
