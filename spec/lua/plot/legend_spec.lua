-- Legends at an anchor: the panel makes room for those beside it.
local boxes = require "picture_boxes"
local campaign = require "campaign"
local ns = require "nslua"
local plot = ns.plot

teardown(function() plot.close() end)

-- A figure with names on both axes, a heading, and a legend with these options. more(ax): what else is drawn.
local function with_legend(options, more, kind)
  local fig = plot.figure { figsize = { 6, 4 } }
  local ax = fig:subplot(1, 1, 1, { projection = kind })
  for k = 1, 5 do
    if kind == "3d" then ax:plot3D({ 0, 1 }, { 0, k }, { 0, 1 }, { label = "rather long curve " .. k })
    else ax:plot({ 0, 1 }, { 0, k }, { label = "rather long curve " .. k }) end
  end
  ax:title "A heading":legend(options)
  if not kind then ax:xlabel "time":ylabel "value" end
  if more then more(ax) end
  return fig
end

-- The faults of the picture, and whether it has all five entries.
local function faults_of(fig)
  local svg = fig:picture "svg"
  local _, entries = svg:gsub("rather long curve %d", "")
  fig:close()
  return entries == 5 and table.concat(boxes.faults(svg), "\n") or "entries are missing"
end

describe("a legend beside its panel #once", function()
  local right, below = { loc = "upper left", bbox_to_anchor = { 1.02, 1 } }, { loc = "upper center", ncol = 3,
    bbox_to_anchor = { 0.5, -0.15 } }

  it("is in the picture, clear of other words", function()
    assert.equal("", faults_of(with_legend(right)))
    assert.equal("", faults_of(with_legend(below)))
    assert.equal("", faults_of(with_legend { loc = "center right", bbox_to_anchor = { 0, 0.5 } }))
    assert.equal("", faults_of(with_legend { loc = "lower center", ncol = 2, bbox_to_anchor = { 0.5, 1 } }))
    assert.equal("", faults_of(with_legend(right, function(ax) ax:twinx():plot({ 0, 1 }, { 0, 9 }):ylabel "twin" end)))
    local function with_bar(ax) ax:scatter({ 0 }, { 0 }, { c = { 1 } }):colorbar { label = "bar" } end
    assert.equal("", faults_of(with_legend(right, with_bar)))
    assert.equal("", faults_of(with_legend(right, nil, "polar")))
    assert.equal("", faults_of(with_legend(right, nil, "3d")))
  end)

  it("is in the picture at any anchor", function()
    local count, tell = campaign(4, 0.01)
    local lines = { "left", "center", "right" }
    for seed = 1, count do
      math.randomseed(seed)
      local at = { math.random() * 2.4 - 0.7, math.random() * 2.4 - 0.7 }
      local side = math.random(2) -- beside the panel, or above or below it
      at[side] = math.random(2) == 1 and -0.3 * math.random() or 1 + 0.5 * math.random()
      local column, row = lines[math.random(3)], ({ "upper", "center", "lower" })[math.random(3)]
      if side == 1 then column, at[2] = at[1] < 0 and "right" or "left", math.random() end
      if side == 2 then row, at[1] = at[2] < 0 and "upper" or "lower", math.random() end
      local loc = row == "center" and column == "center" and "center" or row .. " " .. column
      local fig = with_legend { loc = loc, bbox_to_anchor = at, ncol = math.random(3) }
      assert.equal("", faults_of(fig), ("seed %d: %s at %g, %g"):format(seed, loc, at[1], at[2]))
    end
    tell("legends at anchors", count)
  end)
end)

describe("a legend of a polar panel #once", function()
  it("stands clear of the numbers of the rays", function()
    for _, size in ipairs { { 5, 5 }, { 7, 3.5 } } do
      for _, loc in ipairs { "lower right", "upper right", "upper left", "lower left", "center right", "center left",
        "upper center", "lower center" } do
        local fig = with_legend({ loc = loc }, nil, "polar"):set_size_inches(size)
        assert.equal("", faults_of(fig), loc)
      end
    end
  end)
end)

describe("a legend in its panel", function()
  it("takes no room", function()
    local function edge(options)
      return with_legend(options):commands():match "set rmargin at screen (%S+)"
    end
    assert.equal(edge {}, edge { loc = "upper left", bbox_to_anchor = { 0.2, 0.9 } })
    assert.is_true(tonumber(edge { bbox_to_anchor = { 1.02, 1 } }) < 0.8 * edge {})
  end)
end)
