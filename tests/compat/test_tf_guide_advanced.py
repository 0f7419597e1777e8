"""TensorFlow's guide to advanced automatic differentiation, cell by cell (the Arabic version)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.compat.notebook import Notebook


@pytest.fixture
def notebook(tf):
    return Notebook(tf=tf)


@pytest.fixture
def plt(notebook):
    mpl = pytest.importorskip("matplotlib")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    notebook.names.update(mpl=mpl, plt=plt)
    with mpl.rc_context():
        notebook.run("mpl.rcParams['figure.figsize'] = (8, 6)")
        yield plt
    plt.close("all")


def shown_image(plt):
    """What imshow was last given."""
    plt.gcf().canvas.draw()
    return plt.gcf().axes[0].images[-1]


# -------------------------------------------------------------------------------------------- controlling the recording

FIRST = "dz/dx: tf.Tensor(4.0, shape=(), dtype=float32)\ndz/dy: None\n"


def test_stop_recording(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)

with tf.GradientTape() as t:
  x_sq = x * x
  with t.stop_recording():
    y_sq = y * y
  z = x_sq + y_sq

grad = t.gradient(z, {'x': x, 'y': y})

print('dz/dx:', grad['x'])  # 2*x => 4
print('dz/dy:', grad['y'])
""")
    assert result.printed == FIRST


def test_reset(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)
reset = True

with tf.GradientTape() as t:
  y_sq = y * y
  if reset:
    # Throw out all the tape recorded so far
    t.reset()
  z = x * x + y_sq

grad = t.gradient(z, {'x': x, 'y': y})

print('dz/dx:', grad['x'])  # 2*x => 4
print('dz/dy:', grad['y'])
""")
    assert result.printed == FIRST


def test_stop_gradient(notebook):
    result = notebook.run("""
x = tf.Variable(2.0)
y = tf.Variable(3.0)

with tf.GradientTape() as t:
  y_sq = y**2
  z = x**2 + tf.stop_gradient(y_sq)

grad = t.gradient(z, {'x': x, 'y': y})

print('dz/dx:', grad['x'])  # 2*x => 4
print('dz/dy:', grad['y'])
""")
    assert result.printed == FIRST


def test_custom_gradients(notebook):
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


def test_several_tapes(notebook):
    notebook.run("""
x0 = tf.constant(0.0)
x1 = tf.constant(0.0)

with tf.GradientTape() as tape0, tf.GradientTape() as tape1:
  tape0.watch(x0)
  tape1.watch(x1)

  y0 = tf.math.sin(x0)
  y1 = tf.nn.sigmoid(x1)

  y = y0 + y1

  ys = tf.reduce_sum(y)
""")
    assert notebook.run("tape0.gradient(ys, x0).numpy()   # cos(x) => 1.0").value == 1.0
    assert notebook.run("tape1.gradient(ys, x1).numpy()   # sigmoid(x1)*(1-sigmoid(x1)) => 0.25").value == 0.25


def test_higher_order_gradients(notebook):
    result = notebook.run("""
x = tf.Variable(1.0)  # Create a Tensorflow variable initialized to 1.0

with tf.GradientTape() as t2:
  with tf.GradientTape() as t1:
    y = x * x * x

  # Compute the gradient inside the outer `t2` context manager
  # which means the gradient computation is differentiable as well.
  dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)

print('dy_dx:', dy_dx.numpy())  # 3 * x**2 => 3.0
print('d2y_dx2:', d2y_dx2.numpy())  # 6 * x => 6.0
""")
    assert result.printed == "dy_dx: 3.0\nd2y_dx2: 6.0\n"


def test_input_gradient_regularisation(notebook):
    result = notebook.run("""
x = tf.random.normal([7, 5])

layer = tf.keras.layers.Dense(10, activation=tf.nn.relu)
with tf.GradientTape() as t2:
  # The inner tape only takes the gradient with respect to the input,
  # not the variables.
  with tf.GradientTape(watch_accessed_variables=False) as t1:
    t1.watch(x)
    y = layer(x)
    out = tf.reduce_sum(layer(x)**2)
  # 1. Calculate the input gradient.
  g1 = t1.gradient(out, x)
  # 2. Calculate the magnitude of the input gradient.
  g1_mag = tf.norm(g1)

# 3. Calculate the gradient of the magnitude with respect to the model.
dg1_mag = t2.gradient(g1_mag, layer.trainable_variables)
[var.shape for var in dg1_mag]
""")
    assert result.shown == "[TensorShape([5, 10]), TensorShape([10])]"
    kernel, x = notebook["layer"].kernel.numpy().astype(float), notebook["x"].numpy().astype(float)

    def magnitude(kernel, bias):
        return np.linalg.norm(2 * np.maximum(x @ kernel + bias, 0) @ kernel.T)

    bias = np.zeros(10)
    assert float(notebook["g1_mag"]) == pytest.approx(magnitude(kernel, bias), rel=1e-5)
    step = np.zeros_like(kernel)
    step[2, 3] = 1e-6
    difference = (magnitude(kernel + step, bias) - magnitude(kernel - step, bias)) / 2e-6
    assert float(notebook["dg1_mag"][0][2, 3]) == pytest.approx(difference, rel=1e-3, abs=1e-4)


# ------------------------------------------------------------------------------------------------------------ Jacobians


def test_a_scalar_source(notebook, plt):
    notebook.run("""
