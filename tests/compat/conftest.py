"""The drop-in modules under test: ours, or with --real the systems whose behaviour they copy."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

# The real TensorFlow reports at length what it finds on the machine, and its vector instructions round differently.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the tests of differences on purpose where the real systems run."""
    return True if config.getoption("--real") and collection_path.name.startswith("test_differences") else None


def system(request: pytest.FixtureRequest, name: str) -> ModuleType:
    """The system called name: the real one with --real, otherwise our module in its place."""
    if request.config.getoption("--real"):
        return importlib.import_module(name)
    return importlib.import_module(f"autodiff_compiler.compat.{name}")


@pytest.fixture(scope="session")
def tf(request: pytest.FixtureRequest) -> ModuleType:
    return system(request, "tensorflow")


@pytest.fixture(scope="session")
def torch(request: pytest.FixtureRequest) -> ModuleType:
    return system(request, "torch")


@pytest.fixture(scope="session")
def fresh(request: pytest.FixtureRequest, tf: ModuleType) -> Callable[[str], str]:
    """Runs a program in a process of its own, tf imported, and returns what it printed on both streams together."""

    def run(program: str) -> str:
        start = "import os\nos.environ.update(TF_CPP_MIN_LOG_LEVEL='3', AUTODIFF_COMPILER_CACHE='off')\n"
        if request.config.getoption("--real"):
            start += "import tensorflow as tf\n"
        else:
            start += "from autodiff_compiler.compat import tensorflow as tf\n"
        command = [sys.executable, "-c", start + textwrap.dedent(program)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120)
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run
