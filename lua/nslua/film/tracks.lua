-- nslua.film.tracks: the motion of many bodies in few bytes: mostly less than one for a place of a body at a time.
--
-- A track is a list of vectors over the frames, as curves from knot to knot. From knot a to knot b the curve is
--
--   x(s) = x_a + d s + 4 c s (1 - s),   s = (t - t_a) / (t_b - t_a),
--
-- with d and c in multiples of a quantum: c is the height of the bend. A curve goes as far as it meets all frames on
-- its way to within the tolerance: a body at rest is one curve, a flight another one. Each begins where its
-- forerunner ends as a reader finds it, so that errors do not add up. A curve is the whole numbers
--
--   frames on its way,   form = 1 (c is there) + (2 it is smooth, or 4 it is not and d is there),   d, c,
--
-- those with a sign as 2 |n|, less 1 when n is below 0. A smooth curve has d and c less what the velocity v at the
-- end of its forerunner lets expect: d - v (t_b - t_a), and c plus a quarter of this. nslua.film.coder makes bytes of
-- the numbers; forms have probabilities of their own after each form, d and c by the bits of the sum of the |n|
-- before them in the curve, the first one by those of the frames.
--
-- Positions and values are tracks of this kind; they begin at a place, written less that of the track before.
-- A rotation is one, too: x is the vector of the rotation since the last knot, in the axes of the body, and begins
-- with 0 at each knot; the first place is the vector of a rotation from (1, 0, 0, 0). web/tracks.js reads tracks.

local floor, abs, sqrt, huge = math.floor, math.abs, math.sqrt, math.huge

local tracks = {}

local function round(x) return floor(x + 0.5) end

-- The number of bits of |n|.
local function size(n)
  local bits = 0
  n = abs(n)
  while n > 0 do n, bits = n >> 1, bits + 1 end
  return bits
end

