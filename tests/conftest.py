"""Command line options of the tests, and the environment that each test runs in."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator

import pytest

# Tests must neither read what other versions left in the user's cache nor leave anything there. Tests of the cache set
# their own.
os.environ["AUTODIFF_COMPILER_CACHE"] = "off"
# What is lowered is compared with a run of the function.
os.environ["AUTODIFF_COMPILER_CHECK"] = "1"
# Programs of loops run as the Python code that they are: a test takes milliseconds, and needs no Numba.
# `tests/native/test_machine.py` compiles them in a process of its own.
os.environ["AUTODIFF_COMPILER_NATIVE"] = "python"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--programs", type=int, default=100, help="how many random programs to check (default 100)")
    parser.addoption("--part", metavar="K/N", help="only each N-th test, from number K on: 0/4 to 3/4 are all of them")
    parser.addoption("--first-program", type=int, default=0, help="the seed of the first random program")
    parser.addoption(
        "--real", action="store_true", help="test the real TensorFlow or PyTorch instead of our drop-in modules"
    )
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files with what is emitted now")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose a part of the tests by their names, so that a test is in the same part on each machine."""
    given = config.getoption("--part")
    if not given:
        return
    number, parts = map(int, given.split("/"))
    if not 0 <= number < parts:
        raise pytest.UsageError(f"--part {given}: there are the parts 0/{parts} to {parts - 1}/{parts}")
    chosen = [item for item in items if zlib.crc32(item.nodeid.encode()) % parts == number]
    left_out = [item for item in items if zlib.crc32(item.nodeid.encode()) % parts != number]
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen


@pytest.fixture(autouse=True)
def rules_of_one_test() -> Iterator[None]:
    """A process that has registered rules keeps nothing on disk. Rules of one test do not count for the next."""
    from autodiff_compiler.ir.core import RULES_OF_USERS

    before = list(RULES_OF_USERS)
    yield
    RULES_OF_USERS[:] = before


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
