"""Operations that are recorded directly: the same as in general, each time, and compiled once."""

import warnings

import numpy as np
import pytest

from autodiff_compiler.compat import torch
from autodiff_compiler.tape import pullback, recording

F = torch.nn.functional

# The first run of most of these learns the structure, which the others use.
OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "x * x": lambda x, y: x * x,
    "2 - x": lambda x, y: 2 - x,
    "2.0 / x": lambda x, y: 2.0 / x,
    "x * 3": lambda x, y: x * 3,
    "3 + x": lambda x, y: 3 + x,
    "x ** 3": lambda x, y: x**3,
    "x ** 0.5": lambda x, y: x**0.5,
    "x ** 1": lambda x, y: x**1,
    "-x": lambda x, y: -x,
    "exp": lambda x, y: x.exp(),
    "tanh": lambda x, y: torch.tanh(x),
    "sigmoid": lambda x, y: torch.sigmoid(x),
    "relu": lambda x, y: torch.relu(x),
    "silu": lambda x, y: F.silu(x),
    "sum": lambda x, y: x.sum() * y,
    "mean": lambda x, y: x.mean() * y,
    "sum of the last axis": lambda x, y: x.sum(-1, keepdim=True) * y,
    "reshape": lambda x, y: x.reshape(-1) * 2,
    "T": lambda x, y: x.t() * 2 if x.dim() < 3 else x,
    "x[None]": lambda x, y: x[None] * y,
    "x[..., 0]": lambda x, y: x[..., 0] * 2 if x.dim() else x,
    "x @ x.T": lambda x, y: x @ x.t() if x.dim() == 2 else x,
    "linear": lambda x, y: F.linear(x, x, x[:, 0]) if x.dim() == 2 else x,
    "softmax": lambda x, y: torch.softmax(x, -1) * y if x.dim() else x,
    "log_softmax": lambda x, y: torch.log_softmax(x, 0) * y if x.dim() else x,
    "nll_loss": lambda x, y: F.nll_loss(x, torch.arange(len(x)) % x.shape[1]) * y.sum() if x.dim() == 2 else x,
    "nll_loss with ignored rows": lambda x, y: (
        F.nll_loss(x, torch.arange(len(x)) - 1, ignore_index=-1, reduction="none") if x.dim() == 2 else x
    ),
    "cat": lambda x, y: torch.cat([x, y]) if x.dim() == y.dim() > 0 and x.shape[1:] == y.shape[1:] else x,
    "cat with itself": lambda x, y: torch.cat([x, x], -1) if x.dim() else x,
    "stack": lambda x, y: torch.stack([x, y], -1) if x.shape == y.shape else x,
    "linear without bias": lambda x, y: F.linear(x, y) if x.dim() == 2 and x.shape == y.shape else x,
}
SHAPES = [((), ()), ((3,), ()), ((), (3,)), ((2, 3), (3,)), ((2, 3), (2, 3)), ((2, 1), (1, 3))]


def central(f, values, k):
    """The derivative of the sum of weighted elements of f by argument k."""
    out = np.zeros_like(values[k])
    for at in np.ndindex(out.shape):
        ends = []
        for step in (1e-5, -1e-5):
            moved = [v.copy() for v in values]
            moved[k][at] += step
            ends.append(f(*moved))
        out[at] = (ends[0] - ends[1]) / 2e-5
    return out


@pytest.mark.parametrize("name", OPERATIONS)
def test_direct_operations_have_the_gradients_of_differences(name):
    f = OPERATIONS[name]
    r = np.random.default_rng(7)
    for shapes in SHAPES:
        values = [r.uniform(0.5, 1.5, s) for s in shapes]

        def weighted(x, y, f=f):
            z = f(x, y)
            return (z * torch.cos(torch.arange(z.numel(), dtype=torch.float64)).reshape(z.shape)).sum()

        def number(*arrays, g=weighted):
            return g(*[torch.tensor(a) for a in arrays]).item()

        want = [central(number, values, k) for k in (0, 1)]
        for _ in range(2):
            given = [torch.tensor(v, requires_grad=True) for v in values]
            found = torch.autograd.grad(weighted(*given), given, allow_unused=True)
            for g, w in zip(found, want):
                np.testing.assert_allclose(0 * w if g is None else g.numpy(), w, rtol=1e-6, atol=1e-7)


