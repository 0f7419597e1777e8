"""What of the corpus is refused, with the beginning of the message, and what is wrong, with the reason.

A refusal with "forwards" beside the message is one of `ad.jvp` alone: the gradient is right.
"""

REFUSED: dict[str, tuple[str, ...]] = {
    "astronomy.distance_modulus": ("a solver gets a function that reads an object ('self') to call",),
    "control.dlqr_scipy": ("the derivative rule needs the number of axes of an operand",),
    "finance.bond_ytm": ("a solver gets a function that reads a list ('periods') to call",),
    "kinetics.batch_reactor_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "kinetics.robertson": ("scipy.integrate.solve_ivp by LSODA without t_eval",),
    "learning.als_step": ("the derivative rule needs the number of axes of an operand",),
    "populations.lotka_volterra_rk4": ("the derivative rule needs the number of axes of an operand",),
    "populations.sir_odeint": ("second derivatives and tangents of scipy.integrate.odeint", "forwards"),
    "signals.sync_phase": ("unprovable alias: it is not known whether this is an array",),
    "solar.day_length": ("the attribute 'tm_yday' of an array",),
    "statistic.gamma_mle_score": ("unprovable alias: it is not known whether this is an array",),
    "statistic.gaussian_kde_manual-2": (
        "the number of items of an array has to be known when the program is compiled",
    ),
    "thermo.bubble_temperature": ("an item of a list that has items of different kinds",),
    "thermo.pr_roots": ("no derivative rule for np.roots",),
}

WRONG: dict[str, str] = {
    "finance.heston_path": "the tangent is nan where a number that max() has made 0 goes through a root in a loop",
}
