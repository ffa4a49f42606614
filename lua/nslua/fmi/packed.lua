-- nslua.fmi.packed: tables of numbers, texts, booleans and such tables as a text, and back. Numbers keep their bits.
local packed = {}

local function write(out, value, depth)
  local kind = type(value)
  if kind == "table" then
    if depth > 100 then error("a table holds itself, or more than 100 levels of tables", 0) end
    out[#out + 1] = "{"
    for key, field in pairs(value) do
      out[#out + 1] = "["
      write(out, key, depth + 1)
      out[#out + 1] = "]="
      write(out, field, depth + 1)
      out[#out + 1] = ","
    end
    out[#out + 1] = "}"
  elseif kind == "number" or kind == "string" or kind == "boolean" or kind == "nil" then
    out[#out + 1] = ("%q"):format(value)
  else
    error(("a %s cannot be stored"):format(kind), 0)
  end
end

function packed.write(value)
  local out = {}
  write(out, value, 0)
  return table.concat(out)
end

-- nil when the text is not one of write().
function packed.read(text)
  local chunk = load("return " .. text, "=stored state", "t", { math = { huge = math.huge } })
  local good, value = pcall(chunk or error)
  return good and value or nil
end

return packed
