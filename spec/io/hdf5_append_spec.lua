-- Streams into HDF5 files: readable while they are written, and after a kill up to the last flush.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"
local it = hdf5.it
local simulation = require "models".simulation

describe("io.hdf5_append", function()
  local directory, path
  before_each(function()
    directory = host.new_directory()
    path = directory .. "/run.h5"
  end)
  after_each(function() host.remove(directory) end)

  local function make(names, T, hook)
    local ds = ns.FirstOrderNonLinearDS({ 1, 2 }, function(t, x, _, f)
      if hook then hook(t) end
      f[1], f[2] = -x[1], -2 * x[2]
    end)
    ds:setNames(names or { "a", "b" })
    return (simulation { systems = { ds }, T = T or 2, h = 1e-3 })
  end

  local function same(sol, record)
    assert.same(sol:names(), record:names())
    for i, name in ipairs(sol:names()) do assert.equal(hdf5.bits(sol:column(i)), hdf5.bits(record:column(i)), name) end
  end

  it("holds what the solution would save #once", function()
    for _, names in ipairs { { "a", "b" }, { "é", "§" }, { "p", "p/y" }, { "g/2", "g/1" }, { "u", "nslua_rows" } } do
      local sol = make(names):run { stream = path }
      sol:save(directory .. "/whole.h5")
      local record = ns.load(path)
      assert.same(ns.load(directory .. "/whole.h5"):names(), record:names())
      for name in pairs { [names[1]] = 1, [names[2]] = 1, newton_iterations = 1 } do
        assert.equal(hdf5.bits(ns.load(directory .. "/whole.h5"):column(name)), hdf5.bits(record:column(name)))
      end
    end
  end)

  it("is a file as any other at the end", function()
    local sol = make():run { stream = path, record = 7 }
    same(sol, ns.load(path))
    ns.load(path):save(directory .. "/again.h5")
    same(sol, ns.load(directory .. "/again.h5"))
    local flags = host.read(path):byte(12)
    assert.equal(0, flags)
  end)

  -- What a command prints at two times during a run.
  local function watch(command)
    local seen = {}
    local simu = make(nil, 2, function(t)
      for i, at in ipairs { 0.7501, 1.5001 } do
        if t > at and not seen[i] then seen[i] = (host.run(command)) end
      end
    end)
    local sol = simu:run { stream = path, checkpoint = directory .. "/state", every = 100 }
    for i, rows in ipairs { 701, 1501 } do
      assert.equal(("%d %.9f %.9f\n"):format(rows, sol.t[rows], sol.a[rows]), seen[i])
    end
  end

  it("can be read while it is written", function()
    local code = ('local r = require "nslua".load "%s" print(("%%d %%.9f %%.9f"):format(#r, r.t[#r], r.a[#r]))'):format(path)
    watch(host.quote(host.nslua) .. " -e " .. host.quote(code))
  end)

  it("can be read by h5py while it is written", function()
    if (select(3, host.run "/usr/bin/python3 -c 'import h5py'")) ~= 0 then return pending "h5py is not here" end
    watch(([[/usr/bin/python3 -c '
import h5py
f = h5py.File("%s", "r", swmr=True)
n = int(f["nslua_rows"][0])
print("%%d %%.9f %%.9f" %% (n, f["t"][n - 1], f["a"][n - 1]))']]):format(path))
  end)

  it("has what was flushed when its writer is killed, and tells when it was cut off", function()
    local script = ([[
      local ns = require "nslua"
      local simulation = require "models".simulation
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(t, x, _, f)
        if t > 1.2505 then os.execute("kill -9 " .. io.open "/proc/self/stat":read "n") end
        f[1] = -x[1]
      end)
      simulation { systems = { ds }, T = 2, h = 1e-3 }:run { stream = "%s", checkpoint = "%s/state", every = 100 }]]):format(path,
      directory)
    host.run("LUA_PATH='spec/?.lua;;' " .. host.quote(host.nslua) .. " -", script)
    assert.equal(5, host.read(path):byte(12)) -- open for writing as a stream
    local record = ns.load(path)
    assert.equal(1201, #record)
    assert.near(1.2, record.t[1201], 1e-12)
    local whole = host.read(path)
    for _, cut in ipairs { 1, 100, 5000 } do
      host.write(path, whole:sub(1, -cut - 1))
      assert.error_matches(function() ns.load(path) end, "cannot read '" .. path .. "': it is a stream that is cut off", 1, true)
    end
    host.write(path, whole)
    local _, _, status = host.run("h5clear -s " .. path)
    if status == 0 then assert.equal(hdf5.bits(record.t), hdf5.bits(ns.load(path).t)) end
  end)

  it("stops the run where there is no more room", function()
    local code = ([[
      local ns = require "nslua"
      local ds = ns.FirstOrderNonLinearDS({ 1 }, function(_, x, _, f) f[1] = -x[1] end)
      local simu = require "models".simulation { systems = { ds }, T = 200, h = 1e-3 }
      local good, text = pcall(simu.run, simu, { stream = "%s", checkpoint = "%s/state", every = 1000 })
      print(good, text)
      print(simu:step() < 200000, (#ns.load "%s" - 1) %% 1000 == 0)]]):format(path, directory, path)
    local out, err, status = host.run(("trap '' XFSZ; ulimit -f 2000; LUA_PATH='spec/?.lua;;' %s -"):format(
      host.quote(host.nslua)), code)
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("^false\tcannot write '" .. path:gsub("%p", "%%%0") .. "': File too large\ntrue\ttrue\n$", out)
  end)
end)