def network(dtype=torch.float64):
    r = np.random.default_rng(0)
    sizes = ((4, 8), (8,), (8, 1), (1,))
    own = [torch.tensor(r.normal(size=s), dtype=dtype, requires_grad=True) for s in sizes]
    x, t = torch.tensor(r.normal(size=(8, 4)), dtype=dtype), torch.tensor(r.normal(size=(8, 1)), dtype=dtype)

    def step():
        w1, b1, w2, b2 = own
        d = torch.tanh(x @ w1 + b1) @ w2 + b2 - t
        loss = (d * d).mean()
        loss.backward()
        with torch.no_grad():
            for p in own:
                p -= 0.05 * p.grad
                p.grad = None
        return loss.item()

    return step, own


def test_a_training_loop_compiles_in_its_first_step(monkeypatch):
    made = []
    build = pullback._Build
    monkeypatch.setattr(pullback, "_Build", lambda *args: made.append(args) or build(*args))
    monkeypatch.setitem(recording._roots, None, recording.TrieNode(masks=None))
    step, _ = network()
    losses = [step()]
    assert len(made) == 1
    losses += [step() for _ in range(5)]
    assert len(made) == 1 and losses == sorted(losses, reverse=True)


def test_modules_and_optimizers_compile_in_the_first_step(monkeypatch):
    made = []
    build = pullback._Build
    monkeypatch.setattr(pullback, "_Build", lambda *args: made.append(args) or build(*args))
    monkeypatch.setitem(recording._roots, None, recording.TrieNode(masks=None))
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    x, t = torch.randn(16, 4), torch.randint(0, 3, (16,))
    for _ in range(4):
        optimizer.zero_grad()
        F.cross_entropy(net(x), t).backward()
        optimizer.step()
        assert len(made) == 1


def test_infinities_are_values_and_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = torch.tensor([0.0, 1.0], requires_grad=True)
        for _ in range(2):
            assert (1 / x).tolist() == [float("inf"), 1.0] and x.log().tolist() == [-float("inf"), 0.0]
        assert (torch.tensor(3e38) * 10).item() == float("inf")
        with torch.no_grad():
            x /= 0.0
    assert np.geterr()["divide"] == "warn"


def test_direct_writes_count_as_writes():
    x = torch.ones(3, requires_grad=True)
    y = x.exp()
    z = y.sum()
    with torch.no_grad():
        y *= 2.0
    assert y._version == 1 and x._version == 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()
    with torch.no_grad():
        x += torch.ones(3)
        x.sub_(0.5, alpha=2)
        x *= torch.tensor(2.0)
    assert x.tolist() == [2.0, 2.0, 2.0] and x._version == 3
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x += 1.0


def test_a_write_to_other_memory_leaves_the_graph_readable():
    x, other = torch.ones(3, requires_grad=True), torch.zeros(3)
    y = (x.exp() * x).sum()
    other += 1.0
    y.backward()
    np.testing.assert_allclose(x.grad, 2 * np.e * np.ones(3), rtol=1e-6)


def test_gradients_have_memory_of_their_own():
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    seed = torch.ones(3)
    (a + b).backward(seed)
    a.grad.zero_()
    assert b.grad.tolist() == seed.tolist() == [1.0, 1.0, 1.0]
    c = torch.ones(3, requires_grad=True)
    (a * c).exp().sum().backward()
    a.grad.zero_()
    assert c.grad.abs().sum() > 1


def test_a_second_pass_over_what_is_gone_raises_and_over_sums_does_not():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    z = (x + x).sum()
    z.backward()
    z.backward()
    assert x.grad.tolist() == [6.0, 8.0]


def test_numpy_errors_are_those_of_pytorch():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(3\) must match the size of tensor b \(4\)"):
        x + torch.ones(4)
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        torch.ones(2, 3) @ torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        with torch.no_grad():
            x += torch.ones(2, 3)


def test_inner_operations_in_a_finalizer_are_computed():
    """What runs while NumPy computes, a finalizer say, may compute too."""
    from autodiff_compiler.compat.torch.modes import MODE

    found = []

    def reenter(a):
        found.append((torch.ones(2) + torch.ones(2)).tolist())
        return a

    MODE.quiet(reenter, 1)
    assert found == [[2.0, 2.0]]


