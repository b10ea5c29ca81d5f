import { getuid } from 'node:process';

/**
 * A command line to be put before another, which then finds `folder`, with all that is in it, on a disk of its own of so many
 * bytes: others who write at the same time take nothing of it. The disk is a tmpfs that no process outside sees, gone with
 * the last one inside. Only what has become of `folder/kept` is put back. `spare` is an empty folder elsewhere.
 */
export function onOwnDisk(folder: string, kept: string, spare: string, bytes: number): string[] {
  return [
    'bwrap',
    ...['--dev-bind', '/', '/', '--bind', folder, spare],
    ...['--size', String(bytes), '--tmpfs', folder],
    // Otherwise root would be less inside than it is outside.
    ...(getuid?.() === 0 ? ['--cap-add', 'ALL'] : []),
    ...['--die-with-parent', '--', 'sh', '-c', ON_DISK, folder, spare, kept],
  ];
}

const ON_DISK = `
  spare=$1 kept=$2
  shift 2
  cp -a "$spare/." "$0" || exit 125
  "$@"
  status=$?
  cp -a "$0/$kept" "$spare/" || exit 125
  exit $status`;
