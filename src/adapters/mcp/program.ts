/** A server that uses its stdin and stdout, one JSON message per line, started by `run`. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { describeEnd } from '../../domain/conversation/tool.ts';
import { jsonOrUndefined } from '../../domain/text/json.ts';
import type { CommandInput, CommandResult, CommandTalk } from '../../ports.ts';
import { type GivenUp, MAX_MESSAGE_BYTES, totalBytes, withBoundedAnswers } from './bounds.ts';
import { lineReader } from './line-reader.ts';

/** How many characters of a server's last errors are kept. */
const MAX_ERRORS = 2_000;
/** How long a server may take to end once its input is closed. */
const GOODBYE_MS = 1_000;

/** Starts the program and resolves when no process of it is left; kills it when the signal aborts. */
export type RunProgram = (talk: CommandTalk, signal: AbortSignal) => Promise<CommandResult>;

/** A transport over a program, and what is known of its end. */
export type ProgramTransport = Transport & GivenUp;

/** The program starts with the transport, and ends with it. */
export function programTransport(run: RunProgram): ProgramTransport {
  const stopping = new AbortController();
  let input: CommandInput | null = null;
  let ended: Promise<void> = Promise.resolve();
  let errors = '';
  let why: string | null = null;

  function giveUp(reason: string): void {
    why ??= reason;
    stopping.abort();
  }

  function hear(message: JSONRPCMessage): void {
    transport.onmessage?.(message);
  }

  function end(reason: string, reject: (error: Error) => void): void {
    why ??= reason;
    reject(new Error(why));
    transport.onclose?.();
  }

  async function start(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const talk: CommandTalk = {
        onStart(given) {
          input = given;
          resolve();
        },
        onOutput: receiver({ isOver: () => why !== null, giveUp, hear }),
        onErrors(bytes) {
          errors = (errors + Buffer.from(bytes).toString('utf8')).slice(-MAX_ERRORS);
        },
      };
      ended = run(talk, stopping.signal).then(
        (result) => end(endedWith(result, errors), reject),
        (error: unknown) => end(error instanceof Error ? error.message : String(error), reject),
      );
    });
  }

  const transport: ProgramTransport = {
    start,
    async send(message: JSONRPCMessage) {
      if (why !== null || input === null) throw new Error(why ?? 'it has not been started');
      await input.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      input?.end();
      const isGone = await Promise.race([ended.then(() => true), wait(GOODBYE_MS)]);
      if (isGone !== true) stopping.abort();
      await ended;
    },
    whyGone: () => why,
    giveUp,
  };
  return withBoundedAnswers(transport);
}

/** Takes what the server prints. Nothing of it is heard once that is over. */
function receiver({
  isOver,
  giveUp,
  hear,
}: {
  isOver(): boolean;
  giveUp(reason: string): void;
  hear(message: JSONRPCMessage): void;
}): (bytes: Uint8Array) => void {
  const total = totalBytes();
  const reader = lineReader(MAX_MESSAGE_BYTES);
  return (bytes) => {
    const excess = total(bytes.length);
    if (isOver()) return;
    const lines = reader(bytes);
    if (excess !== null) return giveUp(excess);
    if (lines === null) return giveUp(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`);
    for (const line of lines) {
      // Some servers write notes to their output.
      const { data } = JSONRPCMessageSchema.safeParse(jsonOrUndefined(line));
      if (data !== undefined) hear(data);
    }
  };
}

function endedWith({ end }: CommandResult, errors: string): string {
  return [`it ended (${describeEnd(end)})`, errors.trim()].filter((text) => text !== '').join(': ');
}

function wait(ms: number): Promise<false> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), ms).unref();
  });
}
