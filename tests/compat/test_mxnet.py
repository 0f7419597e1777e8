"""MXNet's autograd, as its documentation and the chapter of Dive into Deep Learning show it."""

from __future__ import annotations

import numpy
import pytest

from autodiff_compiler.compat.mxnet import autograd, np, npx
from autodiff_compiler.compat.mxnet.base import MXNetError

npx.set_np()


# --- the chapter, cell by cell ----------------------------------------------------------------------------------------


def test_the_chapter_in_one_session() -> None:
    x = np.arange(4.0)
    assert repr(x) == "array([0., 1., 2., 3.])"
    # We allocate memory for a tensor's gradient by invoking `attach_grad`
    x.attach_grad()
    # After we calculate a gradient taken with respect to `x`, we will be able to
    # access it via the `grad` attribute, whose values are initialized with 0s
    assert repr(x.grad) == "array([0., 0., 0., 0.])"
    # Place our code inside an `autograd.record` scope to build the computational
    # graph
    with autograd.record():
        y = 2 * np.dot(x, x)
    assert repr(y) == "array(28.)"
    y.backward()
    assert repr(x.grad) == "array([ 0.,  4.,  8., 12.])"
    assert repr(x.grad == 4 * x) == "array([ True,  True,  True,  True])"
    with autograd.record():
        y = x.sum()
    y.backward()
    assert repr(x.grad) == "array([1., 1., 1., 1.])"  # Overwritten by the newly calculated gradient
    # When we invoke `backward` on a vector-valued variable `y` (function of `x`),
    # a new scalar variable is created by summing the elements in `y`. Then the
    # gradient of that scalar variable with respect to `x` is computed
    with autograd.record():
        y = x * x  # `y` is a vector
    y.backward()
    assert repr(x.grad) == "array([0., 2., 4., 6.])"  # Equals to y = sum(x * x)
    with autograd.record():
        y = x * x
        u = y.detach()
        z = u * x
    z.backward()
    assert repr(x.grad == u) == "array([ True,  True,  True,  True])"
    y.backward()
    assert repr(x.grad == 2 * x) == "array([ True,  True,  True,  True])"


def test_the_chapter_on_control_flow() -> None:
    def f(a):
        b = a * 2
        while np.linalg.norm(b) < 1000:
            b = b * 2
        if b.sum() > 0:
            c = b
        else:
            c = 100 * b
        return c

    for seed in range(4):
        np.random.seed(seed)
        a = np.random.normal()
        a.attach_grad()
        with autograd.record():
            d = f(a)
        d.backward()
        equal = a.grad == d / a
        assert repr(equal) == "array(True)" or abs(float(a.grad) / float(d / a) - 1) < 1e-6


def test_exercise_backward_twice_raises() -> None:
    x = np.arange(4.0)
    x.attach_grad()
    with autograd.record():
        y = 2 * np.dot(x, x)
    y.backward()
    with pytest.raises(
        MXNetError, match=r"(?s)Cannot differentiate node because it is not in a computational graph.*retain_graph=True"
    ):
        y.backward()


# --- recording --------------------------------------------------------------------------------------------------------


def test_modes() -> None:
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.record():
        assert autograd.is_recording() and autograd.is_training()
        with autograd.pause():
            assert not autograd.is_recording() and not autograd.is_training()
        with autograd.predict_mode():
            assert autograd.is_recording() and not autograd.is_training()
        assert autograd.is_recording() and autograd.is_training()
    with autograd.record(train_mode=False):
        assert autograd.is_recording() and not autograd.is_training()
    with autograd.train_mode():
        assert not autograd.is_recording() and autograd.is_training()
    with pytest.raises(ValueError), autograd.record():
        raise ValueError
    assert not autograd.is_recording() and not autograd.is_training()


def test_what_is_computed_outside_of_record_has_no_gradient() -> None:
    x = np.ones(2)
    x.attach_grad()
    y = x * 2
    with pytest.raises(MXNetError, match="Cannot differentiate node because it is not in a computational graph"):
        y.backward()
    with autograd.record():
        with autograd.pause():
            z = x * 3
        w = z * x
    w.backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_retain_graph() -> None:
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4.0]
    with pytest.raises(MXNetError, match="retain_graph=True"):
        y.backward()


