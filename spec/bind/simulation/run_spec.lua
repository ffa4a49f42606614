-- simu:run{}: options, Ctrl-C, progress; in child processes of both hosts.
local host = require "host"
local models = require "bind.models"
local message = models.message

local settings = ("LUA_PATH=%s LUA_CPATH=%s "):format(
  host.quote(host.root .. "/lua/?.lua;" .. host.root .. "/lua/?/init.lua;" .. host.root .. "/spec/?.lua"),
  host.quote(host.build .. "/lib/?.so"))
local preload = ""
if host.sanitized then
  local pipe = io.popen "cc -print-file-name=libasan.so"
  preload = "LD_PRELOAD=" .. host.quote(pipe:read "l") .. " ASAN_OPTIONS=detect_leaks=0 "
  pipe:close()
end
local hosts = {
  nslua = settings .. host.quote(host.nslua),
  stock = settings .. preload .. (os.getenv "LUA" or "lua5.4"),
}

-- Runs a script, which prints "ready" when it is to be interrupted; one SIGINT goes to it then. Its output, error
-- output and exit status.
local function interrupted(command, script)
  local directory = host.new_directory()
  host.write(directory .. "/script.lua", script)
  local shell = ([[
    cd DIR
    env COMMAND script.lua >out 2>err &
    pid=$!
    i=0
    until grep -q ready out || [ $i -gt 400 ]; do sleep 0.02; i=$((i + 1)); done
    sleep 0.05
    kill -INT $pid
    i=0
    while kill -0 $pid 2>/dev/null && [ $i -lt 400 ]; do sleep 0.02; i=$((i + 1)); done
    kill -9 $pid 2>/dev/null && echo "did not end" >>err
    wait $pid
    echo $? >code]]):gsub("%u%u%u+", { DIR = directory, COMMAND = (command:gsub("%%",
      "%%%%")) })
  host.write(directory .. "/run.sh", shell)
  host.run("sh -m " .. directory .. "/run.sh")
  local out, err = host.read(directory .. "/out"), host.read(directory .. "/err")
  local code = tonumber(host.read(directory .. "/code") or "")
  host.remove(directory)
  return out, err, code
end

local prelude = [[
io.stdout:setvbuf "no"
local models = require "bind.models"
local forever = 1e9
]]

-- What follows an interruption: the state is that of the last accepted step, and the rest has the same bits.
local postlude = [[
print(good, (tostring(err):gsub("t=%S+ step %d+", "t=? step ?"):gsub("newton %d+", "newton ?")))
local k = simu:step()
local other = make(false)
while other:step() < k do other:computeOneStep() other:nextStep() end
assert(k > 0 and models.state(other) == models.state(simu), "not the state of the last step")
models.advance(other, k + 5)
quick = true
models.advance(simu, k + 5)
assert(models.state(other) == models.state(simu), "not the same bits afterwards")
]]

