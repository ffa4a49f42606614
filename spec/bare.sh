#!/bin/sh
# bare.sh [PACKAGES...]: the README's two commands, `make demo` and `make test`, on Debian machines that hold make, git and the packages
# that are named, and nothing else. Each argument is one machine: a list of packages, "" for none; without arguments one bare machine.
#
# A machine is a directory that mmdebstrap fills from the package sources of this one; the commands run in it by chroot, on a clone of
# HEAD. It takes three to seven minutes each on two cores. TARGETS=demo runs only that one, LIMIT (1200) is the time in seconds after which
# a command is ended, KEEP=1 leaves the directory.
# Where this can't be done (no root, no Debian, packages that can't be fetched) it says so and ends with success: nothing was tested.
set -u
cd "$(dirname "$0")/.." || exit 1

skip() {
  echo "bare.sh: skipped: $1"
  exit 0
}
[ "$(id -u)" = 0 ] || skip "only root can make a machine and enter it"
command -v apt-get >/dev/null || skip "this is no Debian system"
# shellcheck source=/dev/null
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
[ -n "$codename" ] || skip "/etc/os-release names no release"
git rev-parse HEAD >/dev/null 2>&1 || skip "this is no checkout of git"
[ -z "$(git status --porcelain)" ] || echo "bare.sh: changes that are not committed are left out"

# What apt says, in lines of its own, when packages can't be fetched, which is no defect of nslua.
unreachable='^[EW]: (Failed|Unable) to fetch |^[EW]: .*(Could not (connect|resolve)|Temporary failure|Connection (timed out|failed)|Unable to connect)'

# Runs a command, and again after 20 s and a minute where packages could not be fetched. Its output goes to $log.
try() {
  "$@" >"$log" 2>&1 </dev/null && return
  for wait in 20 60; do
    grep -qE "$unreachable" "$log" || return 1
    sleep $wait
    "$@" >"$log" 2>&1 </dev/null && return
  done
  return 1
}

log=$(mktemp) || exit 1
root=
leave() {
  if [ -n "$root" ]; then
    for process in /proc/[0-9]*; do # what still runs in the machine ends with it
      [ "$(readlink "$process/root")" = "$root" ] && kill -KILL "${process#/proc/}"
    done
    for place in dev/pts dev sys proc; do umount -l "$root/$place" 2>/dev/null; done
    if [ -n "${KEEP:-}" ]; then echo "bare.sh: the machine is in $root"; else rm -rf --one-file-system "$root"; fi
  fi
  root=
}
trap 'leave; rm -f "$log"' EXIT
trap 'exit 1' INT TERM HUP

if ! command -v mmdebstrap >/dev/null; then
  try apt-get update || skip "the lists of packages can't be fetched"
  try apt-get install -y --no-install-recommends mmdebstrap || skip "mmdebstrap can't be installed"
fi

# Fills $root; a failed try leaves nothing that the next one would stumble over.
make_root() {
  rm -rf --one-file-system "$root"
  mkdir -m 755 "$root" || return 1
  # shellcheck disable=SC2086
  mmdebstrap --quiet --variant=minbase --include="make,git,ca-certificates$include" "$codename" "$root" $sources
}

# Runs a command on the machine, in the clone, with an environment of its own.
on_machine() {
  timeout -k 10 "${LIMIT:-1200}" chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=xterm \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} sh -c "cd /root/nslua && $1"
}

sources=$(ls /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null)
[ $# -gt 0 ] || set -- ""
for packages in "$@"; do
  root=$(mktemp -d "${TMPDIR:-/tmp}/nslua-bare.XXXXXX") || exit 1
  # shellcheck disable=SC2086
  include=$(printf ',%s' $packages)
  include=${include%,}
  echo "== a machine with make, git${include:+ and $packages}"
  if ! try make_root; then
    cat "$log"
    skip "the machine can't be made"
  fi
  for part in sources.list sources.list.d apt.conf.d auth.conf.d; do
    if [ -e "/etc/apt/$part" ]; then cp -R "/etc/apt/$part" "$root/etc/apt/"; fi
  done
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp -R /etc/ssl/certs/. "$root/etc/ssl/certs/"
  for place in proc sys dev dev/pts; do mount --bind "/$place" "$root/$place" || exit 1; done
  git clone -q . "$root/root/nslua" || exit 1
  for target in ${TARGETS:-demo test}; do
    command="make $target"
    start=$(date +%s)
    if try on_machine "$command"; then
      tail -n 2 "$log"
      echo "$command: passed, $(($(date +%s) - start)) s"
    elif grep -qE "$unreachable" "$log"; then
      tail -n 5 "$log"
      skip "packages can't be fetched"
    else
      grep -E -A 6 '^(Failure|Error) ->' "$log"
      tail -n 15 "$log"
      echo "$command: FAILED, $(($(date +%s) - start)) s"
      exit 1
    fi
  done
  leave
done
