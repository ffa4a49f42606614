local session_of = require "nslua.repl.session"
local source = require "nslua.repl.source"

describe("the variables of a prompt", function()
  local session

  local function run(text)
    session.refresh()
    return assert(source.compile(text, session.env, session.keeper))()
  end

  before_each(function() session = session_of() end)
  after_each(function() rawset(_G, "repl_test_global", nil) end)

  it("are kept when local, and are global otherwise", function()
    run "local a, b = 1"
    run "repl_test_global = a + 1"
    assert.equal(1, run "a")
    assert.is_nil(run "b")
    assert.equal(2, rawget(_G, "repl_test_global"))
    assert.is_nil(rawget(_G, "a"))
    run "repl_test_global = nil"
    assert.is_nil(rawget(_G, "repl_test_global"))
  end)

  it("hide globals when local, also when nil, and leave them alone", function()
    run "local math = math.pi"
    assert.equal(math.pi, run "math")
    run "math = 3"
    assert.equal(3, run "math")
    assert.equal("table", type(math))
    run "local string"
    assert.is_nil(run "string")
    run "math = nil"
    assert.is_nil(run "math")
    run "string = 'mine'"
    assert.equal("mine", run "string")
    assert.equal("table", type(string))
  end)

  it("are shared by functions", function()
    run "local n = 0 local function inc() n = n + 1 return n end"
    run "inc()"
    assert.equal(2, run "inc()")
    assert.equal(2, run "n")
    run "n = 10"
    assert.equal(11, run "inc()")
  end)

  it("are listed with their values", function()
    run "local mine, none = 5"
    local names = session.names()
    assert.equal(5, names.mine)
    assert.equal(print, names.print)
    assert.equal(5, session.get "mine")
    assert.equal(print, session.get "print")
    session.declare("other", 7)
    assert.equal(7, run "other")
    assert.is_nil(names._LOCAL)
  end)
end)
