/** The inputs for opening the servers of a run, and the result. */

import type { ServerTool, ServerUse } from '../../domain/mcp/server-tool.ts';
import type { RunEvent } from '../../domain/run/events.ts';
import type { EventSink, Sandbox, Tool } from '../../ports.ts';

/** Where servers run, and who ends them. */
export interface ServerPlaces {
  readonly sandbox: Sandbox;
  readonly scratchDir: string;
  /** Of the work tree. */
  readonly root: string;
  readonly own: (close: () => unknown) => void;
  /** What a resumed run has done so far; absent for a new one. */
  readonly events?: readonly RunEvent[];
}

/** The tools of the servers, for the model and for the record. */
export interface OpenServers {
  readonly status: 'ok';
  readonly tools: readonly Tool[];
  readonly recorded: readonly ServerTool[];
  /** Ends those that are programs, with all their processes; the next call of a tool starts its server again. Never rejects. */
  readonly rest: () => Promise<void>;
  /** What the result says, as of now. */
  readonly used: () => ServerUse[];
  /** Counts the calls. */
  readonly counter: EventSink;
}

/** Tools that keep the names and the order which a run began with. */
export interface Rebinding {
  /** The tools under the recorded names. */
  bound(recorded: readonly ServerTool[]): Pick<OpenServers, 'tools' | 'recorded'>;
}
