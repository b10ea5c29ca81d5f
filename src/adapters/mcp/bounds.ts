/** How much of the runner's resources a server may use, however it is reached. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Most bytes of one message; by HTTP, of one answer. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Most bytes that a server may send in a whole run. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
/** Maximum messages waiting to be delivered; a turn has far fewer calls. */
const MAX_UNSENT = 256;

/** A connection that can be cut off. */
export interface GivenUp {
  /** Why it is gone, in words; null while it exists. */
  whyGone(): string | null;
  giveUp(why: string): void;
}

/** Adds up what a server sends. Returns which limit it has exceeded, in words; null if none. */
export function totalBytes(): (bytes: number) => string | null {
  let total = 0;
  return (bytes) => {
    total += bytes;
    return total > MAX_TOTAL_BYTES ? `it sent more than ${MAX_TOTAL_BYTES / 1024 ** 2} MiB` : null;
  };
}

/** The same transport, closed if a server asks faster than it reads the answers. */
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
