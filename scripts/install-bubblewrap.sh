#!/bin/sh
# Installs bubblewrap, which the sandbox and its tests need, and libfaketime, with which tests set the clock, where that can be
# done without asking anybody. Otherwise it says what to type and lets go on: tests then fail, or are skipped, with the reason.
set -eu

missing=''
command -v bwrap > /dev/null 2>&1 || missing='bubblewrap'
ls /usr/lib/*/faketime/libfaketime.so.1 > /dev/null 2>&1 || missing="$missing libfaketime"
[ -n "$missing" ] || exit 0

advice="For the tests: sudo apt-get install -y $missing (or the like of your system)."
as_root=''
if [ "$(id -u)" -ne 0 ]; then
  if ! sudo -n true > /dev/null 2>&1; then
    echo "$advice" >&2
    exit 0
  fi
  as_root='sudo -n'
fi
if ! command -v apt-get > /dev/null 2>&1; then
  echo "$advice" >&2
  exit 0
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
if ! install > "$log" 2>&1; then
  tail -n 3 "$log" >&2
  echo "$advice" >&2
fi
