"""The table that `Model.summary` prints: layers, shapes of their results, numbers of their weights."""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any

from ....tape.nest import flatten, map_nested
from .functional import Graph

if TYPE_CHECKING:
    from .layer import Layer


def table(model: Any, line_length: int | None = None) -> str:
    """The lines of the summary."""
    graph: Graph | None = model._graph
    branched = graph is not None and not _in_a_line(graph)
    wide, places = (108, (0.3, 0.56, 0.74, 1.0)) if branched else (88, (0.45, 0.8, 1.0))
    length = line_length or min(wide, shutil.get_terminal_size().columns - 4)
    rows = [["Layer (type)", "Output Shape", "Param #", "Connected to"][: len(places)]]
    for layer in model.layers:
        count = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
        row = [f"{layer.name} ({type(layer).__name__})", _shape(layer), count]
        rows.append([*row, _connections(graph, layer)] if branched and graph is not None else row)
    out = [f'Model: "{model.name}"', *_drawn(rows, _widths(length, places))]
    trained, others = model.trainable_variables, model.non_trainable_variables
    optimizer = model.optimizer.variables if model.optimizer is not None and model.optimizer.built else []
    out += [
        f" Total params: {_size([*trained, *others, *optimizer])}", f" Trainable params: {_size(trained)}",
        f" Non-trainable params: {_size(others)}",
    ]  # fmt: skip
    return "\n".join(out + ([f" Optimizer params: {_size(optimizer)}"] if optimizer else []))


def _in_a_line(graph: Graph) -> bool:
    """Whether each call takes the one result of the call before it."""
    used = [x for node in graph.nodes for x in node.needs()]
    ends = len(flatten(graph.inputs)) == len(flatten(graph.outputs)) == 1
    return ends and all(len(n.needs()) == 1 for n in graph.nodes) and len({id(x) for x in used}) == len(used)


def _shape(layer: Layer) -> str:
    """The shape of what the layer gave."""
    found = layer._symbols[1] if layer._symbols is not None else layer._result
    if found is None:
        return "?"
    shapes = map_nested(lambda x: f"({', '.join(str(n) for n in tuple(x.shape))})", found)
    return str(shapes if isinstance(shapes, str) else shapes[0] if len(shapes) == 1 else shapes).replace("'", "")


def _connections(graph: Graph, layer: Layer) -> str:
    def name(x: Any) -> str:
        calls = [n.serial for n in graph.nodes if n.layer is x.node.layer] or [x.node.serial]
        return f"{x.node.layer.name}[{calls.index(x.node.serial)}][{x.place}]"

    return ", ".join(name(x) for n in graph.nodes if n.layer is layer for x in n.needs()) or "-"


def _widths(length: int, places: tuple[float, ...]) -> list[int]:
    """The widths of the columns, which together with the borders make up the line."""
    ends = [0, *[int(p * length) for p in places]]
    widths = [b - a + 2 for a, b in zip(ends, ends[1:])]  # noqa: RUF007
    excess = sum(widths) - (length - len(widths) - 1)
    for k in range(len(widths)):
        cut = round(excess / (len(widths) - k))
        widths[k] -= cut
        excess -= cut
    if min(widths) < 4:
        raise ValueError("Insufficient console width to print summary.")
    return [w - 2 for w in widths]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + (word if len(word) <= width else word[: width - 1] + "…")
    return lines


def _drawn(rows: list[list[str]], widths: list[int]) -> list[str]:
    def rule(left: str, line: str, middle: str, right: str) -> str:
        return left + middle.join(line * (w + 2) for w in widths) + right

    out = [rule("┏", "━", "┳", "┓")]
    for k, row in enumerate(rows):
        side = "│" if k else "┃"
        cells = [_wrapped(text, w) for text, w in zip(row, widths)]
        for j in range(max(len(c) for c in cells)):
            parts = [c[j] if j < len(c) else "" for c in cells]
            padded = [f"{p:>{w}}" if i == 2 else f"{p:{w}}" for i, (p, w) in enumerate(zip(parts, widths))]
            out.append(side + side.join(f" {p} " for p in padded) + side)
        if k < len(rows) - 1:
            out.append(rule("├", "─", "┼", "┤") if k else rule("┡", "━", "╇", "┩"))
    return [*out, rule("└", "─", "┴", "┘")]


def _size(variables: Any) -> str:
    """How many numbers these are, and how much memory they take."""
    count = sum(math.prod(tuple(v.shape)) for v in variables)
    size = float(sum(v.numpy().nbytes for v in variables))
    unit = 0
    while size >= 1024:
        size /= 1024
        unit += 1
    return f"{count:,} ({size:.2f} {['B', 'KB', 'MB', 'GB', 'TB'][unit]})"
