-- nslua.base.still: callbacks that nslua makes for a model, as of a driveline. What they read in tables and functions
-- of nslua has been settled when the model was made: nslua.compile looks at it once. What a script has given to
-- these, as a function, may change as anywhere.
local marked = setmetatable({}, { __mode = "k" })

local still = {}

-- Marks a function, and returns it.
function still.mark(f)
  marked[f] = true
  return f
end

function still.is(f) return marked[f] end

return still
