--
-- bench_sensitivity.lua
-- Derivatives of runs: the cost of p parameters in plain runs, forwards and by the way back.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")

-- n states in a ring, np parameters: weights of the neighbours, and a load on the first state.
local function ring(n, np)
  return function(t, y, p)
    local d, load = {}, 0
    for k = 1, np do load = load + p[k] * math.cos(k * 0.1) end
    for i = 1, n do d[i] = -0.1 * y[i] + math.sin(y[i % n + 1]) * p[(i - 1) % np + 1] end
    d[1] = d[1] + 0.1 * load * math.cos(t)
    return d
  end
end

local rows = {}
for _, case in ipairs { { 2, 1 }, { 4, 4 }, { 4, 10 }, { 10, 10 }, { 4, 100 } } do
  local n, np = table.unpack(case)
  local y0, p = {}, {}
  for i = 1, n do y0[i] = 1 + 0.1 * i end
  for i = 1, np do p[i] = 1 + 0.01 * i end
  local f = ring(n, np)
  local compiled = ns.compile(f)
  for _, method in ipairs { "RK45", "DOP853", "Radau", "BDF" } do
    local cells = { ("%d states, %d parameters, %s"):format(n, np, method) }
    for _, kind in ipairs { compiled, f } do
      local options = { method = method, rtol = 1e-8, atol = 1e-10, args = { p } }
      local plain = common.best(5, function() ns.solve_ivp(kind, { 0, 20 }, y0, options) end)
      options.sensitivities = { "args" }
      local along = common.best(5, function() ns.solve_ivp(kind, { 0, 20 }, y0, options) end)
      options.sensitivities, options.parameters = nil, { "args" }
      options.terminal = function(y) return y[1] end
      local back = common.best(5, function() ns.ivp_gradient(kind, { 0, 20 }, y0, options) end)
      cells[#cells + 1], cells[#cells + 2] = common.us(plain), common.ratio(along, plain)
      cells[#cells + 1] = common.ratio(back, plain)
    end
    cells[#cells + 1] = ("%.1f"):format(1.5 * (1 + np))
    rows[#rows + 1] = cells
  end
end
common.table("Microseconds of a plain run; the same with sensitivities, and ivp_gradient, in plain runs", {
  "", "compiled f", "forward", "back", "f in Lua", "forward", "back", "1.5 (1 + p)",
}, rows)
