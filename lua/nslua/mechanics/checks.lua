-- nslua.mechanics.checks: how the files of nslua.mechanics read their arguments, and what they say about
-- wrong ones.

local format = require "nslua.core".number_support.format
local is_callable = require "nslua.base.arguments".is_callable
local option_names = require "nslua.base.option_names"
local option_tables = require "nslua.base.option_tables"
local where = require "nslua.base.where"

-- Puts its functions into `core`, the table of all that the files of nslua.mechanics share.
return function(ns, core)
  local function fail(text, ...) where.fail(format("mechanics: " .. text, ...)) end

  -- The message of an error without its place and without "mechanics: ", so that it can be raised with another name.
  local function said(message) return (where.bare(message, "mechanics"):gsub("^mechanics: ", "")) end

  -- Whether a 3 x 3 matrix is a rotation.
  function core.is_rotation(R) return (R:transpose() * R - ns.eye(3)):norm() <= 1e-9 and ns.det(R) > 0 end

  -- Whether A x = b can be solved, and x.
  local function solvable(A, b) return where.try(ns.solve, A, b) end

  -- The matrix of the columns of A that the list `numbers` selects.
  local function columns(A, numbers)
    local out = ns.zeros(#A, #numbers)
    for k, j in ipairs(numbers) do
      for i = 1, #A do out[i][k] = A[i][j] end
    end
    return out
  end

  local function describe(value)
    local meta = getmetatable(value)
    if type(value) == "number" then return value ~= value and "nan" or tostring(value) end
    if type(value) == "string" then return "'" .. value .. "'" end
    if meta == "matrix" then return ("a %d x %d matrix"):format(value:shape()) end
    if type(value) == "userdata" or type(meta) == "table" and meta.__tostring then return tostring(value) end
    return type(value)
  end

  local function take_options(o, who, known)
    if type(o) ~= "table" or rawget(o, "system") ~= nil then -- a body is not a table of options
      fail("%s: expected an option table, got %s", who, type(o) == "table" and describe(o) or type(o))
    end
    return option_tables.need(o, known or option_names["mechanics.system:" .. who], who, fail)
  end

  local function number(value, who, what, least)
    if type(value) ~= "number" or value ~= value or math.abs(value) == math.huge or (least and value < least) then
      fail("%s: %s: expected a number%s, got %s", who, what, least and format(", at least %g", least) or "",
        describe(value))
    end
    return value
  end

  function core.positive(value, who, what)
    if type(value) ~= "number" or value ~= value or value <= 0 then
      fail("%s: %s: expected a positive number, got %s", who, what, describe(value))
    end
  end

  -- A vector of n finite numbers, copied.
  local function list(value, n, who, what)
    local good, v = where.try(ns.vector, value)
    if type(value) == "number" and n == 1 then good, v = true, ns.vector { value } end
    if not good or type(value) == "number" and n ~= 1 then
      fail("%s: %s: expected %s, got %s", who, what, n == 1 and "a number" or n and ("a list of %d numbers"):format(n)
        or "a list of numbers", describe(value))
    end
    if n and #v ~= n then
      fail("%s: %s: expected %d number%s, got %d", who, what, n, n == 1 and "" or "s", #v)
    end
    for i = 1, v:isfinite() and 0 or #v do
      if v[i] - v[i] ~= 0 then fail("%s: %s[%d] is %s", who, what, i, describe(v[i])) end
    end
    return v
  end

  for name, f in pairs { fail = fail, said = said, solvable = solvable, columns = columns, describe = describe,
    take_options = take_options, is_callable = is_callable, number = number, list = list } do
    core[name] = f
  end
end
