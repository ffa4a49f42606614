-- Mechanics with dry friction against closed forms.
local ns = require "nslua"
local models = require "friction_models"

local names = {}
for name in pairs(models) do names[#names + 1] = name end
table.sort(names)

-- The largest difference to the state in closed form, by the scheme of Moreau and Jean with steps of h.
local function moreau_jean(name, h)
  local model = models[name](h)
  local simu = ns.TimeStepping(model.nsds, ns.TimeDiscretisation(0, h), ns.MoreauJeanOSI(0.5))
  for _ in simu:steps() do end
  local off = 0
  for i, x in ipairs(model.read()) do off = math.max(off, math.abs(x - model.state[i])) end
  return off
end

describe("friction", function()
  for _, name in ipairs(names) do
    it(name .. ": the scheme of Moreau and Jean converges", function()
      local h = models[name]().h
      local coarse, fine = moreau_jean(name, h), moreau_jean(name, h / 16)
      assert.is_true(fine <= coarse / 8 or fine < 1e-9, ("%g, %g"):format(coarse, fine))
    end)
  end
end)
