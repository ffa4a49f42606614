-- nslua.contact.mesh_files: meshes from files.
local ns = require "nslua"

local function with_file(ending, text, f)
  local file = os.tmpname()
  os.remove(file)
  file = file .. ending
  local handle = assert(io.open(file, "wb"))
  handle:write(text)
  handle:close()
  local good, what = pcall(f, file)
  os.remove(file)
  if not good then error(what, 0) end
  return what
end

local function load(ending, text)
  return with_file(ending, text, function(file)
    local mesh = ns.contact.load_mesh(file)
    return { points = mesh:corners(), triangles = mesh.mesh.triangles }
  end)
end

local points = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0.5 }, { 0, 1, 0.25 } }
local triangles = { { 1, 2, 3 }, { 1, 3, 4 } }

describe("files of meshes", function()
  it("of .obj have polygons, numbers of textures, numbers from the end, and lines of other kinds", function()
    local text = "# a square\no thing\nv 0 0 0\nv 1 0 0 1.0\r\nvn 0 0 1\nv 1 1 0.5\nv 0 1 .25\n"
    for _, face in ipairs { "f 1 2 3 4", "f 1/1 2/2 3/3 4/4", "f 1//1 2//1 3//1 4//1", "f -4 -3 -2 -1", "f 1 2 3 # 4\nf 1 3 4" } do
      assert.same({ points = points, triangles = triangles }, load(".obj", text .. face .. "\n"))
    end
  end)

  it("of .obj have lines that go on after a backslash, and the mark of UTF-8", function()
    local text = "\xEF\xBB\xBFv 0 0 0\nv 1 0 \\\n 0\nv 1 1 0.5\nv 0 1 .25\nf 1 2 \\ \r\n 3 \\\n4\n"
    assert.same({ points = points, triangles = triangles }, load(".obj", text))
    assert.error_matches(function() load(".obj", "v 0 0 \\\n0\nv 0 0 a\n") end, ".obj: line 3: expected v x y z", 1, true)
  end)

  -- The triangles of a face add up to its area, and to its directed area: so they cover it and nothing else.
  it("of .obj have faces whose corners turn inwards", function()
    math.randomseed(7)
    for round = 1, 60 do
      local flat, text, face, area = {}, {}, "f", 0
      for i = 1, math.random(4, 30) do
        local angle, r = 2 * math.pi * (i - 1 + 0.8 * math.random()) / 30, 0.2 + math.random()
        flat[i] = { r * math.cos(angle), r * math.sin(angle) }
      end
      flat[#flat + 1] = { 0, 0 }
      if round % 3 == 0 then flat = { { 0, 0 }, { 1, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 1, 3 }, { 0, 3 } } end
      for _ = 1, round % 5 do table.insert(flat, table.remove(flat, 1)) end
      local a, b = math.random() * 6, math.random() * 3
      for i, p in ipairs(flat) do
        local q = flat[i % #flat + 1]
        area = area + 0.5 * (p[1] * q[2] - q[1] * p[2])
        text[i] = ("v %.17g %.17g %.17g"):format(p[1] * math.cos(a) - p[2] * math.sin(a) * math.cos(b) + round,
          p[1] * math.sin(a) + p[2] * math.cos(a) * math.cos(b), p[2] * math.sin(b))
        face = face .. " " .. i
      end
      local mesh, sum = load(".obj", table.concat(text, "\n") .. "\n" .. face), 0
      for _, t in ipairs(mesh.triangles) do
        local o, u, v = mesh.points[t[1]], {}, {}
        for k = 1, 3 do u[k], v[k] = mesh.points[t[2]][k] - o[k], mesh.points[t[3]][k] - o[k] end
        sum = sum + 0.5 * math.sqrt((u[2] * v[3] - u[3] * v[2]) ^ 2 + (u[3] * v[1] - u[1] * v[3]) ^ 2
          + (u[1] * v[2] - u[2] * v[1]) ^ 2)
      end
      assert.near(area, sum, 1e-12 * round)
    end
  end)

  it("of .stl are text or binary, and equal points are one", function()
    local text, binary = { "solid x" }, { ("h"):rep(80), string.pack("<I4", 2) }
    for _, t in ipairs(triangles) do
      text[#text + 1] = "facet normal 0 0 1\nouter loop"
      binary[#binary + 1] = string.pack("<fff", 0, 0, 1)
      for _, k in ipairs(t) do
        text[#text + 1] = ("vertex %g %g %g"):format(table.unpack(points[k]))
        binary[#binary + 1] = string.pack("<fff", table.unpack(points[k]))
      end
      text[#text + 1] = "endloop\nendfacet"
      binary[#binary + 1] = "\0\0"
    end
    assert.same({ points = points, triangles = triangles }, load(".stl", table.concat(text, "\n")))
    assert.same({ points = points, triangles = triangles }, load(".STL", table.concat(binary)))
  end)

  it("say what is wrong", function()
    for text, case in pairs {
      [".obj: line 2: expected v x y z"] = { ".obj", "v 0 0 0\nv 1 a 2\n" },
      [".obj: line 2: there is no vertex 2 among the 1 before it"] = { ".obj", "v 0 0 0\nf 1 2 3\n" },
      [".obj: line 2: there is no vertex 0 among the 1 before it"] = { ".obj", "v 0 0 0\nf 1 0 1\n" },
      [".obj: line 3: expected f with numbers of at least three vertices"] = { ".obj", "v 0 0 0\nv 1 0 0\nf 1 2\n" },
      [".obj: line 4: expected v x y z"] = { ".obj", "\r\n\nv 0 0 0\nv 1 1e999 0\n" },
      [".obj: line 5: expected f with numbers of at least three vertices"] = {
        ".obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3 # 1\nf 1.5 2 3\n",
      },
      [".obj: it has no triangles"] = { ".obj", "v 0 0 0\n" },
      [".stl: corner 2: expected vertex x y z"] = { ".stl", "SOLID vertex 3 a b\nVERTEX 0 0 0\nvertex 1 b 2" },
      [".stl: its header tells of 2 triangles, and 1 are whole"] = { ".stl", ("\2"):rep(81) .. ("\0"):rep(3 + 50) },
      [".stl: corner 1: expected vertex x y z"] = {
        ".stl", ("h"):rep(80) .. string.pack("<I4fff", 1, 0, 0, 1) .. ("\255"):rep(36) .. "\0\0",
      },
      [".stl: a triangle is not complete"] = { ".stl", "vertex 1 2 3" },
    } do
      assert.error_matches(function() load(table.unpack(case)) end, text, 1, true)
    end
    assert.error_matches(function() ns.contact.load_mesh(3) end, "load_mesh: file: expected a string, got number")
    assert.error_matches(function() ns.contact.load_mesh "x.ply" end,
      "load_mesh: x.ply: expected a name that ends in .obj or .stl")
    assert.error_matches(function() ns.contact.load_mesh "/nowhere/x.obj" end,
      "load_mesh: cannot open /nowhere/x.obj: No such file")
  end)
end)
