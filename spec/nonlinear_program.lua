-- Nonlinear programs as tables for optimise_support.ipopt.
local ns = require "nslua"

local nonlinear = {}

function nonlinear.compiled(f) return ns.compile(f, { native = false }) end

-- A program with the defaults of a plain solve.
function nonlinear.program(t)
  local n, m = #t.lower, #(t.row_lower or {})
  t.lower, t.upper = ns.vector(t.lower), ns.vector(t.upper)
  t.row_lower, t.row_upper = ns.vector(t.row_lower or {}), ns.vector(t.row_upper or {})
  t.row, t.column, t.value = t.row or {}, t.column or {}, t.value or {}
  t.complementarity = 1e-11
  t.tolerance, t.barrier, t.push, t.iterations, t.warm, t.who = 1e-11, 0.1, 1e-2, 200, false, "minimize"
  t.x, t.multiplier, t.at_lower, t.at_upper = ns.vector(t.x), ns.zeros(m), ns.zeros(n), ns.zeros(n)
  return t
end

return nonlinear
