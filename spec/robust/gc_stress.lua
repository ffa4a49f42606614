-- Makes a full collection at each return of a C function, after a number of them at every hundredth. The environment
-- variable NSLUA_GC names the collector's mode: incremental or generational.
local most, count = 3000, 0
if os.getenv "NSLUA_GC" == "generational" then collectgarbage "generational" end
local collect, getinfo = collectgarbage, debug.getinfo

debug.sethook(function()
  if getinfo(2, "S").what ~= "C" then return end
  count = count + 1
  if count <= most or count % 100 == 0 then collect() end
end, "r")
