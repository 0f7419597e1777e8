"""Factorisations, bases, linear systems and polynomials."""

from __future__ import annotations

import numpy as np

from .program import Program


def ldl_likelihood(covariance, y):
    """The negative log density of a normal vector: L D L' of the covariance in place, then forward substitution."""
    n = len(y)
    factor = covariance.copy()
    for j in range(n - 1):
        column = factor[j + 1 :, j] / factor[j, j]
        factor[j + 1 :, j + 1 :] -= np.outer(column, factor[j + 1 :, j])
        factor[j + 1 :, j] = column
    z = y.copy()
    for j in range(n - 1):
        z[j + 1 :] -= z[j] * factor[j + 1 :, j]
    pivots = np.diag(factor)
    return 0.5 * np.sum(np.log(pivots) + z * z / pivots)


def ldl_likelihood_by_hand(covariance, y):
    n = len(y)
    factor = covariance.copy()
    for j in range(n - 1):
        column = factor[j + 1 :, j] / factor[j, j]
        factor[j + 1 :, j + 1 :] -= np.outer(column, factor[j + 1 :, j])
        factor[j + 1 :, j] = column
    z = y.copy()
    for j in range(n - 1):
        z[j + 1 :] -= z[j] * factor[j + 1 :, j]
    pivots = np.diag(factor)
    scaled = z / pivots
    value = 0.5 * np.sum(np.log(pivots) + z * scaled)

    z_bar = scaled.copy()
    for j in reversed(range(n - 1)):
        z_bar[j] -= z_bar[j + 1 :] @ factor[j + 1 :, j]
    bar = -np.tril(np.outer(z_bar, z), -1)
    np.fill_diagonal(bar, 0.5 * (1.0 / pivots - scaled * scaled))
    # The cotangent of the columns that step j left turns into that of the matrix before step j.
    for j in reversed(range(n - 1)):
        column, rest_bar = factor[j + 1 :, j], bar[j + 1 :, j + 1 :]
        both = rest_bar @ column + column @ rest_bar
        bar[j, j] += 0.5 * (column @ both) - (bar[j + 1 :, j] @ column) / factor[j, j]
        bar[j + 1 :, j] = bar[j + 1 :, j] / factor[j, j] - both
    return value, (bar, z_bar)


def ldl_likelihood_inputs(rng, n):
    a = rng.normal(size=(n, n))
    return a @ a.T / n + np.eye(n), rng.normal(size=n)


def eliminated_blocks(matrix, block):
    """The log of the determinant, by elimination of blocks in place."""
    n = len(matrix)
    work = matrix.copy()
    total = 0.0
    for start in range(0, n, block):
        stop = min(start + block, n)
        corner = work[start:stop, start:stop]
        _, log = np.linalg.slogdet(corner)
        total += log
        work[stop:, stop:] -= work[stop:, start:stop] @ np.linalg.solve(corner, work[start:stop, stop:])
    return total


def eliminated_blocks_by_hand(matrix, block):
    n = len(matrix)
    work = matrix.copy()
    total = 0.0
    saved = []
    for start in range(0, n, block):
        stop = min(start + block, n)
        corner = work[start:stop, start:stop]
        inverse = np.linalg.inv(corner)
        solved = inverse @ work[start:stop, stop:]
        total += np.linalg.slogdet(corner)[1]
        work[stop:, stop:] -= work[stop:, start:stop] @ solved
        saved.append((start, stop, inverse, solved))

    matrix_bar = np.empty((n, n))
    for start, stop, inverse, solved in reversed(saved):
        rest_bar = matrix_bar[stop:, stop:]
        matrix_bar[stop:, start:stop] = -(rest_bar @ solved.T)
        right_bar = -((work[stop:, start:stop] @ inverse).T @ rest_bar)
        matrix_bar[start:stop, stop:] = right_bar
        matrix_bar[start:stop, start:stop] = inverse.T - right_bar @ solved.T
    return total, (matrix_bar,)


def eliminated_blocks_inputs(rng, n, block):
    return rng.normal(size=(n, n)) / np.sqrt(n) + 2.0 * np.eye(n), block


def unexplained_part(features, y):
    """What a least squares fit leaves of y, with the basis of Gram and Schmidt."""
    n, k = features.shape
    basis = np.zeros((n, k))
    for j in range(k):
        v = features[:, j] - basis[:, :j] @ (basis[:, :j].T @ features[:, j])
        basis[:, j] = v / np.sqrt(v @ v)
    residual = y - basis @ (basis.T @ y)
    return np.mean(residual**2)


