"""Random use of tapes against a model: a list of operations for each tape, replayed backwards, as TensorFlow does it.

The model knows nothing of recordings, slots or compiled pullbacks: each tape has its own list, an operation is put on
it if one of its inputs is tracked there, and a gradient is made of operations that open tapes see.
"""

from __future__ import annotations

import random
from contextlib import ExitStack

import numpy as np
import pytest

import autodiff_compiler as ad


class World:
    def __init__(self):
        self.tapes = []


class Tensor:
    def __init__(self, world, value):
        self.world, self.value = world, value


def op(world, value, inputs, back):
    out = Tensor(world, value)
    for tape in world.tapes:
        if any(id(x) in tape.tracked for x in inputs):
            tape.ops.append((inputs, out, back))
            tape.tracked[id(out)] = out
    return out


def add(w, x, y):
    return op(w, x.value + y.value, [x, y], lambda g: [g, g])


def mul(w, x, y):
    return op(w, x.value * y.value, [x, y], lambda g: [mul(w, g, y), mul(w, g, x)])


def sin(w, x):
    return op(w, np.sin(x.value), [x], lambda g: [mul(w, g, cos(w, x))])


def cos(w, x):
    return op(w, np.cos(x.value), [x], lambda g: [mul(w, g, neg(w, sin(w, x)))])


def neg(w, x):
    return op(w, -x.value, [x], lambda g: [neg(w, g)])


class Variable:
    def __init__(self, world, value):
        self.world, self.value = world, value

    def read(self):
        out = Tensor(self.world, self.value)
        for tape in self.world.tapes:
            if tape.auto or id(self) in tape.tracked:
                tape.tracked[id(self)] = self
                tape.ops.append(([self], out, lambda g: [g]))
                tape.tracked[id(out)] = out
        return out


class Tape:
    """The model of a persistent tape."""

    def __init__(self, world, auto):
        self.world, self.auto = world, auto
        self.ops, self.tracked = [], {}

    def gradient(self, target, sources):
        found = {id(target): Tensor(self.world, np.ones_like(target.value))} if id(target) in self.tracked else {}
        for inputs, out, back in reversed(list(self.ops)):
            g = found.get(id(out))
            if g is None or not self._leads(out, sources):
                continue
            for x, part in zip(inputs, back(g)):
                if id(x) in self.tracked:
                    found[id(x)] = add(self.world, found[id(x)], part) if id(x) in found else part
        return [found.get(id(s)) for s in sources]

    def _leads(self, out, sources):
        """Between the sources and here lies something: TensorFlow leaves out what nothing was asked for."""
        wanted = {id(s) for s in sources}
        for inputs, result, _ in self.ops:
            if any(id(x) in wanted for x in inputs):
                wanted.add(id(result))
        return id(out) in wanted


class Both:
    """Does the same thing in the model and with the real tapes."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.world = World()
        rng = np.random.default_rng(seed)
        self.variables = []
        for _ in range(2):
            value = rng.uniform(-1, 1, 3)
            self.variables.append((Variable(self.world, value), ad.Variable(value)))
        self.tensors = []
        for _ in range(2):
            value = rng.uniform(-1, 1, 3)
            self.tensors.append((Tensor(self.world, value), ad.constant(value)))
        self.tapes = []  # (model, real, nesting level at which it was opened)
        self.rng = rng
        self.checks = 0

    def operand(self):
        if self.r.random() < 0.3:
            v, real = self.r.choice(self.variables)
            return v.read(), real
        return self.r.choice(self.tensors[-6:] if self.r.random() < 0.7 else self.tensors)

    def operate(self):
        kind = self.r.choice(["add", "mul", "mul", "sin", "neg"])
        x, real_x = self.operand()
        if kind in ("add", "mul"):
            y, real_y = self.operand()
            out = (add if kind == "add" else mul)(self.world, x, y)
            real = real_x + real_y if kind == "add" else real_x * real_y
        else:
            out = (sin if kind == "sin" else neg)(self.world, x)
            real = np.sin(real_x) if kind == "sin" else -real_x
        np.testing.assert_allclose(out.value, real.numpy(), rtol=1e-9, atol=1e-9)
        self.tensors.append((out, real))

    def gradient(self):
        if not self.tapes:
            return
        model, real = self.r.choice(self.tapes)
        known = [t for t in self.tensors if id(t[0]) in model.tracked]
        target, real_target = self.r.choice(known[-4:] if known and self.r.random() < 0.9 else self.tensors[-5:])
        likely = [*known[:6], *[v for v in self.variables if id(v[0]) in model.tracked]]
        picked = [
            self.r.choice(likely if likely and self.r.random() < 0.8 else self.tensors + self.variables)
            for _ in range(self.r.randint(1, 3))
        ]
        want = model.gradient(target, [s for s, _ in picked])
        got = real.gradient(real_target, [s for _, s in picked])
        for k, (a, b) in enumerate(zip(want, got)):
            if a is None and picked[k][0] is target:
                continue  # the target as a source: ones, although no tape knows it
            assert (a is None) == (b is None), f"source {k}: {a} {b}"
            if a is not None:
                np.testing.assert_allclose(b.numpy(), a.value, rtol=1e-9, atol=1e-9)
                self.checks += 1
                if self.r.random() < 0.4 and np.abs(a.value).max() < 50:
                    self.tensors.append((a, b))

    def block(self, depth):
        for _ in range(self.r.randint(2, 7)):
            what = self.r.random()
            if what < 0.55 or depth > 3:
                self.operate()
            elif what < 0.68:
                auto = self.r.random() < 0.7
                model, real = Tape(self.world, auto), ad.GradientTape(persistent=True, watch_accessed_variables=auto)
                self.tapes.append((model, real))
                with real:
                    self.world.tapes.append(model)
                    self.block(depth + 1)
                    self.world.tapes.remove(model)
            elif what < 0.76 and self.world.tapes:
                model = self.r.choice(self.world.tapes)
                real = next(t for m, t in self.tapes if m is model)
                x, real_x = self.r.choice(self.tensors + self.variables)
                model.tracked[id(x)] = x
                real.watch(real_x)
            elif what < 0.84 and self.world.tapes:
                model = self.r.choice(self.world.tapes)
                real = next(t for m, t in self.tapes if m is model)
                with ExitStack() as stack:
                    stack.enter_context(real.stop_recording())
                    self.world.tapes.remove(model)
                    self.block(depth + 1)
                self.world.tapes.append(model)
            elif what < 0.88 and self.tapes and depth < 3:
                model, real = self.r.choice(self.tapes)
                if model not in self.world.tapes:
                    with real:  # entered again
                        self.world.tapes.append(model)
                        self.block(depth + 1)
                        self.world.tapes.remove(model)
            elif what < 0.92:
                v, real = self.r.choice(self.variables)
                v.value = self.rng.uniform(-1, 1, 3)
                real.assign(v.value)
            elif what < 0.94 and self.world.tapes:
                model = self.r.choice(self.world.tapes)
                model.ops, model.tracked = [], {}
                next(t for m, t in self.tapes if m is model).reset()
            else:
                self.gradient()


@pytest.mark.parametrize("group", range(10))
def test_tapes_behave_as_the_model(group):
    checks = 0
    for seed in range(group * 20, group * 20 + 20):
        both = Both(seed)
        for _ in range(3):
            both.block(0)
        for _ in range(8):
            both.gradient()
        checks += both.checks
    assert checks > 50
