"""Machine learning from scratch: networks, losses, optimisers, recommenders, rankings."""

import copy
from abc import ABC, abstractmethod
from collections import defaultdict
from functools import partial, reduce

import numpy as np
from scipy.special import expit, log_softmax, softmax


def init_params(sizes, seed=0):
    rng = np.random.RandomState(seed)
    params = {}
    for l in range(1, len(sizes)):
        params["W" + str(l)] = rng.randn(sizes[l], sizes[l - 1]) * 0.5
        params["b" + str(l)] = np.zeros((sizes[l], 1))
    return params


def forward(X, params):
    A = X
    L = len(params) // 2
    caches = []
    for l in range(1, L):
        Z = np.dot(params[f"W{l}"], A) + params[f"b{l}"]
        caches.append((A, Z))
        A = np.maximum(0, Z)
    Z = np.dot(params[f"W{L}"], A) + params[f"b{L}"]
    return 1 / (1 + np.exp(-Z)), caches


def mlp_cost(params, X, Y, lambd=0.1):
    A, caches = forward(X, params)
    m = Y.shape[1]
    cost = -1.0 / m * np.sum(Y * np.log(A) + (1 - Y) * np.log(1 - A))
    reg = sum(np.sum(np.square(W)) for name, W in params.items() if name.startswith("W"))
    return np.squeeze(cost) + lambd / (2 * m) * reg


def train_by_hand(params, X, Y, lr=0.1, epochs=2):
    """Two layers with their own backpropagation, differentiated through the training."""
    params = copy.deepcopy(params)
    for _ in range(epochs):
        Z1 = params["W1"] @ X + params["b1"]
        A1 = np.tanh(Z1)
        A2 = expit(params["W2"] @ A1 + params["b2"])
        m = X.shape[1]
        dZ2 = A2 - Y
        grads = {"W2": dZ2 @ A1.T / m, "b2": np.sum(dZ2, axis=1, keepdims=True) / m}
        dZ1 = params["W2"].T @ dZ2 * (1 - A1**2)
        grads["W1"] = dZ1 @ X.T / m
        grads["b1"] = np.mean(dZ1, axis=1, keepdims=True)
        for key in params:
            params[key] -= lr * grads[key]
    return params


class Layer(ABC):
    @abstractmethod
    def forward(self, x): ...

    def __call__(self, x):
        return self.forward(x)


class Dense(Layer):
    def __init__(self, W, b):
        self.W, self.b = W, b

    def forward(self, x):
        return x @ self.W + self.b


class Activation(Layer):
    table = {
        "relu": lambda x: np.where(x > 0, x, 0),
        "leaky": lambda x, a=0.1: np.where(x > 0, x, a * x),
        "gelu": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        "swish": lambda x: x * expit(x),
    }

    def __init__(self, name):
        if name not in self.table:
            raise ValueError(f"unknown activation {name}")
        self.fn = self.table[name]

    def forward(self, x):
        return self.fn(x)


