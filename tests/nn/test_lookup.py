"""Embeddings, one-hot rows and the largest elements: numbers from TensorFlow, derivatives, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler import nn

IDS = np.array([[0, 2], [2, 1]])


def test_embedding_lookup_of_tensorflow() -> None:
    params = np.arange(6.0).reshape(3, 2)
    assert nn.embedding_lookup(params, IDS).tolist() == [[[0, 1], [4, 5]], [[4, 5], [2, 3]]]
    weights = np.arange(1.0, 9.0).reshape(2, 2, 2)
    g = ad.grad(lambda p: np.sum(nn.embedding_lookup(p, IDS) * weights))(params)
    assert g.tolist() == [[1, 2], [7, 8], [8, 10]]
    assert nn.embedding_lookup(params, [1]).tolist() == [[2, 3]] and nn.embedding_lookup(params, 1).tolist() == [2, 3]


def test_embedding_of_a_number_that_is_no_row_is_refused() -> None:
    f = ad.grad(lambda p, ids: np.sum(nn.embedding_lookup(p, ids)))
    params = np.ones((3, 2))
    for ids in ([3], [-1]):
        with pytest.raises(IndexError, match="not one of the rows"):
            nn.embedding_lookup(params, np.array(ids))
        with pytest.raises(IndexError, match="not one of the rows"):
            f(params, np.array(ids))
    assert f(params, np.array([], int)).tolist() == [[0, 0]] * 3


def test_one_hot_of_tensorflow() -> None:
    found = nn.one_hot(np.array([0, 2, -1, 5]), 3)
    assert found.tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]] and found.dtype == np.float32
    assert nn.one_hot(np.array([[0, 1]]), 2, 5.0, -1.0, 1).tolist() == [[[5, -1], [-1, 5]]]
    assert nn.one_hot([0, 1], 3, axis=0, dtype=np.float64).tolist() == [[1, 0], [0, 1], [0, 0]]
    assert nn.one_hot(1, 2).tolist() == [0, 1] and nn.one_hot(np.zeros((0, 2), int), 3).shape == (0, 2, 3)


def test_top_k_of_tensorflow() -> None:
    x = np.array([[1.0, 3, 2, 3], [4, 0, 0, 1]])
    values, places = nn.top_k(x, 2)
    assert values.tolist() == [[3, 3], [4, 1]] and places.tolist() == [[1, 3], [0, 3]]
    weights = np.array([[1.0, 2], [3, 4]])
    assert ad.grad(lambda x: np.sum(nn.top_k(x, 2)[0] * weights))(x).tolist() == [[0, 1, 0, 2], [3, 0, 0, 4]]
    assert nn.top_k(x.astype(np.uint8), 2)[1].tolist() == [[1, 3], [0, 3]]
    assert nn.top_k(np.array([1.0, np.nan, 2.0]), 2)[1].tolist() == [1, 2]
    with pytest.raises(ValueError, match="k exceeds"):
        nn.top_k(x, 5)
    assert nn.top_k(x[0])[0].tolist() == [3]


CALLS: dict[str, Any] = {
    "embedding_lookup": lambda x: nn.embedding_lookup(x, IDS) ** 2,
    "one_hot": lambda x: np.sin(x @ nn.one_hot(np.array([0, 1, 1]), 2)),
    "top_k": lambda x: nn.top_k(x, 2)[0] ** 3,
}


@pytest.mark.parametrize("name", CALLS)
def test_first_and_second_order_and_dtypes(name: str) -> None:
    x = np.random.default_rng(0).normal(size=(4, 3))
    ad.check_grads(lambda x: np.sum(CALLS[name](x)), (x,), order=2)
    g = ad.grad(lambda x: np.sum(CALLS[name](x)))(x.astype(np.float32))
    assert g.dtype == np.float32


def test_words_in_a_recurrent_loop() -> None:
    def loss(table: np.ndarray, w: np.ndarray, words: np.ndarray, classes: np.ndarray) -> Any:
        state = np.zeros(3)
        total = 0.0
        for k in range(len(words)):
            state = np.tanh(nn.embedding_lookup(table, words[k]) + state @ w)
            if k % 2:
                total += nn.sparse_softmax_cross_entropy_with_logits(classes[k], state)
        return total

    rng = np.random.default_rng(1)
    table, w = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    words, classes = np.array([4, 0, 0, 2]), np.array([0, 2, 1, 1])
    ad.check_grads(lambda table, w: loss(table, w, words, classes), (table, w), order=2)
