"""TensorFlow's guide to automatic differentiation, cell by cell: the German, the Chinese and the older Russian version.

The cells stand as the guide has them. They differ between the versions in comments, so each stands here once.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from tests.compat.notebook import Notebook


@pytest.fixture
def notebook(tf):
    return Notebook(tf=tf, np=np)


@pytest.fixture
def plt(notebook):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    notebook.names["plt"] = plt
    yield plt
    plt.close("all")


# -------------------------------------------------------------------------------------------------- computing gradients


def test_a_scalar(notebook):
    notebook.run("""
x = tf.Variable(3.0)

with tf.GradientTape() as tape:
  y = x**2
""")
    result = notebook.run("""
# dy = 2x * dx
dy_dx = tape.gradient(y, x)
dy_dx.numpy()
""")
    assert result.value == 6.0 and isinstance(result.value, np.float32)


MATRICES = """
w = tf.Variable(tf.random.normal((3, 2)), name='w')
b = tf.Variable(tf.zeros(2, dtype=tf.float32), name='b')
x = [[1., 2., 3.]]

with tf.GradientTape(persistent=True) as tape:
  y = x @ w + b
  loss = tf.reduce_mean(y**2)
"""


def expected_gradients(notebook):
    """The gradients of the mean square of x @ w + b."""
    y = np.array([[1.0, 2.0, 3.0]]) @ notebook["w"].numpy()
    return np.array([[1.0], [2.0], [3.0]]) @ y, y[0]


def assert_equal_sums(found, expected):
    """Sums of three products of random float32 numbers of about 1, which may cancel."""
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=3e-6)


def test_matrices(notebook):
    notebook.run(MATRICES)
    notebook.run("[dl_dw, dl_db] = tape.gradient(loss, [w, b])")
    dl_dw, dl_db = expected_gradients(notebook)
    assert_equal_sums(notebook["dl_dw"], dl_dw)
    assert_equal_sums(notebook["dl_db"], dl_db)
    result = notebook.run("""
print(w.shape)
print(dl_dw.shape)
""")
    assert result.printed == "(3, 2)\n(3, 2)\n"
    assert notebook["w"].name == "w:0" and notebook["b"].name == "b:0"


def test_a_dictionary_of_variables(notebook):
    notebook.run(MATRICES)
    result = notebook.run("""
my_vars = {
    'w': w,
    'b': b
}

grad = tape.gradient(loss, my_vars)
grad['b']
""")
    assert_equal_sums(result.value, expected_gradients(notebook)[1])
    assert result.shown.startswith("<tf.Tensor: shape=(2,), dtype=float32, numpy=array([")
    assert sorted(notebook["grad"]) == ["b", "w"]


def test_a_dictionary_of_other_variables_is_not_connected(notebook):
    notebook.run(MATRICES)
    result = notebook.run("""
my_vars = {
    'w': tf.Variable(tf.random.normal((3, 2)), name='w'),
    'b': tf.Variable(tf.zeros(2, dtype=tf.float32), name='b')
}

grad = tape.gradient(loss, my_vars)
grad['b']
""")
    assert result.value is None
    assert notebook["grad"] == {"w": None, "b": None}


def test_a_model(notebook):
    notebook.run("""
layer = tf.keras.layers.Dense(2, activation='relu')
x = tf.constant([[1., 2., 3.]])

with tf.GradientTape() as tape:
  # Forward pass
  y = layer(x)
  loss = tf.reduce_mean(y**2)

# Calculate gradients with respect to every trainable variable
grad = tape.gradient(loss, layer.trainable_variables)
""")
    result = notebook.run("""
for var, g in zip(layer.trainable_variables, grad):
  print(f'{var.name}, shape: {g.shape}')
