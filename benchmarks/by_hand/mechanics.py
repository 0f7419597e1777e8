"""Cameras, robots, springs, rays of light, shots and control."""

from __future__ import annotations

import math

import numpy as np

from .program import Program


def rotated(wx, wy, wz, x, y, z):
    """Rodrigues' formula."""
    theta = math.sqrt(wx * wx + wy * wy + wz * wz)
    c = math.cos(theta)
    a = math.sin(theta) / theta
    b = (1.0 - c) / theta**2 * (wx * x + wy * y + wz * z)
    return (
        c * x + a * (wy * z - wz * y) + b * wx,
        c * y + a * (wz * x - wx * z) + b * wy,
        c * z + a * (wx * y - wy * x) + b * wz,
    )


def bundle_adjustment(cameras, points, seen, camera_of, point_of):
    """The squared error of projections. A camera is a rotation vector, a shift, a focal length and a distortion."""
    loss = 0.0
    for k in range(len(seen)):
        wx, wy, wz, sx, sy, sz, focal, distortion = cameras[camera_of[k]]
        x, y, z = points[point_of[k]]
        x, y, z = rotated(wx, wy, wz, x, y, z)
        u = (x + sx) / (z + sz)
        v = (y + sy) / (z + sz)
        scale = focal * (1.0 + distortion * (u * u + v * v))
        loss += (scale * u - seen[k, 0]) ** 2 + (scale * v - seen[k, 1]) ** 2
    return 0.5 * loss


def bundle_adjustment_by_hand(cameras, points, seen, camera_of, point_of):
    loss = 0.0
    camera_shares, point_shares, misses = [], [], []
    camera_rows, point_rows, seen_rows = cameras.tolist(), points.tolist(), seen.tolist()
    for k, (i, j) in enumerate(zip(camera_of.tolist(), point_of.tolist())):
        wx, wy, wz, sx, sy, sz, focal, distortion = camera_rows[i]
        x, y, z = point_rows[j]
        theta = math.sqrt(wx * wx + wy * wy + wz * wz)
        c = math.cos(theta)
        a = math.sin(theta) / theta
        b = (1.0 - c) / theta**2
        along = wx * x + wy * y + wz * z
        cross_x, cross_y, cross_z = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
        depth = 1.0 / (c * z + a * cross_z + b * along * wz + sz)
        u = (c * x + a * cross_x + b * along * wx + sx) * depth
        v = (c * y + a * cross_y + b * along * wy + sy) * depth
        r2 = u * u + v * v
        bend = 1.0 + distortion * r2
        scale = focal * bend
        u_miss, v_miss = scale * u - seen_rows[k][0], scale * v - seen_rows[k][1]
        loss += u_miss * u_miss + v_miss * v_miss
        misses.append((u_miss, v_miss))

        scale_bar = u_miss * u + v_miss * v
        r2_bar = scale_bar * focal * distortion
        u_bar = scale * u_miss + 2.0 * r2_bar * u
        v_bar = scale * v_miss + 2.0 * r2_bar * v
        p, q = u_bar * depth, v_bar * depth
        r = -(p * u + q * v)
        w_dot = wx * p + wy * q + wz * r
        c_bar = x * p + y * q + z * r
        a_bar = cross_x * p + cross_y * q + cross_z * r
        turn = (a_bar * (c - a) + along * w_dot * (a - 2.0 * b)) / theta**2 - c_bar * a
        b_dot, b_along = b * w_dot, b * along
        camera_shares.append(
            (
                a * (y * r - z * q) + b_dot * x + b_along * p + turn * wx,
                a * (z * p - x * r) + b_dot * y + b_along * q + turn * wy,
                a * (x * q - y * p) + b_dot * z + b_along * r + turn * wz,
                p,
                q,
                r,
                scale_bar * bend,
                scale_bar * focal * r2,
            )
        )
        point_shares.append(
            (
                c * p + a * (q * wz - r * wy) + b_dot * wx,
                c * q + a * (r * wx - p * wz) + b_dot * wy,
                c * r + a * (p * wy - q * wx) + b_dot * wz,
            )
        )
    cameras_bar, points_bar = np.zeros_like(cameras), np.zeros_like(points)
    np.add.at(cameras_bar, camera_of, camera_shares)
    np.add.at(points_bar, point_of, point_shares)
    return 0.5 * loss, (cameras_bar, points_bar, -np.array(misses))


