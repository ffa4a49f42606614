-- Contact forces of a film: each is met in its bodies, point, size and way; what stays costs nothing.
local coder = require "nslua.film.coder"
local forces = require "nslua.film.forces"
local motion = require "motion"
local numbers = require "random_numbers"

-- The forces as a page has them, and the number of bytes.
local function through(frames, count, strongest, quantum)
  local code = coder()
  forces.write(code, frames, count, strongest, quantum)
  local bytes = code:text()
  local page = { bytes = function() return bytes end }
  return motion.forces({ forces = { data = {}, quantum = quantum } }, page, count), #bytes
end

local function length(v) return math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2) end

describe("forces of a film", function()
  it("have their bodies, and are met in point, size and way, while contacts come, go and change", function()
    math.randomseed(4)
    for _ = 1, 20 do
      local frames, list, strongest, quantum = {}, {}, 0, numbers.power(6)
      local count = math.random(1, 40)
      for k = 1, count do
        local now = {}
        for _, one in ipairs(list) do
          if math.random(6) > 1 then now[#now + 1] = { table.unpack(one) } end
        end
        for _ = 1, math.random(0, 3) do
          local first = math.random(9)
          now[#now + 1] = { first, math.random(0, 1) * (first % 9 + 1), 0, 0, 0, 0, 0, 0 }
          for j = 3, 5 do now[#now][j] = 8 * quantum * numbers.signed() end
          for j = 6, 8 do now[#now][j] = numbers.signed() * 10 ^ (2 * numbers.signed()) end
        end
        for _, one in ipairs(now) do
          for j = 3, 5 do one[j] = one[j] + 0.3 * quantum * numbers.signed() end
          for j = 6, 8 do one[j] = one[j] * (1 + 0.1 * numbers.signed()) end
          strongest = math.max(strongest, length { one[6], one[7], one[8] })
        end
        list = now
        if math.random(8) > 1 then frames[k] = now end -- a frame without any
      end
      if strongest == 0 then strongest = 1 end
      for k, read in ipairs(through(frames, count, strongest, quantum)) do
        local left = { table.unpack(read) }
        assert.equal(#(frames[k] or {}), #read)
        for _, one in ipairs(frames[k] or {}) do
          local size, met = length { one[6], one[7], one[8] }, nil
          for i, other in ipairs(left) do
            local f, cosine, close = other.force, 0, true
            local share = length(f) * strongest / size
            for j = 1, 3 do
              cosine = cosine + f[j] * one[5 + j] / length(f) / size
              close = close and math.abs(other.point[j] - one[2 + j]) <= quantum * (1 + 1e-9)
            end
            if close and other.first == one[1] and other.second == one[2] and math.abs(math.log(share)) <= math.log(1.08) + 1e-9
              and math.acos(math.min(cosine, 1)) < math.rad(6.3) then
              met = i
            end
          end
          table.remove(left, assert.truthy(met))
        end
      end
    end
  end)

  it("cost next to nothing where they tremble by less than can be seen", function()
    math.randomseed(7)
    local frames = {}
    for k = 1, 500 do
      frames[k] = {}
      for i = 1, 20 do
        frames[k][i] = { i, 0, 0.3, 0, 1e-3 * numbers.signed(), 0, 0.01 * numbers.signed(), 1 + 0.02 * numbers.signed() }
      end
    end
    assert.is_true(select(2, through(frames, 500, 1, 0.01)) < 500) -- 10,000 forces
  end)
end)
