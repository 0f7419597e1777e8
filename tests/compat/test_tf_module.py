"""tf.Module: which variables it finds, in which order, and what they are called."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest


def names(variables: Any) -> list[str]:
    return [v.name for v in variables]


@pytest.fixture(scope="module")
def line(tf: ModuleType) -> Any:
    class MyDense(tf.Module):
        def __init__(self, n: int, m: int, name: str | None = None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones((n, m)), name="w")
            self.b = tf.Variable(tf.zeros(m), name="b")

        def __call__(self, x: Any) -> Any:
            return x @ self.w + self.b

    return MyDense


def test_own_variables_come_before_those_of_modules_inside_sorted_by_attribute(tf: ModuleType, line: Any) -> None:
    class Net(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.z = tf.Variable(1.0)
            self.layers = [line(2, 3), line(3, 1, name="last")]
            self.a = {"q": tf.Variable(2.0, name="q"), "p": (tf.Variable(3.0, name="p"),)}
            self._private = tf.Variable(5.0, trainable=False, name="private")
            self.first = line(1, 1)

    net = Net()
    own = ["p:0", "q:0", "Variable:0"]
    inside = ["b:0", "w:0"] * 3
    assert names(net.variables) == ["private:0", *own, *inside]
    assert names(net.trainable_variables) == [*own, *inside]
    assert names(net.non_trainable_variables) == ["private:0"]
    assert [m.name for m in net.submodules] == ["my_dense", "my_dense", "last"]
    assert net.variables[4] is net.first.b and isinstance(net.variables, tuple)


def test_lists_keep_their_order_and_capitals_come_first(tf: ModuleType) -> None:
    class Bag(tf.Module):
        pass

    bag = Bag()
    bag.l = [tf.Variable(float(k), name=f"l{k}") for k in range(11)]
    bag.L = {"b": tf.Variable(1.0, name="bb"), "a": tf.Variable(1.0, name="aa")}
    bag.B = tf.Variable(1.0, name="B")
    assert names(bag.variables) == ["B:0", "aa:0", "bb:0", *[f"l{k}:0" for k in range(11)]]


def test_a_mapping_whose_keys_cannot_be_sorted_is_refused(tf: ModuleType) -> None:
    class Bag(tf.Module):
        pass

    bag = Bag()
    bag.m = {"b": tf.Variable(1.0), 3: tf.Variable(1.0)}
    with pytest.raises(ValueError, match="Error processing property 'm'"):
        _ = bag.variables


def test_cycles_and_what_is_met_twice(tf: ModuleType) -> None:
    class D(tf.Module):
        pass

    d = D()
    d.a = d
    d.v = tf.Variable(1.0)
    d.w = d.v
    d.c = D()
    d.c.b = d
    d.c.v = tf.Variable(2.0, name="cv")
    assert names(d.variables) == ["Variable:0", "cv:0"]
    assert len(d.submodules) == 1


@pytest.mark.parametrize(
    ("cls", "name"),
    [("HTTPServer2Big", "http_server2_big"), ("ABCDef", "abc_def"), ("MyDense", "my_dense"), ("_Foo", "__foo"),
     ("My1DThing", "my1_d_thing")],
)  # fmt: skip
def test_default_names_are_in_snake_case(tf: ModuleType, cls: str, name: str) -> None:
    assert type(cls, (tf.Module,), {})().name == name


@pytest.mark.parametrize("name", ["bad name", "1x", "x/y"])
def test_names_are_identifiers(tf: ModuleType, name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid module name"):
        tf.Module(name=name)


def test_name_scopes(tf: ModuleType) -> None:
    class Inner(tf.Module):
        @tf.Module.with_name_scope
        def __call__(self, x: Any) -> Any:
            if not hasattr(self, "k"):
                self.k = tf.Variable(x, name="k")
            return x

    class Outer(tf.Module):
        def __init__(self) -> None:
            super().__init__(name="outer")
            with self.name_scope:
                self.v = tf.Variable(1.0, name="v")
                self.u = tf.Variable(1.0)
            self.inner: Any = None

        @tf.Module.with_name_scope
        def __call__(self, x: Any) -> Any:
            if self.inner is None:
                self.k = tf.Variable(x, name="k")
                self.inner = Inner()
            return self.inner(x)

    outer = Outer()
    outer(1.0)
    assert names(outer.variables) == ["outer/k:0", "outer/Variable:0", "outer/v:0", "outer/inner/k:0"]
    assert outer.name_scope.name == "outer/" and outer.inner.name_scope.name == "outer/inner/"


def test_gradients_by_a_modules_variables(tf: ModuleType, line: Any) -> None:
    net = line(2, 1)
    with tf.GradientTape() as tape:
        y = net(tf.constant([[3.0, 5.0]]))
    by_b, by_w = tape.gradient(y, net.trainable_variables)
    assert by_b.numpy().tolist() == [1.0] and by_w.numpy().tolist() == [[3.0], [5.0]]
