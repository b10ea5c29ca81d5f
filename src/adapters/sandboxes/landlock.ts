/** Opens a sandbox by Landlock, for containers that refuse namespaces, or says what prevents it and how to fix that. */

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { arch, pid } from 'node:process';
import { isWithin } from '../../domain/changes/path.ts';
import { shellWord } from '../../domain/shell-word.ts';
import { warning } from '../../domain/warnings/warning.ts';
import { PROXY_PORT } from './bubblewrap/listeners.ts';
import { objectStores } from './bubblewrap/mounts.ts';
import { pinMounts } from './bubblewrap/pinned-mounts.ts';
import { failureOf, filtersAssertion, forProbe } from './bubblewrap/probe.ts';
import { enforcedLimits } from './command/limits.ts';
import { OutputPipes } from './command/output-pipe.ts';
import { findShell } from './command/shell.ts';
import { entriesOf, readText, realPathOf, statOf } from './host-files.ts';
import {
  findLauncher,
  type LandlockRule,
  type LaunchedSetup,
  launchedSandbox,
  MAX_DOT_GIT_BYTES,
  type PutBackFile,
  whyNoLauncher,
} from './launched.ts';
import type { Mount } from './mount.ts';
import { type OpenedSandbox, ownFolder, type SandboxOptions } from './options.ts';
import { examine, type MachineView, variablesOf } from './view.ts';
import { gitConfig } from './visible/environment.ts';
import { ETC_FILES } from './visible/etc-folder.ts';
import { credentialFilesIn } from './visible/toolchain-policy.ts';

/** Opens a sandbox by Landlock; `above` says why no level above it is available. */
export async function openLandlock(options: SandboxOptions, above: string): Promise<OpenedSandbox> {
  const launcher = findLauncher(arch);
  if (launcher === null) return { status: 'unavailable', reason: whyNoLauncher(arch) };
  const obstacle = obstacleIn(options);
  if (obstacle !== null) return { status: 'unavailable', reason: obstacle };
  const { caches, ...withoutCaches } = options;
  const made = await ownFolder(options);
  // Sockets are compared by their paths without links.
  const files = realPathOf(made) ?? made;
  const view = await examine(withoutCaches, files);
  if (view.status === 'refused') return view;
  const pinned = await rulesFor(options, view);
  if (pinned.status === 'refused') return pinned;
  const config = join(files, 'gitconfig');
  await writeFile(config, gitConfig(options.root));
  const { root, folder = '', sandboxGitDir, network = null } = options;
  const setup: LaunchedSetup = {
    ...{ level: 'landlock', launcher, shell: findShell(), folder, network, files },
    root: realPathOf(root) ?? root,
    rules: [...pinned.rules, { kind: 'r', path: config }],
    kept: keptFiles(options),
    env: {
      ...variablesOf(options, view, { home: files, gitConfig: config }),
      GIT_DIR: sandboxGitDir.gitDir,
      GIT_WORK_TREE: root,
    },
    limits: enforcedLimits(options.limits, false),
    writable: [root, sandboxGitDir.gitDir, files],
    pipes: new OutputPipes(files),
  };
  const proving = whyUncontained(setup);
  options.onProving?.();
  const failure = await proving;
  if (failure !== null) {
    pinned.close();
    setup.pipes.close();
    return { status: 'unavailable', reason: `Landlock cannot contain commands here: ${failure}.` };
  }
  const sandbox = launchedSandbox(setup);
  const weaker = warning(
    'WARN_SANDBOX_LANDLOCK',
    `Commands are contained by Landlock alone: they see the names of all files and processes of this machine, and can change modes, owners and times of files that belong to their user. ${above}`,
  );
  const noCache = warning('WARN_CACHE_MISSING', '--cache auto has no effect at level landlock.');
  const places = [
    ...view.toolchains.mounts.map(({ at }) => ({ path: at, writable: false })),
    ...view.added.map(({ at, writable }) => ({ path: at, writable })),
  ];
  return {
    status: 'ok',
    sandbox: { ...sandbox, close: () => sandbox.close().finally(pinned.close) },
    warnings: [weaker, ...view.warnings, ...(caches?.found.length ? [noCache] : [])],
    shown: [{ path: '/usr', writable: false }, ...places, { path: root, writable: true }],
  };
}

