"""Derivatives that need no Jacobian: ``hvp``, ``gauss_newton_vp``, ``derivative`` and others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ArgumentError, UnsupportedError
from ..ir.core import Function, type_of
from ..lowered import Lowered, lowers_by
from ..tracebacks import trimmed
from ..tree import Tree, count_leaves, leaf_numbers, renumbered, shift
from .forward import Pushforward
from .jacobians import FORWARD, Hessian, Jacobian, made_by, moving_results
from .sparse import refuse_complex
from .transforms import Argnums, Gradient, Repeatable, differentiated, hand_through, inside, split_aux

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Asked


class Derivative(Repeatable, Jacobian):
    """The derivative of a function of one number. See `derivative`."""

    suffix = "derivative"
    kind = "derivative"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False):
        super().__init__(fn, argnums, has_aux, FORWARD)

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.has_aux

    def is_plain(self) -> bool:
        return not self.has_aux

    once = Jacobian.transform

    def check(self, fn: Any, wrt: list[int], lowered: Lowered) -> None:
        if len(wrt) != 1 or type_of(fn.params[wrt[0]]).dims != ():
            raise ArgumentError(
                "derivative is for an argument that is one float",
                lowered.loc,
                "use jacobian for an array, or elementwise_grad for a function that works element by element",
            )


class ElementwiseGradient(Gradient):
    """The sum of the derivatives of all elements of a result. See `elementwise_grad`."""

    suffix = "elementwise_grad"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False):
        super().__init__(fn, argnums, has_aux=has_aux)

    def _parts(self) -> tuple[Any, ...]:
        return self.primal, self.argnums, self.has_aux

    def scalar(self, lowered: Lowered, main: Tree) -> None:
        """Put the sum of the result into its place."""
        from .compiler import sum_result

        if main[0] == "leaf":
            sum_result(lowered.function)
        super().scalar(lowered, main)


class Product(Pushforward):
    """The product of a matrix and a vector, as a function of the arguments and then the vector."""

    has_budget = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        push = super().__call__(*self._split(args), **kwargs)
        return push(args[-1])

    def as_primal(self) -> Callable[..., Any]:
        def product(*args: Any, **kwargs: Any) -> Any:
            return self(*args, **kwargs)

        product.__name__ = product.__qualname__ = self.__name__
        product.__module__ = self.__module__
        return product

    def _split(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(args) < 2 and self.argnums == 0:
            raise ArgumentError(
                f"{self.__name__} takes the arguments of the function and then the vector, and it got {len(args)}",
                None,
                "pass the vector as the last positional argument",
            )
        return args[:-1]

    def source(self, *args: Any, **kwargs: Any) -> str:
        """See `Transformed.source`. The last argument is the vector, as in a call."""
        return super().source(*(self._split(args) if args else args), **kwargs)


class HessianProduct(Product):
    """The product of a Hessian and a vector. See `hvp`."""

    suffix = "hvp"

    def __init__(self, fn: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False):
        super().__init__(fn, argnums, has_aux)
        self._gradient = Gradient(fn, argnums, has_aux=has_aux)

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        gradient = self._gradient.to_push(1, self.options)
        derived = super().transform(gradient.transform(lowered, args, kwargs), args, kwargs)
        _, tree, out = derived.out
        # Of value and tangent, the tangent, and what comes beside it.
        parts = out[-1][1:]
        out = parts[0] if len(parts) == 1 else ("tuple", parts)
        numbers = sorted(leaf_numbers(out))
        body = derived.function.body
        body.exit = tuple([body.exit[k] for k in numbers])
        return replace(derived, out=("split", tree, renumbered(out, {old: new for new, old in enumerate(numbers)})))


class GaussNewtonProduct(Product):
    """The product of the Gauss-Newton matrix and a vector. See `gauss_newton_vp`."""

    suffix = "gauss_newton_vp"

    def transform(self, lowered: Lowered, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Lowered:
        from .compiler import pipeline

        wanted, tree = differentiated(self.primal, lowered, self.argnums, args, kwargs, exact=True)
        main, aux = split_aux(lowered, self) if self.has_aux else (lowered.out, None)
        moving = moving_results(lowered, main, self)
        refuse_complex(lowered.function, wanted.wrt, lowered, self.suffix)
        if not all(type_of(lowered.function.results[k]).is_real for k in moving):
            raise UnsupportedError(
                f"{self.suffix} of residuals that are complex, or may be",
                lowered.loc,
                "return their real and their imaginary parts",
            )
        own, count = count_leaves(main), len(lowered.function.results)
        budget = self.options.max_residual_bytes
        fn = pipeline.gauss_newton(lowered.function, wanted.wrt, moving, range(own, count), budget)
        hand_through(fn, wanted)
        out = shift(tree, count - own)
        if aux is not None:
            out = ("tuple", (out, shift(aux, -own)))
        return replace(lowered, function=fn, out=("split", tree, out))


class Laplacian(Hessian):
    """The trace of the Hessian. See `laplacian`."""

    suffix = "laplacian"
    kind = "laplacian"

    def combined(self, fn: Function, first: int, wrt: list[int], tree: Tree) -> tuple[Tree, int]:
        from .compiler import trace

        trace(fn, first, wrt)
        return ("leaf", 0), 1


@trimmed
def derivative(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """A function that computes the derivative of `fun` by an argument that is one float. It may also be used as
    ``@derivative`` and ``@derivative(argnums=...)``.

    The derivative has the structure and the shapes of the result. It is computed forwards, in one sweep. Repeat it for
    higher derivatives: ``derivative(derivative(f))``. For an argument that is an array, a call raises `ArgumentError`.

    has_aux: `fun` returns a pair, of which only the first is differentiated. The second is returned beside it.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.derivative(lambda t: (t**3, np.array([t, t * t])))(2.0)
    (12.0, array([1., 4.]))
    """
    return made_by(derivative, Derivative, fun, argnums, has_aux, options)


@trimmed
def elementwise_grad(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """A function that computes the derivative of each element of the result of `fun` by the same element of an
    argument.

    fun: a function that works element by element. This is not checked: what is computed is the gradient of the sum of
        the result, so for other functions it is the sum of the rows of the Jacobian.

    The result has the shape of the argument. Where arguments broadcast, it is summed over the axes that they lack.
    `argnums` and `has_aux` are those of `grad`, and so are the errors.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.elementwise_grad(np.tanh)(np.array([0.0, 20.0]))
    array([1., 0.])
    """
    return made_by(elementwise_grad, ElementwiseGradient, fun, argnums, has_aux, options)


@trimmed
def hvp(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """A function that computes the product of the Hessian of `fun` and a vector, without the Hessian.

    fun: a function with a scalar result. Call what is returned as ``hvp(fun)(*args, vector)``. The vector has the
        structure and the shapes of the argument, and for a sequence of `argnums` it is a tuple of such. The product has
        them, too.
    has_aux: `fun` returns a pair, of which only the first is differentiated. The second is returned beside the product.

    The gradient is differentiated forwards. The cost is about twice that of a gradient, whatever the number of
    elements. A call raises what `grad` raises, and `ArgumentError` for a vector that does not fit the argument.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    return made_by(hvp, HessianProduct, fun, argnums, has_aux, options)


