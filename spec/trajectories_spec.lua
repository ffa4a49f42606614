-- Known trajectories: each model of spec/cases, run from its start to its end, against a reference in spec/reference.
local columns = require "columns"

-- The tolerance on the largest error of each column, relative to its largest value. In row 0 of a reference only the
-- states count, since multipliers, and what is computed from them, are conventions there.
local cases = {
  { "filippov", 1e-9, states = "x1 x2" },
  { "relay_two_axes", 1e-9, states = "x1 x2" },
  { "relay_oscillator", 1e-9, states = "x1 x2 x3" },
  { "friction_oscillator", 1e-8, states = "x v" },
  { "circuit_rlcd", 1e-9, states = "v i" },
  { "circuit_rlcd_gamma", 1e-9, states = "q i storage total" },
  { "diode_bridge", 1e-9, states = "v i" },
  { "diode_bridge_cap", 1e-9, states = "v i", not_unique = "vDR1 vDF2" },
  { "step_system", 1e-8, states = "x1 x2" },
  { "step_system", 1e-8, states = "x1 x2", variant = "jacobians" },
  { "step_reduced", 1e-8, states = "x1 x2" },
  { "bouncing_ball", 1e-9, states = "q v" },
  { "cam_follower", 1e-9, states = "q v" },
  { "ball2d_friction", 1e-9 },
  { "rocking_block", 1e-9, nonlinear = true },
  { "bead_column", 1e-12 },
  { "coupled_relays", 1e-11 },
  { "three_stops", 1e-12 },
  { "rolling_into_wall", 1e-11 },
  { "rolling_disk", 1e-8 },
  { "simple_pendulum", 1e-7, nonlinear = true },
  { "simple_pendulum", 1e-7, nonlinear = true, variant = "jacobians" },
}

local function has(list, name)
  return (" " .. (list or "") .. " "):find(" " .. name .. " ", 1, true) ~= nil
end

local function model(case)
  return assert(loadfile("spec/cases/" .. case[1] .. ".lua"))()(case.variant)
end

describe("trajectories", function()
  for _, case in ipairs(cases) do
    local name, tolerance = case[1], case[2]
    describe(name .. (case.variant and ", " .. case.variant or ""), function()
      local mine, simu, ref
      setup(function()
        mine, simu = model(case)
        ref = columns.read("spec/reference/trajectory_" .. name .. ".csv")
      end)

      it("is the reference", function()
        assert.equal(ref.row[ref.n], simu:numberOfSteps())
        assert.equal(ref.row[ref.n] + 1, #mine.t)
        for _, column in ipairs(ref.names) do
          if column ~= "row" and not has(case.not_unique, column) then
            local got, expected = {}, {}
            for i = 1, ref.n do
              if ref.row[i] > 0 or has(case.states, column) then
                got[#got + 1] = mine[column][ref.row[i] + 1]
                expected[#expected + 1] = ref[column][i]
              end
            end
            local e = columns.error(got, expected)
            assert.is_true(e <= tolerance, ("%s: %g"):format(column, e))
          end
        end
      end)

      it("takes one factorisation if it is linear, few iterations if it is not", function()
        local stats = simu:stats()
        if name:find "^step" then
          assert.is_true(stats.max_newton_iterations <= 6)
        else
          assert.equal(1, stats.max_newton_iterations)
          assert.is_true(case.nonlinear or stats.factorizations <= simu:nsds():numberOfDynamicalSystems())
        end
        assert.equal(0, stats.substeps)
      end)
    end)
  end

  it("gives the same with given and with derived Jacobians", function()
    local a, b = model { "step_system" }, model { "step_system", variant = "jacobians" }
    for _, column in ipairs { "x1", "x2", "lambda1", "lambda4" } do
      assert.is_true(columns.error(a[column], b[column]) <= 1e-13)
    end
  end)

  it("keeps the energy account of the gamma scheme", function()
    local run = model { "circuit_rlcd_gamma" }
    for k = 1, #run.t do assert.near(run.total[1], run.total[k], 1e-13 * run.total[1]) end
  end)

  it("stops the spiral and the axes at zero to rounding", function()
    local spiral = model { "filippov" }
    for k = 1950, 2000 do assert.is_true(math.abs(spiral.y1[k]) + math.abs(spiral.y2[k]) < 1e-14) end
    local axes = model { "relay_two_axes" }
    for k = 503, 800 do assert.is_true(math.abs(axes.y1[k]) + math.abs(axes.y2[k]) < 1e-14) end
  end)
end)
