local host = require "host"

describe("bench/compare.lua", function()
  local directory

  before_each(function() directory = host.new_directory() end)
  after_each(function() host.remove(directory) end)

  -- An interpreter that answers with these lines, instead of measuring.
  local function build(name, lines)
    local path = directory .. "/" .. name
    host.write(path, "#!/bin/sh\ncat <<'END'\n" .. lines .. "\nEND\n")
    assert(os.execute("chmod +x " .. host.quote(path)))
    return host.quote(path)
  end

  local function compare(arguments) return host.nslua_run("bench/compare.lua " .. arguments) end

  -- The cells of the line that begins with a name.
  local function cells(out, name)
    local line = assert(("\n" .. out):match("\n([^\n]*" .. name .. "[^\n]*)"), out)
    local list = {}
    for number in line:gmatch "%d+%.%d+" do list[#list + 1] = tonumber(number) end
    return list, line
  end

  local old = "ball\t2e-6\nbar\t4e-6"

  it("compares the new build with the old one", function()
    local out, err, status = compare(build("old", old) .. " " .. build("new", "ball\t3e-6\nbar\t4e-6") .. " 3 mechanics")
    assert.same({ "", 0 }, { err, status })
    local ball, line = cells(out, "ball")
    assert.same({ 2, 3, 1.5, 0 }, { ball[1], ball[2], ball[3], ball[4] })
    assert.truthy(line:find("slower", 1, true))
    assert.falsy(out:find("reference", 1, true))
    assert.truthy(out:find("all, new / old: median ratio 1.250, largest 1.500", 1, true))
  end)

  it("shows beside it a reference, in which small losses add up", function()
    local out, err, status = compare(("%s %s --reference %s 3 mechanics"):format(build("old", old),
      build("new", "ball\t2.04e-6\nbar\t4e-6"), build("reference", "ball\t1.7e-6")))
    assert.same({ "", 0 }, { err, status })
    local ball, line = cells(out, "ball")
    assert.same({ 1.02, 1.2 }, { ball[3], ball[5] })
    assert.truthy(line:find("slower", 1, true))
    assert.same(4, #cells(out, "bar"), "the reference has no such case")
    assert.truthy(out:find("all, new / reference: median ratio 1.200, largest 1.200", 1, true))
  end)

  it("fails when the new build refuses what another one accepts", function()
    local news = build("new", "ball\t2e-6\nbar\trefused")
    local out, _, status = compare(build("old", old) .. " " .. news .. " 3 whole")
    assert.equal(1, status)
    assert.truthy(out:find("refused by the new build, accepted by another one: bar (old)", 1, true))
    out, _, status = compare(("%s %s --reference %s 3 whole"):format(news, news, build("reference", old)))
    assert.equal(1, status)
    assert.truthy(out:find("accepted by another one: bar (reference)", 1, true))
  end)

  it("tells what is wrong in its arguments", function()
    local out, _, status = compare "one"
    assert.equal(1, status)
    assert.truthy(out:find("usage: nslua bench/compare.lua OLD NEW [--reference REFERENCE]", 1, true))
    local err
    _, err, status = compare "one two --reference"
    assert.equal(1, status)
    assert.truthy(err:find("compare: --reference: its directory is missing", 1, true))
    _, err, status = compare "one two three"
    assert.equal(1, status)
    assert.truthy(err:find("compare: unknown group 'three' (known: clutch, linear, mechanics, numerics, whole)", 1, true))
  end)

  it("is called by make with a fixed build, which it makes at the first time #once", function()
    local function make(arguments)
      local out = host.run(("cd %s && make -n compare %s"):format(host.quote(host.root), arguments))
      return out
    end
    local out = make "OLD=/before REFERENCE=some"
    assert.truthy(out:find("git archive some | tar -x -C build-reference/some", 1, true), out)
    assert.truthy(out:find("bench/compare.lua /before . --reference build-reference/some", 1, true))
    assert.truthy(make "REFERENCE=some TABLES=clutch":find "bench/compare%.lua build%-reference/some %. +clutch")
    out = make "OLD=/before REFERENCE="
    assert.truthy(out:find("bench/compare.lua /before .", 1, true))
    assert.falsy(out:find("git archive", 1, true))
  end)
end)
