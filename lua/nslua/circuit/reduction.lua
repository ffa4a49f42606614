-- nslua.circuit.reduction: from the equations of the parts to states, switches and sources.
--
-- The unknowns of the tableau (potentials, currents, rates of states, switches, states) stand in linear equations
-- with the sources on the right. Gauss-Jordan elimination solves them for all unknowns but the states and one of the
-- two numbers of each switch:
--
--   x' = A x + B lambda + E u,   y = C x + D lambda + F u,   potentials and currents likewise.
--
-- Unknowns go in the order of their classes. An equation between states and sources alone (a loop of capacitors, a
-- cut of inductors) takes a state away and is differentiated. A switch is a pair of numbers, of which either may be
-- lambda; which one the equations decide (Acary, Bonnefon and Brogliato 2011, Nonsmooth Modeling and Simulation for
-- Switched Circuits, ch. 6). Which entries are 0 is known exactly, so that no unit and no small leak matters.

local exact = require "nslua.circuit.exact"
local lists = require "nslua.base.lists"

local abs = math.abs

local reduction = {}

-- ---- rows ----

-- Coefficients by name, without those that are 0.
local function numbers_of(of)
  local numbers = {}
  for key, value in pairs(of) do
    if value ~= 0 then numbers[key] = exact.number(value) end
  end
  return numbers
end

-- A row: coefficients by unknown (row.of) and by source (row.by).
local function row_of(of, by) return { of = numbers_of(of), by = numbers_of(by or {}) } end

local function add_terms(to, from, factor)
  for key, value in pairs(from) do
    local sum = to[key] or { 0.0, 0.0, 0, 0 }
    exact.add_product(sum, value, factor)
    to[key] = not exact.is_zero(sum) and sum or nil
  end
end

-- Takes an unknown out of a row by the row that is solved for it.
local function substitute(row, pivot_row, unknown)
  local c = row.of[unknown]
  if not c then return end
  local factor = exact.negative_quotient(c, pivot_row.of[unknown])
  add_terms(row.of, pivot_row.of, factor)
  add_terms(row.by, pivot_row.by, factor)
  row.of[unknown] = nil
end

-- ---- the tableau ----

local Tableau = {}
Tableau.__index = Tableau

-- classes: class of each unknown by its name; pairs: { { first, second }, ... } of the switches; only: see reduce.
local function new_tableau(rows, class_of, switches, only)
  local self = setmetatable({ open = {}, solved = {}, class_of = class_of, partner = {}, only = only }, Tableau)
  for i, row in ipairs(rows) do self.open[i] = row_of(row.of, row.by) end
  for _, pair in ipairs(switches) do self.partner[pair[1]], self.partner[pair[2]] = pair[2], pair[1] end
  return self
end

-- The unknown of the class with the largest part of a row, and that part; `may` (optional): which unknowns may be
-- taken.
function Tableau:largest(row, class, may)
  local most, best, part = 0, nil, 0
  for _, value in pairs(row.of) do most = math.max(most, abs(value[1])) end
  for unknown, value in pairs(row.of) do
    local here = abs(value[1]) / most
    local better = here > part or here == part and best and unknown < best
    local free = (not may or may(unknown)) and (not self.only or self.only[unknown])
    if self.class_of[unknown] == class and better and free then best, part = unknown, here end
  end
  return best, part
end

-- Solves open row number i for an unknown, and takes it out of all other rows.
function Tableau:solve(i, unknown)
  local row = table.remove(self.open, i)
  for _, other in ipairs(self.open) do substitute(other, row, unknown) end
  for _, other in pairs(self.solved) do substitute(other, row, unknown) end
  self.solved[unknown] = row
end

-- Solves as many open rows as there are for unknowns of a class; the largest part of any row first.
function Tableau:eliminate(class, may)
  while true do
    local at, unknown, part = nil, nil, 0
    for i, row in ipairs(self.open) do
      local candidate, here = self:largest(row, class, may)
      if candidate and here > part then at, unknown, part = i, candidate, here end
    end
    if not at then return end
    self:solve(at, unknown)
  end
end

-- ---- switches ----

-- Whether a number of a switch may be solved for: its partner is not.
function Tableau:is_free(unknown) return not self.solved[self.partner[unknown]] end

