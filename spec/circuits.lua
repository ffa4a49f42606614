-- Circuits of diodes and switches, as models, with the times of their events in closed form: the sequence of the linear circuits
-- that follow each other is known, each goes by a matrix exponential, and ends at a time or where a linear function is zero.
local ns = require "nslua"

local circuits = {}

-- phases(z, t, T, list): runs through the phases { F = , out = } (z' = F z) again and again from z at t until T. A phase ends at
-- the time next(t) or at the first root of the row out . z (looked for from `after` on, in steps of `step`). Each end is an event;
-- returns their times, phase by phase, and z at T.
local function phases(z, t, T, list)
  local times, k = {}, 1
  while true do
    local p = list[k]
    local function state(s) return ns.expm(p.F * s) * z end
    local stop
    if p.next then
      stop = p.next(t)
    else
      local a = t + (p.after or p.step)
      while p.out:dot(state(a - t)) * p.out:dot(state(a + p.step - t)) > 0 and a < T do a = a + p.step end
      local b, sign = a + p.step, p.out:dot(state(a - t))
      for _ = 1, 60 do
        local middle = (a + b) / 2
        if p.out:dot(state(middle - t)) * sign > 0 then a = middle else b = middle end
      end
      stop = b
    end
    if stop > T then return times, state(T - t) end
    z, t = state(stop - t), stop
    if p.jump then z = p.jump(z) end
    times[#times + 1] = { t = t, kind = p.kind }
    k = k % #list + 1
  end
end

local function graph(T, systems, links)
  local nsds = ns.NonSmoothDynamicalSystem(0, T)
  for _, ds in ipairs(systems) do nsds:insertDynamicalSystem(ds) end
  for _, link in ipairs(links) do nsds:link(ns.Interaction(link[1], link[2], link[3]), link[4], link[5]) end
  return nsds
end

-- A sine voltage V sin(w t - phase), a coil and a diode feed a resistor: L i' = v - R i + lambda, 0 <= i _|_ lambda >= 0.
function circuits.half_wave()
  local V, w, phase, L, R, T = 10, 2 * math.pi * 50, 0.5, 0.05, 10, 0.1
  local ds = ns.FirstOrderLinearDS({ 0 }, { { -R / L } }, function(t, _, b) b[1] = V / L * math.sin(w * t - phase) end)
  local diode = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 / L } })
  local z = ns.vector { 0, -math.sin(phase), math.cos(phase) } -- i, sin, cos
  local source = { { 0, 0, 0 }, { 0, 0, w }, { 0, -w, 0 } }
  local on = ns.matrix(source)
  on[1][1], on[1][2] = -R / L, V / L
  local times, last = phases(z, 0, T, {
    { F = ns.matrix(source), out = ns.vector { 0, 1, 0 }, step = 1e-4, kind = "open" },
    { F = on, out = ns.vector { 1, 0, 0 }, after = 1e-3, step = 1e-4, kind = "close", jump = function(x) x[1] = 0; return x end },
  })
  return { nsds = graph(T, { ds }, { { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times,
    x = last:slice(1, 1), h = 1e-4 }
end

-- The same with a capacitor beside the resistor: L i' = v - u + lambda, C u' = i - u / R.
function circuits.half_wave_filter()
  local V, w, phase, L, C, R, T = 10, 2 * math.pi * 50, 0.5, 2e-3, 1e-3, 50, 0.1
  local ds = ns.FirstOrderLinearDS({ 0, 1 }, { { 0, -1 / L }, { 1 / C, -1 / (R * C) } },
    function(t, _, b) b[1] = V / L * math.sin(w * t - phase) end)
  local diode = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 / L }, { 0 } })
  local z = ns.vector { 0, 1, -math.sin(phase), math.cos(phase) } -- i, u, sin, cos
  local off = { { 0, 0, 0, 0 }, { 0, -1 / (R * C), 0, 0 }, { 0, 0, 0, w }, { 0, 0, -w, 0 } }
  local on = { { 0, -1 / L, V / L, 0 }, { 1 / C, -1 / (R * C), 0, 0 }, { 0, 0, 0, w }, { 0, 0, -w, 0 } }
  local times, last = phases(z, 0, T, {
    { F = ns.matrix(off), out = ns.vector { 0, -1, V, 0 }, step = 1e-4, kind = "open" },
    { F = ns.matrix(on), out = ns.vector { 1, 0, 0, 0 }, after = 1e-4, step = 1e-4, kind = "close",
      jump = function(x) x[1] = 0; return x end },
  })
  return { nsds = graph(T, { ds }, { { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times,
    x = last:slice(1, 2), h = 1e-4 }
end

-- A bridge of four diodes between a sine voltage v and a coil with a resistor: the load sees |v|, and the diodes commutate where
-- v = 0. lambda = (voltages of two diodes, currents of the other two), as in spec/cases/diode_bridge.lua.
function circuits.full_bridge()
  local V, w, phase, L, R, T = 10, 2 * math.pi * 50, 0.5, 0.05, 10, 0.1
  local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -R / L } })
  local bridge = ns.FirstOrderLinearR {
    C = { { 1 }, { 1 }, { 0 }, { 0 } },
    D = { { 0, 0, -1, 0 }, { 0, 0, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 1 / L, 1 / L, 0, 0 } },
    e = function(t, _, e)
      local v = V * math.sin(w * t - phase)
      e[3], e[4] = -v, v
    end,
  }
  local function arc(sign) return ns.matrix { { -R / L, sign * V / L, 0 }, { 0, 0, w }, { 0, -w, 0 } } end
  local out = ns.vector { 0, 1, 0 }
  local times, last = phases(ns.vector { 1, -math.sin(phase), math.cos(phase) }, 0, T, {
    { F = arc(-1), out = out, step = 1e-4, after = 1e-5, kind = "commutation" },
    { F = arc(1), out = out, step = 1e-4, after = 1e-5, kind = "commutation" },
  })
  return { nsds = graph(T, { ds }, { { ns.ComplementarityConditionNSL(4), bridge, "bridge", ds } }), times = times, rows = 4,
    x = last:slice(1, 1), h = 1e-4 }
