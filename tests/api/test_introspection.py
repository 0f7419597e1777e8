"""What `help`, `inspect` and `dir` show: the user's function, and the interface of the package."""

from __future__ import annotations

import inspect
import pydoc
import types

import numpy as np
import pytest

import autodiff_compiler as ad
from autodiff_compiler.api import unknown_names


def loss(x: np.ndarray, w: float = 2.0, *, k: int = 1) -> float:
    """The loss, as the user says."""
    return np.sum(x * w) * k


class Model:
    @ad.grad(argnums=1)
    def loss(self, x):
        """The loss of the model."""
        return x * x


@pytest.mark.parametrize("make", [ad.grad, ad.value_and_grad])
def test_a_gradient_shows_the_users_function(make):
    g = make(loss)
    assert inspect.signature(g) == inspect.signature(loss)
    assert g.__doc__ == loss.__doc__ and g.__wrapped__ is loss is inspect.unwrap(g)
    assert g.__module__ == __name__ and g.__qualname__ == "loss"
    assert inspect.getsource(g) == inspect.getsource(loss)
    text = pydoc.render_doc(g, renderer=pydoc.plaintext)
    assert f"{g.__name__}{inspect.signature(loss)}" in text
    assert "The loss, as the user says." in text and "strong_zeros" not in text


def test_a_gradient_of_a_gradient():
    g = ad.grad(ad.grad(loss, "w"), "w")
    assert inspect.signature(g) == inspect.signature(loss) and inspect.unwrap(g) is loss


def test_methods():
    assert "The loss of the model." in pydoc.render_doc(Model, renderer=pydoc.plaintext)
    assert str(inspect.signature(Model.loss)) == "(self, x)" and Model().loss(3.0) == 6.0


def test_dir_shows_the_interface_only():
    shown = dir(ad)
    assert set(ad.__all__) <= set(shown)
    assert [name for name in shown if name not in ad.__all__] == ["__doc__", "__version__"]
    modules = [name for name in shown if isinstance(getattr(ad, name), types.ModuleType)]
    assert modules == ["nn", "ops"]


@pytest.mark.parametrize(
    "name, said",
    [
        ("gradient", "Instead: grad"),
        ("gard", "Did you mean 'grad'"),
        ("value_and_grads", "Did you mean 'value_and_grad'"),
        ("GradientTap", "Did you mean 'GradientTape'"),
        ("jac", "Instead: jacobian"),
        ("jit", "Instead: nothing is needed"),
        ("something_else_entirely", "has no attribute 'something_else_entirely'$"),
    ],
)
def test_unknown_names_say_what_there_is(name, said):
    with pytest.raises(AttributeError, match=said):
        getattr(ad, name)
    assert not hasattr(ad, name)


def test_what_is_said_of_them_is_true():
    for name, instead in unknown_names.INSTEAD.items():
        first = instead.split()[0].split("(")[0].strip(",:")
        assert hasattr(ad, first) or first in ("nothing", "NumPy's", "import", "the"), name
