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
    local p, before = table.unpack(field[key] or { 16384, 0 })
    local bound = (range >> 15) * p
    local one, learns = code >= bound, tonumber(("1223333444444445"):sub(before + 1, before + 1))
    field[key] = { one and p - (p >> learns) or p + (32768 - p >> learns), math.min(before + 1, 15) }
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
  local name, axes, form, speed = turns and "rotation" or "linear", math.min(dim, 3), 0, { 0, 0, 0 }
  for i = 1, dim do place[i] = turns and whole("turn " .. i) or whole("place " .. i) * quantum end
  if turns then
    local length = math.sqrt(place[1] ^ 2 + place[2] ^ 2 + place[3] ^ 2 + place[4] ^ 2)
    for i = 1, 4 do place[i] = place[i] / length end
  end
  local function at(s, d, c)
    local x = {}
    for i = 1, axes do x[i] = quantum * (d[i] * s + 4 * c[i] * s * (1 - s)) end
    if turns then return turned(place, x) end
    for i = 1, axes do x[i] = x[i] + place[i] end
    return x
  end
  list[1] = place
  while #list < #times do
    local first = #list
    local last, d, c = first + natural(name .. " last"), {}, {}
    local span = times[last] - times[first]
    form = natural(name .. " form" .. form)
    local field = name .. (form & 2 > 0 and " smooth" or "")
    for i = 1, axes do d[i] = form >= 2 and whole(field .. " d" .. i) or 0 end
    for i = 1, axes do c[i] = form & 1 > 0 and whole(field .. " c" .. i) or 0 end
    for i = 1, form & 2 > 0 and axes or 0 do
      c[i] = c[i] - math.floor(d[i] / 4 + 0.5)
      d[i] = d[i] + math.floor(speed[i] * span + 0.5)
    end
    for k = first + 1, last do
      list[k] = at(k == last and 1 or span > 0 and (times[k] - times[first]) / span or 0, d, c)
    end
    place = at(1, d, c)
    for i = 1, axes do speed[i] = span > 0 and (d[i] - 4 * c[i]) / span or 0 end
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
  local natural, all, kept = motion.decoder(page.base64(record.forces.data.base64)), {}, {}
  local whole = motion.signed(natural)
  local groups = { { "level", 1, 1 }, { "way", 2, 4 }, { "point", 5, 7 } }
  for k = 1, frames do
    local list = {}
    for _, one in ipairs(kept) do
      one.form = natural("form " .. one.form)
      for g, group in ipairs(groups) do
        for j = group[2], one.form < 8 and one.form >> g - 1 & 1 > 0 and group[3] or 0 do
          one[j] = one[j] + whole(group[1] .. j)
        end
      end
      if one.form < 8 then list[#list + 1] = one end
    end
    local first = 0
    for _ = 1, natural "new" do
      first = first + whole "first"
      local other = whole "second"
      local one = { first = first, second = other ~= 0 and first + other or 0, form = 0 }
      for _, group in ipairs(groups) do
        for j = group[2], group[3] do one[j] = whole("new " .. group[1] .. j) end
      end
      list[#list + 1] = one
    end
    kept, all[k] = list, {}
    for i, one in ipairs(list) do
      local size = 1.08 ^ -one[1] / math.max(math.sqrt(one[2] ^ 2 + one[3] ^ 2 + one[4] ^ 2), 1)
      all[k][i] = { first = one.first, second = one.second, point = {}, force = {} }
      for j = 1, 3 do all[k][i].point[j], all[k][i].force[j] = record.forces.quantum * one[4 + j], size * one[1 + j] end
    end
  end
  return all
end

return motion