# Programs that PyTorch runs: what the pass needs is still there, though what equal operations made is not.
READABLE = {
    "an equal slice belongs to what is gone": """
        a = x[:2] - y[:2]
        b = x[:2] * a
        (a * a).sum().backward()
        b.sum().backward()
        """,
    "a square like the one in the derivative of tanh was overwritten": """
        a = x.tanh()
        b = a.square()
        with torch.no_grad(): b[:2].mul_(0.5)
        g, = torch.autograd.grad(b.prod() + b.mean(), x, create_graph=True)
        (g * g).sum().backward()
        """,
    "what was flipped is overwritten": """
        a = x * y
        b = a.flip(0)
        c = a[:2]
        c.sub_(c)
        (b.norm() + a.sum()).backward()
        """,
    "zeros that were written need nothing": """
        a = x + 0.5
        a.zero_()
        (a.exp() * y).sum().backward()
        a.sum().backward()
        """,
}


@pytest.mark.parametrize("name", READABLE)
def test_passes_that_pytorch_runs_are_run(name):
    import textwrap

    program = textwrap.dedent(READABLE[name])
    scope = {
        "torch": torch,
        "x": torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64, requires_grad=True),
        "y": torch.tensor([1.0, 0.25, -0.5], dtype=torch.float64, requires_grad=True),
    }
    exec(program, scope)
    for tensor, want in zip("xy", EXPECTED[name]):
        g = scope[tensor].grad
        np.testing.assert_allclose(0.0 if g is None else g.numpy(), want, rtol=1e-12)


# What the real PyTorch gives.
EXPECTED = {
    "an equal slice belongs to what is gone": ([-1.0, -6.75, 0.0], [0.5, 5.0, 0.0]),
    "a square like the one in the derivative of tanh was overwritten": (
        [0.48562992970157587, -0.1653665449985843, 0.03366156818090703],
        0.0,
    ),
    "what was flipped is overwritten": (
        [0.423999152002544, -0.07949984100047701, -0.07600084799745599],
        [0.211999576001272, 0.476999046002862, 0.30400339198982396],
    ),
    "zeros that were written need nothing": ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
}


def test_results_that_are_reductions_or_joins_may_be_viewed_flat():
    x = torch.arange(24.0).view(2, 3, 4).transpose(0, 2).requires_grad_()
    for _ in range(2):
        for made in (
            torch.softmax(x, 1), x.sum(0), x.mean(1), torch.cat([x, x]), torch.stack([x, x], 1), x.cumsum(0), x.var(0),
            x.masked_fill(x > 3, 0.0), torch.log_softmax(x, 0), x.max(0).values,
        ):  # fmt: skip
            assert made.is_contiguous() and made.view(-1).shape == (made.numel(),)
    assert not (x * 2).is_contiguous() and not x.exp().is_contiguous()
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        (x * 2).view(-1)


def test_operations_have_the_names_of_pytorch():
    x, t = torch.tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True), torch.ones(2, 2)
    ids = torch.tensor([0, 1])
    for made, name in (
        (F.mse_loss(x, t), "MseLoss"), (F.mse_loss(x, t, reduction="none"), "MseLoss"),
        (F.cross_entropy(x, ids), "NllLoss"), (F.nll_loss(x, ids, reduction="sum"), "NllLoss"),
        (F.smooth_l1_loss(x, t), "SmoothL1Loss"), (F.huber_loss(x, t), "HuberLoss"),
        (F.binary_cross_entropy(x, t), "BinaryCrossEntropy"),
        (F.binary_cross_entropy_with_logits(x, t), "BinaryCrossEntropyWithLogits"), (F.l1_loss(x, t), "Mean"),
    ):  # fmt: skip
        assert made.grad_fn.name() == f"{name}Backward0" and f"grad_fn=<{name}Backward0>" in repr(made)
    assert (2**x).grad_fn.name() == "PowBackward2"
    assert repr(x.sin().grad_fn).startswith("<SinBackward0 object at 0x")


