/** Ends without a plan: a run that ended before it had one, or inputs that are refused. The issue is where people learn why. */

import { commentThere } from '../../../adapters/github/issues.ts';
import type { Settings } from '../../../config/schema.ts';
import type { Problem } from '../../../domain/errors/problem.ts';
import { askedIn } from '../../../domain/github/publishing/identity.ts';
import {
  conclude,
  Publication,
  type PublicationSoFar,
} from '../../../domain/github/publishing/publication.ts';
import { noChange, type RunOutcome, refusedFor } from '../../../domain/run/outcome.ts';
import { RunResult } from '../../../domain/run/result.ts';
import { redactedStrings } from '../../../domain/secrets/redact.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { refusedResult } from '../../../engine/finish/result.ts';
import type { HostContext } from '../../../host/context.ts';
import { readSettings } from '../../inputs.ts';
import { obstacleIn, openPlace, type PublishPlace } from '../place.ts';
import { readRun } from '../read-run.ts';
import { commentOnIssue, labelIssue, readIssueOfWork } from './issue-of-work.ts';

/** What such a step was given. */
export interface WrongInputs {
  readonly flags: Readonly<Record<string, unknown>>;
  /** The run directory; null if there is no run yet. */
  readonly run: string | null;
  readonly problems: readonly Problem[];
}

/**
 * Comments on the issue that the inputs name, else on the run's origin, and sets the label. Null if neither is known, or if the
 * token or the repository is missing.
 */
export async function explainWrongInputs(
  context: HostContext,
  { flags, run, problems }: WrongInputs,
): Promise<Publication | null> {
  const settings = settingsToTell(context, flags);
  const token = context.env.GITHUB_TOKEN || context.env.GH_TOKEN;
  if (settings === null || settings.repository === null || !token) return null;
  const { repository } = settings;
  // A step has inputs where a command line has flags.
  const words = problems.map(({ message }) => context.redact(message).replace(/^--(?=[a-z])/, ''));
  const end = { ...refusedFor(problems), reason: words.join('; ') };
  const made = run === null ? null : await resultOf(run, context);
  const issue = settings.issue ?? issueOf(made, repository);
  if (issue === null) return null;
  const say = (line: string) => void context.stderr.write(`${oneLine(context.redact(line), 2_000)}\n`);
  const nothing = { ...refusedResult(end, context.version), runId: run === null ? 'none yet' : '' };
  const place = await openPlace({ ...context, settings: { ...settings, issue }, repository, token, say });
  const result = RunResult.parse(redactedStrings(made ?? nothing, context.redact));
  const publication = await explainedOnIssue(place, { end, result });
  for (const warning of publication.warnings) say(`warning: ${warning}`);
  return Publication.parse(redactedStrings(publication, context.redact));
}

/** What is needed to comment there. Invalid inputs are left out. */
const TO_TELL = 'repository issue trigger-label comment dry-run github-api-url github-server-url'.split(' ');

function settingsToTell(context: HostContext, flags: WrongInputs['flags']): Settings | null {
  const env = Object.fromEntries(
    Object.entries(context.env).filter(([name]) => !name.startsWith('PATCHSMITH_')),
  );
  const read = (given: WrongInputs['flags']) => readSettings({ ...context, env }, given, []);
  const right = TO_TELL.filter(
    (name) => flags[name] !== undefined && read({ [name]: flags[name] }).status === 'ok',
  );
  const all = read(Object.fromEntries(right.map((name) => [name, flags[name]])));
  return all.status === 'ok' ? all.settings : null;
}

async function resultOf(run: string, { cwd, env }: HostContext): Promise<RunResult | null> {
  const read = await readRun(run, { cwd, env });
  return read.status === 'ok' ? read.run.result : null;
}

/** The pull request that the run continues, or the issue of its plan. */
function issueOf(result: RunResult | null, repository: string): string | null {
  if (result === null) return null;
  if (result.followUp !== null) return String(result.followUp.pullRequest);
  const asked = result.plan && askedIn(result.plan, repository);
  return asked?.isHere === true ? String(asked.number) : null;
}

/**
 * Concludes the publication as the run ended; what keeps the comment from being made is a warning, and does not hide the end.
 * `result` contains no secrets.
 */
export async function explainedOnIssue(
  place: PublishPlace,
  given: { readonly end: RunOutcome; readonly result: RunResult },
): Promise<PublicationSoFar> {
  const { settings, publication } = place;
  let { end } = given;
  if (settings.issue === null) return conclude(publication, end);
  const failed = await obstacleIn(place, async () => {
    const issue = await readIssueOfWork(place);
    if (issue === null) return;
    const { askedIn, marker } = issue;
    const job = { ...place, result: given.result, askedIn, issueMarker: marker };
    const there =
      given.result.runId === '' && (await commentThere(job.upstream, { issue: askedIn.number, marker }));
    if (there && numberOf(there) > numberOf(job.runUrl ?? '')) {
      end = noChange('No run began in this workflow run: a newer one works on the issue.');
      return;
    }
    await commentOnIssue(job, end);
    await labelIssue(job, end.exitCode === 0 ? 'done' : 'failed');
  });
  if (failed !== null) publication.warnings.push(warning('WARN_NO_COMMENT', failed.reason));
  return conclude(publication, end);
}

/** The number of the workflow run that a text links to: later ones are higher. A newer run cancels one that waits for its turn. */
function numberOf(text: string): number {
  return Number(/\/actions\/runs\/(\d+)/.exec(text)?.[1] ?? 0);
}
