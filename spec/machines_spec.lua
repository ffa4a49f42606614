-- Machines whose laws change their bounds at events (spec/machines.lua), against published runs of another program.
local machines = require "machines"
local ns = require "nslua"

-- Differences as parts of the largest value of a column: the error of the reference, and a factor.
local allowed = { triac = 2e-4, coupled_clutches = 1e-4 }

describe("machines with actions on the events of laws #once", function()
  for _, name in ipairs { "coupled_clutches", "triac" } do
    it(name, function()
      local reference = ns.load("spec/reference/machine_" .. name .. ".csv")
      local simu, columns = machines[name]()
      local sol = simu:run { rows = "grid", observe = columns }
      for column in pairs(columns()) do
        local worst, size = 0, 0
        for i, t in ipairs(reference.t:totable()) do
          local row = math.floor(t / (sol.t[2] - sol.t[1]) + 0.5) + 1
          assert.near(t, sol.t[row], 1e-9)
          worst = math.max(worst, math.abs(sol[column][row] - reference[column][i]))
          size = math.max(size, math.abs(reference[column][i]))
        end
        assert.is_true(worst <= allowed[name] * size, ("%s: %g of %g"):format(column, worst, size))
      end
    end)
  end
end)
