"""``jacobian(f, sparsity=...)`` and ``hessian(f, sparsity=...)``: derivatives that are mostly zeros.

A call has three steps. `_Finder` finds the pattern and colours it, or has both from an earlier call. `_Combinations` is
the derivative along the sums of unit directions of one colour, all at once. `Recipe` picks the elements of the matrix
out of these. SciPy is imported for the result only.

What is kept, and when it is used again: A pattern found with ``sparsity="auto"`` is kept with the shapes of all
arguments and the values of all but the one to differentiate by, arrays in globals and closures among them. It is found
anew if one of these differs, if an argument is an object, and at every call if a condition, an index, a number of
iterations or a shape depends on the argument to differentiate by. A colouring is kept with its pattern, so it is used
again if the pattern that was found anew is the same. A pattern that is given is coloured once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import pristine
from ..codegen.load import Emitted
from ..errors import ArgumentError, AutodiffError, NonScalarOutputError, UnsupportedError
from ..ir.core import Function, type_of
from ..locks import Lock
from ..lowered import Lowered
from ..records import record
from ..tracebacks import trimmed
from .pullbacks import stands_for
from .transforms import Argnums, Gradient, Transformed, differentiated, is_operand, portable_name
from .two_stages import Log

AUTO = "auto"
_MOST_KEPT = 16  # patterns of one function


@record
class Recipe:
    """How to compute a sparse derivative.

    sweeps:  for one stack of directions, or two: whether they are tangents of the argument, otherwise they are
             cotangents of the result; and the stack
    colours: how many directions there are
    places:  where each element of the matrix is among the derivatives along the directions
    columns, starts: of the matrix, as SciPy has them
    """

    sweeps: tuple[tuple[bool, Any], ...]
    colours: int
    places: Any
    columns: Any
    starts: Any
    shape: tuple[int, int]

    @property
    def forward(self) -> bool:
        """The first stack, or the only one, has tangents."""
        return self.sweeps[0][0]

    def matrix(self, derivatives: list[Any]) -> Any:
        """The sparse matrix, from the derivatives along the directions of each stack."""
        from scipy.sparse import csr_array

        flat = [np.ravel(d) for d in derivatives]
        data = (flat[0] if len(flat) == 1 else np.concatenate(flat))[self.places]
        # The caller may change what it gets.
        return csr_array((data, self.columns.copy(), self.starts.copy()), shape=self.shape)


class SparseDerivative(Transformed):
    """The Jacobian of a function, or its Hessian, as a sparse matrix. See `jacobian` and `hessian`.

    sparsity:  "auto", or the pattern
    symmetric: the Hessian
    """

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, sparsity: Any = AUTO, symmetric: bool = False):
        self.suffix = "hessian" if symmetric else "jacobian"
        super().__init__(fn, argnums)
        require_scipy()
        self.sparsity = sparsity
        self.symmetric = symmetric
        if isinstance(argnums, (list, tuple)):
            raise ArgumentError(
                f"{self.suffix} with sparsity=... is for one argument, and argnums is {argnums!r}",
                None,
                "join the arguments to one array, or leave sparsity out",
            )
        derived = Gradient(fn, argnums) if symmetric else fn
        given = None if isinstance(sparsity, str) and sparsity == AUTO else given_pattern(sparsity)
        self._finder = _Finder(derived, argnums, given, symmetric)
        self._products = {forward: _Combinations(derived, argnums, forward) for forward in (True, False)}

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.sparsity, self.symmetric

    @trimmed
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recipe = self.recipe(*args, **kwargs)
        derivatives = [self._products[forward](*args, **kwargs)(seeds) for forward, seeds in recipe.sweeps]
        if self._finder.given is not None:
            derivatives = self._finder.checked(recipe, derivatives)
        return recipe.matrix(derivatives)

    def recipe(self, *args: Any, **kwargs: Any) -> Recipe:
        """How the matrix for these arguments is computed: the pattern, its colouring, the mode."""
        if any(map(is_operand, (*args, *kwargs.values()))):
            raise ArgumentError(
                f"{self.suffix} with sparsity=... is not recorded on a tape", None, "pass arrays, not tensors"
            )
        return self._finder(*args, **kwargs)  # type: ignore[no-any-return]

    def forget(self) -> None:
        """Forget all patterns: the next call finds them anew."""
        self._finder.forget()

    @trimmed
    def source(self, *args: Any, **kwargs: Any) -> str:
        """The generated source for the derivatives along a stack of directions. See `Transformed.source`."""
        if args or kwargs:
            sweeps = self.recipe(*args, **kwargs).sweeps
            return "\n\n".join([self._products[forward].source(*args, **kwargs) for forward, _ in sweeps])
        return "\n\n".join([text for text in (p.source() for p in self._products.values()) if text])

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        raise UnsupportedError(
            f"a derivative of {self.suffix} with sparsity=... is not supported",
            lowered.loc,
            "leave sparsity out of what is differentiated again",
        )

    @property
    def kind(self) -> str:
        return f"{self.suffix} with sparsity=..."


class _Combinations(Transformed):
    """A function of the arguments that gives a function of a stack of directions."""

    def __init__(self, fn: Callable[..., Any], argnums: Argnums, forward: bool):
        self.suffix = "jvps" if forward else "vjps"
        super().__init__(fn, argnums)
        self.forward = forward

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.forward

    def __autodiff_portable__(self) -> list[str]:
        return [*portable_name(self), self.suffix]

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wrt = one_array(self.primal, lowered, self.argnums, args, kwargs, self.suffix)
        fn = pipeline.combinations(lowered.function, wrt, 0, forward=self.forward)
        return replace(lowered, function=fn, out=("leaf", 0))

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        run = self.generate(self.transform(lowered, args, kwargs))
        return self._wrapped(run, len(lowered.function.params))

    def _rebuild(self, emitted: Emitted, details: Any) -> Callable[..., Any]:
        return self._wrapped(self._load(emitted), *details)

    def _wrapped(self, run: Any, count: int) -> Callable[..., Any]:
        def call(*leaves: Any) -> Callable[[Any], Any]:
            return lambda seeds: run(*leaves, seeds)

        return stands_for(run, call, count, (count,))


class _Finder(Transformed):
    """A function of the arguments that gives the `Recipe` for them.

    given: the pattern, as rows, columns and shape; None: it is to be found
    """

    suffix = "sparsity"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums, given: Any, symmetric: bool):
        super().__init__(fn, argnums)
        self.given = given
        self.symmetric = symmetric
        self.lock = Lock()
        self.made: list[tuple[Any, Recipe]] = []
        self.kept: list[list[tuple[Any, Recipe]]] = []  # of each function that was lowered

    def forget(self) -> None:
        with self.lock:
            for kept in (self.made, *self.kept):
                kept.clear()

    def _key(self, names: tuple[str, ...], values: tuple[Any, ...]) -> str | None:
        return None  # it runs the SSA form, which is not kept on disk

    def _observed(
        self, names: tuple[str, ...], values: tuple[Any, ...], done: list[Log], error: AutodiffError | None,
        key: str | None,
    ) -> Any:  # fmt: skip
        assert error is not None  # nothing was run before
        raise error

    def _compile(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        what = "hessian" if self.symmetric else "jacobian"
        wrt = one_array(self.primal, lowered, self.argnums, args, kwargs, what)
        fn = lowered.function
        kept: list[tuple[Any, Recipe]] = []
        self.kept.append(kept)

        def find(*leaves: Any) -> Recipe:
            key = _value_key(leaves, wrt)
            for known, recipe in list(kept):
                if key is not None and known == key:
                    return recipe
            recipe, steady = self.found(fn, leaves, wrt)
            if key is not None and steady:
                with self.lock:
                    kept.insert(0, (key, recipe))
                    del kept[_MOST_KEPT:]
            return recipe

        return find

    def found(self, fn: Function, leaves: tuple[Any, ...], wrt: int) -> tuple[Recipe, bool]:
        """The recipe for these inputs, and whether it holds for all values of the argument."""
        with pristine.as_they_were():
            from ..analysis.sparsity import dependences
            from ..ir.interp import interpret
            from ..transforms.colouring import Pattern

        x = leaves[wrt]
        steady = True
        if self.given is None:
            found = dependences(fn, leaves, wrt)
            result, steady = found.result, found.steady
            pattern = Pattern.of_rows(found.starts, found.items, np.size(x))
        else:
            result = interpret(fn, leaves)[0]
            rows, columns, shape = self.given
            if shape != (np.size(result), np.size(x)):
                raise ArgumentError(
                    f"the pattern has shape {shape}, but the result has {np.size(result)} elements and the argument "
                    f"{np.size(x)}",
                    None,
                    "pass a pattern with a row for each element of the result and a column for each of the argument",
                )
            pattern = Pattern.of_elements(rows, columns, shape)
        return self.coloured(pattern, x, result), steady

    def coloured(self, pattern: Any, x: Any, result: Any) -> Recipe:
        key = (
            np.shape(x),
            x.dtype,
            np.shape(result),
            result.dtype,
            pattern.starts.tobytes(),
            pattern.columns.tobytes(),
        )
        with self.lock:
            for known, recipe in self.made:
                if known == key:
                    return recipe
        recipe = self._recipe(pattern, x, result)
        with self.lock:
            self.made.insert(0, (key, recipe))
            del self.made[_MOST_KEPT:]
        return recipe

    def _recipe(self, pattern: Any, x: Any, result: Any) -> Recipe:
        from ..transforms.colouring import (
            colour_both,
            colour_columns,
            colour_symmetric,
            number_of,
            seeds,
            told_by_column,
        )

        if self.symmetric:
            pattern = pattern.symmetric()
        rows, columns = pattern.rows, pattern.columns
        colours = colour_columns(pattern)
        forward = True
        places = colours[columns] * pattern.shape[0] + rows
        if self.symmetric:
            star = colour_symmetric(pattern)
            if number_of(star) < number_of(colours):
                colours = star
                here = told_by_column(pattern, star)
                places = np.where(here, star[columns] * len(star) + rows, star[rows] * len(star) + columns)
        elif result.dtype.kind != "c":  # cotangents of complex results are something else
            other = pattern.transposed()
            by_rows = colours if other.is_same(pattern) else colour_columns(other)
            if number_of(by_rows) < number_of(colours):
                forward, colours = False, by_rows
                places = colours[rows] * pattern.shape[1] + columns
        count = number_of(colours)
        stacks = [(forward, seeds(colours, (x if forward else result).dtype))]
        # A second stack takes another run of the function.
        both = None if self.symmetric or result.dtype.kind == "c" else colour_both(pattern, count - 1)
        if both is not None:
            dense, by_rows, by_columns = both
            colour = np.full(pattern.shape[0], -1)
            colour[dense] = by_rows
            own = np.zeros((number_of(by_rows), pattern.shape[0]), result.dtype)
            own[by_rows, dense] = 1
            stacks = [(True, seeds(by_columns, x.dtype)), (False, own)]
            first = number_of(by_columns)
            count = first + number_of(by_rows)
            by_row = (first * pattern.shape[0]) + colour[rows] * pattern.shape[1] + columns
            places = np.where(colour[rows] < 0, by_columns[columns] * pattern.shape[0] + rows, by_row)
        if self.given is not None:
            # One more direction tells whether the pattern lacks elements.
            forward, directions = stacks[0]
            probe = np.random.default_rng(7).uniform(0.5, 1.5, (1, directions.shape[1])).astype(directions.dtype)
            stacks[0] = forward, np.concatenate((directions, probe))
        sweeps = tuple(
            [(forward, d.reshape(len(d), *np.shape(x if forward else result))) for forward, d in stacks]
        )  # fmt: skip
        narrow = np.int32 if max(*pattern.shape, len(rows)) < 2**31 else np.int64
        return Recipe(
            sweeps, count, places, columns.astype(narrow), pattern.starts.astype(narrow), pattern.shape
        )  # fmt: skip

    def checked(self, recipe: Recipe, derivatives: list[Any]) -> list[Any]:
        """The derivatives without the last of the first stack. Raises ArgumentError if it is not the product with the
        matrix."""
        first, *rest = derivatives
        derivatives, probe = [first[:-1], *rest], np.ravel(first[-1])
        matrix, direction = recipe.matrix(derivatives), np.ravel(recipe.sweeps[0][1][-1])
        matrix = matrix if recipe.forward else matrix.T
        expected, size = matrix @ direction, abs(matrix) @ np.abs(direction)
        size = np.maximum(size, np.abs(probe))
        wrong = np.abs(expected - probe) > size * np.sqrt(np.finfo(probe.dtype).eps)
        if np.any(wrong):
            k = int(np.flatnonzero(wrong)[0])
            raise ArgumentError(
                f"the pattern lacks elements in {'row' if recipe.forward else 'column'} {k}",
                None,
                'add them, or find the pattern with sparsity="auto"',
            )
        return derivatives


def one_array(
    fn: Any, lowered: Lowered, argnums: Argnums, args: tuple[Any, ...], kwargs: dict[str, Any], what: str
) -> int:
    """The number of the input to differentiate by. Raises an error unless both it and the result are one array."""
    wanted, tree = differentiated(fn, lowered, argnums, args, kwargs)
    if tree != ("leaf", 0) or type_of(lowered.function.params[wanted.wrt[0]]).kind != "array":
        raise UnsupportedError(
            f"{what} with sparsity=... is for an argument that is one array",
            lowered.loc,
            "join its parts to one array, or leave sparsity out",
        )
    refuse_complex(lowered.function, wanted.wrt, lowered, what)
    t = type_of(lowered.function.results[0]) if lowered.out == ("leaf", 0) else None
    if t is None or t.kind != "array":
        raise UnsupportedError(
            f"{what} with sparsity=... is for a function that returns one array",
            lowered.loc,
            "join its results to one array with np.concatenate, or leave sparsity out",
        )
    if not t.may_be_float:
        raise NonScalarOutputError(
            f"{what} needs a result that holds floats", lowered.loc, "return an array of floats"
        )  # fmt: skip
    return wanted.wrt[0]


def refuse_complex(fn: Function, wrt: Sequence[int], lowered: Lowered, what: str) -> None:
    """A complex number has two directions: its derivative is no array with the axes of the argument."""
    from .compiler import is_complex

    if any(is_complex(fn.params[k]) for k in wrt):
        raise UnsupportedError(
            f"{what} by a complex argument",
            lowered.loc,
            "pass its real and its imaginary part as two arguments, or use vjp or jvp",
        )


def given_pattern(sparsity: Any) -> tuple[Any, Any, tuple[int, int]]:
    """The rows, the columns and the shape of a pattern that is a sparse matrix or a boolean array."""
    if hasattr(sparsity, "tocoo") and len(sparsity.shape) == 2:
        found = sparsity.tocoo()
        return found.row, found.col, tuple(sparsity.shape)
    dense = np.asarray(sparsity)
    if dense.ndim != 2 or dense.dtype != bool:
        raise ArgumentError(
            f'sparsity is "auto", a sparse array or a boolean array with two axes, not {sparsity!r}',
            None,
            "pass scipy.sparse.csr_array(pattern), or pattern != 0",
        )
    rows, columns = np.nonzero(dense)
    return rows, columns, dense.shape


def require_scipy() -> None:
    """Raise an error if SciPy is not installed."""
    try:
        import scipy.sparse  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "sparsity=... gives a scipy.sparse array, and SciPy is not installed: pip install scipy, or leave "
            "sparsity out"
        ) from error


def _value_key(leaves: tuple[Any, ...], wrt: int) -> Any:
    """The shape of the argument, and the values of all other inputs; None if there are objects among them."""
    parts: list[Any] = [leaves[wrt].shape]
    for k, x in enumerate(leaves):
        if k == wrt:
            continue
        if isinstance(x, (np.ndarray, np.generic)) and not x.dtype.hasobject:
            parts.append((type(x), x.dtype.str, x.shape, x.tobytes()))
        elif type(x) in (int, float, complex, bool):
            parts.append((type(x), repr(x)))
        else:
            return None
    return tuple(parts)


__all__ = ["AUTO", "Recipe", "SparseDerivative", "refuse_complex"]
