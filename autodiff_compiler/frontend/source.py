"""From a function object to its syntax tree, with the columns and lines of the user's file."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import linecache
import re
import sys
import types
from collections.abc import Iterator
from typing import Any, TypeVar

from ..errors import SourceUnavailableError, is_interruption
from ..ir.core import Loc
from ..late import Pattern
from ..locks import Lock
from ..made import FUTURE, MADE, TYPE_PARAMS
from ..records import record
from .cells import is_of_a_cell, texts_under_magics
from .scopes import FunctionNode, nodes_of, scope_of, statements_in

Made = TypeVar("Made", bound=ast.AST)


@record
class Source:
    """The syntax tree of a function, and the file it stands in.

    lines: those of the file when the function was read; it may have been edited since.
    """

    node: FunctionNode
    file: str
    text: str
    lines: list[str]


_IMPORT = Pattern(r"^([ \t]*)(?:from\s+[\w.]+\s+)?import\s+(\([^)]*\)|.*)", re.MULTILINE)


_tables = Lock()  # threads may compile at once; each step on these tables is done whole
_cache: dict[tuple[types.CodeType, str], Source] = {}  # equal code may stand in several files
_read_of: dict[str, list[FunctionNode]] = {}  # what was read of each file, and is not in the next table yet
# By file and line, the statements that the line belongs to, each with the function that was read.
_statements: dict[str, dict[int, list[tuple[Any, FunctionNode]]]] = {}
_lines_of: dict[str, list[str]] = {}  # the text of each file that these statements stand in
_BLOCKS = ("orelse", "finalbody", "handlers", "cases")
_modules: dict[str, tuple[list[str], ast.Module]] = {}


def source_of(fn: types.FunctionType, loc: Loc | None = None) -> Source:
    """The source of a Python function; `loc` is the call that needs it, for the error."""
    code = fn.__code__
    found = _cache.get((code, code.co_filename))
    if found is None and code in MADE:
        made = MADE[code]
        found = _cache[code, code.co_filename] = Source(made.tree, made.file, ast.unparse(made.tree), [])
    if code in MADE and found is not None:
        return found
    read = found if found is not None else _read(fn, loc)
    with _tables:
        return _kept(read, code)


def _kept(found: Source, code: types.CodeType) -> Source:
    """The source of a code, in the tables: the one that is there, or this one."""
    key = code, code.co_filename
    if key not in _cache:
        if len(_cache) > 4096:
            _cache.clear()
            _read_of.clear()
            _statements.clear()
        _cache[key] = found
        _read_of.setdefault(found.file, []).append(found.node)
    found = _cache[key]
    if _lines_of.get(found.file) is not found.lines:
        # The file was edited, or this function is from before that: the lines of the other text are not its own.
        if _lines_of.setdefault(found.file, found.lines) != found.lines:
            _statements.pop(found.file, None)
            _read_of[found.file] = [found.node]
        _lines_of[found.file] = found.lines
    return found


def statement_of(file: str, line: int, col: int) -> ast.stmt | ast.Lambda | None:
    """The innermost statement that a place belongs to; of a compound one, what stands before its body.

    None for a place in code that was not read.
    """
    with _tables:
        here = _statements_at(file, line)
    before = [n for n in here if (n.lineno, n.col_offset) <= (line, col)]
    return max(before, key=lambda n: (n.lineno, n.col_offset)) if before else None


def _statements_at(file: str, line: int) -> list[Any]:
    """The statements that a line belongs to, after what was read of its file since the last call was noted."""
    known = _statements.setdefault(file, {})
    while waiting := _read_of.get(file):
        root = waiting.pop(0)
        start, end = root.lineno, root.end_lineno or root.lineno
        for k in range(start, end + 1):
            # Of what stood here before the file was edited, nothing is left.
            known[k] = [n for n in known.get(k, ()) if n[1].lineno != start]
        for n in statements_in(root):
            if isinstance(n, ast.stmt) or n is root:
                for k in range(n.lineno, end_of_head(n) + 1):
                    known[k].append((n, root))
    return [n for n, _ in known.get(line, ())]


def end_of_head(node: Any) -> int:
    """The last line of a simple statement, or of what stands before the body of a compound one."""
    body = getattr(node, "body", None)
    if not isinstance(body, list):
        return int(node.end_lineno or node.lineno)
    inside = {id(n) for part in (body, *(getattr(node, f, ()) for f in _BLOCKS)) for n in part}
    head = [n for n in ast.iter_child_nodes(node) if id(n) not in inside]
    return max([int(n.end_lineno) for n in head if hasattr(n, "end_lineno")], default=int(node.lineno))


def _read(fn: types.FunctionType, loc: Loc | None) -> Source:
    code = fn.__code__
    name = fn.__qualname__

    def missing(why: str, remedy: str = "") -> SourceUnavailableError:
        return SourceUnavailableError(
            f"the source of {name!r} is not available: {why}",
            loc,
            remedy
            or "define the function in a file or a notebook cell; make a function of generated code with ad.from_tree; "
            "register a compiled function as a primitive with its own derivative rule",
        )

    file = code.co_filename
    if file.startswith("<frozen "):  # a module that is kept in the interpreter, and has a file as well
        return _read_from(linecache.getlines(fn.__globals__.get("__file__") or file), code, name, loc, missing)
    lines = linecache.getlines(file, fn.__globals__)
    try:
        return _read_from(lines, code, name, loc, missing)
    except SourceUnavailableError:
        # The file may have been edited, and the module imported again. The code decides which text is its own.
        linecache.checkcache(file)
        edited = linecache.getlines(file, fn.__globals__)
        found = None if edited == lines else _attempt(edited, code, name, loc, missing)
        found = found or _moved(edited, code, name) or _under_magic(code, name, loc, missing)
        if found is None:
            raise
        return found


def _attempt(lines: list[str], code: types.CodeType, name: str, loc: Loc | None, missing: Any) -> Source | None:
    """The function in these lines of its file, or None."""
    try:
        return _read_from(lines, code, name, loc, missing)
    except SourceUnavailableError:
        return None


def _moved(lines: list[str], code: types.CodeType, name: str) -> Source | None:
    """The definition with the same code that stands elsewhere in the file.

    The lines above it were edited; or a tool, such as IPython's autoreload, compiled it apart from its file.
    """
    if not lines or code.co_name == "<lambda>":
        return None
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name and _same_code(node, code, name, lines):
            text = "".join(lines[node.lineno - 1 : node.end_lineno])
            return Source(_mangled(node, class_of(code, name)), code.co_filename, text, lines)
    return None


def _under_magic(code: types.CodeType, name: str, loc: Loc | None, missing: Any) -> Source | None:
    """The function as it stood under a magic of IPython's."""
    file = code.co_filename
    for lines in texts_under_magics(file):
        found = _attempt(lines, code, name, loc, missing)
        if found is not None:
            if not _is_prompt(file):
                linecache.cache[file] = (sum(map(len, lines)), None, lines, file)  # for carets and tracebacks
            return found
    return None


