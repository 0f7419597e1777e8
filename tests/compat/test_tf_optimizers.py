"""Optimizers: three steps each, with the numbers of the real ones."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

START = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
GRADIENTS = [
    [[1.0, 0.5], [0.0, 0.0], [0.5, 0.5]],
    [[0.0, 0.0], [2.0, 1.0], [1.0, 1.0]],
    [[3.0, 1.5], [0.0, 0.0], [1.5, 1.5]],
]
AFTER: list[tuple[str, dict[str, Any], list[float]]] = [
    ("SGD", {}, [0.5999999642, 1.8000000716, 2.7999999523, 3.9000000954, 4.6999998093, 5.6999998093]),
    ("SGD", {"momentum": 0.9}, [0.4289999902, 1.7145000696, 2.6199998856, 3.8100001812, 4.5244998932, 5.5244998932]),
    ("SGD", {"momentum": 0.9, "nesterov": True},
     [0.0861000419, 1.5430499315, 2.4579999447, 3.7289998531, 4.2720503807, 5.2720503807]),
    ("Adam", {}, [0.7560226917, 1.7560232878, 2.8680655956, 3.8680658340, 4.7076849937, 5.7076849937]),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "options", "after"), AFTER, ids=[f"{c}-{'-'.join(o)}" for c, o, _ in AFTER])
def test_three_steps(tf: ModuleType, cls: str, options: dict[str, Any], after: list[float]) -> None:
    v = tf.Variable(START)
    optimizer = getattr(tf.keras.optimizers, cls)(0.1, **options)
    for g in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(g), v)])
    np.testing.assert_allclose(v.numpy().ravel(), after, rtol=3e-6)
    assert optimizer.iterations.numpy() == 3 and v.dtype == tf.float32


def test_the_learning_rate_may_be_set(tf: ModuleType) -> None:
    optimizer = tf.keras.optimizers.SGD(0.1)
    v = tf.Variable([1.0])
    optimizer.learning_rate = 0.5
    optimizer.apply_gradients([(tf.ones(1), v)])
    optimizer.learning_rate.assign(0.25)
    optimizer.apply_gradients([(tf.ones(1), v)])
    assert v.numpy().tolist() == [0.25]


def test_variables_have_their_paths(tf: ModuleType) -> None:
    optimizer = tf.keras.optimizers.Adam(name="adam")
    v = tf.Variable([1.0], name="v")
    optimizer.apply_gradients([(tf.ones(1), v)])
    paths = ["adam/iteration", "adam/learning_rate", "adam/v_0_momentum", "adam/v_0_velocity"]
    assert [x.path for x in optimizer.variables] == paths


def test_gradients_that_are_not_there(tf: ModuleType) -> None:
    optimizer = tf.keras.optimizers.SGD(0.1)
    v, w = tf.Variable([1.0]), tf.Variable([2.0])
    with pytest.warns(UserWarning, match="Gradients do not exist for variables"):
        optimizer.apply_gradients([(tf.ones(1), v), (None, w)])
    assert v.numpy()[0] == pytest.approx(0.9) and w.numpy()[0] == 2.0
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.apply_gradients([(None, v)])


def test_a_variable_that_is_new(tf: ModuleType) -> None:
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.apply_gradients([(tf.ones(1), tf.Variable([1.0]))])
    with pytest.raises(ValueError, match="Unknown variable"):
        optimizer.apply_gradients([(tf.ones(1), tf.Variable([1.0]))])


def test_a_gradient_of_another_shape(tf: ModuleType) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes must be equal"):
        tf.keras.optimizers.SGD(0.1).apply_gradients([(tf.ones(3), tf.Variable([1.0, 2.0]))])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"momentum": 2.0}, ValueError, "`momentum` must be a float between"),
        ({"learning_rate": "x"}, ValueError, "`learning_rate` should be float"),
        ({"lr": 0.1}, TypeError, "unexpected keyword argument 'lr'"),
        ({"clipnorm": 1.0}, TypeError, "unexpected keyword argument 'clipnorm'"),
    ],
)
def test_arguments_that_are_refused(
    tf: ModuleType, options: dict[str, Any], error: type[Exception], message: str
) -> None:  # fmt: skip
    with pytest.raises(error, match=message):
        tf.keras.optimizers.SGD(**options)


def test_an_optimizer_of_ones_own(tf: ModuleType) -> None:
    class Heavy(tf.keras.optimizers.Optimizer):
        def __init__(self, learning_rate: float = 0.1):
            super().__init__(learning_rate=learning_rate, name="heavy")

        def build(self, variables: Any) -> None:
            super().build(variables)
            self.sums = [self.add_variable_from_reference(reference_variable=v, name="sum") for v in variables]

        def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
            total = self.sums[self._get_variable_index(variable)]
            total.assign_add(gradient)
            variable.assign_sub(learning_rate * total)

    v = tf.Variable([1.0, 2.0])
    optimizer = Heavy()
    for _ in range(2):
        optimizer.apply_gradients([(tf.ones(2), v)])
    np.testing.assert_allclose(v.numpy(), [0.7, 1.7], rtol=1e-6)
