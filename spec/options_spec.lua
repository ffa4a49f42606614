local host = require "host"
local options = require "nslua.options"

local list = {
  about = "About it.",
  { "mode", default = "a", choices = { "a", "b" }, help = "which" },
  { "h", default = 0.5, above = 0, max = 2, help = "step" },
  { "n", default = 3, help = "count" },
  { "csv", value = "FILE", help = "the file" },
}

describe("nslua.options", function()
  it("fills defaults, takes both spellings, converts numbers", function()
    assert.same({ mode = "a", h = 0.5, n = 3 }, options.read({}, list))
    assert.same({ mode = "b", h = 2, n = -1, csv = "x=y" }, options.read({ "--mode", "b", "--h=2", "--n", "-1",
      "--csv=x=y" }, list))
    assert.same({ help = true }, options.read({ "--mode", "b", "--help" }, list))
    assert.same({ help = true }, options.read({ "-h" }, list))
  end)

  it("says what is wrong", function()
    local function refused(message, ...)
      local result, said = options.read({ ... }, list)
      assert.is_nil(result)
      assert.equal(message, said)
    end
    refused("--mode: expected one of a, b, got 'c'", "--mode", "c")
    refused("--h: expected a number, above 0 and at most 2, got '0'", "--h", "0")
    refused("--h: expected a number, above 0 and at most 2, got 'inf'", "--h", "inf")
    refused("--h: expected a number, above 0 and at most 2, got '1x'", "--h=1x")
    refused("--n: expected a number, got '1e999'", "--n", "1e999")
    refused("--n: expected a value (NUMBER)", "--n")
    refused("--csv: expected a value (FILE)", "--csv=")
    refused("unknown option '--hh'", "--hh", "1")
    refused("unknown option '-x'", "-x")
    refused("unexpected argument 'x'", "x")
  end)

  it("takes names of files by their ending, where there is a directory for them", function()
    local film = { { "film", endings = { "html", "gif", "mp4" } }, { "page", endings = { "html" } } }
    assert.same({ film = "a.gif", page = "./b.html" }, options.read({ "--film", "a.gif", "--page", "./b.html" }, film))
    local function refused(message, ...) assert.equal(message, select(2, options.read({ ... }, film))) end
    refused("--film: expected a name that ends in .html, .gif or .mp4, got 'a.xyz'", "--film", "a.xyz")
    refused("--film: expected a name that ends in .html, .gif or .mp4, got 'gif'", "--film", "gif")
    refused("--page: expected a name that ends in .html, got 'a.gif'", "--page=a.gif")
    refused("--film: cannot write '/nowhere/at all/a.gif': No such file or directory", "--film",
      "/nowhere/at all/a.gif")
    assert.equal("--csv: cannot write '/nowhere/a.csv': No such file or directory",
      select(2, options.read({ "--csv", "/nowhere/a.csv" }, list)))
  end)

  it("words its help", function()
    assert.equal("usage: s [--mode a|b] [--h NUMBER] [--n NUMBER] [--csv FILE]", options.usage("s", list))
    assert.equal([[
About it.

usage: s [--mode a|b] [--h NUMBER] [--n NUMBER] [--csv FILE]
  --mode a|b  which (default: a)
  --h NUMBER  step (default: 0.5)
  --n NUMBER  count (default: 3)
  --csv FILE  the file
  --help      this text]], options.help("s", list))
  end)

  it("writes texts that read back exactly", function()
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".csv"
    local texts = { "stick", "a,b", 'say "x"', "line\nend", "cr\r\nlf", "", "# no comment", "a;b", "a\tb", " ", "é", "1.5.2",
      "nanny" }
    local rows, numbers = {}, {}
    for i, text in ipairs(texts) do rows[i], numbers[i] = { text, i / 7, text .. "," }, i / 7 end
    options.write_csv(path, { "1", 'x, "y"', "" }, rows)
    local run = require "nslua".load(path)
    assert.same({ "1", 'x, "y"', "" }, run:names())
    assert.same(texts, run["1"])
    assert.same(numbers, run['x, "y"']:totable())
    for i, text in ipairs(texts) do assert.equal(text .. ",", run[""][i]) end
    options.write_csv(path, { "v" }, { { "" }, { "a" }, { "1.5" }, { "nan" } })
    run = require "nslua".load(path)
    assert.same({ "", "a", 1.5 }, { run.v[1], run.v[2], run.v[3] })
    assert.equal("v\n\"\"\na\n1.5\nnan\n", host.read(path))
    math.randomseed(5)
    local bytes = { ",", ";", "\t", '"', "\n", "\r", "#", "a", "1", ".", " ", "e", "-", "\xef" }
    for _ = 1, 200 do
      local many = {}
      for i = 1, math.random(30) do
        local text = {}
        for k = 1, math.random(0, 6) do text[k] = bytes[math.random(#bytes)] end
        many[i] = { i, table.concat(text) }
      end
      options.write_csv(path, { "k", many[1][2] }, many)
      run = require "nslua".load(path)
      assert.same({ "k", many[1][2] }, run:names())
      for i, row in ipairs(many) do
        local got, number = run:column(2)[i], not row[2]:find "[\r\n\t]" and tonumber(row[2])
        if number then assert.equal(number, got)
        elseif row[2] ~= "" or got == got then assert.equal(row[2], got) end
      end
    end
    assert.has_error(function() options.write_csv(path, { "a" }, { { 1 }, { 2, {} } }) end,
      "write_csv: rows[2][2]: expected a number or a text, got table")
    assert.has_error(function() options.write_csv(path, { true }, {}) end,
      "write_csv: names[1]: expected a number or a text, got boolean")
    os.remove(path)
  end)

  it("writes a table and tells of it, where there is a file for it", function()
    local out = host.nslua_run("-e " .. host.quote [[local options = require "nslua.options"
      local path = os.tmpname()
      print(options.save_csv(nil, { "a" }, { { 1 } }))
      options.save_csv(path, { "a" }, { { 1 }, { 2 } })
      print(io.open(path):read "a")
      os.remove(path)]])
    assert.matches("^\nwritten: 2 rows to %S+\na\n1\n2\n\n$", out)
  end)

  it("writes tables that read back exactly", function()
    local path = os.tmpname()
    options.write_csv(path, { "a", "b" }, { { 1, 0.1 }, { -1 / 3, 1e300 } })
    local file = assert(io.open(path))
    assert.equal("a,b\n1,0.10000000000000001\n-0.33333333333333331,1.0000000000000001e+300\n", file:read "a")
    file:close()
    os.remove(path)
  end)
end)
