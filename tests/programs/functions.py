"""Random programs: functions of every kind, gradients inside, and the numerical functions of NumPy."""

from __future__ import annotations

from tests.programs.exotics import Exotics, N


class Functions(Exotics):
    def function_forms(self) -> list[str]:
        return [
            "nonlocal_state",
            "late_closure",
            "signature",
            "starred_call",
            "function_table",
            "passed_function",
            "decorated",
            "partial",
            "recursion",
            "mutual_recursion",
            "array_recursion",
            "cached",
            "function_factory",
            "inner_gradient",
            "inner_value_and_grad",
            "gradient_of_helper",
            "step_of_descent",
        ]

    def number_forms(self) -> list[str]:
        return [
            "matrix_reductions",
            "products",
            "normalised",
            "complex_numbers",
            "integers",
            "math_functions",
            "elementwise",
            "array_functions",
            "linear_solve",
            "empty_and_scalar_arrays",
        ]

    # --- functions ---------------------------------------------------------------------------------------------------

    def nonlocal_state(self, budget: int) -> bool:
        """A nested function that rebinds a variable of its enclosing one."""
        if self.in_helper:
            return False
        state, name, i = self.new("state"), self.new("bump"), self.new("i")
        self.line(f"{state} = {self.scalar(0)}")
        self.line(f"def {name}(v):")
        self.line(f"    nonlocal {state}")
        self.line(f"    {state} = np.sin({state} + v)")
        self.line(f"    return {state} * {self.constant()}")
        if self.chance(0.5):
            self.line(f"for {i} in range(3):")
            self.line(f"    {name}({self.scalar(0)} * {i})")
        self.result(f"{name}({self.scalar(0)}) + {state}")
        return True

    def late_closure(self, budget: int) -> bool:
        """A closure reads its variable when it is called."""
        k, name = self.new("k"), self.new("g")
        self.line(f"{k} = {self.scalar(0)}")
        self.line(f"{name} = lambda v{self.pick('', f', w={k}')}: v * {k} + {self.constant()}")
        t = self.result(f"{name}({self.scalar(0)})")
        self.line(f"{k} = {self.scalar(0)} * {t}")
        self.result(f"{name}({t})")
        if self.chance(0.3):
            fs = self.new("fs")
            self.line(f"{fs} = [lambda v{self.pick('', ', j=j')}: v * (j + 1) * {self.constant()} for j in range(3)]")
            self.result(f"sum(g({self.scalar(0)}) for g in {fs})")
        return True

    def signature(self, budget: int) -> bool:
        """Parameters of all kinds."""
        name = self.new("g")
        form = self.random.randrange(5)
        a, b = self.scalar(0), self.scalar(0)
        if form == 0:
            self.line(f"def {name}(u, /, v=0.5, *, w={self.constant()}):")
            self.line("    return u * v + np.sin(w)")
            calls = [f"{name}({a})", f"{name}({a}, {b})", f"{name}({a}, w={b})", f"{name}({a}, v={b}, w=0.2)"]
        elif form == 1:
            self.line(f"def {name}(*vs, k=1.0):")
            self.line(
                f"    return {self.pick('sum(vs) * k', 'vs[0] * len(vs) + vs[-1] * k', 'sum(v * v for v in vs)')}"
            )
            calls = [
                f"{name}({a})",
                f"{name}({a}, {b}, k=0.5)",
                f"{name}(*[{a}, {b}, 0.3])",
                f"{name}(*({a}, {b}), k={b})",
            ]
        elif form == 2:
            self.line(f"def {name}(v, **options):")
            self.line(
                f"    return v * options.get('k', 0.7) + {self.pick('len(options)', 'sum(options.values())', 'options.pop(' + repr('q') + ', 0.1)')}"
            )
            calls = [f"{name}({a})", f"{name}({a}, k={b})", f"{name}({a}, **{{'k': {b}, 'q': 0.5}})"]
        elif form == 3:
            self.line(f"def {name}(v, *rest, scale=0.5, **more):")
            self.line("    return (v + sum(rest)) * scale + more.get('c', 0.0)")
            calls = [f"{name}({a}, {b}, scale=2.0)", f"{name}({a}, *[{b}], c={a})"]
        else:
            self.line(f"def {name}(v, w=None):")
            self.line("    if w is None:")
            self.line(f"        w = v * {self.constant()}")
            self.line("    return v * w")
            calls = [f"{name}({a})", f"{name}({a}, {b})", f"{name}(w={a}, v={b})"]
        self.result(self.random.choice(calls))
        return True

    def starred_call(self, budget: int) -> bool:
        a = self.vector() or "y"
        self.define("def blend(p, q, r=0.5, *, k=1.0):\n    return p * q + np.sin(r) * k")
        t = self.new("args")
        self.line(f"{t} = ({self.scalar(0)}, {self.scalar(0)}{self.pick('', ', ' + self.scalar(0))})")
        self.result(
            self.pick(
                f"blend(*{t})", f"blend(*{t}, k={self.scalar(0)})", f"blend(*{a}[:2])", f"blend({a}[0], *{t}[:1], **{{'k': {self.scalar(0)}}})",
                f"blend(**dict(p={self.scalar(0)}, q=0.3))",
            )
        )  # fmt: skip
        return True

    def function_table(self, budget: int) -> bool:
        """Functions in dicts and lists."""
        name, g, t = self.new("table"), self.new("g"), self.new("t")
        if self.chance(0.5):
            self.line(f"{name} = {{'a': np.sin, 'b': lambda v: v * {self.scalar(0)}, 'c': np.tanh}}")
            self.result(f"{name}['{self.pick('a', 'b', 'c')}']({self.scalar(0)})")
        else:
            self.line(f"{name} = [np.cos, lambda v: v * v, abs]")
        self.line(f"{t} = {self.scalar(0)}")
        self.line(f"for {g} in {name}{'.values()' if '{' in self.lines[-2] or '{' in self.lines[-3] else ''}:")
        self.line(f"    {t} = {g}({t}) + 0.1")
        self.scope.scalars.append(t)
        return True

    def passed_function(self, budget: int) -> bool:
        self.define(
            "def twice(g, v):\n    return g(g(v))\n\n\ndef repeat(g, v, times):\n    for _ in range(times):\n        v = g(v)\n    return v"
        )
        g = self.pick("np.sin", f"lambda v: v * {self.scalar(0)}", "np.tanh", f"lambda v: {self.smooth('v')}")
        self.result(
            self.pick(
                f"twice({g}, {self.scalar(0)})", f"repeat({g}, {self.scalar(0)}, {self.pick('2', '3', 'n', '0')})"
            )
        )
        return True

    def decorated(self, budget: int) -> bool:
        self.define("import functools")
        self.define(
            "def scaled(k):\n    def wrap(g):\n        @functools.wraps(g)\n        def inner(*args, **kwargs):\n            return g(*args, **kwargs) * k\n\n"
            "        return inner\n\n    return wrap\n\n\n@scaled(0.7)\ndef bent(v, w=0.2):\n    return np.sin(v) + w * v"
        )
        self.result(self.pick(f"bent({self.scalar(0)})", f"bent({self.scalar(0)}, w={self.scalar(0)})"))
        return True

    def partial(self, budget: int) -> bool:
        self.define("import functools")
        g = self.new("g")
        self.line(
            f"{g} = functools.partial(lambda p, q, r=1.0: p * q + np.cos(r), {self.scalar(0)}{self.pick('', f', r={self.scalar(0)}')})"
        )
        self.result(f"{g}({self.scalar(0)}{self.pick('', ', r=0.5')})")
        return True

    def recursion(self, budget: int) -> bool:
        self.define(
            "def power(v, k):\n    if k == 0:\n        return 1.0\n    return v * power(v, k - 1)\n\n\n"
            "def newton(v, g, depth):\n    if depth == 0 or abs(g * g - v) < 1e-3:\n        return g\n    return newton(v, 0.5 * (g + v / g), depth - 1)"
        )
        self.result(
            self.pick(
                f"power({self.scalar(0)}, {self.pick('2', '3', 'n // 2')}) * 0.3",
                f"newton(1.0 + ({self.scalar(0)}) ** 2, 1.0, {self.pick('2', '6')})",
            )
        )
        return True

    def mutual_recursion(self, budget: int) -> bool:
        self.define(
            "def even(v, k):\n    return v if k == 0 else odd(np.sin(v), k - 1)\n\n\ndef odd(v, k):\n    return v * 0.5 if k == 0 else even(v + 0.2, k - 1)"
        )
        self.result(f"{self.pick('even', 'odd')}({self.scalar(0)}, {self.pick('3', '4', 'n')})")
        return True

    def array_recursion(self, budget: int) -> bool:
        """Divide and conquer on slices."""
        a = self.vector()
        if a is None:
            return False
        self.define(
            "def total(v):\n    if len(v) == 1:\n        return v[0] * v[0]\n    half = len(v) // 2\n    return total(v[:half]) + np.sin(total(v[half:]))"
        )
        self.result(f"total({a})")
        return True

    def cached(self, budget: int) -> bool:
        self.define("import functools")
        self.define("@functools.lru_cache(maxsize=None)\ndef looked_up(v, k=2):\n    return np.sin(v) * k")
        self.result(f"looked_up({self.scalar(0)} * 1.0{self.pick('', ', 3')})")
        return True

    def function_factory(self, budget: int) -> bool:
        self.define(
            "def polynomial(*coefficients):\n    def value(v):\n        out = 0.0\n        for c in coefficients:\n            out = out * v + c\n        return out\n\n    return value"
        )
        g = self.new("g")
        self.line(f"{g} = polynomial({self.scalar(0)}, {self.scalar(0)}, 0.5)")
        self.result(f"np.sin({g}({self.scalar(0)}))")
        return True

    # --- gradients inside --------------------------------------------------------------------------------------------

    def inner_gradient(self, budget: int) -> bool:
        self.define("import autodiff_compiler as ad")
        g = self.new("g")
        self.line(f"{g} = lambda v: {self.smooth(f'v * {self.scalar(0)}')} * v")
        self.result(f"ad.grad({g})({self.scalar(0)} * 1.0)")
        return True

    def inner_value_and_grad(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        self.define("import autodiff_compiler as ad")
        g, value, slope = self.new("g"), self.new("t"), self.new("a")
        self.line(f"def {g}(v):")
        self.line(f"    {self.pick('v = v * 2.0', 'v = v.copy(); v[0] = v[1] * v[2]', 'w = np.sum(v)')}")
        self.line(f"    return np.sum(np.sin(v) * {self.scalar(0)}) * v[0]")
        self.line(f"{value}, {slope} = ad.value_and_grad({g})({a})")
        self.scope.scalars.append(value)
        self.scope.arrays[slope] = (N,)
        return True

    def gradient_of_helper(self, budget: int) -> bool:
        self.define("import autodiff_compiler as ad")
        body = self.pick(
            "    return np.sum(np.sin(v) * k)",
            "    out = 0.0\n    for e in v:\n        out = np.sin(out + e * k)\n    return out",
            "    return np.sum(v * v) * np.cos(k)",
        )
        self.define(f"def energy(v, k):\n{body}\n\n\nforce = ad.grad(energy)\nboth = ad.grad(energy, argnums=(0, 1))")
        a = self.vector()
        if a is None:
            return False
        c = self.new("a")
        if self.chance(0.6):
            self.line(f"{c} = force({a}, {self.scalar(0)} * 1.0)")
        else:
            t = self.new("t")
            self.line(f"{c}, {t} = both({a}, {self.scalar(0)} * 1.0)")
            self.scope.scalars.append(t)
        self.scope.arrays[c] = (N,)
        return True

    def step_of_descent(self, budget: int) -> bool:
        """An optimiser in a loop, differentiated through."""
        a = self.vector()
        if a is None or self.loops:
            return False
        self.define("import autodiff_compiler as ad")
        self.define("def loss(v, k):\n    return np.sum((v - k) ** 2) + np.sum(np.sin(v))")
        c, i = self.new("a"), self.new("i")
        self.line(f"{c} = {a} * 1.0")
        self.line(f"for {i} in range({self.pick('2', '3')}):")
        self.line(
            f"    {c} {self.pick('-=', '=')} {self.pick('0.1 * ', f'{c} - 0.1 * ')}ad.grad(loss)({c}, {self.scalar(0)} * 1.0)"
        )
        self.scope.arrays[c] = (N,)
        return True

    # --- numbers -----------------------------------------------------------------------------------------------------

    def matrix_reductions(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        name = self.array_name(2)
        if name is None or self.chance(0.3):
            name = self.new("g")
            self.line(
                f"{name} = np.outer({a}, {self.pick(a, f'np.sin({a})', 'np.arange(1.0, 4.0)')}) + {self.scalar(0)}"
            )
        axis = self.pick("0", "1", "-1")
        self.result(
            "np.sum("
            + self.pick(
                f"{name}.sum(axis={axis})", f"np.mean({name}, axis={axis})", f"{name}.max(axis={axis})", f"np.prod({name}, axis={axis}) * 0.1",
                f"{name}.std(axis={axis})", f"np.var({name}, axis={axis})", f"np.cumsum({name}, axis={axis}) * 0.1", f"np.min({name}, axis={axis}, keepdims=True) * {name}",
                f"np.linalg.norm({name}, axis={axis})", f"{name} / (1.0 + np.sum({name} ** 2, axis={axis}, keepdims=True))",
                f"np.exp({name} - {name}.max(axis={axis}, keepdims=True)) * 0.3", f"np.sort({name}, axis={axis})[0]",
                f"np.log(np.sum(np.exp({name} * 0.3), axis={axis}))", f"np.diff({name}, axis={axis}) ** 2", f"np.swapaxes({name}, 0, 1)[0]",
                f"{name}[:, None, :] * {name}[None, :, :1] * 0.1",
            )
            + f") * {self.constant()}"
        )  # fmt: skip
        return True

    def products(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        name = self.new("g")
        self.line(f"{name} = np.outer({a}, np.cos({a})) * 0.5")
        self.result(
            self.pick(
                f"np.sum({name} @ {a})", f"{a} @ {name} @ {a}", f"np.sum(np.dot({name}, {name}.T))", f"np.einsum('i,ij,j->', {a}, {name}, {a})",
                f"np.sum(np.einsum('ij,kj->ik', {name}, {name}) ** 2) * 0.1", f"np.trace({name} @ {name})", f"np.vdot({a}, {name}[0])",
                f"np.sum(np.tensordot({name}, {name}, axes=1)) * 0.2", f"np.inner({a}, {name}[:, 0])", f"np.sum(np.kron({a}[:2], {a}))",
                f"np.sum(np.matmul({name}[None], {name}.T[None])) * 0.2", f"np.sum(np.cross({a}[:3], {name}[0, :3]))",
            )
        )  # fmt: skip
        return True

    def normalised(self, budget: int) -> bool:
        """Forms that other tools get wrong."""
        a = self.vector()
        if a is None:
            return False
        c = self.new("a")
        self.line(
            f"{c} = "
            + self.pick(
                f"{a} / np.linalg.norm({a})", f"np.exp({a}) / np.sum(np.exp({a}))", f"({a} - {a}.mean()) / (0.1 + {a}.std())", f"{a} / (1.5 + {a}[0] ** 2)",
                f"(1.5 + {a} ** 2) ** {self.scalar(0)}", f"np.clip({a}, -0.7, 0.9)", f"np.full_like({a}, {a}[0])", f"{a} / (2.0 + np.max(np.abs({a})))",
                f"np.where({a} > 0, np.sqrt(np.abs({a})), 0.0)", f"np.maximum({a}, 0.0) * {self.scalar(0)}", f"1.0 / (1.0 + np.exp(-{a}))", f"np.logaddexp({a}, {self.scalar(0)})",
                f"np.abs({a}) ** 1.5", f"np.sign({a}) * {a} ** 2", f"np.hypot({a}, {self.scalar(0)})", f"np.arctan2({a}, 1.5 + {a} ** 2)",
                f"np.cos(np.sqrt(({a}[:, None] - {a}) ** 2)).sum(1)", f"np.exp(-np.linalg.norm({a}[:, None, None] - {a}[:, None], axis=-1) ** 2).mean(0)",
                f"np.tanh(np.abs({a}[:, None] - {a}) ** 3).sum(axis=0)",
            )
        )  # fmt: skip
        self.scope.arrays[c] = (N,)
        return True

    def complex_numbers(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        z = self.new("z")
        self.line(
            f"{z} = {self.pick(f'{a} * (0.5 + 1j * {self.scalar(0)})', f'np.exp(1j * {a})', f'{a} + 1j * np.sin({a})', f'({a} * 0.7).astype(complex)')}"
        )
        if self.chance(0.4):
            self.line(
                self.pick(
                    f"{z}[0] = {z}[1] * 1j",
                    f"{z} *= {z}",
                    f"{z} = {z}.conj() * (1 - 2j)",
                    f"{z}[1:] += {self.scalar(0)}",
                )
            )
        self.result(
            self.pick(
                f"np.sum(np.abs({z}) ** 2)", f"np.sum(({z} * {z}).real)", f"np.sum(np.imag({z} * np.exp(0.3 * {z})))", f"abs(np.sum({z})) * 0.5",
                f"np.real(np.vdot({z}, {z}))", f"np.sum({z}.real * {z}.imag)", f"np.real({z} @ np.conj({z}))", f"np.real({z}[0] / (2.0 + np.abs({z}[1]) ** 2))",
            )
        )  # fmt: skip
        return True

    def integers(self, budget: int) -> bool:
        """Integer and boolean arrays beside the floats."""
        a = self.vector()
        if a is None:
            return False
        k = self.new("k")
        self.line(
            f"{k} = {self.pick('np.arange(n)', 'np.array([2, 0, 1])', 'np.zeros(n, dtype=int)', 'np.ones(n, dtype=bool)', f'({a} > 0).astype(int)')}"
        )
        if self.chance(0.5):
            self.line(f"{k}[0] = 1")
        m = self.pick(
            f"np.sum({a}[:3] * {k}[:3])",
            f"{a}[{k}[0]] * {k}[1]",
            f"np.sum({a}[:3] ** {k}[:3]) * 0.3",
            f"np.sum({a}[{k}[:2]])",
            f"({k} + 0.5)[0] * {a}[int({k}.sum()) % 3]",
        )
        self.result(m)
        return True

    def math_functions(self, budget: int) -> bool:
        self.define("import math")
        v = self.scalar(0)
        self.result(
            self.pick(
                f"math.sin({v})", f"math.exp(-abs({v}))", f"math.sqrt(1.0 + ({v}) ** 2)", f"math.log(2.0 + abs({v}))", f"math.hypot({v}, 1.0)", f"math.cos(math.sqrt(({v}) ** 2))",
                f"math.atan2({v}, 2.0)", f"math.tanh({v}) * math.pi", f"math.pow(1.5 + abs({v}), 1.3)", f"math.fabs({v})", f"math.floor({v}) * {v}",
                f"math.erf({v})", f"math.log1p(abs({v}))", f"round({v}, 1) + {v}", f"divmod({v}, 1.0)[1]", f"pow({v}, 2)", f"math.cosh({v} * 0.3)",
            )
        )  # fmt: skip
        return True

    def elementwise(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        c = self.new("a")
        self.line(
            f"{c} = "
            + self.pick(
                f"np.sinh({a} * 0.3)", f"np.arctan({a})", f"np.expm1({a} * 0.2)", f"np.log1p(np.abs({a}))", f"np.square({a})", f"np.cbrt(1.0 + {a} ** 2)",
                f"np.power(np.abs({a}) + 0.5, {self.scalar(0)})", f"np.minimum({a}, {b} * 0.5)", f"np.fmax({a}, 0.1)", f"np.heaviside({a}, 0.5) * {b}",
                f"np.copysign({a}, {b})", f"np.floor({a}) + {a}", f"{a} % 0.7", f"{a} // 0.5 + {b}", f"np.reciprocal(1.5 + {a} ** 2)", f"np.sinc({a})",
                f"np.nan_to_num({a})", f"-{a} + abs({b})", f"np.exp2({a} * 0.5)", f"np.rint({a}) * {b}", f"np.float_power(1.2 + {a} ** 2, 0.7)", f"np.arcsinh({a})",
            )
        )  # fmt: skip
        self.scope.arrays[c] = (N,)
        return True

    def array_functions(self, budget: int) -> bool:
        a, b = self.vector(), self.vector()
        if a is None or b is None:
            return False
        self.result(
            "np.sum("
            + self.pick(
                f"np.concatenate([{a}, {b} * 2.0]) ** 2", f"np.stack([{a}, {b}], axis=1)[:, 0]", f"np.repeat({a}, 2) * np.tile({b}, 2)", f"np.roll({a}, 1) * {b}",
                f"np.flip({a}) * {b}", f"np.pad({a}, 1)[1:-1] * {b}", f"np.convolve({a}, [0.5, 1.0, -0.3], mode='same')", f"np.interp(0.3 * {a}, [-2.0, 0.0, 2.0], [0.1, 0.5, -0.4])",
                f"np.split({a}, 2)[1] * np.split({b}, 2)[0]", f"np.take({a}, [0, 2, 2])", f"np.cumprod(1.0 + 0.1 * {a})", f"np.gradient({a}) * {b}", f"np.append({a}, {b}[:1])",
                f"np.atleast_2d({a}) @ {b}", f"np.broadcast_to({a}, (2, n)) * np.arange(2.0)[:, None]", f"np.expand_dims({a}, 1) * {b}", f"np.hstack([{a}[:1], {b}[1:]])", f"np.tril(np.outer({a}, {b}))",
                f"np.array([{a}[0], {b}[1] * 2.0, {self.scalar(0)}])", f"np.array([[{a}[0], {self.scalar(0)}], [0.5, {b}[0]]]) ** 2", f"np.meshgrid({a}, {b})[0] * 0.2", f"np.fft.fft({a}).real * {b}", f"np.median({a}) * {b}",
                f"np.where({a} > {b}, {a}, {b})", f"np.linspace({a}[0], {b}[1], 4)", f"np.diag({a}) @ {b}", f"np.ones((2, n)) * {a}", f"np.delete({a}, 1)", f"np.insert({a}, 1, {self.scalar(0)})", f"np.select([{a} > 0.5, {a} > 0], [{a}, {b}], 0.1)",
            )
            + f") * {self.constant()}"
        )  # fmt: skip
        return True

    def linear_solve(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        g = self.new("g")
        self.line(f"{g} = np.outer({a}, {a}) * 0.3 + np.eye(n) * (2.0 + {self.scalar(0)} ** 2)")
        self.result(
            self.pick(
                f"np.sum(np.linalg.solve({g}, {a}))", f"np.log(np.linalg.det({g}))", f"np.linalg.slogdet({g})[1]", f"np.sum(np.linalg.inv({g}) @ {a})", f"np.sum(np.linalg.cholesky({g}))",
                f"np.linalg.eigvalsh({g} + np.diag(np.arange(n) * 1.0))[-1]", f"np.sum(np.linalg.eigh({g} + np.diag(np.arange(n) * 1.0))[0] ** 2)", f"np.linalg.norm({g})", f"np.sum(np.linalg.svd({g} + np.diag(np.arange(n) * 1.0), compute_uv=False))",
            )
        )  # fmt: skip
        return True

    def empty_and_scalar_arrays(self, budget: int) -> bool:
        a = self.vector()
        if a is None:
            return False
        self.result(
            self.pick(
                f"np.sum({a}[n:]) + {a}[0]", f"np.sum({a}[:0] * 2.0) + {self.scalar(0)}", f"np.array({self.scalar(0)}) * 2.0", f"np.array({a}[0]).reshape(1)[0] * 0.5",
                f"np.sum(np.array([{a}[0]]))", f"({a}[:1] * {a}).sum()", f"np.asarray({self.scalar(0)} * 1.0)[()]", f"{a}.sum()", f"np.squeeze({a}[:1]) * 1.5",
                f"float({a}[0]) * {self.scalar(0)}", f"{a}[:1].item() * 2.0",
            )
        )  # fmt: skip
        return True
