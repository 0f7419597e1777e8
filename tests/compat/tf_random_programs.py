"""Random programs with TensorFlow's tape, with the results of the real one.

python -m tests.compat.tf_random_programs --count 400 --seed 1 FILE.json writes programs with their results (needs
tensorflow), and with --check compares ours. test_tf_random_programs.py has those of tf_random_programs.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from typing import Any

import numpy as np

UNARY = [
    "tf.sin({x})", "tf.tanh({x})", "tf.exp(-tf.square({x}))", "tf.sigmoid({x})", "tf.nn.relu({x})", "tf.abs({x})",
    "tf.square({x})", "-{x}", "{x} * {c}", "{c} - {x}", "{x} + {c}", "{x} ** 2", "{x} ** 3.0", "tf.nn.softplus({x})",
    "tf.nn.elu({x})", "tf.sqrt(tf.square({x}) + 0.5)", "tf.math.log(tf.abs({x}) + 1.0)",
    "1.0 / (1.5 + tf.square({x}))", "tf.nn.softmax({x})", "tf.nn.log_softmax({x})", "tf.reduce_sum({x})",
    "tf.reduce_mean({x})", "tf.reduce_max({x})", "tf.reduce_min({x})", "tf.reduce_prod({x})",
    "tf.reduce_sum({x}, axis=0)", "tf.reduce_mean({x}, axis=-1)", "tf.reduce_max({x}, axis=0)",
    "tf.reduce_sum({x}, axis=-1, keepdims=True)", "tf.reduce_logsumexp({x}, axis=-1)", "tf.norm({x} + 2.0)",
    "tf.math.reduce_variance({x})", "tf.transpose({x})", "tf.reshape({x}, [-1])", "tf.expand_dims({x}, 0)",
    "tf.expand_dims({x}, -1)", "tf.squeeze({x})", "{x}[0]", "{x}[-1]", "{x}[::-1]", "{x}[..., 1:]",
    "{x}[..., tf.newaxis]", "{x}[:, 0]", "tf.cumsum({x})", "tf.concat([{x}, {x} * 2.0], 0)",
    "tf.stack([{x}, {x} + 1.0])", "tf.stack([{x}, {x} * {x}], axis=-1)", "tf.tile({x}, [2])",
    "tf.repeat({x}, 2, axis=0)", "tf.reverse({x}, [0])", "tf.roll({x}, 1, axis=0)", "tf.pad({x}, [[1, 0]])",
    "tf.gather({x}, [0, 0, 1])", "tf.gather({x}, [1, 0], axis=-1)", "tf.clip_by_value({x}, -0.5, 0.8)",
    "tf.where({x} > 0.1, {x}, 0.3 * {x})", "tf.sort({x})", "tf.split({x}, 3)[1]", "tf.unstack({x})[0]",
    "tf.stop_gradient({x})", "tf.identity({x})", "tf.cast({x}, tf.float64)",
    "tf.cast(tf.cast({x}, tf.float32), tf.float64)", "tf.cast(tf.cast({x}, tf.int32), tf.float64)", "tf.round({x})",
    "tf.sign({x})", "tf.zeros_like({x})", "tf.constant({x}.numpy())", "np.exp({x})", "tf.clip_by_norm({x}, 1.0)",
    "tf.linalg.diag({x})", "tf.linalg.trace({x} @ tf.transpose({x}))",
    "tf.linalg.inv({x} @ tf.transpose({x}) + 2.0 * tf.eye({x}.shape[0], dtype=tf.float64))",
    "tf.linalg.det({x} @ tf.transpose({x}) + 2.0 * tf.eye({x}.shape[0], dtype=tf.float64))",
    "tf.linalg.l2_normalize({x} + 2.0)", "tf.scatter_nd([[2], [0]], {x}[:2], [4])", "tf.broadcast_to({x}, [2, 3])",
    "tf.boolean_mask({x}, {x} > 0.0)", "tf.einsum('ij->ji', {x})", "tf.math.cumprod({x})", "tf.math.erf({x})",
    "scaled({x})", "helper({x})", "tf.recompute_grad(helper)({x})", "compiled({x})",
    "tf.linalg.matvec({x}, tf.ones({x}.shape[-1], tf.float64))",
]  # fmt: skip

BINARY = [
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / (2.0 + tf.square({y}))", "tf.maximum({x}, {y})",
    "tf.minimum({x}, {y})", "{x} @ {y}", "tf.matmul({x}, {y}, transpose_b=True)", "tf.tensordot({x}, {y}, 1)",
    "tf.math.squared_difference({x}, {y})", "tf.concat([{x}, {y}], axis=0)", "tf.concat([{x}, {y}], -1)",
    "tf.stack([{x}, {y}])", "tf.where({x} > {y}, {x}, {y})", "tf.add_n([{x}, {y}, {x}])",
    "tf.einsum('ij,jk->ik', {x}, {y})", "tf.pow(tf.abs({x}) + 0.5, {y})", "tf.atan2({x}, {y} + 3.0)",
    "tf.linalg.solve({x} @ tf.transpose({x}) + tf.eye({x}.shape[0], dtype=tf.float64), {y})",
    "tf.tensor_scatter_nd_add({x}, [[0]], {y}[:1])", "tf.multiply({x}, {y})", "{x} % (1.0 + tf.abs({y}))",
    "tf.nn.softmax_cross_entropy_with_logits(labels=tf.nn.softmax({x}), logits={y})",
]  # fmt: skip

HELPERS = {
    "scaled": """
