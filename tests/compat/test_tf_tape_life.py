"""TensorFlow's GradientTape: when it records, how often it can be asked, and when it lets go."""

from __future__ import annotations

import gc
import inspect
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

ONCE = "A non-persistent GradientTape can only be used to compute one set of gradients"


def squared(tf, persistent=False):
    """A finished tape with the square of a variable on it, the variable, and the square."""
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=persistent) as tape:
        y = x * x
    return tape, x, y


# ----------------------------------------------------------------------------------------------------------- signatures


def test_signature_of_the_tape(tf):
    parameters = inspect.signature(tf.GradientTape.__init__).parameters
    assert list(parameters)[1:] == ["persistent", "watch_accessed_variables", "backend"]  # the last is our own
    assert parameters["persistent"].default is False
    assert parameters["watch_accessed_variables"].default is True


def test_signature_of_gradient(tf):
    parameters = inspect.signature(tf.GradientTape.gradient).parameters
    assert list(parameters)[1:] == ["target", "sources", "output_gradients", "unconnected_gradients"]
    assert parameters["output_gradients"].default is None
    assert parameters["unconnected_gradients"].default is tf.UnconnectedGradients.NONE


def test_signature_of_jacobian(tf):
    parameters = inspect.signature(tf.GradientTape.jacobian).parameters
    names = ["target", "sources", "unconnected_gradients", "parallel_iterations", "experimental_use_pfor"]
    assert list(parameters)[1:] == names
    assert parameters["unconnected_gradients"].default is tf.UnconnectedGradients.NONE
    assert parameters["parallel_iterations"].default is None
    assert parameters["experimental_use_pfor"].default is True


def test_signature_of_batch_jacobian(tf):
    parameters = inspect.signature(tf.GradientTape.batch_jacobian).parameters
    names = ["target", "source", "unconnected_gradients", "parallel_iterations", "experimental_use_pfor"]
    assert list(parameters)[1:] == names
    assert parameters["experimental_use_pfor"].default is True


def test_arguments_by_keyword(tf):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=False, watch_accessed_variables=True) as tape:
        tape.watch(tensor=x)
        y = x * x
    gradient = tape.gradient(
        target=y, sources=x, output_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE
    )
    assert gradient.numpy() == 6.0


# ------------------------------------------------------------------------------------------------- one set of gradients


def test_second_gradient_of_a_non_persistent_tape(tf):
    tape, x, y = squared(tf)
    assert tape.gradient(y, x).numpy() == 6.0
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(y, x)
    assert str(caught.value) == ONCE + " (or jacobians)"


def test_gradient_of_a_tape_that_was_never_entered(tf):
    x = tf.Variable(3.0)
    y = x * x
    with pytest.raises(RuntimeError, match=ONCE):
        tf.GradientTape().gradient(y, x)


def test_gradient_of_a_persistent_tape_that_was_never_entered(tf):
    x = tf.Variable(3.0)
    with pytest.raises(RuntimeError, match=ONCE):
        tf.GradientTape(persistent=True).gradient(x * x, x)


def test_a_result_of_none_uses_the_tape_up(tf):
    tape, _, y = squared(tf)
    assert tape.gradient(y, tf.Variable(1.0)) is None
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(y, tf.Variable(1.0))


def test_gradient_after_jacobian(tf):
    tape, x, y = squared(tf)
    tape.jacobian(y, x)
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(y, x)


def test_jacobian_after_gradient(tf):
    tape, x, y = squared(tf)
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=ONCE):
        tape.jacobian(y, x)


def test_second_jacobian(tf):
    tape, x, y = squared(tf)
    tape.jacobian(y, x)
    with pytest.raises(RuntimeError, match=ONCE):
        tape.jacobian(y, x)


