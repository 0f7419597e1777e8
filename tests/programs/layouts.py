"""Random programs: orders in memory, views of unusual kinds, stores whose source and target overlap, distances."""

from __future__ import annotations

from tests.programs.exotics import N
from tests.programs.memory import Memory


class Layouts(Memory):
    def layout_forms(self) -> list[str]:
        return [
            "fortran_order",
            "windows",
            "overlapping_store",
            "flat_places",
            "moved_axes",
            "maybe_copies",
            "layout_argument",
            "returned_argument",
            "pairwise",
            "masked_infinity",
        ]

    def square(self, order: str = "") -> str:
        """A new matrix of n rows and columns, in a random order in memory."""
        a, g = self.vector() or "y", self.new("g")
        made = f"np.outer({a}, np.cos({self.vector() or 'y'}))" if self.chance(0.7) else f"(np.zeros((n, n)) + {a})"
        order = order or self.pick(
            "{}",
            "np.asfortranarray({})",
            "np.array({}, order='F')",
            "{}.copy(order='F')",
            "{}.T",
            "np.ascontiguousarray({}.T)",
        )
        if self.chance(0.2):
            self.line(f"{g} = np.{self.pick('zeros', 'ones', 'empty')}((n, n), order='F')")
            self.line(f"{g}[:] = {made}")
        else:
            self.line(f"{g} = {order.format(made)}")
        return g

    def weights(self, g: str) -> str:
        """A weighted sum, with another weight for each element of a matrix."""
        return self.pick(
            f"np.sum({g} * np.arange(1.0, n * n + 1.0).reshape(n, n)) * 0.1",
            f"np.sum(np.sin({g}) * np.arange(1.0, n + 1.0)[:, None])",
            f"np.sum({g} @ np.arange(1.0, n + 1.0)) * 0.2 + {g}[0, 1] * {g}[1, 0]",
        )

    def fortran_order(self, budget: int) -> bool:
        g, z = self.square(), self.new("z")
        view = self.pick(
            "reshape(-1)", "ravel()", "ravel(order='F')", "reshape(-1, order='F')",
            "T.reshape(-1)", "T.ravel()", "flatten(order='F')", "reshape(n, n, order='F')",
            "T.T.reshape(-1)", "copy(order='K').reshape(-1)",
        )  # fmt: skip
        if self.chance(0.2):
            self.line(f"{z} = np.{self.pick('zeros_like', 'ones_like', 'empty_like')}({g}).{view}")
            self.line(f"{z}[...] = {self.scalar(0)}")
        else:
            self.line(f"{z} = {g}.{view}")
        self.line(f"{z}[{self.pick('0', '-1', '1:', '::2', '1')}] {self.op()} {self.scalar(0)}")
        if self.chance(0.3):
            self.line(f"{g}[{self.pick('0', ':, 1', '1, 0')}] {self.op()} {self.scalar(0)}")
        self.result(f"{self.weights(g)} + np.sum({z} * {z}) * 0.3")
        return True

    def windows(self, budget: int) -> bool:
        """Views whose elements share memory, and a store into their base."""
        a = self.vector()
        if a is None:
            return False
        c, w = self.new("c"), self.new("w")
        self.line(f"{c} = {a} * {self.scalar(0)}")
        view = self.pick(
            f"np.lib.stride_tricks.sliding_window_view({c}, {self.pick('2', '3')})",
            f"np.meshgrid({c}, {a}, copy=False)[0]",
            f"np.broadcast_to({c}, (3, n))",
            f"np.broadcast_arrays({c}, np.zeros((2, 1)))[0]",
            f"np.meshgrid({c}, {a}, copy=False, sparse=True)[0]",
            f"np.meshgrid({c}, {a}, indexing='ij', copy=True)[0]",
        )
        # Where the view is used after the store, the program is refused.
        copied = self.pick("", ".copy()", ".copy()", " * 1.0", ".ravel()")
        self.line(f"{w} = {view}{copied}")
        if copied == ".copy()":
            self.line(f"{w}[{self.pick('0', '-1', '...', '0, 0')}] {self.op()} {self.scalar(0)}")
        if copied not in ("", ".ravel()"):
            self.line(f"{c}[{self.place()}] {self.op()} {self.scalar(0)}")
        if self.chance(0.01):
            self.line(f"{w} = np.lib.stride_tricks.sliding_window_view({c}, 2, writeable=True)")
            self.line(f"{w}[0, {self.pick('0', '1')}] = {self.scalar(0)}")
        self.result(
            self.pick(
                f"np.sum({w} * {w}) * 0.2 + {c}[0]",
                f"np.sum({w}.sum(axis=-1) * np.sin({w}[..., 0]))",
                f"np.sum({w}.T @ {w}) * 0.1",
                f"np.sum(np.max({w}, axis=-1)) + np.mean({c} * {c})",
            )
        )
        return True

    def overlapping_store(self, budget: int) -> bool:
        """Stores whose source and target share memory."""
        a, g = self.vector(), self.square("{}")
        if a is None:
            return False
        self.line(
            self.pick(
                f"{a}[1:] {self.op()} {a}[:-1]",
                f"{a}[:-1] {self.op()} {a}[1:]",
                f"{a}[:] {self.op()} {a}[::-1]",
                f"{a}[1:][::-1] {self.op()} {a}[:-1]",
                f"np.add({a}[1:], {a}[:-1], out={a}[1:])",
                f"np.multiply({a}[:-1], 0.5, out={a}[1:])",
                f"np.copyto({a}[1:], {a}[:-1])",
                f"{g}[...] = {g}.T",
                f"{g} {self.pick('+=', '-=', '*=')} {g}.T",
                f"{g}[:, 1:] {self.op()} {g}[:, :-1]",
                f"{g}[1:] {self.op()} {g}[:-1, ::-1]",
                f"{g}.T[0] {self.op()} {g}[0]",
                f"{g}[0] {self.op()} {g}[:, 0]",
                f"{g}[[0, 1]] = {g}[[1, 0]]",
                f"{g}[0], {g}[1] = {g}[1], {g}[0]",
                f"{a}[0:2], {a}[1:3] = {a}[1:3], {a}[0:2]",
                f"{a}[[0, 1, 2]] = {a}[[2, 0, 1]]",
                f"np.cumsum({a}, out={a})",
                f"{g}.reshape(-1)[1:] {self.op()} {g}.reshape(-1)[:-1]",
                f"np.subtract({g}, {g}[0], out={g})",
                f"np.matmul({g}, {g}, out={g})",
                f"np.dot({g}, {a}, out={a})",
                f"{a}[{a} > 0] = {a}[{a} > 0] * {a}[0]",
            )
        )
        self.result(f"{self.weights(g)} + np.sum({a} * np.arange(n)) * 0.5")
        return True

    def flat_places(self, budget: int) -> bool:
        g = self.square()
        self.line(
            self.pick(
                f"{g}.flat[...] = {self.scalar(0)}",
                f"{g}.flat[1:4] = [{self.scalar(0)}, {self.scalar(0)}, 0.5]",
                f"{g}.flat[[0, 3]] = {self.scalar(0)}",
                f"{g}.flat[::2] = {self.scalar(0)}",
                f"{g}.flat = np.sin({self.vector() or 'y'})",
                f"{g}.T.flat[1] = {self.scalar(0)}",
                f"{g}.flat[1] {self.op()} {self.scalar(0)}",
                f"{g}[:, ::2].flat = {self.scalar(0)}",
                f"{g}[::-1].flat[:n] = {self.vector() or 'y'}",
                f"{g}.flat[-1] = {g}.flat[1] * {self.scalar(0)}",
                f"{g}.flat[n] = 0.5",
            )
        )
        v, t = self.new("v"), self.new("t")
        if self.chance(0.3):
            self.line(f"{t} = 0.0")
            self.line(f"for {v} in {g}.{self.pick('flat', 'T.flat', 'flat[1:]')}:")
            self.line(f"    {t} = {t} * 0.5 + {v}")
            self.scope.scalars.append(t)
        reads = (
            f"{g}.flat[2]",
            f"np.sum({g}.flat[1:3])",
            f"sum({g}.T.flat)",
            f"{g}.flat[[1, 2]][0]",
        )
        self.result(f"{self.weights(g)} + {self.pick(*reads)}")
        return True

    def moved_axes(self, budget: int) -> bool:
        """A store through an array whose axes were moved, added or taken in another order."""
        g, z = self.square(), self.new("z")
        self.line(
            f"{z} = "
            + self.pick(
                f"np.swapaxes({g}, 0, 1)", f"np.moveaxis({g}, 0, -1)", f"np.transpose({g}, (1, 0))",
                f"{g}[None][0]", f"{g}[..., None][..., 0]",
                f"{g}[::-1, ::-1]",
                f"{g}.transpose()[::-1]", f"{g}.swapaxes(0, 1)[:, ::-1]", f"np.atleast_2d({g})", f"{g}.T[1:][::-1]",
                f"np.split({g}, [1])[1]", f"np.array_split({g}, 2, axis=1)[0]", f"np.hsplit({g}, [2])[0]", f"np.vsplit({g}, [2])[0]",
            )
        )  # fmt: skip
        self.line(
            f"{z}[{self.pick('0', ':, 0', '0, 1', '...', '-1, :2', '0, ::-1')}] {self.op()} {self.pick(self.scalar(0), f'{z}[0, 0]')}"
        )
        if self.chance(0.3):
            self.line(f"{z} {self.pick('+=', '*=')} {self.scalar(0)}")
        self.result(f"{self.weights(g)} + np.sum({z}[0] * {z}[-1])")
        return True

    def maybe_copies(self, budget: int) -> bool:
        """Functions that return the array itself, a view or a copy, depending on the array."""
        a = self.vector()
        if a is None:
            return False
        z = self.new("z")
        source = self.pick(a, a, f"{a}[::-1]", f"{a}[:]")
        self.line(
            f"{z} = "
            + self.pick(
                f"np.asarray({source})", f"np.ascontiguousarray({source})", f"np.asanyarray({source})", f"np.asfortranarray({source})",
                f"{source}.astype({a}.dtype, copy=False)", f"{source}.astype({a}.dtype)", f"np.array({source}, copy=None)",
                f"np.array({source})", f"np.ravel({source})", f"np.reshape({source}, -1)", f"np.require({source})",
                f"np.copy({source})", f"np.array([{source}])[0]", f"np.asarray({source}, dtype={a}.dtype)", f"{source}.squeeze()",
                f"np.broadcast_arrays({source})[0].copy()",
            )
        )  # fmt: skip
        self.line(f"{z}[{self.place()}] {self.op()} {self.scalar(0)}")
        self.result(f"np.sum({a} * np.arange(1.0, n + 1.0)) + np.sum(np.sin({z}))")
        self.scope.arrays[z] = (N,)
        return True

    def layout_argument(self, budget: int) -> bool:
        """A function that takes views with other strides, and stores into arrays made of them."""
        self.define(
            "def strided(v, k):\n    z = v.reshape(-1)\n    z[0] = k\n    w = v.ravel()\n    w[1:] *= k\n    return np.sum(z * z) + v[0, 1] * w[-1]"
        )
        self.define("def halved(v, k):\n    v[...] = v[::-1] * k\n    v.T[0] += k\n    return v")
        g = self.square()
        view = self.pick(
            g, f"{g}.T", f"{g}[:, ::2]", f"{g}[::-1]", f"{g}[:, ::-1]", f"{g}[1:, :]", f"np.asfortranarray({g})"
        )
        self.result(f"np.sum(halved({view}, {self.scalar(0)})[0]) + {self.weights(g)}")
        return True

    def returned_argument(self, budget: int) -> bool:
        """The argument that a function stores into and returns is the argument."""
        a = self.vector()
        if a is None:
            return False
        self.define(
            "def relaxed(p, b, k=0.3):\n    for i in range(1, p.shape[0] - 1):\n        p[i] = p[i] + k * (p[i - 1] - 2.0 * p[i] + p[i + 1] + b)\n    return p"
        )
        p, q, k = self.new("p"), self.new("q"), self.new("k")
        self.line(f"{p} = {a}{self.pick('', '.copy()', ' * 1.0')}")
        self.line(f"{q} = {self.pick(p, p + '[::-1]', a)}")
        self.line(f"for {k} in range({self.pick('3', '5', 'n')}):")
        self.line(f"    {self.pick(p + ' = ', p + ' = ', '')}relaxed({self.pick(p, p, q)}, {self.scalar(0)})")
        self.read(p, q, a)
        return True

    def pairwise(self, budget: int) -> bool:
        """Distances of points from each other, whose diagonal is zero."""
        a = self.vector()
        if a is None:
            return False
        q, r = self.new("q"), self.new("r")
        difference = f"{a}[:, None] - {a}{self.pick('', '[None, :]')}"
        if self.chance(0.4):
            self.line(f"{q} = np.stack([{a}, np.sin({a} * 1.3)], axis=1)")
            difference = f"{q}[:, None] - {q}"
            squares = f"(({difference}) ** 2).sum(-1)"
        else:
            squares = f"({difference}) ** 2"
        self.line(f"{r} = {self.pick(f'np.sqrt({squares})', f'({squares}) ** 0.5')}")
        self.result(
            "np.sum("
            + self.pick(
                f"np.exp(-{r} ** 2)", f"1.0 / (1.0 + {r} ** 2)", f"np.log1p({r} * {r})", f"np.cos({r}) * 0.5", f"np.tanh({r} ** 2) * {a}",
                f"np.where({r} > 0, {r}, 0.0)[0, 1:]", f"{r}[np.triu_indices(n, 1)]", f"({r} + np.eye(n))[~np.eye(n, dtype=bool)]",
            )
            + ")"
        )  # fmt: skip
        return True

    def masked_infinity(self, budget: int) -> bool:
        """A derivative that is infinite where the cotangent is zero for sure."""
        a = self.vector()
        if a is None:
            return False
        z = self.new("z")
        self.line(f"{z} = np.abs({a}) * np.array([0.0, 1.0, 1.0] + [0.5] * (n - 3))")
        self.result(
            "np.sum("
            + self.pick(
                f"np.sqrt({z})[1:]", f"np.where({z} > 0, np.sqrt({z}), 0.0)", f"({z} ** 0.5)[{z} > 0]", f"np.sqrt({z}) * ({z} > 0)",
                f"np.array([0.0, 1.0, 2.0]) * np.sqrt({z}[:3])", f"np.where({z} > 0, np.log(np.where({z} > 0, {z}, 1.0)), 0.1)",
                f"np.exp(-(({z} ** 1.0) ** 2))",
            )
            + ")"
        )  # fmt: skip
        return True
