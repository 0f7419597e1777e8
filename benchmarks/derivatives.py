"""Jacobians, Hessian products and tangents, timed against the code that one would write by hand.

``python -m benchmarks.run --derivatives`` runs them. Each row is checked against the hand-written side, or against the
gradient, before it is timed. The sides of a row take turns in one process.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import autodiff_compiler as ad
from autodiff_compiler.api.forward import Pushforward
from autodiff_compiler.api.pullbacks import for_all_arguments
from benchmarks.kernels import all_kernels
from benchmarks.kernels.kernel import Kernel
from benchmarks.tangents_by_hand import TANGENTS

Sides = dict[str, Callable[[], Any]]


def mlp(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    h = np.tanh(x @ w1 + b1)
    return np.mean((h @ w2 + b2 - y) ** 2)


def product_of_hessian(rng: Any) -> Sides:
    """The product of the Hessian of a small network's loss and a vector, beside its gradient."""
    x, y = rng.normal(size=(256, 50)), rng.normal(size=(256, 1))
    p = rng.normal(size=(50, 100)) / 7, np.zeros(100), rng.normal(size=(100, 1)) / 10, np.zeros(1)
    v = tuple([rng.normal(size=np.shape(a)) for a in p])
    grad, hvp = ad.grad(mlp, (0, 1, 2, 3)), ad.hvp(mlp, (0, 1, 2, 3))
    step = 1e-5
    ends = [grad(*[a + s * step * d for a, d in zip(p, v)], x, y) for s in (1, -1)]
    for found, a, b in zip(hvp(*p, x, y, v), *ends):
        np.testing.assert_allclose(found, (a - b) / (2 * step), rtol=1e-5, atol=1e-6)
    return {"ours": lambda: hvp(*p, x, y, v), "gradient": lambda: grad(*p, x, y)}


def network(x: Any, w1: Any, w2: Any) -> Any:
    return np.tanh(w2 @ np.tanh(w1 @ x))


def jacobian_by_hand(x: Any, w1: Any, w2: Any) -> Any:
    h = np.tanh(w1 @ x)
    y = np.tanh(w2 @ h)
    return ((1 - y * y)[:, None] * w2) @ ((1 - h * h)[:, None] * w1)


def jacobian_of_network(rng: Any) -> Sides:
    """The Jacobian of a network from 200 numbers to 200."""
    args = rng.normal(size=200), rng.normal(size=(200, 200)) / 14, rng.normal(size=(200, 200)) / 14
    jacobian = ad.jacobian(network)
    np.testing.assert_allclose(jacobian(*args), jacobian_by_hand(*args), rtol=1e-10, atol=1e-12)
    return {"ours": lambda: jacobian(*args), "hand": lambda: jacobian_by_hand(*args)}


def dense_hessian(rng: Any) -> Sides:
    """The Hessian of a chain of 100 springs, beside its gradient."""

    def energy(x: Any) -> Any:
        stretch = x[1:] - x[:-1]
        return np.sum(np.sqrt(1.0 + stretch * stretch)) + 0.5 * np.sum(x * x)

    x = rng.normal(size=100)
    hessian, grad = ad.hessian(energy), ad.grad(energy)
    step = 1e-5
    rows = [(grad(x + step * e) - grad(x - step * e)) / (2 * step) for e in np.eye(100)]
    np.testing.assert_allclose(hessian(x), rows, rtol=1e-5, atol=1e-7)
    return {"ours": lambda: hessian(x), "gradient": lambda: grad(x)}


ROWS: dict[str, tuple[Callable[[Any], Sides], str]] = {
    "hvp of a network, 256 rows": (product_of_hessian, "gradient"),
    "Jacobian of a network, 200 to 200": (jacobian_of_network, "hand"),
    "Hessian of 100 springs": (dense_hessian, "gradient"),
}


Fresh = Callable[[], tuple[Any, ...]]


def sides_of_tangent(kernel: Kernel, by_hand: Callable[..., Any], size: tuple[int, ...]) -> tuple[Fresh, Sides]:
    """Arguments of a kernel with a direction for each float argument, and the sides, which take both in one tuple.

    compiled: the emitted code alone, without what a call of `jvp` looks up and checks.
    """
    count = len(kernel.inputs(size))
    moving = kernel.argnums()

    def fresh() -> tuple[Any, ...]:
        # Other inputs are the direction. Along its own inputs, a kernel may be constant.
        primals, along = kernel.inputs(size), kernel.make(np.random.default_rng(1), *size)
        return (*primals, *[d if k in moving else None for k, d in enumerate(along)])

    emitted = for_all_arguments(Pushforward, kernel.function, count, False).source(*fresh()[:count])
    names: dict[str, Any] = {}
    exec(emitted, names)
    compiled = names[f"{kernel.name}_jvp"]
    given = [*range(count), *[count + k for k in moving]]
    return fresh, {
        "primal": lambda *both: kernel.function(*both[:count]),
        "hand": by_hand,
        "ours": lambda *both: ad.jvp(kernel.function, both[:count], both[count:]),
        "compiled": lambda *both: compiled(*[both[k] for k in given]),
    }


