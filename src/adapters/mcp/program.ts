/** The connection to an MCP server that is a program: one JSON message per line on its stdin and stdout. */

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JSONRPCMessage, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { describeEnd } from '../../domain/conversation/tool.ts';
import type { CommandInput, CommandResult, CommandTalk } from '../../ports.ts';
import { type GivenUp, MAX_MESSAGE_BYTES, type totalBytes, withBoundedAnswers } from './bounds.ts';

/** How many characters are kept of the end of a server's stderr. */
const MAX_ERRORS = 2_000;
/** How long a server may take to exit once its stdin is closed. */
const GOODBYE_MS = 1_000;

/** Starts the program and resolves when no process of it is left; kills it when the signal aborts. */
export type RunProgram = (talk: CommandTalk, signal: AbortSignal) => Promise<CommandResult>;

/** A transport to a program, which also says why the connection ended. */
export type ProgramTransport = Transport & GivenUp;

/** Makes a transport that starts the program with `start`, and ends it with `close`. `total` counts everything that it prints. */
export function programTransport(run: RunProgram, total: ReturnType<typeof totalBytes>): ProgramTransport {
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
        onOutput: receiver({ isOver: () => why !== null, giveUp, hear, total }),
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

/** Passes on the messages that the server prints; ignores all output once the connection is over. */
function receiver({
  isOver,
  giveUp,
  hear,
  total,
}: {
  isOver(): boolean;
  giveUp(reason: string): void;
  hear(message: JSONRPCMessage): void;
  total: ReturnType<typeof totalBytes>;
}): (bytes: Uint8Array) => void {
  const reader = lineReader(MAX_MESSAGE_BYTES);
  return (bytes) => {
    const excess = total(bytes.length);
    if (isOver()) return;
    const lines = reader(bytes);
    if (excess !== null) return giveUp(excess);
    if (lines === null) return giveUp(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`);
    for (const line of lines) {
      // Some servers print log lines to stdout.
      const { data } = JSONRPCMessageSchema.safeParse(messageIn(line));
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

/** Not bounded in depth, as other JSON is: what is nested too deeply is left out where it is shown, and the server goes on. */
function messageIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Takes bytes and returns the lines that they complete; null once a line is longer than it may be. */
function lineReader(maxBytes: number): (bytes: Uint8Array) => string[] | null {
  let open: Uint8Array[] = [];
  let size = 0;
  return (bytes) => {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const at = bytes.indexOf(0x0a, from);
      const part = bytes.subarray(from, at < 0 ? undefined : at);
      size += part.length;
      if (size > maxBytes) return null;
      // The bytes belong to the caller.
      open.push(at < 0 ? Uint8Array.from(part) : part);
      if (at < 0) return lines;
      lines.push(Buffer.concat(open).toString('utf8'));
      open = [];
      size = 0;
      from = at + 1;
    }
  };
}
