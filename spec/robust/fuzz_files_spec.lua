-- Files of arbitrary bytes. The readers in C get files written by the toolkit, kept findings, and changed files; then ns.load
-- reads such files, and what it read is written and read again. `make fuzz` searches further with libFuzzer.
local ns = require "nslua"
local host = require "host"

local soak = os.getenv "NSLUA_SOAK"
local targets = { csv = 3000, npy = 3000, npz = 3000, checkpoint = 1000, stream = 2000, number = 10000 }

describe("files of any bytes", function()
  local directory, seeds
  setup(function() -- in memory where there is such a directory: each file is synced
    directory = host.run("mktemp -d /dev/shm/nslua-spec.XXXXXX"):match "^[^\n]+" or host.new_directory()
    seeds = directory .. "/seeds"
    local _, err, status = host.nslua_run(host.root .. "/spec/robust/fuzz_seeds.lua " .. seeds)
    assert(status == 0, err)
  end)
  teardown(function() os.execute("rm -rf " .. host.quote(directory)) end)

  for target, count in pairs(targets) do
    it("do no harm to the reader of " .. target, function()
      local program, kept = host.make "robust/fuzz_files", host.root .. "/spec/robust/inputs/" .. target
      local out, err, status = host.run(("cd %s && NSLUA_FUZZ_DIRECTORY=. %s %s %d %d $(find %s/%s %s -type f | sort)"):format(
        directory, program, target, soak and 100 * count or count, soak and os.time() or 1, seeds, target, kept))
      assert(status == 0, ("%s\n%s"):format(status, err))
      assert.is_true(tonumber(out:match "^(%d+) inputs\n$") > count, out)
    end)
  end

  -- ---- ns.load ----

  local function same(a, b)
    if type(a) == "number" then return type(b) == "number" and (a == b or a ~= a and b ~= b) end
    if type(a) == "string" then return a == b end
    if ns.ismatrix(a) then
      if a:rows() ~= b:rows() or a:cols() ~= b:cols() then return false end
      for i = 1, a:rows() do
        for j = 1, a:cols() do if not same(a(i, j), b(i, j)) then return false end end
      end
      return true
    end
    if #a ~= #b then return false end
    for i = 1, #a do if not same(a[i], b[i]) then return false end end
    return true
  end

  local function same_columns(a, b)
    local names = a:names()
    assert.same(names, b:names())
    for _, name in ipairs(names) do assert.is_true(same(a:column(name), b:column(name)), name) end
  end

-- A text with some bytes changed, removed or doubled.
  local function changed(text)
    local odd = { "\0", "\255", '"', ",", ";", "\t", "\n", "#", "9", "(", "e" }
    for _ = 1, math.random(3) do
      local at = math.random(#text + 1)
      local tail = text:sub(at + math.random(0, 2))
      text = text:sub(1, at - 1) .. (math.random(3) == 1 and text:sub(at, at + 7) or odd[math.random(#odd)]) .. tail
    end
    return text
  end

  for _, name in ipairs { "csv/names.csv", "csv/windows.csv", "csv/texts.csv", "csv/matrix.csv", "npy/matrix.npy",
    "npz/two.npz" } do
    it("are read by ns.load or refused by name, those like " .. name, function()
      math.randomseed(11)
      local text, kind, read, texts = host.read(seeds .. "/" .. name), name:match "%w+$", 0, 0
      local path, again = directory .. "/a." .. kind, directory .. "/b." .. kind
      for _ = 1, soak and 20000 or 200 do
        host.write(path, changed(text))
        local good, data = pcall(ns.load, path)
        if not good then
          assert.matches("cannot read '" .. path .. "': ", data, 1, true)
        else
          local saved, message = pcall(ns.save, again, data)
          if not saved then -- texts, and names that are there twice, are no numbers to be saved
            texts = texts + 1
            assert.matches("save: ", message, 1, true)
          elseif kind == "npy" then
            assert.is_true(same(data, ns.load(again)))
          else
            same_columns(data, ns.load(again))
          end
          read = read + 1
        end
      end
      assert.is_true(read >= (kind == "npz" and 1 or 10), read)
      assert.is_true(texts < read or name == "csv/texts.csv", texts)
    end)
  end
end)
