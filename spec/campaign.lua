-- How many models or problems a random family draws: `short` in `make test` and `make check`; in `make soak` NSLUA_RANDOM (20,000
-- when it is not set) times `share`; NSLUA_CAMPAIGN=n asks for n of them by hand. The second value: whether it is a long run.
return function(short, share)
  local asked = tonumber(os.getenv "NSLUA_CAMPAIGN")
  if asked then return asked, true end
  if not os.getenv "NSLUA_SOAK" then return short, false end
  local all = tonumber(os.getenv "NSLUA_RANDOM") or 20000
  return math.max(short, math.floor(all * share)), true
end
