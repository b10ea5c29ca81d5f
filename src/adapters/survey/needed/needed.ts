/** What a verify command needs of packages. */

import type { PackageManager } from '../../../domain/packages/package-manager.ts';

/** What a command needs, and how a shell in the folder of the project sees it. */
export interface NeededPackages {
  readonly command: string;
  /** Whose cache would show them; null where they belong into the checkout. */
  readonly manager: PackageManager | null;
  /** What is not there if `look` fails. */
  readonly what: string;
  /** A script that succeeds where it is there. */
  readonly look: string;
  /** To be typed once on a machine with a network. */
  readonly line: string;
  readonly hosts: readonly string[];
}
