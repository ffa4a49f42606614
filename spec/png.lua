-- The colours of the pixels of PNG files, as gnuplot reads them.
local host = require "host"

local png = {}

local WHITE = 0xFFFFFF

-- The picture of a PNG file, {width =, height =, [y * width + x] = 0xRRGGBB}, x and y counted from 0 at the upper left
-- corner. dots: what gnuplot has told of the dots that are not white.
local function picture_of(path, dots)
  local width, height = string.unpack(">I4I4", assert(host.read(path)), 17)
  local picture = { width = width, height = height }
  for k = 0, width * height - 1 do picture[k] = WHITE end
  for x, y, r, g, b in dots:gmatch "(%d+)%s+(%d+)%s+(%d+)%s+(%d+)%s+(%d+)" do -- y upwards
    picture[(height - 1 - y) * width + x] = (r * 256 + g) * 256 + b
  end
  return picture
end

-- The commands that write the dots of a file that are not white into another one: their places and their colours.
local function dots_into(path, dots)
  return ('reset session\nset table "%s"; plot "%s" binary filetype=png using 1:2:3 with table '
    .. "if ($1 + $2 + $3 < 765); unset table\n"):format(dots, path)
end

-- The pictures of PNG files.
local function read_all(paths, commands)
  local list, directory = {}, host.new_directory()
  for k, path in ipairs(paths) do commands[#commands + 1] = dots_into(path, directory .. "/" .. k) end
  local told, _, status = host.run("gnuplot --default-settings 2>&1", table.concat(commands))
  assert(status == 0, told)
  for k, path in ipairs(paths) do
    list[k] = picture_of(path, assert(host.read(directory .. "/" .. k), told))
  end
  host.remove(directory)
  return list
end

function png.read(path) return read_all({ path }, {})[1] end

-- The pictures of figures, drawn by one gnuplot. options: { dpi = }.
function png.of_all(figures, options)
  local directory, paths, commands = host.new_directory(), {}, {}
  for k, figure in ipairs(figures) do
    paths[k] = ("%s/%d.png"):format(directory, k)
    figure.dpi = options and options.dpi or figure.dpi
    local drawn = figure:commands "png"
    commands[k] = "reset session\n" .. drawn:gsub("\nset multiplot", '\nset output "' .. paths[k] .. '"%0', 1) .. "unset output\n"
  end
  local list = read_all(paths, commands)
  host.remove(directory)
  return list
end

function png.of(figure, options) return png.of_all({ figure }, options)[1] end

-- The number of pixels of a colour (within x0 <= x < x1, y0 <= y < y1 if given), and the rectangle around them.
function png.count(picture, colour, x0, x1, y0, y1)
  local count, box = 0, { picture.width, -1, picture.height, -1 }
  for y = y0 or 0, (y1 or picture.height) - 1 do
    for x = x0 or 0, (x1 or picture.width) - 1 do
      if picture[y * picture.width + x] == colour then
        count = count + 1
        box = { math.min(box[1], x), math.max(box[2], x), math.min(box[3], y), math.max(box[4], y) }
      end
    end
  end
  return count, box
end

-- The area, in pixels, that red ("#FF0000") covers on white (edge pixels count in part), and the rectangle around it.
function png.red(picture)
  local cover, box = 0, { picture.width, -1, picture.height, -1 }
  for y = 0, picture.height - 1 do
    for x = 0, picture.width - 1 do
      local rgb = picture[y * picture.width + x]
      local g, b = rgb >> 8 & 255, rgb & 255
      if rgb >> 16 == 255 and g == b and g < 255 then
        cover = cover + (255 - g) / 255
        box = { math.min(box[1], x), math.max(box[2], x), math.min(box[3], y), math.max(box[4], y) }
      end
    end
  end
  return cover, box
end

-- The number of pixels that differ between two pictures of equal size, within the part that is given.
function png.differences(a, b, x0, x1, y0, y1)
  assert(a.width == b.width and a.height == b.height)
  local count = 0
  for y = y0 or 0, (y1 or a.height) - 1 do
    for x = x0 or 0, (x1 or a.width) - 1 do
      count = count + (a[y * a.width + x] ~= b[y * a.width + x] and 1 or 0)
    end
  end
  return count
end

return png