def unexplained_part_by_hand(features, y):
    n, k = features.shape
    basis = np.zeros((n, k))
    shares = np.zeros((k, k))
    norms = np.empty(k)
    for j in range(k):
        shares[:j, j] = basis[:, :j].T @ features[:, j]
        v = features[:, j] - basis[:, :j] @ shares[:j, j]
        norms[j] = np.sqrt(v @ v)
        basis[:, j] = v / norms[j]
    weights = basis.T @ y
    residual = y - basis @ weights

    residual_bar = residual * (2.0 / n)
    weights_bar = -(residual_bar @ basis)
    y_bar = residual_bar + basis @ weights_bar
    basis_bar = np.outer(y, weights_bar) - np.outer(residual_bar, weights)
    features_bar, v_bar = np.empty((n, k)), np.empty((n, k))
    shares_bar = np.empty((k, k))
    for j in reversed(range(k)):
        q, later = basis[:, j], slice(j + 1, k)
        q_bar = basis_bar[:, j] + features[:, later] @ shares_bar[j, later] - v_bar[:, later] @ shares[j, later]
        v_bar[:, j] = (q_bar - q * (q @ q_bar)) / norms[j]
        shares_bar[:j, j] = -(v_bar[:, j] @ basis[:, :j])
        features_bar[:, j] = v_bar[:, j] + basis[:, :j] @ shares_bar[:j, j]
    return np.mean(residual**2), (features_bar, y_bar)


def unexplained_part_inputs(rng, n, k):
    return rng.normal(size=(n, k)), rng.normal(size=n)


def lanczos_coefficients(matrix, start, steps):
    """A function of the tridiagonal matrix that Lanczos finds."""
    alphas, betas = np.zeros(steps), np.zeros(steps)
    before = np.zeros_like(start)
    q = start / np.sqrt(start @ start)
    beta = 0.0
    for k in range(steps):
        w = matrix @ q - beta * before
        alphas[k] = q @ w
        w = w - alphas[k] * q
        beta = np.sqrt(w @ w)
        betas[k] = beta
        before, q = q, w / beta
    return np.sum(np.tanh(alphas)) + np.sum(betas**2)


def lanczos_coefficients_by_hand(matrix, start, steps):
    n = len(start)
    alphas, betas = np.empty(steps), np.zeros(steps + 1)
    qs = np.zeros((steps + 2, n))
    length = np.sqrt(start @ start)
    qs[1] = start / length
    for k in range(steps):
        q = qs[k + 1]
        w = matrix @ q - betas[k] * qs[k]
        alphas[k] = q @ w
        w -= alphas[k] * q
        betas[k + 1] = np.sqrt(w @ w)
        qs[k + 2] = w / betas[k + 1]
    tanhs = np.tanh(alphas)

    alphas_bar, betas_bar = 1.0 - tanhs**2, 2.0 * betas
    q_bar, before_bar = np.zeros(n), np.zeros(n)
    ws_bar = np.empty((steps, n))
    for k in reversed(range(steps)):
        before, q, after = qs[k : k + 3]
        w_bar = q_bar / betas[k + 1]
        w_bar += (betas_bar[k + 1] - w_bar @ after) * after
        alpha_bar = alphas_bar[k] - w_bar @ q
        whole = betas[k + 1] * after + alphas[k] * q  # w before its part along q was taken out
        q_bar = before_bar - alphas[k] * w_bar + alpha_bar * whole
        w_bar += alpha_bar * q
        q_bar += w_bar @ matrix
        before_bar = -betas[k] * w_bar
        betas_bar[k] -= w_bar @ before
        ws_bar[k] = w_bar
    start_bar = (q_bar - qs[1] * (qs[1] @ q_bar)) / length
    return np.sum(tanhs) + np.sum(betas**2), (ws_bar.T @ qs[1:-1], start_bar)


def lanczos_coefficients_inputs(rng, n, steps):
    a = rng.normal(size=(n, n)) / np.sqrt(n)
    return a + a.T, rng.normal(size=n), steps


def process_likelihood(x, y, lengths, noise):
    """The negative log density of a Gaussian process with one length scale for each feature."""
    scaled = x / lengths
    squares = np.sum(scaled**2, axis=1)
    distances = squares[:, None] + squares[None, :] - 2.0 * scaled @ scaled.T
    covariance = np.exp(-0.5 * distances) + noise**2 * np.eye(len(y))
    weights = np.linalg.solve(covariance, y)
    _, logdet = np.linalg.slogdet(covariance)
    return 0.5 * (y @ weights + logdet)


