/**
 * What a patch does, file by file. Accepts exactly the form in which patches are written here (git's, with full ids, binary
 * contents and renames) and nothing else, since patches come from outside.
 */

import type { FileMode } from './change.ts';

/** `blob` and `mode` are null when the patch does not state them because it leaves them unchanged. */
export interface PatchedState {
  readonly mode: FileMode | null;
  readonly blob: string | null;
}

/** One hunk with the numbers of its header; `lines` begin with a blank, `+`, `-` or `\`, and have no line endings. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** One file of a patch. `from` is the old path of a rename, whose state is `before`. Lines are null for a binary file. */
export interface PatchedPath {
  readonly path: string;
  readonly from: string | null;
  readonly before: PatchedState | null;
  readonly after: PatchedState | null;
  readonly additions: number | null;
  readonly deletions: number | null;
  /** Present only on request; null for a binary file. */
  readonly hunks?: readonly PatchHunk[] | null;
}

/** The files a patch names, or the line at which it is malformed. */
export type PatchTextRead =
  | { status: 'ok'; files: PatchedPath[] }
  | { status: 'failed'; line: number; why: string };

/**
 * `text` contains the bytes as latin1 characters, and so do the paths. `line` of a failure counts from 1. Hunks are kept only on
 * request, since each of their lines is an object.
 */
export function readPatchText(text: string, asked: { hunks: boolean } = { hunks: false }): PatchTextRead {
  // The last line of a patch ends with a newline too.
  if (!text.endsWith('\n')) return { status: 'failed', line: 1, why: 'it does not end with a complete line' };
  const lines = new Lines(text);
  const files: PatchedPath[] = [];
  try {
    while (!lines.atEnd) files.push(section(lines, asked.hunks));
    return { status: 'ok', files: withTypeChanges(files) };
  } catch (error) {
    if (error instanceof Malformed) return { status: 'failed', line: lines.number, why: error.message };
    throw error;
  }
}

class Malformed extends Error {}

class Lines {
  readonly #text: string;
  /** Where the next line begins; beyond the end after the last line. */
  #at = 0;
  #taken = 0;

  /** `text` ends with a newline. Lines are cut off one at a time, since a patch may have many millions. */
  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** Number of the line taken last, counted from 1. */
  get number(): number {
    return this.#taken;
  }

  /** The groups of the next line if it has this form; otherwise null, and the line is not consumed. */
  take(form: RegExp): RegExpExecArray | null {
    if (this.atEnd) return null;
    const end = this.#text.indexOf('\n', this.#at);
    const match = form.exec(this.#text.slice(this.#at, end));
    if (match) {
      this.#at = end + 1;
      this.#taken += 1;
    }
    return match;
  }

  need(form: RegExp, what: string): RegExpExecArray {
    const match = this.take(form);
    if (match) return match;
    this.#taken += 1;
    throw new Malformed(`expected ${what}`);
  }
}

function section(lines: Lines, keepsHunks: boolean): PatchedPath {
  const [, names = ''] = lines.need(/^diff --git (.+)$/, 'the head of a file');
  const oldMode = modeOf(lines.take(/^old mode (\d{6})$/));
  const newMode = oldMode === null ? null : modeOf(lines.need(/^new mode (\d{6})$/, 'the new mode'));
  const deleted = modeOf(lines.take(/^deleted file mode (\d{6})$/));
  const created = deleted === null ? modeOf(lines.take(/^new file mode (\d{6})$/)) : null;
  const isRename = lines.take(/^similarity index \d{1,3}%$/) !== null;
  const from = isRename ? lines.need(/^rename from (.+)$/, 'the old name')[1] : undefined;
  const to = isRename ? lines.need(/^rename to (.+)$/, 'the new name')[1] : undefined;
  if ((oldMode !== null || isRename) && (deleted ?? created) !== null)
    throw new Malformed('a file that is made or deleted has no other change');
  const index = lines.take(/^index ([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})(?: (\d{6}))?$/);
  if ((created === null && isNoId(index?.[1])) || (deleted === null && isNoId(index?.[2])))
    throw new Malformed('a file that is there has no content');
  const { hunks, ...counts } = index ? body(lines, keepsHunks) : NO_BODY;
  const mode = modeOf(index?.[3] === undefined ? null : ['', index[3]]);
  const state = (own: FileMode | null, blob: string | undefined) => ({ mode: own, blob: blob ?? null });
  const path = to === undefined ? sameName(names) : unquoted(to);
  return {
    path,
    from: from === undefined ? null : unquoted(from),
    before: created !== null ? null : state(deleted ?? oldMode ?? mode, index?.[1]),
    after: deleted !== null ? null : state(created ?? newMode ?? mode, index?.[2]),
    ...counts,
    ...(keepsHunks ? { hunks } : {}),
  };
}

/** Git's id for absent content. */
function isNoId(id: string | undefined): boolean {
  return id !== undefined && /^0+$/.test(id);
}

/** A file that becomes a link, or a link that becomes a file, is deleted and created again under the same name. */
function withTypeChanges(sections: readonly PatchedPath[]): PatchedPath[] {
  const files: PatchedPath[] = [];
  for (const next of sections) {
    const last = files.at(-1);
    if (last?.path === next.path && last.from === null && last.after === null && next.before === null) {
      const sum = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);
      files[files.length - 1] = {
        ...next,
        before: last.before,
        additions: sum(last.additions, next.additions),
        deletions: sum(last.deletions, next.deletions),
        ...(last.hunks && next.hunks ? { hunks: [...last.hunks, ...next.hunks] } : {}),
      };
    } else files.push(next);
  }
  return files;
}

