/** What a sandboxed command sees of the machine, in mount order. */

import { readlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { getgid, getuid } from 'node:process';
import { isWithin } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/thrown.ts';
import { readRegularFile } from '../../../files/regular-file.ts';
import type { SandboxGitDir } from '../../../ports/workspace.ts';
import { realPathOf, statOf } from '../host-files.ts';
import { HOME_INSIDE, type Mount, OURS_INSIDE } from '../mount.ts';
import type { SandboxOptions } from '../options.ts';
import type { MachineView } from '../view.ts';
import { gitConfig } from '../visible/environment.ts';
import { etcMounts } from '../visible/etc-folder.ts';
import { credentialFilesIn } from '../visible/toolchain-policy.ts';

/** Where the program is that ssh and git use for a tunnel. */
const TUNNEL_INSIDE = join(OURS_INSIDE, 'tunnel');

const MEBIBYTE = 1024 * 1024;

/** The mounts, and the variables that git needs in order to find what they show. `files` is a private folder for what is mounted. */
export async function mountsOf(
  { root, shownAs = root, sandboxGitDir, network }: SandboxOptions,
  { toolchains, added, caches }: MachineView,
  files: string,
): Promise<{ mounts: Mount[]; variables: Readonly<Record<string, string>> }> {
  const empty = await file(files, 'empty', '');
  const readable = added.filter(({ writable }) => !writable);
  const shown = ['/usr', '/usr/local', ...[...toolchains.mounts, ...readable].map((place) => place.at)];
  const git = await gitMounts(shownAs, sandboxGitDir, files);
  const tunnel = network ? TUNNEL_INSIDE : null;
  const etc = {
    files,
    gitConfig: gitConfig(shownAs, tunnel),
    services: (network?.services ?? []).map(({ name }) => name),
    tunnel,
    // The user namespace keeps the user and group ids.
    user: { uid: getuid?.() ?? 0, gid: getgid?.() ?? 0, home: HOME_INSIDE },
    later: [...toolchains.mounts, ...added],
  };
  const mounts: Mount[] = [
    ...(await systemMounts()),
    ...etcMounts(etc),
    { kind: 'processes', at: '/proc' },
    { kind: 'devices', at: '/dev' },
    { kind: 'scratch', at: '/dev/shm', bytes: 256 * MEBIBYTE },
    { kind: 'closed', at: '/dev' },
    { kind: 'scratch', at: '/tmp', bytes: 1024 * MEBIBYTE },
    { kind: 'scratch', at: HOME_INSIDE, bytes: 256 * MEBIBYTE },
    ...toolchains.mounts.map((place): Mount => ({ kind: 'read-only', ...place, optional: true })),
    // By the path that was given: what commands could replace of it counts, and another sandbox of the run follows it again.
    ...added.map(
      ({ at, writable }): Mount => ({
        kind: writable ? 'read-write' : 'read-only',
        source: at,
        at,
        namedBy: '--mount',
      }),
    ),
    ...caches.mounts,
    ...credentialFilesIn(shown).map((at): Mount => ({ kind: 'read-only', source: empty, at })),
    // After the scratch folders and toolchains, since the work tree may be below one of them.
    { kind: 'read-write', source: root, at: shownAs },
    ...git.mounts,
    // The directories bubblewrap creates by itself are in memory without a limit.
    { kind: 'closed', at: '/' },
  ];
  return { mounts, variables: git.variables };
}

async function systemMounts(): Promise<Mount[]> {
  const mounts: Mount[] = [{ kind: 'read-only', source: '/usr', at: '/usr' }];
  for (const at of ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']) {
    const stats = statOf(at);
    if (stats?.isSymbolicLink()) mounts.push({ kind: 'link', to: await readlink(at), at });
    else if (stats?.isDirectory()) mounts.push({ kind: 'read-only', source: at, at });
  }
  return mounts;
}

/**
 * Mounts the throwaway git dir over the real one. No mount point is in a folder that commands can write to: through a link
 * planted there, bubblewrap would follow the next command's mounts out of the tree.
 */
async function gitMounts(
  rootAt: string,
  sandboxGitDir: SandboxGitDir,
  files: string,
): Promise<{ mounts: Mount[]; variables: Record<string, string> }> {
  const dotGit = join(rootAt, '.git');
  const mounts: Mount[] = [];
  if (sandboxGitDir.dotGitIsFile) {
    const at = join(OURS_INSIDE, 'git');
    mounts.push({ kind: 'read-write', source: sandboxGitDir.gitDir, at });
    mounts.push({
      kind: 'read-only',
      source: await file(files, 'dot-git', `gitdir: ${at}\n`),
      at: dotGit,
    });
  } else {
    mounts.push({ kind: 'read-write', source: sandboxGitDir.gitDir, at: dotGit });
  }
  const hidden: string[] = [];
  for (const [index, store] of (await objectStores(sandboxGitDir.objects)).entries()) {
    // The throwaway covers a store below .git; git finds that one by the variable instead of the alternates file.
    const at = isWithin(store, rootAt) ? join(OURS_INSIDE, `objects-${index}`) : store;
    if (at !== store) hidden.push(at);
    const namedBy = 'named by objects/info/alternates of the repository';
    mounts.push({
      kind: 'read-only',
      source: store,
      at,
      optional: true,
      ...(index === 0 ? {} : { namedBy }),
    });
  }
  return {
    mounts,
    variables: hidden.length > 0 ? { GIT_ALTERNATE_OBJECT_DIRECTORIES: hidden.join(':') } : {},
  };
}

/** No real list of alternate stores is this long. */
const MAX_ALTERNATES_BYTES = 1024 * 1024;

/** The store and those it borrows from (`git clone --shared`), determined as git does. */
export async function objectStores(first: string): Promise<string[]> {
  const stores = new Set([first]);
  for (const store of stores) {
    const alternates = join(store, 'info/alternates');
    const read = readRegularFile(alternates, MAX_ALTERNATES_BYTES, { follow: true });
    if (read.status === 'failed' && !read.missing) throw new UnusableFile(alternates, read.why);
    for (const line of read.status === 'ok' ? read.bytes.toString('utf8').split('\n') : []) {
      if (line === '' || line.startsWith('#')) continue;
      const next = line.startsWith('/') ? line : join(store, line);
      // The file may come with the repository, and must not be a way to expose an arbitrary folder of the machine.
      if (basename(next) === 'objects' && basename(realPathOf(next) ?? next) === 'objects') stores.add(next);
    }
  }
  return [...stores];
}

async function file(files: string, name: string, text: string): Promise<string> {
  const path = join(files, name);
  await writeFile(path, text, { mode: 0o644 });
  return path;
}
