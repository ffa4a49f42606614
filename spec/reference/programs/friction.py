"""Motion with Coulomb friction that is known exactly.

mechanics_stick_slip_exact.csv: a block (m = 1) on a belt of velocity V = 0.1, held by a spring (k = 100); g = 9.81, friction mu_s = 0.5 while it
sticks and mu_d = 0.3 while it slips; x(0) = 0, x'(0) = V. With w = 10, a = (mu_s - mu_d) m g / k: it sticks, x' = V, until x = mu_s m g / k; it
slips for (pi + 2 atan(V / (a w))) / w on x = mu_d m g / k + a cos(w s) + (V / w) sin(w s), to -a below the middle; then 2 a / V of stick.

mechanics_slope_exact.csv: a unit mass at rest on a plane inclined by alpha = pi / 6, whose line of steepest descent is (cos 1, sin 1) in the plane's axes;
mu = 0.3 (slides with g (sin alpha - mu cos alpha)) and mu = 0.6 > tan(alpha) (rests). The scheme with theta = 1/2 is exact there.

mechanics_ball_on_plane_exact.csv: a ball (R = 0.1, m = 1, J = 2/5 m R^2) with the velocity 2 in x and without spin, mu = 0.2, g = 9.81: it slides,
v = v0 - mu g t, R w = 5/2 mu g t, until t* = 2 v0 / (7 mu g), and then rolls with 5/7 v0. The scheme with theta = 1/2 is exact for v, w and x
before the step with t*, for v and w after it too, and x is then wrong by a constant of the order of h^2.
"""
import math

from theta_scheme import write

m, k, g, V, w = 1.0, 100.0, 9.81, 0.1, 10.0


def stick_slip(t, mu_s=0.5, mu_d=0.3):
    top, middle = mu_s * m * g / k, mu_d * m * g / k
    a = top - middle
    slip = (math.pi + 2 * math.atan(V / (a * w))) / w
    if t < top / V:
        return V * t, V, k * V * t / m, "stick"
    t = (t - top / V) % (slip + 2 * a / V)
    if t < slip:
        return middle + a * math.cos(w * t) + V / w * math.sin(w * t), -a * w * math.sin(w * t) + V * math.cos(w * t), mu_d * m * g, "slip"
    x = middle - a + V * (t - slip)
    return x, V, k * x, "stick"


write("mechanics_stick_slip_exact", ["t", "x", "v", "friction", "state"], [(i / 100, *stick_slip(i / 100)) for i in range(301)])
alpha, direction, rows = math.pi / 6, (math.cos(1), math.sin(1)), []
for i in range(101):
    t, row = i / 100, [i / 100]
    for mu in (0.3, 0.6):
        acceleration = max(0.0, g * (math.sin(alpha) - mu * math.cos(alpha)))
        row += [acceleration * t * t / 2 * direction[0], acceleration * t * t / 2 * direction[1], acceleration * t]
    rows.append(row)
write("mechanics_slope_exact", ["t", "x_0.3", "y_0.3", "speed_0.3", "x_0.6", "y_0.6", "speed_0.6"], rows)
v0, mu, R = 2.0, 0.2, 0.1
end, rows = 2 * v0 / (7 * mu * g), []
for i in range(201):
    t = i / 200
    s = min(t, end)
    v = v0 - mu * g * s
    rows.append((t, v0 * s - mu * g * s * s / 2 + v * (t - s), v, 2.5 * mu * g * s / R, "slides" if t < end else "rolls"))
write("mechanics_ball_on_plane_exact", ["t", "x", "v", "w", "state"], rows)
