-- nslua.control: design of controllers for linear systems, with the names of python-control.
--
--   local K = ns.control.lqr(ns.dynamics.linearise { nsds = nsds, at = point, inputs = inputs }, Q, R)
local lazy = require "nslua.base.lazy"
local names = require "nslua.base.names"

local control = {}

for file, list in pairs {
  system = "ss poles dcgain c2d d2c ctrb obsv",
  place = "place acker",
  riccati = "lyap dlyap care dare lqr dlqr lqe dlqe kalman",
  response = "step_response frequency_response",
  pictures = "bode_plot nyquist_plot root_locus_plot step_plot",
} do
  lazy.functions(control, list, function() return require("nslua.control." .. file) end)
end

return setmetatable(control, { __index = names.strict "ns.control" })
