"""Random programs with PyTorch's interface: views, writes in place, detached values, modes, higher orders.

``python -m tests.compat.torch_programs --count 2000`` runs each with ours and with the real PyTorch, where it is
installed, and prints those that differ. A program is a list of lines; `run` executes it and gives what it showed or
raised.
"""

from __future__ import annotations

import argparse
import json
import random
import warnings
from pathlib import Path
from typing import Any

UNARY = ("exp", "sin", "tanh", "sigmoid", "relu", "abs", "square", "neg", "cos", "clone")
IN_PLACE = (
    "mul_(0.5)", "add_(1.0)", "zero_()", "exp_()", "relu_()", "tanh_()", "neg_()", "clamp_(-1.0, 1.0)", "fill_(0.3)",
    "sigmoid_()", "sub_(0.25)", "pow_(2)", "abs_()",
)  # fmt: skip
VIEWS = (
    "{}[1:]", "{}[:2]", "{}.view(-1)", "{}.reshape(-1)", "{}.flip(0)", "{}[::2]", "{}.unsqueeze(0).squeeze(0)",
    "{}.view(-1)[0:2]", "{}[[0, 1]]", "{}.detach()",
)  # fmt: skip
REDUCE = ("sum()", "mean()", "prod()", "norm()", "max()", "logsumexp(0)", "var()")


