"""Attacks on the disk cache: whatever lies in the folder, only what this user stored comes back."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autodiff_compiler.api import cache as cache_module
from autodiff_compiler.api.cache import DiskCache, default_folder, key_of

ROOT = Path(__file__).resolve().parents[2]
TEXT = "def f_grad(x):\n    return 2.0 * x  # Größe\n"
KEY = key_of("some source", "some signature")

pytestmark = pytest.mark.skipif(not cache_module._SUPPORTED, reason="no disk cache on this system")


@pytest.fixture
def cache(tmp_path: Path) -> DiskCache:
    return DiskCache(str(tmp_path / "deep" / "cache"))


@pytest.fixture
def entry(cache: DiskCache) -> Path:
    cache.store(KEY, TEXT)
    assert cache.load(KEY) == TEXT
    (path,) = Path(cache.folder).iterdir()
    return path


def test_round_trip_and_modes(cache: DiskCache) -> None:
    assert cache.load(KEY) is None
    cache.store(KEY, TEXT)
    assert cache.load(KEY) == TEXT
    assert cache.load(key_of("other")) is None
    assert os.stat(cache.folder).st_mode & 0o777 == 0o700
    (path,) = Path(cache.folder).iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "\n", "a", "\r\n\x00\n", "é" * 1000])
def test_any_text(cache: DiskCache, text: str) -> None:
    cache.store(KEY, text)
    assert cache.load(KEY) == text


def test_text_that_is_no_unicode_is_not_stored(cache: DiskCache) -> None:
    cache.store(KEY, "\ud800")
    assert cache.load(KEY) is None


def test_keys_tell_parts_apart() -> None:
    assert len({key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("abc", ""), key_of("", "abc")}) == 5
    assert key_of("ab", "c") == key_of("ab", "c")


def test_key_depends_on_the_package_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_surroundings", lambda: "another compiler")
    assert key_of("some source", "some signature") != KEY


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "A" * 64, "g" * 64, "0" * 63, "/" * 64])
def test_a_key_is_never_a_path(cache: DiskCache, key: str) -> None:
    with pytest.raises(ValueError, match="not a key"):
        cache.load(key)
    with pytest.raises(ValueError, match="not a key"):
        cache.store(key, TEXT)


@pytest.mark.parametrize("length", [0, 1, 30, 100, 160, -1])
def test_truncated(cache: DiskCache, entry: Path, length: int) -> None:
    entry.write_bytes(entry.read_bytes()[:length])
    assert cache.load(KEY) is None
    cache.store(KEY, TEXT)
    assert cache.load(KEY) == TEXT


@pytest.mark.parametrize(
    "garbage", [b"\x00" * 500, b"\xff\xfe", b"import os\n", b"# autodiff_compiler cache entry 1\nx"]
)
def test_garbage(cache: DiskCache, entry: Path, garbage: bytes) -> None:
    entry.write_bytes(garbage)
    assert cache.load(KEY) is None


def test_one_changed_byte_anywhere(cache: DiskCache, entry: Path) -> None:
    data = entry.read_bytes()
    for position in range(len(data)):
        entry.write_bytes(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
        assert cache.load(KEY) is None
    entry.write_bytes(data + b"\n")
    assert cache.load(KEY) is None


def test_renamed_entry(cache: DiskCache, entry: Path) -> None:
    other = key_of("other")
    entry.rename(entry.with_name(other + ".entry"))
    assert cache.load(other) is None


def test_huge_entry(cache: DiskCache, entry: Path) -> None:
    with entry.open("r+b") as file:
        file.truncate(1 << 32)  # sparse
    assert cache.load(KEY) is None


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_file_that_others_may_write(cache: DiskCache, entry: Path, mode: int) -> None:
    entry.chmod(mode)
    assert cache.load(KEY) is None
    cache.store(KEY, TEXT)  # replaced, not written into
    assert cache.load(KEY) == TEXT


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_folder_that_others_may_write(cache: DiskCache, entry: Path, mode: int) -> None:
    entry.parent.chmod(mode)
    assert cache.load(KEY) is None
    other = key_of("other")
    cache.store(other, TEXT)
    assert not (entry.parent / (other + ".entry")).exists()


def test_foreign_owner_simulated(cache: DiskCache, entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
    assert cache.load(KEY) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_foreign_owner(cache: DiskCache, entry: Path) -> None:
    os.chown(entry, 12345, 12345)
    assert cache.load(KEY) is None
    cache.store(KEY, TEXT)
    assert cache.load(KEY) == TEXT
    os.chown(entry.parent, 12345, 12345)
    assert cache.load(KEY) is None


def test_linked_file(cache: DiskCache, entry: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    entry.rename(target)
    entry.symlink_to(target)
    assert cache.load(KEY) is None
    cache.store(KEY, "new")
    assert cache.load(KEY) == "new" and not entry.is_symlink()
    assert target.read_text().endswith(TEXT)


def test_linked_folder(cache: DiskCache, entry: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(entry.parent)
    assert DiskCache(str(link)).load(KEY) is None


@pytest.mark.parametrize("make", ["fifo", "folder", "dangling"])
def test_something_else_in_the_place(cache: DiskCache, entry: Path, make: str) -> None:
    entry.unlink()
    if make == "fifo":
        os.mkfifo(entry)
    elif make == "folder":
        entry.mkdir()
    else:
        entry.symlink_to("nowhere")
    assert cache.load(KEY) is None  # and it does not hang
    cache.store(KEY, TEXT)
    assert cache.load(KEY) == (None if make == "folder" else TEXT)


def test_folder_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "nul\0l"):
        cache = DiskCache(str(folder))
        cache.store(KEY, TEXT)
        assert cache.load(KEY) is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_folder(cache: DiskCache, entry: Path) -> None:
    entry.parent.chmod(0o500)
    cache.store(key_of("other"), TEXT)
    assert cache.load(key_of("other")) is None
    assert cache.load(KEY) == TEXT
    entry.parent.chmod(0o700)


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_disk_that_takes_nothing(cache: DiskCache, entry: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise OSError(code, "simulated")

    monkeypatch.setattr(cache_module, "_write", fail)
    other = key_of("other")
    cache.store(other, TEXT)
    assert cache.load(other) is None
    assert cache.load(KEY) == TEXT


def test_full_disk_leaves_no_temporary_file(cache: DiskCache, entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(directory: int, name: str, data: bytes) -> None:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=directory)
        os.write(descriptor, data[: len(data) // 2])
        os.close(descriptor)
        raise OSError(errno.ENOSPC, "simulated")

    monkeypatch.setattr(cache_module, "_write", half)
    cache.store(KEY, "new")
    assert cache.load(KEY) == TEXT
    assert list(entry.parent.iterdir()) == [entry]


def test_no_descriptor_is_left_open(cache: DiskCache, entry: Path) -> None:
    folder = f"/proc/{os.getpid()}/fd"
    if not os.path.isdir(folder):
        pytest.skip("no /proc")
    before = len(os.listdir(folder))
    for k in range(20):
        cache.store(key_of(str(k)), TEXT)
        cache.load(key_of(str(k)))
        cache.load(key_of("absent"))
    entry.chmod(0o666)
    cache.load(KEY)
    entry.parent.chmod(0o777)
    cache.load(KEY)
    assert len(os.listdir(folder)) == before


WORKER = """
import sys
from autodiff_compiler.api.cache import DiskCache
cache = DiskCache(sys.argv[1])
keys = sys.argv[2].split(",")
for k in range(60):
    key = keys[k % len(keys)]
    cache.store(key, (key + "\\n") * 2000)
    got = cache.load(key)
    assert got in (None, (key + "\\n") * 2000), got[:100]
    if k % 20 == 0:
        cache.prune()
