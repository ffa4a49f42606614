-- ns.class(base [, name]): a class of relations, systems or boundary conditions whose methods are the callbacks.
--
--   local Clutch = ns.class(ns.FirstOrderNonLinearR, "clutch")
--   function Clutch:computeh(time, x, lambda, z, y) y[1] = -x[1] end
--   local relation = Clutch()
--
-- `base` is a constructor of ns or another class. Without a method `init`, an object is made by passing all
-- arguments to the constructor. With `init`, the constructor of a system gets only the first argument (x0 or an
-- option table) and the constructor of a relation gets none; then init(self, ...) gets all arguments. When a method
-- is changed later, the new one is used from the next step on. A method whose name begins with "compute" must be one
-- of the callbacks.

local function make(core)
  local support = core.class_support
  local systems, types = {}, {} -- constructor -> whether it takes the first argument of `init`; its name
  for type_name in pairs(core.class_callbacks) do
    types[core[type_name]] = type_name
    systems[core[type_name]] = type_name:find "DS$" ~= nil or type_name == "BoundaryCondition"
  end
  local info = setmetatable({}, { __mode = "k" }) -- class -> its methods, constructor and name

  local function describe(value)
    return type(value) == "userdata" and tostring(value) or type(value)
  end

  -- Calls a function of the core. Its errors get the line of the code that makes the object.
  local function call(f, ...)
    local good, result = pcall(f, ...)
    if not good then error(result, 3) end
    return result
  end

  -- Raises for a method that looks like a callback but is none, and so would never be called.
  local function check_method(about, key, value)
    local callable = type(value) == "function" or getmetatable(value) == "compiled function"
    if not callable or type(key) ~= "string" or not key:find "^compute" then return end
    local type_name = types[about.constructor]
    local known = core.class_callbacks[type_name]
    for _, name in ipairs(known) do
      if key == name then return end
    end
    local who = about.name and ("class '%s'"):format(about.name) or "class"
    local why = #known == 0 and ("a %s has no callbacks"):format(type_name)
      or ("no callback of a %s (known: %s)"):format(type_name, table.concat(known, ", "))
    error(("%s: %s: %s"):format(who, key, why), 3)
  end

  local function construct(class, ...)
    local about = info[class]
    local init = class.init
    local object
    if not init then
      object = call(about.constructor, ...)
    elseif systems[about.constructor] then
      object = call(about.constructor, (...))
    else
      object = call(about.constructor)
    end
    if about.name and object:name() == "" then object:setName(about.name) end
    call(support.setclass, object, class)
    if init then init(object, ...) end
    return object
  end

  return function(base, name)
    local parent = info[base]
    if not parent and not types[base] then
      local expected = "class: base: expected a constructor of systems or relations, or a class, got "
      error(expected .. describe(base), 2)
    end
    if name ~= nil and type(name) ~= "string" then
      error(("class: name: expected a string, got %s"):format(describe(name)), 2)
    end
    local methods = setmetatable({}, { __index = parent and base or nil })
    local class = setmetatable({}, {
      __index = methods,
      __newindex = function(self, key, value)
        check_method(info[self], key, value)
        methods[key] = value
        support.changed()
      end,
      __call = construct,
      __name = name and ("class " .. name) or "class",
    })
    info[class] = {
      methods = methods,
      constructor = parent and parent.constructor or base,
      name = name or (parent and parent.name),
    }
    return class
  end
end

return make
