"""Why a derivative and a difference quotient disagree at a place.

Takes a function of one number: how a value changes along a line, with the place in question at zero. Gives the likely
cause in words.

>>> likely_cause(abs, 1.0, 1e-6)
'it is at a kink: the slope is -1 below and 1 above. The derivative is one of the slopes between, central differences \
give their mean; check at another place'
>>> likely_cause(lambda t: 3.0 * t, 2.0, 1e-6)
'the derivative is wrong: differences of several steps agree on 3. Is there a rule that is wrong, or a value that the \
function reads and that changes between calls?'
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Line = Callable[[float], float]
_PLACES = (np.arange(12) + 1.0 + 0.3 * np.sin(np.arange(12))) / 13.0  # not at equal distances


def corner(p: Line, h: float, noise: float) -> str:
    """What stands at zero, if that is a jump or a kink: no difference means anything there. An empty text if neither.

    h: a step; steps of `h` and ten times `h` are taken. noise: how exact the values are.

    >>> corner(lambda t: max(t, 0.0), 1e-4, 1e-15), corner(np.sin, 1e-4, 1e-15)
    ('a kink: the slope is 0 below and 1 above', '')
    """
    here = p(0.0)
    sides = []
    for sign in (-1.0, 1.0):
        near, far = sign * (p(sign * h) - here), sign * (p(sign * 10 * h) - here)
        jump = abs((10 * near - far) / 9)  # what is left of the change as the step goes to zero
        if jump > 1e-3 * abs(near) + 10 * noise and jump > 20 * abs(far - near):
            side = "below" if sign < 0 else "above"
            return f"a jump, or right beside one: {side}, the value differs by {jump:.3g}"
        sides.append(near / h)
    left, right = sides
    bend = abs(right - left)
    # The difference of the slopes of a smooth function goes with the step; that of a kink does not.
    wide = abs((p(10 * h) - 2 * here + p(-10 * h)) / (10 * h))
    if bend > 1e-3 * max(abs(left), abs(right)) and bend > 0.5 * wide and bend * h > 10 * noise:
        return f"a kink: the slope is {left + 0.0:.4g} below and {right:.4g} above"
    return ""


def noise_of(p: Line, h: float) -> float:
    """How exact the values of a function are near zero: the rounding errors in them."""
    return min(_noise(p, h), _noise(p, -h))


def _noise(p: Line, h: float) -> float:
    for grow in (1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6):
        values = np.array([p(h * grow * t) for t in _PLACES])
        if not np.isfinite(values).all():
            return 0.0
        different = np.unique(values)
        if len(different) == len(values):
            break
        if len(different) > 1:  # the values lie on a grid
            return float(np.min(np.diff(different)))
    else:
        return 0.0
    values = np.array([p(h * 1e-2 * t) for t in _PLACES])
    values = values - values.mean()
    fit = np.polynomial.polynomial.polyfit(_PLACES, values, 3)
    return float(np.max(np.abs(np.polynomial.polynomial.polyval(_PLACES, fit) - values)))


def likely_cause(p: Line, exact: float, h: float) -> str:
    """Why the slope of `p` at zero is not `exact` but what the difference quotient of the step `h` says."""
    with np.errstate(all="ignore"):
        return _likely_cause(p, exact, h)


def _likely_cause(p: Line, exact: float, h: float) -> str:
    if not np.isfinite([p(-h), p(0.0), p(h)]).all():
        return "the value is not finite there, or right beside it; check at another place"
    if not np.isfinite(exact):
        return "the derivative is not finite there, and the value is: a root, or a quotient, at zero?"
    noise = noise_of(p, h)
    slopes = {k: (p(h * 10.0**k) - p(-h * 10.0**k)) / (2 * h * 10.0**k) for k in range(-4, 7)}
    slopes = {k: s for k, s in slopes.items() if np.isfinite(s)}
    away = {k: abs(s - exact) for k, s in slopes.items()}
    rounding = {k: noise / (h * 10.0**k) for k in slopes}
    best = min(away, key=lambda k: away[k])
    fits = away[best] <= 1e-3 * abs(exact) + 10 * rounding[best] and away[best] < 0.1 * away[0]
    if away[0] <= 10 * rounding[0]:
        better = f"; with eps={h * 10.0**best:.0e} they give {slopes[best]:.7g}" if best > 0 and fits else ""
        return (
            f"cancellation: the values are exact to {noise:.0e} only, so differences of the step {h:.0e} are exact to "
            f"{rounding[0]:.0e}{better}"
        )
    finer = best < 0 and fits  # a smaller step agrees
    found = corner(p, h * 10.0 ** (best - 1) if finer else h * 1e-2, noise) or ("" if finer else corner(p, h, noise))
    if found.startswith("a jump"):
        return f"it is at {found}. No derivative exists there"
    if found:
        return (
            f"it is at {found}. The derivative is one of the slopes between, central differences give their mean; "
            "check at another place"
        )
    if best != 0 and fits:
        word = "smaller" if finer else "larger"
        why = ": the function bends, or has a kink or a jump, within the step" if finer else ""
        told = f"eps={h * 10.0**best:.0e}, differences give {slopes[best]:.7g}, which agrees"
        return f"the step: with a {word} one, {told}{why}"
    near = [slopes[k] for k in (-1, 0, 1) if k in slopes]
    if max(near) - min(near) <= 1e-2 * max(map(abs, near)) + 10 * rounding[-1]:
        return (
            f"the derivative is wrong: differences of several steps agree on {slopes[0]:.7g}. Is there a rule that is "
            "wrong, or a value that the function reads and that changes between calls?"
        )
    told = ", ".join([f"{s:.4g}" for s in near])
    return f"the step: differences of the steps {h / 10:.0e}, {h:.0e} and {h * 10:.0e} give {told}"


__all__ = ["Line", "corner", "likely_cause", "noise_of"]
