/**
 * The text of a pull request: our part of it, between two markers, and what that keeps, hidden, of the run that opened it. The rest,
 * and an edited title, are people's.
 *
 * Whoever has write access can change the record, and no one else: it only ever narrows what a run may do, and counts for nothing
 * without commits of ours.
 */

import * as z from 'zod';
import { whyNoGlob } from '../../changes/glob.ts';
import { PlanSource } from '../../run/plan.ts';
import { jsonOrUndefined } from '../../text/json.ts';

/** GitHub's limit for a body, in characters. */
const MAX_BODY = 65_536;

/** A title and a body in Markdown. */
export interface TitledText {
  readonly title: string;
  readonly body: string;
}

/**
 * The text with its beginning marked; `body` ends with `marker`. The mark holds a digest of the title, by which it is known
 * later whether people have changed it. `sha256` returns hex.
 */
export function markedPart(
  { title, body }: TitledText,
  marker: string,
  sha256: (text: string) => string,
): TitledText {
  return { title, body: `${beginOf(marker)}${digest(title, sha256)}${NOTE}\n\n${body}` };
}

/**
 * What a pull request should say: our new part in the place of the old one, the title ours unless people have changed it, and
 * everything else as it is. `gone`: there is no such part any more. `full`: both together are longer than GitHub permits.
 */
export function updatedText(
  there: TitledText,
  part: TitledText,
  { marker, sha256 }: { marker: string; sha256: (text: string) => string },
): { status: 'ok'; text: TitledText } | { status: 'gone' | 'full' } {
  // GitHub returns texts with the line endings of web forms.
  const body = there.body.replaceAll('\r\n', '\n');
  const begin = body.indexOf(beginOf(marker));
  const end = begin === -1 ? -1 : body.indexOf(marker, begin);
  if (end === -1) return { status: 'gone' };
  const known = body.slice(begin + beginOf(marker).length).slice(0, DIGEST);
  const isTitleKept = digest(there.title, sha256) !== known && there.title.trim() !== part.title.trim();
  const text = {
    title: isTitleKept ? there.title : part.title,
    body: `${body.slice(0, begin)}${part.body}${body.slice(end + marker.length)}`,
  };
  return text.body.length > MAX_BODY ? { status: 'full' } : { status: 'ok', text };
}

/** `<!-- patchsmith:1a2b3c4d begin, title ` */
function beginOf(marker: string): string {
  return `${marker.replace(/ -->$/, '')} begin, title `;
}

const NOTE = ': a later run replaces what stands between this line and the last one of patchsmith -->';

/** Hex digits. */
const DIGEST = 8;

function digest(title: string, sha256: (text: string) => string): string {
  return sha256(title.trim()).slice(0, DIGEST);
}

/** Most characters of all globs together: they are matched against every path. */
const MAX_GLOBS_LENGTH = 4_000;

const Globs = z.array(z.string().refine((glob) => whyNoGlob(glob) === null, 'is not a glob'));

/** The plan that a pull request carries out, and its rules. */
export const PullRecord = z
  .strictObject({
    version: z.literal(1),
    source: PlanSource,
    /** Of the plan's text. */
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
    /** All of them hold together. */
    rules: z.array(z.strictObject({ allow: Globs, protect: Globs })).max(4),
  })
  .refine(
    ({ rules }) => JSON.stringify(rules).length <= 2 * MAX_GLOBS_LENGTH,
    `has more than ${MAX_GLOBS_LENGTH} characters of globs`,
  );
export type PullRecord = z.infer<typeof PullRecord>;

const BEGIN = '<!-- patchsmith-record: ';
const END = ' -->';

/** Most characters of the line; a pull request whose record would be longer has none, and cannot be continued. */
const MAX_LINE = 4_000;

/**
 * A line for the text of a pull request; empty when it would be too long. Nothing in it is live in Markdown, nor in the message
 * of a squash merge.
 */
export function recordLine(record: PullRecord): string {
  const line = `${BEGIN}${inert(JSON.stringify(record))}${END}`;
  return line.length > MAX_LINE ? '' : line;
}

/** Everything but letters, digits and what JSON and globs are made of is escaped; JSON reads it back. */
function inert(json: string): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return json.replace(/[^A-Za-z0-9 ."{}[\]:,_\\*/]|\/(?=\/)/g, escaped);
}

/** The record in a text, and the id of its markers; null unless there is exactly one of each. */
export function recordIn(body: string): { record: PullRecord; marker: string } | null {
  const lines = [...body.matchAll(/<!-- patchsmith-record: ([^<>\n-]*) -->/g)];
  const markers = [...body.matchAll(/<!-- patchsmith:([0-9a-f]{8}) -->/g)];
  const [line, marker] = [lines[0]?.[1], markers[0]?.[1]];
  if (lines.length !== 1 || markers.length !== 1 || line === undefined || marker === undefined) return null;
  const parsed = PullRecord.safeParse(jsonOrUndefined(line));
  return parsed.success ? { record: parsed.data, marker } : null;
}
