-- nslua.film.coder: whole numbers in as few bits as they need: an adaptive binary range coder (Martin 1979; with
-- the arithmetic of LZMA). A number n from 0 is n + 1 = 2^e + m: e in unary bits, then the e bits of m. Each bit has
-- a probability, which learns from the bits before it, fast at first: there is one for each field, place in the unary
-- code, and leading bits of m. web/decoder.js reads the bytes.

local char = string.char

local Coder = {}
Coder.__index = Coder

local EVEN = 1 << 14 -- the probability of a 0 is so many 32768ths
-- The bits before, to 15, give by how many places a difference is shifted: a bit moves the probability by a half at
-- first, by a 32nd in the end.
local LEARNS = { [0] = 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5 }
local LEADING = 3 -- bits of m that have a probability of their own
local LARGEST = 48 -- above each e: keys of probabilities are e, then those of the bits of m by e and the bits before

local function shift(self)
  local low = self.low
  if low < 0xff000000 or low > 0xffffffff then
    local carry, out = low >> 32, self.out
    if self.cache then out[#out + 1] = char(self.cache + carry & 255) end
    for _ = 1, self.pending do out[#out + 1] = char(255 + carry & 255) end
    self.pending, self.cache = 0, low >> 24 & 255
  else
    self.pending = self.pending + 1
  end
  self.low = (low & 0xffffff) << 8
end

local function bit(self, field, key, value)
  local known = field[key] or EVEN << 4 -- the probability, and below it the bits before
  local p, before = known >> 4, known & 15
  local bound, learns = (self.range >> 15) * p, LEARNS[before]
  if value == 0 then
    self.range, p = bound, p + (32768 - p >> learns)
  else
    self.low, self.range, p = self.low + bound, self.range - bound, p - (p >> learns)
  end
  field[key] = p << 4 | (before < 15 and before + 1 or 15)
  while self.range < 1 << 24 do
    self.range = self.range << 8
    shift(self)
  end
end

-- Adds a number, from 0 to 2^40, of a field, a name.
function Coder:natural(name, n)
  local field = self.fields[name] or {}
  self.fields[name] = field
  local e = 0
  while n + 1 >> e > 1 do
    bit(self, field, e, 1)
    e = e + 1
  end
  bit(self, field, e, 0)
  local leading = 1
  for k = e - 1, 0, -1 do
    local b = n + 1 >> k & 1
    local leads = e - k <= LEADING
    bit(self, leads and field or {}, LARGEST + (e << LEADING) + leading, b)
    leading = 2 * leading + b
  end
end

-- Adds a number with a sign: 2 |n|, less 1 when n is below 0.
function Coder:whole(name, n) self:natural(name, n < 0 and -2 * n - 1 or 2 * n) end

-- The bytes of all numbers.
function Coder:text()
  for _ = 1, 5 do shift(self) end
  return table.concat(self.out)
end

return function()
  return setmetatable({ low = 0, range = 0xffffffff, pending = 0, out = {}, fields = {} }, Coder)
end
