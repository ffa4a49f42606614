-- ns.class(base [, name]): a class of relations or systems whose methods are the callbacks.
--
--   local Clutch = ns.class(ns.FirstOrderNonLinearR, "clutch")
--   function Clutch:computeh(time, x, lambda, z, y) y[1] = -x[1] end
--   local relation = Clutch()
--
-- `base` is one of the constructors of the core, or a class. Making an object calls the constructor, with the
-- arguments for a dynamical system and with none for a relation, and then, if there is one, the method `init` with
-- the arguments. A relation's class without `init` passes its arguments on to the constructor. A method that is
-- changed later counts from the next step on.

local function make(core)
  local support = core.class_support
  local systems = {
    [core.FirstOrderNonLinearDS] = true, [core.FirstOrderLinearDS] = true, [core.FirstOrderLinearTIDS] = true,
  }
  local relations = {
    [core.FirstOrderNonLinearR] = true, [core.FirstOrderType1R] = true, [core.FirstOrderType2R] = true,
    [core.FirstOrderLinearR] = true, [core.FirstOrderLinearTIR] = true,
  }
  local info = setmetatable({}, { __mode = "k" }) -- class -> its methods, constructor and name

  local function describe(value)
    return type(value) == "userdata" and tostring(value) or type(value)
  end

  -- Calls a function of the core; its errors get the position of whoever makes the object.
  local function call(f, ...)
    local good, result = pcall(f, ...)
    if not good then error(result, 3) end
    return result
  end

  local function construct(class, ...)
    local about = info[class]
    local init = class.init
    local object
    if systems[about.constructor] or not init then
      object = call(about.constructor, ...)
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
    if not parent and not systems[base] and not relations[base] then
      local expected = "class: base: expected a constructor of systems or relations, or a class, got "
      error(expected .. describe(base), 2)
    end
    if name ~= nil and type(name) ~= "string" then
      error(("class: name: expected a string, got %s"):format(describe(name)), 2)
    end
    local methods = setmetatable({}, { __index = parent and base or nil })
    local class = setmetatable({}, {
      __index = methods,
      __newindex = function(_, key, value)
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