""")
    # Ours are called as the guide has it, dense/kernel:0 (test_differences_tf.py); Keras 3 says kernel.
    assert re.sub(r"dense\w*/|:0", "", result.printed) == "kernel, shape: (3, 2)\nbias, shape: (2,)\n"
    y = np.maximum(np.array([[1.0, 2.0, 3.0]]) @ notebook["layer"].kernel.numpy(), 0)
    np.testing.assert_allclose(notebook["y"].numpy(), y, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(notebook["grad"][0].numpy(), np.array([[1.0], [2.0], [3.0]]) @ y, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(notebook["grad"][1].numpy(), y[0], rtol=1e-5, atol=1e-7)


# ------------------------------------------------------------------------------------------------ what the tape watches


def test_what_is_watched(notebook):
    result = notebook.run("""
# A trainable variable
x0 = tf.Variable(3.0, name='x0')
# Not trainable
x1 = tf.Variable(3.0, name='x1', trainable=False)
# Not a Variable: A variable + tensor returns a tensor.
x2 = tf.Variable(2.0, name='x2') + 1.0
# Not a variable
x3 = tf.constant(3.0, name='x3')

with tf.GradientTape() as tape:
  y = (x0**2) + (x1**2) + (x2**2)

grad = tape.gradient(y, [x0, x1, x2, x3])

for g in grad:
  print(g)
""")
    assert result.printed == "tf.Tensor(6.0, shape=(), dtype=float32)\nNone\nNone\nNone\n"
    result = notebook.run("[var.name for var in tape.watched_variables()]")
    assert result.shown == "['x0:0']"


def test_watching_a_tensor(notebook):
    result = notebook.run("""
x = tf.constant(3.0)
with tf.GradientTape() as tape:
  tape.watch(x)
  y = x**2

# dy = 2x * dx
dy_dx = tape.gradient(y, x)
print(dy_dx.numpy())
""")
    assert result.printed == "6.0\n"


def test_watching_only_some_variables(notebook):
    notebook.run("""
x0 = tf.Variable(0.0)
x1 = tf.Variable(10.0)

with tf.GradientTape(watch_accessed_variables=False) as tape:
  tape.watch(x1)
  y0 = tf.math.sin(x0)
  y1 = tf.nn.softplus(x1)
  y = y0 + y1
  ys = tf.reduce_sum(y)
""")
    result = notebook.run("""
# dys/dx1 = exp(x1) / (1 + exp(x1)) = sigmoid(x1)
grad = tape.gradient(ys, {'x0': x0, 'x1': x1})

print('dy/dx0:', grad['x0'])
print('dy/dx1:', grad['x1'].numpy())
""")
    assert result.printed == "dy/dx0: None\ndy/dx1: 0.9999546\n"


# ------------------------------------------------------------------------------------------------- intermediate results


def test_an_intermediate_result(notebook):
    result = notebook.run("""
x = tf.constant(3.0)

with tf.GradientTape() as tape:
  tape.watch(x)
  y = x * x
  z = y * y

# Use the tape to compute the gradient of z with respect to the
# intermediate value y.
# dz_dy = 2 * y and y = x ** 2 = 9
print(tape.gradient(z, y).numpy())
""")
    assert result.printed == "18.0\n"


def test_a_persistent_tape(notebook):
    result = notebook.run("""
x = tf.constant([1, 3.0])
with tf.GradientTape(persistent=True) as tape:
  tape.watch(x)
  y = x * x
  z = y * y

print(tape.gradient(z, x).numpy())  # [4.0, 108.0] (4 * x**3 at x = [1.0, 3.0])
print(tape.gradient(y, x).numpy())  # [2.0, 6.0] (2 * x at x = [1.0, 3.0])
""")
    assert result.printed == "[  4. 108.]\n[2. 6.]\n"
    notebook.run("del tape   # Drop the reference to the tape")


# ------------------------------------------------------------------------------------------ targets that are not scalar


def test_two_targets(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
  y0 = x**2
  y1 = 1 / x

print(tape.gradient(y0, x).numpy())
print(tape.gradient(y1, x).numpy())
""")
    assert result.printed == "4.0\n-0.25\n"


