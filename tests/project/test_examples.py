"""The examples run, and their results are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from autodiff_compiler.cli import main as cli
from examples import digits, heat_inverse, input_gradients, logistic_regression, newton_step, ode_fit, tape_plots

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


def test_tape_plots(tmp_path: Path) -> None:
    result = tape_plots.main(["--output", str(tmp_path)])
    assert result.derivative_error < 1e-6
    assert result.off_diagonal == 0.0 and result.off_diagonal_normalised > 0.05
    assert result.batch_jacobian_error < 1e-6
    assert np.abs(result.hessian).max() > 1e-3
    np.testing.assert_allclose(result.hessian, result.hessian.T, atol=1e-6)
    for name in ("sigmoid", "jacobian_patches", "hessian"):
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_newton_step(tmp_path: Path) -> None:
    result = newton_step.main(["--output", str(tmp_path), "--steps", "7", "--descent-steps", "30"])
    assert result.newton[0] == pytest.approx(np.log(3.0))
    assert result.gradient_norm < 1e-12
    assert result.newton[-1] < min(result.descent)
    assert np.linalg.eigvalsh(result.hessian).min() > 0
    assert (tmp_path / "newton_step.png").stat().st_size > 1000


def test_input_gradients(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    result = input_gradients.main(["--output", str(tmp_path), "--epochs", "6"])
    assert result.plain[0] > 0.93 and result.regularised[0] > 0.9
    at = input_gradients.STRENGTHS.index(0.1)
    assert result.regularised[at] > result.plain[at] + 0.1
    assert (tmp_path / "input_gradients.png").stat().st_size > 1000


def test_digits_in_both_styles(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    tensorflow, torch = digits.main(["--output", str(tmp_path), "--epochs", "30"]).values()
    assert tensorflow.accuracy > 0.97 and torch.accuracy > 0.97
    np.testing.assert_allclose(tensorflow.losses[:50], torch.losses[:50], rtol=1e-3)
    assert (tmp_path / "digits.png").stat().st_size > 1000
