-- ns.plot as a table that loads nslua.plot at its first use.

return function(solution_methods)
  local plot, loaded = {}, false

  local function load_all()
    if not loaded then
      loaded = true
      for name, value in pairs(require "nslua.plot") do plot[name] = value end
      setmetatable(plot, nil)
    end
    return plot
  end

  setmetatable(plot, {
    __index = function(_, name) return load_all()[name] end,
    __pairs = function() return next, load_all() end,
  })

  -- sol:plot([columns] [, options])
  function solution_methods.plot(sol, ...) return require "nslua.plot".solution(sol, ...) end

  return plot
end
