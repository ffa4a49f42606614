-- The residual of a pendulum of length 1 in x, y, their velocities and the multiplier (the rod's force over the mass): with the
-- constraint on positions (index 3), on velocities (2) or on accelerations (1); "stabilised": index 2 with both constraints on
-- positions and velocities and a second multiplier (Gear, Gupta and Leimkuhler 1985).
local g = 9.81

return function(index)
  return function(_, y, yd, r)
    local mu = index == "stabilised" and y[6] or 0
    r[1], r[2] = yd[1] - y[3] + mu * y[1], yd[2] - y[4] + mu * y[2]
    r[3], r[4] = yd[3] + y[5] * y[1], yd[4] + y[5] * y[2] + g
    if index == 3 then r[5] = y[1] ^ 2 + y[2] ^ 2 - 1
    elseif index == 1 then r[5] = y[3] ^ 2 + y[4] ^ 2 - y[5] * (y[1] ^ 2 + y[2] ^ 2) - g * y[2]
    else r[5] = y[1] * y[3] + y[2] * y[4] end
    if index == "stabilised" then r[6] = y[1] ^ 2 + y[2] ^ 2 - 1 end
  end
end
