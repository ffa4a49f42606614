local host = require "host"
local ns = require "nslua"

-- x' = B lambda, y = x + D lambda, relay on [0, 1]: with B = D = 0 the one-step problem has a zero matrix.
local function relay(x0, B, problem)
  local ds = ns.FirstOrderLinearTIDS({ x0 }, { { 0 } })
  local nsds = ns.NonSmoothDynamicalSystem(0, 10)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, 0, 1), ns.FirstOrderLinearTIR({ { 1 } }, { { B } })), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), problem)
end

describe("a one-step problem", function()
  it("answers when its solution is unique, and what the solutions are", function()
    local problem = ns.Relay()
    -- Simulations are kept in locals: when one is collected, its problem forgets what it has solved.
    local simu = relay(0, 0, problem)
    simu:computeOneStep()
    local u, s = problem:uniqueness(), problem:solutions()
    assert.equal("no", u.unique)
    assert.is_true(u.positive_semidefinite)
    assert.equal(1, #s.segments)
    assert.equal(0, #s.isolated)
    assert.same({ 0, 1 }, { s.segments[1][1][1], s.segments[1][2][1] })
    assert.is_true(s.complete)
    problem = ns.Relay()
    local later = relay(0, 1, problem)
    later:computeOneStep()
    assert.equal("for every q", problem:uniqueness().unique)
    s = problem:solutions()
    assert.same({ 1, 0 }, { #s.isolated, #s.segments })
    assert.equal(problem:lambda()[1], s.isolated[1][1])
  end)

  it("says that nothing was solved yet", function()
    assert.has_error(function() ns.Relay():uniqueness() end,
      "Relay: uniqueness: no one-step problem has been solved yet")
    assert.has_error(function() ns.LCP():solutions() end, "LCP: solutions: no one-step problem has been solved yet")
  end)

  it("with a polyhedral law: unique by definiteness only, no list of solutions", function()
    local ds = ns.FirstOrderLinearTIDS({ 3 }, { { 0 } })
    local nsds = ns.NonSmoothDynamicalSystem(0, 10)
    nsds:insertDynamicalSystem(ds)
    local law = ns.NormalConeNSL(1, { { 1 }, { -1 } }, { -1, -1 })
    nsds:link(ns.Interaction(law, ns.FirstOrderLinearTIR({ { 1 } }, { { 1 } })), ds)
    local problem = ns.AVI()
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), problem)
    simu:computeOneStep()
    assert.equal("for every q", problem:uniqueness().unique)
    assert.has_error(function() problem:solutions() end, "AVI: solutions: not for polyhedral laws (NormalConeNSL)")
    local file = os.tmpname()
    problem:dump(file)
    local options, record = ns.numerics.load_dump(file)
    assert.equal("AVI", record.kind)
    local r = ns.numerics.normal_cone(options)
    assert.is_true(r.success)
    assert.equal(-1, r.z[1])
    assert.equal(-1, ns.numerics.replay(file).z[1])
    os.remove(file)
  end)

  it("comes back from a dump as a problem of its own", function()
    local problem, file = ns.Relay(), os.tmpname()
    local simu = relay(0.25, 1, problem)
    simu:computeOneStep()
    problem:dump(file)
    local options, record = ns.numerics.load_dump(file)
    assert.equal("Relay", record.kind)
    assert.equal("NS_OK", record.status)
    assert.equal(problem:lambda()[1], record.lambda[1])
    local s = ns.numerics.solutions(options)
    assert.equal(problem:lambda()[1], s.isolated[1][1])
    if ns.numerics.box then
      local r = ns.numerics.replay(file)
      assert.is_true(r.success)
      assert.equal(record.lambda[1], r.z[1])
    end
    os.remove(file)
  end)

  it("is read as data: nothing in its file is run", function()
    local file, parts = os.tmpname(), {}
    local problem = "M = {{2}}, q = {1}, lower = {-math.huge}, upper = {0/0, 0x10, 1e-3}"
    for _, hostile in ipairs { "x = (function() while true do end end)()", 'x = ("x"):rep(1e9)', "x = os.exit(3)",
      "x = {}[{} .. 1]", "[1] = 2", "x = 1 + 1", "x = [[ ]]", 'x = "\\n"' } do
      host.write(file, ("while true do end return {%s}"):format(problem))
      assert.has_error(function() ns.numerics.load_dump(file) end)
      host.write(file, ("return {%s, %s}"):format(problem, hostile))
      local good, message = pcall(ns.numerics.load_dump, file)
      assert.is_false(good)
      parts[#parts + 1] = message:match "expected a one%-step problem written by dump%(%): line 1: expected .*"
    end
    assert.equal(8, #parts)
    host.write(file, ("-- %s\n{ --{{{ \n%s; name = 'a b', 3, {}, -- end\n}"):format(("-"):rep(100), problem))
    local _, record = ns.numerics.load_dump(file)
    assert.same({ -math.huge }, record.lower)
    assert.same({ 16, 1e-3 }, { record.upper[2], record.upper[3] })
    assert.same({ "a b", 3, {} }, { record.name, record[1], record[2] })
    os.remove(file)
  end)

  it("with bytes of its file changed is a problem or refused, in a message", function()
    local problem, file, refused = ns.Relay(), os.tmpname(), 0
    local simu = relay(0.25, 1, problem)
    simu:computeOneStep()
    problem:dump(file)
    local whole = host.read(file)
    local odd = { "{", "}", "(", "\"", "'", "--", "[[", "]]", "=", ",", "\\", "\0", "\255", "1e", "0x", "math.", "function", "\n" }
    math.randomseed(17)
    for _ = 1, 1000 do
      local text = whole
      for _ = 1, math.random(3) do
        local at = math.random(#text + 1)
        text = text:sub(1, at - 1) .. odd[math.random(#odd)] .. text:sub(at + math.random(0, 3))
      end
      if math.random(4) == 1 then text = text:sub(1, math.random(#text)) end
      host.write(file, text)
      local good, result, record = pcall(ns.numerics.load_dump, file)
      if good then assert.equal("table", type(record.M) == "table" and type(result.q))
      else
        refused = refused + 1
        assert.matches("load_dump: " .. file .. ": expected a one-step problem written by dump(): ", result, 1, true)
      end
    end
    assert.is_true(refused > 500)
    os.remove(file)
  end)

  it("does not come back from other files", function()
    local file = os.tmpname()
    local function holds(text)
      local f = assert(io.open(file, "w"))
      f:write(text)
      f:close()
      return function() ns.numerics.load_dump(file) end
    end
    local expected = "load_dump: " .. file .. ": expected a one-step problem written by dump()"
    assert.error_matches(holds "return 3", expected, 1, true)
    assert.error_matches(holds "return {M = {{1}}}", expected, 1, true)
    assert.error_matches(holds "os.exit(3)", expected, 1, true)
    assert.error_matches(holds "return {", "load_dump: ", 1, true)
    assert.error_matches(holds "return {\n M = {{1, x}}}", expected .. ": line 2: expected a number, a text or a table, got 'x'",
      1, true)
    assert.error_matches(holds "{M = {{1}}, q = {1e}}", "line 1: expected a number, got '1e'", 1, true)
    assert.error_matches(holds "return {1 2}", "line 1: expected ',' or '}', got '2'", 1, true)
    assert.error_matches(holds "return {} {}", "line 1: expected the end of the file, got '{'", 1, true)
    assert.error_matches(holds(("{"):rep(100000)), "expected at most 8 tables in each other, got '{'", 1, true)
    assert.error_matches(holds "return {M = {{1}}, q = {'", "expected a number, a text or a table, got '''", 1, true)
    os.remove(file)
    assert.error_matches(function() ns.numerics.load_dump "/" end, "load_dump: cannot open /: Is a directory", 1, true)
    assert.error_matches(function() ns.numerics.load_dump(file) end, "load_dump: cannot open", 1, true)
    assert.error_matches(function() ns.numerics.load_dump() end, "load_dump: file: expected a string, got nil", 1,
      true)
  end)
end)
