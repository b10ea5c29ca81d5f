/** Whether a killed run has changed more than its journal records. */

import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { reopenWorkspace } from '../../adapters/workspace/reopen.ts';
import { writtenPaths } from '../../agent/interrupted-calls.ts';
import { pathGuard } from '../../domain/changes/path-policy.ts';
import type { Environment } from '../../domain/environment.ts';
import { workTreeStates } from '../../domain/journal/change-events.ts';
import { type FoldedEvents, underWay, wereCommandsUnderWay } from '../../domain/journal/undo.ts';
import type { RunEvents } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import { endLeftoversOf } from '../../engine/open/verify-place.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { createTools } from '../../tools/registry.ts';

/**
 * A sentence for people about what was in progress and which paths differ from the record. Null if nothing was in progress, or if
 * the whole work tree is as the last event left it. Such a change may come from the run or from someone after its death; there is
 * no way to tell.
 */
export async function unrecordedChanges(
  run: FoldedEvents,
  directory: RunDirectory,
  { checkout, env }: { checkout: Checkout; env: Environment },
): Promise<string | null> {
  const open = underWay(run);
  if (open.length === 0) return null;
  const { events } = run;
  const [start] = events;
  const { base } = run.state;
  // No process of the run may keep changing files while they are examined.
  await endLeftoversOf(directory);
  const calls = events.flatMap((event) => (event.type === 'tool.started' ? [event.call] : []));
  const reopened = await reopenWorkspace(
    checkout,
    {
      shadowDir: directory.shadowGit,
      sandboxGitDir: directory.sandboxGitDir,
      env,
      guard: pathGuard(start.plan, start.paths),
    },
    {
      base,
      states: workTreeStates(events),
      written: writtenPaths(calls, createTools(start.toolSettings)),
      mayHavePlanted: wereCommandsUnderWay(run) ? 'leave' : null,
    },
  );
  if (reopened.status === 'failed') return reopened.message;
  const { found, planted, workspace } = reopened;
  const leftOut = workspace.notes().exceeded === null ? [] : ['files over the limits'];
  const changed = [...found.map(({ path }) => path), ...planted, ...leftOut];
  return changed.length === 0 ? null : refusalOf(open, changed, events);
}

function refusalOf(open: readonly string[], changed: readonly string[], events: RunEvents): string {
  const paths = listed(changed, MAX_NAMED);
  const resume = events.at(-1)?.type === 'run.stopped' ? '' : ', and patchsmith resume records the rest';
  return `The run died during: ${listed(open, MAX_NAMED)}. Changed since the last record, by that or by someone else: ${paths}. Nothing was restored; --force restores what is recorded${resume}.`;
}

/** Maximum number of names in one sentence. */
const MAX_NAMED = 10;