def test_the_sum_of_two_targets(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
  y0 = x**2
  y1 = 1 / x

print(tape.gradient({'y0': y0, 'y1': y1}, x).numpy())
""")
    assert result.printed == "3.75\n"


def test_a_target_that_is_a_vector(notebook):
    result = notebook.run("""
x = tf.Variable(2.)

with tf.GradientTape() as tape:
  y = x * [3., 4.]

print(tape.gradient(y, x).numpy())
""")
    assert result.printed == "7.0\n"


def test_the_plot_of_the_sigmoid(notebook, plt):
    notebook.run("""
x = tf.linspace(-10.0, 10.0, 200+1)

with tf.GradientTape() as tape:
  tape.watch(x)
  y = tf.nn.sigmoid(x)

dy_dx = tape.gradient(y, x)
""")
    notebook.run("""
plt.plot(x, y, label='y')
plt.plot(x, dy_dx, label='dy/dx')
plt.legend()
_ = plt.xlabel('x')
""")
    x = np.linspace(-10, 10, 201)
    sigmoid = 1 / (1 + np.exp(-x))
    first, second = plt.gca().lines
    np.testing.assert_allclose(first.get_xdata(), x, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(first.get_ydata(), sigmoid, rtol=1e-5)
    np.testing.assert_allclose(second.get_ydata(), sigmoid * (1 - sigmoid), rtol=1e-4, atol=1e-7)
    assert [text.get_text() for text in plt.gca().get_legend().get_texts()] == ["y", "dy/dx"]
    plt.gcf().canvas.draw()


# --------------------------------------------------------------------------------------------------------- control flow


def test_control_flow(notebook):
    result = notebook.run("""
x = tf.constant(1.0)

v0 = tf.Variable(2.0)
v1 = tf.Variable(2.0)

with tf.GradientTape(persistent=True) as tape:
  tape.watch(x)
  if x > 0.0:
    result = v0
  else:
    result = v1**2

dv0, dv1 = tape.gradient(result, [v0, v1])

print(dv0)
print(dv1)
""")
    assert result.printed == "tf.Tensor(1.0, shape=(), dtype=float32)\nNone\n"
    result = notebook.run("""
dx = tape.gradient(result, x)

print(dx)
""")
    assert result.printed == "None\n"


# --------------------------------------------------------------------------------------------------- a gradient of None


def test_what_is_not_connected(notebook):
    result = notebook.run("""
x = tf.Variable(2.)
y = tf.Variable(3.)

with tf.GradientTape() as tape:
  z = y * y
print(tape.gradient(z, x))
""")
    assert result.printed == "None\n"


def test_a_variable_replaced_by_a_tensor(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)

for epoch in range(2):
  with tf.GradientTape() as tape:
    y = x+1

  print(type(x).__name__, ":", tape.gradient(y, x))
  x = x + 1   # This should be `x.assign_add(1)`
""")
    assert result.printed == "ResourceVariable : tf.Tensor(1.0, shape=(), dtype=float32)\nEagerTensor : None\n"


def test_calculations_outside_of_tensorflow(notebook):
    result = notebook.run("""
x = tf.Variable([[1.0, 2.0],
                 [3.0, 4.0]], dtype=tf.float32)

with tf.GradientTape() as tape:
  x2 = x**2

  # This step is calculated with NumPy
  y = np.mean(x2, axis=0)

  # Like most ops, reduce_mean will cast the NumPy array to a constant tensor
  # using `tf.convert_to_tensor`.
  y = tf.reduce_mean(y, axis=0)

print(tape.gradient(y, x))
""")
    assert result.printed == "None\n"
    assert isinstance(notebook["x2"], notebook["tf"].Tensor)
    assert notebook["y"].numpy() == 7.5


def test_gradients_through_an_integer(notebook):
    result = notebook.run("""
# The x0 variable has an `int` dtype.
x = tf.Variable([[2, 2],
                 [2, 2]])

with tf.GradientTape() as tape:
  # The path to x1 is blocked by the `int` dtype here.
  y = tf.cast(x, tf.float32)
  y = tf.reduce_sum(x)

print(tape.gradient(y, x))
""")
    assert result.printed == "None\n"
    assert notebook["y"].numpy() == 8 and notebook["y"].dtype == notebook["tf"].int32


def test_gradients_through_an_integer_constant(notebook):
    result = notebook.run("""
x = tf.constant(10)

with tf.GradientTape() as g:
  g.watch(x)
  y = x * x

print(g.gradient(y, x))
""")
    assert result.printed == "None\n"


