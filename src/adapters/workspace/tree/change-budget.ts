/** Counts what a run changes, and decides which contents are stored: those over a limit are not even read. */

import { statfsSync } from 'node:fs';
import { type ChangeLimits, type ExceededChangeLimit, maxFolderEntries } from '../../../domain/run/limits.ts';
import type { FolderLimit } from '../../../files/tree-view.ts';

/** What the baseline stores does not count; `begin` marks its end. */
export class ChangeBudget {
  readonly #limits: ChangeLimits;
  readonly #freeBytes: () => number;
  readonly #freeAtStart: number;
  readonly #files = new Set<string>();
  /** Paths that did not fit, with their sizes. */
  readonly #leftOut = new Map<string, number>();
  #bytes = 0;
  #counts = false;
  #over: ExceededChangeLimit['limit'] | null = null;
  #largeFolder: string | null = null;

  /** For code that lists folders of the work tree. Counts from the start. */
  readonly folders: FolderLimit;

  /** `freeBytes` checks the disk on which contents are stored. */
  constructor(limits: ChangeLimits, freeBytes: () => number) {
    this.#limits = limits;
    this.#freeBytes = freeBytes;
    this.#freeAtStart = freeBytes();
    this.folders = {
      maxEntries: maxFolderEntries(limits),
      exceeded: (folder) => {
        this.#over ??= 'folder_entries';
        this.#largeFolder ??= folder;
      },
    };
  }

  /** From now on changes count. */
  begin(): void {
    this.#counts = true;
  }

  /** False if a content of this size must not be read. One of the previous size is allowed, since it may be unchanged. */
  fits(path: string, size: number, sizeBefore: number | null): boolean {
    if (!this.#counts || size === sizeBefore) return true;
    const over = this.#limitFor(path, size);
    if (over !== null) this.#leaveOut(path, size, over);
    return over === null;
  }

  /** Counts a content that turned out to have changed. False if it is too much after all. */
  count(path: string, size: number): boolean {
    if (!this.#counts) return true;
    const isOneMore = !this.#files.has(path) && this.#files.size >= this.#limits.maxChangedFiles;
    const over = isOneMore ? 'changed_files' : this.#limitFor(path, size);
    if (over !== null) {
      this.#leaveOut(path, size, over);
      return false;
    }
    this.#leftOut.delete(path);
    this.#files.add(path);
    this.#bytes += size;
    return true;
  }

  /** The first limit that was exceeded; null if none was. */
  get exceeded(): ExceededChangeLimit | null {
    return this.#over === null ? null : this.#measured(this.#over);
  }

  #measured(limit: ExceededChangeLimit['limit']): ExceededChangeLimit {
    const { maxChangedFiles, maxChangedBytes, maxChangedFileBytes, maxDiskBytes } = this.#limits;
    const sizes = [...this.#leftOut.values()];
    switch (limit) {
      case 'changed_files':
        return { limit, value: maxChangedFiles, used: this.#files.size + sizes.length };
      case 'changed_bytes': {
        const used = sizes.reduce((sum, size) => sum + size, this.#bytes);
        return { limit, value: maxChangedBytes, used };
      }
      case 'changed_file_bytes': {
        const used = sizes.reduce((most, size) => Math.max(most, size), 0);
        return { limit, value: maxChangedFileBytes, used };
      }
      case 'disk_bytes':
        return { limit, value: maxDiskBytes, used: this.#usedDisk() };
      case 'folder_entries': {
        const { maxEntries } = this.folders;
        return { limit, value: maxEntries, used: maxEntries + 1, folder: this.#largeFolder ?? '' };
      }
    }
  }

  /** Paths that changed and whose new content is unknown. */
  get leftOut(): string[] {
    return [...this.#leftOut.keys()];
  }

  #limitFor(path: string, size: number): ExceededChangeLimit['limit'] | null {
    const { maxChangedFiles, maxChangedBytes, maxChangedFileBytes, maxDiskBytes } = this.#limits;
    if (size > maxChangedFileBytes) return 'changed_file_bytes';
    // A file is known to have changed only once it has been read: one too many is enough.
    const isFull = this.#over === 'changed_files' && this.#files.size >= maxChangedFiles;
    if (isFull && !this.#files.has(path)) return 'changed_files';
    if (this.#bytes + size > maxChangedBytes) return 'changed_bytes';
    return this.#usedDisk() > maxDiskBytes ? 'disk_bytes' : null;
  }

  #leaveOut(path: string, size: number, over: ExceededChangeLimit['limit']): void {
    this.#over ??= over;
    this.#leftOut.set(path, size);
  }

  #usedDisk(): number {
    return Math.max(0, this.#freeAtStart - this.#freeBytes());
  }
}

/** Free bytes on the disk of a folder. */
export function freeBytesOn(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}