/** Has the sandbox proven by one command that tries what it must not be able to do: null if every assertion held, or what went wrong. */
async function whyUncontained(setup: LaunchedSetup): Promise<string | null> {
  const { files, network, shell } = setup;
  const outsider = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
  await once(outsider, 'listening');
  const { port } = outsider.address() as AddressInfo;
  const connects = (to: number) => `${shellWord(shell)} -c ': < /dev/tcp/127.0.0.1/${to}' 2> /dev/null`;
  const ofBash = `
    read -r scope 2> /dev/null < /proc/sys/kernel/yama/ptrace_scope && [ "$scope" -gt 1 ] && fail "kernel.yama.ptrace_scope is $scope, and more than 1 keeps the broker from its work"
    if ${connects(port)}; then fail 'services of the machine can be reached'; fi
    ${network === null ? '' : `${connects(PROXY_PORT)} || fail 'the proxy cannot be reached'`}`;
  return failureOf(
    launchedSandbox(forProbe(setup)),
    `if kill -0 ${pid} 2> /dev/null; then fail 'processes outside can be signalled'; fi
    if (: < /proc/${pid}/environ) 2> /dev/null; then fail 'the runner can be read'; fi
    if (: < /proc/$PPID/environ) 2> /dev/null; then fail 'the launcher can be read'; fi
    if sh -c '(: < "/proc/$1/environ") 2> /dev/null' sh $$; then fail 'the shell of a command can be traced'; fi
    if (: > ${shellWord(`${dirname(files)}/.patchsmith-probe`)}) 2> /dev/null; then fail 'files outside the work tree can be written'; fi
    if (: < ${shellWord(files)}) 2> /dev/null; then fail 'the run directory can be read'; fi
    while read -r name value; do [ "$name" != NoNewPrivs: ] || [ "$value" = 1 ] || fail 'privileges can be gained'; done < /proc/self/status
    ${filtersAssertion(2)}
    ${shell.endsWith('bash') ? ofBash : ''}
    (: > "$TMPDIR/probe") || fail 'nothing can be written'`,
  ).finally(() => outsider.close());
}

/** What is asked for and takes a namespace, or the git dir where commands could reach it, and how to move it; null for neither. */
function obstacleIn({ root, sandboxGitDir, caches }: SandboxOptions): string | null {
  if (caches?.named.length) return '--cache needs namespaces, and Landlock has none.';
  const dotGit = join(root, '.git');
  const stats = statOf(dotGit);
  // A fresh checkout of our own has an empty one, as a place for a mount.
  if (stats === null || (stats.isDirectory() && entriesOf(dotGit)?.length === 0)) return null;
  const places = [dirname(sandboxGitDir.objects), sandboxGitDir.gitDir].map(
    (path) => realPathOf(path) ?? path,
  );
  if (stats.isFile() && !places.some((path) => isWithin(path, realPathOf(root) ?? root))) return null;
  const [at, outside] = [root, `${root}.git`].map(shellWord);
  const move = [
    `git -C ${at} init --separate-git-dir ${outside}`,
    `git --git-dir ${outside} config core.worktree ${at}`,
  ];
  // Submodules name their git dirs, which move along, by relative paths.
  const steps =
    statOf(join(dotGit, 'modules')) === null
      ? move
      : [`git -C ${at} submodule deinit --all`, ...move, `git -C ${at} submodule update --init --recursive`];
  return (
    `Landlock could contain commands here, but cannot hide ${dotGit} from them. Move the git dir out of the work tree, ` +
    `which leaves a file in its place: ${steps.join(' && ')}`
  );
}

