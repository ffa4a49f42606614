-- nslua.plot.kinds: what an artist of each kind is to the limits, to the legend and to the order of drawing. A field
-- that a kind does not have is nil.
--
--   curve    true: its points are in an order, so that x may be a time; false: they are in none
--   steep    it may run along the edge of the panel
--   points   a legend should not hide its points; apart: they are not joined
--   filled   a legend should not hide the insides of its rectangles
--   words    it is a text
--   sample   its sample in a legend: "patch", "arrow", "bar"; nil: a line and a marker
--   area     it lies below artists without a zorder
--   first    in space it is drawn before all others
--   on_dots  its edges lie between the dots of a picture

return {
  line = { curve = true, steep = true, points = true },
  step = { curve = true, steep = true, points = true },
  scatter = { curve = false, points = true, apart = true },
  vectors = { curve = false, points = true, sample = "arrow" },
  errors = { curve = false, points = true, sample = "bar" },
  between = { curve = true, points = true, sample = "patch", area = true },
  fill = { curve = false, points = true, sample = "patch", area = true },
  boxes = { curve = false, points = true, filled = true, sample = "patch", area = true },
  span = { sample = "patch", area = true },
  cells = { sample = "patch", area = true, on_dots = true },
  bands = { sample = "patch", area = true },
  faces = { points = true, sample = "patch", first = true },
  across = {},
  axline = {},
  key = {},
  text = { words = true },
}
