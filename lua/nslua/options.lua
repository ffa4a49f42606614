-- nslua.options: the command line of a script.
--
--   local options = require "nslua.options"
--   local opt = options.parse(arg, {
--     about = "A clutch that engages or disengages.",
--     { "mode", default = "engage", choices = { "engage", "disengage" }, help = "what the clutch does" },
--     { "theta", default = 1, above = 0, max = 1, help = "weight of the right-hand side" },
--     { "csv", value = "FILE", help = "write the run there" },
--   })
--   print(opt.mode, opt.theta, opt.csv)
--
-- Each option takes a value: --theta 0.5 or --theta=0.5. What the value must be follows from the option's fields:
--   a default that is a number, or min, max (inclusive) or above (exclusive): a number
--   choices: one of them
--   endings, as in { "html" }: the name of a file with one of these endings, in a directory that exists
--   value = "FILE": the name of a file in a directory that exists
--   none of these: any text
-- An option without a default is nil when it is not given. --help prints the options and ends the script. A mistake
-- prints a message and the usage line on the error output and ends the script with status 1.

local options = {}

-- As string.format, with a decimal point in numbers in every locale.
local function words(...) return require "nslua.core".number_support.format(...) end

-- The number that a text stands for; nil when it is none. A comma is refused here, since tonumber accepts the
-- decimal comma of the locale.
local function number_in(text) return not text:find(",", 1, true) and tonumber(text) or nil end

local function is_number(option)
  return type(option.default) == "number" or option.min or option.max or option.above
end

local function value_name(option)
  if option.value then return option.value end
  if option.choices then return table.concat(option.choices, "|") end
  return is_number(option) and "NUMBER" or "TEXT"
end

