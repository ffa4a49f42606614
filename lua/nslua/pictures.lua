-- nslua.pictures: the options --plot DIR and --animate FILE of a script.
--
--   local pictures = require "nslua.pictures"
--   local opt = options.parse(arg, { ..., pictures.motion, pictures.option })
--   pictures.draw(opt.plot, {                                -- nothing without --plot
--     run = function(plot) return plot.figure() ... end,     -- DIR/run.png: functions that return a figure
--   })
--   pictures.animate(opt.animate, function()                 -- nothing without --animate
--     return { frames = pictures.frames(rows, 60), draw = ... } -- what ns.animation takes, without file and times
--   end)
--
-- In space, with a recorder of a manager of contacts (contacts:recorder()) and the option pictures.space:
--
--   pictures.draw(opt.plot, { run = ... }, { heap = { recorder, time = 0.5 } }) -- also DIR/heap.png, at that time
--   pictures.animate_space(opt.animate, recorder, { title = "A heap" })
--
-- Rows are lists { k, t, ... }: the second number is the time.
--
-- The environment variables NSLUA_DPI and NSLUA_PICTURE set the dots per inch (144 when it is not set) and the kind
-- of the files, "png" (when it is not set), "svg" or "pdf"; NSLUA_SCENES=no leaves out pictures in space.
-- The directory is made when it does not exist. An error prints a message and ends the script with status 1.
local lists = require "nslua.base.lists"

local pictures = {}

pictures.option = { "plot", value = "DIR", help = "draw pictures into this directory (needs gnuplot)" }
pictures.motion = { "animate", value = "FILE", help = "write the motion there (.html, .gif, .mp4)",
  endings = { "html", "gif", "mp4" } }

pictures.space = { "animate", value = "FILE", help = "write the motion there (.html, .png, .gif, .mp4)",
  endings = { "html", "png", "gif", "mp4" } }

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

-- Calls the functions in `list` in the order of their names and writes the figure that each returns to NAME.png,
-- or to a file of the kind that NSLUA_PICTURE holds. Then it writes a picture of each recorder in `scenes`, as PNG,
-- of the last frame or at the time that is given; it says so where the machine can not draw them.
function pictures.draw(directory, list, scenes)
  if not directory then return end
  local dpi, kind = tonumber(os.getenv "NSLUA_DPI"), os.getenv "NSLUA_PICTURE" or "png"
  local plot, names = require "nslua.plot", lists.keys(list)
  make_directory(directory)
  for _, name in ipairs(names) do
    local file = directory:gsub("/+$", "") .. "/" .. name .. "." .. kind
    local fig = list[name](plot)
    local good, message = pcall(fig.savefig, fig, file, { dpi = dpi })
    if not good then give_up((tostring(message):gsub("^.-savefig: ", ""))) end
    fig:close()
    print("drawn: " .. file)
  end
  if os.getenv "NSLUA_SCENES" == "no" then scenes = {} end
  for name, scene in pairs(scenes or {}) do
    local file = directory:gsub("/+$", "") .. "/" .. name .. ".png"
    local options = { width = 11 * (dpi or 144), height = 6.5 * (dpi or 144), time = scene.time }
    local good, message = pcall(function() scene[1]:animate3d():save(file, options) end)
    local told = good and "drawn: %s" or "not drawn: %s: %s"
    print(told:format(file, good or message:match "animation: (.*)" or message))
  end
end

-- Column j of rows, times a factor.
function pictures.column(rows, j, factor)
  local values = lists.map(rows, function(row) return row[j] * (factor or 1) end)
  return values
end

-- The rows that are nearest to the times t0, t0 + 1 / rate, ..., each once.
function pictures.frames(rows, rate)
  local list, count = {}, 0
  for i, row in ipairs(rows) do
    local later, from_start = rows[i + 1], row[2] - rows[1][2]
    local half = later and (later[2] - row[2]) / 2 or 0
    if count <= (from_start + half) * rate then
      list[#list + 1] = row
      count = math.floor((from_start + half) * rate) + 1
    end
  end
  return list
end

-- The options of an animation of several runs of a plane system: their states x1, x2 move, each with its path.
function pictures.plane(title, runs)
  local rows, colors = {}, { "orange", "blue", "green" }
  for i = 1, #runs[#runs] do
    rows[i] = { i, runs[#runs].t[i] }
    for _, sol in ipairs(runs) do
      table.insert(rows[i], sol.x1[i])
      table.insert(rows[i], sol.x2[i])
    end
  end
  local function draw(row, canvas)
    for j, color in ipairs(colors) do
      local x, y = row[2 * j + 1], row[2 * j + 2]
      if not x then break end
      canvas:trace("run " .. j, x, y, { color = color })
      canvas:point(x, y, { color = color })
    end
  end
  return { frames = pictures.frames(rows, 30), axes = true, xlabel = "x1", ylabel = "x2", title = title, draw = draw }
end

-- Writes the animation whose options make() returns, with the times of its frames, and prints that it did.
function pictures.animate(file, make)
  if not file then return end
  local spec = make()
  spec.file, spec.times = file, pictures.column(spec.frames, 2)
  require "nslua".animation(spec)
  print(("written: an animation of %d frames to %s"):format(#spec.frames, file))
end

-- Writes the animation of a recorder, with these options, and prints that it did.
function pictures.animate_space(file, recorder, spec)
  if not file then return end
  spec.file = file
  local good, message = pcall(recorder.animate3d, recorder, spec)
  if not good then give_up(tostring(message)) end
  print(("written: an animation of %d frames to %s"):format(recorder:frames(), file))
end

return pictures
