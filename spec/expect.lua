-- Assertions about errors and numbers.
local assert = require "luassert"
local ns = require "nslua"

local expect = {}

-- Asserts that f(...) raises an error whose text contains `text`.
function expect.fails(text, f, ...)
  local good, err = pcall(f, ...)
  assert.is_false(good, text)
  assert.is_truthy(tostring(err):find(text, 1, true), ("expected '%s', got '%s'"):format(text, tostring(err)))
end

-- The text of the error that f(...) raises, without the position in front.
function expect.message(f, ...)
  local good, err = pcall(f, ...)
  assert.is_false(good)
  return (tostring(err):gsub("^[^:]*:%d+: ", ""))
end

-- The same of a method of an object.
function expect.message_of(object, method, ...) return expect.message(object[method], object, ...) end

-- Calls f() while a field of a table has another value, then restores it. Raises what f raises.
function expect.with(at, key, value, f)
  local old = at[key]
  at[key] = value
  local results = table.pack(pcall(f))
  at[key] = old
  assert(table.unpack(results, 1, results.n))
end

-- Calls f, and appends what nslua.compile warns of to the list.
function expect.warnings(list, f)
  local at, tell = 1, require "nslua.compile".tell
  while debug.getupvalue(tell, at) ~= "_ENV" do at = at + 1 end
  local _, globals = debug.getupvalue(tell, at)
  local before = rawget(globals, "warn")
  rawset(globals, "warn", function(...) list[#list + 1] = table.concat { ... } end)
  local good, err = pcall(f)
  rawset(globals, "warn", before)
  assert(good, err)
end

-- Asserts that two numbers differ by the tolerance (1e-12) at most.
function expect.near_number(want, got, tolerance)
  assert.is_true(math.abs(want - got) <= (tolerance or 1e-12), ("wanted %.15g, got %.15g"):format(want, got))
end

-- Asserts that two vectors or matrices agree within the tolerance (1e-12).
function expect.near(expected, got, tolerance)
  assert.is_true((ns.vector(expected) - got):norm(math.huge) < (tolerance or 1e-12), tostring(got))
end

function expect.near_matrix(expected, got, tolerance)
  assert.is_true((ns.matrix(expected) - got):norm() < (tolerance or 1e-12), tostring(got))
end

-- A new table with the fields of `of`, replaced by those of `more`.
function expect.merged(of, more)
  local all = {}
  for k, v in pairs(of) do all[k] = v end
  for k, v in pairs(more) do all[k] = v end
  return all
end

return expect
