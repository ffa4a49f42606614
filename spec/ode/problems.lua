-- Initial value problems with known solutions, for the specs of solve_ivp.
local problems = {}

-- y'' = -y from (1, 0).
function problems.oscillator(_, y) return { y[2], -y[1] } end

-- Van der Pol's equation.
function problems.van_der_pol(mu)
  return function(_, y, d)
    d[1] = y[2]
    d[2] = mu * (1 - y[1] ^ 2) * y[2] - y[1]
  end
end

-- Robertson's reaction: rates of 0.04, 1e4 and 3e7.
function problems.robertson(_, y)
  local a, b, c = 0.04 * y[1], 1e4 * y[2] * y[3], 3e7 * y[2] ^ 2
  return { b - a, a - b - c, c }
end

-- The error of (cos t, -sin t) at the end, of a run from 0 to T.
function problems.oscillator_error(sol)
  local k = #sol.t
  return math.max(math.abs(sol.y[1][k] - math.cos(sol.t[k])), math.abs(sol.y[2][k] + math.sin(sol.t[k])))
end

-- The largest error of the dense output of the oscillator on [0, T].
function problems.dense_error(sol, T)
  local worst = 0
  for i = 0, 997 do worst = math.max(worst, math.abs(sol.sol(T * i / 997)[1] - math.cos(T * i / 997))) end
  return worst
end

-- The order that errors at steps h and h / 2 show.
function problems.order(coarse, fine) return math.log(coarse / fine) / math.log(2) end

problems.methods = { "RK45", "DOP853", "Radau", "BDF" }

return problems
