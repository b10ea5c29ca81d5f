#!/bin/sh
# Installs bubblewrap for the sandbox, and says so. With the argument `tests` it also installs what the tests use: libfaketime
# to set the clock, script for a terminal, Chromium to open reports, shells, Redis and PostgreSQL to reach as services, and
# podman with runc for containers. It does so as root, or with `--sudo` through sudo; otherwise it prints the command to type
# and continues: tests then fail, or are skipped, with the reason. If CI is set and AppArmor does not let bubblewrap create
# namespaces (Ubuntu 23.10 and later), it also loads a profile that permits it.
set -eu

tests=no
sudo=no
for argument in "$@"; do
  case $argument in
    tests) tests=yes ;;
    --sudo) sudo=yes ;;
    *) echo "usage: sh scripts/install-bubblewrap.sh [--sudo] [tests]" >&2; exit 2 ;;
  esac
done

missing=''
command -v bwrap > /dev/null 2>&1 || missing=' bubblewrap'
[ $tests = no ] || ls /usr/lib/*/faketime/libfaketime.so.1 > /dev/null 2>&1 || missing="$missing libfaketime"
[ $tests = no ] || command -v script > /dev/null 2>&1 || missing="$missing bsdutils"
[ $tests = no ] || command -v chromium > /dev/null 2>&1 || command -v google-chrome > /dev/null 2>&1 ||
  missing="$missing chromium"
# Without these shells, their completion is not tested.
for shell in zsh fish; do
  [ $tests = no ] || command -v $shell > /dev/null 2>&1 || missing="$missing $shell"
done

[ $tests = no ] || command -v redis-server > /dev/null 2>&1 || missing="$missing redis-server"
[ $tests = no ] || ls /usr/lib/postgresql/*/bin/postgres > /dev/null 2>&1 || missing="$missing postgresql"
for program in podman runc; do
  [ $tests = no ] || command -v $program > /dev/null 2>&1 || missing="$missing $program"
done

as_root=''
may_install=yes
if [ "$(id -u)" -ne 0 ]; then
  as_root='sudo'
  may_install=$sudo
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
}
if [ -n "$missing" ]; then
  advice="Missing: sudo apt-get install -y$missing (or the equivalent on your system)."
  if [ "$may_install" = no ] || ! command -v apt-get > /dev/null 2>&1; then
    echo "$advice" >&2
  else
    echo "Installing with ${as_root:+$as_root }apt-get:$missing"
    if ! install > "$log" 2>&1; then
      tail -n 3 "$log" >&2
      echo "$advice" >&2
    fi
  fi
fi

command -v bwrap > /dev/null 2>&1 || exit 0
bwrap --unshare-all --ro-bind / / true > /dev/null 2>&1 && exit 0
[ "$(sysctl -n kernel.apparmor_restrict_unprivileged_userns 2> /dev/null || echo 0)" = 1 ] || exit 0
# A profile changes the machine's security rules, so on a machine that people work at, they decide.
if [ -z "${CI:-}" ] || [ "$may_install" = no ]; then
  echo "AppArmor does not let bubblewrap create namespaces: patchsmith doctor says how to fix it." >&2
  exit 0
fi
allow() {
  printf '%s\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }' |
    $as_root tee /etc/apparmor.d/bwrap && $as_root apparmor_parser -r /etc/apparmor.d/bwrap
}
echo "Loading an AppArmor profile that lets /usr/bin/bwrap create namespaces: /etc/apparmor.d/bwrap"
allow > "$log" 2>&1 || tail -n 3 "$log" >&2
