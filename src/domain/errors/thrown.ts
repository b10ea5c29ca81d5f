/** Errors that are thrown to end a run, and caught in one place. */

/**
 * Thrown for a file of the checkout or of its repository that is not what it should be; the run ends as a usage error.
 * The message names the file and says how to proceed.
 */
export class UnusableFile extends Error {
  /** `why` follows the path, as in `is not a file`; `fix` says what helps. */
  constructor(path: string, why: string, fix?: string) {
    super(unusable(path, why, fix));
    this.name = 'UnusableFile';
  }
}

/** The message for people about such a file. */
export function unusable(path: string, why: string, fix = 'Remove it'): string {
  return `${JSON.stringify(path)} ${why}. ${fix}, or name another checkout with --repo.`;
}

/** Thrown before any command runs; the run ends as a usage error. `message` names a file and says why. */
export class LinkedOutside extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LinkedOutside';
  }
}

/** Thrown by file and git operations of the runner once the run is over: the end of the work, not a bug. */
export class CutShort extends Error {
  constructor() {
    super('The run was stopped before this had come to its end.');
    this.name = 'CutShort';
  }
}
