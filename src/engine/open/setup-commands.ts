/** The commands that run once before the model is asked: the plan's setup and, on request, the verify commands. */

import { runCommands, runInPlace } from '../../agent/verification.ts';
import type { PathChange } from '../../domain/changes/change.ts';
import { describeEndAndTime, succeeded } from '../../domain/conversation/tool.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/listed.ts';
import type { Sandbox, VerifyPlace, Workspace } from '../../ports.ts';
import type { Session } from '../session.ts';
import { whyNotRun, whyNotRunnable } from './preflight.ts';

/** `baseline` is null when the verify commands are not to be run before the work. */
export interface CommandsBefore {
  readonly setup: readonly string[];
  readonly verify: readonly string[];
  readonly baseline: readonly string[] | null;
  /** Per command. */
  readonly timeoutMs: number;
}

/** `interrupted`: a signal or the deadline came first. `changes` is what they all changed together, path by path. */
export type RanBefore =
  | { status: 'ok'; setup: CommandReport[]; verifyBaseline: CommandReport[] | null; changes: PathChange[] }
  | { status: 'failed'; message: string }
  | { status: 'interrupted' };

/** A failing setup command stops the run; a failing verify command is a result. */
export async function runBefore(
  session: Session,
  commands: CommandsBefore,
  places: Places,
): Promise<RanBefore> {
  const ran = await runAll(session, commands, places);
  // If the run goes on, capturing what they changed has already done this.
  if (ran.status !== 'ok') await places.workspace.sweep();
  return ran;
}

interface Places {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly verifyPlace: VerifyPlace;
}

async function runAll(
  session: Session,
  commands: CommandsBefore,
  { workspace, sandbox, verifyPlace }: Places,
): Promise<RanBefore> {
  const { redact, interrupt } = session;
  const parts = { sandbox, redact, timeoutMs: commands.timeoutMs };
  const setup = await runCommands(commands.setup, interrupt, { ...parts, sandbox: forSetup(sandbox) });
  session.recordAndSave({ setup, sandbox: sandbox.level });
  if (interrupt.aborted) return { status: 'interrupted' };
  const failed = setup.find((report) => !succeeded(report.end));
  if (failed) return setupFailed(failed, '');
  const { verify, baseline } = commands;
  const missing = setup.length > 0 ? await whyNotRunnable(session, verify, sandbox) : null;
  if (missing !== null) return { status: 'failed', message: missing };
  const verifyBaseline = baseline && (await baselineIn(verifyPlace, baseline, parts, interrupt));
  session.recordAndSave({ verifyBaseline });
  if (interrupt.aborted) return { status: 'interrupted' };
  const unready = verifyBaseline?.find(({ command }) => !baseline?.includes(command));
  if (unready) return setupFailed(unready, ' in a fresh checkout of the base');
  const notRun = whyNotRun(verifyBaseline ?? []);
  if (notRun !== null) return { status: 'failed', message: notRun };

  const inWorkTree = verifyPlace.kind === 'worktree' && (verifyBaseline?.length ?? 0) > 0;
  const anyRan = setup.length > 0 || inWorkTree;
  const changes = anyRan ? await workspace.capture('after_commands') : [];
  if (changes.length > 0) {
    const names = changes.map((change) => change.path);
    session.warn(`Not in the patch, because commands before the work changed them: ${listed(names, 5)}.`);
  }
  return { status: 'ok', setup, verifyBaseline, changes };
}

/**
 * Setup commands are the operator's: files that the policy keeps read-only for the model's commands are writable for them.
 */
export function forSetup(sandbox: Sandbox): Pick<Sandbox, 'run'> {
  return { run: (command) => sandbox.run({ ...command, isSetup: true }) };
}

/** Reports of `commands`; in a fresh checkout, of the setup commands instead if any of them fails. */
export async function baselineIn(
  place: VerifyPlace,
  commands: readonly string[],
  parts: Parameters<typeof runCommands>[2],
  interrupt: AbortSignal,
): Promise<CommandReport[]> {
  // No command of the model has run yet, so the work tree holds nothing to be protected from.
  if (place.kind === 'worktree') return runCommands(commands, interrupt, parts);
  const opened = await place.open([], interrupt);
  if (opened.status === 'interrupted') return [];
  return runInPlace(opened, { setup: place.setup, commands }, interrupt, parts);
}

function setupFailed(
  { command, end }: CommandReport,
  where: string,
): Extract<RanBefore, { status: 'failed' }> {
  const what = `The plan's setup command failed${where}, ${describeEndAndTime(end)}: ${command}`;
  return { status: 'failed', message: `${what}. Its output is in the result.` };
}
