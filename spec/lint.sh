#!/bin/sh
# lint.sh: the rules of the house that a machine can check. Prints each breach as FILE:LINE and fails when there is one.
cc=${CC:-cc}
failed=0
work=$(mktemp -d)
code=$work/code
trap 'rm -rf "$work"' EXIT

report() { # report WHAT: standard input holds the breaches
  breaches=$(cat)
  [ -n "$breaches" ] || return 0
  printf 'lint: %s\n%s\n' "$1" "$breaches" | tee -a "$work/breaches"
}

# FILE:LINE:code of every source, without comments and with empty string literals (but for #include lines).
find src -name '*.[ch]' | sort | xargs awk '
  FNR == 1 { inside = 0 }
  {
    line = $0; out = ""
    include = line ~ /^[ \t]*#[ \t]*include/
    if (!inside && !include) { gsub(/\\./, "", line); gsub(/"[^"]*"/, "\"\"", line) }
    while (line != "") {
      if (inside) {
        end = index(line, "*/")
        if (!end) { line = ""; break }
        line = substr(line, end + 2); inside = 0
      } else {
        start = index(line, "/*"); slashes = index(line, "//")
        if (slashes && (!start || slashes < start)) { out = out substr(line, 1, slashes - 1); line = ""; break }
        if (!start) { out = out line; line = ""; break }
        out = out substr(line, 1, start - 1); line = substr(line, start + 2); inside = 1
      }
    }
    if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
  }' >"$code"

engine() { grep -v -e '^src/bind/' -e '^src/repl/' -e '^src/fmu/' -e '^src/nslua\.c:' "$code"; }
calls() { grep -E "(^|[^A-Za-z0-9_])($1)[[:space:]]*\\("; }

engine | grep -E '#[ ]*include[ ]*[<"](lua|lauxlib|lualib)' | report "the engine includes Lua"
grep -v '^src/linalg/' "$code" | grep -E '#[ ]*include.*(lapack|cblas|klu|umfpack|cholmod|amd|btf|SuiteSparse)' |
  report "linear algebra libraries outside src/linalg"
grep -v '^src/ode/sundials[a-z_]*\.[ch]:' "$code" | grep -E '#[ ]*include.*<(ida|cvode|nvector|sun)' |
  report "SUNDIALS outside src/ode/sundials*"
grep -v -E '^src/io/hdf5[a-z_]*\.[ch]:' "$code" | grep -E '#[ ]*include.*<(hdf5|H5)' |
  report "HDF5 outside src/io/hdf5*.c"
grep -v '^src/solvers/optimise/nlopt\.c:' "$code" | grep -E '#[ ]*include.*<nlopt' | report "NLopt outside src/solvers/optimise/nlopt.c"
grep -v '^src/io/' "$code" | grep -E '#[ ]*include.*<zlib' | report "zlib outside src/io"
grep -v '^src/workers/mpi\.c:' "$code" | grep -E '#[ ]*include.*<mpi\.' | report "MPI outside src/workers/mpi.c"
grep -v '^src/solvers/optimise/ipopt\.c:' "$code" | grep -E '#[ ]*include.*<Ip' | report "IPOPT outside src/solvers/optimise/ipopt.c"
grep -v '^src/io/' "$code" | calls 'fopen|freopen|fdopen|open|openat|creat|mkstemp|tmpfile|dlopen' |
  report "files opened outside src/io"
engine | calls '(v|f|vf|d)?printf|puts|fputs|putchar|putc|fputc|perror|exit|_exit|quick_exit|abort|raise|assert|setjmp|longjmp|siglongjmp' |
  report "the engine prints, exits or jumps"
engine | grep -v '^src/base/memory\.c:' | calls 'malloc|calloc|realloc|free|strdup|aligned_alloc|posix_memalign' |
  report "memory outside base/memory.c"

grep -oE '[A-Za-z_][A-Za-z0-9_]*[[:space:]]*\(' "$code" | tr -d '( \t' | sort -u >"$work/functions"
grep -oE '\.text\.[A-Za-z0-9_]+' src/hot.ld | cut -d. -f3 | sort -u | comm -23 - "$work/functions" |
  report "src/hot.ld: no such function"

grep -rnE '\bv?s?n?printf *\(.*%[-+ 0#]*[0-9*]*(\.[0-9*]+)?[aefgAEFG]' src | grep -v '^src/base/text\.c:' |
  report "numbers formatted in the host's locale: ns_print has a decimal point"
