"""Measures on the real PyTorch what `torch_values.json` holds: ``python -m tests.compat.record_torch``.

Each case is an expression over its inputs x, y, ...; what is kept is its value, its dtype, and the gradient of the sum
of its elements weighted by 1, 2, 3, ... with respect to each input of a floating dtype; where
the real one has it, also the gradient of the sum of the first input's gradient: a second order.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

VALUES = Path(__file__).with_name("torch_values.json")

# Inputs that several cases use.
MIXED = [[-2.0, -0.5, 0.0], [0.5, 1.0, 3.0]]
POSITIVE = [[0.25, 0.5, 1.0], [2.0, 3.0, 4.0]]
UNIT = [[-0.9, -0.5, 0.0], [0.1, 0.5, 0.9]]
OTHER = [[1.5, -0.5, 2.0], [0.5, -1.0, 3.0]]
SPD = [[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]]
GENERAL = [[1.0, 2.0, 0.5], [-1.0, 1.5, 2.0], [0.25, -0.5, 3.0]]
VECTOR = [1.0, -2.0, 3.0]
IMAGE = [[[[float((3 * i * j + 7 * i + 2 * j) % 11) - 4 for j in range(4)] for i in range(4)] for _ in range(2)]]
KERNEL = [[[[0.5, -1.0], [2.0, 1.0]], [[1.0, 0.0], [-0.5, 0.25]]]]

# (expression, inputs); an input is a list or number, float32 unless the expression's comment says otherwise.
CASES: list[tuple[str, dict[str, Any]]] = []


def case(inputs: dict[str, Any], expressions: str) -> None:
    CASES.extend((" ".join(e.split()), inputs) for e in expressions.split(";"))


case(
    {"x": MIXED},
    """
    -x; x.abs(); torch.exp(x); torch.expm1(x); torch.sin(x); torch.cos(x); torch.tan(x); torch.tanh(x);
    torch.sinh(x); torch.cosh(x); torch.atan(x); torch.asinh(x); torch.sigmoid(x); torch.relu(x); x**2; x**3; x**0;
    x**1; torch.sign(x); torch.floor(x); torch.round(x); torch.square(x); torch.erf(x); torch.sinc(x);
    x.clamp(-0.5, 1.0); x.clamp(min=0.0); x.clamp(max=1.0); F.leaky_relu(x); F.elu(x); F.selu(x); F.gelu(x);
    F.gelu(x, approximate='tanh'); F.softplus(x); F.silu(x); F.softsign(x); F.relu6(x * 3); F.hardtanh(x);
    F.logsigmoid(x); F.hardsigmoid(x); F.hardswish(x); F.mish(x); F.celu(x); F.tanhshrink(x); F.softmax(x, dim=1);
    F.softmax(x, dim=0); F.log_softmax(x, dim=1); torch.logsumexp(x, dim=1); torch.logsumexp(x, (0, 1)); x.sum();
    x.sum(0); x.sum(1, keepdim=True); x.mean(); x.mean(0); x.prod(); x.prod(1); x.max(); x.min(); x.max(1).values;
    x.min(0).values; x.amax(1); x.std(); x.var(); x.var(0); x.var(1, unbiased=False); x.std(1); x.norm();
    x.norm(dim=1); x.norm(1); x.norm(3); x.norm(float('inf')); torch.linalg.norm(x);
    torch.linalg.vector_norm(x, ord=2, dim=1); x.cumsum(1); x.cumprod(1); x.t(); x.reshape(3, 2); x.view(-1); x[0];
    x[:, 1:]; x[1, 2]; x[[0, 0, 1]]; x[x > 0]; x.flip(1); x.roll(1, 1); x.unsqueeze(0); x.expand(2, 2, 3);
    x.repeat(2, 1); torch.where(x > 0, x, x * x); torch.where(x > 0, torch.sqrt(x.clamp(min=0)), 0.0);
    torch.cat([x, x * 2], dim=1); torch.stack([x, x * x], dim=2);
    torch.gather(x, 1, torch.tensor([[0, 0], [2, 1]])); torch.index_select(x, 1, torch.tensor([2, 0, 2]));
    x.masked_fill(x < 0, -1.0); torch.masked_select(x, x > 0);
    torch.scatter(x, 1, torch.tensor([[0], [1]]), x[:, 2:]); x.sort(dim=1, descending=True).values;
    x.topk(2, dim=1).values; torch.tril(x); torch.triu(x); torch.diagonal(x); x @ x.t(); x.t() @ x;
    torch.einsum('ij,kj->ik', x, x); torch.outer(x[0], x[1]); x + 1; 2 - x; x * 3; x / 4; 2.0**x; x % 2; x.double();
    x.half().float(); F.one_hot(torch.tensor([0, 2])) * x[:, :1]; x.median(); x.median(1).values;
    torch.lerp(x, x * x, 0.3); torch.movedim(x, 0, 1); torch.clip(x, x * 0 - 0.5, x * 0 + 0.5); torch.nan_to_num(x);
    torch.frac(x); torch.deg2rad(x); torch.fmod(x, 2); x.swapaxes(0, 1); torch.hstack([x, x]); torch.cumsum(x, 0);
    torch.addcmul(x, x, x, value=0.5); torch.addcdiv(x, x, x * x + 1); torch.sgn(x); x.trunc();
    torch.logit(torch.sigmoid(x)); torch.special.expit(x)
    """,
)
case(
    {"x": POSITIVE},
    """
    torch.log(x); torch.log1p(x); torch.log2(x); torch.log10(x); torch.sqrt(x); torch.rsqrt(x); torch.reciprocal(x);
    x**0.5; x**-1.5; 1 / x; 2 / x; x.acosh()[1]; torch.lgamma(x); torch.digamma(x); x.log().sum(); x**x;
    torch.xlogy(x, x); x.prod(0); torch.pow(2, x); torch.log_softmax(x, 0); x.std(0); torch.linalg.norm(x, 'fro');
    x.cumprod(0); torch.softmax(x, -1); torch.special.entr(x)
    """,
)
case(
    {"x": UNIT},
    """
    torch.asin(x); torch.acos(x); torch.atanh(x); torch.erfinv(x); torch.arcsin(x)
    """,
)
case(
    {"x": MIXED, "y": OTHER},
    """
    x + y; x - y; x * y; x / y; torch.maximum(x, y); torch.minimum(x, y); torch.max(x, y); torch.atan2(x, y);
    torch.hypot(x, y); torch.where(x > y, x, y); F.mse_loss(x, y); F.l1_loss(x, y); F.smooth_l1_loss(x, y);
    F.huber_loss(x, y); F.mse_loss(x, y, reduction='sum'); torch.lerp(x, y, 0.25); torch.add(x, y, alpha=2);
    F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)); x @ y.t(); torch.tensordot(x, y, dims=2);
    torch.logaddexp(x, y); x[0].dot(y[1]); F.cross_entropy(x, F.softmax(y, dim=1)); x * y[0]; x + y[:, :1];
    x.view(2, 1, 3) * y; torch.baddbmm(x[:, 0], x[None], y.t()[None])
    """,
)
case(
    {"x": [-1.0, 0.0, 0.0, 2.0]},
    """
    x.abs(); torch.relu(x); x.clamp(0.0, 2.0); x.norm(); (x * 0).norm(); (x * 0).norm(1); (x * 0).norm(3);
    (x * 0).norm(float('inf')); x.prod(); x.max(); x.min(); x.sign(); x**2.0; x**1.5; x.pow(0.0);
    torch.sqrt(x.abs()); (x * 0).std(); F.hardtanh(x, 0.0, 2.0); F.leaky_relu(x); F.elu(x); F.softplus(x);
    torch.where(x > 0, x.log(), 0 * x)
    """,
)
case(
    {"x": [0.0, 0.0, 3.0]},
    """
    x.prod(); x.cumprod(0); torch.sqrt(x); x.norm(); torch.sqrt(x) * torch.tensor([0.0, 1.0, 1.0]); x.log(); 1 / x;
    x**0; x**-1; x.pow(torch.tensor([0.0, 2.0, 1.0])); F.relu6(x * 2); x.rsqrt()
    """,
)
case(
    {"x": [2.0, 5.0, 5.0, 1.0, 1.0]},
    """
    x.max(); x.min(); x.max(0).values; x.min(0).values; x.amax(); x.amin(0); x.sort().values; x.median();
    x.topk(2).values; x.norm(float('inf')); torch.maximum(x, x.flip(0)); torch.maximum(x, torch.tensor(2.0));
    torch.minimum(x, torch.tensor(5.0))
    """,
)
case(
    {"x": [0.0, 1.0, 2.0], "y": [0.0, 0.0, 2.0]},
    """
    x**y.detach(); torch.atan2(x, y); torch.hypot(x, y); torch.maximum(x, y); torch.minimum(x, y);
    torch.xlogy(x, y); (x - y).abs(); (x - y).norm(); F.l1_loss(x, y); F.smooth_l1_loss(x, y)
    """,
)
case(
    {"a": SPD},
    """
    torch.det(a); torch.logdet(a); torch.inverse(a); torch.linalg.cholesky(a); torch.linalg.eigvalsh(a);
    torch.linalg.eigh(a).eigenvalues; torch.linalg.svd(a).S; torch.linalg.svdvals(a); torch.trace(a);
    torch.linalg.slogdet(a)[1]; torch.linalg.qr(a)[1].abs(); torch.linalg.norm(a); torch.linalg.pinv(a)
    """,
)
case(
    {"a": GENERAL},
    """
    torch.det(a); torch.linalg.inv(a); a.mT; a.diagonal(); torch.diag(a); a.tril(-1); a.triu(1)
    """,
)
case(
    {"a": GENERAL, "b": VECTOR},
    """
    torch.linalg.solve(a, b); a @ b; b @ a; torch.mv(a, b); a * b; torch.addmv(b, a, b);
    torch.einsum('ij,j->i', a, b); torch.einsum('i,ij,j', b, a, b); F.linear(b, a, b); b.diag() @ a
    """,
)
case(
    {"x": IMAGE, "w": KERNEL},
    """
    F.conv2d(x, w); F.conv2d(x, w, stride=2); F.conv2d(x, w, padding=1);
    F.conv2d(x, w, stride=(1, 2), padding=(1, 0)); F.conv2d(x, w, dilation=2); F.conv2d(x, w, padding='same');
    F.conv2d(x, w.transpose(0, 1), groups=2)
    """,
)
case(
    {"x": IMAGE},
    """
    F.max_pool2d(x, 2); F.max_pool2d(x, 3, stride=1, padding=1); F.avg_pool2d(x, 2);
    F.avg_pool2d(x, 3, stride=2, padding=1); F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False);
    x.permute(0, 2, 3, 1); x.flatten(1); x.mean((2, 3)); x.var((0, 2, 3))
    """,
)
case(
    {"x": [[1.0, 2.0, 3.0], [3.0, 1.0, 0.0]]},
    """
    F.cross_entropy(x, torch.tensor([2, 0])); F.cross_entropy(x, torch.tensor([2, -100]));
    F.cross_entropy(x, torch.tensor([2, 0]), label_smoothing=0.1);
    F.cross_entropy(x, torch.tensor([2, 0]), weight=torch.tensor([1.0, 2.0, 3.0]));
    F.cross_entropy(x, torch.tensor([2, 0]), reduction='none');
    F.nll_loss(F.log_softmax(x, 1), torch.tensor([2, 0]));
    F.binary_cross_entropy(torch.sigmoid(x), torch.tensor([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]));
    F.binary_cross_entropy_with_logits(x, torch.ones(2, 3), pos_weight=torch.tensor(2.0)); F.threshold(x, 1.0, 0.5)
    """,
)
case(
    {"x": VECTOR},
    """
    x[torch.tensor([0, 2, 2])]; torch.zeros(4).scatter_add(0, torch.tensor([3, 1, 3]), x);
    torch.zeros(4).index_add(0, torch.tensor([3, 1, 3]), x); torch.take(x, torch.tensor([2, 0]));
    x.repeat_interleave(2); torch.diag(x); x.tile((2,)); torch.meshgrid(x, x, indexing='ij')[0]; x.chunk(2)[0];
    torch.split(x, 2)[1]; x.unbind()[1]; torch.atleast_2d(x); x.to(torch.complex64).abs()
    """,
)


def measure(torch: Any, expression: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The value, dtype and gradients of an expression."""
    names = {name: torch.tensor(value, requires_grad=True) for name, value in inputs.items()}
    out = eval(expression, {"torch": torch, "F": torch.nn.functional, **names})
    found: dict[str, Any] = {"value": out.tolist(), "dtype": str(out.dtype), "shape": list(out.shape)}
    if not out.requires_grad:
        return found
    weights = torch.arange(1.0, out.numel() + 1).reshape(out.shape)
    grads = torch.autograd.grad((out * weights).sum(), list(names.values()), create_graph=True, allow_unused=True)
    found["grads"] = [None if g is None else (g + torch.zeros(())).tolist() for g in grads]
    first = next(g for g in grads if g is not None)
    if first.requires_grad:
        try:
            second = torch.autograd.grad(first.sum(), list(names.values()), allow_unused=True)
        except (RuntimeError, NotImplementedError):
            return found  # the real one has no second order here
        # Some of the real one's zeros have no memory until something is added to them.
        found["second"] = [None if g is None else (g + torch.zeros(())).tolist() for g in second]
    return found


def short(found: Any) -> Any:
    """Its numbers with as many digits as float32 holds."""
    if isinstance(found, list):
        return [short(item) for item in found]
    if isinstance(found, dict):
        return {key: short(item) for key, item in found.items()}
    return float(f"{found:.8g}") if isinstance(found, float) else found


def main() -> None:
    import torch

    from .test_torch_nn import OPTIMIZERS, three_steps

    warnings.simplefilter("ignore")
    lines = [json.dumps([e, sorted(inputs), short(measure(torch, e, inputs))]) for e, inputs in CASES]
    steps = {f"{name} {options}": three_steps(torch, name, options) for name, options in OPTIMIZERS}
    text = '{"version": %s,\n"optimizers": %s,\n"cases": [\n%s\n]}\n'
    VALUES.write_text(text % (json.dumps(torch.__version__), json.dumps(steps), ",\n".join(lines)), encoding="utf-8")
    print(f"{len(lines)} cases written to {VALUES.name}")


if __name__ == "__main__":
    main()
