/** What a run was waiting for when its time was over: for the last line of a run that ends at its deadline. */

import type { RunEvent } from '../run/events.ts';
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
    case 'run.resumed':
      return null;
    default:
      return awaited;
  }
}

function described(tool: string, input: unknown, outcome: ToolOutcome): string {
  const isCommand = outcome.status !== 'finished' && outcome.command !== undefined;
  const command = typeof input === 'object' && input !== null && 'command' in input ? input.command : null;
  return isCommand && typeof command === 'string' ? named('the command', command) : tool;
}

/** Nothing is cut here: what is secret in it is still to be hidden, and half of it would not be known. */
function named(what: string, command: string): string {
  return command.length > 200 || command.includes('\n') ? `${what} under way` : `${what} ${command}`;
}