def bundle_adjustment_inputs(rng, views, marks, n):
    cameras = 0.3 * rng.normal(size=(views, 8))
    cameras[:, 5] += 5.0
    cameras[:, 6] += 1.0
    cameras[:, 7] *= 0.3
    return (
        cameras,
        rng.normal(size=(marks, 3)),
        rng.normal(size=(n, 2)),
        *(rng.integers(0, m, n) for m in (views, marks)),
    )


def arm_motion(angles, lengths, path):
    """A planar arm in motion: how far its tip is from a path, and how near its joints come to a post at (1, 1)."""
    heading = np.zeros(path.shape[1])
    x, y = np.zeros(path.shape[1]), np.zeros(path.shape[1])
    penalty = 0.0
    for i in range(len(lengths)):
        heading = heading + angles[i]
        x = x + lengths[i] * np.cos(heading)
        y = y + lengths[i] * np.sin(heading)
        penalty += np.sum(np.exp(-4.0 * ((x - 1.0) ** 2 + (y - 1.0) ** 2)))
    return np.sum((x - path[0]) ** 2 + (y - path[1]) ** 2) + penalty


def arm_motion_by_hand(angles, lengths, path):
    heading = np.zeros(path.shape[1])
    x, y = np.zeros(path.shape[1]), np.zeros(path.shape[1])
    value = 0.0
    saved = []
    for i in range(len(lengths)):
        heading = heading + angles[i]
        c, s = np.cos(heading), np.sin(heading)
        x = x + lengths[i] * c
        y = y + lengths[i] * s
        dx, dy = x - 1.0, y - 1.0
        near = np.exp(-4.0 * (dx * dx + dy * dy))
        value += np.sum(near)
        near *= -8.0
        dx *= near
        dy *= near
        saved.append((c, s, dx, dy))
    x_miss, y_miss = x - path[0], y - path[1]
    value += x_miss @ x_miss + y_miss @ y_miss
    x_bar, y_bar = 2.0 * x_miss, 2.0 * y_miss
    path_bar = -np.stack([x_bar, y_bar])
    angles_bar, lengths_bar = np.empty_like(angles), np.empty_like(lengths)
    heading_bar = np.zeros(path.shape[1])
    for i in range(len(lengths) - 1, -1, -1):
        c, s, dx, dy = saved[i]
        x_bar += dx
        y_bar += dy
        lengths_bar[i] = x_bar @ c + y_bar @ s
        heading_bar += lengths[i] * (y_bar * c - x_bar * s)
        angles_bar[i] = heading_bar
    return value, (angles_bar, lengths_bar, path_bar)


def arm_motion_inputs(rng, joints, times):
    turn = np.linspace(0.0, 1.0, times)
    return 0.5 * rng.normal(size=(joints, times)), rng.uniform(0.3, 0.8, joints), np.stack([1.0 + turn, 1.5 - turn**2])


def spring_network(x, stiffness, rest, left, right, steps):
    """Springs between nodes; the energy after some steps down the gradient."""
    for _ in range(steps):
        d = x[right] - x[left]
        length = np.sqrt(np.sum(d**2, axis=1))
        pull = (stiffness * (length - rest) / length)[:, None] * d
        force = np.zeros_like(x)
        np.add.at(force, left, pull)
        np.add.at(force, right, -pull)
        x = x + 0.05 * force
    d = x[right] - x[left]
    length = np.sqrt(np.sum(d**2, axis=1))
    return 0.5 * np.sum(stiffness * (length - rest) ** 2)


