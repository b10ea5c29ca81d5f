/** Ignored files, which no run stores: those that a replay takes from the caller's checkout, and those that it lacks. */

import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { copyIgnored, ignoredAndMissing } from '../../adapters/workspace/kept/copy-ignored.ts';
import { isWithin, parseRepoPath, type RepoPath } from '../../domain/changes/path.ts';
import type { Session } from '../../engine/session.ts';
import { placeOfReplay } from './base.ts';

/** Paths relative to the root of the caller's checkout; both lists are empty if there is none. */
export interface BroughtFiles {
  readonly copied: readonly string[];
  /** Entries at its top that the base ignores and the copy does not have. */
  readonly lacked: readonly string[];
}

/** Copies what `--copy-ignored` names from the checkout of the current folder into the copy of the base. */
export async function bringIgnored(
  { input, interrupt }: Pick<Session, 'input' | 'interrupt'>,
  copy: string,
): Promise<({ status: 'ok' } & BroughtFiles) | { status: 'failed'; message: string }> {
  const { env, settings } = input;
  const asked = settings.copyIgnored;
  const cwd = placeOfReplay({ input });
  const found = await findCheckout(cwd, env);
  if (found.status === 'failed') {
    return asked.length === 0
      ? { status: 'ok', copied: [], lacked: [] }
      : { status: 'failed', message: `--copy-ignored ${asked[0]}: ${found.message}` };
  }
  const { root } = found.checkout;
  const copied: RepoPath[] = [];
  for (const text of asked) {
    const failed = (why: string) =>
      ({ status: 'failed', message: `--copy-ignored ${text}: ${why}` }) as const;
    const place = resolve(realpathSync(cwd), text);
    if (!isWithin(place, root)) return failed(`it leads out of the checkout ${root}.`);
    const parsed = parseRepoPath(relative(root, place));
    if (!parsed.ok) return failed(parsed.message);
    const { path } = parsed;
    if (path === '') return failed('it is the checkout itself; name what it ignores.');
    const other = copied.find((known) => isWithin(path, known) || isWithin(known, path));
    if (other !== undefined) return failed(`${other} is given too.`);
    const why = await copyIgnored({ from: root, copy, path, signal: interrupt });
    if (why !== null) return failed(`${JSON.stringify(path)} ${why}`);
    copied.push(path);
  }
  return { status: 'ok', copied, lacked: await ignoredAndMissing(root, copy) };
}
