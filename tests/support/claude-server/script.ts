/** What a scripted model says, and what goes wrong while it says it. */

import type { ServerResponse } from 'node:http';

/** A block as it goes over the wire. */
export interface Block {
  type: string;
  [field: string]: unknown;
}

/** A tool call of the model. `rawInput` is sent as it is, instead of the JSON of `input`. */
export interface ScriptedCall {
  name: string;
  input?: Record<string, unknown>;
  rawInput?: string;
  /** Without it the server makes one up: `toolu_<request>_<call>`. */
  id?: string;
}

/**
 * One answer, and the fault that spoils it. Counts of events are counts of SSE events that still go out before the
 * fault. A fault uses up its turn: the next request gets the next turn of the script.
 */
export interface ScriptedTurn {
  text?: string;
  calls?: readonly ScriptedCall[];
  /** Bound models think by themselves before they speak: `false` turns that off, a string is the thought itself. */
  thinking?: boolean | string;
  /** Send the thought as an opaque `redacted_thinking` block. */
  redacted?: boolean;
  /** Blocks to send after thinking and text and before the calls, of any type. */
  blocks?: readonly Block[];
  /** Default: `tool_use` when there are calls, else `end_turn`. Any string can be sent. */
  stop?: string;
  stopDetails?: Record<string, unknown>;
  /** Replaces every event after `message_start` by these. */
  events?: readonly Record<string, unknown>[];
  /** Default: as many as the content has. */
  outputTokens?: number;
  /** The server says nothing of tokens, as endpoints do that only speak like the API. */
  uncounted?: true;
  fault?: Fault;
  /** Bytes per write; 1 cuts every character that has more. Default: one event a write. */
  chunkBytes?: number;
  /** Milliseconds between writes. */
  gapMs?: number;
  /** Send this many pings, one a gap, before the first event after `message_start`. */
  pings?: number;
}

export type Fault =
  /** An HTTP error instead of an answer. `type` and `message` have the API's defaults for the status. */
  | {
      kind: 'http';
      status: number;
      type?: string;
      message?: string;
      code?: string;
      retryAfter?: string;
      /** Sent instead of the API's JSON. */
      rawBody?: string;
      headers?: Record<string, string>;
    }
  /** `event: error` inside a stream that began well. */
  | { kind: 'error_event'; type: string; message?: string; code?: string; afterEvents?: number }
  /** The connection is reset. `afterEvents` null: before any header. */
  | { kind: 'reset'; afterEvents: number | null }
  /** The stream ends in good order, but too early. */
  | { kind: 'end'; afterEvents: number }
  /** Nothing more comes, and the connection stays open. `afterEvents` null: not even headers. */
  | { kind: 'stall'; afterEvents: number | null }
  /** An event whose data is no JSON. */
  | { kind: 'malformed'; afterEvents: number }
  /** Whatever `send` writes, in place of headers and answer. */
  | { kind: 'garbage'; send: (response: ServerResponse) => void };

/** The list is played in order; a function is asked for every request that was accepted, counted from 0. */
export type Script =
  | readonly ScriptedTurn[]
  | ((request: Record<string, unknown>, index: number) => ScriptedTurn);
