-- Derivatives of runs of random models (random_sensitive.lua) against central differences of event-driven runs.
local comparison = {}

-- What a run gives: the final state and then the times of its events; the sequence of its events as a text; the number of states.
local function outcome(sol)
  local x, kinds = {}, {}
  local last = sol.x[#sol]
  for i = 1, #last do x[i] = last[i] end
  for i, event in ipairs(sol.events) do
    kinds[i] = ("%s %s %s"):format(event.kind, event.interaction, event.component or "")
    x[#last + i] = event.t
  end
  return x, table.concat(kinds, ", "), #last
end

-- The derivatives of an outcome by p[j] by differences of order 4 with the step h; nil where the sequence of events changes, or
-- where p[j] + 2 h is no value of the parameter.
local function difference(one, j, h, sequence)
  local p, x = one.p, {}
  local at = p[j]
  for _, steps in ipairs { -2, -1, 1, 2 } do
    p[j] = at + steps * h
    local good, sol = pcall(function() return one.build(p):run() end)
    p[j] = at
    if not good then return nil end
    local kinds
    x[steps], kinds = outcome(sol)
    if kinds ~= sequence then return nil end
  end
  local d = {}
  for i = 1, #x[1] do d[i] = (8 * (x[1][i] - x[-1][i]) - (x[2][i] - x[-2][i])) / (12 * h) end
  return d
end

-- The largest difference of two columns in the rows from..to, and the largest element of the first one.
local function apart(a, b, from, to)
  local off, size = 0, 0
  for i = from, to do off, size = math.max(off, math.abs(a[i] - b[i])), math.max(size, math.abs(a[i])) end
  return off, size
end

-- The differences by p[j] with the step at which the derivatives of the n states change least, that change relative to them, and
-- the differences with the step before.
local function converged(one, j, sequence, n)
  local best, error, before, rough = nil, math.huge, nil, nil
  for _, h in ipairs { 2e-3, 5e-4, 2e-4, 5e-5, 2e-5, 5e-6 } do
    local d = difference(one, j, h, sequence)
    if d and before then
      local off, size = apart(d, before, 1, n)
      local change = off == 0 and 0 or off / size
      if change < error then best, error, rough = d, change, before end
      if change > 30 * error then break end
    end
    if d and error < 1e-9 then break end
    before = d
  end
  return best, error, rough
end

-- The derivatives by p[j] of S at the end, and of the times of the events: columns[c] = { j, weight } belongs to column c of S.
local function column_of(sol, j, columns, n, count)
  local sum, S = {}, sol.S[#sol]
  for i = 1, count do
    sum[i] = 0
    for c, column in ipairs(columns) do
      if column[1] == j then sum[i] = sum[i] + column[2] * (i <= n and S[i][c] or i > n and sol.events[i - n].dt[c]) end
    end
  end
  return sum
end

-- Compares S at the end and the derivatives of the times of events with differences, by at most `most` of the numbers p. A
-- column counts where the differences have converged to 2e-8 with an unchanged sequence of events. Gives the number of columns
-- that count, the largest errors of the states and of the times in them, relative to the column, and the sequence of events. The
-- run must be the plain one, to the last bit.
function comparison.compare(one, most)
  local simu, parameters = one.build(one.p)
  local list, columns = {}, {}
  for j, terms in ipairs(parameters) do
    for _, term in ipairs(terms) do list[#list + 1], columns[#columns + 1] = { table.unpack(term, 2) }, { j, term[1] } end
  end
  local x, sequence, n = outcome(one.build(one.p):run())
  local sol = simu:run { sensitivities = list }
  local again, order = outcome(sol)
  assert(order == sequence, "the run has other events")
  for i = 1, #x do assert(x[i] == again[i], "the run is another one") end
  local count, worst, late = 0, 0, 0
  for j = 1, math.min(most or #one.p, #one.p) do
    local d, error, rough = converged(one, j, sequence, n)
    if d and error < 2e-8 then
      local column = column_of(sol, j, columns, n, #x)
      local off, size = apart(d, column, 1, n)
      local _, times = apart(d, column, n + 1, #x)
      local least = 1e-3 * sol.t[#sol] / math.max(1e-3, math.abs(one.p[j])) -- a change of all of p[j] moves it by 1/1000 of the run
      times = math.max(times, least)
      for i = n + 1, #x do -- the times of the last one of many bounces are rounding in their differences
        if math.abs(d[i] - rough[i]) < 1e-7 * times then late = math.max(late, math.abs(d[i] - column[i]) / times) end
      end
      count, worst = count + 1, math.max(worst, size > 0 and off / size or off)
    end
  end
  return count, worst, late, sequence
end

return comparison
