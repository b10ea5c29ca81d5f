/** Runs the plan's verify commands, one after the other, in the sandbox: the runner's own judgement of the work. */

import { changesRecorded } from '../domain/changes-recorded.ts';
import type { CommandReport, RunAction } from '../domain/events.ts';
import { cutTo, excerptLength } from '../domain/excerpt.ts';
import { type Redact, redactedExcerpt } from '../domain/redact.ts';
import type { Sandbox, Workspace } from '../ports.ts';
import { enforcePolicy } from './policy.ts';

export interface VerificationParts {
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly redact: Redact;
  /** False for a path that the plan or the settings do not allow to change. */
  readonly permits: (path: string) => boolean;
  readonly timeoutMs: number;
}

/** Characters of a command's output that the model and the result are shown. */
const REPORT_CHARS = 8_000;

export class Verification {
  readonly #parts: VerificationParts;

  constructor(parts: VerificationParts) {
    this.#parts = parts;
  }

  /**
   * All commands run, also after one has failed, so that one fix round can mend everything. What they changed in the
   * work tree is recorded as theirs and stays out of the patch, or put back where it may not change.
   */
  async *run(commands: readonly string[], iteration: number, signal: AbortSignal): AsyncGenerator<RunAction> {
    const { workspace } = this.#parts;
    const line = await workspace.drawLine();
    yield* changesRecorded(line.changes, { by: 'outside' }, iteration);
    const reports = await runCommands(commands, signal, this.#parts);
    const { earlier, since } = await line.captureSince();
    yield* changesRecorded(earlier, { by: 'outside' }, iteration);
    const source = { by: 'verify' as const };
    yield* (await enforcePolicy({ changes: since, source, iteration }, this.#parts)).actions;
    yield { type: 'verify.completed', reports };
  }
}

/** Runs commands in order until one is interrupted. */
export async function runCommands(
  commands: readonly string[],
  signal: AbortSignal,
  { sandbox, redact, timeoutMs }: Omit<VerificationParts, 'workspace' | 'permits'>,
): Promise<CommandReport[]> {
  const reports: CommandReport[] = [];
  for (const command of commands) {
    const { end, output } = await sandbox.run({ script: command, timeoutMs, signal });
    const clean = redactedExcerpt(output, redact);
    const shown = cutTo(clean, REPORT_CHARS);
    const gap =
      shown.omitted > 0 ? `\n[${shown.omitted} of ${excerptLength(shown)} characters left out]\n` : '';
    reports.push({ command, end, output: `${shown.head}${gap}${shown.tail}` });
    if (end.interrupted) break;
  }
  return reports;
}
