std = "lua54"
max_line_length = 118
unused_args = false -- callbacks name all of their arguments
files["lua"] = { ignore = { "211/_ENV" } } -- it is used, without its name
files["spec"] = { std = "lua54+busted", max_line_length = 132 }
files["spec/reference"] = { max_line_length = false }
files["spec/ad/dual_spec.lua"] = { ignore = { "143" } } -- functions that only some builds of Lua have in math
files["spec/bind/diff/proxy_math*_spec.lua"] = { ignore = { "143" } }
files["spec/expressions.lua"] = { ignore = { "143" } }
