"""Records hold what their fields say, and their ``__init__`` is written when the first instance is made."""

from __future__ import annotations

import copy
import threading
from dataclasses import field
from typing import Any, ClassVar

import pytest

from autodiff_compiler.records import fields_of, mutable_record, record, replaced


@record
class Point:
    """A point."""

    size: ClassVar[int] = 2
    x: float
    y: Any = None
    marks: list[int] = field(default_factory=list)

    def moved(self, by: float) -> Point:
        return replaced(self, x=self.x + by)


@record
class Named(Point):
    name: str = "p"


@mutable_record
class Shadow:
    """Its fields have the names that the written code could use."""

    self: Any
    _default_fn: Any
    fn: Any = len


@record
class Empty:
    pass


def test_fields_defaults_and_factories() -> None:
    p, q = Point(1.0), Point(2.0, y="b", marks=[3])
    assert (p.x, p.y, p.marks, q.x, q.y, q.marks) == (1.0, None, [], 2.0, "b", [3])
    assert p.marks is not Point(1.0).marks
    assert Point.size == 2 and fields_of(p) == fields_of(Point) == ("x", "y", "marks")
    assert Shadow(1, 2).fn is len and Shadow(1, 2, fn=3).self == 1 and Shadow(1, 2)._default_fn == 2
    assert Empty() is not Empty()


def test_there_is_no_place_for_other_attributes() -> None:
    with pytest.raises(AttributeError):
        Point(1.0).z = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1.0, w=2)  # type: ignore[call-arg]


def test_a_derived_record_has_the_fields_of_its_base_first() -> None:
    assert fields_of(Named) == ("x", "y", "marks", "name")
    n = Named(1.0, 2.0, [], "n")
    assert (n.x, n.y, n.name) == (1.0, 2.0, "n") and not hasattr(n, "__dict__")
    assert type(n.moved(1.0)) is Named and n.moved(1.0).name == "n" and n.moved(1.0).x == 2.0


def test_records_are_equal_to_themselves_only() -> None:
    p = Point(1.0)
    assert p == p and p != Point(1.0) and len({p, Point(1.0)}) == 2
    again = copy.copy(p)
    assert again is not p and again.x == p.x and again.marks is p.marks


def test_replaced() -> None:
    p = Point(1.0, "y")
    q = replaced(p, y=None)
    assert (q.x, q.y) == (1.0, None) and q.marks is p.marks
    with pytest.raises(TypeError, match="other"):
        replaced(p, other=1)


def test_they_show_their_fields() -> None:
    assert repr(Point(1.0, "a")) == "Point(x=1.0, y='a', marks=[])"
    assert Point.__doc__ == "A point." and Point.__module__ == __name__


def test_threads_that_make_the_first_instance() -> None:
    for _ in range(50):

        @record
        class New:
            x: int

        barrier, found = threading.Barrier(4), []

        def work(cls: type = New, barrier: threading.Barrier = barrier, found: list[int] = found) -> None:
            barrier.wait()
            found.append(cls(3).x)  # type: ignore[attr-defined]

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [3, 3, 3, 3]
