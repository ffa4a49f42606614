local ns = require "nslua"
local reduction = require "nslua.circuit.reduction"

local function equation(of, by) return { of = of, by = by } end

describe("nslua.circuit.reduction", function()
  it("solves for inner unknowns and rates", function()
    local solved = reduction.reduce({ equation({ a = 1, b = -2, x = 3 }, { u = 1 }), equation { a = 1, b = 1 },
      equation { dx = 2, a = -1 } }, { a = "inner", b = "inner", dx = "rate", x = "state" }, {}, { x = "dx" }, {})
    local of, by = reduction.expression(solved, "dx") -- a = (u - 3 x) / 3, dx = a / 2
    assert.near(-0.5, of.x, 1e-15)
    assert.near(1 / 6, by.u, 1e-15)
    assert.same({ x = 1 }, (reduction.expression(solved, "x")))
  end)

  it("takes a state away where states depend on each other, and differentiates", function()
    local class = { x = "state", y = "state", dx = "rate", dy = "rate", i = "inner" }
    local rows = { equation({ x = 1, y = -2 }, { u = 1 }), equation { dx = 1, i = -1 }, equation { dy = 1, i = 1, x = 1 } }
    local solved, word = reduction.reduce(rows, class, {}, { x = "dx", y = "dy" }, { u = "u'" })
    local kept = solved.x and "y" or "x" -- x = u + 2 y: 3 dy = -u' - x, or dx = ...
    local of, by = reduction.expression(solved, "d" .. kept)
    local x = kept == "x" and of.x or of.y / 2
    assert.near(kept == "x" and -2 / 3 or -1 / 3, x, 1e-15)
    assert.near(kept == "x" and 1 / 3 or -1 / 3, by["u'"], 1e-15)
    assert.is_nil(word)
    assert.equal("slope", (select(2, reduction.reduce(rows, class, {}, { x = "dx", y = "dy" }, {}))))
  end)

  it("chooses the number of each switch so that all others follow", function()
    math.randomseed(7)
    for _ = 1, 200 do -- y = D lambda with random pairs exchanged; a row may hold one number of each pair alone
      local m = math.random(1, 6)
      local rows, class, pairs_of = {}, {}, {}
      for i = 1, m do
        local j, w = "j" .. i, "w" .. i
        class[j], class[w], pairs_of[i] = "switch", "switch", { j, w }
      end
      for i = 1, m do
        local of = {}
        for k = 1, m do of[pairs_of[k][math.random(2)]] = math.random(-1, 1) end
        of[pairs_of[i][math.random(2)]] = 1
        rows[i] = equation(of)
      end
      local solved, word = reduction.reduce(rows, class, pairs_of, {}, {})
      -- an independent count: some choice of one number of each pair has a regular matrix
      local exists = false
      for code = 0, (1 << m) - 1 do
        local M = ns.zeros(m, m)
        for i = 1, m do
          for k = 1, m do M[i][k] = rows[i].of[pairs_of[k][(code >> (k - 1) & 1) + 1]] or 0 end
        end
        exists = exists or math.abs(M:det()) > 1e-9
      end
      if exists then
        assert.is_table(solved)
        for i = 1, m do assert.is_true((solved["j" .. i] ~= nil) ~= (solved["w" .. i] ~= nil)) end
      elseif not solved then
        assert.equal("switches", word)
      end
    end
  end)

  it("tells contradictions", function()
    local _, word = reduction.reduce({ equation({ a = 1 }, { u = 1 }), equation({ a = 1 }, { v = 1 }) },
      { a = "inner" }, {}, {}, {})
    assert.equal("contradiction", word)
    assert.is_table((reduction.reduce({ equation({ a = 0.1, b = 0.2 }), equation({ a = 0.3, b = 0.6 }) },
      { a = "inner", b = "inner" }, {}, {}, {})))
  end)
end)
