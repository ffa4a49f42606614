-- coverage.lua BUILD [GCOV]: the coverage of the C sources by the specs, from BUILD, a build with --coverage: lines and
-- branches for each room, for the engine, and for the binding and the REPL. Branches are those of gcov: two for every
-- condition, where each operand of && and || is a condition. Lines and branches that did not run, and functions that were
-- not called, are listed in BUILD/uncovered.txt.
local build, gcov = arg[1], arg[2] or "gcov"
local beside = { bind = true, repl = true, ["nslua.c"] = true }

local function lines_of(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read "a"
  assert(pipe:close(), command .. " failed")
  return text:gmatch "([^\n]*)\n"
end

-- The source at `path` (relative): counts by line, counts of branches by line, calls by function, texts of the lines.
local sources = {}
local function source_of(path)
  local name = path:match "src/.*$"
  if not name then return end
  sources[name] = sources[name] or { name = name, count = {}, branches = {}, calls = {}, text = {} }
  return sources[name]
end

-- Adds what gcov tells of one object file. A function of a header is in many of them: its counts are added up.
local function read_object(notes)
  local source, line, branch, pending
  for text in lines_of(("%s -b -c -t %s 2>/dev/null"):format(gcov, notes)) do
    local path = text:match "^ *%-: *0:Source:(.*)"
    local called, calls = text:match "^function (%S+) called (%d+)"
    local number, taken = text:match "^branch +(%d+) (.*)"
    local count, at, code = text:match "^ *([%-#=%d]+)%*?: *(%d+):(.*)"
    if path then
      source = source_of(path)
    elseif not source then
      goto continue
    elseif called then
      pending = { called, math.tointeger(calls) }
    elseif number then
      local of = source.branches[line] or {}
      source.branches[line] = of
      branch = number + 1
      of[branch] = (of[branch] or 0) + math.tointeger(taken:match "^taken (%d+)" or 0)
    elseif at and at ~= "0" then
      line = math.tointeger(at)
      source.text[line] = code
      if count ~= "-" then source.count[line] = (source.count[line] or 0) + (math.tointeger(count) or 0) end
      if pending then
        local before = source.calls[pending[1]]
        source.calls[pending[1]] = { line, pending[2] + (before and before[2] or 0) }
        pending = nil
      end
    end
    ::continue::
  end
end

-- Lines, lines run, branches, branches taken of a source; writes what is not covered to `out`.
local function count(source, out)
  local sum = { 0, 0, 0, 0 }
  local numbers, functions = {}, {}
  for line in pairs(source.count) do numbers[#numbers + 1] = line end
  table.sort(numbers)
  for name, call in pairs(source.calls) do
    if call[2] == 0 then functions[#functions + 1] = name end
  end
  table.sort(functions)
  for _, name in ipairs(functions) do out:write(source.name, ":", source.calls[name][1], ": never called: ", name, "\n") end
  for _, line in ipairs(numbers) do
    local run, missed = source.count[line] > 0, {}
    sum[1], sum[2] = sum[1] + 1, sum[2] + (run and 1 or 0)
    for i, taken in ipairs(source.branches[line] or {}) do
      sum[3], sum[4] = sum[3] + 1, sum[4] + (taken > 0 and 1 or 0)
      if taken == 0 then missed[#missed + 1] = i end
    end
    if not run or #missed > 0 then
      out:write(("%s:%d: %s:%s\n"):format(source.name, line,
        run and ("branches %s of %d"):format(table.concat(missed, ","), #source.branches[line]) or "line",
        source.text[line]))
    end
  end
  return sum
end

-- Rounded down, so that 100 % means all.
local function percent(part, whole)
  return whole == 0 and "     -" or ("%5.1f%%"):format(1000 * part // whole / 10)
end

local function print_row(name, sum)
  print(("%-14s %6d  %s   %6d    %s"):format(name, sum[1], percent(sum[2], sum[1]), sum[3], percent(sum[4], sum[3])))
end

for notes in lines_of(("find %s/obj -name '*.gcno' | sort"):format(build)) do read_object(notes) end

local names, rooms, order, totals = {}, {}, {}, { engine = { 0, 0, 0, 0 } }
for name in pairs(sources) do names[#names + 1] = name end
table.sort(names)
local out = assert(io.open(build .. "/uncovered.txt", "w"))
for _, name in ipairs(names) do
  local room, sum = name:match "^src/([^/]+)", count(sources[name], out)
  if not rooms[room] then
    rooms[room] = { 0, 0, 0, 0 }
    order[#order + 1] = room
  end
  for i, n in ipairs(sum) do
    rooms[room][i] = rooms[room][i] + n
    if not beside[room] then totals.engine[i] = totals.engine[i] + n end
  end
end
out:close()

print "room            lines     run  branches     taken"
for _, room in ipairs(order) do
  if not beside[room] then print_row("src/" .. room, rooms[room]) end
end
print_row("engine", totals.engine)
for _, room in ipairs(order) do
  if beside[room] then print_row("src/" .. room, rooms[room]) end
end
print(("what did not run: %s/uncovered.txt"):format(build))
