-- Tracks of motion: every frame is met to within the tolerance, in few bytes.
local campaign = require "campaign"
local coder = require "nslua.film.coder"
local motion = require "motion"
local numbers = require "random_numbers"
local tracks = require "nslua.film.tracks"

-- Reads the track of the frames; gives its places and the number of bytes.
local function through(track, times, frames, dim)
  for k, x in ipairs(frames) do track:add(times[k], x) end
  local code = coder()
  track:write(code)
  return motion.track(motion.decoder(code:text()), dim, track.quantum, times), #code:text()
end

-- Times that do not decrease; some are equal, as at events.
local function random_times(n)
  local times = { 0 }
  for k = 2, n do times[k] = times[k - 1] + (math.random(10) == 1 and 0 or numbers.uniform(0.5, 1) / 60) end
  return times
end

describe("a track", function()
  it("meets every frame of numbers: flights, jumps, noise, rest #once", function()
    math.randomseed(1)
    local runs, tell = campaign(30, 0.02)
    for run = 1, runs do
      local n, dim, tolerance = math.random(1, 300), run % 2 == 0 and 3 or 1, numbers.power(12)
      local times, frames, x, v = random_times(n), {}, {}, {}
      for i = 1, dim do x[i], v[i] = 10 * numbers.signed(), numbers.signed() end
      for k = 1, n do
        local event = math.random(30)
        for i = 1, dim do
          if event == 1 then v[i] = 0 elseif event == 2 then v[i] = 3 * numbers.signed() end
          if event == 3 then x[i] = x[i] + numbers.signed() end
          local h = times[k] - (times[k - 1] or 0)
          x[i], v[i] = x[i] + h * v[i], v[i] ~= 0 and v[i] - 9.81 * h or 0
        end
        frames[k] = { table.unpack(x) }
      end
      local places = through(tracks.linear(dim, tolerance), times, frames, dim)
      for k = 1, n do
        for i = 1, dim do assert.is_true(math.abs(places[k][i] - frames[k][i]) <= tolerance * (1 + 1e-9), k) end
      end
    end
    tell("tracks of numbers", runs)
  end)

  it("meets every rotation, also one that turns several times between two knots, or by half a turn in a frame #once", function()
    math.randomseed(2)
    local runs, tell = campaign(15, 0.01)
    for run = 1, runs do
      local n, tolerance = math.random(1, 300), 0.01
      local times, frames, q, w = random_times(n), {}, { 1, 0, 0, 0 }, { 0, 0, 0 }
      for k = 1, n do
        if k % 40 == 1 then
          for i = 1, 3 do w[i] = (run % 3 == 0 and 60 or 5) * numbers.signed() end
          if math.random(3) == 1 then w = { 0, 0, 0 } end
        end
        local h = times[k] - (times[k - 1] or 0)
        q = motion.multiply(q, { 1, h * w[1] / 2, h * w[2] / 2, h * w[3] / 2 })
        local length = math.sqrt(q[1] ^ 2 + q[2] ^ 2 + q[3] ^ 2 + q[4] ^ 2) * (math.random(2) == 1 and 1 or -1)
        for i = 1, 4 do q[i] = q[i] / length end
        frames[k] = { table.unpack(q) }
      end
      local places = through(tracks.rotation(tolerance), times, frames, 4)
      for k = 1, n do assert.is_true(motion.angle(places[k], frames[k]) <= tolerance * math.sqrt(3), k) end
    end
    tell("tracks of rotations", runs)
  end)

  it("is a few bytes for a body at rest, and for one in free flight", function()
    local times, rest, flight = {}, {}, {}
    for k = 1, 1200 do
      local t = k / 60
      times[k], rest[k], flight[k] = t, { 0.3, -0.2, 5 }, { 2 * t, -t, 3 * t - 9.81 / 2 * t * t }
    end
    assert.is_true(select(2, through(tracks.linear(3, 1e-3), times, rest, 3)) < 50)
    assert.is_true(select(2, through(tracks.linear(3, 1e-3), times, flight, 3)) < 200)
  end)

  it("stays near its frames between them, also where two of them are nearly at one time", function()
    for _, gap in ipairs { 1e-3, 1e-9, 1e-15, 1e-300 } do
      for _, times in ipairs { { 0, gap, 1, 2 }, { 0, 1, 1 + gap, 2 } } do
        local frames, track = { { 0 }, { 1 }, { 0 }, { 1 } }, tracks.linear(1, 0.01)
        local places = through(track, times, frames, 1)
        for k = 1, 4 do assert.is_true(math.abs(places[k][1] - frames[k][1]) <= 0.01 * (1 + 1e-9)) end
        for i = 1, #track.list, 2 do -- a bend that is twice as high as the way is long is none of the frames
          local smooth = track.list[i]:find "smooth"
          assert.is_true(smooth or track.list[i + 1] * track.quantum <= 4, track.list[i])
        end
      end
    end
  end)
end)
