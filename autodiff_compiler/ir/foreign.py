"""Which callables are known to keep nothing of their arguments.

Nothing is known of other callables. A value that enters one may come out of it at any later time, or out of any object
that it can reach. See `analysis.taint`.
"""

from __future__ import annotations

import ast
import collections
import datetime
import functools
import inspect
import io
import sys
import textwrap
import types
import weakref
from typing import Any

import numpy as np

# Instances of these never change.
_IMMUTABLE = frozenset(
    {
        bool, int, float, complex, str, bytes, tuple, frozenset, range, slice, type(None), np.dtype, datetime.date,
        datetime.datetime, datetime.time, datetime.timedelta, types.CodeType,
    }
)  # fmt: skip
# Classes of modules that take long to import: only a program that has imported them has instances. See `loaded`.
_IMMUTABLE_IF_LOADED = (("decimal", "Decimal"), ("fractions", "Fraction"))
GENERATOR = ("numpy.random._generator", "Generator")
RANDOM_STATE = ("numpy.random.mtrand", "RandomState")
_RANDOM = (GENERATOR, RANDOM_STATE, ("numpy.random.bit_generator", "BitGenerator"), ("random", "Random"))
_NUMBER_MODULES = frozenset({"numpy", "scipy", "bottleneck", "math", "cmath", "builtins", "_operator", "operator"})
# By module: functions that read their arguments and leave them alone, although what they write outlives the call.
_WRITERS = {
    "numpy": frozenset({"save", "savez", "savez_compressed", "savetxt"}),
    **dict.fromkeys(("json", "pickle", "_pickle", "yaml"), frozenset({"dump", "dumps", "safe_dump"})),
}
# Modules of functions that are called for their effects, and leave their arguments alone.
EFFECTS = frozenset({"logging", "time", "warnings", "_warnings"})
# Of these, what reads text. `re.sub` may call a function.
_READERS = {
    "re": frozenset({"match", "search", "fullmatch", "split", "findall", "finditer", "compile", "escape"}),
    "ast": frozenset({"parse", "literal_eval", "dump", "unparse"}),
    "_bisect": frozenset({"bisect", "bisect_left", "bisect_right"}),
}
_PATTERNS = (("re", "Pattern"), ("re", "Match"))
# Functions of these modules that write or read what outlives the call.
_KEEPERS = frozenset(
    {
        "load", "save", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt", "fromfile", "fromregex",
        "memmap", "open_memmap", "seterrcall", "nditer", "nested_iters", "open", "exec", "eval", "setattr", "delattr",
        "vars", "globals", "locals", "iter", "next", "map", "filter", "zip", "enumerate", "reversed", "memoryview",
        "bytearray", "super", "property", "object", "list", "dict", "set", "compile", "input", "copyto", "put", "place",
        "putmask", "vectorize", "frompyfunc", "setitem", "delitem", "_from_iterable", "shuffle", "frombuffer",
        "setbufsize", "methodcaller", "call", "replace",
    }
)  # fmt: skip
# Libraries of tables, files, text and the system. No code of them is compiled: they are called, and what they give is
# observed.
CALLED = frozenset(
    {
        "pandas", "xarray", "polars", "tqdm", "yaml", "h5py", "requests", "ast", "argparse", "base64", "binascii",
        "bz2", "calendar", "codecs", "codeop", "configparser", "csv", "ctypes", "datetime", "_pydatetime", "dbm",
        "difflib", "email", "encodings", "errno", "fcntl", "filecmp", "fileinput", "fnmatch", "getopt", "getpass",
        "gettext", "glob", "gzip", "hashlib", "hmac", "html", "http", "importlib", "io", "_io", "ipaddress", "json",
        "linecache", "locale", "lzma", "marshal", "mimetypes", "mmap", "multiprocessing", "netrc", "ntpath",
        "optparse", "os", "pathlib", "pickle", "_pickle", "pkgutil", "platform", "plistlib", "posix", "posixpath",
        "pprint", "pydoc", "re", "resource", "sched", "secrets", "select", "shelve", "shlex", "shutil", "signal",
        "site", "smtplib", "socket", "sqlite3", "ssl", "stat", "stringprep", "struct", "_struct", "subprocess",
        "sysconfig", "tarfile", "tempfile", "textwrap", "tokenize", "tomllib", "unicodedata", "urllib", "uuid",
        "xml", "xmlrpc", "zipfile", "zlib", "zoneinfo", "_csv", "_json", "_sqlite3", "_datetime", "_hashlib",
        "_sre", "genericpath", "importlib_metadata", "importlib_resources", "pkg_resources", "zipimport",
    }
)  # fmt: skip
# Of these, what runs no code but its own and that of what it is given.
_OWN_CODE = frozenset(
    {
        "ast", "base64", "binascii", "calendar", "csv", "_csv", "datetime", "_pydatetime", "difflib", "fnmatch",
        "genericpath", "glob", "hashlib", "_hashlib", "html", "io", "_io", "json", "_json", "ntpath", "posixpath", "re",
        "stat", "stringprep", "struct", "_struct", "textwrap", "tokenize", "tomllib", "unicodedata", "zlib",
    }
)  # fmt: skip


