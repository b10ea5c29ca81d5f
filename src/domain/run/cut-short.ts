/** The end of work that ran out of time. */

/** Thrown by file and git operations of the runner once the run is over: the end of the work, not a bug. */
export class CutShort extends Error {
  constructor() {
    super('The run was stopped before this had come to its end.');
    this.name = 'CutShort';
  }
}
