/** Whether a killed run has changed more than its journal records. */

import { clearScratch, type RunDirectory } from '../../adapters/storage/run-directory.ts';
import { reopenWorkspace } from '../../adapters/workspace/reopen.ts';
import { writtenPaths } from '../../agent/interrupted-calls.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { pathGuard } from '../../domain/changes/path-policy.ts';
import type { Environment } from '../../domain/environment.ts';
import {
  type FoldedEvents,
  underWay,
  wereCommandsUnderWay,
  workTreeStates,
} from '../../domain/journal/recorded-changes.ts';
import type { RunEvents } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { createTools } from '../../tools/registry.ts';

/**
 * What has changed since the last record of a run that died in the middle of work, by that or by someone else: `gone` are files that
 * are missing now, `unrecorded` are the others, new git dirs and changed repositories. `refusal` is a sentence for people about these; null if there are none.
 */
export async function unrecordedChanges(
  run: FoldedEvents,
  directory: RunDirectory,
  { checkout, env, hasDied }: { checkout: Checkout; env: Environment; hasDied: boolean },
): Promise<{ refusal: string | null; gone: readonly PathChange[]; unrecorded: readonly string[] }> {
  const open = underWay(run);
  const { events } = run;
  const [start] = events;
  const { base } = run.state;
  // Between two calls nothing is unrecorded, but only the end of a run lists what changed in other repositories.
  const isBetween = open.length === 0;
  if (isBetween && !(hasDied && start.root === checkout.root))
    return { refusal: null, gone: [], unrecorded: [] };
  clearScratch(directory);
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
      newGitDirs: wereCommandsUnderWay(run) ? 'named' : null,
    },
  );
  clearScratch(directory);
  if (reopened.status === 'failed')
    return { refusal: isBetween ? null : reopened.message, gone: [], unrecorded: [] };
  const { found, planted, workspace } = reopened;
  const nested = (await workspace.nestedChanges()).map(({ path }) => `${path}/ (a repository of its own)`);
  if (isBetween) return { refusal: null, gone: [], unrecorded: nested };
  const leftOut = workspace.notes().exceeded === null ? [] : ['files over the limits'];
  const gone = found.filter(({ after }) => after === null);
  const others = found.filter(({ after }) => after !== null).map(({ path }) => path);
  const changed = [...others, ...planted, ...leftOut];
  return {
    refusal: changed.length === 0 ? null : refusalOf(open, changed, events),
    gone,
    unrecorded: [...others, ...planted, ...nested],
  };
}

function refusalOf(open: readonly string[], changed: readonly string[], events: RunEvents): string {
  const paths = listed(changed, MAX_NAMED);
  const canResume = events[0].provider !== 'replay' && events.at(-1)?.type !== 'run.stopped';
  const resume = canResume ? ', and patchsmith resume records the rest' : '';
  return `The run died during: ${listed(open, MAX_NAMED)}. Changed since the last record, by that or by someone else: ${paths}. Nothing was restored; --force restores what is recorded${resume}.`;
}

/** Maximum number of names in one sentence. */
const MAX_NAMED = 10;
