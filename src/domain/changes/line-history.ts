/** Follows the lines of files through the recorded changes: which change added each line, and which removed it. */

import { type ChangeSource, type CodeChange, type FileState, sameState } from './change.ts';
import { matchLines } from './line-matching.ts';
import { type Origin, originOf } from './provenance.ts';
import { type RecordedStep, type Side, stepsOf } from './recorded-steps.ts';

/** A run of lines that a diff keeps, removes or adds. */
export interface LineRun {
  readonly kind: 'keep' | 'remove' | 'add';
  readonly count: number;
}

/** Compares two texts by lines. */
export type LineDiff = (before: readonly string[], after: readonly string[]) => LineRun[];

/** Lines with their line endings; null for content that is not text, too large, or unavailable. */
export type Contents = (blob: string) => readonly string[] | null;

/** What the history of lines is computed from. */
export interface HistoryParts {
  /** All recorded changes in order. */
  readonly changes: readonly CodeChange[];
  /**
   * Whether changes from a source are included in the patch; for a path, what follows the last such change is not part of
   * the patch.
   */
  readonly takesIn: (source: ChangeSource) => boolean;
  readonly contents: Contents;
  readonly diff: LineDiff;
}

/** Origins are indices into `LineHistory.origins`. */
export interface TracedLine {
  readonly text: string;
  /** Where the line was in the base; null for a line that a change added. */
  readonly base: { readonly path: string; readonly at: number } | null;
  /** The change that added the line, and those that added the lines it replaced. */
  readonly by: readonly number[];
}

/** One path with its past. `state` null: the file is absent. `lines` null: they cannot be followed. */
export interface TracedFile {
  readonly state: FileState | null;
  readonly lines: readonly TracedLine[] | null;
  /** Every change that contributed to it. */
  readonly origins: ReadonlySet<number>;
  /** By text: the changes that added or removed such a line. */
  readonly touched: ReadonlyMap<string, ReadonlySet<number>>;
  /** Changes that moved the file here from another path. */
  readonly movedBy: ReadonlySet<number>;
  /** Changes that removed the file from here. */
  readonly goneBy: ReadonlySet<number>;
  /** Some content along the way could not be followed, so lines may name too many changes. */
  readonly blurred: boolean;
}

/** The same under construction: sets and maps are modified in place, since a file can have thousands of changes. */
interface GrowingFile extends TracedFile {
  readonly origins: Set<number>;
  readonly touched: Map<string, Set<number>>;
  readonly goneBy: Set<number>;
}

/** Follows the lines of files through all recorded changes, to determine which change made each. */
export class LineHistory {
  readonly origins: Origin[] = [];
  readonly #contents: Contents;
  readonly #diff: LineDiff;
  readonly #files = new Map<string, GrowingFile>();
  readonly #removed = new Map<string, Map<number, Set<number>>>();

