require "nslua"
local signal = require "nslua.internal".signal

describe("SIGINT in a run within a run", function()
  it("stops the inner one once, ends it with a word, and leaves the host's handler", function()
    for _ = 1, 2 do assert.same({ 1, 1, true, true, false, true }, { signal() }) end
  end)
end)
