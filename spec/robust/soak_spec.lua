-- Long runs of every kind of model: memory does not grow, steps do not get slower, the final state is that of a fresh run.
local host = require "host"
local kinds = require "robust.kinds"

local soak = os.getenv "NSLUA_SOAK"

describe("a long run", function()
  for _, name in ipairs(kinds.names) do
    it("stays what it is: " .. name, function()
      local steps = soak and 1000000 or host.sanitized and 1000 or 6000
      local out, err, status = host.run(("cd %s && LUA_PATH='lua/?.lua;lua/?/init.lua;spec/?.lua' timeout 1200 %s %s %s %d")
        :format(host.quote(host.root), host.quote(host.nslua), "spec/robust/soak.lua", host.quote(name), steps))
      assert.equal("", err)
      assert.equal(0, status)
      local growth, slower, same = out:match "^(%S+) kB, (%S+) %%, (.*)\n$"
      if soak then print(("%s, %d steps: %s"):format(name, steps, out)) end
      assert.equal("same", same)
      if not host.sanitized then assert.is_true(tonumber(growth) < 1024, out) end
      if soak then assert.is_true(tonumber(slower) < 5, out) end
    end)
  end
end)