def add_to_ends(out, left, right, pull):
    """What np.add.at does with `pull` at the left and its negative at the right, column by column."""
    for k in range(out.shape[1]):
        out[:, k] += np.bincount(left, pull[:, k], len(out)) - np.bincount(right, pull[:, k], len(out))


def spring_network_by_hand(x, stiffness, rest, left, right, steps):
    saved = []
    for t in range(steps + 1):
        d = x[right] - x[left]
        length = np.sqrt(np.einsum("ij,ij->i", d, d))
        stretch = length - rest
        d /= length[:, None]
        saved.append((d, length, stretch))
        if t < steps:
            x = x.copy()
            add_to_ends(x, left, right, (0.05 * stiffness * stretch)[:, None] * d)
    tension = stiffness * stretch
    value = 0.5 * (tension @ stretch)
    x_bar = np.zeros_like(x)
    add_to_ends(x_bar, left, right, -tension[:, None] * d)
    stiffness_bar, rest_bar = 0.5 * stretch * stretch, -tension
    for unit, length, stretch in saved[-2::-1]:
        pull_bar = 0.05 * (x_bar[left] - x_bar[right])
        along = np.einsum("ij,ij->i", pull_bar, unit)
        stiffness_bar += along * stretch
        length_bar = stiffness * along
        rest_bar -= length_bar
        turning = stiffness * stretch / length
        pull_bar *= turning[:, None]
        pull_bar += (length_bar - turning * along)[:, None] * unit
        add_to_ends(x_bar, right, left, pull_bar)
    return value, (x_bar, stiffness_bar, rest_bar)


def spring_network_inputs(rng, side, steps):
    node = np.arange(side * side).reshape(side, side)
    ends = [(node[1:], node[:-1]), (node[:, 1:], node[:, :-1]), (node[1:, 1:], node[:-1, :-1])]
    left, right = (np.concatenate([pair[k].ravel() for pair in ends]) for k in (0, 1))
    x = np.stack(np.divmod(node.ravel(), side), axis=1) + 0.1 * rng.normal(size=(side * side, 2))
    return x, rng.uniform(0.5, 1.5, left.size), rng.uniform(0.8, 1.2, left.size), left, right, steps


def meet_surface(x, y, slope, vertex, curvature, quartic):
    """Newton's method for where a ray meets a lens that is a polynomial."""
    at = vertex
    while True:
        height = y + slope * (at - x)
        sag = height**2 * (0.5 * curvature + quartic * height**2)
        steepness = height * (curvature + 4.0 * quartic * height**2)
        move = (at - vertex - sag) / (1.0 - steepness * slope)
        at = at - move
        if abs(move) < 1e-9:
            return at


def spot_size(heights, vertices, curvatures, quartics, indices):
    """The spread of parallel rays behind a row of lenses, where they should meet."""
    spread = 0.0
    for k in range(len(heights)):
        x, y, angle, index = 0.0, heights[k], 0.0, 1.0
        for s in range(len(vertices)):
            slope = math.tan(angle)
            at = meet_surface(x, y, slope, vertices[s], curvatures[s], quartics[s])
            y = y + slope * (at - x)
            x = at
            normal = -math.atan(y * (curvatures[s] + 4.0 * quartics[s] * y**2))
            angle = normal + math.asin(index / indices[s] * math.sin(angle - normal))
            index = indices[s]
        spread += (y + math.tan(angle) * (10.0 - x)) ** 2
    return spread / len(heights)