@trimmed
def gauss_newton_vp(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """A function that computes the product of the Gauss-Newton matrix of `fun` and a vector: ``J.T @ J @ vector``, with
    the Jacobian ``J`` of `fun`, which is not built.

    fun: a function that returns residuals, of any structure. Call what is returned as
        ``gauss_newton_vp(fun)(*args, vector)``. The vector has the structure and the shapes of the argument, and for a
        sequence of `argnums` it is a tuple of such. The product has them, too.
    has_aux: `fun` returns a pair, of which only the first is differentiated. The second is returned beside the product.

    The matrix is the Hessian of half the sum of the squared residuals, without their second derivatives, and it is
    positive semidefinite (J. Nocedal and S. Wright, Numerical Optimization, 2nd edition, section 10.3). The residuals
    are computed once. The cost is about that of a gradient and a tangent. A call raises what `jvp` raises for the
    function and the vector, and `NonScalarOutputError` if the result holds no real floats.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> x, v = np.array([1.0, 2.0]), np.array([1.0, 10.0])
    >>> ad.gauss_newton_vp(lambda x: np.array([x[0] * x[1], x[1] ** 2]))(x, v)
    array([ 24., 172.])
    """
    return made_by(gauss_newton_vp, GaussNewtonProduct, fun, argnums, has_aux, options)


@trimmed
def laplacian(fun: Any = None, argnums: Argnums = 0, *, has_aux: bool = False, **options: Unpack[Asked]) -> Any:
    """A function that computes the Laplacian of `fun`: the sum of the second derivatives of its scalar result by each
    element of the arguments.

    The tangents of all unit directions go through the gradient at once, so memory grows with the square of the number
    of elements. `argnums` and `has_aux` are those of `grad`, and so are the errors.

    >>> import numpy as np
    >>> import autodiff_compiler as ad
    >>> ad.laplacian(lambda x: np.sum(x**3) + x[0] * x[1])(np.array([1.0, 2.0]))
    np.float64(18.0)
    """
    return made_by(laplacian, Laplacian, fun, argnums, has_aux, options)


for _made in (derivative, elementwise_grad, gauss_newton_vp, hvp, laplacian):
    lowers_by(inside(_made))(_made)

__all__ = ["derivative", "elementwise_grad", "gauss_newton_vp", "hvp", "laplacian"]
