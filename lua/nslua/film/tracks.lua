-- nslua.film.tracks: the motion of many bodies in few bytes: about one for a place of a body at a time.
--
-- A track is a list of vectors over the frames, as curves from knot to knot. From knot a to knot b the curve is
--
--   x(s) = x_a + d s + c s (1 - s),   s = (t - t_a) / (t_b - t_a),
--
-- with d and c in multiples of a quantum. A curve goes as far as it meets all frames on its way to within the
-- tolerance: a body at rest is one curve, a flight another one. Each begins where its forerunner ends as a reader
-- finds it, so that errors do not add up. A curve is the whole numbers 4 (frames on its way) + (2 when c is there) +
-- (1 when d is there), d, c, those with a sign as 2 |n|, less 1 when n is below 0. nslua.film.coder makes bytes of
-- them.
--
-- Positions and values are tracks of this kind. A rotation is one, too: x is the vector of the rotation since the
-- last knot, in the axes of the body, and begins with 0 at each knot. web/tracks.js reads tracks.

local floor, abs, sqrt = math.floor, math.abs, math.sqrt

local tracks = {}

local function round(x) return floor(x + 0.5) end

-- Appends a number to a list of fields and numbers.
local function natural(list, field, n)
  list[#list + 1] = field
  list[#list + 1] = n
end

local function whole(list, field, n) natural(list, field, n < 0 and -2 * n - 1 or 2 * n) end

-- ---- rotations: quaternions, the scalar first ----

local function times(p, q)
  return { p[1] * q[1] - p[2] * q[2] - p[3] * q[3] - p[4] * q[4],
    p[1] * q[2] + p[2] * q[1] + p[3] * q[4] - p[4] * q[3],
    p[1] * q[3] - p[2] * q[4] + p[3] * q[1] + p[4] * q[2],
    p[1] * q[4] + p[2] * q[3] - p[3] * q[2] + p[4] * q[1] }
end

-- The vector of the rotation from p to q, in the axes of p, the short way round.
local function turn_from(p, q)
  local r = times({ p[1], -p[2], -p[3], -p[4] }, q)
  local sine = sqrt(r[2] ^ 2 + r[3] ^ 2 + r[4] ^ 2)
  local factor = sine < 1e-12 and 2 or 2 * math.atan(sine, abs(r[1])) / sine
  if r[1] < 0 then factor = -factor end
  return { factor * r[2], factor * r[3], factor * r[4] }
end

-- q turned by a vector of rotation.
local function turned(q, w)
  local angle = sqrt(w[1] ^ 2 + w[2] ^ 2 + w[3] ^ 2)
  local factor = angle < 1e-12 and 0.5 or math.sin(angle / 2) / angle
  return times(q, { math.cos(angle / 2), factor * w[1], factor * w[2], factor * w[3] })
end

-- ---- kinds of tracks: begin(list, x, quantum) writes the first place, and returns it as a reader finds it ----

local linear, rotation = { name = "linear" }, { name = "rotation" }

function linear.begin(list, x, quantum)
  local place = {}
  for i, value in ipairs(x) do
    local n = round(value / quantum)
    whole(list, "place", n)
    place[i] = n * quantum
  end
  return place
end

function linear.difference(place, x)
  local d = {}
  for i = 1, #place do d[i] = x[i] - place[i] end
  return d
end

function linear.move(place, d)
  for i = 1, #place do place[i] = place[i] + d[i] end
  return place
end

local UNIT = 32767 -- of the components of the first quaternion

function rotation.begin(list, q)
  local place, length = {}, 0
  for i = 1, 4 do
    local n = round(UNIT * q[i])
    whole(list, "place", n)
    place[i], length = n, length + n * n
  end
  for i = 1, 4 do place[i] = place[i] / sqrt(length) end
  return place
end

rotation.difference, rotation.move = turn_from, turned

-- ---- curves ----

local KEPT = 128 -- frames after which curves end in any case: so many are kept

local Track = {}
Track.__index = Track

-- Whether the curve from frame 0 to `last` of those kept meets the frames on its way; its d and c in quanta; c is nil
-- where it is 0.
local function meets(self, last, differences)
  local quantum, times_of, dim = self.quantum, self.times, self.dim
  local start, goal = times_of[0], differences[last]
  local span, d, c = times_of[last] - start, {}, nil
  for i = 1, dim do d[i] = round(goal[i] / quantum) end
  for attempt = 1, 2 do
    local good = true
    for k = 1, last - 1 do
      local s, x = span > 0 and (times_of[k] - start) / span or 0, differences[k]
      for i = 1, dim do
        local curve = quantum * (d[i] * s + (c and c[i] or 0) * s * (1 - s))
        good = good and abs(x[i] - curve) <= self.tolerance
      end
      if not good then break end
    end
    if good then return true, d, c end
    if attempt == 2 or last < 3 then return false end
    c = {}
    local stride = math.max(1, (last - 1) // 6)
    for i = 1, dim do -- least squares over some of the frames
      local up, down = 0, 1e-300
      for k = 1 + (last - 2) % stride // 2, last - 1, stride do
        local s = span > 0 and (times_of[k] - start) / span or 0
        local bend = s * (1 - s)
        up, down = up + bend * (differences[k][i] - quantum * d[i] * s), down + bend * bend
      end
      c[i] = round(up / down / quantum)
    end
  end
end

-- Writes a curve; the frames on its way are no longer kept.
local function write_curve(self, last, d, c)
  local moves, list, name = false, self.list, self.kind.name
  for i = 1, self.dim do moves = moves or d[i] ~= 0 end
  natural(list, name .. " head", 4 * last + (c and 2 or 0) + (moves and 1 or 0))
  for i = 1, moves and self.dim or 0 do whole(list, name .. " d" .. i, d[i]) end
  for i = 1, c and self.dim or 0 do whole(list, name .. " c" .. i, c[i]) end
  for i = 1, self.dim do d[i] = d[i] * self.quantum end
  self.place = self.kind.move(self.place, d)
  table.move(self.frames, last + 1, self.count, 1)
  table.move(self.times, last, self.count, 0)
  for k = self.count - last + 1, self.count do self.frames[k], self.times[k] = nil, nil end
  self.count = self.count - last
end

-- Writes curves until no frame is kept.
function Track:flush()
  while self.count > 0 do
    local place, frames, kind = self.place, self.frames, self.kind
    local differences = setmetatable({}, { __index = function(list, k)
      list[k] = kind.difference(place, frames[k])
      return list[k]
    end })
    local low, high = self.count, self.count + 1 -- the last one that meets, the first one that does not
    local all, d, c = meets(self, low, differences)
    if not all then
      low, high = 1, self.count
      d, c = select(2, meets(self, 1, differences))
    end
    while high - low > 1 do
      local probe = high == self.count and math.min(2 * low, high - 1) or (low + high) // 2
      local good, d_probe, c_probe = meets(self, probe, differences)
      if good then low, d, c = probe, d_probe, c_probe else high = probe end
    end
    write_curve(self, low, d, c)
  end
end

-- Adds a frame: its time, and x, which is kept.
function Track:add(t, x)
  if not self.place then
    self.place, self.times[0] = self.kind.begin(self.list, x, self.quantum), t
    return
  end
  self.count = self.count + 1
  self.frames[self.count], self.times[self.count] = x, t
  if self.count == KEPT then self:flush() end
end

-- Writes the track so far with a coder.
function Track:write(coder)
  self:flush()
  local list = self.list
  for k = 1, #list, 2 do coder:natural(list[k], list[k + 1]) end
end

local function new(kind, dim, tolerance)
  return setmetatable({ kind = kind, dim = dim, tolerance = tolerance, quantum = tolerance / 2, list = {},
    frames = {}, times = {}, count = 0 }, Track)
end

-- A track of `dim` numbers, which are met to within the tolerance, or of quaternions, met to within an angle.
function tracks.linear(dim, tolerance) return new(linear, dim, tolerance) end
function tracks.rotation(tolerance) return new(rotation, 3, tolerance) end

return tracks
