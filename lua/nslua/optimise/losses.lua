-- nslua.optimise.losses: robust losses of least squares.
--
-- A loss rho(z), z = (r / s)^2, replaces r^2 by s^2 rho(z). Each function here returns a residual F with
-- F^2 = s^2 rho(z) and the sign of r, and dF/dr: the sum of squares of the F is the robust cost itself, and not a
-- model of it. SciPy has the same definitions of rho.
local sqrt, abs, atan = math.sqrt, math.abs, math.atan

-- sqrt(rho(z)) / |u| and d sqrt(rho) / d|u| from rho and rho', u = r / s. Near u = 0 both are 1.
local function from(rho, slope)
  return function(u)
    local z = u * u
    local y = rho(z)
    if z < 1e-300 or y == 0 then return u, 1.0 end
    local root = sqrt(y)
    return u < 0 and -root or root, slope(z) * abs(u) / root
  end
end

return {
  linear = function(u) return u, 1.0 end,
  -- 2 (sqrt(1 + z) - 1), without cancellation
  soft_l1 = from(function(z) return 2 * z / (sqrt(1 + z) + 1) end, function(z) return 1 / sqrt(1 + z) end),
  huber = from(function(z) return z <= 1 and z or 2 * sqrt(z) - 1 end,
    function(z) return z <= 1 and 1.0 or 1 / sqrt(z) end),
  cauchy = from(function(z) return z < 1e-5 and z - z * z / 2 + z * z * z / 3 or math.log(1 + z) end,
    function(z) return 1 / (1 + z) end),
  arctan = from(atan, function(z) return 1 / (1 + z * z) end),
}