/** What every `.git` that is a file says, that of the checkout and those of submodules, as it was before the first command. */
function keptFiles({ root, sandboxGitDir }: SandboxOptions): LaunchedSetup['kept'] {
  const known = new Map<string, PutBackFile | null>();
  return () => {
    const nested = sandboxGitDir.nested.flatMap(({ path, dotGit }) =>
      dotGit === 'file' ? [`${path}/.git`] : [],
    );
    return ['.git', ...nested].flatMap((path) => {
      // Decided before the first command: what is there later may be a command's.
      if (!known.has(path)) known.set(path, putBackFile(root, path));
      return known.get(path) ?? [];
    });
  };
}

function putBackFile(root: string, path: string): PutBackFile | null {
  const place = join(root, path);
  const stats = statOf(place);
  if (!stats?.isFile()) return null;
  const text = stats.size > MAX_DOT_GIT_BYTES ? null : readText(place);
  if (text === null || !/^gitdir: [^\0\r\n]+\n?$/.test(text))
    throw new Error(`${place} does not name a git dir.`);
  return { path, text };
}

/**
 * The places that commands may use, each examined once and known by its inode from then on. A rule takes nothing back: what is closed
 * must not be granted.
 */
async function rulesFor(
  { root, sandboxGitDir }: SandboxOptions,
  { toolchains, added }: Pick<MachineView, 'toolchains' | 'added'>,
): Promise<
  { status: 'ok'; rules: LandlockRule[]; close: () => void } | { status: 'refused'; reason: string }
> {
  const java = (entriesOf('/etc') ?? []).flatMap(({ name }) => (name.startsWith('java-') ? [name] : []));
  const readable = [...ETC_FILES, ...ETC_MORE, ...java].map((name) => join('/etc', name));
  const programs = [...SYSTEM, ...toolchains.mounts.map(({ at }) => at)];
  const secrets = credentialFilesIn(['/usr/local', ...programs, ...added.map(({ at }) => at)]);
  const places: WantedPlace[] = [
    ...programs.flatMap((path) => around(path, secrets)),
    ...[...readable, ...(await objectStores(sandboxGitDir.objects))].map(
      (path) => ['r', path, true] as const,
    ),
    ...added.flatMap(({ at, writable }): WantedPlace[] =>
      writable ? [['w', at, false]] : around(at, secrets),
    ),
    ['w', sandboxGitDir.gitDir, false],
    ['w', root, false],
  ];
  const kinds = new Map(places.map(([kind, path]) => [path, kind]));
  const mounts = places.map(
    ([kind, path, optional]): Mount => ({
      ...{ kind: kind === 'w' ? 'read-write' : 'read-only', source: path, at: path, optional },
    }),
  );
  const pinned = pinMounts(mounts, []);
  if (pinned.status === 'refused') return pinned;
  const rules = pinned.pins.mounts.flatMap((mount): LandlockRule[] => {
    const kind = kinds.get(mount.at);
    if (kind === undefined || !('dev' in mount)) return [];
    return [{ kind, path: mount.source, dev: mount.dev, ino: mount.ino }];
  });
  const devices = DEVICES.filter((path) => statOf(path)?.isCharacterDevice());
  return {
    status: 'ok',
    rules: [
      { kind: 'r', path: '/proc' },
      ...rules,
      ...devices.map((path): LandlockRule => ({ kind: 'd', path })),
    ],
    close: pinned.pins.close,
  };
}

type WantedPlace = readonly [kind: LandlockRule['kind'], path: string, isOptional: boolean];

/** A place without the files of tokens in it: only what is beside them may be read, since no rule takes something back. */
function around(place: string, secrets: readonly string[]): WantedPlace[] {
  if (secrets.includes(place)) return [];
  if (!secrets.some((path) => isWithin(path, place))) return [['x', place, true]];
  const entries = (entriesOf(place) ?? []).filter((entry) => entry.isDirectory() || entry.isFile());
  return [['l', place, true], ...entries.flatMap(({ name }) => around(join(place, name), secrets))];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Those for which the other sandboxes make files of their own. None holds a secret. */
const ETC_MORE = ['hosts', 'nsswitch.conf', 'passwd'];
const DEVICES = ['/dev/full', '/dev/null', '/dev/random', '/dev/urandom', '/dev/zero'];
