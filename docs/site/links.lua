-- Links of HTML pages that lead nowhere.
local links = {}

local function plain(path)
  local list = {}
  for part in path:gmatch "[^/]+" do
    if part == ".." then list[#list] = nil elseif part ~= "." then list[#list + 1] = part end
  end
  return (path:find "^/" and "/" or "") .. table.concat(list, "/")
end

local function unescaped(text)
  return (text:gsub("&amp;", "&"):gsub("%%(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end

-- Pages whose links are in scripts, or are made for a site at the root of a host.
local function is_foreign(page) return page:find "^motion/" or page == "404.html" end

--- The links of the pages below `root` to files and anchors that are not there, "page: link", and the number of
--- links. `read(path)`: the text of a page. Addresses of other hosts are not asked.
function links.dead(root, files, read)
  local anchors, text, dead, count = {}, {}, {}, 0
  for _, file in ipairs(files) do
    local page, ids = read(file), {}
    for id in page:gmatch '%sid="([^"]*)"' do ids[unescaped(id)] = true end
    text[file], anchors[file] = page, ids
  end
  local function exists(path)
    local file = io.open(path, "rb")
    if file then file:close() end
    return file ~= nil
  end
  local function good(from, link)
    local path, anchor = unescaped(link):match "^([^#?]*)[^#]*#?(.*)$"
    local target = path == "" and from or plain((path:find "^/" and root or from:match "^(.*/)") .. path)
    if path:find "/$" or path == "." or path == ".." or path:find "/%.%.$" then target = target .. "/index.html" end
    if not anchors[target] then return exists(target) end
    return anchor == "" or anchors[target][anchor]
  end
  for _, file in ipairs(files) do
    local own = file:sub(#root + 2)
    for link in (is_foreign(own) and "" or text[file]):gmatch '%s[hs]re?[fc]="([^"]*)"' do
      if not link:find "^%a[%w+.-]*:" and not link:find "^//" then
        count = count + 1
        if not good(file, link) then dead[#dead + 1] = own .. ": " .. link end
      end
    end
  end
  return dead, count
end

--- What the pages load from other hosts, "page: address": scripts, styles, pictures, frames.
function links.outside(root, files, read)
  local list = {}
  for _, file in ipairs(files) do
    local page = read(file)
    local function note(address) list[#list + 1] = file:sub(#root + 2) .. ": " .. address end
    for address in page:gmatch '%ssrc="(%a*:?//[^"]*)"' do note(address) end
    for tag in page:gmatch "<link%s[^>]*>" do
      local address = tag:match 'href="(%a*:?//[^"]*)"'
      if address and not tag:find 'rel="canonical"' then note(address) end
    end
    for address in page:gmatch "@import%s+[url(]*[\"']?(%a*:?//[^\"')]*)" do note(address) end
    for address in page:gmatch "%f[%w@]import%s[^;\"']*[\"'](https?://[^\"']*)" do note(address) end
  end
  return list
end

return links
