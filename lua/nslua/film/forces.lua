-- nslua.film.forces: the contact forces of a film, as their changes from frame to frame.
--
-- A force has two bodies, its point (from the centre of the first body), its size and its way:
--
--   point = quantum n,   size = strongest FINE^-level,   way = unit vector, about n / PARTS.
--
-- A frame has, for each force of the frame before, a form: GONE, or the sum of 1 (another level), 2 (another way) and
-- 4 (another point), and the differences of these whole numbers. Then come its new forces: how many, and all numbers
-- of each, in the order of their bodies: first body less that of the new force before, second less first (0: the
-- world), or less the second before where the first is the same. The fields of numbers tell what those before them
-- let expect (`field`).
--
-- Numbers are off by a unit at most: points are met to within `quantum`, sizes to a twelfth, components of ways to a
-- sixteenth. They stay as long as they can, which is known from the frames to come, and then change by as little as
-- they can, so that noise costs nothing. nslua.film.coder makes bytes of the numbers; web/forces.js reads them.

local abs, ceil, floor, log, sqrt = math.abs, math.ceil, math.floor, math.log, math.sqrt

local FINE, PARTS, GONE = 1.08, 16, 8
local FAINT = 240 -- the last level: 1e-8 of the strongest force

local forces = {}

-- The exact numbers of a force { first, second, point, force } of a film: its level, way and point.
local function numbers_of(one, strongest, quantum)
  local size, exact = sqrt(one[6] ^ 2 + one[7] ^ 2 + one[8] ^ 2), {}
  exact[1] = size > 0 and math.min(log(strongest / size) / log(FINE), FAINT) or FAINT
  for j = 1, 3 do
    exact[1 + j], exact[4 + j] = size > 0 and PARTS * one[5 + j] / size or 0, one[2 + j] / quantum
  end
  return exact
end

-- For each force of a frame the one of the next frame that goes on with it: between the same bodies, the nearest.
local function join(before, list)
  local by_bodies = {}
  for i, now in ipairs(list) do
    local key = now.first .. " " .. now.second
    by_bodies[key] = by_bodies[key] or {}
    table.insert(by_bodies[key], i)
  end
  for _, old in ipairs(before) do
    local best, least
    for _, i in ipairs(by_bodies[old.first .. " " .. old.second] or {}) do
      local distance = 0
      for j = 5, 7 do distance = distance + (old.exact[j] - list[i].exact[j]) ^ 2 end
      if not list[i].old and (not best or distance < least) then best, least = i, distance end
    end
    if best then old.next, list[best].old = list[best], old end
  end
end

local GROUPS = { { "level", 1, 1 }, { "way", 2, 4 }, { "point", 5, 7 } }

local function round(x) return floor(x + 0.5) end

-- The field of number j of a force, of which those before j are known, as are all of `old`, the force before (nil: it
-- is new). What is left of the length of a unit vector tells the size of a component; a change is as large as others.
local function field(group, j, one, old)
  local name, left, changed = group[1] .. j, PARTS ^ 2, 0
  for i = group[2], j - 1 do
    left, changed = left - one[i] ^ 2, math.max(changed, abs(one[i] - (old and old[i] or 0)))
  end
  left = j > 2 and j <= 4 and sqrt(math.max(left, 0)) or 0
  if not old then return "new " .. name .. " " .. round(left) end
  if j ~= 4 then return name .. " " .. math.min(changed, 3) end
  return name .. " " .. math.max(-4, math.min(round((old[4] < 0 and -left or left) - old[4]), 4))
end

-- Sets the numbers of a group of a force, and of those that go on with it for as long as they can be the same: those
-- next to the numbers before, or the middle ones where there are none.
local function settle(one, group)
  local low, high, last = {}, {}, one
  for j = group[2], group[3] do low[j], high[j] = -math.huge, math.huge end
  local now = one
  while now do
    local good, from, to = true, {}, {}
    for j = group[2], group[3] do
      from[j], to[j] = math.max(low[j], ceil(now.exact[j] - 1)), math.min(high[j], floor(now.exact[j] + 1))
      good = good and from[j] <= to[j]
    end
    if not good then break end
    low, high, last, now = from, to, now, now.next
  end
  local before = one.old
  for j = group[2], group[3] do
    one[j] = before and math.min(math.max(before[j], low[j]), high[j]) or (low[j] + high[j]) // 2
  end
  now = one
  while now ~= last do
    table.move(one, group[2], group[3], group[2], now.next)
    now = now.next
  end
  return last.next
end

-- The forces of all frames, with their numbers, each joined with the one that goes on with it.
local function tracks_of(frames, count, strongest, quantum)
  local lists = {}
  for k = 1, count do
    lists[k] = {}
    for i, one in ipairs(frames[k] or {}) do
      lists[k][i] = { first = one[1], second = one[2], exact = numbers_of(one, strongest, quantum) }
    end
    if k > 1 then join(lists[k - 1], lists[k]) end
  end
  for k = 1, count do
    for _, one in ipairs(lists[k]) do
      for _, group in ipairs(not one.old and GROUPS or {}) do
        local now = one
        while now do now = settle(now, group) end
      end
    end
  end
  return lists
end

-- Writes the changes from the forces of a frame to those that go on with them, which it returns.
local function write_changes(coder, before)
  local kept = {}
  for _, old in ipairs(before) do
    local now, form, changes = old.next, 0, {}
    for g, group in ipairs(now and GROUPS or {}) do
      local other = false
      for j = group[2], group[3] do other = other or now[j] ~= old[j] end
      if other then form, changes[#changes + 1] = form | 1 << g - 1, group end
    end
    coder:natural("form " .. old.form, now and form or GONE)
    for _, group in ipairs(changes) do
      for j = group[2], group[3] do coder:whole(field(group, j, now, old), now[j] - old[j]) end
    end
    if now then now.form, kept[#kept + 1] = form, now end
  end
  return kept
end

-- Writes the new forces of a frame, and appends them to those that it has.
local function write_new(coder, list, kept)
  local new, first, second = {}, 0, 0
  for _, one in ipairs(list) do
    if not one.old then new[#new + 1] = one end
  end
  table.sort(new, function(p, q) return p.first < q.first or p.first == q.first and p.second < q.second end)
  coder:natural("new", #new)
  for _, one in ipairs(new) do
    coder:whole("first", one.first - first)
    if one.first == first then coder:natural("next", one.second - second)
    else coder:whole("second", one.second == 0 and 0 or one.second - one.first) end
    for _, group in ipairs(GROUPS) do
      for j = group[2], group[3] do coder:whole(field(group, j, one), one[j]) end
    end
    first, second, one.form, kept[#kept + 1] = one.first, one.second, 0, one
  end
end

-- Writes the forces of `count` frames with a coder: lists of { first, second (0: the world), point, force } by frame.
function forces.write(coder, frames, count, strongest, quantum)
  local before = {}
  for _, list in ipairs(tracks_of(frames, count, strongest, quantum)) do
    before = write_changes(coder, before)
    write_new(coder, list, before)
  end
end

return forces
