-- nslua.pictures: the option --plot DIR of a script.
--
--   local pictures = require "nslua.pictures"
--   local opt = options.parse(arg, { ..., pictures.option })
--   pictures.draw(opt.plot, {                                -- nothing without --plot
--     run = function(plot) return plot.figure() ... end,     -- DIR/run.png: functions that return a figure
--   })
--
-- The environment's NSLUA_DPI holds dots per inch (150). The directory is made when it is not there. What goes wrong ends the script with status 1 and a message.

local pictures = {}

pictures.option = { "plot", value = "DIR", help = "draw pictures into this directory (needs gnuplot)" }

local function give_up(message)
  io.stderr:write(arg and arg[0] or "script", ": ", message, "\n")
  os.exit(1, true)
end

local function make_directory(directory)
  local process = require "nslua.core".process_support
  local result, message = process.run { "mkdir", "-p", "--", directory }
  if not result then give_up(message) end
  if result.status ~= 0 then
    give_up(("can not make the directory '%s': %s"):format(directory, result.err:match ": ([^:\n]*)\n*$" or
      result.err))
  end
end

-- Draws the figures that the functions in `list` return, by name, in the order of the names.
function pictures.draw(directory, list)
  if not directory then return end
  local dpi = tonumber(os.getenv "NSLUA_DPI")
  local plot, names = require "nslua.plot", {}
  for name in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  make_directory(directory)
  for _, name in ipairs(names) do
    local file = directory:gsub("/+$", "") .. "/" .. name .. ".png"
    local fig = list[name](plot)
    local good, message = pcall(fig.savefig, fig, file, { dpi = dpi })
    if not good then give_up((tostring(message):gsub("^.-savefig: ", ""))) end
    fig:close()
    print("drawn: " .. file)
  end
end

return pictures
