-- Ctrl-C from whatever runs, in a terminal; and the coroutines that tell which of them runs.
local host = require "host"
local tmux = require "tmux"

describe("coroutine.resume and coroutine.wrap of the interpreter #once", function()
  -- What a chunk prints under nslua, and under the stock interpreter.
  local function both(chunk)
    local ours = host.nslua_run("-e " .. host.quote(chunk))
    local stock = host.run((os.getenv "LUA" or "lua5.4") .. " -e " .. host.quote(chunk))
    return ours, stock
  end

  local chunks = {
    values = [[
      local co = coroutine.create(function(a, ...) local b = coroutine.yield(a, ...) return b, select('#', ...) end)
      print(coroutine.resume(co, 1, nil, nil)) print(coroutine.resume(co, 'x')) print(coroutine.resume(co))
      print(coroutine.status(co), coroutine.isyieldable())]],
    errors = [[
      local co = coroutine.create(function() error({}) end)
      local good, e = coroutine.resume(co) print(good, type(e), coroutine.status(co))
      print(coroutine.resume(coroutine.running()))
      print(pcall(coroutine.resume, 3) or pcall(coroutine.wrap, 3))
      print(pcall(coroutine.wrap(function() error 'a' end)))
      print(pcall(coroutine.wrap(function() local t = setmetatable({}, { __index = error }) return t.x end)))]],
    loops = [[
      local function numbers(n) return coroutine.wrap(function() for i = 1, n do coroutine.yield(i, i * i) end end) end
      for a, b in numbers(3) do io.write(a, ' ', b, ' ') end
      local f = coroutine.wrap(function() end) f() print(pcall(f))]],
    closing = [[
      local f = coroutine.wrap(function()
        local x <close> = setmetatable({}, { __close = function(_, e) print('closed', e) end })
        error('oops', 0)
      end)
      print(pcall(f))
      local g = coroutine.wrap(function()
        local x <close> = setmetatable({}, { __close = function() error('worse', 0) end })
        error('oops', 0)
      end)
      print(pcall(g))]],
    nesting = [[
      local function deep(n) if n == 0 then return 'bottom' end return coroutine.wrap(deep)(n - 1) end
      print(deep(100))
      local function without_end() return coroutine.wrap(without_end)() end
      local good, message = pcall(without_end) print(good, (message:match 'C stack overflow'))]],
  }

  for name, chunk in pairs(chunks) do
    it("behave as the language says: " .. name, function()
      local ours, stock = both(chunk)
      assert.equal(stock, ours)
      assert.is_true(#ours > 10)
    end)
  end
end)

describe("a script's Ctrl-C #once", function()
  local directory

  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  -- Runs a chunk that touches the file UP, and gets signals from then on, `count` in all; the error output and status.
  local function interrupted(chunk, count)
    local up = directory .. "/up"
    os.remove(up)
    local path = directory .. "/script.lua"
    host.write(path, ("local file <close> = io.open(%q, 'w') file:write 'up' file:flush(); %s"):format(up, chunk))
    local kill = ("kill -INT $!; "):rep(1) .. ("sleep 0.3; kill -INT $! 2>/dev/null; "):rep(count - 1)
    local _, err, code = host.run(("%s %s & while ! test -s %s; do sleep 0.02; done; %s wait $!"):format(
      host.nslua, path, up, kill))
    return err, code
  end

  it("stops a loop, also one inside a coroutine", function()
    local chunks = {
      "while true do end",
      "coroutine.wrap(function() while true do end end)()",
      "coroutine.resume(coroutine.create(function() coroutine.wrap(function() while true do end end)() end)) while true do end",
      "while true do pcall(function() while true do end end) end",
      "while true do coroutine.resume(coroutine.create(function() while true do end end)) end",
      "for _ in coroutine.wrap(function() while true do coroutine.yield(1) end end) do end",
    }
    for _, chunk in ipairs(chunks) do
      local err, code = interrupted(chunk, 1)
      assert.matches("^nslua: [^\n]*interrupted!", err)
      assert.equal(1, code)
    end
  end)

  it("ends the process at the second one, when the first is not obeyed", function()
    local err, code = interrupted("('a'):rep(50):find(('a?'):rep(50) .. ('a'):rep(50) .. 'b')", 2)
    assert.equal("", err)
    assert.equal(130, code)
  end)
end)

if not tmux.available() then return end

describe("Ctrl-C at the prompt #once", function()
  local terminal, directory

  local function start()
    terminal = tmux.start(host.quote(host.nslua), { width = 160, environment = "XDG_STATE_HOME=" .. directory })
    terminal:wait "\n> *$"
  end

  setup(function() directory = host.new_directory() end)
  before_each(start)
  after_each(function() terminal:stop() end)
  teardown(function()
    host.remove(directory)
  end)

  -- Runs a chunk, which must print "up", and stops it.
  local function stops(chunk, message)
    terminal:clear()
    terminal:line(chunk, "\nup")
    terminal:send "<C-c>"
    terminal:wait(message .. ".*\n> *$")
    terminal:clear()
    terminal:line("6 * 7", "\n42\n> *$")
  end

  local relay = [[r = ns.FirstOrderNonLinearR { h = function(t, x, lambda, z, y) y[1] = x[1] end,
    g = function(t, x, lambda, z, r) if stuck then stuck() end r[1] = lambda[1] end }]]

  local function system(h)
    terminal:line(relay:gsub("\n *", " "), "\n> *$")
    terminal:line("d = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } }); n = ns.NonSmoothDynamicalSystem(0, 1e5)", "> *$")
    terminal:line("n:insertDynamicalSystem(d) n:link(ns.Interaction(ns.RelayNSL(1), r), d)", "> *$")
    terminal:line(("td = ns.TimeDiscretisation(0, %s)"):format(h), "> *$")
    terminal:line("s = ns.TimeStepping(n, td, ns.EulerMoreauOSI(1), ns.Relay())", "> *$")
  end

  it("stops loops in Lua, in coroutines, around pcall, and a __tostring", function()
    stops("print 'up' while true do end", "%[%d+%]:1: interrupted!")
    stops("print 'up' coroutine.wrap(function() while true do end end)()", "interrupted!")
    stops("print 'up' while true do pcall(function() while true do end end) end", "interrupted!")
    stops("print 'up' while true do coroutine.resume(coroutine.create(function() while true do end end)) end", "interrupted!")
    stops("setmetatable({}, { __tostring = function() print 'up' while true do end end })", "interrupted!")
    stops("print 'up' io.read()", "interrupted!")
  end)

  it("stops runs: in one call, step by step, inside a callback and its coroutine", function()
    system "1e-3"
    stops("print 'up' s:run { progress = false, record = 100000 }", "interrupted %(t=")
    stops("s:reset() print 'up' for step in s:steps() do end", "interrupted")
    stops("s:reset() print 'up' coroutine.wrap(function() for step in s:steps() do end end)()", "interrupted")
    stops("s:reset() function stuck() print 'up' while true do end end s:run()", "interrupted %(t=")
    stops("s:reset() function stuck() print 'up' coroutine.wrap(function() while true do end end)() end s:run()",
      "interrupted")
    stops("s:reset() s:computeOneStep()", "interrupted!")
    terminal:line("s:reset() stuck = nil print 'up' sol = s:run { progress = false, record = 100000, partial = true }", "\nup")
    terminal:send "<C-c>"
    terminal:wait "%^C\n> *$"
    terminal:line("sol.status", "\ninterrupted\n")
    terminal:line("print 'up' or s:run { progress = false, record = 100000, partial = true }", "\nup")
    terminal:send "<C-c>"
    terminal:wait "%^C\nsolution %(interrupted%)"
    terminal:line("print 'up' while true do end", "\nup")
    terminal:send "<C-c>"
    terminal:wait "%^C\n%[%d+%]:1: interrupted!"
  end)

  it("leaves no blank line where a run has told how far it is", function()
    system "1e-5"
    terminal:clear()
    terminal:line("s:run { record = 100000 }", "\nt = [%d.e+-]+, step %d+ of %d+, %d+ s to go")
    terminal:send "<C-c>"
    terminal:wait "to go %^C\n%[%d+%]:1: interrupted %(t="
  end)

  it("stops loops around runs that fail, when pressed twice", function()
    system "1e-3"
    terminal:clear()
    terminal:line("print 'up' while true do print(pcall(s.run, s, { progress = false, record = 100000 })) s:reset() end", "\nup")
    terminal:send "<C-c>"
    terminal:wait "false +interrupted"
    terminal:send "<C-c>"
    terminal:wait "in main chunk\n> *$"
  end)

  it("stops solvers in C and smooth runs", function()
    -- A string over an obstacle: sweeps take minutes, and reading M takes long enough for the signal to come then, too.
    terminal:line("M = 2 * ns.eye(1000) for i = 2, 1000 do M[i][i - 1], M[i - 1][i] = -1, -1 end", "\n> *$")
    stops("print 'up' ns.numerics.lcp { M = M, q = ones(1000) * -1, solver = 'pgs', max_iterations = 2^31 - 1 }",
      "interrupted")
    -- Murty's problem: his own method, of principal pivots, takes 2^60 of them.
    terminal:line("M = ns.eye(60) for i = 1, 60 do for j = i + 1, 60 do M[i][j] = 2 end end", "\n> *$")
    stops("print 'up' ns.numerics.lcp { M = M, q = ones(60) * -1, solver = 'principal', max_iterations = 2^31 - 1 }",
      "interrupted")
    terminal:line("options = { max_step = 1e-3, t_eval = { 0, 1e9 } }", "\n> *$")
    stops("print 'up' ns.solve_ivp(function(t, y) return { y[2], -y[1] } end, { 0, 1e9 }, { 1, 0 }, options)", "interrupted")
    stops("print 'up' ns.numerics.mcp { F = function(z) return { z[1] + (function() while true do end end)() } end, z0 = { 1 } }",
      "interrupted")
  end)
end)
