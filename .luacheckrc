std = "lua54"
max_line_length = 118
files["spec"] = { std = "lua54+busted" }
files["lua/nslua/repl.lua"] = { globals = { "_G.ns" } }
