-- ns.numerics.load_dump and ns.numerics.replay: a one-step problem that osnspb:dump(file) wrote, on its own.
-- The file has the form of a Lua table, but it is read as data and never run: names, numbers, texts and tables.

local arguments = require "nslua.base.arguments"
local where = require "nslua.base.where"

local fail = arguments.fail

-- ---- reading ----

local DEEPEST = 8 -- most levels of tables in tables that are read; dump() writes three

local Reader = {}
Reader.__index = Reader

-- Skips blanks and comments.
function Reader:skip()
  local at = self.text:find("%S", self.at) or #self.text + 1
  while self.text:sub(at, at + 1) == "--" do
    at = self.text:find("\n", at, true) or #self.text
    at = self.text:find("%S", at + 1) or #self.text + 1
  end
  self.at = at
end

-- The text at the place of an error, at most a few characters.
function Reader:fail(expected)
  local _, line = self.text:sub(1, self.at - 1):gsub("\n", "")
  local got = self.text:match("^[%w_.+-]+", self.at) or self.text:sub(self.at, self.at)
  got = got == "" and "the end of the file" or ("'%s'"):format(got:sub(1, 20):gsub("%c", "?"))
  error(("line %d: expected %s, got %s"):format(line + 1, expected, got), 0)
end

-- Whether `symbol` comes next; if so, skips it.
function Reader:take(symbol)
  self:skip()
  if self.text:sub(self.at, self.at + #symbol - 1) ~= symbol then return false end
  self.at = self.at + #symbol
  return true
end

-- Reads what matches the pattern; nil when it does not come next.
function Reader:match(pattern)
  self:skip()
  local found, stop = self.text:match("^(" .. pattern .. ")()", self.at)
  if found then self.at = stop end
  return found
end

function Reader:number()
  local sign = self:take "-" and -1 or 1
  if self:take "math.huge" then return sign * math.huge end
  if self:take "0/0" then return 0 / 0 end
  local start = self.at
  local digits = self:match "[%d.][%w.]*[eE][+-]%d+" or self:match "[%d.][%w.]*"
  local value = digits and tonumber(digits)
  if value then return sign * value end
  self.at = start
  self:fail "a number"
end

-- Appends the plain numbers that come next, each with a comma, and returns how many: most of a file is read so, fast.
function Reader:plain(result)
  local text, at, count = self.text, self.at, 0
  while true do
    local digits, stop = text:match("^%s*(-?%d[%w.+-]*)%s*,()", at)
    local value = digits and tonumber(digits)
    if not value then break end
    count, at = count + 1, stop
    result[count] = value
  end
  self.at = at
  return count
end

function Reader:value(depth)
  self:skip()
  local first = self.text:sub(self.at, self.at)
  if first == "{" then return self:table(depth + 1) end
  if first:find "[%d.m-]" then return self:number() end
  local quoted = self:match '"[^"\\\n]*"' or self:match "'[^'\\\n]*'"
  if quoted then return quoted:sub(2, -2) end
  local word = self:match "[%a_][%w_]*"
  if word == "true" or word == "false" then return word == "true" end
  if word then self.at = self.at - #word end
  self:fail "a number, a text or a table"
end

function Reader:table(depth)
  if depth > DEEPEST then self:fail(("at most %d tables in each other"):format(DEEPEST)) end
  if not self:take "{" then self:fail "a table" end
  local result = {}
  local count = self:plain(result)
  while not self:take "}" do
    local name = self:match "[%a_][%w_]*%s*=%f[^=]"
    if name then
      result[name:match "[%w_]+"] = self:value(depth)
    else
      count = count + 1
      result[count] = self:value(depth)
    end
    if not self:take "," and not self:take ";" then
      if not self:take "}" then self:fail "',' or '}'" end
      break
    end
  end
  return result
end

-- The table that the text of a file holds.
local function parse(text)
  local reader = setmetatable({ text = text, at = 1 }, Reader)
  reader:match "return%f[^%w_]"
  local result = reader:table(1)
  reader:take ";"
  reader:skip()
  if reader.at <= #text then reader:fail "the end of the file" end
  return result
end

-- ---- what the file must hold ----

local function vector(x) return type(x) == "table" and (#x == 0 or type(x[1]) == "number") end

local function is_problem(record)
  return type(record.M) == "table" and vector(record.q) and vector(record.lower) and vector(record.upper)
end

-- Reads the table of the file. Raises for a file that dump() has not written.
local function read(file)
  if type(file) ~= "string" then fail("load_dump: file: expected a string, got %s", type(file)) end
  local text, reason = arguments.content(file)
  if not text then fail("load_dump: cannot open %s: %s", file, reason) end
  local good, record = pcall(parse, text)
  reason = not good and record
    or not is_problem(record) and "M, q, lower or upper is missing or no list of numbers"
  if reason then fail("load_dump: %s: expected a one-step problem written by dump(): %s", file, reason) end
  return record
end

local function options_of(ns, record)
  local M = record.M.rows and ns.sparse(record.M) or record.M
  if record.groups then return { W = M, q = record.q, groups = record.groups } end
  return { M = M, q = record.q, lower = record.lower, upper = record.upper, H = record.H, K = record.K }
end

-- The functions of ns.numerics for contacts of one kind, which have solvers by name: by the rows of a contact, and
-- whether some of them roll or spin.
local of_contacts = {
  [false] = { [2] = "fc2d", [3] = "fc3d" },
  [true] = { [3] = "rolling_fc2d", [4] = "spinning_fc3d", [5] = "rolling_fc3d", [6] = "rolling_spinning_fc3d" },
}

-- The function for these groups, and its options in place of `groups`; nil where they are not all of one kind.
local function of_one_kind(groups)
  local who, options = nil, { mu = {}, mu_r = {}, mu_spin = {} }
  for i, group in ipairs(groups) do
    local turns = group.mu_r ~= nil or group.mu_spin ~= nil -- Lua 5.4.4 compiles a comparison as a key wrongly
    local name = of_contacts[turns][group.dim]
    if not name or (who and who ~= name) then return nil end
    who, options.mu[i], options.mu_r[i], options.mu_spin[i] = name, group.mu, group.mu_r, group.mu_spin
  end
  for _, name in ipairs { "mu_r", "mu_spin" } do
    if #options[name] == 0 then options[name] = nil end
  end
  return who, options
end

return function(ns)
  local numerics, public = ns.numerics, {}

  -- load_dump(file): returns an option table and the whole table of the file. The options are as for numerics.box;
  -- of numerics.normal_cone when the problem has H and K; of numerics.generic_mechanical when it has contacts.
  function public.load_dump(file)
    local record = read(file)
    return options_of(ns, record), record
  end

  -- replay(file [, options]): solves the problem of the file again, with options added ({solver = "enumerate"}).
  -- With a solver contacts of one kind go to the function that has solvers by name.
  -- Returns the result of the function of ns.numerics that solves it.
  function public.replay(file, more)
    local options = options_of(ns, read(file))
    if more ~= nil and type(more) ~= "table" then
      error("replay: options: expected a table, got " .. type(more), 2)
    end
    local who, contacts = options.groups and "generic_mechanical" or options.H and "normal_cone" or "box", nil
    if options.groups and more and more.solver then
      local name
      name, contacts = of_one_kind(options.groups)
      who = name or who
    end
    if contacts then contacts.W, contacts.q, options = options.W, options.q, contacts end
    for key, value in pairs(more or {}) do options[key] = value end
    return where.call(who, numerics[who], options)
  end

  return public
end
