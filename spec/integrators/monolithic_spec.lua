-- Large linear models as one sparse problem: the same motion as with dense matrices, and the matrix made once.
local ns = require "nslua"

local function chain(n, matrix)
  local A = {}
  for i = 1, n do
    A[i] = {}
    for j = 1, n do A[i][j] = i == j and -2 or math.abs(i - j) == 1 and 1 or 0 end
  end
  local ds = ns.FirstOrderLinearTIDS(ns.zeros(n), matrix(A))
  ds:setbPtr(ns.linspace(-1, 1, n))
  local C, B = {}, {}
  for i = 1, n do C[i], B[i] = i == 2 and 1 or 0, { i == 2 and 1 or 0 } end
  local nsds = ns.NonSmoothDynamicalSystem(0, 1)
  nsds:insertDynamicalSystem(ds)
  nsds:link(ns.Interaction(ns.RelayNSL(1, -1, 1), ns.FirstOrderLinearTIR({ C }, B)), ds)
  return ns.TimeStepping(nsds, ns.TimeDiscretisation(0, 0.05), ns.EulerMoreauOSI(0.5)), ds
end

describe("a model as a whole", function()
  it("moves as with dense matrices, by one matrix for each weight", function()
    local dense, one = chain(12, ns.matrix)
    local sparse, other = chain(12, ns.sparse)
    for _, simu in ipairs { dense, sparse } do
      for step in simu:steps() do
        if step == 10 then simu:osi():setTheta(1) end
      end
    end
    assert.is_true((one:x() - other:x()):norm() < 1e-10)
    assert.equal(2, sparse:stats().factorizations)
  end)
end)
