"""TensorFlow's GradientTape.gradient: what may be a target or a source, and how the result is arranged."""

from __future__ import annotations

import collections

import numpy as np
import pytest

Pair = collections.namedtuple("Pair", "first second")
REFUSED = (AttributeError, TypeError, ValueError)


def product(tf, persistent=False, watch=True):
    """A tape with a * b on it, for a = 3 and b = 4."""
    a, b = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape(persistent=persistent) as tape:
        if watch:
            tape.watch([a, b])
        y = a * b
    return tape, a, b, y


# ----------------------------------------------------------------------------------------- the structure of the sources


def test_one_source_gives_one_gradient(tf):
    tape, a, _, y = product(tf)
    assert isinstance(tape.gradient(y, a), tf.Tensor)


def test_a_list_of_sources_gives_a_list(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, [a, b])
    assert type(gradients) is list
    assert [float(g) for g in gradients] == [4.0, 3.0]


def test_a_tuple_of_sources_gives_a_tuple(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, (a, b))
    assert type(gradients) is tuple
    assert [float(g) for g in gradients] == [4.0, 3.0]


def test_a_list_of_one_source_gives_a_list_of_one(tf):
    tape, a, _, y = product(tf)
    gradients = tape.gradient(y, [a])
    assert type(gradients) is list and len(gradients) == 1


def test_a_dict_of_sources_gives_a_dict(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, {"b": b, "a": a})
    assert type(gradients) is dict
    assert {key: float(g) for key, g in gradients.items()} == {"a": 4.0, "b": 3.0}


def test_an_ordered_dict_of_sources_gives_an_ordered_dict_in_its_order(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, collections.OrderedDict([("z", a), ("a", b)]))
    assert type(gradients) is collections.OrderedDict
    assert list(gradients) == ["z", "a"]
    assert float(gradients["z"]) == 4.0


def test_a_named_tuple_of_sources_gives_a_named_tuple(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, Pair(a, b))
    assert type(gradients) is Pair
    assert float(gradients.first) == 4.0 and float(gradients.second) == 3.0


def test_nested_sources(tf):
    tape, a, b, y = product(tf, persistent=True)
    gradients = tape.gradient(y, {"l": [a, (b,)], "d": {"p": Pair(b, a)}, "e": []})
    assert type(gradients["l"]) is list and type(gradients["l"][1]) is tuple and type(gradients["d"]["p"]) is Pair
    assert float(gradients["l"][0]) == 4.0
    assert float(gradients["l"][1][0]) == 3.0
    assert float(gradients["d"]["p"].first) == 3.0
    assert gradients["e"] == []


@pytest.mark.parametrize("empty", [[], (), {}], ids=repr)
def test_empty_sources(tf, empty):
    tape, _, _, y = product(tf)
    gradients = tape.gradient(y, empty)
    assert gradients == empty and type(gradients) is type(empty)


def test_none_in_the_result_keeps_its_place(tf):
    tape, a, b, y = product(tf)
    unconnected = tf.constant(1.0)
    gradients = tape.gradient(y, {"a": a, "other": [unconnected, b]})
    assert gradients["other"][0] is None
    assert float(gradients["other"][1]) == 3.0


def test_repeated_sources_each_get_the_whole_gradient(tf):
    tape, a, _, y = product(tf)
    assert [float(g) for g in tape.gradient(y, [a, a, a])] == [4.0, 4.0, 4.0]


