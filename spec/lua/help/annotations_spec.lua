-- library/nslua.lua, read by a parser of LuaCATS: each line is well-formed, and each type that it names is defined.
local help = require "nslua.help"
local ns = require "nslua"

local basic = {}
for name in ("any nil boolean number integer string table function true false"):gmatch "%S+" do basic[name] = true end

-- A parser of types. `uses(name)` is called for each name; the functions take the text and a place, and return the
-- place after what they have read. They raise errors.
local function new_parser(text, uses)
  local read_type

  local function skip(at) return text:match("^%s*()", at) end
  local function want(mark, at)
    at = skip(at)
    assert(text:sub(at, at + #mark - 1) == mark, ("no '%s' at: %s"):format(mark, text:sub(at, at + 60)))
    return at + #mark
  end
  local function has(mark, at)
    at = skip(at)
    return text:sub(at, at + #mark - 1) == mark
  end

  -- "name?: type, ..." up to a mark.
  local function read_fields(at, last)
    while not has(last, at) do
      local name, after = text:match("^%s*([%a_][%w_]*)%??()", at)
      if not name then after = assert(text:match("^%s*%.%.%.()", at), "no name at: " .. text:sub(at, at + 60)) end
      at = read_type(want(":", after))
      if has(",", at) then at = want(",", at) else break end
    end
    return want(last, at)
  end

  local function read_one(at)
    at = skip(at)
    local name, after = text:match("^([%a_][%w_.]*)()", at)
    if has("(", at) then
      at = want(")", read_type(want("(", at)))
    elseif has("{", at) then
      at = read_fields(want("{", at), "}")
    elseif has('"', at) then
      at = assert(text:match('^"[^"]*"()', at))
    elseif name == "fun" then
      at = read_fields(want("(", after), ")")
      if has(":", at) then
        at = read_type(want(":", at))
        while has(",", at) do at = read_type(want(",", at)) end
      end
    else
      assert(name, "no type at: " .. text:sub(at, at + 60))
      uses(name)
      at = after
    end
    while text:sub(at, at + 1) == "[]" do at = at + 2 end
    return at
  end

  function read_type(at)
    at = read_one(at)
    while text:sub(at, at) == "|" do at = read_one(at + 1) end
    return at
  end
  return read_type
end

describe("the annotations for editors", function()
  local text = require "nslua.help.annotations".text(help.book(), ns)
  local defined, used, kinds = {}, {}, {}

  setup(function()
    local class
    for line in text:gmatch "---@[^\n]*" do
      local what, rest = line:match "^%-%-%-@(%l+) (.*)$"
      local parse = new_parser(rest, function(name) used[name] = line end)
      if what == "class" or what == "alias" then
        local name, after = rest:match "^([%w_.]+) ?()"
        assert.is_nil(defined[name], line)
        defined[name], class, kinds[name] = true, name, {}
        if what == "alias" then assert.equal(#rest + 1, parse(after), line) end
      elseif what == "field" then
        local name, after = rest:match "^([%w_]+) ()"
        local last = parse(after)
        assert.is_true(last == #rest + 1 or rest:sub(last, last) == " ", line)
        kinds[class][name] = rest:sub(after, last - 1)
      elseif what == "type" then
        assert.equal(#rest + 1, parse(1), line)
      else
        assert.equal("meta", what, line)
      end
    end
  end)

  it("name only types that are defined", function()
    for name, line in pairs(used) do assert.is_true(basic[name] or defined[name] or false, name .. " in " .. line) end
  end)

  it("give each signature of a function its arguments", function()
    local kind = kinds["nslua.module"].FirstOrderLinearTIR
    assert.matches("^%(fun%(C: .-, B: .-%): nslua%.FirstOrderLinearTIR%)|%(fun%(C: .-, D: .-%): nslua%.FirstOrderLinearTIR%)|" ..
      "%(fun%(options: { .- }%): nslua%.FirstOrderLinearTIR%)$", kind)
    assert.matches("^%(fun%(n: integer, .*%)|%(fun%(A: ", kinds["nslua.module"].band)
  end)

  it("give methods their results, so that chains of calls complete", function()
    assert.matches("%): nslua%.solution$", kinds["nslua.TimeStepping"].run)
    assert.matches("%): nslua%.figure$", kinds["nslua.solution"].plot)
    assert.matches("%): nslua%.TimeStepping$", kinds["nslua.module"].EventDriven)
    assert.equal("fun(self: any): nslua.vector", kinds["nslua.FirstOrderLinearTIDS"].x)
    assert.matches("%): nslua%.matrix", kinds["nslua.matrix"].inv)
    assert.matches("|number$", kinds["nslua.matrix"].det)
  end)
end)