-- Appends a number to a list of fields and numbers.
local function append(list, field, n)
  list[#list + 1] = field
  list[#list + 1] = n
end

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

-- ---- kinds of tracks: start(x, quantum) gives the first place in quanta, and as a reader finds it ----

local linear, rotation = { name = "linear" }, { name = "rotation" }

function linear.start(x, quantum)
  local numbers, place = {}, {}
  for i, value in ipairs(x) do
    numbers[i] = round(value / quantum)
    place[i] = numbers[i] * quantum
  end
  return numbers, place
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

function rotation.start(q, quantum)
  local numbers, place = linear.start(turn_from({ 1, 0, 0, 0 }, q), quantum)
  return numbers, turned({ 1, 0, 0, 0 }, place)
end

rotation.difference, rotation.move = turn_from, turned

-- ---- curves ----

local KEPT = 128 -- frames after which curves end in any case: so many are kept
local LARGEST = 2 ^ 38 -- numbers of a curve, in quanta, are below it: a coder takes twice as much

-- The least tolerance of a track that holds a number.
function tracks.least(x) return 8 * abs(x) / LARGEST end

local Track = {}
Track.__index = Track

-- Whether d and c, in quanta, meet the frames up to `last`, at the shares s of the way.
local function near(self, last, s, differences, d, c)
  local quantum, tolerance, dim = self.quantum, self.tolerance, self.dim
  for k = last, 1, -1 do
    local x, way, bend = differences[k], quantum * s[k], 4 * quantum * s[k] * (1 - s[k])
    for i = 1, dim do
      local met = abs(x[i] - d[i] * way - c[i] * bend) <= tolerance
      if not met then return false end -- nan is not met, either
    end
  end
  return true
end

-- Whether a curve from frame 0 to `last` of those kept meets the frames on its way; its d and c in quanta, by least
-- squares: nothing moves, a line, a bend.
local function meets(self, last, differences)
  local quantum, times_of, dim, s, d, c = self.quantum, self.times, self.dim, {}, {}, {}
  local start, span = times_of[0], times_of[last] - times_of[0]
  for i = 1, dim do d[i], c[i] = 0, 0 end
  local ss, sb, bb, middle = 0, 0, 0, 0
  for k = 1, last do
    local share = k == last and 1 or span > 0 and (times_of[k] - start) / span or 0
    local bend = 4 * share * (1 - share)
    s[k], ss, sb, bb = share, ss + share * share, sb + share * bend, bb + bend * bend
    middle = math.max(middle, bend)
  end
  if near(self, last, s, differences, d, c) then return true, d, c end
  local sx, bx = {}, {}
  for i = 1, dim do
    sx[i], bx[i] = 0, 0
    for k = 1, last do
      local x = differences[k][i]
      sx[i], bx[i] = sx[i] + s[k] * x, bx[i] + 4 * s[k] * (1 - s[k]) * x
    end
    d[i] = round(sx[i] / ss / quantum)
  end
  if near(self, last, s, differences, d, c) then return true, d, c end
  if middle < 0.5 then return false end -- frames near the ends of the way do not tell its bend
  for attempt = last > 2 and 1 or 2, 2 do -- 2: it ends in the last frame
    for i = 1, dim do
      local free = (sx[i] * bb - bx[i] * sb) / (ss * bb - sb * sb)
      d[i] = round((attempt == 1 and free or differences[last][i]) / quantum)
      c[i] = round((bx[i] / quantum - sb * d[i]) / bb)
    end
    if near(self, last, s, differences, d, c) then return true, d, c end
  end
  return false
end

-- Writes a curve; the frames on its way are no longer kept.
local function write_curve(self, last, d, c)
  local list, name, dim, v, span = self.list, self.kind.name, self.dim, self.v, self.times[last] - self.times[0]
  local e, f, plain, expected, moves = {}, {}, 0, 0, false
  for i = 1, dim do
    local way = v[i] * span
    if way ~= way or abs(way) >= LARGEST then way, expected = 0, huge end -- a velocity of frames nearly at one time
    e[i] = d[i] - round(way)
    f[i] = c[i] + round(e[i] / 4)
    plain, expected = plain + size(d[i]) + size(c[i]), expected + size(e[i]) + size(f[i])
    moves = moves or d[i] ~= 0
  end
  local smooth, bends = expected < plain, false
  if not smooth then e, f = d, c end
  for i = 1, dim do bends = bends or f[i] ~= 0 end
  local form = (bends and 1 or 0) + (smooth and 2 or moves and 4 or 0)
  append(list, name .. " last", last)
  append(list, name .. " form" .. self.form, form)
  self.form = form
  if smooth then name = name .. " smooth" end
  local before, sum = last, 0
  for k, numbers in ipairs { form >= 2 and e or {}, bends and f or {} } do
    for i, n in ipairs(numbers) do
      append(list, ("%s %s%d %d"):format(name, k == 1 and "d" or "c", i, size(before)), n < 0 and -2 * n - 1 or 2 * n)
      sum = sum + abs(n)
      before = sum
    end
  end
  for i = 1, dim do
    v[i] = span > 0 and (d[i] - 4 * c[i]) / span or 0
    d[i] = d[i] * self.quantum
  end
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
    self.first, self.place = self.kind.start(x, self.quantum)
    self.times[0] = t
    return
  end
  self.count = self.count + 1
  self.frames[self.count], self.times[self.count] = x, t
  if self.count == KEPT then self:flush() end
end

-- Writes the track so far with a coder, after that of the same kind before it, if there is one.
function Track:write(coder, before)
  self:flush()
  local list, name = self.list, self.kind.name
  for i, n in ipairs(self.first) do coder:whole(name .. " place" .. i, n - (before and before.first[i] or 0)) end
  for k = 1, #list, 2 do coder:natural(list[k], list[k + 1]) end
end

-- The quantum over the tolerance: a knot is met to within 0.9 of the tolerance. Of 0.5 to 2.5 this value gives the
-- fewest bytes for pours, towers, chains and rovers, by a tenth to a third.
local COARSE = 1.8
function tracks.quantum(tolerance) return COARSE * tolerance end

local function new(kind, dim, tolerance)
  local v = {}
  for i = 1, dim do v[i] = 0 end
  return setmetatable({ kind = kind, dim = dim, tolerance = tolerance, quantum = tracks.quantum(tolerance), list = {},
    frames = {}, times = {}, count = 0, v = v, form = 0 }, Track)
end

-- A track of `dim` numbers, which are met to within the tolerance, or of quaternions, met to within an angle.
function tracks.linear(dim, tolerance) return new(linear, dim, tolerance) end
function tracks.rotation(tolerance) return new(rotation, 3, tolerance) end

return tracks
