import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { temporaryFolder } from '../files/repository.ts';
import { CLI } from '../runs/cli.ts';

/** One that sees the files of this machine, writes to none of them but temporary ones, and shares its network. */
const CONTAINER: readonly string[] = [
  ...['podman', '--runtime', 'runc', 'run', '--rm', '--env-host', '--network', 'host'],
  // As few as a machine without CAP_SYS_RESOURCE can give.
  ...['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024'],
  ...['--volume', `${tmpdir()}:${tmpdir()}`, '--volume', `${dirname(CLI)}:/opt/patchsmith:ro`],
];
/** The built command there, where every user may read it. */
export const CLI_INSIDE = '/opt/patchsmith/cli.js';
const FILES = ['--rootfs', '/:O'];

/** A command line in a container that is started with these options. */
export const inContainer = (options: readonly string[]): readonly string[] => [
  ...CONTAINER,
  ...options,
  ...FILES,
];

/** Why there are no containers here; null if there are. */
export async function whyNoContainers(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'containers with these files take root';
  const [program = '', ...args] = [...inContainer([]), 'true'];
  const { exitCode, stderr, message } = await execa(program, args, { reject: false });
  return exitCode === 0 ? null : `podman with runc starts no container: ${stderr ?? message}`;
}

/** Docker's default, from that of podman: without CAP_SYS_ADMIN, there are no namespaces and no mounts. */
export function dockersProfile(): string {
  const profile = JSON.parse(readFileSync('/usr/share/containers/seccomp.json', 'utf8'));
  const always = profile.syscalls.filter(
    ({ action, includes }: Rule) => action === 'SCMP_ACT_ALLOW' && Object.keys(includes).length === 0,
  );
  for (const rule of always) rule.names = rule.names.filter((name: string) => !OF_ADMIN.has(name));
  const none = { comment: '', includes: {}, excludes: {} };
  const cloned = { index: 0, value: 0x7e020000, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' };
  profile.syscalls = [
    ...profile.syscalls.filter(({ names }: Rule) => names.length > 0),
    { ...none, names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [cloned] },
    { ...none, names: ['clone3'], action: 'SCMP_ACT_ERRNO', args: [], errnoRet: 38, errno: 'ENOSYS' },
  ];
  const file = join(temporaryFolder(), 'seccomp.json');
  writeFileSync(file, JSON.stringify(profile));
  return file;
}

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly includes: object;
}

const OF_ADMIN: ReadonlySet<string> = new Set([
  ...['clone', 'clone3', 'setns', 'unshare', 'mount', 'mount_setattr', 'move_mount', 'open_tree', 'umount'],
  ...['umount2', 'pivot_root', 'fsconfig', 'fsmount', 'fsopen', 'fspick', 'syslog'],
]);
