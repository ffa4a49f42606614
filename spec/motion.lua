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
    for k = e - 1, 0, -1 do n = 2 * n + bit(e - k <= 3 and fields[name] or {}, 48 + 8 * e + n) end
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

-- The places of a track at each of the times, and its first numbers; dim = 4: quaternions. `before`: the first numbers
-- of the track before it.
function motion.track(natural, dim, quantum, times, before)
  local whole, turns, list, place = motion.signed(natural), dim == 4, {}, {}
  local name, axes, form, speed = turns and "rotation" or "linear", math.min(dim, 3), 0, { 0, 0, 0 }
  local numbers = {}
  for i = 1, axes do
    numbers[i] = whole(("%s place%d"):format(name, i)) + (before and before[i] or 0)
    place[i] = numbers[i] * quantum
  end
  if turns then place = turned({ 1, 0, 0, 0 }, place) end
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
    local size, sum = last - first, 0
    local function read(what, i)
      local bits = 0
      while size >> bits > 0 do bits = bits + 1 end
      local n = whole(("%s %s%d %d"):format(field, what, i, bits))
      sum = sum + math.abs(n)
      size = sum
      return n
    end
    for i = 1, axes do d[i] = form >= 2 and read("d", i) or 0 end
    for i = 1, axes do c[i] = form & 1 > 0 and read("c", i) or 0 end
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
  return list, numbers
end

-- For each body of a record its positions, quaternions and values (nil: none), and the times.
function motion.bodies(record, page)
  local natural, times, bodies = motion.decoder(page.bytes(record.motion)), page.numbers(record.times), {}
  local before = {}
  local function read(what, dim, quantum)
    local places
    places, before[what] = motion.track(natural, dim, quantum, times, before[what])
    return places
  end
  for k = 1, record.bodies do
    bodies[k] = { positions = read("positions", 3, record.quantum), turns = read("turns", 4, record.turn) }
    bodies[k].values = record.values and read("values", 1, record.values.quantum)
  end
  return bodies, times
end

-- The parts of a record: { body (0: the world), geometry, offset (3 numbers), scale (3), radius of the ball around the
-- body's origin }, each with its `paint`.
function motion.parts(record, page)
  local natural, parts, kinds = motion.decoder(page.bytes(record.parts)), {}, {}
  local whole, before = motion.signed(natural), { 0, 0, 0, 0, 0, 0, 0, 0, 0, paint = 0 }
  for k = 1, record.count do
    local part = { before[1] + whole "body", paint = natural("paint " .. before.paint) }
    local old = natural "kind"
    local kind = kinds[#kinds + 1 - old]
    if old == 0 then
      kind = { natural "geometry" }
      for i = 1, 7 do
        local as = natural("as " .. i)
        kind[i + 1] = as == 0 and ("<f"):unpack(("<I4"):pack(natural("number " .. i))) or as == 1 and before[i + 2] or kind[i]
      end
      kinds[#kinds + 1] = kind
    end
    parts[k] = table.move(kind, 1, 8, 2, part)
    before = part
  end
  return parts
end

-- The field of number j of a force, by those before j and by its numbers so far (nil: it is new).
local function force_field(group, j, one, old)
  local name, left, changed = group[1] .. j, 256, 0
  for i = group[2], j - 1 do left, changed = left - one[i] ^ 2, math.max(changed, math.abs(one[i] - (old and old[i] or 0))) end
  left = j > 2 and j < 5 and math.sqrt(math.max(left, 0)) or 0
  if not old then return ("new %s %d"):format(name, math.floor(left + 0.5)) end
  if j ~= 4 then return name .. " " .. math.min(changed, 3) end
  local expected = math.floor((old[4] < 0 and -left or left) - old[4] + 0.5)
  return name .. " " .. math.max(-4, math.min(expected, 4))
end

-- The forces of each frame: { first, second (0: the world), point from the first body's centre, share of the strongest }.
function motion.forces(record, page, frames)
  local natural, all, kept = motion.decoder(page.bytes(record.forces.data)), {}, {}
  local whole = motion.signed(natural)
  local groups = { { "level", 1, 1 }, { "way", 2, 4 }, { "point", 5, 7 } }
  for k = 1, frames do
    local list = {}
    for _, one in ipairs(kept) do
      local old = { table.unpack(one, 1, 7) }
      one.form = natural("form " .. one.form)
      for g, group in ipairs(groups) do
        for j = group[2], one.form < 8 and one.form >> g - 1 & 1 > 0 and group[3] or 0 do
          one[j] = one[j] + whole(force_field(group, j, one, old))
        end
      end
      if one.form < 8 then list[#list + 1] = one end
    end
    local first, second = 0, 0
    for _ = 1, natural "new" do
      local step = whole "first"
      if step == 0 then
        second = second + natural "next"
      else
        first = first + step
        local other = whole "second"
        second = other ~= 0 and first + other or 0
      end
      local one = { first = first, second = second, form = 0 }
      for _, group in ipairs(groups) do
        for j = group[2], group[3] do one[j] = whole(force_field(group, j, one)) end
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
