/**
 * What the step tells its runner. It is told as soon as it is true, since the process can be killed at any time: from the
 * first moment there is an outcome among the outputs.
 */

import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import { EXIT_CODE, SIGNAL_EXIT_CODE } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import type { RunWatcher } from '../engine/session.ts';
import {
  directoryOutputs,
  type Outputs,
  outcomeOutputs,
  publicationOutputs,
  resultOutputs,
} from './outputs.ts';
import { addToSummary, type RunnerFiles, setValues } from './runner/file-commands.ts';

/** State for the post step, which finds it in its environment as `STATE_<name>`. */
export const STATE = { runDir: 'run-dir', publishing: 'publishing', ended: 'ended' } as const;

/** Watches a run or a publication and shows it to the runner: masks, groups, outputs, annotations and the summary. */
export class ActionStep implements RunWatcher {
  readonly #files: RunnerFiles;
  readonly #command: (line: string) => void;
  #hasEnded = false;
  #inGroup = false;
  /** The run directory and the result, as far as there are any. */
  directory: RunDirectory | null = null;
  result: RunResult | null = null;
  publication: Publication | null = null;

  /** `command` prints a line that the runner obeys, among the lines for people. */
  constructor(files: RunnerFiles, command: (line: string) => void) {
    this.#files = files;
    this.#command = command;
  }

  /** Who kills a process without a signal that it can see says nothing; then this is what has been said. */
  begin(): void {
    this.#tell(outcomeOutputs({ name: 'internal_error', exitCode: EXIT_CODE.internal_error }));
  }

  /** A runner that cancels gives a few seconds and then kills. */
  onInterrupt(interruption: Interruption): void {
    if (interruption.cause !== 'signal') return;
    this.#tell(outcomeOutputs({ name: 'interrupted', exitCode: SIGNAL_EXIT_CODE[interruption.signal] }));
  }

  onDirectory(directory: RunDirectory): void {
    this.directory = directory;
    setValues(this.#files.state, { [STATE.runDir]: directory.path });
    this.#tell(directoryOutputs(directory));
  }

  /** What is printed from here to the result is folded away. Nothing in it can end the group: no text is a command. */
  onStart(): void {
    this.#command('::group::patchsmith run');
    this.#inGroup = true;
  }

  onResult(result: RunResult): void {
    this.result = result;
    this.#endGroup();
    this.#tell(resultOutputs(result));
  }

  /** From here on there can be something on GitHub. */
  beginPublication(): void {
    setValues(this.#files.state, { [STATE.publishing]: 'true' });
  }

  onPublication(publication: Publication): void {
    // What a dry run says of a pull request is what there would be.
    this.publication = publication.dryRun ? { ...publication, pullRequest: null } : publication;
    this.#tell(publicationOutputs(this.publication));
  }

  /** The last thing that is told. */
  end(outcome: RunOutcome, summary: string): void {
    this.#endGroup();
    this.#tell(outcomeOutputs(outcome));
    this.#hasEnded = true;
    setValues(this.#files.state, { [STATE.ended]: 'true' });
    addToSummary(this.#files, summary);
  }

  #endGroup(): void {
    if (this.#inGroup) this.#command('::endgroup::');
    this.#inGroup = false;
  }

  #tell(outputs: Outputs): void {
    if (!this.#hasEnded) setValues(this.#files.output, outputs);
  }
}
