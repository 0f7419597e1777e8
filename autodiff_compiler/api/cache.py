"""The disk cache of emitted source.

What is in it will be executed, so an entry is used only if nobody else can have written it: the folder and the file
belong to this user, are no links, and no one else may write to them; the first line holds the hash of the rest.
Anything else is as good as absent. Nothing here raises for what the disk does: without a usable folder there is no
cache.

``AUTODIFF_COMPILER_CACHE`` names another folder, or turns the cache off: ``off``, ``no``, ``false``, ``none``, ``0``,
or nothing. ``on``, ``yes``, ``true`` and ``1`` mean the usual folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES

import numpy as np

from ..errors import is_interruption

VARIABLE = "AUTODIFF_COMPILER_CACHE"
_MAGIC = "# autodiff_compiler cache entry 1"
_SUFFIX = ".entry"
_LARGEST = 1 << 24  # bytes in one entry: more than any program that could be compiled in reasonable time
_OFF = frozenset(["", "off", "no", "false", "none", "null", "disabled", "0"])
_ON = frozenset(["on", "yes", "true", "enabled", "1"])
# Without these the checks cannot be made, and there is no cache (Windows).
_SUPPORTED = (
    hasattr(os, "geteuid") and hasattr(os, "O_NOFOLLOW") and {os.open, os.unlink, os.rename} <= os.supports_dir_fd
)


def default_folder() -> str | None:
    """The folder that the environment asks for; None if it turns the cache off or there is no home."""
    asked = os.environ.get(VARIABLE, "on").strip()
    if asked.lower() in _OFF:
        return None
    if asked.lower() not in _ON:
        return os.path.abspath(os.path.expanduser(asked))
    # The XDG specification says to ignore a relative path.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "autodiff_compiler") if os.path.isabs(base) else None


@lru_cache(maxsize=1)
def _surroundings() -> str | None:
    """What every entry depends on: the versions, and the files of this package (it may be a checkout under work). None
    if they cannot be told."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    facts = [sys.implementation.cache_tag or sys.implementation.name, sys.version, np.__version__]
    facts.append(str(getattr(sys.modules.get("autodiff_compiler"), "__version__", "")))
    files = _files(package) if os.path.isdir(package) else _archived(package)
    return digest(*facts, *files) if files else None


def _files(package: str) -> list[str]:
    facts = []
    for folder, inner, names in os.walk(package):
        inner[:] = sorted(name for name in inner if name != "__pycache__")
        for name in sorted(names):
            # Compiled modules may stand alone, without their source.
            if name.endswith((".py", ".pyc", *EXTENSION_SUFFIXES)):
                path = os.path.join(folder, name)
                info = os.stat(path)
                facts.append(f"{path[len(package) :]} {info.st_size} {info.st_mtime_ns} {info.st_ctime_ns}")
    return facts


def _archived(package: str) -> list[str]:
    """The files of a package that was imported from a zip archive."""
    archive = getattr(getattr(sys.modules.get("autodiff_compiler"), "__loader__", None), "archive", None)
    if not isinstance(archive, str):
        return []
    import zipfile

    inner = os.path.relpath(package, archive).replace(os.sep, "/")
    try:
        with zipfile.ZipFile(archive) as file:
            members = sorted(file.infolist(), key=lambda info: info.filename)
    except zipfile.BadZipFile:
        return []
    return [f"{m.filename} {m.file_size} {m.CRC}" for m in members if m.filename.startswith(inner + "/")]


def digest(*parts: str) -> str:
    """A hash of texts. With the length in front of each, ("ab", "c") and ("a", "bc") differ."""
    out = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        out.update(b"%d:" % len(data))
        out.update(data)
    return out.hexdigest()


def key_of(*parts: str) -> str:
    """The name of the entry that depends on these texts, on the versions in use, and on this package's source."""
    about = _surroundings()
    if about is None:
        raise OSError("the files of this package cannot be told")
    # SciPy may be imported at any time, and code that calls it is for one version of it.
    scipy = str(getattr(sys.modules.get("scipy"), "__version__", ""))
    return digest(about, scipy, *parts)