def spot_size_by_hand(heights, vertices, curvatures, quartics, indices):
    lenses = list(zip(vertices.tolist(), curvatures.tolist(), quartics.tolist(), indices.tolist()))
    heights_bar = []
    vertices_bar, curvatures_bar, quartics_bar, indices_bar = ([0.0] * len(lenses) for _ in range(4))
    spread = 0.0
    for height in heights.tolist():
        x, y, angle, index = 0.0, height, 0.0, 1.0
        saved = []
        for vertex, curvature, quartic, next_index in lenses:
            slope = math.tan(angle)
            at = meet_surface(x, y, slope, vertex, curvature, quartic)
            before = at - x
            y = y + slope * before
            x = at
            steepness = y * (curvature + 4.0 * quartic * y**2)
            normal = -math.atan(steepness)
            incidence = angle - normal
            sine = index / next_index * math.sin(incidence)
            saved.append((y, slope, before, steepness, incidence, sine, index))
            angle = normal + math.asin(sine)
            index = next_index
        slope = math.tan(angle)
        miss = y + slope * (10.0 - x)
        spread += miss * miss

        y_bar = 2.0 * miss / len(heights)
        x_bar = -y_bar * slope
        angle_bar = y_bar * (10.0 - x) * (1.0 + slope * slope)
        for s in range(len(lenses) - 1, -1, -1):
            y, slope, before, steepness, incidence, sine, index = saved[s]
            vertex, curvature, quartic, next_index = lenses[s]
            sine_bar = angle_bar / math.sqrt(1.0 - sine * sine)
            indices_bar[s] -= sine_bar * sine / next_index
            if s > 0:
                indices_bar[s - 1] += sine_bar * sine / index
            incidence_bar = sine_bar * index / next_index * math.cos(incidence)
            steepness_bar = (incidence_bar - angle_bar) / (1.0 + steepness * steepness)
            y_bar += steepness_bar * (curvature + 12.0 * quartic * y * y)
            # The implicit function theorem: x = vertex + sag(y), y = y before + slope * (x - x before).
            root_bar = (x_bar + slope * y_bar) / (1.0 - steepness * slope)
            vertices_bar[s] += root_bar
            curvatures_bar[s] += steepness_bar * y + 0.5 * root_bar * y * y
            quartics_bar[s] += 4.0 * steepness_bar * y**3 + root_bar * y**4
            y_bar += root_bar * steepness
            x_bar = -slope * y_bar
            angle_bar = incidence_bar + y_bar * before * (1.0 + slope * slope)
        heights_bar.append(y_bar)
    return spread / len(heights), tuple(
        map(np.array, (heights_bar, vertices_bar, curvatures_bar, quartics_bar, indices_bar))
    )


def spot_size_inputs(rng, rays, lenses):
    shape = np.where(np.arange(2 * lenses) % 2 == 0, 0.2, -0.1) / lenses
    glass = np.where(np.arange(2 * lenses) % 2 == 0, 1.5, 1.0) + 0.02 * rng.uniform(size=2 * lenses)
    vertices = 1.0 + np.arange(2 * lenses) * 0.7 + 0.1 * rng.uniform(size=2 * lenses)
    return rng.uniform(-0.8, 0.8, rays), vertices, shape, 0.01 * rng.normal(size=2 * lenses), glass


def shot_range(speed, angle, drag, gusts):
    """How far a ball flies in air; the wind changes with the height above ground."""
    dt = 0.005
    x, y = 0.0, 0.0
    vx, vy = speed * math.cos(angle), speed * math.sin(angle)
    while True:
        layer = min(int(y), len(gusts) - 1)
        ux = vx - gusts[layer]
        brake = drag * math.sqrt(ux * ux + vy * vy)
        vx = vx - dt * brake * ux
        vy = vy - dt * (9.81 + brake * vy)
        y_next = y + dt * vy
        if y_next < 0.0:
            break
        x, y = x + dt * vx, y_next
    return x + dt * vx * y / (y - y_next)