def test_gradient_after_batch_jacobian(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.batch_jacobian(y, x)
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(y, x)
    with pytest.raises(
        RuntimeError, match="A non-persistent GradientTape can only be used to ?compute one set of gradients"
    ):
        tape.batch_jacobian(y, x)


def test_a_persistent_tape_answers_again_and_again(tf):
    tape, x, y = squared(tf, persistent=True)
    assert [float(tape.gradient(y, x)) for _ in range(5)] == [6.0] * 5
    assert float(tape.jacobian(y, x)) == 6.0
    assert float(tape.gradient(y, x)) == 6.0


# ----------------------------------------------------------------------------------------------------- inside the block


def test_gradient_inside_the_block_ends_the_recording(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        assert float(tape.gradient(y, x)) == 6.0
        y * x
    with pytest.raises(RuntimeError, match=ONCE):
        tape.gradient(y, x)


def test_second_gradient_inside_the_block(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.gradient(y, x)
        with pytest.raises(RuntimeError, match=ONCE):
            tape.gradient(y, x)


def test_gradient_inside_a_persistent_block_records_its_own_operations(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        first = tape.gradient(y, x)
        second = tape.gradient(first, x)
        third = tape.gradient(second, x)
    assert [float(first), float(second), float(third)] == [27.0, 18.0, 6.0]


def test_higher_order_of_a_persistent_tape_asked_after_the_block(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
        first = tape.gradient(y, x)
    assert float(tape.gradient(first, x)) == 18.0
    assert float(tape.gradient(y, x)) == 27.0


def test_gradient_operations_after_the_block_are_not_recorded(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x * x
    first = tape.gradient(y, x)
    assert float(first) == 27.0
    assert tape.gradient(first, x) is None


def test_a_persistent_tape_asked_inside_its_block_warns_once_for_a_line(fresh):
    printed = fresh("""
        x = tf.Variable(3.0)
        for _ in range(3):
            with tf.GradientTape(persistent=True) as tape:
                y = x * x
                tape.gradient(y, x)
        """)
    message = (
        "Calling GradientTape.gradient on a persistent tape inside its context is significantly less efficient than "
        "calling it outside the context"
    )
    assert printed.count(message) == 1


def test_nested_tapes_give_higher_orders(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as third:
        with tf.GradientTape() as second:
            with tf.GradientTape() as first:
                y = x**4
            dy = first.gradient(y, x)
        d2y = second.gradient(dy, x)
    d3y = third.gradient(d2y, x)
    assert [float(y), float(dy), float(d2y), float(d3y)] == [16.0, 32.0, 48.0, 48.0]


def test_the_gradient_of_an_inner_tape_after_both_blocks_is_not_connected(tf):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer, tf.GradientTape() as inner:
        y = x**3
    dy = inner.gradient(y, x)
    assert float(dy) == 12.0
    assert outer.gradient(dy, x) is None


def test_an_operation_after_the_block_is_not_recorded(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    z = y * y
    assert tape.gradient(z, x) is None


# ------------------------------------------------------------------------------------------------------- entering again


def test_entering_an_active_tape_again(tf):
    with tf.GradientTape() as tape, pytest.raises(ValueError) as caught:
        with tape:
            pass
    assert "Tape is still recording" in str(caught.value)
    assert "re-enter an already-active tape" in str(caught.value)


def test_entering_again_after_the_block_continues_the_recording(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 27.0


def test_entering_again_does_not_record_what_ran_between(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    w = y * x
    with tape:
        z = w + y
    assert float(tape.gradient(z, x)) == 6.0


def test_watching_survives_entering_again(tf):
    x = tf.constant(3.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
    with tape:
        z = y + x
    assert float(tape.gradient(z, x)) == 7.0


def test_a_tape_that_was_used_up_starts_fresh_when_entered_again(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0
    with tape:
        z = x * x * x
    assert float(tape.gradient(z, x)) == 27.0


def test_what_was_recorded_before_the_tape_was_used_up_is_gone_when_entered_again(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with tape:
        y = x * x
    tape.gradient(y, x)
    with tape:
        z = y * x
    assert float(tape.gradient(z, x)) == 9.0


def test_leaving_stop_recording_after_a_gradient_inside_it_starts_fresh(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            assert float(tape.gradient(y, x)) == 6.0
        z = y * x
    assert float(tape.gradient(z, x)) == 9.0


# --------------------------------------------------------------------------------------------- stop_recording and reset


def test_stop_recording_before_the_block(tf):
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError) as caught, tape.stop_recording():
        pass
    assert str(caught.value) == "Trying to stop recording a tape which is not recording."


def test_stop_recording_after_the_block(tf):
    tape, _, _ = squared(tf)
    with pytest.raises(ValueError) as caught, tape.stop_recording():
        pass
    assert str(caught.value) == "Tape is not recording."


def test_stop_recording_nested_twice(tf):
    with tf.GradientTape() as tape:
        with tape.stop_recording():
            with pytest.raises(ValueError) as caught, tape.stop_recording():
                pass
    assert str(caught.value) == "Tape is not recording."


def test_reset_before_the_block(tf):
    with pytest.raises(ValueError, match="Tape is not recording"):
        tf.GradientTape().reset()


def test_reset_after_the_block(tf):
    tape, _, _ = squared(tf)
    with pytest.raises(ValueError) as caught:
        tape.reset()
    assert str(caught.value) == "Tape is not recording."


def test_stop_recording_pauses_and_resumes(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        with tape.stop_recording():
            unseen = x * x * x
        z = y + unseen
    assert float(tape.gradient(z, x)) == 6.0


def test_stop_recording_pauses_only_its_own_tape(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as paused, tf.GradientTape() as other:
        with paused.stop_recording():
            y = x * x
    assert paused.gradient(y, x) is None
    assert float(other.gradient(y, x)) == 6.0


def test_stop_recording_resumes_after_an_exception(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with pytest.raises(ZeroDivisionError), tape.stop_recording():
            raise ZeroDivisionError
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


def test_reset_drops_operations(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = y * x
    assert float(tape.gradient(z, x)) == 9.0


def test_reset_drops_watched_tensors(tf):
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    assert tape.gradient(y, x) is None


def test_reset_drops_watched_variables(tf):
    x, y = tf.Variable(3.0), tf.Variable(4.0)
    with tf.GradientTape() as tape:
        x * x
        assert tape.watched_variables() == (x,)
        tape.reset()
        assert tape.watched_variables() == ()
        y * y
    assert [variable is y for variable in tape.watched_variables()] == [True]


def test_reset_inside_stop_recording(tf):
    with tf.GradientTape() as tape:
        with tape.stop_recording(), pytest.raises(ValueError, match="Tape is not recording"):
            tape.reset()


def test_a_variable_read_after_reset_is_watched_again(tf):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        x * x
        tape.reset()
        y = x * x
    assert float(tape.gradient(y, x)) == 6.0


# ----------------------------------------------------------------------------------- several tapes, exceptions, threads


def test_tapes_may_close_out_of_order(tf):
    x = tf.Variable(3.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    second.__enter__()
    y = x * x
    first.__exit__(None, None, None)
    z = y * x
    second.__exit__(None, None, None)
    assert first.gradient(z, x) is None
    assert float(second.gradient(z, x)) == 27.0


def test_an_exception_in_the_block_propagates(tf):
    with pytest.raises(KeyError, match="mine"), tf.GradientTape():
        raise KeyError("mine")


def test_the_tape_stays_usable_after_an_exception_in_its_block(tf):
    x = tf.Variable(3.0)
    tape = tf.GradientTape()
    with pytest.raises(ValueError, match="mine"), tape:
        y = x * x
        raise ValueError("mine")
    assert float(tape.gradient(y, x)) == 6.0


def test_no_tape_stays_active_after_an_exception(tf):
    x = tf.Variable(3.0)
    with pytest.raises(ValueError, match="mine"), tf.GradientTape() as outer, tf.GradientTape() as inner:
        raise ValueError("mine")
    y = x * x
    assert outer.gradient(y, x) is None
    assert inner.gradient(y, x) is None


def test_an_operation_that_fails_leaves_the_tape_as_it_was(tf):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = x * x
        with pytest.raises(tf.errors.InvalidArgumentError):
            y + tf.constant([1.0, 2.0, 3.0])
        z = y * 2.0
    assert tape.gradient(z, x).numpy().tolist() == [4.0, 8.0]


def test_the_same_block_over_and_over(tf):
    x = tf.Variable(1.0)
    for _ in range(50):
        with tf.GradientTape() as tape:
            loss = (x - 3.0) ** 2
        x.assign_sub(0.25 * tape.gradient(loss, x))
    assert float(x) == pytest.approx(3.0, abs=1e-6)


def test_a_persistent_tape_over_a_loop(tf):
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        powers, y = [], x
        for _ in range(4):
            y = y * x
            powers.append(y)
    assert [float(tape.gradient(power, x)) for power in powers] == [4.0, 12.0, 32.0, 80.0]


def test_a_tape_handed_to_a_function(tf):
    def square(value, tape):
        tape.watch(value)
        return value * value

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = square(x, tape)
    assert float(tape.gradient(y, x)) == 6.0


def test_a_tape_made_in_a_function(tf):
    def derivative(function, value):
        with tf.GradientTape() as tape:
            tape.watch(value)
            result = function(value)
        return tape.gradient(result, value)

    x = tf.constant(2.0)
    cube = lambda value: value**3
    assert float(derivative(cube, x)) == 12.0
    assert float(derivative(lambda value: derivative(cube, value), x)) == 12.0
    assert float(derivative(lambda u: derivative(lambda v: derivative(cube, v), u), x)) == 6.0


def test_the_tape_of_one_thread_does_not_see_another(tf):
    x = tf.Variable(3.0)
    seen = []

    def compute():
        seen.append(x * x)

    with tf.GradientTape() as tape:
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
    assert float(seen[0]) == 9.0
    assert tape.gradient(seen[0], x) is None


def test_eight_threads_with_tapes_of_their_own(tf):
    results, failures = {}, []
    barrier = threading.Barrier(8)

    def work(number):
        try:
            x = tf.Variable(float(number))
            barrier.wait()
            for _ in range(20):
                with tf.GradientTape() as tape:
                    y = x * x * x + tf.sin(x)
                results.setdefault(number, []).append(float(tape.gradient(y, x)))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for number in range(8):
        assert results[number] == pytest.approx([3 * number**2 + np.cos(number)] * 20, rel=1e-6)


def test_a_tape_may_be_asked_in_another_thread(tf):
    tape, x, y = squared(tf)
    results = []
    thread = threading.Thread(target=lambda: results.append(float(tape.gradient(y, x))))
    thread.start()
    thread.join()
    assert results == [6.0]


# ----------------------------------------------------------------------------------------------------- what is released


def recorded_intermediate(tf, tape, x):
    """A weak reference to a tensor that only the tape can still hold, and the result that needs it."""
    intermediate = tf.exp(x)
    return weakref.ref(intermediate), tf.sin(intermediate)


def test_intermediates_can_be_referred_to_weakly(tf):
    t = tf.constant(3.0) * 2.0
    reference = weakref.ref(t)
    assert reference() is t
    del t
    assert reference() is None


def test_intermediates_are_free_after_gradient(tf):
    x = tf.Variable(0.5)
    gc.collect()
    gc.disable()
    try:
        with tf.GradientTape() as tape:
            reference, y = recorded_intermediate(tf, tape, x)
        tape.gradient(y, x)
        assert reference() is None
    finally:
        gc.enable()


def test_intermediates_are_free_after_reset(tf):
    x = tf.Variable(0.5)
    gc.disable()
    try:
        with tf.GradientTape() as tape:
            reference, _ = recorded_intermediate(tf, tape, x)
            tape.reset()
            assert reference() is None
    finally:
        gc.enable()


def test_intermediates_are_free_after_the_tape_is_deleted(tf):
    x = tf.Variable(0.5)
    gc.disable()
    try:
        with tf.GradientTape(persistent=True) as tape:
            reference, y = recorded_intermediate(tf, tape, x)
        tape.gradient(y, x)
        del tape
        assert reference() is None
    finally:
        gc.enable()


def test_the_tape_itself_is_in_no_reference_cycle(tf):
    x = tf.Variable(0.5)
    gc.disable()
    try:
        with tf.GradientTape() as tape:
            y = tf.sin(tf.exp(x))
        reference = weakref.ref(tape)
        tape.gradient(y, x)
        del tape
        assert reference() is None
    finally:
        gc.enable()


def test_operations_that_no_source_reaches_are_not_kept(tf):
    x = tf.constant(0.5)
    gc.disable()
    try:
        with tf.GradientTape():
            reference, _ = recorded_intermediate(tf, None, x)
            assert reference() is None
    finally:
        gc.enable()


def test_memory_is_flat_over_a_thousand_steps(tf):
    x = tf.Variable(np.ones(1000, np.float32))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.sin(x) - 0.5))
        x.assign_sub(0.01 * tape.gradient(loss, x))

    for _ in range(20):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            step()
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 100_000


def test_a_chain_of_three_thousand_operations(tf):
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * 1.0
        for _ in range(3000):
            y = y * 1.0001
    assert float(tape.gradient(y, x)) == pytest.approx(1.0001**3000, rel=1e-3)


def test_second_order_of_a_chain_of_three_hundred_operations(tf):
    x = tf.Variable(1.0, dtype=tf.float64)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x
            for _ in range(300):
                y = y * x
        dy = inner.gradient(y, x)
    assert float(dy) == pytest.approx(301.0)
    assert float(outer.gradient(dy, x)) == pytest.approx(301.0 * 300.0)
