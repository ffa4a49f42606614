-- nslua.mechanics.quantities: functions of (t, q) with a name, with which their errors begin. Quantities form groups
-- (all positions, all constraints). A group is evaluated in one pass and keeps its last results.

local where = require "nslua.base.where"

return function(ns, core)
  local motion, fail, said, describe = core.motion, core.fail, core.said, core.describe

  -- Calls a function of `motion` on a quantity. The name of the quantity is put before an error message.
  local function guarded(x, work, ...)
    if x.busy then fail "its function asks the system for a quantity that depends on the function itself" end
    x.busy = true
    local good, a, b, c = pcall(work, x.f, ...)
    x.busy = nil
    if good then return a, b, c end
    if type(a) ~= "string" then error(a, 0) end
    fail("%s: %s", x.name, said(a))
  end

  -- Adds a quantity to a group. The quantities of a group are evaluated together, in one pass with dual numbers.
  local function quantity(group, name, f, rows)
    local x = { group = group, name = name, f = motion.plain(f), rows = rows }
    group[#group + 1], group.f = x, nil
    return x
  end

  local function length(x) return #x end

  -- One function (t, q, out) that calls several. While it runs, core.shared keeps what frames compute at this (t,
  -- q).
  local function together(functions, rows)
    return function(t, q, out)
      core.shared, core.shared_t, core.shared_q = {}, t, q
      local row = 0
      for k, f in ipairs(functions) do
        local part = out:slice(row + 1, row + rows[k])
        local y = f(t, q, part)
        if type(y) == "number" or type(y) == "userdata" and not where.try(length, y) then
          part[1] = y
        elseif y ~= nil and type(y) ~= "table" and type(y) ~= "userdata" then
          fail("a function of (t, q): expected numbers, or its last argument filled, got %s", describe(y))
        elseif y ~= nil and not rawequal(y, part) then
          for i = 1, rows[k] do part[i] = y[i] end
        end
        row = row + rows[k]
      end
      core.shared, core.shared_q = nil, nil
    end
  end

  -- Finds how many values each quantity has, by one evaluation, and makes group.f.
  local function prepare(group, t, q)
    local functions, rows, size = {}, {}, 0
    for _, x in ipairs(group) do
      if not x.constant then
        local y = guarded(x, motion.values, t, q, x.rows or -1)
        x.rows, x.at = #y, size
        size = size + #y
        functions[#functions + 1], rows[#rows + 1] = x.f, #y
      end
    end
    group.plain, group.size, group.slopes, group.line, group.lump = together(functions, rows), size, nil, nil, nil
    group.f = group.compile and size > 0 and ns.compile(group.plain) or group.plain
  end

  -- Calls a function of `motion` on a group. After an error message the quantities are evaluated one by one, to find
  -- the one that raises it; when none does, the functions can't be compiled and stay in Lua.
  local function guarded_group(group, work, t, q, ...)
    local good, a, b, c = pcall(work, group.f, t, q, group.size, ...)
    if good then return a, b, c end
    core.shared, core.shared_q = nil, nil
    if type(a) ~= "string" then error(a, 0) end
    if group.f ~= group.plain then
      local why = a
      good, a, b, c = pcall(work, group.plain, t, q, group.size, ...)
      group.f = group.plain
      if good then require "nslua.compile".tell("mechanics: functions of (t, q)", why) return a, b, c end
      core.shared, core.shared_q = nil, nil
    end
    for _, x in ipairs(group) do
      if not x.constant then guarded(x, work, t, q, x.rows, ...) end
    end
    fail("%s", said(a))
  end

  local function values(x, t, q)
    if x.constant then return x.constant * q end
    return guarded(x, motion.values, t, q, x.rows)
  end

  -- The number of the evaluation of the equations. Results are kept within one evaluation and used again when they
  -- are asked for at the same point.
  local epoch = 0

  local function fresh() epoch = epoch + 1 end

  local function at_point(last, t, q) return last and last.epoch == epoch and last.t == t and last.q == q end

  -- The values of all quantities of a group and their Jacobian by q. Do not write to them.
  local function slopes(group, t, q)
    if not group.f then prepare(group, t, q) end
    if not at_point(group.slopes, t, q) then
      local y, J = guarded_group(group, motion.jacobian, t, q)
      group.slopes = { epoch = epoch, t = t, q = q:copy(), y = y, J = J }
    end
    return group.slopes
  end

  -- The same for one quantity.
  local function jacobian(x, t, q)
    if x.constant then return x.constant * q, x.constant end
    local last = slopes(x.group, t, q)
    local i, j = x.at + 1, x.at + x.rows
    if not last[x] then last[x] = { last.y:slice(i, j), last.J:slice(i, j, 1, #q) } end
    return last[x][1], last[x][2]
  end

  -- The values of all quantities of a group and their first and second derivatives along (tdot, v). Do not write to
  -- them.
  local function line(group, t, q, tdot, v)
    if not group.f then prepare(group, t, q) end
    local last = group.line
    if not at_point(last, t, q) or last.tdot ~= tdot or last.v ~= v then
      last = { epoch = epoch, t = t, q = q:copy(), tdot = tdot, v = v:copy() }
      last.y, last.first, last.second = guarded_group(group, motion.along, t, q, tdot, v)
      group.line = last
    end
    return last
  end

  -- The same for one quantity.
  local function along(x, t, q, tdot, v)
    if x.constant then return x.constant * q, x.constant * v, ns.zeros(x.rows) end
    local last = line(x.group, t, q, tdot, v)
    local i, j = x.at + 1, x.at + x.rows
    return last.y:slice(i, j), last.first:slice(i, j), last.second:slice(i, j)
  end

  for name, f in pairs { guarded = guarded, quantity = quantity, together = together, prepare = prepare,
    guarded_group = guarded_group, values = values, fresh = fresh, slopes = slopes, jacobian = jacobian, line = line,
    along = along } do
    core[name] = f
  end
end
