-- Andrews' squeezing mechanism: seven angles q, six position constraints, a DAE of index 3 in (q, v, lambda), all at rest at t = 0.
local ns, sin, cos = require "nslua", math.sin, math.cos
local m = { 0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498 }
local I = { 2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5 }
local xa, ya, xb, yb, xc, yc, c0, mom = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072, 4530, 0.033
local d, da, e, ea, rr, ra, l0, ss, sa, sb = 0.028, 0.0115, 0.02, 0.01421, 0.007, 0.00092, 0.07785, 0.035, 0.01874, 0.01043
local sc, sd, ta, tb, u, ua, ub, zf, zt, fa = 0.018, 0.02, 0.02308, 0.00916, 0.04, 0.01228, 0.00449, 0.02, 0.04, 0.01421
local de, df, J3 = e - ea, zf - fa, m[3] * (sa ^ 2 + sb ^ 2) + I[3]
local M22, M44, M66 = m[2] * da ^ 2 + I[2], m[4] * de ^ 2 + I[4], m[6] * df ^ 2 + I[6]
local J5, J7 = m[5] * (ta ^ 2 + tb ^ 2) + I[5], m[7] * (ua ^ 2 + ub ^ 2) + I[7]
local function equations(_, y, yd, r)
  local b, T, g, P, D, O, E, vb, vT, _, vP, vD, vO, vE, l1, l2, l3, l4, l5, l6 = table.unpack(y, 1, 20)
  local s, PD, OE, Lx, Ly = b + T, P + D, O + E, l1 + l3 + l5, l2 + l4 + l6
  local xd, yd_ = sd * cos(g) + sc * sin(g) + xb - xc, sd * sin(g) - sc * cos(g) + yb - yc
  local F = -c0 * (1 - l0 / math.sqrt(xd ^ 2 + yd_ ^ 2))
  local Fx, Fy = F * xd, F * yd_
  local ab, aT, ag, aP, aD, aO, aE = table.unpack(yd, 8, 14)
  for i = 1, 7 do r[i] = yd[i] - y[7 + i] end
  local M21, M54, M76 = M22 - m[2] * da * rr * cos(T), M44 + m[4] * zt * de * sin(P), M66 - m[6] * u * df * sin(O)
  local l3P, l5O = -e * (l3 * cos(PD) + l4 * sin(PD)), zf * (l5 * sin(OE) - l6 * cos(OE))
  local x, z, M11 = rr * cos(b) - d * cos(s), rr * sin(b) - d * sin(s), m[1] * ra ^ 2 + m[2] * rr ^ 2 + I[1] + 2 * M21 - M22
  r[8] = M11 * ab + M21 * aT - mom + m[2] * da * rr * vT * (vT + 2 * vb) * sin(T) - Lx * z + Ly * x
  r[9] = M21 * ab + M22 * aT - m[2] * da * rr * vb ^ 2 * sin(T) + d * (Lx * sin(s) - Ly * cos(s))
  r[10] = J3 * ag - Fx * (sc * cos(g) - sd * sin(g)) - Fy * (sd * cos(g) + sc * sin(g)) - ss * (l1 * cos(g) + l2 * sin(g))
  r[11] = M44 * aP + M54 * aD - m[4] * zt * de * vD ^ 2 * cos(P) + l3P
  r[12] = M54 * aP + (2 * M54 - M44 + m[4] * zt ^ 2 + J5) * aD + m[4] * zt * de * vP * (vP + 2 * vD) * cos(P)
    + l3P + zt * (l3 * sin(D) - l4 * cos(D))
  r[13] = M66 * aO + M76 * aE + m[6] * u * df * vE ^ 2 * cos(O) + l5O
  r[14] = M76 * aO + (2 * M76 - M66 + m[6] * u ^ 2 + J7) * aE + l5O - u * (l5 * cos(E) + l6 * sin(E))
    - m[6] * u * df * vO * (vO + 2 * vE) * cos(O)
  r[15], r[16] = x - ss * sin(g) - xb, z + ss * cos(g) - yb
  r[17], r[18] = x - e * sin(PD) - zt * cos(D) - xa, z + e * cos(PD) - zt * sin(D) - ya
  r[19], r[20] = x - zf * cos(OE) - u * sin(E) - xa, z - zf * sin(OE) + u * cos(E) - ya
end
local q0 = { -0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842551,
  -0.222668390165885885, 1.23054744454982119, table.unpack(ns.zeros(13):totable()) }
local sol = ns.dae("radau", equations, { rtol = 1e-12, atol = 1e-12, consistent = "solve" }):solve({ 0, 0.01, 0.03 }, q0)
local y = sol.values.y
return { q_0p03 = y[3](1, 7), v_0p03 = y[3](8, 14), q_0p01 = y[2](1, 7), lambda_0 = y[1](15, 20) }
