-- Helpers of the specs of HDF5 files.
local hdf5 = {}

hdf5.here = package.searchpath("nslua.hdf5", package.cpath)

-- `it` when the module is built, else a replacement that reports that it is not.
hdf5.it = hdf5.here and require "busted".it or function(name)
  require "busted".pending(name .. " (nslua.hdf5 is not built: make hdf5)")
end

-- Numbers that a file format may change.
hdf5.odd = { 0.1, -0.0, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 2 ^ 53 + 2, 1 / 0, -1 / 0, -1e-5,
  0 / 0, -(0 / 0), (string.unpack("<d", "\1\2\3\4\5\6\xf8\x7f")) }

-- The bytes of a vector or a matrix, row by row, so that -0 and the bits of NaN are compared too.
function hdf5.bits(v)
  local parts = {}
  if require "nslua".ismatrix(v) then
    for i = 1, v:rows() do parts[i] = hdf5.bits(v[i]) end
    return ("%dx%d:"):format(v:rows(), v:cols()) .. table.concat(parts)
  end
  for i = 1, #v do parts[i] = ("<d"):pack(v[i]) end
  return table.concat(parts)
end

-- A text with the bytes at some places (from 1) changed.
function hdf5.patch(text, bytes)
  for at, byte in pairs(bytes) do text = text:sub(1, at - 1) .. string.char(byte) .. text:sub(at + 1) end
  return text
end

return hdf5
