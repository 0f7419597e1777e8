"""Plans of gradients that are asked for again and again: they give what the general way gives, or None."""

import copy
import sys

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.tape import plan

R = np.random.default_rng(7)


def variables(*shapes):
    return [ad.Variable(R.normal(size=shape)) for shape in shapes]


def recorded(w, b, x, watch=(), **options):
    with ad.GradientTape(**options) as tape:
        for t in watch:
            tape.watch(t)
        h = np.tanh(x @ w + b)
        loss = np.mean(h * h)
    return tape, h, loss


def by_hand(w, b, x):
    h = np.tanh(x @ w + b)
    g = 2.0 / h.size * h * (1.0 - h * h)
    return x.T @ g, g.sum(axis=0)


def warm(w, b, x, sources=None, **options):
    """Make the plan. Gives it."""
    for _ in range(plan.AFTER + 1):
        tape, _, loss = recorded(w, b, x, **options)
        node = tape._rec.node
        tape.gradient(loss, [w, b] if sources is None else sources)
    assert node.plan is not None
    return node.plan


def check(found, want):
    for g, v in zip(found, want, strict=True):
        np.testing.assert_allclose(g.numpy(), v, rtol=1e-12)


def fresh(rows=5, columns=4, inner=3):
    w, b = variables((inner, columns), (columns,))
    return w, b, ad.constant(R.normal(size=(rows, inner)))


def values(*tensors):
    return [t.numpy() for t in tensors]


def test_a_plan_gives_what_the_general_way_gives():
    w, b, x = fresh()
    made = warm(w, b, x)
    tape, _, loss = recorded(w, b, x)
    check(made(tape, tape._rec, loss, [w, b]), by_hand(*values(w, b, x)))
    assert tape._rec is None
    assert tape.watched_variables() == (w, b)
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(loss, [w, b])


def test_a_step_of_a_training_loop_takes_few_calls(monkeypatch):
    """Of a step with eight operations and four variables: their number is what a step of a small network costs."""
    x, t = ad.constant(R.normal(size=(8, 4))), ad.constant(R.normal(size=(8, 1)))
    parameters = variables((4, 8), (8,), (8, 1), (1,))
    w1, b1, w2, b2 = parameters

    def step():
        with ad.GradientTape() as tape:
            d = np.tanh(x @ w1 + b1) @ w2 + b2 - t
            loss = np.mean(d * d)
        return tape.gradient(loss, parameters)

    for _ in range(plan.AFTER + 1):
        want = step()
    monkeypatch.setattr(ad.GradientTape, "_usual", None)  # the plan alone computes it
    calls = []
    sys.setprofile(lambda frame, event, arg: calls.append(frame.f_code.co_name) if event == "call" else None)
    try:
        found = step()
    finally:
        sys.setprofile(None)
    check(found, [g.numpy() for g in want])
    assert len(calls) <= 28, calls


@pytest.mark.parametrize("shape", [(6, 4, 3), (5, 1, 3), (1, 4, 3), (5, 4, 1), (1, 1, 1)])
def test_other_shapes_in_the_same_structure(shape):
    warm(*fresh())
    w, b, x = fresh(*shape)
    for _ in range(3):
        tape, _, loss = recorded(w, b, x)
        check(tape.gradient(loss, [w, b]), by_hand(*values(w, b, x)))


def test_another_dtype_of_a_constant():
    w, b, x = fresh()
    warm(w, b, x)
    x = ad.constant(x.numpy().astype(np.float32))
    tape, _, loss = recorded(w, b, x)
    check(tape.gradient(loss, [w, b]), by_hand(*values(w, b, x)))


def test_the_plan_is_for_these_sources_and_this_target():
    w, b, x = fresh()
    made = warm(w, b, x)
    of_w, of_b = by_hand(*values(w, b, x))
    other = fresh()[0]
    for sources, want in (
        ([b, w], (of_b, of_w)),
        ((w, b), (of_w, of_b)),
        ([w], (of_w,)),
        ([w, b, w], (of_w, of_b, of_w)),
    ):
        tape, h, loss = recorded(w, b, x, persistent=True)
        assert made(tape, tape._rec, loss, sources) is None
        assert made(tape, tape._rec, h, [w, b]) is None
        assert made(tape, tape._rec, loss, [w, other]) is None
        assert made(tape, tape._rec, 1.0, [w, b]) is None
        check(tape.gradient(loss, sources), want)
        assert tape.gradient(loss, [w, other])[1] is None
    tape, h, loss = recorded(w, b, x, persistent=True)
    check(tape.gradient({"a": loss}, {"w": w, "b": b}).values(), (of_w, of_b))
    np.testing.assert_allclose(tape.gradient(h, w).numpy(), x.numpy().T @ (1.0 - h.numpy() ** 2))


def test_other_variables_take_the_plan():
    made = warm(*fresh())
    w, b, x = fresh()
    tape, _, loss = recorded(w, b, x)
    check(made(tape, tape._rec, loss, [w, b]), by_hand(*values(w, b, x)))


