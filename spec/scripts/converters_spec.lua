-- scripts/rectifier.lua, cuk.lua and full_bridge.lua.
local columns = require "columns"
local host = require "host"
local ns = require "nslua"

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function run(command)
  local file = directory .. "/run.csv"
  os.remove(file)
  local out, err, status = host.nslua_run(("scripts/%s --csv %s"):format(command, file))
  assert.same({ "", 0 }, { err, status })
  return columns.read(file), out
end

describe("scripts of converters #once", function()
  it("rectifier.lua is the machine of the Modelica Standard Library", function()
    local c, out = run "rectifier.lua"
    local reference = columns.read "spec/reference/machine_rectifier_b6.csv"
    for name, wanted in pairs { ["v.P"] = "v1", ["i.L2"] = "i2", ["i.L3"] = "i3" } do
      local most, k = 0, 1
      for i = 1, reference.n do most = math.max(most, math.abs(reference[wanted][i])) end
      for i = 1, reference.n do
        while c.t[k] < reference.t[i] - 1e-9 do k = k + 1 end
        assert.near(reference[wanted][i], c[name][k], 2e-4 * most)
      end
    end
    assert.near(556.3, tonumber(out:match "harmonic  1: +(%S+)"), 1)
    assert.is_true(tonumber(out:match "efficiency over the last period: (%S+)") < 1)
  end)

  it("cuk.lua is the product of the exponentials of its two circuits", function()
    local V, L, C1, C2, R, T, d = 12, 1e-3, 1e-5, 1e-4, 10, 2e-5, 0.4
    local function circuit(s) -- of (i1, i2, u1, u2, 1)
      return ns.matrix { { 0, 0, -(1 - s) / L, 0, V / L }, { 0, 0, -s / L, -1 / L, 0 }, { (1 - s) / C1, s / C1, 0, 0, 0 },
        { 0, 1 / C2, 0, -1 / (R * C2), 0 }, { 0, 0, 0, 0, 0 } }
    end
    local on, off = ns.expm(circuit(1) * (d * T)), ns.expm(circuit(0) * ((1 - d) * T))
    local z = ns.vector { 64 / 120, -0.8, 20, -8, 1 }
    for _ = 1, 500 do z = off * (on * z) end
    local c = run "cuk.lua"
    for name, k in pairs { ["i.L1"] = 1, ["i.L2"] = 2, ["v.out"] = 4 } do assert.near(z[k], c[name][c.n], 1e-5) end
  end)

  it("full_bridge.lua has the current of a square wave, whatever the dead time", function()
    local wanted = -20 * (1 - 2 / (math.exp(2 * 5 * 0.02 / 0.08) + 1))
    for _, dead in ipairs { 1e-5, 2e-4 } do
      local c, out = run("full_bridge.lua --dead " .. dead)
      assert.near(wanted, tonumber(out:match "current: (%S+)"), 1e-5)
      local most = 0 -- the source is never shorted
      for i = 1, c.n do
        if c.t[i] > 0.1 then most = math.max(most, math.abs(c["i.V1"][i])) end
      end
      assert.near(-wanted, most, 0.01)
    end
  end)
end)
