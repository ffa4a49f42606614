-- The number of models or problems of a random family: `short` in `make test` and `make check`; NSLUA_RANDOM (default
-- 20,000) times `share` in `make soak`; n with NSLUA_CAMPAIGN=n. Also returns a function (what, how many) that prints, in
-- a long run, what was compared without a difference.
return function(short, share)
  local asked, soak = tonumber(os.getenv "NSLUA_CAMPAIGN"), os.getenv "NSLUA_SOAK"
  local all = tonumber(os.getenv "NSLUA_RANDOM") or 20000
  local count = asked or soak and math.max(short, math.floor(all * share)) or short
  return count, function(what, tried)
    if asked or soak then print(("%s: %d, 0 differences"):format(what, tried)) end
  end
end
