/** The ways out of the machine: for commands, for tools, and to the Claude API without a key. Types only. */

import type { FailureReason } from '../domain/conversation/tool.ts';
import type { RefusedHost } from '../domain/review/refused-hosts.ts';

/** Reads pages of the web. It follows redirections, and refuses every address that is not a public one. */
export interface PageReader {
  /** `url` is what the model has asked for. */
  read(url: string, signal: AbortSignal): Promise<PageRead>;
}

/** A page as text, or why there is none. */
export type PageRead =
  | {
      status: 'ok';
      /** Where it was found in the end. */
      url: string;
      /** Such as `text/html`. */
      type: string;
      /** Of the answer, before it was made text. */
      bytes: number;
      /** The answer was longer than what is read. */
      isCut: boolean;
      text: string;
    }
  | { status: 'failed'; reason: FailureReason; message: string };

/** Searches the web with somebody's index of it. */
export interface SearchProvider {
  /** Whom it asks, for people. */
  readonly name: string;
  search(
    query: string,
    options: { readonly count: number; readonly signal: AbortSignal },
  ): Promise<WebSearch>;
}

/** What was found, the best first, or why nothing was. */
export type WebSearch =
  | { status: 'ok'; found: { readonly title: string; readonly url: string; readonly text: string }[] }
  | { status: 'failed'; reason: FailureReason; message: string };

/** The way out of the sandbox to the allowed hosts. Absent where commands are not contained. */
export interface Egress {
  /** Absolute path of the UNIX socket on which an HTTP proxy listens. */
  readonly socket: string;
  /** The hosts it has refused so far. */
  refused(): RefusedHost[];
  /** Ends every connection. Can be called twice. */
  close(): Promise<void>;
}

/**
 * Access to the Claude API without a key: the platform that the process runs on vouches for its identity, and a rule makes
 * the API trust that platform. Ids are those of the Claude Console (`fdrl_…`, `svac_…`); null where there is none.
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
