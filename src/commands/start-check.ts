/** `patchsmith check`: what a run does before its first request, as a page. It asks no model and changes nothing on GitHub. */

import { rmSync } from 'node:fs';
import { keyVariablesAt, providerNamed } from '../adapters/providers/registry.ts';
import { PROJECT_FILE } from '../config/resolve.ts';
import { type Settings, settingsOf } from '../config/schema.ts';
import {
  type CheckLine,
  CheckReport,
  fine,
  lacking,
  noted,
  nothingChecked,
  skipped,
} from '../domain/check-report.ts';
import { done, type RunOutcome, usageError } from '../domain/run/outcome.ts';
import { hasPrice, mainPrice } from '../domain/run/pricing.ts';
import { jsonDocument, oneLine } from '../domain/text/terminal.ts';
import { pluralize } from '../domain/text/words.ts';
import { freshRun } from '../engine/fresh/spec.ts';
import { openRun } from '../engine/open-run.ts';
import { runOpened } from '../engine/run.ts';
import type { Session } from '../engine/session.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';
import { columnsOf, sayEnd } from '../host/say.ts';
import { inTerminal, linesOf, pageOf } from './check/lines.ts';
import type { Given } from './command.ts';
import { flagsAmong, namesTask, type RunParts, readRunParts } from './inputs.ts';
import { readPublishInputs } from './publish/start.ts';
import { obstacleToPublishing } from './run-and-publish.ts';
import { handOver } from './work.ts';

type ValidParts = Exclude<RunParts, { settings: null }>;

/** Looks at everything that a run with these arguments needs, as far as each part lets the next one be looked at. */
export async function startCheck(context: HostContext, given: Given): Promise<CommandOutcome> {
  const { flags, switches, problems } = given;
  const isJson = (flags.output ?? context.env.PATCHSMITH_OUTPUT) === 'json';
  const ofRun = { ...flagsAmong(settingsOf('run'), flags), output: 'none' };
  const parts = await readRunParts(context, ofRun, problems);
  const wantsToPublish = switches.has('publish');
  const publishing = wantsToPublish ? await publishingLines(context, given) : [NOT_TO_PUBLISH];
  const checked =
    parts.settings === null || parts.problems.length > 0
      ? { lines: [...parts.problems.map((one) => lacking('settings', one.code, one.message)), ...publishing] }
      : await checkParts(context, parts, publishing, isJson);
  return { status: 'printed', outcome: await tell(context, checked, isJson) };
}

const NOT_TO_PUBLISH = skipped('publishing', 'not asked for; --publish checks the token and what it may do');

interface Checked {
  readonly lines: readonly CheckLine[];
  /** How many of them have been printed. */
  readonly printed?: number;
  /** Of the run, as far as it was opened. */
  readonly outcome?: RunOutcome;
  readonly warnings?: readonly string[];
  /** Path of its result; null when nothing was kept. */
  readonly result?: string | null;
}

async function checkParts(
  context: HostContext,
  parts: ValidParts,
  publishing: readonly CheckLine[],
  isJson: boolean,
): Promise<Checked> {
  const { settings, hasFile } = parts;
  const sources = hasFile ? `flags, variables and ${PROJECT_FILE}` : 'flags and variables';
  const before = [
    fine('settings', `${sources} are valid`),
    ...keyLines(parts),
    priceLine(settings),
    ...publishing,
  ];
  if (!isJson) await handOver(context, printedPage(context, pageOf(before)));
  const hasFailed = before.some(({ status }) => status === 'failed');
  const { session, outcome } = await openChecked(parts, hasFailed);
  const found = linesOf({ session, outcome, hasTask: namesTask(settings), hasRun: !hasFailed });
  const kept = await keptResult(session, outcome);
  const printed = isJson ? 0 : before.length;
  return { lines: [...before, ...found], printed, outcome, warnings: session.result.warnings, result: kept };
}

/** Opens the run that these settings ask for, up to its first request. */
async function openChecked({ settings, input }: ValidParts, withoutCommands: boolean) {
  let session: Session | null = null;
  const outcome = await runOpened(
    {
      ...input,
      settings: namesTask(settings) ? settings : { ...settings, message: 'none given' },
      ...{ isCheck: true, withoutCommands },
    },
    (opened) => {
      session = opened;
      return openRun(opened, freshRun);
    },
  );
  if (session === null) throw new Error('The run was not opened.');
  return { session: session as Session, outcome };
}

