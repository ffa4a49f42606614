-- ns.solve_ivp: arguments, options, and the texts of what is wrong with them.
local ns = require "nslua"
local p = require "ode.problems"

local function refused(text, ...)
  local ok, message = pcall(ns.solve_ivp, ...)
  assert.is_false(ok)
  assert.truthy(message:find(text, 1, true), message)
end

describe("solve_ivp", function()
  local f = p.oscillator

  it("says what is wrong with its arguments", function()
    refused("solve_ivp: f: expected a function, got nil", nil, { 0, 1 }, { 1, 0 })
    refused("solve_ivp: t_span: expected {t0, tf}, got number 1.0", f, 1, { 1, 0 })
    refused("solve_ivp: t_span: expected {t0, tf}, got number 0.0", f, 0, 1, { 1, 0 })
    refused("solve_ivp: t_span[2] is inf", f, { 0, math.huge }, { 1, 0 })
    refused("solve_ivp: y0[2] is nan", f, { 0, 1 }, { 1, 0 / 0 })
    refused("solve_ivp: options: expected a table, got string", f, { 0, 1 }, { 1, 0 }, "RK45")
    refused("expected at most 4 arguments, got 5", f, { 0, 1 }, { 1, 0 }, {}, 1)
  end)

  it("says what is wrong with its options", function()
    local function bad(o, text) refused(text, f, { 0, 1 }, { 1, 0 }, o) end
    bad({ tol = 1 }, "solve_ivp: unknown option 'tol' (known: method, rtol, atol, t_eval, dense_output, events, " ..
      "max_step, first_step, max_steps, jac, args, jac_sparsity, sensitivities, compile)")
    bad({ rtol = -1 }, "solve_ivp: rtol: expected 0 or more, got -1.0")
    bad({ events = { function() return 1 end, dir = 1 } },
      "solve_ivp: events: unknown option 'dir' of an event (known: g, apply, direction, terminal, name)")
    bad({ rtol = "x" }, "solve_ivp: rtol: expected a")
    bad({ atol = { 1, -2 } }, "solve_ivp: atol[2]: expected 0 or more, got -2.0")
    bad({ atol = { 1, 2, 3 } }, "solve_ivp: atol: expected a vector of 2, got a list of 3")
    bad({ t_eval = { 0, 2 } }, "solve_ivp: t_eval[2]: expected a time from 0.0 to 1.0, got 2.0")
    bad({ t_eval = { 0.5, 0.2 } }, "solve_ivp: t_eval[2]: expected times in the order of integration, got 0.2 after 0.5")
    bad({ first_step = 2 }, "solve_ivp: first_step: expected at most |tf - t0| = 1.0, got 2.0")
    bad({ first_step = 0 }, "solve_ivp: first_step: expected a number above 0, got 0.0")
    bad({ max_step = "x" }, "solve_ivp: max_step: expected a number above 0, got string")
    bad({ max_steps = 0 }, "solve_ivp: max_steps: expected 1 or more, got 0")
    bad({ dense_output = 1 }, "solve_ivp: dense_output: expected a boolean, got number")
    bad({ args = 1 }, "solve_ivp: args: expected a list, got number")
    bad({ jac = { { 1, 2 } }, method = "Radau" }, "solve_ivp: jac: expected a 2 x 2 matrix")
    bad({ events = 1 }, "solve_ivp: events: expected a function, got number")
    bad({ events = { f, 2 } }, "solve_ivp: event 2: expected a function or a table with the function g, got number")
    bad({ events = { { f, terminate = true } } },
      "solve_ivp: event 1: unknown option 'terminate' of an event (known: g, apply, direction, terminal, name)")
    bad({ events = { g = f, apply = 1 } }, "solve_ivp: event 1: apply: expected a function, got number")
    bad({ events = { f, { g = f, name = 1 } } }, "solve_ivp: event 2: name: expected a string, got number")
    bad({ events = { apply = f } }, "solve_ivp: event 1: expected a function or a table with the function g, got nil")
    bad({ events = { f, direction = "up" } }, "solve_ivp: event 1: direction: expected a number, got string")
    bad({ events = { f, terminal = 1.5 } },
      "solve_ivp: event 1: terminal: expected a boolean or a number of occurrences, got number")
  end)

  it("leaves its arguments as they were", function()
    local y0, event, atol = ns.vector { 1, 0 }, { function(_, y) return y[1] end, terminal = true }, { 1e-8, 1e-8 }
    ns.solve_ivp(f, { 0, 10 }, y0, { events = event, atol = atol })
    assert.equal(1, y0[1])
    assert.is_function(event[1])
    assert.equal(1e-8, atol[1])
  end)

  it("can be called from its own callback", function()
    local sol = ns.solve_ivp(function(t)
      return ns.solve_ivp(function() return 2 end, { 0, 1 }, t, { t_eval = { 1 } }).y[1][1]
    end, { 0, 1 }, 0, { method = "Radau", jac = { { 0 } } })
    assert.is_true(math.abs(sol.y[1][#sol.t] - 2.5) < 1e-6)
  end)
end)
