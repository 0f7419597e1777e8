"""``torch.func`` and ``torch.autograd.functional``: structures, options, errors, and how often functions run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def plain(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: plain(value) for key, value in x.items()}
    return tuple([plain(item) for item in x]) if isinstance(x, (list, tuple)) else np.round(x.tolist(), 5).tolist()


def eye(*diagonal: float) -> Any:
    return np.diag(diagonal).tolist()


# Expressions over X = [1, 2, 3], S = 2, func, functional and torch, with their values.
VALUES: list[tuple[str, Any]] = [
    ("func.jvp(lambda a: {'y': a['x'] * 2}, ({'x': X},), ({'x': X},))[1]", {"y": [2.0, 4.0, 6.0]}),
    ("func.jvp(lambda a: (a * 2, a * 3), (X,), (X,), has_aux=True)", ([2, 4, 6], [2, 4, 6], [3, 6, 9])),
    ("func.jvp(lambda a: func.jvp(lambda b: b**3, (a,), (S / S,))[1], (S,), (S / S,))", (12.0, 12.0)),
    ("func.jvp(lambda a: a * func.jvp(lambda b: a + b, (S,), (S / S,))[1], (S,), (S / S,))", (2.0, 1.0)),
    ("func.vjp(lambda a: (a * 2, a * 3), X)[1]((X, X))", ([5.0, 10.0, 15.0],)),
    ("func.vjp(lambda a: a['x'] * 2, {'x': X})[1](X)", ({"x": [2.0, 4.0, 6.0]},)),
    ("func.vjp(lambda a: (a * 2, a * 3), X, has_aux=True)[2]", [3.0, 6.0, 9.0]),
    ("func.grad(lambda a, b: (a * b).sum(), argnums=(0, -1))(X, 2 * X)", ([2, 4, 6], [1, 2, 3])),
    ("func.grad_and_value(lambda a: ((a * 2).sum(), a), has_aux=True)(X)", ([2, 2, 2], (12.0, [1, 2, 3]))),
    ("func.jacrev(lambda a, b: a * b, argnums=(1,))(X, X)", (eye(1, 2, 3),)),
    ("func.jacrev(lambda a: (a**2, {'s': a.sum()}))(X)", (eye(2, 4, 6), {"s": [1, 1, 1]})),
    ("func.jacrev(lambda a: (a**2, a), has_aux=True)(X)", (eye(2, 4, 6), [1, 2, 3])),
    ("func.jacrev(lambda a: a**2, chunk_size=2)(X)", eye(2, 4, 6)),
    ("func.jacrev(lambda a: S)(X)", [0.0, 0.0, 0.0]),
    ("func.jacfwd(lambda a, b: a * b, argnums=(0, 1))(X, 2 * X)", (eye(2, 4, 6), eye(1, 2, 3))),
    ("func.jacfwd(lambda a: a['u'] * a['v'])({'u': X, 'v': S})", {"u": eye(2, 2, 2), "v": [1, 2, 3]}),
    ("func.jacfwd(lambda a: (a**2, a), has_aux=True)(X)", (eye(2, 4, 6), [1, 2, 3])),
    ("func.jacfwd(lambda a: S)(X)", [0.0, 0.0, 0.0]),
    ("func.jacfwd(func.jacfwd(lambda a: a**3))(X[:2])[1]", [[0.0, 0.0], [0.0, 12.0]]),
    ("func.jacrev(func.jacfwd(lambda a: a.sum() * a))(X[:2])", [[[2, 1], [1, 0]], [[0, 1], [1, 2]]]),
    (
        "func.hessian(lambda a, b: (a * b * a).sum(), argnums=(0, 1))(X[:2], X[:2])",
        ((eye(2, 4), eye(2, 4)), (eye(2, 4), eye(0, 0))),
    ),
    (
        "func.hessian(lambda a: (a['u'] ** 2 * a['v']).sum())({'u': X[:2], 'v': S})",
        {"u": {"u": eye(4, 4), "v": [2, 4]}, "v": {"u": [2, 4], "v": 0.0}},
    ),
    ("func.linearize(lambda a, b: (a * b, a.sum()), X, X)[1](X, 2 * X)", ([3, 12, 27], 6.0)),
    ("func.vmap(lambda a: a['u'] * a['v'], in_dims=({'u': 0, 'v': None},))({'u': X, 'v': S})", [2.0, 4.0, 6.0]),
    ("func.vmap(lambda a: a.sum(), in_dims=-1)(torch.ones(2, 3))", [2.0, 2.0, 2.0]),
    ("func.vmap(lambda a: (a, a), out_dims=(0, 1))(torch.ones(2, 3))[1].shape", (3, 2)),
    ("func.vmap(lambda a: S, out_dims=None)(X)", 2.0),
    ("func.vmap(lambda a, b=None: a * b)(X, b=X)[1]", [2.0, 4.0, 6.0]),
    ("func.vmap(lambda a: a * 2)(torch.zeros(0, 3)).shape", (0, 3)),
    ("func.vmap(func.jacrev(lambda a: a**3))(torch.ones(2, 3)).shape", (2, 3, 3)),
    ("len(set(func.vmap(lambda a: torch.rand(()) + 0 * a, randomness='same')(X).tolist())) * S", 2.0),
    ("len(set(func.vmap(lambda a: torch.rand(()) + 0 * a, randomness='different')(X).tolist())) * S", 6.0),
    ("functional.vjp(lambda a, b: a**2, (X, X), X)", ([1, 4, 9], ([2, 8, 18], [0, 0, 0]))),
    ("functional.vjp(lambda a: (a**2).sum(), X)", (14.0, [2, 4, 6])),
    ("functional.jvp(lambda a, b: (a * b, a), (X, X), (X, X))[1]", ([2, 8, 18], [1, 2, 3])),
    ("functional.jvp(lambda a: (a, S), X, X)[1]", ([1, 2, 3], 0.0)),
    ("functional.hvp(lambda a, b: (a**2 * b).sum(), (X, X), (X, 2 * X))", (36.0, ([6, 24, 54], [2, 8, 18]))),
    ("functional.vhp(lambda a, b: (a**2 * b).sum(), (X, X), (X, 2 * X))", (36.0, ([6, 24, 54], [2, 8, 18]))),
    ("functional.hvp(lambda a: a.sum(), X, X)", (6.0, [0, 0, 0])),
    ("functional.jacobian(lambda a: a**2, X, vectorize=True, strategy='forward-mode')", eye(2, 4, 6)),
    (
        "functional.hessian(lambda a: (a**3).sum(), X, vectorize=True, outer_jacobian_strategy='forward-mode')",
        eye(6, 12, 18),
    ),
]


def names(torch: Any) -> dict[str, Any]:
    x, s = torch.tensor([1.0, 2.0, 3.0]), torch.tensor(2.0)
    return {"torch": torch, "func": torch.func, "functional": torch.autograd.functional, "X": x, "S": s}


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values(torch: Any, number: int) -> None:
    expression, expected = VALUES[number]
    found = eval(expression, names(torch))
    if isinstance(found, torch.Size):
        assert tuple(found) == expected
    else:
        assert plain(found) == (expected if not isinstance(expected, tuple) else tuple(expected)), expression


ERRORS: list[tuple[str, Any, str]] = [
    ("func.jvp(lambda a: a * 2, (torch.tensor([1]),), (torch.tensor([1]),))", ValueError, "Expected primal to be floa"),
    ("func.jvp(lambda a: a * 2, X, X)", RuntimeError, "Expected primals to be a tuple"),
    ("func.jvp(lambda a: a * 2, (X,), (X, X))", RuntimeError, "to have the same python structure"),
    ("func.jvp(lambda a: a * 2, (X,), (S,))", RuntimeError, "different size than that of the original Tensor"),
    ("func.jvp(lambda a: S, (X,), (X,), strict=True)", RuntimeError, "independent of the inputs"),
    ("func.jvp(lambda a: 3.0, (X,), (X,))", RuntimeError, "to return only tensors, got unsupported type"),
    ("func.vjp(lambda a: {'y': a * 2}, X)[1](X)", RuntimeError, "Expected pytree structure of cotangents"),
    ("func.grad(lambda a: a * 2)(X)", RuntimeError, "return a scalar Tensor, got tensor with 1 dims"),
    ("func.grad(lambda a: a.sum(), argnums=2)(X)", RuntimeError, "Got argnum=2, but only 1 positional inputs"),
    ("func.grad(lambda a: a.sum(), argnums=(0, 0))(X)", RuntimeError, "argnums elements must be unique"),
    ("func.grad(lambda a: a.sum(), argnums='0')(X)", RuntimeError, "argnums must be int or Tuple"),
    ("func.grad(lambda a: a.sum(), has_aux=True)(X)", RuntimeError, r"should be a tuple: \(output, aux\)"),
    ("func.jacrev(lambda a: a, chunk_size=0)", ValueError, "`chunk_size` should be greater than 0"),
    ("func.jacfwd(lambda a: a, randomness='x')(X)", RuntimeError, "Only allowed values for randomness"),
    ("func.vmap(lambda a: a, chunk_size=0)(X)", ValueError, "chunk_size should be None or greater than 0"),
    ("func.vmap(lambda a: a + torch.rand(()))(X)", RuntimeError, "called random operation while in randomness error"),
    ("func.vmap(lambda a, b: a)(X, 3.0)", ValueError, "We cannot vmap over non-Tensor arguments"),
    ("func.vmap(lambda a: a)(S)", ValueError, "Got in_dim=0 for some input, but that input is a Tensor of dimensi"),
    ("func.vmap(lambda a: 3.0)(X)", ValueError, "must only return Tensors, got type"),
    ("func.vmap(lambda a: a * 2, out_dims=None)(X)", ValueError, "can not return a BatchedTensor when out_dim is None"),
    ("func.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(X)", ValueError, "out_dims is not compatible"),
    ("functional.jacobian(lambda a: S, X, strict=True)", RuntimeError, "Output 0 .* does not require gradients"),
    ("functional.jacobian(lambda a, b: a, (X, X), strict=True)", RuntimeError, "Output 0 .* is independent of input 1"),
    ("functional.jacobian(lambda a: a, X, strategy='x')", AssertionError, "Expected strategy to be either"),
    ("functional.vjp(lambda a: a**2, X)", RuntimeError, "v can only be None if the user-provided function returns"),
    ("functional.vjp(lambda a: a**2, X, (X, X))", RuntimeError, "The given v should contain a single Tensor"),
    ("functional.jvp(lambda a: a**2, X)", RuntimeError, "v can only be None if the input to the user-provided"),
    ("functional.jvp(lambda a: a**2, X, S)", RuntimeError, "v has invalid size: should be"),
    ("functional.hvp(lambda a: a**3, X, X)", RuntimeError, "given to hvp should contain a single element"),
    ("functional.hvp(lambda a: a.sum(), X, X, strict=True)", RuntimeError, "is independent of the input"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(torch: Any, number: int) -> None:
    expression, error, message = ERRORS[number]
    with pytest.raises(error, match=message):
        eval(expression, names(torch))


def test_modules_as_functions_of_their_parameters(torch: Any) -> None:
    layer, x = torch.nn.Linear(2, 1), torch.tensor([[1.0, 2.0]])
    before = layer.weight.tolist()
    p = {"weight": torch.tensor([[2.0, 3.0]]), "bias": torch.tensor([1.0])}
    call = torch.func.functional_call
    assert call(layer, p, x).item() == call(layer, ({"weight": p["weight"]}, {"bias": p["bias"]}), (x,)).item() == 9.0
    assert call(layer, p, kwargs={"input": x}).item() == 9.0 and layer.weight.tolist() == before
    g = torch.func.grad(lambda q: call(layer, q, x).sum())(p)
    assert g["weight"].tolist() == [[1.0, 2.0]] and g["bias"].tolist() == [1.0]
    with pytest.raises(RuntimeError, match="Missing key"):
        call(layer, {"bias": p["bias"]}, x, strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        call(layer, (p, p), x)
    models = [torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh()) for _ in range(3)]
    stacked, buffers = torch.func.stack_module_state(models)
    out = torch.func.vmap(lambda q, b, v: call(models[0], (q, b), (v,)), in_dims=(0, 0, None))(stacked, buffers, x)
    assert torch.allclose(out, torch.stack([m(x) for m in models])) and stacked["0.weight"].requires_grad
    first = models[0]
    first[0].weight, tied = torch.nn.Parameter(torch.ones(3, 2)), torch.nn.Sequential(first, first)
    doubled = call(first, {"0.weight": torch.zeros(3, 2), "0.bias": torch.zeros(3)}, x)
    assert doubled.tolist() == [[0.0, 0.0, 0.0]] and len(list(tied.parameters())) == 2


def test_passes_of_jacobians(monkeypatch: pytest.MonkeyPatch) -> None:
    from autodiff_compiler.compat import torch
    from autodiff_compiler.compat.graph import engine

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any) -> Any:
            return a * 2.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2.0

    runs = []
    run = engine.run_pullback
    monkeypatch.setattr(engine, "run_pullback", lambda *args: (runs.append(args[2]), run(*args))[1])
    x = torch.linspace(0.1, 1.0, 6)
    calls = []
    out, push = torch.func.linearize(lambda a: (calls.append(a), torch.sin(a) * a.flip(0))[1], x)
    columns = torch.stack([push(unit) for unit in torch.eye(6)], 1)
    for jacobian in (torch.func.jacfwd, torch.func.jacrev):
        assert torch.allclose(jacobian(lambda a: torch.sin(a) * a.flip(0))(x), columns)
    assert len(calls) == 1 and torch.allclose(out, torch.sin(x) * x.flip(0))
    runs.clear()
    torch.func.jacfwd(lambda a: torch.sort(a)[0] * a[[0, 0, 1, 2, 3, 3]])(x)
    torch.func.jacrev(lambda a: torch.sort(a)[0] * a[[0, 0, 1, 2, 3, 3]])(x)
    assert len(runs) == 2 and all(len(seeds) == 1 and seeds[0].shape[0] == 6 for seeds in runs)
    runs.clear()
    found = torch.func.jacrev(lambda a: Double.apply(a * a) * a)(x)
    assert torch.allclose(found, torch.diag(6.0 * x * x)) and len(runs) == 2  # before and behind the function
    assert torch.allclose(torch.func.jacfwd(lambda a: Double.apply(a * a) * a)(x), found)