def module_of(obj: Any) -> str:
    """The module where a function is written. What `functools.wraps` made has the `__module__` of another function."""
    if isinstance(obj, types.FunctionType):
        return str(obj.__globals__.get("__name__") or "?")
    return str(getattr(obj, "__module__", None) or type(obj).__module__)


def root_module(obj: Any) -> str:
    return module_of(obj).split(".")[0]


def loaded(*classes: tuple[str, str]) -> tuple[type, ...]:
    """Those of the classes, each given by its module and its name, whose modules are imported."""
    found = [getattr(sys.modules.get(module), name, None) for module, name in classes]
    return tuple([cls for cls in found if isinstance(cls, type)])


_COMMON: dict[tuple[Any, ...], type] = {}  # by module, name and fields


def common_class(cls: Any) -> Any:
    """One class for the named tuples of the same name and fields that a library of `CALLED` makes anew in each call, as
    `itertuples` of pandas does. Any other class is itself.

    >>> import collections
    >>> rows = [collections.namedtuple("Row", "x y", module="pandas.core") for _ in range(2)]
    >>> common_class(rows[0]) is common_class(rows[1]), common_class(rows[0])._fields
    (True, ('x', 'y'))
    >>> common_class(tuple) is tuple
    True
    """
    module, name, fields = cls.__module__, cls.__name__, getattr(cls, "_fields", None)
    if module.split(".")[0] not in CALLED or cls.__bases__ != (tuple,) or type(fields) is not tuple:
        return cls
    if getattr(sys.modules.get(module), name, None) is cls or cls._field_defaults:
        return cls
    key = (module, name, fields)
    if key not in _COMMON:
        _COMMON[key] = collections.namedtuple(name, fields, rename=True, module=module)
    made = _COMMON[key]
    return made if made._fields == fields and _attributes(made) == _attributes(cls) else cls  # type: ignore[attr-defined]


def _attributes(cls: type) -> dict[str, Any]:
    """What a class of named tuples has, each method by its code. All have the same, but for `__new__`."""
    codes = {name: getattr(getattr(x, "__func__", x), "__code__", None) for name, x in vars(cls).items()}
    return {**codes, "__new__": getattr(codes["__new__"], "co_code", None)}


def is_common(cls: Any) -> bool:
    """The class stands for several, see `common_class`."""
    return any(cls is known for known in _COMMON.values())


def immutable_classes() -> frozenset[Any]:
    """The classes whose instances never change."""
    return _IMMUTABLE.union(loaded(*_IMMUTABLE_IF_LOADED))


