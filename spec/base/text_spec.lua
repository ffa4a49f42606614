-- Numbers in the engine's texts: as in the C locale, whatever the host has set; the locale of the thread is given back.
local host = require "host"

describe("base.text #once", function()
  local directory, status
  setup(function()
    directory = host.new_directory()
    local _
    _, _, status = host.run("localedef -i de_DE -f UTF-8 " .. directory .. "/de_DE.UTF-8")
  end)
  teardown(function() host.remove(directory) end)

  -- What a chunk prints under a locale with a decimal comma; nil where there is none to be made.
  local function under_comma(chunk)
    if status ~= 0 then return nil end
    host.write(directory .. "/chunk.lua", ("package.path = package.path .. ';%s/spec/?.lua'\n"):format(host.root) .. [[
      local ns = require "nslua"
      local internal = require "nslua.internal"
      assert(os.setlocale "de_DE.UTF-8")
      assert(("%g"):format(0.5) == "0,5")
      ]] .. chunk .. [[
      assert(("%g"):format(0.5) == "0,5" and tonumber "0,5" == 0.5, "the locale has changed")]])
    local out, err = host.run(("LOCPATH=%s %s %s/chunk.lua"):format(directory, host.quote(host.nslua), directory))
    assert.equal("", err)
    return out
  end

  it("writes and reads a decimal point", function()
    local out = under_comma [[
      for _, x in ipairs { 5e-324, 0.1, 1e300 / 3, -2.5e-310 } do print(internal.number_format(x)) end
      print(ns.vector { 0.5 })
      local stop = ns.solve_ivp(function(t, y) return { t > 0.5 and 0 / 0 or 1 } end, { 0.25, 1.5 }, { 0.25 })
      print(stop.message)
    ]]
    if not out then return pending "needs localedef and the sources of locales" end
    assert.matches("^4%.94065645841247e%-324\n0%.1\n3%.3333333333333335e%+299\n%-2%.50*2?e%-310\n%[0%.5%]\n"
      .. "[^,]*%(t=0%.%d+%)[^,]*$", out)
  end)

  it("reads the times of a run", function()
    local out = under_comma [[
      local ds = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
      local nsds = ns.NonSmoothDynamicalSystem(0, 1)
      nsds:insertDynamicalSystem(ds)
      local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1))
      print(#simu:run { checkpoint = os.tmpname(), every = "0.5m" })
      print(pcall(simu.run, simu, { checkpoint = "x", every = "0,5m" }))
    ]]
    if not out then return pending "needs localedef and the sources of locales" end
    assert.matches("^3\nfalse\t.*run: every: expected a number of steps or a time", out)
  end)
end)