def check_tangent(fresh: Fresh, sides: Sides) -> None:
    """The value is that of the kernel, to the last bit, and both tangents agree."""
    value = sides["primal"](*fresh())
    expected = sides["hand"](*fresh())
    np.testing.assert_allclose(expected[0], value, rtol=1e-9)
    for side in ("ours", "compiled"):
        found = sides[side](*fresh())
        assert found[0] == value
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-9)


def time_fresh(fresh: Fresh, sides: Sides, rounds: int) -> dict[str, float]:
    """The least processor time of a call of each side. They take turns, and each call has its own arguments, since
    kernels write into theirs."""
    least = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, call in sides.items():
            both = fresh()
            start = time.process_time()
            call(*both)
            least[name] = min(least[name], time.process_time() - start)
    return least


def measure_tangents(rounds: int, pretty: Any, print_table: Any) -> dict[str, Any]:
    """Time the tangents of kernels beside those by hand, and print them."""
    kernels = {kernel.name: kernel for kernel in all_kernels()}
    out: dict[str, Any] = {}
    rows = []
    columns = [("ours", "primal"), ("hand", "primal"), ("ours", "hand"), ("compiled", "hand")]
    for by_hand in TANGENTS:
        name = by_hand.__name__
        fresh, sides = sides_of_tangent(kernels[name], by_hand, kernels[name].large)
        check_tangent(fresh, sides)
        out[f"jvp of {name}"] = times = time_fresh(fresh, sides, rounds)
        ratios = [f"{times[a] / times[b]:.2f}" for a, b in columns]
        rows.append([f"jvp of {name}", *[pretty(times[side]) for side in sides], *ratios])
    means = [statistics.geometric_mean([times[a] / times[b] for times in out.values()]) for a, b in columns]
    rows.append(["geometric mean", "", "", "", "", *[f"{mean:.2f}" for mean in means]])
    print_table(rows, ["tangent", *sides, *[f"{a}/{b}" for a, b in columns]])
    return out


def composite(x):
    """A number of a number."""
    return np.exp(np.sin(x)) / (1.0 + x * x)


ORDER = 8


def first_calls() -> dict[str, Callable[[], Any]]:
    """Ways to the derivative of this order at one point, each from nothing: with reading the source, differentiating
    and compiling. JAX's are there where it is installed."""

    def taylor() -> Any:
        return ad.taylor(lambda x: composite(x), 0.7, 1.0, ORDER)[ORDER] * math.factorial(ORDER)

    def nested() -> Any:
        f: Any = lambda x: composite(x)
        for _ in range(ORDER):
            f = ad.grad(f)
        return f(0.7)

    sides = {"taylor": taylor, "grad repeated": nested}
    try:
        import jax
        import jax.numpy as jnp
        from jax.experimental import jet
    except ImportError:
        return sides
    jax.config.update("jax_enable_x64", True)

    def of_jax(x: Any) -> Any:
        return jnp.exp(jnp.sin(x)) / (1.0 + x * x)

    def by_jet() -> Any:
        run = jax.jit(lambda x: jet.jet(of_jax, (x,), ((1.0, *[0.0] * (ORDER - 1)),)))
        return run(0.7)[1][-1].block_until_ready()

    def by_grad() -> Any:
        f: Any = of_jax
        for _ in range(ORDER):
            f = jax.grad(f)
        return jax.jit(f)(0.7).block_until_ready()

    return {**sides, "jax jet": by_jet, "jax grad repeated": by_grad}


def measure_first_calls(print_table: Any) -> dict[str, Any]:
    """Seconds from nothing to the derivative of order 8."""
    ad.grad(lambda x: x * x)(1.0)  # the compiler itself is loaded
    out, values, rows = {}, {}, []
    for name, call in first_calls().items():
        start = time.perf_counter()
        values[name] = float(call())
        out[name] = time.perf_counter() - start
        rows.append([name, f"{out[name]:.3f} s"])
    np.testing.assert_allclose(list(values.values()), values["taylor"], rtol=1e-8)
    print_table(rows, [f"order {ORDER} of a composite, first call", "seconds"])
    print()
    return {"order 8": out}


def measure_derivatives(rounds: int, time_sides: Any, pretty: Any, print_table: Any) -> dict[str, Any]:
    """Time all rows, and print them."""
    out: dict[str, Any] = {}
    rows = []
    for name, (make, base) in ROWS.items():
        times = time_sides(make(np.random.default_rng(7)), rounds)
        out[name] = {side: min(found) for side, found in times.items()}
        least = out[name]["ours"] / out[name][base]
        each = statistics.median([a / b for a, b in zip(times["ours"], times[base])])
        rows.append([name, pretty(out[name]["ours"]), f"{base} {pretty(out[name][base])}", f"{least:.2f} ({each:.2f})"])
    print_table(rows, ["derivative", "ours", "beside", "ratio"])
    print()
    out.update(measure_first_calls(print_table))
    return {**out, **measure_tangents(rounds, pretty, print_table)}