def process_likelihood_by_hand(x, y, lengths, noise):
    scaled = x / lengths
    squares = np.sum(scaled**2, axis=1)
    kernel = scaled @ scaled.T
    kernel -= 0.5 * squares[:, None]
    kernel -= 0.5 * squares
    np.exp(kernel, out=kernel)
    covariance = kernel + noise**2 * np.eye(len(y))
    inverse = np.linalg.inv(covariance)
    weights = inverse @ y
    _, logdet = np.linalg.slogdet(covariance)

    covariance_bar = 0.5 * (inverse - np.outer(weights, weights))
    noise_bar = 2.0 * noise * np.trace(covariance_bar)
    exponent_bar = covariance_bar * kernel  # symmetric
    scaled_bar = 2.0 * (exponent_bar @ scaled - np.sum(exponent_bar, axis=1)[:, None] * scaled)
    lengths_bar = -np.sum(scaled_bar * scaled, axis=0) / lengths
    return 0.5 * (y @ weights + logdet), (scaled_bar / lengths, weights, lengths_bar, noise_bar)


def process_likelihood_inputs(rng, n, d):
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.uniform(0.5, 1.5, size=d), 0.5


def state_space_likelihood(F, H, Q, R, ys):
    """The negative log-likelihood of observations of a linear system, by the filter of Kalman."""
    mean = np.zeros(F.shape[0])
    P = np.eye(F.shape[0])
    total = 0.0
    for y in ys:
        mean = F @ mean
        P = F @ P @ F.T + Q
        error = y - H @ mean
        HP = H @ P
        S = HP @ H.T + R
        total += 0.5 * (error @ np.linalg.solve(S, error) + np.log(np.linalg.det(S)))
        gain = np.linalg.solve(S, HP).T
        mean = mean + gain @ error
        P = P - gain @ HP
    return total


def state_space_likelihood_by_hand(F, H, Q, R, ys):
    mean = np.zeros(F.shape[0])
    P = np.eye(F.shape[0])
    value = 0.0
    saved = []
    for y in ys:
        old_mean, old_P = mean, P
        ahead = F @ mean
        FP = F @ P
        P = FP @ F.T + Q
        error = y - H @ ahead
        HP = H @ P
        S = HP @ H.T + R
        inverse = np.linalg.inv(S)
        weights = inverse @ error
        value += 0.5 * (error @ weights + np.log(np.linalg.det(S)))
        gain = (inverse @ HP).T
        saved.append((old_mean, old_P, FP, ahead, P, HP, error, inverse, weights, gain))
        mean = ahead + gain @ error
        P = P - gain @ HP

    F_bar, H_bar, Q_bar, R_bar = np.zeros_like(F), np.zeros_like(H), np.zeros_like(Q), np.zeros_like(R)
    mean_bar, P_bar = np.zeros_like(mean), np.zeros_like(P)
    for old_mean, old_P, FP, ahead, P, HP, error, inverse, weights, gain in reversed(saved):
        gain_bar = np.outer(mean_bar, error) - P_bar @ HP.T
        left = error @ inverse
        solved_bar = (gain_bar @ inverse).T
        S_bar = 0.5 * (inverse.T - np.outer(left, weights)) - solved_bar @ gain
        HP_bar = solved_bar - gain.T @ P_bar + S_bar @ H
        error_bar = gain.T @ mean_bar + 0.5 * (left + weights)
        R_bar += S_bar
        H_bar += S_bar.T @ HP + HP_bar @ P.T - np.outer(error_bar, ahead)
        P_bar = P_bar + H.T @ HP_bar
        ahead_bar = mean_bar - error_bar @ H
        Q_bar += P_bar
        FP_bar = P_bar @ F
        F_bar += P_bar.T @ FP + FP_bar @ old_P.T + np.outer(ahead_bar, old_mean)
        P_bar = F.T @ FP_bar
        mean_bar = ahead_bar @ F
    return value, (F_bar, H_bar, Q_bar, R_bar)


def state_space_likelihood_inputs(rng, n, m, T):
    F = 0.8 * np.eye(n) + 0.1 * rng.normal(size=(n, n)) / np.sqrt(n)
    return F, rng.normal(size=(m, n)), 0.1 * np.eye(n), 0.5 * np.eye(m), rng.normal(size=(T, m))