def _read_from(lines: list[str], code: types.CodeType, name: str, loc: Loc | None, missing: Any) -> Source:
    """The function in these lines of its file. Raises SourceUnavailableError if they are not those of the code."""
    file = code.co_filename
    if not lines:
        raise missing(*_no_text(file))
    changed = (f"{file!r} has changed since it was imported", _RELOAD) if not _is_prompt(file) else _no_text(file)
    first = code.co_firstlineno
    if first > len(lines):
        raise missing(*changed)
    if code.co_name == "<lambda>":
        return _read_lambda(code, name, file, lines, missing, changed)
    text, node = _quick_block(code, lines, first)
    if isinstance(node, ast.FunctionDef) and not _same_code(node, code, name, lines):
        node = None  # statements that are never reached were cut off
    quick = node is not None
    if node is None:
        try:
            text = "".join(inspect.getblock(lines[first - 1 :]))
            node = _parse(text, first)
        except (SyntaxError, IndentationError):
            raise missing(
                f"{file!r}, line {first}, does not parse; has it changed since it was imported?", _RELOAD
            ) from None
    if isinstance(node, ast.AsyncFunctionDef):
        from ..errors import UnsupportedError

        raise UnsupportedError(f"{name!r} is an async function", loc, "write an ordinary function")
    named = isinstance(node, ast.FunctionDef) and node.name == code.co_name
    if not isinstance(node, ast.FunctionDef) or not named or not (quick or _same_code(node, code, name, lines)):
        raise missing(*changed)
    return Source(_mangled(node, class_of(code, name)), file, text, lines)