def test_the_gradient_has_the_shape_of_its_source(tf):
    w, b = tf.Variable(np.ones((3, 2), np.float32)), tf.Variable([1.0, 2.0])
    x = tf.constant([[1.0, 2.0, 3.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x @ w + b)
    gradients = tape.gradient(y, [w, b])
    assert [g.shape for g in gradients] == [w.shape, b.shape]


def test_a_broadcast_source_gets_a_gradient_of_its_own_shape(tf):
    scalar, row, column = tf.Variable(2.0), tf.Variable([[1.0, 2.0, 3.0]]), tf.Variable([[1.0], [2.0]])
    with tf.GradientTape() as tape:
        y = scalar * row * column
    gradients = tape.gradient(y, [scalar, row, column])
    assert float(gradients[0]) == 18.0
    assert gradients[1].numpy().tolist() == [[6.0, 6.0, 6.0]]
    assert gradients[2].numpy().tolist() == [[12.0], [12.0]]


# ------------------------------------------------------------------------------------------------------ several targets


def test_the_gradient_of_a_vector_is_that_of_its_sum(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    assert float(tape.gradient(y, x)) == 7.0


@pytest.mark.parametrize("structure", ["list", "tuple", "dict", "nested"])
def test_several_targets_sum(tf, structure):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0 = x**2
        y1 = 1 / x
    targets = {"list": [y0, y1], "tuple": (y0, y1), "dict": {"y0": y0, "y1": y1}, "nested": [{"y": (y0, [y1])}]}
    assert float(tape.gradient(targets[structure], x)) == 3.75


def test_targets_of_several_shapes_sum(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y0 = x**2
        y1 = tf.reduce_sum(x)
    assert tape.gradient([y0, y1], x).numpy().tolist() == [3.0, 5.0]


def test_repeated_targets_double(tf):
    tape, a, _, y = product(tf)
    assert float(tape.gradient([y, y], a)) == 8.0


def test_a_target_that_is_part_of_another(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * x
    assert float(tape.gradient([y, z], x)) == 33.0


@pytest.mark.parametrize("empty", [[], (), {}], ids=repr)
def test_no_target_connects_nothing(tf, empty):
    tape, a, _, _ = product(tf)
    assert tape.gradient(empty, a) is None


def test_an_unconnected_target_beside_a_connected_one(tf):
    tape, a, _, y = product(tf)
    assert float(tape.gradient([y, tf.constant(1.0)], a)) == 4.0


# --------------------------------------------------------------------------------------------- targets that are sources


def test_a_target_that_is_also_a_source_gets_ones(tf):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
    gradient = tape.gradient(x, x)
    assert gradient.numpy().tolist() == [1.0, 1.0]
    assert gradient.dtype == tf.float32


def test_a_target_that_is_also_a_source_gets_ones_even_if_it_was_not_watched(tf):
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        pass
    assert tape.gradient(x, x).numpy().tolist() == [1.0, 1.0]


def test_a_source_among_the_targets_adds_one(tf):
    tape, a, b, y = product(tf)
    assert [float(g) for g in tape.gradient([y, a], [a, b])] == [5.0, 3.0]


def test_an_intermediate_as_target_and_source(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
    assert [float(g) for g in tape.gradient([y, z], [y, x])] == [19.0, 114.0]


def test_a_variable_as_the_target(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        v * w
    gradients = tape.gradient(v, [v, w])
    assert float(gradients[0]) == 1.0
    assert gradients[1] is None


def test_a_variable_as_the_target_that_was_never_read(tf):
    v = tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        pass
    assert tape.gradient(v, v).numpy().tolist() == [1.0, 1.0]


def test_a_source_behind_another_source_counts_both_ways(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * x
    gradients = tape.gradient(z, [x, y])
    assert [float(g) for g in gradients] == [27.0, 3.0]


def test_constants_of_equal_value_stay_distinct(tf):
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(a)
        y = a * b
    gradients = tape.gradient(y, [a, b])
    assert float(gradients[0]) == 3.0
    assert gradients[1] is None


def test_small_constants_of_equal_value_both_watched(tf):
    a, b = tf.constant(0.0), tf.constant(0.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = tf.sin(a) * 2.0 + tf.sin(b) * 5.0
    assert [float(g) for g in tape.gradient(y, [a, b])] == [2.0, 5.0]


def test_identity_is_a_tensor_of_its_own(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.identity(x)
        z = y * y
    gradients = tape.gradient(z, [x, y])
    assert [float(g) for g in gradients] == [6.0, 6.0]


# ---------------------------------------------------------------------------------------------- what cannot be a target


def test_none_as_the_target(tf):
    tape, a, _, _ = product(tf)
    with pytest.raises(TypeError) as caught:
        tape.gradient(None, a)
    assert str(caught.value) == (
        "Argument `target` should be a list or nested structure of Tensors, Variables or CompositeTensors to be "
        "differentiated, but received None."
    )


@pytest.mark.parametrize("target", [3.0, 3, [3.0], np.float32(3.0), np.ones(2), True, "text"], ids=repr)
def test_a_target_that_is_no_tensor(tf, target):
    tape, a, _, _ = product(tf)
    with pytest.raises(REFUSED):
        tape.gradient(target, a)


@pytest.mark.parametrize("source", [3.0, 3, [3.0], np.ones(2), None, [None], "text"], ids=repr)
def test_a_source_that_is_no_tensor(tf, source):
    tape, _, _, y = product(tf)
    with pytest.raises(REFUSED):
        tape.gradient(y, source)


def test_none_among_the_targets(tf):
    tape, a, _, y = product(tf)
    with pytest.raises(TypeError):
        tape.gradient([y, None], a)


def test_an_integer_target_contributes_nothing(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        n = tf.cast(x, tf.int32)
    assert float(tape.gradient([y, n], x)) == 6.0


def test_an_integer_target_alone_gives_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        n = tf.cast(x, tf.int32)
    assert tape.gradient(n, x) is None


def test_an_integer_source_gives_none(tf):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None


def test_an_integer_variable_gives_none(tf):
    with tf.GradientTape() as tape:
        x = tf.Variable([[2, 2], [2, 2]], dtype=tf.int8)
        y = x * x
    assert tape.gradient(y, x) is None


def test_the_path_through_an_integer_is_cut(tf):
    x = tf.Variable(3.7)
    with tf.GradientTape() as tape:
        y = tf.cast(tf.cast(x, tf.int32), tf.float32) * 2.0
    assert float(y) == 6.0
    assert tape.gradient(y, x) is None


def test_a_string_target_contributes_nothing(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        text = tf.constant("text")
    assert float(tape.gradient([text, y], x)) == 6.0


def test_a_string_target_alone_gives_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x * x
        text = tf.constant("text")
    assert tape.gradient(text, x) is None


def test_a_boolean_source_gives_none(tf):
    x = tf.constant([True, False])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x, 1.0, 2.0)
    assert tape.gradient(y, x) is None


# ------------------------------------------------------------------------------------------------ unconnected_gradients


def test_unconnected_is_none(tf):
    tape, _, _, y = product(tf)
    assert tape.gradient(y, tf.Variable(1.0)) is None


@pytest.mark.parametrize("spelling", ["enum", "none"])
def test_unconnected_none_may_be_said(tf, spelling):
    tape, _, _, y = product(tf)
    said = tf.UnconnectedGradients.NONE if spelling == "enum" else "none"
    assert tape.gradient(y, tf.Variable(1.0), unconnected_gradients=said) is None


@pytest.mark.parametrize("spelling", ["enum", "zero"])
def test_unconnected_zero_has_the_shape_and_dtype_of_the_source(tf, spelling):
    tape, _, _, y = product(tf)
    said = tf.UnconnectedGradients.ZERO if spelling == "enum" else "zero"
    gradient = tape.gradient(y, tf.Variable([[1.0, 2.0]], dtype=tf.float64), unconnected_gradients=said)
    assert isinstance(gradient, tf.Tensor)
    assert gradient.dtype == tf.float64
    assert gradient.numpy().tolist() == [[0.0, 0.0]]


def test_unconnected_zero_of_an_integer_source(tf):
    tape, _, _, y = product(tf)
    gradient = tape.gradient(y, tf.constant([1, 2]), unconnected_gradients="zero")
    assert gradient.dtype == tf.int32
    assert gradient.numpy().tolist() == [0, 0]


def test_unconnected_zero_leaves_connected_gradients_alone(tf):
    tape, a, b, y = product(tf)
    gradients = tape.gradient(y, [a, tf.Variable([1.0, 2.0]), b], unconnected_gradients="zero")
    assert float(gradients[0]) == 4.0 and float(gradients[2]) == 3.0
    assert gradients[1].numpy().tolist() == [0.0, 0.0]


def test_unconnected_zero_of_no_targets(tf):
    tape, a, _, _ = product(tf)
    assert float(tape.gradient([], a, unconnected_gradients="zero")) == 0.0


def test_an_unknown_value_of_unconnected_gradients(tf):
    tape, a, _, y = product(tf)
    with pytest.raises(ValueError) as caught:
        tape.gradient(y, a, unconnected_gradients="nonsense")
    assert str(caught.value) == "Unknown value for unconnected_gradients: 'nonsense'"


def test_the_members_of_the_enum(tf):
    assert tf.UnconnectedGradients.NONE.value == "none"
    assert tf.UnconnectedGradients.ZERO.value == "zero"
    assert tf.UnconnectedGradients("zero") is tf.UnconnectedGradients.ZERO
    assert [member.name for member in tf.UnconnectedGradients] == ["NONE", "ZERO"]


def test_a_zero_gradient_is_not_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * 0.0
    assert float(tape.gradient(y, x)) == 0.0


def test_zero_times_a_path_is_connected(tf):
    x, w = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = x * w
    assert [float(g) for g in tape.gradient(y, [x, w])] == [0.0, 3.0]


def test_a_difference_of_equal_paths_is_zero_not_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x - x
    assert float(tape.gradient(y, x)) == 0.0


# ----------------------------------------------------------------------------------------------------- output_gradients


@pytest.mark.parametrize("given", [2.0, [2.0], np.float32(2.0), np.array(2.0, np.float32)], ids=repr)
def test_output_gradients_takes_numbers_and_arrays(tf, given):
    tape, a, _, y = product(tf)
    assert float(tape.gradient(y, a, output_gradients=given)) == 8.0


def test_output_gradients_takes_tensors_and_variables(tf):
    tape, a, _, y = product(tf, persistent=True)
    assert float(tape.gradient(y, a, output_gradients=tf.constant(2.0))) == 8.0
    assert float(tape.gradient(y, a, output_gradients=tf.Variable(2.0))) == 8.0


def test_output_gradients_of_a_vector(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    weights = tf.constant([1.0, 10.0, 100.0])
    assert tape.gradient(y, x, output_gradients=weights).numpy().tolist() == [2.0, 40.0, 600.0]


def test_output_gradients_of_a_vector_as_an_array(tf):
    x = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = x * x
    weights = np.array([1.0, 10.0, 100.0], np.float32)
    assert tape.gradient(y, x, output_gradients=weights).numpy().tolist() == [2.0, 40.0, 600.0]


def test_output_gradients_for_each_of_several_targets(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y0 = x**2
        y1 = x**3
    assert float(tape.gradient([y0, y1], x, output_gradients=[10.0, 100.0])) == 1240.0


def test_output_gradients_in_a_dict(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        targets = {"b": x**2, "a": x**3}
    assert float(tape.gradient(targets, x, output_gradients={"b": 10.0, "a": 100.0})) == 1240.0


def test_output_gradients_apply_to_a_target_that_is_a_source(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
    assert float(tape.gradient(x, x, output_gradients=5.0)) == 5.0


def test_output_gradients_of_another_dtype(tf):
    tape, a, _, y = product(tf)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tape.gradient(y, a, output_gradients=tf.constant(2.0, tf.float64))


def test_output_gradients_of_another_shape(tf):
    tape, a, _, y = product(tf)
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
        tape.gradient(y, a, output_gradients=tf.constant([1.0, 2.0]))


def test_the_gradient_is_differentiable_in_output_gradients(tf):
    x, weight = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x
        gradient = inner.gradient(y, x, output_gradients=weight)
    assert float(gradient) == 12.0
    first, second = outer.gradient(gradient, [weight, x])
    assert float(first) == 6.0
    assert float(second) == 4.0


def test_forward_mode_by_two_gradients(tf):
    """The derivative of v -> gradient(y, x, v) is the Jacobian times a vector."""
    x, u = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 1.0, 1.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.stack([x[0] * x[1], x[0] ** 2, 3.0 * x[1]])
        pulled = inner.gradient(y, x, output_gradients=u)
    pushed = outer.gradient(pulled, u, output_gradients=tf.constant([1.0, 10.0]))
    assert pushed.numpy().tolist() == [12.0, 2.0, 30.0]


# --------------------------------------------------------------------------------------------------------- connectivity


def test_the_branch_not_taken_is_not_connected(tf):
    x, v0, v1 = tf.constant(1.0), tf.Variable(2.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        result = v0 if x > 0.0 else v1**2
    dv0, dv1 = tape.gradient(result, [v0, v1])
    assert float(dv0) == 1.0 and dv1 is None
    assert tape.gradient(result, x) is None


def test_the_target_as_seen_from_a_later_source(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y + 1.0
    assert tape.gradient(y, z) is None


def test_both_outputs_of_one_operation(tf):
    x = tf.Variable([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape(persistent=True) as tape:
        a, b = tf.split(x, 2)
    assert tape.gradient(a, x).numpy().tolist() == [1.0, 1.0, 0.0, 0.0]
    assert tape.gradient(b, x).numpy().tolist() == [0.0, 0.0, 1.0, 1.0]
    assert tape.gradient([a, 2.0 * b], x) is not None


def test_one_source_used_many_times(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x + x * x + x * x * x + tf.exp(x * 0.0)
    assert float(tape.gradient(y, x)) == 17.0


def test_a_diamond(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        a = x * x
        b = a + 1.0
        c = a * 3.0
        y = b * c
    assert float(tape.gradient(y, x)) == pytest.approx(108.0)


def test_all_gradients_are_plain_tensors(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * 2.0
    for gradient in (tape.gradient(y, x), tape.gradient(x, x), tape.gradient(y, tf.Variable(1.0), None, "zero")):
        assert type(gradient).__name__ == "EagerTensor"


STEPS = ["tf.floor(x)", "tf.round(x)", "tf.math.ceil(x)", "tf.zeros_like(x)", "tf.ones_like(x)", "tf.sign(x)"]


@pytest.mark.parametrize("step", STEPS)
def test_the_result_of_a_step_function_is_a_source(tf, step):
    """Nothing flows through it, but gradients by it are those of any intermediate."""
    x = tf.Variable([1.5, 2.5])
    with tf.GradientTape() as tape:
        y = eval(step, {"tf": tf, "x": x})
        z = y * 3.0
    assert tape.gradient(z, y).numpy().tolist() == [3.0, 3.0]


def test_the_result_of_stop_gradient_is_no_source(tf):
    x = tf.Variable([1.5, 2.5])
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x)
        z = y * 3.0
    assert tape.gradient(z, y) is None
