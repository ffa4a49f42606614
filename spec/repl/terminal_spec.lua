-- The prompt in a real terminal, 80 columns wide: keys, history, completion, colours.
local host = require "host"
local tmux = require "tmux"

if not tmux.available() then
  describe("the prompt on a terminal", function()
    it("needs tmux", function() pending "no tmux" end)
  end)
  return
end

describe("the prompt on a terminal #once", function()
  local directory, terminal

  setup(function()
    directory = host.new_directory()
    host.write(directory .. "/data one.csv", "1\n")
    host.write(directory .. "/data two.csv", "1\n")
    host.write(directory .. "/größe.txt", "1\n")
    host.write(directory .. "/.hidden", "1\n")
    os.execute("mkdir " .. directory .. "/sub")
  end)

  local function start(environment, options)
    options = options or {}
    options.environment = environment or "LANG=C.UTF-8"
    if not options.environment:find "STATE" then
      options.environment = options.environment .. " XDG_STATE_HOME=" .. directory .. "/state"
    end
    local command = ("cd %s; exec %s"):format(directory, host.quote(host.nslua))
    terminal = tmux.start("sh -c " .. host.quote(command), options)
    terminal:wait "\nnslua [^\n]*\n> *$"
  end

  local function stop()
    if terminal then terminal:stop() end
    terminal = nil
  end

  local function leave()
    terminal:send "<C-d>"
    terminal:wait "left with 0"
    stop()
  end

  -- Gives up the line and empties the screen.
  local function fresh()
    terminal:send "<C-c>"
    terminal:wait "%^C\n> *$"
    terminal:clear()
  end

  before_each(function()
    if terminal and not pcall(fresh) then stop() end
    if not terminal then start() end
  end)
  teardown(function()
    stop()
    host.remove(directory)
  end)

  it("shows values, and asks for more lines", function()
    terminal:line("6*77", "\n462\n> *$")
    terminal:line("for i = 1, 2 do", "\n>> *$")
    terminal:line("print('line ' .. i)", "%)\n>> *$")
    terminal:line("end", "\nline 1\nline 2\n> *$")
  end)

  it("gives up a line, and a chunk of several, at Ctrl-C", function()
    terminal:send "abandon"
    terminal:wait "> abandon$"
    terminal:send "<C-c>"
    terminal:wait "abandon%^C\n> *$"
    terminal:line("abandon(", "\n>> *$")
    terminal:send "<C-c>"
    terminal:wait "\n>> %^C\n> *$"
    terminal:clear()
    terminal:line("1+1", "\n2\n> *$")
  end)

  it("says what is missing when the input ends inside a chunk", function()
    terminal:line("if x then", "\n>> *$")
    terminal:send "<C-d>"
    terminal:wait "%[%d+%]:1: 'end' expected near <eof>\n> *$"
  end)

  it("edits: left, right, home, end, delete, backspace, words, to the end", function()
    terminal:send("23", "<Left>", "<Left>", "1", "<Right>", "<Right>", "4", "<Home>", "9", "<Delete>", "<End>", "56", "<BSpace>")
    terminal:wait "> 92345$"
    terminal:send("<Enter>")
    terminal:wait "\n92345\n> *$"
    terminal:send("one two", "<C-a>", "<C-k>", "3*3", "<C-e>", "+1", "<Enter>")
    terminal:wait "\n10\n> *$"
  end)

  it("takes text in UTF-8, and edits it by characters", function()
    terminal:send("'größe ∂λ€'", "<Left>", "<BSpace>", "<BSpace>", "x", "<Enter>")
    terminal:wait "\n> 'größe ∂x'\ngröße ∂x\n> *$"
  end)

  it("takes text in UTF-8 where no locale is set, too", function()
    leave()
    start "-u LANG LC_CTYPE=C"
    terminal:send("'größe ∂λ'", "<Left>", "<BSpace>", "<Enter>")
    terminal:wait "\n> 'größe ∂'\ngröße ∂\n> *$"
    leave()
  end)

  it("shows nothing wider than the terminal, also after a change of its size", function()
    terminal:line("ns.ones(3, 30) * 1.2345", "1.2345  %.%.%.  1.2345 %] %(3 x 30%)\n> *$")
    for line in terminal:screen():gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 80) end
    terminal:resize(50, 24)
    terminal:clear()
    terminal:line("ns.ones(1, 30) * 1.2345", "\n%[ 1.2345  1.2345  1.2345  %.%.%.  1.2345 %] %(1 x 30%)\n")
    terminal:line("{ 'a long string of words', 'and another one of them' }",
      '\n{\n  "a long string of words",\n  "and another one of them"\n}\n')
    terminal:resize(80, 24)
  end)

  it("edits a line longer than the terminal is wide", function()
    local long = ("1234567890"):rep(11)
    terminal:send("#'" .. long .. "'", "<C-a>", "<Right>", "<Right>", "x", "<Enter>")
    terminal:wait "'x1234567890.*\n111\n> *$"
  end)

  describe("history", function()
    it("goes up and down, whole chunks at a time", function()
      terminal:line("7 * 6", "\n42\n> *$")
      terminal:line("if true then", "\n>> *$")
      terminal:line("print 'deep'", "\n>> *$")
      terminal:line("end", "\ndeep\n> *$")
      terminal:send("<Up>", "<Up>")
      terminal:wait "> 7 %* 6$"
      terminal:send "<Down>"
      terminal:wait "> if true then\nprint 'deep'\nend$"
      terminal:send "<Enter>"
      terminal:wait "end\ndeep\n> *$"
      terminal:send("<C-p>", "<C-p>", "<Enter>")
      terminal:wait "\n42\n> *$"
    end)

    it("is searched by Ctrl-R", function()
      terminal:line("1000 + 1", "\n1001\n> *$")
      terminal:line("2000 + 2", "\n2002\n> *$")
      terminal:clear()
      terminal:send("<C-r>", "000 + 1")
      terminal:wait "1000 %+ 1"
      terminal:send "<Enter>"
      terminal:wait "\n1001\n> *$"
    end)

    it("is kept across sessions, for the user alone", function()
      terminal:line("'kept äöü'", "\nkept äöü\n> *$")
      leave()
      local file = directory .. "/state/nslua/history"
      assert.matches("\n'kept äöü'\n$", host.read(file))
      assert.matches("\nif true then\\012print 'deep'\\012end\n", host.read(file))
      local modes = host.run(("stat -c %%a %s %s/state/nslua"):format(file, directory))
      assert.equal("600\n700\n", modes)
      start()
      terminal:send("<Up>", "<Enter>")
      terminal:wait "\nkept äöü\n> *$"
      terminal:send("<C-r>", "deep", "<Enter>")
      terminal:wait "\ndeep\n> *$"
    end)

    it("that cannot be written is told once, in a line", function()
      leave()
      host.write(directory .. "/a_file", "")
      start("LANG=C.UTF-8 XDG_STATE_HOME=" .. directory .. "/a_file")
      terminal:line("1 + 1", "the history is not kept: [^\n]*\n?[^\n]*Not a directory\n2\n> *$")
      terminal:line("2 + 2", "> 2 %+ 2\n4\n> *$")
      terminal:send("<Up>", "<Up>", "<Enter>")
      terminal:wait "> 1 %+ 1\n2\n> *$"
      leave()
    end)
  end)

  describe("the Tab key", function()
    it("completes names, and lists what is left open", function()
      terminal:send("ns.lins", "<Tab>", "(0, 1, 3)", "<Enter>")
      terminal:wait "> ns.linspace%(0, 1, 3%)\n%[0, 0.5, 1%]\n> *$"
      terminal:send("ns.Newton", "<Tab>")
      terminal:wait "\nNewtonEuler1DR +NewtonImpactFrictionNSL%s+NewtonEuler3DR [^>]*\n> ns.Newton$"
      fresh()
      terminal:send("func", "<Tab>")
      terminal:wait "> function$"
    end)

    it("lists the methods of an object", function()
      terminal:line("td = ns.TimeDiscretisation(0, 0.1)", "\n> *$")
      terminal:send("td:", "<Tab>")
      terminal:wait "\nat +close +display +h +t0\n> td:$"
      terminal:send("d", "<Tab>", "()", "<Enter>")
      terminal:wait "> td:display%(%)\n"
    end)

    it("knows options in the table of a constructor, on later lines too", function()
      terminal:line("relation = ns.FirstOrderNonLinearR {", "\n>> *$")
      terminal:send("h = print, Jacgl", "<Tab>")
      terminal:wait ">> h = print, Jacglambda = *$"
    end)

    it("knows those of pictures and of a solution's methods", function()
      terminal:line("d = ns.FirstOrderLinearTIDS { 1 } n = ns.NonSmoothDynamicalSystem(0, 1) n:insertDynamicalSystem(d)",
        "\n> *$")
      terminal:line("s = ns.TimeStepping(n, ns.TimeDiscretisation(0, 1), ns.EulerMoreauOSI(1), ns.Relay()) sol = s:run()",
        "\n> *$")
      terminal:clear()
      terminal:send("sol:animate { back", "<Tab>")
      terminal:wait "{ background = *$"
      terminal:send("f, interp", "<Tab>")
      terminal:wait "f, interpolate = *$"
      fresh()
      terminal:send("ns.plot.plot(t, x, { line", "<Tab>")
      terminal:wait "\nlinestyle +linewidth\n> ns.plot.plot%(t, x, { line$"
    end)

    it("names files inside strings, closes those strings", function()
      terminal:send("io.open('da", "<Tab>")
      terminal:wait "> io.open%('data$"
      terminal:send "<Tab>"
      terminal:wait "\ndata one.csv  data two.csv\n> io.open%('data$"
      terminal:send("t", "<Tab>")
      terminal:wait "data two.csv'$"
      fresh()
      terminal:send('"gr', "<Tab>")
      terminal:wait '> "größe.txt"$'
      fresh()
      terminal:send('"su', "<Tab>")
      terminal:wait '> "sub/$'
    end)

    it("indents an empty line, and does nothing where there is nothing", function()
      terminal:send("<Tab>", "1", "<Enter>")
      terminal:wait "\n>   1\n1\n> *$"
      terminal:send("no_such_name_", "<Tab>", "x")
      terminal:wait "> no_such_name_x$"
    end)
  end)

  describe("help that is longer than the screen", function()
    local function restart(environment, options)
      stop()
      start(environment .. " LANG=C.UTF-8", options)
    end
    after_each(stop)

    it("is shown by the pager, and the prompt comes back", function()
      if not host.run "command -v less":find "less" then return pending "less is not installed" end
      restart("-u PAGER -u LESS", { height = 12 })
      terminal:line("?ns", "\nhelp%(name%), help%(object%)[^>]*\n:$")
      terminal:send "q"
      terminal:wait "> *$"
      terminal:line("1 + 1", "\n2\n> *$")
      terminal:line("help(ns.linspace)", "\n:$") -- the function help, too
      terminal:send "q"
      terminal:line("?td", "\nhelp: [^\n]*\n") -- a short text is printed
    end)

    it("is shown by the pager of the user", function()
      restart("PAGER='sed -n s/^help/PAGED/p'", { height = 12 })
      terminal:line("?ns", "\nPAGED%(name%)[^\n]*\n> *$")
      -- A line that is wider than the screen counts as several.
      terminal:line("require 'nslua.repl.help'.show('help\\n' .. ('.'):rep(2000))", "\nPAGED\n> *$")
    end)

    it("is printed with PAGER=, on a dumb terminal, and where the pager is not installed", function()
      for _, environment in ipairs { "PAGER=", "PAGER=cat", "-u PAGER TERM=dumb", "PAGER=no-such-pager" } do
        restart(environment, { height = 12 })
        terminal:line("?ns.linspace", "%(help \"[^\n]*\n> *$")
        stop()
      end
    end)
  end)

  it("shows how a function is called at Tab after (", function()
    terminal:send("ns.linspace(", "<Tab>")
    terminal:wait "\nns.linspace%(a, b %[, n%]%)\n> ns.linspace%($"
  end)

  describe("what is pasted", function()
    -- As a terminal hands it over that was asked for brackets.
    local function paste(text)
      host.write(directory .. "/clipboard", text)
      os.execute(("%sload-buffer %s/clipboard && %spaste-buffer -p -r -t s"):format(terminal.tmux, directory, terminal.tmux))
    end

    it("is text: a tab in it completes nothing", function()
      fresh()
      paste "print('ns.lins\t|', 1)"
      terminal:wait "> print%('ns%.lins +|', 1%)$"
      terminal:send "<Enter>"
      terminal:wait "\nns.lins\t? +|[ \t]+1\n> *$"
      fresh()
      paste "func\t = 3"
      terminal:wait "> func +%= 3$"
      terminal:send("<Enter>", "func", "<Enter>")
      terminal:wait "\n3\n> *$"
    end)

    it("goes line by line, and the last one waits for Enter", function()
      fresh()
      paste "a_pasted = 1\nfor i = 1, 2 do\n\ta_pasted = a_pasted + i\nend\na_pasted * 10\n'waits"
      terminal:wait ">> end\n> a_pasted %* 10\n40\n> 'waits$"
      terminal:send("'", "<Enter>")
      terminal:wait "\nwaits\n> *$"
    end)

    it("moves no cursor and leaves nothing: keys in it are left out", function()
      fresh()
      paste "1\027[D\1\4\0082 + \0273\127"
      terminal:wait "> 1%[D2 %+ 3$" -- the escape itself is left out, what follows is text
      fresh()
    end)

    it("takes UTF-8, and tabs that are typed complete again", function()
      fresh()
      paste "'größe ∂λ€'"
      terminal:wait "> 'größe ∂λ€'$"
      terminal:send "<Enter>"
      terminal:wait "\ngröße ∂λ€\n> *$"
      terminal:send("ns.lins", "<Tab>")
      terminal:wait "> ns%.linspace$"
    end)

    it("is not read on after Ctrl-C", function()
      fresh()
      paste "print 'up' while true do end\nprint 'never'\nprint 'seen'\n"
      terminal:wait "\nup"
      terminal:send "<C-c>"
      terminal:wait "interrupted!\n[^>]*> *$"
      terminal:line("1 + 1", "\n2\n> *$")
      assert.is_nil(terminal:screen():find("\nseen", 1, true))
    end)
  end)

  describe("several lines of one input", function()
    it("are changed by Up and Down, and those below stay", function()
      terminal:line("for i = 1, 2 do", "\n>> *$")
      terminal:line("prnt('of ' .. i)", "%)\n>> *$")
      terminal:line("local longer = ('x'):rep(100) .. ('y'):rep(100) .. ('z'):rep(100) .. 'wwwwwwww'", "w\nw'\n>> *$")
      terminal:send("print(#longer)", "<Up>")
      terminal:wait "\n> for i = 1, 2 do\n>> prnt%('of ' .. i%)\n>> local longer = [^\n]*\nw'$"
      terminal:send "<Up>"
      terminal:wait "\n> for i = 1, 2 do\n>> prnt%('of ' .. i%)$"
      terminal:send("<C-a>", "<Right>", "<Right>", "i")
      terminal:wait "\n>> print%('of ' .. i%)$"
      terminal:send "<Up>"
      terminal:wait "\n> for i = 1, 2 do$"
      terminal:send "<Down>"
      terminal:wait "\n> for i = 1, 2 do\n>> print%('of ' .. i%)$"
      terminal:send("<Enter>", "<Enter>")
      terminal:wait "\nw'\n>> print%(#longer%)$"
      terminal:send "<Enter>"
      terminal:line("end", "\nof 1\n308\nof 2\n308\n> *$")
      terminal:send "<Up>" -- from the first line: the history, with the chunk as it was changed
      terminal:wait "> for i = 1, 2 do\nprint%('of ' .. i%)\nlocal longer"
    end)

    it("are given up together", function()
      terminal:line("f(1,", "\n>> *$")
      terminal:send "<Up>"
      terminal:wait "\n> f%(1,$"
      terminal:send "<C-c>"
      terminal:wait "%^C\n> *$"
      terminal:line("1 + 1", "\n2\n> *$")
    end)
  end)

  describe("colours", function()
    -- The screen, when its text matches the pattern, with names in place of the colours.
    local function coloured(pattern)
      terminal:wait(pattern)
      local codes = { ["35"] = "<word>", ["32"] = "<string>", ["36"] = "<number>", ["90"] = "<comment>", ["33"] = "<constant>",
        ["39"] = "</>", ["0"] = "</>" }
      return (terminal:colours():gsub("\27%[(%d+)m", codes):gsub("[ \n]+$", ""))
    end

    -- Until the last characters have their colours.
    local function shows(text, pattern)
      local deadline, seen = os.time() + 20
      repeat
        seen = coloured(pattern)
        if seen:find(text, 1, true) then return end
      until os.time() > deadline
      assert.equal(text, seen)
    end

    it("are on lines while they are typed and changed", function()
      terminal:send "local x = 'a' .. 12 -- end"
      shows("> <word>local</> x = <string>'a'</> .. <number>12</> <comment>-- end", "end$")
      terminal:send("<C-a>", "return nil, ")
      shows("> <word>return</> <constant>nil</>, <word>local</> x = <string>'a'", "end$")
      terminal:send "<C-c>"
      terminal:wait "%^C[^\n]*\n> *$"
      terminal:line("s = [[ if", "\n>> *$")
      terminal:send "then ]] .. 1"
      shows(">> <string>then ]]</> .. <number>1", "1$")
      terminal:send "<C-c>"
      terminal:wait "%^C\n> *$"
      terminal:clear()
      terminal:send "y = 'a string that goes over the end of the row of the terminal, which has 80 columns' .. 1"
      shows("<string>'a string", "%.%. 1$")
      shows("columns'</> .. <number>1", "%.%. 1$")
    end)

    it("are not there with NO_COLOR", function()
      leave()
      start "NO_COLOR=1"
      terminal:send "local x = 1"
      terminal:wait "> local x = 1$"
      assert.is_nil(terminal:colours():find "\27%[3")
      fresh()
      leave()
    end)
  end)

  describe("errors", function()
    it("are red, with a dim traceback", function()
      terminal:line("error 'oops'", "%[%d+%]:1: oops\nstack traceback:\n.*in main chunk\n> *$")
      local colours = terminal:colours()
      assert.truthy(colours:find "\27%[31m%[%d+%]:1: oops")
      assert.truthy(colours:find("\27[2m", 1, true))
    end)

    it("have no colours with NO_COLOR, nor on a dumb terminal", function()
      for _, environment in ipairs { "NO_COLOR=1", "TERM=dumb" } do
        leave()
        start(environment)
        terminal:line("error 'oops'", "%[%d+%]:1: oops\nstack traceback:\n.*in main chunk\n> *$")
        assert.is_nil(terminal:colours():find("\27[31m", 1, true))
      end
      leave()
    end)

    it("can put no control characters on the terminal", function()
      terminal:line("error 'a\\27[2Jb'", "%[%d+%]:1: a\\x1B%[2Jb\n")
    end)
  end)

  it("leaves at Ctrl-D and at :quit with status 0", function()
    leave()
    start()
    terminal:line(":quit", "left with 0")
    stop()
  end)

  it("is stopped by Ctrl-Z, and goes on in the foreground where it was", function()
    leave()
    terminal = tmux.start("bash --norc -i", { environment = "PS1='shell: ' LANG=C.UTF-8 XDG_STATE_HOME=" .. directory .. "/state" })
    terminal:wait "shell: *$"
    terminal:line(host.quote(host.nslua), "\n> *$")
    terminal:send "12 * 12"
    terminal:wait "> 12 %* 12$"
    terminal:send "<C-z>"
    terminal:wait "Stopped[^\n]*\n[^>]*shell: *$"
    terminal:line("fg", "\n> 12 %* 12$")
    terminal:send "<Enter>"
    terminal:wait "\n144\n> *$"
    stop()
  end)
end)
