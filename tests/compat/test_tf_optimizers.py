"""Optimizers and schedules of learning rates: three steps each, with the numbers of the real ones."""

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
    ("Adam", {"amsgrad": True}, [0.7560561895, 1.7560567856, 2.8680942059, 3.8680946827, 4.7076849937, 5.7076849937]),
    ("RMSprop", {}, [0.3808811307, 1.3808815479, 2.6837723255, 3.6837723255, 4.1389951706, 5.1389951706]),
    ("RMSprop", {"momentum": 0.9, "centered": True},
     [-0.2314733267, 0.7685282230, 2.3666667938, 3.3666667938, 3.2040848732, 4.2040848732]),
    ("AdamW", {}, [0.7549299598, 1.7537310123, 2.8644969463, 3.8632974625, 4.7018060684, 5.7006068230]),
    ("Adagrad", {}, [0.8102562428, 1.8224585056, 2.9012269974, 3.9046537876, 4.7503614426, 5.7503614426]),
    ("Adamax", {}, [0.8057208061, 1.8057208061, 2.9141247272, 3.9141247272, 4.7546806335, 5.7546806335]),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "options", "after"), AFTER, ids=[f"{c}-{'-'.join(o)}" for c, o, _ in AFTER])
def test_three_steps(tf: ModuleType, cls: str, options: dict[str, Any], after: list[float]) -> None:
    v = tf.Variable(START)
    optimizer = getattr(tf.keras.optimizers, cls)(0.1, **options)
    for g in GRADIENTS:
        optimizer.apply_gradients([(tf.constant(g), v)])
    np.testing.assert_allclose(v.numpy().ravel(), after, rtol=3e-6)
    assert optimizer.iterations.numpy() == 3 and v.dtype == tf.float32


@pytest.mark.parametrize(
    ("options", "a", "b"),
    [
        ({"clipnorm": 0.5}, [0.9776393, 1.9552786], [2.99]),
        ({"clipvalue": 0.3}, [0.97, 1.97], [2.99]),
        ({"global_clipnorm": 0.5}, [0.97766167, 1.9553233], [2.9977663]),
        ({"weight_decay": 0.1}, [0.89, 1.78], [2.96]),
    ],
)
def test_what_happens_to_gradients_first(
    tf: ModuleType, options: dict[str, float], a: list[float], b: list[float]
) -> None:
    first, second = tf.Variable([1.0, 2.0]), tf.Variable([3.0])
    optimizer = tf.keras.optimizers.SGD(0.1, **options)
    optimizer.apply_gradients([(tf.constant([1.0, 2.0]), first), (tf.constant([0.1]), second)])
    np.testing.assert_allclose(first.numpy(), a, rtol=1e-6)
    np.testing.assert_allclose(second.numpy(), b, rtol=1e-6)


