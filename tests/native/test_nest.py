"""The loop-nest form: what the verifier rejects, and how programs are printed."""

from __future__ import annotations

import numpy as np
import pytest

from autodiff_compiler.native.hoisting import drop_unread, hoist
from autodiff_compiler.native.nest import (
    BOOL,
    F8,
    INDEX,
    AddProduct,
    Alloc,
    Array,
    Bail,
    Bind,
    Branch,
    Call,
    Const,
    Expr,
    For,
    Grow,
    Leave,
    Length,
    Load,
    Name,
    NestError,
    NewStack,
    Parallel,
    Piece,
    Pop,
    Program,
    Push,
    Return,
    Row,
    Set,
    Stmt,
    Store,
    Sum,
    show,
)
from autodiff_compiler.native.numba_text import text_of
from autodiff_compiler.native.verifier import verify
from autodiff_compiler.native.views import Along, Subscripts, View, plus, whole

ZERO, ONE, HALF = Const(0, INDEX), Const(1, INDEX), Const(0.5, F8)
X = Array("x", F8, 1)


def of(*statements: Stmt, result: Expr = HALF) -> Program:
    return Program("f", (X, Name("n", INDEX)), [*statements, Return((result,))])


def in_parts(before: list[Stmt], body: list[Stmt], after: list[Stmt]) -> Parallel:
    return Parallel("i", ZERO, Length("x", 0), False, Name("n", INDEX), "part", "first", "last", before, body, after)


@pytest.mark.parametrize(
    "program, why",
    [
        (of(Set("s", HALF), in_parts([], [Set("t", Name("s", F8)), Set("s", HALF)], [])), "s is read as float64"),
        (of(in_parts([], [Set("s", HALF)], []), result=Name("s", F8)), "s is read as float64"),
        (of(in_parts([], [], [Set("k", Name("i", INDEX))]), result=Load("x", (Name("i", INDEX),), F8)), "i is read"),
        (of(result=Name("s", F8)), "s is read as float64"),
        (of(Set("s", HALF), Set("s", ZERO)), "s is"),
        (of(Set("s", Load("x", (), F8))), "0 indices"),
        (of(Set("s", Load("x", (ZERO,), INDEX))), "no element of int64"),
        (of(Set("s", Load("x", (HALF,), F8))), "int64 is wanted"),
        (of(Set("s", Load("y", (ZERO,), F8))), "y is read, and is no buffer here"),
        (of(Set("s", Length("x", 1))), "x has no axis 1"),
        (of(Set("s", Call("add", (HALF, ZERO), F8))), "float64 is wanted"),
        (of(Set("s", Call("add", (HALF,), F8))), "add of 1 operands"),
        (of(Set("s", Call("lt", (HALF, HALF), F8))), "lt gives float64"),
        (of(Set("s", Call("lt", (HALF, ZERO), BOOL))), "several dtypes"),
        (of(Set("s", Call("shout", (HALF,), F8))), "shout of 1 operands"),
        (of(Store("x", (ZERO,), ZERO)), "no element of int64"),
        (of(Bail(HALF)), "bool is wanted"),
        (of(Branch(Const(True, BOOL), [Set("s", HALF)], []), result=Name("s", F8)), "s is read"),
        (of(For("i", ZERO, Name("n", INDEX), 1, [Set("s", HALF)]), result=Name("s", F8)), "s is read"),
        (of(NewStack("k")), "nothing is pushed on k"),
        (of(NewStack("k", F8, 2), Push("k", "x")), "is pushed on k"),
        (of(Row("r", "x", (ZERO,))), "no part at 1 indices"),
        (of(Alloc("y", F8, (ZERO, ZERO)), Piece("r", "y", ZERO, ZERO)), "a piece of a buffer with 2 axes"),
        (of(Alloc("y", F8, (ZERO, ZERO)), Grow("y", ZERO)), "a piece of a buffer with 2 axes"),
        (of(Alloc("y", F8, (ZERO, ZERO)), AddProduct("x", "y", "y")), "is added to x"),
        (Program("f", (X,), [Set("s", HALF)]), "does not end with a return"),
    ],
)
def test_the_verifier_rejects(program: Program, why: str) -> None:
    with pytest.raises(NestError, match=why):
        verify(program)


def test_both_blocks_of_a_branch_bind() -> None:
    both = Branch(Const(True, BOOL), [Set("s", HALF)], [Set("s", Const(1.0, F8))])
    verify(of(both, result=Name("s", F8)))


