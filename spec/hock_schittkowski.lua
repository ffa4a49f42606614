-- Problems of W. Hock and K. Schittkowski, Test Examples for Nonlinear Programming Codes, Lecture Notes in Economics and
-- Mathematical Systems 187, 1981, with the book's starts and least values. A problem has x0, bounds (lower, upper), f, and
-- functions that return lists: eq, which must be 0, and ineq, which must not be negative. f(x, F) and the others take
-- sin, cos, exp and log from F, so that x may be numbers or expressions of a model. `start` replaces the book's start where
-- that is outside of the bounds, or leads to another minimum than the least.
local inf, sqrt = math.huge, math.sqrt

local function rosenbrock(x) return 100 * (x[2] - x[1] ^ 2) ^ 2 + (1 - x[1]) ^ 2 end
local function product(x, n)
  local p = x[1]
  for i = 2, n or #x do p = p * x[i] end
  return p
end
local function squares(x)
  local s = x[1] ^ 2
  for i = 2, #x do s = s + x[i] ^ 2 end
  return s
end

-- Constraints that several problems share.
local function equations_52(x) return { x[1] + 3 * x[2], x[3] + x[4] - 2 * x[5], x[2] - x[5] } end
local function equations_78(x)
  return { squares(x) - 10, x[2] * x[3] - 5 * x[4] * x[5], x[1] ^ 3 + x[2] ^ 3 + 1 }
end
local function above_exponentials(x, F) return { x[2] - F.exp(x[1]), x[3] - F.exp(x[2]) } end
local function budget(x) return { 72 - x[1] - 2 * x[2] - 2 * x[3], x[1] + 2 * x[2] + 2 * x[3] } end

