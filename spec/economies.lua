-- Economies in equilibrium, as complementarity problems: prices and excess supplies, activities and their losses.
local economies = {}
local inf = math.huge

local function worth(row, prices)
  local sum = 0
  for i = 1, #row do sum = sum + row[i] * prices[i] end
  return sum
end

-- Consumer c owns owned[c] and wishes for goods by the shares wished[c], with constant elasticity of substitution
-- elasticity[c]; activity j makes activity[j] (negative: uses). z = prices, then activities; the price of the first good is 1.
-- Scarf, The computation of economic equilibria, 1973. Returns a problem for ns.numerics.mcp.
function economies.general(e, least)
  local goods, p = #e.owned[1], { lower = {}, upper = {}, z0 = {} }
  function p.F(z)
    local out = {}
    for i = 1, goods do
      out[i] = 0
      for j = 1, #e.activity do out[i] = out[i] + e.activity[j][i] * z[goods + j] end
    end
    for c = 1, #e.owned do
      local s, sum, wished = e.elasticity[c], 0, e.wished[c]
      for i = 1, goods do sum = sum + (wished[i] > 0 and wished[i] * z[i] ^ (1 - s) or 0) end
      local income = worth(e.owned[c], z)
      for i = 1, goods do
        out[i] = out[i] + e.owned[c][i] - (wished[i] > 0 and wished[i] * income / (z[i] ^ s * sum) or 0)
      end
    end
    out[1] = z[1] - 1
    for j = 1, #e.activity do out[goods + j] = -worth(e.activity[j], z) end
    return out
  end
  for i = 1, goods + #e.activity do
    local wished = false
    for c = 1, #e.wished do wished = wished or (e.wished[c][i] or 0) > 0 end
    p.z0[i], p.lower[i], p.upper[i] = i <= goods and 1 or 0, wished and (least or 1e-8) or 0, inf
  end
  return p
end

-- Scarf and Hansen, The computation of economic equilibria, 1973. Goods: capital at the end of the period, nondurables,
-- durables, capital at its beginning, skilled and unskilled labour.
function economies.scarf()
  return economies.general {
    owned = { { 0, 0, 1, 3, 5, 0.1 }, { 0, 0, 2, 0.1, 0.1, 7 }, { 0, 0, 1.5, 2, 6, 0.1 },
      { 0, 0, 1, 1, 0.1, 8 }, { 0, 0, 2, 6, 0.1, 0.5 } },
    wished = { { 4, 2, 3.2, 0, 0.2, 0 }, { 0.4, 4, 1, 0, 0, 0.6 }, { 2, 2, 1.5, 0, 0.5, 0 },
      { 5, 5, 4.5, 0, 0, 0.2 }, { 3, 4, 2, 0, 0, 0.2 } },
    elasticity = { 1.2, 1.6, 0.8, 0.5, 0.6 },
    activity = { { 4, 0, 4, -5.3, -2, -1 }, { 4, 0, 3.5, -5, -1, -6 }, { 1.6, 6, 0, -2, -2, -3 }, { 1.6, 8, 0, -2, -4, -1 },
      { 1.6, 7, 0, -2, -1, -8 }, { 0.9, 0, 0, -1, 0, 0 }, { 7, 0, 0, -4, -3, -1 }, { 8, 0, 0, -5, -2, -8 } },
  }
end

