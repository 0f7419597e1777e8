"""Gradients and SGD steps of two small networks on the tape, side by side with code by hand and with other systems.

    python -m benchmarks.run --tape

Each side makes the same steps from the same start. After five steps, its parameters are compared with those of the
hand-written side. Systems that are not installed are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

RATE = 0.05
Arrays = list[Any]


class Run(NamedTuple):
    """The functions of a side: the gradient, a step with the update of the parameters, and their values."""

    gradient: Callable[[], Any]
    step: Callable[[], Any]
    read: Callable[[], Arrays]


Side = Callable[[Arrays, Any, Any], Run]


def tiny() -> tuple[Arrays, Any, Any]:
    """Batch 8, 4-8-1, float64, tanh, mean square."""
    r = np.random.default_rng(0)
    parameters = [r.normal(size=(4, 8)), np.zeros(8), r.normal(size=(8, 1)), np.zeros(1)]
    return parameters, r.normal(size=(8, 4)), r.normal(size=(8, 1))


def large() -> tuple[Arrays, Any, Any]:
    """Batch 64, 784-128-10, float32, tanh, mean square against one-hot rows."""
    r = np.random.default_rng(1)
    f = np.float32
    parameters = [
        (r.normal(size=(784, 128)) * 0.03).astype(f), np.zeros(128, f),
        (r.normal(size=(128, 10)) * 0.1).astype(f), np.zeros(10, f),
    ]  # fmt: skip
    return parameters, r.normal(size=(64, 784)).astype(f), np.eye(10, dtype=f)[r.integers(10, size=64)]


def by_hand(parameters: Arrays, x: Any, t: Any) -> Run:
    own = [p.copy() for p in parameters]
    add_up = np.add.reduce

    def gradient() -> Arrays:
        w1, b1, w2, b2 = own
        h = np.tanh(x.dot(w1) + b1)
        d = h.dot(w2) + b2 - t
        add_up(d * d, axis=None) / d.size  # the loss
        g = d * d.dtype.type(2.0 / d.size)
        gh = g.dot(w2.T) * (1 - h * h)
        return [x.T.dot(gh), add_up(gh, axis=0), h.T.dot(g), add_up(g, axis=0)]

    return functional(gradient, own)


def functional(gradient: Callable[[], Any], own: Arrays) -> Run:
    """A side with arrays as parameters. Each step replaces them."""

    def step() -> None:
        own[:] = [p - RATE * g for p, g in zip(own, gradient())]

    return Run(gradient, step, lambda: own)


def by_grad(parameters: Arrays, x: Any, t: Any) -> Run:
    import autodiff_compiler as ad

    def loss(w1, b1, w2, b2, x, t):  # type: ignore[no-untyped-def]
        d = np.tanh(x @ w1 + b1) @ w2 + b2 - t
        return np.mean(d * d)

    compiled = ad.value_and_grad(loss, (0, 1, 2, 3))
    own = [p.copy() for p in parameters]
    return functional(lambda: compiled(*own, x, t)[1], own)


def by_tangent(parameters: Arrays, x: Any, t: Any) -> Run:
    import tangent

    def loss(w1, b1, w2, b2, x, t):  # type: ignore[no-untyped-def]
        h = np.tanh(np.dot(x, w1) + b1)
        d = np.dot(h, w2) + b2 - t
        return np.mean(d * d)

    compiled = tangent.grad(loss, wrt=(0, 1, 2, 3))
    own = [p.copy() for p in parameters]
    return functional(lambda: compiled(*own, x, t), own)


def by_tape(parameters: Arrays, x: Any, t: Any) -> Run:
    import autodiff_compiler as ad

    variables = [ad.Variable(p, name=n) for p, n in zip(parameters, ("w1", "b1", "w2", "b2"))]
    w1, b1, w2, b2 = variables
    tx, tt = ad.constant(x), ad.constant(t)

    def gradient() -> Any:
        with ad.GradientTape() as tape:
            d = np.tanh(tx @ w1 + b1) @ w2 + b2 - tt
            loss = np.mean(d * d)
        return tape.gradient(loss, variables)

    def step() -> None:
        for v, g in zip(variables, gradient()):
            v.assign_sub(RATE * g)

    return Run(gradient, step, lambda: [v.numpy() for v in variables])


def in_tensorflow_style(tf: Any) -> Side:
    def make(parameters: Arrays, x: Any, t: Any) -> Run:
        variables = [tf.Variable(p) for p in parameters]
        w1, b1, w2, b2 = variables
        tx, tt = tf.constant(x), tf.constant(t)

        def gradient() -> Any:
            with tf.GradientTape() as tape:
                d = tf.tanh(tx @ w1 + b1) @ w2 + b2 - tt
                loss = tf.reduce_mean(d * d)
            return tape.gradient(loss, variables)

        def step() -> None:
            for v, g in zip(variables, gradient()):
                v.assign_sub(RATE * g)

        return Run(gradient, step, lambda: [v.numpy() for v in variables])

    return make


def in_torch_style(torch: Any) -> Side:
    def make(parameters: Arrays, x: Any, t: Any) -> Run:
        own = [torch.tensor(p, requires_grad=True) for p in parameters]
        w1, b1, w2, b2 = own
        tx, tt = torch.tensor(x), torch.tensor(t)

        def gradient() -> None:
            d = torch.tanh(tx @ w1 + b1) @ w2 + b2 - tt
            loss = (d * d).mean()
            loss.backward()

        def step() -> None:
            for p in own:
                p.grad = None
            gradient()
            with torch.no_grad():
                for p in own:
                    p -= RATE * p.grad

        return Run(gradient, step, lambda: [p.detach().numpy() for p in own])

    return make


def our_tensorflow(*args: Any) -> Run:
    from autodiff_compiler.compat import tensorflow

    return in_tensorflow_style(tensorflow)(*args)


def our_torch(*args: Any) -> Run:
    from autodiff_compiler.compat import torch

    return in_torch_style(torch)(*args)


def by_tensorflow(*args: Any) -> Run:
    import tensorflow

    return in_tensorflow_style(tensorflow)(*args)


def by_torch(*args: Any) -> Run:
    import torch

    torch.set_num_threads(1)
    return in_torch_style(torch)(*args)


def by_jax(parameters: Arrays, x: Any, t: Any) -> Run:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def loss(p, x, t):  # type: ignore[no-untyped-def]
        d = jnp.tanh(x @ p[0] + p[1]) @ p[2] + p[3] - t
        return jnp.mean(d * d)

    differentiate = jax.jit(jax.grad(loss))

    @jax.jit
    def update(p, x, t):  # type: ignore[no-untyped-def]
        return [v - RATE * g for v, g in zip(p, jax.grad(loss)(p, x, t))]

    own = [jnp.asarray(p) for p in parameters]
    tx, tt = jnp.asarray(x), jnp.asarray(t)

    def gradient() -> None:
        differentiate(own, tx, tt)[0].block_until_ready()

    def step() -> None:
        own[:] = update(own, tx, tt)
        own[0].block_until_ready()

    return Run(gradient, step, lambda: [np.asarray(p) for p in own])


def by_autograd(parameters: Arrays, x: Any, t: Any) -> Run:
    import autograd
    import autograd.numpy as anp

    def loss(p):  # type: ignore[no-untyped-def]
        d = anp.dot(anp.tanh(anp.dot(x, p[0]) + p[1]), p[2]) + p[3] - t
        return anp.mean(d * d)

    differentiate = autograd.grad(loss)
    own = [p.copy() for p in parameters]
    return functional(lambda: differentiate(own), own)


# The sides of a group take turns. The layers come last: they run the same functions on objects of other classes, and
# after that the interpreter's caches of attributes fit no class well. A program uses one layer only.
GROUPS: list[dict[str, Side]] = [
    {
        "hand": by_hand,
        "ad.grad": by_grad,
        "tape": by_tape,
        "jax.jit": by_jax,
        "tangent": by_tangent,
        "autograd": by_autograd,
        "torch": by_torch,
        "tensorflow": by_tensorflow,
    },
    {"hand": by_hand, "ad.grad": by_grad, "tensorflow style": our_tensorflow},
    {"hand": by_hand, "ad.grad": by_grad, "torch style": our_torch},
]
SIZES = {"batch 8, 4-8-1": tiny, "batch 64, 784-128-10": large}


def measure_tape(rounds: int) -> dict[str, Any]:
    """Time the gradient and one step of each side, in turns."""
    from benchmarks.run import largest_difference, pretty, print_table, ratio, time_sides

    out: dict[str, Any] = {}
    for group, label, inputs in [(group, label, inputs) for group in GROUPS for label, inputs in SIZES.items()]:
        want: Any = None
        sides: dict[str, Run] = {}
        notes = []
        for name, make in group.items():
            try:
                run = make(*inputs())
                for _ in range(5):
                    run.step()
                after = tuple(np.array(p) for p in run.read())
            except Exception as error:  # a side that fails must not hide the numbers of the others
                notes.append(f"{name}: {type(error).__name__}: {(str(error).strip().splitlines() or [''])[0]}")
                continue
            want = want or after
            difference = largest_difference(after, want)
            if not difference < (1e-9 if want[0].dtype == np.float64 else 1e-4):
                notes.append(f"{name}: WRONG, differs by {difference:.1e}")
                continue
            sides[name] = run
        gradients = time_sides({name: run.gradient for name, run in sides.items()}, rounds)
        steps = time_sides({name: run.step for name, run in sides.items()}, rounds)
        rows = []
        for name in sides:
            row = [name]
            for times in (gradients, steps):
                row.append(pretty(min(times[name])))
                for side in ("hand", "ad.grad"):
                    r = ratio(times, name, side)
                    assert r
                    row.append(f"{r['min']:.3g} ({r['median']:.3g})")
            rows.append(row)
        print(f"{label}\n")
        print_table(rows, ["side", "gradient", "to hand", "to ad.grad", "SGD step", "to hand", "to ad.grad"])
        for note in notes:
            print(f"note: {note}")
        print()
        entry = out.setdefault(label, {"gradient": {}, "step": {}, "notes": []})
        entry["gradient"].update({k: min(v) for k, v in gradients.items() if k not in entry["gradient"]})
        entry["step"].update({k: min(v) for k, v in steps.items() if k not in entry["step"]})
        entry["notes"] += notes
    measure_jacobian(rounds)
    measure_recording(rounds)
    measure_compiling(rounds)
    return out


def measure_jacobian(rounds: int) -> None:
    """Time the Jacobian of a layer of 128 outputs by its weights, all at once and row by row."""
    import autodiff_compiler as ad
    from benchmarks.run import pretty, print_table, time_sides

    r = np.random.default_rng(3)
    x, w = r.normal(size=(8, 4)), r.normal(size=(4, 16))
    seeds = [ad.constant(e.reshape(8, 16)) for e in np.eye(128)]
    v, tx = ad.Variable(w), ad.constant(x)

    def at_once() -> Any:
        with ad.GradientTape() as tape:
            y = np.tanh(tx @ v)
        return tape.jacobian(y, v).numpy()

    def in_rows() -> Any:
        with ad.GradientTape(persistent=True) as tape:
            y = np.tanh(tx @ v)
        return np.stack([tape.gradient(y, v, output_gradients=e).numpy() for e in seeds]).reshape(8, 16, 4, 16)

    def by_hand() -> Any:
        out = np.zeros((8, 16, 4, 16))
        slope = 1 - np.tanh(x @ w) ** 2
        j = np.arange(16)
        out[:, j, :, j] = (slope[:, :, None] * x[:, None]).transpose(1, 0, 2)
        return out

    sides: dict[str, Callable[[], Any]] = {"hand": by_hand, "tape": at_once, "tape, one row after the other": in_rows}
    try:
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(jax.jacrev(lambda w: jnp.tanh(jnp.asarray(x) @ w)))
        sides["jax.jit(jacrev)"] = lambda: np.asarray(compiled(w))
    except ImportError:
        pass
    try:
        import tensorflow as tf

        tw, tfx = tf.Variable(w), tf.constant(x)

        def of_tensorflow() -> Any:
            with tf.GradientTape() as tape:
                y = tf.tanh(tfx @ tw)
            return tape.jacobian(y, tw).numpy()

        sides["tensorflow"] = of_tensorflow
    except ImportError:
        pass
    want = by_hand()
    for name, run in sides.items():
        assert np.allclose(run(), want, atol=1e-12), name
    times = time_sides(sides, rounds)
    print_table(
        [[name, pretty(min(t)), f"{min(t) / min(times['hand']):.3g}"] for name, t in times.items()],
        ["Jacobian, 128 outputs by 64 weights", "time", "to hand"],
    )
    print()


def measure_recording(rounds: int) -> None:
    """Time the recording of one operation, beyond NumPy's own call."""
    import autodiff_compiler as ad
    from benchmarks.run import pretty, print_table, time_sides

    raw = np.random.default_rng(2).normal(size=(8, 8))
    x = ad.Variable(raw)
    count = 20
    operations: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
        "x * x": (lambda v: v * v, lambda a: a * a),
        "x + 1.5": (lambda v: v + 1.5, lambda a: a + 1.5),
        "x @ x": (lambda v: v @ v, lambda a: a @ a),
        "np.tanh(x)": (np.tanh, np.tanh),
        "np.sum(x)": (np.sum, np.sum),
        "np.sum(x, axis=0)": (lambda v: np.sum(v, axis=0), lambda a: np.sum(a, axis=0)),
        "np.where(m, x, 0.0)": (lambda v: np.where(raw > 0, v, 0.0), lambda a: np.where(raw > 0, a, 0.0)),
        "x[1:]": (lambda v: v[1:], lambda a: a[1:]),
        "x**2": (lambda v: v**2, lambda a: a**2),
        "np.maximum(x, 0.0)": (lambda v: np.maximum(v, 0.0), lambda a: np.maximum(a, 0.0)),
        "np.dot(x, x)": (lambda v: np.dot(v, v), lambda a: np.dot(a, a)),
        "np.concatenate([x, x])": (lambda v: np.concatenate([v, v]), lambda a: np.concatenate([a, a])),
        "np.reshape(x, -1)": (lambda v: np.reshape(v, -1), lambda a: np.reshape(a, -1)),
    }
    rows = []
    for name, (recorded, plain) in operations.items():

        def many(f: Any = recorded) -> None:
            with ad.GradientTape():
                for _ in range(count):
                    f(x)

        def bare(f: Any = plain) -> None:
            for _ in range(count):
                f(raw)

        def empty() -> None:
            with ad.GradientTape():
                pass

        times = time_sides({"many": many, "bare": bare, "empty": empty}, rounds)
        cost = (min(times["many"]) - min(times["empty"]) - min(times["bare"])) / count
        rows.append([name, pretty(min(times["bare"]) / count), pretty(cost)])
    print_table(rows, ["operation on an 8 by 8 array", "NumPy", "recording, beyond that"])


def measure_compiling(rounds: int) -> None:
    """Time the first gradient of a new structure, for each operation, beyond that of a known structure."""
    import time

    import autodiff_compiler as ad
    from benchmarks.run import pretty

    x = ad.Variable(np.random.default_rng(4).normal(size=(8, 8)))

    def gradient(count: int) -> float:
        """The seconds of a gradient of a chain with two operations for each of `count` links."""
        start = time.process_time()
        with ad.GradientTape() as tape:
            y = x
            for _ in range(count):
                y = np.tanh(y) * x
        tape.gradient(y, x)
        return time.process_time() - start

    costs = [(gradient(count) - gradient(count)) / (2 * count) for count in range(20, 20 + max(rounds, 2))]
    print(f"\nto compile a new structure: {pretty(min(costs))} for each operation")
