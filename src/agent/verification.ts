/** Runs the plan's verify commands, one after the other, in the sandbox: the runner's own judgement of the work. */

import type { ChangeLedger } from '../domain/changes/ledger.ts';
import { cutTo, excerptLength } from '../domain/conversation/excerpt.ts';
import { succeeded } from '../domain/conversation/tool.ts';
import { changesRecorded } from '../domain/journal/recorded-changes.ts';
import { whyFailed } from '../domain/review/why-failed.ts';
import type { CommandReport, RunAction } from '../domain/run/events.ts';
import { failuresIn, judgeReports, wasNotRun } from '../domain/run/verify-baseline.ts';
import { type Redact, redactedExcerpt } from '../domain/secrets/redact.ts';
import type { OpenedPlace, Sandbox } from '../ports.ts';
import type { AgentParts } from './parts.ts';
import { enforcePolicy } from './policy.ts';

/** What verify commands run in, and how their changes are judged. */
type VerificationParts = Pick<
  AgentParts,
  'verifyPlace' | 'workspace' | 'permits' | 'redact' | 'toolSettings' | 'watchVerify'
>;

interface ReportParts {
  readonly redact: Redact;
  /** Per command. */
  readonly timeoutMs: number;
  readonly watch?: AgentParts['watchVerify'];
  /** How often a command that fails is run again before it counts as failed; default 0. */
  readonly reruns?: number;
  /** No command is run after one that fails. For setup, where later commands build on earlier ones, always. */
  readonly stopsAtFailure?: boolean;
  /** Default: every one that did not succeed. */
  readonly isFailure?: (report: CommandReport) => boolean;
}

interface VerifyParts extends ReportParts {
  readonly sandbox: Pick<Sandbox, 'run'>;
}

/** What is verified, and when. */
interface Verified {
  readonly commands: readonly string[];
  /** How they ended before the work; null when they were not run. */
  readonly baseline: readonly CommandReport[] | null;
  /** The changes of the run so far; those yielded are included by the time the next action is requested. */
  readonly changes: Pick<ChangeLedger, 'net' | 'otherwise' | 'includeForeign'>;
  readonly iteration: number;
  readonly signal: AbortSignal;
}

/** Maximum characters of a command's output shown to the model and in the result. */
const REPORT_CHARS = 8_000;

/**
 * Runs the verify commands, without `verifyAll` up to the first that fails otherwise than before the work. Their changes to the work
 * tree are recorded as theirs and stay out of the patch; forbidden ones are reverted. A fresh checkout is discarded together with
 * their changes. Files of the patch among those changes are reported, since the patch has other contents for them. Does nothing
 * if the run has to stop before the first command.
 */
export async function* verifyWork(parts: VerificationParts, verified: Verified): AsyncGenerator<RunAction> {
  const { verifyPlace: place, workspace } = parts;
  const { changes, iteration, signal } = verified;
  const isInWorkTree = place.kind === 'worktree';
  // Only known changes go into a fresh checkout, and in the work tree verify commands may change what came from outside once more.
  if ((isInWorkTree || changes.includeForeign) && !signal.aborted)
    yield* changesRecorded(await workspace.capture('all'), { by: 'outside' }, iteration);
  const opened = await place.open(changes.net(), signal);
  if (opened.status === 'interrupted') return;
  // Once a verify command has rewritten it, a file from outside would pass for one of the commands.
  const before = changes.otherwise();
  const reports = await reportsIn(opened, parts, verified);
  let otherwise = opened.status === 'ok' ? [...opened.otherwise()] : [];
  if (isInWorkTree) {
    const found = await workspace.capture('after_commands');
    yield* (await enforcePolicy({ changes: found, source: { by: 'verify' }, iteration }, parts)).actions;
    otherwise = [...new Set([...before, ...changes.otherwise()])];
  }
  // The tree of the base with the patch so far.
  const made = signal.aborted ? null : await workspace.makePatch(changes.net());
  const tree = made?.status === 'proven' ? made.patch.tree : null;
  yield { type: 'verify.completed', tree, ...seen(reports, otherwise) };
}

