#!/bin/sh
# fuzz.sh BUILD: builds a libFuzzer target of each reader of files with clang and runs it for FUZZ_SECONDS, from files that
# the toolkit has written and those of spec/robust/inputs. What it learns stays in BUILD-fuzz/corpus, what makes a
# reader fail in BUILD-fuzz/found. Prints a table; fails when there is a finding.
build=$1
seconds=${FUZZ_SECONDS:-60}
compiler=${CLANG:-clang}
here=spec/robust
work=$build-fuzz
targets=${TARGETS:-csv npy npz checkpoint stream number}
sources="src/io/csv.c src/io/npy.c src/io/zip.c src/io/checkpoint.c src/io/stream.c src/io/file.c src/io/number.c
  src/base/memory.c src/base/error.c src/base/status.c"
failed=0

command -v "$compiler" >/dev/null || { echo "fuzz: needs clang with its run-time library (Debian: clang libclang-rt-14-dev)"; exit 1; }
rm -rf "$work/seeds"
mkdir -p "$work/seeds" "$work/found"
LUA_PATH="lua/?.lua;lua/?/init.lua;;" LUA_CPATH="$build/lib/?.so;;" "$build/bin/nslua" "$here/fuzz_seeds.lua" "$work/seeds" || exit 1

printf '%-11s %12s %10s %8s %8s\n' reader executions per_second edges found
for target in $targets; do
  mkdir -p "$work/corpus/$target"
  # shellcheck disable=SC2086
  "$compiler" -std=c11 -D_XOPEN_SOURCE=700 -Isrc -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    "-DFUZZ_TARGET=\"$target\"" -o "$work/$target" "$here/fuzz_files.c" $sources -lz -lm || exit 1
  inputs=$work/seeds/$target
  [ -d "$here/inputs/$target" ] && inputs="$inputs $here/inputs/$target"
  # shellcheck disable=SC2086
  "$work/$target" -dict="$here/dictionaries/$target.dict" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -print_final_stats=1 -artifact_prefix="$work/found/$target-" "$work/corpus/$target" $inputs >"$work/$target.log" 2>&1
  status=$?
  edges=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$work/$target.log" | tail -n 1)
  count=$(sed -n 's/stat::number_of_executed_units: *//p' "$work/$target.log")
  rate=$(sed -n 's/stat::average_exec_per_sec: *//p' "$work/$target.log")
  found=$(find "$work/found" -name "$target-*" | wc -l)
  printf '%-11s %12s %10s %8s %8s\n' "$target" "$count" "$rate" "$edges" "$found"
  if [ "$status" -ne 0 ] || [ "$found" -ne 0 ]; then
    failed=1
    grep -h -e 'fuzz_files.c:[0-9]*: ' -e SUMMARY -e 'runtime error' "$work/$target.log" | head -n 5
  fi
done
exit "$failed"