local function expected(option)
  if option.choices then return "one of " .. table.concat(option.choices, ", ") end
  if option.endings then
    local list, n = option.endings, #option.endings
    local head = table.concat(list, ", .", 1, math.max(n - 1, 1))
    return "a name that ends in ." .. head .. (n > 1 and " or ." .. list[n] or "")
  end
  local bounds = {}
  if option.above then bounds[#bounds + 1] = words("above %g", option.above) end
  if option.min then bounds[#bounds + 1] = words("at least %g", option.min) end
  if option.max then bounds[#bounds + 1] = words("at most %g", option.max) end
  return "a number" .. (#bounds > 0 and ", " or "") .. table.concat(bounds, " and ")
end

-- The value that `text` stands for; nil when it is not one.
local function convert(option, text)
  if option.choices then
    for _, choice in ipairs(option.choices) do
      if choice == text then return text end
    end
  elseif option.endings then
    for _, ending in ipairs(option.endings) do
      if text:sub(-#ending - 1) == "." .. ending then return text end
    end
  elseif is_number(option) then
    local number = number_in(text)
    local good = number and number == number and number > -math.huge and number < math.huge
      and number >= (option.min or number) and number <= (option.max or number)
      and (not option.above or number > option.above)
    return good and number or nil
  else
    return text
  end
end

-- "usage: SCRIPT [--mode engage|disengage] ..."
function options.usage(script, list)
  local parts = { "usage: " .. script }
  for _, option in ipairs(list) do
    parts[#parts + 1] = ("[--%s %s]"):format(option[1], value_name(option))
  end
  return table.concat(parts, " ")
end

-- What --help prints.
function options.help(script, list)
  local lines, width = {}, #"--help"
  for _, option in ipairs(list) do width = math.max(width, #option[1] + #value_name(option) + 3) end
  if list.about then lines[1] = list.about .. "\n" end
  lines[#lines + 1] = options.usage(script, list)
  for _, option in ipairs(list) do
    local head = "--" .. option[1] .. " " .. value_name(option)
    local default = option.default ~= nil and words(" (default: %s)", option.default) or ""
    lines[#lines + 1] = ("  %-" .. width .. "s  %s%s"):format(head, option.help or "", default)
  end
  lines[#lines + 1] = ("  %-" .. width .. "s  %s"):format("--help", "this text")
  return table.concat(lines, "\n")
end

-- The reason why a file cannot be written there: its directory does not exist. nil when it does.
local function no_directory(file)
  local directory = file:match "^(.*/)[^/]*$"
  if not directory then return nil end
  local found, message = io.open(directory)
  if not found then return message:match ": ([^:]*)$" or message end
  found:close()
end

-- The options in `args` by name, or nil and a message; `help` is true when --help is among them.
function options.read(args, list)
  local known, result, i = {}, {}, 1
  for _, option in ipairs(list) do
    known[option[1]] = option
    result[option[1]] = option.default
  end
  while i <= #args do
    local name, text = args[i]:match "^%-%-([^=]+)=(.*)$"
    name = name or args[i]:match "^%-%-(.+)$" or (args[i] == "-h" and "help")
    if name == "help" then return { help = true } end
    local option = known[name]
    if args[i]:sub(1, 1) ~= "-" then return nil, ("unexpected argument '%s'"):format(args[i]) end
    if not option then return nil, ("unknown option '%s'"):format(args[i]) end
    if not text then
      i = i + 1
      text = args[i]
    end
    if not text or text == "" then return nil, ("--%s: expected a value (%s)"):format(name, value_name(option)) end
    local value = convert(option, text)
    if value == nil then return nil, ("--%s: expected %s, got '%s'"):format(name, expected(option), text) end
    local reason = (option.endings or option.value == "FILE") and no_directory(value)
    if reason then return nil, ("--%s: cannot write '%s': %s"):format(name, value, reason) end
    result[name] = value
    i = i + 1
  end
  return result
end

-- The options on the command line `args` (the global arg), whose element 0 is the script's name.
function options.parse(args, list)
  local script = args[0] or "script"
  local result, message = options.read(args, list)
  if not result then
    io.stderr:write(script, ": ", message, "\n", options.usage(script, list), "\n")
    os.exit(1, true)
  elseif result.help then
    print(options.help(script, list))
    os.exit(0, true)
  end
  return result
end

-- A line of a .csv file; `what` names the cells in messages. With `values`, an empty text is written as an empty
-- cell and a text that is a number as a number. A line that would then be empty is written with quotes instead.
local function csv_line(number, what, cells, values)
  values = values and not (#cells == 1 and cells[1] == "")
  local parts = {}
  for i, cell in ipairs(cells) do
    local kind = type(cell)
    if kind ~= "string" and kind ~= "number" then
      error(("write_csv: %s[%d]: expected a number or a text, got %s"):format(what, i, kind), 3)
    end
    parts[i] = kind == "string" and number.cell(cell, values) or number.format("%.17g", cell)
  end
  return table.concat(parts, ",")
end

-- Writes a line of names, then rows of numbers and texts, as comma-separated values. Numbers and texts read back
-- exactly, with two exceptions: an empty text reads back as no value, and a text that is a number as that number.
-- The file is written completely or not at all. If it cannot be written, the script ends with status 1.
function options.write_csv(path, names, rows)
  local core = require "nslua.core"
  local lines = { csv_line(core.number_support, "names", names) }
  for k, row in ipairs(rows) do lines[k + 1] = csv_line(core.number_support, ("rows[%d]"):format(k), row, true) end
  local good, message = pcall(core.process_support.save, path, table.concat(lines, "\n") .. "\n")
  if not good then
    io.stderr:write(arg and arg[0] or "script", ": ", tostring(message), "\n")
    os.exit(1, true)
  end
end

-- As write_csv, and prints how many rows it wrote. It does nothing when path is nil: the option --csv was not given.
function options.save_csv(path, names, rows)
  if not path then return end
  options.write_csv(path, names, rows)
  print(("written: %d rows to %s"):format(#rows, path))
end

return options
