-- Callbacks that round the time to integers are warned of.
local host = require "host"

local script = [[
local ns = require "nslua"
local function floor_of(t) return t - math.floor(t) end
local saw = ns.sawtooth { period = 2 }
local callbacks = {
  a = function(t, x, z, f) f[1] = t - math.floor(t) end,
  b = function(t, x, z, f) f[1] = t % 0.5 < 0.1 and 10 or 0 end,
  c = function(t, x, z, f) local p = t / 2 f[1] = p - p // 1 end,
  d = function(t, x, z, f) f[1] = math.fmod(t, 0.3) end,
  e = function(t, x, z, f) if floor_of(2 * t) > 0.5 then f[1] = 1 end end,
  no_time = function(t, x, z, f) f[1] = math.floor(x[1] / 1e3) end,
  no_rounding = function(t, x, z, f) f[1] = math.sin(t) + 7 // 2 end,
  signal = function(t, x, z, f) f[1] = saw(t) end,
}
local nsds = ns.NonSmoothDynamicalSystem(0, 1)
for name, f in pairs(callbacks) do nsds:insertDynamicalSystem(ns.FirstOrderNonLinearDS { x0 = { 0.5 }, f = f, name = name }) end
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(0))
simu:run()
simu:reset()
simu:run()]]

describe("a callback that rounds the time #once", function()
  it("is warned of, by name; one that rounds states, or nothing, or asks a signal, is not", function()
    local directory, lines = host.new_directory(), {}
    host.write(directory .. "/script.lua", script)
    local _, err, status = host.run(("cd %s && %s script.lua"):format(directory, host.quote(host.nslua)))
    host.remove(directory)
    assert.equal(0, status, err)
    for line in err:gmatch "[^\n]+" do lines[#lines + 1] = line end
    table.sort(lines)
    for i, name in ipairs { "a", "b", "c", "d", "e" } do
      assert.equal("nslua: dynamical system '" .. name .. "' computef: it rounds the time to integers (floor, %, fmod) and jumps "
        .. "within steps, which may not see it; take ns.sawtooth, ns.pwm or ns.clock, and ns.follow", lines[i])
    end
    assert.equal(5, #lines)
  end)
end)
