/** What a replay starts from: the base of the run, and ignored files of the caller's checkout, which no run stores. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import { copyBase, missingOfBase } from '../../adapters/workspace/kept/base-copy.ts';
import { copyIgnored } from '../../adapters/workspace/work-tree-copy.ts';
import { absolutePath, quotedName } from '../../domain/changes/path.ts';
import type { BaseRevision, RunStarted } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import type { Session } from '../../engine/session.ts';
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

/** Brings ignored folders from the checkout of the current folder into the copy of the base, and returns their names; there are none without a checkout. */
export async function bringIgnored(
  { input, interrupt }: Pick<Session, 'input' | 'interrupt'>,
  copy: string,
): Promise<string[]> {
  const found = await findCheckout(placeOfReplay({ input }), input.env);
  if (found.status === 'failed') return [];
  return copyIgnored({ from: found.checkout.root, to: copy, signal: interrupt });
}
