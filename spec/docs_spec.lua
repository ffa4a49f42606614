-- Runs the examples of the documentation: README.md, CONTRIBUTING.md, and the pages of docs/ and of its folders.
--
-- Every ```lua block runs on its own, with `ns` defined; after a line <!-- continues --> it runs after the block before
-- it. The document must show what the block prints: in comments that start with -- > (one for each printed line, after a
-- statement or on a line of its own), or in a ```text block right after it. Every ```repl block is typed at the prompt.
-- A file that a block names in quotes, "run.csv", is put in a temporary directory.
local host = require "host"
local ns = require "nslua"
local annotations = require "nslua.help.annotations"
local entries = require "nslua.help.entry"

local files = { "README.md", "CONTRIBUTING.md" }
for _, directory in ipairs { "docs/", "docs/reference/", "docs/howto/", "docs/introduction/" } do
  for name in host.list(directory):gmatch "%S+" do
    if name:find "%.md$" then files[#files + 1] = directory .. name end
  end
end

local texts = {}
for _, file in ipairs(files) do texts[file] = host.read(file) end

-- ---- blocks ----

-- The fenced blocks of a file: language, text, line of the fence, whether it continues the one before, and `shown`,
-- the text block that follows at once.
local function blocks_of(text)
  local blocks, open, last, number = {}, nil, "", 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    local fence = line:match "^```(%w*)$"
    if open and fence then
      open.text = table.concat(open, "\n")
      open, last = nil, "```"
    elseif open then
      open[#open + 1] = line
    elseif fence then
      open = { language = fence, line = number, continues = last == "<!-- continues -->" }
      if fence == "text" and last == "```" then blocks[#blocks].shown = open end
      blocks[#blocks + 1] = open
    elseif line:find "%S" then
      last = line
    end
  end
  assert(not open, "a block is not closed")
  return blocks
end

-- What a Lua block says that it prints, line by line.
local function promised(block)
  local lines = {}
  for line in (block.text .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = line:match "%-%- > (.*)$"
  end
  if block.shown then lines[#lines + 1] = block.shown.text end
  return table.concat(lines, "\n")
end

local function trimmed(text)
  return (text:gsub("[ \t]+\n", "\n"):gsub("%s+$", ""))
end

local kinds = { csv = true, npy = true, npz = true, h5 = true, lua = true, png = true, svg = true, pdf = true, html = true,
  fmu = true, nc = true, mat = true }

local function into(directory, source)
  return (source:gsub('"([%w_]+%.(%l+%d?))"', function(name, kind)
    return kinds[kind] and ('"%s/%s"'):format(directory, name)
  end))
end

-- Runs the blocks in one chunk and returns what the last one printed. display() prints through the global print.
local function run(blocks, directory)
  local lines, parts, print_before = {}, {}, print
  for i, block in ipairs(blocks) do parts[i] = block.text end
  local source = into(directory, table.concat(parts, "\nprint(\0)\n")):gsub("%z", "'\0'")
  local env = setmetatable({ ns = ns }, { __index = _G })
  local chunk = assert(load(source, "=example.lua", "t", env))
  rawset(_G, "print", function(...)
    local words = table.pack(...)
    if words[1] == "\0" then lines = {} return end
    for i = 1, words.n do words[i] = tostring(words[i]) end
    lines[#lines + 1] = table.concat(words, "\t")
  end)
  local good, message = pcall(chunk)
  rawset(_G, "print", print_before)
  assert(good, message)
  return table.concat(lines, "\n")
end

-- The blocks to run for block number i: the blocks that it continues, then itself.
local function chain(blocks, i)
  local list, lua = {}, {}
  for k = 1, i do
    if blocks[k].language == "lua" then lua[#lua + 1] = blocks[k] end
  end
  for k = #lua, 1, -1 do
    table.insert(list, 1, lua[k])
    if not lua[k].continues then break end
  end
  return list
end

for _, file in ipairs(files) do
  describe(file .. " #once", function()
    local directory
    setup(function() directory = host.new_directory() end)
    teardown(function() host.remove(directory) end)
    local blocks = blocks_of(texts[file])
    for i, block in ipairs(blocks) do
      if block.language == "lua" then
        it(("block at line %d runs and prints what it shows"):format(block.line), function()
          assert.equal(trimmed(promised(block)), trimmed(run(chain(blocks, i), directory)))
        end)
      elseif block.language == "repl" then
        it(("session at line %d goes as shown"):format(block.line), function()
          local input, shown = {}, {}
          for line in (block.text .. "\n"):gmatch "(.-)\n" do
            local typed = line:match "^>>? (.*)$"
            if typed then input[#input + 1] = typed else shown[#shown + 1] = line end
          end
          local command = ("cd %s && %s -i 2>&1"):format(directory, host.quote(host.nslua))
          local out = host.run(command, table.concat(input, "\n") .. "\n"):gsub("^[^\n]*\n", "")
          out = ("\n" .. out):gsub("\n>[> ]*", "\n"):gsub("^\n+", "")
          assert.equal(trimmed(table.concat(shown, "\n")), trimmed(out))
        end)
      end
    end
  end)
end

-- ---- names ----

describe("docs/troubleshooting.md", function()
  it("has headings that are parts of messages", function()
    local source = host.run "cat $(find src lua -name '*.[ch]' -o -name '*.lua')"
    local count = 0
    for message in texts["docs/troubleshooting.md"]:gmatch '\n### "([^\n]*)"\n' do
      count = count + 1
      assert.truthy(source:find(message, 1, true), message)
    end
    assert.is_true(count > 10)
  end)
end)

describe("names in the documentation", function()
  local words = {} -- those of the C sources

  setup(function()
    local pipe = assert(io.popen "cat $(find src -name '*.[ch]') | tr -cs 'A-Za-z0-9_' '\\n' | sort -u")
    for word in pipe:lines() do words[word] = true end
    pipe:close()
  end)

  -- Calls f(name, file) for every match of the pattern.
  local function each(pattern, f)
    for _, file in ipairs(files) do
      for name in texts[file]:gmatch(pattern) do f(name, file) end
    end
  end

  it("are those of public functions", function()
    each("%f[%w_.]ns%.([%a_][%w_]*)", function(name, file)
      assert.truthy(ns[name], ("%s: there is no ns.%s"):format(file, name))
    end)
    for _, room in ipairs { "numerics", "polygon", "animation", "mechanics" } do
      each("%f[%w_.]ns%." .. room .. "%.([%a_][%w_]*)", function(name, file)
        assert.truthy(ns[room][name], ("%s: there is no ns.%s.%s"):format(file, room, name))
      end)
    end
  end)

  it("are those of C functions and types", function()
    each("`(nsl?_[%w_]+)", function(name, file)
      assert.truthy(words[name], ("%s: there is no %s"):format(file, name))
    end)
    each("`(Nsl?%u%w+)", function(name, file)
      assert.truthy(words[name], ("%s: there is no %s"):format(file, name))
    end)
  end)

  it("are those of files", function()
    each("`(%l+/[%w_/]+%.%l+)`", function(name, file)
      local found = host.read(name) or host.read("src/" .. name)
      assert.truthy(found, ("%s: there is no file %s"):format(file, name))
    end)
    each("%]%(([^)#:]+)%)", function(name, file)
      local place = ((file:match "^.*/" or "") .. name):gsub("[^/]+/%.%./", "")
      assert.truthy(host.read(place), ("%s: there is no file %s"):format(file, place))
    end)
  end)

  it("are those of headings", function()
    local anchors = {} -- of each file a set: what GitHub makes of its headings
    for file, text in pairs(texts) do
      anchors[file] = {}
      for title in ("\n" .. text):gmatch "\n#+ ([^\n]*)" do
        anchors[file][title:lower():gsub("[^%w_ %-]", ""):gsub(" ", "-")] = true
      end
    end
    for file, text in pairs(texts) do
      for name, anchor in text:gmatch "%]%(([^)#:]*)#([^)]+)%)" do
        local place = name == "" and file or ((file:match "^.*/" or "") .. name):gsub("[^/]+/%.%./", "")
        local known = anchors[place] or {}
        assert.truthy(known[anchor], ("%s: there is no heading #%s in %s"):format(file, anchor, place))
      end
    end
  end)

  it("are those of targets of make", function()
    local makefile = host.read "Makefile"
    each("make ([%l]+)[ `\n]", function(name, file)
      assert.truthy(("\n" .. makefile):find("\n" .. name .. ":", 1, true), ("%s: no target %s"):format(file, name))
    end)
  end)
end)

-- ---- the reference ----

-- The classes with methods, each with the set of their names; taken from the registry, so that none is left out.
local function classes()
  local found = {}
  ns.compile(function(x) return { x[1] } end, { native = false }) { 1 } -- the first trace makes its classes
  for name, meta in pairs(debug.getregistry()) do
    if type(name) == "string" and type(meta) == "table" and rawget(meta, "__metatable") == name and
       not name:find "internal%." then
      local methods, i = meta.__index, 1
      while type(methods) == "function" do
        local label, value = debug.getupvalue(methods, i)
        if not label then break end
        if type(value) == "table" and not rawget(value, "__name") then methods = value end
        i = i + 1
      end
      if type(methods) == "table" and next(methods) then found[name] = methods end
    end
  end
  return found
end

-- The classes written in Lua whose methods the reference describes.
local function lua_classes()
  local me = ns.mechanics
  local N, sys = me.ReferenceFrame "N", me.system { coordinates = 1 }
  sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
  local line, plane = ns.contact.line({ 0, 0 }, { 0, 1 }), ns.contact.plane({ 0, 0, 0 }, { 0, 0, 1 })
  local nsds, law = ns.NonSmoothDynamicalSystem(0, 1), ns.NewtonImpactFrictionNSL(0, 0, 0, 3)
  local block = ns.NewtonEulerDS({ 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }, 1, ns.eye(3))
  nsds:insertDynamicalSystem(block)
  local weld = ns.FixedJointR(block)
  local found, model, canvas = {}, ns.numerics.model(), nil
  local file = os.tmpname() .. ".csv"
  ns.save(file, { t = { 0, 1 } })
  local record = ns.load(file)
  os.remove(file)
  local film = ns.animation { frames = 1, draw = function(_, drawn) canvas = drawn end }
  local circle = { rhs = function(_, x) return { x[2], -x[1] - 0.1 * x[2] } end, guess = { 1, 0 }, period = 1 }
  local function dynamics(name, more)
    for key, value in pairs(circle) do more[key] = more[key] == nil and value or more[key] end
    return ns.dynamics[name](more)
  end
  local points = ns.dynamics.poincare { rhs = circle.rhs, guess = { 1, 0 }, section = function(_, x) return x[1] end }
  for receiver, object in pairs {
    orbit = dynamics("periodic", {}), diagram = dynamics("diagram", { values = { 1 }, transient = 1, keep = 1 }), points = points,
    poincare = points, branch = dynamics("continuation", { range = { 0, 1 }, max_points = 2 }),
    result = ns.solve_ivp(function() return 0 end, { 0, 1 }, { 0 }), dae = ns.dae("radau", print), line = line, plane = plane,
    joints = ns.mechanics.join(nsds, { weld }), polygon = ns.polygon.intersection { { 1, 0, 1 } }, model = model,
    expression = model:variable {}, array = model:variables(2, {}), animation = film, canvas = canvas, figure = ns.plot.figure(),
    axes = ns.plot.gca(), place = ns.display(),
    recorder = ns.contact.space({ nsds = nsds, law = law, reach = 1 }):recorder(),
    manager = ns.contact.manager { nsds = nsds, law = ns.NewtonImpactFrictionNSL(0, 0, 0, 2), reach = 1 },
    sweep = ns.sweep { parameters = { k = { 1 } }, run = function() end, on = "here" },
    basins = ns.basins { parameters = { k = { 1 } }, run = function() return 1 end, on = "here" },
    design = ns.design.grid { k = { 1 } },
    space = ns.contact.space { nsds = nsds, law = law, reach = 1 }, shape = ns.contact.sphere(1),
    outline = ns.contact.outline.disk(1), circuit = ns.circuit(),
    driveline = ns.driveline(), translational = ns.translational(),
  } do
    found[receiver] = getmetatable(object).__index
  end
  found.record = setmetatable({}, { __index = function(_, name) return record[name] end })
  found.robot = { value = print, add_to = print } -- of a file: spec/lua/mechanics/urdf_spec.lua
  found.joint = setmetatable({}, { __index = function(_, name) return weld[name] end })
  local loop = ns.ControlZOHSimulation(0, 1, 1)
  found.loop = setmetatable({}, { __index = function(_, name) return loop[name] end })
  ns.plot.close()
  for _, object in ipairs { sys, sys.ground, N, N.x, me.Point "O", sys:kane {}, sys:embedded { q0 = { 0 } } } do
    found[getmetatable(object).__name] = getmetatable(object).__index
  end
  return found
end

-- Objects of classes that accept every method, but support only those of the class.
local function objects()
  local function f() end
  local free, particle = { 0, 0, 0, 1, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0 }
  local list = {
    ns.ComplementarityConditionNSL(1), ns.EqualityConditionNSL(1), ns.RelayNSL(1), ns.MixedComplementarityConditionNSL(1, 1),
    ns.NormalConeNSL(1, { { 1 } }, { 0 }), ns.NewtonImpactNSL(0), ns.NewtonImpactFrictionNSL(0, 0, 0.3, 2),
    ns.FirstOrderLinearTIDS({ 1 }, { 1 }), ns.FirstOrderLinearDS({ 1 }, { 1 }),
    ns.FirstOrderNonLinearDS({ 1 }, f), ns.LagrangianDS({ 1 }, { 1 }), ns.LagrangianLinearTIDS({ 1 }, { 1 }, { 1 }),
    ns.LagrangianLinearDiagonalDS({ 1 }, { 1 }, { 1 }), ns.NewtonEulerDS(free, particle, 1, ns.eye(3)),
    ns.BoundaryCondition { 1 }, ns.FixedBC { 1 }, ns.HarmonicBC({ 1 }, 0, 1, 1, 0), ns.NewtonEuler1DR { h = f },
    ns.NewtonEuler3DR { h = f }, ns.FirstOrderLinearTIR({ 1 }, { 1 }), ns.FirstOrderLinearR({ 1 }, { 1 }),
    ns.FirstOrderType1R { h = f, g = f }, ns.FirstOrderType2R { h = f, g = f }, ns.FirstOrderNonLinearR { h = f, g = f },
    ns.LagrangianLinearTIR { 1 }, ns.LagrangianScleronomousR { h = f }, ns.LagrangianRheonomousR { h = f },
    ns.LagrangianCompliantLinearTIR({ 1 }, { 1 }), ns.LagrangianCompliantR { h = f }, ns.NewtonEulerR { h = f },
  }
  for name, make in pairs(ns) do
    if name:find "OSI$" then list[#list + 1] = make(table.unpack(pcall(make, 1) and { 1 } or {})) end
  end
  return list
end

-- Whether a method of an object only raises that the class does not have it.
local function is_refused(object, method, name)
  if name == "close" or name == "display" then return false end
  local good, text = pcall(method, object)
  if good then return false end
  return text:find(" has no %f[%w]%a+ ?%a*$") ~= nil or text:find("it has no ", 1, true) ~= nil
    or text:find("has no [Ab]; it has f$") ~= nil or text:find("has fixed bounds", 1, true) ~= nil
end

describe("the reference", function()
  local book = require "nslua.help".book()
  local known = classes()

  it("is looked at as a whole", function()
    local count = 0
    for _ in pairs(known) do count = count + 1 end
    assert.is_true(count >= 25)
    assert.truthy(known.TimeStepping.computeOneStep and known.vector.dot and known.solution.save)
    assert.truthy(known.FirstOrderLinearTIDS.setMPtr)
  end)

  local function is_told(class, name)
    for _, method in ipairs(book.methods[name] or {}) do
      for _, of in ipairs(method.classes) do
        if of == class then return true end
      end
    end
    return false
  end

  it("has every method of every class, and none that the class only refuses", function()
    local missing, refused = {}, {}
    for _, object in ipairs(objects()) do
      local class = getmetatable(object)
      refused[class] = {}
      for name, method in pairs(known[class]) do
        refused[class][name] = is_refused(object, method, name)
        if refused[class][name] and is_told(class, name) then missing[#missing + 1] = "no " .. class .. ":" .. name end
      end
    end
    for class, methods in pairs(known) do
      for name in pairs(methods) do
        local may = refused[class] and refused[class][name]
        if not may and not is_told(class, name) then missing[#missing + 1] = class .. ":" .. name end
      end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("has every method of mechanics", function()
    local me = ns.mechanics
    local N, sys = me.ReferenceFrame "N", me.system { coordinates = 1 }
    sys:particle { mass = 1, position = function(_, q) return { q[1], 0 } end }
    local missing = {}
    for _, object in ipairs { sys, N, N.x, me.Point "O", sys:kane {}, sys:embedded { q0 = { 0 } } } do
      for name, value in pairs(getmetatable(object).__index) do
        local public = type(value) == "function" and name:sub(1, 2) ~= "__" and name ~= "in_system" and name ~= "rate"
        if public and not is_told(getmetatable(object).__name, name) then missing[#missing + 1] = name end
      end
    end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("has no method that is not there", function()
    local in_lua = lua_classes()
    for name, list in pairs(book.methods) do
      for _, method in ipairs(list) do
        for _, class in ipairs(method.classes) do
          known[class] = known[class] or in_lua[class]
          assert.truthy(known[class], ("section '%s': there is no class %s"):format(method.section.title, class))
          assert.truthy(known[class][name], ("there is no %s:%s"):format(class, name))
        end
      end
    end
  end)

  it("has every public function", function()
    local missing = {}
    local function look(module, prefix)
      for name in pairs(module) do
        if not book.entries[(prefix .. name):gsub("^ns%.", "")] then missing[#missing + 1] = prefix .. name end
      end
    end
    look(ns, "ns.")
    look(ns.numerics, "ns.numerics.")
    look(ns.polygon, "ns.polygon.")
    look(ns.contact, "ns.contact.")
    look(ns.animation, "ns.animation.")
    look(ns.plot, "ns.plot.")
    look(ns.mechanics, "ns.mechanics.")
    look(ns.dynamics, "ns.dynamics.")
    look(ns.notebook, "ns.notebook.")
    look(ns.fmi, "ns.fmi.")
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  -- Calls f(entry, name in messages) for every entry in the form.
  local function each_entry(f)
    for _, section in ipairs(book.sections) do
      if section.entry then f(section.entry, section.title) end
    end
  end

  local function value_of(signature)
    local value = ns
    for part in signature:match "^ns%.([%w_.]+)":gmatch "[%w_]+" do value = value[part] end
    return value
  end

  it("tells of each entry what it does, of its parameters and what it gives", function()
    local missing, types = {}, annotations.names(book)
    local function miss(...) missing[#missing + 1] = ("%s: %s"):format(...) end
    each_entry(function(e, title)
      local told = {}
      if not e.summary then miss(title, "no summary") end
      for _, parameter in ipairs(e.parameters) do told[parameter.name:match "^[%w_]+" or parameter.name] = true end
      for _, signature in ipairs(e.signatures) do
        for _, argument in ipairs(entries.arguments(signature) or {}) do
          if not told[argument.name] then miss(title, "nothing on " .. argument.name) end
        end
      end
      for _, list in ipairs { e.parameters, e.results, e.fields } do
        for _, one in ipairs(list) do
          local _, unknown = annotations.type_of(one.type, types)
          if unknown then miss(title, ("%s has an unknown type '%s'"):format(one.name or "the result", unknown)) end
        end
      end
      if e.returns and #e.results == 0 then miss(title, "Returns: has no type") end
    end)
    table.sort(missing)
    assert.equal("", table.concat(missing, "\n"))
  end)

  it("has items of the form `name` (type, ...): text", function()
    each_entry(function(e, title)
      local items = 0
      for _, block in ipairs(e.section.blocks) do
        local first = block.kind == "item" and block[1]:match "^`([^`]+)`"
        if first and first:find "^[%w_.]+$" then items = items + 1 end
      end
      assert.is_true(#e.parameters + #e.fields >= items, title)
    end)
  end)

  it("tells errors as the examples print them", function()
    local count = 0
    each_entry(function(e, title)
      local code = e.example and table.concat(e.example, "\n") or ""
      local text = ((e.raises or "") .. " "):match '^"(.-)"[;., ]'
      if text and code:find("pcall(", 1, true) then
        assert.truthy(code:find(text, 1, true), ("%s: no example prints '%s'"):format(title, text))
        count = count + 1
      end
    end)
    assert.is_true(count > 30)
  end)

  it("has an example for every function", function()
    local missing = {}
    each_entry(function(e, title)
      local signature = e.signatures[1]
      local callable = signature:find "^ns%." and signature:find "[%({]" and value_of(signature)
      if callable and not e.example then missing[#missing + 1] = title end
    end)
    assert.equal("", table.concat(missing, "\n"))
  end)
end)