function reportsIn(
  opened: Exclude<OpenedPlace, { status: 'interrupted' }>,
  { verifyPlace: { setup }, redact, toolSettings, watchVerify: watch }: VerificationParts,
  { commands, baseline, signal }: Verified,
): Promise<CommandReport[]> {
  const { verifyTimeoutMs: timeoutMs, flakyReruns: reruns, verifyAll } = toolSettings;
  const isFailure = (report: CommandReport) => judgeReports([report], baseline).failed.length > 0;
  const how = { redact, timeoutMs, reruns, stopsAtFailure: !verifyAll, isFailure, ...(watch && { watch }) };
  return runInPlace(opened, { setup, commands }, signal, how);
}

/** Commands that have changed what they verify passed on other files than they had failed on: the failure counts. */
function seen(reports: readonly CommandReport[], otherwise: string[]) {
  const first = (report: CommandReport): CommandReport => {
    const [failure] = otherwise.length > 0 ? (report.earlier ?? []) : [];
    return failure === undefined ? report : { command: report.command, ...failure };
  };
  return { reports: reports.map(first), otherwise };
}

/**
 * Reports of `commands`; of the setup command that failed if one did; or of the place itself if it could not be
 * created. Closes the place.
 */
export async function runInPlace(
  opened: Exclude<OpenedPlace, { status: 'interrupted' }>,
  { setup, commands }: { setup: readonly string[]; commands: readonly string[] },
  signal: AbortSignal,
  { redact, timeoutMs, watch, ...how }: ReportParts,
): Promise<CommandReport[]> {
  if (opened.status === 'failed') return [notMade(redact(opened.message))];
  const parts = { sandbox: opened.sandbox, redact, timeoutMs, ...(watch && { watch }) };
  try {
    const prepared = await runCommands(setup, signal, { ...parts, stopsAtFailure: true });
    const failed = prepared.filter(({ end }) => !succeeded(end));
    return failed.length > 0 ? failed : await runCommands(commands, signal, { ...how, ...parts });
  } finally {
    await opened.close();
  }
}

/** Reported as a command, so that the model can fix what prevents its changes from being checked out. */
function notMade(output: string): CommandReport {
  const end = { exitCode: 128, signal: null, timedOut: false, interrupted: false, durationMs: 0 };
  return { command: CHECKING_OUT, end, output };
}

/** Shown instead of a command line when the checkout itself fails. */
const CHECKING_OUT = 'git checkout (the base with the patch)';

/**
 * Runs commands of the operator in order until one is interrupted, or with `stopsAtFailure` fails. Whatever fails in one fails
 * it.
 */
export async function runCommands(
  commands: readonly string[],
  signal: AbortSignal,
  parts: VerifyParts,
): Promise<CommandReport[]> {
  const { watch, reruns = 0, stopsAtFailure = false, isFailure = ({ end }) => !succeeded(end) } = parts;
  const reports: CommandReport[] = [];
  for (const command of commands) {
    const earlier: NonNullable<CommandReport['earlier']> = [];
    let report: CommandReport;
    let failed: boolean;
    do {
      const ended = watch?.(command);
      report = await reportOf(command, signal, parts);
      failed = isFailure(report);
      if (earlier.length > 0) report = { ...report, earlier: [...earlier] };
      ended?.(report);
      earlier.push({ end: report.end, output: report.output });
    } while (failed && earlier.length <= reruns && canBeChance(report.end));
    reports.push(report);
    if (report.end.interrupted || (stopsAtFailure && failed)) break;
  }
  return reports;
}

/** Another run of a command that takes too long, or cannot be run, shows nothing new. */
function canBeChance(end: CommandReport['end']): boolean {
  return !end.interrupted && !end.timedOut && !wasNotRun(end);
}

async function reportOf(
  command: string,
  signal: AbortSignal,
  { sandbox, redact, timeoutMs }: VerifyParts,
): Promise<CommandReport> {
  const { end, output } = await sandbox.run({ script: command, command, timeoutMs, signal, isStrict: true });
  const clean = redactedExcerpt(output, redact);
  const shown = cutTo(clean, REPORT_CHARS);
  const gap =
    shown.omitted > 0 ? `\n[${shown.omitted} of ${excerptLength(shown)} characters left out]\n` : '';
  const isPartlyShown = shown.omitted > 0 && !succeeded(end);
  const why = succeeded(end) ? null : whyFailed(clean);
  return {
    command,
    end,
    output: `${shown.head}${gap}${shown.tail}`,
    ...(isPartlyShown && { failures: failuresIn(clean) }),
    ...(why !== null && { why }),
  };
}
