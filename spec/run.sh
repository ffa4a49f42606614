#!/bin/sh
# run.sh BUILD: runs the specs (all, or the files and directories in SPECS) under stock Lua and under BUILD/bin/nslua (HOSTS
# picks from stock-lua and nslua), JOBS processes at a time (all cores). Stock Lua runs one spec of each room, and skips tests with
# #once in their names and the specs of scripts and of robustness, which start the same processes under either host: the engine is
# the same. Tests with #long in their names take seconds each: they and the specs in `later` run with NSLUA_LONG=1, as in
# `make check` and in .ci/run; `make soak` runs the tests, too.
# The last line is "N passed, N failed", summed over all. Fails when a test fails, a process breaks off or lasts longer than LIMIT
# seconds (900; none in `make soak`), or no test runs.
#
# run.sh BUILD HOST SPECS...: one process, called by the above. It adds "passed failed" to LOGS/counts.
build=$1
lua=${LUA:-lua5.4}
busted=${BUSTED:-/usr/bin/busted}

if [ $# -gt 1 ]; then
  host=$2
  shift 2
  name=$host:$(echo "$*" | sed 's|spec/||g; s|_spec\.lua||g; s|^\([^ ]*\) .* |\1 .. |')
  log=${LOGS:?}/$(echo "$name" | tr '/ ' '--').log
  without=$([ "$NSLUA_LONG$NSLUA_SOAK" ] || echo long)
  if [ "$host" = stock-lua ]; then
    set -- env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "$lua" "$busted" --exclude-tags="once,$without" "$@"
  else
    set -- "$build/bin/nslua" "$busted" --exclude-tags="$without" "$@"
  fi
  if [ -z "$NSLUA_SOAK" ]; then set -- timeout --foreground -k 10 "${LIMIT:-900}" "$@"; fi
  start=$(date +%s)
  "$@" --output=plainTerminal >"$log" 2>&1
  status=$?
  counts=$(sed -n 's|^\([0-9]*\) success[a-z]* / \([0-9]*\) failures* / \([0-9]*\) errors* / .*|\1 \2 \3|p' "$log" | tail -n 1)
  # shellcheck disable=SC2086
  set -- ${counts:-0 0 0}
  bad=$(($2 + $3))
  if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ -z "$counts" ]; }; then
    echo "the process ended with status $status after $1 tests, $(($(date +%s) - start)) s (124: longer than it may last)" >>"$log"
    bad=1
  fi
  echo "$1 $bad" >>"$LOGS/counts"
  line="$1 passed, $bad failed, $(($(date +%s) - start)) s: $name"
  if [ "$bad" -eq 0 ] && [ -z "$NSLUA_SOAK" ]; then echo "$line"; else printf '== %s\n%s\n' "$line" "$(cat "$log")"; fi
  exit 0
fi

export NSLUA_BUILD="$build"
export LUA_PATH="lua/?.lua;lua/?/init.lua;spec/?.lua;;"
export LUA_CPATH="$build/lib/?.so;;"
unset LUA_INIT LUA_INIT_5_4 LUA_PATH_5_4 LUA_CPATH_5_4
LOGS=$(mktemp -d) || exit 1
export LOGS
trap 'rm -rf "$LOGS"' EXIT

# Stock Lua gets the sanitizer by LD_PRELOAD. The library of C++ comes with it, where there is one: the sanitizer looks for the
# function that throws when it starts, and IPOPT throws. A last library removes LD_PRELOAD from the environment of child processes.
case $build in
*asan*)
  echo '#include <stdlib.h>
    __attribute__((constructor)) static void forget(void) { unsetenv("LD_PRELOAD"); }' |
    ${CC:-cc} -shared -fPIC -xc - -o "$build/forget.so" || exit 1
  PRELOAD="$(${CC:-cc} -print-file-name=libasan.so)"
  cxx=$(${CC:-cc} -print-file-name=libstdc++.so.6)
  if [ -f "$cxx" ]; then PRELOAD="$PRELOAD:$(realpath "$cxx")"; fi
  PRELOAD="$PRELOAD:$(realpath "$build")/forget.so"
  export PRELOAD
  export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
  export LSAN_OPTIONS=suppressions=$PWD/spec/leaks.txt:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1
  ;;
esac

# The work list, a line for each process: one spec that takes long, one that starts processes, or 15 others; the long ones first.
# Specs that mostly wait for other processes run beside this list, one at a time.
for place in $SPECS; do [ -e "$place" ] || { echo "run.sh: there is no $place" >&2; exit 1; }; done
# shellcheck disable=SC2086
files=$(find ${SPECS:-spec} -name '*_spec.lua' | sort)
later='^spec/(robust/|scripts/(animate|pages|pictures|site|woodpecker_cycle)_|lua/notebook/kernel_)'
if [ -z "$SPECS$NSLUA_LONG$NSLUA_SOAK" ]; then files=$(echo "$files" | grep -v -E "$later"); fi
alone='^spec/(scripts|robust)/'
long='^spec/(install|docs|lua/dynamics|lua/dynamics/[a-z]*|lua/optimise/control|lua/plot/gnuplot)_spec'
waits='^spec/(lua/sweep/[a-z]*|lua/notebook/kernel|robust/checkpoint|robust/sweep_kills|repl/stop)_spec'
work() { grep spec/ | xargs -r -P "$1" -L 1 sh "$script" "$build"; }
script=$0
hosts=${HOSTS:-nslua stock-lua}
case $hosts in *nslua*)
  echo "$files" | grep -E "$waits" | sed "s/^/nslua /" | work 1 &
  ;;
esac
for host in $hosts; do
  rest=$(echo "$files" | grep -v -E "$alone")
  if [ "$host" = stock-lua ] && [ -z "$SPECS" ]; then # of each room the first one that is not for nslua alone, and the one of hosts
    # shellcheck disable=SC2086
    rest=$({ echo spec/bind/lua/host_spec.lua; grep -L '#once' $rest; } | awk '{ room = $0; sub("[^/]*$", "", room) } !seen[room]++')
  fi
  if [ "$host" = nslua ]; then
    for kind in "$long" "$alone"; do echo "$files" | grep -E "$kind" | grep -v -E "$waits" | sed "s/^/nslua /"; done
    rest=$(echo "$rest" | grep -v -E "$long|$waits")
  fi
  echo "$rest" | xargs -n 15 | sed "s/^/$host /"
done | work "${JOBS:-$(getconf _NPROCESSORS_ONLN)}"
wait

passed=0
failed=0
while read -r good bad; do
  passed=$((passed + good))
  failed=$((failed + bad))
done <"$LOGS/counts"
echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