return {
  [1] = { x0 = { -2, 1 }, lower = { -inf, -1.5 }, f = rosenbrock, least = 0 },
  [3] = { x0 = { 10, 1 }, lower = { -inf, 0 }, f = function(x) return x[2] + 1e-5 * (x[2] - x[1]) ^ 2 end, least = 0 },
  [4] = { x0 = { 1.125, 0.125 }, lower = { 1, 0 }, f = function(x) return (x[1] + 1) ^ 3 / 3 + x[2] end, least = 8 / 3 },
  [5] = { x0 = { 0, 0 }, lower = { -1.5, -3 }, upper = { 4, 3 },
    f = function(x, F) return F.sin(x[1] + x[2]) + (x[1] - x[2]) ^ 2 - 1.5 * x[1] + 2.5 * x[2] + 1 end,
    least = -sqrt(3) / 2 - math.pi / 3 },
  [6] = { x0 = { -1.2, 1 }, f = function(x) return (1 - x[1]) ^ 2 end,
    eq = function(x) return { 10 * (x[2] - x[1] ^ 2) } end, least = 0 },
  [7] = { x0 = { 2, 2 }, f = function(x, F) return F.log(1 + x[1] ^ 2) - x[2] end,
    eq = function(x) return { (1 + x[1] ^ 2) ^ 2 + x[2] ^ 2 - 4 } end, least = -sqrt(3) },
  [9] = { x0 = { 0, 0 }, f = function(x, F) return F.sin(math.pi * x[1] / 12) * F.cos(math.pi * x[2] / 16) end,
    eq = function(x) return { 4 * x[1] - 3 * x[2] } end, least = -0.5 },
  [10] = { x0 = { -10, 10 }, f = function(x) return x[1] - x[2] end,
    ineq = function(x) return { -3 * x[1] ^ 2 + 2 * x[1] * x[2] - x[2] ^ 2 + 1 } end, least = -1 },
  [11] = { x0 = { 4.9, 0.1 }, f = function(x) return (x[1] - 5) ^ 2 + x[2] ^ 2 - 25 end,
    ineq = function(x) return { x[2] - x[1] ^ 2 } end, least = -8.498464223 },
  [12] = { x0 = { 0, 0 }, f = function(x) return x[1] ^ 2 / 2 + x[2] ^ 2 - x[1] * x[2] - 7 * x[1] - 7 * x[2] end,
    ineq = function(x) return { 25 - 4 * x[1] ^ 2 - x[2] ^ 2 } end, least = -30 },
  [14] = { x0 = { 2, 2 }, f = function(x) return (x[1] - 2) ^ 2 + (x[2] - 1) ^ 2 end,
    eq = function(x) return { x[1] - 2 * x[2] + 1 } end, ineq = function(x) return { 1 - x[1] ^ 2 / 4 - x[2] ^ 2 } end,
    least = 9 - 2.875 * sqrt(7) },
  [15] = { x0 = { -2, 1 }, upper = { 0.5, inf }, f = rosenbrock,
    ineq = function(x) return { x[1] * x[2] - 1, x[1] + x[2] ^ 2 } end, least = 306.5 },
  [18] = { x0 = { 2, 2 }, lower = { 2, 0 }, upper = { 50, 50 }, f = function(x) return 0.01 * x[1] ^ 2 + x[2] ^ 2 end,
    ineq = function(x) return { x[1] * x[2] - 25, squares(x) - 25 } end, least = 5 },
  [19] = { x0 = { 20.1, 5.84 }, lower = { 13, 0 }, upper = { 100, 100 },
    f = function(x) return (x[1] - 10) ^ 3 + (x[2] - 20) ^ 3 end, ineq = function(x)
      return { (x[1] - 5) ^ 2 + (x[2] - 5) ^ 2 - 100, 82.81 - (x[2] - 5) ^ 2 - (x[1] - 6) ^ 2 }
    end, least = -6961.81381 },
  [21] = { x0 = { -1, -1 }, start = { 2, -1 }, lower = { 2, -50 }, upper = { 50, 50 },
    f = function(x) return 0.01 * x[1] ^ 2 + x[2] ^ 2 - 100 end, ineq = function(x) return { 10 * x[1] - x[2] - 10 } end,
    least = -99.96 },
  [22] = { x0 = { 2, 2 }, f = function(x) return (x[1] - 2) ^ 2 + (x[2] - 1) ^ 2 end,
    ineq = function(x) return { 2 - x[1] - x[2], x[2] - x[1] ^ 2 } end, least = 1 },
  [23] = { x0 = { 3, 1 }, lower = { -50, -50 }, upper = { 50, 50 }, f = squares, ineq = function(x)
    return { x[1] + x[2] - 1, squares(x) - 1, 9 * x[1] ^ 2 + x[2] ^ 2 - 9, x[1] ^ 2 - x[2], x[2] ^ 2 - x[1] }
  end, least = 2 },
  [24] = { x0 = { 1, 0.5 }, lower = { 0, 0 }, f = function(x) return ((x[1] - 3) ^ 2 - 9) * x[2] ^ 3 / (27 * sqrt(3)) end,
    ineq = function(x) return { x[1] / sqrt(3) - x[2], x[1] + sqrt(3) * x[2], 6 - x[1] - sqrt(3) * x[2] } end, least = -1 },
  [26] = { x0 = { -2.6, 2, 2 }, f = function(x) return (x[1] - x[2]) ^ 2 + (x[2] - x[3]) ^ 4 end,
    eq = function(x) return { (1 + x[2] ^ 2) * x[1] + x[3] ^ 4 - 3 } end, least = 0 },
  [27] = { x0 = { 2, 2, 2 }, f = function(x) return 0.01 * (x[1] - 1) ^ 2 + (x[2] - x[1] ^ 2) ^ 2 end,
    eq = function(x) return { x[1] + x[3] ^ 2 + 1 } end, least = 0.04 },
  [28] = { x0 = { -4, 1, 1 }, f = function(x) return (x[1] + x[2]) ^ 2 + (x[2] + x[3]) ^ 2 end,
    eq = function(x) return { x[1] + 2 * x[2] + 3 * x[3] - 1 } end, least = 0 },
  [29] = { x0 = { 1, 1, 1 }, f = function(x) return -product(x) end,
    ineq = function(x) return { 48 - x[1] ^ 2 - 2 * x[2] ^ 2 - 4 * x[3] ^ 2 } end, least = -16 * sqrt(2) },
  [30] = { x0 = { 1, 1, 1 }, lower = { 1, -10, -10 }, upper = { 10, 10, 10 }, f = squares,
    ineq = function(x) return { x[1] ^ 2 + x[2] ^ 2 - 1 } end, least = 1 },
  [31] = { x0 = { 1, 1, 1 }, lower = { -10, 1, -10 }, upper = { 10, 10, 1 },
    f = function(x) return 9 * x[1] ^ 2 + x[2] ^ 2 + 9 * x[3] ^ 2 end, ineq = function(x) return { x[1] * x[2] - 1 } end,
    least = 6 },
  [32] = { x0 = { 0.1, 0.7, 0.2 }, lower = { 0, 0, 0 },
    f = function(x) return (x[1] + 3 * x[2] + x[3]) ^ 2 + 4 * (x[1] - x[2]) ^ 2 end,
    eq = function(x) return { 1 - x[1] - x[2] - x[3] } end,
    ineq = function(x) return { 6 * x[2] + 4 * x[3] - x[1] ^ 3 - 3 } end, least = 1 },
  [33] = { x0 = { 0, 0, 3 }, start = { 0, 0.5, 3 }, lower = { 0, 0, 0 }, upper = { inf, inf, 5 },
    f = function(x) return (x[1] - 1) * (x[1] - 2) * (x[1] - 3) + x[3] end,
    ineq = function(x) return { x[3] ^ 2 - x[2] ^ 2 - x[1] ^ 2, squares(x) - 4 } end, least = sqrt(2) - 6 },
  [34] = { x0 = { 0, 1.05, 2.9 }, lower = { 0, 0, 0 }, upper = { 100, 100, 10 }, f = function(x) return -x[1] end,
    ineq = above_exponentials, least = -math.log(math.log(10)) },
  [35] = { x0 = { 0.5, 0.5, 0.5 }, lower = { 0, 0, 0 }, f = function(x)
    return 9 - 8 * x[1] - 6 * x[2] - 4 * x[3] + 2 * x[1] ^ 2 + 2 * x[2] ^ 2 + x[3] ^ 2 + 2 * x[1] * x[2] + 2 * x[1] * x[3]
  end, ineq = function(x) return { 3 - x[1] - x[2] - 2 * x[3] } end, least = 1 / 9 },
  [36] = { x0 = { 10, 10, 10 }, lower = { 0, 0, 0 }, upper = { 20, 11, 42 }, f = function(x) return -product(x) end,
    ineq = function(x) return { budget(x)[1] } end, least = -3300 },
  [37] = { x0 = { 10, 10, 10 }, lower = { 0, 0, 0 }, upper = { 42, 42, 42 }, f = function(x) return -product(x) end,
    ineq = budget, least = -3456 },
  [38] = { x0 = { -3, -1, -3, -1 }, lower = { -10, -10, -10, -10 }, upper = { 10, 10, 10, 10 }, f = function(x)
    return rosenbrock(x) + 90 * (x[4] - x[3] ^ 2) ^ 2 + (1 - x[3]) ^ 2 + 10.1 * ((x[2] - 1) ^ 2 + (x[4] - 1) ^ 2)
      + 19.8 * (x[2] - 1) * (x[4] - 1)
  end, least = 0 },
  [39] = { x0 = { 2, 2, 2, 2 }, f = function(x) return -x[1] end,
    eq = function(x) return { x[2] - x[1] ^ 3 - x[3] ^ 2, x[1] ^ 2 - x[2] - x[4] ^ 2 } end, least = -1 },
  [40] = { x0 = { 0.8, 0.8, 0.8, 0.8 }, f = function(x) return -product(x) end,
    eq = function(x) return { x[1] ^ 3 + x[2] ^ 2 - 1, x[1] ^ 2 * x[4] - x[3], x[4] ^ 2 - x[2] } end, least = -0.25 },
  [42] = { x0 = { 1, 1, 1, 1 }, f = function(x)
    return (x[1] - 1) ^ 2 + (x[2] - 2) ^ 2 + (x[3] - 3) ^ 2 + (x[4] - 4) ^ 2
  end, eq = function(x) return { x[1] - 2, x[3] ^ 2 + x[4] ^ 2 - 2 } end, least = 28 - 10 * sqrt(2) },
  [43] = { x0 = { 0, 0, 0, 0 }, f = function(x)
    return squares(x) + x[3] ^ 2 - 5 * x[1] - 5 * x[2] - 21 * x[3] + 7 * x[4]
  end, ineq = function(x)
    return { 8 - squares(x) - x[1] + x[2] - x[3] + x[4], 10 - squares(x) - x[2] ^ 2 - x[4] ^ 2 + x[1] + x[4],
      5 - 2 * x[1] ^ 2 - x[2] ^ 2 - x[3] ^ 2 - 2 * x[1] + x[2] + x[4] }
  end, least = -44 },
  [46] = { x0 = { sqrt(2) / 2, 1.75, 0.5, 2, 2 }, f = function(x)
    return (x[1] - x[2]) ^ 2 + (x[3] - 1) ^ 2 + (x[4] - 1) ^ 4 + (x[5] - 1) ^ 6
  end, eq = function(x, F) return { x[1] ^ 2 * x[4] + F.sin(x[4] - x[5]) - 1, x[2] + x[3] ^ 4 * x[4] ^ 2 - 2 } end, least = 0 },
  [48] = { x0 = { 3, 5, -3, 2, -2 }, f = function(x) return (x[1] - 1) ^ 2 + (x[2] - x[3]) ^ 2 + (x[4] - x[5]) ^ 2 end,
    eq = function(x) return { x[1] + x[2] + x[3] + x[4] + x[5] - 5, x[3] - 2 * (x[4] + x[5]) + 3 } end, least = 0 },
  [49] = { x0 = { 10, 7, 2, -3, 0.8 }, f = function(x)
    return (x[1] - x[2]) ^ 2 + (x[3] - 1) ^ 2 + (x[4] - 1) ^ 4 + (x[5] - 1) ^ 6
  end, eq = function(x) return { x[1] + x[2] + x[3] + 4 * x[4] - 7, x[3] + 5 * x[5] - 6 } end, least = 0 },
  [50] = { x0 = { 35, -31, 11, 5, -5 }, f = function(x)
    return (x[1] - x[2]) ^ 2 + (x[2] - x[3]) ^ 2 + (x[3] - x[4]) ^ 4 + (x[4] - x[5]) ^ 2
  end, eq = function(x)
    return { x[1] + 2 * x[2] + 3 * x[3] - 6, x[2] + 2 * x[3] + 3 * x[4] - 6, x[3] + 2 * x[4] + 3 * x[5] - 6 }
  end, least = 0 },
  [52] = { x0 = { 2, 2, 2, 2, 2 }, f = function(x)
    return (4 * x[1] - x[2]) ^ 2 + (x[2] + x[3] - 2) ^ 2 + (x[4] - 1) ^ 2 + (x[5] - 1) ^ 2
  end, eq = equations_52, least = 1859 / 349 },
  [53] = { x0 = { 2, 2, 2, 2, 2 }, lower = { -10, -10, -10, -10, -10 }, upper = { 10, 10, 10, 10, 10 }, f = function(x)
    return (x[1] - x[2]) ^ 2 + (x[2] + x[3] - 2) ^ 2 + (x[4] - 1) ^ 2 + (x[5] - 1) ^ 2
  end, eq = equations_52, least = 176 / 43 },
  [60] = { x0 = { 2, 2, 2 }, lower = { -10, -10, -10 }, upper = { 10, 10, 10 }, f = function(x)
    return (x[1] - 1) ^ 2 + (x[1] - x[2]) ^ 2 + (x[2] - x[3]) ^ 4
  end, eq = function(x) return { x[1] * (1 + x[2] ^ 2) + x[3] ^ 4 - 4 - 3 * sqrt(2) } end, least = 0.03256820025 },
  [61] = { x0 = { 0, 0, 0 }, start = { 3, -1, 1 }, f = function(x)
    return 4 * x[1] ^ 2 + 2 * x[2] ^ 2 + 2 * x[3] ^ 2 - 33 * x[1] + 16 * x[2] - 24 * x[3]
  end, eq = function(x) return { 3 * x[1] - 2 * x[2] ^ 2 - 7, 4 * x[1] - x[3] ^ 2 - 11 } end, least = -143.6461422 },
  [63] = { x0 = { 2, 2, 2 }, lower = { 0, 0, 0 }, f = function(x)
    return 1000 - x[1] ^ 2 - 2 * x[2] ^ 2 - x[3] ^ 2 - x[1] * x[2] - x[1] * x[3]
  end, eq = function(x) return { 8 * x[1] + 14 * x[2] + 7 * x[3] - 56, squares(x) - 25 } end, least = 961.7151721 },
  [64] = { x0 = { 1, 1, 1 }, lower = { 1e-5, 1e-5, 1e-5 }, f = function(x)
    return 5 * x[1] + 50000 / x[1] + 20 * x[2] + 72000 / x[2] + 10 * x[3] + 144000 / x[3]
  end, ineq = function(x) return { 1 - 4 / x[1] - 32 / x[2] - 120 / x[3] } end, least = 6299.842428 },
  [65] = { x0 = { -5, 5, 0 }, start = { -4.5, 4.5, 0 }, lower = { -4.5, -4.5, -5 }, upper = { 4.5, 4.5, 5 }, f = function(x)
    return (x[1] - x[2]) ^ 2 + (x[1] + x[2] - 10) ^ 2 / 9 + (x[3] - 5) ^ 2
  end, ineq = function(x) return { 48 - squares(x) } end, least = 0.9535288567 },
  [66] = { x0 = { 0, 1.05, 2.9 }, lower = { 0, 0, 0 }, upper = { 100, 100, 10 },
    f = function(x) return 0.2 * x[3] - 0.8 * x[1] end, ineq = above_exponentials, least = 0.5181632741 },
  [71] = { x0 = { 1, 5, 5, 1 }, lower = { 1, 1, 1, 1 }, upper = { 5, 5, 5, 5 },
    f = function(x) return x[1] * x[4] * (x[1] + x[2] + x[3]) + x[3] end, eq = function(x) return { squares(x) - 40 } end,
    ineq = function(x) return { product(x) - 25 } end, least = 17.0140173 },
  [72] = { x0 = { 1, 1, 1, 1 }, lower = { 1e-3, 1e-3, 1e-3, 1e-3 }, upper = { 4e5, 3e5, 2e5, 1e5 },
    f = function(x) return 1 + x[1] + x[2] + x[3] + x[4] end, ineq = function(x)
      return { 0.0401 - 4 / x[1] - 2.25 / x[2] - 1 / x[3] - 0.25 / x[4],
        0.010085 - 0.16 / x[1] - 0.36 / x[2] - 0.64 / x[3] - 0.64 / x[4] }
    end, least = 727.67937 },
  [76] = { x0 = { 0.5, 0.5, 0.5, 0.5 }, lower = { 0, 0, 0, 0 }, f = function(x)
    return x[1] ^ 2 + x[2] ^ 2 / 2 + x[3] ^ 2 + x[4] ^ 2 / 2 - x[1] * x[3] + x[3] * x[4] - x[1] - 3 * x[2] + x[3] - x[4]
  end, ineq = function(x)
    return { 5 - x[1] - 2 * x[2] - x[3] - x[4], 4 - 3 * x[1] - x[2] - 2 * x[3] + x[4], x[2] + 4 * x[3] - 1.5 }
  end, least = -4.681818181 },
  [77] = { x0 = { 2, 2, 2, 2, 2 }, f = function(x)
    return (x[1] - 1) ^ 2 + (x[1] - x[2]) ^ 2 + (x[3] - 1) ^ 2 + (x[4] - 1) ^ 4 + (x[5] - 1) ^ 6
  end, eq = function(x, F)
    return { x[1] ^ 2 * x[4] + F.sin(x[4] - x[5]) - 2 * sqrt(2), x[2] + x[3] ^ 4 * x[4] ^ 2 - 8 - sqrt(2) }
  end, least = 0.24150513 },
  [78] = { x0 = { -2, 1.5, 2, -1, -1 }, f = function(x) return product(x) end, eq = equations_78, least = -2.91970041 },
  [79] = { x0 = { 2, 2, 2, 2, 2 }, f = function(x)
    return (x[1] - 1) ^ 2 + (x[1] - x[2]) ^ 2 + (x[2] - x[3]) ^ 2 + (x[3] - x[4]) ^ 4 + (x[4] - x[5]) ^ 4
  end, eq = function(x)
    return { x[1] + x[2] ^ 2 + x[3] ^ 3 - 2 - 3 * sqrt(2), x[2] - x[3] ^ 2 + x[4] + 2 - 2 * sqrt(2), x[1] * x[5] - 2 }
  end, least = 0.0787768209 },
  [80] = { x0 = { -2, 2, 2, -1, -1 }, lower = { -2.3, -2.3, -3.2, -3.2, -3.2 }, upper = { 2.3, 2.3, 3.2, 3.2, 3.2 },
    f = function(x, F) return F.exp(product(x, 5)) end, eq = equations_78, least = 0.0539498478 },
  [81] = { x0 = { -2, 2, 2, -1, -1 }, lower = { -2.3, -2.3, -3.2, -3.2, -3.2 }, upper = { 2.3, 2.3, 3.2, 3.2, 3.2 },
    f = function(x, F) return F.exp(product(x, 5)) - (x[1] ^ 3 + x[2] ^ 3 + 1) ^ 2 / 2 end, eq = equations_78,
    least = 0.0539498478 },
  [100] = { x0 = { 1, 2, 0, 4, 0, 1, 1 }, f = function(x)
    return (x[1] - 10) ^ 2 + 5 * (x[2] - 12) ^ 2 + x[3] ^ 4 + 3 * (x[4] - 11) ^ 2 + 10 * x[5] ^ 6 + 7 * x[6] ^ 2 + x[7] ^ 4
      - 4 * x[6] * x[7] - 10 * x[6] - 8 * x[7]
  end, ineq = function(x)
    return { 127 - 2 * x[1] ^ 2 - 3 * x[2] ^ 4 - x[3] - 4 * x[4] ^ 2 - 5 * x[5],
      282 - 7 * x[1] - 3 * x[2] - 10 * x[3] ^ 2 - x[4] + x[5], 196 - 23 * x[1] - x[2] ^ 2 - 6 * x[6] ^ 2 + 8 * x[7],
      -4 * x[1] ^ 2 - x[2] ^ 2 + 3 * x[1] * x[2] - 2 * x[3] ^ 2 - 5 * x[6] + 11 * x[7] }
  end, least = 680.6300573 },
  [113] = { x0 = { 2, 3, 5, 5, 1, 2, 7, 3, 6, 10 }, f = function(x)
    return x[1] ^ 2 + x[2] ^ 2 + x[1] * x[2] - 14 * x[1] - 16 * x[2] + (x[3] - 10) ^ 2 + 4 * (x[4] - 5) ^ 2 + (x[5] - 3) ^ 2
      + 2 * (x[6] - 1) ^ 2 + 5 * x[7] ^ 2 + 7 * (x[8] - 11) ^ 2 + 2 * (x[9] - 10) ^ 2 + (x[10] - 7) ^ 2 + 45
  end, ineq = function(x)
    return { 105 - 4 * x[1] - 5 * x[2] + 3 * x[7] - 9 * x[8], -10 * x[1] + 8 * x[2] + 17 * x[7] - 2 * x[8],
      8 * x[1] - 2 * x[2] - 5 * x[9] + 2 * x[10] + 12,
      -3 * (x[1] - 2) ^ 2 - 4 * (x[2] - 3) ^ 2 - 2 * x[3] ^ 2 + 7 * x[4] + 120,
      -5 * x[1] ^ 2 - 8 * x[2] - (x[3] - 6) ^ 2 + 2 * x[4] + 40,
      -(x[1] - 8) ^ 2 / 2 - 2 * (x[2] - 4) ^ 2 - 3 * x[5] ^ 2 + x[6] + 30,
      -x[1] ^ 2 - 2 * (x[2] - 2) ^ 2 + 2 * x[1] * x[2] - 14 * x[5] + 6 * x[6],
      3 * x[1] - 6 * x[2] - 12 * (x[9] - 8) ^ 2 + 7 * x[10] }
  end, least = 24.3062091 },
}