def test_the_warnings_about_an_integer_constant(fresh):
    printed = fresh("""
        x = tf.constant(10)

        with tf.GradientTape() as g:
          g.watch(x)
          y = x * x

        print(g.gradient(y, x))
        """)
    assert (
        "WARNING:tensorflow:The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32" in printed
    )


def test_gradients_through_a_stateful_object(notebook):
    result = notebook.run("""
x0 = tf.Variable(3.0)
x1 = tf.Variable(0.0)

with tf.GradientTape() as tape:
  # Update x1 = x1 + x0.
  x1.assign_add(x0)
  # The tape starts recording from x1.
  y = x1**2   # y = (x1 + x0)**2

# This doesn't work.
print(tape.gradient(y, x0))   #dy/dx0 = 2*(x1 + x2)
""")
    assert result.printed == "None\n"
    assert notebook["y"].numpy() == 9.0


# ----------------------------------------------------------------------------------------------- no gradient registered


def test_no_gradient_registered(notebook):
    result = notebook.run("""
image = tf.Variable([[[0.5, 0.0, 0.0]]])
delta = tf.Variable(0.1)

with tf.GradientTape() as tape:
  new_image = tf.image.adjust_contrast(image, delta)

try:
  print(tape.gradient(new_image, [image, delta]))
  assert False   # This should not happen.
except LookupError as e:
  print(f'{type(e).__name__}: {e}')
""")
    assert result.printed == "LookupError: gradient registry has no entry for: AdjustContrastv2\n"


def test_zeros_instead_of_none(notebook):
    result = notebook.run("""
x = tf.Variable([2., 2.])
y = tf.Variable(3.)

with tf.GradientTape() as tape:
  z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))
""")
    assert result.printed == "tf.Tensor([0. 0.], shape=(2,), dtype=float32)\n"


# ---------------------------------------------------------------------------------------------------- the older version


def test_older_a_scalar(notebook):
    result = notebook.run("""
x = tf.constant(3.0)
# y = x ^ 2
with tf.GradientTape() as t:
  t.watch(x)
  y = x * x
# dy = 2x
dy_dx = t.gradient(y, x)
dy_dx.numpy()
""")
    assert result.value == 6.0


def test_older_matrices(notebook):
    result = notebook.run("""
x = tf.constant([3.0, 3.0])

with tf.GradientTape() as t:
  t.watch(x)
  z = tf.multiply(x, x)

print(z)

# Find derivative of z with respect to the original input tensor x
print(t.gradient(z, x))
""")
    assert result.printed == (
        "tf.Tensor([9. 9.], shape=(2,), dtype=float32)\ntf.Tensor([6. 6.], shape=(2,), dtype=float32)\n"
    )


def test_older_an_intermediate_result(notebook):
    result = notebook.run("""
x = tf.constant([3.0, 3.0])

with tf.GradientTape() as t:
  t.watch(x)
  y = tf.multiply(x, x)
  z = tf.multiply(y, y)

# Use the tape to compute the derivative of z with respect to the
# intermediate value y.
# dz_dy = 2 * y, where y = x ^ 2
print(t.gradient(z, y))
""")
    assert result.printed == "tf.Tensor([18. 18.], shape=(2,), dtype=float32)\n"


def test_older_watched_variables(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)

with tf.GradientTape() as t:
  # Don't need any calls to watch(), as when variables x and y
  # get used, they will be automatically watched
  y_sq = y * y
  z = x + y_sq

t.watched_variables()
""")
    assert result.shown == (
        "(<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>, "
        "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=3.0>)"
    )


def test_older_a_persistent_tape(notebook):
    result = notebook.run("""
x = tf.constant(3.0)
with tf.GradientTape(persistent=True) as t:
  t.watch(x)
  y = x * x
  z = y * y
print(t.gradient(z, x))  # 108.0 (4*x^3 at x = 3)
print(t.gradient(y, x))  # 6.0 (2 * x)
del t  # Drop the reference to the tape
""")
    assert result.printed == "tf.Tensor(108.0, shape=(), dtype=float32)\ntf.Tensor(6.0, shape=(), dtype=float32)\n"


def test_older_control_flow(notebook):
    result = notebook.run("""
