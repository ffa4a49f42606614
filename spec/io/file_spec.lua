local host = require "host"

require "nslua"
local internal = require "nslua.internal"
local open = internal.file_open

describe("io.file", function()
  local directory

  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  it("gives the name only at the commit", function()
    local path = directory .. "/a.txt"
    local file = open(path)
    file:print "hello\n"
    assert.is_nil(host.read(path))
    file:commit()
    assert.equal("hello\n", host.read(path))
    assert.equal("a.txt", host.list(directory))
  end)

  it("keeps the old contents until then, and after an abort", function()
    local path = directory .. "/a.txt"
    host.write(path, "old")
    local file = open(path)
    file:write "new"
    assert.equal("old", host.read(path))
    file:abort()
    assert.equal("old", host.read(path))
    assert.equal("a.txt", host.list(directory))
  end)

  it("is dropped with its last reference", function()
    open(directory .. "/a.txt"):write "never"
    collectgarbage()
    collectgarbage()
    assert.equal("", host.list(directory))
  end)

  it("takes pieces of any size, binary too", function()
    local path, pieces = directory .. "/a.bin", {}
    local file = open(path)
    for i, size in ipairs { 0, 1, 1023, 1024, 65535, 65536, 65537, 200000, 3 } do
      pieces[i] = ("\0\n\255" .. i):rep(size):sub(1, size)
      file:write(pieces[i])
    end
    file:commit()
    assert.is_true(host.read(path) == table.concat(pieces))
  end)

  it("prints texts longer than its reserve", function()
    local path, text = directory .. "/a.txt", ("x"):rep(70000)
    local file = open(path)
    file:print(text)
    file:print "y"
    file:print(text:sub(1, 1024))
    file:commit()
    assert.is_true(host.read(path) == text .. "y" .. text:sub(1, 1024))
  end)

  it("does not appear when a long text found no memory", function()
    local path, text = directory .. "/a.txt", ("x"):rep(70000)
    local file = open(path)
    assert.same({ true, true }, { internal.failing(0, false, file.print, file, text) })
    file:print "y"
    assert.error_matches(function() file:commit() end, "cannot write '" .. path .. "': Cannot allocate memory", 1, true)
    assert.equal("", host.list(directory))
  end)

  it("writes two files of one name without mixing them", function()
    local path = directory .. "/a.txt"
    local one, two = open(path), open(path)
    one:write "one"
    two:write "two"
    two:commit()
    assert.equal("two", host.read(path))
    one:commit()
    assert.equal("one", host.read(path))
    assert.equal("a.txt", host.list(directory))
  end)

  it("keeps the mode of a file and follows a symbolic link", function()
    local path, link = directory .. "/a.txt", directory .. "/link"
    host.write(path, "old")
    os.execute(("chmod 640 %s && ln -s a.txt %s"):format(path, link))
    local file = open(link)
    file:write "new"
    file:commit()
    assert.equal("new", host.read(path))
    assert.equal("640\n", (host.run("stat -c %a " .. path)))
    assert.equal("symbolic link\n", (host.run("stat -c %F " .. link)))
  end)

  it("names the file and the reason when it cannot be opened", function()
    assert.has_error(function() open(directory .. "/no/a.txt") end,
      ("cannot write '%s/no/a.txt': No such file or directory"):format(directory))
    assert.has_error(function() open(directory) end, ("cannot write '%s': Is a directory"):format(directory))
    host.write(directory .. "/plain", "")
    assert.has_error(function() open(directory .. "/plain/a.txt") end,
      ("cannot write '%s/plain/a.txt': Not a directory"):format(directory))
  end)

  it("respects permissions", function()
    if (host.run "id -u") == "0\n" then return pending "root may write anywhere" end
    local path = directory .. "/a.txt"
    host.write(path, "old")
    os.execute("chmod 400 " .. path)
    assert.has_error(function() open(path) end, ("cannot write '%s': Permission denied"):format(path))
    os.execute("chmod 500 " .. directory)
    assert.has_error(function() open(directory .. "/b.txt") end,
      ("cannot write '%s/b.txt': Permission denied"):format(directory))
    os.execute("chmod 700 " .. directory)
  end)

  it("reports a full disk at the commit, whatever the size", function()
    for _, size in ipairs { 1, 100000 } do
      local file = open "/dev/full"
      file:write(("x"):rep(size))
      file:write "more"
      assert.has_error(function() file:commit() end, "cannot write '/dev/full': No space left on device")
    end
  end)

  it("leaves nothing behind when the rename fails", function()
    local path = directory .. "/a.txt"
    local file = open(path)
    file:write "text"
    os.execute("mkdir " .. path)
    assert.has_error(function() file:commit() end, ("cannot write '%s': Is a directory"):format(path))
    assert.equal("a.txt", host.list(directory))
    assert.has_error(function() file:write "x" end, "file is closed")
  end)

  it("reports a file that grew over the limit and keeps the old one", function()
    local path = directory .. "/a.txt"
    host.write(path, "old")
    local code = ([[
      package.path = %q .. package.path
      local file = require("nslua.internal").file_open(%q)
      for _ = 1, 100 do file:write(("x"):rep(65536)) end
      file:commit()]]):format(host.root .. "/spec/?.lua;", path)
    local limited = "trap '' XFSZ; ulimit -f 64; exec " .. host.nslua
    local _, err, status = host.run(limited .. " -e " .. host.quote(code))
    assert.matches(("cannot write '%s': File too large"):format(path:gsub("%p", "%%%0")), err)
    assert.equal(1, status)
    assert.equal("old", host.read(path))
    assert.equal("a.txt", host.list(directory))
  end)
end)

describe("reading with io.file", function()
  local load = require("nslua.internal").file_load

  it("takes files of any size, and what has no size", function()
    local directory = host.new_directory()
    for _, size in ipairs { 0, 1, 65534, 65535, 65536, 65537, 1000003 } do
      local text = ("\0\n\255x"):rep(size // 4 + 1):sub(1, size)
      host.write(directory .. "/a", text)
      assert.is_true(load(directory .. "/a") == text)
    end
    assert.matches("MemTotal", load "/proc/meminfo")
    assert.equal("", load "/dev/null")
    assert.has_error(function() load(directory) end, ("cannot read '%s': Is a directory"):format(directory))
    assert.has_error(function() load(directory .. "/b") end, ("cannot read '%s/b': No such file or directory"):format(directory))
    host.remove(directory)
  end)
end)