def test_one_source_alone_and_in_a_list():
    w, b, x = fresh()
    made = warm(w, b, x, sources=w)
    want = by_hand(*values(w, b, x))[0]
    for sources in (w, [w]):
        tape, _, loss = recorded(w, b, x)
        found = made(tape, tape._rec, loss, sources)
        assert type(found) is type([]) or sources is w
        check(found if sources is not w else [found], [want])
    tape, _, loss = recorded(w, b, x, persistent=True)
    assert made(tape, tape._rec, loss, (w,)) is None
    assert type(tape.gradient(loss, (w,))) is tuple


def test_a_persistent_tape_keeps_its_recording():
    w, b, x = fresh()
    warm(w, b, x)
    tape, _, loss = recorded(w, b, x, persistent=True)
    for _ in range(3):
        check(tape.gradient(loss, [w, b]), by_hand(*values(w, b, x)))
    assert tape.watched_variables() == (w, b)


def test_a_variable_that_is_assigned_meanwhile():
    w, b, x = fresh()
    warm(w, b, x)
    with ad.GradientTape() as tape:
        h = np.tanh(x @ w + b)
        loss = np.mean(h * h)
        w.assign(2.0 * w)
        again = np.sum(w)
    found = tape.gradient([loss, again], [w, b])
    want = by_hand(0.5 * w.numpy(), b.numpy(), x.numpy())
    check(found, (want[0] + 1.0, want[1]))


def test_watched_constants():
    w, b, x = (ad.constant(v) for v in values(*fresh()))
    made = warm(w, b, x, watch=(w, b))
    want = by_hand(*values(w, b, x))
    tape, _, loss = recorded(w, b, x, watch=(w, b))
    check(made(tape, tape._rec, loss, [w, b]), want)
    tape, _, loss = recorded(w, b, x, watch=([w, b],))
    check(tape.gradient(loss, [w, b]), want)
    tape, _, loss = recorded(w, b, x, watch=(b, w))
    check(tape.gradient(loss, [w, b]), want)
    tape, _, loss = recorded(w, b, x, watch=(b,))
    assert tape.gradient(loss, [w, b])[0] is None
    tape, _, loss = recorded(w, b, x)
    assert tape.gradient(loss, [w, b]) == [None, None]
    assert tape.watched_variables() == ()


def test_a_constant_is_watched_only_by_tapes_that_were_told_so():
    x, y = ad.constant([1.0, 2.0]), ad.constant([3.0, 4.0])
    for first, second in ((x, y), (y, x), (x, y)):
        with ad.GradientTape(persistent=True) as tape:
            tape.watch(first)
            z = np.sum(first * second + second)
        check([tape.gradient(z, first)], [second.numpy()])
        assert tape.gradient(z, second) is None
        with ad.GradientTape(persistent=True) as tape:
            u = first * second
            tape.watch(second)
            z = np.sum(first * second) + np.sum(u)
        check([tape.gradient(z, second)], [first.numpy()])
        assert tape.gradient(z, first) is None


def test_constants_watched_in_two_recordings_at_once():
    x, y = ad.constant([1.0, 2.0]), ad.constant([3.0, 4.0])
    outer = ad.GradientTape(persistent=True)
    with outer:
        outer.watch([x, y])
        a = x * y
    with ad.GradientTape(persistent=True) as other:
        other.watch([y, x])
        b = x * y
    with outer:
        c = x * y * y + a
    with other:
        d = x * x * y + b
    check(outer.gradient(c, [x, y]), [y.numpy() ** 2 + y.numpy(), 2.0 * x.numpy() * y.numpy() + x.numpy()])
    check(other.gradient(d, [x, y]), [2.0 * x.numpy() * y.numpy() + y.numpy(), x.numpy() ** 2 + x.numpy()])


def test_a_tape_that_is_used_again_and_inside_of_another():
    w, b, x = fresh()
    warm(w, b, x)
    want = by_hand(*values(w, b, x))
    tape = ad.GradientTape()
    for _ in range(3):
        with tape:
            loss = np.mean(np.square(np.tanh(x @ w + b)))
        check(tape.gradient(loss, [w, b]), want)
    with ad.GradientTape() as outer:
        tape, _, loss = recorded(w, b, x)
        found = tape.gradient(loss, [w, b])
        total = np.sum(found[0])
    assert outer.gradient(total, b).shape == b.shape
    check(found, want)


def test_variables_read_and_not_used_stand_in_the_plan():
    w, b, x = fresh()
    (unused,) = variables((2,))
    for _ in range(plan.AFTER + 2):
        with ad.GradientTape() as tape:
            _ = unused + 1.0
            h = np.tanh(x @ w + b)
            loss = np.mean(h * h)
        check(tape.gradient(loss, [w, b]), by_hand(*values(w, b, x)))
        assert tape.watched_variables() == (w, b, unused)


def test_a_copy_of_a_constant_is_another_constant():
    x = ad.constant([1.0, 2.0])
    assert copy.copy(x) is x
    assert copy.deepcopy(x) is x
