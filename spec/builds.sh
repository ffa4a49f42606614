#!/bin/sh
# builds.sh: builds with each of COMPILERS (gcc, clang) at each of OPTIMISATIONS (-O0, -O3), runs the specs under nslua on each
# build, and prints a table. HOSTS and SPECS are those of run.sh; by default specs that start processes are left out.
# Fails when a build fails or warns, or a spec fails.
specs=${SPECS:-$(find spec -name '*_spec.lua' | grep -v -e '^spec/scripts/' -e '^spec/robust/' | tr '\n' ' ')}
table=$(mktemp)
trap 'rm -f "$table"' EXIT
failed=0
for compiler in ${COMPILERS:-gcc clang}; do
  command -v "$compiler" >/dev/null || { echo "$compiler: is not there" >>"$table"; failed=1; continue; }
  for level in ${OPTIMISATIONS:--O0 -O3}; do
    build=build-$compiler$level
    mkdir -p "$build"
    log=$build/build.log
    start=$(date +%s)
    result="no build"
    warnings=0
    echo "== $compiler $level"
    if make --no-print-directory BUILD="$build" CC="$compiler" OPT="$level -g" all >"$log" 2>&1; then
      warnings=$(grep -c 'warning:' "$log")
      result=$(HOSTS=${HOSTS:-nslua} SPECS="$specs" CC="$compiler" sh spec/run.sh "$build" | tee "$build/specs.log" | tail -n 1)
      grep -e '^Failure' -e '^Error' "$build/specs.log"
    else
      tail -n 20 "$log"
    fi
    case $result in *' 0 failed') ;; *) failed=1 ;; esac
    [ "$warnings" -eq 0 ] || failed=1
    printf '%-8s %-5s %2d warnings  %-28s %5d s\n' "$compiler" "$level" "$warnings" "$result" $(($(date +%s) - start)) >>"$table"
  done
done
echo
cat "$table"
exit "$failed"
