/** Shows the commands that run before the work as they start and end, and that a silent one is still running. */

import type { Progress } from '../../adapters/sinks/progress.ts';
import type { CommandWatch } from '../../agent/verification.ts';

/** Milliseconds between two lines about a command that goes on. */
const HEARTBEAT_MS = 30_000;

/** The lines of one kind of command, each of which may take `timeoutMs`. */
export function watchCommands(
  progress: Pick<Progress, 'commandBefore' | 'commandGoesOn'>,
  kind: 'setup' | 'verify',
  timeoutMs: number,
  heartbeatMs = HEARTBEAT_MS,
): CommandWatch {
  return (command) => {
    progress.commandGoesOn(kind, command);
    const startedAt = performance.now();
    const beat = setInterval(
      () => progress.commandGoesOn(kind, command, performance.now() - startedAt, timeoutMs),
      heartbeatMs,
    );
    beat.unref();
    return (report) => {
      clearInterval(beat);
      progress.commandBefore(kind, report);
    };
  };
}