def f(x, y):
  output = 1.0
  for i in range(y):
    if i > 1 and i < 5:
      output *= x  # tf.multiply(output, x)
  return output

def grad(x, y):
  with tf.GradientTape() as t:
    t.watch(x)
    out = f(x, y)
  return t.gradient(out, x)

x = tf.constant(2.0)

print(grad(x, 6).numpy())  # 12.0
print(grad(x, 5).numpy())  # 12.0
print(grad(x, 4).numpy())  # 4.0
""")
    assert result.printed == "12.0\n12.0\n4.0\n"


def test_older_a_gradient_of_none(notebook):
    result = notebook.run("""
with tf.GradientTape() as tape:
  x = tf.Variable([[2, 2], [2, 2]], dtype=tf.int8)
  y = x * x
print(tape.gradient(y, x))
""")
    assert result.printed == "None\n"
    result = notebook.run("""
x = tf.Variable(2.)
y = tf.Variable(3.)

with tf.GradientTape() as tape:
  z = y * y
print(tape.gradient(x, y))
""")
    assert result.printed == "None\n"
    result = notebook.run("""
x = tf.Variable(2.)
y = tf.Variable(3.)

with tf.GradientTape() as tape:
  z = y * y
print(tape.gradient(x, y, unconnected_gradients=tf.UnconnectedGradients.ZERO))
""")
    assert result.printed == "tf.Tensor(0.0, shape=(), dtype=float32)\n"


def test_older_custom_gradients(notebook):
    result = notebook.run("""
# Establish an identity operation, but clip during the gradient pass
@tf.custom_gradient
def clip_gradients(y):
  def backward(dy):
    return tf.clip_by_norm(dy, 0.5)
  return y, backward

v = tf.Variable(2.0)
with tf.GradientTape() as t:
  output = clip_gradients(v * v)
print(t.gradient(output, v))  # calls "backward", which clips 4 to 2
""")
    assert result.printed == "tf.Tensor(2.0, shape=(), dtype=float32)\n"


def test_older_higher_order_gradients(notebook):
    result = notebook.run("""
x = tf.Variable(1.0)  # Create a Tensorflow variable initialized to 1.0

with tf.GradientTape() as t:
  with tf.GradientTape() as t2:
    y = x * x * x

  # Compute the gradient inside the 't' context manager
  # which means the gradient computation is differentiable as well.
  dy_dx = t2.gradient(y, x)
d2y_dx2 = t.gradient(dy_dx, x)

print("dy_dx:", dy_dx.numpy())  # 3.0
print("d2y_dx2:", d2y_dx2.numpy())  # 6.0
""")
    assert result.printed == "dy_dx: 3.0\nd2y_dx2: 6.0\n"


def test_older_watching_by_hand(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)

with tf.GradientTape(watch_accessed_variables=False, persistent=True) as t:
  # Only watch y
  t.watch(y)
  y_sq = y * y
  z = x + y_sq

# Gradient will be None, as x is not watched, so the tape cannot
# differentiate it
print("Gradient with respect to x:", t.gradient(z, x))
# Gradient will be 6, as y is watched
print("Gradient with respect to y:", t.gradient(z, y))
del t
""")
    assert result.printed == (
        "Gradient with respect to x: None\nGradient with respect to y: tf.Tensor(6.0, shape=(), dtype=float32)\n"
    )


def test_older_stopping_and_resetting(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)

with tf.GradientTape(persistent=True) as t:
  y_sq = y * y
  # Stop recording so we can calculate an intermediate gradient
  with t.stop_recording():
    print("y with respect to y_sq:", t.gradient(y_sq, y))  # Will be 1
  z = x + y_sq
  t.reset()

print("z with respect to y after reset:", t.gradient(z, y))  # None
""")
    assert result.printed == (
        "y with respect to y_sq: tf.Tensor(6.0, shape=(), dtype=float32)\nz with respect to y after reset: None\n"
    )


# -------------------------------------------------------------------------- Dive into Deep Learning, the TensorFlow tab


def test_d2l_a_simple_example(notebook):
    result = notebook.run("""