x = tf.linspace(-10.0, 10.0, 200+1)
delta = tf.Variable(0.0)

with tf.GradientTape() as tape:
  y = tf.nn.sigmoid(x+delta)

dy_dx = tape.jacobian(y, delta)
""")
    result = notebook.run("""
print(y.shape)
print(dy_dx.shape)
""")
    assert result.printed == "(201,)\n(201,)\n"
    notebook.run("""
plt.plot(x.numpy(), y, label='y')
plt.plot(x.numpy(), dy_dx, label='dy/dx')
plt.legend()
_ = plt.xlabel('x')
""")
    sigmoid = 1 / (1 + np.exp(-np.linspace(-10, 10, 201)))
    first, second = plt.gca().lines
    np.testing.assert_allclose(first.get_ydata(), sigmoid, rtol=1e-5)
    np.testing.assert_allclose(second.get_ydata(), sigmoid * (1 - sigmoid), rtol=1e-4, atol=1e-7)
    plt.gcf().canvas.draw()


def test_a_tensor_source(notebook):
    result = notebook.run("""
x = tf.random.normal([7, 5])
layer = tf.keras.layers.Dense(10, activation=tf.nn.relu)

with tf.GradientTape(persistent=True) as tape:
  y = layer(x)

y.shape
""")
    assert result.shown == "TensorShape([7, 10])"
    result = notebook.run("layer.kernel.shape")
    assert tuple(result.value) == (5, 10)
    result = notebook.run("""
j = tape.jacobian(y, layer.kernel)
j.shape
""")
    assert result.shown == "TensorShape([7, 10, 5, 10])"
    result = notebook.run("""
g = tape.gradient(y, layer.kernel)
print('g.shape:', g.shape)

j_sum = tf.reduce_sum(j, axis=[0, 1])
delta = tf.reduce_max(abs(g - j_sum)).numpy()
assert delta < 1e-3
print('delta:', delta)
""")
    assert result.printed.startswith("g.shape: (5, 10)\ndelta: ")
    active = (notebook["y"].numpy() > 0).astype(float)
    expected = np.einsum("no,ni,op->noip", active, notebook["x"].numpy(), np.eye(10))
    np.testing.assert_allclose(notebook["j"].numpy(), expected, rtol=1e-5, atol=1e-7)


def test_the_hessian_and_a_step_of_newton(notebook, plt):
    result = notebook.run("""
x = tf.random.normal([7, 5])
layer1 = tf.keras.layers.Dense(8, activation=tf.nn.relu)
layer2 = tf.keras.layers.Dense(6, activation=tf.nn.relu)

with tf.GradientTape() as t2:
  with tf.GradientTape() as t1:
    x = layer1(x)
    x = layer2(x)
    loss = tf.reduce_mean(x**2)

  g = t1.gradient(loss, layer1.kernel)

h = t2.jacobian(g, layer1.kernel)
print(f'layer.kernel.shape: {layer1.kernel.shape}')
print(f'h.shape: {h.shape}')
""")
    assert result.printed == "layer.kernel.shape: (5, 8)\nh.shape: (5, 8, 5, 8)\n"
    notebook.run("""
n_params = tf.reduce_prod(layer1.kernel.shape)

g_vec = tf.reshape(g, [n_params, 1])
h_mat = tf.reshape(h, [n_params, n_params])
""")
    h_mat = notebook["h_mat"].numpy()
    assert h_mat.shape == (40, 40) and notebook["g_vec"].shape == (40, 1)
    np.testing.assert_allclose(h_mat, h_mat.T, atol=1e-5)
    notebook.run("""
def imshow_zero_center(image, **kwargs):
  lim = tf.reduce_max(abs(image))
  plt.imshow(image, vmin=-lim, vmax=lim, cmap='seismic', **kwargs)
  plt.colorbar()
imshow_zero_center(h_mat)
""")
    image = shown_image(plt)
    np.testing.assert_array_equal(np.asarray(image.get_array()), h_mat)
    assert image.get_clim() == pytest.approx((-abs(h_mat).max(), abs(h_mat).max()))
    before = notebook["layer1"].kernel.numpy().copy()
    notebook.run("""
eps = 1e-3
eye_eps = tf.eye(h_mat.shape[0])*eps
# X(k+1) = X(k) - (∇²f(X(k)))^-1 @ ∇f(X(k))
# h_mat = ∇²f(X(k))
# g_vec = ∇f(X(k))
update = tf.linalg.solve(h_mat + eye_eps, g_vec)