def chebyshev_misfit(coefficients, x, y):
    """The squared error of a sum of Chebyshev polynomials, by the recurrence of Clenshaw."""
    now, last = np.zeros_like(x), np.zeros_like(x)
    for c in coefficients[:0:-1]:
        now, last = c + 2.0 * x * now - last, now
    fit = coefficients[0] + x * now - last
    return np.mean((fit - y) ** 2)


def chebyshev_misfit_by_hand(coefficients, x, y):
    degree = len(coefficients) - 1
    twice = 2.0 * x
    sums = np.empty((degree + 2, len(x)))  # two of zeros, then one for each coefficient
    sums[:2] = 0.0
    for k in range(degree):
        now = np.multiply(twice, sums[k + 1], out=sums[k + 2])
        now -= sums[k]
        now += coefficients[degree - k]
    error = coefficients[0] + x * sums[-1] - sums[-2] - y

    fit_bar = error * (2.0 / len(x))
    x_bar = fit_bar * sums[-1]
    coefficients_bar = np.empty(degree + 1)
    coefficients_bar[0] = np.sum(fit_bar)
    now_bar, last_bar = fit_bar * x, -fit_bar
    for k in reversed(range(degree)):
        coefficients_bar[degree - k] = np.sum(now_bar)
        x_bar += 2.0 * now_bar * sums[k + 1]
        now_bar, last_bar = twice * now_bar + last_bar, -now_bar
    return np.mean(error**2), (coefficients_bar, x_bar)


def chebyshev_misfit_inputs(rng, degree, n):
    return rng.normal(size=degree + 1), rng.uniform(-1.0, 1.0, n), rng.normal(size=n)


def jacobi_sweeps(matrix, b, sweeps):
    """The norm of what the iteration of Jacobi gives for a linear system."""
    diagonal = np.diag(matrix)
    x = b / diagonal
    for _ in range(sweeps):
        x = x + (b - matrix @ x) / diagonal
    return np.sqrt(x @ x)


def jacobi_sweeps_by_hand(matrix, b, sweeps):
    diagonal = np.diag(matrix)
    xs = np.empty((sweeps + 1, len(b)))
    xs[0] = b / diagonal
    for k in range(sweeps):
        xs[k + 1] = xs[k] + (b - matrix @ xs[k]) / diagonal
    value = np.sqrt(xs[-1] @ xs[-1])

    x_bar = xs[-1] / value
    residuals_bar = np.empty((sweeps, len(b)))
    for k in reversed(range(sweeps)):
        residuals_bar[k] = x_bar / diagonal
        x_bar = x_bar - residuals_bar[k] @ matrix
    first_bar = x_bar / diagonal
    matrix_bar = -(residuals_bar.T @ xs[:-1])
    diagonal_bar = first_bar * xs[0] + np.sum(residuals_bar * np.diff(xs, axis=0), axis=0)
    matrix_bar.flat[:: len(b) + 1] -= diagonal_bar
    return value, (matrix_bar, np.sum(residuals_bar, axis=0) + first_bar)


def jacobi_sweeps_inputs(rng, n, sweeps):
    return rng.normal(size=(n, n)) / n + 3.0 * np.eye(n), rng.normal(size=n), sweeps


PROGRAMS = [
    Program(ldl_likelihood, ldl_likelihood_by_hand, ldl_likelihood_inputs, (10,), (160,), (0, 1)),
    Program(eliminated_blocks, eliminated_blocks_by_hand, eliminated_blocks_inputs, (10, 4), (320, 32), (0,)),
    Program(unexplained_part, unexplained_part_by_hand, unexplained_part_inputs, (12, 5), (2000, 30), (0, 1)),
    Program(lanczos_coefficients, lanczos_coefficients_by_hand, lanczos_coefficients_inputs, (8, 5), (300, 40), (0, 1)),
    Program(process_likelihood, process_likelihood_by_hand, process_likelihood_inputs, (12, 3), (300, 6), (0, 1, 2, 3)),
    Program(
        state_space_likelihood,
        state_space_likelihood_by_hand,
        state_space_likelihood_inputs,
        (3, 2, 5),
        (12, 5, 150),
        (0, 1, 2, 3),
    ),
    Program(chebyshev_misfit, chebyshev_misfit_by_hand, chebyshev_misfit_inputs, (8, 20), (40, 20_000), (0, 1)),
    Program(jacobi_sweeps, jacobi_sweeps_by_hand, jacobi_sweeps_inputs, (8, 6), (400, 40), (0, 1)),
]
