/** The text of a patch, as git writes it: the hunks of each file. */

/** One hunk with the numbers of its header; `lines` begin with a blank, `+`, `-` or `\`, and have no line endings. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** A file of a patch by its new name; `hunks` is null for a binary one. */
export interface PatchedText {
  readonly path: string;
  readonly hunks: readonly PatchHunk[] | null;
}

/**
 * The files in the order of the patch. A file that becomes a link, which git deletes and creates again, is one. `text` contains the bytes
 * as latin1 characters, and so do the paths.
 */
export function readPatchText(text: string): PatchedText[] {
  const files: PatchedText[] = [];
  let last = '';
  // No line of a content begins with a letter.
  for (const section of text.split(/(?<=^|\n)(?=diff --git )/)) {
    const lines = section.split('\n').slice(0, -1);
    const [head = ''] = lines;
    const file = { path: pathOf(lines), hunks: lines.includes('GIT binary patch') ? null : hunksIn(lines) };
    const before = head === last ? files.pop() : undefined;
    const hunks = before?.hunks && file.hunks ? [...before.hunks, ...file.hunks] : file.hunks;
    files.push({ ...file, hunks });
    last = head;
  }
  return files;
}

function pathOf([head = '', ...lines]: readonly string[]): string {
  const renamed = lines.find((line) => line.startsWith('rename to '));
  if (renamed !== undefined) return unquotedName(renamed.slice('rename to '.length)) ?? '';
  // `diff --git a/name b/name`: twice the same name.
  const names = head.slice('diff --git '.length);
  return unquotedName(names.slice(0, (names.length - 1) / 2))?.slice('a/'.length) ?? '';
}

function hunksIn(lines: readonly string[]): PatchHunk[] {
  const hunks: (PatchHunk & { lines: string[] })[] = [];
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head === null) hunks.at(-1)?.lines.push(line);
    else {
      const [oldStart = 0, oldLines = 1, newStart = 0, newLines = 1] = head
        .slice(1)
        .map((part: string | undefined) => (part === undefined ? undefined : Number(part)));
      hunks.push({ oldStart, oldLines, newStart, newLines, lines: [] });
    }
  }
  return hunks;
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