x = tf.range(4, dtype=tf.float32)
x
""")
    assert result.shown == "<tf.Tensor: shape=(4,), dtype=float32, numpy=array([0., 1., 2., 3.], dtype=float32)>"
    notebook.run("x = tf.Variable(x)")
    result = notebook.run("""
# Record all computations onto a tape
with tf.GradientTape() as t:
    y = 2 * tf.tensordot(x, x, axes=1)
y
""")
    assert result.shown == "<tf.Tensor: shape=(), dtype=float32, numpy=28.0>"
    result = notebook.run("""
x_grad = t.gradient(y, x)
x_grad
""")
    assert result.shown == "<tf.Tensor: shape=(4,), dtype=float32, numpy=array([ 0.,  4.,  8., 12.], dtype=float32)>"
    result = notebook.run("x_grad == 4 * x")
    assert result.shown == "<tf.Tensor: shape=(4,), dtype=bool, numpy=array([ True,  True,  True,  True])>"
    result = notebook.run("""
with tf.GradientTape() as t:
    y = tf.reduce_sum(x)
t.gradient(y, x)  # Overwritten by the newly calculated gradient
""")
    assert result.shown == "<tf.Tensor: shape=(4,), dtype=float32, numpy=array([1., 1., 1., 1.], dtype=float32)>"


def test_d2l_backward_for_vectors(notebook):
    notebook.run("x = tf.Variable(tf.range(4, dtype=tf.float32))")
    result = notebook.run("""
with tf.GradientTape() as t:
    y = x * x
t.gradient(y, x)  # Same as `y = tf.reduce_sum(x * x)`
""")
    assert result.shown == "<tf.Tensor: shape=(4,), dtype=float32, numpy=array([0., 2., 4., 6.], dtype=float32)>"


def test_d2l_detaching(notebook):
    notebook.run("x = tf.Variable(tf.range(4, dtype=tf.float32))")
    result = notebook.run("""
# Set `persistent=True` to run `t.gradient` more than once
with tf.GradientTape(persistent=True) as t:
    y = x * x
    u = tf.stop_gradient(y)
    z = u * x

x_grad = t.gradient(z, x)
x_grad == u
""")
    assert result.value.numpy().tolist() == [True] * 4
    assert notebook["x_grad"].numpy().tolist() == [0.0, 1.0, 4.0, 9.0]
    result = notebook.run("t.gradient(y, x) == 2 * x")
    assert result.value.numpy().tolist() == [True] * 4


def test_d2l_control_flow(notebook):
    notebook.run("""
def f(a):
    b = a * 2
    while tf.norm(b) < 1000:
        b = b * 2
    if tf.reduce_sum(b) > 0:
        c = b
    else:
        c = 100 * b
    return c
""")
    for _ in range(3):
        result = notebook.run("""
a = tf.Variable(tf.random.normal(shape=()))
with tf.GradientTape() as t:
    d = f(a)
d_grad = t.gradient(d, a)
d_grad
""")
        assert result.value.shape == ()
        result = notebook.run("d_grad == d / a")
        assert result.value.numpy().tolist() in (True, False)  # 100 * b is rounded, so that the last digit may differ
        assert math.isclose(float(notebook["d_grad"]), float(notebook["d"]) / float(notebook["a"]), rel_tol=1e-6)
        factor = float(notebook["d_grad"]) / (1.0 if float(notebook["a"]) > 0 else 100.0)
        assert math.log2(factor) == int(math.log2(factor))


def test_d2l_control_flow_of_a_vector(notebook):
    notebook.run("""
def f(a):
    b = a * 2
    while tf.norm(b) < 1000:
        b = b * 2
    if tf.reduce_sum(b) > 0:
        c = b
    else:
        c = 100 * b
    return c
a = tf.Variable([1.0, -3.0])
with tf.GradientTape() as t:
    d = f(a)
d_grad = t.gradient(d, a)
""")
    assert notebook["d_grad"].numpy().tolist() == [51200.0, 51200.0]
