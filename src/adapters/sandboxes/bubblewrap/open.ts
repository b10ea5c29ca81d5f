/** Opens a bubblewrap sandbox: examines the machine, decides what commands see of it, and has the result proven. */

import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { arch } from 'node:process';
import { setImmediate } from 'node:timers/promises';
import { isWithin } from '../../../domain/changes/path.ts';
import { listed } from '../../../domain/text/words.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { enforcedLimits, processNumbers } from '../command/limits.ts';
import { OutputPipes } from '../command/output-pipe.ts';
import { findProgram, findShell } from '../command/shell.ts';
import { statOf } from '../host-files.ts';
import { findLauncher, whyNoLauncher } from '../launched.ts';
import { CACHES_INSIDE, HOME_INSIDE, type Mount, oursInside } from '../mount.ts';
import { type OpenedSandbox, ownFolder, type SandboxOptions, type ShownPlace } from '../options.ts';
import { examine, variablesOf } from '../view.ts';
import { GIT_CONFIG_INSIDE } from '../visible/etc-folder.ts';
import { mountsOf } from './mounts.ts';
import { coversOf } from './nested-covers.ts';
import { pinMounts } from './pinned-mounts.ts';
import { prove } from './probe.ts';
import { tunnelProgram } from './proxy-clients.ts';
import { type BubblewrapSetup, FIRST_OPEN_PORT, type KernelSetting, PID_MAX } from './start.ts';

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
  if (statOf(dotGit)?.isSymbolicLink())
    return {
      status: 'unavailable',
      reason: `${dotGit} is a symbolic link: the sandbox cannot cover it. Make it a folder, or a file that says gitdir.`,
    };
  const files = await ownFolder(options);
  const pipes = new OutputPipes(files);
  const opened = await openIn(options, { program, launcher, files, pipes });
  if (opened.status !== 'ok') pipes.close();
  return opened;
}

/** Sets the sandbox up, and has it proven. */
async function openIn(
  options: SandboxOptions,
  own: Pick<BubblewrapSetup, 'program' | 'launcher' | 'files' | 'pipes'>,
): Promise<OpenedSandbox> {
  const { root, shownAs = root, folder = '', sandboxGitDir, network = null, limits } = options;
  const { files, launcher } = own;
  const view = await examine(options, files);
  if (view.status === 'refused') return view;
  const { caches } = view;
  const { mounts, variables } = await mountsOf(options, view, files);
  const shell = findShell();
  const closed = await closedCopies({ init: launcher, shell }, files);
  const pinned = pinMounts(
    [closed.mount, ...(network ? [await tunnelProgram(files)] : []), ...mounts],
    [join(root, '.git'), dirname(sandboxGitDir.objects)],
  );
  if (pinned.status === 'refused') return pinned;
  const { pins } = pinned;
  const setup = {
    ...{ ...own, shell, closed, folder, pins, network },
    directory: shownAs,
    covers: await coversOf(options, files),
    env: {
      ...variablesOf(options, view, { home: HOME_INSIDE, gitConfig: GIT_CONFIG_INSIDE }),
      ...variables,
    },
    writable: [root, sandboxGitDir.gitDir, ...(caches.mounts.length > 0 ? [files] : [])],
  };
  const proving = prove(setup, { settings: await settingsIn(files, options), limits });
  // It may fail at once, as when a run that was cut short has removed the sandbox's folder.
  proving.catch(() => undefined);
  // By then the command is running.
  await setImmediate();
  options.onProving?.();
  const proven = await proving;
  if (proven.status !== 'ok') {
    pins.close();
    return proven;
  }
  const { sandbox, unfiltered, refused } = proven;
  const close = async () => {
    await sandbox.close().finally(caches.close);
    pins.close();
  };
  const warnings = [...view.warnings];
  const lacks = `no ${listed(refused, 3)}`;
  if (refused.length > 0 && options.leastLevel === 'namespaces') {
    await close();
    return {
      status: 'unavailable',
      reason: `Commands would have ${lacks} here (namespaces-lite), and --sandbox-level namespaces asks for more. ${WHOLE}`,
    };
  }
  if (refused.length > 0)
    warnings.push(
      warning(
        'WARN_SANDBOX_LITE',
        `This container gives commands ${lacks}: they can list the processes outside. The level is namespaces-lite. ${WHOLE}`,
      ),
    );
  if (unfiltered !== null) {
    const weaker = `The sandbox has no system call filter (${unfiltered}); its level is namespaces.`;
    warnings.push(warning('WARN_SANDBOX_UNFILTERED', weaker));
  }
  return {
    status: 'ok',
    sandbox: { ...sandbox, close },
    warnings,
    shown: [...shownPlaces(mounts, [files, sandboxGitDir.gitDir]), ...caches.shown],
    refused:
      refused.length === 0
        ? []
        : [{ levels: ['namespaces'], reason: `It gives commands ${lacks}. ${WHOLE}` }],
  };
}

const WHOLE = 'A container started with --security-opt systempaths=unconfined gives all.';

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

/**
 * Process 1 of a sandbox and the shell that runs a script, as copies that can be executed but not read. When a process executes a file
 * that its user may not read, the kernel makes it non-dumpable (`would_dump` in fs/exec.c), and then refuses ptrace, pidfd_getfd,
 * process_vm_readv, /proc/PID/mem and the like to everyone without CAP_SYS_PTRACE. Commands have no capabilities, not even root's.
 * Programs that the shell executes are ordinary processes again, so debuggers work on them.
 *
 * An attacker who controlled process 1 could outlive the command and forge its exit code; and the lines after a hostile program in the
 * same script must remain reliable.
 */
async function closedCopies(
  programs: { readonly init: string; readonly shell: string },
  files: string,
): Promise<BubblewrapSetup['closed'] & { mount: Mount }> {
  const folder = join(files, 'shells');
  await mkdir(folder, { mode: 0o755 });
  for (const [name, source] of Object.entries(programs)) {
    const copy = join(folder, name === 'init' ? name : basename(source));
    await copyFile(source, copy);
    await chmod(copy, 0o111);
  }
  const mount = oursInside(folder, 'shells');
  return { mount, init: join(mount.at, 'init'), shell: join(mount.at, basename(programs.shell)) };
}
