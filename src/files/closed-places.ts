/**
 * Files and folders of the work tree that their owner has closed, as with `chmod 000`. They could hide a change, so they are
 * opened again to be examined: every name relative to the descriptor of its folder, and never through a link.
 */

import { type BigIntStats, chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs';
import { geteuid } from 'node:process';
import { quotedName } from '../domain/changes/path.ts';
import { type Warning, warning } from '../domain/warnings/warning.ts';
import { hasCode } from './failures.ts';
import { invisible } from './stat.ts';
import { lookAt, O_PATH, viewing } from './tree-view.ts';

/** The access wanted to a place. To write means to change the entries of its parent folder. */
export type Purpose = 'look' | 'write';

/** Owner permission bits that a folder must have for this access. */
const NEEDED: Readonly<Record<Purpose, number>> = { look: 0o500, write: 0o700 };

/** Opens files and folders that a command has closed to their owner, and leaves those closed at the start alone. */
export class ClosedPlaces {
  readonly #root: string;
  readonly #warn: (warning: Warning) => void;
  /** When the first look ended, in ns. Null until then: nothing is opened during it. */
  #sinceNs: bigint | null = null;

  /** `root` is the absolute path of the work tree, without links. */
  constructor(root: string, warn: (warning: Warning) => void) {
    this.#root = root;
    this.#warn = warn;
  }

  /** Ends the first look: what was closed before this time of the file system is the user's, and stays closed. */
  begin(sinceNs: bigint): void {
    this.#sinceNs = sinceNs;
  }

  /** The place has not been touched since the start. */
  isAsFound(path: string): boolean {
    const look = lookAt(this.#root, path);
    return look.status === 'seen' && this.#isOld(look.stat);
  }

  /** A ctime changes with every change of the mode, and cannot be set back. */
  #isOld({ ctimeNs }: { readonly ctimeNs: bigint }): boolean {
    return this.#sinceNs !== null && ctimeNs < this.#sinceNs;
  }

  /** Looks at the path, and again when the way to it could be opened. */
  insist<T extends { readonly status: string }>(path: string, look: () => T): T {
    const found = look();
    return found.status === 'unreadable' && this.open(path, 'look') ? look() : found;
  }

  /** Opens the folders on the way to the path, and the path. False if nothing was closed, or we could not open it. */
  open(path: string, purpose: Purpose): boolean {
    if (this.#sinceNs === null) return false;
    const root = this.#root;
    const names = path === '' ? [] : path.split('/');
    // Paths may come from a journal that anyone has written.
    if (names.includes('..')) return false;
    let hasOpened = false;
    viewing(root, (view) => {
      for (let depth = 0; depth <= names.length; depth += 1) {
        const at = names.slice(0, depth).join('/');
        let place: number;
        try {
          place = openSync(at === '' ? root : view.place(at), O_PATH | constants.O_NOFOLLOW);
        } catch (error) {
          invisible(error);
          return;
        }
        try {
          if (this.#openOne(place, at, purpose)) hasOpened = true;
        } finally {
          closeSync(place);
        }
      }
    });
    return hasOpened;
  }

  #openOne(descriptor: number, path: string, purpose: Purpose): boolean {
    const stat = fstatSync(descriptor, { bigint: true });
    const mode = Number(stat.mode) & 0o7777;
    const wanted = wantedMode(stat, mode, purpose);
    if (wanted === mode || Number(stat.uid) !== geteuid?.() || this.#isOld(stat)) return false;
    try {
      chmodSync(`/proc/self/fd/${descriptor}`, wanted);
    } catch (error) {
      // Immutable, or on a file system that has become read-only.
      if (hasCode(error, 'EPERM', 'EACCES', 'EROFS')) return false;
      throw error;
    }
    const name = path === '' ? 'The root of the work tree' : quotedName(path);
    this.#warn(
      warning(
        'WARN_OPENED_AGAIN',
        `${name} was closed (mode ${digits(mode)}) during the run and has been opened again (mode ${digits(wanted)}).`,
      ),
    );
    return true;
  }
}

/** The mode that gives the owner access; the same mode if it already does. */
function wantedMode(stat: BigIntStats, mode: number, purpose: Purpose): number {
  if (stat.isDirectory()) return (mode & NEEDED[purpose]) === NEEDED[purpose] ? mode : mode | 0o700;
  if (stat.isFile()) return (mode & 0o400) !== 0 ? mode : mode | 0o600;
  return mode;
}

function digits(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
