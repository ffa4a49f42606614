-- nslua.film.forces: the contact forces of a film, as their changes from frame to frame.
--
-- A force has two bodies, its point (from the centre of the first body), its size and its way:
--
--   point = quantum n,   size = strongest FINE^-level,   way = unit vector, about n / PARTS.
--
-- A frame has, for each force of the frame before, a form: GONE, or the sum of 1 (another level), 2 (another way) and
-- 4 (another point), and the differences of these whole numbers. Then come its new forces: how many, and all numbers
-- of each. A number changes when it is off by more than a unit, so that noise costs nothing: points are met to within
-- `quantum`, sizes to a twelfth, ways to 6 degrees. nslua.film.coder makes bytes of the numbers; web/tracks.js reads
-- them.

local abs, floor, log, sqrt = math.abs, math.floor, math.log, math.sqrt

local FINE, PARTS, GONE = 1.08, 16, 8
local FAINT = 240 -- the last level: 1e-8 of the strongest force

local forces = {}

local function round(x) return floor(x + 0.5) end

-- The exact numbers of a force { first, second, point, force } of a film: its level, way and point.
local function numbers_of(one, strongest, quantum)
  local size, exact = sqrt(one[6] ^ 2 + one[7] ^ 2 + one[8] ^ 2), {}
  exact[1] = size > 0 and math.min(log(strongest / size) / log(FINE), FAINT) or FAINT
  for j = 1, 3 do
    exact[1 + j], exact[4 + j] = size > 0 and PARTS * one[5 + j] / size or 0, one[2 + j] / quantum
  end
  return exact
end

-- For each force of a frame the one of the frame before that it goes on: between the same bodies, the nearest.
local function partners(before, list)
  local by_bodies, taken, found = {}, {}, {}
  for i, now in ipairs(list) do
    local key = now.first .. " " .. now.second
    by_bodies[key] = by_bodies[key] or {}
    table.insert(by_bodies[key], i)
  end
  for k, old in ipairs(before) do
    local best, least
    for _, i in ipairs(by_bodies[old.first .. " " .. old.second] or {}) do
      local distance = 0
      for j = 5, 7 do distance = distance + (old[j] - list[i].exact[j]) ^ 2 end
      if not taken[i] and (not best or distance < least) then best, least = i, distance end
    end
    if best then found[k], taken[best] = best, true end
  end
  return found, taken
end

local GROUPS = { { "level", 1, 1 }, { "way", 2, 4 }, { "point", 5, 7 } }

-- Writes the forces of `count` frames with a coder: lists of { first, second (0: the world), point, force } by frame.
function forces.write(coder, frames, count, strongest, quantum)
  local function whole(name, n) coder:natural(name, n < 0 and -2 * n - 1 or 2 * n) end
  local before = {}
  for frame = 1, count do
    local list, kept = {}, {}
    for i, one in ipairs(frames[frame] or {}) do
      list[i] = { first = one[1], second = one[2], exact = numbers_of(one, strongest, quantum) }
    end
    local found, taken = partners(before, list)
    for k, old in ipairs(before) do
      local exact, form, changes = found[k] and list[found[k]].exact, 0, {}
      for g, group in ipairs(exact and GROUPS or {}) do
        local off = 0
        for j = group[2], group[3] do off = math.max(off, abs(exact[j] - old[j])) end
        if off > 1 then form, changes[#changes + 1] = form | 1 << g - 1, group end
      end
      coder:natural("form " .. old.form, exact and form or GONE)
      for _, group in ipairs(changes) do
        for j = group[2], group[3] do
          whole(group[1] .. j, round(exact[j]) - old[j])
          old[j] = round(exact[j])
        end
      end
      old.form = form
      if exact then kept[#kept + 1] = old end
    end
    coder:natural("new", #list - #kept)
    local first = 0
    for i, one in ipairs(list) do
      if not taken[i] then
        whole("first", one.first - first)
        whole("second", one.second == 0 and 0 or one.second - one.first)
        for _, group in ipairs(GROUPS) do
          for j = group[2], group[3] do
            one[j] = round(one.exact[j])
            whole("new " .. group[1] .. j, one[j])
          end
        end
        first, one.form = one.first, 0
        kept[#kept + 1] = one
      end
    end
    before = kept
  end
end

return forces
