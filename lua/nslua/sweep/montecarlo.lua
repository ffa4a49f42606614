-- nslua.sweep.montecarlo: means and quantiles of a random result, with errors, to a wanted accuracy.
local arguments = require "nslua.base.arguments"
local core = require "nslua.core"
local statistics = require "nslua.analysis.statistics"
local sweeps = require "nslua.sweep"
local where = require "nslua.base.where"

local fail, expect, reject = arguments.fail, arguments.expect, arguments.reject
local format = core.number_support.format

local montecarlo = {}

local MonteCarlo = {}
MonteCarlo.__index = MonteCarlo
MonteCarlo.__name = "montecarlo"

function MonteCarlo:__tostring()
  local lines = { format("%d samples, %d failed", self.n, self.failed) }
  for _, name in ipairs(self.names) do
    local s = self[name]
    lines[#lines + 1] = format("%s = %.6g +- %.2g (%g %%)", name, s.mean, s.half_width, 100 * self.confidence)
  end
  return table.concat(lines, "; ")
end

where.strict(MonteCarlo, "value")

-- The quantile of a sorted list, and its interval by order statistics (normal approximation of the binomial law).
local function quantile(sorted, share, z)
  local n, at = #sorted, statistics.at_place
  local spread = z * math.sqrt(n * share * (1 - share))
  return { share = share, value = statistics.of_sorted(sorted, share),
    low = at(sorted, math.floor(n * share - spread)), high = at(sorted, math.ceil(n * share + spread) + 1) }
end

-- Fields of the answer beside the fields of the results.
local FIELDS = { n = true, names = true, converged = true, confidence = true }

-- What is known of one column of results.
local function describe(values, shares, z)
  local n, sum = #values, 0
  for i = 1, n do sum = sum + values[i] end
  local mean, square = sum / n, 0
  for i = 1, n do square = square + (values[i] - mean) ^ 2 end
  local deviation = n > 1 and math.sqrt(square / (n - 1)) or 0 / 0
  local half = z * deviation / math.sqrt(n)
  local sorted, quantiles = table.move(values, 1, n, 1, {}), {}
  table.sort(sorted)
  for i, share in ipairs(shares) do quantiles[i] = quantile(sorted, share, z) end
  return { n = n, mean = mean, deviation = deviation, error = deviation / math.sqrt(n), half_width = half,
    interval = { mean - half, mean + half }, quantiles = quantiles, least = sorted[1], largest = sorted[n],
    values = core.vector(values) }
end

-- The file of a batch: the option's, then "name-2.csv", "name-3.csv" and so on.
local function file_of(o, batch)
  local file = o.tasks.file
  if type(file) ~= "string" or batch == 1 then return file end
  return (file:gsub("(%.%w+)$", ("-%d%%1"):format(batch)))
end

-- Adds the results of the samples first to last to the lists. Returns how many failed.
local function sample(o, batch, first, last, lists)
  local run = o.run
  local sweep = sweeps.sweep(sweeps.pass_on(o.tasks, { file = file_of(o, batch),
    parameters = { sample = core.linspace(first, last, last - first + 1) },
    run = function(p, task)
      task.index = p.sample // 1 | 0 -- the numbers of a sample do not depend on the batch that it is in
      return run(task)
    end }))
  local columns, failed = sweep:table(), 0
  for _, name in ipairs(columns:names()) do
    if name ~= "task" and name ~= "sample" and name ~= "failed" then
      local column = columns:column(name)
      if not core.isvector(column) then fail("montecarlo: %s: expected one number from each sample", name) end
      if FIELDS[name] then fail("montecarlo: '%s' is the name of a field of the answer: rename the result", name) end
      lists[name] = lists[name] or {}
      for k = 1, #column do
        if column[k] == column[k] then table.insert(lists[name], column[k]) end
      end
    end
  end
  for k = 1, #columns do failed = failed + columns.failed[k] end
  local failures = failed > 0 and sweep:failures()
  return failed // 1 | 0, failures and failures[1].error
end

local function share_of(x, name)
  reject(type(x) ~= "number" or x ~= x or x <= 0 or x >= 1, x,
    "montecarlo: %s: expected a number between 0 and 1", name)
  return x
end

local function read_options(given)
  local o, who = arguments.options(given, "montecarlo"), "montecarlo"
  expect(o.run, "function", "montecarlo: run: expected a function")
  local shares = o.quantiles and arguments.numbers(o.quantiles, nil, who, "quantiles") or { 0.05, 0.5, 0.95 }
  for i, share in ipairs(shares) do share_of(share, ("quantiles[%d]"):format(i)) end
  local samples = o.samples == nil and 1000 or arguments.integer(o.samples, 2, who, "samples")
  return { run = o.run, tasks = o, samples = samples,
    most = o.max_samples == nil and (o.rtol or o.atol) and 100 * samples
      or o.max_samples and arguments.integer(o.max_samples, samples, who, "max_samples") or samples,
    confidence = share_of(o.confidence == nil and 0.95 or o.confidence, "confidence"), shares = shares,
    rtol = arguments.number(o.rtol or 0, who, "rtol"), atol = arguments.number(o.atol or 0, who, "atol"),
    stops = o.rtol ~= nil or o.atol ~= nil }
end

-- ns.montecarlo
function montecarlo.montecarlo(given)
  local o = read_options(given)
  local z = core.normal_quantile(0.5 + 0.5 * o.confidence)
  local lists, batch, done = {}, 0, 0
  local self = { failed = 0, names = {}, confidence = o.confidence, converged = not o.stops }
  repeat
    local last = math.min(o.most, done == 0 and o.samples or 2 * done)
    batch = batch + 1
    local failed, message = sample(o, batch, done + 1, last, lists)
    self.failed, done, self.n, self.names, self.converged = self.failed + failed, last, last, {}, true
    for name, values in pairs(lists) do
      if #values > 0 then
        self.names[#self.names + 1], self[name] = name, describe(values, o.shares, z)
        local s = self[name]
        self.converged = self.converged and (not o.stops or s.half_width <= o.atol + o.rtol * math.abs(s.mean))
      end
    end
    table.sort(self.names)
    if #self.names == 0 then fail("montecarlo: no sample gave a number; the first: %s", message or "none") end
  until self.converged or done >= o.most
  return setmetatable(self, MonteCarlo)
end

return montecarlo
