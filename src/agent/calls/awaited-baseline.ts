/** The baseline of a large tree, which is taken while the model works: what waits for it, and what is noted meanwhile. */

import type { Writer } from '../../domain/changes/change.ts';
import { quotedName } from '../../domain/changes/path.ts';
import { changesRecorded } from '../../domain/journal/change-events.ts';
import { CutShort } from '../../domain/run/cut-short.ts';
import type { RunAction } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/listed.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { type PreparedCall, sourceOf, targetsOf } from './prepared-call.ts';

/** Maximum number of paths in one sentence. */
const MAX_NAMED = 20;

/** Records the baseline once, when the first call needs it. */
export class AwaitedBaseline {
  readonly #workspace: Workspace;
  #isAwaited: boolean;
  /** Who wrote before the baseline, by path. */
  readonly #earlyWriters = new Map<string, Writer>();

  /** `isAwaited`: the base was recorded without its tree. */
  constructor(workspace: Workspace, isAwaited: boolean) {
    this.#workspace = workspace;
    this.#isAwaited = isAwaited;
  }

  /** Waits for it, and records it unless that has been done. Called before anything that may change any file. */
  async *take(): AsyncGenerator<RunAction> {
    if (!this.#isAwaited) return;
    try {
      const { base } = await this.#workspace.baseline();
      this.#isAwaited = false;
      yield { type: 'baseline.taken', base };
    } catch (error) {
      // Without a baseline there is no patch, and the run ends here. One that ran out of time can be continued.
      if (!(error instanceof CutShort)) yield* this.#takeBack();
      throw error;
    }
  }

  /** True when these calls do not wait for the baseline: what they will write is noted. */
  async *noteBefore(lane: readonly PreparedCall[], iteration: number): AsyncGenerator<RunAction, boolean> {
    const { early } = this.#workspace;
    if (!this.#isAwaited || early === undefined) return false;
    const targets = targetsOf(lane);
    const isOfWrites = lane.every(({ lane: kind, isOutside }) => kind === 'write' && !isOutside);
    if (!isOfWrites || targets.length < lane.length) return false;
    const noted = await early.note(targets);
    if (noted === null) return false;
    for (const prepared of lane)
      if (!('refusal' in prepared) && prepared.target !== null)
        this.#earlyWriters.set(prepared.target, { source: sourceOf(prepared), iteration });
    if (noted.length > 0) yield { type: 'baseline.noted', states: [...noted] };
    return true;
  }

  /** Reverts what was written before the baseline, and records that. */
  async *#takeBack(): AsyncGenerator<RunAction> {
    const taken = await this.#workspace.early?.takeBack();
    if (taken === undefined) return;
    for (const change of taken.reverted) {
      const writer = this.#earlyWriters.get(change.path);
      if (writer !== undefined) yield* changesRecorded([change], writer.source, writer.iteration);
    }
    const { reverted, left } = taken;
    if (reverted.length > 0) {
      const paths = listed(
        reverted.map(({ path }) => quotedName(path)),
        MAX_NAMED,
      );
      yield { type: 'warning.raised', message: `The baseline could not be taken. Reverted: ${paths}.` };
    }
    if (left.length > 0) {
      const paths = listed(left.map(quotedName), MAX_NAMED);
      yield {
        type: 'warning.raised',
        message: `The baseline could not be taken, and these files could not be reverted: ${paths}.`,
      };
    }
  }
}
