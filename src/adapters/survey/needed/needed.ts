/** Which packages a verify command needs. */

import type { PackageManager } from '../../../domain/packages/package-manager.ts';

/** What a command needs, and how a shell in the project's folder checks for it. */
export interface NeededPackages {
  readonly command: string;
  /** The manager whose cache would have them; null if they belong in the checkout. */
  readonly manager: PackageManager | null;
  /** What is missing if `look` fails. */
  readonly what: string;
  /** A script that succeeds if it exists. */
  readonly look: string;
  /** The command to type once on a machine with a network. */
  readonly line: string;
  readonly hosts: readonly string[];
}
