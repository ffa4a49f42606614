-- Integers that traced values give, and what may be an integer or a float: the bits of plain Lua, or a refusal.
local ns = require "nslua"
local campaign = require "campaign"
local fails = require "expect".fails
local tape = require "bind.traces".tape
local floor, random, max, min = math.floor, math.random, math.max, math.min

-- Equal to the sign of 0.
local function same(a, b) return a ~= a and b ~= b or a == b and 1 / a == 1 / b end

local function follows(f, points, paths)
  local c = tape(f)
  for _, x in ipairs(points) do
    local want, got = f(x), c(x)
    assert.is_true(same(want, got), ("at %g: %.17g and %.17g"):format(x, want, got))
  end
  if paths then assert.equal(paths, #c:traces()[1].paths) end
end

local function pick(...) return (select(random(select("#", ...)), ...)) end

local function number(depth)
  if depth == 0 then return pick("x[1]", "x[2]", "0", "1", "3", "(-4)", "2.0", "7", "floor(x[1])", "ceil(x[2])") end
  local u, v = number(depth - 1), number(random(0, depth - 1))
  if v == "0" then v = "3" end -- Lua compiles x - 0 as x + 0
  return (pick("(U + V)", "(U - V)", "(U * V)", "(-U)", "(U // V)", "(U % V)", "fmod(U, V)", "max(0, U)", "min(0, U)", "max(U, 0)",
    "max(U, V)", "min(U, V)", "min(3, U, V)", "abs(U)", "floor(U)", "ceil(U)", "(U * 94906267)", "(U / V)", "(modf(U))",
    "(type(U) == 'integer' and U or V)", "(U < V and U or V)"):gsub("[UV]", { U = u, V = v }))
end

local special = { 0, -0.0, 0.5, -0.5, 1, -1, 2, 3, -4, 2.0 ^ 52, 2.0 ^ 53 + 2, -2.0 ^ 62, 2.0 ^ 63, 1e300, 94906266.5 }

describe("integers of traced values", function()
  it("are never -0, and floats are", function()
    local points = { 0.5, 0.0, -0.0, -0.5, 1.5, 3.0, -4.0 }
    for _, f in ipairs {
      function(x) return -floor(x) end,
      function(x) return floor(x) * -1 end,
      function(x) return 0 * floor(x) end,
      function(x) return floor(x) % -2 end,
      function(x) return floor(x) // -3 end,
      function(x) return math.fmod(floor(x), 2) end,
      function(x) return -math.abs(floor(x)) end,
      function(x) return -(x // 1) end,
      function(x) return -(floor(x) + 0.0) end,
      function(x) return -max(floor(x), -5) end,
    } do follows(f, points, nil) end
  end)

  it("may be chosen by max and min, which costs a path only where it matters", function()
    local points = { 0.5, 0.0, -0.0, -0.5, 1.5, 3.0, -4.0 }
    follows(function(x) return -max(0, x) end, points, 1)
    follows(function(x) return -3 * max(0, x) end, points, 1)
    follows(function(x) return -2 * -min(0, x) end, points, 1)
    follows(function(x) return 1 - max(0, x) end, points, 1)
    follows(function(x) return -2.5 * max(x, 0) end, points, 1)
    follows(function(x) return -max(x, 0) end, points, 2)
    follows(function(x) return math.type(min(3, x)) == "integer" and 7 or x end, points, 2)
  end)

  it("end the path where a double does not hold them", function()
    local big = "compile: an integer that a traced value gives is beyond 2^52: it may be more than a trace holds exactly"
    local c = tape(function(x) return floor(x) * 94906267 + 1 - x end)
    assert.equal(3 * 94906267 + 1 - 3.5, c(3.5))
    fails(big, c, 94906266.5)
    fails(big, tape(function(x) return floor(x) + 1 - floor(x) end), 2.0 ^ 60)
    fails(big, tape(function(x) return floor(x) // 3 end), 2.0 ^ 60)
    fails("compile: an integer beyond 2^53 meets an integer, or is compared with a number, that a traced value gives",
      tape(function(x) return floor(x) - 6364136223846793005 end), 3)
    fails("attempt to perform 'n%%0'", tape(function(x) return 7 % floor(x) end), 0.5)
  end)

  it("leave a simulation with the bits of plain callbacks: a hash of the state", function()
    local function run(compile)
      local function f(_, x, _, out)
        local h = floor(x[1] * 1000) * 2654435761
        out[1] = (h ~ 0) == h and (h * h % 1000) / 1000 or 0
      end
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      local ds = ns.FirstOrderNonLinearDS({ 1 }, f)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.TimeStepping { nsds = nsds, grid = ns.TimeDiscretisation(0, 0.25), integrator = ns.EulerMoreauOSI(0) }
      if compile then simu:compile { native = false } end
      return simu:run({ progress = false }).x
    end
    assert.equal(run(false), run(true))
  end)

  it("have the bits of plain Lua in random expressions, or are refused", function()
    local count, tell = campaign(60, 1)
    math.randomseed(3205)
    local same_bits, refused = 0, 0
    for _ = 1, count do
      local source = ("local floor, ceil, fmod, max, min, abs, modf, type = math.floor, math.ceil, math.fmod, math.max, math.min, "
        .. "math.abs, math.modf, math.type\nreturn function(x) return %s end"):format(number(random(1, 4)))
      local f = assert(load(source), source)()
      local c = tape(f)
      for _ = 1, 12 do
        local x = ns.vector { special[random(#special)], random() < 0.5 and special[random(#special)] or random() * 20 - 10 }
        local good, want = pcall(f, x)
        local made, got = pcall(c, x)
        if good and made then
          assert.is_true(same(want * 1.0, got), ("%.17g and %.17g at %.17g, %.17g\n%s"):format(want, got, x[1], x[2], source))
          same_bits = same_bits + 1
        elseif good then
          local why = got:find("beyond 2^5", 1, true) or got:find("more than 64 paths", 1, true)
          assert.is_truthy(why, ("%s\n%s"):format(got, source))
          refused = refused + 1
        end
      end
    end
    assert.is_true(same_bits > 4 * count and refused < 4 * count, ("%d, %d"):format(same_bits, refused))
    tell("values of random expressions of integers", same_bits)
  end)
end)
