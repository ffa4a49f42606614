local host = require "host"

local run = host.nslua_run

describe("nslua #once", function()
  local directory

  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function script(name, text)
    local path = directory .. "/" .. name
    host.write(path, text)
    return path
  end

  local function check(arguments, expected, input)
    local out, err, code = run(arguments, input)
    assert.equal("", err)
    assert.equal(expected, out)
    assert.equal(0, code)
  end

  describe("options", function()
    it("-e runs statements in order, also when joined", function()
      check([[-e 'x = 1' -e'x = x + 1' -e 'print(x)']], "2\n")
    end)

    it("-l requires into a global, or into the one it names", function()
      script("mymod.lua", "return { n = ... }")
      local path = ("-e 'package.path = %q'"):format(directory .. "/?.lua")
      check(path .. " -l mymod -e 'print(mymod.n)'", "mymod\n")
      check(path .. " -lmymod -e 'print(mymod.n)'", "mymod\n")
      check(path .. " -l m=mymod -e 'print(m.n, mymod)'", "mymod\tnil\n")
    end)

    it("-l of a module that is not there fails with its name", function()
      local out, err, code = run "-l no.such -e 'print(1)'"
      assert.equal("", out)
      assert.matches("^nslua: module 'no.such' not found:", err)
      assert.equal(1, code)
    end)

    it("-v and --version name the version and Lua's, --version also the optional modules", function()
      for option, rest in pairs { ["-v"] = "", ["--version"] = "[^\n]+\n", ["--version nosuchscript"] = "[^\n]+\n" } do
        local out, err, code = run(option)
        assert.matches("^nslua %d+%.%d+%.%d+ %(Lua 5%.4%.%d+%)\n" .. rest .. "$", out)
        assert.equal("", err)
        assert.equal(0, code)
      end
    end)

    it("--help goes to standard output and lists every option", function()
      local out, err, code = run "--help"
      for _, option in ipairs { "-e", "-i", "-l", "-v", "-E", "-W", "--", "--doctor", "--help", "--version" } do
        assert.truthy(out:find(option, 1, true), option)
      end
      assert.equal("", err)
      assert.equal(0, code)
    end)

    it("a wrong option, or one without its operand, is refused with the usage", function()
      local expected = {
        ["-x"] = "unrecognized option '-x'", ["--nope"] = "unrecognized option '--nope'",
        ["-vv"] = "unrecognized option '-vv'", ["-e"] = "'-e' needs an argument", ["-l"] = "'-l' needs an argument",
        ["-e -v"] = "'-e' needs an argument",
      }
      for option, message in pairs(expected) do
        local out, err, code = run(option)
        assert.equal("", out)
        assert.equal("nslua: " .. message, err:match "^[^\n]*")
        assert.matches("usage: nslua", err)
        assert.equal(1, code)
      end
    end)

    it("LUA_INIT runs first, unless -E", function()
      local init = "env LUA_INIT='print(\"init\")' " .. host.quote(host.nslua)
      assert.equal("init\n1\n", (host.run(init .. " -e 'print(1)'")))
      assert.equal("1\n", (host.run(init .. " -E -e 'print(1)'")))
      local both = "env LUA_INIT_5_4='x = 1' LUA_INIT='x = 2' " .. host.quote(host.nslua)
      assert.equal("1\n", (host.run(both .. " -e 'print(x)'")))
      local file = script("init.lua", "y = 7")
      assert.equal("7\n", (host.run("env LUA_INIT=@" .. file .. " " .. host.quote(host.nslua) .. " -e 'print(y)'")))
    end)

    it("an error in LUA_INIT ends the run", function()
      local out, err, code = host.run("env LUA_INIT='error(\"bad\")' " .. host.quote(host.nslua) .. " -e 'print(1)'")
      assert.equal("", out)
      assert.matches("^nslua: LUA_INIT:1: bad\nstack traceback:", err)
      assert.equal(1, code)
    end)

    it("-W turns warnings on", function()
      local _, quiet = run [[-e 'warn "careful"']]
      local _, loud = run [[-W -e 'warn "careful"']]
      assert.equal("", quiet)
      assert.equal("Lua warning: careful\n", loud)
      local own = "local ns = require [[nslua]] local d = ns.FirstOrderLinearTIDS({ 1 }, { { 1 } }) " ..
        "local n = ns.NonSmoothDynamicalSystem(0, 1) n:insertDynamicalSystem(d) " ..
        "for i = 1, 2 do ns.TimeStepping(n, ns.TimeDiscretisation(0, 0.3), ns.EulerMoreauOSI(1)) end warn([[a]], [[b]])"
      local told = "nslua: TimeStepping: the steps end at t = 0.9, before T = 1: one more, of h = 0.3, would go past it\n"
      assert.equal(told, (select(2, run(("-e '%s'"):format(own))))) -- nslua's own are there at first, each once
      assert.equal(told .. "Lua warning: ab\n", (select(2, run(("-W -e '%s'"):format(own)))))
      assert.equal("", (select(2, run(("-e 'warn [[@off]] %s'"):format(own)))))
    end)
  end)

  describe("a script", function()
    it("gets arg and ...", function()
      local path = script("args.lua", "print(arg[0], arg[1], #arg, arg[-1], arg[-2] ~= nil, ...)")
      check("-W " .. path .. " a 'b c'", path .. "\ta\t2\t-W\ttrue\ta\tb c\n")
      check("-- " .. path .. " -e", path .. "\t-e\t1\t--\ttrue\t-e\n")
    end)

    it("may start with a shebang line", function()
      local path = script("shebang", "#!" .. host.nslua .. "\nprint('ran', ...)\n")
      check(path, "ran\n")
      os.execute("chmod +x " .. path)
      assert.equal("ran\tx\n", (host.run(path .. " x")))
    end)

    it("fails with message, traceback and status 1", function()
      local path = script("fails.lua", "local function f() error 'boom' end\nprint 'before'\nf()\n")
      local out, err, code = run(path)
      assert.equal("before\n", out)
      assert.equal(1, code)
      assert.equal("nslua: " .. path .. ":1: boom", err:match "^[^\n]*")
      assert.matches("stack traceback:\n\t%[C%]: in function 'error'\n", err)
      assert.matches("fails.lua:1: in upvalue 'f'", (err:gsub("local 'f'", "upvalue 'f'")))
      assert.matches("fails.lua:3: in main chunk", err)
    end)

    it("shows one traceback for calls of solvers within each other, here and at the prompt", function()
      local path = script("nested.lua", [[
        local ns = require "nslua"
        local function inner(x)
          if x[1] > 0.5 then error "boom" end
          return { x[1] - 1 }
        end
        ns.solve_ivp(function(t) return ns.fsolve(inner, { t }) end, { 0, 1 }, { 0 })
      ]])
      local _, err, code = run(path)
      local _, traces = err:gsub("stack traceback:", "")
      assert.equal(1, code)
      assert.equal(1, traces)
      assert.matches("^nslua: [^\n]*nested.lua:3: boom\nstack traceback:\n\t%[C%]: in function 'error'\n", err)
      assert.matches("nested.lua:6: in main chunk\n\t%[C%]: in %?\n$", err)
      _, err = run("-i", ("dofile %q\n"):format(path))
      assert.matches("^[^\n]*nested.lua:3: boom\nstack traceback:\n.-nested.lua:6: in main chunk\n.-%[%d+%]:1: in main chunk\n$",
        err)
      assert.is_nil(err:find("evaluate", 1, true))
      _, traces = err:gsub("stack traceback:", "")
      assert.equal(1, traces)
    end)

    it("shows error objects by __tostring, else by their type", function()
      local _, err, code = run [[-e 'error(setmetatable({}, { __tostring = function() return "I am it" end }))']]
      assert.equal("nslua: I am it\n", err)
      assert.equal(1, code)
      _, err = run [[-e 'error {}']]
      assert.equal("nslua: (error object is a table value)", err:match "^[^\n]*")
    end)

    it("that is not there or does not compile is named", function()
      local _, err, code = run(directory .. "/missing.lua")
      assert.equal(("nslua: cannot open %s/missing.lua: No such file or directory\n"):format(directory), err)
      assert.equal(1, code)
      local path = script("syntax.lua", "x = = 1\n")
      _, err, code = run(path)
      assert.equal(("nslua: %s:1: unexpected symbol near '='\n"):format(path), err)
      assert.equal(1, code)
    end)

    it("comes from standard input when that is no terminal, or by -", function()
      check("", "3 0\n", "io.write(1 + 2, ' ', select('#', ...), '\\n')")
      check("- a b", "a\tb\n", "print(...)")
    end)

    it("is stopped by SIGINT with a message", function()
      local path = script("loop.lua", "print 'up' io.stdout:flush() while true do end")
      local _, err, code = host.run(("%s %s >%s & while ! test -s %s; do sleep 0.02; done; kill -INT $!; wait $!")
        :format(host.nslua, path, directory .. "/up", directory .. "/up"))
      assert.matches("^nslua: [^\n]*interrupted!\nstack traceback:", err)
      assert.equal(1, code)
    end)

    it("that cannot write its output fails", function()
      local _, err, code = host.run(host.quote(host.nslua) .. " -e 'print(1)' >/dev/full")
      assert.equal("nslua: cannot write to standard output\n", err)
      assert.equal(1, code)
    end)
  end)

  describe("the end of a run", function()
    local finalizer = "setmetatable({}, { __gc = function() io.write 'closed\\n' end }) "

    it("closes the state, also through os.exit", function()
      check("-e " .. host.quote(finalizer), "closed\n")
      local statuses = {
        ["os.exit()"] = 0, ["os.exit(3)"] = 3, ["os.exit(true)"] = 0, ["os.exit(false)"] = 1,
        ["coroutine.wrap(function() os.exit(4) end)()"] = 4, ["os.exit(5, true)"] = 5,
      }
      for call, status in pairs(statuses) do
        local out, err, code = run("-e " .. host.quote(finalizer .. call))
        assert.equal("", err)
        assert.equal("closed\n", out)
        assert.equal(status, code)
      end
    end)

    it("leaves the state open when os.exit is told so", function()
      local leaks = host.sanitized and "ASAN_OPTIONS=detect_leaks=0 " or ""
      local statement = host.quote(finalizer .. "os.exit(6, false)")
      local out, _, code = host.run(leaks .. host.quote(host.nslua) .. " -e " .. statement)
      assert.equal("", out)
      assert.equal(6, code)
    end)
  end)

  describe("its libraries", function()
    it("are found from any directory", function()
      local out, err, code = host.run("cd / && " .. host.quote(host.nslua) .. " -e 'print(type(require \"nslua\"))'")
      assert.equal("", err)
      assert.equal("table\n", out)
      assert.equal(0, code)
    end)

    it("come before LUA_PATH", function()
      script("nslua.lua", "return 'a wrong one'")
      local command = ("LUA_PATH='%s/?.lua' %s -e 'print(type(require \"nslua\"))'"):format(directory, host.nslua)
      assert.equal("table\n", (host.run(command)))
    end)

    it("may be missing: scripts run all the same", function()
      local alone = directory .. "/alone/bin"
      os.execute(("mkdir -p %s && cp %s %s/nslua"):format(alone, host.nslua, alone))
      local out, err, code = host.run(alone .. "/nslua -e 'print(pcall(require, \"nslua\") and 1 or 0)'")
      assert.equal("", err)
      assert.equal("0\n", out)
      assert.equal(0, code)
    end)
  end)

  describe("the prompt on a pipe", function()
    local function repl(input)
      local out, err, code = run("-i", input)
      assert.equal(0, code)
      assert.matches("^nslua [^\n]*\n", out)
      return out:gsub("^nslua [^\n]*\n", ""), err
    end

    it("prints values, several too, and takes = and statements", function()
      assert.equal("> 2\n> 1\tnil\tx\n> > 7\n> \n", (repl "1+1\n1, nil, 'x'\ny = 7\n= y\n"))
    end)

    it("asks for more lines until the chunk is whole", function()
      assert.equal("> >> >> 1\n2\n> >> 3\n> \n", (repl "for i = 1, 2 do\nprint(i)\nend\n1 +\n2\n"))
    end)

    it("knows ns and its common names, unless a script has set them", function()
      assert.equal("> table\n> \n", (repl "type(ns)\n"))
      assert.equal("> true\n> \n", (repl "vector == ns.vector and eye == ns.eye and sin == math.sin and pi == math.pi\n"))
      local out = run("-i -e 'eye = 5'", "eye\n")
      assert.matches("\n> 5\n", out)
    end)

    it("keeps quiet after a semicolon, and keeps the last value in _", function()
      assert.equal("> > 42\n> > 43\n> \n", (repl "6 * 7;\n_\n_ + 1; -- no\n= _\n"))
      assert.equal("> 1\t2\n> 1\n> 1\n> \n", (repl "1, 2\n_\n_\n"))
    end)

    it("keeps top-level locals for the lines that follow, functions share them", function()
      assert.equal("> > > > 2\n> \n", (repl [[
local n <const> = 0; local m
function inc() m = (m or n) + 1 end
inc() inc()
m
]]))
      assert.equal("> > 7\n> true\n> \n", (repl "local string = 7\nstring\n_G.string == getmetatable('').__index\n"))
      assert.equal("> >> >> > 120\n> \n", (repl "local function f(n)\nreturn n < 2 and 1 or n * f(n - 1)\nend\nf(5)\n"))
    end)

    it("shows values readably: aligned, shortened, safe", function()
      assert.equal("> { 1, \"x\", a = { b = true } }\n> \n", (repl "{ 1, 'x', a = { b = true } }\n"))
      assert.equal("> > { me = <cycle> }\n> \n", (repl "t = {} t.me = t\nt\n"))
      assert.equal("> [ 1  -20\n  3    4 ]\n> \n", (repl "ns.matrix { { 1, -20 }, { 3, 4 } }\n"))
      assert.equal("> a\\x1B[31mb\n> \n", (repl "'a\\27[31mb'\n"))
      assert.equal("> <table, whose __tostring fails: [1]:1: no>\n> 1\n> \n",
        (repl "setmetatable({}, { __tostring = function() error 'no' end })\n1\n"))
    end)

    it("times a chunk", function()
      assert.matches("^> 3\ntime: [%d.e+-]+ [um]?s\n> >> >> time: [%d.e+-]+ [um]?s\n> \n$",
        (repl ":time 1 + 2\n:time for i = 1, 10 do\nlocal x = i\nend\n"))
      local out, err = repl ":time\n"
      assert.equal("> > \n", out)
      assert.equal(":time: expected something to run\n", err)
    end)

    it("shows its help, and that of a name", function()
      for _, line in ipairs { "?", ":help", "help()" } do
        assert.matches("^> An expression shows its value", (repl(line .. "\n")))
      end
      local out = repl "?nothing_of_this_name\n"
      assert.truthy(out:find("help: nothing is known of 'nothing_of_this_name'; ns.help() lists the names", 1, true) or
        out:find("there are no help texts: the module nslua.help is not installed; see docs/reference/", 1, true))
    end)

    it("asks nslua.help for its texts, by value and by name", function()
      script("fakehelp.lua", [[
        package.loaded["nslua.help"] = { text = function(x)
          if x == math.sin then return "the sine" end
          if type(x) == "string" then return "named " .. x end
        end }
      ]])
      local out = run("-i " .. directory .. "/fakehelp.lua", "?math.sin\nhelp(sin)\n?simu:run\n")
      assert.matches("\n> the sine\n> the sine\n> named simu:run\n", out)
    end)

    it("tells of variables and of their methods, and of all names for ns", function()
      local setup = "sys = ns.mechanics.system { gravity = { 0, -9.81 } }\n"
      local function says(input, expected)
        local out = repl(setup .. input .. "\n"):gsub("^[> ]*", "")
        assert.equal(expected, out:sub(1, #expected), input)
      end
      says("?sys:pin", "sys:pin(one, p1, other [, p2 [, o]])\n  of mechanics.system\n")
      says("?sys", "ns.mechanics.system{")
      says("b = sys:free_body { mass = 1, inertia = 1 }\n?b", "particle, body and free_body of a system give a body")
      says("b = sys:free_body { mass = 1, inertia = 1 }\nhelp(b)", "particle, body and free_body of a system give a body")
      says("local b = 4\n?b", "there is no help about b, a number of yours; ?:b tells of the methods of that name\n")
      says("b = 4\n?:b", "system:M()\nsystem:A()\nsystem:b()\n  of FirstOrderLinearTIDS, ")
      says("mine = ns.mechanics.ReferenceFrame 'N'.x.parts\n?mine", "there is no help about mine, a table of yours\n")
      says("?b", "system:M()\nsystem:A()\nsystem:b()\n  of FirstOrderLinearTIDS, ")
      says("?load", "ns.load(file [, options])")
      says("?thing:argmax", "x:argmax()\nx:argmin()\n  of vector, matrix\n")
      says("?ns.SICONOS_LCP_LEMKE", "help: 'SICONOS_LCP_LEMKE' is a name of Siconos; in its place: ns.LCP { solver =")
      says("?observe", "help: there is no 'observe'; it occurs in\n")
      for _, line in ipairs { "?ns", "help(ns)", "ns.help()" } do says(line, 'help(name), help(object), help "Section"') end
      assert.matches("\n  %?ns +all names", (repl "help()\n"))
    end)

    it("refuses a command that it does not know", function()
      local _, err = repl ":nope\n"
      assert.equal("unknown command ':nope' (known: "
        .. ":doc, :edit, :help, :load, :quit, :reset, :run, :time, :vars; ?x for help about x)\n", err)
    end)

    it("leaves at :quit, exit and quit, but not at variables of these names", function()
      for _, line in ipairs { ":quit", "exit", "quit()", "exit ()" } do
        assert.equal("> \n", (repl(line .. "\n1\n")))
      end
      assert.equal("> > 3\n> \n", (repl "exit = 3\nexit\n"))
    end)

    it("shows errors with a traceback of the user's frames and goes on", function()
      local out, err = repl "local function f() error 'oh' end f()\nx = = 2\nerror()\n5\n"
      assert.equal("> > > > 5\n> \n", out)
      assert.matches("^%[%d+%]:1: oh\nstack traceback:\n\t%[C%]: in function 'error'\n", err)
      assert.is_nil(err:find("repl", 1, true))
      assert.is_nil(err:find("evaluate", 1, true))
      assert.is_nil(err:find("\27", 1, true))
      assert.matches("\n%[%d+%]:1: unexpected symbol near '='\n", err)
      assert.matches("%(error object is a nil value%)", err)
    end)

    it("numbers the inputs, so that a traceback tells which one it means", function()
      local _, err = repl("function f(x)\n  return x.y\nend\n1\n?fsolve\nlocal function g(x)\n  f(x)\n  return 1\nend\n"
        .. "do\n  local a = 1\n  g(nil)\nend\n")
      assert.matches("^%[1%]:2: attempt to index a nil value %(local 'x'%)\nstack traceback:\n"
        .. "\t%[1%]:2: in function 'f'\n\t%[4%]:2: in [^\n]*\n\t%[5%]:3: in main chunk\n$", err)
    end)

    it("shows of a long text its first lines, of a page one", function()
      local out = repl "('line\\n'):rep(24)\n('line\\n'):rep(25)\n('<!DOCTYPE html>\\n'):rep(147)\n"
      assert.equal("> " .. ("line\n"):rep(24) .. "\n> " .. ("line\n"):rep(10) .. "... (25 lines, 125 bytes in all)\n"
        .. "> <!DOCTYPE html>... (147 lines, 2352 bytes in all)\n> \n", out)
      local page = repl "#ns.animation.timeplot { t = { 0, 1 }, panels = { { { name = 'y', y = { 1, 2 } } } } } > 9000\n"
      assert.equal("> true\n> \n", page)
      out = repl "ns.animation.timeplot { t = { 0, 1 }, panels = { { { name = 'y', y = { 1, 2 } } } } }\n"
      assert.matches("^> <!DOCTYPE html>%.%.%. %(%d+ lines, %d+ bytes in all%)\n> \n$", out)
    end)

    it("says what is unfinished at the end of input", function()
      local _, err = repl "if x then\n"
      assert.matches("^%[%d+%]:1: 'end' expected near <eof>", err)
    end)

    it("survives errors that are objects, and a stack that overflows", function()
      local out, err = repl "error {}\nlocal function f(n) return 1 + f(n) end f(1)\n1\n"
      assert.equal("> > > 1\n> \n", out)
      assert.matches("^%(error object is a table value%)\n", err)
      assert.matches("%[%d+%]:1: stack overflow.-\n\t%.%.%.\t%(skipping %d+ levels%)\n.-%[%d+%]:1: in main chunk\n$", err)
    end)

    it("looks around after a script with -i: its locals are there, also after it failed", function()
      local path = script("good.lua", "#!/usr/bin/nslua\nlocal x, y = 5, {}\nlocal function f() return x end\nz = ...\n")
      assert.matches("\n> 5\ttable\t5\targ\n", (run("-i " .. path .. " arg", "x, type(y), f(), z\n")))
      path = script("bad.lua", "local x = 1\nlocal function f(n) local inner = n; error 'boom' end\nx = 7\nf(2)\nlocal late = 1")
      local out, err, code = run("-i " .. path, "x, inner, late\n")
      assert.matches("\n> 7\tnil\tnil\n", out)
      assert.matches("^[^\n]*bad.lua:2: boom\nstack traceback:\n.-bad.lua:4: in main chunk\n$", err)
      assert.equal(0, code)
      path = script("none.lua", "local = 3")
      out, err = run("-i " .. path, "1\n")
      assert.matches("\n> 1\n", out)
      assert.equal(path .. ":1: <name> expected near '='\n", err)
      out, err = run("-i " .. directory .. "/missing.lua", "1\n")
      assert.matches("\n> 1\n", out)
      assert.equal(("cannot open %s/missing.lua: No such file or directory\n"):format(directory), err)
    end)

    it("comes after the script with -i", function()
      local out = run("-i -e 'z = 5'", "z\n")
      assert.matches("\n> 5\n> \n$", out)
    end)
  end)
end)