end

-- The oscillator of spec/cases/circuit_rlcd.lua: v crosses 0, by damped and by free half waves.
function circuits.rlcd()
  local L, C, R, T = 1e-2, 1e-6, 1000, 499e-5
  local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local diode = ns.FirstOrderLinearTIR { C = { { -1, 0 } }, D = { { R } }, B = { { -1 / C }, { 0 } } }
  local function circuit(g) return ns.matrix { { -g / C, -1 / C }, { 1 / L, 0 } } end
  local out = ns.vector { 1, 0 }
  local times, last = phases(ns.vector { 10, 0 }, 0, T, {
    { F = circuit(1 / R), out = out, after = 1e-6, step = 1e-5, kind = "open" },
    { F = circuit(0), out = out, after = 1e-6, step = 1e-5, kind = "close" },
  })
  return { nsds = graph(T, { ds }, { { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times, x = last,
    h = 1e-6 }
end

-- The bridge of spec/cases/diode_bridge.lua: the resistor sees |v|, so that the whole is a damped oscillator.
function circuits.bridge()
  local L, C, R, T = 1e-2, 1e-6, 1000, 4.999e-3
  local ds = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0 }, { 0, 0 }, { -1, 0 }, { 1, 0 } },
    D = { { 1 / R, 1 / R, -1, 0 }, { 1 / R, 1 / R, 0, -1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 } },
  }
  local circuit = ns.matrix { { -1 / (R * C), -1 / C }, { 1 / L, 0 } }
  local times, last = phases(ns.vector { 10, 0 }, 0, T,
    { { F = circuit, out = ns.vector { 1, 0 }, after = 1e-5, step = 1e-5, kind = "commutation" } })
  return { nsds = graph(T, { ds }, { { ns.ComplementarityConditionNSL(4), relation, "bridge", ds } }), times = times, rows = 4,
    x = last, h = 1e-6 }
end

