/** The commands that run once before the model is asked: the plan's setup, and the verify commands where asked for. */

import { runCommands } from '../agent/verification.ts';
import type { PathChange } from '../domain/change.ts';
import type { CommandReport } from '../domain/events.ts';
import { describeEndAndTime, succeeded } from '../domain/tool.ts';
import type { Sandbox, Workspace } from '../ports.ts';
import type { Session } from './session.ts';

/** `baseline` is null where nobody wants to know how the verify commands end before the work. */
export interface CommandsBefore {
  readonly setup: readonly string[];
  readonly baseline: readonly string[] | null;
  /** For each of them. */
  readonly timeoutMs: number;
}

/** `interrupted`: a signal or the deadline came first. `changes` is what all of them changed, path by path. */
export type RanBefore =
  | { status: 'ok'; setup: CommandReport[]; verifyBaseline: CommandReport[] | null; changes: PathChange[] }
  | { status: 'failed'; message: string }
  | { status: 'interrupted' };

/** A setup command that fails stops the run; a verify command that fails is what one wants to know. */
export async function runBefore(
  session: Session,
  commands: CommandsBefore,
  { workspace, sandbox }: { workspace: Workspace; sandbox: Sandbox },
): Promise<RanBefore> {
  const { redact, interrupt } = session;
  const parts = { sandbox, redact, timeoutMs: commands.timeoutMs };
  const setup = await runCommands(commands.setup, interrupt, parts);
  session.tell({ setup, sandbox: sandbox.level });
  if (interrupt.aborted) return { status: 'interrupted' };
  const failed = setup.find((report) => !succeeded(report.end));
  if (failed) {
    const what = `The plan's setup command failed, ${describeEndAndTime(failed.end)}: ${failed.command}`;
    return { status: 'failed', message: `${what}. Its output is in the result.` };
  }
  const { baseline } = commands;
  const verifyBaseline = baseline && (await runCommands(baseline, interrupt, parts));
  session.tell({ verifyBaseline });
  if (interrupt.aborted) return { status: 'interrupted' };

  const anyRan = setup.length > 0 || (verifyBaseline?.length ?? 0) > 0;
  const changes = anyRan ? await workspace.capture('all') : [];
  if (changes.length > 0) {
    const names = changes.slice(0, 5).map((change) => change.path);
    session.warn(`Not in the patch, since commands before the work changed them: ${names.join(', ')}.`);
  }
  return { status: 'ok', setup, verifyBaseline, changes };
}
