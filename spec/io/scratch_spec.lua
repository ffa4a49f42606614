-- Private directories: whose they are, and that they go.
local host = require "host"
local process = require "nslua.core".process_support

-- Runs a chunk in an interpreter of its own with TMPDIR set; its output.
local function run_in(tmpdir, chunk)
  local out, err = host.run(("TMPDIR=%s %s -e %s"):format(host.quote(tmpdir), host.quote(host.nslua),
    host.quote('require "nslua" local process = require "nslua.core".process_support ' .. chunk)))
  return out .. err
end

describe("io.scratch", function()
  it("makes a directory that only this user can enter, each time another one", function()
    local first <close> = process.scratch()
    local second <close> = process.scratch()
    assert.not_equal(tostring(first), tostring(second))
    assert.equal("drwx------\n", (host.run("stat -c %A " .. host.quote(tostring(first)))))
  end)

  it("goes with the files in it when it is closed, and with the garbage", function()
    local path
    do
      local scratch <close> = process.scratch()
      path = tostring(scratch)
      for _, name in ipairs { "a", ".b", "c d" } do host.write(path .. "/" .. name, "x") end
      assert.equal(8, #host.list(path))
    end
    assert.is_nil((io.open(path)))
    path = tostring(process.scratch())
    collectgarbage()
    collectgarbage()
    assert.is_nil((io.open(path)))
  end)

  it("removes the links in it, not what they lead to", function()
    local directory = host.new_directory()
    host.write(directory .. "/kept", "x")
    do
      local scratch <close> = process.scratch()
      os.execute(("ln -s %s/kept %s/link; ln -s %s %s/all"):format(directory, tostring(scratch), directory, tostring(scratch)))
    end
    assert.equal("kept", host.list(directory))
    host.remove(directory)
  end)

  it("stands in TMPDIR, else in /tmp; where it cannot, that is said", function()
    local directory = host.new_directory()
    assert.matches("^" .. directory:gsub("%p", "%%%0") .. "/nslua%-%w+\n$", run_in(directory, "print(process.scratch())"))
    assert.matches("^/tmp/nslua%-%w+\n$", run_in("", "print(process.scratch())"))
    assert.equal("cannot make a directory in '/nonexistent': No such file or directory\n",
      run_in("/nonexistent", "print(select(2, pcall(process.scratch)))"))
    assert.equal("", host.list(directory))
    host.remove(directory)
  end)
end)
