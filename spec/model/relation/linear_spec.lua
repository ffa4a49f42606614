-- Relations with matrices: which of them each class has, and what its constructor takes by position.
local ns = require "nslua"
local message = require "bind.models".message

local letters = { "C", "D", "B", "K", "F", "e" }
local classes = {
  { "FirstOrderLinearTIR", "CDBFe", { "CB", "CDFeB" }, "(C, B), (C, D, F, e, B)" },
  { "FirstOrderLinearR", "CDBFe", { "CB", "CDFeB" }, "(C, B), (C, D, F, e, B)" },
  { "LagrangianLinearTIR", "CFe", { "C", "Ce", "CFe" }, "(C), (C, e), (C, F, e)" },
  { "LagrangianCompliantLinearTIR", "CDFe", { "CD", "CDe", "CDFe" }, "(C, D), (C, D, e), (C, D, F, e)" },
}

local function value(letter) return letter == "e" and { 5 } or { { letter:byte() } } end

describe("relations with matrices", function()
  for _, class in ipairs(classes) do
    local name, has, forms, usage = table.unpack(class)

    it("take them by position: " .. name, function()
      for _, form in ipairs(forms) do
        local values = {}
        for i = 1, #form do values[i] = value(form:sub(i, i)) end
        local relation = ns[name](table.unpack(values))
        for _, letter in ipairs(letters) do
          local got = relation[letter](relation)
          if form:find(letter, 1, true) then
            assert.equal(letter == "e" and 5 or letter:byte(), letter == "e" and got[1] or got[1][1])
          else
            assert.is_nil(got)
          end
        end
      end
      assert.equal(("%s: expected %s or an option table, got 6 arguments"):format(name, usage), message(ns[name], 1, 2, 3, 4, 5, 6))
    end)

    it("take them by name and by setters: " .. name, function()
      for _, letter in ipairs(letters) do
        local relation = has:find(letter, 1, true) and ns[name] { [letter] = value(letter) } or ns[name] { C = value "C" }
        if has:find(letter, 1, true) then
          assert.is_not_nil(relation[letter](relation))
          relation["set" .. letter](relation, value(letter))
          relation["set" .. letter .. "Ptr"](relation, value(letter))
        else
          assert.matches(("%s: it has no method 'set%s'"):format(name, letter),
            message(function() return relation["set" .. letter] end), 1, true)
          assert.is_nil(relation[letter](relation))
        end
      end
    end)
  end

  it("of first order may be functions of time, but for those of FirstOrderLinearTIR", function()
    local ds = ns.FirstOrderLinearTIDS({ 1 }, { { 0 } })
    local relation = ns.FirstOrderLinearR { C = { { 1 } }, B = { { 1 } }, e = function(t, _, e) e[1] = t end }
    local nsds = ns.NonSmoothDynamicalSystem(0, 1)
    nsds:insertDynamicalSystem(ds)
    nsds:link(ns.Interaction(ns.EqualityConditionNSL(1), relation), ds)
    local simu = ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.5), ns.EulerMoreauOSI(1), ns.MLCP())
    simu:run()
    assert.equal(-1, ds:x()[1])
    assert.matches("FirstOrderLinearTIR: it has no method 'setComputeEFunction'",
      message(function() return ns.FirstOrderLinearTIR().setComputeEFunction end), 1, true)
  end)
end)
