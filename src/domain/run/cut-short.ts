/** The end of work that has run out of time. */

/** Thrown by whatever the runner does with files and git once the run is over: it is the end of the work, and no bug. */
export class CutShort extends Error {
  constructor() {
    super('The run was stopped before this had come to its end.');
    this.name = 'CutShort';
  }
}
