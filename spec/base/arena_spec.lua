require "nslua"
local internal = require "nslua.internal"

describe("an arena", function()
  it("gives zeroed blocks at multiples of 64 bytes that neither move nor overlap", function()
    math.randomseed(4)
    local arena = internal.arena()
    local sizes = { 0, 1, 8, 63, 64, 65, 4095, 4096, 4097, 20000 }
    for _ = 1, 200 do
      local at, zero = arena:take(sizes[math.random(#sizes)], 1)
      assert.equal(0, at % 64)
      assert.is_true(zero)
    end
    assert.is_true(arena:intact())
    assert.is_false(arena:failed())
  end)

  it("takes doubles, matrices and ints", function()
    local arena = internal.arena()
    for n = 0, 40 do
      for _, at in ipairs { arena:doubles(n), (arena:ints(n)), (arena:matrix(n, 3)) } do
        assert.is_truthy(at)
      end
    end
    assert.is_true(arena:intact())
  end)

  it("shares its memory among small blocks", function()
    local arena = internal.arena()
    local before = internal.alloc_count()
    for _ = 1, 10 do arena:doubles(8) end
    assert.equal(before + 1, internal.alloc_count())
    for _ = 1, 50 do arena:doubles(8) end
    assert.equal(before + 2, internal.alloc_count()) -- a small chunk, then a large one
  end)

  it("refuses negative and huge sizes, and remembers", function()
    for _, refuse in ipairs {
      function(a) return a:doubles(-1) end, function(a) return a:ints(-1) end,
      function(a) return a:matrix(-1, 1) end, function(a) return a:matrix(1, -1) end,
      function(a) return a:matrix(1 << 40, 1 << 40) end, function(a) return a:doubles(1 << 61) end,
      function(a) return a:ints(1 << 62) end, function(a) return a:take(math.maxinteger, 2) end,
      function(a) return a:take(math.maxinteger, 1) end,
    } do
      local arena = internal.arena()
      assert.is_truthy(arena:doubles(3))
      local before = internal.alloc_count()
      assert.is_nil((refuse(arena)))
      assert.equal(before, internal.alloc_count())
      assert.is_true(arena:failed())
      assert.is_truthy(arena:doubles(3))
      assert.is_true(arena:failed())
      assert.is_true(arena:intact())
    end
  end)

  it("fails once and for all when there is no memory, until it is released", function()
    local arena = internal.arena()
    assert.is_truthy(arena:doubles(10))
    local came, good, at = internal.failing(0, false, arena.doubles, arena, 10000)
    assert.same({ true, true, nil }, { came, good, at })
    assert.is_true(arena:failed())
    assert.is_truthy(arena:doubles(10000))
    assert.is_true(arena:failed())
    assert.is_true(arena:intact())
    arena:release()
    assert.is_false(arena:failed())
    assert.is_truthy(arena:doubles(10))
    assert.is_false(arena:failed())
    assert.is_true(arena:intact())
    arena:release()
    arena:release()
  end)
end)