STEPS = (0, 3, 5, 6, 10, 15, 30)
RATES: list[tuple[str, tuple[Any, ...], dict[str, Any], list[float]]] = [
    ("ExponentialDecay", (0.1, 10, 0.5), {}, [0.1, 0.08122524, 0.07071068, 0.06597539, 0.05, 0.03535534, 0.0125]),
    ("ExponentialDecay", (0.1, 10, 0.5), {"staircase": True}, [0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.0125]),
    ("PiecewiseConstantDecay", ([5, 10], [1.0, 0.5, 0.1]), {}, [1.0, 1.0, 1.0, 0.5, 0.5, 0.1, 0.1]),
    ("PolynomialDecay", (0.1, 10, 0.01), {"power": 2.0}, [0.1, 0.0541, 0.0325, 0.0244, 0.01, 0.01, 0.01]),
    ("PolynomialDecay", (0.1, 10, 0.01), {"cycle": True}, [0.1, 0.073, 0.055, 0.046, 0.01, 0.0325, 0.01]),
    ("InverseTimeDecay", (0.1, 10, 0.5), {},
     [0.1, 0.08695652, 0.08, 0.07692308, 0.06666667, 0.05714286, 0.04]),
    ("CosineDecay", (0.1, 20), {"alpha": 0.1}, [0.1, 0.09509529, 0.08681981, 0.08145034, 0.055, 0.0231802, 0.01]),
    ("CosineDecay", (0.1, 20), {"warmup_target": 0.5, "warmup_steps": 5},
     [0.1, 0.34, 0.5, 0.49692208, 0.42677671, 0.25, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("cls", "args", "options", "rates"), RATES, ids=[f"{c}-{'-'.join(o)}" for c, _, o, _ in RATES])
def test_schedules(
    tf: ModuleType, cls: str, args: tuple[Any, ...], options: dict[str, Any], rates: list[float]
) -> None:
    schedule = getattr(tf.keras.optimizers.schedules, cls)(*args, **options)
    np.testing.assert_allclose([float(schedule(k)) for k in STEPS], rates, rtol=1e-5, atol=1e-9)
    assert schedule(3).dtype == tf.float32


def test_a_schedule_is_the_learning_rate(tf: ModuleType) -> None:
    optimizer = tf.keras.optimizers.SGD(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5))
    v = tf.Variable([1.0, 2.0])
    assert float(optimizer.learning_rate) == pytest.approx(0.1)
    optimizer.apply_gradients([(tf.ones(2), v)])
    assert float(optimizer.learning_rate) == pytest.approx(0.05)
    optimizer.apply_gradients([(tf.ones(2), v)])
    np.testing.assert_allclose(v.numpy(), [0.85, 1.85], rtol=1e-6)
    with pytest.raises(TypeError, match="created with a `LearningRateSchedule`"):
        optimizer.learning_rate = 0.1


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
    ("options", "message"),
    [
        ({"momentum": 2.0}, "`momentum` must be a float between"),
        ({"learning_rate": "x"}, "`learning_rate` should be float"),
        ({"lr": 0.1}, "not recognized"),
        ({"clipnorm": 1.0, "clipvalue": 2.0}, "Only one of `clipnorm`"),
    ],
)
def test_arguments_that_are_refused(tf: ModuleType, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
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
            self.assign_add(total, gradient)
            self.assign_sub(variable, learning_rate * total)

    v = tf.Variable([1.0, 2.0])
    optimizer = Heavy()
    for _ in range(2):
        optimizer.apply_gradients([(tf.ones(2), v)])
    np.testing.assert_allclose(v.numpy(), [0.7, 1.7], rtol=1e-6)


def test_optimizers_by_name(tf: ModuleType) -> None:
    assert type(tf.keras.optimizers.get("adam")).__name__ == "Adam"
    with pytest.raises(ValueError, match="Could not interpret optimizer identifier: foo"):
        tf.keras.optimizers.get("foo")


CONSTRAINTS: list[tuple[str, list[float]]] = [
    ("None", [1.5, -3.5, -3.5, 0.5]),
    ("'non_neg'", [1.5, 0.0, 0.0, 0.5]),
    ("tf.keras.constraints.MaxNorm(2.0)", [0.7878386, -1.9798989, -1.8382901, 0.2828427]),
    ("tf.keras.constraints.UnitNorm(axis=1)", [0.3939193, -0.9191450, -0.9899494, 0.1414213]),
    ("tf.keras.constraints.MinMaxNorm(0.5, 2.0, rate=0.5)", [1.1439192, -2.7399495, -2.6691450, 0.3914213]),
]


@pytest.mark.parametrize(("constraint", "after"), CONSTRAINTS)
def test_constraints(tf: ModuleType, constraint: str, after: list[float]) -> None:
    layer = tf.keras.layers.Dense(2, use_bias=False, kernel_constraint=eval(constraint, {"tf": tf}))
    layer.build((None, 2))
    layer.set_weights([np.array([[2.0, -3.0], [-3.0, 1.0]])])
    tf.keras.optimizers.SGD(0.5).apply_gradients([(tf.ones((2, 2)), layer.kernel)])
    np.testing.assert_allclose(layer.kernel.numpy().ravel(), after, rtol=2e-6)