def test_grad_req() -> None:
    x, w, c = np.array([2.0]), np.array([3.0]), np.array([5.0])
    x.attach_grad(grad_req="add")
    w.attach_grad()
    c.attach_grad(grad_req="null")
    for _ in range(3):
        with autograd.record():
            y = x * w * c
        y.backward()
    assert x.grad.tolist() == [45.0] and w.grad.tolist() == [10.0] and (c.grad is None or c.grad.tolist() == [0.0])
    x.zero_grad()
    assert x.grad.tolist() == [0.0]


def test_grad_is_the_same_array_always() -> None:
    x = np.array([2.0])
    x.attach_grad()
    buffer = x.grad
    with autograd.record():
        y = x * x
    y.backward()
    assert x.grad is buffer and buffer.tolist() == [4.0]


def test_head_gradient() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = x * x
    y.backward(np.array([1.0, 10.0]))
    assert x.grad.tolist() == [2.0, 40.0]
    with autograd.record():
        a, b = x * 2, x * x
    autograd.backward([a, b])
    assert x.grad.tolist() == [4.0, 6.0]


def test_grad_gives_a_list_and_leaves_the_arrays_alone() -> None:
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        y = x**3
        (dx,) = autograd.grad(y, [x], create_graph=True)
        assert dx.tolist() == [12.0]
        z = dx * dx
    z.backward()
    assert x.grad.tolist() == [288.0]
    with autograd.record():
        y = np.exp(x) + x
    found = autograd.grad(y, x)
    assert isinstance(found, list) and found[0].tolist() == pytest.approx([float(numpy.exp(2.0)) + 1])


def test_attach_grad_cuts_the_path() -> None:
    x = np.array([2.0])
    x.attach_grad()
    with autograd.record():
        h = x * x
        h.attach_grad()
        y = h * 3
    y.backward()
    assert h.grad.tolist() == [3.0] and x.grad.tolist() == [0.0]


def test_in_place_writes() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    x += 1
    x[:] = x * 2
    x[0] = 7
    assert x.tolist() == [7.0, 6.0]
    message = "Inplace operations .* are not supported when recording with autograd"
    with autograd.record():
        with pytest.raises(MXNetError, match=message):
            x += 1
        with pytest.raises(MXNetError, match=message):
            x[:] = 0
        y = x * x
        with pytest.raises(MXNetError, match=message):
            y += 1
    y.backward()
    assert x.grad.tolist() == [14.0, 12.0]
    x -= 0.5 * x.grad
    assert x.tolist() == [0.0, 0.0]


def test_custom_function() -> None:
    class Sigmoid(autograd.Function):
        def forward(self, x):
            y = 1 / (1 + np.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy):
            (y,) = self.saved_tensors
            return dy * y * (1 - y)

    x = np.array([0.0, 1.0])
    x.attach_grad()
    f = Sigmoid()
    with autograd.record():
        m = f(x)
    m.backward()
    assert numpy.allclose(x.grad.asnumpy(), [0.25, 0.19661193])


@pytest.mark.parametrize(
    ("gradients", "message"),
    [
        (lambda g: g, r"Product.backward must return exactly the same number of arrays .*: 2, not 1"),
        (lambda g: (g, g, g), r"Product.backward must return exactly the same number of arrays .*: 2, not 3"),
        (
            lambda g: (g, g.sum()),
            r"Product.backward must return a gradient of the shape .*\(2,\) for argument 1, not \(\)",
        ),
        (lambda g: (np.ones((2, 2)), g), r"shape of each argument of forward: \(2,\) for argument 0, not \(2, 2\)"),
        (lambda g: (g, 1.0), "Product.backward must return arrays, not float for argument 1"),
    ],
)
def test_a_custom_function_that_breaks_its_contract(gradients, message) -> None:
    class Product(autograd.Function):
        def forward(self, x, y):
            return x * y

        def backward(self, dz):
            return gradients(dz)

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        z = Product()(x, y)
    with pytest.raises(MXNetError, match=message):
        z.backward()


def test_a_custom_function_gives_arrays() -> None:
    class Number(autograd.Function):
        def forward(self, x):
            return 3.0

    with pytest.raises(MXNetError, match="Number.forward must return arrays, not float"):
        Number()(np.ones(2))


# --- arrays -----------------------------------------------------------------------------------------------------------


