/**
 * The commands that run once before the model is asked: the plan's setup and, on request, the verify commands. Variables of
 * `--setup-env` are credentials that setup commands get and no other command. No process with them is left when a setup command has
 * ended; what remains are the files that setup commands write.
 */

import { runCommands, runInPlace } from '../../agent/verification.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { describeEndAndTime, succeeded } from '../../domain/conversation/tool.ts';
import { CutShort } from '../../domain/errors/thrown.ts';
import { missingProgram, REFUSED } from '../../domain/review/denial-signs.ts';
import { refusedToCommands } from '../../domain/review/egress.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { wasNotRun } from '../../domain/run/verify-baseline.ts';
import { MIN_SECRET_LENGTH } from '../../domain/secrets/redact.ts';
import { printedWord } from '../../domain/shell-word.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { listed, sentence } from '../../domain/text/words.ts';
import { until } from '../../files/time-limit.ts';
import type { Workspace } from '../../ports/workspace.ts';
import type { Sandbox, VerifyPlace } from '../../ports.ts';
import type { RunInput } from '../run-input.ts';
import type { Session } from '../session.ts';
import { cacheHint, installHint, missingPackage, missingProgramHint } from './install-hint.ts';
import { quotedCommand, whyNotRunnable } from './preflight.ts';

/** `baseline` is null when the verify commands are not to be run before the work. */
interface CommandsBefore {
  readonly setup: readonly string[];
  readonly verify: readonly string[];
  readonly baseline: readonly string[] | null;
  /** Per command. */
  readonly timeoutMs: number;
  /** How often a verify command that fails is run again; default 0. */
  readonly reruns?: number;
}

/**
 * `failed`: the run cannot begin, and `message` says why. `interrupted`: a signal or the deadline came first. `changes` is what
 * all commands changed together, path by path; null where time ran out before that was known.
 */
export type RanBefore = { setup: CommandReport[]; verifyBaseline: CommandReport[] | null } & (
  | { status: 'ok'; changes: PathChange[] }
  | { status: 'failed'; message: string; changes: PathChange[] }
  | { status: 'interrupted'; changes: PathChange[] | null }
);

interface Places {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
}

/** A failing setup command stops the run; a failing verify command is a result. */
export async function runBefore(
  session: Session,
  { setup: commands, verify, baseline, timeoutMs, reruns = 0 }: CommandsBefore,
  { workspace, sandbox, verifyPlace }: Places,
): Promise<RanBefore> {
  const { interrupt, redact, progress } = session;
  // People see which command is in progress.
  const shown = (kind: 'setup' | 'verify') => ({
    redact,
    timeoutMs,
    watch: (command: string) => progress.commandBefore(kind, command, timeoutMs),
  });
  const setup = await runCommands(commands, interrupt, {
    ...shown('setup'),
    sandbox: forSetup(sandbox, setupEnvOf(session.input)),
    stopsAtFailure: true,
  });
  session.recordAndSave({ setup, sandbox: sandbox.level });
  const ran = { setup, verifyBaseline: null as CommandReport[] | null };
  const whyUnready = async (): Promise<string | null> => {
    const failed = setup.find((report) => !succeeded(report.end));
    if (failed) return setupFailed(session, failed, '');
    const missing = setup.length > 0 ? await whyNotRunnable(session, verify, sandbox) : null;
    if (missing !== null) return missing;
    session.stage = 'verify';
    const parts = { ...shown('verify'), sandbox, reruns };
    ran.verifyBaseline = baseline && (await baselineIn(verifyPlace, baseline, parts, interrupt));
    const { verifyBaseline } = ran;
    session.recordAndSave({ verifyBaseline });
    if (interrupt.aborted) return null;
    const failedThere = verifyBaseline?.find(({ command }) => !baseline?.includes(command));
    return failedThere
      ? setupFailed(session, failedThere, ' in a fresh checkout of the base')
      : whyNotRun(session, verifyBaseline ?? []);
  };
  const message = interrupt.aborted ? null : await whyUnready();
  const wasStopped = interrupt.aborted;
  const inWorkTree = verifyPlace.kind === 'worktree' && (ran.verifyBaseline?.length ?? 0) > 0;
  const changes = setup.length > 0 || inWorkTree ? await changedSoFar(session, workspace) : [];
  if (changes === null) return { ...ran, status: 'interrupted', changes };
  if (changes.length > 0) {
    const names = changes.map((change) => change.path);
    const { path = '' } = session.directory ?? {};
    session.warn(
      'WARN_CHANGED_BEFORE_THE_WORK',
      `Not in the patch, because commands before the work changed them: ${listed(names, 5)}. To revert that: patchsmith undo ${printedWord(path)}`,
    );
  }
  if (message !== null) return { ...ran, status: 'failed', message, changes };
  return { ...ran, status: wasStopped ? 'interrupted' : 'ok', changes };
}

/** The changes so far. Even a stopped run has time to find out what has to be undone; null if that time is over too. */
async function changedSoFar({ times }: Session, workspace: Workspace): Promise<PathChange[] | null> {
  try {
    return await until(times.endOfLooks, () => workspace.capture('after_commands'));
  } catch (error) {
    if (error instanceof CutShort) return null;
    throw error;
  }
}

/**
 * Setup commands are the operator's: files that the policy keeps read-only for the model's commands are writable for them.
 */
