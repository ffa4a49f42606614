-- Connected components of the graph, against a search from system to system.
local ns = require "nslua"
local internal = require "nslua.internal"

-- A graph of n systems with the links { a, b } (b may be nil).
local function graph(n, links)
  local nsds, systems = ns.NonSmoothDynamicalSystem(0, 1), {}
  for i = 1, n do
    systems[i] = ns.FirstOrderLinearTIDS({ 1 }, { { -1 } })
    nsds:insertDynamicalSystem(systems[i])
  end
  for _, link in ipairs(links) do
    local width = link[2] and 2 or 1
    local C, B = ns.zeros(1, width), ns.zeros(width, 1)
    nsds:link(ns.Interaction(ns.RelayNSL(1), ns.FirstOrderLinearTIR(C, B)), systems[link[1]], systems[link[2]])
  end
  return nsds
end

-- The same by walking the links until nothing changes.
local function walked(n, links)
  local of, count = {}, 0
  for i = 1, n do
    if not of[i] then
      count = count + 1
      of[i] = count
      local grew = true
      while grew do
        grew = false
        for _, link in ipairs(links) do
          local a, b = link[1], link[2]
          if b and (of[a] == count) ~= (of[b] == count) then of[a], of[b], grew = count, count, true end
        end
      end
    end
  end
  return count, of
end

describe("components", function()
  it("number the systems that interactions join, in the order of their first systems", function()
    assert.same({ 0, {} }, { internal.graph_components(graph(0, {})) })
    assert.same({ 3, { 1, 2, 3 } }, { internal.graph_components(graph(3, { { 1 }, { 1 }, { 3 } })) })
    assert.same({ 2, { 1, 2, 1, 2, 1 } }, { internal.graph_components(graph(5, { { 5, 3 }, { 4, 2 }, { 3, 1 } })) })
  end)

  it("are those that a search finds in random graphs", function()
    math.randomseed(3)
    for _ = 1, 60 do
      local n, links = math.random(1, 12), {}
      for i = 1, math.random(0, n) do
        local a, b = math.random(n), math.random(n)
        links[i] = { a, a ~= b and b or nil }
      end
      local count, of = walked(n, links)
      local found, list = internal.graph_components(graph(n, links))
      assert.equal(count, found)
      assert.same(of, list)
    end
  end)
end)
