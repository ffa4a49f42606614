-- workers/mpi.h: messages between ranks.
local host = require "host"
local mpi = require "mpi"

describe("MPI #once", function()
  local directory
  setup(function() directory = host.new_directory() end)
  teardown(function() host.remove(directory) end)

  local function run(count, body)
    host.write(directory .. "/script.lua", 'local mpi = require "nslua.mpi"\n' .. body)
    return host.run(("%s %s %s/script.lua"):format(mpi.launcher(count), host.quote(host.nslua), directory))
  end

  -- Rank 0 sends messages of many lengths to itself and to the others, which send them back; all come whole and in order.
  mpi.it("carries messages of any length, whole and in order", function()
    local out, err, status = run(3, [==[
local rank, count = mpi.start()
assert(rank == mpi.start())
local sizes = { 1, 2, 511, 4096, 70000, 3000000, 5 }
local function text(size, to) return (("%d %d "):format(size, to):rep(size // 4 + 1)):sub(1, size) end
local at, left = {}, 0
if rank == 0 then
  for _, size in ipairs(sizes) do
    for to = 0, count - 1 do
      assert(mpi.send(to, text(size, to)))
      left = left + 1
    end
  end
end
while rank > 0 or left > 0 do
  for from, bytes in mpi.receive do
    if rank > 0 then
      if bytes == "" then os.exit(0, true) end -- rank 0 has ended
      mpi.send(0, bytes)
    else
      at[from] = (at[from] or 0) + 1
      assert(bytes == text(sizes[at[from]], from))
      left = left - 1
    end
  end
end
print(count, at[0], at[1], at[2])]==])
    assert.same({ "3\t7\t7\t7\n", "", 0 }, { out, err, status })
  end)

  mpi.it("refuses ranks that are not there; messages to a lost rank vanish", function()
    local out, _, status = run(1, [[
print(pcall(mpi.receive))
print(pcall(mpi.send, 0, "x"))
print(pcall(mpi.abandoned))
print(mpi.start())
print(mpi.abandoned())
print(pcall(mpi.send, 1, "x"))
print(pcall(mpi.lose, -1))
mpi.lose(0)
print(mpi.send(0, "x"), mpi.receive())
print(mpi.version:match "^Open MPI %d+%.%d")]])
    assert.equal(1, status) -- so mpirun says that a rank has left without the others
    assert.equal("false\tbad argument #1 to 'nslua.mpi.receive' (start comes first)\n"
      .. "false\tbad argument #1 to 'nslua.mpi.send' (no such rank)\n"
      .. "false\tbad argument #1 to 'nslua.mpi.abandoned' (start comes first)\n0\t1\nfalse\n"
      .. "false\tbad argument #1 to 'nslua.mpi.send' (no such rank)\n"
      .. "false\tbad argument #1 to 'nslua.mpi.lose' (no such rank)\ntrue\n", (out:gsub("Open MPI %S+\n$", "")))
  end)
end)
