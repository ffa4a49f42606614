-- contact/scene.h: the contacts of a scene against all pairs.
local ns = require "nslua"
local support = require "nslua.core".contact_support
local numbers = require "random_numbers"
local campaign = require "campaign"

local function distance(p, q) return math.sqrt((p[1] - q[1]) ^ 2 + (p[2] - q[2]) ^ 2 + (p[3] - q[3]) ^ 2) end

-- The contacts of balls and half-spaces as texts, as all pairs give them.
local function all_pairs(balls, halves, reach)
  local list = {}
  for i, a in ipairs(balls) do
    for j = i + 1, #balls do
      if distance(a.q, balls[j].q) - a.R - balls[j].R <= reach then list[#list + 1] = ("%d %d"):format(i, j) end
    end
    for l, half in ipairs(halves) do
      local gap = -a.R
      for k = 1, 3 do gap = gap + (a.q[k] - half[1][k]) * half[2][k] end
      if gap <= reach then list[#list + 1] = ("%d %d"):format(i, -l) end
    end
  end
  return list
end

local function searched(scene, reach)
  local slots, list = {}, {}
  local count = support.search(scene, slots, reach)
  for k = 1, count do list[k] = ("%d %d"):format(support.contact(scene, slots[k])) end
  return list, slots
end

describe("scenes of contacts", function()
  it("have all near contacts, in the order of their shapes, whatever was searched before", function()
    math.randomseed(35)
    for case = 1, campaign(12, 0.1) do
      local scale, shift = 2.0 ^ math.random(-60, 60), numbers.uniform(-1e3, 1e3)
      local reach, balls, q = 0.05 * scale, {}, {}
      local halves = { { { 0, 0, (shift - 1) * scale }, { 0, 0, 1 } }, { { (shift + 1) * scale, 0, 0 }, { -0.6, 0, 0.8 } } }
      local scene = support.scene(3, reach)
      for i = 1, 60 do
        q[i] = ns.vector { 0, 0, 0, 1, 0, 0, 0 }
        balls[i] = { q = q[i], R = scale * 0.2 * numbers.uniform(0.2, 1) ^ (case % 3 + 1) }
        for k = 1, 3 do q[i][k] = scale * (shift + numbers.uniform(-1, 1)) end
      end
      local function fill(into)
        for i, ball in ipairs(balls) do
          assert.equal(i, support.shape(into, q[i], { { 0, 0, 0, ball.R } }, ball.R, 0))
        end
        for _, half in ipairs(halves) do support.half(into, half[1], half[2]) end
        return into
      end
      fill(scene)
      for step = 1, 6 do
        local expected = all_pairs(balls, halves, reach)
        assert.is_true(#expected > 5)
        assert.same(expected, (searched(scene)))
        local other = fill(support.scene(3, reach))
        assert.same(expected, (searched(other)))
        local now = reach * 4 ^ numbers.uniform(-2, 1) -- of one search
        assert.same(all_pairs(balls, halves, now), (searched(scene, now)))
        assert.same(all_pairs(balls, halves, reach), (searched(scene, reach)))
        local way = 0.3 ^ step * scale
        for i = 1, #balls do
          for k = 1, 3 do q[i][k] = q[i][k] + way * numbers.uniform(-1, 1) end
        end
      end
    end
  end)

  it("tell linked contacts alone when they are far", function()
    local scene = support.scene(3, 0.1)
    local a, b = ns.vector { 0, 0, 0 }, ns.vector { 1, 0, 0 }
    support.shape(scene, a, { { 0, 0, 0, 0.5 } }, 0.5, 0)
    support.shape(scene, b, { { 0, 0, 0, 0.5 } }, 0.5, 0)
    local list, slots = searched(scene)
    assert.same({ "1 2" }, list)
    local gap = ns.vector { 0 }
    support.link(scene, slots[1], gap)
    assert.same({}, (searched(scene)))
    local far = {}
    assert.equal(0, support.far(scene, 0.2, far))
    gap[1] = 0.3
    assert.equal(1, support.far(scene, 0.2, far))
    assert.equal(slots[1], far[1])
    support.unlink(scene, far[1])
    assert.equal(0, support.far(scene, 0.2, far))
    assert.same({ "1 2" }, (searched(scene)))
  end)

  it("name the shape that is nowhere", function()
    for _, place in ipairs { 0 / 0, math.huge, 1e30 } do
      local scene = support.scene(3, 0.1)
      support.shape(scene, ns.vector { 0, 0, 0 }, {}, 0, 0)
      support.shape(scene, ns.vector { 0, place, 0 }, { { 0, 0, 0, 0.5 } }, 0.5, 0)
      assert.same({ n = 2, nil, 2 }, table.pack(support.search(scene, {})))
    end
  end)
end)
