/** The connection to an MCP server that is a program: one JSON message per line on its stdin and stdout. */

import { setTimeout as delay } from 'node:timers/promises';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describeEnd } from '../../domain/conversation/tool.ts';
import type { CommandInput, CommandResult, CommandTalk } from '../../ports.ts';
import { type GivenUp, MAX_MESSAGE_BYTES, withBoundedAnswers } from './bounds.ts';

/** How many characters are kept of the end of a server's stderr. */
const MAX_ERRORS = 2_000;
/** How long a server may take to exit once its stdin is closed. */
const GOODBYE_MS = 1_000;

/** Starts the program and resolves when no process of it is left; kills it when the signal aborts. */
export type RunProgram = (talk: CommandTalk, signal: AbortSignal) => Promise<CommandResult>;

/** A transport to a program, which also says why the connection ended. */
export type ProgramTransport = Transport & GivenUp;

/** Makes a transport that starts the program with `start`, and ends it with `close`. */
export function programTransport(run: RunProgram): ProgramTransport {
  const stopping = new AbortController();
  const buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  let input: CommandInput | null = null;
  let ended: Promise<void> = Promise.resolve();
  let errors = '';
  let why: string | null = null;

  function giveUp(reason: string): void {
    why ??= reason;
    stopping.abort();
  }

  function end(reason: string, reject: (error: Error) => void): void {
    why ??= reason;
    reject(new Error(why));
    transport.onclose?.();
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
    for (let message = nextIn(buffer); message !== null; message = nextIn(buffer))
      if (message !== 'none') transport.onmessage?.(message);
  }

  const transport: ProgramTransport = {
    start: () =>
      new Promise<void>((resolve, reject) => {
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
          (result) => end(endedWith(result, errors), reject),
          (error: unknown) => end(error instanceof Error ? error.message : String(error), reject),
        );
      }),
    async send(message: JSONRPCMessage) {
      if (why !== null || input === null) throw new Error(why ?? 'it has not been started');
      await input.write(serializeMessage(message));
    },
    async close() {
      input?.end();
      const isGone = await Promise.race([ended.then(() => true), delay(GOODBYE_MS, false, { ref: false })]);
      if (!isGone) stopping.abort();
      await ended;
    },
    whyGone: () => why,
    giveUp,
  };
  return withBoundedAnswers(transport);
}

/** The next message; null at the end, and `none` for a line that is no message: some servers print log lines to stdout. */
function nextIn(buffer: ReadBuffer): JSONRPCMessage | 'none' | null {
  try {
    return buffer.readMessage();
  } catch {
    return 'none';
  }
}

function endedWith({ end }: CommandResult, errors: string): string {
  return [`it ended (${describeEnd(end)})`, errors.trim()].filter((text) => text !== '').join(': ');
}
