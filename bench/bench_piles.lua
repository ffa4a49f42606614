--
-- bench_piles.lua
-- One-step problems of piles of spheres: seconds of the default chain and of nsgs alone, and how they grow.
--
local ns = require "nslua"
local directory = arg[0]:match("^(.*/)[^/]*$") or "./"
local common = dofile(directory .. "common.lua")
local wall = require "nslua.core".worker_support.clock

-- columns x columns x layers spheres on a leaning grid, each in contact with its neighbours, the floor and the walls.
local function pile(columns, layers, mu)
  math.randomseed(columns + layers)
  local random, contacts, at_body, count = math.random, {}, {}, columns * columns * layers
  local function add(a, b, n) -- n points from a to b; 0 is the ground
    local t = math.abs(n[3]) < 0.9 and { -n[2], n[1], 0 } or { 0, -n[3], n[2] }
    local size, c = math.sqrt(t[1]^2 + t[2]^2 + t[3]^2), #contacts + 1
    for k = 1, 3 do t[k] = t[k] / size end
    local across = { n[2] * t[3] - n[3] * t[2], n[3] * t[1] - n[1] * t[3], n[1] * t[2] - n[2] * t[1] }
    contacts[c] = { [a] = -1, [b] = 1, frame = { n, t, across } }
    for _, body in ipairs { a, b } do
      if body > 0 then table.insert(at_body[body], c) end
    end
  end
  local function lean(axis)
    local n = { 0.3 * (random() - 0.5), 0.3 * (random() - 0.5), 0.3 * (random() - 0.5) }
    n[axis] = math.sqrt(1 - n[axis % 3 + 1]^2 - n[(axis + 1) % 3 + 1]^2)
    return n
  end
  for body = 1, count do at_body[body] = {} end
  for body = 1, count do
    local place = { (body - 1) % columns, (body - 1) // columns % columns, (body - 1) // columns^2 }
    local step = { 1, columns, columns * columns }
    for axis = 1, 3 do add(place[axis] > 0 and body - step[axis] or 0, body, lean(axis)) end
  end
  local W, q = { i = {}, j = {}, v = {}, rows = 3 * #contacts, cols = 3 * #contacts }, ns.zeros(3 * #contacts)
  for body = 1, count do
    local inverse = 1 / (0.5 + random())
    for _, c in ipairs(at_body[body]) do
      local own = contacts[c]
      for r = 1, 3 do q[3 * c - 3 + r] = q[3 * c - 3 + r] - own[body] * own.frame[r][3] end
      for _, e in ipairs(at_body[body]) do
        local other = contacts[e]
        for r = 1, 3 do
          for s = 1, 3 do
            local f, g, k = own.frame[r], other.frame[s], #W.v + 1
            W.i[k], W.j[k] = 3 * c - 3 + r, 3 * e - 3 + s
            W.v[k] = own[body] * other[body] * inverse * (f[1] * g[1] + f[2] * g[2] + f[3] * g[3])
          end
        end
      end
    end
  end
  return { W = ns.sparse(W), q = q, mu = mu, contacts = #contacts }
end

local rows, before = {}, nil
for _, size in ipairs { { 6, 6 }, { 9, 9 }, { 13, 13 }, { 18, 18 } } do
  local p = pile(size[1], size[2], 0.4)
  local function seconds(solver, tolerance)
    local start = os.clock()
    local a = ns.numerics.fc3d { W = p.W, q = p.q, mu = p.mu, tolerance = tolerance, solver = solver }
    return os.clock() - start, a
  end
  local function waited(threads) -- on the wall, to 1e-4
    ns.threads(threads)
    local start = wall()
    ns.numerics.fc3d { W = p.W, q = p.q, mu = p.mu, tolerance = 1e-4 }
    return wall() - start, ns.threads(1)
  end
  local loose, alone = seconds("default", 1e-4), waited(1)
  local tight, answer = seconds("default", 1e-8)
  local sweeps = p.contacts < 3000 and ("%.1f"):format(seconds("nsgs", 1e-8) / tight) or "-"
  local exponent = before and math.log(tight / before.tight) / math.log(p.contacts / before.contacts)
  rows[#rows + 1] = { p.contacts, ("%.2f"):format(loose),
                      ("%.2f"):format(waited(2) / alone), ("%.2f"):format(tight), answer.solver, answer.status,
                      ("%.0e"):format(answer.scaled), sweeps, exponent and ("%.2f"):format(exponent) or "-" }
  before = { tight = tight, contacts = p.contacts }
end
common.table("Piles of spheres, seconds of processor time", {
  "contacts", "to 1e-4", "2 threads over 1", "to 1e-8", "by", "status", "measure", "nsgs over it", "exponent" }, rows)
