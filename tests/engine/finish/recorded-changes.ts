/** A real checkout whose changes are recorded step by step, as a run records them, and then attributed. */

import { type ChangeSource, toCodeChanges } from '../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../src/domain/changes/ledger.ts';
import {
  type AttributedPatchFile,
  attributePatch,
  keepHistory,
} from '../../../src/engine/finish/attribution.ts';
import type { Workspace } from '../../../src/ports/workspace.ts';
import { ScratchCheckout } from '../../adapters/workspace/scratch-checkout.ts';

export class RecordedChanges {
  readonly scratch = new ScratchCheckout();
  readonly ledger: ChangeLedger;
  #workspace: Workspace | null = null;
  #calls = 0;
  readonly #blobs = new Map<string, string>();

  constructor(files: Readonly<Record<string, string | Uint8Array>>, includeForeign = false) {
    this.ledger = new ChangeLedger({ includeForeign });
    for (const [path, content] of Object.entries(files)) this.scratch.write(path, content);
    this.scratch.commit();
  }

  async workspace(): Promise<Workspace> {
    this.#workspace ??= await this.scratch.open();
    return this.#workspace;
  }

  /** Does something, and records what changed under a call named by its number, or under this source. */
  async step(act: (scratch: ScratchCheckout) => void, source?: ChangeSource): Promise<void> {
    const workspace = await this.workspace();
    act(this.scratch);
    this.#calls += 1;
    const by = source ?? { by: 'tool' as const, tool: 'run_command', calls: [`c${this.#calls}`] };
    for (const change of toCodeChanges(await workspace.capture('all'), by, this.#calls)) {
      this.ledger.record(change);
    }
  }

  async attributed(): Promise<AttributedPatchFile[]> {
    const made = await (await this.workspace()).makePatch(this.ledger.net());
    if (made.status === 'failed') throw new Error(made.message);
    const history = await keepHistory({
      changes: this.ledger.history,
      takesIn: (source) => this.ledger.takesIn(source),
      gitDir: this.scratch.shadow,
    });
    return attributePatch({ patch: made.patch.bytes, files: made.patch.files, history, inHurry: false });
  }

  blob(id: string): string {
    const text = this.#blobs.get(id) ?? this.scratch.gitIn(this.scratch.shadow, 'cat-file', 'blob', id);
    this.#blobs.set(id, text);
    return text;
  }
}

/** `+text c1,c2` for every changed line; what is not a call is named by what it is. */
export function linesOf(files: readonly AttributedPatchFile[]): Record<string, string[] | null> {
  const names = (file: AttributedPatchFile) =>
    file.hunks?.flatMap(({ lines }) =>
      lines.map(({ sign, text, sources }) => {
        const by = sources.map((one) => (one.by === 'tool' ? one.calls.join('+') : one.by));
        return `${sign}${text} ${by.join(',')}`;
      }),
    ) ?? null;
  return Object.fromEntries(files.map((file) => [file.file.path, names(file)]));
}
