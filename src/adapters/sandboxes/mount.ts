/** Mounts of a sandbox, and the places inside that are not those of the machine. */

import { join } from 'node:path';

/** Applied in order: a later mount covers an earlier one. */
export type Mount = Bind | OwnMount;

/** A place of the machine that commands see. */
export interface Bind {
  readonly kind: 'read-only' | 'read-write';
  readonly source: string;
  readonly at: string;
  /** Skipped if the source does not exist. */
  readonly optional?: boolean;
  /** What names the source, for messages. */
  readonly namedBy?: string;
}

/** A mount whose source was examined (`pinMounts`): a real path, and what was there. */
export type PinnedMount = OwnMount | (Bind & { readonly dev: bigint; readonly ino: bigint });

type OwnMount =
  | { kind: 'link'; to: string; at: string }
  | { kind: 'scratch'; at: string; bytes: number }
  /** `/proc` and `/dev`. */
  | { kind: 'processes' | 'devices'; at: string }
  /** Makes `at` read-only, except for mounts below it. */
  | { kind: 'closed'; at: string };

/** The home folder inside: empty, and removed with the command. */
export const HOME_INSIDE = '/home/agent';
/** Where our own files that commands need are mounted. */
export const OURS_INSIDE = '/run/patchsmith';

/** Below it, commands see the caches of package managers. */
export const CACHES_INSIDE = join(OURS_INSIDE, 'caches');

/** The mount of another file of our own, and its path inside. */
export function oursInside(source: string, name: string): Bind {
  return { kind: 'read-only', source, at: join(OURS_INSIDE, name) };
}
