-- SIGINT at random moments of long calls: it stops them within 100 ms; a continued run has the bits of an undisturbed one.
local host = require "host"

local soak = os.getenv "NSLUA_SOAK"
local count = soak and 70 or host.sanitized and 4 or 10
local kinds = { "first order, Lua callbacks", "first order, sparse", "mechanics, friction", "event-driven", "solve_ivp", "dae",
  "mcp", "a thousand million rows" }
if package.searchpath("nslua.ipopt", package.cpath) then kinds[#kinds + 1] = "optimal control" end
if package.searchpath("nslua.nlopt", package.cpath) then kinds[#kinds + 1] = "minimize" end
kinds[#kinds + 1] = "least squares"
if soak then
  for _, name in ipairs { "first order, linear", "mechanics, Lua callbacks", "mechanics, Moreau-Jean", "mechanics, Schatzman-Paoli",
    "mechanics, D1MinusLinear", "mechanics, global form", "solve_ivp, stiff", "lcp" } do
    kinds[#kinds + 1] = name
  end
end

describe("a signal at any moment", function()
  local command
  setup(function()
    local library = host.make "robust/alarm.so"
    command = ("cd %s && LUA_PATH='lua/?.lua;lua/?/init.lua;spec/?.lua' LUA_CPATH=%s timeout 300 %s spec/robust/interrupts.lua")
      :format(host.quote(host.root), host.quote(host.build .. "/lib/?.so;" .. library:gsub("alarm%.so$", "?.so")),
      host.quote(host.nslua))
  end)

  for seed, name in ipairs(kinds) do
    it("stops within 100 ms and does no harm: " .. name, function()
      local out, err, status = host.run(("%s %s %d %d"):format(command, host.quote(name), count, seed))
      assert.equal("", err)
      assert.equal(0, status)
      local stopped, longest = out:match "^(%d+) stopped, %d+ outside, at most %S+ s, of the processor (%S+) s\n$"
      assert.equal(count, tonumber(stopped))
      if soak then print(name .. ": " .. out) end
      if not host.sanitized then assert.is_true(tonumber(longest) < 0.1, out) end
    end)
  end
end)
