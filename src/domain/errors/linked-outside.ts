/** Files of the work tree that are hard links to files outside, and that cannot be copied. */

/** Thrown before any command runs; the run ends as a usage error. `message` names a file and says why. */
export class LinkedOutside extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LinkedOutside';
  }
}
