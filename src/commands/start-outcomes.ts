/** `patchsmith outcomes`: what became of the pull requests in a repository, and what they cost. Only reads. */

import { ownerAndName } from '../adapters/github/request.ts';
import { readCosts } from '../adapters/github/run-costs.ts';
import { startOfId } from '../adapters/storage/run-directory.ts';
import { withoutKeyAndTokens } from '../config/provider-keys.ts';
import { OutcomesReport, outcomesOf } from '../domain/github/outcomes.ts';
import { done, type RunOutcome } from '../domain/run/outcome.ts';
import { redactedJson, redactedStrings } from '../domain/secrets/redact.ts';
import { columns, inertJson } from '../domain/text/terminal.ts';
import { pluralize } from '../domain/text/words.ts';
import type { HostContext } from '../host/context.ts';
import { sayTo } from '../host/say.ts';
import { handOver } from './hand-over.ts';
import { ended, openFor } from './publish/ended.ts';
import type { PublishInputs } from './publish/start.ts';

const DEFAULT_MS = 30 * 24 * 3_600_000;

/** Prints a table, or the document. The last line is the caller's. */
export async function showOutcomes(
  context: HostContext,
  { settings, repository, token }: PublishInputs & { status: 'ok' },
  json: boolean,
): Promise<RunOutcome> {
  context.hide(token);
  const { version, redact, interrupt } = context;
  const { since: asked } = settings;
  const now = context.now();
  const from = asked === null ? now - DEFAULT_MS : 'at' in asked ? asked.at : now - asked.agoMs;
  const env = withoutKeyAndTokens(context.env);
  const { github, signal } = await openFor({
    ...{ settings, token, version, env, interrupt },
    say: sayTo(context),
  });
  const place = { settings, signal, result: { changedFiles: [] }, patchFile: null };
  const read = await ended(place, () => readCosts({ github, ...ownerAndName(repository) }, from));
  if ('name' in read) return read;
  const pulls = read.pulls.filter(({ createdAt }) => createdAt >= from);
  const costs = read.costs.filter(({ runId }) => (startOfId(runId) ?? from) >= from);
  const since = new Date(from).toISOString();
  const report = outcomesOf(
    { patchsmith: version, repository, since },
    pulls.map(({ createdAt, isEdited: edited, ...pull }) => ({ ...pull, edited })),
    costs,
  );
  const document = json
    ? `${inertJson(redactedJson(OutcomesReport.parse(redactedStrings(report, redact)), redact, 2))}\n`
    : columns(
        [
          ['PULL REQUEST', 'STATE', 'EDITED', 'RUNS', 'COST', 'TITLE'],
          ...report.pullRequests.map((one) => [
            `#${one.number}`,
            one.state,
            one.edited ? 'yes' : 'no',
            String(one.runs),
            usdText(one.costUsd),
            one.title,
          ]),
        ],
        [12, 8, 6, 6, 12, 60],
        redact,
      );
  const unread = await handOver(context, document);
  const { merged, closed, open, editedBeforeMerge, costUsd, costPerMergedUsd: each } = report;
  const perMerged = each === null ? '' : `, ${usdText(each)} per merged one`;
  return (
    unread ??
    done(
      `${pluralize(pulls.length, 'pull request')} since ${since.slice(0, 10)}: ${merged} merged (${editedBeforeMerge} edited by others), ${closed} closed, ${open} open; ${pluralize(report.runs, 'run')}, ${usdText(costUsd)}${perMerged}.`,
    )
  );
}

function usdText(amount: number): string {
  return `USD ${amount.toFixed(2)}`;
}
