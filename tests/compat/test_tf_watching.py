"""TensorFlow's GradientTape: what it watches by itself, and what it has to be told to."""

from __future__ import annotations

import collections
import copy
import logging
import operator

import numpy as np
import pytest

NOT_A_TENSOR = "Passed in object 3.0 of type 'float', not tf.Tensor or tf.Variable or ExtensionType."


class Records(logging.Handler):
    """Collects what is logged while it is attached."""

    def __init__(self, logger):
        super().__init__()
        self.messages = []
        self.logger = logger

    def emit(self, record):
        self.messages.append((record.levelno, record.getMessage()))

    def __enter__(self):
        self.logger.addHandler(self)
        return self

    def __exit__(self, *_):
        self.logger.removeHandler(self)


# ---------------------------------------------------------------------------------------------- what is read is watched

READS = {
    "read_value": lambda tf, v: v.read_value(),
    "value": lambda tf, v: v.value(),
    "identity": lambda tf, v: tf.identity(v),
    "convert_to_tensor": lambda tf, v: tf.convert_to_tensor(v),
    "plus": lambda tf, v: v + 0.0,
    "reflected": lambda tf, v: 0.0 + v,
    "negative and back": lambda tf, v: -(-v),
    "tf.add": lambda tf, v: tf.add(v, 0.0),
    "slice": lambda tf, v: v[:],
    "index": lambda tf, v: tf.stack([v[0], v[1]]),
    "iteration": lambda tf, v: tf.stack([element for element in v]),
    "stack": lambda tf, v: tf.stack([v])[0],
    "reshape": lambda tf, v: tf.reshape(v, [-1]),
    "operator.mul": lambda tf, v: operator.mul(v, 1.0),
    "assign_add": lambda tf, v: v.assign_add([0.0, 0.0]) * 1.0,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_any_read_of_a_trainable_variable_watches_it(tf, read):
    v = tf.Variable([2.0, 3.0])
    with tf.GradientTape() as tape:
        y = read(tf, v)
    assert [variable is v for variable in tape.watched_variables()] == [True]
    assert tape.gradient(y, v).numpy().tolist() == [1.0, 1.0]


def test_a_variable_that_is_not_trainable_is_not_watched(tf):
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v
    assert tape.watched_variables() == ()
    assert tape.gradient(y, v) is None


def test_a_variable_that_is_not_trainable_can_be_watched(tf):
    v = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(v)
        y = v * v
    assert [variable is v for variable in tape.watched_variables()] == [True]
    assert float(tape.gradient(y, v)) == 6.0


def test_a_tensor_is_not_watched(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_a_tensor_can_be_watched(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        assert tape.watch(x) is None
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_nothing_is_watched_by_itself_without_watch_accessed_variables(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert tape.gradient(y, {"v": v, "w": w})["v"] is None
    assert [variable is w for variable in tape.watched_variables()] == [True]


def test_a_variable_watched_explicitly_gets_its_gradient(tf):
    v, w = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    gradients = tape.gradient(y, [v, w])
    assert gradients[0] is None
    assert float(gradients[1]) == 3.0


NESTS = {
    "list": lambda a, b, c: [a, b, c],
    "tuple": lambda a, b, c: (a, b, c),
    "dict": lambda a, b, c: {"a": a, "b": b, "c": c},
    "nested": lambda a, b, c: {"p": [a, {"q": b}], "r": (c,)},
    "named tuple": lambda a, b, c: collections.namedtuple("Three", "a b c")(a, b, c),
}


@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS.keys())
def test_watch_takes_any_nest(tf, nest):
    a, b, c = tf.constant(2.0), tf.constant(3.0), tf.Variable(4.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(nest(a, b, c))
        y = a * b * c
    assert [float(g) for g in tape.gradient(y, [a, b, c])] == [12.0, 8.0, 6.0]


def test_watching_twice_counts_once(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.watch([x, x])
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


# ---------------------------------------------------------------------------------------------------- watched_variables


def test_watched_variables_is_a_tuple_in_order_of_creation(tf):
    a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        c * a * b
    watched = tape.watched_variables()
    assert isinstance(watched, tuple)
    assert [variable is expected for variable, expected in zip(watched, (a, b, c))] == [True] * 3


def test_watched_variables_are_listed_once(tf):
    a = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        a * a
        tape.watch(a)
        a + a
    assert len(tape.watched_variables()) == 1


def test_watched_variables_survive_the_tape_being_used_up(tf):
    a = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * a
    tape.gradient(y, a)
    assert [variable is a for variable in tape.watched_variables()] == [True]


def test_watched_variables_of_a_tape_that_was_never_entered(tf):
    assert tf.GradientTape().watched_variables() == ()


def test_watched_variables_inside_the_block(tf):
    a = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        assert tape.watched_variables() == ()
        a * a
        assert len(tape.watched_variables()) == 1


def test_watched_variables_can_be_the_sources(tf):
    a, b = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        y = a * b
    assert [float(g) for g in tape.gradient(y, tape.watched_variables())] == [4.0, 3.0]


def test_each_tape_watches_for_itself(tf):
    x, y = tf.constant(3.0), tf.constant(4.0)
    with tf.GradientTape() as one, tf.GradientTape() as two:
        one.watch(x)
        two.watch(y)
        z = x * y
    first, second = one.gradient(z, [x, y]), two.gradient(z, [x, y])
    assert float(first[0]) == 4.0 and first[1] is None
    assert second[0] is None and float(second[1]) == 3.0


# ------------------------------------------------------------------------------------------------------ what is refused


def test_watching_a_python_float(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError) as caught:
        tape.watch(3.0)
    assert str(caught.value) == NOT_A_TENSOR


def test_watching_a_nest_with_a_float_in_it(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError) as caught:
        tape.watch([tf.constant(1.0), 3.0])
    assert str(caught.value) == NOT_A_TENSOR


def test_watching_an_array(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="of type 'ndarray', not tf.Tensor or tf.Variable"):
        tape.watch(np.ones(2))


def test_watching_none(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="of type 'NoneType', not tf.Tensor"):
        tape.watch(None)


def test_watching_an_integer_tensor_warns(tf):
    with Records(tf.get_logger()) as records, tf.GradientTape() as tape:
        tape.watch(tf.constant(3))
    message = "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    assert (logging.WARNING, message) in records.messages


def test_watching_a_float_or_complex_tensor_does_not_warn(tf):
    with Records(tf.get_logger()) as records, tf.GradientTape() as tape:
        tape.watch([tf.constant(3.0), tf.constant(3.0, tf.float64), tf.constant(3.0j)])
    assert records.messages == []


def test_warnings_about_integers_are_at_most_five_for_a_line(fresh):
    printed = fresh("""
        x = tf.constant(3)
        for _ in range(9):
            with tf.GradientTape() as tape:
                tape.watch(x)
        """)
    assert printed.count("The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32") == 5


def test_warnings_go_to_the_logger_called_tensorflow(tf):
    assert isinstance(tf.get_logger(), logging.Logger)
    assert tf.get_logger().name == "tensorflow"


def test_warnings_are_printed_on_the_standard_error_with_the_name_of_the_logger(fresh):
    printed = fresh("""
        with tf.GradientTape() as tape:
            tape.watch(tf.constant(3))
        """)
    assert (
        "WARNING:tensorflow:The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32\n"
        in printed
    )


def test_warnings_are_silenced_by_the_level_of_the_logger(fresh):
    printed = fresh("""
        tf.get_logger().setLevel("ERROR")
        x = tf.constant(3)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        print(tape.gradient(y, x))
        """)
    assert "must be floating" not in printed
    assert printed.endswith("None\n")


# --------------------------------------------------------------------------------------------------- when it is watched


def test_operations_before_watch_are_not_connected(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = y * x
    assert float(tape.gradient(z, x)) == 9.0


def test_watching_a_recorded_intermediate_does_not_cut_its_path(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(y)
        z = y * y
    assert float(tape.gradient(z, x)) == 108.0


def test_watching_a_recorded_intermediate_does_not_double_its_path(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(y)
        z = y * y
    assert float(tape.gradient(z, y)) == 18.0
    assert float(tape.gradient(z, x)) == 108.0


def test_an_intermediate_is_a_source_without_being_watched(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        z = y * y
    assert float(tape.gradient(z, y)) == 18.0


def test_an_intermediate_can_be_watched_after_the_block_began(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(y)
        z = y * y
    gradients = tape.gradient(z, [x, y])
    assert gradients[0] is None
    assert float(gradients[1]) == 18.0


def test_a_tensor_computed_before_the_block_is_a_leaf(tf):
    x = tf.Variable(2.0)
    y = x * 3.0
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = x * y
    gradients = tape.gradient(z, [x, y])
    assert [float(g) for g in gradients] == [6.0, 2.0]


def test_watch_after_the_block_does_nothing_for_what_was_computed(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.watch(x)
    assert tape.gradient(y, x) is None


def test_watch_before_the_block_raises(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with pytest.raises((AttributeError, RuntimeError, ValueError)):
        tape.watch(x)


def test_the_value_watched_is_the_object_not_the_name(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = x
        x = x * x
        y = x * x
    assert float(tape.gradient(y, first)) == 108.0


def test_stop_gradient_cuts_one_path(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x + tf.stop_gradient(x * x * x)
    assert float(tape.gradient(y, x)) == 6.0


def test_stop_gradient_alone_gives_none(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x * x)
    assert float(y) == 9.0
    assert tape.gradient(y, x) is None


def test_stop_gradient_of_a_product_on_the_way(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(x) * x
    assert float(tape.gradient(y, x)) == 3.0


def test_what_passes_through_a_python_number_is_not_connected(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.constant(float(x)) * 2.0
    assert tape.gradient(y, x) is None


def test_what_passes_through_an_array_is_not_connected(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.constant(x.numpy()) * 2.0
    assert tape.gradient(y, x) is None


def test_assign_cuts_the_path(tf):
    a, b = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape() as tape:
        b.assign_add(a)
        y = b**2
    assert tape.gradient(y, a) is None


def test_the_value_at_the_time_of_the_read_counts(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(100.0)
    assert float(tape.gradient(y, x)) == 6.0


def test_both_values_of_a_variable_assigned_in_between_count(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        x.assign(5.0)
        z = y + x * x
    assert float(tape.gradient(z, x)) == 16.0


def test_a_variable_assigned_after_the_block_does_not_change_the_gradient(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
    x.assign([10.0, 20.0])
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]


def test_a_copy_of_a_variable_is_another_one(tf):
    v, w = tf.Variable([1.0, 2.0], trainable=False), tf.Variable(3.0)
    u = copy.deepcopy(v)
    with tf.GradientTape() as tape:
        y = w * u
        tape.watch(v)
        z = y * v
    assert tape.gradient(z, v).numpy().tolist() == [3.0, 6.0]


def test_a_copy_of_a_tensor_is_another_one(tf):
    x = tf.constant([1.0, 2.0])
    y = copy.deepcopy(x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        tape.watch(y)
        z = 2.0 * x
    assert tape.gradient(z, x).numpy().tolist() == [2.0, 2.0]
    assert tape.gradient(z, y) is None


@pytest.mark.parametrize("assigned", [True, False])
def test_a_tensor_and_a_variable_of_its_value_are_two_things(tf, assigned):
    x = tf.constant([2.0, 3.0])
    v = tf.Variable(tf.zeros(2) if assigned else x)
    v.assign(x)
    with tf.GradientTape() as tape:
        y = v * v
        tape.watch(x)
        z = y * x
    assert tape.gradient(z, x).numpy().tolist() == [4.0, 9.0]


def test_rows_of_a_variable_that_a_tape_does_not_watch(tf):
    v = tf.Variable([1.0, 2.0])
    blind = tf.GradientTape(persistent=True, watch_accessed_variables=False)
    paused, seeing = tf.GradientTape(persistent=True), tf.GradientTape(persistent=True)
    with blind, paused, seeing:
        with paused.stop_recording():
            y = tf.gather(v, [1, 0, 1])
        z = tf.gather(v, [0])
    assert blind.gradient(y, v) is None and blind.gradient(z, v) is None
    assert paused.gradient(y, v) is None
    assert tf.convert_to_tensor(paused.gradient(z, v)).numpy().tolist() == [1.0, 0.0]
    assert tf.convert_to_tensor(seeing.gradient(y, v)).numpy().tolist() == [1.0, 2.0]