@tf.custom_gradient
def scaled(x):
    return x * 2.0, lambda dy: dy * tf.sin(x)
""",
    "helper": """
def helper(x):
    return x * tf.tanh(x) + 0.5
""",
    "compiled": """
@tf.function
def compiled(x):
    return tf.sin(x) * x - 0.25
""",
}
SHAPES: list[tuple[int, ...]] = [(), (3,), (3,), (2, 3), (3, 2), (3, 3), (2, 1), (1, 3)]


class Writer:
    """Writes one program, trying each statement with the real TensorFlow before it goes in."""

    def __init__(self, seed: int, tf: Any) -> None:
        self.random = random.Random(seed)
        self.tf = tf
        self.names: dict[str, Any] = {"tf": tf, "np": np}
        self.lines: list[str] = []
        self.tensors: list[str] = []
        self.variables: list[str] = []
        self.count = 0
        for helper in HELPERS.values():
            exec(helper, self.names)

    def add(self, line: str, indent: int = 0) -> None:
        self.lines.append("    " * indent + line)

    def statement(self, indent: int) -> bool:
        r = self.random
        pool = self.tensors + self.variables
        recent = pool[-6:]
        x, y = r.choice(r.choice([pool, recent, recent[-2:]])), r.choice(r.choice([pool, recent]))
        template = r.choice(UNARY if r.random() < 0.6 else BINARY)
        source = template.format(x=x, y=y, c=round(r.uniform(0.3, 2.0), 2))
        if ("repeat" in source or "reverse" in source) and not self.names[x].shape.rank:
            return False
        if "entropy" in source and self.names[x].shape != self.names[y].shape:
            return False
        try:
            value = eval(source, self.names)
            numbers = np.asarray(value)
        except Exception:
            return False
        usable = isinstance(value, (self.tf.Tensor, np.ndarray)) and numbers.dtype == np.float64
        if not usable or not 0 < numbers.size <= 24 or numbers.ndim > 3:
            return False
        if not np.isfinite(numbers).all() or np.abs(numbers).max() > 50:
            return False
        name = f"t{self.count}"
        self.count += 1
        if not isinstance(value, self.tf.Tensor):
            source, value = f"tf.constant({source})", self.tf.constant(value)
        self.names[name] = value
        self.tensors.append(name)
        self.add(f"{name} = {source}", indent)
        return True

    def statements(self, number: int, indent: int) -> None:
        done = 0
        for _ in range(200):
            done += self.statement(indent)
            if done == number:
                return

    def sources(self) -> list[str]:
        for k in range(self.random.randint(2, 4)):
            shape = self.random.choice(SHAPES)
            drawn = [self.random.choice([-1, 1]) * self.random.uniform(0.05, 1.5) for _ in range(int(np.prod(shape)))]
            value = np.round(np.array(drawn), 2).reshape(shape).tolist()
            kind = self.random.random()
            if kind < 0.6:
                line, name = f"v{k} = tf.Variable({value}, dtype=tf.float64)", f"v{k}"
                self.variables.append(name)
            elif kind < 0.7:
                line, name = f"v{k} = tf.Variable({value}, dtype=tf.float64, trainable=False)", f"v{k}"
                self.variables.append(name)
            else:
                line, name = f"x{k} = tf.constant({value}, tf.float64)", f"x{k}"
                self.tensors.append(name)
            exec(line, self.names)
            self.add(line)
        return self.tensors + self.variables

    def inside(self, tape: str, indent: int, persistent: bool, nested: bool) -> None:
        """A few statements and what a user does with a tape between them."""
        r = self.random
        for name in list(self.tensors):
            if r.random() < 0.6:
                self.add(f"{tape}.watch({name})", indent)
        self.statements(r.randint(2, 6), indent)
        for _ in range(r.randint(0, 3)):
            what = r.random()
            if what < 0.2:
                self.add(f"with {tape}.stop_recording():", indent)
                before = len(self.lines)
                self.statements(r.randint(1, 2), indent + 1)
                if len(self.lines) == before:
                    self.add("pass", indent + 1)
            elif what < 0.35 and self.variables:
                name = r.choice(self.variables)
                changes = ["assign({0} * 0.5)", "assign_add(tf.ones_like({0}))", "assign_sub(0.1 * {0})"]
                change = f"{name}." + r.choice(changes).format(name)
                exec(change, self.names)
                self.add(change, indent)
            elif what < 0.45 and self.tensors:
                self.add(f"{tape}.watch({r.choice(self.tensors)})", indent)
            elif what < 0.5:
                self.add(f"{tape}.reset()", indent)
                for name in self.tensors[:2]:
                    self.add(f"{tape}.watch({name})", indent)
            elif what < 0.65 and nested:
                self.derivative(indent)
            elif what < 0.75:
                self.add(f"for _ in range({r.randint(1, 3)}):", indent)
                name = r.choice(self.tensors or self.variables)
                new = f"t{self.count}"
                self.count += 1
                self.lines.insert(-1, "    " * indent + f"{new} = {name} * 1.0")
                self.add(f"    {new} = tf.sin({new}) * 1.5 + {new}", indent)
                self.names[new] = self.names[name] * 1.0
                self.tensors.append(new)
            self.statements(r.randint(1, 3), indent)

    def derivative(self, indent: int) -> None:
        """An inner tape, whose gradient is used as a tensor."""
        r = self.random
        source = r.choice(self.tensors + self.variables)
        inner = f"inner{self.count}"
        self.add(f"with tf.GradientTape() as {inner}:", indent)
        self.add(f"{inner}.watch({source})", indent + 1)
        before = len(self.tensors)
        kept = self.tensors, self.variables
        self.statements(r.randint(1, 4), indent + 1)
        made = self.tensors[before:]
        name = f"t{self.count}"
        self.count += 1
        target = made[-1] if made else source
        self.add(f"{name} = {inner}.gradient({target}, {source}, unconnected_gradients='zero')", indent)
        self.names[name] = self.tf.identity(self.names[source])
        self.tensors.append(name)

    def write(self) -> str:
        r = self.random
        self.sources()
        persistent = r.random() < 0.4
        watching = ", watch_accessed_variables=False" if r.random() < 0.15 else ""
        self.add(f"with tf.GradientTape(persistent={persistent}{watching}) as tape:")
        self.inside("tape", 1, persistent, nested=True)
        pool = self.tensors + self.variables
        made = [name for name in self.tensors if name.startswith("t")]
        lines = []
        for _ in range(2 if persistent else 1):
            targets = [r.choice((made or pool)[-3:]) for _ in range(r.choice([1, 1, 1, 2]))]
            sources = [r.choice(pool) for _ in range(r.randint(1, 4))]
            sources += [name for name in self.variables if name not in sources]
            if r.random() < 0.2:
                others = [name for name in sources if name != targets[0]] or self.variables[:1] or self.tensors[:1]
                lines.append(f"tape.jacobian({targets[0]}, [{', '.join(others)}])")
            else:
                zero = r.choice(["", "", ", unconnected_gradients='zero'"])
                target = targets[0] if len(targets) == 1 else f"[{', '.join(targets)}]"
                lines.append(f"tape.gradient({target}, [{', '.join(sources)}]{zero})")
        self.add(f"result = [{', '.join(lines)}]")
        program = "\n".join(self.lines) + "\n"
        used = [helper for name, helper in HELPERS.items() if f"{name}(" in program or f"({name})" in program]
        return "".join(used) + program


def run(tf: Any, program: str) -> list[list[Any]]:
    """The results of a program, as nested lists of numbers, None, and the number of dimensions before."""
    names: dict[str, Any] = {"tf": tf, "np": np}
    exec(program, names)
    return [[None if g is None else np.asarray(tf.convert_to_tensor(g)) for g in group] for group in names["result"]]


def differences(expected: list[list[Any]], found: list[list[Any]]) -> str | None:
    for group, other in zip(expected, found):
        for want, got in zip(group, other):
            if (want is None) != (got is None):
                return f"{'None' if got is None else got.tolist()} instead of {want}"
            if want is None:
                continue
            wanted = np.array(want[1], np.float64).reshape(want[0])
            if got.shape != wanted.shape:
                return f"shape {got.shape} instead of {wanted.shape}"
            if not np.allclose(got, wanted, rtol=1e-6, atol=1e-8, equal_nan=True):
                return f"{got.tolist()} instead of {wanted.tolist()}"
    return None


def rounded(array: np.ndarray) -> list[float]:
    return [float(f"{n:.10g}") for n in array.reshape(-1).tolist()]


def record(count: int, seed: int, file: str) -> None:
    import tensorflow as tf

    entries: list[dict[str, Any]] = []
    while len(entries) < count:
        seed += 1
        program = Writer(seed, tf).write()
        try:
            result = run(tf, program)
        except Exception as error:
            print(f"{seed}: {type(error).__name__} {str(error)[:150]}", file=sys.stderr)
            continue
        tensors = [g for group in result for g in group if g is not None]
        if not tensors or not all(np.isfinite(g).all() and np.abs(g).max(initial=0) < 1e6 for g in tensors):
            continue
        plain = [[None if g is None else [list(g.shape), rounded(g)] for g in group] for group in result]
        entries.append({"seed": seed, "program": program, "result": plain})
    with open(file, "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(e, separators=(",", ":")) for e in entries) + "\n]\n")


def check(tf: Any, file: str) -> None:
    with open(file) as handle:
        entries = json.load(handle)
    wrong = 0
    for entry in entries:
        try:
            problem = differences(entry["result"], run(tf, entry["program"]))
        except Exception as error:
            problem = f"{type(error).__name__}: {str(error)[:200]}"
        if problem:
            wrong += 1
            print(f"--- {entry['seed']}: {problem}\n{entry['program']}")
    print(f"{wrong} of {len(entries)} differ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        from autodiff_compiler.compat import tensorflow as ours

        check(ours, options.file)
    else:
        record(options.count, options.seed, options.file)


if __name__ == "__main__":
    main()
