"""Calls that the documentation of a package leaves out. They run while the recorder listens.

Each function makes some calls of public functions and methods. What a call returns is not looked at here: the check
differentiates each call that was seen, and of a method without a result what it left in the object.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def restore_names() -> None:
    """Names that Python and NumPy have since removed, without which `numpy_ml` cannot be imported."""
    import collections
    import collections.abc

    collections.Hashable = collections.abc.Hashable  # type: ignore[attr-defined]
    for name, kind in (("float", float), ("int", int), ("bool", bool), ("object", object)):
        if name not in vars(np):
            setattr(np, name, kind)


def opfunu() -> Iterator[Callable[[], Any]]:
    """Each problem at a point inside of its bounds."""
    modules = [f"opfunu.name_based.{letter}_func" for letter in "abcdefghijklmnopqrstuvwxyz"]
    modules += [
        f"opfunu.cec_based.cec{year}" for year in (2005, 2008, 2010, 2013, 2014, 2015, 2017, 2019, 2020, 2021, 2022)
    ]
    for name in modules:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        for kind in list(vars(module).values()):
            if isinstance(kind, type) and kind.__module__ == name and "evaluate" in vars(kind):
                yield lambda kind=kind: evaluated(kind)


def evaluated(kind: Any) -> None:
    problem = kind()
    rng = np.random.RandomState(7)
    problem.evaluate(problem.lb + (problem.ub - problem.lb) * rng.uniform(0.3, 0.7, problem.ndim))


def kalman_filters() -> Iterator[Callable[[], Any]]:
    import filterpy.common as common
    import filterpy.kalman as kalman
    from filterpy import discrete_bayes, gh, hinfinity, leastsq, memory, stats

    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([[1.0, 0.3]])
    Q = np.array([[0.02, 0.01], [0.01, 0.03]])
    P = np.array([[2.0, 0.3], [0.3, 1.5]])
    B = np.array([[0.5], [1.0]])
    x = np.array([[0.4], [1.2]])

    def linear(kind: Any, **more: Any) -> Any:
        kf = kind(dim_x=2, dim_z=1, **more)
        kf.x, kf.F, kf.H, kf.Q = x.copy(), F.copy(), H.copy(), Q.copy()
        if not isinstance(kf, kalman.InformationFilter):
            kf.P = P.copy()
        kf.R = np.array([[0.7]])
        return kf

    def steps(kf: Any) -> None:
        for z in (0.9, 1.1):
            kf.predict()
            kf.update(np.array([[z]]))

    def plain() -> None:
        kf = linear(kalman.KalmanFilter, dim_u=1)
        kf.B = B.copy()
        kf.predict(u=np.array([[0.2]]))
        kf.update(np.array([[0.9]]))
        kf.update(np.array([[0.8]]), R=np.array([[0.5]]), H=H)
        kf.residual_of(np.array([[0.8]]))
        kf.measurement_of_state(x)
        kf.get_prediction(u=np.array([[0.1]]))
        kf.get_update(np.array([[1.0]]))
        kf.predict_steadystate(u=np.array([[0.1]]))
        kf.update_steadystate(np.array([[1.0]]))
        kf.update_correlated(np.array([[1.0]]))
        kf.update_sequential(0, np.array([[1.0]]))
        kf.log_likelihood_of(np.array([[1.0]]))

    def batch() -> None:
        zs = [np.array([[z]]) for z in (0.3, 0.5, 0.8, 0.9)]
        kf = linear(kalman.KalmanFilter)
        xs, ps, _, _ = kf.batch_filter(zs)
        kf.rts_smoother(xs, ps)
        n = len(zs)
        xs, ps, _, _ = kalman.batch_filter(x, P, zs, [F] * n, [Q] * n, [H] * n, [np.array([[0.7]])] * n)
        kalman.rts_smoother(xs, ps, [F] * n, [Q] * n)

    def functions() -> None:
        kalman.predict(x, P, F, Q)
        kalman.predict(0.4, 2.0, 1.0, 0.1, 0.3)
        kalman.update(x, P, np.array([[0.9]]), np.array([[0.7]]), H)
        kalman.update(x, P, np.array([[0.9]]), np.array([[0.7]]), H, return_all=True)
        kalman.predict_steadystate(x, F)
        kalman.update_steadystate(x, np.array([[0.9]]), np.array([[0.3], [0.2]]), H)

    def unscented(points: Any) -> Callable[[], Any]:
        def run() -> None:
            import math

            def fx(x: Any, dt: float) -> Any:
                return np.array([x[0] + dt * x[1], x[1] - dt * math.sin(x[0])])

            def hx(x: Any) -> Any:
                return np.array([math.hypot(x[0], 2.0)])

            kf = kalman.UnscentedKalmanFilter(2, 1, 0.1, hx, fx, points())
            kf.x, kf.P, kf.Q, kf.R = np.array([0.4, 1.2]), P.copy(), Q.copy(), np.array([[0.7]])
            kf.predict()
            kf.update(np.array([2.1]))
            kf.batch_filter([np.array([z]) for z in (2.1, 2.2, 2.4)])
            kf.rts_smoother(np.array([[0.4, 1.2], [0.5, 1.1], [0.6, 0.9]]), np.array([P, P, P]))

        return run

    def extended() -> None:
        kf = kalman.ExtendedKalmanFilter(2, 1)
        kf.x, kf.F, kf.P, kf.Q, kf.R = x.copy(), F.copy(), P.copy(), Q.copy(), np.array([[0.7]])

        def jacobian(x: Any) -> Any:
            return np.array([[x[0, 0], 2.0]]) / np.sqrt(x[0, 0] ** 2 + 4.0)

        def measured(x: Any) -> Any:
            return np.sqrt(x[0:1] ** 2 + 4.0)

        kf.predict()
        kf.update(np.array([[2.1]]), jacobian, measured)
        kf.predict_update(np.array([[2.2]]), jacobian, measured)

    def cubature() -> None:
        def fx(x: Any, dt: float) -> Any:
            return np.array([x[0] + dt * x[1], x[1] - dt * np.sin(x[0])])

        def hx(x: Any) -> Any:
            return np.array([np.sqrt(x[0] ** 2 + 4.0)])

        kf = kalman.CubatureKalmanFilter(2, 1, 0.1, hx, fx)
        kf.x, kf.P, kf.Q, kf.R = np.array([[0.4], [1.2]]), P.copy(), Q.copy(), np.array([[0.7]])
        kf.predict()
        kf.update(np.array([[2.1]]))
        kalman.spherical_radial_sigmas(np.array([[0.4], [1.2]]), P)
        kalman.ckf_transform(np.array([[0.4, 1.2], [0.5, 1.1], [0.6, 0.9]]), Q)

    def ensemble() -> None:
        kf = kalman.EnsembleKalmanFilter(
            np.array([0.4, 1.2]), P.copy(), 1, 0.1, 8, lambda x: np.array([x[0]]), lambda x, dt: F @ x
        )
        kf.Q, kf.R = Q.copy(), np.array([[0.7]])
        kf.predict()
        kf.update(np.array([0.5]))

    def points() -> None:
        kalman.MerweScaledSigmaPoints(2, 0.5, 2.0, 1.0).sigma_points(np.array([0.4, 1.2]), P)
        kalman.JulierSigmaPoints(2, 1.0).sigma_points(np.array([0.4, 1.2]), P)
        kalman.SimplexSigmaPoints(2).sigma_points(np.array([0.4, 1.2]), P)
        sigmas = np.array([[0.4, 1.2], [0.5, 1.3], [0.3, 1.0], [0.6, 1.1], [0.2, 0.9]])
        weights = np.array([0.2, 0.1, 0.3, 0.25, 0.15])
        kalman.unscented_transform(sigmas, weights, weights, Q)

    def several() -> None:
        one, two = linear(kalman.KalmanFilter), linear(kalman.KalmanFilter)
        two.Q = 3.0 * Q
        imm = kalman.IMMEstimator([one, two], [0.6, 0.4], np.array([[0.9, 0.1], [0.2, 0.8]]))
        imm.predict()
        imm.update(np.array([[0.8]]))
        bank = kalman.MMAEFilterBank([one, two], [0.6, 0.4], dim_x=2, H=H)
        bank.predict()
        bank.update(np.array([[0.8]]))

    def other_filters() -> None:
        steps(linear(kalman.FadingKalmanFilter, alpha=1.02))

    def information() -> None:
        kf = kalman.InformationFilter(2, 1)
        kf.x, kf.F, kf.H, kf.Q = x.copy(), F.copy(), H.copy(), Q.copy()
        kf.P_inv, kf.R_inv = np.linalg.inv(P), np.array([[1.4]])
        steps(kf)

    def square_root() -> None:
        kf = kalman.SquareRootKalmanFilter(2, 1)
        kf.x, kf.F, kf.H, kf.Q, kf.P, kf.R = x.copy(), F.copy(), H.copy(), Q.copy(), P.copy(), np.array([[0.7]])
        steps(kf)

    def lagged() -> None:
        kf = kalman.FixedLagSmoother(2, 1, N=2)
        kf.x, kf.F, kf.H, kf.Q, kf.P, kf.R = x.copy(), F.copy(), H.copy(), Q.copy(), P.copy(), np.array([[0.7]])
        kf.smooth(np.array([[0.9]]))
        kf.smooth_batch([np.array([[z]]) for z in (0.3, 0.5, 0.8, 0.9)], 2)

    def robust() -> None:
        kf = hinfinity.HInfinityFilter(2, 1, 0, gamma=0.01)
        kf.x, kf.F, kf.H, kf.P, kf.W = x.copy(), F.copy(), H.copy(), 0.01 * P, 0.1 * Q
        kf.V = np.array([[0.7]])
        kf.predict()
        kf.update(np.array([[0.9]]))

    def simple_filters() -> None:
        first = gh.GHFilter(x=0.2, dx=0.5, dt=0.3, g=0.6, h=0.02)
        first.update(1.1)
        first.batch_filter([1.1, 1.3, 1.7])
        first.VRF_prediction()
        first.VRF()
        second = gh.GHKFilter(x=0.2, dx=0.5, ddx=0.1, dt=0.3, g=0.6, h=0.02, k=0.01)
        second.update(1.1)
        second.batch_filter([1.1, 1.3, 1.7])
        second.VRF_prediction()
        gh.GHFilterOrder(np.array([0.2, 0.5]), 0.3, 1, 0.6, 0.02).update(1.1)
        gh.optimal_noise_smoothing(0.6)
        gh.critical_damping_parameters(0.4, 2)
        gh.critical_damping_parameters(0.4, 3)
        gh.benedict_bornder_constants(0.6)
        gh.benedict_bornder_constants(0.6, True)
        fading = memory.FadingMemoryFilter([0.2, 0.5], 0.3, 1, 0.7)
        fading.update(1.1)
        squares = leastsq.LeastSquaresFilter(0.3, 1)
        for z in (0.9, 1.1, 1.4):
            squares.update(z)
        squares.errors()

    def common_functions() -> None:
        common.Q_discrete_white_noise(2, 0.3, 1.4)
        common.Q_discrete_white_noise(3, 0.3, 1.4, block_size=2)
        common.Q_discrete_white_noise(4, 0.3, 1.4, block_size=2, order_by_dim=False)
        common.Q_continuous_white_noise(2, 0.3, 1.4)
        common.Q_continuous_white_noise(3, 0.3, 1.4)
        common.van_loan_discretization(np.array([[0.0, 1.0], [-1.0, -0.3]]), np.array([[0.2], [1.5]]), 0.1)
        common.linear_ode_discretation(np.array([[0.0, 1.0], [-1.0, -0.3]]), np.array([[0.2], [1.5]]), np.eye(1), 0.1)
        common.kinematic_state_transition(2, 0.3)
        common.kinematic_kf(2, 1, 0.3)
        common.runge_kutta4(0.7, 0.2, 0.1, lambda y, x: x * y + 1.0)
        common.inv_diagonal(np.array([[2.0, 0.0], [0.0, 3.0]]))
        common.outer_product_sum(P, Q)
        common.order_by_derivative(np.array([[2.0, 1.0], [1.0, 3.0]]), 2, 2)
        common.reshape_z(np.array([0.4]), 1, 2)

    def statistics() -> None:
        stats.mahalanobis(np.array([0.4, 1.2]), np.array([0.1, 0.9]), P)
        stats.mahalanobis(0.4, 0.1, 2.0)
        stats.log_likelihood(np.array([[0.9]]), x, P, H, np.array([[0.7]]))
        stats.likelihood(np.array([[0.9]]), x, P, H, np.array([[0.7]]))
        stats.logpdf(np.array([0.4, 1.2]), np.array([0.1, 0.9]), P)
        stats.logpdf(0.4, 0.1, 2.0)
        stats.gaussian(0.4, 0.1, 2.0)
        stats.gaussian(np.array([0.4, 0.5]), 0.1, 2.0, normed=False)
        stats.mul(0.1, 2.0, 0.7, 3.0)
        stats.mul_pdf(0.1, 2.0, 0.7, 3.0)
        stats.add(0.1, 2.0, 0.7, 3.0)
        stats.multivariate_gaussian(np.array([0.4, 1.2]), np.array([0.1, 0.9]), P)
        stats.multivariate_multiply(np.array([0.4, 1.2]), P, np.array([0.1, 0.9]), Q)
        stats.covariance_ellipse(P)
        stats.norm_cdf((0.2, 1.1), 0.4, 2.0)
        stats.NEES(np.array([[0.4, 1.2]] * 3), np.array([[0.1, 0.9]] * 3), np.array([P] * 3))

    def grid() -> None:
        discrete_bayes.normalize(np.array([0.2, 0.5, 0.9]))
        discrete_bayes.update(np.array([0.2, 0.5, 0.9]), np.array([0.3, 0.3, 0.4]))
        discrete_bayes.predict(np.array([0.2, 0.5, 0.3]), 1, np.array([0.1, 0.8, 0.1]))
        discrete_bayes.predict(np.array([0.2, 0.5, 0.3]), 1, np.array([0.1, 0.8, 0.1]), mode="constant", cval=0.1)

    yield from (plain, batch, functions, extended, cubature, ensemble, points, several, other_filters, information)
    yield unscented(lambda: kalman.MerweScaledSigmaPoints(2, 0.5, 2.0, 1.0))
    yield from (square_root, lagged, robust, simple_filters, common_functions, statistics, grid)


def numpy_ml() -> Iterator[Callable[[], Any]]:
    def of(name: str) -> Any:
        return importlib.import_module(f"numpy_ml.{name}")

    rng = np.random.RandomState(11)
    X = rng.normal(size=(5, 4))
    Y = rng.normal(size=(5, 4))
    images = rng.normal(size=(2, 6, 6, 3))
    sequences = rng.normal(size=(3, 4, 5))

    def activations() -> Iterator[Callable[[], Any]]:
        for kind in vars(of("neural_nets.activations.activations")).values():
            if isinstance(kind, type) and hasattr(kind, "grad") and not inspect.isabstract(kind):
                yield lambda kind=kind: (kind().fn(X), kind()(X), kind().grad(X), kind().grad2(X))

    def losses() -> None:
        module = of("neural_nets.losses.losses")
        softmax = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)
        one_hot = np.eye(4)[[0, 2, 1, 3, 0]]
        sigmoid = of("neural_nets.activations.activations").Sigmoid()
        module.SquaredError()(Y, X)
        module.SquaredError.grad(Y, X, X, sigmoid)
        module.CrossEntropy()(one_hot, softmax)
        module.CrossEntropy.grad(one_hot, softmax)
        module.VAELoss()(softmax[:, :2], softmax[:, 1:3], X[:, :2], Y[:, :2])
        module.VAELoss.grad(softmax[:, :2], softmax[:, 1:3], X[:, :2], Y[:, :2])

    def layers() -> Iterator[Callable[[], Any]]:
        module = of("neural_nets.layers.layers")

        def passed(make: Callable[[Any], Any], *inputs: Any) -> Callable[[], Any]:
            def run() -> None:
                np.random.seed(3)
                layer = make(module)
                layer.forward(*inputs)
                result = layer.forward(*inputs)
                layer.backward(np.random.normal(size=np.shape(result)))

            return run

        yield passed(lambda m: m.FullyConnected(3, act_fn="Tanh"), X)
        yield passed(lambda m: m.Softmax(), X)
        yield passed(lambda m: m.Add(act_fn="Sigmoid"), [X, Y])
        yield passed(lambda m: m.Multiply(act_fn="Tanh"), [X, Y])
        yield passed(lambda m: m.Flatten(), images)
        yield passed(lambda m: m.BatchNorm1D(), X)
        yield passed(lambda m: m.BatchNorm2D(), images)
        yield passed(lambda m: m.LayerNorm1D(), X)
        yield passed(lambda m: m.LayerNorm2D(), images)
        yield passed(lambda m: m.DotProductAttention(), rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), Y[:3])
        yield passed(lambda m: m.RBM(4), X)
        yield passed(lambda m: m.Conv1D(2, 3), rng.normal(size=(2, 7, 3)))
        yield passed(lambda m: m.Conv2D(2, (3, 3), act_fn="Tanh"), images)
        yield passed(lambda m: m.Conv2D(2, (3, 3), pad=1, stride=2), images)
        yield passed(lambda m: m.Pool2D((2, 2), 2), images)
        yield passed(lambda m: m.Pool2D((2, 2), 2, mode="average"), images)
        yield passed(lambda m: m.Deconv2D(2, (3, 3)), images)
        yield passed(lambda m: m.RNNCell(3), X)
        yield passed(lambda m: m.LSTMCell(3), X)
        yield passed(lambda m: m.RNN(3), sequences)
        yield passed(lambda m: m.LSTM(3), sequences)

    def optimizers() -> None:
        module = of("neural_nets.optimizers.optimizers")
        for make in (module.SGD, module.AdaGrad, module.RMSProp, module.Adam):
            kind = make()
            for _ in range(2):
                kind(X, Y, "W", 0.3)
        schedulers = of("neural_nets.schedulers.schedulers")
        schedulers.ExponentialScheduler(0.1, 3, True, 0.2)(5)
        schedulers.NoamScheduler(16, 1.3, 50)(7)

    def helpers() -> None:
        utils = of("neural_nets.utils.utils")
        utils.pad2D(images, 1, (3, 3), 1)
        utils.pad1D(sequences, 1, 3, 1)
        utils.dilate(images, 1)
        utils.im2col(images, (3, 3, 3, 2), 1, 1)
        W = rng.normal(size=(3, 3, 3, 2))
        utils.conv2D(images, W, 1, 1)
        utils.conv2D_naive(images, W, 1, 1)
        utils.conv1D(sequences, rng.normal(size=(2, 5, 3)), 1, 0)
        utils.deconv2D_naive(images, W, 1, 0)
        utils.calc_fan((3, 4))
        utils.he_uniform((3, 4))
        utils.glorot_normal((3, 4), 1.3)
        utils.truncated_normal(0.2, 1.3, (3, 4))

    def kernels() -> None:
        module = of("utils.kernels")
        for kind in (module.LinearKernel(0.3), module.PolynomialKernel(3, 0.4, 1.2), module.RBFKernel(0.8)):
            kind(X, Y)
            kind(X)
        module.pairwise_l2_distances(X, Y)
        distances = of("utils.distance_metrics")
        for name in ("euclidean", "manhattan", "chebyshev", "hamming"):
            getattr(distances, name)(X[0], Y[0])
        distances.minkowski(X[0], Y[0], 2.5)
        windows = of("utils.windows")
        windows.generalized_cosine(9, [0.4, 0.5, 0.1])

    def linear() -> None:
        module = of("linear_models.lm")
        target = X @ np.array([0.3, -0.2, 0.5, 1.0]) + 0.1
        data, held = rng.normal(size=(9, 3)), rng.normal(size=(4, 3))
        target = data @ np.array([0.3, -0.2, 0.5]) + 0.1 * rng.normal(size=9)
        for model in (
            module.LinearRegression(), module.RidgeRegression(0.3), module.BayesianLinearRegressionUnknownVariance(),
            module.BayesianLinearRegressionKnownVariance(0.1, 0.9),
        ):  # fmt: skip
            model.fit(data, target)
            model.predict(held)
        logistic = module.LogisticRegression(gamma=0.2)
        logistic.fit(data, (target > 0).astype(float), max_iter=20)
        logistic.predict(held)
        module.sigmoid(X)

    def other_models() -> None:
        data, held = rng.normal(size=(9, 3)), rng.normal(size=(4, 3))
        target = data @ np.array([0.3, -0.2, 0.5]) + 0.1 * rng.normal(size=9)
        process = of("nonparametric.gp").GPRegression("RBFKernel", 0.1)
        process.fit(data, target)
        process.predict(held)
        process.marginal_log_likelihood()
        regression = of("nonparametric.kernel_regression").KernelRegression("RBFKernel")
        regression.fit(data, target)
        regression.predict(held)
        nearest = of("nonparametric.knn").KNN(k=3, metric=of("utils.distance_metrics").euclidean, classifier=False)
        nearest.fit(data, target)
        nearest.predict(held)

    def mixtures() -> None:
        gmm = of("gmm.gmm")
        gmm.log_gaussian_pdf(X[0], Y[0], np.eye(4) + 0.1)
        gmm.logsumexp(X[0])
        mixture = gmm.GMM(C=2, seed=3)
        mixture.fit(rng.normal(size=(12, 2)), max_iter=4)
        mixture.likelihood_lower_bound()

    def chains() -> None:
        hmm = of("hmm.hmm")
        A = np.array([[0.7, 0.3], [0.4, 0.6]])
        B = np.array([[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
        model = hmm.MultinomialHMM(A, B, np.array([0.6, 0.4]), eps=1e-10)
        model.log_likelihood(np.array([[0, 1, 2, 1]]))
        model.decode(np.array([[0, 1, 2, 1]]))
        hmm.logsumexp(X[0])

    def factors() -> None:
        module = of("factorization.factors")
        data = np.abs(rng.normal(size=(5, 4)))
        W, H = np.abs(rng.normal(size=(5, 2))), np.abs(rng.normal(size=(2, 4)))
        module.VanillaALS(2, max_iter=3).fit(data, W, H, n_initializations=1)
        module.NMF(2, max_iter=3).fit(data, W, H, n_initializations=1)

    def signals() -> None:
        dsp = of("preprocessing.dsp")
        frame = rng.normal(size=16)
        dsp.DCT(frame)
        dsp.DFT(frame)
        dsp.magnitude_spectrum(frame.reshape(2, 8))
        dsp.power_spectrum(frame.reshape(2, 8), True)
        dsp.to_frames(frame, 4, 2)
        dsp.autocorrelate1D(frame)
        dsp.preemphasis(frame, 0.9)
        dsp.cepstral_lifter(frame.reshape(2, 8), 5)
        dsp.mel2hz(np.array([100.0, 250.0]))
        dsp.hz2mel(np.array([100.0, 1250.0]))
        dsp.mel_filterbank(16, 4, fs=8000)
        dsp.batch_resample(images, (4, 4))
        dsp.bilinear_interpolate(images[0], np.array([1.3, 2.7]), np.array([0.4, 3.2]))
        dsp.nn_interpolate_1D(sequences[0], np.array([0.4, 2.2]))
        dsp.mel_spectrogram(rng.normal(size=400), window_duration=0.02, stride_duration=0.01, n_filters=4, fs=8000)
        dsp.mfcc(rng.normal(size=400), fs=8000, window_duration=0.02, stride_duration=0.01, n_mfccs=3, filters=6)

    def scaling() -> None:
        scaler = of("preprocessing.general").Standardizer()
        scaler.fit(X)
        scaler.inverse_transform(scaler.transform(Y))

    def trees() -> None:
        losses = of("trees.losses")
        target = rng.normal(size=6)
        squared = losses.MSELoss()
        squared(target, target + 0.3)
        squared.grad(target, target + 0.3)
        squared.base_estimator().fit(X, target[:5])
        losses.ClassProbEstimator().fit(X, np.eye(4)[[0, 1, 2, 3, 0]])

    yield from activations()
    yield from layers()
    yield from (losses, optimizers, helpers, kernels, linear, other_models, mixtures, chains, factors, signals, scaling)
    yield trees


def fits() -> Iterator[Callable[[], Any]]:
    """Each lineshape and each model of `lmfit`, its parameters, and fits."""
    import lmfit
    from lmfit import lineshapes, models

    x = np.linspace(0.6, 4.1, 9)
    # Values at which no two branches of a lineshape meet.
    values = {
        "amplitude": 1.7, "center": 2.03, "sigma": 0.9, "sigma_r": 0.7, "gamma": 0.4, "fraction": 0.3, "beta": 1.3,
        "expon": 1.6, "skew": 0.2, "q": 1.2, "frequency": 1.1, "shift": 0.2, "decay": 1.5, "kt": 0.8, "center1": 1.3,
        "center2": 2.93, "sigma1": 0.6, "sigma2": 0.5, "exponent": 1.4, "slope": 0.6, "intercept": 0.2, "a": 0.3,
        "b": 0.4, "c": 0.5, "centerx": 2.03, "centery": 1.1, "sigmax": 0.9, "sigmay": 0.7, "y": x[::-1].copy(),
    }  # fmt: skip
    forms = {
        "step": ("linear", "atan", "erf", "logistic"),
        "rectangle": ("linear", "atan", "erf", "logistic"),
        "thermal_distribution": ("bose", "maxwell", "fermi"),
    }
    for name in lineshapes.functions:
        function = getattr(lineshapes, name)
        known = inspect.signature(function).parameters
        given = {key: value for key, value in values.items() if key in known}
        for form in forms.get(name, (None,)):
            more = {"form": form} if form else {}
            yield lambda function=function, given=given, more=more: function(x, **given, **more)

    def of_model(model: Any, data: Any) -> None:
        given = {key: values.get(key, 0.4) for key in model.param_names}
        params = model.make_params(**given)
        variables = {name: data if name == "x" else values[name] for name in model.independent_vars if name != "form"}
        model.eval(params, **variables)
        model.eval(**variables, **given)
        model.make_params(**given)

    yield lambda: of_model(models.GaussianModel(), x)
    for kind in list(vars(models).values()):
        if isinstance(kind, type) and issubclass(kind, models.Model) and kind.__module__ == models.__name__:
            if kind in (models.ExpressionModel, models.SplineModel, models.PolynomialModel):
                continue
            yield lambda kind=kind: of_model(kind(), x)
    yield lambda: of_model(models.PolynomialModel(3), x)

    def peak_and_line() -> None:
        model = models.GaussianModel(prefix="g_") + models.LinearModel(prefix="l_")
        given = {"g_amplitude": 1.7, "g_center": 2.03, "g_sigma": 0.9, "l_slope": 0.3, "l_intercept": 0.2}
        params = model.make_params(**given)
        data = model.eval(params, x=x) + 0.02 * np.cos(7 * x)
        model.eval_components(params=params, x=x)
        result = model.fit(data, params, x=x)
        result.eval(x=x)
        result.eval_uncertainty()
        result.conf_interval()
        models.GaussianModel().guess(data, x=x)

    def expression() -> None:
        model = models.ExpressionModel("amp * exp(-(x - cen)**2 / wid)")
        model.eval(x=x, amp=1.2, cen=2.1, wid=0.8)

    def parameters() -> None:
        params = lmfit.create_params(a=1.3, b={"value": 0.4, "min": 0.0, "max": 2.0}, c={"value": 0.2, "min": -1.0})
        params.add("d", value=0.7, max=3.0)
        params.add("e", expr="2 * a + b")
        params.valuesdict()
        params.update_constraints()
        params.eval("a * b + c")
        params["a"].set(value=1.4)
        for name in params:
            params[name].setup_bounds()
            params[name].scale_gradient(0.3)
        lmfit.Parameter("f", value=0.3, min=0.0, max=1.0)
        lmfit.minimizer.reduce_chisquare(x)
        lmfit.minimizer.reduce_negentropy(x)
        lmfit.minimizer.reduce_cauchylogpdf(x)
        lmfit.minimizer.coerce_float64(x)

    def decays(params: Any, t: Any, data: Any) -> Any:
        found = params.valuesdict()
        return found["height"] * np.exp(-t / found["time"]) + found["floor"] - data

    def fitted(method: str, **bounds: Any) -> Callable[[], Any]:
        def run() -> None:
            params = lmfit.Parameters()
            params.add("height", value=1.0, **bounds)
            params.add("time", value=1.2)
            params.add("floor", value=0.1)
            data = 1.7 * np.exp(-x / 1.4) + 0.2 + 0.01 * np.sin(9 * x)
            lmfit.minimize(decays, params, method=method, args=(x, data))
            minimizer = lmfit.Minimizer(decays, params, fcn_args=(x, data))
            minimizer.minimize(method=method)
            minimizer.penalty(np.array([1.1, 1.2, 0.1]))

        return run

    yield from (peak_and_line, expression, parameters)
    yield from (fitted("leastsq"), fitted("least_squares", min=0.0, max=5.0), fitted("nelder"), fitted("lbfgsb"))


def likelihoods() -> Iterator[Callable[[], Any]]:
    """The tensors of NumPy in `pyhf`, its distributions and interpolations, and models with each modifier."""
    import pyhf
    from pyhf.tensor import common

    pyhf.set_backend("numpy")
    tensors = pyhf.tensorlib
    rates, means, widths = np.array([5.3, 8.1, 2.4]), np.array([5.0, 7.5, 3.0]), np.array([1.1, 0.6, 0.8])
    counts = np.array([6.0, 7.0, 2.0])
    pars = np.array([0.3, -1.4, 0.7])

    def tensorlib() -> None:
        tensors.clip(pars, -1.0, 0.5)
        tensors.erf(pars)
        tensors.erfinv(np.array([0.2, -0.5]))
        tensors.tile(pars, (2,))
        tensors.conditional(True, lambda: pars, lambda: means)
        tensors.tolist(pars)
        tensors.outer(pars, means)
        tensors.gather(pars, np.array([2, 0]))
        tensors.boolean_mask(pars, np.array([True, False, True]))
        tensors.astensor([1.2, 3.4])
        tensors.sum(np.outer(pars, means), axis=0)
        tensors.product(pars)
        tensors.product(np.outer(pars, means), axis=1)
        tensors.abs(pars)
        tensors.power(means, pars)
        tensors.sqrt(means)
        tensors.divide(pars, means)
        tensors.log(means)
        tensors.exp(pars)
        tensors.stack([pars, means])
        tensors.where(np.array([True, False, True]), pars, means)
        tensors.concatenate([pars, means])
        tensors.simple_broadcast(np.array([1.2]), means)
        tensors.reshape(pars, (3, 1))
        tensors.ravel(np.outer(pars, means))
        tensors.einsum("i,j->ij", pars, means)
        tensors.transpose(np.outer(pars, means))
        tensors.to_numpy(pars)

    def densities() -> None:
        tensors.poisson_logpdf(counts, rates)
        tensors.poisson(counts, rates)
        tensors.normal_logpdf(pars, means, widths)
        tensors.normal(pars, means, widths)
        tensors.normal_cdf(pars, means, widths)
        tensors.poisson_dist(rates).log_prob(counts)
        tensors.normal_dist(means, widths).log_prob(pars)
        poisson, normal = pyhf.probability.Poisson(rates), pyhf.probability.Normal(means, widths)
        poisson.log_prob(counts)
        poisson.expected_data()
        normal.log_prob(pars)
        normal.expected_data()
        pyhf.probability.Independent(poisson).log_prob(counts)
        viewer = common._TensorViewer([[0, 2, 4], [1, 3, 5]])
        both = pyhf.probability.Simultaneous([poisson, normal], viewer)
        both.expected_data()
        both.log_prob(np.concatenate([counts, pars]))

    def interpolated(kind: Any) -> None:
        low, middle, high = [0.9, 1.8], [1.0, 2.1], [1.2, 2.3]
        histograms = [[[low, middle, high]], [[[0.8, 1.5], [1.1, 1.7], [1.3, 2.2]]]]
        kind(histograms, subscribe=False)(np.array([[0.4, -0.6], [1.3, -1.7]]))

    def on_model(model: Any, start: Any) -> None:
        pars = np.asarray(start, float)
        data = np.asarray(model.expected_data(pars)) * 1.03
        model.expected_data(pars.tolist())
        model.expected_actualdata(pars)
        model.expected_auxdata(pars)
        model.main_model.expected_data(pars)
        model.main_model.logpdf(data[: model.config.nmaindata], pars)
        model.constraint_model.logpdf(data[model.config.nmaindata :], pars)
        model.logpdf(pars, data)
        model.logpdf(pars.tolist(), data.tolist())
        model.pdf(pars, data)
        model.mainlogpdf(data[: model.config.nmaindata], pars)
        model.constraint_logpdf(data[model.config.nmaindata :], pars)
        pyhf.infer.mle.twice_nll(pars, data, model)
        model.make_pdf(pars).expected_data()
        for constraint in (model.constraint_model.constraints_gaussian, model.constraint_model.constraints_poisson):
            if constraint.has_pdf():
                constraint.logpdf(data[model.config.nmaindata :], pars)
        for modifier in model.main_model.modifiers_appliers.values():
            modifier.apply(pars)

    def uncorrelated() -> None:
        model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])
        on_model(model, [1.1, 0.97, 1.04])

    def correlated() -> None:
        model = pyhf.simplemodels.correlated_background([12.0, 11.0], [50.0, 52.0], [45.0, 57.0], [55.0, 47.0])
        on_model(model, [0.4, 1.1])

    def each_modifier() -> None:
        background = [
            {"name": "norm", "type": "normsys", "data": {"hi": 1.1, "lo": 0.92}},
            {"name": "shape", "type": "histosys", "data": {"hi_data": [22.0, 31.0], "lo_data": [18.0, 27.0]}},
            {"name": "stat", "type": "staterror", "data": [1.4, 2.1]},
            {"name": "free", "type": "shapefactor", "data": None},
            {"name": "lumi", "type": "lumi", "data": None},
        ]
        signal = [{"name": "mu", "type": "normfactor", "data": None}, {"name": "lumi", "type": "lumi", "data": None}]
        samples = [
            {"name": "signal", "data": [5.0, 9.0], "modifiers": signal},
            {"name": "background", "data": [20.0, 29.0], "modifiers": background},
        ]
        lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.1], "bounds": [[0.5, 1.5]], "inits": [1.0]}
        spec = {
            "channels": [{"name": "only", "samples": samples}],
            "parameters": [lumi],
        }
        model = pyhf.Model(spec)
        rng = np.random.RandomState(4)
        on_model(model, np.asarray(model.config.suggested_init()) + rng.uniform(-0.2, 0.2, model.config.npars))

    def inferred() -> None:
        model = pyhf.simplemodels.uncorrelated_background([12.0, 11.0], [50.0, 52.0], [3.0, 7.0])
        data = [51.0, 48.0, *model.config.auxdata]
        pyhf.infer.mle.fit(data, model)
        pyhf.infer.mle.fixed_poi_fit(1.0, data, model)
        bounds, fixed = model.config.suggested_bounds(), model.config.suggested_fixed()
        pyhf.infer.test_statistics.qmu_tilde(1.0, data, model, model.config.suggested_init(), bounds, fixed)
        distribution = pyhf.infer.calculators.AsymptoticTestStatDistribution(0.4)
        distribution.cdf(0.7)
        distribution.pvalue(0.7)
        distribution.expected_value(1.0)

    yield from (tensorlib, densities, uncorrelated, correlated, each_modifier, inferred)
    for code in (0, 1, 2, 4, "4p"):
        yield lambda code=code: interpolated(pyhf.interpolators.get(code))


def control() -> Iterator[Callable[[], Any]]:
    import control as ct

    A = np.array([[0.1, 1.0], [-2.0, -0.7]])
    B = np.array([[0.2], [1.0]])
    C = np.array([[1.0, 0.3]])
    D = np.array([[0.1]])
    Q = np.array([[2.0, 0.3], [0.3, 1.5]])
    R = np.array([[0.7]])
    S = np.array([[0.1], [0.2]])
    E = np.array([[1.1, 0.1], [0.0, 0.9]])
    discrete = np.array([[0.8, 0.1], [-0.2, 0.6]])
    three = np.array([[0.0, 1.0, 0.2], [-1.0, -0.7, 0.1], [0.3, 0.1, -1.4]])
    times = np.linspace(0.0, 2.0, 9)
    omega = np.array([0.3, 1.1, 2.7])

    def state_space() -> None:
        sys = ct.ss(A, B, C, D)
        ct.StateSpace(discrete, B, C, D, 0.1)
        sys(0.3 + 1.2j)
        sys.horner(np.array([0.3 + 1.2j, 0.1 + 0.4j]))
        sys.dcgain()
        sys.poles()
        sys.zeros()
        sys.damp()
        sys.dynamics(0.0, np.array([0.4, 1.2]), np.array([0.3]))
        sys.output(0.0, np.array([0.4, 1.2]), np.array([0.3]))
        sys.feedback(ct.ss(three, np.ones((3, 1)), np.ones((1, 3)), 0.0))
        sys.sample(0.1)
        sys.sample(0.1, method="bilinear", prewarp_frequency=1.3)
        sys.append(ct.ss(discrete, B, C, D))
        sys.lft(ct.ss(discrete, B, C, D))

    def algebra() -> None:
        one, two = ct.ss(A, B, C, D), ct.ss(discrete, B, C, 0.3)
        ct.series(one, two)
        ct.parallel(one, two)
        ct.feedback(one, two)
        ct.feedback(one, 0.7)
        ct.negate(one)
        ct.append(one, two)

    def responses() -> None:
        sys = ct.ss(A, B, C, D)
        ct.evalfr(sys, 0.3 + 1.2j)
        ct.frequency_response(sys, omega)
        ct.singular_values_response(sys, omega)
        ct.dcgain(sys)
        ct.damp(sys, doprint=False)
        ct.step_response(sys, times)
        ct.impulse_response(sys, times)
        ct.initial_response(sys, times, np.array([0.4, 1.2]))
        ct.forced_response(sys, times, np.cos(times), np.array([0.4, 1.2]))
        ct.forced_response(ct.ss(discrete, B, C, D, 0.25), times, np.cos(times))
        ct.input_output_response(sys, times, np.cos(times), np.array([0.4, 1.2]))
        ct.step_info(sys, times)
        ct.markov(np.sin(times), np.cos(times), m=3)
        ct.markov(ct.step_response(sys, times), m=3)

    def margins() -> None:
        loop = ct.tf([2.0, 9.0], [1.0, 3.0, 3.0, 1.0])
        ct.stability_margins(loop)
        ct.margin(loop)
        ct.phase_crossover_frequencies(loop)
        ct.bandwidth(ct.ss(A, B, C, 0.0))
        ct.disk_margins(ct.ss(A, B, C, D), omega)
        ct.stability_margins((np.array([0.9, 0.5, 0.3]), np.array([-100.0, -170.0, -200.0]), omega))

    def transfer_functions() -> None:
        one, two = ct.tf([2.0, 9.0], [1.0, 3.0, 3.0, 1.0]), ct.tf([1.3], [1.0, 0.7])
        one(0.3 + 1.2j)
        one.poles()
        one.zeros()
        one.dcgain()
        ct.frequency_response(one, omega)
        ct.feedback(one, two)
        ct.series(one, two)
        ct.zpk([-0.3], [-1.2, -2.1], 1.7)
        ct.tf2ss(one)
        ct.ss2tf(ct.ss(A, B, C, D))
        ct.tfdata(one)
        ct.pade(0.7, 2)
        ct.sample_system(one, 0.1)
        ct.minreal(ct.series(one, two), verbose=False)

    def regulators() -> None:
        ct.lqr(A, B, Q, R)
        ct.lqr(A, B, Q, R, S)
        ct.lqr(ct.ss(A, B, C, D), Q, R)
        ct.dlqr(discrete, B, Q, R)
        ct.lqe(A, B, C, R, R)
        ct.dlqe(discrete, B, C, R, R)
        ct.lyap(A, Q)
        ct.lyap(A, discrete, Q)
        ct.dlyap(discrete, Q)
        ct.care(A, B, Q)
        ct.care(A, B, Q, R, S, E)
        ct.dare(discrete, B, Q, R)
        ct.dare(discrete, B, Q, R, S, E)

    def placement() -> None:
        ct.place(A, B, np.array([-1.2, -2.3]))
        ct.place_acker(A, B, np.array([-1.2, -2.3]))
        ct.place(three, np.array([[1.0, 0.0], [0.2, 0.4], [0.1, 1.0]]), np.array([-1.2, -2.3, -3.1]))
        ct.ctrb(A, B)
        ct.ctrb(three, np.ones((3, 1)), t=2)
        ct.obsv(A, C)

    def reduction() -> None:
        sys = ct.ss(three, np.ones((3, 1)), np.array([[0.3, 1.0, 0.2]]), 0.1)
        ct.model_reduction(sys, [2])
        ct.model_reduction(sys, [2], method="truncate")
        ct.eigensys_realization(np.exp(-times).reshape(1, 1, 9), 2)
        ct.similarity_transform(sys, three + np.eye(3))
        ct.similarity_transform(sys, three + np.eye(3), timescale=1.3)
        ct.reachable_form(ct.ss(A, B, C, D))
        ct.observable_form(ct.ss(A, B, C, D))
        ct.bdschur(three)

    def nonlinear() -> None:
        def update(t: Any, x: Any, u: Any, params: Any) -> Any:
            return np.array([x[1], u[0] - params["k"] * np.sin(x[0]) - 0.3 * x[1]])

        def output(t: Any, x: Any, u: Any, params: Any) -> Any:
            return np.array([x[0] + 0.1 * x[1]])

        sys = ct.nlsys(update, output, states=2, inputs=1, outputs=1, params={"k": 1.7})
        sys.dynamics(0.0, np.array([0.4, 1.2]), np.array([0.3]))
        sys.output(0.0, np.array([0.4, 1.2]), np.array([0.3]))
        ct.linearize(sys, np.array([0.4, 1.2]), np.array([0.3]))
        ct.input_output_response(sys, times, np.cos(times), np.array([0.4, 1.2]))
        ct.find_operating_point(sys, np.array([0.1, 0.0]), np.array([0.3]))
        ct.describing_function(ct.saturation_nonlinearity(0.8), np.array([0.5, 1.3, 2.0]))
        ct.saturation_nonlinearity(0.8)(1.7)

    def signals() -> None:
        ct.mag2db(1.7)
        ct.mag2db(np.array([0.3, 1.7]))
        ct.db2mag(3.1)
        ct.db2mag(np.array([0.3, -1.7]))
        ct.unwrap(np.array([0.1, 3.0, 6.1, 9.7, 1.2]))
        ct.correlation(times, np.sin(3 * times))
        ct.correlation(times, np.sin(3 * times), np.cos(times))
        response = ct.frd(np.array([0.3 + 0.2j, 0.7 - 0.1j, 0.2 - 0.6j, 0.1 - 0.2j]), np.array([0.3, 1.1, 2.7, 3.0]))
        response.eval(1.1)
        ct.feedback(response, 0.7)

    yield from (state_space, algebra, responses, margins, transfer_functions, regulators, placement, reduction)
    yield from (nonlinear, signals)


def quantecon() -> Iterator[Callable[[], Any]]:
    import quantecon as qe
    from quantecon import ce_util, distributions, game_theory, markov, quad

    A = np.array([[0.8, 0.1], [-0.2, 0.6]])
    B = np.array([[0.2], [1.0]])
    C = np.array([[0.3], [0.5]])
    G = np.array([[1.0, 0.3]])
    Q = np.array([[0.7]])
    R = np.array([[2.0, 0.3], [0.3, 1.5]])
    P = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.1, 0.4, 0.5]])
    series = np.cos(np.arange(24.0)) + 0.1 * np.arange(24.0)

    def equations() -> None:
        qe.solve_discrete_lyapunov(A, R)
        qe.solve_discrete_lyapunov(A, R, method="bartels-stewart")
        qe.solve_discrete_riccati(A, B, R, Q)
        qe.solve_discrete_riccati(A, B, R, Q, N=np.array([[0.1, 0.2]]))
        qe.solve_discrete_riccati(A, B, R, Q, method="qz")
        qe.var_quadratic_sum(A, C, R, 0.9, np.array([0.4, 1.2]))
        qe.m_quadratic_sum(A, R)
        qe.nullspace(np.array([[1.0, 2.0, 0.3], [0.2, 0.5, 1.0]]))

    def linear_quadratic() -> None:
        lq = qe.LQ(Q, R, A, B, C, beta=0.95)
        lq.stationary_values()
        finite = qe.LQ(Q, R, A, B, C, beta=0.95, T=4, Rf=R)
        finite.update_values()
        finite.compute_sequence(np.array([0.4, 1.2]), random_state=3)
        robust = qe.RBLQ(Q, R, A, B, C, 0.95, 20.0)
        robust.d_operator(R)
        robust.b_operator(R)
        robust.robust_rule()
        robust.robust_rule_simple()
        robust.F_to_K(np.array([[0.1, 0.2]]))
        robust.K_to_F(np.array([[0.1, 0.2]]))
        robust.evaluate_F(np.array([[0.1, 0.2]]))
        robust.compute_deterministic_entropy(np.array([[0.1, 0.2]]), np.array([[0.1, 0.2]]), np.array([0.4, 1.2]))
        eye, none = np.eye(2), np.zeros((2, 1))
        qe.nnash(
            A, B, C, R, 0.8 * R, Q, 1.1 * Q, np.zeros((1, 1)), np.zeros((1, 1)), none, none, np.zeros((1, 1)),
            np.zeros((1, 1)),
        )  # fmt: skip
        jumps = qe.LQMarkov(P[:2, :2] / P[:2, :2].sum(axis=1, keepdims=True), [Q, 2 * Q], [R, R + eye], [A, A], [B, C])
        jumps.stationary_values()

    def state_space() -> None:
        lss = qe.LinearStateSpace(A, C, G, np.array([[0.4]]), np.array([[0.1], [0.3]]), 0.1 * R)
        moments = lss.moment_sequence()
        for _ in range(3):
            next(moments)
        lss.stationary_distributions()
        lss.geometric_sums(0.9, np.array([[0.4], [1.2]]))
        lss.impulse_response(4)
        kalman = qe.Kalman(lss, np.array([[0.1], [0.3]]), R)
        kalman.prior_to_filtered(np.array([[0.7]]))
        kalman.filtered_to_forecast()
        kalman.update(np.array([[0.7]]))
        kalman.whitener_lss()
        kalman.stationary_values()
        kalman.stationary_coefficients(4)
        kalman.stationary_innovation_covar()

    def time_series() -> None:
        arma = qe.ARMA([0.5, -0.2], [0.3], 0.7)
        arma.impulse_response(8)
        arma.spectral_density(res=9)
        arma.autocovariance(4)
        qe.hamilton_filter(series, 4)
        qe.hamilton_filter(series, 4, 3)
        qe.smooth(series, 5)
        qe.smooth(series, 5, "flat")
        qe.periodogram(series)
        qe.periodogram(series, window="hamming", window_len=5)
        qe.ar_periodogram(series)

    def chains() -> None:
        markov.rouwenhorst(3, 0.7, 0.4, 0.1)
        markov.tauchen(3, 0.7, 0.4, 0.1)
        markov.gth_solve(P)
        markov.gth_solve(P, use_jit=False)
        qe.MarkovChain(P).stationary_distributions
        qe.MarkovChain(P)
        qe.mc_compute_stationary(P)

    def programs() -> None:
        rewards = np.array([[5.0, 10.0], [-1.0, 0.5]])
        transitions = np.array([[[0.5, 0.5], [0.1, 0.9]], [[0.2, 0.8], [0.6, 0.4]]])
        ddp = markov.DiscreteDP(rewards, transitions, 0.9)
        ddp.bellman_operator(np.array([0.4, 1.2]))
        ddp.evaluate_policy(np.array([0, 1]))
        ddp.RQ_sigma(np.array([0, 1]))
        ddp.T_sigma(np.array([0, 1]))
        ddp.solve(method="policy_iteration")
        markov.backward_induction(ddp, 3)

    def quadratures() -> None:
        quad.qnwlege(5, 0.2, 1.7)
        quad.qnwcheb(5, 0.2, 1.7)
        quad.qnwsimp(5, 0.2, 1.7)
        quad.qnwtrap(5, 0.2, 1.7)
        quad.qnwunif(5, 0.2, 1.7)
        quad.qnwequi(5, 0.2, 1.7)
        quad.qnwnorm(5, 0.2, 1.7)
        quad.qnwnorm([3, 2], np.array([0.2, 0.4]), R)
        quad.qnwlogn(5, 0.2, 0.7)
        quad.qnwbeta(5, 1.3, 2.1)
        quad.qnwgamma(5, 1.3, 2.1)
        quad.quadrect(lambda x: np.exp(-x) * x, 7, 0.2, 1.7)
        quad.qnwlege(np.array([3, 4]), np.array([0.2, 0.1]), np.array([1.7, 1.1]))

    def games() -> None:
        first = game_theory.Player(np.array([[3.0, 1.2], [0.4, 2.1]]))
        first.payoff_vector(np.array([0.3, 0.7]))
        first.payoff_vector(1)
        other = game_theory.Player(np.arange(8.0).reshape(2, 2, 2))
        other.payoff_vector((np.array([0.3, 0.7]), np.array([0.6, 0.4])))
        game = game_theory.NormalFormGame((first, first))
        game_theory.vertex_enumeration(game)
        game_theory.support_enumeration(game)
        game_theory.lemke_howson(game)

    def others() -> None:
        qe.compute_fixed_point(lambda x: 0.5 * np.cos(x), 0.3, verbose=0, error_tol=1e-9)
        qe.compute_fixed_point(lambda x: 0.5 * np.cos(x), np.array([0.3, 0.6]), verbose=0, error_tol=1e-9)
        ce_util.ckron(A, R)
        ce_util.gridmake(np.array([0.3, 0.5]), np.array([0.1, 0.7, 0.9]))
        qe.cartesian([np.array([0.3, 0.5]), np.array([0.1, 0.7, 0.9])])
        qe.mlinspace([0.2, 0.1], [1.1, 1.7], [3, 2])
        qe.shorrocks_index(P)
        qe.rank_size(np.abs(series), 0.7)
        qe.DiscreteRV(np.array([0.2, 0.5, 0.3]))
        qe.LAE(lambda x, y: np.exp(-0.5 * (y - 0.7 * x) ** 2), series)(np.array([0.3, 0.8]))
        binomial = distributions.BetaBinomial(7, 1.3, 2.1)
        binomial.pdf()
        binomial.skew
        binomial.mean
        ivp = qe.IVP(lambda t, y: np.array([y[1], -y[0]]))
        path = ivp.solve(0.0, np.array([0.3, 0.9]), h=0.2, T=1.0, integrator="dopri5")
        ivp.interpolate(path, np.array([0.1, 0.5]), 3)

    yield from (equations, linear_quadratic, state_space, time_series, chains, programs, quadratures, games, others)


# What makes the calls of a package. Each function yields calls that fail on their own.
CALLS: dict[str, Callable[[], Iterator[Callable[[], Any]]]] = {
    "control": control,
    "filterpy": kalman_filters,
    "lmfit": fits,
    "numpy_ml": numpy_ml,
    "opfunu": opfunu,
    "pyhf": likelihoods,
    "quantecon": quantecon,
}

# What has to be done before a package can be imported.
BEFORE: dict[str, Callable[[], None]] = {"numpy_ml": restore_names}
