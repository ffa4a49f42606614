-- Random calls of the API never end the process; a sequence that does is shortened.
local host = require "host"

-- Calls in one run. A run is short because it makes few objects; a million calls in all take some minutes.
local soak = os.getenv "NSLUA_SOAK"
local runs, calls = soak and 100 or 3, soak and 10000 or (host.sanitized and 1500 or 4000)

describe("random calls of the API", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function fuzz(seed, count, rest)
    -- in a directory of its own, where files of any name end up
    local path = host.quote(host.root .. "/spec/?.lua;;") -- of the modules that fuzz.lua needs
    return host.run(("mkdir -p %s/in/it && cd %s/in/it && LUA_PATH=%s NSLUA_FUZZ_DIRECTORY=%s timeout 300 %s %s %d %d %s"):format(
      directory, directory, path, directory, host.quote(host.nslua), host.quote(host.root .. "/spec/robust/fuzz.lua"), seed, count,
      rest or ""))
  end

-- A short list of calls that still fails: leaves out halves, quarters, ... as long as the rest fails.
  local function shrink(seed, count)
    local list, chunk = {}, count // 2
    for i = 1, count do list[i] = i end
    local function bad(numbers)
      local _, _, status = fuzz(seed, count, "--only " .. table.concat(numbers, ","))
      return status ~= 0
    end
    if not bad(list) then return list end
    while chunk >= 1 do
      local at = 1
      while at <= #list do
        local shorter = table.move(list, 1, at - 1, 1, {})
        table.move(list, at + chunk, #list, at, shorter)
        if bad(shorter) then list = shorter else at = at + chunk end
      end
      chunk = chunk // 2
    end
    return list
  end

  for seed = 1, runs do
    it("do no harm, from seed " .. seed, function()
      local out, err, status = fuzz(seed, calls)
      if status ~= 0 then
        local list = table.concat(shrink(seed, calls), ",")
        local _, log = fuzz(seed, calls, "--log --only " .. list)
        error(("%s\nspec/robust/fuzz.lua %d %d --only %s\n%s"):format(status, seed, calls, list, log:sub(-3000)))
      end
      assert.equal("", out)
      local count, made, good = err:match "(%d+) calls, (%d+) with those from inside of callbacks, (%d+) without an error\n$"
      assert.equal(calls, tonumber(count), err)
      assert.is_true(tonumber(good) > tonumber(made) / 4, err)
    end)
  end

  it("are the same every time", function()
    local _, first = fuzz(7, 200, "--log")
    local _, second = fuzz(7, 200, "--log")
    local function plain(text) return (text:gsub("0x%x+", "0x")) end
    assert.equal(plain(first), plain(second))
    assert.is_true(#first > 5000)
  end)
end)
