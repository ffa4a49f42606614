-- ns.animation as a table that loads nslua.animation at its first use, and the methods of solutions that do.

return function(core)
  local animation, methods = {}, nil

  local function load_all()
    if not methods then
      local loaded
      loaded, methods = require "nslua.animation"(core)
      for name, value in pairs(loaded) do animation[name] = value end
      setmetatable(animation, getmetatable(loaded))
    end
    return animation
  end

  for _, name in ipairs { "animate", "html" } do
    core.solution_methods[name] = function(...)
      load_all()
      return methods[name](...)
    end
  end

  return setmetatable(animation, {
    __name = "animation",
    __index = function(_, name) return load_all()[name] end,
    __pairs = function() return next, load_all() end,
    __call = function(_, ...) return load_all()(...) end,
  })
end