def test_views_of_one_name_and_shape_are_recorded_apart():
    for f, shape in ((torch.atleast_1d, (3,)), (torch.atleast_2d, (1, 3)), (torch.atleast_1d, (3,))):
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = f(x)
        assert y.shape == shape
        (y @ torch.tensor([1.0, 10.0, 100.0]) * y.sum(0)).sum().backward()
        weights = np.array([1.0, 10.0, 100.0])
        value = x.detach().numpy()
        # The last factor is the sum of all elements, or each of them.
        expected = 6.0 * weights + value @ weights
        assert np.allclose(x.grad.numpy(), expected)


def test_functions_of_the_module_write_in_place():
    x = torch.tensor([0.5, -2.0])
    for name in ("sin_", "abs_", "sqrt_", "neg_", "floor_", "exp_", "log1p_", "atan_", "cosh_"):
        y, before = x.abs(), x.abs()
        assert getattr(torch, name)(y) is y
        assert torch.equal(y, getattr(torch, name[:-1])(before)) and y._version == 1
    assert torch.clamp_(torch.tensor([-2.0, 2.0]), max=1.0).tolist() == [-2.0, 1.0]
    assert torch.tensor([-2.0, 2.0]).clamp_min_(0.0).tolist() == [0.0, 2.0]
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        torch.sin_(leaf)


def test_what_was_overwritten_or_rounded_gets_zeros_whatever_comes_back():
    bad = torch.tensor([float("nan"), float("inf")])
    for f in (torch.floor, torch.sign, torch.round, lambda x: (x * 2).zero_(), lambda x: (x * 2).fill_(3.0)):
        x = torch.tensor([0.5, 1.5], requires_grad=True)
        f(x).backward(bad)
        assert x.grad.tolist() == [0.0, 0.0]
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    part = (x * 1.5)[1:]
    part.zero_()
    part.var().backward()  # nan: of one element
    assert x.grad.tolist() == [0.0, 0.0]


def test_what_is_missing_and_unexpected_is_shown_as_pytorch_shows_it():
    nn = torch.nn
    net = nn.Linear(1, 1)
    found = net.load_state_dict({"weight": torch.ones(1, 1)}, strict=False)
    assert repr(found) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])"
    x = torch.arange(4.0).requires_grad_()
    for made, name in (
        (x.split(2)[1], "Split"), (x.chunk(2)[0], "Split"), (x.split([1, 3])[0], "SplitWithSizes"),
        (x.unbind()[0], "Unbind"), (x.sort().values, "Sort"), (x.topk(2).values, "Topk"),
    ):  # fmt: skip
        assert made.grad_fn.name() == f"{name}Backward0"


def test_tensors_without_axes():
    x = torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    for f in (lambda t: t.flip(0), lambda t: t.cumsum(0), lambda t: t.cumprod(0)):
        y = f(x)
        assert y.shape == () and torch.autograd.grad(y * 2, x)[0].item() == 2.0
    assert torch.tensor(True).cumsum(0).dtype is torch.int64
    v = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)
    s = v.norm()
    for y in (s[None].sin().sum() + s.sin(), s.sin() + s[None].sin().sum(), s[...].sin() * 2):
        (g,) = torch.autograd.grad(y, v, retain_graph=True)
        np.testing.assert_allclose(g.numpy(), 2 * np.cos(5.0) * np.array([0.6, 0.8]), rtol=1e-12)


def test_losses_of_two_shapes_are_taken_in_one():
    a, b = torch.tensor([1.0, 3.0], requires_grad=True), torch.tensor(2.0, dtype=torch.float64)
    for loss, want in ((F.mse_loss, 1.0), (F.l1_loss, 1.0), (F.smooth_l1_loss, 0.5), (F.huber_loss, 0.5)):
        with pytest.warns(UserWarning, match="Using a target size") as caught:
            found = loss(a, b)
        assert found.item() == want and (loss is F.l1_loss or caught[0].filename == __file__)
    with pytest.warns(UserWarning, match="Using a target size"):
        assert F.mse_loss(a, b).dtype is torch.float64  # as two tensors with axes promote


def test_integers_to_negative_powers():
    base, power = torch.tensor([0, -1, -1, -2, 1, 3]), torch.tensor([-1, -1, -2, -3, -5, 2])
    assert (base**power).tolist() == [0, -1, 1, 0, 1, 9]
    assert (2 ** torch.tensor([1, -1])).tolist() == [2, 0]
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        base**-1
