/**
 * Variables of `--setup-env`: credentials that setup commands get and no other command. No process with them is left when a
 * setup command has ended; what remains are files, and a run whose setup commands left the values in one does not begin.
 */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { MIN_SECRET_LENGTH, secretForms, secretsAmong } from '../../domain/secrets/redact.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import type { Sandbox } from '../../ports.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';
import { sandboxSettings } from './sandbox-settings.ts';

/** The variables with their values; empty without the setting. */
export function setupEnvOf({ settings, env }: Pick<RunInput, 'settings' | 'env'>): Record<string, string> {
  return Object.fromEntries(settings.setupEnv.map((name) => [name, env[name] ?? '']));
}

/** Why the variables cannot be given to these setup commands; null when they can, or when there are none. */
export function whyNoSetupEnv(
  { input }: Pick<Session, 'input'>,
  setup: readonly string[],
): RunOutcome | null {
  const { settings, trust } = input;
  const [name] = settings.setupEnv;
  if (name === undefined) return null;
  for (const [variable, value] of Object.entries(setupEnvOf(input))) {
    const isShort = value.length < MIN_SECRET_LENGTH;
    const why =
      value === ''
        ? 'is not set'
        : `has fewer than ${MIN_SECRET_LENGTH} characters, too few to be kept out of what is written`;
    if (isShort) return usageError('ERR_SETUP_ENV', sentence(`--setup-env ${variable}: the variable ${why}`));
  }
  if (trust?.isOutsiders)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: code of an outsider, or of a pull request that is continued, is checked out, and setup commands would hand the value to it.`,
    );
  if (settings.verifyIn === 'checkout' && setup.length > 0)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: with --verify-in checkout the setup commands run again, in a checkout that holds what the model wrote, and would hand the value to it. Use --verify-in worktree.`,
    );
  return null;
}

/** Null if the sandbox isolates the commands from each other. */
export function whyNotInSandbox(
  { input }: Pick<Session, 'input'>,
  { level }: Pick<Sandbox, 'level'>,
): RunOutcome | null {
  const [name] = input.settings.setupEnv;
  if (name === undefined || level !== 'none') return null;
  return usageError(
    'ERR_SETUP_ENV',
    `--setup-env ${name}: commands run without a sandbox, so the model's could read what setup commands leave anywhere. Set one up: patchsmith doctor says what is missing.`,
  );
}

/** File systems may lag behind the clock. */
const CLOCK_MS = 2_000;

/**
 * Where setup commands that began at `since` (milliseconds of the clock) have left one of the values, in words; null for
 * nowhere. Looks at all that outlives a setup command: the work tree, its throwaway git directory, writable mounts, and what is
 * written over caches.
 */
export async function whyLeft(session: Session, root: string, since: number): Promise<string | null> {
  const { input, directory, interrupt } = session;
  const secrets = Object.entries(setupEnvOf(input)).flatMap(([name, value]) => [
    value,
    ...secretsAmong({ [name]: value }),
  ]);
  const values = secretForms(secrets).map((form) => Buffer.from(form));
  if (values.length === 0) return null;
  const mounts = (sandboxSettings(input).mounts ?? []).filter((mount) => mount.endsWith(':rw'));
  const places = [
    { root, except: ['.git'] },
    ...(directory === null ? [] : [{ root: directory.sandboxGitDir }, ...cacheLayers(directory.scratch)]),
    ...mounts
      .map((mount) => ({ root: mount.slice(0, -':rw'.length) }))
      .filter((one) => !isWithin(one.root, root)),
  ];
  const { findValues } = await import('../../adapters/storage/find-values.ts');
  const found: string[] = [];
  const closed: string[] = [];
  for (const place of places) {
    const one = await findValues({ ...place, values, since: since - CLOCK_MS, signal: interrupt });
    const named = (path: string) => oneLine(place.root === root ? path : `${place.root}/${path}`, 200);
    found.push(...one.found.map(named));
    closed.push(...one.closed.map(named));
  }
  if (found.length > 0)
    return `Setup commands wrote a value of --setup-env to where the model's commands could read it: ${listed(found, 10)}. Write it below $HOME, which ends with each command, let the tool read the variable, or remove the file in the same command. It was left as it is.`;
  if (closed.length > 0)
    return `Setup commands closed what could hold a value of --setup-env: ${listed(closed, 5)}.`;
  return null;
}

/** Of the sandboxes of this run, where commands write over a cache of the machine. */
function cacheLayers(scratch: string): { root: string }[] {
  const sandboxes = readdirSync(scratch).filter((name) => name.startsWith('sandbox-'));
  return sandboxes
    .map((name) => ({ root: join(scratch, name, 'caches') }))
    .filter(({ root }) => existsSync(root));
}
