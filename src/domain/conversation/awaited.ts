/** What a run was waiting for when its time was over, for the last line of a run that ends at its deadline. */

import type { CommandReport, RunEvent, RunStarted } from '../run/events.ts';
import type { ToolCall } from './conversation.ts';
import { type ToolOutcome, wasInterrupted } from './tool.ts';

/** The end of a sentence; null while nothing in particular is known. `calls` are those of the current turn. */
export function awaitedAfter(
  awaited: string | null,
  event: RunEvent,
  calls: readonly ToolCall[],
): string | null {
  switch (event.type) {
    case 'turn.retried':
      return `attempt ${event.attempt} at the model's answer, after: ${event.cause.replace(/\.$/, '')}`;
    case 'tool.completed': {
      if (!wasInterrupted(event.outcome)) return awaited;
      const call = calls.find(({ id }) => id === event.call);
      return awaited ?? described(call?.name ?? 'a call', call?.input, event.outcome);
    }
    case 'verify.completed': {
      const cutOff = event.reports.find(({ end }) => end.interrupted);
      return cutOff === undefined ? awaited : named('the verify command', cutOff.command);
    }
    case 'turn.completed':
    case 'turn.failed':
    case 'review.completed':
    case 'review.failed':
    case 'context.compacted':
    case 'compaction.failed':
    case 'run.resumed':
      return null;
    default:
      return awaited;
  }
}

/** The command before the work that was cut off, as the end of a sentence; null when none was. */
export function awaitedBefore({ setup, verifyBaseline }: AwaitedCommands): string | null {
  const cutOff = (reports: readonly CommandReport[] | null) => reports?.find(({ end }) => end.interrupted);
  const ofSetup = cutOff(setup);
  if (ofSetup !== undefined) return named('the setup command', ofSetup.command);
  const ofVerify = cutOff(verifyBaseline);
  return ofVerify === undefined ? null : named('the verify command', ofVerify.command);
}

type AwaitedCommands = Pick<RunStarted, 'setup' | 'verifyBaseline'>;

function described(tool: string, input: unknown, outcome: ToolOutcome): string {
  const isCommand = outcome.status !== 'finished' && outcome.command !== undefined;
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : null;
  return isCommand && typeof command === 'string' ? named('the command', command) : tool;
}

/** Nothing is truncated here: secrets are redacted later, and half of one would not be recognised. */
function named(what: string, command: string): string {
  return command.length > 200 || command.includes('\n') ? `${what} under way` : `${what} ${command}`;
}
