-- nslua.web.three: three.js, which draws pages in space. It is found on the machine when a page is made, and embedded
-- in the page, so that this is one file that needs no network.

local three = {}

-- Where packages put it: Debian (libjs-three), and a copy by hand.
local directories = { "/usr/share/javascript/three", "/usr/local/share/javascript/three", "/usr/share/nodejs/three" }

three.missing = "three.js is not installed; pages in space need it: apt install libjs-three"

local function content(directory, names)
  for _, name in ipairs(names) do
    local file = io.open(directory .. "/" .. name, "rb")
    local bytes = file and file:read "a"
    if file then file:close() end
    if bytes and not bytes:lower():find("</script", 1, true) then return bytes end
  end
end

-- The text of three.js with its orbit control, its directory and its revision; nil when it is not there.
function three.script()
  for _, directory in ipairs(three.directories or directories) do
    local script = content(directory, { "build/three.min.js", "three.min.js" })
    local controls = script and content(directory, { "examples/js/controls/OrbitControls.js" })
    if controls then return script .. "\n" .. controls, directory, script:match 'REVISION="(%d+)"' end
  end
end

return three
