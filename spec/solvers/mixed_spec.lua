-- Rows and contacts in one problem: answers judged by the laws themselves.
local ns = require "nslua"
local problems = require "solvers.mixed_problems"

local solve = ns.numerics.generic_mechanical

describe("rows and contacts together", function()
  for _, kind in ipairs { "definite", "singular", "skewed" } do
    it(("are solved where the matrix is %s"):format(kind), function()
      for _, name in ipairs(problems.names) do
        math.randomseed(7)
        local solved = 0
        for _ = 1, 30 do
          local p = problems.problem(kind, problems.lists[name])
          local r = solve(p)
          if r.success then
            solved = solved + 1
            assert.is_true(problems.violation(p, r.z) < 1e-9, name)
          end
        end
        assert.is_true(solved >= 29, name .. ": " .. solved)
      end
    end)
  end

  it("depend on the order of the groups by rounding alone", function()
    math.randomseed(3)
    local p = problems.problem("definite", { "equation", "plane", "relay", "space" })
    local order = { 5, 6, 7, 4, 2, 3, 1 }
    local turned = { W = {}, q = {}, groups = { p.groups[4], p.groups[3], p.groups[2], p.groups[1] } }
    for i, a in ipairs(order) do
      turned.q[i], turned.W[i] = p.q[a], {}
      for j, b in ipairs(order) do turned.W[i][j] = p.W[a][b] end
    end
    local r, s = solve(p), solve(turned)
    for i, a in ipairs(order) do assert.near(r.z[a], s.z[i], 1e-8) end
  end)

  it("are measured in the units of each group", function()
    math.randomseed(5)
    for _, name in ipairs { "joints_space", "stops_plane", "all" } do
      local p = problems.problem("definite", problems.lists[name])
      local r = solve(p)
      for _, factor in ipairs { 1e-12, 1e12 } do
        local scaled = { W = factor * ns.matrix(p.W), q = factor * ns.vector(p.q), groups = p.groups }
        local s = solve(scaled)
        assert.is_true(s.success, name)
        for i = 1, #p.q do assert.near(r.z[i], s.z[i], 1e-8) end
      end
    end
  end)

  it("of one kind are what the solvers of that kind say", function()
    math.randomseed(9)
    for _ = 1, 20 do
      local rows = problems.problem("definite", problems.lists.rows)
      local lower, upper = {}, {}
      for k, group in ipairs(rows.groups) do
        lower[k], upper[k] = group.lower or -math.huge, group.upper or math.huge
      end
      local a, b = solve(rows), ns.numerics.box { M = rows.W, q = rows.q, lower = lower, upper = upper }
      for k = 1, #rows.q do assert.near(b.z[k], a.z[k], 1e-10) end
      for name, call in pairs { plane = "fc2d", space = "fc3d" } do
        local contacts, mu = problems.problem("definite", problems.lists[name]), {}
        for k, group in ipairs(contacts.groups) do mu[k] = group.mu end
        local c, d = solve(contacts), ns.numerics[call] { W = contacts.W, q = contacts.q, mu = mu, tolerance = 1e-12 }
        for k = 1, #contacts.q do assert.near(d.r[k], c.z[k], 1e-6) end
      end
    end
  end)

  it("know an answer that they are given", function()
    math.randomseed(11)
    local p = problems.problem("definite", problems.lists.all)
    p.z0 = solve(p).z
    local r = solve(p)
    for k = 1, #p.q do assert.near(p.z0[k], r.z[k], 1e-12) end
  end)

  it("are not solved by forces that grow without end, nor by what is no number", function()
    for _, p in ipairs {
      { W = ns.zeros(2, 2), q = { -1, 0 }, groups = { { dim = 2, mu = 0.5 } } },
      { W = ns.zeros(3, 3), q = { -1, 0, 0 }, groups = { { dim = 3, mu = 0.5 } } },
      { W = ns.zeros(3, 3), q = { -1, 0, 1 }, groups = { { dim = 2, mu = 0.5 }, {} } },
      { W = ns.zeros(4, 4), q = { -1, 0, 0, 1 }, groups = { { dim = 3, mu = 0.5 }, {} } },
      { W = ns.zeros(4, 4), q = { -1, 0, 0, -1 }, groups = { { dim = 3, mu = 0.5 }, { lower = 0 } } },
      { W = ns.zeros(4, 4), q = { 1, 0, 0, 1 }, groups = { { dim = 3, mu = 0.5 }, {} } },
    } do
      local r = solve(p)
      assert.is_false(r.success)
      assert.not_equal("ok", r.status)
    end
  end)
end)
