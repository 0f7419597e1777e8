"""Data-parallel gradients on a cluster of processes, with a worker that is killed in the middle.

    pip install "dask[array]" distributed
    python examples/distributed_gradients.py --workers 2 --kill

A logistic regression is fitted to data in parts, each of which a worker loads. The gradient function is sent to the
workers, which compute the loss and the gradient of their parts, and the sums come back. If a worker dies, the
scheduler gives its parts to the others, which load them again. At the end, the same gradient is one of Dask arrays.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

import numpy as np

import autodiff_compiler as ad

ROWS, COLUMNS = 2000, 8
TIMEOUT = 60  # seconds, of everything that waits for a worker


def load_part(number):
    """One part of the data, as a worker reads it from where it lies."""
    random = np.random.default_rng(number)
    x = random.normal(size=(ROWS, COLUMNS))
    return x, (x @ np.linspace(-1.0, 1.0, COLUMNS) + random.normal(size=ROWS) > 0).astype(float)


def loss(w, part):
    """The negative log likelihood of one part."""
    x, y = part
    z = x @ w
    return np.sum(np.logaddexp(0.0, z) - y * z)


def mean_loss(w, x, y):
    """The same for all data at once, as Dask arrays."""
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def added(pieces):
    """The sum of losses, and that of gradients."""
    values, gradients = zip(*pieces)
    return sum(values), np.sum(gradients, axis=0)


def fit(client, parts, steps, kill=None):
    """Gradient descent. `kill`: the process that dies in the middle of it."""
    value_and_gradient = ad.value_and_grad(loss)
    data = client.map(load_part, range(parts))  # by tasks: what a worker loses is loaded again
    w, history = np.zeros(COLUMNS), []
    for step in range(steps):
        pieces = client.map(value_and_gradient, [w] * parts, data)
        if kill is not None and step == steps // 2:
            os.kill(kill, signal.SIGKILL)
        value, gradient = client.submit(added, pieces).result(timeout=TIMEOUT)
        history.append(value / (parts * ROWS))
        w = w - 4.0 * gradient / (parts * ROWS)
    return w, history


def fit_here(parts, steps):
    """The same without a cluster."""
    value_and_gradient = ad.value_and_grad(loss)
    w, history = np.zeros(COLUMNS), []
    for _ in range(steps):
        value, gradient = added([value_and_gradient(w, load_part(k)) for k in range(parts)])
        history.append(value / (parts * ROWS))
        w = w - 4.0 * gradient / (parts * ROWS)
    return w, history


def lazy_gradient(w, parts):
    """The gradient of the mean over all parts, as one Dask array: nothing is computed yet."""
    import dask
    import dask.array as da

    made = [dask.delayed(load_part)(k) for k in range(parts)]
    x = da.concatenate([da.from_delayed(p[0], (ROWS, COLUMNS), float) for p in made])
    y = da.concatenate([da.from_delayed(p[1], (ROWS,), float) for p in made])
    return ad.grad(mean_loss)(w, x, y)


def plot(history, path):
    """The loss before each step."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.plot(history, "o-")
    axes.set_xlabel("step")
    axes.set_ylabel("mean loss of all parts")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--kill", action="store_true", help="kill a worker in the middle")
    parser.add_argument("--output", type=Path, help="a folder for a plot of the losses")
    options = parser.parse_args(arguments)
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        sys.exit('this example needs Dask: pip install "dask[array]" distributed')
    there, steps = fit_here(options.parts, options.steps)
    with (
        LocalCluster(
            n_workers=options.workers, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster, timeout=TIMEOUT) as client,
    ):
        client.wait_for_workers(options.workers, timeout=TIMEOUT)
        pids = client.run(os.getpid)
        w, history = fit(client, options.parts, options.steps, min(pids.values()) if options.kill else None)
        print(f"loss {history[0]:.4f} -> {history[-1]:.4f} after {len(history)} steps")
        if options.kill:
            client.wait_for_workers(options.workers, timeout=TIMEOUT)
            lost = sorted(set(pids.values()) - set(client.run(os.getpid).values()))
            print(f"{len(lost)} worker was killed, and another one took its place")
        gradient = lazy_gradient(w, options.parts)
        print("a lazy gradient:", type(gradient).__name__, gradient.shape)
        from_arrays = gradient.compute()
    np.testing.assert_allclose(w, there, rtol=1e-9)
    np.testing.assert_allclose(history, steps, rtol=1e-9)
    _, total = added([ad.value_and_grad(loss)(w, load_part(k)) for k in range(options.parts)])
    np.testing.assert_allclose(from_arrays, total / (options.parts * ROWS), rtol=1e-9)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        plot(history, options.output / "distributed_gradients.png")
        print(f"plot: {options.output / 'distributed_gradients.png'}")
    print("the same numbers as without a cluster")


if __name__ == "__main__":
    main()
