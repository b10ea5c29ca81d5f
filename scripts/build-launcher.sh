#!/bin/sh
# Builds the launcher of commands in sandboxes (native/launcher.c with what it includes) for both processors, into dist/launcher or the folder given.
# Debian 12 with gcc and gcc-aarch64-linux-gnu gives the same bytes each time. The hashes that it prints belong into
# src/adapters/sandboxes/launched.ts.
set -eu
cd "$(dirname "$0")/.."
to=${1:-dist/launcher}
mkdir -p "$to"
export SOURCE_DATE_EPOCH=0 LC_ALL=C
flags='-std=gnu11 -Os -static -nostdlib -ffreestanding -fno-builtin -fno-stack-protector -fno-pie -no-pie -fno-ident
  -fno-asynchronous-unwind-tables -fcf-protection=none -fomit-frame-pointer -Wall -Wextra -Werror
  -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,norelro -s'
for one in x64:x86_64-linux-gnu-gcc arm64:aarch64-linux-gnu-gcc; do
  # shellcheck disable=SC2086
  "${one#*:}" $flags "-ffile-prefix-map=$PWD=." -o "$to/linux-${one%%:*}" native/launcher.c
done
sha256sum "$to"/linux-*
