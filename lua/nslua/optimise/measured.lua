-- nslua.optimise.measured: what a fit is made to: measured columns over times, and how well they are known.
local core = require "nslua.core"
local arguments = require "nslua.base.arguments"

local fail, expect = arguments.fail, arguments.expect
local who = "fit"

local measured = {}

-- The standard deviations of a column: a number, or a vector with one for each time.
local function deviations(noise, name, n)
  if type(noise) == "table" and not core.isvector(noise) and noise[1] == nil then noise = noise[name] end
  if noise == nil then return nil end
  local list = {}
  if type(noise) == "number" then
    for i = 1, n do list[i] = noise end
  else
    list = arguments.numbers(noise, n, who, ("noise of '%s'"):format(name))
  end
  for i, s in ipairs(list) do
    if s <= 0 then fail("%s: noise of '%s'[%d]: expected a number above 0, got %g", who, name, i, s) end
  end
  return list
end

-- data: { t =, NAME = values, ... }. Returns { t =, columns = { { name =, values =, sigma = (list or nil) }, ... },
-- known = whether there is noise }. Without noise there may be one column only: columns of different units can't be
-- added.
function measured.read(data, noise)
  expect(data, "table", "%s: data: expected a table { t =, NAME = }", who)
  local t = arguments.increasing(data.t, 1, who, "data.t")
  local names = {}
  for name in pairs(data) do
    expect(name, "string", "%s: data: expected names of columns", who)
    if name ~= "t" then names[#names + 1] = name end
  end
  table.sort(names)
  if #names == 0 then fail("%s: data: there is no column beside t", who) end
  local columns = {}
  for i, name in ipairs(names) do
    columns[i] = { name = name, values = arguments.numbers(data[name], #t, who, "data." .. name),
      sigma = deviations(noise, name, #t) }
  end
  local known = noise ~= nil
  for _, c in ipairs(columns) do
    if not c.sigma and (known or #columns > 1) then
      fail("%s: noise: the standard deviation of '%s' is missing: several columns need one each", who, c.name)
    end
  end
  return { t = t, columns = columns, known = known }
end

return measured