describe("run()", function()
  it("refuses wrong options", function()
    local simu = models.relay(0.01)
    assert.equal("run: options: expected a table, got number 3.0", message(simu.run, simu, 3))
    assert.equal("run: stream: 'a.npz': expected a name that ends in .csv or .h5 (sol:save writes .npy and .npz)",
      message(simu.run, simu, { stream = "a.npz" }))
    for _, name in ipairs { "run.xls", "run", "./run.d/rows" } do
      assert.equal(("run: stream: '%s': expected a name that ends in .csv or .h5 (sol:save writes .npy and .npz)"):format(name),
        message(simu.run, simu, { stream = name }))
    end
    assert.equal("run: stream: 'a.csv' is the file of the checkpoint", message(simu.run, simu, { stream = "a.csv",
      checkpoint = "a.csv" }))
    assert.is_nil(io.open "a.csv")
    assert.equal("run: unknown option 'foo' (known: every, record, checkpoint, stream, resume, progress, partial, "
        .. "observe, dense, sensitivities, rows, solver)",
      message(simu.run, simu, { foo = 1 }))
    assert.equal("run: record: expected 1 or more, got 0", message(simu.run, simu, { record = 0 }))
    assert.equal("run: record: expected an integer, got number 1.5", message(simu.run, simu, { record = 1.5 }))
    assert.equal("run: progress: expected a boolean, got number 1.0", message(simu.run, simu, { progress = 1 }))
    assert.equal("run: partial: expected a boolean, got string", message(simu.run, simu, { partial = "yes" }))
    assert.equal(0, simu:step())
  end)

  it("gives the bits of the loop by hand, from wherever it starts", function()
    for _, make in ipairs { models.clutch, models.relay } do
      local reference = models.advance((make(1)))
      for _, at in ipairs { 0, 5 } do
        local simu = make(1)
        models.advance(simu, at)
        if at > 0 then simu:computeOneStep() end
        simu:run { record = 3 }
        assert.equal(reference[#reference], models.state(simu))
      end
    end
  end)

  it("writes no progress line into a pipe #once", function()
    local out, err = host.run("env " .. hosts.nslua .. " -", [[
      local models = require "bind.models"
      local slow = models.clutch_relation()
      local simu = models.clutch(0.5, require "nslua".FirstOrderNonLinearR {
        h = function(_, x, _, _, y) local t = os.clock() repeat until os.clock() > t + 0.06 y[1] = -x[1] end,
        g = function(_, x, l, _, r) r[4] = l[1] end, C = { { -1, 0, 0, 0 } }, D = { { 0 } },
      })
      print(simu:run().status)]])
    assert.equal("completed\n", out)
    assert.equal("", err)
  end)

  for name, command in pairs(hosts) do
    it("of a long linear model ends at Ctrl-C: #once " .. name, function()
      local out, err, code = interrupted(command, prelude .. [[
        function make() return (models.relay(forever)) end
        local simu = make()
        simu:setVerbose(false)
        print "ready"
        local good, err = pcall(simu.run, simu, { record = 1 << 40 })
      ]] .. postlude)
      assert.equal("", err)
      assert.equal("ready\nfalse\tinterrupted (t=? step ?)\n", out)
      assert.equal(0, code)
    end)

    it("ends inside the action of an event at Ctrl-C, and goes on with that action: #once " .. name, function()
      local out, err, code = interrupted(command, prelude .. [[
        local ns, quick = require "nslua", false
        local ds = ns.FirstOrderLinearTIDS({ 0 }, { { 0 } }, { 1 })
        local nsds = ns.NonSmoothDynamicalSystem(0, 1)
        nsds:insertDynamicalSystem(ds)
        local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.1), ns.EulerMoreauOSI(1))
        simu:addEvent { name = "wait", g = function(t) return t - 0.25 end, action = function()
          ds:x()[1] = 5
          if quick then return end
          print "ready"
          while true do end
        end }
        print(pcall(simu.run, simu))
        print(simu:startingTime(), ds:x())
        quick = true
        print(#simu:run(), ds:x())
      ]])
      assert.equal("", err)
      assert.matches("^ready\nfalse\tinterrupted %(t=0.25 step 2%) in script.lua:%d+: event 'wait' action: t=0.25 step 3\n"
        .. "0.25\t%[0.25%]\n10\t%[5.75%]\n$", out)
      assert.equal(0, code)
    end)

    it("says which callback did not come back: #once " .. name, function()
      local out, err, code = interrupted(command, prelude .. [[
        function make(hang)
          return (models.clutch(forever, require "nslua".FirstOrderNonLinearR {
            name = "clutch",
            h = function(t, x, _, _, y)
              if hang and not quick and t > 0.3 then
                if not told then told = true print "ready" end
                while true do end
              end
              y[1] = -x[1]
            end,
            g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
          }))
        end
        local simu = make(true)
        local good, err = pcall(simu.run, simu, { record = 1 << 40 })
      ]] .. postlude)
      assert.equal("", err)
      assert.matches("^ready\nfalse\tinterrupted %(t=%? step %?%) in script.lua:%d+: relation 'clutch' computeh: "
        .. "t=%? step %? newton %?\n$", (out:gsub("newton %?$", "newton ?")))
      assert.equal(0, code)
    end)

    it("ends at Ctrl-C in a callback that catches errors, and in a slow one: #once " .. name, function()
      local out, err, code = interrupted(command, prelude .. [[
        function make(hang)
          return (models.clutch(forever, require "nslua".FirstOrderNonLinearR {
            h = function(t, x, _, _, y)
              if hang and not quick and t > 0.3 then
                if not told then told = true print "ready" end
                local start = os.clock()
                repeat pcall(function() for i = 1, 1e6 do end end) until os.clock() > start + 1000
              end
              y[1] = -x[1]
            end,
            g = function(_, x, lambda, _, r) r[4] = lambda[1] * (x[4] - x[2] + x[3]) end,
          }))
        end
        local simu = make(true)
        local sol = simu:run { record = 1 << 40, partial = true }
        local good, err = sol.status, sol.message:match "^interrupted"
      ]] .. postlude)
      assert.equal("", err)
      assert.equal("ready\ninterrupted\tinterrupted\n", out)
      assert.equal(0, code)
    end)

    it("raises at Ctrl-C with the line of the script, and puts the host's handler back: #once " .. name, function()
      local out, err, code = interrupted(command, prelude .. [[
        local simu = models.relay(forever)
        print "ready"
        simu:run { record = 1 << 40 }
        print "not reached"]])
      assert.equal("ready\n", out)
      assert.matches("script.lua:6: interrupted %(t=%S+ step %d+%)", err)
      assert.equal(1, code)
      out, err, code = interrupted(command, prelude .. [[
        local simu = models.relay(0.5)
        simu:run()
        simu:reset()
        print "ready"
        while true do end]])
      assert.equal("ready\n", out)
      assert.matches("interrupted!\n.*script.lua:8: in", err)
      assert.equal(1, code)
    end)
  end
end)

describe("run with a checkpoint", function()
  local ns = require "nslua"
  local simulation = require "models".simulation
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/run.state"
  end)
  after_each(function() host.remove(directory) end)

  local function make(fail)
    return (simulation { T = 2, systems = { ns.FirstOrderNonLinearDS({ 1 }, function(t, x, _, f)
      if fail and t > 1.25 then error "stop here" end
      f[1] = -x[1]
    end) } })
  end

  it("writes one every so many steps, and at the end", function()
    make():run { checkpoint = path, every = 7 }
    local simu = make()
    assert.same({ nil, "current" }, { simu:load_state(path) })
    assert.equal(20, simu:step())
    os.remove(path)
    simu:load_state(path)
    assert.equal(14, simu:step())
  end)

  it("records each k-th row as told, and all without being told", function()
    assert.equal(21, #make():run { checkpoint = path, every = 7 })
    assert.equal(6, #make():run { checkpoint = path, every = 7, record = 4 })
    assert.equal(6, #make():run { record = 4 })
    assert.equal(6, #make():run { record = 4 })
  end)

  it("writes one by the clock", function()
    local simu = make()
    for _, every in ipairs { "1e-9s", "1h", "2m" } do simu:run { checkpoint = path, every = every } simu:reset() end
    simu:load_state(path)
    assert.equal(20, simu:step())
  end)

  it("writes one when the run fails, and goes on from it", function()
    assert.error_matches(function() make(true):run { checkpoint = path } end, "stop here", 1, true)
    local simu = make()
    local sol = simu:run { checkpoint = path, resume = true }
    assert.near(1.2, sol.t[1], 1e-15)
    assert.equal(20, simu:step())
    assert.equal(make():run().x1[21], sol.x1[#sol])
  end)

  it("starts when there is nothing to resume from", function()
    assert.equal(21, #make():run { checkpoint = path, resume = true })
    assert.equal(1, #make():run { checkpoint = path, resume = true })
  end)

  it("stops when one can not be written", function()
    local simu = make()
    assert.error_matches(function() simu:run { checkpoint = "/nowhere/run.state", every = 5 } end,
      "cannot write '/nowhere/run.state': No such file or directory", 1, true)
    assert.equal(5, simu:step())
    simu:run()
  end)

  it("checks its options", function()
    local function refused(options, expected)
      assert.error_matches(function() make():run(options) end, expected, 1, true)
    end
    refused({ checkpoint = 3 }, "run: checkpoint: expected a string, got number")
    refused({ checkpoint = path, every = 0 }, "run: every: expected 1 or more, got 0")
    for _, every in ipairs { "", "s", "10", "10d", "-1s", "0s", "nans", "10ss", "infs" } do
      refused({ checkpoint = path, every = every },
        ('run: every: expected a number of steps or a time such as "10s", "5m", "1h", got "%s"'):format(every))
    end
    refused({ record = 0 }, "run: record: expected 1 or more, got 0")
    refused({ resume = true }, "run: resume: there is no checkpoint among the options")
    refused({ checkpoint = path, resume = 1 }, "run: resume: expected a boolean, got number")
  end)
end)

describe("run{solver = true}", function()
  local ns = require "nslua"

  -- Three blocks that fall on floors, the first also against a wall; a clock, whose state is a column before those of the solver.
  local function make()
    local nsds = ns.NonSmoothDynamicalSystem(0, 0.6)
    for i = 1, 3 do
      local ds = ns.LagrangianLinearTIDS({ 0.1 * i, 0 }, { 0, 1 }, { { 1, 0.3 }, { 0.3, 1 } })
      ds:setFExtPtr { -9.81, 0 }
      nsds:insertDynamicalSystem(ds)
      local law = ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2)
      nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1, 0 }, { 0, 1 } }, "floor" .. i), ds)
      if i == 1 then nsds:link(ns.Interaction(law, ns.LagrangianLinearTIR { { 1, -0.4 }, { 0, 1 } }, "wall"), ds) end
    end
    local problem = ns.FrictionContact(2, { solver = "nsgs" })
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.02), ns.MoreauJeanOSI(0.5), problem)
    simu:every { name = "clock", period = 0.2, state = { n = 0 }, act = function(_, s) s.n = s.n + 1 end }
    return simu, problem
  end

  it("has the columns that problem:info() tells, and the methods by their numbers", function()
    local simu, problem = make()
    local told = {}
    local sol = simu:run { solver = true, rows = "grid", observe = function()
      told[#told + 1] = problem:info() or false
      return { a = 1 }
    end }
    local names = table.concat(sol:names(), " ", #sol:names() - 5)
    assert.equal("a clock.n solver.method solver.iterations solver.residual solver.backward", names)
    local seen = {}
    for i, info in ipairs(told) do
      local method = sol.stats.methods[sol["solver.method"][i]]
      if info and info.solver ~= "" and info.solver ~= "none" then
        assert.equal(info.solver, method)
        assert.same({ info.iterations, info.residual, info.backward },
          { sol["solver.iterations"][i], sol["solver.residual"][i], sol["solver.backward"][i] })
        seen[method] = true
      else
        assert.same({ nil, 0, 0 }, { method, sol["solver.iterations"][i], sol["solver.backward"][i] })
      end
    end
    assert.is_false(told[1])
    local count = 0
    for _ in pairs(seen) do count = count + 1 end
    assert.equal(#sol.stats.methods, count)
    assert.same(3, count, table.concat(sol.stats.methods, " "))
    simu:reset()
    local again = simu:run { solver = true, rows = "grid" } -- nothing of the run before is in its first row
    assert.same({ sol["solver.method"], sol["solver.residual"] }, { again["solver.method"], again["solver.residual"] })
    simu:reset()
    local plain = simu:run()
    assert.equal(#sol:names() - 5, #plain:names())
    assert.is_nil(plain.stats.methods)
  end)

  it("streams them, but not behind a checkpoint", function()
    local directory = host.new_directory()
    local stream, state = directory .. "/solver.csv", directory .. "/solver.state"
    local sol = make():run { solver = true, stream = stream }
    assert.equal(sol["solver.iterations"], ns.load(stream)["solver.iterations"])
    assert.error_matches(function() make():run { solver = true, stream = stream, checkpoint = state, resume = true } end,
      "run: solver: a stream that a checkpoint resumes can not have it: each run numbers its methods anew", 1, true)
    assert.error_matches(function() make():run { solver = 1 } end, "run: solver: expected a boolean, got number", 1, true)
    host.remove(directory)
  end)
end)