interface Body {
  readonly additions: number | null;
  readonly deletions: number | null;
  readonly hunks: readonly PatchHunk[] | null;
}

const NO_BODY: Body = { additions: 0, deletions: 0, hunks: [] };

function body(lines: Lines, keepsHunks: boolean): Body {
  if (lines.take(/^GIT binary patch$/)) {
    binary(lines);
    binary(lines);
    return { additions: null, deletions: null, hunks: null };
  }
  // An empty file is created or deleted without a body.
  if (!lines.take(/^--- /)) return NO_BODY;
  lines.need(/^\+\+\+ /, 'the new name');
  const hunks: PatchHunk[] = [];
  let [additions, deletions] = [0, 0];
  for (;;) {
    const head = lines.take(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/);
    if (!head) return { additions, deletions, hunks };
    const oldLines = Number(head[2] ?? 1);
    const newLines = Number(head[4] ?? 1);
    const kept: string[] | null = keepsHunks ? [] : null;
    const counts = hunkLines(lines, { oldLines, newLines }, kept);
    additions += counts.additions;
    deletions += counts.deletions;
    if (kept)
      hunks.push({ oldStart: Number(head[1]), oldLines, newStart: Number(head[3]), newLines, lines: kept });
  }
}

/** Reads the lines of one hunk, and appends them to `kept` if given. */
function hunkLines(lines: Lines, sizes: Pick<PatchHunk, 'oldLines' | 'newLines'>, kept: string[] | null) {
  let [additions, deletions] = [0, 0];
  let [old, now] = [sizes.oldLines, sizes.newLines];
  while (old > 0 || now > 0) {
    const { input, 0: sign } = lines.need(/^[ +-]/, 'a line of the hunk');
    if (sign !== '+') old -= 1;
    if (sign !== '-') now -= 1;
    if (sign === '+') additions += 1;
    if (sign === '-') deletions += 1;
    const remark = lines.take(/^\\ /);
    kept?.push(input, ...(remark ? [remark.input] : []));
  }
  if (old < 0 || now < 0) throw new Malformed('a hunk has more lines than its head says');
  return { additions, deletions };
}

function binary(lines: Lines): void {
  lines.need(/^(?:literal|delta) \d{1,10}$/, 'the size of a binary content');
  while (lines.take(/^[A-Za-z][0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{5,65}$/)) {}
  lines.need(/^$/, 'the end of a binary content');
}

function modeOf(match: ArrayLike<string> | null): FileMode | null {
  const mode = match?.[1];
  if (mode === undefined) return null;
  if (mode === '100644' || mode === '100755' || mode === '120000' || mode === '160000') return mode;
  throw new Malformed(`${mode} is not a file mode`);
}

/** `a/name b/name`, quoted or not. */
function sameName(names: string): string {
  const half = (names.length - 1) / 2;
  const [old, now] = [unquoted(names.slice(0, half)), unquoted(names.slice(half + 1))];
  if (names[half] !== ' ' || !old.startsWith('a/') || !now.startsWith('b/') || old.slice(2) !== now.slice(2))
    throw new Malformed('expected twice the same name');
  return old.slice(2);
}

function unquoted(name: string): string {
  const plain = unquotedName(name);
  if (plain === null) throw new Malformed('a name is badly quoted');
  return plain;
}

/**
 * Decodes a name that git has quoted because it would be ambiguous otherwise: bytes as latin1 characters. Null if the quoting is
 * invalid.
 */
export function unquotedName(name: string): string | null {
  if (!name.startsWith('"')) return name;
  if (!/^"(?:[^"\\]|\\(?:[0-3][0-7]{2}|["\\abfnrtv]))+"$/.test(name)) return null;
  return name
    .slice(1, -1)
    .replace(/\\([0-7]{3}|.)/g, (_, code: string) =>
      code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPED[code] ?? code),
    );
}

const ESCAPED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};
