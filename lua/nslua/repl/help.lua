-- nslua.repl.help: the texts that ? and help() show at the prompt.

local printer = require "nslua.repl.print"

local help = {}

help.page = [[
An expression shows its value, several too; ";" at its end keeps quiet.
_ is the last value, Out[3] the value of input 3. A chunk that is not whole yet goes on at >>.
A local of a line is kept for the lines that follow, before a global of its
name (functions made elsewhere do not see it); one with <close> is not.
  ?             this page          ?x, help(x)   about x: ?ns.fsolve, ?simu:run
  ?ns           all names, a line on each; ?Laws shows a section
  ?friction     where a word occurs in the help
  :time CHUNK   runs it and says how long it took
  :run FILE     runs a script, :load FILE recalls its text, :edit [FILE] edits it
  :vars         your variables; :reset forgets them
  :quit         leaves, as Ctrl-D does
  Tab           names, fields, methods after ":", options inside the table of
                a constructor, files inside strings; after "(" how it is called
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

-- The text of help(x) about a value or a name. `method` is its name as a method of its class, "TimeStepping:run".
local function answer(value, name, method)
  if value == nil and name == nil then return help.page end
  local text, message = help.text(value, name, method)
  return text or message or ("there is no help about %s"):format(name or printer.value(value))
end

--- Shows a text; the prompt on a terminal puts its pager here.
function help.show(text) print(text) end

--- The function help(x) of the prompt.
function help.print(x, name) help.show(answer(x, name)) end

-- The value of an expression; nil when it has an error.
local function value_of(session, expression)
  local chunk = load("return " .. expression, "=stdin", "t", session.env)
  local good, value = pcall(chunk or error)
  return good and value or nil
end

--- The text that "?what" shows. `given` has the globals that are not variables of the user. Its expressions are
-- evaluated.
function help.about(what, session, given)
  what = what:gsub("%s+$", "")
  if what == "" then return answer() end
  local value = value_of(session, (what:gsub(":([%a_][%w_]*)$", ".%1")))
  if what:find "^[%a_][%w_]*$" and value ~= nil and given[what] ~= value then
    local text, message = help.text(value)
    return text or message or help.about_variable(what, value)
  end
  local object, method = what:match "^(.+)[.:]([%a_][%w_]*)$"
  object = object and value_of(session, object)
  method = object ~= nil and help.method(object, method) or nil
  return answer(value, what, method)
end

return help
