--
-- common.lua
-- Timing, tables and peers for the benches.
--
local common = {}

local here = (arg and arg[0] or ""):match("^(.*/)[^/]*$") or "./"
common.clock = os.clock

-- The least CPU seconds of f(...) in `count` runs; before() is called, untimed, before each.
function common.best(count, f, before)
  local least, clock = math.huge, os.clock
  for _ = 1, count do
    if before then before() end
    local start = clock()
    f()
    least = math.min(least, clock() - start)
  end
  return least
end

-- The least CPU seconds of one turn of f(n), which makes n turns: n grows until the clock resolves the time; then
-- the best of `count` calls counts.
function common.turn(f, count)
  local n = 64
  repeat
    n = 2 * n
    local seconds = common.best(1, function() f(n) end)
  until seconds > 0.01
  return common.best(count or 7, function() f(n) end) / n
end

-- Seconds per step of `steps` simulated steps; the simulation is reset before each run.
function common.per_step(simu, steps, loop, count)
  loop()
  return common.best(count, loop, function() simu:reset() end) / steps
end

-- Bytes of Lua memory that f() allocates, measured with the collector stopped.
function common.garbage(f)
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  f()
  local after = collectgarbage "count"
  collectgarbage "restart"
  return (after - before) * 1024
end

local built, hidden = pcall(require, "nslua.internal")
hidden = built and hidden or nil

-- Number of engine allocations of f(); nil in a build without nslua.internal.
function common.allocations(f)
  if not (hidden and hidden.alloc_count) then return nil end
  local before = hidden.alloc_count()
  f()
  return hidden.alloc_count() - before
end

common.box = hidden and hidden.box

function common.us(seconds)
  return seconds and string.format("%.2f", seconds * 1e6) or "-"
end

function common.ns(seconds)
  return seconds and string.format("%.1f", seconds * 1e9) or "-"
end

function common.ratio(slow, fast)
  return slow and fast and string.format("%.2f", slow / fast) or "-"
end

-- Prints rows of strings under a heading; the first column is aligned left, the others right.
function common.table(title, head, rows)
  local width = {}
  local all = { head, table.unpack(rows) }
  for _, row in ipairs(all) do
    for j, cell in ipairs(row) do width[j] = math.max(width[j] or 0, utf8.len(tostring(cell))) end
  end
  print("\n" .. title)
  for i, row in ipairs(all) do
    local cells = {}
    for j, cell in ipairs(row) do
      local text = tostring(cell)
      local pad = (" "):rep(width[j] - utf8.len(text))
      cells[j] = j == 1 and text .. pad or pad .. text
    end
    print("  " .. table.concat(cells, "  "))
    if i == 1 then
      for j = 1, #head do cells[j] = ("-"):rep(width[j]) end
      print("  " .. table.concat(cells, "  "))
    end
  end
end

-- ---- errors ----

-- The largest error of at(k, i), relative to the largest value of unknown i.
function common.off(exact, n, at)
  local most = 0
  for i = 1, n do
    local size = 0
    for k = 2, #exact do size = math.max(size, math.abs(exact[k][i])) end
    for k = 2, #exact do most = math.max(most, math.abs(at(k, i) - exact[k][i]) / size) end
  end
  return most
end

-- The time at a given error, interpolated in logarithms between the points {time, error}; nil beyond the ends.
function common.at_error(points, e)
  for k = 2, #points do
    local a, b = points[k - 1], points[k]
    if a[2] >= e and e >= b[2] then
      local s = math.log(a[2] / e) / math.log(a[2] / b[2])
      return a[1] * (b[1] / a[1]) ^ s
    end
  end
end

-- ---- peers ----

local function quote(text)
  return "'" .. text:gsub("'", [['\'']]) .. "'"
end

-- The words of each line that a command prints; nil when it fails.
local function read(command)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local lines = {}
  for line in pipe:lines() do
    local words = {}
    for word in line:gmatch "%S+" do words[#words + 1] = word end
    lines[#lines + 1] = words
  end
  return pipe:close() and lines or nil
end

local directory

local function temporary()
  if not directory then
    directory = assert(read("mktemp -d"))[1][1]
    common.guard = setmetatable({}, { __gc = function() os.execute("rm -rf " .. quote(directory)) end })
  end
  return directory
end

-- Compiles a C or C++ peer with these flags; returns the shell words that run it, or nil and the reason.
function common.compile(name, compiler, before, after)
  local program = temporary() .. "/" .. name:gsub("%W", "_")
  local source = quote(here .. "peers/" .. name)
  local command = ("%s %s -o %s %s %s"):format(compiler, before, program, source, after or "")
  if not read(command) then return nil, compiler .. " cannot build peers/" .. name .. " here" end
  return quote(program)
end

local interpreters = {}

-- The shell words that run a Python peer with an interpreter that has a module; or nil and the reason.
local function python(module, name)
  if interpreters[module] == nil then
    interpreters[module] = false
    for _, candidate in ipairs { "python3", "/usr/bin/python3" } do
      local found = not interpreters[module] and read(candidate .. " -c 'import " .. module .. "'")
      if found then interpreters[module] = candidate end
    end
  end
  if not interpreters[module] then return nil, "no Python with " .. module .. " here" end
  return interpreters[module] .. " " .. quote(here .. "peers/" .. name)
end

function common.siconos(name) return python("siconos.kernel", name) end

function common.scipy(name) return python("scipy.integrate", name) end

local failed = {}

-- Runs a peer on one thread; it prints lines of a word and a number. Returns a table by word, empty on failure.
function common.peer(command, ...)
  if not command then return {} end
  local words = { "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1", command, ... }
  local lines = read(table.concat(words, " "))
  if not lines then failed[#failed + 1] = "peer failed: " .. table.concat({ ... }, " ") end
  local result = {}
  for _, line in ipairs(lines or {}) do
    if tonumber(line[2]) then result[line[1]] = tonumber(line[2]) end
  end
  return result
end

-- Prints which peers are left out.
function common.skipped(...)
  for _, reason in ipairs { ... } do print("left out: " .. reason) end
  for _, reason in ipairs(failed) do print(reason) end
end

return common
