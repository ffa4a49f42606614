-- SPICE decks: what is read, against the same circuit by parts and closed forms; each mistake with its line.
local ns = require "nslua"

local file

before_each(function() file = os.tmpname() end)
after_each(function() os.remove(file) end)

local function read(text)
  local handle = assert(io.open(file, "w"))
  handle:write(text)
  handle:close()
  return ns.circuit():read(file)
end

-- The message for a deck, without the place in this file and the name of the deck.
local function message(text)
  local good, what = pcall(read, text)
  assert.is_false(good)
  return (what:gsub("^.-:%d+: ", "", 1):gsub("^" .. file:match "[^/]*$" .. ":", ""))
end

describe("ns.circuit:read", function()
  it("reads parts, suffixes, parameters, initial values and the run", function()
    local c = read [[
A low pass
* a comment
V1 in 0 DC 10 ; the source
R1 in out {r}
.param r=2k c=250u
C1 out 0 {2*c}
+ IC=1
.tran 10m 1
.end
R9 this is never read
]]
    assert.equal("circuit 'circuit' of 3 parts and 2 nodes", tostring(c))
    local columns = c:run()
    assert.near(10 - 9 * math.exp(-1), columns["v.out"][#columns], 1e-6)
    assert.equal(1, columns.t[#columns])
  end)

  it("reads each kind of source", function()
    local c = read [[
sources
Vs a 0 SIN 1 2 50 0.01 0 90
Vp b 0 PULSE(0 5 1m 10u 20u 3m 10m)
Iw 0 c PWL(0 0 1 2 3 2)
Rc c 0 1
Ra a d 1MEG
Cd d 0 1n
.ic v(d)=0.5
]]
    local columns = c:run { stop = 0.02, step = 1e-3 }
    local function at(name, t)
      for i = 1, #columns do
        if math.abs(columns.t[i] - t) < 1e-9 then return columns[name][i] end
      end
    end
    assert.near(1 + 2 * math.cos(2 * math.pi * 50 * (0.013 - 0.01)), at("v.a", 0.013), 1e-12)
    assert.near(5, at("v.b", 0.002), 1e-12)
    assert.near(0, at("v.b", 0.006), 1e-12)
    assert.near(2 * 0.015, at("v.c", 0.015), 1e-12)
    assert.near(0.5, at("v.d", 0), 1e-12)
  end)

  it("reads diodes, switches, controlled sources, coupled coils and subcircuits", function()
    local c = read [[
a buck converter in a subcircuit
.model dx D(Ron=1m Roff=1MEG Vfwd=0.5)
.model sx SW(Vt=2.5 Ron=1m Roff=1MEG)
.subckt buck in out gate l=1m
S1 in x gate 0 sx
D1 0 x dx
L1 x out {l}
.ends
Vin in 0 10
Vg gate 0 PULSE(0 5 0 1n 1n 40u 100u)
X1 in out gate buck l=2m
C1 out 0 100u
R1 out 0 4
E1 e 0 out 0 2
G1 0 g out 0 0.5
Rg g 0 1
Vm out m 0
Rm m 0 1k
F1 0 f Vm 3
Rf f 0 1
H1 h 0 Vm 7
Re e 0 1
Rh h 0 1
La p 0 1m
Lb q 0 4m
K1 La Lb 0.5
Rp p 0 1
Rq q 0 1
.tran 100u 20m
]]
    local columns = c:run()
    local k = #columns
    local out = columns["v.out"][k]
    assert.near(0.4 * 10 - 0.6 * 0.5, out, 0.1)
    assert.near(2 * out, columns["v.e"][k], 1e-9)
    assert.near(0.5 * out, columns["v.g"][k], 1e-9)
    assert.near(3 * out / 1000, columns["v.f"][k], 1e-9)
    assert.near(7 * out / 1000, columns["v.h"][k], 1e-9)
    assert.near(0, columns["i.LB"][k], 1e-9)
    assert.near(out / 4, columns["i.X1_L1"][k], 0.5) -- its ripple is 0.15
  end)

  it("tells each mistake with its line", function()
    local function deck(...) return table.concat({ "title", "V1 a 0 1", ... }, "\n") end
    for _, case in ipairs {
      { "3: part 'q1': 'Q' is not taken; known: R C L K V I E F G H D S X", "Q1 a b c model" },
      { "3: value: expected a number, got nil", "R1 a b" },
      { "3: value: expected a number, got 'x5'", "R1 a b x5" },
      { "3: '7' is one word too many", "R1 a b 5 7" },
      { "3: resistor 'R1': R: expected a positive number, got -5", "R1 a b -5" },
      { "4: resistor 'R1': there is a part 'R1' already, a resistor", "R1 a b 5", "R1 a c 5" },
      { "3: expected NAME=VALUE, got 'tc'", "C1 a b 1u tc" },
      { "3: 'tc' is not taken", "C1 a b 1u tc=3" },
      { "3: expected a node, got 'b=3'", "R1 a b=3 5" },
      { "3: there is no model 'nix'", "D1 a b nix" },
      { "4: model 's' is one of sw, not of d", ".model s SW(Ron=1)", "D1 a b s" },
      { "4: model 'd': is is not taken: a diode is two lines with a knee (ron, roff, vfwd, vrev)",
        ".model d D(Is=1e-14)", "D1 a b d" },
      { "3: models of 'npn' are not taken; known: d, sw", ".model q NPN(bf=100)" },
      { "3: '.ac' is not taken", ".ac dec 10 1 1k" },
      { "3: .ends without .subckt", ".ends" },
      { "3: .subckt without .ends", ".subckt s a b", "R1 a b 1" },
      { "3: there is no subcircuit 'sub'", "X1 a b sub" },
      { "6: subcircuit 's' has 2 nodes, got 1", ".subckt s a b", "R1 a b 1", ".ends", "X1 a s" },
      { "3: there is no parameter 'nix'", "R1 a b {2*nix}" },
      { "3: expected an expression, got '2*'", "R1 a b {2*}" },
      { "3: sin: expected 3 numbers or more, got 2", "V2 b 0 SIN(0 1)" },
      { "3: sin: a damped sine is not taken", "V2 b 0 SIN(0 1 50 0 3)" },
      { "3: '1*\"a\"': attempt to mul a 'number' with a 'string'", "R1 a b {1*\"a\"}" },
      { "3: 'exp' is not taken; known: dc, sin, pulse, pwl", "V2 b 0 EXP(0 1)" },
      { "3: 'ac' is not taken; known: dc, sin, pulse, pwl", "V2 b 0 AC 1" },
      { "3: 'ac' is one word too many", "V2 b 0 DC 0 AC 1" },
      { "4: S1: expected a source of voltage, in a line before, between 'c' and '0' as its control",
        ".model s SW(Ron=1)", "S1 a b c 0 s" },
      { "3: .ic: there is no capacitor between 'b' and the ground", ".ic v(b)=1" },
      { "3: expected v(NODE)=VALUE, got 'i(l1)'", ".ic i(l1)=1" },
      { "3: .tran: expected STEP and STOP", ".tran 1m" },
      { "3: cccs 'F1': part: expected the name of a part, got 'V7'", "F1 a b V7 2" },
    } do
      assert.equal(case[1], message(deck(table.unpack(case, 2))))
    end
    assert.matches("spice_spec.lua:%d+: ", (select(2, pcall(read, deck "R1 a b {2*nix}"))))
    assert.matches("^read: cannot read /no/such.cir: ", (select(2, pcall(function()
      ns.circuit():read "/no/such.cir"
    end)):gsub("^.-:%d+: ", "", 1)))
    assert.equal("read: file: expected a string, got nil", (select(2, pcall(function()
      ns.circuit():read()
    end)):gsub("^.-:%d+: ", "", 1)))
  end)
end)
