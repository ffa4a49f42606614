-- Programs run without a shell.
local host = require "host"
local process = require "nslua.core".process_support

describe("io.process", function()
  it("gives a program its input and takes all that it writes", function()
    local bytes = {}
    for i = 0, 255 do bytes[i + 1] = string.char(i) end
    local text = table.concat(bytes):rep(20000) -- 5 MB: more than pipes hold, both ways at once
    local result = process.run({ "cat" }, text)
    assert.is_true(result.out == text)
    assert.equal("", result.err)
    assert.equal(0, result.status)
    assert.is_nil(result.signal)
  end)

  it("keeps the two outputs apart and tells the exit status", function()
    local result = process.run { "sh", "-c", "echo out; echo err >&2; exit 3" }
    assert.same({ out = "out\n", err = "err\n", status = 3 }, result)
  end)

  it("passes arguments as they are: no shell reads them", function()
    local directory = host.new_directory()
    local nasty = { "a b", "$HOME", "`touch " .. directory .. "/x`", "'\"\\", "| rm", "; touch " .. directory .. "/y", "*", "",
      "\n" }
    local result = process.run { "printf", "%s\\0", table.unpack(nasty) }
    assert.equal(table.concat(nasty, "\0") .. "\0", result.out)
    assert.equal("", host.list(directory))
    host.remove(directory)
  end)

  it("is not hurt by a program that does not read", function()
    local text = ("x"):rep(1000000)
    assert.equal(0, process.run({ "true" }, text).status)
    assert.same({ out = "hi\n", err = "", status = 0 }, process.run({ "sh", "-c", "exec <&-; echo hi" }, text))
    -- the child starts with SIGPIPE as it is by default
    assert.equal("", process.run({ "sh", "-c", "yes | head -c 1 >/dev/null" }).err)
  end)

  it("does not wait for what the program leaves running", function()
    local start = os.time()
    assert.equal("done\n", process.run({ "sh", "-c", "sleep 20 & echo done" }).out)
    assert.is_true(os.time() - start < 10)
  end)

  it("waits for a program that has closed its outputs", function()
    local result = process.run { "sh", "-c", "exec >&- 2>&-; sleep 0.1; exit 7" }
    assert.equal(7, result.status)
  end)

  it("tells what signal ended the program", function()
    local result = process.run { "sh", "-c", "kill -TERM $$" }
    assert.equal(15, result.signal)
  end)

  it("says what it cannot run, and whether it is missing", function()
    local result, message, missing = process.run { "nslua-no-such-program" }
    assert.is_nil(result)
    assert.equal("cannot run 'nslua-no-such-program': No such file or directory", message)
    assert.is_true(missing)
    result, message, missing = process.run { "/" }
    assert.is_nil(result)
    assert.equal("cannot run '/': Permission denied", message)
    assert.is_false(missing)
  end)

  it("leaves no descriptor open", function()
    collectgarbage()
    collectgarbage()
    local function count() -- the least of some: a count may come before the ends of its own pipes are closed
      local least = math.huge
      for _ = 1, 10 do least = math.min(least, tonumber(process.run({ "sh", "-c", "ls /proc/$PPID/fd | wc -l" }).out)) end
      return least
    end
    local before = count()
    for _ = 1, 20 do
      process.run({ "true" }, ("x"):rep(100000))
      process.run { "nslua-no-such-program" }
    end
    assert.is_true(count() <= before) -- what others left open may be collected meanwhile
  end)

  it("runs where the standard streams are closed", function()
    local code = [[local p = require "nslua.core".process_support
      local r = p.run({ "cat" }, "abc")
      os.exit(r.out == "abc" and r.status == 0 and 0 or 1)]]
    local _, _, status = host.run(("%s -e %s <&- >&- 2>&-"):format(host.quote(host.nslua),
      host.quote('require "nslua" ' .. code)))
    assert.equal(0, status)
  end)

  it("gives the program a process group of its own, so that keys of the terminal are not its concern", function()
    local result = process.run { "sh", "-c", "cut -d\" \" -f5 /proc/$$/stat /proc/$PPID/stat; echo $$" }
    local group, ours, id = result.out:match "(%d+)%s+(%d+)%s+(%d+)"
    assert.equal(id, group)
    assert.not_equal(ours, group)
  end)

  it("is stopped by a SIGINT, and the program with it", function()
    local directory = host.new_directory()
    local code = ([[local p = require "nslua.core".process_support
      print(pcall(p.run, { "sh", "-c", "echo $$ > %s/pid; exec sleep 60" }))]]):format(directory)
    local command = ("%s -e %s & pid=$!; while [ ! -s %s/pid ]; do sleep 0.05; done; kill -INT $pid; wait $pid"):format(
      host.quote(host.nslua), host.quote('require "nslua" ' .. code), directory)
    local start = os.time()
    local out = host.run("set -m; " .. command)
    assert.matches("^false\t.*interrupted", out)
    assert.is_true(os.time() - start < 20)
    local pid = host.read(directory .. "/pid"):match "%d+"
    assert.not_equal(0, (select(3, host.run("kill -0 " .. pid))))
    host.remove(directory)
  end)

  it("says so when there are no descriptors left for its pipes #once", function()
    local code = [[require "nslua" local p = require "nslua.core".process_support
      for _ = 1, 3 do print(p.run { "true" }) end]]
    local told, free = 0, 0
    for most = 5, 16 do -- the first pipe fails, the second one, the third one, moving up their ends; or nothing does
      local out = host.run(("ulimit -n %d; %s -e %s"):format(most, host.quote(host.nslua), host.quote(code)))
      local failed = select(2, out:gsub("nil\tcannot run 'true': Too many open files", ""))
      assert.is_true(failed == 0 or failed == 3, out)
      told, free = told + failed, free + select(2, out:gsub("table:", ""))
    end
    assert.is_true(told >= 9 and free >= 3, ("%d told, %d free"):format(told, free))
  end)

  it("refuses what are no arguments", function()
    assert.has_error(function() process.run { "a", 1 } end, "run: argument 2: expected a string")
    assert.has_error(function() process.run { "a\0b" } end, "run: argument 1: it holds a zero byte")
    assert.has_error(function() process.run {} end)
  end)
end)
