-- Columns of numbers: reading them from comma-separated text, and comparing them.
local host = require "host"

local columns = {}

-- A cell as a number (nan when empty), else as a text.
local function read_cell(cell)
  if cell == "" or cell == "nan" or cell == "-nan" then return 0 / 0 end
  return tonumber(cell) or cell
end

-- The columns of a text with a header line, each a list by its name; n is the number of rows. Lines with # are
-- comments.
function columns.parse(text)
  local result, names = { n = 0 }, nil
  for line in text:gmatch "[^\n]+" do
    if line:sub(1, 1) ~= "#" then
      local cells = {}
      for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
      if not names then
        names = cells
        for _, name in ipairs(names) do result[name] = {} end
      else
        assert(#cells == #names, "a row of another length")
        result.n = result.n + 1
        for i, name in ipairs(names) do result[name][result.n] = read_cell(cells[i]) end
      end
    end
  end
  result.names = names
  return result
end

function columns.read(path)
  return columns.parse(assert(host.read(path), "no file " .. path))
end

-- The largest absolute value of a list.
local function largest(list)
  local most = 0
  for i = 1, #list do most = math.max(most, math.abs(list[i])) end
  return most
end

columns.largest = largest

-- The largest error of `mine` over the largest value of `reference`; nan counts as infinite.
function columns.error(mine, reference)
  local scale, worst = largest(reference), 0
  for i = 1, #reference do
    local e = math.abs(mine[i] - reference[i]) / (scale > 0 and scale or 1)
    worst = e ~= e and math.huge or math.max(worst, e)
  end
  return worst
end

-- Compares `mine` with a reference file of the same columns: column `row` of the file has the numbers (from 0) of the rows
-- of `mine` to compare. Tolerance: that of columns.error.
function columns.expect_rows(mine, path, tolerance)
  local reference = columns.read(path)
  assert(table.concat(reference.names, " ") == table.concat(mine.names, " "), "other columns")
  for _, name in ipairs(reference.names) do
    local list = {}
    for i = 1, reference.n do list[i] = mine[name][reference.row[i] + 1] end
    local e = columns.error(list, reference[name])
    if e > tolerance then error(("%s, %s: error %g, expected at most %g"):format(path, name, e, tolerance), 2) end
  end
end

-- Compares `mine` with a reference file at equal steps (first column of `mine`, column k of the file), in the columns
-- `names` (a name, or mine = theirs), within the tolerance of columns.error. Step 0 may be absent. Returns the number of
-- rows compared.
function columns.expect(mine, path, names, tolerance)
  local reference, row, steps = columns.read(path), {}, {}
  for i = 1, mine.n do row[mine[mine.names[1]][i]] = i end
  for i = 1, reference.n do
    if row[reference.k[i]] or reference.k[i] > 0 then steps[#steps + 1] = i end
  end
  for key, theirs in pairs(names) do
    local name, list, expected = type(key) == "string" and key or theirs, {}, {}
    for n, i in ipairs(steps) do
      list[n], expected[n] = mine[name][assert(row[reference.k[i]], "no such step")], reference[theirs][i]
    end
    local e = columns.error(list, expected)
    if e > tolerance then error(("%s, %s: error %g, expected at most %g"):format(path, name, e, tolerance), 2) end
  end
  return #steps
end

return columns
