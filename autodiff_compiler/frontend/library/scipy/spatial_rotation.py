"""`scipy.spatial.transform`: `Rotation` and `Slerp`.

A rotation is kept as quaternions with the real part last, as SciPy keeps it. They have length one, so a formula counts
only on the unit sphere. Near the identity, angles are not computed: their series in the squares of the components are,
which have derivatives of all orders there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import transform

from ....kernels.scipy import spatial as kernels
from ...definitions import defines, refuse

Outside = transform.Rotation
# Before SciPy 1.17 an array of angles about one axis was a stack of rotations.
STACKS = not Outside.from_euler("x", [0.0]).single
DEGREE = np.pi / 180.0
CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def doubles(x: Any) -> Any:
    """SciPy computes with float64."""
    x = np.asarray(x)
    return x if x.dtype == np.float64 else x.astype(np.float64)


def checked(x: Any, length: Any, name: Any) -> Any:
    x = doubles(x)
    if np.ndim(x) == 0 or x.shape[-1] != length:
        raise ValueError(f"Expected `{name}` to have shape (..., {length})")
    if STACKS and np.ndim(x) > 2:
        raise ValueError(f"Expected `{name}` to have shape ({length},) or (N, {length})")
    return x


def normalized(quat: Any) -> Any:
    length = np.sqrt(np.sum(np.square(quat), axis=-1, keepdims=True))
    if np.any(length == 0):
        raise ValueError("Found zero norm quaternions in `quat`.")
    return quat / length


def in_first_half(quat: Any) -> Any:
    """Of the two quaternions of a rotation, that with a positive real part."""
    x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
    negative = (w < 0) | ((w == 0) & ((x < 0) | ((x == 0) & ((y < 0) | ((y == 0) & (z < 0))))))
    return np.where(negative[..., None], -quat, quat)


def composed(p: Any, q: Any) -> Any:
    """The product of quaternions."""
    px, py, pz, pw = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qx, qy, qz, qw = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    x = pw * qx + qw * px + (py * qz - pz * qy)
    y = pw * qy + qw * py + (pz * qx - px * qz)
    z = pw * qz + qw * pz + (px * qy - py * qx)
    return np.stack((x, y, z, pw * qw - px * qx - py * qy - pz * qz), axis=-1)


def as_quaternions(rotvec: Any) -> Any:
    squares = np.sum(np.square(rotvec), axis=-1, keepdims=True)
    small = squares <= 1e-6
    angle = np.sqrt(np.where(small, 1.0, squares))
    series = 0.5 - squares / 48 + np.square(squares) / 3840
    scale = np.where(small, series, np.sin(angle / 2) / angle)
    flat = 1 - squares / 8 + np.square(squares) / 384 - squares**3 / 46080
    return np.concatenate((rotvec * scale, np.where(small, flat, np.cos(angle / 2))), axis=-1)


def as_vectors(quat: Any) -> Any:
    quat = in_first_half(quat)
    vector = quat[..., :3]
    squares = np.sum(np.square(vector), axis=-1, keepdims=True)
    small = squares <= 2.5e-7
    length = np.sqrt(np.where(small, 1.0, squares))
    angle = 2 * np.arctan2(length, quat[..., 3:])
    series = 2 + squares / 3 + 3 * np.square(squares) / 20 + 5 * squares**3 / 56
    return vector * np.where(small, series, angle / np.sin(angle / 2))


def as_matrices(quat: Any) -> Any:
    x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
    x2, y2, z2, w2 = x * x, y * y, z * z, w * w
    xy, zw, xz, yw, yz, xw = x * y, z * w, x * z, y * w, y * z, x * w
    rows = (
        np.stack((x2 - y2 - z2 + w2, 2 * (xy - zw), 2 * (xz + yw)), axis=-1),
        np.stack((2 * (xy + zw), -x2 + y2 - z2 + w2, 2 * (yz - xw)), axis=-1),
        np.stack((2 * (xz - yw), 2 * (yz + xw), -x2 - y2 + z2 + w2), axis=-1),
    )
    return np.stack(rows, axis=-2)


def of_matrices(m: Any) -> Any:
    """Of rotation matrices: by the largest of the four components."""
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    trace = m00 + m11 + m22
    a, b, c = m[..., 1, 0] + m[..., 0, 1], m[..., 2, 0] + m[..., 0, 2], m[..., 2, 1] + m[..., 1, 2]
    d, e, f = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    choice = np.argmax(np.stack((m00, m11, m22, trace), axis=-1), axis=-1)[..., None]
    quat = np.where(
        choice == 0,
        np.stack((1 - trace + 2 * m00, a, b, d), axis=-1),
        np.where(
            choice == 1,
            np.stack((a, 1 - trace + 2 * m11, c, e), axis=-1),
            np.where(
                choice == 2, np.stack((b, c, 1 - trace + 2 * m22, f), axis=-1), np.stack((d, e, f, 1 + trace), axis=-1)
            ),
        ),
    )
    return normalized(quat)


def axes_of(seq: Any) -> Any:
    """The axes by number, and whether they turn with the body."""
    if not 1 <= len(seq) <= 3:
        raise ValueError(f"Expected axis specification to be a non-empty string of up to 3 characters, got {seq}")
    intrinsic = all(axis in "XYZ" for axis in seq)
    if not intrinsic and not all(axis in "xyz" for axis in seq):
        raise ValueError(f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(seq[k] == seq[k - 1] for k in range(1, len(seq))):
        raise ValueError(f"Expected consecutive axes to be different, got {seq}")
    return ["xyz".index(axis) for axis in seq.lower()], intrinsic


def about(axis: Any, angle: Any) -> Any:
    """A turn about an axis of the frame, by an angle that has an axis of its own."""
    zero, sine = np.zeros_like(angle), np.sin(angle / 2)
    parts = [sine if k == axis else zero for k in range(3)]
    return np.concatenate((*parts, np.cos(angle / 2)), axis=-1)


def wrapped(angles: Any) -> Any:
    """Within one turn about zero."""
    return np.where(angles < -np.pi, angles + 2 * np.pi, np.where(angles > np.pi, angles - 2 * np.pi, angles))


def angles_of(quat: Any, seq: Any) -> Any:
    """Reference: Bernardes and Viollet, Quaternion to Euler angles conversion (2022)."""
    if len(seq) != 3:
        raise ValueError(f"Expected 3 axes, got {seq}.")
    axes, intrinsic = axes_of(seq)
    i, j, k = axes[::-1] if intrinsic else axes
    symmetric = i == k
    if symmetric:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    w = quat[..., 3]
    if symmetric:
        a, b, c, d = w, quat[..., i], quat[..., j], quat[..., k] * sign
    else:
        a, b = w - quat[..., j], quat[..., i] + quat[..., k] * sign
        c, d = quat[..., j] + w, quat[..., k] * sign - quat[..., i]
    second = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    low, high = np.abs(second) <= 1e-7, np.abs(second - np.pi) <= 1e-7
    locked = low | high
    sums, differences = np.arctan2(b, a), np.arctan2(d, c)
    held = np.where(low, 2 * sums, (2 if intrinsic else -2) * differences)
    # SciPy calls the angles the first and the third in the order of the turns about fixed axes. Where only their sum
    # is known, it sets one of them to zero, and none of the three has a derivative.
    zero = np.zeros_like(held)
    first = np.where(locked, zero if intrinsic else held, sums - differences)
    third = np.where(locked, held if intrinsic else zero, sums + differences)
    if not symmetric:
        third = third * sign
        second = second - np.pi / 2
    parts = (third, second, first) if intrinsic else (first, second, third)
    made = wrapped(np.stack(parts, axis=-1))
    return np.where(locked[..., None], kernels.without_derivative(made), made)


class Rotation:
    """What `Rotation` is: quaternions along the last axis."""

    def __init__(self, quat: Any) -> None:
        self.quat = quat

    # --- as numbers -----------------------------------------------------------------------------------------------

    def as_quat(self, canonical: Any = False, *, scalar_first: Any = False) -> Any:
        quat = in_first_half(self.quat) if canonical else self.quat.copy()
        return np.roll(quat, 1, axis=-1) if scalar_first else quat

    def as_matrix(self) -> Any:
        return as_matrices(self.quat)

    def as_rotvec(self, degrees: Any = False) -> Any:
        vectors = as_vectors(self.quat)
        return vectors / DEGREE if degrees else vectors

    def as_euler(self, seq: Any, degrees: Any = False, *, suppress_warnings: Any = False) -> Any:
        angles = angles_of(self.quat, seq)
        return angles / DEGREE if degrees else angles

    def as_mrp(self) -> Any:
        sign = np.where(self.quat[..., 3:] < 0, -1.0, 1.0)
        return sign * self.quat[..., :3] / (1.0 + sign * self.quat[..., 3:])

    def magnitude(self) -> Any:
        return 2 * np.arctan2(np.linalg.norm(self.quat[..., :3], axis=-1), np.abs(self.quat[..., 3]))[()]

    # --- as a stack -----------------------------------------------------------------------------------------------

    @property
    def single(self) -> Any:
        return np.ndim(self.quat) == 1

    @property
    def shape(self) -> Any:
        if STACKS:
            raise AttributeError("'Rotation' object has no attribute 'shape'")
        return self.quat.shape[:-1]

    def __len__(self) -> Any:
        if np.ndim(self.quat) == 1:
            raise TypeError("Single rotation has no len().")
        return self.quat.shape[0]

    def __bool__(self) -> Any:
        return True

    def __getitem__(self, key: Any) -> Any:
        if np.ndim(self.quat) == 1:
            raise TypeError("Single rotation is not subscriptable.")
        return Rotation(self.quat[key])

    def __iter__(self) -> Any:
        return iter([self[k] for k in range(len(self))])

    # --- operations -----------------------------------------------------------------------------------------------

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        vectors = doubles(vectors)
        if np.ndim(vectors) == 0 or vectors.shape[-1] != 3:
            raise ValueError("Expected input of shape (3,) or (P, 3)")
        matrices = self.as_matrix()
        if inverse:
            matrices = np.swapaxes(matrices, -1, -2)
        return np.sum(matrices * vectors[..., None, :], axis=-1)

    def inv(self) -> Any:
        return Rotation(self.quat * CONJUGATE)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (Rotation, Outside)):
            return NotImplemented
        return Rotation(normalized(composed(self.quat, inside(other).quat)))

    def __pow__(self, n: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise NotImplementedError("modulus not supported")
        if STACKS:  # a float of C's there
            n = np.asarray(n).astype(np.float32).astype(np.float64)
        return Rotation(as_quaternions(n * as_vectors(self.quat)))

    def reduce(self, left: Any = None, right: Any = None, return_indices: Any = False) -> Any:
        refuse("reduce of a rotation", "choose among the rotations by hand")

    def mean(self, weights: Any = None) -> Any:
        refuse("the mean of rotations", "take the eigenvector of the largest eigenvalue of the sum of q q^T")

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a rotation", "use what as_quat or as_matrix gives")


def inside(x: Any) -> Any:
    """A rotation that was made outside."""
    return x if isinstance(x, Rotation) else Rotation(kernels.quaternions(x))


# --- made of numbers --------------------------------------------------------------------------------------------------


@defines(Outside.from_quat)
def from_quat(quat: Any, *, scalar_first: Any = False) -> Any:
    quat = checked(quat, 4, "quat")
    if scalar_first:
        quat = np.roll(quat, -1, axis=-1)
    return Rotation(normalized(quat))


@defines(Outside)
def rotation(quat: Any, normalize: Any = True, copy: Any = True, scalar_first: Any = False) -> Any:
    if not normalize:
        refuse("a Rotation with normalize=False", "use Rotation.from_quat")
    return from_quat(quat, scalar_first=scalar_first)


@defines(Outside.from_matrix)
def from_matrix(matrix: Any, *, assume_valid: Any = False) -> Any:
    matrix = doubles(matrix)
    if np.ndim(matrix) < 2 or matrix.shape[-1] != 3 or matrix.shape[-2] != 3:
        raise ValueError("Expected `matrix` to have shape (3, 3) or (N, 3, 3)")
    if assume_valid:
        return Rotation(of_matrices(matrix))
    if np.any(np.linalg.det(matrix) <= 0):
        raise ValueError("Non-positive determinant (left-handed or null coordinate frame) in rotation matrix.")
    return Rotation(of_matrices(kernels.nearest_rotation(matrix)))


@defines(Outside.from_rotvec)
def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
    rotvec = checked(rotvec, 3, "rot_vec")
    return Rotation(as_quaternions(rotvec * DEGREE if degrees else rotvec))


@defines(Outside.from_mrp)
def from_mrp(mrp: Any) -> Any:
    mrp = checked(mrp, 3, "mrp")
    squares = np.sum(np.square(mrp), axis=-1, keepdims=True) + 1
    return Rotation(np.concatenate((2 * mrp, 2 - squares), axis=-1) / squares)


@defines(Outside.from_euler)
def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
    axes, intrinsic = axes_of(seq)
    angles = doubles(angles)
    if np.ndim(angles) == 0:
        angles = angles[None]
    elif STACKS and len(axes) == 1 and np.ndim(angles) == 1:
        angles = angles[:, None]
    if angles.shape[-1] != len(axes):
        raise ValueError("Expected last dimension of `angles` to match number of sequence axes specified")
    if degrees:
        angles = angles * DEGREE
    quat = about(axes[0], angles[..., :1])
    for k in range(1, len(axes)):
        turn = about(axes[k], angles[..., k : k + 1])
        quat = composed(quat, turn) if intrinsic else composed(turn, quat)
    return Rotation(quat)


@defines(Outside.identity)
def identity(num: Any = None, *, shape: Any = None) -> Any:
    quat = np.array([0.0, 0.0, 0.0, 1.0])
    if num is not None:
        return Rotation(np.tile(quat, (num, 1)))
    if shape is None:
        return Rotation(quat)
    return Rotation(np.zeros((shape,) if isinstance(shape, int) else shape)[..., None] + quat)


@defines(Outside.from_davenport)
def from_davenport(axes: Any, order: Any, angles: Any, degrees: Any = False) -> Any:
    refuse("Rotation.from_davenport", "multiply the rotations Rotation.from_rotvec(angle * axis)")


@defines(Outside.concatenate)
def concatenate(rotations: Any) -> Any:
    if isinstance(rotations, (Rotation, Outside)):
        return rotations
    return Rotation(np.concatenate([np.reshape(inside(r).quat, (-1, 4)) for r in rotations]))


@defines(Outside.align_vectors)
def align_vectors(a: Any, b: Any, weights: Any = None, return_sensitivity: Any = False) -> Any:
    """The rotation nearest to the matrix of correlations: Kabsch's algorithm."""
    if return_sensitivity:
        refuse("Rotation.align_vectors with return_sensitivity", "leave it out")
    a, b = doubles(a), doubles(b)
    if np.ndim(a) != 2 or a.shape != b.shape or a.shape[-1] != 3:
        raise ValueError("Expected inputs `a` and `b` to have same shapes (N, 3)")
    if a.shape[0] == 1:
        raise NotImplementedError("the derivative of Rotation.align_vectors of one pair of vectors")
    w = np.ones(a.shape[0]) if weights is None else doubles(weights)
    if w.shape != (a.shape[0],):
        raise ValueError("Expected `weights` to have number of values equal to number of input vectors")
    if np.any(np.isinf(w)):
        raise NotImplementedError("the derivative of Rotation.align_vectors with an infinite weight")
    if np.any(w < 0):
        raise ValueError("`weights` may not contain negative values")
    correlations = np.transpose(w[:, None] * a) @ b
    nearest = kernels.nearest_rotation(correlations)
    apart = np.sum(w * np.sum(np.square(a) + np.square(b), axis=1)) - 2 * np.sum(nearest * correlations)
    return Rotation(of_matrices(nearest)), np.sqrt(np.maximum(apart, 0.0))


