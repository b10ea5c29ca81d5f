/** The settings of the sandbox, for every way in which a run begins, and why it is not begun in what they come to. */

import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import { execPath } from 'node:process';
import { findProgram } from '../../adapters/sandboxes/command/shell.ts';
import { leadsInto, realPathOf, resolvePath } from '../../adapters/sandboxes/host-files.ts';
import type { OpenedSandbox, SandboxOptions } from '../../adapters/sandboxes/options.ts';
import { linkedOutOf } from '../../adapters/workspace/unwalked/hard-links.ts';
import type { Settings } from '../../config/schema.ts';
import { absolutePath, isWithin, quotedName } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';
import { LinkedOutside } from '../../domain/errors/thrown.ts';
import { managersOf } from '../../domain/packages.ts';
import { type Denial, deniedLinks } from '../../domain/review/denied.ts';
import { type RunOutcome, sandboxUnavailable, usageError } from '../../domain/run/outcome.ts';
import { withoutTail } from '../../domain/text/shorten.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { orNone } from '../../files/failures.ts';
import { encodeName } from '../../files/names.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { namesAtBase } from '../../git/revision.ts';
import type { Sandbox } from '../../ports.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';
import type { Trust } from '../trust/trust.ts';

/** Decided by the machine this process runs on, even for a resumed or replayed run. */
export function sandboxSettings({
  settings,
  env,
  cwd,
}: Pick<RunInput, 'settings' | 'env' | 'cwd'>): Pick<
  SandboxOptions,
  'hostEnv' | 'limits' | 'mounts' | 'leastLevel'
> {
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes } = settings;
  const mounts = settings.mounts.map((path) => absolutePath(cwd, path));
  const limits = { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes };
  return { hostEnv: env, mounts, limits, leastLevel: settings.sandboxLevel };
}

/** A command without a sandbox sees all processes of the machine, including this one. */
export function warnOfReadableSecrets(session: Session, { level }: Sandbox): void {
  if (level !== 'none' || session.input.secretsInProc !== true) return;
  session.warn(
    'WARN_KEY_IN_PROC',
    'The environment of this process cannot be cleared: commands can read the API key in /proc.',
  );
}

/** Why the run does not start: because of the machine or of the settings. */
export function notOpened({ status, reason }: Exclude<OpenedSandbox, { status: 'ok' }>): RunOutcome {
  return status === 'refused'
    ? usageError('ERR_SANDBOX_REFUSED', reason)
    : sandboxUnavailable('ERR_SANDBOX_UNAVAILABLE', reason);
}

/**
 * Nothing if none are asked for. `auto` goes by the files of the checked-out commit, which commands cannot have changed; null
 * for no checkout.
 */
export async function wantedCaches(
  { settings, env }: Pick<RunInput, 'settings' | 'env'>,
  checkout: Checkout | null,
  warn: (one: Warning) => void = () => undefined,
): Promise<Pick<SandboxOptions, 'caches'>> {
  if (settings.caches.length === 0) return {};
  const named = settings.caches.filter((manager) => manager !== 'auto');
  const isAuto = settings.caches.includes('auto');
  const found =
    isAuto && checkout !== null ? managersOf(await namesAtBase(checkout, [checkout.prefix], env)) : [];
  if (isAuto && checkout !== null && found.length + named.length === 0) {
    const where = checkout.prefix === '' ? 'the root' : `the root and ${checkout.prefix}`;
    warn(
      warning(
        'WARN_CACHE_MISSING',
        `--cache auto finds no lock file in ${where} of the commit that is checked out, so no cache is shown: name the package manager, as in --cache npm.`,
      ),
    );
  }
  return { caches: { named, found } };
}

/** Null when commands are contained or could gain nothing; otherwise why the run does not start. */
export function whyNotUncontained(trust: Trust | undefined, { level }: Sandbox): RunOutcome | null {
  if (trust === undefined || level !== 'none') return null;
  // Also checked here because a replay passes no gate.
  if (trust.refusal !== null) return trust.refusal;
  if (trust.isOutsiders) {
    return usageError(
      'ERR_UNCONTAINED',
      "An outsider's code is checked out, and its commands would run without a sandbox. Set one up: patchsmith doctor says what is missing.",
    );
  }
  const { places } = trust.credentials;
  if (places.length === 0) return null;
  return usageError(
    'ERR_UNCONTAINED',
    `Commands run without a sandbox, and could read the credentials in git's configuration: ${listed(places, 1)}. Set persist-credentials: false for actions/checkout.`,
  );
}

/** A mount of `--mount PATH:rw`, as given. */
interface WritableMount {
  readonly asked: string;
  /** By its name, and without links. */
  readonly places: readonly string[];
}

/** The writable ones among the mounts of these settings. */
export function writableMounts({ mounts }: Pick<Settings, 'mounts'>): WritableMount[] {
  return mounts
    .filter((mount) => mount.endsWith(':rw'))
    .map((asked) => {
      const path = asked.slice(0, -':rw'.length);
      const named = path.slice(0, 1) + withoutTail(path.slice(1), '/');
      // A path that cannot be followed is refused as a mount, later and with its reason.
      return { asked, places: [...new Set([named, orNone(() => realpathSync(named)) ?? named])] };
    });
}

