-- Columns of numbers: reading them from comma-separated text, and comparing them.
local host = require "host"

local columns = {}

-- A number, nan for none, or else a text.
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

local function largest(list)
  local most = 0
  for i = 1, #list do most = math.max(most, math.abs(list[i])) end
  return most
end

-- The largest error of `mine` over the largest value of `reference`; nan counts as infinite.
function columns.error(mine, reference)
  local scale, worst = largest(reference), 0
  for i = 1, #reference do
    local e = math.abs(mine[i] - reference[i]) / (scale > 0 and scale or 1)
    worst = e ~= e and math.huge or math.max(worst, e)
  end
  return worst
end

return columns