def test_arrays_are_float32_by_default() -> None:
    assert (
        np.array([1, 2]).dtype == numpy.float32
        and np.ones(2).dtype == numpy.float32
        and np.zeros((2, 3)).shape == (2, 3)
    )
    assert np.array([1, 2], dtype="int32").dtype == numpy.int32 and np.arange(3).dtype == numpy.float32
    assert np.linspace(0, 1, 3).dtype == numpy.float32 and np.full((2,), 7.0).dtype == numpy.float32
    assert np.array(numpy.ones(2)).dtype == numpy.float64 or np.array(numpy.ones(2)).dtype == numpy.float32
    assert np.random.uniform(size=(2,)).dtype == numpy.float32 and np.eye(2).dtype == numpy.float32
    assert repr(np.array([1], dtype="int32")) == "array([1], dtype=int32)"
    assert repr(np.ones((2, 2))) == "array([[1., 1.],\n       [1., 1.]])"
    assert repr(np.array(1.5)) == "array(1.5)"


def test_conversions() -> None:
    x = np.array([[1.0, 2.0]])
    assert isinstance(x.asnumpy(), numpy.ndarray) and x.asnumpy().dtype == numpy.float32
    assert np.array(3.0).item() == 3.0 and float(np.array([2.5])) == 2.5 and x.tolist() == [[1.0, 2.0]]
    assert x.astype("float64").dtype == numpy.float64 and x.size == 2 and x.ndim == 2 and len(x) == 1
    assert isinstance(x, np.ndarray) and x.T.shape == (2, 1) and x.copy().tolist() == x.tolist()
    assert numpy.asarray(x).shape == (1, 2) and bool(np.array([1.0])) and str(x) == "[[1. 2.]]"
    with pytest.raises(ValueError, match="truth value"):
        bool(x)


def test_operations_and_gradients() -> None:
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    cases = {
        "np.exp(x).sum()": numpy.exp([[1, 2], [3, 4]]),
        "np.log(x).mean()": [[0.25, 0.125], [1 / 12, 0.0625]],
        "(x @ x).sum()": [[7.0, 11.0], [9.0, 13.0]],
        "x.max()": [[0, 0], [0, 1]],
        "np.where(x > 2, x * x, x).sum()": [[1, 1], [6, 8]],
        "x.reshape(4)[1:3].sum()": [[0, 1], [1, 0]],
        "np.concatenate([x, x], axis=1).sum()": [[2, 2], [2, 2]],
        "(x.T * np.array([1.0, 10.0])).sum()": [[1, 1], [10, 10]],
        "np.maximum(x, 2.5).sum()": [[0, 0], [1, 1]],
        "np.linalg.norm(x)": numpy.array([[1, 2], [3, 4]]) / numpy.sqrt(30),
        "npx.relu(x - 2.5).sum()": [[0, 0], [1, 1]],
        "npx.softmax(x).sum()": [[0, 0], [0, 0]],
        "np.tanh(x).sum()": 1 - numpy.tanh([[1, 2], [3, 4]]) ** 2,
        "x[0].sum() + x[1, 1]": [[1, 1], [0, 1]],
        "np.expand_dims(x, 0).squeeze().sum()": [[1, 1], [1, 1]],
        "np.clip(x, 1.5, 3.5).sum()": [[0, 1], [1, 0]],
        "np.einsum('ij,ij->', x, x)": [[2, 4], [6, 8]],
        "x.std()": (numpy.array([[1, 2], [3, 4]]) - 2.5) / 4 / numpy.sqrt(1.25),
    }
    for text, expected in cases.items():
        with autograd.record():
            y = eval(text, {"np": np, "npx": npx, "x": x})
        y.backward()
        assert numpy.allclose(x.grad.asnumpy(), expected, atol=1e-6), text


def test_a_masked_value_with_an_infinite_slope_has_the_gradient_nan() -> None:
    x = np.array([0.0, 4.0])
    x.attach_grad()
    with autograd.record():
        y = np.where(x > 0, np.sqrt(x), 0.0) + npx.relu(np.sqrt(x))
    y.backward()
    assert numpy.isnan(x.grad.asnumpy()[0]) and x.grad.tolist()[1] == 0.5


