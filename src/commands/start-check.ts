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
import { inTerminal, linesOf, type Opened, pageOf } from './check/lines.ts';
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
  const publishing = switches.has('publish') ? await publishingLines(context, given) : [NOT_TO_PUBLISH];
  const lines: CheckLine[] = [];
  /** People see each part as soon as it is known. */
  const add = async (...found: readonly CheckLine[]) => {
    lines.push(...found);
    if (!isJson) await handOver(context, printed(context, pageOf(found)));
  };
  let opened: Opened | null = null;
  if (parts.settings === null || parts.problems.length > 0) {
    await add(...parts.problems.map((one) => lacking('settings', one.code, one.message)), ...publishing);
  } else {
    const sources = parts.hasFile ? `flags, variables and ${PROJECT_FILE}` : 'flags and variables';
    const settings = fine('settings', `${sources} are valid`);
    await add(settings, ...keyLines(parts), priceLine(parts.settings), ...publishing);
    const hasFailed = lines.some(({ status }) => status === 'failed');
    opened = await openChecked(parts, hasFailed);
    await add(...linesOf(opened));
  }
  const outcome = verdictOn(lines, opened?.outcome ?? null);
  const result = opened && (await keptResult(opened));
  const warnings = opened?.session.result.warnings ?? [];
  const report = { ...nothingChecked(outcome, context.version), lines, warnings, result };
  if (!isJson) {
    if (result !== null) await handOver(context, `${oneLine(context.redact(`result: ${result}`), 2_000)}\n`);
    return sayEnd(context, outcome);
  }
  const unread = await handOver(context, jsonDocument(CheckReport.parse(report), context.redact));
  // A machine has half a document.
  return sayEnd(context, outcome.exitCode === 0 ? (unread ?? outcome) : outcome);
}

const NOT_TO_PUBLISH = skipped('publishing', 'not asked for; --publish checks the token and what it may do');

/** Opens the run that these settings ask for, up to its first request. */
async function openChecked({ settings, input }: ValidParts, withoutCommands: boolean): Promise<Opened> {
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
  return { session: session as Session, outcome, hasTask: namesTask(settings), hasRun: !withoutCommands };
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
async function keptResult({ session, outcome: { exitCode } }: Opened): Promise<string | null> {
  const { directory, input, result } = session;
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

/** The page as wide as the terminal. */
function printed({ stdout, redact }: HostContext, page: readonly string[]): string {
  const columns = columnsOf(stdout);
  return page.map((line) => `${inTerminal(oneLine(redact(line), 2_000), columns)}\n`).join('');
}

/** What ends a run first ends the check. */
function verdictOn(lines: readonly CheckLine[], outcome: RunOutcome | null): RunOutcome {
  const wrong = lines.filter(({ status }) => status === 'failed');
  const [first] = wrong;
  const notes = lines.filter(({ status }) => status === 'note').length;
  if (first === undefined)
    return done(`A run can begin${notes === 0 ? '' : ` (${pluralize(notes, 'note')} above)`}.`);
  const more = wrong.length === 1 ? '' : `, and ${pluralize(wrong.length - 1, 'other line')} above`;
  const reason = `A run could not start: ${first.said}${more}.`;
  return outcome !== null && outcome.exitCode !== 0 && wrong.length === 1
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
