#!/bin/sh
# Installs bubblewrap, which the sandbox and its tests need, and for `tests` libfaketime, with which they set the clock, script,
# which gives them a terminal, and Chromium, in which they open reports, where that can be done without asking anybody. Where CI
# is set and AppArmor keeps bubblewrap from making namespaces (Ubuntu 23.10 and later), it also loads a profile that lets it.
# Otherwise it says what to type and lets go on: tests then fail, or are skipped, with the reason.
set -eu

missing=''
command -v bwrap > /dev/null 2>&1 || missing='bubblewrap'
[ "${1:-}" != tests ] || ls /usr/lib/*/faketime/libfaketime.so.1 > /dev/null 2>&1 || missing="$missing libfaketime"
[ "${1:-}" != tests ] || command -v script > /dev/null 2>&1 || missing="$missing bsdutils"
[ "${1:-}" != tests ] || command -v chromium > /dev/null 2>&1 || command -v google-chrome > /dev/null 2>&1 ||
  missing="$missing chromium"
# Without them the completion of these shells goes untested.
for shell in zsh fish; do
  [ "${1:-}" != tests ] || command -v $shell > /dev/null 2>&1 || missing="$missing $shell"
done

as_root=''
may_install=yes
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo -n'
  sudo -n true > /dev/null 2>&1 || may_install=no
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
if [ -n "$missing" ]; then
  advice="Missing: sudo apt-get install -y $missing (or the like of your system)."
  if [ "$may_install" = no ] || ! command -v apt-get > /dev/null 2>&1; then
    echo "$advice" >&2
  elif ! install > "$log" 2>&1; then
    tail -n 3 "$log" >&2
    echo "$advice" >&2
  fi
fi

command -v bwrap > /dev/null 2>&1 || exit 0
bwrap --unshare-all --ro-bind / / true > /dev/null 2>&1 && exit 0
[ "$(sysctl -n kernel.apparmor_restrict_unprivileged_userns 2> /dev/null || echo 0)" = 1 ] || exit 0
# A profile is a change to the machine's rules: on a machine that somebody works at, it is theirs to make.
if [ -z "${CI:-}" ] || [ "$may_install" = no ]; then
  echo "AppArmor keeps bubblewrap from making namespaces: patchsmith doctor says how to fix it." >&2
  exit 0
fi
allow() {
  printf '%s\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' |
    $as_root tee /etc/apparmor.d/bwrap && $as_root apparmor_parser -r /etc/apparmor.d/bwrap
}
allow > "$log" 2>&1 || tail -n 3 "$log" >&2