  constructor({ changes, takesIn, contents, diff }: HistoryParts) {
    this.#contents = contents;
    this.#diff = diff;
    const steps = stepsOf(changes, contents);
    const lastTaken = new Map<string, RecordedStep>();
    for (const step of steps)
      if (takesIn(step.source)) for (const { path } of step.sides) lastTaken.set(path, step);
    const open = new Set(lastTaken.keys());
    for (const step of steps) {
      this.#apply(
        step,
        step.sides.filter(({ path }) => open.has(path)),
      );
      for (const { path } of step.sides) if (lastTaken.get(path) === step) open.delete(path);
    }
  }

  /** Null for a path that nothing in the patch touched. */
  file(path: string): TracedFile | null {
    return this.#files.get(path) ?? null;
  }

  /** The changes that removed a line of the base, counted from 0. */
  removersOf(path: string, at: number): ReadonlySet<number> {
    return this.#removed.get(path)?.get(at) ?? new Set();
  }

  #apply({ source, iteration }: RecordedStep, sides: readonly Side[]): void {
    if (sides.length === 0) return;
    for (const { path, before } of sides) this.#catchUp(path, before, iteration);
    const origin = this.origins.push(originOf(source, iteration)) - 1;
    // Files that were moved take their lines along before they are removed.
    for (const side of sides) {
      if (!side.from) continue;
      const past = this.#files.get(side.from.path) ?? this.#base(side.from.path, side.from.state);
      this.#files.set(side.path, this.#moved(past, this.#files.get(side.path), origin));
    }
    const moved = new Set(sides.flatMap(({ from }) => from?.path ?? []));
    for (const { path, after } of sides) {
      if (after === null && moved.has(path)) this.#leave(path, origin);
      else this.#turn(path, after, origin);
    }
  }

  /** Makes the path known; unrecorded changes to it are attributed to nothing. */
  #catchUp(path: string, state: FileState | null, iteration: number): void {
    const known = this.#files.get(path);
    if (!known) this.#files.set(path, this.#base(path, state));
    else if (!sameState(known.state, state)) {
      this.#turn(path, state, this.origins.push({ by: 'outside', iteration }) - 1);
    }
  }

  #base(path: string, state: FileState | null): GrowingFile {
    const texts = state === null ? [] : this.#contents(state.blob);
    return {
      state,
      lines: texts?.map((text, at) => ({ text, base: { path, at }, by: [] })) ?? null,
      origins: new Set(),
      touched: new Map(),
      movedBy: new Set(),
      goneBy: new Set(),
      blurred: texts === null,
    };
  }

  /** The past of a file that came from another path, merged with what was here before. */
  #moved(past: GrowingFile, here: GrowingFile | undefined, origin: number): GrowingFile {
    return {
      ...past,
      origins: new Set([...(here?.origins ?? []), ...past.origins]),
      touched: new Map([...past.touched].map(([text, origins]) => [text, new Set(origins)])),
      movedBy: new Set([...past.movedBy, origin]),
      goneBy: here?.goneBy ?? new Set(),
    };
  }

  /** The file is gone from here, and its lines live on elsewhere. */
  #leave(path: string, origin: number): void {
    const file = this.#files.get(path);
    if (!file) return;
    file.origins.add(origin);
    file.goneBy.add(origin);
    this.#files.set(path, { ...file, state: null, lines: [] });
  }

  #turn(path: string, after: FileState | null, origin: number): void {
    const file = this.#files.get(path);
    if (!file) return;
    const texts = after === null ? [] : this.#contents(after.blob);
    const isSame = after !== null && after.blob === file.state?.blob;
    const lines = isSame ? file.lines : this.#rewritten(file, texts, origin);
    if (!isSame) touch(file, lines, origin);
    file.origins.add(origin);
    if (after === null) file.goneBy.add(origin);
    this.#files.set(path, { ...file, state: after, lines, blurred: file.blurred || texts === null });
  }

  #rewritten(file: TracedFile, texts: readonly string[] | null, origin: number): TracedLine[] | null {
    const old = file.lines;
    if (old === null || texts === null) {
      for (const line of old ?? []) this.#remove(line, origin);
      const by = old === null ? [origin, ...file.origins] : [origin];
      return texts?.map((text) => ({ text, base: null, by })) ?? null;
    }
    const lines: TracedLine[] = [];
    let removed: TracedLine[] = [];
    let added: string[] = [];
    const close = () => {
      for (const line of removed) this.#remove(line, origin);
      const forebears = matchLines(added, removed);
      added.forEach((text, at) => {
        lines.push({ text, base: null, by: [...new Set([origin, ...(forebears[at] ?? [])])] });
      });
      removed = [];
      added = [];
    };
    let at = 0;
    let to = 0;
    for (const { kind, count } of this.#diff(
      old.map(({ text }) => text),
      texts,
    )) {
      if (kind === 'keep') {
        close();
        for (const line of old.slice(at, at + count)) lines.push(line);
      } else if (kind === 'remove') removed = removed.concat(old.slice(at, at + count));
      else added = added.concat(texts.slice(to, to + count));
      if (kind !== 'add') at += count;
      if (kind !== 'remove') to += count;
    }
    close();
    return lines;
  }

  #remove({ base }: TracedLine, origin: number): void {
    if (base === null) return;
    const removed = this.#removed.get(base.path) ?? new Map<number, Set<number>>();
    this.#removed.set(base.path, removed);
    removed.set(base.at, new Set([...(removed.get(base.at) ?? []), origin]));
  }
}

/** The key for looking up a line: a line that only lost its line ending counts as the same. */
export function lineKey(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}

/** Notes the lines that this change added and those it removed. */
function touch(
  { touched, lines: before }: GrowingFile,
  after: readonly TracedLine[] | null,
  origin: number,
): void {
  const kept = new Set(after);
  const gone = (before ?? []).filter((line) => !kept.has(line));
  const came = (after ?? []).filter(({ by }) => by[0] === origin);
  for (const { text } of [...gone, ...came]) {
    const key = lineKey(text);
    const origins = touched.get(key);
    if (origins) origins.add(origin);
    else touched.set(key, new Set([origin]));
  }
}
