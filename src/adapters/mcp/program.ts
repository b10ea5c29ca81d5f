/** The connection to an MCP server that is a program: one JSON message per line on its stdin and stdout. */

import { setTimeout as delay } from 'node:timers/promises';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describeEnd } from '../../domain/conversation/tool.ts';
import type { CommandInput, CommandResult, CommandTalk } from '../../ports.ts';

/** Most bytes of one message. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Maximum messages waiting to be taken; a turn has far fewer calls. */
const MAX_UNSENT = 256;
/** How many characters are kept of the end of a server's stderr. */
const MAX_ERRORS = 2_000;
/** How long a server may take to exit once its stdin is closed. */
const GOODBYE_MS = 1_000;

/** Starts the program and resolves when no process of it is left; kills it when the signal aborts. */
export type RunProgram = (talk: CommandTalk, signal: AbortSignal) => Promise<CommandResult>;

/** A transport that says why it is gone, in words; null while it exists. */
export type ProgramTransport = Transport & { whyGone(): string | null };

/** `start` starts the program, and `close` ends it. */
export function programTransport(run: RunProgram): ProgramTransport {
  const stopping = new AbortController();
  const buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  let input: CommandInput | null = null;
  let ended: Promise<void> = Promise.resolve();
  let errors = '';
  let why: string | null = null;
  let unsent = 0;

  function giveUp(reason: string): void {
    why ??= reason;
    stopping.abort();
  }

  function onOutput(bytes: Uint8Array): void {
    if (why !== null) return;
    try {
      // The bytes belong to the caller.
      buffer.append(Buffer.from(bytes));
    } catch {
      giveUp(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`);
      return;
    }
    for (;;) {
      try {
        const message = buffer.readMessage();
        if (message === null) return;
        transport.onmessage?.(message);
      } catch {
        // Some servers print log lines to stdout.
      }
    }
  }

  const transport: ProgramTransport = {
    start: () =>
      new Promise<void>((resolve, reject) => {
        const end = (reason: string) => {
          why ??= reason;
          reject(new Error(why));
          transport.onclose?.();
        };
        const talk: CommandTalk = {
          onStart(given) {
            input = given;
            resolve();
          },
          onOutput,
          onErrors(bytes) {
            errors = (errors + Buffer.from(bytes).toString('utf8')).slice(-MAX_ERRORS);
          },
        };
        ended = run(talk, stopping.signal).then(
          (result) => end(`it ended (${describeEnd(result.end)})${errors.trim() && `: ${errors.trim()}`}`),
          (error: unknown) => end(error instanceof Error ? error.message : String(error)),
        );
      }),
    async send(message) {
      if (unsent >= MAX_UNSENT) giveUp('it asks faster than it takes the answers');
      if (why !== null || input === null) throw new Error(why ?? 'it has not been started');
      unsent += 1;
      await input.write(serializeMessage(message)).finally(() => {
        unsent -= 1;
      });
    },
    async close() {
      input?.end();
      const isGone = await Promise.race([ended.then(() => true), delay(GOODBYE_MS, false, { ref: false })]);
      if (!isGone) stopping.abort();
      await ended;
    },
    whyGone: () => why,
  };
  return transport;
}