/** Whether the token is there and may do what publishing takes. */
async function publishingLines(context: HostContext, { flags }: Given): Promise<CheckLine[]> {
  const ready = readPublishInputs(context, {
    flags: { ...flagsAmong(settingsOf('publish'), flags), output: 'none' },
    switches: new Set(),
    problems: [],
  });
  if (ready.status === 'refused')
    return ready.problems.map((one) => lacking('publishing', one.code, one.message));
  context.hide(ready.token);
  const obstacle = await obstacleToPublishing(context, ready, null);
  if (obstacle !== null) return [lacking('publishing', obstacle.errorCode, obstacle.reason)];
  return [fine('publishing', `the token may push branches and open pull requests in ${ready.repository}`)];
}

/** Nothing is kept of a check that went well and changed nothing. */
async function keptResult(
  { directory, input, result }: Session,
  { exitCode }: RunOutcome,
): Promise<string | null> {
  if (directory === null) return null;
  const hasChanges = result.verifyIn !== null;
  if (exitCode !== 0 || hasChanges || input.settings.runDir !== null) {
    const { removeOldChecks } = await import('./remove-runs.ts');
    await removeOldChecks(input.env, input.now()).catch(() => undefined);
    return directory.result;
  }
  rmSync(directory.path, { recursive: true, force: true });
  return null;
}

async function tell(context: HostContext, checked: Checked, isJson: boolean): Promise<RunOutcome> {
  const outcome = verdictOn(checked);
  const { lines, printed = 0, warnings = [], result = null } = checked;
  const report = { ...nothingChecked(outcome, context.version), lines, warnings, result };
  const where = result === null ? [] : [`result: ${result}`];
  const document = isJson
    ? jsonDocument(CheckReport.parse(report), context.redact)
    : printedPage(context, pageOf(lines.slice(printed)), where);
  const unread = await handOver(context, document);
  // A person who leaves early has seen enough; a machine has half a document.
  const last = isJson && outcome.exitCode === 0 ? (unread ?? outcome) : outcome;
  sayEnd(context, last);
  return last;
}

/** The `page` as wide as the terminal, and below it `paths`, which are not broken. */
function printedPage(
  { stdout, redact }: HostContext,
  page: readonly string[],
  paths: readonly string[] = [],
): string {
  const columns = columnsOf(stdout);
  const shown = (line: string) => oneLine(redact(line), 2_000);
  const lines = [...page.map((line) => inTerminal(shown(line), columns)), ...paths.map(shown)];
  return lines.map((line) => `${line}\n`).join('');
}

/** What ends a run first ends the check. */
function verdictOn({ lines, outcome }: Checked): RunOutcome {
  const wrong = lines.filter(({ status }) => status === 'failed');
  const [first] = wrong;
  const notes = lines.filter(({ status }) => status === 'note').length;
  if (first === undefined)
    return done(`A run can begin${notes === 0 ? '' : ` (${pluralize(notes, 'note')} above)`}.`);
  const more = wrong.length === 1 ? '' : `, and ${pluralize(wrong.length - 1, 'other line')} above`;
  const reason = `A run could not start: ${first.said}${more}.`;
  return outcome !== undefined && outcome.exitCode !== 0 && wrong.length === 1
    ? outcome
    : usageError('ERR_NOT_READY', reason);
}

/** Whether there is a key. */
function keyLines({ settings, input, ...parts }: ValidParts): CheckLine[] {
  const { apiKey: key, federation } = input;
  const keyless = [...parts.keyless, ...parts.othersKeyless];
  const provider = providerNamed(settings.provider);
  const names = provider === null ? [] : keyVariablesAt(provider, settings.baseUrl);
  const keyVariable = names.length === 0 ? null : names.join(' or ');
  if (keyless.length > 0) {
    const [said = '', fix = null] = (keyless.at(-1)?.message ?? '').split(': ', 2);
    const code = keyless.at(-1)?.code ?? null;
    return [
      ...keyless.slice(0, -1).map((one) => lacking('key', one.code, one.message)),
      lacking('key', code, said, fix),
    ];
  }
  if (key !== null) return [fine('key', `${keyVariable} is set; it was not sent anywhere`)];
  const isLoggedIn = federation !== undefined && keyVariable !== null;
  if (keyVariable !== null && !isLoggedIn)
    return [fine('key', `${keyVariable} is not set, and ${settings.baseUrl} may need none`)];
  return [fine('key', isLoggedIn ? 'the job logs in without one' : `${settings.provider} needs none`)];
}

/** Whether the cost of a run can be computed. */
function priceLine({ provider, model, price }: Settings): CheckLine {
  const entry = providerNamed(provider);
  if (entry?.isBilled === false) return fine('price', `${provider} costs nothing`);
  if (mainPrice(price, { provider, model }) !== null) return fine('price', `that of --price, for ${model}`);
  if (hasPrice(model) || entry?.priceOf?.(model)) return fine('price', `known for ${model}`);
  return noted(
    'price',
    `unknown for ${model}, so the cost of a run is unknown, too`,
    'set it with --price, if the name of the model is right',
  );
}