class Sequential:
    def __init__(self, *layers):
        self.layers = list(layers)

    def predict(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def sequential_softmax_loss(x, labels, W1, b1, W2, b2, act="gelu"):
    net = Sequential(Dense(W1, b1), Activation(act), Dense(W2, b2))
    logits = net.predict(x)
    logits = logits - np.max(logits, axis=1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def rnn_loss(Wxh, Whh, Why, inputs, targets, h0):
    """A vanilla RNN over characters."""
    xs, hs, ps = {}, {}, {}
    hs[-1] = np.copy(h0)
    loss = 0
    for t in range(len(inputs)):
        xs[t] = np.zeros((Wxh.shape[1], 1))
        xs[t][inputs[t]] = 1
        hs[t] = np.tanh(np.dot(Wxh, xs[t]) + np.dot(Whh, hs[t - 1]))
        y = np.dot(Why, hs[t])
        ps[t] = np.exp(y) / np.sum(np.exp(y))
        loss += -np.log(ps[t][targets[t], 0])
    return loss


def lstm_step(x, h, c, W, b):
    H = h.shape[-1]
    z = np.concatenate([x, h]) @ W + b
    i, f, o, g = z[:H], z[H : 2 * H], z[2 * H : 3 * H], z[3 * H :]
    c = expit(f) * c + expit(i) * np.tanh(g)
    return expit(o) * np.tanh(c), c


def lstm_sequence(X, W, b):
    H = b.shape[0] // 4
    h = c = np.zeros(H)
    outputs = []
    for x in X:
        h, c = lstm_step(x, h, c, W, b)
        outputs.append(h)
    return np.stack(outputs)


def multi_head_attention(x, Wq, Wk, Wv, Wo, n_heads=2, causal=True):
    T, d = x.shape
    split = lambda m: m.reshape(T, n_heads, d // n_heads).transpose(1, 0, 2)
    q, k, v = (split(x @ W) for W in (Wq, Wk, Wv))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(d // n_heads)
    if causal:
        mask = np.triu(np.ones((T, T), dtype=bool), k=1)
        scores = np.where(mask, -1e9, scores)
    weights = softmax(scores, axis=-1)
    return (weights @ v).transpose(1, 0, 2).reshape(T, d) @ Wo


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(var + eps) + beta


def transformer_block(x, p):
    a = x + multi_head_attention(layer_norm(x, p["g1"], p["b1"]), *p["attn"])
    h = layer_norm(a, p["g2"], p["b2"])
    return a + np.maximum(h @ p["mlp"][0], 0) @ p["mlp"][1]


def soft_kmeans(X, centers, beta=2.0, iterations=3):
    for _ in range(iterations):
        d = ((X[:, np.newaxis, :] - centers[np.newaxis]) ** 2).sum(axis=2)
        r = softmax(-beta * d, axis=1)
        centers = (r.T @ X) / r.sum(axis=0)[:, None]
    return centers


def kmeans_inertia(X, centers, n_iter=2):
    for _ in range(n_iter):
        labels = np.argmin(np.linalg.norm(X[:, None] - centers[None], axis=-1), axis=1)
        new = []
        for k in range(len(centers)):
            members = X[labels == k]
            new.append(members.mean(axis=0) if len(members) else centers[k])
        centers = np.array(new)
    return sum(np.sum((x - centers[l]) ** 2) for x, l in zip(X, labels))


def svm_loss_vectorized(W, X, y, reg=0.1, delta=1.0):
    scores = X.dot(W)
    correct = scores[range(len(y)), y].reshape(-1, 1)
    margins = np.maximum(0, scores - correct + delta)
    margins[np.arange(len(y)), y] = 0
    return margins.sum() / len(y) + reg * np.sum(W * W)


def svm_loss_naive(W, X, y, reg=0.1):
    loss = 0.0
    for i in range(X.shape[0]):
        scores = X[i].dot(W)
        correct_class_score = scores[y[i]]
        for j in range(W.shape[1]):
            if j == y[i]:
                continue
            margin = scores[j] - correct_class_score + 1
            if margin > 0:
                loss += margin
    loss /= X.shape[0]
    return loss + reg * np.sum(W * W)


class Optimizer:
    def __init__(self, lr):
        self.lr = lr

    def step(self, params, grads):
        raise NotImplementedError


class SGD(Optimizer):
    def __init__(self, lr=0.1, momentum=0.9):
        super().__init__(lr)
        self.momentum = momentum
        self.v = None

    def step(self, params, grads):
        if self.v is None:
            self.v = {k: np.zeros_like(p) for k, p in params.items()}
        for k in params.keys():
            self.v[k] = self.momentum * self.v[k] - self.lr * grads[k]
            params[k] = params[k] + self.v[k]


class Adam(Optimizer):
    def __init__(self, lr=0.05, beta1=0.9, beta2=0.99):
        super().__init__(lr)
        self.beta1, self.beta2 = beta1, beta2
        self.t = 0
        self.m = defaultdict(float)
        self.v = defaultdict(float)

    def step(self, params, grads):
        self.t += 1
        for k, g in grads.items():
            self.m[k] = self.beta1 * self.m[k] + (1 - self.beta1) * g
            self.v[k] = self.beta2 * self.v[k] + (1 - self.beta2) * g**2
            mhat = self.m[k] / (1 - self.beta1**self.t)
            vhat = self.v[k] / (1 - self.beta2**self.t)
            params[k] = params[k] - self.lr * mhat / (np.sqrt(vhat) + 1e-8)


def train_regression(X, y, lr, optimizer="adam", steps=3):
    opt = {"adam": Adam, "sgd": SGD}[optimizer](lr)
    params = {"w": np.zeros(X.shape[1]), "b": 0.0}
    for _ in range(steps):
        err = X @ params["w"] + params["b"] - y
        opt.step(params, {"w": 2 * X.T @ err / len(y), "b": 2 * np.mean(err)})
    return np.mean((X @ params["w"] + params["b"] - y) ** 2)


def batchnorm_running(x, gamma, beta, running, momentum=0.9, mode="train"):
    if mode == "train":
        mu, var = x.mean(axis=0), x.var(axis=0)
        running["mean"] = momentum * running["mean"] + (1 - momentum) * mu
        running["var"] = momentum * running["var"] + (1 - momentum) * var
    elif mode == "test":
        mu, var = running["mean"], running["var"]
    out = gamma * (x - mu) / np.sqrt(var + 1e-5) + beta
    return out, running["mean"]


def conv_forward_naive(x, w, b, stride=1, pad=1):
    N, C, H, W = x.shape
    F, _, HH, WW = w.shape
    Ho, Wo = 1 + (H + 2 * pad - HH) // stride, 1 + (W + 2 * pad - WW) // stride
    xp = np.pad(x, ((0,), (0,), (pad,), (pad,)), mode="constant")
    out = np.zeros((N, F, Ho, Wo))
    for n in range(N):
        for f in range(F):
            for i in range(Ho):
                for j in range(Wo):
                    window = xp[n, :, i * stride : i * stride + HH, j * stride : j * stride + WW]
                    out[n, f, i, j] = np.sum(window * w[f]) + b[f]
    return out


def max_pool(x, size=2):
    N, C, H, W = x.shape
    return x.reshape(N, C, H // size, size, W // size, size).max(axis=(3, 5))


def matrix_factorization_sgd(ratings, P, Q, lr=0.05, reg=0.02):
    P, Q = P.copy(), Q.copy()
    for u, i, r in ratings:
        e = r - P[u] @ Q[i]
        pu = P[u].copy()
        P[u] += lr * (e * Q[i] - reg * P[u])
        Q[i] += lr * (e * pu - reg * Q[i])
    return np.sqrt(np.mean([(r - P[u] @ Q[i]) ** 2 for u, i, r in ratings]))


def als_step(R, mask, Q, reg):
    P = np.zeros((R.shape[0], Q.shape[1]))
    for u in range(R.shape[0]):
        idx = np.where(mask[u])[0]
        Qi = Q[idx]
        P[u] = np.linalg.solve(Qi.T @ Qi + reg * np.eye(Q.shape[1]), Qi.T @ R[u, idx])
    return P


def bpr_loss(user, items, triples, reg=0.01):
    loss = 0.0
    for u, i, j in triples:
        x = np.dot(user[u], items[i] - items[j])
        loss -= np.log(expit(x))
    return loss + reg * (np.sum(user**2) + np.sum(items**2))


def listnet(scores, relevance):
    return -np.sum(softmax(relevance) * log_softmax(scores))


def lambda_rank(scores, relevance, sigma=1.0):
    order = np.argsort(-scores)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(scores))
    ideal = np.sum((2 ** np.sort(relevance)[::-1] - 1) / np.log2(np.arange(len(scores)) + 2))
    total = 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            if relevance[i] > relevance[j]:
                gain = 2.0 ** relevance[i] - 2.0 ** relevance[j]
                disc = 1 / np.log2(rank[i] + 2) - 1 / np.log2(rank[j] + 2)
                total += abs(gain * disc) / ideal * np.log1p(np.exp(-sigma * (scores[i] - scores[j])))
    return total


def triplet_loss(anchor, positive, negative, margin=0.5):
    d = lambda a, b: np.sqrt(np.sum((a - b) ** 2, axis=1))
    losses = d(anchor, positive) - d(anchor, negative) + margin
    return np.mean(losses[losses > 0])


def info_nce(z1, z2, temperature):
    z1 = z1 / np.linalg.norm(z1, axis=1, keepdims=True)
    z2 = z2 / np.linalg.norm(z2, axis=1, keepdims=True)
    sim = z1 @ z2.T / temperature
    return -np.mean(np.diag(log_softmax(sim, axis=1)))


def word2vec_negative(center, context, negatives, lr=0.1):
    grad = np.zeros_like(center)
    loss = -np.log(expit(center @ context))
    grad += (expit(center @ context) - 1) * context
    for neg in negatives:
        s = expit(neg @ center)
        loss -= np.log(1 - s)
        grad += s * neg
    return loss, center - lr * grad


def gae(rewards, values, dones, gamma=0.99, lam=0.95):
    advantages = np.zeros_like(rewards)
    last = 0.0
    for t in reversed(range(len(rewards))):
        nonterminal = 1.0 - dones[t]
        nxt = values[t + 1] if t + 1 < len(values) else 0.0
        delta = rewards[t] + gamma * nxt * nonterminal - values[t]
        advantages[t] = last = delta + gamma * lam * nonterminal * last
    return advantages, advantages + values[: len(rewards)]


def ppo_clip(logp, logp_old, adv, eps=0.2):
    ratio = np.exp(logp - logp_old)
    return -np.minimum(ratio * adv, np.clip(ratio, 1 - eps, 1 + eps) * adv).mean()


def gradient_boosted_stumps(x, y, n_rounds=3, lr=0.5):
    F = np.full(len(y), y.mean())
    for _ in range(n_rounds):
        r = y - F
        best = None
        for s in np.sort(x)[:-1]:
            left, right = r[x <= s], r[x > s]
            sse = ((left - left.mean()) ** 2).sum() + ((right - right.mean()) ** 2).sum()
            if best is None or sse < best[0]:
                best = (sse, s, left.mean(), right.mean())
        F = F + lr * np.where(x <= best[1], best[2], best[3])
    return F


def polynomial_features(x, degree):
    return np.hstack([x**d for d in range(degree + 1)])


def ridge_pipeline(x, y, alpha):
    steps = [lambda a: (a - a.mean(0)) / a.std(0), partial(polynomial_features, degree=3)]
    Phi = reduce(lambda v, f: f(v), steps, x[:, None])
    w = np.linalg.solve(Phi.T @ Phi + alpha * np.eye(Phi.shape[1]), Phi.T @ y)
    return w, np.linalg.norm(y - Phi @ w)


def pca_reconstruction(X, k=1):
    Xc = X - X.mean(axis=0)
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    return np.sum((Xc - (U[:, :k] * S[:k]) @ Vt[:k]) ** 2), S[:k] ** 2 / np.sum(S**2)


def tsne_kl(Y, P):
    n = Y.shape[0]
    num = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                num[i, j] = 1 / (1 + np.sum((Y[i] - Y[j]) ** 2))
    Q = np.maximum(num / num.sum(), 1e-12)
    return np.sum(P * np.log((P + 1e-12) / Q))


_r = np.random.RandomState(5)
_d = 4
_P = np.full((4, 4), 1 / 12.0)
np.fill_diagonal(_P, 0.01)
CASES = [
    (mlp_cost, (init_params([2, 3, 1]), _r.randn(2, 4), np.array([[0.0, 1.0, 1.0, 0.0]]))),
    (train_by_hand, (init_params([2, 3, 1]), _r.randn(2, 4), np.array([[0.0, 1.0, 1.0, 0.0]]))),
    (
        sequential_softmax_loss,
        (_r.randn(3, 2), np.array([0, 2, 1]), _r.randn(2, 3), _r.randn(3), _r.randn(3, 3), _r.randn(3)),
    ),
    (
        sequential_softmax_loss,
        (_r.randn(3, 2), [0, 2, 1], _r.randn(2, 3), _r.randn(3), _r.randn(3, 3), _r.randn(3), "leaky"),
    ),
    (rnn_loss, (_r.randn(3, 4), _r.randn(3, 3), _r.randn(4, 3), [0, 2, 1], [2, 1, 3], np.zeros((3, 1)))),
    (lstm_sequence, (_r.randn(3, 2), _r.randn(4, 8) * 0.5, _r.randn(8) * 0.1)),
    (multi_head_attention, (_r.randn(3, _d), *(_r.randn(_d, _d) for _ in range(4)))),
    (
        transformer_block,
        (
            _r.randn(3, _d),
            {
                "g1": np.ones(_d),
                "b1": np.zeros(_d),
                "g2": np.ones(_d),
                "b2": np.full(_d, 0.1),
                "attn": [_r.randn(_d, _d) for _ in range(4)],
                "mlp": (_r.randn(_d, 5), _r.randn(5, _d)),
            },
        ),
    ),
    (soft_kmeans, (_r.randn(6, 2), _r.randn(2, 2))),
    (kmeans_inertia, (_r.randn(6, 2), _r.randn(2, 2))),
    (svm_loss_vectorized, (_r.randn(3, 4), _r.randn(5, 3), np.array([0, 1, 3, 2, 1]))),
    (svm_loss_naive, (_r.randn(3, 4), _r.randn(5, 3), np.array([0, 1, 3, 2, 1]))),
    (train_regression, (_r.randn(5, 2), _r.randn(5), 0.1)),
    (train_regression, (_r.randn(5, 2), _r.randn(5), 0.1, "sgd")),
    (batchnorm_running, (_r.randn(4, 2), np.ones(2), np.zeros(2), {"mean": np.zeros(2), "var": np.ones(2)})),
    (
        batchnorm_running,
        (_r.randn(4, 2), np.ones(2), np.zeros(2), {"mean": np.ones(2), "var": np.ones(2)}, 0.9, "test"),
    ),
    (conv_forward_naive, (_r.randn(1, 2, 3, 3), _r.randn(2, 2, 3, 3), _r.randn(2))),
    (max_pool, (_r.randn(1, 2, 4, 4),)),
    (matrix_factorization_sgd, ([(0, 1, 4), (1, 0, 3), (0, 0, 1), (2, 1, 5)], _r.randn(3, 2), _r.randn(2, 2))),
    (als_step, (_r.randn(3, 4), _r.rand(3, 4) > 0.3, _r.randn(4, 2), 0.1)),
    (bpr_loss, (_r.randn(2, 3), _r.randn(3, 3), [(0, 1, 2), (1, 0, 1)])),
    (listnet, (_r.randn(4), np.array([2.0, 0.0, 1.0, 3.0]))),
    (lambda_rank, (_r.randn(4), np.array([2, 0, 1, 3]))),
    (triplet_loss, (_r.randn(3, 2), _r.randn(3, 2), _r.randn(3, 2))),
    (info_nce, (_r.randn(3, 4), _r.randn(3, 4), 0.5)),
    (word2vec_negative, (_r.randn(3), _r.randn(3), _r.randn(2, 3))),
    (gae, (np.array([1.0, 0.5, -0.2]), np.array([0.3, 0.1, 0.4]), np.array([0, 0, 1]))),
    (ppo_clip, (np.log([0.5, 0.3, 0.9]), np.log([0.4, 0.5, 0.88]), np.array([1.0, -0.5, 0.3]))),
    (gradient_boosted_stumps, (np.array([0.1, 0.9, 0.4, 0.7, 0.2]), np.array([1.0, -1.0, 0.4, -0.6, 1.3]))),
    (ridge_pipeline, (_r.randn(6), _r.randn(6), 0.3)),
    (pca_reconstruction, (_r.randn(5, 3),)),
    (tsne_kl, (_r.randn(4, 2), _P)),
]
