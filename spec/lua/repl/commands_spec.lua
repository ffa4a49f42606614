-- The commands of the prompt on files and variables, in sessions that come from a pipe.
local host = require "host"

describe("the commands of the prompt #once", function()
  local directory
  setup(function()
    directory = host.new_directory()
    host.write(directory .. "/script.lua", "local q, r = 3, ...\nkept = r\nprint('script', ..., arg[1])\n")
    host.write(directory .. "/broken.lua", "x = = 1\n")
  end)
  teardown(function() host.remove(directory) end)

  -- What a session prints, and its errors.
  local function session(...)
    local command = ("cd %s && EDITOR=%s %s -i"):format(directory, host.quote "sed -i s/1/2/", host.quote(host.nslua))
    local out, err = host.run(command, table.concat({ ... }, "\n") .. "\n")
    return (out:gsub("^[^\n]*\n", ""):gsub("> ", "")), err
  end

  it(":run runs a script with arguments, and keeps its variables", function()
    local out, err = session(":run script.lua a b", "q, r, kept")
    assert.equal("script\ta\ta\n3\ta\ta\n\n", out)
    assert.equal("", err)
  end)

  it(":run tells what is wrong", function()
    assert.equal(":run: expected a file, as in :run clutch.lua\n", select(2, session ":run"))
    assert.equal("cannot open none.lua\n", (select(2, session ":run none.lua"):gsub(": No such.-\n", "\n")))
    assert.matches("broken.lua:1: unexpected symbol near '='", select(2, session ":run broken.lua"), 1, true)
  end)

  it(":load puts a file into the history", function()
    local out, err = session(":load script.lua")
    assert.equal("script.lua: 3 lines; Up recalls them\n\n", out)
    assert.equal("", err)
    assert.equal("none.lua: No such file or directory\n", select(2, session ":load none.lua"))
    assert.equal(":load: expected a file, as in :load clutch.lua\n", select(2, session ":load"))
  end)

  it(":edit runs what the editor has saved", function()
    assert.equal("11\n21\n\n", (session("10 + 1", ":edit")))
    local out = session ":edit script.lua"
    assert.equal("script\tnil\tnil\n\n", out)
    local _, err = host.run(("cd %s && EDITOR=false %s -i"):format(directory, host.quote(host.nslua)), ":edit\n")
    assert.equal(":edit: the editor 'false' has failed: set EDITOR\n", err)
  end)

  it(":vars lists variables, :reset forgets them", function()
    local out = session(":vars", "local A = ns.eye(2)", "b = 'text'", ":vars", ":reset", "A", "b", ":vars", "pi > 3")
    assert.equal("no variables yet\nA  matrix  [ 1  0 0  1 ]\nb  string  text\n2 variables forgotten\nnil\nnil\n"
      .. "no variables yet\ntrue\n\n", out)
    assert.equal(":reset: it forgets all variables; for one, name = nil: got 'b'\n", select(2, session ":reset b"))
  end)

  it(":doc is ?", function()
    assert.equal((session "?ns.eye"), (session ":doc ns.eye"))
  end)

  it("Out has the values of the inputs, unless it is a variable", function()
    assert.equal("7\nx\n7\tx\n\n", (session("7", "'x'", "Out[1], Out[2]")))
    assert.equal("1\n5\n\n", (session("Out = 5", "1", "Out")))
  end)
end)