export function forSetup(sandbox: Sandbox, env: Readonly<Record<string, string>> = {}): Pick<Sandbox, 'run'> {
  const own = Object.keys(env).length === 0 ? {} : { env };
  return { run: (command) => sandbox.run({ ...command, ...own, isSetup: true }) };
}

/** Reports of `commands`; in a fresh checkout, of the setup command that failed if one did. */
export async function baselineIn(
  place: VerifyPlace,
  commands: readonly string[],
  parts: Parameters<typeof runCommands>[2],
  interrupt: AbortSignal,
): Promise<CommandReport[]> {
  // No command of the model has run yet, so nothing in the work tree is hostile.
  if (place.kind === 'worktree') return runCommands(commands, interrupt, parts);
  const opened = await place.open([], interrupt);
  if (opened.status === 'interrupted') return [];
  return runInPlace(opened, { setup: place.setup, commands }, interrupt, parts);
}

function setupFailed(session: Session, { command, end, output }: CommandReport, where: string): string {
  const { directory, folder: root } = session;
  const what = `A setup command failed${where}, ${describeEndAndTime(end)}: ${command}`;
  const hints = [
    missingIn(output, command, root),
    cacheHint(session.input.settings.caches, output),
    ...refusedToCommands(session.asked.all)
      // Not what an earlier one did without.
      .filter(({ why }) => output.includes(why))
      .slice(-MAX_REFUSALS)
      .map(({ why }) => ` ${REFUSED}${why}.`),
  ].join('');
  return `${what}.${hints} Its output is in ${directory?.result ?? 'the result'}.`;
}

/** Whatever the exit code: many a command passes on that of something else. */
function missingIn(output: string, command: string, root: string | null): string {
  const program = missingProgram(output)?.program;
  if (program === undefined) return '';
  const hint = missingProgramHint(root, program, command);
  return ` ${JSON.stringify(oneLine(program, 100))} is not found in the sandbox.${hint}`;
}

const MAX_REFUSALS = 3;

/** Why commands that ran before the work say nothing about it; null when they do. */
async function whyNotRun(
  { folder: root, input }: Pick<Session, 'folder' | 'input'>,
  reports: readonly CommandReport[],
): Promise<string | null> {
  for (const { command, end, output } of reports) {
    const { folderAfterCd } = await import('../../adapters/plan/first-program.ts');
    const folder = folderAfterCd(command);
    if (wasNotRun(end)) {
      const missing = missingProgram(output);
      const last = missing?.line ?? output.trimEnd().split('\n').at(-1) ?? '';
      const hint = missingProgramHint(root, missing?.program ?? '', `${command} ${last}`, folder);
      return `The verify command ${quotedCommand(command)} ended with exit code ${end.exitCode} before the work, so a program that it needs is missing or cannot be executed: ${oneLine(last.replace(/\.$/, ''), 300)}${hint && `.${hint}`}`;
    }
    if (succeeded(end)) continue;
    // Nothing that a run may do could make such a command pass.
    const fails = `The verify command ${quotedCommand(command)} fails before the work, since`;
    const lacking = missingPackage(output);
    const hint = lacking && installHint(root, command, folder);
    if (hint) return `${fails} something is not installed: ${lacking}.${hint}`;
    const uncached = cacheHint(input.settings.caches, output);
    if (uncached !== '') return `${fails} packages are missing.${uncached}`;
  }
  return null;
}

/** The variables with their values; empty without the setting. */
function setupEnvOf({ settings, env }: Pick<RunInput, 'settings' | 'env'>): Record<string, string> {
  return Object.fromEntries(settings.setupEnv.map((name) => [name, env[name] ?? '']));
}

/** Why the variables cannot be given to these setup commands; null when they can, or when there are none. */
export function whyNoSetupEnv(
  { input }: Pick<Session, 'input'>,
  setup: readonly string[],
): RunOutcome | null {
  const { settings, trust } = input;
  const [name] = settings.setupEnv;
  if (name === undefined) return null;
  for (const [variable, value] of Object.entries(setupEnvOf(input))) {
    const isShort = value.length < MIN_SECRET_LENGTH;
    const why =
      value === ''
        ? 'is not set'
        : `has fewer than ${MIN_SECRET_LENGTH} characters, too few to be kept out of what is written`;
    if (isShort) return usageError('ERR_SETUP_ENV', sentence(`--setup-env ${variable}: the variable ${why}`));
  }
  if (trust?.isOutsiders)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: code of an outsider, or of a pull request that is continued, is checked out, and setup commands would hand the value to it.`,
    );
  if (settings.verifyIn === 'checkout' && setup.length > 0)
    return usageError(
      'ERR_SETUP_ENV',
      `--setup-env ${name}: with --verify-in checkout the setup commands run again, in a checkout that holds what the model wrote, and would hand the value to it. Use --verify-in worktree.`,
    );
  return null;
}

/** Null if the sandbox isolates the commands from each other. */
export function whyNotInSandbox(
  { input }: Pick<Session, 'input'>,
  { level }: Pick<Sandbox, 'level'>,
): RunOutcome | null {
  const [name] = input.settings.setupEnv;
  if (name === undefined || level !== 'none') return null;
  return usageError(
    'ERR_SETUP_ENV',
    `--setup-env ${name}: commands run without a sandbox, so the model's could read what setup commands leave anywhere. Set one up: patchsmith doctor says what is missing.`,
  );
}