def test_a_program_as_text() -> None:
    i = Name("i", INDEX)
    program = of(
        Alloc("y", F8, (Length("x", 0), Const(3, INDEX)), 0.0),
        NewStack("saved", F8, 1),
        Set("s", Const(0.0, F8)),
        For("i", ZERO, Length("x", 0), 1, [
            Set("t", Call("mul", (Load("x", (i,), F8), HALF), F8)),
            Row("row", "y", (i,)),
            Push("saved", "row"),
            Store("y", (i, ZERO), Name("t", F8)),
            Sum("s", Name("t", F8)),
            Leave(Call("gt", (Name("s", F8), HALF), BOOL)),
        ]),
        Pop("last", "saved"),
        Grow("last", Const(4, INDEX)),
        Piece("end", "last", ONE, Const(2, INDEX)),
        result=Load("end", (ZERO,), F8),
    )  # fmt: skip
    verify(program)
    lines = show(program).splitlines()
    assert lines[1:9] == [
        "  y = float64[x.length(0), 3] filled with 0.0",
        "  saved = stack of float64[1]",
        "  s = 0.0",
        "  for i from 0 to x.length(0) by 1 {",
        "    t = mul(x[i], 0.5)",
        "    row = y[i]",
        "    push row on saved",
        "    y[i, 0] = t",
    ]
    assert lines[-4:-2] == ["  grow last to 4", "  end = last[1, 2 elements]"]
    assert "\n".join(text_of(program)).splitlines()[6:] == [
        "def f(x, n):",
        "    y = zeroed((x.shape[0], 3))",
        "    saved = [buffer(0)]",
        "    s = 0.0",
        "    for i in range(x.shape[0]):",
        "        t = x[i] * 0.5",
        "        row = y[i]",
        "        saved.append(row)",
        "        y[i, 0] = t",
        "        s = plus(s, t)",
        "        if s > 0.5:",
        "            break",
        "    last = saved.pop()",
        "    if last.shape[0] < 4:",
        "        last = longer(last, 4)",
        "    end = last[1 : 3]",
        "    return True, end[0]",
    ]


def test_a_part_of_a_buffer_is_not_the_buffer() -> None:
    """It starts where the buffer starts, and is shorter."""
    x = whole("x", np.dtype(F8), [Length("x", 0), Length("x", 1)])
    assert x.is_whole and not x.transposed(None).is_whole and x.transposed(None).transposed(None).is_whole
    by_name = Subscripts(lambda e: e, lambda e, stem: e, lambda item, n: item, lambda view, shape: view, lambda b, n: b)
    part = by_name.subscripted(x, [slice(None), slice(None, Name("j", INDEX))])
    assert part.axes == x.axes and not part.is_whole


def test_places_in_a_buffer() -> None:
    i, j = Name("i", INDEX), Name("j", INDEX)
    view = View(
        "x", np.dtype(F8), (Along(1, Const(2, INDEX)), ZERO, Along(0, ZERO, -1)), (Length("x", 2), j), (j, j, j)
    )
    assert view.index([i, j]) == (plus(j, Const(2, INDEX)), ZERO, Call("neg", (i,), INDEX))


def test_parts_that_are_apart() -> None:
    """A row and the rows above it; what starts where another part ends; and what may overlap."""
    i, n = Name("i", INDEX), Length("x", 0)
    x = whole("x", np.dtype(F8), [n, n])

    def part(axis: object, length: Expr = n) -> View:
        axes = (axis, Along(0)) if not isinstance(axis, Along) else (axis, ZERO)
        return View("x", x.dtype, axes, (length,), x.extent)  # type: ignore[arg-type]

    row, above, below = part(i), part(Along(0), i), part(Along(0, plus(i, ONE)), ONE)
    same = lambda a, b: a == b
    assert row.is_apart(above, same) and above.is_apart(row, same) and row.is_apart(below, same)
    assert row.is_apart(part(plus(i, ONE)), same)
    assert not row.is_apart(row, same) and not row.is_apart(part(Name("j", INDEX)), same)
    assert not part(Along(0), plus(i, ONE)).is_apart(row, same) and not part(Along(0, ZERO, -1), i).is_apart(row, same)


def test_buffers_leave_loops_unless_an_iteration_hands_them_on() -> None:
    n, i = Length("x", 0), Name("i", INDEX)

    def looped(*statements: Stmt) -> Program:
        return of(NewStack("k", F8, 1), Bind("c", "x"), For("i", ZERO, n, 1, list(statements)))

    fill = Store("t", (i,), HALF)
    for kept in (
        [Alloc("t", F8, (i,)), fill],  # of another length each time
        [Alloc("t", F8, (n,)), fill, Push("k", "t")],
        [Alloc("t", F8, (n,)), fill, Bind("c", "t")],
        [Alloc("t", F8, (n,)), fill, Bind("u", "t"), Push("k", "u")],
    ):
        program = looped(*kept)
        hoist(program)
        assert program.body[2].body[0] == kept[0], kept  # type: ignore[union-attr]
    program = looped(Alloc("t", F8, (n,), 1.0), fill, Set("s", Load("t", (ZERO,), F8)))
    hoist(program)
    verify(program)
    assert [line.strip() for line in show(program).splitlines()[3:7]] == [
        "t = float64[x.length(0)]",
        "for i from 0 to x.length(0) by 1 {",
        "for i2 from 0 to x.length(0) by 1 {",
        "t[i2] = 1.0",
    ]


def test_what_nothing_reads_is_left_out() -> None:
    program = of(
        Set("a", HALF), Set("b", Name("a", F8)), Alloc("y", F8, (ONE,)), Store("y", (ZERO,), Name("b", F8)),
        Set("s", HALF), Sum("s", HALF), result=Name("s", F8),
    )  # fmt: skip
    drop_unread(program)
    assert [type(s) for s in program.body] == [Set, Sum, Return]
