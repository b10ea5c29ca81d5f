/** bubblewrap's argument list. Pure: what is mounted where was decided before. */

import { join } from 'node:path';

/** The number of process ids in the pid namespace of the process that opens it. */
export const PID_MAX = 'sys/kernel/pid_max';
/** The first port of its network namespace that takes no capability to listen at. */
export const FIRST_OPEN_PORT = 'sys/net/ipv4/ip_unprivileged_port_start';

/** What a sandbox has in place of a setting of the machine's kernel. */
export interface KernelSetting {
  /** Below /proc. */
  readonly name: typeof PID_MAX | typeof FIRST_OPEN_PORT;
  readonly value: string;
  /** A file that contains the value. */
  readonly path: string;
}

/** Applied in order: a later mount covers an earlier one. */
export type Mount = Bind | OwnMount;

/** A place of the machine that commands see. */
export interface Bind {
  readonly kind: 'read-only' | 'read-write';
  readonly source: string;
  readonly at: string;
  /** Skipped if the source does not exist. */
  readonly optional?: boolean;
  /** What names the source, for messages. */
  readonly namedBy?: string;
}

/** A mount whose source was examined (`pinMounts`): a real path, and what was there. */
export type PinnedMount = OwnMount | (Bind & { readonly dev: bigint; readonly ino: bigint });

type OwnMount =
  | { kind: 'link'; to: string; at: string }
  | { kind: 'scratch'; at: string; bytes: number }
  | { kind: 'processes' | 'devices'; at: string }
  /** Makes `at` read-only, except for mounts below it. */
  | { kind: 'closed'; at: string };

/** What bubblewrap can do here: Ubuntu 22.04 still has 0.6, and containers refuse some of it. */
export interface BubblewrapFeatures {
  readonly disableUserns: boolean;
  readonly tmpfsSize: boolean;
  readonly hostname: boolean;
  /** Otherwise that of the machine is shown, read-only. Processes in it are of another user namespace, and closed. */
  readonly ownProc: boolean;
}

/** Everything that one call of bubblewrap is built from. */
export interface BubblewrapCall {
  readonly features: BubblewrapFeatures;
  readonly mounts: readonly PinnedMount[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
  /** The descriptor on which bubblewrap reports the process id of the namespace's init and the end of the command. */
  readonly statusFd: number;
  /** The descriptor from which bubblewrap reads more arguments; null for none. */
  readonly argsFd: number | null;
  /** The files below /proc that bubblewrap writes, and the descriptors from which it reads their texts. */
  readonly settings: readonly { readonly name: string; readonly fd: number }[];
  /** The command line of process 1. */
  readonly command: readonly string[];
}

/** The arguments of bubblewrap for one command. Everything that is not mounted here does not exist inside. */
export function bubblewrapArgs({
  features,
  mounts,
  env,
  directory,
  statusFd,
  argsFd,
  settings,
  command,
}: BubblewrapCall): string[] {
  return [
    // This includes the network: the namespace has only its own loopback interface.
    ...['--unshare-all', '--unshare-user'],
    ...(features.disableUserns ? ['--disable-userns'] : []),
    // The command line given here is the namespace's init: the kernel ends everything with it, and its exit code is bubblewrap's.
    '--as-pid-1',
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(features.hostname ? ['--hostname', 'sandbox'] : []),
    '--clearenv',
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
    ...(argsFd === null ? [] : ['--args', String(argsFd)]),
    ...mounts.flatMap((mount) => mountArgs(mount, features, settings)),
    ...['--chdir', directory, '--json-status-fd', String(statusFd)],
    '--',
    ...command,
  ];
}

function mountArgs(
  mount: PinnedMount,
  features: BubblewrapFeatures,
  settings: BubblewrapCall['settings'],
): string[] {
  switch (mount.kind) {
    case 'read-only':
      return ['--ro-bind', mount.source, mount.at];
    case 'read-write':
      return ['--bind', mount.source, mount.at];
    case 'link':
      return ['--symlink', mount.to, mount.at];
    case 'scratch':
      return [...(features.tmpfsSize ? ['--size', String(mount.bytes)] : []), '--tmpfs', mount.at];
    case 'processes':
      if (!features.ownProc) return ['--ro-bind', '/proc', mount.at];
      // Read-only as a whole: for root, bubblewrap 0.8 leaves /proc/sys/kernel/core_pattern and similar files writable.
      return [
        ...['--proc', mount.at],
        ...settings.flatMap(({ name, fd }) => ['--file', String(fd), join(mount.at, name)]),
        ...['--remount-ro', mount.at],
      ];
    case 'devices':
      return ['--dev', mount.at];
    case 'closed':
      return ['--remount-ro', mount.at];
  }
}
