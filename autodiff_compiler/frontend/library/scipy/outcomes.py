"""What the results of SciPy's solvers have in common: what they say of the run, which has no derivative."""

from __future__ import annotations

from typing import Any


class Outcome:
    """A result, beside which the solver's own stands as `_outcome`."""

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    @property
    def success(self) -> Any:
        return self._outcome.success

    @property
    def status(self) -> Any:
        return self._outcome.status

    @property
    def message(self) -> Any:
        return self._outcome.message

    @property
    def nfev(self) -> Any:
        return self._outcome.nfev

    @property
    def njev(self) -> Any:
        return self._outcome.njev

    @property
    def nit(self) -> Any:
        return self._outcome.nit
