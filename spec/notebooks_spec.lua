-- The notebooks of notebooks/, run by nbconvert, and their results compared with reference data.
local columns = require "columns"
local host = require "host"
local json = require "nslua.notebook.json"
local jupyter = require "jupyter"

local names = { "000_clutch", "001_four_bar", "002_jump", "003_lagrangian", "004_pinned_link", "tutorial", "converter" }

describe("notebooks #once", function()
  it("are committed without outputs, for the kernel nslua", function()
    for _, name in ipairs(names) do
      local book = json.decode(host.read(("notebooks/%s.ipynb"):format(name)))
      assert.equal("nslua", book.metadata.kernelspec.name)
      for _, cell in ipairs(book.cells) do
        assert.equal(0, cell.outputs and #cell.outputs or 0)
        assert.is_nil(cell.execution_count)
      end
    end
  end)

  it("of pages of docs/ are made from them: nslua docs/notebook.lua", function()
    local directory = host.new_directory()
    local _, err = host.nslua_run("docs/notebook.lua " .. directory)
    assert.equal("", err)
    for _, name in ipairs { "tutorial", "converter" } do
      local file = ("/%s.ipynb"):format(name)
      assert.equal(host.read(directory .. file), host.read("notebooks" .. file))
    end
    host.remove(directory)
  end)

  if host.sanitized then return end

  describe("run", function()
    local directory, books
    setup(function()
      if jupyter.missing then return end
      directory, books = host.new_directory(), {}
      local files = {}
      for i, name in ipairs(names) do files[i] = host.quote(("%s/notebooks/%s.ipynb"):format(host.root, name)) end
      -- in a copy of the directory, since some cells write files
      os.execute(("cp %s %s"):format(table.concat(files, " "), directory))
      local command = "cd %s && %%s -m nbconvert --to notebook --inplace --execute *.ipynb"
      local out, err, status = jupyter.run("sh -c " .. host.quote(command:format(directory)))
      assert.equal(0, status, out .. err)
      for _, name in ipairs(names) do books[name] = json.decode(host.read(("%s/%s.ipynb"):format(directory, name))) end
    end)
    teardown(function()
      if directory then host.remove(directory) end
    end)

    -- What the cells of a notebook have printed; the number of pictures and of pages.
    local function outputs(name)
      local texts, pictures, pages = {}, 0, 0
      for _, cell in ipairs(books[name].cells) do
        for _, output in ipairs(cell.outputs or {}) do
          if output.output_type == "stream" then
            texts[#texts + 1] = type(output.text) == "table" and table.concat(output.text) or output.text
          end
          local data = output.data or {}
          local page = data["text/html"]
          if type(page) == "table" then page = table.concat(page) end
          if data["image/png"] then pictures = pictures + 1 end
          if page and page:find("<iframe", 1, true) then pages = pages + 1 end
        end
      end
      return table.concat(texts), pictures, pages
    end

    -- The numbers of the line "WHAT: a b c".
    local function numbers(text, what)
      local list = {}
      for word in text:match(what .. ": ([^\n]*)"):gmatch "%S+" do list[#list + 1] = tonumber(word) end
      return list
    end

    local function compare(expected, got, tolerance)
      assert.equal(#expected, #got)
      for i, value in ipairs(expected) do assert.near(value, got[i], tolerance) end
    end

    jupyter.it("the clutch ends where the exact scheme does", function()
      local text, pictures, pages = outputs "000_clutch"
      for _, mode in ipairs { "engage", "disengage" } do
        local exact = columns.read(("spec/reference/clutch_exactscheme_%s_1_1_0.05.csv"):format(mode))
        compare({ exact.w1[exact.n], exact.w2[exact.n], exact.tau[exact.n] }, numbers(text, mode), 1e-8)
      end
      assert.same({ 5, 2 }, { pictures, pages })
    end)

    jupyter.it("the linkage is where the reference is", function()
      local text, pictures, pages = outputs "001_four_bar"
      local exact = columns.read "spec/reference/four_bar.csv"
      local n = exact.n
      assert.equal(30, exact.t[n])
      compare({ exact.q1[n], exact.q2[n], exact.q3[n], exact.u1[n] }, numbers(text, "end"), 1e-4)
      assert.same({ 4, 3 }, { pictures, pages })
    end)

    jupyter.it("the systems that jump have the states of exact arithmetic", function()
      local text, pictures = outputs "002_jump"
      local spiral = columns.read "spec/reference/spiral_be_h0.2.csv"
      compare({ spiral.x1[6], spiral.x2[6] }, numbers(text, "spiral"), 1e-12)
      local carts = columns.read "spec/reference/hardstop_code_h0.1.csv"
      assert.equal(100, carts.k[carts.n])
      compare({ carts.x1[carts.n], carts.x2[carts.n] }, numbers(text, "carts"), 1e-12)
      local block = columns.read "spec/reference/coulomb_h0.2.csv"
      compare({ block.x[26], block.v[26] }, numbers(text, "block"), 1e-9)
      assert.equal(9, pictures)
    end)

    jupyter.it("the double pendulum is where the script's is", function()
      local text, pictures, pages = outputs "003_lagrangian"
      local file = directory .. "/script.csv"
      host.nslua_run("scripts/double_pendulum.lua --csv " .. file)
      local script = columns.read(file)
      compare({ script.q1[script.n], script.q2[script.n] }, numbers(text, "end"), 1e-9)
      assert.same({ 1, 1 }, { pictures, pages })
    end)

    jupyter.it("the link is where the reference is", function()
      local text, pictures, pages = outputs "004_pinned_link"
      local exact = columns.read "spec/reference/pinned_link_ref.csv"
      local last
      for i = 1, exact.n do last = exact.t[i] == 4 and i or last end
      compare({ exact.theta[last], exact.omega[last] }, numbers(text, "end"), 1e-7)
      assert.same({ 2, 1 }, { pictures, pages })
    end)

    jupyter.it("the tutorial goes through", function()
      local text = outputs "tutorial"
      assert.is_true(#text > 100)
    end)

    jupyter.it("the converter has the mean, the efficiency and the derivatives of its page", function()
      local text, pictures = outputs "converter"
      for line in host.read "docs/howto/converter.md":gmatch "\n%-%- > ([^\n]*)" do
        assert.truthy(text:find(line, 1, true), line)
      end
      assert.equal(1, pictures)
    end)
  end)
end)
