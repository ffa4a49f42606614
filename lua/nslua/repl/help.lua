-- nslua.repl.help: the texts that ? and help() show at the prompt.

local help = {}

help.page = [[
An expression shows its value, several too; ";" at its end keeps quiet.
_ is the last value. A chunk that is not whole yet goes on at >>.
A local of a line is kept for the lines that follow, before a global of its
name (functions made elsewhere do not see it); one with <close> is not.
  ?             this page          ?x, help(x)   about x: ?ns.fsolve, ?simu:run
  ?ns           all names, section by section; ?Laws shows a section
  :time CHUNK   runs it and says how long it took
  :quit         leaves, as Ctrl-D does
  Tab           names, fields, methods after ":", options inside the table of
                a constructor, files inside strings
  Up, Down      what was typed before, also in earlier sessions; Ctrl-R searches
  Ctrl-C        gives up the line, or stops what runs
There from the start, where no script has set them: ns; of ns vector, matrix,
zeros, ones, eye, diag, linspace; of math sin, cos, tan, asin, acos, atan, exp,
log, sqrt, abs, floor, ceil, max, min, pi; inf.]]

help.names = { "vector", "matrix", "zeros", "ones", "eye", "diag", "linspace" }
help.functions = { "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sqrt", "abs", "floor", "ceil", "max",
  "min", "pi" }

local function class_of(object)
  local meta = debug.getmetatable(object)
  return type(meta) == "table" and type(rawget(meta, "__name")) == "string" and meta.__name or nil
end

--- The name of a method with the class of its object, "TimeStepping:run"; nil when the object has no class.
function help.method(object, name)
  local class = type(object) ~= "string" and class_of(object)
  return class and class .. ":" .. name or nil
end

--- The message about a variable of the user, for which there is no text; there may be methods of the same name.
function help.about_variable(name, value)
  local good, texts = pcall(require, "nslua.help")
  local methods = good and texts.text(":" .. name) and ("; ?:%s tells of the methods of that name"):format(name) or ""
  return ("there is no help about %s, a %s of yours%s"):format(name, class_of(value) or type(value), methods)
end

--- The help text of a method with its class, of a value, or of a name. When there is none: nil and possibly a
-- message, as which names are near, or that the texts are not installed.
function help.text(value, name, method)
  local good, texts = pcall(require, "nslua.help")
  if not good then
    return nil, "there are no help texts: the module nslua.help is not installed; see docs/reference/"
  end
  local text = method and texts.text(method) or value ~= nil and texts.text(value) or nil
  if text or not name then return text end
  return texts.text(name)
end

return help