_RELOAD = "import the module anew (importlib.reload), and make the gradient of the new function"


def _is_prompt(file: str) -> bool:
    """Code that was given to `exec`, `python -c` or the prompt. Different texts have the same name."""
    return file in ("<stdin>", "<string>")


def _no_text(file: str) -> tuple[str, ...]:
    """Why a file has no lines, and what helps."""
    if _is_prompt(file):
        where = "at Python's prompt" if file != "<string>" else "in code given to `exec` or to `python -c`"
        return (
            f"it was defined {where}, and its text was not kept",
            "define it in a file, in IPython or in a notebook, or make the function of its text: "
            'ad.from_tree(ast.parse("def f(x): ..."), globals()); Python 3.13 keeps what is typed at the prompt and '
            "given to `python -c`",
        )
    if is_of_a_cell(file) or file == "<dynamic-code>":
        where = "in another process" if file == "<dynamic-code>" else "in a notebook, in another process"
        return (
            f"it was defined {where} ({file!r})",
            "make the gradient there, and pass it to the other process: a pickled ad.grad(f) carries the source of f",
        )
    return (f"{file!r} cannot be read",)


def _quick_block(code: types.CodeType, lines: list[str], first: int) -> tuple[str, ast.stmt | None]:
    """The block up to the last line that has code: much faster to find than by its tokens, where it is enough."""
    if not hasattr(code, "co_positions"):
        return "", None
    last = _last_line(code)
    text = "".join(lines[first - 1 : last])
    try:
        node = _parse(text, first)
    except (SyntaxError, IndentationError):
        return "", None
    if not isinstance(node, ast.FunctionDef):
        return "", None
    names = scope_of(node).locals
    if not (names.issuperset(code.co_varnames) and names.issuperset(code.co_cellvars)):
        return "", None  # a statement without code was cut off
    return text, node


def _last_line(code: types.CodeType) -> int:
    last = max((p[1] for p in code.co_positions() if p[1] is not None), default=code.co_firstlineno)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            last = max(last, _last_line(const))
    return last


def _parse(text: str, first: int) -> ast.stmt:
    """Parse a block, indented or not, at its own lines and columns."""
    if text[:1] in " \t":
        block = ast.parse("\n" * (first - 2) + "if 1:\n" + text).body[0]
        assert isinstance(block, ast.If)
        return block.body[0]
    return ast.parse("\n" * (first - 1) + text).body[0]


def _read_lambda(
    code: types.CodeType, name: str, file: str, lines: list[str], missing: Any, changed: tuple[str, ...]
) -> Source:
    known = _modules.get(file)
    if known is None or known[0] != lines:
        try:
            known = (lines, ast.parse("".join(lines)))
        except SyntaxError:
            raise missing(f"{file!r} does not parse") from None
        _modules[file] = known
    found = [
        n
        for n in ast.walk(known[1])
        if isinstance(n, ast.Lambda) and n.lineno == code.co_firstlineno and _same_code(n, code, name, lines)
    ]
    if len(found) > 1 and hasattr(code, "co_positions"):
        spans = [p for p in code.co_positions() if p[0] is not None and p[2] is not None]
        found = [n for n in found if all(_inside(n, p) for p in spans)] or found
        # Of nested lambdas the innermost that spans all the code.
        found = [n for n in found if not any(m is not n and _contains(n, m) for m in found)]
    if len({ast.dump(n) for n in found}) == 1:
        found = found[:1]
    if len(found) != 1:
        if found:
            raise missing("several lambdas stand on its line", "put each on a line of its own, or use def")
        raise missing(*changed)
    text = ast.get_source_segment("".join(lines), found[0]) or ""
    return Source(found[0], file, text, lines)


