/**
 * What a check has done, kept for a run that starts with the same work. It is stored next to the run directories,
 * where sandboxed commands can neither see nor write anything.
 */

import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import * as z from 'zod';
import { isWithin } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';
import { CommandReport } from '../../domain/run/events.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { replaceFile } from '../../files/replace-file.ts';
import { CHECKS, nearestReal, placesOf } from './run-directory.ts';
import { jsonOf } from './run-file.ts';

/** Milliseconds after which a check is too old: things outside the checkout may have changed since. */
const MAX_AGE_MS = 3_600_000;
const MAX_BYTES = 4_000_000;

const CheckedWork = z.strictObject({
  version: z.literal(1),
  /** Unix time in milliseconds. */
  at: z.number(),
  /** Of the work tree as the check left it, by `folderState`. */
  state: z.string(),
  /** Null if part of what they did was lost when the check ended. */
  setup: z.array(CommandReport).nullable(),
  verify: z.array(CommandReport),
});
/** How the commands of a check ended, and in which state they left the work tree. */
export type CheckedWork = z.infer<typeof CheckedWork>;

/** Everything else that has to be the same for the result to apply. */
export interface CheckedWorkKey {
  /** The work tree, where commands can write anything. */
  readonly root: string | null;
  readonly [name: string]: unknown;
}

interface KeptWorkPlace {
  readonly env: Environment;
  readonly key: CheckedWorkKey;
}

/** Replaces what an earlier check kept for the same work. If it cannot be kept, the run does the work again. */
export function keepWork(
  place: KeptWorkPlace & { redact: Redact },
  work: Omit<CheckedWork, 'version'>,
): void {
  const path = pathOf(place);
  if (path === null) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (!isOurs(dirname(path))) return;
    removeOldWork(dirname(path), work.at);
    replaceFile(path, redactedJson({ version: 1, ...work }, place.redact));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** Removes what is too old for any run, and what a killed check left. */
export function removeOldWork(folder: string, now: number): void {
  for (const name of readdirSync(folder).filter((one) => /^[0-9a-f]{64}\.json(?:\.\d+\.new)?$/.test(one))) {
    const path = join(folder, name);
    const { mtimeMs = now } = lstatSync(path, { throwIfNoEntry: false }) ?? {};
    if (now - mtimeMs > MAX_AGE_MS) rmSync(path, { force: true });
  }
}

/** What a check kept less than an hour ago; null if none did, or if it cannot be read. */
export function keptWork({ now, ...place }: KeptWorkPlace & { now: number }): CheckedWork | null {
  const path = pathOf(place);
  const read =
    path === null || !isOurs(dirname(path)) ? null : readRegularFile(path, MAX_BYTES, { follow: false });
  if (read === null || read.status === 'failed') return null;
  const kept = CheckedWork.safeParse(jsonOf(read.bytes)).data;
  if (kept === undefined || kept.at > now || now - kept.at > MAX_AGE_MS) return null;
  return kept;
}

/** Whether no one else can have put anything into the folder. False for a folder that cannot be examined. */
function isOurs(folder: string): boolean {
  try {
    const { uid, mode } = lstatSync(folder);
    return uid === (getuid?.() ?? uid) && (mode & 0o022) === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** Also null if commands could write to it. */
function pathOf({ env, key }: KeptWorkPlace): string | null {
  const [place] = placesOf(CHECKS, env);
  const isInTree = key.root !== null && place !== undefined && isWithin(nearestReal(place), key.root);
  return place === undefined || isInTree ? null : join(place, `${sha256Of(JSON.stringify(key))}.json`);
}
