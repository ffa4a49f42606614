local ns = require "nslua"
local problems = dofile "spec/random_problems.lua"

local count = tonumber(os.getenv "NSLUA_RANDOM" or "") or 400
local names = problems.names()

local function solve(p, solver, z0)
  return ns.numerics.box { M = p.M, q = p.q, lower = p.lower, upper = p.upper, solver = solver, z0 = z0 }
end

local function judge(p, r) return problems.violation(p, r.z:totable()) end

describe("numerics on " .. count .. " random problems", function()
  it("says success only for right answers, and solves what can be solved", function()
    math.randomseed(20240711)
    local wrong, solvable, solved, contradicted = 0, 0, 0, 0
    for k = 1, count do
      local name = names[(k - 1) % #names + 1]
      local n = math.random(1, k % 10 == 0 and 25 or 8)
      local p = problems.kinds[name](n)
      n = #p.q
      local z0
      if k % 3 == 0 then
        z0 = {}
        for i = 1, n do z0[i] = math.random() end
      end
      local r = solve(p, "default", z0)
      if r.success and (judge(p, r) > 1e-10 or p.solvable == false) then wrong = wrong + 1 end
      if p.solvable then
        solvable = solvable + 1
        if r.success then solved = solved + 1 end
        if r.message == "there is no solution" then wrong = wrong + 1 end
      end
      if n <= 8 then
        local all = solve(p, "enumerate")
        if all.success and judge(p, all) > 1e-10 then wrong = wrong + 1 end
        if r.success and all.message == "there is no solution" then contradicted = contradicted + 1 end
        if all.success and not r.success then contradicted = contradicted + 1 end
      end
    end
    if os.getenv "NSLUA_RANDOM" then
      local text = "\n%d random box problems: %d wrong answers, %d against enumeration, %d of %d solvable ones solved"
      print(text:format(count, wrong, contradicted, solved, solvable))
    end
    assert.equal(0, wrong)
    assert.equal(0, contradicted)
    assert.is_true(solved >= 0.999 * solvable, solved .. " of " .. solvable)
  end)

  it("never calls a wrong answer a success with any other method", function()
    math.randomseed(42)
    local seen = {}
    for k = 1, count do
      local p = problems.kinds[names[(k - 1) % #names + 1]](math.random(1, 8))
      for _, solver in ipairs { "lemke", "principal", "newton_min", "newton_fb", "interior", "psor" } do
        local fine, r = pcall(solve, p, solver)
        if fine and r.success then
          seen[solver] = (seen[solver] or 0) + 1
          assert.is_true(judge(p, r) <= 1e-10, solver)
          assert.are_not.equal(false, p.solvable)
        elseif not fine then
          assert.truthy(r:find "positive diagonal", r)
        end
      end
    end
    if os.getenv "NSLUA_RANDOM" then
      local figures = {}
      for name, number in pairs(seen) do figures[#figures + 1] = name .. " " .. number end
      table.sort(figures)
      print(("\nsolved of %d by one method each: %s; no wrong answer"):format(count, table.concat(figures, ", ")))
    end
    for _, solver in ipairs { "lemke", "principal", "newton_min", "newton_fb", "interior", "psor" } do
      assert.is_true(seen[solver] > 0.3 * count, solver .. " " .. seen[solver])
    end
  end)
end)
