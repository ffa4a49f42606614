local history = require "nslua.repl.history"
local host = require "host"

-- An api in place of the interpreter's (src/repl/prompt.h).
local api = {
  private = function(f, ...) return f(...) end,
  make_directory = function(path) return os.execute("mkdir -p " .. host.quote(path) .. " 2>/dev/null") and true or nil, "no" end,
}

describe("the history's file", function()
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/deep/history"
  end)
  after_each(function() host.remove(directory) end)

  it("gives back what was appended, of several lines too", function()
    local entries = { "1 + 1", "if x then\n  y()\nend", "'back\\slash \\n'", "tab\there", "größe \1" }
    for _, entry in ipairs(entries) do assert.is_true(history.append(api, path, entry)) end
    assert.same(entries, history.load(api, path))
    assert.equal(5, select(2, host.read(path):gsub("\n", "")))
  end)

  it("may be missing", function()
    assert.same({}, history.load(api, path))
  end)

  it("is appended to by sessions side by side", function()
    history.append(api, path, "one")
    history.load(api, path)
    history.append(api, path, "other")
    history.append(api, path, "one more")
    assert.same({ "one", "other", "one more" }, history.load(api, path))
  end)

  it("is cut to the last thousand entries when it holds twice as many", function()
    history.append(api, path, "first")
    local lines = {}
    for i = 1, 2001 do lines[i] = "entry " .. i end
    host.write(path, table.concat(lines, "\n") .. "\n")
    local entries = history.load(api, path)
    assert.equal(1000, #entries)
    assert.equal("entry 2001", entries[1000])
    assert.equal(1000, select(2, host.read(path):gsub("\n", "")))
    assert.same(entries, history.load(api, path))
    assert.equal("history", host.list(directory .. "/deep"))
  end)

  it("that cannot be written is a message", function()
    assert.same({ nil, "the history is not kept: no" },
      { history.append(api, "/proc/no/such/history", "x") })
    local full = { private = api.private, make_directory = function() return true end }
    local good, message = history.append(full, "/dev/full", "x")
    assert.is_nil(good)
    assert.equal("the history is not kept: No space left on device", message)
    good, message = history.append(full, directory, "x")
    assert.is_nil(good)
    assert.equal(("the history is not kept: %s: Is a directory"):format(directory), message)
  end)

  it("lies in the state directory of the user", function()
    local function path_with(environment)
      local code = 'package.path = "lua/?.lua;" .. package.path print(require "nslua.repl.history".path())'
      return (host.run(("env -u XDG_STATE_HOME -u HOME %s %s -e %s"):format(environment, host.quote(host.nslua),
        host.quote(code))))
    end
    assert.equal("/s/nslua/history\n", path_with "XDG_STATE_HOME=/s HOME=/h")
    assert.equal("/h/.local/state/nslua/history\n", path_with "HOME=/h")
    assert.equal("/h/.local/state/nslua/history\n", path_with "HOME=/h XDG_STATE_HOME=relative")
    assert.equal("nil\n", path_with "HOME=")
    assert.equal("nil\n", path_with "A=b")
  end)
end)
