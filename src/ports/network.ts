/** Access to the network: for commands, for tools, and to the Claude API without a key. Types only. */

import type { FailureReason } from '../domain/conversation/tool.ts';
import type { ServicePlace } from '../domain/review/reachable.ts';

/** Reads web pages. Follows redirects, and refuses every address that is not public. */
export interface PageReader {
  /** `url` is what the model requested. */
  read(url: string, signal: AbortSignal): Promise<PageRead>;
}

/** A page as text, or why there is none. */
export type PageRead =
  | {
      status: 'ok';
      /** Its final address. */
      url: string;
      /** Such as `text/html`. */
      type: string;
      /** The answer's size before conversion to text. */
      bytes: number;
      /** The answer was too long to be read as a whole. */
      isCut: boolean;
      text: string;
    }
  | { status: 'failed'; reason: FailureReason; message: string };

/** What the programs in a sandbox have in place of a network. */
export interface SandboxNetwork {
  /** Serves the connection of a program, a `net.Socket`, as an HTTP proxy does. It ends with the program's command. */
  accept(connection: NodeJS.ReadWriteStream): void;
  /** Counts a name that a program looked up by itself; it was not found. */
  lookedUp(name: string): void;
  /** The services of the machine that programs may reach. */
  readonly services: readonly ServicePlace[];
  /** Connects a program, a `net.Socket`, with one of them. */
  reach(service: ServicePlace, connection: NodeJS.ReadWriteStream): void;
}

/**
 * Access to the Claude API without a key: the platform that runs the process vouches for its identity, and a rule
 * makes the API trust that platform. Ids come from the Claude Console (`fdrl_…`, `svac_…`); null if there is none.
 */
export interface Federation {
  readonly ruleId: string;
  readonly organizationId: string;
  readonly serviceAccountId: string | null;
  readonly workspaceId: string | null;
  /** Fetches a fresh identity token; tokens live for minutes. */
  identityToken(signal: AbortSignal): Promise<IdentityToken>;
  /** Called with each access token before it is used, so that it is redacted like a key. */
  onAccessToken(token: string): void;
}

/** `again`: retrying may help. The message is for people and ends without a full stop. */
export type IdentityToken =
  | { status: 'ok'; token: string }
  | { status: 'failed'; message: string; again: boolean };