# Reshape the update and apply it to the variable.
_ = layer1.kernel.assign_sub(tf.reshape(update, layer1.kernel.shape))
""")
    step = np.linalg.solve(h_mat.astype(float) + 1e-3 * np.eye(40), notebook["g_vec"].numpy().astype(float))
    after = notebook["layer1"].kernel.numpy()
    np.testing.assert_allclose(before - after, step.reshape(5, 8), rtol=1e-2, atol=1e-4 * max(1.0, abs(step).max()))


# ------------------------------------------------------------------------------------------------------ batch Jacobians

BATCH = """
x = tf.random.normal([7, 5])

layer1 = tf.keras.layers.Dense(8, activation=tf.nn.elu)
layer2 = tf.keras.layers.Dense(6, activation=tf.nn.elu)

with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
  tape.watch(x)
  y = layer1(x)
  y = layer2(y)

y.shape
"""

SHOW = """
def imshow_zero_center(image, **kwargs):
  lim = tf.reduce_max(abs(image))
  plt.imshow(image, vmin=-lim, vmax=lim, cmap='seismic', **kwargs)
  plt.colorbar()
"""

PATCHES = """
def plot_as_patches(j):
  # Reorder axes so the diagonals will each form a contiguous patch.
  j = tf.transpose(j, [1, 0, 3, 2])
  # Pad in between each patch.
  lim = tf.reduce_max(abs(j))
  j = tf.pad(j, [[0, 0], [1, 1], [0, 0], [1, 1]],
             constant_values=-lim)
  # Reshape to form a single image.
  s = j.shape
  j = tf.reshape(j, [s[0]*s[1], s[2]*s[3]])
  imshow_zero_center(j, extent=[-0.5, s[2]-0.5, s[0]-0.5, -0.5])
"""


def test_batch_jacobian(notebook, plt):
    assert notebook.run(BATCH).shown == "TensorShape([7, 6])"
    result = notebook.run("""
j = tape.jacobian(y, x)
j.shape
""")
    assert result.shown == "TensorShape([7, 6, 7, 5])"
    notebook.run(SHOW)
    notebook.run("""
imshow_zero_center(j[:, 0, :, 0])
_ = plt.title('A (batch, batch) slice')
""")
    drawn = np.asarray(shown_image(plt).get_array())
    assert drawn.shape == (7, 7)
    assert np.count_nonzero(drawn - np.diag(np.diag(drawn))) == 0
    plt.close("all")
    notebook.run(PATCHES)
    notebook.run("""
plot_as_patches(j)
_ = plt.title('All (batch, batch) slices are diagonal')
""")
    assert np.asarray(shown_image(plt).get_array()).shape == (6 * 9, 5 * 9)
    assert plt.gcf().axes[0].get_title() == "All (batch, batch) slices are diagonal"
    result = notebook.run("""
j_sum = tf.reduce_sum(j, axis=2)
print(j_sum.shape)
j_select = tf.einsum('bxby->bxy', j)
print(j_select.shape)
""")
    assert result.printed == "(7, 6, 5)\n(7, 6, 5)\n"
    np.testing.assert_allclose(notebook["j_sum"].numpy(), notebook["j_select"].numpy(), rtol=1e-5, atol=1e-6)
    result = notebook.run("""
jb = tape.batch_jacobian(y, x)
jb.shape
""")
    assert result.shown == "TensorShape([7, 6, 5])"
    result = notebook.run("""
error = tf.reduce_max(abs(jb - j_sum))
assert error < 1e-3
print(error.numpy())
""")
    assert float(result.printed) < 1e-5


def test_batch_normalization_couples_the_batch(notebook, plt):
    result = notebook.run("""
x = tf.random.normal([7, 5])

layer1 = tf.keras.layers.Dense(8, activation=tf.nn.elu)
bn = tf.keras.layers.BatchNormalization()
layer2 = tf.keras.layers.Dense(6, activation=tf.nn.elu)

with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
  tape.watch(x)
  y = layer1(x)
  y = bn(y, training=True)
  y = layer2(y)

j = tape.jacobian(y, x)
print(f'j.shape: {j.shape}')
""")
    assert result.printed == "j.shape: (7, 6, 7, 5)\n"
    full = notebook["j"].numpy()
    assert np.abs(full[0, :, 1]).max() > 1e-4
    notebook.run(SHOW)
    notebook.run(PATCHES)
    notebook.run("""
plot_as_patches(j)

_ = plt.title('These slices are not diagonal')
_ = plt.xlabel("Don't use `batch_jacobian`")
""")
    assert np.asarray(shown_image(plt).get_array()).shape == (6 * 9, 5 * 9)
    result = notebook.run("""
jb = tape.batch_jacobian(y, x)
print(f'jb.shape: {jb.shape}')
""")
    assert result.printed == "jb.shape: (7, 6, 5)\n"
    np.testing.assert_allclose(notebook["jb"].numpy(), full.sum(axis=0).transpose(1, 0, 2), rtol=1e-3, atol=1e-5)
