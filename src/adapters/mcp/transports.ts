/** The transports to MCP servers: lines of a program, and streamable HTTP. Both bound how much of the runner's memory a server uses. */

import { setTimeout as delay } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ReadBuffer, serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describeEnd } from '../../domain/conversation/tool.ts';
import type { CommandInput, CommandResult, CommandTalk } from '../../ports.ts';

/** Most bytes of one message; by HTTP, of one answer. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;
/** Maximum messages waiting to be delivered; a turn has far fewer calls. */
const MAX_UNSENT = 256;
/** How many characters are kept of the end of a server's stderr. */
const MAX_ERRORS = 2_000;
/** How long a server may take to exit once its stdin is closed. */
const GOODBYE_MS = 1_000;

/** Starts the program and resolves when no process of it is left; kills it when the signal aborts. */
export type RunProgram = (talk: CommandTalk, signal: AbortSignal) => Promise<CommandResult>;

/** Where a server is, and how to get there. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Knows the machine's proxy. */
  readonly fetch: typeof fetch;
}

/** A transport that can be cut off. */
export interface ServerTransport extends Transport {
  /** Why it is gone, in words; null while it exists. */
  whyGone(): string | null;
  giveUp(why: string): void;
}

/** One JSON message per line on the stdin and stdout of a program, which `start` starts and `close` ends. */
export function programTransport(run: RunProgram): ServerTransport {
  const stopping = new AbortController();
  const buffer = new ReadBuffer({ maxBufferSize: MAX_MESSAGE_BYTES });
  let input: CommandInput | null = null;
  let ended: Promise<void> = Promise.resolve();
  let errors = '';
  let why: string | null = null;

  function onOutput(bytes: Uint8Array): void {
    if (why !== null) return;
    try {
      // The bytes belong to the caller.
      buffer.append(Buffer.from(bytes));
    } catch {
      transport.giveUp(`it sent a message of more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB`);
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

  const transport = withBoundedAnswers({
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
    giveUp(reason) {
      why ??= reason;
      stopping.abort();
    },
  });
  return transport;
}

/** Redirects are followed within the origin only, so that headers go nowhere else. */
export function addressTransport({ url, headers, fetch }: ServerAddress): ServerTransport {
  let why: string | null = null;
  const giveUp = (reason: string) => {
    why ??= reason;
    void transport.close();
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: 'same-origin',
    fetch: async (input, init) => bounded(await fetch(input, init), giveUp),
  });
  // The package's types do not support exact optional properties.
  return withBoundedAnswers(Object.assign(transport, { whyGone: () => why, giveUp }) as ServerTransport);
}

/** The same answer with a body that breaks off at the limit for one message. */
function bounded(answer: Response, giveUp: (why: string) => void): Response {
  if (answer.body === null) return answer;
  let size = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size <= MAX_MESSAGE_BYTES) return controller.enqueue(chunk);
      controller.terminate();
      giveUp(`it sent more than ${MAX_MESSAGE_BYTES / 1024 ** 2} MiB in one answer`);
    },
  });
  return new Response(answer.body.pipeThrough(counting), answer);
}

/** The same transport, closed if a server asks faster than it reads the answers. */
function withBoundedAnswers(transport: ServerTransport): ServerTransport {
  const send = transport.send.bind(transport);
  let unsent = 0;
  return Object.assign(transport, {
    async send(...message: Parameters<Transport['send']>) {
      if (unsent >= MAX_UNSENT) {
        transport.giveUp('it asks faster than it takes the answers');
        throw new Error(transport.whyGone() ?? '');
      }
      unsent += 1;
      await send(...message).finally(() => {
        unsent -= 1;
      });
    },
  });
}
