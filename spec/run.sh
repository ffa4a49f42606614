#!/bin/sh
# run.sh BUILD: runs every spec (or those in SPECS) under stock Lua and under BUILD/bin/nslua (or under those in HOSTS, words
# out of stock-lua and nslua). The specs of scripts start nslua whatever the host, so that all of them run under that one
# only. The last line is "N passed, N failed", summed over both; fails when a test failed, when a
# run broke off, and when no test ran.
build=$1
lua=${LUA:-lua5.4}
busted=${BUSTED:-/usr/bin/busted}
passed=0
failed=0

export NSLUA_BUILD="$build"
export LUA_PATH="lua/?.lua;lua/?/init.lua;spec/?.lua;;"
export LUA_CPATH="$build/lib/?.so;;"
unset LUA_INIT LUA_INIT_5_4 LUA_PATH_5_4 LUA_CPATH_5_4

# Stock Lua gets the sanitizer by LD_PRELOAD; a second library takes that out of the environment of its child processes.
preload=
case $build in
*asan*)
  mkdir -p "$build"
  echo '#include <stdlib.h>
    __attribute__((constructor)) static void forget(void) { unsetenv("LD_PRELOAD"); }' |
    "${CC:-cc}" -shared -fPIC -xc - -o "$build/forget.so" || exit 1
  preload="$("${CC:-cc}" -print-file-name=libasan.so):$(realpath "$build")/forget.so"
  export ASAN_OPTIONS=detect_leaks=1:abort_on_error=0
  export LSAN_OPTIONS=suppressions=$PWD/spec/leaks.txt:print_suppressions=0
  export UBSAN_OPTIONS=print_stacktrace=1
  ;;
esac

# run NAME COMMAND...: one busted run, its output also in a log; count NAME adds up the log's closing line, and its status.
run() {
  log=$build/spec-$1.log
  echo "== specs under $1"
  shift
  { "$@" "$busted" --output=plainTerminal $specs 2>&1; echo $? >"$log.status"; } | tee "$log"
}

count() {
  log=$build/spec-$1.log
  status=$(cat "$log.status")
  counts=$(sed -n 's|^\([0-9]*\) success[a-z]* / \([0-9]*\) failures* / \([0-9]*\) errors* / .*|\1 \2 \3|p' "$log" | tail -n 1)
  set -- ${counts:-0 0 0}
  bad=$(($2 + $3))
  if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$1" -eq 0 ]; }; then
    echo "the run ended with status $status after $1 tests"
    bad=1
  fi
  passed=$((passed + $1))
  failed=$((failed + bad))
}

under_stock_lua() { run stock-lua env ${preload:+LD_PRELOAD="$preload"} "$lua"; }
under_nslua() { run "${1:-nslua}" "$build/bin/nslua"; }

without_scripts=$(ls -d spec/*/ spec/*_spec.lua | grep -v '^spec/scripts/')
mkdir -p "$build"
if [ -z "$SPECS" ] && [ -z "$HOSTS" ]; then # the scripts beside the rest: two processes at a time
  (specs=spec/scripts; under_nslua scripts) >"$build/spec-beside.log" &
  specs=$without_scripts
  under_stock_lua
  under_nslua
  wait
  cat "$build/spec-beside.log"
  for name in stock-lua nslua scripts; do count $name; done
else
  for host in ${HOSTS:-stock-lua nslua}; do
    case $host in
    stock-lua) specs=${SPECS:-$without_scripts}; under_stock_lua ;;
    *) specs=${SPECS:-spec}; under_nslua ;;
    esac
    count "$host"
  done
fi

echo
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
