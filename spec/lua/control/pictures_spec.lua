-- Pictures of linear systems: what they draw.
local ns = require "nslua"
local expect = require "expect"
local pictures = require "nslua.control.pictures"

local control = ns.control

describe("a picture of a linear system", function()
  local sys = control.ss({ { 0, 1 }, { -1, -0.4 } }, { 0, 1 }, { 1, 0 })

  it("is a figure with labels, for each kind", function()
    local words = { bode_plot = { "Gain (dB)", "Phase (degrees)" }, nyquist_plot = { "Real part", "Imaginary part" },
      root_locus_plot = { "first gain" }, step_plot = { "Step response" } }
    for name, list in pairs(words) do
      for _, of in ipairs { sys, control.c2d(sys, 0.5) } do
        local text = control[name](of, { title = "A title" }):commands()
        for _, word in ipairs { "A title", table.unpack(list) } do assert.is_truthy(text:find(word, 1, true), name .. word) end
      end
    end
    expect.fails("control.bode_plot: unknown option 'tittle'", control.bode_plot, sys, { tittle = "" })
  end)

  it("shows the poles of the loop for each gain", function()
    local list, gains = pictures.root_locus(control.ss({ { 0, 1 }, { 0, -2 } }, { 0, 1 }, { 1, 0 }), { 0, 1, 2 }, {}, "x")
    assert.are.equal(3, #gains)
    expect.near_number(-1, list[2][1].re, 1e-7)
    expect.near_number(-1, list[3][1].re, 1e-12)
    expect.near_number(1, list[3][1].im, 1e-12)
    expect.fails("x: gains: at -1 the loop has no solution: 1 + k D is 0", pictures.root_locus,
      control.ss({ { -1 } }, 1, 1, 1), { -1 }, {}, "x")
    assert.is_true(#pictures.root_locus(sys, nil, {}, "x") > 100)
  end)
end)
