/** `patchsmith runs`: lists the runs of this user, newest first. */

import { listRuns } from '../../adapters/storage/list-runs.ts';
import { readSpending } from '../../adapters/storage/run-spending.ts';
import { done, type RunOutcome } from '../../domain/run/outcome.ts';
import type { RunSummary } from '../../domain/runs.ts';
import { columns, oneLine, wrapped } from '../../domain/text/terminal.ts';
import { formatSize, pluralize } from '../../domain/text/words.ts';
import { columnsOf } from '../../host/say.ts';
import { printEither, type Work, working } from '../work.ts';

/** Changes nothing: a run whose process has died is shown as such, and completed by the commands that work on it. */
export const startRuns = working(showRuns);

async function showRuns(work: Work): Promise<RunOutcome> {
  const { folders, runs: listed } = await listRuns(work.env);
  const runs: RunSummary[] = [];
  // One after the other, so that only one journal is held.
  for (const run of listed) runs.push(await withSpending(run));
  const document = {
    version: 1,
    folders,
    runs: runs.map(({ startedAt, changedAt, ...run }) => ({
      ...run,
      startedAt: iso(startedAt),
      changedAt: iso(changedAt),
    })),
  };
  const unread = await printEither(work, document, () => table(runs, work));
  if (unread !== null) return unread;
  const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
  const where = folders.length === 0 ? '' : ` in ${folders.join(', ')}`;
  return done(`${pluralize(runs.length, 'run')}, ${formatSize(bytes)}${where}.`);
}

/** While a run is running, and after it has died, its journals know what it has spent, and those of its attempts: as `usage` says it. */
async function withSpending(run: RunSummary): Promise<RunSummary> {
  if (run.status === 'unreadable') return run;
  const spent = await readSpending(run);
  return spent.status === 'ok' ? { ...run, costUsd: spent.costUsd } : run;
}

function iso(time: number | null): string | null {
  return time === null || Number.isNaN(new Date(time).getTime()) ? null : new Date(time).toISOString();
}

const HEAD = ['RUN', 'WHEN (UTC)', 'OUTCOME', 'COST', 'SIZE', 'REPOSITORY', 'PLAN'];
/** Longest text of a column. */
const WIDEST = [22, 16, 33, 10, 10, 48, 72];

/** Below 100 columns, a paragraph a run. */
function table(runs: readonly RunSummary[], { env, stdout, redact }: Work): string {
  const width = columnsOf(stdout);
  if (runs.length === 0) return '';
  const rows = runs.map((run) => row(run, env.HOME));
  if (width >= 100) return columns([HEAD, ...rows], WIDEST, redact);
  const paragraphs = rows.map((cells) => {
    const [run, when, outcome, cost, size, ...rest] = cells.map((cell) => oneLine(redact(cell), 72));
    return [`${run}  ${outcome}`, `  ${when}  ${cost}  ${size}`, `  ${rest.join('  ')}`];
  });
  return paragraphs.map((lines) => `${lines.map((line) => wrapped(line, width, 2)).join('\n')}\n`).join('');
}

function row(run: RunSummary, home: string | undefined): string[] {
  const { runId, startedAt, outcome, costUsd, bytes, isAtLeast, root, plan, place, path, problem } = run;
  const shortRoot = home && root?.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root;
  return [
    runId,
    iso(startedAt)?.slice(0, 16).replace('T', ' ') ?? '–',
    run.status !== 'finished'
      ? run.status
      : run.replayOf === null
        ? (outcome ?? '–')
        : `replay of ${run.replayOf}`,
    typeof costUsd === 'number' ? `$${costUsd.toFixed(4)}` : (costUsd ?? '–'),
    `${isAtLeast ? '> ' : ''}${formatSize(bytes)}`,
    shortRoot ?? '–',
    problem ?? `${plan ?? '–'}${place === 'elsewhere' ? ` (in ${path})` : ''}`,
  ];
}