def _private(info: os.stat_result) -> bool:
    """Only this user can have written it."""
    return info.st_uid == os.geteuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class DiskCache:
    """Texts under keys, in a folder that is private to the user."""

    def __init__(self, folder: str | None = None, max_bytes: int = 1 << 26, max_entries: int = 4096):
        self.folder = default_folder() if folder is None else folder
        self.max_bytes = max_bytes
        self.max_entries = max_entries
        if not _SUPPORTED:
            self.folder = None

    def load(self, key: str) -> str | None:
        """The text under the key, or None."""
        name = _name(key)
        directory = self._open_folder(create=False)
        if directory is None:
            return None
        try:
            data = _read(directory, name)
        except OSError as error:
            if is_interruption(error):
                raise
            return None
        finally:
            os.close(directory)
        head, newline, body = data.partition(b"\n")
        if not newline or head != _head(key, body):
            return None
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def store(self, key: str, text: str) -> None:
        """Put the text under the key: all of it or nothing, and in one step for whoever reads at the same time."""
        name = _name(key)
        try:
            body = text.encode("utf-8")
        except UnicodeEncodeError:
            return
        if len(body) > _LARGEST // 2:
            return
        directory = self._open_folder(create=True)
        if directory is None:
            return
        try:
            temporary = f".{key}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
            try:
                _write(directory, temporary, _head(key, body) + b"\n" + body)
                os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
            except BaseException:
                _remove(directory, temporary)
                raise
            if key < "04":  # one store in 64, chosen by the key, so that the folder is seldom listed
                self._prune(directory)
        except OSError as error:
            if is_interruption(error):
                raise
        finally:
            os.close(directory)

    def drop(self, key: str) -> None:
        """Remove the entry under the key: what it holds is of no use to anyone."""
        directory = self._open_folder(create=False)
        if directory is not None:
            _remove(directory, _name(key))
            os.close(directory)

    def prune(self) -> None:
        """Remove the oldest entries until the rest is well within the bounds, and what killed processes left behind."""
        directory = self._open_folder(create=False)
        if directory is None:
            return
        try:
            self._prune(directory)
        except OSError as error:
            if is_interruption(error):
                raise
        finally:
            os.close(directory)

    def _open_folder(self, create: bool) -> int | None:
        """A descriptor of the folder, through which all files are reached: it stays the folder that was checked."""
        if self.folder is None:
            return None
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            try:
                directory = os.open(self.folder, flags)
            except FileNotFoundError:
                if not create:
                    return None
                os.makedirs(os.path.dirname(self.folder), mode=0o700, exist_ok=True)
                try:
                    os.mkdir(self.folder, 0o700)
                except FileExistsError:
                    pass  # another process was faster
                directory = os.open(self.folder, flags)
        except (OSError, ValueError) as error:  # a ValueError: a null byte in the path
            if is_interruption(error):
                raise
            return None
        if _private(os.fstat(directory)):
            return directory
        os.close(directory)
        return None

    def _prune(self, directory: int) -> None:
        now = time.time()
        entries = []
        for name in os.listdir(directory):
            # Only what looks like ours: somebody may point the variable at a folder with other things in it.
            temporary = name.startswith(".") and name.endswith(".tmp")
            if not temporary and not (name.endswith(_SUFFIX) and len(name) == 64 + len(_SUFFIX)):
                continue
            try:
                info = os.stat(name, dir_fd=directory, follow_symlinks=False)
            except OSError as error:
                if is_interruption(error):
                    raise
                continue  # another process removed it
            if temporary:
                if now - info.st_mtime > 3600:
                    _remove(directory, name)
            else:
                entries.append((info.st_mtime, info.st_size, name))
        total = sum(size for _, size, _ in entries)
        if total <= self.max_bytes and len(entries) <= self.max_entries:
            return
        entries.sort()
        left = len(entries)
        for _, size, name in entries:
            if total <= self.max_bytes * 3 // 4 and left <= self.max_entries * 3 // 4:
                break
            _remove(directory, name)
            total -= size
            left -= 1


class MachineCode:
    """What Numba made of programs of loops, under keys that depend on texts."""

    def load(self, *parts: str) -> str | None:
        return None if _surroundings() is None else DiskCache().load(key_of(*parts))

    def store(self, text: str, *parts: str) -> None:
        if _surroundings() is not None:
            DiskCache().store(key_of(*parts), text)


def keep_machine_code() -> None:
    """Programs of loops find here what Numba made of them."""
    from ..native import support

    support.DISK[:] = [MachineCode()]


def _name(key: str) -> str:
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise ValueError(f"not a key: {key!r}")  # it becomes part of a path
    return key + _SUFFIX


def _head(key: str, body: bytes) -> bytes:
    # With the key in it, an entry that was renamed is not taken for another.
    return f"{_MAGIC} {key} {hashlib.sha256(body).hexdigest()}".encode()


def _read(directory: int, name: str) -> bytes:
    # Not blocking: the name may be a pipe that somebody put there.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    descriptor = os.open(name, flags, dir_fd=directory)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode) or not _private(info) or info.st_size > _LARGEST:
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(_LARGEST + 1)
        if time.time() - info.st_mtime > 86400:
            try:
                os.utime(descriptor)  # it is in use: among the last to be pruned
            except OSError as error:
                if is_interruption(error):
                    raise
        return data
    finally:
        os.close(descriptor)


def _write(directory: int, name: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(name, flags, 0o600, dir_fd=directory)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def _remove(directory: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except OSError as error:
        if is_interruption(error):
            raise