-- The bridge with a capacitor as filter, of spec/cases/diode_bridge_cap.lua, from a charged filter. While a pair of diodes conducts
-- |v| = u. When none does, the common potential is free: two of the multipliers are not unique.
function circuits.bridge_filter()
  local L, C, R, Cf, T = 1e-2, 1e-6, 1000, 300e-9, 4.999e-3
  local oscillator = ns.FirstOrderLinearTIDS({ 10, 0 }, { { 0, -1 / C }, { 1 / L, 0 } })
  local filter = ns.FirstOrderLinearTIDS({ 10 }, { { -1 / (R * Cf) } })
  local relation = ns.FirstOrderLinearTIR {
    C = { { 0, 0, 1 }, { 0, 0, 0 }, { -1, 0, 1 }, { 1, 0, 0 } },
    D = { { 0, -1, 0, 0 }, { 1, 0, 1, -1 }, { 0, -1, 0, 0 }, { 0, 1, 0, 0 } },
    B = { { 0, 0, -1 / C, 1 / C }, { 0, 0, 0, 0 }, { 1 / Cf, 0, 1 / Cf, 0 } },
  }
  local both = 1 / (C + Cf)
  local function on(sign)
    return ns.matrix { { -both / R, -both, 0 }, { 1 / L, 0, 0 }, { -sign * both / R, -sign * both, 0 } }
  end
  local off = ns.matrix { { 0, -1 / C, 0 }, { 1 / L, 0, 0 }, { 0, 0, -1 / (R * Cf) } }
  local current = ns.vector { 1 / R - Cf * both / R, -Cf * both, 0 } -- of the pair that conducts, by (v, i, u)
  local times, last = phases(ns.vector { 10, 0, 10 }, 0, T, {
    { F = on(1), out = current, step = 1e-6, kind = "block" },
    { F = off, out = ns.vector { 1, 0, 1 }, step = 1e-6, kind = "conduct" },
    { F = on(-1), out = current, step = 1e-6, kind = "block" },
    { F = off, out = ns.vector { -1, 0, 1 }, step = 1e-6, kind = "conduct" },
  })
  local bridge = { ns.ComplementarityConditionNSL(4), relation, "bridge", oscillator, filter }
  return { nsds = graph(T, { oscillator, filter }, { bridge }), times = times, x = last, h = 1e-6 }
end

-- The switch of a converter is on (lambda = 1) while cos(2 pi f t) > cos(pi duty), off (lambda = 0) else.
local function clock(f, duty)
  local c = math.cos(math.pi * duty)
  local function off(t) return (math.floor(t * f - duty / 2 + 1e-6) + 1 + duty / 2) / f end
  local function on(t) return (math.floor(t * f + duty / 2 + 1e-6) + 1 - duty / 2) / f end
  return function(t) return c - math.cos(2 * math.pi * f * t) end, on, off
end