class Program:
    """Makes one: vectors of length 4 and 3, and parts of them."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names: list[str] = []
        self.leaves: list[str] = []
        self.written: list[str] = []  # what may be written to: no leaf that requires a gradient, and no view of one
        for k, n in enumerate((4, 4, 3)):
            values = [round(self.random.uniform(-2, 2), 2) for _ in range(n)]
            requires = self.random.random() < 0.8 or k == 0
            self.lines.append(f"x{k} = torch.tensor({values}, dtype=torch.float64, requires_grad={requires})")
            self.names.append(f"x{k}")
            (self.leaves if requires else self.written).append(f"x{k}")
        for k in range(self.random.randint(3, 12)):
            self.step(k)
        self.finish()

    def pick(self) -> str:
        # What was made last is taken more often.
        return self.random.choice(self.names[-4:] if self.random.random() < 0.6 else self.names)

    def new(self, expression: str, base: str = "") -> None:
        name = f"v{len(self.lines)}"
        if not base or base in self.written:
            self.written.append(name)
        self.lines.append(f"{name} = {expression}")
        self.names.append(name)

    def step(self, k: int) -> None:
        r, a, b = self.random.random(), self.pick(), self.pick()
        if 0.62 <= r < 0.89 or 0.96 <= r < 0.98:
            if self.random.random() < 0.97:
                if not self.written:
                    return
                a = self.random.choice(self.written)
        if r < 0.22:
            self.new(f"{a}.{self.random.choice(UNARY)}()")
        elif r < 0.45:
            self.new(f"{a}[:2] {self.random.choice('+-*')} {b}[:2]")
        elif r < 0.5:
            self.new(f"{a} {self.random.choice('+-*')} {self.random.choice(('2.0', '0.5', a))}")
        elif r < 0.62:
            self.new(self.random.choice(VIEWS).format(a), a)
        elif r < 0.76:
            self.lines.append(f"{a}.{self.random.choice(IN_PLACE)}")
        elif r < 0.82:
            index, value = (
                self.random.choice(("0", "1", "0:2", "[0, 1]")),
                self.random.choice(("2.0", "{}[0]", "{}[1]")),
            )
            self.lines.append(f"{a}[{index}] = {value.format(b)}")
        elif r < 0.86:
            self.lines.append(f"{a}[:2].{self.random.choice(('mul_', 'add_', 'copy_', 'sub_'))}({b}[:2])")
        elif r < 0.89:
            self.lines.append(f"with torch.no_grad(): {a}.{self.random.choice(IN_PLACE)}")
        elif r < 0.92:
            self.new(f"torch.cat([{a}, {b}])[:4]")
        elif r < 0.94:
            self.new(f"torch.where({a}[:2] > 0, {a}[:2], {b}[:2])")
        elif r < 0.96:
            self.lines.append(f"{a}.register_hook(lambda g: g * 2)")
        elif r < 0.98:
            self.lines.append(f"{a} {self.random.choice(('+=', '*=', '-='))} {self.random.choice(('2.0', b))}")
        else:
            self.new(f"torch.stack([{a}[0], {b}[1]])")

    def finish(self) -> None:
        loss = " + ".join(f"{self.pick()}.{self.random.choice(REDUCE)}" for _ in range(self.random.randint(1, 3)))
        self.lines.append(f"loss = {loss}")
        kind, leaves = self.random.random(), ", ".join(self.leaves)
        if kind < 0.5:
            self.lines.append("loss.backward()")
            if kind < 0.1:
                self.lines.append(f"{self.pick()}.sum().backward()")
        elif kind < 0.6:
            self.lines.append("loss.backward(retain_graph=True)")
            self.lines.append("loss.backward()")
        else:
            self.lines.append(f"gs = torch.autograd.grad(loss, [{leaves}], create_graph=True, allow_unused=True)")
            self.lines.append("second = sum((g * g).sum() for g in gs if g is not None)")
            self.lines.append(f"hs = torch.autograd.grad(second, [{leaves}], allow_unused=True)")
            self.lines.append("show(*gs); show(*hs)")
        self.lines.append("show(" + ", ".join(f"{x}.grad" for x in self.leaves) + ")")
        self.lines.append("show(" + ", ".join(self.names) + ")")


def run(torch: Any, lines: list[str]) -> tuple[list[Any], str]:
    """What a program shows, and the message of the error that ended it."""
    shown: list[Any] = []

    def show(*tensors: Any) -> None:
        shown.append([None if t is None else t.detach().tolist() for t in tensors])

    names = {"torch": torch, "show": show}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for line in lines:
                exec(line, names)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            return shown, f"{type(error).__name__}: {error}"
    return shown, ""


def close(a: Any, b: Any) -> bool:
    if a is None or b is None:
        # A gradient that is zero may be absent.
        return a is b or not any(_flat(b if a is None else a))
    if isinstance(a, list):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    return bool(a == b or (a != a and b != b) or abs(a - b) <= 1e-7 * max(abs(a), abs(b), 1e-3))


def _flat(a: Any) -> list[float]:
    return [x for item in a for x in _flat(item)] if isinstance(a, list) else [] if a is None else [a]


def record(real: Any, count: int) -> None:
    """Write the results of the first programs that the real one runs to their end without NaN."""
    kept: list[str] = []
    for seed in range(20 * count):
        shown, error = run(real, Program(seed).lines)
        numbers = [x for row in shown for t in row if t is not None for x in _flat(t)]
        if not error and all(abs(x) < 1e6 for x in numbers):
            kept.append(json.dumps([seed, shown]))
        if len(kept) == count:
            break
    path = Path(__file__).with_name("torch_programs.json")
    path.write_text("[\n" + ",\n".join(kept) + "\n]\n", encoding="utf-8")


def main() -> None:
    import torch as real

    from autodiff_compiler.compat import torch as ours

    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--record", type=int, default=0, help="write so many results to torch_programs.json")
    options = parser.parse_args()
    if options.record:
        record(real, options.record)
        return
    counts: dict[str, int] = {}
    for seed in range(options.first, options.first + options.count):
        lines = Program(seed).lines
        (expected, error), (found, mine) = run(real, lines), run(ours, lines)
        if error and mine:
            kind = "both raise"
        elif error:
            kind = "only the real one raises: " + error.split(":")[1][:60]
        elif mine:
            kind = "only ours raises: " + mine[:60]
        elif close(found, expected):
            kind = "equal"
        elif any(x != x for x in _flat([r for r in expected if r is not None] or [0]) if x is not None):
            kind = "differ where the real one has NaN"
        else:
            kind = "DIFFER"
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "DIFFER" or (kind.startswith("only ours") and counts[kind] <= 2):
            print(f"--- seed {seed}: {kind}", *lines, f"real {expected} {error}", f"ours {found} {mine}", sep="\n")
    for kind, n in sorted(counts.items()):
        print(f"{n:6d} {kind}")


if __name__ == "__main__":
    main()
