-- workers/worker.h: processes, messages, ends.
local host = require "host"
require "nslua"
local support = require "nslua.core".worker_support

-- A worker that calls f(driver) in a copy of this process.
local function forked(f)
  local worker, child = support.fork()
  if child then support.serve(f, worker) end
  return assert(worker)
end

-- All messages until the worker ends, and how it ended.
local function drained(worker)
  local list = {}
  while not worker:ended() do
    support.wait({ worker }, 5)
    for bytes in function() return worker:next() end do list[#list + 1] = bytes end
  end
  return list, worker:ended()
end

describe("a worker process", function()
  it("answers messages of any length, in order", function()
    local worker = forked(function(driver)
      for text in function() return driver:receive() end do driver:send(text:rep(3)) end
    end)
    local sizes, got = { 0, 1, 511, 512, 513, 70000, 1000000 }, {}
    for _, size in ipairs(sizes) do worker:send(("z"):rep(size)) end
    while #got < #sizes do
      support.wait({ worker }, 5)
      for bytes in function() return worker:next() end do got[#got + 1] = bytes end
    end
    for i, size in ipairs(sizes) do assert.is_true(got[i] == ("z"):rep(3 * size)) end
    worker:close()
  end)

  it("tells its exit status, and the messages before its end arrive", function()
    local messages, how, signal = drained(forked(function(driver)
      for i = 1, 100 do driver:send(tostring(i)) end
      support.leave(7)
    end))
    assert.equal(100, #messages)
    assert.equal("exit status 7", how)
    assert.equal(0, signal)
  end)

  it("tells the signal that ended it", function()
    local worker = forked(function() while true do end end)
    worker:stop "KILL"
    local _, how, signal = drained(worker)
    assert.equal("signal 9 (Killed)", how)
    assert.equal(9, signal)
  end)

  it("sees SIGTERM and the end of its driver's messages", function()
    local worker = forked(function(driver)
      driver:send "ready"
      driver:receive()
      support.leave(2)
    end)
    support.wait({ worker }, 5)
    assert.equal("ready", worker:next())
    worker:stop "TERM"
    local _, how, signal = drained(worker)
    assert.same({ "signal 15 (Terminated)", 15 }, { how, signal })
  end)

  it("can be waited for without waking up", function()
    local worker = forked(function(driver) driver:receive() end)
    local before, start = os.clock(), support.clock()
    support.wait({ worker }, 0.2)
    assert.is_true(support.clock() - start >= 0.15)
    assert.is_true(os.clock() - before < 0.05)
    worker:close()
  end)

  it("has at most the data that it may have #once", function()
    if host.sanitized then return end -- the sanitizer's own memory is larger
    local messages = drained(forked(function(driver)
      assert(support.limit(3e8))
      local good, message = pcall(function()
        local list = {}
        while true do list[#list + 1] = ("x"):rep(10000000) .. #list end
      end)
      driver:send(tostring(good) .. " " .. tostring(message))
    end))
    assert.equal("false not enough memory", messages[1])
  end)

  it("ends when its driver is killed #once", function()
    local directory = host.new_directory()
    local code = ([[local support = require "nslua.core".worker_support
      local worker, child = support.fork()
      if child then while true do end end
      local file = io.open(%q, "w")
      file:write(worker:pid())
      file:close()
      os.execute("kill -9 " .. support.pid())]]):format(directory .. "/pid")
    host.run(("%s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    local pid, start = host.read(directory .. "/pid"), support.clock()
    while os.execute(("kill -0 %s 2>/dev/null"):format(pid)) and support.clock() - start < 5 do os.execute "sleep 0.02" end
    assert.is_nil((os.execute(("kill -0 %s 2>/dev/null"):format(pid))))
    host.remove(directory)
  end)

  -- Sends the number of a program that this worker starts, and waits for it: its end would wake the worker up.
  local function start_program(driver)
    local child = io.popen "echo $$; exec sleep 1000"
    driver:send(child:read "l")
    child:read "a"
  end

  local function ends(pid)
    local start = support.clock()
    local function runs() return (host.read(("/proc/%s/stat"):format(pid)) or "0 (none) Z"):match "%) (%a)" ~= "Z" end
    while runs() and support.clock() - start < 20 do os.execute "sleep 0.02" end
    assert.is_false(runs())
  end

  local function takes_program(worker)
    support.wait({ worker }, 5)
    local pid = worker:next()
    assert.truthy(os.execute(("kill -0 %s"):format(pid)))
    worker:stop "KILL"
    drained(worker)
    ends(pid)
  end

  it("takes with it what it has started, when it is killed", function()
    takes_program(forked(start_program))
  end)

  it("takes with it what workers of its own have started", function()
    takes_program(forked(function(driver)
      local inner = forked(start_program)
      support.wait({ inner }, 5)
      driver:send(inner:next())
      driver:receive()
    end))
  end)

  it("takes with it what it has started, when its driver is killed #once", function()
    local directory = host.new_directory()
    local code = ([[local support = require "nslua.core".worker_support
      local worker, child = support.fork()
      if child then os.execute("echo $$ >%s; exec sleep 1000") end
      os.execute("while ! [ -s %s ]; do sleep 0.01; done; kill -9 " .. support.pid())]])
      :format(directory .. "/pid", directory .. "/pid")
    host.run(("%s -e %s"):format(host.quote(host.nslua), host.quote(code)))
    ends((host.read(directory .. "/pid"):gsub("%s", "")))
    host.remove(directory)
  end)

  it("can be another program", function()
    local worker = assert(support.spawn { host.nslua, "-e", [[local support = require "nslua.core".worker_support
      local driver = support.adopt()
      driver:send("I am " .. driver:receive())
      os.exit(5)]] })
    worker:send "here"
    local messages, how = drained(worker)
    assert.same({ "I am here" }, messages)
    assert.equal("exit status 5", how)
  end)

  it("is told when it can not be started, or was not", function()
    local _, message = support.spawn { "/absent/program" }
    assert.equal("cannot start a worker: '/absent/program': No such file or directory", message)
    local out = host.run(("%s -e %s 3<&-"):format(host.quote(host.nslua), host.quote
      [[print(require "nslua.core".worker_support.adopt())]]))
    assert.equal("nil\tno driver has started this process as a worker\n", out)
  end)
end)
