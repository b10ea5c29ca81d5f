/** What a server may take of the runner, whichever way it is reached. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Most bytes of one message; by HTTP, of one answer. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Most bytes that a server may send in a whole run. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** Most messages that wait to be handed over; calls of one turn are far fewer. */
const MAX_UNSENT = 256;

/** A connection that can be cut off. */
export interface GivenUp {
  /** Why it is gone, in words; null while it is there. */
  whyGone(): string | null;
  giveUp(why: string): void;
}

/** Adds up what a server sends. Returns what it has sent too much, in words; null while it has not. */
export function totalBytes(): (bytes: number) => string | null {
  let total = 0;
  return (bytes) => {
    total += bytes;
    return total > MAX_TOTAL_BYTES ? `it sent more than ${MAX_TOTAL_BYTES / 1024 ** 2} MiB` : null;
  };
}

/** The same transport, given up where a server asks faster than it takes the answers. */
export function withBoundedAnswers<T extends Transport & GivenUp>(transport: T): T {
  const send = transport.send.bind(transport);
  let unsent = 0;
  const boundedSend: Transport['send'] = async (message, options) => {
    if (unsent >= MAX_UNSENT) {
      transport.giveUp('it asks faster than it takes the answers');
      throw new Error(transport.whyGone() ?? '');
    }
    unsent += 1;
    try {
      await send(message, options);
    } finally {
      unsent -= 1;
    }
  };
  return Object.assign(transport, { send: boundedSend });
}
