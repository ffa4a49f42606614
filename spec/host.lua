-- The build under test: its paths, and running processes with it.
local host = {}

local function line_of(command)
  local pipe = assert(io.popen(command))
  local line = pipe:read "l"
  pipe:close()
  return line
end

host.root = line_of "pwd"
host.build = os.getenv "NSLUA_BUILD" or "build"
if host.build:sub(1, 1) ~= "/" then host.build = host.root .. "/" .. host.build end
host.nslua = host.build .. "/bin/nslua"
host.sanitized = host.build:find("asan", 1, true) ~= nil

-- 's' quoted for the shell.
function host.quote(s)
  return "'" .. s:gsub("'", "'\\''") .. "'"
end

function host.read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

-- CRC-64 of ECMA-182, bits reflected.
function host.crc64(bytes)
  local crc = ~0
  for i = 1, #bytes do
    crc = crc ~ bytes:byte(i)
    for _ = 1, 8 do crc = crc & 1 == 0 and crc >> 1 or (crc >> 1) ~ 0xC96C5795D7870F42 end
  end
  return ~crc
end

function host.write(path, text)
  local file = assert(io.open(path, "wb"))
  assert(file:write(text))
  assert(file:close())
end

-- A new directory under /tmp, and its removal.
function host.new_directory()
  return assert(line_of "mktemp -d /tmp/nslua-spec.XXXXXX")
end

function host.remove(directory)
  assert(directory:match "^/tmp/nslua%-spec%.")
  os.execute("rm -rf " .. host.quote(directory))
end

-- The names in a directory, sorted, joined by blanks.
function host.list(directory)
  local pipe = assert(io.popen("ls -A " .. host.quote(directory)))
  local text = pipe:read "a"
  pipe:close()
  return (text:gsub("\n$", ""):gsub("\n", " "))
end

-- Runs a shell command with `input` (default: none), without preloaded libraries and the suite's Lua settings.
-- Returns its output, error output and exit status.
function host.run(command, input)
  local directory = host.new_directory()
  host.write(directory .. "/in", input or "")
  host.write(directory .. "/command", command .. "\n")
  local clean = "env -u LD_PRELOAD -u LUA_PATH -u LUA_CPATH -u LUA_INIT -u MAKEFLAGS -u MAKELEVEL "
  local _, how, code = os.execute((clean .. "sh DIR/command <DIR/in >DIR/out 2>DIR/err"):gsub("DIR", directory))
  local out, err = host.read(directory .. "/out"), host.read(directory .. "/err")
  host.remove(directory)
  return out, err, how == "exit" and code or how .. " " .. code
end

-- Builds `name`, which spec/robust needs, by the Makefile's rule; returns its path in the build directory.
function host.make(name)
  local relative = host.build:gsub("^" .. host.root:gsub("%p", "%%%0") .. "/", "") .. "/" .. name
  local _, err, status = host.run(("cd %s && make -s BUILD=%s %s"):format(host.quote(host.root),
    host.quote(relative:sub(1, -#name - 2)), host.quote(relative)))
  assert(status == 0, err)
  return host.build .. "/" .. name
end

-- Compiles spec/native/NAME.c; returns the path of the library, and its directory, which the caller removes.
function host.compile(name)
  local directory = host.new_directory()
  local library = ("%s/%s.so"):format(directory, name)
  local source = ("%s/spec/native/%s.c"):format(host.root, name)
  local _, err, status = host.run(("%s -std=c11 -O1 -ffp-contract=off -Wall -Wextra -Werror -shared -fPIC -o %s %s -lm")
    :format(os.getenv "CC" or "cc", host.quote(library), host.quote(source)))
  assert(status == 0 and err == "", err)
  return library, directory
end

-- Runs the interpreter under test.
function host.nslua_run(arguments, input)
  return host.run(host.quote(host.nslua) .. " " .. arguments, input)
end

return host