def test_npx() -> None:
    x = np.array([[1.0, 2.0, 3.0]])
    assert numpy.allclose(npx.softmax(x).asnumpy(), [[0.09003057, 0.24472848, 0.66524094]])
    assert numpy.allclose(npx.log_softmax(x).asnumpy(), numpy.log([[0.09003057, 0.24472848, 0.66524094]]))
    assert npx.one_hot(np.array([0, 2]), 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert npx.pick(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0])).tolist() == [2.0, 3.0]
    assert npx.sigmoid(np.array([0.0])).tolist() == [0.5] and npx.relu(np.array([-1.0])).tolist() == [0.0]
    assert npx.leaky_relu(np.array([-1.0]), slope=0.1).tolist() == pytest.approx([-0.1])
    assert npx.leaky_relu(np.array([-1.0]), "elu", 2.0).tolist() == pytest.approx([-1.2642411])
    assert npx.activation(np.array([0.0]), "softrelu").tolist() == pytest.approx([0.6931472])
    with pytest.raises(ValueError, match="act_type='nonsense' is not there. Instead: relu, softrelu"):
        npx.activation(np.array([0.0]), "nonsense")
    x.attach_grad()
    with autograd.record():
        y = npx.stop_gradient(x) * x
    y.backward()
    assert x.grad.tolist() == x.tolist()


def test_dropout() -> None:
    x = np.ones(1000)
    assert npx.dropout(x, 0.25) is x
    x.attach_grad()
    np.random.seed(0)
    with autograd.record():
        y = npx.dropout(x, 0.25)
    y.backward()
    assert set(y.tolist()) == {0.0, 1.3333333730697632} and 650 < (y.asnumpy() != 0).sum() < 850
    assert x.grad.tolist() == y.tolist()


def test_random_arrays() -> None:
    drawn = []
    for _ in range(2):
        np.random.seed(3)
        drawn.append([
            np.random.normal(1.0, np.ones(4)), np.random.uniform(size=(2, 2)), np.random.randn(3), np.random.rand(2),
            np.random.randint(0, 5, 3), np.random.choice(np.arange(4.0), 2), np.random.permutation(5),
        ])  # fmt: skip
    assert [a.tolist() for a in drawn[0]] == [a.tolist() for a in drawn[1]]
    assert [a.shape for a in drawn[0]] == [(4,), (2, 2), (3,), (2,), (3,), (2,), (5,)]
    x = np.arange(6.0)
    np.random.shuffle(x)
    assert sorted(x.tolist()) == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_subscripts_and_operators() -> None:
    x = np.arange(6.0).reshape(2, 3)
    assert x[np.array([1.0, 0.0])].tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]] and x[1, np.array(2.0)].item() == 5.0
    assert x[[0]].shape == (1, 3) and x[x > 3].tolist() == [4.0, 5.0] and [row.shape for row in x] == [(3,), (3,)]
    assert (numpy.ones(3) + x).tolist() == (x + 1).tolist() and type(numpy.ones(3) + x) is np.ndarray
    assert (x == None) is False and (x != None) is True and hash(x) == id(x)  # noqa: E711
    y = x
    y += numpy.ones(3)
    y *= 2
    assert y is x and x.tolist() == [[2.0, 4.0, 6.0], [8.0, 10.0, 12.0]]
    i = np.array([1, 2], dtype="int32")
    with pytest.raises(MXNetError, match="a result of dtype float32 cannot be written into an array of dtype int32"):
        i += 1.5


def test_what_the_pass_reads_was_overwritten_outside_of_record() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        h = x * 2
        y = (h * h).sum()
    h[:] = 5.0
    with pytest.raises(RuntimeError, match=r"\[ndarray of float32 \[2\]\], which is output 0 of multiply, is at ver"):
        y.backward()


def test_a_gradient_that_was_read_and_overwritten_is_noticed() -> None:
    x, w = np.array([2.0]), np.array([1.0])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        y = x * x
    y.backward()
    with autograd.record():
        z = x.grad * w
        y = x * x * x
    y.backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_absent_names() -> None:
    with pytest.raises(TypeError, match=r"add\(\) has no argument 'out'. Instead: out\[:\] = add"):
        np.add(np.ones(1), np.ones(1), out=np.zeros(1))
    for module in (np, npx, autograd):
        with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
            module.nonsense
    with pytest.raises(AttributeError, match="nonsense"):
        np.ones(1).nonsense
