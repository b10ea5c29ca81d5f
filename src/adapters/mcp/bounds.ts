/** How much of the runner's memory a server may use, however it is reached. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Most bytes of one message; by HTTP, of one answer. */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Maximum messages waiting to be delivered; a turn has far fewer calls. */
const MAX_UNSENT = 256;

/** A connection that can be cut off. */
export interface GivenUp {
  /** Why it is gone, in words; null while it exists. */
  whyGone(): string | null;
  giveUp(why: string): void;
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
