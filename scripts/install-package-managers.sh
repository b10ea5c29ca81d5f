#!/bin/sh
# Installs, on a runner of CI, the package managers whose recipes the full suite carries out (docs/sandbox.md) and the runner
# lacks. Maven's plugins come as packages too: the suite has them from a repository of its own.
set -eu

as_root=''
[ "$(id -u)" -eq 0 ] || as_root='sudo -n'

command -v pnpm > /dev/null 2>&1 || npm install --global pnpm@9.15.9
command -v yarn > /dev/null 2>&1 || npm install --global yarn@1.22.22
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends golang-go python3-pip ruby-bundler \
  maven junit4 libmaven-compiler-plugin-java libmaven-resources-plugin-java libsurefire-java
