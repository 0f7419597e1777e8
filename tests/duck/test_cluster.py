"""Gradients on a cluster of processes, one of which is killed: the example, run as the page says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("distributed")
pytest.importorskip("dask.array")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_killed_worker_loses_nothing(tmp_path):
    arguments = ["--workers", "2", "--parts", "4", "--steps", "4", "--kill"]
    environment = {
        **os.environ, "PYTHONPATH": str(ROOT), "AUTODIFF_COMPILER_CACHE": str(tmp_path / "cache"),
        "DASK_TEMPORARY_DIRECTORY": str(tmp_path), "DASK_DISTRIBUTED__WORKER__DAEMON": "True",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "distributed_gradients.py"), *arguments],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 worker was killed, and another one took its place" in done.stdout
    assert "a lazy gradient: Array (8,)" in done.stdout
    assert done.stdout.splitlines()[-1] == "the same numbers as without a cluster"
