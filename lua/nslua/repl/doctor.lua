-- nslua.repl.doctor: what `nslua --doctor` prints: what is found, what is missing, and how to install it on Debian.
-- Returns a function (host, version): host has the functions for the terminal (src/repl/prompt.h), version is
-- the interpreter's. It returns whether everything that nslua needs is there.

local _ENV = require "nslua.base.env"()
local modules = require "nslua.repl.modules"

local LIBRARIES = "liblapacke libopenblas0-serial libsuitesparse-dev libcminpack1 libedit2 zlib1g"

-- Programs that are optional: name, use, command that prints the version, package.
local programs = {
  { "gnuplot", "plots", "gnuplot --version", "gnuplot-qt (or gnuplot-nox, without windows)" },
  { "tcc", "native code from callbacks, fast to compile", "tcc -v", "tcc" },
  { "cc", "native code from callbacks, fast to run", "cc --version", "gcc" },
  { "ffmpeg", "animations as MP4", "ffmpeg -version", "ffmpeg" },
  { "mkdocs", "the site, make site", "mkdocs --version", "mkdocs-material" },
}

-- The first line that a command prints; nil when there is none.
local function first_line(command)
  local pipe = io.popen(command .. " 2>/dev/null </dev/null")
  local line = pipe and pipe:read "l"
  if pipe then pipe:close() end
  return line
end

local function say(state, what, text)
  print(("  %-8s %-12s %s"):format(state, what, text))
end

local function found(what, text) say("found", what, text) end

-- Checks the module and the libraries that it is linked with. Returns whether they are there.
local function check_module()
  local place = package.searchpath("nslua.core", package.cpath)
  local good, core = pcall(require, "nslua.core")
  if not good then
    say("MISSING", "module", tostring(core):match "^[^\n]*")
    say("", "", place and "a library it needs may be missing: sudo apt-get install " .. LIBRARIES
      or "build it with make, or install it with make install")
    return false
  end
  local versions = core.versions()
  found("module", place or "nslua.core")
  found("LAPACK", versions.lapack)
  found("BLAS", versions.blas or "of unknown make; with OpenBLAS, libopenblas0-serial, small steps are fastest")
  found("SuiteSparse", versions.suitesparse .. " (KLU)")
  found("cminpack", "linked")
  local whole, message = pcall(require, "nslua")
  if not whole then say("MISSING", "library", tostring(message):match "^[^\n]*") end
  return whole
end

-- Whether nslua was installed as a package of Debian: the package that has the module's file is known.
local function is_packaged()
  local place = package.searchpath("nslua.core", package.cpath)
  return place and first_line(("dpkg-query --search '%s'"):format(place:gsub("'", "'\\''"))) ~= nil
end

local function check_modules()
  local packaged = is_packaged()
  for _, entry in ipairs(modules.list) do
    local name, library, use, package_name = table.unpack(entry)
    local version, message = modules.load(name)
    if version then found(library, ("%s (%s)"):format(version == true and "linked" or version, use))
    elseif message then say("missing", library, message)
    else
      local install = packaged and name:gsub("%.", "-") or package_name .. ", then make and make install"
      say("missing", library, ("for %s: sudo apt-get install %s"):format(use, install))
    end
  end
  if package.searchpath("nslua.fmu", package.cpath) then found("FMI", "2.0 (ns.fmi.export, models for other tools)")
  else say("missing", "FMI",
    "for models for other tools: install the package nslua-fmu, or run make fmu") end
end

local function check_programs()
  for _, program in ipairs(programs) do
    local name, use, ask, package = table.unpack(program)
    if first_line("command -v " .. name) then
      found(name, ((first_line(ask) or ""):gsub(" Copyright.*$", "")))
    else
      say("missing", name, ("for %s: sudo apt-get install %s"):format(use, package))
    end
  end
end

-- What notebooks need: programs and modules of Python, with their packages.
local function check_notebooks()
  local function line(what, version, use, package)
    if version then found(what, ("%s (%s)"):format(version, use))
    else say("missing", what, ("for %s: sudo apt-get install %s"):format(use, package)) end
  end
  local python = first_line "for p in python3 /usr/bin/python3; do $p -c 'import ipykernel' && echo $p && break; done"
  local version = python and first_line(python .. " -c 'import ipykernel; print(ipykernel.__version__)'")
  line("ipykernel", version, "notebooks", "python3-ipykernel")
  line("notebook", first_line "jupyter notebook --version", "notebooks in a browser", "jupyter-notebook")
  line("console", first_line "jupyter console --version", "nslua --console", "jupyter-console")
end

-- What pages embed.
local function check_pages()
  local formulas = require "nslua.web.formulas"
  local version = formulas.version()
  if version then found("KaTeX", ("%s (formulas in pages) %s"):format(version, formulas.directory))
  else
    -- a program that knows the place of KaTeX needs no new build
    local remedy = "for formulas in pages: sudo apt-get install libjs-katex fonts-katex"
      .. (formulas.directory and "" or ", then make and make install")
    say("missing", "KaTeX", remedy)
  end
  local _, directory, revision = require "nslua.web.three".script()
  if directory then found("three.js", ("%s (pages in space) %s"):format(revision or "of unknown version", directory))
  else say("missing", "three.js", "for pages in space: sudo apt-get install libjs-three") end
end

local function check_prompt(host)
  local history = require "nslua.repl.history".path()
  found("libedit", host.libedit)
  if not history then
    say("missing", "history", "neither HOME nor XDG_STATE_HOME is set: lines typed are not kept")
  else
    local good, message = host.make_directory(history:match "^(.*)/")
    local file = good and io.open(history, "r")
    if file then file:close() end
    if not good then say("missing", "history", message)
    else found("history", history .. (file and "" or " (none yet)")) end
  end
end

return function(host, version)
  print(version)
  found("Lua", version:match "Lua ([%d.]+)" or _VERSION)
  local good = check_module()
  check_prompt(host)
  if good then check_modules() end
  check_programs()
  if good then check_pages() end
  check_notebooks()
  print(good and "all that nslua needs is there" or "nslua cannot run: see MISSING above")
  return good
end
