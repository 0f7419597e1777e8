"""What of the corpus is refused, with the beginning of the message, and what is wrong, with the reason.

A refusal with "forwards" beside the message is one of `ad.jvp` alone: the gradient is right.
"""

REFUSED: dict[str, tuple[str, ...]] = {
    "geometry.clip_polygon": ("unprovable alias: this list is an item of a list on one path",),
    "geometry.dijkstra": ("a member of a set has to be known when the program is compiled",),
    "geometry.edit_distance_soft": ("'kitten' cannot be subscripted here",),
    "geometry.segment_intersection": ("'the result of segment_intersection()' is bound to different kinds of things",),
    "kinetics.batch_reactor_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "kinetics.robertson": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "manners.bootstrap_generator": ("no derivative rule for method choice",),
    "manners.memoised_binomial": ("lru_cache() of a function that is defined inside",),
    "numerics.series_with_generator": ("what is left in this iterator is known at run time only",),
    "populations.sir_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
}

WRONG: dict[str, str] = {
    "finance.heston_path": "forwards, the root of a number that max() has made 0 is nan if the number was curved (docs/semantics.md)",
    "structures.van_der_pol_amplitude": "the lengths of the steps count as constants (docs/scipy.md), and the result is the value at one of them",
}