def _inside(node: ast.Lambda, span: Any) -> bool:
    line, end_line, col, end_col = span
    if line == node.lineno and end_line == node.lineno and col == 0 and end_col == 0:
        return True  # the resume instruction
    body = node.body
    return (node.lineno, node.col_offset) <= (line, col) and (end_line, end_col) <= (
        body.end_lineno,
        body.end_col_offset,
    )


def _contains(outer: ast.Lambda, inner: ast.Lambda) -> bool:
    return any(n is inner for n in ast.walk(outer))


def class_of(code: types.CodeType, qualname: str) -> str | None:
    """The name of the class in whose body a function stands."""
    places = getattr(code, "co_qualname", qualname).split(".")
    return places[-2] if len(places) > 1 and places[-2] != "<locals>" else None


def _mangled(node: FunctionNode, cls: str | None) -> FunctionNode:
    """Private names of a class, ``self.__x``, are what Python makes of them."""
    if cls is not None and cls.strip("_"):
        for n in ast.walk(node):
            for field in ("attr", "id", "arg"):
                name = getattr(n, field, None)
                if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                    if not isinstance(n, ast.keyword):
                        setattr(n, field, f"_{cls.lstrip('_')}{name}")
    return node


def _same_code(node: FunctionNode, code: types.CodeType, qualname: str, lines: list[str]) -> bool:
    """Whether the tree compiles to the code that runs: else the file was edited after it was imported.

    Assertions that pytest has rewritten are rewritten here, too.
    """
    cls = class_of(code, qualname)
    kinds: tuple[bool | None, ...] = (None,)
    if _is_rewritten(code):
        kinds = (False, True)
    try:
        return any(
            _equal(c, code)
            for names in _imports(node, lines)
            for k in {cls, None}
            for hook in kinds
            for c in _compiled(node, code, k, names, lines, hook)
        )
    except (SyntaxError, ValueError):
        return False


def _imports(node: FunctionNode, lines: list[str]) -> Iterator[list[str]]:
    """Which names the module imports, as far as it matters: Python calls what stands in an imported name in other
    operations, which do the same. Indented imports may be the module's or a function's, so there are alternatives.
    The lines that look like imports are found fast. Where they mislead (a string, another name behind `as`), the
    compiler's own table of symbols says which names are imported.
    """
    used = {
        n.func.value.id
        for n in nodes_of(node)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.Name)
    }
    if not used:
        yield []
        return
    found: dict[str, set[str]] = {"": set(), " ": set()}
    for indent, names in _IMPORT.findall("".join(lines)):
        found[" " if indent else ""].update(used.intersection(re.findall(r"\w+", names)))
    top = sorted(found[""])
    tried = [top, sorted({*top, *found[" "]}), []]
    yield from tried
    exact = sorted(used & _imported("".join(lines)))
    if exact not in tried:
        yield exact


@functools.lru_cache(8)
def _imported(text: str) -> frozenset[str]:
    """The names that an import statement of a module binds, as Python's compiler sees it."""
    import symtable  # few programs need it

    table = symtable.symtable(text, "<module>", "exec")
    return frozenset(s.get_name() for s in table.get_symbols() if s.is_imported())


def _is_rewritten(code: types.CodeType) -> bool:
    """pytest has rewritten assertions in the code, so that they say what was compared."""
    names = (*code.co_varnames, *code.co_names, *code.co_freevars)
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return any(n.startswith("@py") for n in names) or any(map(_is_rewritten, inner))


