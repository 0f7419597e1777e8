"""TensorFlow's custom gradients, recomputation, and the registry of gradients."""

from __future__ import annotations

import numpy as np
import pytest


def gradient(tf, function, value=3.0):
    x = tf.Variable(value)
    with tf.GradientTape() as tape:
        y = function(x)
    return tape.gradient(y, x)


def second(tf, function, value):
    x = tf.Variable(value)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = function(x)
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


# ------------------------------------------------------------------------------------------------------ custom_gradient


def test_the_gradient_function_replaces_the_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    assert float(gradient(tf, f)) == 100.0


def test_the_value_is_that_of_the_function(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 100.0

    assert float(f(tf.constant(3.0))) == 9.0
    assert type(f(tf.constant(3.0))).__name__ == "EagerTensor"


def test_operations_inside_are_not_recorded(tf):
    inner = []

    @tf.custom_gradient
    def f(x):
        inner.append(x * 2.0)
        return inner[0] * 3.0, lambda dy: dy * 100.0

    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
    assert float(tape.gradient(y, x)) == 100.0
    assert tape.gradient(y, inner[0]) is None


def test_the_identity_with_its_own_gradient(tf):
    @tf.custom_gradient
    def f(x):
        return x, lambda dy: dy * 9.0

    assert float(gradient(tf, f)) == 9.0


def test_a_gradient_that_is_clipped_on_its_way(tf):
    @tf.custom_gradient
    def clip_gradients(y):
        def backward(dy):
            return tf.clip_by_norm(dy, 0.5)

        return y, backward

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        output = clip_gradients(v * v)
    assert float(tape.gradient(output, v)) == 2.0


def test_the_upstream_gradient_arrives(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def backward(dy):
            seen.append(dy)
            return dy

        return x * 1.0, backward

    gradient(tf, lambda x: f(x) * [2.0, 5.0])
    assert float(seen[0]) == 7.0


def test_the_gradient_function_runs_at_gradient_time_and_once(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        def backward(dy):
            calls.append("backward")
            return dy

        calls.append("forward")
        return x * 1.0, backward

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = f(x)
    assert calls == ["forward"]
    tape.gradient(y, x)
    assert calls == ["forward", "backward"]


def test_the_gradient_function_does_not_run_off_the_path(tf):
    calls = []

    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda dy: calls.append(dy)

    x, other = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        f(x)
        y = other * other
    assert float(tape.gradient(y, other)) == 8.0
    assert calls == []


def test_without_a_tape_it_is_the_function(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: dy

    assert float(f(tf.Variable(3.0))) == 6.0
    assert float(f(3.0)) == 6.0


def test_several_arguments(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, dy * 100.0)

    x, y = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        z = f(x, y)
    assert [float(g) for g in tape.gradient(z, [x, y])] == [10.0, 100.0]


def test_the_same_argument_twice_sums(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy * 10.0, dy * 100.0)

    assert float(gradient(tf, lambda x: f(x, x))) == 110.0


def test_several_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return (x * 1.0, x * 2.0), lambda da, db: da * 10.0 + db * 100.0

    assert float(gradient(tf, lambda x: f(x)[0] + f(x)[1] * 0.5)) == 60.0


def test_an_unused_output_gets_a_zero(tf):
    seen = []

    @tf.custom_gradient
    def f(x):
        def backward(da, db):
            seen.extend([da, db])
            return da * 10.0 + tf.reduce_sum(db) * 100.0

        return (x * 1.0, tf.stack([x, x])), backward

    assert float(gradient(tf, lambda x: f(x)[0])) == 10.0
    assert float(seen[0]) == 1.0
    assert seen[1].numpy().tolist() == [0.0, 0.0]


def test_a_dict_of_outputs(tf):
    @tf.custom_gradient
    def f(x):
        return {"b": x * 2.0, "a": x * 3.0}, lambda *upstream: upstream[0] * 10.0 + upstream[1] * 100.0

    outputs = f(tf.constant(1.0))
    assert {key: float(value) for key, value in outputs.items()} == {"b": 2.0, "a": 3.0}
    assert sorted([float(gradient(tf, lambda x: f(x)["a"])), float(gradient(tf, lambda x: f(x)["b"]))]) == [10.0, 100.0]


def test_the_outputs_of_a_dict_come_in_the_order_of_its_sorted_keys(tf):
    @tf.custom_gradient
    def f(x):
        return {"b": x * 2.0, "a": x * 3.0}, lambda a, b: a * 10.0 + b * 100.0

    assert float(gradient(tf, lambda x: f(x)["a"])) == 10.0
    assert float(gradient(tf, lambda x: f(x)["b"])) == 100.0


def test_a_list_as_an_argument(tf):
    @tf.custom_gradient
    def f(values):
        return values[0] * values[1], lambda dy: (dy * 10.0, dy * 100.0)

    x, y = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        z = f([x, y])
    assert [float(g) for g in tape.gradient(z, [x, y])] == [10.0, 100.0]


def test_a_gradient_of_none(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (None, dy * 5.0)

    x, y = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        z = f(x, y)
    gradients = tape.gradient(z, [x, y])
    assert gradients[0] is None
    assert float(gradients[1]) == 5.0


def test_a_gradient_of_none_alone(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: None

    assert gradient(tf, f) is None


def test_a_gradient_of_none_beside_another_path(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: None

    assert float(gradient(tf, lambda x: f(x) + x * 7.0)) == 7.0


def test_keyword_arguments_work(tf):
    @tf.custom_gradient
    def f(x, scale=1.0):
        return x * scale, lambda dy: dy * scale

    assert float(gradient(tf, lambda x: f(x, scale=5.0))) == 5.0


def test_keyword_arguments_get_no_gradient(tf):
    @tf.custom_gradient
    def f(x, *, y):
        return x * y, lambda dy: dy

    x, y = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        z = f(x, y=y * 1.0)
    gradients = tape.gradient(z, [x, y])
    assert float(gradients[0]) == 1.0
    assert gradients[1] is None


def test_an_argument_that_is_a_python_number(tf):
    @tf.custom_gradient
    def f(x, n):
        return x * n, lambda dy: (dy * n, None)

    assert float(gradient(tf, lambda x: f(x, 3.0))) == 3.0


def test_it_keeps_the_name_of_the_function(tf):
    @tf.custom_gradient
    def f(x):
        """Says what it does."""
        return x, lambda dy: dy

    assert f.__name__ == "f"
    assert f.__doc__ == "Says what it does."


def test_it_decorates_methods(tf):
    class Scale:
        factor = 5.0

        @tf.custom_gradient
        def apply(self, x):
            return x * 2.0, lambda dy: dy * self.factor

    assert float(gradient(tf, Scale().apply)) == 5.0


def test_log1pexp_stays_finite(tf):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(upstream):
            return upstream * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    assert float(gradient(tf, log1pexp, 100.0)) == 1.0
    first, derivative = second(tf, log1pexp, 1.0)
    assert float(first) == pytest.approx(0.73105858)
    assert float(derivative) == pytest.approx(0.19661194)


# --------------------------------------------------------------------------------------------------------- wrong counts


def test_no_gradient_returned(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0, lambda dy: []

    with pytest.raises(ValueError) as caught:
        gradient(tf, f)
    assert str(caught.value) == "custom_gradient function expected to return 1 gradients, but returned 0 instead."


def test_too_few_gradients_returned(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: dy

    with pytest.raises(ValueError) as caught:
        gradient(tf, lambda x: f(x, x))
    assert str(caught.value) == "custom_gradient function expected to return 2 gradients, but returned 1 instead."


def test_too_many_gradients_returned(tf):
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda dy: (dy, dy, dy)

    with pytest.raises(ValueError, match="expected to return 2 gradients, but returned 3 instead"):
        gradient(tf, lambda x: f(x, x))


def test_a_function_without_a_gradient_function(tf):
    @tf.custom_gradient
    def f(x):
        return x * 2.0

    with pytest.raises((TypeError, ValueError)):
        gradient(tf, f)


def test_an_exception_in_the_gradient_function_propagates(tf):
    @tf.custom_gradient
    def f(x):
        def backward(dy):
            raise ZeroDivisionError("mine")

        return x * 2.0, backward

    with pytest.raises(ZeroDivisionError, match="mine"):
        gradient(tf, f)


# --------------------------------------------------------------------------------------------------- captured variables


def capturing(tf, v, backward):
    @tf.custom_gradient
    def f(x):
        return x * v, backward

    return f


def test_captured_variables_need_the_argument_variables(tf):
    v = tf.Variable(2.0)
    f = capturing(tf, v, lambda dy: dy)
    with pytest.raises(TypeError) as caught:
        gradient(tf, f)
    assert "grad_fn must accept keyword argument 'variables', since function uses variables" in str(caught.value)


def test_captured_variables_are_handed_over(tf):
    v, x, handed = tf.Variable(2.0), tf.Variable(3.0), []

    def backward(dy, variables=None):
        handed.append(variables)
        return dy * 7.0, [dy * 5.0]

    with tf.GradientTape() as tape:
        y = capturing(tf, v, backward)(x)
    assert [float(g) for g in tape.gradient(y, [x, v])] == [7.0, 5.0]
    assert len(handed[0]) == 1 and handed[0][0] is v


def test_captured_variables_are_watched(tf):
    v, x = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        capturing(tf, v, lambda dy, variables=None: (dy, [dy]))(x)
    assert [variable.ref() for variable in tape.watched_variables()] == [v.ref(), x.ref()]


@pytest.mark.parametrize("count", [0, 2])
def test_a_wrong_number_of_gradients_for_variables(tf, count):
    v = tf.Variable(2.0)
    f = capturing(tf, v, lambda dy, variables=None: (dy, [dy] * count))
    with pytest.raises(ValueError, match="Must return gradient for each variable from @custom_gradient grad_fn"):
        gradient(tf, f)


def test_a_variable_that_is_an_argument_is_not_captured(tf):
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * 11.0

    with tf.GradientTape() as tape:
        y = f(v)
    assert float(tape.gradient(y, v)) == 11.0


# -------------------------------------------------------------------------------------------------------- higher orders


def test_outer_tapes_differentiate_the_gradient_function(tf):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x**2

    first, derivative = second(tf, cube, 3.0)
    assert [float(first), float(derivative)] == [27.0, 18.0]


def test_outer_tapes_see_what_the_gradient_function_says_not_what_is_true(tf):
    @tf.custom_gradient
    def f(x):
        return x * x, lambda dy: dy * tf.sin(x)

    first, derivative = second(tf, f, 0.5)
    assert float(first) == pytest.approx(np.sin(0.5))
    assert float(derivative) == pytest.approx(np.cos(0.5))


def test_a_variable_read_only_in_the_gradient_function(tf):
    v, x = tf.Variable(2.0), tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return x * 1.0, lambda dy: dy * v

    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        first = inner.gradient(y, x)
    gradients = outer.gradient(first, [x, v])
    assert float(first) == 2.0
    assert gradients[0] is None and float(gradients[1]) == 1.0


def test_a_custom_gradient_inside_another(tf):
    @tf.custom_gradient
    def inner(x):
        return x * 2.0, lambda dy: dy * 10.0

    @tf.custom_gradient
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        derivative = tape.gradient(y, x)
        return y, lambda dy: dy * derivative * 3.0

    assert float(gradient(tf, outer)) == 30.0


# ----------------------------------------------------------------------------------------- recompute_grad, pass through


def test_recompute_grad_calls_once_forward_and_once_backward(tf):
    calls = []

    def f(x):
        calls.append("f")
        return tf.sin(x) * 2.0

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.recompute_grad(f)(x)
    assert calls == ["f"]
    assert float(tape.gradient(y, x)) == pytest.approx(2 * np.cos(3.0))
    assert calls == ["f", "f"]


def test_recompute_grad_keeps_the_function(tf):
    def f(x):
        return x * 2.0

    assert tf.recompute_grad(f).__wrapped__ is f


def test_recompute_grad_with_captured_variables(tf):
    v, x = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.recompute_grad(lambda x: tf.sin(x) * v)(x)
    gradients = tape.gradient(y, [x, v])
    assert [float(g) for g in gradients] == pytest.approx([2 * np.cos(3.0), np.sin(3.0)], rel=1e-5)


def test_grad_pass_through(tf):
    x = tf.Variable(2.7)
    with tf.GradientTape() as tape:
        y = tf.grad_pass_through(tf.round)(x) * 5.0
    assert float(y) == 15.0
    assert float(tape.gradient(y, x)) == 5.0


# ------------------------------------------------------------------------------------------------------------- registry


def contrast(tf):
    """A tape over an operation without a gradient, its arguments, and its result."""
    image, delta = tf.Variable([[[0.5, 0.0, 0.0]]]), tf.Variable(0.1)
    with tf.GradientTape(persistent=True) as tape:
        result = tf.image.adjust_contrast(image, delta)
        total = tf.reduce_sum(result) * delta
        beside = image * 2.0
    return tape, image, delta, result, total, beside


def test_the_value_of_adjust_contrast(tf):
    image = tf.constant([[[0.5, 0.0]], [[1.0, 0.5]]])
    np.testing.assert_allclose(tf.image.adjust_contrast(image, 2.0).numpy(), [[[0.25, -0.25]], [[1.25, 0.75]]])


def test_an_operation_without_a_gradient_on_the_path(tf):
    tape, image, delta, result, _, _ = contrast(tf)
    with pytest.raises(LookupError) as caught:
        tape.gradient(result, [image, delta])
    assert str(caught.value) == "gradient registry has no entry for: AdjustContrastv2"
    assert type(caught.value) is LookupError


def test_an_operation_without_a_gradient_further_up(tf):
    tape, image, _, _, total, _ = contrast(tf)
    with pytest.raises(LookupError, match="gradient registry has no entry for: AdjustContrastv2"):
        tape.gradient(total, image)


def test_an_operation_without_a_gradient_off_the_path(tf):
    tape, image, _, _, _, beside = contrast(tf)
    assert tape.gradient(beside, image).numpy().tolist() == [[[2.0, 2.0, 2.0]]]


def test_an_operation_without_a_gradient_that_no_watched_value_enters(tf):
    other = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.image.adjust_contrast([[[0.5, 0.0, 0.0]]], 0.1)) * other
    assert float(tape.gradient(y, other)) == pytest.approx(0.5)


def test_register_gradient_cures_it(fresh):
    printed = fresh("""
        @tf.RegisterGradient("AdjustContrastv2")
        def adjust_contrast(op, grad):
            image, factor = op.inputs
            print(type(image).__name__, float(factor))
            return grad * factor, None

        image, delta = tf.Variable([[[0.5, 0.0, 0.0]]]), tf.Variable(0.25)
        with tf.GradientTape() as tape:
            result = tf.image.adjust_contrast(image, delta)
        gradients = tape.gradient(result, [image, delta])
        print(gradients[0].numpy().tolist(), gradients[1])
        """)
    assert printed.splitlines()[-2:] == ["EagerTensor 0.25", "[[[0.25, 0.25, 0.25]]] None"]


def test_registering_twice(fresh):
    printed = fresh("""
        @tf.RegisterGradient("Mine")
        def first(op, grad):
            return grad

        try:
            tf.RegisterGradient("Mine")(first)
        except KeyError as error:
            print("KeyError", error)
        """)
    assert "Registering two gradient with name 'Mine'!" in printed.splitlines()[-1]


def test_register_gradient_returns_the_function(fresh):
    printed = fresh("""
        def first(op, grad):
            return grad

        print(tf.RegisterGradient("Mine")(first) is first)
        """)
    assert printed.splitlines()[-1] == "True"


@pytest.mark.parametrize("op_type", [5, None, 2.5], ids=repr)
def test_register_gradient_of_what_is_no_string(tf, op_type):
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(op_type)


def test_no_gradient_gives_none(fresh):
    printed = fresh("""
        tf.no_gradient("AdjustContrastv2")
        image, delta = tf.Variable([[[0.5, 0.0, 0.0]]]), tf.Variable(0.1)
        with tf.GradientTape() as tape:
            result = tf.image.adjust_contrast(image, delta)
        print(tape.gradient(result, [image, delta]))
        """)
    assert printed.splitlines()[-1] == "[None, None]"


def test_no_gradient_of_what_is_no_string(tf):
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.no_gradient(3)


def test_arguments_come_as_they_are(tf):
    seen = []

    @tf.custom_gradient
    def f(x, y):
        seen.append((x, y))
        return x * y, lambda dy: (dy * 2.0, dy)

    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        z = f(v, 3)
    assert seen[0][0] is v and seen[0][1] == 3
    assert z.numpy().tolist() == [3.0, 6.0]
    assert tape.gradient(z, v).numpy().tolist() == [2.0, 2.0]
