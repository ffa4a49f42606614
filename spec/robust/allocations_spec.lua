-- Failing allocations in every script: an error about memory, no crash, no leak, and the same results afterwards.
local host = require "host"
local short = require "robust.short"

-- Tries one allocation in so many of the 1,000 or more of each script, fewer in slow ones; each script continues the count.
local soak = os.getenv "NSLUA_SOAK"
local every = soak and 5 or 300

describe("an allocation that fails", function()
  if host.sanitized then
    pending "is not for a build with the sanitizers, which have an allocator of their own"
    return
  end

  local command
  setup(function()
    host.make "robust/faults"
    command = ("LUA_PATH='lua/?.lua;lua/?/init.lua' LUA_CPATH=%s NSLUA_CORE=%s %s/robust/faults "):format(
      host.quote(host.build .. "/lib/?.so"), host.quote(host.build .. "/lib/nslua/core.so"), host.quote(host.build))
  end)

  local function attack(mode, step, first, script)
    local out, err, status = host.run(("%s %s %d %d %s"):format(command, mode, step, first, script))
    assert.equal("", err)
    assert.matches("^%d+ places, %d+ tried, 0 failed, %d+ went on, %d+ lost a finaliser\n$", out)
    assert.equal(0, status)
    assert.is_true(tonumber(out:match "(%d+) tried") >= 3, out)
    assert.is_true(tonumber(out:match "(%d+) lost") <= 2, out)
    if soak then print(("%s, %s: %s"):format(script, mode, (out:gsub("\n$", "")))) end
  end

  it("does no harm while the module is opened", function()
    attack("twice", soak and 1 or 3, 0, "spec/robust/opening.lua")
  end)

  it("does no harm while islands are made, joined and parted", function()
    for _, mode in ipairs { "once", "twice", "onward" } do attack(mode, soak and 1 or 10, 0, "spec/robust/islands.lua") end
  end)

  for i, run in ipairs(short) do
    local name, arguments, slow = table.unpack(run)
    local step = soak and every or every * math.ceil((slow or 1) / 2)
    for m, mode in ipairs { "once", "twice", "onward" } do
      if soak or (i + m) % 3 == 0 and slow ~= 20 then
        it(("%s does no harm: %s %s"):format(mode, name, arguments), function()
          attack(mode, step, 37 * i % step, ("scripts/%s.lua %s"):format(name, arguments))
        end)
      end
    end
  end
end)
