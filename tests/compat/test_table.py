"""The table of operations: each row gives functions in each system, with a name, a signature and a help text."""

from __future__ import annotations

import importlib
import inspect

import numpy as np
import pytest

from autodiff_compiler.compat import operations
from autodiff_compiler.compat.mxnet import creation as mx_made
from autodiff_compiler.compat.operations.row import ROWS, Row
from autodiff_compiler.compat.operations.signatures import function
from autodiff_compiler.compat.tensorflow import made as tf_made
from autodiff_compiler.compat.torch import made as torch_made

PACKAGE = "autodiff_compiler.compat"
PLACES = [(s, row, place) for row in ROWS for s in ("tensorflow", "torch") for place in row.names(s)]


def found(system: str, place: str):
    module, _, name = place.rpartition(".")
    if place.startswith("."):
        return getattr(importlib.import_module(f"{PACKAGE}.torch").Tensor, name)
    space = importlib.import_module(f"{PACKAGE}.{system}")
    for part in module.split("."):
        space = getattr(space, part) if part and part != system else space
    assert name in dir(space)
    return getattr(space, name)


@pytest.mark.parametrize(("system", "row", "place"), PLACES, ids=[f"{s} {p}" for s, _, p in PLACES])
def test_each_place_has_its_function(system: str, row: Row, place: str) -> None:
    f = found(system, place)
    name = place.rpartition(".")[2]
    assert f.__name__ == name
    if name.endswith("_") and not name.endswith("__"):
        assert "written into the memory" in f.__doc__
        return
    assert f.__doc__ == row.doc
    assert str(inspect.signature(f)) == f"({row.signature(system)})"


def test_no_name_stands_in_two_rows() -> None:
    for system in ("tensorflow", "torch", "mxnet"):
        places = [place for row in ROWS for place in row.names(system)]
        assert len(places) == len(set(places)), [p for p in places if places.count(p) > 1]


def test_names_of_tensorflow_mean_one_operation() -> None:
    """`made` finds rows by the last part of the name."""
    by_name: dict[str, Row] = {}
    for names in operations.entries("tensorflow").values():
        for name, row in names.items():
            assert by_name.setdefault(name, row) is row, name


CUBE_ROOT = Row(
    "function", np.cbrt, "Cbrt", "The cube root.", {"tensorflow": "math.cbrt", "torch": "cbrt", "mxnet": "npx.cbrt"}
)


def test_one_row_makes_an_operation_of_all_three(tf, torch) -> None:
    f = tf_made.operation(CUBE_ROOT, "cbrt")
    x = tf.Variable([8.0, 27.0])
    with tf.GradientTape() as tape:
        y = f(x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [1 / 12, 1 / 27], rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Value for attr 'T' of int32"):
        f(tf.constant([8]))

    g = torch_made.made(CUBE_ROOT, "cbrt")
    t = torch.tensor([8.0, 27.0], requires_grad=True)
    out = g(t)
    assert out.grad_fn.name() == "CbrtBackward0"
    out.sum().backward()
    np.testing.assert_allclose(t.grad.numpy(), [1 / 12, 1 / 27], rtol=1e-6)
    assert g(torch.tensor([8])).dtype == torch.float32

    from autodiff_compiler.compat.mxnet import autograd
    from autodiff_compiler.compat.mxnet import np as mnp

    h, a = mx_made.operation(CUBE_ROOT, "cbrt"), mnp.array([8.0, 27.0])
    a.attach_grad()
    with autograd.record():
        b = h(a)
    b.backward()
    np.testing.assert_allclose(a.grad.asnumpy(), [1 / 12, 1 / 27], rtol=1e-6)
    assert [k.__doc__ for k in (f, g, h)] == ["The cube root."] * 3


def test_a_made_function_refuses_arguments_as_any_other() -> None:
    f = function("half", "x, *, by=2, name=None", "return divide({all})", {"divide": lambda x, by: x / by}, "", "m")
    assert f(3) == 1.5 and f(x=3, by=3, name="n") == 1.0 and f.__module__ == "m" and f.__qualname__ == "half"
    with pytest.raises(TypeError, match=r"half\(\) missing 1 required positional argument: 'x'"):
        f()
    with pytest.raises(TypeError, match=r"half\(\) got an unexpected keyword argument 'axis'"):
        f(1, axis=0)


def required(f) -> int:
    """How many arguments a function needs."""
    return sum(p.default is p.empty for p in inspect.signature(f).parameters.values())


X, Y = np.array([[0.3, 0.8], [0.6, 0.4]]), np.array([[0.9, 0.5], [0.25, 0.7]])
OF_TWO = [
    (system, row)
    for row in ROWS
    for system in ("tensorflow", "torch")
    if row.names(system) and (row.kind in ("operator", "pair") or row.kind == "arrays" and row.operands == 2)
    if row.name != "Fill"  # its first operand is a shape
    if required(found(system, row.names(system)[0])) == 2
]


def of_two(system: str, row: Row):
    """The function of a row, on two matrices."""
    name = row.names(system)[0].rpartition(".")[2]
    f = tf_made.operation(row, name) if system == "tensorflow" else torch_made.made(row, name)
    if row.name in ("MatVec", "Mul", "BiasAdd") and row.kind == "arrays":
        return lambda a, b: f(a, b[0])
    return f


@pytest.mark.parametrize(("system", "row"), OF_TWO, ids=[f"{s} {r.names(s)[0]}" for s, r in OF_TWO])
@pytest.mark.parametrize("which", [0, 1])
def test_one_operand_may_be_a_constant(tf, torch, system: str, row: Row, which: int) -> None:
    """What only one operand is differentiated by must not be lost where the other is a plain value."""
    f = of_two(system, row)
    values = [X.copy(), Y.copy()]
    if system == "tensorflow":
        made = [tf.constant(v) for v in values]
        made[which] = x = tf.Variable(values[which])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(*made))
        g = tape.gradient(y, x)
        gradient = np.zeros((2, 2)) if g is None else np.asarray(g)
    else:
        made = [torch.tensor(v) for v in values]
        made[which] = x = torch.tensor(values[which], requires_grad=True)
        out = f(*made).sum()
        if out.requires_grad:
            out.backward()
        gradient = np.zeros((2, 2)) if x.grad is None else x.grad.numpy()

    def at(step: float, place: tuple[int, int]) -> float:
        moved = [v.copy() for v in values]
        moved[which][place] += step
        tensors = [tf.constant(v) if system == "tensorflow" else torch.tensor(v) for v in moved]
        return float(np.sum(f(*tensors).numpy()))

    expected = [[(at(1e-6, (i, j)) - at(-1e-6, (i, j))) / 2e-6 for j in range(2)] for i in range(2)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
