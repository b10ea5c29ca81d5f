/** `edit_file`: replaces text in a file and leaves every other byte unchanged. */

import * as z from 'zod';
import description from '../../prompts/tools/edit_file.md';
import type { RepoPath } from '../domain/changes/path.ts';
import { formatNumber } from '../domain/text/words.ts';
import type { ToolResult } from '../ports.ts';
import { fileTool, WellFormedText, written } from './file-tool.ts';
import { failedCall, PATH_ALIASES } from './result.ts';
import {
  countLines,
  describeNotText,
  findMatches,
  lineAt,
  type Match,
  replaceMatches,
  withoutOverlaps,
} from './text.ts';

const Input = z.strictObject({
  path: z.string(),
  find: z.string().min(1),
  replace: WellFormedText,
  all: z.boolean().optional(),
});
type Input = z.infer<typeof Input>;

/** Maximum number of places named in a message, and maximum number replaced by one call. */
const MAX_NAMED = 10;
const MAX_REPLACED = 100_000;
/** Maximum characters of a file after an edit: no tool reads a longer one. */
const MAX_LENGTH = 8 * 1024 * 1024;

/** Replaces a text that occurs exactly once in a file. */
export const editFileTool = fileTool<Input>({
  name: 'edit_file',
  description,
  schema: Input,
  lane: 'write',
  aliases: {
    ...PATH_ALIASES,
    old_string: 'find',
    old_str: 'find',
    new_string: 'replace',
    new_str: 'replace',
    replace_all: 'all',
  },
  async execute(input, { workspace, seen }) {
    const { path } = input;
    const file = await workspace.readFile(path);
    if (file.status === 'failed') return failedCall(file.reason, file.message);
    if (file.text === null) return failedCall('not_text', `Not edited: ${describeNotText(path, file.bytes)}`);

    const text = exactText(file.bytes);
    const matches = findMatches(text, input.find, MAX_REPLACED + 1);
    const refusal = refusalOf(path, text, input, matches);
    if (refusal) return refusal;
    const places = withoutOverlaps(matches);
    const length = text.length + places.length * (input.replace.length - input.find.length);
    if (length > MAX_LENGTH) {
      const file = JSON.stringify(path);
      return failedCall('too_large', `Not edited: ${file} would have ${formatNumber(length)} characters.`);
    }
    const edited = replaceMatches(text, places, input.replace);
    if (edited === text)
      return failedCall('invalid_input', 'Not edited: find and replace are the same text.');

    const write = await workspace.writeFile(path, new TextEncoder().encode(edited));
    if (write.status === 'failed') return failedCall(write.reason, write.message);
    seen.edited(path, { before: file.blob, after: write.blob, total: countLines(edited) });
    return written(`Edited ${JSON.stringify(path)}: ${placesOf(text, places)}.`, write);
  },
});

/** The text with its byte order mark, which must survive the edit. */
function exactText(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
}

function refusalOf(
  path: RepoPath,
  text: string,
  { find, all = false }: Input,
  matches: readonly Match[],
): ToolResult | null {
  const name = JSON.stringify(path);
  if (matches.length === 0) {
    const nearest = nearestLines(text, find);
    const others = 'Its lines differ from those of the file: read it again.';
    const hint = nearest === '' ? others : `The nearest lines are:\n${nearest}`;
    return failedCall(
      'no_match',
      `Not edited: find does not match in ${name} (${formatNumber(countLines(text))} lines). ${hint}`,
    );
  }
  if (matches.length > MAX_REPLACED) {
    return failedCall(
      'too_large',
      `Not edited: find matches more than ${formatNumber(MAX_REPLACED)} times in ${name}.`,
    );
  }
  if (matches.length > 1 && !all) {
    return failedCall(
      'no_match',
      `Not edited: find occurs ${formatNumber(matches.length)} times in ${name}, ${placesOf(text, matches)}. Add text around it until it is unique, or set all.`,
    );
  }
  return null;
}

/** Such as `at line 3` or `at lines 3, 8, 8`. */
function placesOf(text: string, matches: readonly Match[]): string {
  const lines = matches.slice(0, MAX_NAMED).map((match) => lineAt(text, match.start));
  const more = matches.length > MAX_NAMED ? ` and ${formatNumber(matches.length - MAX_NAMED)} more` : '';
  return `at line${matches.length > 1 ? 's' : ''} ${lines.join(', ')}${more}`;
}

/** Maximum lines of a file that are examined, lines shown, and characters of a line compared and shown. */
const MAX_LINES = 20_000;
const MAX_SHOWN = 12;
const MAX_CHARS = 200;

/**
 * The lines that share most with `find`, with their numbers (`12: text`); empty when none does. Leading and trailing
 * whitespace is ignored. The work is linear in the text, and bounded for large files.
 */
function nearestLines(text: string, find: string): string {
  const lines = text.split('\n', MAX_LINES).map((line) => line.replace(/\r$/, '').slice(0, MAX_CHARS));
  const wanted = find.split('\n').map((line) => line.trim().slice(0, MAX_CHARS));
  const start = placeByEqualLines(lines, wanted);
  if (start === null) return '';
  const first = Math.max(0, start);
  const shown = lines.slice(first, Math.min(first + MAX_SHOWN, start + Math.max(1, wanted.length)));
  return shown.map((line, index) => `${first + index + 1}: ${line}`).join('\n');
}

/** Every line that is equal, ignoring outer whitespace, votes for where the text would begin. */
function placeByEqualLines(lines: readonly string[], wanted: readonly string[]): number | null {
  const offsets = new Map<string, number>();
  wanted.forEach((line, offset) => {
    if (line.length > 3 && !offsets.has(line)) offsets.set(line, offset);
  });
  const votes = new Map<number, number>();
  lines.forEach((line, at) => {
    const offset = offsets.get(line.trim());
    if (offset !== undefined) votes.set(at - offset, (votes.get(at - offset) ?? 0) + 1);
  });
  let best: number | null = null;
  for (const [start, count] of votes) if (best === null || count > (votes.get(best) ?? 0)) best = start;
  return best;
}
