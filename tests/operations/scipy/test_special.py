"""`scipy.special`: every rule on its cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

from autodiff_compiler.ir.opset import lookup
from autodiff_compiler.kernels.scipy import (
    special_bessel,
    special_elliptic,
    special_error,
    special_hypergeometric,
    special_incomplete,
    special_kolmogorov,
    special_student,
    special_sums,
    special_zeta,
)
from autodiff_compiler.operations import record
from autodiff_compiler.operations.check import named
from tests.operations.scipy.harness import check_case, load, without_case

load("special")
RNG = np.random.default_rng(7)
Case = tuple[Any, tuple[Any, ...], dict[str, Any]]


def inside(low: float, high: float, *shape: int) -> Any:
    """Random numbers between the bounds."""
    return RNG.uniform(low, high, size=shape or (3,))


def complexes(*shape: int) -> Any:
    return RNG.normal(size=shape or (3,)) + 1j * RNG.normal(size=shape or (3,))


# Of one argument: between which bounds. Those of the second list take complex numbers, too.
UNARY = """
    exp2 -2 2, exp10 -1 1, expm1 -2 2, log1p -0.5 2, cbrt 0.3 2, cosm1 -2 2, exprel -2 2, expit -3 3, log_expit -3 3,
    logit 0.1 0.9, entr 0.3 2, sindg -90 90, cosdg -90 90, tandg -40 40, cotdg 20 70, ndtri 0.1 0.9, ndtri_exp -3 -0.1,
    erfinv -0.8 0.8, erfcinv 0.2 1.8, gammaln 0.3 3, zetac 1.5 4, j0 0.3 5, j1 0.3 5, y0 0.5 5, y1 0.5 5, i0 -2 2,
    i1 -2 2, i0e 0.3 3, i1e 0.3 3, k0 0.5 3, k1 0.5 3, k0e 0.5 3, k1e 0.5 3, ber 0.5 3, bei 0.5 3, ker 0.5 3, kei 0.5 3,
    berp 0.5 3, beip 0.5 3, kerp 0.5 3, keip 0.5 3, itstruve0 0.5 3, itmodstruve0 0.5 3, it2struve0 0.5 3,
    modfresnelp 0.3 2, modfresnelm 0.3 2,
    ellipk -1 0.9, ellipkm1 0.1 1.5, ellipe -1 0.9, kolmogorov 0.5 1.5, kolmogi 0.2 0.8,
    itairy 0.5 2, iti0k0 0.5 2, itj0y0 0.5 2,
    it2i0k0 0.5 2, it2j0y0 0.5 2, airye 0.5 2, kelvin 0.5 3, exp1 0.5 2, expi 0.5 2
"""
HOLOMORPHIC = """
    erf, erfc, erfcx, erfi, dawsn, wofz, ndtr, log_ndtr, psi, loggamma, gamma, rgamma, wrightomega, spence, airy,
    fresnel, shichi, sici
