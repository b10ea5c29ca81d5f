/**
 * The step's outputs to its runner. Each is written as soon as it is known, since the process can be killed at any time: from the
 * first moment, the outputs contain an outcome. The format of its files is described at
 * https://docs.github.com/actions/reference/workflow-commands-for-github-actions#environment-files.
 */

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import type { RunDirectory } from '../adapters/storage/run-directory.ts';
import type { Environment } from '../domain/environment.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import { EXIT_CODE, type OutcomeName, SIGNAL_EXIT_CODE } from '../domain/run/exit-code.ts';
import type { Interruption } from '../domain/run/limits.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import type { RunWatcher } from '../engine/run-input.ts';
import {
  continuedOutputs,
  directoryOutputs,
  type Outputs,
  outcomeOutputs,
  preparedOutputs,
  publicationOutputs,
  resultOutputs,
} from './outputs.ts';

/** State for the post step, which receives it in its environment as `STATE_<name>`. */
export const STATE = { runDir: 'run-dir', publishing: 'publishing', ended: 'ended' } as const;

/** Ends that the run did not reach by itself, and after which nothing has to be permitted again. */
const CUT_OFF: readonly string[] = ['interrupted', 'internal_error'] satisfies OutcomeName[];

/** Watches a run or a publication and shows it to the runner: masks, groups, outputs, annotations and the summary. */
export class ActionStep implements RunWatcher {
  readonly #files: RunnerFiles;
  readonly #command: (line: string) => void;
  #hasEnded = false;
  #inGroup = false;
  #hasBegun = false;
  /** The run directory and the result, once they exist. */
  directory: RunDirectory | null = null;
  result: RunResult | null = null;
  publication: Publication | null = null;

  /** `command` prints a line that the runner interprets, among the lines for people. */
  constructor(files: RunnerFiles, command: (line: string) => void) {
    this.#files = files;
    this.#command = command;
  }

  /** Nothing can be reported once a signal that the process cannot see has killed it, so this outcome is set beforehand. */
  begin(): void {
    this.#tell(
      outcomeOutputs({
        name: 'internal_error',
        exitCode: EXIT_CODE.internal_error,
        errorCode: 'ERR_PROCESS_DIED',
      }),
    );
  }

  /** A runner that cancels gives the step a few seconds and then kills it. */
  onInterrupt(interruption: Interruption): void {
    if (interruption.cause !== 'signal') return;
    const exitCode = SIGNAL_EXIT_CODE[interruption.signal];
    this.#tell(outcomeOutputs({ name: 'interrupted', exitCode, errorCode: 'ERR_INTERRUPTED' }));
  }

  onDirectory(directory: RunDirectory): void {
    this.directory = directory;
    setValues(this.#files.state, { [STATE.runDir]: directory.path });
    this.#tell(directoryOutputs(directory));
  }

  /**
   * The run begins: groups the output from here to the result. Nothing in it can end the group, since no text is read as a
   * command.
   */
  onStart(): void {
    this.openGroup('patchsmith run');
    this.#hasBegun = true;
    // From here on there is a journal, whatever happens to the process.
    this.#tell({ resumable: 'true' });
  }

  onResult(result: RunResult): void {
    this.result = result;
    this.closeGroup();
    this.#tell(resultOutputs(result));
  }

  /** From here on there may be something on GitHub. */
  beginPublication(): void {
    setValues(this.#files.state, { [STATE.publishing]: 'true' });
  }

  onPublication(publication: Publication): void {
    // For a dry run, the pull request is only what would have been opened.
    this.publication = publication.dryRun
      ? { ...publication, pullRequest: null, comment: null }
      : publication;
    this.#tell(publicationOutputs(this.publication));
  }

  /** The pull requests that later jobs have to check out and continue. */
  onContinued(pulls: readonly number[]): void {
    this.#tell(continuedOutputs(pulls));
  }

  /** The plans that later jobs have to carry out. */
  onPrepared(planFiles: readonly string[]): void {
    this.#tell(preparedOutputs(planFiles));
  }

  /** The last report. */
  end(outcome: RunOutcome, summary: string): void {
    this.closeGroup();
    this.#tell(outcomeOutputs(outcome));
    // What comes after the run can be cut off as well.
    const end = this.result?.outcome ?? outcome.name;
    if (this.#hasBegun) this.#tell({ resumable: String(CUT_OFF.includes(end)) });
    this.#hasEnded = true;
    setValues(this.#files.state, { [STATE.ended]: 'true' });
    addToSummary(this.#files, summary);
  }

  /** Folds the output from here to `closeGroup`. */
  openGroup(title: string): void {
    this.#command(`::group::${title}`);
    this.#inGroup = true;
  }

  /** Does nothing if no group is open. */
  closeGroup(): void {
    if (this.#inGroup) this.#command('::endgroup::');
    this.#inGroup = false;
  }

  #tell(outputs: Outputs): void {
    if (!this.#hasEnded) setValues(this.#files.output, outputs);
  }
}

/** Paths of the runner's files; without a runner there are none, and nothing is written. */
export interface RunnerFiles {
  readonly output: string | undefined;
  readonly state: string | undefined;
  readonly summary: string | undefined;
}

/** The files for communicating with the runner, from the environment; undefined outside GitHub Actions. */
export function runnerFiles(env: Environment): RunnerFiles {
  return {
    output: env.GITHUB_OUTPUT || undefined,
    state: env.GITHUB_STATE || undefined,
    summary: env.GITHUB_STEP_SUMMARY || undefined,
  };
}

/** Sets outputs or state. A later value replaces an earlier one. Throws file system errors. */
function setValues(file: string | undefined, values: Readonly<Record<string, string>>): void {
  if (file === undefined) return;
  appendFileSync(file, Object.entries(values).map(entry).join(''));
}

/** Appends Markdown to the summary of the step; the runner accepts nothing if it exceeds 1 MiB in total. */
export function addToSummary({ summary }: RunnerFiles, markdown: string): void {
  if (summary !== undefined) appendFileSync(summary, `${markdown}\n`);
}

/** The author of the value cannot guess the delimiter, so no value can set another name. */
function entry([name, value]: [string, string]): string {
  const delimiter = `delimiter-${randomUUID()}`;
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
