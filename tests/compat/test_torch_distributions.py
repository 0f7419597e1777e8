"""``torch.distributions``: densities, entropies and divergences as the real PyTorch gives them, samples, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

# Of a parameter p, which is 0.3, 0.6, 0.9, and values v: what depends on p.
CASES = (
    "D.Normal(p, 2 * p).log_prob(v)",
    "D.Normal(0.5, p).cdf(v)",
    "D.Normal(p, 1.0).icdf(v / 2)",
    "D.Normal(1.0, p).entropy()",
    "D.Uniform(-p, 1 + p).log_prob(v)",
    "D.Uniform(0.0, p).entropy()",
    "D.Exponential(p).log_prob(v)",
    "D.Exponential(p).cdf(v)",
    "D.Bernoulli(p).log_prob(torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64))",
    "D.Bernoulli(logits=p).entropy()",
    "D.Bernoulli(p).variance",
    "D.Categorical(p).log_prob(torch.tensor([0, 2, 1, 1]))",
    "D.Categorical(logits=torch.stack([p, p * p])).log_prob(torch.tensor([2, 0]))",
    "D.Categorical(p).entropy()",
    "D.Independent(D.Normal(p, p), 1).log_prob(v)",
    "D.kl_divergence(D.Normal(p, 1.0), D.Normal(0.0, 2 * p))",
    "D.kl_divergence(D.Bernoulli(p), D.Bernoulli(logits=p))",
    "D.kl_divergence(D.Categorical(p), D.Categorical(logits=p * p))",
    "D.kl_divergence(D.Exponential(p), D.Exponential(p * p))",
)


def results(torch: Any, text: str) -> list[float]:
    p = torch.tensor([0.3, 0.6, 0.9], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
    out = eval(text, {"torch": torch, "D": torch.distributions, "p": p, "v": v})
    (g,) = torch.autograd.grad((out * torch.arange(1.0, 1.0 + out.numel()).reshape(out.shape)).sum(), p)
    return [*out.detach().reshape(-1).tolist(), *g.tolist()]


# What the real PyTorch gives.
EXPECTED: dict[str, list[float]] = {
    "D.Normal(p, 2 * p).log_prob(v)": [
        -0.41158513166090416,
        -1.1047323122208494,
        -1.510197420329014,
        -3.4490740740740744,
        -3.4490740740740744,
        -3.4490740740740735,
    ],
    "D.Normal(0.5, p).cdf(v)": [
        0.20232838096364303,
        0.5,
        0.609408524566425,
        0.783088542806396,
        -0.0,
        -0.3554112102061559,
    ],
    "D.Normal(p, 1.0).icdf(v / 2)": [-0.8503493803760083, -0.07448975019608184, 0.5813606360356248, 1.0, 2.0, 3.0],
    "D.Normal(1.0, p).entropy()": [
        0.21496572887873655,
        0.908112909438682,
        1.3135780175468463,
        3.3333333333333335,
        3.3333333333333335,
        3.333333333333333,
    ],
    "D.Uniform(-p, 1 + p).log_prob(v)": [
        -0.47000362924573563,
        -0.7884573603642703,
        -1.0296194171811581,
        -1.25,
        -1.8181818181818181,
        -2.142857142857143,
    ],
    "D.Uniform(0.0, p).entropy()": [
        -1.2039728043259361,
        -0.5108256237659907,
        -0.10536051565782628,
        3.3333333333333335,
        3.3333333333333335,
        3.333333333333333,
    ],
    "D.Exponential(p).log_prob(v)": [
        -1.278972804325936,
        -0.8108256237659908,
        -0.7803605156578264,
        3.0833333333333335,
        2.3333333333333335,
        1.083333333333333,
    ],
    "D.Exponential(p).cdf(v)": [
        0.07225651367144714,
        0.2591817793182821,
        0.4908435793924508,
        0.23193587158213821,
        0.7408182206817179,
        1.1456019463669858,
    ],
    "D.Bernoulli(p).log_prob(torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64))": [
        -1.2039728043259361,
        -0.916290731874155,
        -0.10536051565782628,
        3.333333333333334,
        -5.0,
        3.333333333333337,
    ],
    "D.Bernoulli(logits=p).entropy()": [
        0.6820224894250294,
        0.6500941667504084,
        0.6012993223695844,
        -0.07333749350722375,
        -0.27454108854798875,
        -0.5548508298241114,
    ],
    "D.Bernoulli(p).variance": [
        0.21,
        0.24,
        0.08999999999999998,
        0.39999999999999997,
        -0.3999999999999999,
        -2.4000000000000004,
    ],
    "D.Categorical(p).log_prob(torch.tensor([0, 2, 1, 1]))": [
        -1.791759469228055,
        -0.6931471805599451,
        -1.0986122886681096,
        -1.0986122886681096,
        -2.2222222222222223,
        6.111111111111111,
        -3.3333333333333335,
    ],
    "D.Categorical(logits=torch.stack([p, p * p])).log_prob(torch.tensor([2, 0]))": [
        -0.8283901699061244,
        -1.4734801869580285,
        0.6853534900432781,
        -1.0439084757644737,
        -1.1313635668365039,
    ],
    "D.Categorical(p).entropy()": [1.0114042647073518, 0.4335306691781686, 0.04844890220042113, -0.1768094911930036],
    "D.Independent(D.Normal(p, p), 1).log_prob(v)": [
        -0.9783233225309316,
        -3.7962962962962963,
        -1.8981481481481481,
        -1.2654320987654322,
    ],
    "D.kl_divergence(D.Normal(p, 1.0), D.Normal(0.0, 2 * p))": [
        0.5030632651228983,
        0.15454377901617683,
        0.36710765255643996,
        -5.925925925925927,
        1.0185185185185182,
        2.3045267489711927,
    ],
    "D.kl_divergence(D.Bernoulli(p), D.Bernoulli(logits=p))": [
        0.15349094241363367,
        0.004476283476629192,
        0.1060709013406396,
        -0.8728553435755447,
        -0.29775717133208046,
        3.324522239883671,
    ],
    "D.kl_divergence(D.Categorical(p), D.Categorical(logits=p * p))": [
        0.012075922250676982,
        -0.14605465380273264,
        0.011728483740135798,
        -0.025884633844140303,
    ],
    "D.kl_divergence(D.Exponential(p), D.Exponential(p * p))": [
        0.5039728043259362,
        0.11082562376599059,
        0.005360515657826248,
        -2.3333333333333335,
        -1.333333333333334,
        -0.33333333333333304,
    ],
}


@pytest.mark.parametrize("text", CASES)
def test_values_and_gradients(torch: Any, text: str) -> None:
    np.testing.assert_allclose(results(torch, text), EXPECTED[text], rtol=1e-6, atol=1e-9)


def test_samples(torch: Any) -> None:
    D = torch.distributions
    torch.manual_seed(0)
    n = 4000
    for d, mean, deviation in (
        (D.Normal(1.0, 2.0), 1.0, 2.0), (D.Uniform(0.0, 3.0), 1.5, 0.87), (D.Exponential(2.0), 0.5, 0.5),
        (D.Bernoulli(0.3), 0.3, 0.46),
    ):  # fmt: skip
        found = d.sample((n,))
        assert found.shape == (n,) and not found.requires_grad
        assert abs(found.mean().item() - mean) < 0.15 and abs(found.std().item() - deviation) < 0.15
        assert abs(d.mean.item() - mean) < 1e-6 and abs(d.stddev.item() - deviation) < 0.01
    picked = D.Categorical(torch.tensor([[1.0, 2.0, 1.0], [0.0, 0.0, 5.0]])).sample((n,))
    assert picked.shape == (n, 2) and picked.dtype is torch.int64 and (picked[:, 1] == 2).all()
    assert np.abs(np.bincount(picked[:, 0].numpy()) / n - [0.25, 0.5, 0.25]).max() < 0.05
    torch.manual_seed(3)
    first = D.Normal(0.0, 1.0).sample((3,))
    torch.manual_seed(3)
    assert torch.equal(D.Normal(0.0, 1.0).sample((3,)), first)


def test_gradients_flow_through_samples(torch: Any) -> None:
    loc, scale = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    made = torch.distributions.Normal(loc, scale).rsample((5,))
    made.sum().backward()
    assert loc.grad.tolist() == [5.0, 5.0, 5.0]
    np.testing.assert_allclose(scale.grad.numpy(), made.detach().numpy().sum(0), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="no samples that gradients flow through"):
        torch.distributions.Categorical(torch.ones(2)).rsample()


def test_text_and_errors(torch: Any) -> None:
    D = torch.distributions
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Categorical(torch.ones(3))) == "Categorical(probs: torch.Size([3]))"
    assert repr(D.Independent(D.Normal(torch.zeros(2), 1.0), 1)) == (
        "Independent(Normal(loc: torch.Size([2]), scale: torch.Size([2])), 1)"
    )
    for make, message in (
        (
            lambda: D.Normal(0.0, -1.0),
            r"Expected parameter scale \(Tensor of shape \(\)\) of distribution Normal\(loc: 0.0, scale: -1.0\) to "
            r"satisfy the constraint GreaterThan\(lower_bound=0.0\), but found invalid values:\n-1.0",
        ),
        (lambda: D.Categorical(torch.tensor([-1.0, 2.0])), r"satisfy the constraint Simplex\(\)"),
        (lambda: D.Bernoulli(2.0), r"satisfy the constraint Interval\(lower_bound=0.0, upper_bound=1.0\)"),
        (lambda: D.Categorical(), "Either `probs` or `logits` must be specified, but not both."),
        (lambda: D.Categorical(torch.tensor(1.0)), "`probs` parameter must be at least one-dimensional."),
        (lambda: D.Uniform(1.0, 0.0), "to be less than high"),
        (
            lambda: D.Categorical(torch.ones(3)).log_prob(torch.tensor(5)),
            r"within the support \(IntegerInterval\(lower_bound=0, upper_bound=2\)\)",
        ),
        (lambda: D.Exponential(1.0).log_prob(torch.tensor(-1.0)), r"GreaterThanEq\(lower_bound=0.0\)"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
    with pytest.raises(NotImplementedError, match="No KL"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Exponential(1.0))


def test_policies_are_learnt_from_rewards(torch: Any) -> None:
    torch.manual_seed(0)
    logits = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([logits], lr=0.1)
    rewards = torch.tensor([0.0, 1.0, 0.2])
    for _ in range(60):
        d = torch.distributions.Categorical(logits=logits)
        actions = d.sample((32,))
        loss = -(d.log_prob(actions) * (rewards[actions] - 0.4)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert torch.distributions.Categorical(logits=logits).probs[1].item() > 0.85
