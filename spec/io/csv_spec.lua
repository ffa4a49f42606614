local host = require "host"

require "nslua"
local write = require("nslua.core").file_support.save_csv

-- An independent reader: fields by line, quotes honoured.
local function parse(text)
  local rows, row, at = {}, {}, 1
  while at <= #text do
    local field, stop
    if text:sub(at, at) == '"' then
      stop = at
      repeat stop = text:find('"', stop + 1, true); local twice = text:sub(stop + 1, stop + 1) == '"'
        if twice then stop = stop + 1 end
      until not twice
      field = text:sub(at + 1, stop - 1):gsub('""', '"')
      stop = stop + 1
    else
      stop = text:find("[,\n]", at)
      field = text:sub(at, stop - 1)
    end
    row[#row + 1] = field
    if text:sub(stop, stop) == "\n" then rows[#rows + 1], row = row, {} end
    at = stop + 1
  end
  return rows
end

describe("io.csv", function()
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/run.csv"
  end)
  after_each(function() host.remove(directory) end)

  it("writes a header and the rows", function()
    write(path, { "t", "x[1]" }, { { 0, 0.5, 1 }, { 1, -0.25, 1e-9 } })
    assert.equal("t,x[1]\n0,1\n0.5,-0.25\n1,1e-09\n", host.read(path))
  end)

  it("gives every double back, bit by bit", function()
    math.randomseed(3)
    local columns = { {}, {}, {} }
    for i = 1, 1000 do
      columns[1][i] = math.random()
      columns[2][i] = math.random(-100, 100)
      columns[3][i] = (math.random() - 0.5) * 10.0 ^ math.random(-300, 300)
    end
    write(path, { "a", "b", "c" }, columns)
    local rows = parse(host.read(path))
    assert.equal(1001, #rows)
    for i = 1, 1000 do
      for j = 1, 3 do assert.is_true(tonumber(rows[i + 1][j]) == columns[j][i]) end
    end
  end)

  it("writes nan and the infinities by name", function()
    write(path, { "v" }, { { 0 / 0, 1 / 0, -1 / 0 } })
    assert.equal("v\nnan\ninf\n-inf\n", host.read(path))
  end)

  it("quotes a name that needs it", function()
    local names = { "plain", "a,b", 'say "x"', "two\nlines", "" }
    write(path, names, { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } })
    assert.equal('plain,"a,b","say ""x""","two\nlines",""\n1,2,3,4,5\n', host.read(path))
    assert.same(names, parse(host.read(path))[1])
  end)

  it("quotes a name that would else be a comment, a mark, an empty line or a number", function()
    local ns = require "nslua"
    for _, name in ipairs { "#x", "\xef\xbb\xbft", "", "1", " -2.5e3", "nan", "Inf" } do
      ns.save(path, { [name] = { 1, 2 } })
      assert.equal('"' .. name .. '"\n1\n2\n', host.read(path))
      local back = ns.load(path)
      assert.same({ name }, back:names())
      assert.equal(ns.vector { 1, 2 }, back:column(name))
    end
    ns.save(path, { t = { 0 }, ["1e"] = { 1 }, ["0x1"] = { 2 } })
    assert.equal("t,0x1,1e\n0,2,1\n", host.read(path))
  end)

  it("writes no name that holds a zero byte", function()
    local ns, support = require "nslua", require "nslua.core".file_support
    for _, kind in ipairs { "csv", "npz" } do
      local file = directory .. "/b." .. kind
      assert.error_matches(function() ns.save(file, { ["a\0b"] = { 1 } }) end,
        [[save: data: expected names without a zero byte, got "a\0b"]], 1, true)
      assert.error_matches(function() support["save_" .. kind](file, { "a\0b" }, { ns.vector { 1 } }) end,
        "save: 'a': a name cannot hold a zero byte", 1, true) -- as a file has them that others wrote
    end
    assert.equal("", host.list(directory))
  end)

  it("writes a header alone when there are no rows", function()
    write(path, { "t", "x" }, { {}, {} })
    assert.equal("t,x\n", host.read(path))
  end)

  it("fails on a full disk and leaves no file where it cannot write", function()
    assert.has_error(function() write("/dev/full", { "t" }, { { 1 } }) end,
      "cannot write '/dev/full': No space left on device")
    assert.has_error(function() write(directory .. "/no/run.csv", { "t" }, { { 1 } }) end,
      ("cannot write '%s/no/run.csv': No such file or directory"):format(directory))
    assert.equal("", host.list(directory))
  end)
end)

describe("the reader of io.csv", function()
  local ns = require "nslua"
  local directory, path

  before_each(function()
    directory = host.new_directory()
    path = directory .. "/a.csv"
  end)
  after_each(function() host.remove(directory) end)

  local function names(text)
    host.write(path, text)
    return ns.load(path):names()
  end

  it("splits cells at commas and line ends, quoted ones at their quotes", function()
    assert.same({ "a", "", "b c", 'd"e', "f,g", "h\ni", "" }, names 'a,,b c,"d""e","f,g","h\ni",\n')
    assert.same({ "a", "b" }, names "a,b")
    assert.same({ "a", "b" }, names "a,b\r\n")
    assert.same({ "a", "b\n", "c\r", "d\r\n" }, names 'a,"b\n","c\r","d\r\n"\r')
    assert.same({ "a", "b" }, names "#c\r\ra,b\r#d\r1,2")
    assert.same({ "a", "b" }, names 'a,"b"x\n')
    assert.same({ "a" }, names "#c\n\n\r\n#d\na")
  end)

  local load_csv = require "nslua.core".file_support.load_csv

  it("takes \\n, \\r\\n and \\r for a line end, also in one file", function()
    for _, text in ipairs { "a,b\n1,2\n3,4\n", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r", "a,b\r1,2\r\n3,4",
      "a,b\r\r1,2\n\r3,4\r\r\n", 'a,b\r"1x",2\r3,4\r' } do
      host.write(path, text)
      local run = ns.load(path)
      assert.same({ "a", "b" }, run:names())
      assert.equal(2, #run)
      if not text:find "x" then assert.equal(ns.vector { 1, 3 }, run.a) end
      assert.equal(ns.vector { 2, 4 }, run.b)
    end
  end)

  it("counts lines over quoted line ends and comments", function()
    for _, ending in ipairs { "\n", "\r\n", "\r" } do
      host.write(path, (('#c\n"a\nb",c\n\n1,2\n"x\ny"\n'):gsub("\n", ending)))
      assert.has_error(function() load_csv(path) end, ("cannot read '%s': line 6: expected 2 cells, got 1"):format(path))
    end
  end)

  it("refuses a quote that does not end", function()
    local function refused(line, text)
      host.write(path, text)
      assert.has_error(function() load_csv(path) end,
        ("cannot read '%s': line %d: a quote begins there that does not end"):format(path, line))
    end
    refused(2, 'a,b\n1,"x\n2,3\n')
    refused(3, 'a,b\r1,2\r3,"')
    refused(1, '"a""')
    refused(4, 'a,"b\nc\nd"\n1,"')
    refused(2, 'a,b\n"1","2\n')
  end)
end)
