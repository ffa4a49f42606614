-- Runs killed at any moment continue from their checkpoint, and end with the bits of an undisturbed run.
local hdf5 = require "hdf5"
local host = require "host"
local ns = require "nslua"

local soak = os.getenv "NSLUA_SOAK"
local runs = soak and 100 or 3

local script = [[
local ns = require "nslua"
local block = ns.class(ns.LagrangianDS, "block")
function block:computeFInt(_, q, v, _, f)
  f[1] = math.sin(q[1]) + 0.01 * v[1]
  f[2] = 2 * q[2] ^ 3
end
local ds = block({ 1, 0.5 }, { 0, 0 }, { { 1, 0 }, { 0, 2 } })
local nsds = ns.NonSmoothDynamicalSystem(0, 80)
nsds:insertDynamicalSystem(ds)
nsds:link(ns.Interaction(ns.NewtonImpactNSL(0.8), ns.LagrangianLinearTIR { { 1, -0.5 } }), ds)
local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 5e-3), ns.MoreauJeanOSI(0.5))
io.write "ready\n"
io.flush()
local sol = simu:run { checkpoint = arg[1], every = tonumber(arg[2]) or arg[2], resume = true, record = 10,
  stream = arg[1] .. arg[3] }
print(simu:step(), ("%a %a %a %a"):format(ds:x()[1], ds:x()[2], ds:x()[3], ds:x()[4]), sol.status)
]]

describe("a run that is killed", function()
  local directory, command
  setup(function()
    directory = host.new_directory()
    host.write(directory .. "/script.lua", script)
    command = ("%s %s/script.lua"):format(host.quote(host.nslua), directory)
  end)
  teardown(function() host.remove(directory) end)

  local function run(name, every, ending, kill)
    local line = ("%s %s/%s %s %s"):format(command, directory, name, every, ending)
    return (host.run((kill and ("timeout -s KILL %s "):format(kill) or "") .. line))
  end

-- Returns the whole stream of a run; for a killed run, only asserts that the stream can be read.
  local function contents(name, ending)
    local file = ("%s/%s%s"):format(directory, name, ending)
    if ending == ".csv" then return host.read(file) end
    local good, record = pcall(ns.load, file)
    if not good then return assert.matches("No such file or directory", record) end
    local parts = {}
    for i, column in ipairs(record:names()) do parts[i] = column .. hdf5.bits(record:column(i)) end
    return table.concat(parts)
  end

  -- Kills within `window` seconds.
  local function attack(ending, window)
    local start = os.time()
    local kind = ending:sub(2)
    local expected = run("whole_" .. kind, "1h", ending)
    assert.matches("^ready\n16000\t.*completed\n$", expected)
    local whole = contents("whole_" .. kind, ending)
    local state, killed, i = 12345, 0, 0
    while i < runs or killed < runs and i < 10 * runs do -- more runs, killed sooner, where the machine is quick
      i = i + 1
      local name, got, before = kind .. i, nil, killed
      for _ = 1, 50 do
        state = state * 1103515245 + 12345 & 0x7fffffff
        got = run(name, 200, ending, ("%.3f"):format(0.02 + window * state / 0x7fffffff))
        if got == expected then break end
        killed = killed + 1
        assert.matches("^r?e?a?d?y?\n?$", got)
        contents(name, ending)
      end
      if got ~= expected then got = run(name, 200, ending) end
      assert.equal(expected, got)
      assert.is_true(whole == contents(name, ending))
      if killed == before then window = window / 2 end
    end
    if soak then print(("%s: %d runs, killed %d times"):format(ending, i, killed)) end
    assert.is_true(killed >= runs, ("killed %d times in %d s"):format(killed, os.time() - start))
  end

  it("ends with the same bits when it is taken up again", function() attack(".csv", 0.2) end)
  hdf5.it("ends with the same bits when it is taken up again, a stream of HDF5 too", function() attack(".h5", 0.5) end)
end)
