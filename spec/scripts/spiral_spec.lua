local columns = require "columns"
local host = require "host"

local function script(arguments) return host.nslua_run("scripts/spiral.lua " .. arguments) end

describe("scripts/spiral.lua", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function file(arguments)
    local path = directory .. "/run.csv"
    os.remove(path)
    local out, err, status = script(arguments .. " --csv " .. path)
    assert.equal("", err)
    assert.equal(0, status)
    return host.read(path), out
  end

  local function run(arguments)
    local text, out = file(arguments)
    return columns.parse(text), out
  end

  -- The largest difference to the reference in its rows, the first left out for u.
  local function compare(mine, ref, names, tolerance)
    for _, name in ipairs(names) do
      local a, b = {}, {}
      for i = 2, ref.n do
        a[#a + 1], b[#b + 1] = mine[name][ref.k[i] + 1], ref[name][i]
      end
      local e = columns.error(a, b)
      assert.is_true(e <= tolerance, ("%s: %g"):format(name, e))
    end
  end

  -- The step from which on x is exactly zero.
  local function rest(c)
    local k
    for i = 1, c.n do
      if c.x1[i] ~= 0 or c.x2[i] ~= 0 then k = nil else k = k or i - 1 end
    end
    return k
  end

  for _, form in ipairs { "direct", "nsds" } do
    it(("backward Euler with h = 0.2 is the reference (%s)"):format(form), function()
      local c = run("--form " .. form)
      assert.same({ "k", "t", "x1", "x2", "u1", "u2" }, c.names)
      assert.equal(11, c.n)
      compare(c, columns.read "spec/reference/spiral_be_h0.2.csv", { "k", "t", "x1", "x2", "u1", "u2" }, 1e-14)
    end)

    it(("backward Euler with h = 0.01 is the reference (%s)"):format(form), function()
      local c = run("--h 0.01 --form " .. form)
      assert.equal(201, c.n)
      compare(c, columns.read "spec/reference/spiral_be_h0.01.csv", { "k", "t", "x1", "x2" }, 1e-13)
    end)
  end

  it("reaches the origin exactly: at k = 4 with h = 0.2, at 96 or 97 with h = 0.01", function()
    local c, out = run ""
    assert.equal(4, rest(c))
    assert.matches("x is exactly (0, 0) from step 4 on.", out, 1, true)
    local k = rest((run "--h 0.01"))
    assert.is_true(k == 96 or k == 97, tostring(k))
  end)

  it("obeys the scheme and the law of the sign at every step", function()
    for _, form in ipairs { "direct", "nsds" } do
      local h = 0.037
      local c = run(("--h %g --form %s"):format(h, form))
      for i = 2, c.n do
        local u1, u2, x1, x2 = c.u1[i], c.u2[i], c.x1[i], c.x2[i]
        assert.near(c.x1[i - 1] + h * (-u1 + 2 * u2), x1, 1e-14)
        assert.near(c.x2[i - 1] + h * (-2 * u1 - u2), x2, 1e-14)
        for _, pair in ipairs { { u1, x1 }, { u2, x2 } } do
          local u, x = pair[1], pair[2]
          assert.is_true(math.abs(u) <= 1)
          if math.abs(x) > 1e-13 then assert.equal(x > 0 and 1 or -1, u) end
        end
      end
    end
  end)

  it("forward Euler is the reference, and ends in a cycle of 8 steps", function()
    local c = run "--method forward"
    assert.same({ "k", "t", "x1_double", "x2_double" }, c.names)
    assert.equal(1001, c.n)
    local ref = columns.read "spec/reference/spiral_fe_h0.005.csv"
    for i = 1, ref.n do
      local row = ref.k[i] + 1
      assert.near(ref.x1_double[i], c.x1_double[row], 1e-12)
      assert.near(ref.x2_double[i], c.x2_double[row], 1e-12)
    end
    for i = c.n - 100, c.n do
      assert.near(c.x1_double[i - 8], c.x1_double[i], 1e-12)
      assert.is_true(math.abs(c.x1_double[i]) + math.abs(c.x2_double[i]) > 1e-3)
    end
  end)

  it("an adaptive solver spends its steps at the origin", function()
    local c = run "--method adaptive"
    local before, largest = 0, 0
    for i = 1, c.n do
      local size = math.abs(c.x1[i]) + math.abs(c.x2[i])
      if c.t[i] <= 1 then
        before = i
        assert.near(2 * (1 - c.t[i]), size, 0.02) -- it falls at the rate 2
      else
        largest = math.max(largest, size)
      end
    end
    assert.equal(2, c.t[c.n])
    assert.is_true(before < 200 and c.n > 20000, ("%d of %d steps"):format(before, c.n))
    assert.is_true(largest < 0.02, largest)
  end)

  -- The value of "-1/5" and the like.
  local function number(text)
    local p, q = text:match "^(.-)/(.*)$"
    return p and tonumber(p) / tonumber(q) or assert(tonumber(text))
  end

  local function points(text)
    local list = {}
    for x, y in text:gmatch "%((%S+) (%S+)%)" do list[#list + 1] = { number(x), number(y) } end
    return list
  end

  local function same_set(expected, got)
    assert.equal(#expected, #got)
    for _, p in ipairs(expected) do
      local found = false
      for _, q in ipairs(got) do
        found = found or math.abs(p[1] - q[1]) <= 1e-12 and math.abs(p[2] - q[2]) <= 1e-12
      end
      assert.is_true(found, ("(%g, %g) is missing"):format(p[1], p[2]))
    end
  end

  it("has the nine regions of the reference", function()
    local mine = file "--method regions"
    local ref = host.read("spec/reference/spiral_regions_h0.2.csv"):gsub("^#[^\n]*\n", "")
    local function lines(text)
      local list = {}
      for line in text:gmatch "[^\n]+" do list[#list + 1] = line end
      return list
    end
    local a, b = lines(ref), lines(mine)
    assert.equal(10, #b)
    assert.equal(a[1], b[1])
    for i = 2, 10 do
      local pattern = "^(.*,)([^,]*),([^,]*)$"
      local head, vertices, rays = a[i]:match(pattern)
      local my_head, my_vertices, my_rays = b[i]:match(pattern)
      assert.equal(head, my_head)
      same_set(points(vertices), points(my_vertices))
      same_set(points(rays), points(my_rays))
    end
  end)

  it("writes the state portrait", function()
    local c, out = run "--method portrait"
    assert.same({ "x1", "x2", "f1", "f2" }, c.names)
    assert.equal(289, c.n)
    for i = 1, c.n do
      local s1 = c.x1[i] > 0 and 1 or c.x1[i] < 0 and -1 or 0
      local s2 = c.x2[i] > 0 and 1 or c.x2[i] < 0 and -1 or 0
      assert.equal(-s1 + 2 * s2, c.f1[i])
      assert.equal(-2 * s1 - s2, c.f2[i])
    end
    assert.matches("x1 > 0, x2 > 0:  x' = (1, -3)", out, 1, true)
  end)

  it("refuses mistakes, and --help lists the options", function()
    local _, err, status = script "--method sideways"
    assert.equal(1, status)
    assert.matches("--method: expected one of backward, forward, adaptive, regions, portrait, got 'sideways'", err, 1, true)
    _, err, status = script "--h 0"
    assert.equal(1, status)
    assert.matches("--h: expected a number, above 0 and at most 1, got '0'", err, 1, true)
    local out
    out, err, status = script "--help"
    assert.equal("", err)
    assert.equal(0, status)
    assert.matches("--csv FILE", out, 1, true)
  end)
end)