-- A boost converter in discontinuous mode that charges a battery: L i' = V - (1 - s) U + lambda, 0 <= i _|_ lambda >= 0. The
-- current is a triangle, up by V / L, down by (U - V) / L, and rests at 0.
function circuits.boost_battery()
  local V, U, L, f, duty, T = 5, 15, 1e-4, 1e4, 0.4, 1.05e-3
  local gate, on, off = clock(f, duty)
  local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { (V - U) / L })
  local switch = ns.FirstOrderNonLinearR { h = function(t, _, _, _, y) y[1] = gate(t) end, B = { { U / L } } }
  local diode = ns.FirstOrderLinearTIR({ { 1 } }, { { 1 / L } })
  local function F(slope) return ns.matrix { { 0, slope }, { 0, 0 } } end
  local function rest(x) x[1] = 0; return x end
  local times, last = phases(ns.vector { 0, 1 }, 0, T, {
    { F = F(V / L), next = off, kind = "off" },
    { F = F((V - U) / L), out = ns.vector { 1, 0 }, step = 1e-6, kind = "close", jump = rest },
    { F = F(0), next = on, kind = "on" },
  })
  return { nsds = graph(T, { ds }, { { ns.RelayNSL(1, 0, 1), switch, "switch", ds },
    { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times, x = last:slice(1, 1), h = 1e-6 }
end

-- A boost converter in discontinuous mode with a capacitor and a resistor:
-- L i' = V - (1 - s) u + lambda, C u' = (1 - s) i - u / R.
function circuits.boost()
  local V, L, C, R, f, duty, T = 5, 2e-5, 1e-4, 50, 1e4, 0.4, 1.05e-3
  local gate, on, off = clock(f, duty)
  local ds = ns.FirstOrderLinearTIDS({ 0, 12 }, { { 0, -1 / L }, { 1 / C, -1 / (R * C) } }, { V / L, 0 })
  local switch = ns.FirstOrderNonLinearR {
    h = function(t, _, _, _, y) y[1] = gate(t) end,
    g = function(_, x, lambda, _, r) r[1], r[2] = lambda[1] * x[2] / L, -lambda[1] * x[1] / C end,
  }
  local diode = ns.FirstOrderLinearTIR({ { 1, 0 } }, { { 1 / L }, { 0 } })
  local function F(i, s, u) return ns.matrix { { 0, -s / L, i * V / L }, { u / C, -1 / (R * C), 0 }, { 0, 0, 0 } } end
  local function rest(x) x[1] = 0; return x end
  local times, last = phases(ns.vector { 0, 12, 1 }, 0, T, {
    { F = F(1, 0, 0), next = off, kind = "off" },
    { F = F(1, 1, 1), out = ns.vector { 1, 0, 0 }, step = 1e-6, kind = "close", jump = rest },
    { F = F(0, 0, 0), next = on, kind = "on" },
  })
  return { nsds = graph(T, { ds }, { { ns.RelayNSL(1, 0, 1), switch, "switch", ds },
    { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times, x = last:slice(1, 2), h = 1e-6 }
end

-- A Cuk converter in discontinuous mode, x = (i1, i2, v, u): the diode carries i1 + i2, while the switch is off.
-- L1 i1' = V - (1 - s) v + lambda, L2 i2' = s v - u + lambda, C1 v' = (1 - s) i1 - s i2, C2 u' = i2 - u / R.
function circuits.cuk()
  local V, L1, L2, C1, C2, R, f, duty, T = 12, 1e-4, 6e-5, 2e-5, 1e-4, 40, 2e4, 0.3, 5.2e-4
  local gate, on, off = clock(f, duty)
  local x0 = { 0, 0, 24, 12 }
  local ds = ns.FirstOrderLinearTIDS(x0,
    { { 0, 0, -1 / L1, 0 }, { 0, 0, 0, -1 / L2 }, { 1 / C1, 0, 0, 0 }, { 0, 1 / C2, 0, -1 / (R * C2) } }, { V / L1, 0, 0, 0 })
  local switch = ns.FirstOrderNonLinearR {
    h = function(t, _, _, _, y) y[1] = gate(t) end,
    g = function(_, x, lambda, _, r)
      local s = lambda[1]
      r[1], r[2], r[3] = s * x[3] / L1, s * x[3] / L2, -s * (x[1] + x[2]) / C1
    end,
  }
  local diode = ns.FirstOrderLinearTIR({ { 1, 1, 0, 0 } }, { { 1 / L1 }, { 1 / L2 }, { 0 }, { 0 } })
  local function F(s, blocked)
    local M = ns.zeros(5, 5)
    M[1][3], M[1][5] = (s - 1) / L1, V / L1
    M[2][3], M[2][4] = s / L2, -1 / L2
    M[3][1], M[3][2], M[4][2], M[4][4] = (1 - s) / C1, -s / C1, 1 / C2, -1 / (R * C2)
    if blocked then -- lambda such that i1' + i2' = 0
      local share = 1 / (1 / L1 + 1 / L2)
      for j = 1, 5 do
        local lambda = -(M[1][j] + M[2][j]) * share
        M[1][j], M[2][j] = M[1][j] + lambda / L1, M[2][j] + lambda / L2
      end
    end
    return M
  end
  local times, last = phases(ns.vector { x0[1], x0[2], x0[3], x0[4], 1 }, 0, T, {
    { F = F(1), next = off, kind = "off" },
    { F = F(0), out = ns.vector { 1, 1, 0, 0, 0 }, step = 1e-6, kind = "close" },
    { F = F(0, true), next = on, kind = "on" },
  })
  return { nsds = graph(T, { ds }, { { ns.RelayNSL(1, 0, 1), switch, "switch", ds },
    { ns.ComplementarityConditionNSL(1), diode, "diode", ds } }), times = times, x = last:slice(1, 4), h = 1e-6 }
end

return circuits
