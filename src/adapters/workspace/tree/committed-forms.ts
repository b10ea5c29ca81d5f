/**
 * The bytes that git commits where attributes or `core.autocrlf` make them others than those of the work tree. Git itself turns
 * copies of what was read, in a scratch folder in which nothing can be swapped.
 */

import { closeSync, createWriteStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { FileState } from '../../../domain/changes/change.ts';
import { foldersAround, quotedName } from '../../../domain/changes/path.ts';
import { sentence } from '../../../domain/text/words.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { encodeNames, encodePath } from '../../../files/names.ts';
import { openRegularIn, readWhole } from '../../../files/opened-file.ts';
import type { TreeView } from '../../../files/tree-view.ts';
import { ScratchIndex } from '../../../git/store/trees.ts';
import { type LookingCall, rulesFolder } from './looking-git.ts';
import type { Taken, WorkTreeParts } from './parts.ts';
import { START_INDEX } from './start-index.ts';

/** What git says of one path. */
interface PathAttributes {
  /** Null where there is none. */
  readonly filter: string | null;
  readonly hasEncoding: boolean;
}

/** Attribute files above this size are not copied: git needs thirty times as much memory. */
const MAX_ATTRIBUTES_BYTES = 1024 * 1024;

/** The forms of one look. */
export class CommittedForms {
  readonly #parts: WorkTreeParts;
  readonly #folder: string;
  /** Where git is asked. */
  readonly #scratch: { readonly index: string; readonly workTree: string };
  readonly #kept = new Set<string>();
  #attributes: ReadonlyMap<string, PathAttributes> = new Map();

  /** The scratch folder must not be in use. */
  constructor(parts: WorkTreeParts) {
    this.#parts = parts;
    this.#folder = join(rulesFolder(parts.git.shadowDir), 'turning');
    this.#scratch = { index: 'turning.index', workTree: this.#folder };
    this.close();
    mkdirSync(this.#folder, { mode: 0o700 });
  }

  /** Takes the attribute files that apply to these paths, and asks git for what they say. */
  async ask(view: TreeView, paths: readonly string[]): Promise<void> {
    // What the index has decides whether git leaves CRLF alone.
    new ScratchIndex(this.#parts.git.shadowDir, this.#scratch.index).copy(START_INDEX, 'sha1');
    const gone = this.#copyAttributes(view, paths);
    // Where there is no file, git reads what the index has.
    if (gone.length > 0)
      await this.#parts.git.tell({
        ...this.#scratch,
        args: ['update-index', '--remove', '--ignore-skip-worktree-entries', '-z', '--stdin'],
        input: encodeNames(gone),
      });
    this.#attributes = await attributesOf(this.#parts, paths, this.#scratch);
  }

  /** The name of the filter that git would run on the path, or null. */
  filterOf(path: string): string | null {
    return this.#attributes.get(path)?.filter ?? null;
  }

  /** Keeps the bytes of a file, to be turned. */
  keep(path: string, bytes: Uint8Array): void {
    writeFileSync(this.#placeFor(path), bytes);
  }

  /** The same for contents too large for memory. */
  async keepStream(path: string, chunks: AsyncIterable<Buffer>): Promise<void> {
    await pipeline(chunks, createWriteStream(this.#placeFor(path)));
  }

  /** The bytes that were kept are no longer those of the file. */
  drop(path: string): void {
    this.#kept.delete(path);
  }

  /** Replaces the states of the kept files by those that git commits; `raw` is what they have on disk. */
  async turn(taken: Map<string, Taken>): Promise<void> {
    const paths = [...this.#kept].filter((path) => taken.get(path)?.status === 'ok');
    if (paths.length === 0) return;
    for (const [path, blob] of await this.#turned(paths)) {
      const one = taken.get(path);
      if (one?.status !== 'ok' || one.state.blob === blob) continue;
      taken.set(path, { ...one, state: { ...one.state, blob, raw: one.state.blob } });
    }
  }

  /** Removes the scratch folder. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #placeFor(path: string): Buffer {
    this.#kept.add(path);
    return this.#placeOf(path);
  }

  #placeOf(path: string): Buffer {
    const place = encodePath(this.#folder, path);
    mkdirSync(encodePath(this.#folder, dirname(path)), { recursive: true });
    return place;
  }

  /** The ids of what git stores, by path; none for contents that are not in their encoding. */
  async #turned(paths: readonly string[]): Promise<Map<string, string>> {
    const { git, warn } = this.#parts;
    const at = this.#scratch;
    const call = {
      ...at,
      args: ['update-index', '--add', '--replace', '-z', '--stdin'],
      input: encodeNames(paths),
    };
    const answer = await git.ask(call);
    if (answer.exitCode !== 0) {
      const encoded = paths.filter((path) => this.#attributes.get(path)?.hasEncoding);
      if (encoded.length === 0) throw git.failure(call, answer);
      // Git gives up at the first that is not in its encoding. Only when it stores nothing, it names them all.
      const args = ['update-index', '--info-only', '--add', '--replace', '-z', '--stdin'];
      const { stderr } = await git.ask({ ...at, args, input: encodeNames(encoded) });
      const errors = stderr.replace(/^hint: .*\n?/gm, '');
      const said = new Map(encoded.map((path) => [path, lineWith(`'${path}'`, errors)]));
      const named = encoded.filter((path) => said.get(path) !== null);
      // A long or odd name is not written as it is.
      const left = new Set(named.length > 0 ? named : encoded);
      for (const path of left) {
        const why = (said.get(path) ?? answer.stderr).replace(/^(?:error|fatal): /, '');
        warn(
          warning('WARN_NOT_CONVERTED', sentence(`${quotedName(path)} is stored as it is on disk: ${why}`)),
        );
      }
      return left.size === paths.length ? new Map() : this.#turned(paths.filter((path) => !left.has(path)));
    }
    const forms = new Map<string, string>();
    const wanted = new Set(paths);
    const listed = await git.names({ ...at, args: ['ls-files', '-s', '-z'] });
    // `MODE ID STAGE TAB PATH`
    for (const entry of listed) {
      const tab = entry.indexOf('\t');
      const path = entry.slice(tab + 1);
      const [, id = ''] = entry.slice(0, tab).split(' ');
      if (wanted.has(path)) forms.set(path, id);
    }
    return forms;
  }

  /** Returns those of the index that are gone. */
  #copyAttributes(view: TreeView, paths: readonly string[]): string[] {
    const folders = new Set(paths.flatMap(foldersAround));
    return [...folders].flatMap((folder) => {
      const path = folder === '' ? '.gitattributes' : `${folder}/.gitattributes`;
      const opening = openRegularIn(view, path);
      if (opening.status !== 'open')
        return opening.status === 'absent' && this.#parts.index.has(path) ? [path] : [];
      try {
        if (opening.file.stat.size <= MAX_ATTRIBUTES_BYTES)
          writeFileSync(this.#placeOf(path), readWhole(opening.file));
      } finally {
        closeSync(opening.file.descriptor);
      }
      return [];
    });
  }
}

/** What git says of these paths. `at` is an index and a work tree; default: those of the start. */
async function attributesOf(
  { git, filters }: WorkTreeParts,
  paths: readonly string[],
  at: Pick<LookingCall, 'index' | 'workTree'> = {},
): Promise<Map<string, PathAttributes>> {
  const attributes = new Map<string, PathAttributes>();
  if (paths.length === 0) return attributes;
  const answer = await git.tell({
    ...at,
    args: ['check-attr', '--stdin', '-z', 'filter', 'working-tree-encoding'],
    input: encodeNames(paths),
  });
  const values = answer.toString('latin1').split('\0');
  paths.forEach((path, at) => {
    const [filter = '', encoding = ''] = [values[at * 6 + 2], values[at * 6 + 5]];
    attributes.set(path, {
      // One that is not configured does nothing, except that LFS files are pointers wherever it is.
      filter: filter === 'lfs' || filters.has(filter) ? filter : null,
      hasEncoding: !NONE.has(encoding),
    });
  });
  return attributes;
}

/** From the line in which `part` begins to the one in which it ends; null if the text does not have it. */
function lineWith(part: string, text: string): string | null {
  const at = text.indexOf(part);
  if (at < 0) return null;
  const end = text.indexOf('\n', at + part.length);
  return text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? text.length : end);
}

const NONE: ReadonlySet<string> = new Set(['', 'unspecified', 'set', 'unset']);

/** Files of the index whose bytes follow neither from their blob nor from their size. Of LFS, only the pointer is kept. */
export async function hidingBytes(parts: WorkTreeParts): Promise<string[]> {
  if (!parts.mayConvert()) return [];
  // A pathspec finds no attribute that has a value, but those that have none.
  const others = ':(exclude,attr:!ident !working-tree-encoding !filter)';
  const args = ['ls-files', '-z', '--', others];
  const paths = [...new Set(await parts.git.names({ args }))];
  const attributes = await attributesOf(parts, paths);
  return paths.filter((path) => attributes.get(path)?.filter !== 'lfs');
}

/**
 * At the start, a file that is as git has it stays so, whatever attributes say by now. So does one whose filter is not run, since
 * it is not known what that would make of the file.
 */
export function keepCommitted(
  { index }: WorkTreeParts,
  hiding: ReadonlySet<string>,
  taken: Map<string, Taken>,
): void {
  for (const [path, one] of taken) {
    const entry = index.get(path);
    if (one.status !== 'ok' || entry === null) continue;
    if (!hiding.has(path) && (one.filter === null || one.filter === 'lfs')) continue;
    const raw = rawOf(one.state);
    const { size, mode } = one.state;
    const state = { mode, blob: entry.blob, size, ...(raw === entry.blob ? {} : { raw }) };
    taken.set(path, { ...one, state });
  }
}

/** New attributes apply to files that the run has changed. One with its original bytes keeps its state, as in git. */
export async function keepUnchanged(
  { mayConvert }: WorkTreeParts,
  seen: { startOf(paths: readonly string[]): Promise<ReadonlyMap<string, FileState | null>> },
  taken: Map<string, Taken>,
): Promise<void> {
  if (!mayConvert()) return;
  const start = await seen.startOf([...taken.keys()]);
  for (const [path, one] of taken) {
    const state = start.get(path) ?? null;
    if (one.status !== 'ok' || state === null) continue;
    const { size, mode } = one.state;
    if (size === state.size && mode === state.mode && rawOf(one.state) === rawOf(state))
      taken.set(path, { ...one, state });
  }
}

/** The blob of the bytes on disk. */
function rawOf({ raw, blob }: FileState): string {
  return raw ?? blob;
}
