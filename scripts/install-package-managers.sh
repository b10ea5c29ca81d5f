# !/bin/sh On a CI runner, installs the package managers that the full suite needs for its recipes (docs/sandbox.md) and
# that are missing. Maven's plugins are installed as packages too: the suite serves them from a local repository.
set -eu

as_root=''
[ "$(id -u)" -eq 0 ] || as_root='sudo -n'

command -v pnpm > /dev/null 2>&1 || npm install --global pnpm@9.15.9
command -v yarn > /dev/null 2>&1 || npm install --global yarn@1.22.22
$as_root apt-get update -q
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends golang-go python3-pip ruby-bundler \
  maven gradle junit4 libmaven-compiler-plugin-java libmaven-resources-plugin-java libsurefire-java