def _rewritten(tree: ast.Module, lines: list[str], with_hook: bool) -> ast.Module:
    """The module as pytest rewrites it. with_hook: with its option ``enable_assertion_pass_hook``."""
    rewrite = sys.modules.get("_pytest.assertion.rewrite")
    if rewrite is None:
        raise ValueError("pytest is not there")
    tree = copy.deepcopy(tree)
    config = types.SimpleNamespace(getini=lambda name: with_hook)
    try:
        rewrite.rewrite_asserts(tree, "".join(lines).encode(), None, config)
    except Exception as error:
        if is_interruption(error):
            raise
        raise ValueError("pytest rewrites assertions in another way") from error
    return tree


def _compiled(
    node: FunctionNode, code: types.CodeType, cls: str | None, imported: list[str], lines: list[str], hook: bool | None
) -> list[types.CodeType]:
    """What the tree compiles to as it stands in the program: with its free variables, in its class.

    hook: None, or rewrite assertions as pytest does, with its hook or without.
    """
    inner: ast.stmt
    if isinstance(node, ast.Lambda):
        inner = ast.copy_location(ast.Expr(node), node)
    else:
        inner = copy.copy(node)
        inner.decorator_list = []
    if cls is not None or "__class__" in code.co_freevars:
        # Private names are mangled with the class's, and there may be a super().
        inner = _on_line_1(ast.ClassDef(cls or "C", [], [], [inner], [], **TYPE_PARAMS))
    free = [n for n in code.co_freevars if n != "__class__"]
    if free:
        names: list[ast.expr] = [_on_line_1(ast.Name(n, ast.Store())) for n in free]
        empty = ast.arguments([], [], None, [], [], None, [])
        body: list[ast.stmt] = [_on_line_1(ast.Assign(names, _on_line_1(ast.Constant(None)))), inner]
        inner = _on_line_1(ast.FunctionDef("enclosing", empty, body, [], None, None, **TYPE_PARAMS))
    aliases = [_on_line_1(ast.alias(n)) for n in imported]
    head: list[ast.stmt] = [_on_line_1(ast.Import(aliases))] if imported else []
    tree = ast.Module([*head, inner], [])
    if hook is not None:
        tree = _rewritten(tree, lines, hook)
    found = [compile(tree, code.co_filename, "exec", code.co_flags & FUTURE, dont_inherit=True)]
    for outer in found:
        found += [c for c in outer.co_consts if isinstance(c, types.CodeType)]
        if len(found) > 1 and any(c.co_name == code.co_name and c.co_firstlineno == node.lineno for c in found):
            break
    return [c for c in found if c.co_name == code.co_name]


def _on_line_1(made: Made) -> Made:
    """A node that was not parsed; `ast.fix_missing_locations` would go through all the others as well."""
    made.lineno = made.end_lineno = 1  # type: ignore[attr-defined]
    made.col_offset = made.end_col_offset = 0  # type: ignore[attr-defined]
    return made


def _equal(a: types.CodeType, b: types.CodeType) -> bool:
    return (
        a.co_code == b.co_code
        and a.co_names == b.co_names
        and a.co_varnames == b.co_varnames
        and a.co_freevars == b.co_freevars
        and a.co_cellvars == b.co_cellvars
        and len(a.co_consts) == len(b.co_consts)
        and all(map(_equal_constants, a.co_consts, b.co_consts))
    )


def _equal_constants(x: Any, y: Any) -> bool:
    if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
        return _equal(x, y)
    if isinstance(x, (tuple, frozenset)) and type(x) is type(y):
        xs, ys = (sorted(z, key=repr) if isinstance(z, frozenset) else z for z in (x, y))
        return len(xs) == len(ys) and all(map(_equal_constants, xs, ys))
    if isinstance(x, str) and isinstance(y, str):
        # Python 3.10 has the qualified names of nested functions among the constants.
        return x == y or ("<locals>." in x and x.split("<locals>.")[-1] == y.split("<locals>.")[-1])
    return type(x) is type(y) and repr(x) == repr(y)
