/** Opens a bubblewrap sandbox: examines the machine, decides what commands see of it, and has the result proven. */

import { stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { arch, execPath, getuid } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { isWithin } from '../../../domain/changes/path.ts';
import { listed } from '../../../domain/text/words.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import type { CacheSurroundings, CachesResult } from '../caches/open-caches.ts';
import { enforcedLimits, processNumbers } from '../command/limits.ts';
import { OutputPipes } from '../command/output-pipe.ts';
import { findProgram } from '../command/shell.ts';
import { realPathOf, statOf } from '../host-files.ts';
import { findLauncher, whyNoLauncher } from '../launcher.ts';
import { type OpenedSandbox, ownFolder, type SandboxOptions, type ShownPlace } from '../options.ts';
import { findToolchains, searchPath } from '../visible/toolchains.ts';
import { userMounts } from '../visible/user-mounts.ts';
import { FIRST_OPEN_PORT, type KernelSetting, type Mount, PID_MAX } from './args.ts';
import { CACHES_INSIDE, HOME_INSIDE, type MachineView } from './mounts.ts';
import { prove } from './probe.ts';
import { type SandboxPlace, setupFor } from './setup.ts';

/** A sandbox by bubblewrap, or what prevents it and how to fix that. */
export async function openBubblewrap(options: SandboxOptions): Promise<OpenedSandbox> {
  const launcher = findLauncher(arch);
  if (launcher === null) return { status: 'unavailable', reason: whyNoLauncher(arch) };
  const program = findProgram('bwrap');
  if (program === null) {
    const { NOT_INSTALLED } = await import('./unavailable.ts');
    return { status: 'unavailable', reason: NOT_INSTALLED };
  }
  const dotGit = join(options.root, '.git');
  if (isLink(dotGit))
    return {
      status: 'unavailable',
      reason: `${dotGit} is a symbolic link: the sandbox cannot cover it. Make it a folder, or a file that says gitdir.`,
    };
  const files = await ownFolder(options);
  const pipes = new OutputPipes(files);
  const seen = await examine(options, files);
  const opened =
    seen.status === 'refused' ? seen : await openIn(options, { program, files, pipes, launcher, ...seen });
  if (opened.status === 'ok') return opened;
  pipes.close();
  return opened;
}

/** What commands are to see of this machine, or which option asks for something that they may not. */
export async function examine(
  options: SandboxOptions,
  files: string,
): Promise<({ status: 'ok' } & MachineView) | { status: 'refused'; reason: string }> {
  const boundaries = boundariesOf(options);
  const rules = { ...boundaries, programs: bothNames(searchPath(options.hostEnv)) };
  const added = userMounts(options.mounts ?? [], rules);
  if (added.status === 'refused') return { status: 'refused', reason: added.problem };
  const writable = added.mounts.flatMap((mount) => (mount.writable ? [mount.at, mount.source] : []));
  const toolchains = findToolchains({
    env: options.hostEnv,
    execPath,
    // What commands can write to needs no mount of its own, and no link in it decides what they see.
    boundaries: { ...boundaries, roots: [...boundaries.roots, ...writable] },
  });
  const opened = await cachesOf(options, { rules, added: added.mounts, folder: join(files, 'caches') });
  if (opened.status === 'refused') return opened;
  return { status: 'ok', homes: boundaries.homes, toolchains, added: added.mounts, caches: opened.caches };
}

/** Sets the sandbox up, and has it proven. */
async function openIn(options: SandboxOptions, place: SandboxPlace): Promise<OpenedSandbox> {
  const { caches, homes, files } = place;
  const made = await setupFor(options, place);
  if (made.status === 'refused') return made;
  const { setup, mounts } = made;
  const warnings = [...caches.warnings, ...(await warningsAbout(options.root, homes))];
  const shown = [...shownPlaces(mounts, [files, options.sandboxGitDir.gitDir]), ...caches.shown];
  const proving = prove(setup, { settings: await settingsIn(files, options), limits: options.limits });
  // It may fail at once, as when a run that was cut short has removed the sandbox's folder.
  proving.catch(() => undefined);
  // By then the command is running.
  await setImmediate();
  options.onProving?.();
  const proven = await proving;
  if (proven.status !== 'ok') {
    setup.pins.close();
    return proven;
  }
  const { sandbox, unfiltered, refused } = proven;
  if (refused.length > 0 && options.leastLevel === 'namespaces') {
    await sandbox.close();
    setup.pins.close();
    return {
      status: 'unavailable',
      reason: `Commands would have no ${listed(refused, 3)} here (namespaces-lite), and --sandbox-level namespaces asks for more. ${WHOLE}`,
    };
  }
  if (refused.length > 0)
    warnings.push(
      warning(
        'WARN_SANDBOX_LITE',
        `This container gives commands no ${listed(refused, 3)}: they can list the processes outside. The level is namespaces-lite. ${WHOLE}`,
      ),
    );
  if (unfiltered !== null) {
    const weaker = `The sandbox has no system call filter (${unfiltered}); its level is namespaces.`;
    warnings.push(warning('WARN_SANDBOX_UNFILTERED', weaker));
  }
  const close = async () => {
    await sandbox.close().finally(caches.close);
    setup.pins.close();
  };
  const lacking =
    refused.length === 0
      ? []
      : [{ levels: ['namespaces'], reason: `It gives commands no ${listed(refused, 3)}. ${WHOLE}` }];
  return { status: 'ok', sandbox: { ...sandbox, close }, warnings, shown, refused: lacking };
}

const WHOLE = 'A container started with --security-opt systempaths=unconfined gives all.';

const NO_CACHES = { mounts: [], variables: {}, shown: [], warnings: [], close: async () => undefined };

/** Loaded only when needed. */
async function cachesOf(
  { caches: wanted, hostEnv, network, isNetworkClosed }: SandboxOptions,
  places: Pick<CacheSurroundings, 'rules' | 'added' | 'folder'>,
): Promise<CachesResult> {
  if (wanted === undefined) return { status: 'ok', caches: NO_CACHES };
  const { openCaches } = await import('../caches/open-caches.ts');
  const isOffline = isNetworkClosed ?? !network;
  return openCaches({ ...places, wanted, isOffline, hostEnv, home: HOME_INSIDE, shownAt: CACHES_INSIDE });
}

/** What sandboxes are to have in place of the machine's settings. */
async function settingsIn(files: string, { limits, network }: SandboxOptions): Promise<KernelSetting[]> {
  const numbers = processNumbers(enforcedLimits(limits, true));
  const wanted = [
    ...(numbers === null ? [] : ([[PID_MAX, `${numbers}`]] as const)),
    ...(network ? ([[FIRST_OPEN_PORT, '0']] as const) : []),
  ];
  const settings = wanted.map(([name, value]) => ({ name, value, path: join(files, basename(name)) }));
  for (const { path, value } of settings) await writeFile(path, value, { mode: 0o600 });
  return settings;
}

/** What commands may not see, or see anyway. */
export function boundariesOf({ root, shownAs = root, sandboxGitDir, hostEnv, scratchDir }: SandboxOptions) {
  const homes = bothNames(hostEnv.HOME === undefined ? [] : [hostEnv.HOME]);
  return {
    homes,
    roots: bothNames([root, shownAs]),
    offLimits: bothNames([scratchDir, sandboxGitDir.gitDir, dirname(sandboxGitDir.objects)]),
  };
}

/** Places of the machine, without the single files of our own and of /etc. */
function shownPlaces(mounts: readonly Mount[], ours: readonly string[]): ShownPlace[] {
  return mounts.flatMap((mount) => {
    if (mount.kind !== 'read-only' && mount.kind !== 'read-write') return [];
    const isOurs = ours.some((place) => isWithin(mount.source, place));
    return isOurs || [CACHES_INSIDE, '/etc'].some((place) => isWithin(mount.at, place))
      ? []
      : [{ path: mount.at, writable: mount.kind === 'read-write' }];
  });
}

/** What is unusual about this work tree. */
export async function warningsAbout(root: string, homes: readonly string[]): Promise<Warning[]> {
  const warnings: Warning[] = [];
  const { uid } = await stat(root);
  if (getuid?.() === 0 && uid !== 0) {
    warnings.push(
      warning(
        'WARN_TREE_OF_OTHERS',
        `The work tree belongs to user ${uid}: commands run as root without root's privileges, so they may be unable to write there.`,
      ),
    );
  }
  if (bothNames([root]).some((path) => homes.includes(path))) {
    warnings.push(
      warning('WARN_TREE_IS_HOME', 'The work tree is the home folder: commands can read everything in it.'),
    );
  }
  return warnings;
}

/** Each path as given and as resolved. */
function bothNames(paths: readonly string[]): string[] {
  const resolved = paths.map(realPathOf);
  return [...new Set([...paths, ...resolved.filter((path) => path !== null)])];
}

function isLink(path: string): boolean {
  return statOf(path)?.isSymbolicLink() ?? false;
}
