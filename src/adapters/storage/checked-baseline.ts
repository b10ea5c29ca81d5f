/**
 * How the verify commands ended in a check, kept for a run that begins with the same. It lies beside the run directories, where
 * commands in the sandbox see and write nothing.
 */

import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { CommandReport } from '../../domain/run/events.ts';
import { type Redact, redactedJson } from '../../domain/secrets/redact.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { placesOf } from './run-directory.ts';
import { jsonOf } from './run-file.ts';

/** Milliseconds after which a check is too old: what git ignores may have changed since. */
const MAX_AGE_MS = 3_600_000;
const MAX_BYTES = 4_000_000;

const CheckedBaseline = z.strictObject({
  version: z.literal(1),
  at: z.number(),
  reports: z.array(CommandReport),
});

/** Everything that has to be the same for the ends to hold. */
export interface BaselineKey {
  readonly [name: string]: unknown;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Replaces what an earlier check kept for the same. Where it cannot be kept, the run does the work again. */
export function keepBaseline(
  { env, key, now, redact }: { env: Env; key: BaselineKey; now: number; redact: Redact },
  reports: readonly CommandReport[],
): void {
  const path = placeOf(env, key);
  if (path === null) return;
  const temporary = `${path}.new`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    rmSync(temporary, { force: true });
    writeFileSync(temporary, redactedJson({ version: 1, at: now, reports }, redact), {
      flag: 'wx',
      mode: 0o600,
    });
    renameSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

/** What a check kept less than an hour ago; null where none did, or where it cannot be read. */
export function keptBaseline({
  env,
  key,
  now,
}: {
  env: Env;
  key: BaselineKey;
  now: number;
}): { at: number; reports: CommandReport[] } | null {
  const path = placeOf(env, key);
  const read = path === null ? null : readRegularFile(path, MAX_BYTES, { follow: false });
  if (read === null || read.status === 'failed') return null;
  const kept = CheckedBaseline.safeParse(jsonOf(read.bytes)).data;
  if (kept === undefined || kept.at > now || now - kept.at > MAX_AGE_MS) return null;
  return kept;
}

function placeOf(env: Env, key: BaselineKey): string | null {
  const [place] = placesOf('checks', env);
  return place === undefined ? null : join(place, `${sha256Of(Buffer.from(JSON.stringify(key)))}.json`);
}
