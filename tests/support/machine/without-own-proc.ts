/**
 * A command line to be put before another, which then runs as in a container of podman or Docker that may make namespaces: a part
 * of `/proc` is covered, so that the kernel gives nothing inside a `/proc` of its own, and its settings are read-only. Needs root.
 */
export const WITHOUT_OWN_PROC: readonly string[] = [
  ...['unshare', '--mount', '--propagation', 'private', 'sh', '-c'],
  'mount -t tmpfs none /proc/fs && mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && exec "$@"',
  'sh',
];
