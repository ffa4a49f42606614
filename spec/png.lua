-- The colours of the pixels of PNG files, as gnuplot reads them.
local host = require "host"

local png = {}

-- {width =, height =, [y * width + x] = 0xRRGGBB}, x and y counted from 0 at the upper left corner.
function png.read(path)
  local width, height = string.unpack(">I4I4", assert(host.read(path)), 17)
  local picture = { width = width, height = height }
  local out = host.run("gnuplot -", ('set table; plot "%s" binary filetype=png using 1:2:3 with table\n'):format(path))
  local count = 0
  for x, y, r, g, b in out:gmatch "(%d+)%s+(%d+)%s+(%d+)%s+(%d+)%s+(%d+)" do -- y upwards
    picture[(height - 1 - y) * width + x] = (r * 256 + g) * 256 + b
    count = count + 1
  end
  assert(count == width * height)
  return picture
end

-- The picture of a figure, saved in a file that is removed afterwards.
function png.of(figure, options)
  local directory = host.new_directory()
  figure:savefig(directory .. "/p.png", options)
  local picture = png.read(directory .. "/p.png")
  host.remove(directory)
  return picture
end

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