def shot_range_by_hand(speed, angle, drag, gusts):
    dt = 0.005
    winds = gusts.tolist()
    top = len(winds) - 1
    c, s = math.cos(angle), math.sin(angle)
    x, y, vx, vy = 0.0, 0.0, speed * c, speed * s
    saved = []
    while True:
        layer = min(int(y), top)
        ux = vx - winds[layer]
        air_speed = math.sqrt(ux * ux + vy * vy)
        saved.append((layer, ux, vy, air_speed))
        brake = drag * air_speed
        vx = vx - dt * brake * ux
        vy = vy - dt * (9.81 + brake * vy)
        y_next = y + dt * vy
        if y_next < 0.0:
            break
        x, y = x + dt * vx, y_next
    # The last step, with y - y_next = -dt * vy, gives x - y * vx / vy.
    value = x - y * vx / vy
    y_bar, vx_bar, vy_bar = -vx / vy, -y / vy, y * vx / vy**2
    drag_bar = 0.0
    winds_bar = [0.0] * len(winds)
    x_bar_dt = y_bar_dt = 0.0  # the last velocity moved nothing
    for layer, ux, vy, air_speed in reversed(saved):
        vx_bar += x_bar_dt
        vy_bar += y_bar_dt
        x_bar_dt, y_bar_dt = dt, dt * y_bar
        brake_bar = -dt * (vx_bar * ux + vy_bar * vy)
        drag_bar += brake_bar * air_speed
        kept = 1.0 - dt * drag * air_speed
        air_speed_bar = brake_bar * drag / air_speed
        wind_bar = dt * drag * air_speed * vx_bar - air_speed_bar * ux
        winds_bar[layer] += wind_bar
        vx_bar -= wind_bar
        vy_bar = kept * vy_bar + air_speed_bar * vy
    speed_bar = vx_bar * c + vy_bar * s
    angle_bar = speed * (vy_bar * c - vx_bar * s)
    return value, (speed_bar, angle_bar, drag_bar, np.array(winds_bar))


def shot_range_inputs(rng, speed):
    return float(speed), 0.8, 0.004, rng.normal(size=40)


def steering_cost(A, B, x0, controls, goal):
    """The cost of steering a linear system to a goal."""
    x = x0
    cost = 0.0
    for t in range(len(controls)):
        x = A @ x + B @ controls[t]
        cost += 0.01 * (x @ x) + 0.1 * (controls[t] @ controls[t])
    return cost + np.sum((x - goal) ** 2)


def steering_cost_by_hand(A, B, x0, controls, goal):
    steps = len(controls)
    xs = np.empty((steps + 1, x0.size))
    xs[0] = x0
    pushes = controls @ B.T
    for t in range(steps):
        np.dot(A, xs[t], out=xs[t + 1])
        xs[t + 1] += pushes[t]
    miss = xs[-1] - goal
    cost = 0.01 * np.vdot(xs[1:], xs[1:]) + 0.1 * np.vdot(controls, controls) + miss @ miss
    x_bars = 0.02 * xs[1:]
    x_bars[-1] += 2.0 * miss
    for t in range(steps - 1, 0, -1):
        x_bars[t - 1] += x_bars[t] @ A
    return cost, (x_bars.T @ xs[:-1], x_bars.T @ controls, x_bars[0] @ A, x_bars @ B + 0.2 * controls, -2.0 * miss)


def steering_cost_inputs(rng, n, m, steps):
    A = np.eye(n) + 0.1 * rng.normal(size=(n, n)) / np.sqrt(n)
    return A / 1.2, rng.normal(size=(n, m)), rng.normal(size=n), 0.3 * rng.normal(size=(steps, m)), rng.normal(size=n)


PROGRAMS = [
    Program(
        bundle_adjustment, bundle_adjustment_by_hand, bundle_adjustment_inputs, (2, 3, 8), (20, 300, 2_000), (0, 1, 2)
    ),
    Program(arm_motion, arm_motion_by_hand, arm_motion_inputs, (4, 6), (8, 10_000), (0, 1, 2)),
    Program(
        spring_network,
        spring_network_by_hand,
        spring_network_inputs,
        (3, 3),
        (40, 20),
        (0, 1, 2),
        (add_to_ends,),
    ),
    Program(spot_size, spot_size_by_hand, spot_size_inputs, (3, 1), (300, 3), (0, 1, 2, 3, 4)),
    Program(shot_range, shot_range_by_hand, shot_range_inputs, (2,), (80,), (0, 1, 2, 3)),
    Program(steering_cost, steering_cost_by_hand, steering_cost_inputs, (4, 2, 6), (60, 10, 400), (0, 1, 2, 3, 4)),
]