grep -rnE 'lua_pushfstring\(L, *"[^"]*%f' src | report "numbers formatted in the host's locale: nsl_pushf has a decimal point"
# shellcheck disable=SC2046
grep -nE '%[-+ 0#]*[0-9]*(\.[0-9]+)?[aefgAEFG][^"]*"\):format\(' $(git ls-files "lua/nslua/*.lua") | grep -v -e '^lua/nslua/repl\.lua:' \
  -e '^lua/nslua/film/canvas\.lua:.*"%a"' | report "numbers formatted in the host's locale: number_support.format has a decimal point"

# base <- io <- workers <- linalg <- ad <- contact <- {solvers, ode, model} <- integrators <- simulation <- bind <- {repl, fmu}
awk -F: '
  BEGIN {
    n = split("base io workers linalg ad contact solvers,ode,model integrators simulation bind repl,fmu", levels, " ")
    for (i = 1; i <= n; i++) { m = split(levels[i], rooms, ","); for (j = 1; j <= m; j++) level[rooms[j]] = i }
  }
  match($3, /#[ ]*include[ ]*"[^"]*"/) {
    split($1, path, "/"); from = path[2]
    to = substr($3, RSTART, RLENGTH); sub(/^[^"]*"/, "", to); sub(/".*/, "", to)
    if (from == "nslua.c") next
    if (to !~ /\//) { print $1 ":" $2 ": include by room, not \"" to "\""; next }
    sub(/\/.*/, "", to)
    if (!(from in level) || !(to in level)) print $1 ":" $2 ": unknown room " (from in level ? to : from)
    else if (from != to && level[to] >= level[from]) print $1 ":" $2 ": " from " includes " to
  }' "$code" | report "layering"

# The rooms of bind, each using only those before it.
awk -F: '
  BEGIN {
    n = split("lua array diff call model file numerics simulation ode", rooms, " ")
    for (i = 1; i <= n; i++) level[rooms[i]] = i
  }
  match($3, /#[ ]*include[ ]*"bind\/[^"]*"/) {
    split($1, path, "/"); from = path[3]
    if (path[2] != "bind" || !(from in level)) next
    split(substr($3, RSTART, RLENGTH), to, "/")
    if (!(to[2] in level)) print $1 ":" $2 ": unknown room of bind: " to[2]
    else if (level[to[2]] > level[from]) print $1 ":" $2 ": bind/" from " includes bind/" to[2]
  }' "$code" | report "layering in bind"

# The name of a static function must lead to one place, also from a backtrace.
awk -F: '
  match($3, /^static (inline )?[A-Za-z_][A-Za-z0-9_ ]*[ *]+[a-z_0-9]+\(/) {
    name = substr($3, RSTART, RLENGTH - 1); sub(/.*[ *]/, "", name)
    if (!(name in first)) first[name] = $1
    else if (first[name] != $1 && !((name, $1) in told)) { told[name, $1]; print $1 ":" $2 ": " name " is in " first[name] " too" }
  }' "$code" | report "static functions of one name in two files"

# Two files must not call each other, since neither could be read first. A function's name counts as a call.
awk -F: '
  $1 !~ /\.c$/ { next }
  {
    text = $0; sub(/^[^:]*:[^:]*:/, "", text)
    if (text ~ /^[A-Za-z_][A-Za-z0-9_ *]*[ *][a-z]+_[a-z0-9_]+\(/ && text !~ /^(static|typedef|extern)/ && text !~ /;[ ]*$/) {
      name = text; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); home[name] = $1
    }
    while (match(text, /ns[a-z]?_[a-z0-9_]+/)) {
      name = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
      if (!(($1, name) in seen)) { seen[$1, name]; n++; user[n] = $1; used[n] = name; place[n] = $1 ":" $2 }
    }
  }
  END {
    for (i = 1; i <= n; i++) {
      if (!(used[i] in home) || home[used[i]] == user[i]) continue
      m++; from[m] = user[i]; to[m] = home[used[i]]; word[m] = place[i] ": calls " used[i] " of " to[m] ", which leads back here"
      calls[user[i]] = calls[user[i]] " " to[m]
    }
    for (file in calls) { # all files that it leads to
      count = 1; queue[1] = file
      for (k = 1; k <= count; k++) {
        parts = split(calls[queue[k]], ways, " ")
        for (j = 1; j <= parts; j++) if (!((file, ways[j]) in leads)) { leads[file, ways[j]]; queue[++count] = ways[j] }
      }
    }
    for (i = 1; i <= m; i++) if ((to[i], from[i]) in leads) print word[i]
  }' "$code" | report "circles of calls between files"

# Budgets that only fall: what the house has too much of is counted, may not grow, and its number here is lowered when it has become less.
budget() { # budget LIMIT WHAT: $work/places holds them, a line for each
  found=$(wc -l <"$work/places")
  [ "$found" -ge "$1" ] || echo "lint: $2: $found, the budget of $1 in spec/lint.sh can be lowered"
  [ "$found" -le "$1" ] || { cat "$work/places"; echo "$found in place of $1"; } | report "$2: more than the budget"
}

# Kinds that are asked outside of the file that has the table of the kind.
grep -E '(^|[^A-Za-z0-9_])dim [!=]= ' "$code" >"$work/places"
budget 11 "dimensions of cones that are asked (dim ==)"
grep -E '(^|[^A-Za-z0-9_])(NS_FIRST_ORDER|NS_MECHANICS)([^A-Za-z0-9_]|$)' "$code" >"$work/places"
budget 67 "families that are asked (NS_FIRST_ORDER, NS_MECHANICS)"
# shellcheck disable=SC2046
grep -nE '\.kind [~=]= ' $(git ls-files 'lua/*.lua') >"$work/places"
budget 12 "kinds that are asked in Lua (.kind ==)"

# The members of a struct beyond 40, a line for each; the members of structs that are declared in it count, too.
awk '
  { file = $0; sub(/:.*/, "", file); text = $0; sub(/^[^:]*:[^:]*:/, "", text) }
  !inside && match(text, /^(typedef )?struct [A-Za-z_0-9]* *\{[ ]*$/) {
    name = text; sub(/^(typedef )?struct /, "", name); sub(/ *\{.*/, "", name); inside = 1; body = ""; next
  }
  inside && text ~ /^}/ {
    while (gsub(/\([^()]*\)/, "", body)) ;
    gsub(/(struct|union)[^{};]*\{|\}[^;]*;/, "", body)
    members = gsub(/[;,]/, "", body)
    for (i = 41; i <= members; i++) print file ": struct " name ": member " i
    inside = 0
  }
  inside { body = body " " text }' "$code" >"$work/places"
budget 0 "members of structs beyond 40 in one"

# Headers from which includes lead back to them.
awk -F: '
  $1 ~ /\.h$/ && match($3, /#[ ]*include[ ]*"[^"]*"/) {
    to = substr($3, RSTART, RLENGTH); sub(/^[^"]*"/, "src/", to); sub(/"$/, "", to); includes[$1] = includes[$1] " " to
  }
  END {
    for (file in includes) {
      split("", seen); count = 1; queue[1] = file
      for (k = 1; k <= count; k++) {
        parts = split(includes[queue[k]], ways, " ")
        for (j = 1; j <= parts; j++) if (!(ways[j] in seen)) { seen[ways[j]]; queue[++count] = ways[j] }
      }
      if (file in seen) print file ": its includes lead back to it"
    }
  }' "$code" >"$work/places"
budget 0 "circles of headers"

git ls-files 'src/*.[ch]' 'spec/internal/*.[ch]' 'lua/*.lua' 2>/dev/null | xargs -r wc -l | awk '$1 > 700 && $2 != "total" { print $2 ": " $1 " lines" }' |
  report "files of more than 700 lines"

if command -v clang-format >/dev/null; then
  find src spec/internal -name '*.[ch]' | sort | xargs clang-format --dry-run 2>&1 | grep 'warning:' | cut -d: -f1,2 | sort -u |
    report "layout: run make format"
else
  echo "lint: no clang-format, the layout is not checked"
fi

# A header with functions that another room includes is public and has a spec of its name. The specs of a room belong to the
# header with the room's name. Headers that a room keeps for itself are tested through the public ones.
awk -F: '
  $1 ~ /\.h$/ && $3 ~ /^(extern |[A-Za-z_][A-Za-z0-9_ ]* \**nsl?_[a-z0-9_]+\()/ && $3 !~ /^(static|typedef)/ { declares[$1] }
  match($3, /#[ ]*include[ ]*"[^"]*"/) {
    to = substr($3, RSTART, RLENGTH); sub(/^[^"]*"/, "src/", to); sub(/"$/, "", to)
    from = $1; sub(/\/[^\/]*$/, "", from); room = to; sub(/\/[^\/]*$/, "", room)
    if (from != room) included[to]
  }
  END { for (file in declares) if (file in included) print file }' "$code" | sort | while read -r file; do
  room=$(basename "$(dirname "$file")")
  spec=spec/${file#src/}
  [ -f "${spec%.h}_spec.lua" ] || [ "$(basename "$file")" = "$room.h" ] || echo "$file"
done | report "a public header without its spec"

grep -r -L '^#pragma once' --include='*.h' src spec/internal | report "a header without #pragma once"

sources=$(find src spec/internal -name '*.c' | sort)
# shellcheck disable=SC2086
if ! echo '#include <ida/ida.h>' | $cc $CPPFLAGS -E -xc - >/dev/null 2>&1; then
  echo "lint: no headers of SUNDIALS, src/ode/sundials*.c are not compiled"
  sources=$(echo "$sources" | grep -v '^src/ode/sundials[a-z_]*\.c$')
fi
# shellcheck disable=SC2086
if ! echo '#include <hdf5.h>' | $cc $CPPFLAGS -E -xc - >/dev/null 2>&1; then
  echo "lint: no headers of HDF5, src/io/hdf5*.c is not compiled"
  sources=$(echo "$sources" | grep -v -E '^src/io/hdf5[a-z_]*\.c$')
fi
for library in solvers/optimise/nlopt:nlopt.h solvers/optimise/ipopt:IpStdCInterface.h workers/mpi:mpi.h; do
  # shellcheck disable=SC2086
  echo "#include <${library#*:}>" | $cc $CPPFLAGS -E -xc - >/dev/null 2>&1 && continue
  echo "lint: no headers of ${library##*/}, src/${library%:*}.c is not compiled"
  sources=$(echo "$sources" | grep -v "^src/${library%:*}\.c$")
done
# Two processes at a time.
for compiler in "$cc" clang; do
  command -v "${compiler%% *}" >/dev/null || { echo "lint: no $compiler, skipped"; continue; }
  # shellcheck disable=SC2086
  echo "$sources" | xargs -P 2 -n 40 $compiler $CPPFLAGS $WARN -O1 -Werror -fsyntax-only || failed=1
done

# Readers cannot look up what is not in the repository: paths of one machine, folders beside the tree, other documents, tickets.
top=$(git ls-files | sed 's|/.*||; s|\.md$||' | sort -u | paste -sd '|' -)
{ git grep -nE '/(home|work|mnt|Users)/|\bseeds/|[Ii]ssue #?[0-9]' -- . ':!spec/lint.sh' ':!spec/robust/fuzz.sh'
  git grep -nE '\b[A-Z]{3,}\.md' -- . ':!spec/lint.sh' | grep -vE '\b(README|CHANGELOG|CONTRIBUTING)\.md'
  git grep -nE '(^|[^a-zA-Z0-9_$}.])\.\./[a-zA-Z]' -- . ':!spec/reference' ':!spec/lint.sh' |
    grep -vE "\.\./($top|reference|gallery|tour|numerics|porting|tutorial|prompt|reliability|howto|introduction|matplotlib|shown|before|victim|build)" | grep -v 'ORIGIN/\.\./lib'; } |
  report "mentions of what is not in the repository"

if command -v shellcheck >/dev/null; then
  shellcheck -S warning spec/*.sh spec/robust/*.sh .ci/run || failed=1
else
  echo "lint: no shellcheck, the shell scripts are not checked"
fi

# What luacheck and cppcheck found in a file is kept in build/, until the file or a header of it changes.
mkdir -p build/cppcheck
# shellcheck disable=SC2046
luacheck -q --no-color --cache build/luacheck $(ls -d lua scripts spec bench docs 2>/dev/null) || failed=1
cppcheck -q --cppcheck-build-dir=build/cppcheck --std=c11 --language=c --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
  --suppress=missingIncludeSystem --suppress=varFuncNullUB -Isrc src spec/internal || failed=1

[ ! -s "$work/breaches" ] || failed=1
[ "$failed" -eq 0 ] && echo "lint: clean"
exit "$failed"