def is_inert(fn: Any) -> bool:
    """The callable keeps nothing of its arguments and does not write to them.

    Its result depends on the arguments, on a clock, or on random numbers.
    """
    if isinstance(fn, np.ufunc):
        return not all(set(signature) <= set("O->") for signature in fn.types)  # made by np.frompyfunc
    name = getattr(fn, "__name__", "")
    owner = getattr(fn, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        if isinstance(owner, type):
            return owner in immutable_classes()
        if isinstance(owner, loaded(*_RANDOM)):
            return name not in _KEEPERS
        if isinstance(owner, loaded(*_PATTERNS)):
            return name not in ("sub", "subn")
        return type(owner) in immutable_classes() or (
            isinstance(owner, io.TextIOWrapper) and name in ("write", "flush")
        )
    holder = getattr(fn, "__objclass__", None)
    if holder is not None:
        return holder in immutable_classes()
    root = root_module(fn)
    if type(fn).__name__ == "fortran":
        return _only_reads(fn, name)
    if isinstance(fn, type):
        plain = root in ("numpy", "math", "builtins") and name not in _KEEPERS and _is_plain(fn)
        return plain or fn in immutable_classes()
    if root in EFFECTS or name in _READERS.get(root, ()):
        return True
    if isinstance(fn, np.vectorize):
        return False
    return root in _NUMBER_MODULES and name not in _KEEPERS


def _only_reads(fn: Any, name: str) -> bool:
    """A routine made by f2py: one of SciPy's, and not of those of BLAS that always write to an argument."""
    name = name.rpartition(" ")[2]
    homes = [sys.modules.get(f"scipy.linalg.{module}") for module in ("_fblas", "_flapack")]
    return any(getattr(home, name, None) is fn for home in homes) and not name.endswith(
        ("scal", "axpy", "swap", "copy")
    )


def leaves_alone(fn: Any) -> bool:
    """The callable does not write to its arguments."""
    return is_inert(fn) or getattr(fn, "__name__", "") in _WRITERS.get(root_module(fn), ())


def runs_own_code(fn: Any) -> bool:
    """A function of the standard library that calls nothing but what it is given. So it changes no other object of the
    program.

    >>> import json
    >>> runs_own_code(json.loads), runs_own_code(json.JSONEncoder().encode), runs_own_code(exec)
    (True, False, False)
    """
    made = getattr(fn, "__self__", None)
    plain = isinstance(fn, (types.FunctionType, type)) or made is None or isinstance(made, types.ModuleType)
    return plain and root_module(fn) in _OWN_CODE


def is_weak(fn: Any) -> bool:
    """It makes a weak reference, which does nothing to the object."""
    return any(fn is made for made in (weakref.ref, weakref.proxy))


def _is_plain(cls: type) -> bool:
    """A class of numbers, exceptions, or facts about numbers."""
    return issubclass(cls, (np.generic, BaseException, np.dtype, np.finfo, np.iinfo, type)) or cls is type


def keeps_only(cls: Any) -> bool:
    """Making an exception of the class only keeps what it is given: each ``__init__`` calls that of a base, and stores
    names and constants."""
    return _keeps_only(cls)


@functools.cache
def _keeps_only(cls: type) -> bool:
    own = [c for c in cls.__mro__ if c.__module__ != "builtins"]
    if type(cls) is not type or any({"__setattr__", "__new__"} & vars(c).keys() for c in own):
        return False
    try:
        texts = [inspect.getsource(vars(c)["__init__"]) for c in own if "__init__" in vars(c)]
        trees = [ast.parse(textwrap.dedent(text)).body[0] for text in texts]
    except (OSError, TypeError, SyntaxError):
        return False
    bases = {c.__name__ for c in cls.__mro__}
    return all(isinstance(t, ast.FunctionDef) and all(_keeps(stmt, bases) for stmt in t.body) for t in trees)


def _keeps(stmt: ast.stmt, bases: set[str]) -> bool:
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call):
        call = stmt.value
        given = [x.value if isinstance(x, ast.Starred) else x for x in (*call.args, *[k.value for k in call.keywords])]
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "__init__":
            return False
        of_base = ast.unparse(call.func.value) in {"super()", *bases}
        return of_base and all(isinstance(x, (ast.Name, ast.Constant)) for x in given)
    if isinstance(stmt, ast.Assign):
        holders = [t.value if isinstance(t, ast.Attribute) else None for t in stmt.targets]
        of_self = all(isinstance(h, ast.Name) and h.id == "self" for h in holders)
        return of_self and isinstance(stmt.value, (ast.Name, ast.Constant))
    return isinstance(stmt, ast.Pass) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant))


def is_opaque_function(obj: Any) -> bool:
    """A Python function, or what calls one: it may read and write whatever it finds."""
    return isinstance(obj, (types.FunctionType, types.MethodType)) or (
        callable(obj) and not isinstance(obj, type) and not is_inert(obj)
    )


__all__ = [
    "CALLED",
    "EFFECTS",
    "GENERATOR",
    "RANDOM_STATE",
    "common_class",
    "immutable_classes",
    "is_common",
    "is_inert",
    "is_opaque_function",
    "is_weak",
    "keeps_only",
    "leaves_alone",
    "loaded",
    "root_module",
    "runs_own_code",
]
