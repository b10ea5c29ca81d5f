/** What a replay starts from: the base of the run, and ignored files of the caller's checkout, which no run stores. */

import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { copyBase, missingOfBase } from '../../adapters/workspace/kept/base-copy.ts';
import { copyIgnored, ignoredAndMissing } from '../../adapters/workspace/kept/copy-ignored.ts';
import {
  absolutePath,
  isWithin,
  parseRepoPath,
  quotedName,
  type RepoPath,
} from '../../domain/changes/path.ts';
import type { BaseRevision, RunStarted } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import type { Session } from '../../engine/session.ts';
import { lookAt } from '../../files/tree-view.ts';
import { openKeptObjects } from '../../git/store/bare-repository.ts';

/** Which base to copy, and where to. */
interface BaseOfReplay {
  readonly run: RunDirectory;
  readonly start: RunStarted & { readonly base: BaseRevision };
  /** An empty folder for the copy. */
  readonly folder: string;
  /** Where to create the git dir through which its objects are read. */
  readonly objectsGitDir: string;
}

/** The folder whose checkout is the repository. */
function placeOfReplay({ input: { cwd, settings } }: Pick<Session, 'input'>): string {
  return settings.repo === null ? cwd : absolutePath(cwd, settings.repo);
}

/**
 * Null on success, otherwise the reason and what helps. Objects come from the run directory and from the checkout of the
 * caller, never from one that the run names; each is checked by its id.
 */
export async function copyBaseOf(session: Session, asked: BaseOfReplay): Promise<string | null> {
  const { run, start, folder, objectsGitDir } = asked;
  const { base } = start;
  const { shadowGit: shadowDir } = run;
  const place = placeOfReplay(session);
  const found = await findCheckout(place, session.input.env);
  const { objectFormat } = base;
  const checkout =
    found.status === 'ok' && found.checkout.objectFormat === objectFormat ? found.checkout : null;
  const objects = checkout?.objects ?? null;
  openKeptObjects({ shadowDir, objectFormat, objects, gitDir: objectsGitDir });
  const missing = await missingOfBase({ shadowDir, objectsGitDir, base });
  if (missing === null || missing.length > 0)
    return whyIncomplete(missing, { start, place, root: checkout?.root ?? null });
  const failure = await copyBase({ shadowDir, objectsGitDir, base, folder });
  return failure === null ? null : `The base of the run cannot be restored: ${failure}.`;
}

function whyIncomplete(
  missing: readonly string[] | null,
  { start: { root: began, base }, place, root }: { start: RunStarted; place: string; root: string | null },
): string {
  const [commit, full] =
    base.commit === null ? ['no commit', ''] : [`commit ${base.commit.slice(0, 12)}`, ` ${base.commit}`];
  if (root === null)
    return `The base of the run (${commit}) is not kept in its directory, and ${place} is in no checkout of the repository. The run worked in ${began}: go there, or name a clone with --repo. A run with --keep-base needs none.`;
  if (missing === null)
    return `${root} does not have the base of the run (${commit}). Fetch it (git fetch origin${full}), or name another clone with --repo. A run with --keep-base needs none.`;
  return `The base of the run is incomplete: ${root} does not have ${listed(missing.map(quotedName), 5)} as of then (${commit}). A file that was large and uncommitted can be stored as it was (git hash-object -w PATH); what was committed can be fetched (git fetch origin${full}). A run with --keep-base needs none.`;
}

/** Paths relative to the root of the caller's checkout; both lists are empty if there is none. */
export interface BroughtFiles {
  readonly copied: readonly string[];
  /** Entries at its top that the base ignores and the copy does not have. */
  readonly lacked: readonly string[];
}

/** Copies what `--copy-ignored` names, or all ignored folders at the top, from the checkout of the current folder into the copy of the base. */
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
  const missing = await ignoredAndMissing(root, copy);
  if (asked.length > 0) return { status: 'ok', copied, lacked: missing };
  // What cannot be copied, such as a link, is lacking.
  for (const path of missing) {
    const look = lookAt(root, path);
    if (look.status !== 'seen' || look.stat.kind !== 'folder') continue;
    const parsed = parseRepoPath(path);
    if (parsed.ok && (await copyIgnored({ from: root, copy, path: parsed.path, signal: interrupt })) === null)
      copied.push(parsed.path);
  }
  return { status: 'ok', copied, lacked: missing.filter((path) => !copied.some((one) => one === path)) };
}
