"""`scipy.sparse` and `scipy.sparse.linalg`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import autodiff_compiler as ad
from autodiff_compiler.errors import RuleLookupError, UnsupportedError
from autodiff_compiler.kernels.scipy import sparse as kernels
from tests.differences import differences
from tests.operations.scipy.harness import check_case, load, untested

load("sparse")
RNG = np.random.default_rng(5)
A = (sp.random(5, 5, 0.5, format="csr", random_state=0) + 3 * sp.eye(5)).tocsr()
AA = sp.csr_array(A)
C = A.tocsc()
O = A.tocoo()
D = sp.diags([RNG.normal(size=5), RNG.normal(size=4)], [0, 1])
S = (A + A.T) * 0.5 + sp.diags(np.arange(5.0) * 2)
L = A.tolil()
X = RNG.normal(size=(5, 3))
W = RNG.normal(size=(5, 5))
R = np.arange(5)
I = np.array([0, 1, 1, 2, 3, 4, 0])
J = np.array([0, 1, 1, 3, 2, 4, 4])
POINT = np.array([0.7, 1.3, 0.4, 1.9, -0.6])
DIRECTION = np.array([1.0, -2.0, 3.0, 0.5, 5.0])

Vector = np.ndarray[Any, Any]


def entries(x: Vector) -> Any:
    """Seven entries, two of them at one place."""
    return np.concatenate((x, x[:2] ** 2))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    # a matrix from outside
    "csr @ x": lambda x: A @ x,
    "csc @ x": lambda x: C @ x,
    "coo @ x": lambda x: O @ x,
    "dia @ x": lambda x: D @ x,
    "array @ x": lambda x: AA @ x,
    "A @ matrix": lambda x: A @ (X * x[:, None]),
    "x @ A": lambda x: x @ A,
    "matrix @ A": lambda x: (X.T * x) @ AA,
    "A.T @ x": lambda x: A.T @ x,
    "transpose": lambda x: C.transpose() @ x,
    "dot": lambda x: A.dot(x),
    "matrix * x": lambda x: A * x,
    "array * x": lambda x: (AA * x) @ x,
    "2 * A": lambda x: (2.0 * A) @ x,
    "A / number": lambda x: (A / x[0]) @ x,
    "-A": lambda x: (-A) @ x,
    "copy": lambda x: A.copy() @ x,
    "nnz": lambda x: A.nnz * x * A.shape[0],
    "tocsc": lambda x: A.tocsc() @ x,
    # made inside
    "csr of places": lambda x: sp.csr_matrix((x, (R, R)), shape=(5, 5)) @ x,
    "csr of places twice": lambda x: sp.csr_matrix((entries(x), (I, J)), shape=(5, 5)) @ x,
    "csc of places twice": lambda x: sp.csc_array((entries(x), (I, J)), shape=(5, 5)) @ x,
    "coo without shape": lambda x: sp.coo_matrix((entries(x), (I, J))) @ x,
    "data": lambda x: sp.csr_matrix((entries(x), (I, J)), shape=(5, 5)).data ** 2,
    "data of csc": lambda x: sp.csc_matrix((entries(x), (I, J)), shape=(5, 5)).data ** 2,
    "csr of indices": lambda x: sp.csr_matrix((A.data * x[0], A.indices, A.indptr), shape=A.shape) @ x,
    "csc of indices": lambda x: sp.csc_matrix((C.data * x[0], C.indices, C.indptr), shape=C.shape) @ x,
    "of another": lambda x: sp.csr_array(sp.coo_matrix((x, (R, R)))) @ x,
    "of a dense one": lambda x: sp.csr_matrix(W * x) @ x,
    "diags": lambda x: sp.diags(x) @ x,
    "diags of two": lambda x: sp.diags([x, x[1:] * 2], [0, -1]) @ x,
    "diags of numbers": lambda x: sp.diags([x[0], x[1], 3.0], [0, -1, 2], shape=(5, 5)) @ x,
    "spdiags": lambda x: sp.spdiags(np.stack([x, x * x]), [0, 1], 5, 5) @ x,
    "dia_matrix": lambda x: sp.dia_matrix((np.stack([x, x * x]), [0, -1]), shape=(5, 5)) @ x,
    "eye": lambda x: (sp.eye(5) + sp.diags(x)) @ x,
    "identity": lambda x: (sp.identity(5, format="csr") * x[0] - A) @ x,
    "kron": lambda x: sp.kron(sp.diags(x), A) @ np.ones(25),
    "kron with a dense one": lambda x: sp.kron(A, W * x, format="csr") @ np.ones(25),
    "kronsum": lambda x: sp.kronsum(sp.diags(x), A) @ np.ones(25),
    "vstack": lambda x: sp.vstack([A, sp.diags(x)]) @ x,
    "hstack": lambda x: sp.hstack([A, sp.diags(x)], format="csr") @ np.concatenate((x, x)),
    "block_diag": lambda x: sp.block_diag([A, sp.diags(x), W * x]) @ np.ones(15),
    "bmat": lambda x: sp.bmat([[A, None], [sp.diags(x), A * x[0]]]) @ np.concatenate((x, x)),
    "tril": lambda x: sp.tril(A * x[0]) @ x,
    "triu": lambda x: sp.triu(A * x[0], k=1) @ x,
    # operations
    "A @ B": lambda x: (A @ sp.diags(x) @ A).toarray(),
    "matrix * B": lambda x: (sp.diags(x) * A) @ x,
    "array * B": lambda x: (sp.dia_array((x[None, :], [0]), shape=(5, 5)) * AA) @ x,
    "A - B": lambda x: (A - sp.diags(x)) @ x,
    "sum of a list": lambda x: sum([A, A * x[0]]) @ x,
    "array + dense": lambda x: (AA + W * x) @ x,
    "multiply": lambda x: A.multiply(x) @ x,
    "multiply by a column": lambda x: A.multiply(x[:, None]) @ x,
    "multiply by a sparse one": lambda x: A.multiply(sp.diags(x).tocsr() + A) @ x,
    "power": lambda x: sp.csr_matrix((entries(x), (I, J)), shape=(5, 5)).power(2) @ x,
    "abs": lambda x: abs(A * x[0]) @ x,
    "toarray": lambda x: sp.csr_matrix((entries(x), (I, J)), shape=(5, 5)).toarray() * W,
    "sum": lambda x: (A * x[0]).sum() * x,
    "sum of columns": lambda x: (AA * x).sum(axis=0) * x,
    "sum of rows": lambda x: (AA * x).sum(axis=1) * x,
    "mean": lambda x: (AA * x).mean(axis=1) * x,
    "diagonal": lambda x: (A @ sp.diags(x)).diagonal(),
    "another diagonal": lambda x: (A @ sp.diags(x)).diagonal(1),
    "trace": lambda x: (A * x[0]).tocsr().trace() * x,
    "rows": lambda x: (A @ sp.diags(x)).tocsr()[1:3] @ x,
    "columns": lambda x: A[:, [0, 2]] @ x[:2],
    "a part": lambda x: A[1:4, :3] @ x[:3],
    "a row": lambda x: A[2] @ x,
    "an item": lambda x: (A * x[0]).tocsr()[1, 1] * x,
    # systems
    "spsolve": lambda x: sla.spsolve(A, x),
    "spsolve by the matrix": lambda x: sla.spsolve(A + sp.diags(x), X),
    "spsolve of a column": lambda x: sla.spsolve(A, x[:, None]),
    "spsolve by both": lambda x: sla.spsolve(sp.diags(x + 3).tocsc(), x),
    "splu": lambda x: sla.splu(C).solve(x),
    "splu, transposed": lambda x: sla.splu((C + sp.diags(x)).tocsc()).solve(X, trans="T"),
    "factorized": lambda x: sla.factorized(C)(x),
    "cg": lambda x: sla.cg(A.T @ A + sp.diags(x**2), x, rtol=1e-12)[0],
    "gmres": lambda x: sla.gmres(A + sp.diags(x**2), x, rtol=1e-12)[0],
    "bicgstab": lambda x: sla.bicgstab(A + sp.diags(x**2), x, rtol=1e-12)[0],
    "expm_multiply": lambda x: sla.expm_multiply(A * 0.3, x),
    "expm_multiply of a matrix": lambda x: sla.expm_multiply(C * 0.3, x[:, None] * X),
    "eigsh": lambda x: sla.eigsh(S + sp.diags(x), k=2, v0=np.ones(5))[0],
    "eigsh by its shift": lambda x: sla.eigsh((S + sp.diags(x)).tocsc(), k=1, sigma=0.0, v0=np.ones(5))[0] * x,
    "norm": lambda x: sla.norm(A * x[0] + sp.diags(x)) * x,
    "norm 1": lambda x: sla.norm(A * x[0] + sp.diags(x), 1) * x,
    "LinearOperator": lambda x: sla.LinearOperator((5, 5), matvec=lambda v: A @ v * x[0]) @ x,
    "aslinearoperator": lambda x: sla.aslinearoperator(A).matvec(x),
}
if hasattr(sp, "diags_array"):
    PROGRAMS["diags_array"] = lambda x: sp.diags_array([x, x[1:] * 2], offsets=[0, -1]) @ x
if "rtol" not in __import__("inspect").signature(sla.cg).parameters:
    for _name in ("cg", "gmres", "bicgstab"):
        PROGRAMS.pop(_name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    program = PROGRAMS[name]
    weights = np.random.default_rng(3).normal(size=np.shape(program(POINT)))

    def total(x: Any) -> Any:
        return np.sum(weights * program(x))

    def along(x: Any) -> Any:
        return np.sum(DIRECTION * ad.grad(total)(x))

    value, g = ad.value_and_grad(total)(POINT)
    np.testing.assert_allclose(value, total(POINT), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(g, differences(total, POINT), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ad.jvp(total, (POINT,), (DIRECTION,))[1], np.sum(DIRECTION * g), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ad.grad(along)(POINT), differences(along, POINT), rtol=1e-5, atol=1e-5)


CSR = ("csr", RNG.normal(size=6), np.array([0, 2, 1, 0, 1, 2]), np.array([0, 2, 3, 6]), (3, 3))
CASES: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (kernels.product, (*CSR, RNG.normal(size=3)), {}),
    (kernels.product, (*CSR, RNG.normal(size=(3, 2))), {}),
    (kernels.dense, CSR, {}),
    (kernels.summed, (RNG.normal(size=4), np.array([0, 2, 2, 1]), 4), {}),
    (kernels.solved, (*CSR, RNG.normal(size=3), None, "N"), {}),
    (kernels.eigenpairs, (*CSR, 1, ()), {}),
    (kernels.deflated, (*CSR, np.ones(1), np.ones((3, 1)), np.ones((3, 1))), {}),
    (kernels.propagated, (*CSR, np.ones(3)), {}),
    (kernels.iterated, (*CSR, RNG.normal(size=3), np.zeros(3), "bicgstab", ()), {}),
]


def test_every_rule_has_a_case() -> None:
    assert untested("sparse", CASES, sys.modules[__name__]) == []


@pytest.mark.parametrize("fn, args, kwargs", CASES[:4], ids=lambda x: getattr(x, "__name__", ""))
def test_rules(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["csr @ x", "csr of places", "diags", "spsolve", "sum", "splu"])
def test_dtypes(name: str, dtype: type) -> None:
    x = POINT.astype(dtype)
    if name == "splu" and dtype is np.float32:
        return  # another dtype than the matrix has
    expected = PROGRAMS[name](x)
    value, _ = ad.jvp(PROGRAMS[name], (x,), (x,))
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    assert ad.grad(lambda x: np.sum(PROGRAMS[name](x)))(x).dtype == dtype


@pytest.mark.parametrize("cls", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix])
def test_a_matrix_as_an_argument(cls: Any) -> None:
    a = cls(A)
    found = ad.grad(lambda a: np.sum((a @ POINT) ** 2))(a)
    assert type(found) is type(a) and found.format == a.format
    np.testing.assert_array_equal(found.toarray() != 0, a.toarray() != 0)
    dense = ad.grad(lambda a: np.sum((a @ POINT) ** 2))(A.toarray())
    np.testing.assert_allclose(found.toarray(), dense * (A.toarray() != 0), rtol=1e-13)


def test_another_matrix_in_the_next_call() -> None:
    class Model:
        def __init__(self, matrix: Any) -> None:
            self.matrix = matrix

        def loss(self, x: Any) -> Any:
            return np.sum((self.matrix @ x) ** 2)

    model = Model(A)
    g = ad.grad(model.loss)
    np.testing.assert_allclose(g(POINT), 2 * A.T @ (A @ POINT), rtol=1e-13)
    model.matrix = A * 2.0
    np.testing.assert_allclose(g(POINT), 8 * A.T @ (A @ POINT), rtol=1e-13)


def test_the_zeros_of_a_dense_matrix_have_derivatives() -> None:
    dense = np.diag(POINT)
    g = ad.grad(lambda w: np.sum(sp.csr_matrix(w) @ DIRECTION))(dense)
    np.testing.assert_allclose(g, np.tile(DIRECTION, (5, 1)), rtol=1e-15)


def test_eigenvectors() -> None:
    def f(x: Any) -> Any:
        vectors = sla.eigsh(S + sp.diags(x), k=2, v0=np.ones(5))[1]
        return np.sum(W[:, :2] * vectors**2)

    g = ad.grad(f)(POINT)
    np.testing.assert_allclose(g, differences(f, POINT), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(ad.jvp(f, (POINT,), (DIRECTION,))[1], np.sum(DIRECTION * g), rtol=1e-9)
    with pytest.raises(RuleLookupError):
        ad.grad(lambda x: np.sum(ad.grad(f)(x)))(POINT)


def test_a_singular_matrix() -> None:
    def f(x: Any) -> Any:
        return np.sum(sla.spsolve(sp.diags(x).tocsc(), POINT))

    with pytest.warns(sla.MatrixRankWarning):
        assert np.isnan(ad.value_and_grad(f)(np.array([1.0, 0.0, 1.0, 1.0, 1.0]))[0])
    with pytest.raises(RuntimeError, match="singular"):
        ad.grad(lambda x: np.sum(sla.splu(sp.diags(x).tocsc()).solve(POINT)))(np.zeros(5))


def test_a_product_of_wrong_length() -> None:
    with pytest.raises(ValueError, match="mismatch"):
        ad.grad(lambda x: np.sum(A @ x))(np.ones(4))


def test_formats_that_change() -> None:
    def loop(x: Any) -> Any:
        m = sp.eye(5).tocsr()
        for _ in range(3):
            m = m @ A * x[0]
        return np.sum(m @ x)

    def choice(x: Any) -> Any:
        m = A.tocoo() if x[0] > 0 else A.tocsc()
        return np.sum(sla.spsolve(m * x[1], x))

    for f in (loop, choice):
        np.testing.assert_allclose(ad.grad(f)(POINT), differences(f, POINT), rtol=1e-6)


class Holder:
    kept: Any = None


HOLDER = Holder()


def keeps(x: Any) -> Any:
    HOLDER.kept = sp.csr_matrix((x, (R, R)))
    return x[0]


def sum_and_the_same(x: Any) -> Any:
    both = A + A * x[0]
    same = both.tocsr()
    same *= 2.0
    return np.sum(both @ x)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "class": (lambda x: x[0] if isinstance(sp.csr_matrix((x, (R, R))), sp.csr_matrix) else x[1], "the class of"),
    "type": (lambda x: x[0] if type(A.tocsr()) is sp.csr_matrix else x[1], "the class of"),
    "kept": (keeps, "kept outside"),
    "lil": (lambda x: np.sum(L @ x), "of this format"),
    "np.matrix": (lambda x: np.sum((A * x[0]).sum(axis=0)), "np.matrix"),
    "max": (lambda x: sp.csr_matrix((x, (R, R))).max(), "this attribute"),
    "indices of a row": (lambda x: np.sum((A * x[0]).getrow(1).indices), "the stored entries"),
    "change of one of two": (lambda x: sum_and_the_same(x), "the same as another"),
    "data of a sum": (lambda x: np.sum((A + A * x[0]).data), "the stored entries"),
    "store": (lambda x: sp.csr_matrix((x, (R, R))).__setitem__((0, 0), x[0]) or x[0], "a store"),
    "comparison": (lambda x: np.sum((A * x[0] > 0) @ x), "a comparison"),
    "another comparison": (lambda x: np.sum((A * x[0] != A) @ x), "a comparison"),
    "np.sum": (lambda x: np.sum(sp.csr_matrix((x, (R, R)))), "cannot be used"),
    "preconditioner": (lambda x: np.sum(sla.cg(A, x, M=A)[0]), "preconditioner"),
    "generalised": (lambda x: sla.eigsh(S * x[0], k=1, M=S)[0][0], "with M"),
    "several times": (lambda x: np.sum(sla.expm_multiply(A, x, start=0, stop=1, num=3)), "several times"),
    "operator": (lambda x: np.sum(sla.cg(sla.aslinearoperator(A), x)[0]), "LinearOperator"),
    "sparse right-hand side": (lambda x: np.sum(sla.spsolve(A, A * x[0])), "sparse right-hand side"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    program, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message):
        ad.grad(program)(POINT)


def test_a_matrix_as_the_result_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="returns"):
        ad.jvp(lambda x: sp.csr_matrix((x, (R, R))), (POINT,), (POINT,))


# Some of these matrices share their entries, and some do not.
CHANGES = """
m = csr(d); b = m; m *= 2.0; result = b @ x
m = csr(d); m.data *= 3.0; result = m @ x
m = csr(d); m.data = m.data * 2; result = m @ x
m = csr(d); d[1] = 7.0; result = m @ x
m = csr(d); sp.csr_matrix(m).data[0] = 9.0; result = m @ x
m = csr(d); sp.coo_matrix(m).data[0] = 9.0; result = m @ x
m = csr(d); m.tocoo().data[0] = 9.0; result = m @ x
m = csr(d); m.tocsr().data[0] = 9.0; result = m @ x
m = csr(d); m.T.data[0] = 9.0; result = m @ x
m = csr(d); m.copy().data[0] = 9.0; result = m @ x
m = csr(d); m.astype(float).data[0] = 9.0; result = m @ x
m = csr(d); m /= 2.0; result = m @ x
m = sp.coo_matrix((d, (r, r))); m.tocoo().data[0] = 9.0; result = m @ x
m = sp.coo_matrix((d, (r, r))).tocsr(); d[0] = 9.0; result = m @ x
m = sp.coo_matrix((d, (r, r))); d[0] = 9.0; result = m @ x
m = sp.diags(d); d[0] = 9.0; result = m @ x
m = sp.csr_matrix((d, q, p)); q[0] = 2; result = m @ x
m = sp.csr_matrix((d, q, p)); p[1] = 0; result = m @ x
m = sp.csr_matrix((d, q, p)); m.indices[0] = 2; result = m @ x + q
m = sp.csr_matrix((d, q, p)); n = m * 2.0; q[0] = 2; n.indices[1] = 0; result = m @ x + n @ x
m = sp.csr_matrix((d, q, p)).tocoo(); q[0] = 2; result = m @ x
m = sp.csr_matrix((d, q, p)).T; q[0] = 2; result = m @ x
m = sp.csr_matrix((d, k, p)); k[0] = 2; result = m @ x
m = sp.csr_array((d, k, p.astype(int))); k[0] = 2; result = m @ x
m = sp.csr_array((d, q, p.astype(int))); q[0] = 2; result = m @ x
m = sp.csr_array((d, q, p)); q[0] = 2; result = m @ x
m = sp.coo_matrix((d, (q, r))); q[0] = 2; m.row[1] = 4; result = m @ x + q
m = sp.coo_matrix((d, (k, r))); k[0] = 2; result = m @ x
m = sp.coo_array((d, (k, r))); k[0] = 2; result = m @ x
m = sp.coo_array((d, (k, q))); k[0] = 2; q[0] = 2; result = m @ x
m = sp.coo_matrix((d, (q, r))); m.T.row[0] = 2; m.T.data[1] = 9.0; result = m @ x
m = sp.coo_matrix((d, (q, r))); n = sp.coo_matrix(m); n.row[0] = 2; n.data[1] = 9.0; result = m @ x
m = sp.coo_matrix((d, (q, r)), dtype=float); d[0] = 9.0; result = m @ x
m = sp.coo_matrix((d, (q, r)), dtype=complex); d[0] = 9.0; q[0] = 2; result = (m @ x).real
m = sp.csr_matrix((d, (q, r))); d[0] = 9.0; q[0] = 2; result = m @ x
m = sp.csr_matrix((d, q, p), copy=True); d[0] = 9.0; q[0] = 2; result = m @ x
m = sp.coo_matrix((d, (q, r)), copy=True); d[0] = 9.0; q[0] = 2; result = m @ x
m = csr(d); n = sp.csr_matrix(m, copy=True); n.data[0] = 9.0; result = m @ x
m = csr(d); n = sp.csr_matrix(m, dtype=float); n.data[0] = 9.0; n.indices[0] = 2; result = m @ x
m = sp.csr_matrix((d, q, p)); n = sp.csr_matrix(m, dtype=np.float32); n.data[0] = 9.0; n.indices[0] = 2; result = m @ x
m = csr(d); n = m.astype(float, copy=False); n.data[0] = 9.0; n *= 2.0; result = m @ x
m = csr(d); n = m.astype(np.float32, copy=False); n.data[0] = 9.0; result = m @ x
m = csr(d); n = m.conj(copy=False); n.data[0] = 9.0; result = m @ x
m = csr(d); n = m.conjugate(); n.data[0] = 9.0; result = m @ x
m = csr(d) * 1j; n = m.conj(copy=False); n.data[0] = 9.0; n.indices[0] = 2; result = np.abs(m @ x + n @ x)
m = csr(d); n = m[:]; n *= 2.0; result = m @ x
m = csr(d); n = m[:, :]; n *= 2.0; result = m @ x
m = csr(d); n = m.tocsr(); n.data = 2.0 * d; n *= 3.0; result = m @ x
m = csr(d); n = m.tocsr(copy=True); n.data[0] = 9.0; result = m @ x
m = csr(d); n = m.asformat("csr", copy=True); n.data[0] = 9.0; result = m @ x
m = csr(d); n = m.asformat("coo", copy=True); n.data[0] = 9.0; result = m @ x
m = csr(d); n = m.transpose(copy=True); n.data[0] = 9.0; result = m @ x
m = csr(d).tocsc(); n = m.tocoo(); n.data[0] = 9.0; result = m @ x
m = csr(d).tocsc(); n = m.tocoo(copy=False); n.data[0] = 9.0; result = m @ x
m = sp.coo_matrix((d, (r, r))); n = m.tocoo(); n.data = 2.0 * d; result = m @ x
m = sp.dia_matrix((d, 0), shape=(5, 5)); d[0] = 9.0; result = m @ x
m = sp.dia_matrix((e, [0, 1]), shape=(5, 5)); e[1, 2] = 9.0; result = m @ x
m = sp.dia_array((e, [0, 1]), shape=(5, 5)); n = m.T; e[1, 2] = 9.0; result = n @ x + m @ x
m = sp.dia_matrix((e, [0, 1]), shape=(5, 5)); m *= 2.0; n = m.asformat("dia"); n /= 3.0; result = m @ x + e[1]
m = sp.dia_matrix((e, [0, 1]), shape=(5, 5)); n = m.tocsr(); n *= 9.0; n = m * 2.0; n *= 2.0; result = m @ x
m = sp.dia_matrix((e, [0, 1]), shape=(5, 5), copy=True); e[1, 2] = 9.0; result = m @ x
m = sp.dia_matrix((e, [0, 1]), shape=(5, 5), dtype=complex); e[1, 2] = 9.0; result = (m @ x).real
m = sp.dia_matrix((e, k[:2]), shape=(5, 5)); k[:2] = 3, 2; result = m @ x
m = sp.spdiags(e, [0, 1], 5, 5); e[1, 2] = 9.0; result = m @ x
m = sp.lil_matrix(np.diag(d)); n = sp.lil_matrix(m); n[0, 1] = 9.0 * x[0]; result = m.tocsr() @ x
m = sp.dok_matrix(np.diag(d)); n = sp.dok_matrix(m, copy=True); n[0, 1] = 9.0; result = m.tocsr() @ x
m = sp.lil_matrix(np.diag(d)); n = m.asformat("lil", copy=True); n[0, 1] = 9.0; result = m.tocsr() @ x
m = csr(d).tocsc(); lu = sla.splu(m); m.data[0] = 9.0; result = lu.solve(x) + m @ x
m = sp.coo_matrix((d, (q, r))); result = (m.getrow(1) @ x) * (m.getcol(2).T @ x)
"""


@pytest.mark.parametrize("change", CHANGES.strip().splitlines())
def test_changes_of_shared_entries(change: str) -> None:
    places = "q, k, p = r.astype(np.int32), r.copy(), np.arange(6, dtype=np.int32)"
    lines = ["d, e = x * 1.5, np.outer(x[:2], x)", places, change, "return np.sum(weights * result)"]
    text = "def f(x):\n    " + "\n    ".join(lines)
    csr = lambda d: sp.csr_matrix((d, R, np.arange(6)))
    names = {"np": np, "sp": sp, "sla": sla, "r": R, "weights": W[0], "csr": csr}
    f = ad.from_tree(ast.parse(text), names)
    value, g = ad.value_and_grad(f)(POINT)
    np.testing.assert_allclose(value, f(POINT), rtol=1e-14)
    np.testing.assert_allclose(g, differences(f, POINT), rtol=1e-6, atol=1e-6)


def elementwise_methods(x):
    m = sp.coo_array((x, (np.arange(5), np.arange(5)[::-1])), shape=(5, 5)).tocsr()
    n = m.sin() + m.tanh() + m.sqrt() + m.expm1() + m.log1p()
    return np.sum(n.conj().conjugate().toarray() * np.arange(25.0).reshape(5, 5))


def shapes_and_parts(x):
    m = sp.csr_array((x, (np.arange(5), np.arange(5)[::-1])), shape=(5, 5))
    assert sp.issparse(m) and m.ndim == 2 and A.getnnz() == A.nnz
    both = sp.block_array([[m, sp.eye_array(5)], [None, m]], format="csc").asformat("csr")
    return np.sum((both @ np.arange(10.0)) ** 2)


def rows_and_columns(x):
    row, column = A[[1], :], A[:, [2]]
    assert AA.todense().shape == (5, 5)
    assert A.get_shape() == (5, 5)
    return np.sum(row @ x) + np.sum(column.T @ (x * x)) + np.sum(AA.toarray() @ x)


def other_solvers(x):
    a, _ = sla.bicg(A, x, rtol=1e-12, atol=1e-13)
    b, _ = sla.cgs(A, x, rtol=1e-12, atol=1e-13)
    return np.sum(a * b)


@pytest.mark.parametrize(
    "f", [elementwise_methods, shapes_and_parts, rows_and_columns, other_solvers], ids=lambda f: f.__name__
)
def test_rarer_names(f: Any) -> None:
    x = np.array([0.4, 1.3, 0.2, 0.9, 0.6])
    np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-7)


# --- built by stores --------------------------------------------------------------------------------------------------

BUILT = [sp.lil_matrix, sp.dok_matrix, sp.lil_array, sp.dok_array]


@pytest.mark.parametrize("make", BUILT, ids=lambda make: make.__name__)
def test_built_by_stores(make: Any) -> None:
    def f(x):
        n = len(x)
        A = make((n, n))
        for i in range(n):
            A[i, i] = 2 * x[i] + 1
            if i > 0:
                A[i, i - 1] = -x[i]
            if i < n - 1:
                A[i, i + 1] = -1.0
        A[0, 0] += x[1]
        B = A.tocsr()
        A[0, 0] = 100.0  # B keeps what it has
        assert sp.issparse(A)
        return np.sum(sla.spsolve(B, x) ** 2) + np.sum(sla.spsolve(A.tocsc(), x)) + np.sum(A @ x)

    x = np.array([1.0, 2.0, 3.0, 0.5])
    value, slope = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    np.testing.assert_allclose(slope, differences(f, x), rtol=1e-6, atol=1e-6)


def test_stores_of_parts() -> None:
    def f(x):
        A = sp.lil_matrix(sp.eye(4))
        A.setdiag(x)
        A.setdiag(x[:2] ** 2, 1)
        A.setdiag(3.0, -2)
        A[3, :] = x
        A[:, 1] = x[::-1]
        A[[0, 1], [3, 3]] = x[:2]
        A[2:4, 2:4] = np.outer(x[:2], x[1:3])
        A[1, 1] *= A[0, 1]
        B = sp.csr_matrix(A) + A
        return np.sum((B @ x) ** 2) + np.sum(A.toarray() * A.dot(x)) + np.sum(A.copy().tocoo() @ x)

    x = np.array([1.0, 2.0, 3.0, 0.5])
    value, slope = ad.value_and_grad(f)(x)
    np.testing.assert_allclose(value, f(x), rtol=1e-13)
    np.testing.assert_allclose(slope, differences(f, x), rtol=1e-6, atol=1e-6)


def test_what_a_matrix_that_is_built_refuses() -> None:
    x = np.ones(3)

    def number(x):
        A = sp.lil_matrix((3, 3))
        A.setdiag(x)
        return A.nnz * x[0]

    def sparse(x):
        A = sp.lil_matrix((3, 3))
        A[:, :] = sp.csr_matrix(np.diag(x))
        return A[0, 0]

    def beyond(x):
        A = sp.lil_matrix((3, 3))
        A.setdiag(x, 4)
        return A[0, 0]

    for f in (number, sparse):
        with pytest.raises(UnsupportedError):
            ad.grad(f)(x)
    with pytest.raises(ValueError, match="k exceeds"):
        ad.grad(beyond)(x)


ROWS = sp.csr_matrix(np.diag([1.0, 2.0, 3.0]) + 1.0)


def test_rows_and_columns_by_name() -> None:
    def f(x):
        A = sp.csr_matrix(np.diag(x) + 1.0)
        own = np.sum(A.getrow(1).toarray() ** 2) + np.sum((A.getcol(2).T @ x) ** 2)
        return own + np.sum(ROWS.getrow(1) @ x) + np.sum((ROWS * x[0]).getcol(-1).toarray())

    x = np.array([1.0, 2.0, 0.5])
    np.testing.assert_allclose(ad.value_and_grad(f)(x)[0], f(x), rtol=1e-14)
    np.testing.assert_allclose(ad.grad(f)(x), differences(f, x), rtol=1e-6, atol=1e-6)