"""
NO_SECOND = {"psi", "loggamma", "gamma", "rgamma"}  # of complex arguments
X, Y, Z = inside(0.3, 2.0), inside(0.3, 2.0), inside(0.3, 2.0)
P = inside(0.2, 0.8)
COLUMN = inside(0.3, 2.0, 2, 1)

CASES: list[Case] = [
    (getattr(special, name), (inside(float(low), float(high)),), {})
    for name, low, high in (entry.split() for entry in UNARY.split(","))
    if lookup(getattr(special, name, None)) is not None
]
CASES += [(getattr(special, name.strip()), (inside(0.3, 2.0),), {}) for name in HOLOMORPHIC.split(",")]
CASES += [
    (special.expit, (0.7,), {}),
    (special.expit, (np.array(0.7),), {}),
    (special.expit, (np.zeros((0, 2)),), {}),
    (special.xlogy, (X, COLUMN), {}),
    (special.xlog1py, (X, COLUMN), {}),
    (special.rel_entr, (X, COLUMN), {}),
    (special.kl_div, (X, Y), {}),
    (special.huber, (1.0, inside(-3.0, 3.0, 6)), {}),
    (special.huber, (X, 2 * Y), {}),
    (special.pseudo_huber, (X, COLUMN), {}),
    (special.boxcox, (X, Y), {}),
    (special.boxcox1p, (X, -Y), {}),
    (special.inv_boxcox, (X, Y), {}),
    (special.inv_boxcox1p, (X, Y), {}),
    (special.radian, (X, Y, Z), {}),
    (special.tklmbda, (0.3 * X, 0.5), {}),
    (special.agm, (X, COLUMN), {}),
    (special.polygamma, (1, X), {}),
    (special.polygamma, (0, X), {}),
    (special.polygamma, (np.array([[1], [2]]), X), {}),
    (special.zeta, (1 + X,), {}),
    (special.zeta, (1 + X, Y), {}),
    (special_zeta.zeta_slope, (1, 1 + X, Y), {}),
    (special_zeta.zeta_slope, (2, 1 + X, Y), {}),
    (special.beta, (X, COLUMN), {}),
    (special.betaln, (X, Y), {}),
    (special.poch, (X, Y), {}),
    (special.binom, (2 + X, Y), {}),
    (special_error.digamma_step, (X, Y), {}),
    (special.multigammaln, (1 + X, 2), {}),
    (special.multigammaln, (1.7, 3), {}),
    (special.factorial, (X,), {}),
    (special.comb, (2 + X, Y), {}),
    (special.perm, (2 + X, Y), {}),
    (special_error.faddeeva, (1, complexes()), {}),
    (special_error.dawsn_derivative, (1, X), {}),
    (special_error.erfcx_derivative, (2, X), {}),
    (special.owens_t, (X, COLUMN), {}),
    (special.voigt_profile, (X, Y, Z), {}),
    (special.expn, (2, X), {}),
    (special.expn, (1, X), {}),
    (special.expn, (np.array([[0], [2]]), X), {}),
    (special.ellipkinc, (X, P), {}),
    (special.ellipkinc, (3 * X, P), {}),
    (special.ellipeinc, (X, -P), {}),
    (special.ellipj, (X, P), {}),
    (special_elliptic.first_by_parameter, (1, X, P), {}),
    (special_elliptic.second_by_parameter, (1, X, P), {}),
    (special_elliptic.carlson, ((0.5, 1.0, 1.5, 0.5), X, Y, Z, P), {}),
    (special.elliprc, (X, Y), {}),
    (special.elliprf, (X, Y, Z), {}),
    (special.elliprd, (X, Y, Z), {}),
    (special.elliprg, (X, Y, COLUMN), {}),
    (special.elliprj, (X, Y, Z, P), {}),
    (special.hyp0f1, (X, Y), {}),
    (special.hyp1f1, (X, Y, 1.5), {}),
    (special.hyp1f1, (1.5, 2.0, -X), {}),
    (special.hyp2f1, (X, Y, 1.5, 0.4), {}),
    (special.hyp2f1, (0.5, 1.5, Y, -P), {}),
    (special.hyperu, (X, Y, 1.5), {}),
    (special.hyperu, (0.7, 1.5, Y), {}),
    (special.lpmv, (1, 2.5, P), {}),
    (special.lpmv, (0, 3, P), {}),
    (special.lambertw, (X,), {}),
    (special.lambertw, (complexes(), 1), {}),
    (special.softmax, (inside(-2, 2, 2, 3),), {"axis": 1}),
    (special.softmax, (inside(-2, 2, 2, 3),), {}),
    (special.log_softmax, (inside(-2, 2, 2, 3),), {"axis": (0, 1)}),
    (special.log_softmax, (inside(-2, 2, 2, 3),), {"axis": 1}),
    (special.logsumexp, (inside(-2, 2, 2, 3),), {}),
    (special.logsumexp, (inside(-2, 2, 2, 3),), {"axis": 1, "keepdims": True}),
    (special.logsumexp, (inside(-2, 2, 2, 3), 0, inside(0.2, 1, 3)), {}),
    (special.logsumexp, (inside(-2, 2, 2, 3), 0, inside(-1, 1, 2, 3), True, True), {}),
    (special.logsumexp, (inside(-2, 2, 3), None, inside(0.1, 1, 2, 3)), {}),
    (special_sums.logsumexp, (inside(-2, 2, 2, 3), inside(0.2, 1, 3), 0, False), {}),
    (special_sums.logsumexp, (inside(-2, 2, 2, 3), None, 1, True), {}),
    (special_sums.signed_logsumexp, (inside(-2, 2, 2, 3), inside(-1, 1, 2, 3), 1, False), {}),
    (special.wright_bessel, (0.5, 1.5, X), {}),
]
if hasattr(special, "softplus"):
    CASES += [(special.softplus, (inside(-2, 2),), {})]
if hasattr(special, "powm1"):
    CASES += [(special.powm1, (X, Y), {})]
if hasattr(special, "sph_harm_y"):
    CASES += [(special.sph_harm_y, (3, 1, X, Y), {})]
if hasattr(special, "log_wright_bessel"):
    CASES += [(special.log_wright_bessel, (0.5, 1.5, X), {})]

# --- Bessel functions -------------------------------------------------------------------------------------------------

CASES += [(fn, (X, 2 * Y), {}) for fn in (special.jv, special.yv, special.iv, special.kv)]
CASES += [(fn, (2, 2 * Y), {}) for fn in (special.jn, special.yn, special.kn, special.jve, special.yve)]
CASES += [(fn, (0, 2 * Y), {}) for fn in (special.jn, special.yn, special.kn, special.iv)]
CASES += [(fn, (0.5, 2 * Y), {}) for fn in (special.ive, special.kve, special.struve, special.modstruve)]
CASES += [(fn, (1, 1.5, 3 * X), {}) for fn in (special_bessel.ive_derivative, special_bessel.kve_derivative)]
CASES += [(fn, (X, 2 * Y), {}) for fn in (special.ive, special.kve)]
CASES += [(fn, (1, X, COLUMN), {}) for name, fn in vars(special_bessel).items() if name.endswith("_order")
          and name[0] != "_"]  # fmt: skip
CASES += [(fn, (0.5, complexes()), {}) for fn in (special.hankel1, special.hankel2, special.hankel1e, special.hankel2e)]
CASES += [(fn, (2, complexes()), {}) for fn in (special.jv, special.yv, special.iv, special.kv)]
CASES += [
    (getattr(special, f"spherical_{k}n"), (n, X), {"derivative": d})
    for k in "jyik"
    for n in (0, 2)
    for d in (False, True)
]
CASES += [(getattr(special, f"{k}vp"), (1.5, X, n), {}) for k in "jyik" for n in (1, 2)]
CASES += [(fn, (0.5, complexes(), 1), {}) for fn in (special.h1vp, special.h2vp)]
CASES += [(fn, (0.7, X), {}) for fn in (special.pbdv, special.pbvv, special.pbwa)]
CASES += [(fn, (2, 0.7, 20 * X), {}) for fn in (special.mathieu_cem, special.mathieu_sem)]
CASES += [(getattr(special, f"mathieu_mod{k}"), (2, 0.7, X), {}) for k in ("cem1", "cem2", "sem1", "sem2")]

# --- polynomials ------------------------------------------------------------------------------------------------------

for (
    _name
) in "legendre sh_legendre chebyt chebyu chebyc chebys sh_chebyt sh_chebyu hermite hermitenorm laguerre".split():
    CASES += [(getattr(special, f"eval_{_name}"), (n, P), {}) for n in (0, 1, 4)]
    CASES += [(getattr(special, f"eval_{_name}"), (np.array([[0], [3]]), P), {})]
    if "hermite" not in _name:
        CASES += [(getattr(special, f"eval_{_name}"), (2.5, P), {})]
for _n in (0, 1, 4):
    CASES += [(special.eval_jacobi, (_n, 0.5, 1.5, P), {}), (special.eval_sh_jacobi, (_n, 3.5, 1.5, P), {})]
    CASES += [(special.eval_gegenbauer, (_n, 0.7, P), {}), (special.eval_genlaguerre, (_n, 0.7, P), {})]

# --- distributions ----------------------------------------------------------------------------------------------------

CASES += [(fn, (X, COLUMN), {}) for fn in (special.gammainc, special.gammaincc, special.chdtr, special.chdtrc)]
CASES += [(fn, (X, P), {}) for fn in (special.gammaincinv, special.gammainccinv, special.chdtri)]
CASES += [(special.chdtriv, (P, X), {}), (special.gdtrix, (X, Y, P), {}), (special.gdtrib, (X, P, Y), {})]
CASES += [(special.gdtria, (P, X, Y), {}), (special.gdtr, (X, Y, Z), {}), (special.gdtrc, (X, Y, Z), {})]
CASES += [(fn, (2, X), {}) for fn in (special.pdtr, special.pdtrc)] + [(special.pdtri, (2, P), {})]
CASES += [(special.pdtr, (2.5, X), {})]
CASES += [(getattr(special, name), (X, COLUMN, P), {}) for name in
    "betainc betaincc betaincinv betainccinv btdtr btdtri".split() if hasattr(special, name)]  # fmt: skip
CASES += [(special.btdtria, (P, X, 0.4), {}), (special.btdtrib, (X, P, 0.4), {})]
CASES += [(special.btdtria, (0.3, 1.2, P), {}), (special.btdtrib, (1.2, 0.3, P), {})]
CASES += [(fn, (2, 5, P), {}) for fn in (special.bdtr, special.bdtrc, special.bdtri)]
CASES += [(fn, (2, 5, P), {}) for fn in (special.nbdtr, special.nbdtrc, special.nbdtri)]
CASES += [(fn, (X, Y, Z), {}) for fn in (special.fdtr, special.fdtrc)] + [(special.fdtri, (1 + X, 1 + Y, P), {})]
CASES += [
    (special.stdtr, (1 + X, np.array([-1.2, 0.4, 2.0])), {}),
    (special.stdtrit, (1 + X, np.array([0.2, 0.6, 0.9])), {}),
]
CASES += [
    (special.stdtridf, (np.array([0.16, 0.17, 0.165]), -1.2), {}),
    (special.stdtridf, (0.165, np.array([-1.2, -1.1])), {}),
]
CASES += [(special.nrdtrimn, (P, X, Y), {}), (special.nrdtrisd, (0.5 * X - 2, 0.6 + 0.3 * P, Y), {})]
CASES += [
    (special.chndtr, (1 + X, 3, COLUMN), {}),
    (special.chndtrix, (P, 3, X), {}),
    (special.chndtrinc, (2.0, 3, 0.3 * P), {}),
]
CASES += [(special_student.student_density, (X, Y), {}), (special_student.stdtr_slope, (1, X, Y), {})]
CASES += [(special.smirnov, (4, 0.3 * X), {}), (special.smirnovi, (4, P), {})]
CASES += [(special_incomplete.gamma_density, (X, Y), {}), (special_incomplete.beta_density, (X, Y, P), {})]
CASES += [(special_incomplete.gammainc_slope, (1, X, Y), {}), (special_kolmogorov.kolmogorov_slope, (1, X), {})]

CASES += [(special.pdtrik, (P, 2 + X), {}), (special.fdtridfd, (X, 0.4 * P, Y), {})]
CASES += [(special.bdtrik, (P, 9.0, 0.4 + 0.1 * X), {}), (special.bdtrin, (3.0, P, 0.4 + 0.1 * X), {})]
CASES += [(special.nbdtrik, (P, 9.0, 0.4 + 0.1 * X), {}), (special.nbdtrin, (3.0, P, 0.4 + 0.1 * X), {})]
CASES += [(special.diric, (X, n), {}) for n in (1, 4, 5)] + [(special.diric, (inside(-4, 4, 2), 3), {})]
CASES += [(special_sums.diric_derivative, (1, X, 4), {}), (special.assoc_laguerre, (X, 3, 2), {})]
# Those of which no second derivative by a parameter is known, and those that SciPy computes in float64 only.
FIRST = [special.hyp0f1, special.hyp1f1, special.hyp2f1, special.hyperu, special.smirnov, special.smirnovi]
FIRST += [vars(special_hypergeometric)[f"{name}_slope"] for name in ("hyp0f1", "hyp1f1", "hyp2f1", "hyperu")]
FIRST += [special_incomplete.gammainc_slope, special_student.stdtr_slope]
CASES += [
    (special_hypergeometric.hyp0f1_slope, (1.5, X), {}),
    (special_hypergeometric.hyp1f1_slope, (0, 1.5, 2.0, X), {}),
    (special_hypergeometric.hyp1f1_slope, (1, 1.5, 2.0, X), {}),
    (special_hypergeometric.hyp2f1_slope, (0, 1.5, 2.0, 1.2, P), {}),
    (special_hypergeometric.hyp2f1_slope, (1, 1.5, 2.0, 1.2, P), {}),
    (special_hypergeometric.hyp2f1_slope, (2, 1.5, 2.0, 1.2, P), {}),
    (special_hypergeometric.hyperu_slope, (0, 1.5, 2.0, X), {}),
    (special_hypergeometric.hyperu_slope, (1, 1.5, 2.0, X), {}),
]


NO_SINGLE = [fn for name, fn in vars(special).items() if name.startswith("mathieu")]
# Its last argument is one less the one before, and does not move by itself.
CHECKED_BY_SECOND_ORDER = [(special_incomplete.betainc_slope, (1, 0, X, Y, P, P), {})]


def name_of(fn: Any) -> str:
    return getattr(fn, "__name__", "") if callable(fn) else ""


@pytest.mark.parametrize("fn, args, kwargs", CASES, ids=name_of)
def test_derivatives(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    check_case(fn, args, kwargs, order=1 if fn in FIRST else 2, single=fn not in NO_SINGLE, constant=refused(fn, args))


def refused(fn: Any, args: tuple[Any, ...]) -> tuple[str, ...]:
    """The arguments by which there is no derivative."""
    prim = lookup(fn)
    if prim is None:
        return ()
    partials = dict(zip(prim.params, prim.partials or ()))
    found = [(name, prim.pullbacks.get(name, partials.get(name))) for name, _ in named(prim, args, {})]
    return ("powers", *[name for name, rule in found if isinstance(rule, record.Refused)])


def test_every_function_has_a_case() -> None:
    assert without_case("special", [*CASES, *CHECKED_BY_SECOND_ORDER]) == []
