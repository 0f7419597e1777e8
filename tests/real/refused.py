"""What of the corpus is refused, with the beginning of the message, and what is wrong, with the reason.

A refusal with "forwards" beside the message is one of `ad.jvp` alone: the gradient is right.
"""

import sys

REFUSED: dict[str, tuple[str, ...]] = {
    "astronomy.distance_modulus": ("a solver gets a function that reads an object ('self') to call",),
    "control.dlqr_scipy": ("no derivative rule for scipy.linalg._solvers.solve_discrete_are",),
    "finance.bond_ytm": ("a solver gets a function that reads a list ('periods') to call",),
    "geometry.clip_polygon": ("unprovable alias: this list is an item of a list on one path",),
    "geometry.dijkstra": ("this is bound to different kinds of things before and in the loop",),
    "geometry.edit_distance_soft": ("'kitten' cannot be subscripted here",),
    "geometry.hull_perimeter": ("unprovable alias: this array was passed to scipy.spatial._qhull.ConvexHull",),
    "geometry.nearest_mean_distance": ("unprovable alias: this array was passed to scipy.spatial._kdtree.KDTree",),
    "geometry.rotate_scipy": ("no derivative rule for method apply",),
    "geometry.segment_intersection": ("'the result of segment_intersection()' is bound to different kinds of things",),
    "kinetics.batch_reactor_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "kinetics.robertson": ("scipy.integrate.solve_ivp by LSODA without t_eval",),
    "learning.als_step": ("the derivative rule needs the number of axes of an operand",),
    "manners.bootstrap_generator": ("no derivative rule for method choice",),
    "manners.descend": ("the derivative rule needs the number of axes of an operand",),
    "manners.event_terminated_fall": ("assignment to the attribute 'terminal' of a function",),
    "manners.memoised_binomial": ("functools._lru_cache_wrapper is called with a function",),
    "numerics.bvp_scipy": ("scipy.integrate._bvp.solve_bvp is called with a function",),
    "numerics.series_with_generator": ("what is left in this iterator is known at run time only",),
    "populations.lotka_volterra_rk4": ("the derivative rule needs the number of axes of an operand",),
    "populations.sir_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "signals.sync_phase": ("no derivative rule for cmath.phase",),
    "statistic.gamma_mle_score": ("unprovable alias: it is not known whether this is an array",),
    "statistic.gaussian_kde_manual-2": (
        "the number of items of an array has to be known when the program is compiled",
    ),
    "structures.nodal_analysis": ("a dictionary key has to be known when the program is compiled",),
    "thermo.bubble_temperature": ("an item of a list that has items of different kinds",),
    "thermo.pr_roots": ("no derivative rule for np.roots",),
}

if sys.version_info >= (3, 11):  # before, what a code object holds is in slots
    REFUSED["manners.hoop_stress"] = ("'getset_descriptor' cannot be subscripted here",)

WRONG: dict[str, str] = {
    "finance.heston_path": "forwards, the root of a number that max() has made 0 is nan if the number was curved (docs/semantics.md)",
    "structures.van_der_pol_amplitude": "the lengths of the steps count as constants (docs/scipy.md), and the result is the value at one of them",
}
