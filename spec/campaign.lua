-- How many models or problems a random family draws: `short` in `make test` and `make check`; in `make soak` NSLUA_RANDOM
-- (20,000 when it is not set) times `share`; NSLUA_CAMPAIGN=n asks for n of them by hand. And a function (what, how many) that
-- tells, in a long run, what has been compared without finding a difference.
return function(short, share)
  local asked, soak = tonumber(os.getenv "NSLUA_CAMPAIGN"), os.getenv "NSLUA_SOAK"
  local all = tonumber(os.getenv "NSLUA_RANDOM") or 20000
  local count = asked or soak and math.max(short, math.floor(all * share)) or short
  return count, function(what, tried)
    if asked or soak then print(("%s: %d, 0 differences"):format(what, tried)) end
  end
end
