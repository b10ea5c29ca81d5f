/** Reads contents back that a run has kept in its shadow repository. */

import type { FileState } from '../domain/changes/change.ts';
import { readBlobs } from './blobs.ts';
import { runGit } from './git.ts';
import type { ObjectFormat } from './object-store.ts';

/** What a file held: its bytes, no file at all (a path that a sparse checkout left out), or why nobody can tell. */
export type KeptContent =
  | { status: 'bytes'; bytes: Buffer }
  | { status: 'no_file' }
  | { status: 'lost'; why: string };

/** Bytes that are read ahead and held at most. */
const MAX_AHEAD = 64 * 1024 * 1024;

export class KeptBlobs {
  readonly #shadowDir: string;
  #ahead: ReadonlyMap<string, Buffer | null> = new Map();

  constructor(shadowDir: string) {
    this.#shadowDir = shadowDir;
  }

  /** Reads the contents of many states at once, as many as memory should hold, so that asking for each is cheap. */
  async readAhead(states: readonly FileState[]): Promise<void> {
    const ids = new Set<string>();
    let bytes = 0;
    for (const { mode, blob, size, raw } of states) {
      bytes += size;
      if (mode !== '160000' && bytes <= MAX_AHEAD) ids.add(raw ?? blob);
    }
    this.#ahead = await readBlobs(this.#shadowDir, [...ids]);
  }

  /** The bytes as they were in the work tree. Of a link: where it pointed. */
  async heldBy({ mode, blob, size, raw }: FileState): Promise<KeptContent> {
    if (mode === '160000') return lost('it is a submodule');
    const kept = await this.#read(raw ?? blob);
    if (kept === null) return lost('its content is no longer in any repository');
    if (kept.length === size) return { status: 'bytes', bytes: kept };
    if (size === 0) return { status: 'no_file' };
    // Git drops at most one CR for each LF: when as many are missing as there are LFs, every one of them had its CR.
    const turned = withCrlf(kept);
    if (turned.length === size) return { status: 'bytes', bytes: turned };
    return lost(
      kept.toString('latin1', 0, 40).startsWith('version https://git-lfs')
        ? 'its content is stored by Git LFS; try git lfs checkout'
        : 'it had line endings of both kinds, and git keeps only one',
    );
  }

  async objectFormat(): Promise<ObjectFormat> {
    const args = [`--git-dir=${this.#shadowDir}`, 'rev-parse', '--show-object-format'];
    const format = await runGit({ cwd: this.#shadowDir, args });
    return format.toString('latin1').trim() === 'sha256' ? 'sha256' : 'sha1';
  }

  async #read(id: string): Promise<Buffer | null> {
    const ahead = this.#ahead.get(id);
    return ahead === undefined ? ((await readBlobs(this.#shadowDir, [id])).get(id) ?? null) : ahead;
  }
}

function withCrlf(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

function lost(why: string): KeptContent {
  return { status: 'lost', why };
}
