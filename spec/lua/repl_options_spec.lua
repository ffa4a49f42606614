local ns = require "nslua"
local rows = require "nslua.repl_options"

-- Whatever the arguments, a table with an unknown key makes a function say which keys it knows.
local function known_of(f)
  local bad, nothing = { ["?"] = 1 }, function() end
  local tries = { { bad }, { nothing, { 0, 1 }, { 1 }, bad }, { nothing, { 1 }, bad }, { "radau", nothing, bad },
    { { { 1 } }, { 1 }, bad } }
  for _, arguments in ipairs(tries) do
    local good, message = pcall(f, table.unpack(arguments))
    local list = not good and tostring(message):match "known: ([^)]*)%)"
    if list then return list end
  end
end

local function sorted(text)
  local words = {}
  for word in text:gmatch "[^%s,]+" do
    if word ~= "old_api" then words[#words + 1] = word end
  end
  table.sort(words)
  return table.concat(words, " ")
end

describe("the options that the prompt completes", function()
  for _, row in ipairs(rows) do
    for k = 2, #row do
      local name = row[k]
      it("are those of " .. name, function()
        local f = ns
        if name == ":run" then
          local d = ns.FirstOrderLinearTIDS { 1 }
          local n = ns.NonSmoothDynamicalSystem(0, 1)
          n:insertDynamicalSystem(d)
          local simu = ns.TimeStepping(n, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), ns.Relay())
          f = function(options) simu:run(options) end
        else
          for part in name:gmatch "[^.]+" do f = f[part] end
        end
        assert.equal(sorted(assert(known_of(f))), sorted(row[1]))
      end)
    end
  end
end)