# --- rotations from outside -------------------------------------------------------------------------------------------

_METHODS = (
    "as_quat", "as_matrix", "as_rotvec", "as_euler", "as_mrp", "magnitude", "apply", "inv", "mean", "reduce", "__mul__",
    "__pow__", "__getitem__", "__len__", "__iter__",
)  # fmt: skip


def _of_outside(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(inside(self), name)(*args, **kwargs)

    return method


for _name in _METHODS:
    if _name in vars(Outside):
        defines(vars(Outside)[_name])(_of_outside(_name))


# --- interpolation ----------------------------------------------------------------------------------------------------


class Interpolated:
    """What `Slerp` is."""

    def __init__(self, times: Any, steps: Any, quat: Any, vectors: Any) -> None:
        self.times = times
        self.timedelta = steps
        self.quat = quat
        self.vectors = vectors

    def __call__(self, times: Any) -> Any:
        at = doubles(times)
        if np.ndim(at) > 1:
            raise ValueError("`times` must be at most 1-dimensional.")
        k = np.searchsorted(self.times, at) - 1
        k = np.where(at == self.times[0], 0, k)
        if np.any((k < 0) | (k > len(self.times) - 2)):
            raise ValueError("Interpolation times must be within the range of the times of the rotations")
        part = (at - self.times[k]) / self.timedelta[k]
        turns = as_quaternions(self.vectors[k] * part[..., None])
        return Rotation(normalized(composed(self.quat[k], turns)))

    def __getattr__(self, name: Any) -> Any:
        refuse("this attribute of a Slerp", "use its values")


@defines(transform.Slerp)
def slerp(times: Any, rotations: Any) -> Any:
    quat = inside(rotations).quat
    if np.ndim(quat) != 2 or quat.shape[0] < 2:
        raise ValueError("`rotations` must be a sequence of at least 2 rotations.")
    times = doubles(times)
    if np.ndim(times) != 1 or times.shape[0] != quat.shape[0]:
        raise ValueError("Expected number of rotations to be equal to number of timestamps given")
    steps = np.diff(times)
    if np.any(steps <= 0):
        raise ValueError("Times must be in strictly increasing order.")
    vectors = as_vectors(normalized(composed(quat[:-1] * CONJUGATE, quat[1:])))
    return Interpolated(times, steps, quat, vectors)


@defines(transform.Slerp.__call__)
def slerp_outside(self: Any, times: Any) -> Any:
    quat = np.concatenate((inside(self.rotations).quat, np.zeros((1, 4))))
    return Interpolated(self.times, self.timedelta, quat, self.rotvecs)(times)
