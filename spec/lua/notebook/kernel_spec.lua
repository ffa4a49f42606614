-- The kernel of notebooks: jupyter_kernel_test and more (kernel_test.py), by the Jupyter that is installed.
local host = require "host"
local jupyter = require "jupyter"

describe("nslua kernel #once", function()
  it("is found by Python's compiler without a fault", function()
    local python = host.run "command -v python3" ~= "" and "python3"
    if not python then return pending "needs python3, which is not installed" end
    for _, file in ipairs { "lua/nslua/notebook/nslua_kernel.py", "spec/lua/notebook/kernel_test.py" } do
      local code = ("import ast, sys; ast.parse(open(%q).read(), %q)"):format(host.root .. "/" .. file, file)
      local _, err, status = host.run(("%s -c %s"):format(python, host.quote(code)))
      assert.equal("", err)
      assert.equal(0, status)
    end
  end)

  jupyter.it("passes jupyter_kernel_test and its own tests", function()
    local out, err, status = jupyter.run("%s spec/lua/notebook/kernel_test.py" .. (host.sanitized and " --slow" or ""))
    assert.equal(0, status, out .. err)
    assert.matches("\nOK\n", err)
  end)

  it("answers requests that it can not read with an error, and goes on", function()
    local file, frames = os.tmpname(), {}
    local function ask(text) frames[#frames + 1] = string.pack(">s4", text) end
    ask "junk"
    ask "[]"
    ask "{\"type\":\"fly\"}"
    ask "{\"type\":\"complete\"}"
    ask "{\"type\":\"execute\",\"code\":\"return 1\"}"
    ask "{\"type\":\"execute\",\"code\":\"return 1 + 1\",\"count\":1}"
    ask "{\"type\":\"execute\",\"code\":\"return io.read()\",\"count\":2}" -- nobody answers
    host.write(file, table.concat(frames) .. "\0\0")
    local out, err, status = host.nslua_run("--kernel-worker=0,1 <" .. file)
    os.remove(file)
    assert.same({ "", 0 }, { err, status })
    local at = 1
    for _, want in ipairs { "\"evalue\":\"json: 'j' is not expected at byte 1\"",
      "\"evalue\":\"worker: there is no request of the type 'nil'\"",
      "\"evalue\":\"worker: there is no request of the type 'fly'\"",
      "\"evalue\":\"worker: complete: code: expected a text, got nil\"",
      "\"evalue\":\"worker: execute: count: expected an integer, got nil\"", "\"text/plain\":\"2\"", "\"type\":\"input\"",
      "\"text/plain\":\"nil\"" } do
      local text
      text, at = string.unpack(">s4", out, at)
      assert.truthy(text:find(want, 1, true), text)
    end
    assert.equal(#out + 1, at)
  end)

  it("install: tells what is wrong with the arguments", function()
    local out, err, status = host.nslua_run "kernel frobnicate"
    assert.equal("", out)
    assert.matches("^nslua kernel: 'frobnicate' is not expected\nusage: nslua kernel install %[%-%-user | %-%-prefix DIR%]\n", err)
    assert.equal(1, status)
    out, err, status = host.nslua_run "kernel install --system"
    assert.equal("", out)
    assert.matches("^nslua kernel: '%-%-system' is not expected\nusage: ", err)
    assert.equal(1, status)
    out, err, status = host.nslua_run "kernel install --user more"
    assert.equal("", out)
    assert.matches("^nslua kernel: 'more' is not expected\n", err)
    assert.equal(1, status)
    out, err, status = host.nslua_run "kernel"
    assert.matches("^usage: nslua kernel install", out)
    assert.equal("", err)
    assert.equal(1, status)
  end)

  it("install: needs Python's ipykernel", function()
    local directory = host.new_directory()
    host.write(directory .. "/python3", "#!/bin/sh\nexit 1\n")
    os.execute("chmod +x " .. directory .. "/python3")
    local code = [[
      local core = require "nslua.core"
      local run = core.process_support.run
      core.process_support.run = function(words, ...) return run(words[1]:find "python3$" and { "false" } or words, ...) end
      require "nslua.notebook.install" { "install", "--prefix", "/none", program = "x" }]]
    local out, err = host.nslua_run("-e " .. host.quote(code))
    assert.equal("", out)
    assert.equal("nslua kernel: python3 has no module ipykernel: sudo apt-get install jupyter-notebook python3-ipykernel\n",
      err)
    host.remove(directory)
  end)

  it("a script named kernel comes first", function()
    local directory = host.new_directory()
    host.write(directory .. "/kernel", "print('a script', ...)")
    assert.equal("a script\t1\n", (host.run(("cd %s && %s kernel 1"):format(directory, host.quote(host.nslua)))))
    host.remove(directory)
  end)

  it("the worker refuses to run alone", function()
    local _, err, status = host.nslua_run "--kernel-worker=97,98"
    assert.equal("nslua: --kernel-worker: only a kernel starts this\n", err)
    assert.equal(1, status)
  end)
end)
