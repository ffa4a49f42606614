-- nslua.plot.artists: what the methods of axes that draw have in common: an artist is appended, its style is read
-- from the options.

local core = require "nslua.core"
local data = require "nslua.plot.data"
local defaults = require "nslua.plot.defaults"
local style = require "nslua.plot.style"

local artists = {}

local fail, text, number = data.fail, data.text, data.number

-- Appends an artist to axes and returns it.
function artists.add(self, artist)
  self.artists[#self.artists + 1] = artist
  return artist
end

local words = { ["xx-small"] = 0.579, ["x-small"] = 0.694, small = 0.833, medium = 1, large = 1.2, ["x-large"] = 1.44,
  ["xx-large"] = 1.728 }

-- The size of a text in units in which the usual one is 10: from points or from a word such as "large".
function artists.fontsize(who, x)
  if words[x] then return 10 * words[x] end
  if type(x) == "string" then
    fail("%s: fontsize: expected points, or one of xx-small, x-small, small, medium, large, x-large, xx-large, "
      .. "got '%s'",
      who, x)
  end
  return number(who, "fontsize", x, 1) * 10 / defaults["font.size"]
end

-- The next colour of the cycle, and the dashes that go with it: other ones after each round.
function artists.next_color(self)
  self.used_colors = self.used_colors + 1
  local k = self.used_colors - 1
  return style.cycle[k % #style.cycle + 1], style.turns[k // #style.cycle % #style.turns + 1]
end

-- The place of an artist in the order in which artists are drawn, when the script has asked for one.
function artists.zorder(who, options) return options.zorder and number(who, "zorder", options.zorder) end

-- The fields of an artist that follow from the options of a line.
function artists.line_style(self, who, options, format)
  local f = format and style.format(who, format) or {}
  local marker = options.marker or f.marker
  local every = options.markevery
  data.reject(every and (math.type(every) ~= "integer" or every < 1), every,
    "%s: markevery: expected a whole number, at least 1", who)
  local color, face = options.color or f.color, options.markerfacecolor
  local edge, turn = options.markeredgecolor, nil
  if color then color = style.color(who, color) else color, turn = artists.next_color(self) end
  local width = options.linewidth or defaults["lines.linewidth"]
  return {
    color = color,
    dash = style.dash(who, options.linestyle or f.linestyle or turn or "-"),
    marker = marker and style.marker(who, marker),
    hollow = options.hollow or face == "none", face = face and face ~= "none" and style.color(who, face) or nil,
    marker_edge = edge and edge ~= "none" and style.color(who, edge) or nil, edgeless = edge == "none",
    linewidth = number(who, "linewidth", width, 0),
    markersize = number(who, "markersize", options.markersize or defaults["lines.markersize"], 0), markevery = every,
    alpha = options.alpha and number(who, "alpha", options.alpha, 0),
    label = options.label and text(who, "label", options.label), zorder = artists.zorder(who, options),
  }
end

-- The fields of an artist that follow from the options of an area.
function artists.fill_style(self, who, options)
  return {
    color = options.color and style.color(who, options.color) or (artists.next_color(self)),
    alpha = number(who, "alpha", options.alpha or 0.35, 0), label = options.label and text(who, "label",
      options.label),
    edge = options.edgecolor ~= "none" and options.edgecolor and style.color(who, options.edgecolor) or nil,
    linewidth = number(who, "linewidth", options.linewidth or 1, 0), zorder = artists.zorder(who, options),
  }
end

-- Names the places of categories on the axis that they stand on, by their numbers where no labels are given.
function artists.name_places(self, at, labels, upright)
  local names = labels
  if not names then
    names = {}
    for i = 1, #at do names[i] = core.number_support.format("%g", at[i]) end
  end
  return upright and self:xticks(at, names) or self:yticks(at, names)
end

-- Raises when the axes are in space.
function artists.in_plane(self, who)
  if self.three_d then fail("%s: these axes are in space; use subplot for others", who) end
end

-- A table whose new functions become methods: check(axes, name), if there is one, goes first, and they return the
-- axes where they return nothing. exact: they take no more arguments than they have names for.
function artists.methods(methods, check, exact)
  return setmetatable({}, { __newindex = function(_, name, method)
    local count = debug.getinfo(method, "u").nparams
    methods[name] = function(self, ...)
      if exact then data.nothing(name, (select(count, ...))) end
      if check then check(self, name) end
      return method(self, ...) or self
    end
  end })
end

return artists
