-- Mechanics with dry friction, as models, with solutions in closed form. A model is a function that gives a table: nsds; T; h, a
-- step for time stepping; events: times and kinds, of friction alone; accumulation: the end of bounces;
-- work: that of friction until T; state: what read() gives at T.
local ns = require "nslua"

local models, g = {}, 9.81

local function graph(T, ds, law, relation)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(law, relation, "contact"), ds)
  return nsds
end

-- The first root of f after a, by steps of d and bisection.
local function root(f, a, d)
  while f(a) * f(a + d) > 0 do a = a + d end
  local b, sign = a + d, f(a)
  for _ = 1, 60 do
    local middle = (a + b) / 2
    if f(middle) * sign > 0 then a = middle else b = middle end
  end
  return b
end

-- A block on a belt of velocity V whose friction falls with the velocity of slip: F = mu N - c |u|. The constant part is Coulomb's
-- law, the other one a damping of -c between block and belt. The block sticks until k x = mu N; the slip is an arc of a growing
-- spiral around (mu N - c V) / k until the velocity is V again. x(0) = 0, v(0) = V.
function models.belt()
  local m, k, c, V, mu, N, T = 1, 1, 0.1, 1, 0.2, 10, 40
  local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, V }, m * ns.eye(2), ns.diag { 0, k }, ns.diag { 0, -c }) -- height, x
  block:setFExtPtr { -N, -c * V }
  local belt = ns.LagrangianRheonomousR {
    h = function(t, q, _, out) out[1], out[2] = q[1], q[2] - V * t end,
    hDot = function(_, _, _, out) out[1], out[2] = 0, -V end,
  }
  local top, center = mu * N / k, (mu * N - c * V) / k
  local growth, w = c / (2 * m), math.sqrt(k / m - (c / (2 * m)) ^ 2)
  local a = top - center
  local b = (V - growth * a) / w -- x = center + exp(growth t) (a cos w t + b sin w t)
  local function x(t) return center + math.exp(growth * t) * (a * math.cos(w * t) + b * math.sin(w * t)) end
  local function v(t)
    return math.exp(growth * t) * ((growth * a + w * b) * math.cos(w * t) + (growth * b - w * a) * math.sin(w * t))
  end
  local slip = root(function(t) return v(t) - V end, 1 / w, 0.1)
  local stick = (top - x(slip)) / V
  local events, t, work = {}, top / V, k * top ^ 2 / 2 -- the belt's work on the block while it sticks is that of the spring
  while true do
    events[#events + 1] = { t, "slip" }
    if t + slip > T then break end
    work = work + mu * N * (x(slip) - top) -- while it slips friction has the size mu N
    t = t + slip
    events[#events + 1] = { t, "stick" }
    if t + stick > T then break end
    work = work + k * (top ^ 2 - x(slip) ^ 2) / 2
    t = t + stick
  end
  local last, state = T - t
  if events[#events][2] == "slip" then
    state, work = { x(last), v(last) }, work + mu * N * (x(last) - top)
  else
    local now = x(slip) + V * last
    state, work = { now, V }, work + k * (now ^ 2 - x(slip) ^ 2) / 2
  end
  return { nsds = graph(T, block, ns.NewtonImpactFrictionNSL(0, 0, mu, 2), belt), T = T, h = 1e-2, events = events, work = work,
    state = state, read = function() return { block:q()[2], block:velocity()[2] } end, period = stick + slip,
    stick_fraction = stick / (stick + slip) }
end

-- A pendulum with dry friction in its pin, theta'' = -w^2 sin theta - 3 sgn theta', from rest at 2.5: angles and times of the
-- turning points, by quadrature with 40 digits; at the last one it stays. The bounds of its relay are moments; with h given, the
-- impulses of steps of that length.
function models.pendulum(h)
  local w2, c, T = 19.62, 3, 6
  local pendulum = ns.LagrangianDS({ 2.5 }, { 0 }, { { 1 } })
  pendulum:setComputeFIntFunction(function(_, q, _, _, f) f[1] = w2 * math.sin(q[1]) end)
  local bound = c * (h or 1)
  return { nsds = graph(T, pendulum, ns.RelayNSL(1, -bound, bound), ns.LagrangianLinearTIR { { 1 } }), T = T, h = 1e-3,
    events = { { 1.057308060506207708317, "cross" }, { 1.894767041019470698938, "cross" },
      { 2.666608564338844294971, "cross" }, { 3.40498374091805239684, "cross" }, { 4.125738695930210097034, "cross" },
      { 4.839519399828115228995, "stick" } },
    work = -c * (2.5 + 2 * (1.726337393048734008934 + 1.263713093729288593782 + 0.8876523655240231673318
      + 0.5521661451569080055397 + 0.2369711047218438856872) - 0.07040168425954070),
    state = { -0.07040168425952906754501, 0 }, read = function() return { pendulum:q()[1], pendulum:velocity()[1] } end }
end

-- A ball thrown along a plane with spin: the velocity of its contact point u = v - R (w_y, -w_x) keeps its direction and falls by
-- 7/2 mu g t; it rolls from 2 |u| / (7 mu g) on.
function models.ball()
  local m, R, mu, T = 1, 0.1, 0.2, 1
  local v0, spin = { 2, -0.5 }, { 3, -4 } -- velocities; angular velocities about x and y
  local I = 2 / 5 * m * R ^ 2
  local ball = ns.NewtonEulerDS({ 0, 0, R, 1, 0, 0, 0 }, { v0[1], v0[2], 0, spin[1], spin[2], 0 }, m, I * ns.eye(3))
  ball:setFExtPtr { 0, 0, -m * g }
  local u = { v0[1] - R * spin[2], v0[2] + R * spin[1] }
  local slip = math.sqrt(u[1] ^ 2 + u[2] ^ 2)
  local rolls = 2 * slip / (7 * mu * g)
  local state = {}
  for i = 1, 2 do
    local last = v0[i] - mu * g * rolls * u[i] / slip
    state[i], state[i + 2] = (v0[i] + last) / 2 * rolls + last * (T - rolls), last
  end
  return { nsds = graph(T, ball, ns.NewtonImpactFrictionNSL(0, 0, mu, 3),
    ns.contact.sphere_plane(R, ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 }))), T = T, h = 1e-3, events = { { rolls, "stick" } },
    work = -m * slip ^ 2 / 7, state = state, read = function()
      local q, v = ball:q(), ball:velocity()
      return { q[1], q[2], v[1], v[2] }
    end }
end

-- A particle that is thrown at the floor, bounces with restitution e and friction, slides when the bounces have ended, and stops.
-- An impact of the velocity w takes mu (1 + e) w of the tangential velocity; the bounces end after 2 e w / (g (1 - e)).
function models.bounces()
  local e, mu, height, vx, T = 0.5, 0.1, 1, 3, 4
  local particle = ns.LagrangianLinearTIDS({ height, 0 }, { 0, vx }, ns.eye(2))
  particle:setFExtPtr { -g, 0 }
  local first, w, v = math.sqrt(2 * height / g), math.sqrt(2 * g * height), vx
  local t, x = first, v * first
  while w > 1e-18 do
    v, w = v - mu * (1 + e) * w, e * w
    x, t = x + v * 2 * w / g, t + 2 * w / g
  end
  local stops = t + v / (mu * g)
  return { nsds = graph(T, particle, ns.NewtonImpactFrictionNSL(e, 0, mu, 2), ns.LagrangianLinearTIR(ns.eye(2))), T = T, h = 1e-3,
    events = { { stops, "stick" } }, accumulation = t,
    state = { 0, x + v ^ 2 / (2 * mu * g), 0 },
    read = function() return { particle:q()[1], particle:q()[2], particle:velocity()[2] } end }
end

-- A block that is pushed up a slope, stops, and slides back, as tan(angle) > mu.
function models.slope()
  local angle, mu, v0, T = math.rad(30), 0.3, 3, 2
  local block = ns.LagrangianLinearTIDS({ 0, 0 }, { 0, v0 }, ns.eye(2)) -- (normal, up the slope)
  block:setFExtPtr { -g * math.cos(angle), -g * math.sin(angle) }
  local up, down = g * (math.sin(angle) + mu * math.cos(angle)), g * (math.sin(angle) - mu * math.cos(angle))
  local turns = v0 / up
  local back, top = T - turns, v0 ^ 2 / (2 * up)
  return { nsds = graph(T, block, ns.NewtonImpactFrictionNSL(0, 0, mu, 2), ns.LagrangianLinearTIR(ns.eye(2))), T = T, h = 1e-3,
    events = { { turns, "cross" } }, work = -mu * g * math.cos(angle) * (top + down * back ^ 2 / 2),
    state = { top - down * back ^ 2 / 2, -down * back }, read = function() return { block:q()[2], block:velocity()[2] } end }
end

return models