local function copy_of(rows)
  local copy = {}
  for key, row in pairs(rows) do
    local one = { of = {}, by = {} }
    for part, numbers in pairs(one) do
      for name, value in pairs(row[part]) do numbers[name] = exact.copy(value) end
    end
    copy[key] = one
  end
  return copy
end

-- Lets row i, whose switches all have a number that is solved for already, take one of them over: the row that was
-- solved for its partner then needs another. seen: the numbers that were tried. Returns whether it succeeded; the
-- rows are as before when it has not. (An augmenting path, as for matchings.)
function Tableau:take_over(i, seen)
  local function is_switch(unknown) return self.class_of[unknown] == "switch" end
  for _, unknown in ipairs(lists.keys(self.open[i].of, is_switch)) do
    local partner = self.partner[unknown]
    if self:is_free(unknown) then
      self:solve(i, unknown)
      return true
    end
    if not seen[partner] then
      seen[partner] = true
      local open, solved = copy_of(self.open), copy_of(self.solved)
      local displaced = self.solved[partner]
      self.solved[partner] = nil
      self.open[#self.open + 1] = displaced
      self:solve(i, unknown)
      if self:take_over(#self.open, seen) then return true end
      self.open, self.solved = open, solved
    end
  end
  return false
end

-- Finds for each switch which of its numbers is solved for. Returns the open row that holds switches and can not be
-- solved for one; nil: there is none.
function Tableau:choose()
  self:eliminate("switch", function(unknown) return self:is_free(unknown) end)
  local i = 1
  while i <= #self.open do
    local holds = self:largest(self.open[i], "switch")
    if holds and not self:take_over(i, {}) then return self.open[i] end
    i = holds and 1 or i + 1
  end
end

-- ---- all ----

-- Reduces the equations. rows: { of = { unknown = number }, by = { source = number } }, of = by; class_of: "inner",
-- "rate", "switch", "state" or "given" (never solved for) by unknown; switches: pairs of unknowns; rate_of: the rate
-- by state; slope_of: the source that is the derivative of a source, false where that is 0, nil where there is none;
-- only (optional): the set of the unknowns that are solved for, as of the same circuit with other values.
-- Returns the solved rows by unknown (coefficients of the unknowns that are not solved for, and of sources, with the
-- unknown's own as 1), or nil, a word ("switches", "slope", "contradiction") and the row that can not be solved.
function reduction.reduce(rows, class_of, switches, rate_of, slope_of, only)
  local self = new_tableau(rows, class_of, switches, only)
  self:eliminate "inner"
  self:eliminate "rate"
  while true do
    local stuck = self:choose()
    if stuck then return nil, "switches", stuck end
    if #self.open == 0 then break end
    local row = self.open[1]
    local state = self:largest(row, "state")
    if self:largest(row, "given") then return nil, "switches", row end
    if not state then
      if next(row.by) then return nil, "contradiction", row end
      table.remove(self.open, 1) -- 0 = 0
    else
      local of, by = {}, {}
      for unknown, value in pairs(row.of) do of[rate_of[unknown]] = exact.copy(value) end
      for source, value in pairs(row.by) do
        local slope = slope_of[source]
        if slope == nil then return nil, "slope", row, source end
        if slope then by[slope] = exact.copy(value) end
      end
      self:solve(1, state)
      local rate = { of = of, by = by }
      for unknown, solved in pairs(self.solved) do substitute(rate, solved, unknown) end
      self.open[#self.open + 1] = rate
      self:eliminate "rate"
    end
  end
  return self.solved
end

-- The coefficients of an unknown that is solved for: its value is the sum of of[k] times unknown k and by[s] times
-- source s. place: 1 or nil: as doubles; 2: what doubles leave of them.
function reduction.expression(solved, unknown, place)
  local row = solved[unknown]
  place = place or 1
  if not row then return { [unknown] = place == 1 and 1 or 0 }, {} end
  local of, by, own = {}, {}, row.of[unknown]
  for key, value in pairs(row.of) do
    if key ~= unknown then of[key] = exact.negative_quotient(value, own)[place] end
  end
  for key, value in pairs(row.by) do by[key] = -exact.negative_quotient(value, own)[place] end
  return of, by
end

return reduction