print("fine")
"""


def start_worker(folder: str, keys: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", WORKER, folder, ",".join(keys)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_sixteen_processes_at_once(cache: DiskCache) -> None:
    keys = [key_of(str(k)) for k in range(5)]
    workers = [start_worker(cache.folder, keys) for _ in range(16)]
    for worker in workers:
        out, err = worker.communicate(timeout=120)
        assert out == "fine\n", err
    assert sorted(p.name for p in Path(cache.folder).iterdir()) == sorted(k + ".entry" for k in keys)
    for key in keys:
        assert cache.load(key) == (key + "\n") * 2000


def test_killed_while_writing(cache: DiskCache) -> None:
    keys = [key_of(str(k)) for k in range(3)]
    for delay in (0.0, 0.003, 0.01):
        worker = start_worker(cache.folder, keys)
        limit = time.monotonic() + 60
        while not (os.path.isdir(cache.folder) and os.listdir(cache.folder)) and time.monotonic() < limit:
            time.sleep(0.001)
        time.sleep(delay)
        worker.send_signal(signal.SIGKILL)
        worker.communicate(timeout=60)
        for key in keys:
            assert cache.load(key) in (None, (key + "\n") * 2000)
    for key in keys:
        cache.store(key, TEXT)
        assert cache.load(key) == TEXT


def test_prune_removes_the_oldest_and_what_was_left_behind(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path / "cache"), max_entries=8)
    keys = ["f" * 62 + f"{k:02x}" for k in range(12)]  # none of those at which storing prunes by itself
    for age, key in enumerate(keys):
        cache.store(key, TEXT)
        os.utime(tmp_path / "cache" / (key + ".entry"), (age + 1.0, age + 1.0))
    stale, recent, foreign = (tmp_path / "cache" / name for name in (".x.tmp", ".y.tmp", "notes.txt"))
    for path in (stale, recent, foreign):
        path.write_text("")
    os.utime(stale, (1.0, 1.0))
    os.utime(foreign, (1.0, 1.0))
    cache.prune()
    assert [key for key in keys if cache.load(key)] == keys[-6:]
    assert not stale.exists() and recent.exists() and foreign.exists()


def test_prune_by_size(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path / "cache"), max_bytes=50_000)
    for k in range(200):
        cache.store(key_of(str(k)), "x" * 1000)
    cache.prune()
    assert sum(p.stat().st_size for p in (tmp_path / "cache").iterdir()) <= 50_000


def test_reading_an_old_entry_makes_it_recent(cache: DiskCache, entry: Path) -> None:
    os.utime(entry, (1.0, 1.0))
    assert cache.load(KEY) == TEXT
    assert entry.stat().st_mtime > 1e9


@pytest.mark.parametrize("value", ["off", "0", "OFF", "no", "No", "false", "FALSE", "none", "null", "", " ", " off "])
def test_turned_off(monkeypatch: pytest.MonkeyPatch, value: str, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", value)
    cache = DiskCache()
    cache.store(KEY, TEXT)
    assert cache.load(KEY) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", ["on", "1", "True", "YES"])
def test_turned_on(monkeypatch: pytest.MonkeyPatch, value: str, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", value)
    assert default_folder() == str(tmp_path / "autodiff_compiler")


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AUTODIFF_COMPILER_CACHE", str(tmp_path / "mine"))
    assert default_folder() == str(tmp_path / "mine")
    monkeypatch.delenv("AUTODIFF_COMPILER_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert default_folder() == str(tmp_path / "xdg" / "autodiff_compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == str(tmp_path / ".cache" / "autodiff_compiler")
