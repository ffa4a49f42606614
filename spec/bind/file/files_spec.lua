-- ns.load and ns.save: what is written comes back to the last bit; what is damaged is refused.
local host = require "host"
local models = require "bind.models"
local ns = require "nslua"
local message = models.message

local directory
setup(function() directory = host.new_directory() end)
teardown(function() host.remove(directory) end)

local function path(name) return directory .. "/" .. name end

-- The bytes of a column, so that -0 and nan count.
local function bits(v)
  local parts = {}
  for i = 1, #v do parts[i] = ("<d"):pack(v[i]) end
  return table.concat(parts)
end

local odd = ns.vector { 0.1, -0.0, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2 ^ 53 + 2, 1 / 0, -1 / 0,
  -1e-5, 1e22,
  123456789012345680, 9007199254740993, 0.30000000000000004 }

describe("a run", function()
  local sol = models.relay(0.1):run()

  it("comes back from .csv and .npz bit for bit, and can be drawn and saved again", function()
    for _, kind in ipairs { "csv", "npz" } do
      sol:save(path("run." .. kind))
      local run = ns.load(path("run." .. kind))
      assert.same(sol:names(), run:names())
      assert.equal(#sol, #run)
      for _, name in ipairs(run:names()) do
        assert.is_true(bits(sol:column(name)) == bits(run:column(name)))
        assert.is_true(run[name] == run:column(name))
      end
      local fig = run:plot()
      assert.equal(sol.x1:copy(), fig.panels[1].artists[1].columns[2])
      run:save(path("again." .. kind))
      assert.is_true(host.read(path("run." .. kind)) == host.read(path("again." .. kind)))
      assert.equal("columns (11 rows): t, x1, x2, lambda1, y1, newton_iterations", tostring(run))
    end
    ns.save(path "other.csv", sol)
    assert.is_true(host.read(path "run.csv") == host.read(path "other.csv"))
  end)

  it("comes back from .npy as a matrix", function()
    sol:save(path "run.npy")
    local A = ns.load(path "run.npy")
    assert.same({ 11, 6 }, { A:rows(), A:cols() })
    for j, name in ipairs(sol:names()) do assert.is_true(bits(A:column(j)) == bits(sol:column(name))) end
  end)

  it("goes through pairs, in the order of the file", function()
    local file = os.tmpname() .. ".csv"
    assert.equal(0, select("#", ns.save(file, { t = { 0, 1 }, b = { 2, 3 }, a = { 4, 5 } })))
    local seen = {}
    for name, column in pairs(ns.load(file)) do seen[#seen + 1] = name .. column[2] end
    os.remove(file)
    assert.same({ "t1.0", "a5.0", "b3.0" }, seen)
  end)

  it("may have columns with the names of methods", function()
    ns.save(path "odd.csv", { column = { 1, 2 }, names = { 3, 4 }, t = { 0, 1 } })
    local run = ns.load(path "odd.csv")
    assert.same({ "t", "column", "names" }, run:names())
    assert.same({ 3, 4 }, run:column("names"):totable())
    assert.same({ 1, 2 }, run:column(2):totable())
  end)

  it("is a record: what is not in it is said", function()
    sol:save(path "run.csv")
    local run = ns.load(path "run.csv")
    assert.has_error(function() return run.foo end, "columns: it has no column or method 'foo'")
    assert.equal("column: no column is called 'foo' (known: t, x1, x2, lambda1, y1, newton_iterations)",
      message(run.column, run, "foo"))
    assert.equal("columns: x1: what has been loaded cannot be changed", message(function() run.x1 = 3 end))
    assert.is_true(run:column(2) == run.x1)
  end)
end)

describe("arrays", function()
  it("come back from .npy bit for bit", function()
    local A = ns.matrix { { 0.1, -0.0, 1 / 0 }, { 5e-324, 1 / 3, -2 } }
    for name, x in pairs { v = odd, A = A, row = ns.matrix { { 1, 2 } }, none = ns.vector(0), flat = ns.matrix(0, 3) } do
      ns.save(path(name .. ".npy"), x)
      local y = ns.load(path(name .. ".npy"))
      assert.equal(ns.ismatrix(x), ns.ismatrix(y))
      if ns.ismatrix(x) then
        assert.same({ x:rows(), x:cols() }, { y:rows(), y:cols() })
        for j = 1, x:cols() do assert.is_true(bits(x:column(j)) == bits(y:column(j))) end
      else
        assert.is_true(bits(x) == bits(y))
      end
    end
    ns.save(path "t.npy", { { 1, 2 }, { 3, 4 } })
    assert.equal(4, ns.load(path "t.npy")[2][2])
    ns.save(path "s.npy", odd(1, 9, 2)) -- a slice, not contiguous
    assert.is_true(bits(ns.load(path "s.npy")) == bits(odd(1, 9, 2):copy()))
  end)

  it("come back from .npz by name", function()
    ns.save(path "a.npz", { A = ns.eye(3), b = { 1, 2 }, t = odd, ["a b/é"] = ns.vector { 7 } })
    local all = ns.load(path "a.npz")
    assert.same({ "t", "A", "a b/é", "b" }, all:names())
    assert.equal(ns.eye(3), all.A)
    assert.equal(ns.vector { 1, 2 }, all.b)
    assert.is_true(bits(odd) == bits(all.t))
  end)

  it("come back from .csv, names with commas, quotes and line ends too", function()
    ns.save(path "a.csv", { t = odd, ['a,"b"\nc'] = odd * 2 })
    local all = ns.load(path "a.csv")
    assert.same({ "t", 'a,"b"\nc' }, all:names())
    assert.is_true(bits(odd) == bits(all.t) and bits(odd * 2) == bits(all['a,"b"\nc']))
    ns.save(path "m.csv", ns.matrix { { 1, 2 }, { 3, 4 } })
    assert.same({ "c1", "c2" }, ns.load(path "m.csv"):names())
  end)

  it("are refused where a file cannot hold them", function()
    assert.equal("save: 'x.txt': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat", message(ns.save, "x.txt", { 1 }))
    assert.equal("save: file: expected a string, got number", message(ns.save, 3, { 1 }))
    assert.equal("save: 'x.npy': expected a vector or a matrix, got table; .npz holds arrays by name", message(ns.save, "x.npy",
      { a = { 1 } }))
    assert.equal("save: 'x.npz': expected a table of arrays by name, got one array; .npy holds one", message(ns.save, "x.npz",
      ns.eye(2)))
    assert.equal("save: a: expected a vector or a matrix, got string", message(ns.save, "x.npz", { a = "b" }))
    assert.equal("save: a: rows[2]: expected 2 numbers, got 1", message(ns.save, "x.npz", { a = { { 1, 2 }, { 3 } } }))
    assert.equal([[save: data: expected names without a zero byte, got "a\0b"]], message(ns.save, "x.npz",
      { ["a\0b"] = { 1 } }))
    assert.equal("save: data: expected names as keys, got 1", message(ns.save, "x.npz", { { 1 }, { 2 } }))
    assert.equal("save: data: expected a vector, a matrix or a table of them by name, got nil", message(ns.save, "x.csv"))
    assert.equal("save: 'b': expected a column of 1 numbers", message(ns.save, path "x.csv", { a = { 1 }, b = { 1, 2 } }))
    assert.equal("cannot write '/nonexistent/x.npz': No such file or directory", message(ns.save, "/nonexistent/x.npz",
      { a = { 1 } }))
    assert.equal("cannot write '/dev/full': No space left on device",
      message(require "nslua.core".file_support.save_npz, "/dev/full", { "a" }, { { 1 } }))
  end)
end)

describe("load", function()
  local function csv(text)
    host.write(path "c.csv", text)
    return ns.load(path "c.csv")
  end

  it("reads text as others write it", function()
    local c = csv "\xef\xbb\xbf# a comment\r\na, b ,\"c, \"\"d\"\"\"\r\n1,,nan\r\n\r\n 2 ,-Infinity,+1e3\r\n"
    assert.same({ "a", " b ", 'c, "d"' }, c:names())
    assert.equal(ns.vector { 1, 2 }, c.a)
    assert.is_true(c[" b "][1] ~= c[" b "][1] and c[" b "][2] == -1 / 0)
    assert.equal(1000, c['c, "d"'][2])
    c = csv "1,2\n3,4"
    assert.same({ "c1", "c2" }, c:names())
    assert.equal(ns.vector { 1, 3 }, c.c1)
    c = csv "k,case\n1,stick\n2,3\n4,\n" -- a column of texts
    assert.same({ "stick", 3, "" }, c.case)
    c = csv "k,case\n1,2\n2,\"a\"\"b\"\n"
    assert.same({ 2, 'a"b' }, c.case)
    assert.equal(0, #csv "a,b\n")
    assert.same({}, csv "":names())
  end)

  it("finds what stands between cells, and in numbers", function()
    local c = csv "t;x\r\n0;1,5\r\n0,1;-2,5e-3\r\n"
    assert.same({ "t", "x" }, c:names())
    assert.same({ 0, 0.1 }, c.t:totable())
    assert.same({ 1.5, -2.5e-3 }, c.x:totable())
    assert.same({ 0.5, 1.5 }, csv "t;x\n0;0.5\n1;1.5\n".x:totable())
    c = csv "0,1;0,2\n0,3;0,4\n" -- no names
    assert.same({ { 0.1, 0.3 }, { 0.2, 0.4 } }, { c.c1:totable(), c.c2:totable() })
    assert.same({ 2.5, 4 }, csv "a\tb\n1\t2.5\n3\t4\n".b:totable())
    assert.same({ 2.5, 4 }, csv "a\tb\n1\t2,5\n3\t4\n".b:totable())
    assert.same({ "1,234", 4 }, csv "a\tb\n1\t1,234\n3\t4\n".b) -- thousands or 1.234: nobody knows
    assert.same({ 1.234, 4 }, csv "a;b\n1;1,234\n3;4\n".b:totable())
    assert.same({ "x, y", "z" }, csv "a;b\n1;x, y\n2;z\n".b)
    assert.same({ "a;b" }, csv '"a;b"\n1\n':names())
    assert.same({ "a;b", "c" }, csv "a;b,c\n1,2\n":names())
    assert.same({ "a;b" }, csv "a;b\n1\n2\n":names())
    assert.same({ "1.234", 0.5 }, csv "a;b\n1;1.234\n3;0,5\n".b) -- in a file of decimal commas
    assert.equal("columns (1 row): a, b", tostring(csv "a;b\n1;2\n"))
  end)

  it("of a later row of another length is an error, whatever stands between cells", function()
    for _, separator in ipairs { ",", ";", "\t" } do
      for _, row in ipairs { "5,6,7", "5" } do
        local text = "a,b\n1,2\n3,4\n" .. row .. "\n"
        host.write(path "c.csv", (text:gsub(",", separator)))
        assert.matches("line 4: expected 2 cells, got " .. (row == "5" and "1" or "3"), message(ns.load, path "c.csv"))
      end
    end
    host.write(path "c.csv", "0,5;1,25\n0,6;1,5\n0,7\n")
    assert.matches("line 3: expected 2 cells, got 1", message(ns.load, path "c.csv"))
  end)

  it("is told what stands between cells, and in numbers", function()
    local function given(text, options)
      host.write(path "c.csv", text)
      return ns.load(path "c.csv", options)
    end
    assert.same({ "a;b" }, given("a;b\n1;2\n", { separator = "," }):names())
    assert.same({ 1.234, 4 }, given("a\tb\n1\t1,234\n3\t4\n", { decimal = "," }).b:totable())
    assert.same({ "1,5", 4 }, given("a;b\n1;1,5\n3;4\n", { decimal = "." }).b)
    assert.same({ 1 }, given("a;b;c\n1;2;3\n", { separator = ";" }).a:totable())
    local function refused(expected, ...) assert.equal(expected, message(ns.load, ...)) end
    refused([[load: separator: expected ",", ";" or "\t", got ":"]], "a.csv", { separator = ":" })
    refused([[load: decimal: expected "." or ",", got 3]], "a.csv", { decimal = 3 })
    refused([[load: decimal: a comma cannot stand both between cells and in numbers: give another separator]], "a.csv",
      { separator = ",", decimal = "," })
    refused("load: unknown option 'sep' of a .csv file (known: separator, decimal)", "a.csv", { sep = ";" })
    refused("load: unknown option 'separator' of a .npz file (known: limit)", "a.npz", { separator = ";" })
    refused("load: unknown option 'limit' of a .npy file (there is none)", "a.npy", { limit = 3 })
    refused("load: options: expected a table, got string", "a.csv", ";")
    refused("load: limit: expected a number of bytes, got -1", "a.npz", { limit = -1 })
  end)

  it("finds the form of random tables of both kinds", function()
    math.randomseed(11)
    for _ = 1, 300 do
      local separator = ({ ",", ";", "\t" })[math.random(3)]
      local decimal = separator ~= "," and math.random(2) == 1 and "," or "."
      local cols, rows, lines, columns = math.random(2, 5), math.random(1, 30), {}, {}
      if math.random(2) == 1 then
        lines[1] = table.concat({ "t", "x", "y", "z", "w" }, separator, 1, cols)
      end
      for i = 1, rows do
        local cells = {}
        for j = 1, cols do
          columns[j] = columns[j] or {}
          columns[j][i] = math.random(-20, 20) / 8
          cells[j] = tostring(columns[j][i]):gsub("%.", decimal)
        end
        lines[#lines + 1] = table.concat(cells, separator)
      end
      local loaded = csv(table.concat(lines, "\n"))
      assert.equal(cols, #loaded:names())
      for j = 1, cols do assert.same(columns[j], loaded:column(j):totable()) end
    end
  end)

  it("says where a text is not a table", function()
    assert.equal(("cannot read '%s': line 4: expected 2 cells, got 3"):format(path "c.csv"), message(csv, "a,b\n1,2\n\n1,2,3\n"))
    assert.equal(("cannot read '%s': line 2: expected 2 cells, got 1"):format(path "c.csv"), message(csv, "a,b\n1"))
    assert.equal("cannot read '/nonexistent/a.csv': No such file or directory", message(ns.load, "/nonexistent/a.csv"))
    assert.equal("load: 'a.txt': expected a name that ends in .csv, .npy, .npz, .h5, .nc or .mat", message(ns.load, "a.txt"))
  end)

  it("takes no bytes for an array that are none", function()
    ns.save(path "a.npy", odd)
    local whole = host.read(path "a.npy")
    for cut = 0, #whole - 1, 7 do
      host.write(path "cut.npy", whole:sub(1, cut))
      assert.equal(("cannot read '%s': it is not a .npy file, or is cut off"):format(path "cut.npy"), message(ns.load,
        path "cut.npy"))
    end
    local function header(text)
      host.write(path "h.npy", "\x93NUMPY\1\0" .. ("<I2"):pack(#text) .. text .. ("\0"):rep(64))
      return path "h.npy"
    end
    local function refused(reason, text)
      assert.equal(("cannot read '%s': %s"):format(path "h.npy", reason), message(ns.load, header(text)))
    end
    refused("arrays of '<c16' are not read", "{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }\n")
    refused("arrays of records are not read", "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }\n")
    refused("arrays of more than two dimensions are not read", "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 1), }\n")
    refused("it is not a .npy file, or is cut off", "{'descr': '<f8', 'fortran_order': False, 'shape': (9,), }\n")
    refused("it is not a .npy file, or is cut off",
      "{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999, 999999999999), }\n")
    refused("it is not a .npy file, or is cut off", "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }\n")
    refused("it is not a .npy file, or is cut off", "{'descr': '<f8', 'fortran_order': False, 'shape': (1")
  end)

  it("takes no archive that is damaged", function()
    ns.save(path "a.npz", { a = odd, b = ns.eye(2) })
    local whole = host.read(path "a.npz")
    local function try(bytes)
      host.write(path "bad.npz", bytes)
      local good, result = pcall(ns.load, path "bad.npz")
      if good then return true, result end
      assert.matches("cannot read '" .. path "bad.npz" .. "': ", result, 1, true)
    end
    for cut = 0, #whole - 1, 11 do assert.is_nil((try(whole:sub(1, cut)))) end
    local accepted = 0
    for at = 1, #whole, 2 do -- one byte changed: refused, or it was one that says nothing about the contents
      local good, result = try(whole:sub(1, at - 1) .. string.char(whole:byte(at) ~ 0x55) .. whole:sub(at + 1))
      if good then
        accepted = accepted + 1
        local first = result:names()[1]
        if first == "a" then assert.is_true(bits(result.a) == bits(odd)) end
      end
    end
    assert.is_true(accepted < #whole / 8)
    assert.equal(("cannot read '%s': it is not an .npz file (a .zip archive), or is cut off"):format(path "bad.npz"),
      message(function() host.write(path "bad.npz", "hello") ns.load(path "bad.npz") end))
  end)

  -- An archive of one part that claims to hold `size` bytes.
  local function packed(name, size, body, method)
    local local_header = ("<c4I2I2I2I2I2I4I4I4I2I2"):pack("PK\3\4", 20, 0, method, 0, 0x21, 0, #body, size, #name, 0) .. name
    local central = ("<c4I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4"):pack("PK\1\2", 20, 20, 0, method, 0, 0x21, 0, #body, size, #name, 0, 0,
      0, 0, 0, 0) .. name
    return local_header .. body .. central .. ("<c4I2I2I2I2I4I4I2"):pack("PK\5\6", 0, 0, 1, 1, #central, #local_header + #body, 0)
  end

  it("unpacks no more of an archive than a limit that can be raised", function()
    local body = ("\0"):rep(4 << 20)
    host.write(path "bomb.npz", packed("x.npy", (4 << 30) - 1, body, 8))
    assert.equal(("cannot read '%s': 'x' and what comes before it unpack to 4294967295 bytes, above the limit of 1073741824; "
      .. "ns.load(file, {limit = bytes}) sets another"):format(path "bomb.npz"), message(ns.load, path "bomb.npz"))
    assert.matches("above the limit of 1000;", message(ns.load, path "bomb.npz", { limit = 1000 }), 1, true)
    host.write(path "small.npz", packed("x.npy", 2000, ("\0"):rep(100), 8))
    assert.matches("'x' and what comes before it unpack to 2000 bytes, above the limit of 1999;", message(ns.load, path "small.npz",
      { limit = 1999 }), 1, true)
    assert.equal(("cannot read '%s': part 'x.npy' is damaged"):format(path "small.npz"), message(ns.load, path "small.npz",
      { limit = 2000 }))
    ns.save(path "plain.npz", { a = ns.zeros(1000) }) -- what is not packed is as large as its file
    assert.equal(1000, #ns.load(path "plain.npz", { limit = 10 }).a)
  end)

  it("leaves out what is no array of numbers in an archive, and tells", function()
    local function npy(description, shape, body)
      local text = ("{'descr': %s, 'fortran_order': False, 'shape': %s, }\n"):format(description, shape)
      return "\x93NUMPY\1\0" .. ("<I2"):pack(#text) .. text .. body
    end
    local function crc(text)
      local sum = 0xffffffff
      for i = 1, #text do
        sum = sum ~ text:byte(i)
        for _ = 1, 8 do sum = sum & 1 == 1 and sum >> 1 ~ 0xedb88320 or sum >> 1 end
      end
      return sum ~ 0xffffffff
    end
    local parts = { { "a", npy("'<f8'", "(2,)", ("<dd"):pack(1, 2)) }, { "label", npy("'<U3'", "(1,)", ("\0"):rep(12)) },
      { "S", npy("'|S1'", "(2,)", "xy") }, { "o", npy("'|O'", "(1,)", "(I1\n.") }, { "r", npy("[('k', '<i4')]", "(1,)", "abcd") },
      { "cube", npy("'<f8'", "(1, 1, 1)", ("\0"):rep(8)) }, { "z", npy("'<f8'", "(1,)", ("<d"):pack(3)) } }
    local body, central = "", ""
    for _, part in ipairs(parts) do
      local name, bytes = part[1] .. ".npy", part[2]
      central = central .. ("<c4I2I2I2I2I2I2I4I4I4I2I2I2I2I2I4I4"):pack("PK\1\2", 20, 20, 0, 0, 0, 0x21, crc(bytes), #bytes, #bytes,
        #name, 0, 0, 0, 0, 0, #body) .. name
      body = body .. ("<c4I2I2I2I2I2I4I4I4I2I2"):pack("PK\3\4", 20, 0, 0, 0, 0x21, crc(bytes), #bytes, #bytes, #name, 0)
        .. name .. bytes
    end
    host.write(path "mixed.npz", body .. central .. ("<c4I2I2I2I2I4I4I2"):pack("PK\5\6", 0, 0, #parts, #parts, #central, #body, 0))
    local run = ns.load(path "mixed.npz")
    assert.same({ "a", "z" }, run:names())
    assert.same({ 1, 2 }, run.a:totable())
    assert.equal(3, run.z[1])
    assert.equal("columns (2 rows): a, z; not read: S, cube, label, o, r", tostring(run))
    assert.same({ label = "arrays of '<U3' are not read", S = "arrays of '|S1' are not read", o = "arrays of '|O' are not read",
      r = "arrays of records are not read", cube = "arrays of more than two dimensions are not read" }, run:unread())
    assert.equal("column: 'label' was not read: arrays of '<U3' are not read", message(function() return run.label end))
    ns.save(path "a.npz", { a = { 1, 2 }, z = { 3 } })
    assert.same({}, ns.load(path "a.npz"):unread())
  end)

  it("and save go together with numpy", function()
    if (select(3, host.run "/usr/bin/python3 -c 'import numpy'")) ~= 0 then return pending "no numpy" end
    ns.save(path "n.npz", { a = odd, M = ns.matrix { { 1, 2, 3 }, { 4, 5, 6 } } })
    local out = host.run(("cd %s && /usr/bin/python3 -c '%s'"):format(directory, [[
import numpy as n
f = n.load("n.npz")
print(f["M"].tolist(), f["a"].dtype, f["a"][0] == 0.1)
n.savez("o.npz", a=f["a"], M=n.arange(6, dtype=n.int32).reshape(2, 3), s=n.float32(1.5), b=n.array([True, False]))
n.savez_compressed("c.npz", a=f["a"], M=n.arange(6).reshape(2, 3), big=n.sin(n.arange(10000) / 100), z=n.zeros(100000))
n.save("be.npy", f["a"].astype(">f8"))]]))
    assert.equal("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] float64 True\n", out)
    for _, name in ipairs { "o.npz", "c.npz" } do
      local f = ns.load(path(name))
      assert.is_true(bits(f.a) == bits(odd))
      assert.equal(ns.matrix { { 0, 1, 2 }, { 3, 4, 5 } }, f.M)
    end
    assert.equal(ns.vector { 1.5 }, ns.load(path "o.npz").s)
    assert.equal(ns.vector { 1, 0 }, ns.load(path "o.npz").b)
    local c = ns.load(path "c.npz")
    assert.equal(100000, #c.z)
    for k = 0, 9999, 99 do assert.near(math.sin(k / 100), c.big[k + 1], 1e-15) end
    assert.is_true(bits(ns.load(path "be.npy")) == bits(odd))
  end)
end)
