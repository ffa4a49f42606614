-- Whole numbers as bits: what is written is read again, and what repeats costs little.
local coder = require "nslua.film.coder"
local motion = require "motion"
local campaign = require "campaign"

describe("a coder", function()
  it("gives every number back, of any fields and sizes", function()
    math.randomseed(5)
    local runs, tell = campaign(20, 0.01)
    for run = 1, runs do
      local code, list = coder(), {}
      for k = 1, math.random(0, 400) do
        local size = math.random(0, run % 3 == 0 and 40 or 8)
        list[k] = { "field " .. math.random(3), math.random(0, (1 << size) - 1) }
        code:natural(list[k][1], list[k][2])
      end
      local read = motion.decoder(code:text())
      for _, one in ipairs(list) do assert.equal(one[2], read(one[1])) end
    end
    tell("lists of numbers", runs)
  end)

  it("carries over many bytes of 255", function() -- low reaches the end of its range again and again
    local code, n = coder(), 4000
    for _ = 1, n do code:natural("a", 0) end
    for k = 1, 300 do code:natural("b", (1 << 40) - 1 - k % 2) end
    local read = motion.decoder(code:text())
    for _ = 1, n do assert.equal(0, read "a") end
    for k = 1, 300 do assert.equal((1 << 40) - 1 - k % 2, read "b") end
  end)

  it("takes a bit for a number that may be one of two, and far less for one that is always the same", function()
    local function size(f)
      local code = coder()
      for k = 1, 8000 do code:natural("n", f(k)) end
      return #code:text()
    end
    math.randomseed(6)
    assert.is_true(size(function() return 5 + math.random(0, 1) end) < 1.1 * 1000 + 50)
    assert.is_true(size(function() return 12 end) < 100)
  end)
end)