/** Variables that name one. `google-github-actions/auth` writes its file into the checkout. */
const VARIABLES = [
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GOOGLE_GHA_CREDS_PATH',
  'CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
];

interface ProcessPlace {
  readonly env: Environment;
  readonly cwd: string;
}

/** Which of these files lies below `root`, as a sentence; null when none does. Whole paths are hidden like secrets. */
export function whyLoginShown(root: string, { env, cwd }: ProcessPlace): string | null {
  for (const name of VARIABLES) {
    const value = env[name];
    const file = value ? orNone(() => realpathSync(resolve(cwd, value))) : null;
    if (file !== null && isWithin(file, root))
      return `The file of ${name} lies in the work tree (${relative(root, file)}), where the model and its commands can read it. Move it out, and let the variable name its new place.`;
  }
  return null;
}

/** A folder that commands can write to: as it was named, and without links. */
interface WritableFolder {
  readonly named: string;
  readonly real: string;
}

/** Those that `--mount PATH:rw` names. */
function writableFolders({ mounts = [] }: Pick<SandboxOptions, 'mounts'>): WritableFolder[] {
  const named = mounts.flatMap((mount) => (mount.endsWith(':rw') ? [mount.slice(0, -':rw'.length)] : []));
  return named.map(withRealPath);
}

function withRealPath(named: string): WritableFolder {
  return { named, real: realPathOf(named) ?? named };
}

/**
 * Why commands must not run in this work tree with these mounts, or null. A run loads parts of itself, and starts node, git and the
 * like outside of the sandbox while commands run: where these are in the work tree (`node_modules/patchsmith`,
 * `node_modules/node/bin/node`), or are found through a link in it, commands could put their own in the place.
 */
export function whyOwnProgramShown(root: string, options: Pick<SandboxOptions, 'mounts'>): string | null {
  const folders = [withRealPath(root), ...writableFolders(options)];
  const whyIn = (what: string, path: string, advice: string) => {
    const around = folders.find(({ real }) => leadsInto(real, path));
    return around && `${what} is in ${around.named} (${path}), where commands could change it. ${advice}`;
  };
  const itself = () =>
    whyIn(
      'patchsmith itself',
      import.meta.dirname,
      'Install it elsewhere, for example with npm install --global patchsmith.',
    );
  const starts = [execPath, ...STARTED.flatMap((name) => findProgram(name) ?? [])];
  const [started] = starts.flatMap(
    (path) => whyIn(`${basename(path)}, which patchsmith starts,`, path, 'Use one that is elsewhere.') ?? [],
  );
  return itself() ?? started ?? null;
}

/** Why nothing may be written to this path, or null: commands could lead, or have led, a link on the way to it anywhere. */
export function whyLedAstray(
  root: string,
  options: Pick<SandboxOptions, 'mounts'>,
  path: string,
): string | null {
  const links = resolvePath(dirname(path))?.links ?? [];
  const folders = [withRealPath(root), ...writableFolders(options)];
  const around = folders.find(({ real }) => links.some((link) => isWithin(link, real)));
  return around === undefined
    ? null
    : `The patch cannot be written to ${path}: a folder on the way is a link in ${around.named}, where commands could replace it. Name a path without it.`;
}

/** What is started outside of the sandbox besides node. */
const STARTED = ['bash', 'bwrap', 'cat', 'chmod', 'find', 'git', 'sh'];

/**
 * Hard links in what `--mount PATH:rw` shows, by their absolute paths, with when each was last changed. Those of the work tree are
 * replaced by copies, but a folder that the operator wants written to stays as it is: so the run warns before commands run.
 */
export async function mountedLinks(session: Session): Promise<Session['mountedLinks']> {
  const all = new Map<string, bigint>();
  for (const { named, real } of writableFolders(sandboxSettings(session.input))) {
    const warn = (text: string) => session.warn('WARN_HARD_LINKS_MOUNTED', text);
    try {
      const found = await linkedOutOf(real);
      const [first] = found.keys();
      if (first !== undefined)
        warn(
          `${pluralize(found.size, 'file')} of --mount ${named}:rw, such as ${quotedName(first)}, are hard links to files outside of it: a command that changes one changes those.`,
        );
      for (const [path, changed] of found) all.set(path, changed);
    } catch (error) {
      if (!(error instanceof LinkedOutside)) throw error;
      warn(
        `--mount ${named}:rw cannot be searched for hard links to files outside of it, which commands could change.`,
      );
    }
  }
  return all;
}

/** Those that are not as they were: one that is gone may have been changed before. */
export function changedLinks({ mountedLinks }: Session): Denial[] {
  const stateOf = (path: string) => orNone(() => lstatSync(encodeName(path), { bigint: true }));
  const changed = [...mountedLinks].filter(([path, before]) => stateOf(path)?.ctimeNs !== before);
  return deniedLinks(changed.map(([path]) => path));
}
