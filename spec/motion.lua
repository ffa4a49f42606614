-- Reading the tracks of a page in space, as its scripts do: whole numbers, curves, and places from them.
local motion = {}

-- A function (field) that gives the numbers which film/coder.lua has written, from 0.
function motion.decoder(bytes)
  local at, code, range, fields = 1, 0, 0xffffffff, {}
  local function take()
    code, at = (code << 8 | (bytes:byte(at) or 0)) & 0xffffffff, at + 1
  end
  for _ = 1, 4 do take() end
  local function bit(field, key)
    local p = field[key] or 1024
    local bound = (range >> 11) * p
    local one = code >= bound
    field[key] = one and p - (p >> 4) or p + (2048 - p >> 4)
    if one then code, range = code - bound, range - bound else range = bound end
    while range < 1 << 24 do
      range = range << 8
      take()
    end
    return one and 1 or 0
  end
  return function(name)
    fields[name] = fields[name] or {}
    local e, n = 0, 1
    while bit(fields[name], e) == 1 do e = e + 1 end
    local key = e + 1 << 20
    for k = e - 1, 0, -1 do
      local b = bit(e - k <= 3 and fields[name] or {}, key)
      n, key = 2 * n + b, 2 * key + b
    end
    return n - 1
  end
end

-- A function (field) for numbers with a sign.
function motion.signed(natural)
  return function(name)
    local n = natural(name)
    return n % 2 == 1 and -(n + 1) // 2 or n // 2
  end
end

function motion.multiply(p, q)
  return { p[1] * q[1] - p[2] * q[2] - p[3] * q[3] - p[4] * q[4], p[1] * q[2] + p[2] * q[1] + p[3] * q[4] - p[4] * q[3],
    p[1] * q[3] - p[2] * q[4] + p[3] * q[1] + p[4] * q[2], p[1] * q[4] + p[2] * q[3] - p[3] * q[2] + p[4] * q[1] }
end

local function turned(q, w)
  local angle = math.sqrt(w[1] ^ 2 + w[2] ^ 2 + w[3] ^ 2)
  local factor = angle < 1e-12 and 0.5 or math.sin(angle / 2) / angle
  return motion.multiply(q, { math.cos(angle / 2), factor * w[1], factor * w[2], factor * w[3] })
end

-- The angle between two unit quaternions.
function motion.angle(p, q)
  local r = motion.multiply({ p[1], -p[2], -p[3], -p[4] }, q)
  return 2 * math.atan(math.sqrt(r[2] ^ 2 + r[3] ^ 2 + r[4] ^ 2), math.abs(r[1]))
end

-- The places of a track at each of the times; dim = 4: quaternions.
function motion.track(natural, dim, quantum, times)
  local whole, turns, list, place = motion.signed(natural), dim == 4, {}, {}
  local name = turns and "rotation" or "linear"
  for i = 1, dim do place[i] = whole "place" * (turns and 1 or quantum) end
  if turns then
    local length = math.sqrt(place[1] ^ 2 + place[2] ^ 2 + place[3] ^ 2 + place[4] ^ 2)
    for i = 1, 4 do place[i] = place[i] / length end
  end
  local function at(s, d, c)
    local x = {}
    for i = 1, #d do x[i] = d[i] * s + c[i] * s * (1 - s) end
    if turns then return turned(place, x) end
    for i = 1, #d do x[i] = x[i] + place[i] end
    return x
  end
  list[1] = place
  while #list < #times do
    local head, first = natural(name .. " head"), #list
    local last, d, c = first + head // 4, {}, {}
    for i = 1, math.min(dim, 3) do d[i] = head & 1 > 0 and whole(name .. " d" .. i) * quantum or 0 end
    for i = 1, math.min(dim, 3) do c[i] = head & 2 > 0 and whole(name .. " c" .. i) * quantum or 0 end
    for k = first + 1, last do
      local span = times[last] - times[first]
      list[k] = at(k == last and 1 or span > 0 and (times[k] - times[first]) / span or 0, d, c)
    end
    place = at(1, d, c)
  end
  return list
end

-- For each body of a record its positions, quaternions and values (nil: none), and the times.
function motion.bodies(record, page)
  local natural, times, bodies = motion.decoder(page.base64(record.motion.base64)), page.numbers(record.times), {}
  for k = 1, record.bodies do
    bodies[k] = { positions = motion.track(natural, 3, record.quantum, times),
      turns = motion.track(natural, 4, record.turn, times),
      values = record.values and motion.track(natural, 1, record.values.quantum, times) }
  end
  return bodies, times
end

-- The forces of each frame: { first, second (0: the world), point from the first body's centre, share of the strongest }.
function motion.forces(record, page, frames)
  local natural, list = motion.decoder(page.base64(record.forces.data.base64)), {}
  local whole = motion.signed(natural)
  for k = 1, frames do
    list[k] = {}
    for i = 1, natural "count" do
      local one = { first = natural "first", second = natural "second", point = {}, force = {} }
      for j = 1, 3 do one.point[j] = whole "point" * record.forces.quantum end
      for j = 1, 3 do
        local n = whole "force"
        one.force[j] = (n < 0 and -1 or 1) * (math.abs(n) / 255) ^ 4
      end
      list[k][i] = one
    end
  end
  return list
end

return motion
