-- bind/file/workers.c: the signals of a driver, and what is known of the process.
require "nslua"
local support = require "nslua.core".worker_support

describe("the binding of workers", function()
  it("notes SIGINT and SIGTERM while it listens", function()
    for _, name in ipairs { "INT", "TERM" } do
      support.listen()
      assert.is_nil(support.signalled())
      os.execute(("sh -c 'sleep 0.1; kill -%s %d' &"):format(name, support.pid())) -- os.execute itself ignores SIGINT
      local start = support.clock()
      while not support.signalled() and support.clock() - start < 5 do support.wait({}, 0.01) end
      assert.equal(name, support.signalled())
      support.unlisten()
    end
  end)

  it("knows the process", function()
    assert.is_true(support.pid() > 1)
    assert.is_true(support.cores() >= 1)
    assert.is_true(#support.host() > 0)
    assert.is_true(support.signal_process(support.pid()))
    assert.is_false(support.signal_process(-1))
    assert.equal("boolean", type(support.terminal()))
    local a = support.clock()
    assert.is_true(support.clock() >= a)
  end)
end)