-- Hansen's economy in the same book: 14 goods, 26 activities at home, of import and of export; all elasticities are 1.
function economies.hansen()
  local goods = "agriculture food textiles services entertainment housing capital steel coal lumber house0 capital0 labour exchange"
  local place, owned, wished, activity = {}, {}, {}, {}
  for name in goods:gmatch "%S+" do place[#place + 1], place[name] = name, #place + 1 end
  local function row(text, sign, to)
    to = to or {}
    for i = 1, #place do to[i] = to[i] or 0 end
    for name, number in text:gmatch "(%S+) (%S+)" do to[place[name]] = to[place[name]] + sign * tonumber(number) end
    return to
  end
  local function make(output, input)
    activity[#activity + 1] = row(input, -1, row(output, 1))
  end
  for _, text in ipairs { "house0 2 capital0 3 labour 0.6", "house0 0.4 capital0 2 labour 0.8",
    "labour 1", "house0 0.8 capital0 7.5 labour 0.6" } do
    owned[#owned + 1] = row(text, 1)
  end
  for _, text in ipairs { "agriculture 0.1 textiles 0.1 housing 0.3 capital 0.1",
    "agriculture 0.2 textiles 0.1 housing 0.1 capital 0.2",
    "agriculture 0.3 textiles 0.3", "agriculture 0.1 textiles 0.1 housing 0.1 capital 0.3" } do
    wished[#wished + 1] = row(text .. " food 0.2 services 0.1 entertainment 0.1", 1)
  end
  make("agriculture 5 capital 0.4", "food 0.9 textiles 0.2 services 1 steel 0.2 coal 1 lumber 0.5 capital0 0.5 labour 0.4")
  make("food 5 capital 1.3", "agriculture 3.5 textiles 0.5 services 2 steel 0.4 coal 0.1 lumber 0.4 capital0 1.5 labour 0.2")
  make("textiles 2 capital 1.2", "agriculture 0.1 food 0.1 services 2 steel 0.2 coal 0.1 lumber 0.3 capital0 1.5 labour 0.2")
  make("services 2 housing 0.32", "textiles 0.1 steel 0.1 coal 1 lumber 0.3 house0 0.4 capital0 0.1 labour 0.02")
  make("entertainment 4", "agriculture 0.7 food 0.8 textiles 0.1 services 2 capital0 0.1 labour 0.4")
  make("housing 0.8 capital 1.1", "textiles 0.8 services 0.4 steel 1 lumber 3 capital0 1.5 labour 0.3")
  make("capital 6", "textiles 0.4 services 1.8 steel 2 coal 0.2 lumber 0.2 capital0 2.5 labour 0.1")
  make("capital 1.8 steel 2", "textiles 0.1 services 1.6 coal 1 lumber 0.2 capital0 2.5 labour 0.1")
  make("capital 1.2 coal 2", "textiles 0.1 services 0.8 steel 0.5 lumber 0.5 capital0 1.5 labour 0.4")
  make("capital 0.4 lumber 1", "textiles 0.1 services 0.2 steel 0.2 coal 0.2 capital0 0.5 labour 0.4")
  make("capital 0.9", "capital0 1")
  make("housing 0.36", "house0 0.4")
  local much, little = "services 0.4 capital0 0.2 labour 0.04", "services 0.2 capital0 0.1 labour 0.02"
  local trade = { { "agriculture", 0.5, much }, { "food", 0.4, little }, { "textiles", 0.8, little },
    { "capital", 1.2, much }, { "steel", 0.6, much }, { "coal", 0.7, much }, { "lumber", 0.4, much } }
  for _, t in ipairs(trade) do make(t[1] .. " 1", t[3] .. " exchange " .. t[2]) end
  trade[1][3], trade[4][3] = "services 0.2 capital0 0.2 labour 0.04", much
  for _, t in ipairs(trade) do make("exchange " .. t[2], t[3] .. " " .. t[1] .. " 1") end
  return economies.general { owned = owned, wished = wished, elasticity = { 1, 1, 1, 1 }, activity = activity }
end

-- Three equilibria: Kehoe, An index theorem for general equilibrium models with production, Econometrica 48, 1980; 1985.
function economies.kehoe()
  return economies.general {
    owned = { { 50, 0, 0, 0 }, { 0, 50, 0, 0 }, { 0, 0, 400, 0 }, { 0, 0, 0, 400 } },
    wished = { { 0.52, 0.4, 0.04, 0.04 }, { 0.86, 0.1, 0.02, 0.02 }, { 0.5, 0.2, 0.2975, 0.0025 }, { 0.06, 0.25, 0.0025, 0.6875 } },
    elasticity = { 1, 1, 1, 1 },
    activity = { { 6, -1, -4, -1 }, { -1, 3, -1, -1 } },
  }
end

-- Shoven and Whalley, J. Econ. Literature 22, 1984: two consumers, two sectors with constant elasticity of substitution between
-- capital and labour. z = prices of manufactures, of other goods, of capital and labour (1), then the outputs.
function economies.shoven_whalley()
  local scale, labour, factors = { 1.5, 2 }, { 0.6, 0.7 }, { 2, 0.5 }
  local share, elasticity = { { 0.5, 0.5 }, { 0.3, 0.7 } }, { 1.5, 0.75 }
  local function F(z)
    local out = { z[5], z[6], 25, 60, 0, 0 }
    for c, income in ipairs { 25 * z[3], 60 * z[4] } do
      local s, sum = elasticity[c], 0
      for i = 1, 2 do sum = sum + share[c][i] * z[i] ^ (1 - s) end
      for i = 1, 2 do out[i] = out[i] - share[c][i] * income / (z[i] ^ s * sum) end
    end
    for i = 1, 2 do
      local s = factors[i]
      local unit = (labour[i] ^ s * z[4] ^ (1 - s) + (1 - labour[i]) ^ s * z[3] ^ (1 - s)) ^ (1 / (1 - s))
      out[3] = out[3] - z[4 + i] / scale[i] * ((1 - labour[i]) * unit / z[3]) ^ s
      out[4] = out[4] - z[4 + i] / scale[i] * (labour[i] * unit / z[4]) ^ s
      out[4 + i] = unit / scale[i] - z[i]
    end
    return out
  end
  return { F = F, lower = { 1e-6, 1e-6, 1e-6, 1, 0, 0 }, upper = { inf, inf, inf, 1, inf, inf }, z0 = { 1, 1, 1, 1, 1, 1 } }
end

-- Mathiesen, Math. Prog. 37, 1987. Solutions: (t, 0, 0, 0) with t in [0, 3].
function economies.mathiesen()
  local function F(z)
    return { z[3] + z[4] - z[2], z[1] - (4.5 * z[3] + 2.7 * z[4]) / (z[2] + 1),
      5 - z[1] - (0.5 * z[3] + 0.3 * z[4]) / (z[3] + 1), 3 - z[1] }
  end
  return { F = F, lower = { 0, 0, 0, 0 }, upper = { inf, inf, inf, inf }, z0 = { 1, 1, 1, 1 } }
end

-- Consumer i owns one of good i and wants goods i and i + 1 in equal amounts; all prices are equal, and no haggling finds them.
-- Excess supplies vanish at infinity, too. Scarf, International Econ. Rev. 1, 1960.
function economies.unstable()
  local function F(p)
    local out = {}
    for i = 1, 3 do
      local next, last = p[i % 3 + 1], p[(i + 1) % 3 + 1]
      out[i] = 1 - p[i] / (p[i] + next) - last / (last + p[i])
    end
    return out
  end
  return { F = F, lower = { 1, 1e-9, 1e-9 }, upper = { 1, inf, inf }, z0 = { 1, 0.1, 4 } }
end

-- Firms with costs c q + b / (1 + b) l^(1 / b) q^((1 + b) / b); the demand is 5000 / price^g. Murphy, Sherali and Soyster, Math.
-- Prog. 24, 1982.
function economies.oligopoly(c, l, b, g)
  local p = { lower = {}, upper = {}, z0 = {} }
  for i = 1, #c do p.lower[i], p.upper[i], p.z0[i] = 0, inf, 10 end
  function p.F(q)
    local all, out = 0, {}
    for i = 1, #c do all = all + q[i] end
    local price = (5000 / all) ^ (1 / g)
    for i = 1, #c do out[i] = c[i] + (l * q[i]) ^ (1 / b[i]) - price * (1 - q[i] / (g * all)) end
    return out
  end
  return p
end

return economies
