"""The examples run, and their results are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from autodiff_compiler.cli import main as cli
from examples import heat_inverse, logistic_regression, ode_fit

EXAMPLES = Path(heat_inverse.__file__).parent


def test_logistic_regression(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    result = logistic_regression.main(["--output", str(tmp_path), "--steps", "80"])
    assert result.losses[0] == pytest.approx(np.log(2.0))
    assert result.losses[-1] < 0.12
    assert result.accuracy > 0.94
    assert (tmp_path / "logistic_regression.png").stat().st_size > 1000


def test_ode_fit(tmp_path: Path) -> None:
    result = ode_fit.main(["--output", str(tmp_path), "--count", "12"])
    np.testing.assert_allclose(result.theta, ode_fit.TRUE, rtol=0.05)
    assert result.last_loss < 0.01 * result.first_loss
    assert (tmp_path / "ode_fit.png").stat().st_size > 1000


def test_heat_inverse(tmp_path: Path) -> None:
    arguments = ["--size", "20", "--steps", "12", "--iterations", "60"]
    result = heat_inverse.main(["--output", str(tmp_path), *arguments])
    assert result.last_loss < 0.05 * result.first_loss
    assert result.relative_error < 0.3
    assert (tmp_path / "heat_inverse.png").stat().st_size > 1000


@pytest.mark.parametrize("name", ["logistic_regression", "ode_fit", "heat_inverse"])
def test_their_losses_pass_the_check(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "logistic_regression":
        pytest.importorskip("sklearn")
    assert cli(["check", f"{EXAMPLES / name}.py:loss", "--entries", "20"]) == 0
    assert "agrees" in capsys.readouterr().out
